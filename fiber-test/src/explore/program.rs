//! A program under exploration without its types, so that the explorer is compiled once and not for each program.

use fiber_core::{Context, Fiber, Handle, Outcome, Run};

use crate::primitive::Site;

pub(crate) trait Program: Sync {
    /// Makes the program anew, which calls code of the test, and starts it below `root`.
    fn start(&self, root: &Context, site: Site) -> Box<dyn Started>;
}

/// A program that was started.
pub(crate) trait Started {
    fn is_finished(&self) -> bool;

    /// The outcome. The value is dropped here, which calls code of the test.
    fn outcome(self: Box<Self>) -> Outcome<()>;
}

impl<T, R, F> Program for F
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: Fn() -> Fiber<T, R> + Sync,
{
    fn start(&self, root: &Context, site: Site) -> Box<dyn Started> {
        Box::new(root.spawn_from(self().boxed(), site))
    }
}

impl<T: Send + 'static> Started for Handle<T> {
    fn is_finished(&self) -> bool {
        Handle::is_finished(self)
    }

    fn outcome(self: Box<Self>) -> Outcome<()> {
        let outcome = self.try_outcome();
        outcome.unwrap_or_else(|_| panic!("only a program that has ended has an outcome")).map(drop)
    }
}
