//! Reports say who holds what, and who waits for it.

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::{Permit, Semaphore};
use fiber_core::{Fiber, Run, fiber};
use fiber_test::{Explore, Failure, ProblemKind, TestScheduler};
use parking_lot::Mutex;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn look() {
    fn program() -> Fiber<()> {
        let [a, b] = ["a", "b"].map(|name| Semaphore::new(1).named(name));
        let [a_too, b_too] = [&a, &b].map(Semaphore::clone);
        let ab = a.with_permits(1, Fiber::yield_now().bind(move |()| b_too.with_permits(1, Fiber::success(()))));
        let ba = b.with_permits(1, Fiber::yield_now().bind(move |()| a_too.with_permits(1, Fiber::success(()))));
        ab.named("alice").zip(ba.named("bob")).map(drop).boxed()
    }
    let failure = Explore::default().try_check(program).unwrap_err();
    println!("{failure}");
    failure.save(std::path::Path::new("/tmp/reports-pic")).unwrap();
    let (s, test) = (Semaphore::new(3), TestScheduler::new());
    let h = test.spawn(s.with_permits(2, Fiber::<()>::never()));
    let h2 = test.spawn(s.with_permits(1, Fiber::<()>::never()).named("bob"));
    let w = test.spawn(s.acquire(2));
    let w2 = test.spawn(s.acquire(1));
    test.run_until_idle();
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| w2.outcome())).unwrap_err();
    println!("{}", panic.downcast_ref::<String>().unwrap());
    let _ = (h, h2, w);
    println!("{}", std::panic::catch_unwind(AssertUnwindSafe(|| test.assert_no_leaks())).unwrap_err().downcast_ref::<String>().unwrap());
    let _ = (SECOND, mem::size_of::<Permit>(), Mutex::new(Arc::new(ProblemKind::Leak)));
    fn f(_: Failure, _: &dyn Fn() -> Fiber<()>) {}
    let _ = f;
    let _ = || fiber! { () };
    fn g<R: Run>(_: R) {}
    let _ = g::<fiber_core::Boxed<()>>;
}
