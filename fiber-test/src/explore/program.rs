//! A program under exploration without its types, so that the explorer is compiled once and not for each program.

use fiber_core::{Context, Fiber, Handle, Outcome, Run};

use crate::primitive::Site;

pub(crate) trait Program: Sync {
    /// Makes the program anew, which calls code of the test, starts it below `root`, and passes it to `run`.
    fn start(&self, root: &Context, site: Site, run: &mut dyn FnMut(&mut dyn Started));
}

/// A program that was started.
pub(crate) trait Started {
    fn is_finished(&self) -> bool;

    /// The outcome, once. The value is dropped here, which calls code of the test.
    fn outcome(&mut self) -> Outcome<()>;
}

impl<T, R, F> Program for F
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: Fn() -> Fiber<T, R> + Sync,
{
    fn start(&self, root: &Context, site: Site, run: &mut dyn FnMut(&mut dyn Started)) {
        run(&mut Some(root.spawn_from(self().boxed(), site)));
    }
}

impl<T: Send + 'static> Started for Option<Handle<T>> {
    fn is_finished(&self) -> bool {
        self.as_ref().is_some_and(Handle::is_finished)
    }

    fn outcome(&mut self) -> Outcome<()> {
        let outcome = self.take().and_then(|handle| handle.try_outcome().ok());
        outcome.expect("only a program that has ended has an outcome").map(drop)
    }
}
