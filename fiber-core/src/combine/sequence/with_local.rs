use super::setting::{Setting, room_within, run_within};
use crate::engine::context::Cx;
use crate::engine::event::Event;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::local::{LocalKey, Locals};
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

use std::panic::Location;

impl<T: Clone + Send + Sync + 'static> Fiber<T> {
    /// The value that the fiber carries for `key`: the one that the innermost [`with_local`](Fiber::with_local) around
    /// the fiber or its fork has set, or the default of the key.
    ///
    /// # Panics
    /// A panic of the default or of `clone` becomes the fiber's outcome.
    #[track_caller]
    pub fn local(key: &'static LocalKey<T>) -> Fiber<T, Local<T>> {
        Fiber::new(Local { key, site: Location::caller() })
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs this fiber with `value` for `key`. Its forks and branches inherit the value.
    ///
    /// ```
    /// use fiber_core::{Fiber, local_key};
    ///
    /// local_key! { static DEPTH: u32 = 0; }
    ///
    /// let depth = || Fiber::local(&DEPTH);
    /// let forked = depth().fork().bind(|child| child.join()).with_local(&DEPTH, 1);
    /// assert_eq!(fiber_sched::run(forked.zip(depth())).unwrap(), (1, 0));
    /// ```
    #[doc(alias = "locally")]
    pub fn with_local<V: Send + Sync>(
        self,
        key: &'static LocalKey<V>,
        value: V,
    ) -> Fiber<T, WithLocal<R, V>> {
        Fiber::new(WithLocal { run: self.into_run(), key, value })
    }
}

/// The description of [`Fiber::local`].
#[derive(Debug)]
pub struct Local<T: 'static> {
    key: &'static LocalKey<T>,
    site: Site,
}

impl<T> Clone for Local<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Local<T> {}

impl<T: Clone + Send + Sync + 'static> Run for Local<T> {
    type Out = T;
    const ROOM: usize = 0;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() {
            return Step::Done(Outcome::Cancelled);
        }
        let locals = cx.locals();
        let found = guard(|| {
            let carried = locals.as_ref().and_then(|locals| locals.get(self.key)).cloned();
            carried.unwrap_or_else(|| self.key.default_value())
        });
        Step::Done(match found {
            Ok(value) => Outcome::Success(value),
            Err(panic) => Outcome::Panicked(panic).passed(Frame::new("local", self.site)),
        })
    }
}

/// The description of [`Fiber::with_local`].
#[derive(Clone, Debug)]
pub struct WithLocal<R, V: 'static> {
    run: R,
    key: &'static LocalKey<V>,
    value: V,
}

impl<R: Run, V: Send + Sync + 'static> Run for WithLocal<R, V> {
    type Out = R::Out;
    const ROOM: usize = room_within::<R, Outer>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let outer = cx.locals();
        let inner = Locals::with(outer.clone(), self.key, self.value);
        drop(cx.context().set_locals(Some(inner)));
        cx.context().observe(Event::Locals);
        // This may be the first use of the context.
        let _current = cx.context().set_current();
        run_within(cx, self.run, Outer(outer))
    }

    fn is_program(&self) -> bool {
        self.run.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
        discard_part(self.value, torn);
    }
}

/// The locals that the fiber carries outside of this part.
pub(crate) struct Outer(Option<Locals>);

impl Setting for Outer {
    fn put_back<T>(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T> {
        let inner = cx.context().set_locals(self.0);
        cx.context().observe(Event::Locals);
        outcome.without(inner, cx)
    }
}
