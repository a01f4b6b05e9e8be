//! No stacks: there are no direct fibers.

use std::marker::PhantomData;

/// What the current thread has for direct fibers: nothing.
pub(super) struct Here<'a>(PhantomData<&'a ()>);

impl Here<'_> {
    pub(super) fn with<T>(f: impl FnOnce(Here<'_>) -> T) -> T {
        f(Here(PhantomData))
    }
}
