use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::engine::step::Run;
use crate::fiber::Fiber;
use crate::footprint::{Access, Object};

/// A value that is read as a whole, and replaced as a whole.
///
/// ```
/// use fiber_core::{Fiber, sync::Ref};
///
/// let settings = Ref::new(vec!["fast"]);
/// let snapshot = settings.load();
/// let add = settings.update(|settings| [&settings[..], &["safe"]].concat());
/// assert_eq!(*fiber_sched::run(add.bind({
///     let settings = settings.clone();
///     move |()| settings.read()
/// })).unwrap(), ["fast", "safe"]);
/// // Whoever has read the old value keeps it.
/// assert_eq!(*snapshot, ["fast"]);
/// ```
///
/// No operation waits: readers see the latest value, and an update that collides with another one is computed again
/// from the new value. Use a [`Mutex`](super::Mutex) for a value whose updates wait or have effects. Clones share the
/// value.
pub struct Ref<T>(Arc<Shared<T>>);

struct Shared<T> {
    value: ArcSwap<T>,
    object: Object,
}

impl<T: Send + Sync + 'static> Ref<T> {
    /// A reference to `value`.
    pub fn new(value: T) -> Self {
        Ref(Arc::new(Shared { value: ArcSwap::from_pointee(value), object: Object::new() }))
    }

    /// Gives the value at the time when the fiber runs.
    #[track_caller]
    pub fn read(&self) -> Fiber<Arc<T>, impl Run<Out = Arc<T>> + Clone + use<T>> {
        let reference = self.clone();
        Fiber::lazy_at(Location::caller(), move || reference.load())
    }

    /// Replaces the value.
    ///
    /// ```
    /// use fiber_core::sync::Ref;
    ///
    /// let limit = Ref::new(10);
    /// fiber_sched::run(limit.set(20)).unwrap();
    /// assert_eq!(*limit.load(), 20);
    /// ```
    ///
    /// # Panics
    /// A panic of the old value's drop becomes the fiber's outcome.
    #[track_caller]
    pub fn set(&self, value: T) -> Fiber<(), impl Run<Out = ()> + use<T>> {
        let reference = self.clone();
        Fiber::lazy_at(Location::caller(), move || reference.store(value))
    }

    /// Replaces the value with the result of `f`.
    ///
    /// If the value has been replaced meanwhile, `f` is called again with the new value.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. The value stays unchanged.
    #[track_caller]
    pub fn update<F>(&self, mut f: F) -> Fiber<(), impl Run<Out = ()> + use<T, F>>
    where
        F: FnMut(&T) -> T + Send + 'static,
    {
        let reference = self.clone();
        Fiber::lazy_at(Location::caller(), move || reference.change(|value| (f(value), ())))
    }

    /// Replaces the value with the first part of the result of `f`, and gives the second.
    ///
    /// If the value has been replaced meanwhile, `f` is called again with the new value.
    ///
    /// ```
    /// use fiber_core::sync::Ref;
    ///
    /// let next = Ref::new(1);
    /// let id = next.modify(|&id| (id + 1, id));
    /// assert_eq!(fiber_sched::run(id).unwrap(), 1);
    /// assert_eq!(*next.load(), 2);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. The value stays unchanged.
    #[track_caller]
    pub fn modify<U, F>(&self, f: F) -> Fiber<U, impl Run<Out = U> + use<T, U, F>>
    where
        U: Send + 'static,
        F: FnMut(&T) -> (T, U) + Send + 'static,
    {
        let reference = self.clone();
        Fiber::lazy_at(Location::caller(), move || reference.change(f))
    }

    /// The current value.
    pub fn load(&self) -> Arc<T> {
        self.0.object.touch(Access::Read);
        self.0.value.load_full()
    }

    /// Replaces the value at once.
    ///
    /// ```
    /// let limit = fiber_core::sync::Ref::new(10);
    /// limit.store(20);
    /// assert_eq!(*limit.load(), 20);
    /// ```
    pub fn store(&self, value: T) {
        self.0.object.touch(Access::Write);
        self.0.value.store(Arc::new(value));
    }

    fn change<U>(&self, mut f: impl FnMut(&T) -> (T, U)) -> U {
        let Shared { value: current, object } = &*self.0;
        object.touch(Access::Write);
        let mut seen = current.load();
        loop {
            let (value, given) = f(&seen);
            let before = current.compare_and_swap(&*seen, Arc::new(value));
            if Arc::ptr_eq(&before, &seen) {
                return given;
            }
            seen = before;
        }
    }
}

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        Ref(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.0.value.load()).finish()
    }
}
