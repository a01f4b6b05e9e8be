//! Fibers that are bound to a value, and groups of fibers.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Wake, Waker};
use std::time::Duration;

use crate::support::Counter;
use fiber_core::{Context, Error, Fiber, Group, Handle, IntoFiber, fiber};
use fiber_test::{Explore, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

fn is_ready(future: impl Future) -> bool {
    pin!(future).poll(&mut task::Context::from_waker(Waker::noop())).is_ready()
}

/// Waits for ever, and so does its child; both have finalizers that take a second.
fn family(finalized: &Counter) -> Fiber<()> {
    let (own, of_child) = (finalized.count(), finalized.count());
    let child = Fiber::<()>::never().ensure(Fiber::delay(SECOND).bind(|()| of_child));
    let parent = child.fork().bind(|_| Fiber::<()>::never());
    parent.ensure(Fiber::delay(SECOND).bind(|()| own)).boxed()
}

#[test]
fn the_drop_of_a_tied_handle_reaches_the_children() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let tied = test.context().spawn(family(&finalized)).cancel_on_drop();
    test.run_until_idle();
    assert_eq!(test.live_fibers(), 2);
    drop(tied);
    test.run_until_idle();
    assert_eq!(finalized.get(), 2);
    test.assert_no_leaks();
}

#[test]
fn a_tied_fiber_is_cancelled_with_the_future_that_awaits_it() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let tied = test.context().spawn(family(&finalized)).cancel_on_drop();
    let awaits = async { tied.await.into_result() };
    {
        let mut awaits = Box::pin(awaits);
        assert!(awaits.as_mut().poll(&mut task::Context::from_waker(Waker::noop())).is_pending());
        test.run_until_idle();
        assert_eq!(test.live_fibers(), 2);
    }
    test.run_until_idle();
    assert_eq!(finalized.get(), 2);
    test.assert_no_leaks();
}

#[test]
fn a_tied_fiber_gives_its_outcome_and_is_not_cancelled_afterwards() {
    let test = TestScheduler::new();
    let mut tied = test.context().spawn(Fiber::success(7)).cancel_on_drop();
    test.run_until_idle();
    let polled = pin!(&mut tied).poll(&mut task::Context::from_waker(Waker::noop()));
    let Poll::Ready(outcome) = polled else { panic!("it has ended") };
    assert_eq!(outcome.unwrap(), 7);
    let context = tied.context().clone();
    drop(tied);
    assert!(!context.is_cancelled());
}

#[test]
fn a_released_fiber_goes_on() {
    let test = TestScheduler::new();
    let handle = test.context().spawn(Fiber::delay(SECOND)).cancel_on_drop().release();
    assert!(test.run(handle.join()).is_success());
}

#[test]
fn to_cancel_a_group_reaches_children_and_waits_for_finalizers() {
    let test = TestScheduler::new();
    let (group, finalized) = (test.context().group(), Counter::default());
    let members: Vec<Handle<()>> = (0..3).map(|_| group.spawn(family(&finalized))).collect();
    let outsider = test.context().spawn(Fiber::<()>::never());
    test.run_until_idle();
    assert_eq!(group.len(), 3);
    assert!(test.run(group.cancel().into_fiber()).is_success());
    assert_eq!(finalized.get(), 6);
    assert_eq!(test.now().as_nanos(), SECOND.as_nanos() as u64);
    assert!(members.into_iter().all(|member| member.try_outcome().unwrap().is_cancelled()));
    assert!(!outsider.is_finished());
    outsider.cancel_now();
    test.run_until_idle();
    test.assert_no_leaks();
}

#[test]
fn a_cancelled_group_refuses_fibers() {
    let test = TestScheduler::new();
    let group = test.context().group();
    assert!(is_ready(group.cancel()));
    let late = group.spawn(Fiber::lazy(|| panic!("it runs")));
    assert!(late.try_outcome().unwrap().is_cancelled());
    assert!(group.is_empty());
    test.assert_no_leaks();
}

#[test]
fn a_drained_group_takes_fibers_until_it_is_empty() {
    let test = TestScheduler::new();
    let group = test.context().group();
    let within = group.clone();
    let first = fiber! {
        do! Fiber::delay(SECOND);
        within.spawn(Fiber::delay(SECOND).map(|()| "second"))
    };
    let first = group.spawn(first);
    let end = group.drain();
    assert!(test.run(end.into_fiber()).is_success());
    assert_eq!(test.now().as_nanos(), 2 * SECOND.as_nanos() as u64);
    let second = first.try_outcome().unwrap().unwrap();
    assert_eq!(second.try_outcome().unwrap().unwrap(), "second");
    assert!(group.spawn(Fiber::success(())).try_outcome().unwrap().is_cancelled());
}

/// Looks at a group when it is woken: how many fibers are in it, and whether it refuses another one.
struct Looks {
    group: Group,
    seen: Mutex<Option<(usize, bool)>>,
}

impl Wake for Looks {
    fn wake(self: Arc<Self>) {
        let late = self.group.spawn(Fiber::success(()));
        let is_refused = late.try_outcome().is_ok_and(|outcome| outcome.is_cancelled());
        *self.seen.lock().unwrap() = Some((self.group.len(), is_refused));
    }
}

#[test]
fn a_fiber_whose_outcome_is_there_has_left_its_group() {
    let test = TestScheduler::new();
    let group = test.context().group();
    let mut last = pin!(group.spawn(Fiber::delay(SECOND)).into_future());
    let end = test.spawn(group.drain().into_fiber());
    let looks = Arc::new(Looks { group, seen: Mutex::default() });
    let waker = Waker::from(looks.clone());
    assert!(last.as_mut().poll(&mut task::Context::from_waker(&waker)).is_pending());
    test.run_until_idle();
    assert_eq!(*looks.seen.lock().unwrap(), Some((0, true)));
    assert!(end.outcome().is_success());
}

#[test]
fn a_group_that_nobody_closes_does_not_end() {
    let test = TestScheduler::new();
    let group = test.context().group();
    let end = group.drain();
    let other = test.context().group();
    drop(other.spawn(Fiber::success(())));
    test.run_until_idle();
    assert!(is_ready(end));
    assert!(other.is_empty());
    // The group accepts no more fibers.
    assert!(other.spawn(Fiber::success(())).try_outcome().is_err());
    test.run_until_idle();
}

#[test]
fn several_wait_for_the_end_of_a_group_and_one_leaves() {
    let test = TestScheduler::new();
    let group = test.context().group();
    group.spawn(Fiber::delay(3 * SECOND));
    let impatient = group.drain().into_fiber().timeout(SECOND);
    let patient = group.drain().into_fiber().zip(group.drain().into_fiber());
    let (impatient, patient) = test.run(impatient.map_outcome_to_bool().zip(patient)).unwrap();
    assert_eq!((impatient, patient), (false, ((), ())));
    test.assert_no_leaks();
}

trait IsSuccess {
    fn map_outcome_to_bool(self) -> Fiber<bool>;
}

impl<R: fiber_core::Run<Out = ()>> IsSuccess for Fiber<(), R> {
    fn map_outcome_to_bool(self) -> Fiber<bool> {
        self.map(|()| true).catch(|_| Fiber::success(false)).boxed()
    }
}

#[test]
fn the_end_of_the_scheduler_ends_its_groups() {
    let test = TestScheduler::new();
    let (group, finalized) = (test.context().group(), Counter::default());
    group.spawn(family(&finalized));
    let end = group.drain();
    test.run_until_idle();
    test.context().cancel();
    test.run_until_idle();
    assert_eq!(finalized.get(), 2);
    assert!(is_ready(end));
    assert!(group.spawn(Fiber::success(())).try_outcome().unwrap().is_cancelled());
}

#[test]
fn a_failure_in_a_group_harms_nobody_else() {
    let test = TestScheduler::new();
    let group = test.context().group();
    let fails = group.spawn(Fiber::<()>::fail(Error::msg("no")));
    let succeeds = group.spawn(Fiber::delay(SECOND).map(|()| 1));
    assert!(test.run(group.drain().into_fiber()).is_success());
    assert!(fails.try_outcome().unwrap().is_failure());
    assert_eq!(succeeds.try_outcome().unwrap().unwrap(), 1);
}

#[test]
fn in_every_schedule_the_end_of_a_group_comes_after_its_fibers() {
    fn spawns(group: &Group, ended: &Counter) -> Fiber<()> {
        let (group, finalized) = (group.clone(), ended.count());
        fiber! {
            do! Fiber::yield_now();
            drop(group.spawn(Fiber::yield_now().ensure(finalized)));
        }
    }
    Explore::default().check(|| {
        Fiber::current().bind(|context: Context| {
            let (group, ended) = (context.group(), Counter::default());
            let spawn = spawns(&group, &ended).zip(spawns(&group, &ended));
            let end = group.clone();
            let close = Fiber::yield_now().bind(move |()| end.cancel().into_fiber());
            let seen = group.clone();
            let closed = close.map(move |()| assert!(seen.is_empty(), "a fiber outlives its group"));
            spawn.zip(closed).map(move |_| assert!(group.is_empty(), "a closed group takes a fiber"))
        })
    });
}
