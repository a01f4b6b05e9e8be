//! The test's promise that steps declare everything that they touch.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::sync::Ref;
use fiber_core::{Fiber, Recording, dataflow};
use fiber_test::{Explore, Faults, network, touch, touch_read};

/// Two fibers that read, then write. `says` is called in each of these steps.
fn increments(says: fn(bool)) -> Fiber<u32> {
    let count = Arc::new(AtomicU32::new(0));
    let increment = |count: &Arc<AtomicU32>| {
        let (reads, writes) = (count.clone(), count.clone());
        let read = Fiber::lazy(move || {
            says(false);
            reads.load(SeqCst)
        });
        read.bind(move |seen| {
            Fiber::lazy(move || {
                says(true);
                writes.store(seen + 1, SeqCst);
            })
        })
    };
    let both = Fiber::parallel([increment(&count), increment(&count)]);
    both.map(move |_| count.load(SeqCst)).boxed()
}

fn declared(is_write: bool) {
    if is_write { touch("count") } else { touch_read("count") }
}

#[test]
fn what_is_said_is_explored() {
    let explored = Explore::exhaustive().reduced().check(|| increments(declared));
    assert_eq!((explored.traces(), explored.is_complete()), (Some(4), true));
    let lost =
        Explore::exhaustive().reduced().try_check(|| increments(declared).map(|count| assert_eq!(count, 2)));
    assert!(lost.unwrap_err().to_string().contains("right: 2"));
}

/// Without declarations, there is one order; but the random ones break the program.
#[test]
fn a_bug_in_what_is_not_said_may_be_found_by_the_random_orders() {
    let lost =
        Explore::exhaustive().reduced().try_check(|| increments(|_| {}).map(|count| assert_eq!(count, 2)));
    assert!(lost.is_err());
}

/// A fiber that behaves differently after another one, although it declares nothing in common with it.
#[test]
fn what_is_not_said_is_noticed() {
    let program = || {
        let flag = Arc::new(AtomicU32::new(0));
        let sets = flag.clone();
        let set = Fiber::for_each(0..3, |_| Fiber::success(())).map(move |()| sets.store(1, SeqCst));
        let get = Fiber::lazy(move || flag.load(SeqCst)).bind(|flag| {
            if flag == 0 {
                Fiber::success(()).boxed()
            } else {
                Fiber::for_each(0..2, |_| Fiber::success(())).boxed()
            }
        });
        let get = Fiber::for_each(0..3, |_| Fiber::success(())).bind(move |()| get);
        set.zip(get).map(drop).boxed()
    };
    let explored = Explore::exhaustive().reduced().try_check(program).unwrap();
    assert!(explored.is_undeclared() && !explored.is_complete(), "{explored}");
    let checked =
        catch_unwind(AssertUnwindSafe(|| Explore::exhaustive().reduced().no_regressions().check(program)));
    assert!(checked.unwrap_err().downcast::<&str>().unwrap().contains("fiber_test::touch"));
}

/// A fiber that spins has to be stopped, and what could have followed is not seen: `check` says so.
#[test]
fn an_exploration_that_is_cut_short_by_a_spin_loop_is_refused() {
    let program = || {
        let flag = Arc::new(AtomicU32::new(0));
        let looks = flag.clone();
        let spin = Fiber::iterate((), move |()| {
            let looks = looks.clone();
            Fiber::lazy(move || {
                touch_read("flag");
                if looks.load(SeqCst) == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        let (set, asserts) = (flag.clone(), flag);
        let set = Fiber::lazy(move || {
            touch("flag");
            set.store(1, SeqCst);
        });
        let later = Fiber::yield_now().bind(|()| Fiber::yield_now()).bind(move |()| {
            touch_read("flag");
            assert_eq!(asserts.load(SeqCst), 1);
            Fiber::success(())
        });
        Fiber::parallel([spin.boxed(), set.boxed(), later.boxed()])
    };
    assert!(Explore::default().try_check(program).is_err());
    let explored = Explore::exhaustive().reduced().try_check(program).unwrap();
    assert!(!explored.is_complete(), "{explored}");
    let explore = Explore::exhaustive().reduced().no_regressions();
    let checked = catch_unwind(AssertUnwindSafe(|| explore.check(program)));
    assert!(checked.unwrap_err().downcast::<String>().unwrap().contains("had spun for too long"));
}

#[test]
fn it_is_not_combined_with_what_makes_silent_steps_dependent() {
    let reduced = || Explore::exhaustive().reduced();
    let combined = [
        reduced().preemptions(1),
        reduced().lateness(Duration::from_millis(1)),
        reduced().as_production(8),
        reduced().faults(Faults::new().crashes(1)),
        reduced().pairs(),
        reduced().may_leak(),
        Explore::exhaustive().preemptions(1),
    ];
    let is_refused = combined.map(|explore| {
        catch_unwind(AssertUnwindSafe(|| explore.try_check(|| Fiber::success(())).is_ok())).is_err()
    });
    assert_eq!(is_refused, [true, true, true, true, true, true, false]);
}

/// The network does not declare what it touches.
#[test]
fn a_network_is_refused() {
    let program = || network().bind(|network| network.host("a").run(|| Fiber::success(1)));
    let refused =
        catch_unwind(AssertUnwindSafe(|| Explore::exhaustive().reduced().try_check(program).is_ok()));
    let text = refused.unwrap_err().downcast::<String>().unwrap();
    assert!(text.starts_with("the simulated network cannot be explored with reduced()"), "{text}");
}

#[test]
fn direct_fibers_are_refused() {
    let program = || Fiber::direct(|direct| direct.wait(Fiber::success(1)));
    let refused =
        catch_unwind(AssertUnwindSafe(|| Explore::exhaustive().reduced().try_check(program).is_ok()));
    let text = refused.unwrap_err().downcast::<String>().unwrap();
    assert!(text.starts_with("direct fibers cannot be explored with reduced()"), "{text}");
}

#[test]
fn a_recording_is_refused() {
    let recording: Recording = "recording 1, 0 lost\n0 0 start\n".parse().unwrap();
    let refused = catch_unwind(|| Explore::recorded(&recording).reduced());
    let text = refused.unwrap_err().downcast::<&str>().unwrap();
    assert!(text.contains("Explore::exhaustive().reduced()"), "{text}");
}

/// The steps of a dataflow share its values.
#[test]
fn the_steps_of_a_dataflow_have_orders() {
    let program = || {
        let seen = Ref::new(0);
        let (one, other) = (seen.clone(), seen.clone());
        dataflow! {
            let a = one.read().map(|value| *value);
            let b = other.set(1);
            let c = Fiber::success((a, b));
            c.0
        }
    };
    let explored = Explore::exhaustive().reduced().check(program);
    assert!(explored.is_complete() && explored.traces() >= Some(2), "{explored}");
}

#[test]
fn random_numbers_that_are_choices_are_all_drawn() {
    let program =
        || Fiber::random_u64().zip(Fiber::random_u64()).map(|(one, other)| assert!(one + other < 5));
    assert!(Explore::exhaustive().reduced().draws(3).check(program).is_complete());
    assert!(Explore::exhaustive().reduced().draws(4).try_check(program).is_err());
    assert!(!Explore::exhaustive().reduced().check(Fiber::random_u64).is_complete());
}

#[test]
fn a_failure_is_shrunk_and_replayed_as_any_other() {
    let broken = || increments(declared).map(|count| assert_eq!(count, 2));
    let failure = Explore::exhaustive().reduced().try_check(broken).unwrap_err();
    let schedule = failure.schedule().to_string();
    assert!(Explore::replay(&schedule).try_check(broken).is_err());
}
