//! Conditions on the error or value of a round.

use std::any::Any;
use std::mem::{needs_drop, size_of};
use std::sync::Arc;

/// A closure of the user. One that captures nothing, as most do, is not allocated.
pub(crate) enum Condition<I> {
    /// A closure without a size, and the function that calls it.
    Free(&'static (dyn Any + Send + Sync), fn(&dyn Any, &I) -> bool),
    Shared(Arc<dyn Fn(&I) -> bool + Send + Sync>),
}

impl<I: 'static> Condition<I> {
    #[inline]
    pub(crate) fn new<F: Fn(&I) -> bool + Send + Sync + 'static>(condition: F) -> Self {
        if size_of::<F>() == 0 && !needs_drop::<F>() {
            // A box of nothing takes no memory, so none is lost.
            Condition::Free(Box::leak(Box::new(condition)), call::<I, F>)
        } else {
            Condition::Shared(Arc::new(condition))
        }
    }
}

impl<I> Condition<I> {
    /// Calls the closure, which may panic.
    pub(crate) fn holds(&self, input: &I) -> bool {
        match self {
            Condition::Free(condition, call) => call(*condition, input),
            Condition::Shared(condition) => condition(input),
        }
    }
}

fn call<I, F: Fn(&I) -> bool + 'static>(condition: &dyn Any, input: &I) -> bool {
    condition.downcast_ref::<F>().expect("it is kept with its own function")(input)
}

impl<I> Clone for Condition<I> {
    #[inline]
    fn clone(&self) -> Self {
        match self {
            Condition::Free(condition, call) => Condition::Free(*condition, *call),
            Condition::Shared(condition) => Condition::Shared(condition.clone()),
        }
    }
}
