//! The explorer follows the recording of a pool.

use std::future::{IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::time::Duration;

use fiber_core::{Error, Fiber, Outcome, Recording};
use fiber_sched::{Pool, block_on};
use fiber_test::{Explore, ProblemKind, Search, TestScheduler};

/// Called between a look and the write that follows from it.
type Gate = Arc<dyn Fn() + Send + Sync>;

fn visit(count: &Arc<AtomicU32>, gate: &Gate) -> Fiber<()> {
    let (look, count, gate) = (count.clone(), count.clone(), gate.clone());
    let look = Fiber::lazy(move || {
        let seen = look.load(SeqCst);
        gate();
        seen
    });
    look.bind(move |seen| Fiber::lazy(move || count.store(seen + 1, SeqCst))).boxed()
}

/// Both visits are counted, unless both look before one of them writes. The second one is late.
fn two_visits(gate: &Gate) -> Fiber<()> {
    let count = Arc::new(AtomicU32::new(0));
    let late = visit(&count, gate);
    let late = Fiber::for_each(0..3, |_| Fiber::yield_now()).bind(move |()| late);
    let both = visit(&count, gate).zip(late);
    both.map(move |_| assert!(count.load(SeqCst) == 2, "a visit is lost")).boxed()
}

/// On one thread, neither can wait for the other.
fn in_the_lab() -> Fiber<()> {
    let open: Gate = Arc::new(|| {});
    two_visits(&open)
}

/// Neither thread continues before both have looked: the visit is lost every time.
fn in_production() -> Fiber<()> {
    let both = Barrier::new(2);
    let gate: Gate = Arc::new(move || _ = both.wait());
    two_visits(&gate)
}

fn recorded(run: impl FnOnce(&Pool) -> Outcome<()>) -> Recording {
    let pool = Pool::builder().workers(2).record(1_000).build();
    assert!(run(&pool).is_panicked(), "a visit is lost");
    pool.recording().expect("it records")
}

fn assert_repeated(recording: &Recording) {
    let failure = Explore::recorded(recording).try_check(in_the_lab).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Panic);
    assert_eq!(failure.problem().message(), "a visit is lost");
    assert_eq!(failure.search(), Search::Recorded);
    assert!(failure.followed().unwrap().is_whole(), "{recording}\n{failure}");
    let count = recording.turns().len();
    let report = failure.to_string();
    assert!(report.contains("found     by schedule 1, the order of a recording"), "{report}");
    assert!(report.contains(&format!("recorded  {count} of {count} turns in their order\n")), "{report}");
    // As small as the one that the explorer finds by itself.
    let found = Explore::default().try_check(in_the_lab).unwrap_err();
    assert_eq!(failure.schedule().deviations().len(), found.schedule().deviations().len(), "{report}");
    assert!(failure.pair().is_some(), "{report}");
    let again = Explore::with(failure.schedule().clone()).try_check(in_the_lab).unwrap_err();
    assert_eq!(again.problem().message(), "a visit is lost");
}

#[test]
fn a_lost_update_on_a_pool_is_repeated_shrunk_and_explained() {
    assert!(TestScheduler::new().run(in_the_lab()).is_success(), "first in, first out shows nothing");
    let recording = recorded(|pool| block_on(pool.spawn(in_production())));
    assert_repeated(&recording);
    // Also from a file.
    let kept: Recording = recording.to_string().parse().unwrap();
    assert_eq!(kept, recording);
    assert_repeated(&kept);
}

/// Polls both whenever one is woken.
async fn both<A, B>(
    mut a: impl Future<Output = Result<A, Error>> + Unpin,
    mut b: impl Future<Output = Result<B, Error>> + Unpin,
) -> (A, B) {
    let (mut first, mut second) = (None, None);
    poll_fn(|cx| {
        if first.is_none()
            && let Poll::Ready(value) = Pin::new(&mut a).poll(cx)
        {
            first = value.ok();
        }
        if second.is_none()
            && let Poll::Ready(value) = Pin::new(&mut b).poll(cx)
        {
            second = value.ok();
        }
        if first.is_some() && second.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    first.zip(second).expect("both have succeeded")
}

#[test]
fn fibers_that_a_future_awaits_side_by_side_are_followed() {
    let program = |ends: fn() -> Result<(), Error>| {
        let two = |n| Fiber::yield_now().bind(|()| Fiber::yield_now()).map(move |()| n);
        Fiber::from_future(async move {
            assert_eq!(both(two(1).into_future(), two(2).into_future()).await, (1, 2));
            ends()
        })
        .boxed()
    };
    let pool = Pool::builder().workers(1).record(1_000).build();
    block_on(pool.spawn(program(|| Ok(())))).unwrap();
    let recording = pool.recording().unwrap();
    let failure = Explore::recorded(&recording).try_check(|| program(|| Err(Error::msg("no")))).unwrap_err();
    assert!(failure.followed().unwrap().is_whole(), "{recording}\n{failure}");
}

/// It begins on the thread that waits for it, and leaves that thread at the first bind.
#[test]
fn a_program_that_the_caller_begins_is_repeated_too() {
    assert_repeated(&recorded(|pool| pool.run(in_production())));
}

#[test]
fn one_request_of_many_is_repeated() {
    let pool = Pool::builder().workers(2).record(1_000).build();
    block_on(pool.spawn(Fiber::delay(Duration::from_millis(1)).bind(|()| Fiber::success(())))).unwrap();
    let request = pool.spawn(in_production());
    let id = request.context().id();
    assert!(block_on(request).is_panicked());
    block_on(pool.spawn(Fiber::success(()))).unwrap();
    let all = pool.recording().unwrap();
    let refused = std::panic::catch_unwind(|| Explore::recorded(&all)).unwrap_err();
    let message = refused.downcast_ref::<String>().expect("a message");
    assert!(message.starts_with("the recording is of 3 programs"), "{message}");
    assert_repeated(&all.of(&id));
}

#[test]
fn a_program_that_waits_is_followed_through_its_waits() {
    let program = || {
        let step = || Fiber::yield_now().bind(|()| Fiber::success(1));
        let forked = step().fork().bind(|fork| fork.join());
        let before = step().zip(forked);
        // Time passes when no other fiber can run, as in the lab.
        let nap = Fiber::delay(Duration::from_millis(2)).timeout(Duration::from_secs(10_000));
        before.bind(move |_| nap).bind(move |()| step().zip(step())).map(drop)
    };
    let pool = Pool::builder().workers(2).record(1_000).build();
    block_on(pool.spawn(program())).unwrap();
    let recording = pool.recording().unwrap();
    let explored = Explore::recorded(&recording).check(program);
    let followed = explored.followed().unwrap();
    assert!(followed.is_whole(), "{followed}\n{recording}");
    assert!(explored.to_string().starts_with("the recording was followed: "), "{explored}");
}

/// The program has changed since it was recorded: one fiber is gone, another one is new.
#[test]
fn what_cannot_be_followed_is_told() {
    let recording: Recording =
        "recording 1, 0 lost\n0 0 start\n1 0.0.2 start\n0 0.0.0 start\n0 0 resume\n".parse().unwrap();
    let program = || Fiber::success(1).zip(Fiber::success(2));
    let followed = Explore::recorded(&recording).check(program).followed().unwrap();
    assert_eq!((followed.recorded(), followed.followed(), followed.other()), (4, 3, 1));
    assert_eq!(followed.off_at(), Some(1));
    assert_eq!(
        followed.to_string(),
        "3 of 4 turns in their order, and 1 that was not recorded; from turn 1 on, who was next could not run"
    );
    assert!(!followed.is_whole());
}

#[test]
fn a_recording_that_has_lost_its_beginning_says_so() {
    let pool = Pool::builder().workers(1).record(2).build();
    let program = || Fiber::for_each(0..4, |_| Fiber::yield_now());
    block_on(pool.spawn(program())).unwrap();
    let recording = pool.recording().unwrap();
    assert_eq!(recording.turns().len(), 2, "no more than there is room for");
    assert!(recording.lost() > 0);
    let followed = Explore::recorded(&recording).check(program).followed().unwrap();
    assert!(followed.to_string().ends_with(&format!("has lost its first {} turns", recording.lost())));
    assert!(!followed.is_whole());
}
