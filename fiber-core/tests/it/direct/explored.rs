//! The explorer sees the waits of direct fibers.

use fiber_core::{Direct, Error, Fiber};
use fiber_test::Explore;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Reads, waits for another fiber's turn, and writes: an update may be lost.
fn visit(d: &Direct<'_>, count: &AtomicU32) -> Result<(), Error> {
    let seen = count.load(SeqCst);
    d.wait(Fiber::lazy(|| ()))?;
    d.wait(Fiber::lazy(|| ()))?;
    count.store(seen + 1, SeqCst);
    Ok(())
}

fn visits() -> Fiber<()> {
    let count = Arc::new(AtomicU32::new(0));
    let one = |count: Arc<AtomicU32>| Fiber::direct(move |d| visit(d, &count));
    let both = one(count.clone()).zip(one(count.clone()));
    both.map(move |_| assert!(count.load(SeqCst) == 2, "a visit is lost")).boxed()
}

#[test]
fn a_lost_update_in_direct_code_is_found_and_replayed() {
    let find = || Explore::default().try_check(visits).unwrap_err().to_string();
    let report = find();
    assert!(report.contains("a visit is lost"), "{report}");
    // The decisive step is a wait of direct code.
    assert!(report.contains("wait at"), "{report}");
    assert_eq!(find(), report, "the search is deterministic");
}

#[test]
fn code_without_a_wait_between_read_and_write_loses_nothing() {
    let visits = || {
        let count = Arc::new(AtomicU32::new(0));
        let one = |count: Arc<AtomicU32>| {
            Fiber::direct(move |d| {
                d.wait(Fiber::yield_now())?;
                let seen = count.load(SeqCst);
                count.store(seen + 1, SeqCst);
                d.wait(Fiber::yield_now())
            })
        };
        let both = one(count.clone()).zip(one(count.clone()));
        both.map(move |_| assert_eq!(count.load(SeqCst), 2)).boxed()
    };
    Explore::default().check(visits);
}

#[test]
fn cancelled_anywhere_it_drops_what_it_holds() {
    let program = || {
        let held = Arc::new(AtomicU32::new(0));
        struct Holds(Arc<AtomicU32>);
        impl Drop for Holds {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        let inside = held.clone();
        let fiber = Fiber::direct(move |d| {
            inside.fetch_add(1, SeqCst);
            let _holds = Holds(inside.clone());
            for _ in 0..3 {
                d.wait(Fiber::yield_now())?;
            }
            Ok(())
        });
        let cancelled = fiber.fork().bind(|handle| {
            let target = handle.context().clone();
            Fiber::yield_now()
                .bind(move |()| Fiber::lazy(move || target.cancel()))
                .bind(move |()| handle.join().catch(|_| Fiber::success(())))
        });
        let ended = held.clone();
        cancelled
            .ensure(Fiber::lazy(move || assert_eq!(ended.load(SeqCst), 0)))
            .race(Fiber::delay(super::SECOND))
            .map(drop)
            .boxed()
    };
    Explore::default().check(program);
}
