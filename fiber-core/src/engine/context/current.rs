//! The fiber that runs on this thread, for code without a [`Cx`](crate::scheduler::Cx): closures, futures, log layers.

use std::cell::RefCell;

use super::{Context, FiberState, WaitsFor};
use crate::cell::{Current, Entered, Ref};
use crate::local::{LocalKey, Locals};

/// A fiber, and the values that it had when its closure went to this thread.
type Carried = RefCell<Option<(Context, Option<Locals>)>>;

#[cfg(fiber_loom)]
loom::thread_local! {
    static CURRENT: Current<FiberState> = Current::none();
    static CARRIED: Carried = RefCell::new(None);
}

#[cfg(not(fiber_loom))]
thread_local! {
    // A thread-local, because a user closure has no argument that leads to its fiber.
    static CURRENT: Current<FiberState> = const { Current::none() };
    // Likewise. A blocking closure goes on after its fiber was cancelled, which then has other values.
    static CARRIED: Carried = const { RefCell::new(None) };
}

fn value_of<T: Clone + Send + Sync>(key: &'static LocalKey<T>, locals: Option<Locals>) -> Option<T> {
    locals.as_ref().and_then(|locals| locals.get(key)).cloned()
}

impl Context {
    /// The context of the fiber that runs on this thread; `None` if none does. It works in all code that a fiber calls: in
    /// closures, also blocking ones, in futures, and in the log layers that they call. Borrowed tasks of [`compute`](crate::compute) that
    /// another thread takes belong to no fiber there.
    ///
    /// A branch that runs in place has no context of its own before it waits, forks or sets a local, and a timeout has none before
    /// it forks or sets a local. Until then, this function gives the one around it; [`Fiber::current`](crate::Fiber::current) makes one.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber};
    ///
    /// /// What a logger would write.
    /// fn line(message: &str) -> String {
    ///     match Context::current() {
    ///         Some(fiber) => format!("[{}] {message}", fiber.name().unwrap_or("unnamed")),
    ///         None => message.to_owned(),
    ///     }
    /// }
    ///
    /// let pool = fiber_sched::Pool::new();
    /// let audit = pool.spawn(Fiber::lazy(|| line("started")).named("audit"));
    /// assert_eq!(fiber_sched::block_on(audit).unwrap(), "[audit] started");
    /// assert_eq!(line("started"), "started");
    /// ```
    pub fn current() -> Option<Context> {
        CURRENT.with(Current::get).map(Context)
    }

    /// The value that the fiber on this thread carries for `key`, or the default of the key. The counterpart of
    /// [`Fiber::local`](crate::Fiber::local) for code that is not a fiber; it works where [`current`](Context::current)
    /// does.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber, local_key};
    ///
    /// local_key! { static REQUEST: u64 = 0; }
    ///
    /// let line = || format!("request {}", Context::local(&REQUEST));
    /// let handler = Fiber::lazy(line).with_local(&REQUEST, 7);
    /// assert_eq!(fiber_sched::run(handler).unwrap(), "request 7");
    /// assert_eq!(line(), "request 0");
    /// ```
    ///
    /// # Panics
    /// If the default or `clone` does.
    pub fn local<T: Clone + Send + Sync>(key: &'static LocalKey<T>) -> T {
        let locals = Context::current().and_then(|fiber| fiber.locals_here());
        value_of(key, locals).unwrap_or_else(|| key.default_value())
    }

    /// The value that this fiber carries for `key`; `None` if none was set. For observers, which inspect fibers from
    /// outside.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber, local_key};
    ///
    /// local_key! { static REQUEST: u64 = 0; }
    ///
    /// let carried = Fiber::lazy(|| Context::current().and_then(|fiber| fiber.carried(&REQUEST)));
    /// let both = carried.clone().zip(carried.with_local(&REQUEST, 7));
    /// assert_eq!(fiber_sched::run(both).unwrap(), (None, Some(7)));
    /// ```
    ///
    /// # Panics
    /// If `clone` does.
    pub fn carried<T: Clone + Send + Sync>(&self, key: &'static LocalKey<T>) -> Option<T> {
        value_of(key, self.locals())
    }

    /// The values that code of this fiber has on this thread.
    fn locals_here(&self) -> Option<Locals> {
        let of_closure = |carried: &Carried| {
            let carried = carried.borrow();
            carried.as_ref().filter(|(fiber, _)| fiber.is_same(self)).map(|(_, locals)| locals.clone())
        };
        CARRIED.try_with(of_closure).ok().flatten().unwrap_or_else(|| self.locals())
    }

    /// Calls a closure of this fiber, which does not unwind, on a thread where the fiber does not run. It has these values, whatever
    /// becomes of the fiber meanwhile. Gives them back.
    pub(crate) fn call_apart<T>(&self, locals: Option<Locals>, f: impl FnOnce() -> T) -> (T, Option<Locals>) {
        let outside = CARRIED.with(|carried| carried.replace(Some((self.clone(), locals))));
        let value = {
            let _current = self.set_current();
            f()
        };
        let carried = CARRIED.with(|carried| carried.replace(outside));
        (value, carried.and_then(|(_, locals)| locals))
    }

    /// Whether this thread runs the fiber, in the `register` of its wait.
    pub(super) fn registers(&self) -> bool {
        self.waits_for() != WaitsFor::Nothing
            && CURRENT.with(Current::get).is_some_and(|current| Ref::ptr_eq(&current, &self.0))
    }

    /// The code that this thread runs is of this fiber, until the result is dropped.
    #[inline]
    pub(crate) fn set_current(&self) -> Entered<'_, FiberState> {
        Current::set(&CURRENT, &self.0)
    }
}

/// Whether a fiber runs on this thread.
pub(crate) fn is_in_fiber() -> bool {
    CURRENT.with(Current::is_some)
}

/// Which call of [`Context::set_current`] was the last one of this thread.
#[cfg(feature = "direct")]
#[derive(PartialEq)]
pub(crate) struct CurrentFiber(usize);

#[cfg(feature = "direct")]
impl CurrentFiber {
    pub(crate) fn now() -> Self {
        CurrentFiber(CURRENT.with(Current::place))
    }
}
