use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use fiber_core::{Fiber, Outcome};
use fiber_test::Explore;

/// The number of the first schedule of an exploration that breaks the program.
///
/// The program is repaired as soon as it broke, so that the failure is not shrunk, which would take longer than finding it. A
/// deadlock goes unnoticed here, but there are small schedules for those.
pub(crate) fn first_bug(explore: &Explore, program: fn() -> Fiber<()>) -> Option<u64> {
    let is_broken = Arc::new(AtomicBool::new(false));
    let until_broken = || {
        if is_broken.load(SeqCst) {
            return Fiber::success(()).boxed();
        }
        let is_broken = is_broken.clone();
        let note = move |outcome: &Outcome<()>| {
            is_broken.store(!outcome.is_success(), SeqCst);
            Fiber::success(())
        };
        program().on_outcome(note).boxed()
    };
    explore.try_check(until_broken).err().map(|failure| failure.number())
}
