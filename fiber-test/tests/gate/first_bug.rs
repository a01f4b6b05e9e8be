use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use fiber_core::{Fiber, Outcome};
use fiber_test::Explore;

/// Which schedule of an exploration breaks the program first.
///
/// The program is put right as soon as it broke, so that what was found is not made smaller, which would take longer than to find it. A
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
