//! Races of operations: the loser gets nothing, and leaves its queue.

use std::ops::ControlFlow;
use std::panic::panic_any;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::scheduler::{Cx, Wait, WaitsFor, Wakeup};
use fiber_core::sync::{
    Barrier, Broadcast, Channel, Closed, Latch, Mutex, Notify, Promise, Receiver, RwLock, Semaphore, Sender,
    Watch, one_shot,
};
use fiber_core::{CancelToken, Either, Error, Fiber, Outcome, Resume, Run, race};
use fiber_sched::Pool;
use fiber_test::TestScheduler;

use crate::everywhere::{enumerate, explore, forget_after, run_with_an_event_between, with_a_victim};

type Ends = (Sender<u32>, Receiver<u32>);

/// The remaining items of a channel.
fn drained(receiver: &Receiver<u32>) -> Vec<u32> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

/// Receives `count` items, from either channel, and returns those of each.
fn receive(
    count: usize,
    left: Receiver<u32>,
    right: Receiver<u32>,
) -> Fiber<[Vec<u32>; 2], impl Run<Out = [Vec<u32>; 2]>> {
    Fiber::iterate([Vec::new(), Vec::new()], move |mut all: [Vec<u32>; 2]| {
        left.recv().race(right.recv()).map(move |item| {
            match item {
                Either::Left(item) => all[0].push(item),
                Either::Right(item) => all[1].push(item),
            }
            if all[0].len() + all[1].len() == count {
                ControlFlow::Break(all)
            } else {
                ControlFlow::Continue(all)
            }
        })
    })
}

/// A producer for each of two channels, and one consumer of both.
fn program(open: fn() -> Ends, count: u32) -> Fiber<(), impl Run<Out = ()>> {
    let ((a, left), (b, right)) = (open(), open());
    let produce = |sender: &Sender<u32>| {
        let sender = sender.clone();
        Fiber::for_each(0..count, move |item| sender.send(item))
    };
    let producers = produce(&a).zip(produce(&b));
    producers.zip(receive(2 * count as usize, left, right)).map(move |(_, received)| {
        drop((a, b));
        for items in received {
            assert!(items.into_iter().eq(0..count), "each item once, in order");
        }
    })
}

#[test]
fn racing_two_receives_loses_nothing_and_keeps_the_order() {
    for open in [|| Channel::bounded(1), Channel::unbounded, Channel::rendezvous] as [fn() -> Ends; 3] {
        enumerate(2, || program(open, 2));
        explore(|| program(open, 3));
    }
}

#[test]
fn racing_two_receives_on_two_threads_loses_nothing() {
    let count = if cfg!(debug_assertions) { 5_000 } else { 50_000 };
    let pool = Pool::builder().workers(2).build();
    for open in [|| Channel::bounded(2), Channel::unbounded, Channel::rendezvous] as [fn() -> Ends; 3] {
        pool.run(program(open, count)).unwrap();
    }
}

#[test]
fn a_receive_that_races_a_delay_on_two_threads_loses_nothing() {
    let count = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
    let pool = Pool::builder().workers(2).build();
    let (sender, receiver) = Channel::<u32>::rendezvous();
    let send = Fiber::for_each(0..count, move |item| {
        let pause = if item % 3 == 0 { Duration::from_micros(u64::from(item % 7)) } else { Duration::ZERO };
        let sender = sender.clone();
        Fiber::delay(pause).bind(move |()| sender.send(item))
    });
    let receive = Fiber::iterate(Vec::new(), move |mut items| {
        let delay = Fiber::delay(Duration::from_micros(3));
        delay.race(receiver.recv()).map_outcome(move |outcome| match outcome {
            Outcome::Success(Either::Left(())) => Outcome::Success(ControlFlow::Continue(items)),
            Outcome::Success(Either::Right(item)) => {
                items.push(item);
                Outcome::Success(ControlFlow::Continue(items))
            }
            _ => Outcome::Success(ControlFlow::Break(items)),
        })
    });
    let ((), items) = pool.run(send.zip(receive)).unwrap();
    assert!(items.into_iter().eq(0..count), "each item once, in order");
}

#[test]
fn of_two_sends_that_race_with_two_receives_one_happens() {
    enumerate(2, || {
        let ((a, from_a), (b, from_b)) = (Channel::rendezvous(), Channel::rendezvous());
        let send = a.send(1).race(b.send(2));
        let receive = from_a.recv().race(from_b.recv());
        send.zip(receive).map(move |(sent, received)| {
            match sent {
                Either::Left(()) => assert_eq!(received, Either::Left(1)),
                Either::Right(()) => assert_eq!(received, Either::Right(2)),
            }
            drop((a, b));
            assert!(drained(&from_a).is_empty() && drained(&from_b).is_empty());
        })
    });
}

#[test]
fn the_loser_of_two_locks_is_free() {
    explore(|| {
        let (first, second) = (Mutex::new(()), Mutex::new(()));
        let hold = |mutex: &Mutex<()>| mutex.clone().with(|_| Fiber::yield_now());
        let holders = hold(&first).zip(hold(&second));
        let race =
            first.lock().race(second.lock()).bind(|guard| Fiber::yield_now().map(move |()| drop(guard)));
        holders.zip(race).map(move |_| {
            assert!(first.try_lock().is_some() && second.try_lock().is_some());
        })
    });
}

#[test]
fn the_loser_of_two_acquires_takes_no_permit() {
    explore(|| {
        let (first, second) = (Semaphore::new(1), Semaphore::new(1));
        let racer = |a: &Semaphore, b: &Semaphore| {
            a.acquire(1)
                .race(b.acquire(1))
                .bind(|permit| Fiber::yield_now().map(move |()| drop(permit)))
                .boxed()
        };
        let racers = vec![racer(&first, &second), racer(&second, &first), racer(&first, &second)];
        with_a_victim(racers).map(move |_| {
            assert_eq!((first.available(), second.available()), (1, 1));
        })
    });
}

#[test]
fn a_notification_that_came_too_late_for_a_race_goes_to_the_next_one() {
    explore(|| {
        let (first, second) = (Notify::new(), Notify::new());
        let race = first.wait().race(second.wait());
        let tell = {
            let (first, second) = (first.clone(), second.clone());
            Fiber::lazy(move || first.notify_one()).zip(Fiber::lazy(move || second.notify_one()))
        };
        race.zip(tell).bind(move |(winner, _)| match winner {
            Either::Left(()) => second.wait(),
            Either::Right(()) => first.wait(),
        })
    });
}

#[test]
fn a_notification_to_all_that_has_missed_a_race_around_a_race_reaches_its_waiters() {
    let (notify, test, (sender, receiver)) = (Notify::new(), TestScheduler::new(), Channel::unbounded());
    let notified = notify.wait().race(Fiber::delay(Duration::from_secs(50)));
    // From its item to its next wait, this side holds the race.
    let tells =
        receiver.recv().map(move |()| notify.notify_all()).bind(|()| Fiber::delay(Duration::from_secs(100)));
    let race = test.spawn(notified.race(tells));
    test.run_for(Duration::ZERO);
    sender.try_send(()).unwrap();
    test.run_for(Duration::ZERO);
    assert_eq!(race.outcome().unwrap(), Either::Left(Either::Left(())));
}

#[test]
fn a_barrier_counts_only_those_who_still_wait() {
    let (barrier, token) = (Barrier::new(2), CancelToken::new());
    let test = TestScheduler::new();
    let race = test.spawn(barrier.wait().race(token.cancelled()));
    test.run_until_idle();
    token.cancel();
    test.run_until_idle();
    assert_eq!(race.try_outcome().unwrap().unwrap(), Either::Right(()));
    let alone = test.spawn(barrier.wait());
    test.run_until_idle();
    assert!(alone.try_outcome().is_err(), "the loser has left");
}

#[test]
fn races_whose_sides_wait_at_one_barrier_wait_until_as_many_have_come() {
    type Arrives = fn(&Barrier) -> Fiber<Either<bool, bool>>;
    let arrives: [Arrives; 3] = [
        |barrier| barrier.wait().race(barrier.wait()).boxed(),
        |barrier| barrier.wait().boxed().race(barrier.wait().boxed()).boxed(),
        |barrier| barrier.wait().named("a branch").race(barrier.wait().named("another")).boxed(),
    ];
    for arrive in arrives {
        let (barrier, test) = (Barrier::new(3), TestScheduler::new());
        let two = [(); 2].map(|()| test.spawn(arrive(&barrier)));
        test.run_until_idle();
        assert!(two.iter().all(|race| race.is_pending()));
        assert_eq!(barrier.arrived(), 2);
        assert!(test.run(barrier.wait()).unwrap(), "the last to come");
        test.run_until_idle();
        assert!(two.iter().all(|race| !race.is_pending()));
        let three = [(); 3].map(|()| test.spawn(arrive(&barrier)));
        test.run_until_idle();
        assert!(three.iter().all(|race| !race.is_pending()));
    }
}

/// Of each race, one side passes, and no fiber calls the others again and again.
#[test]
fn sides_of_two_races_do_not_pass_a_barrier_together() {
    let barrier = Barrier::new(4);
    let program = move || {
        let side = || barrier.wait().bind(|_| Fiber::delay(Duration::from_millis(1)));
        side().race(side()).zip(side().race(side()))
    };
    let report = TestScheduler::new().try_run(program()).unwrap_err();
    assert!(report.to_string().contains("deadlock"), "{report}");
}

#[test]
fn a_delay_wins_after_its_time_and_no_timer_is_left() {
    let (_sender, receiver) = Channel::<u32>::unbounded();
    let test = TestScheduler::new();
    let wait = |limit| receiver.recv().race(Fiber::delay(Duration::from_secs(limit)));
    assert_eq!(test.run(wait(3)).unwrap(), Either::Right(()));
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    let shortest = Fiber::delay(Duration::from_secs(3600)).race(Fiber::delay(Duration::from_secs(1)));
    assert_eq!(test.run(shortest).unwrap(), Either::Right(()));
    test.run_until_idle();
    assert_eq!(test.now().as_nanos(), 4_000_000_000, "the timer of the loser was removed");
}

#[test]
fn if_both_are_ready_the_left_side_wins_and_the_right_one_keeps_its_item() {
    let ((a, left), (b, right)) = (Channel::unbounded(), Channel::unbounded());
    a.try_send(1).unwrap();
    b.try_send(2).unwrap();
    assert_eq!(fiber_sched::run(left.recv().race(right.recv())).unwrap(), Either::Left(1));
    assert_eq!(drained(&right), [2]);
}

#[test]
fn an_item_that_comes_while_the_fiber_begins_to_wait_wins() {
    for comes_right in [false, true] {
        let ((a, left), (b, right)) = (Channel::unbounded(), Channel::unbounded());
        let sender = if comes_right { b.clone() } else { a.clone() };
        let race = left.recv().race(right.recv());
        let outcome = run_with_an_event_between(race, move || sender.try_send(1).unwrap());
        assert_eq!(outcome.unwrap(), if comes_right { Either::Right(1) } else { Either::Left(1) });
        drop((a, b));
    }
}

/// The left side of a race, whose event happens while it registers. Then, `next` is called: the right side is not registered yet.
struct Happens<F>(Option<F>);

impl<F: FnOnce() + Send + 'static> Wait for Happens<F> {
    type Out = ();
    const CAN_LOSE: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.0.is_none().then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        wakeup.fire();
        self.0.take().expect("it registers once")();
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

/// The left side has won a race when `event` makes the right side possible.
fn is_too_late<T: Send + 'static>(right: Fiber<T, impl Run<Out = T>>, event: impl FnOnce() + Send + 'static) {
    let won = TestScheduler::new().run(Fiber::wait(Happens(Some(event))).race(right)).unwrap();
    assert!(matches!(won, Either::Left(())));
}

#[test]
fn a_side_that_is_ready_while_it_registers_takes_and_gives_nothing_if_the_other_has_won() {
    let (sender, receiver) = Channel::bounded(1);
    let (gives, takes) = (sender.clone(), receiver.clone());
    is_too_late(receiver.recv(), move || gives.try_send(1).unwrap());
    is_too_late(sender.send(2), move || assert_eq!(takes.try_recv(), Ok(1)));
    assert_eq!(drained(&receiver), []);
    let gives = sender.clone();
    is_too_late(receiver.recv_many(2), move || gives.try_send(3).unwrap());
    let takes = receiver.clone();
    is_too_late(sender.send_all([4]), move || assert_eq!(takes.try_recv(), Ok(3)));
    assert_eq!(drained(&receiver), []);

    let (broadcast, semaphore) = (Broadcast::lossless(1), Semaphore::new(1));
    let subscriber = Arc::new(broadcast.subscribe());
    let (publishes, hears) = (broadcast.clone(), subscriber.clone());
    is_too_late(subscriber.recv(), move || publishes.try_send(1).unwrap());
    is_too_late(broadcast.send(2), move || assert_eq!(hears.try_recv().unwrap().unwrap(), 1));
    assert!(subscriber.try_recv().is_none());
    let permit = semaphore.try_acquire(1);
    is_too_late(semaphore.acquire(1), move || drop(permit));
    assert_eq!(semaphore.available(), 1);
    assert!(semaphore.try_acquire(1).is_some(), "the queue is empty");

    let (mutex, lock) = (Mutex::new(()), RwLock::new(()));
    let guard = mutex.try_lock();
    is_too_late(mutex.lock(), move || drop(guard));
    let guard = lock.try_write();
    is_too_late(lock.read(), move || drop(guard));
    let guard = lock.try_read();
    is_too_late(lock.write(), move || drop(guard));
    assert!(mutex.try_lock().is_some() && lock.try_write().is_some());

    let (notify, watch) = (Notify::new(), Watch::new(0));
    let watcher = watch.watch();
    let notifies = notify.clone();
    is_too_late(notify.wait(), move || notifies.notify_one());
    assert!(notify.try_wait());
    let sets = watch.clone();
    is_too_late(watcher.changed(), move || sets.set(1));
    assert!(watcher.has_changed());

    let (promise, latch, token, (reply, answer)) =
        (Promise::new(), Latch::new(1), CancelToken::new(), one_shot());
    let (completes, counts) = (promise.clone(), latch.clone());
    is_too_late(promise.wait(), move || assert!(completes.success(1)));
    is_too_late(latch.wait(), move || assert!(counts.count_down()));
    is_too_late(token.cancelled(), move || token.cancel());
    is_too_late(answer, move || reply.send(1).unwrap());
}

#[test]
fn a_side_whose_partner_waits_leaves_it_alone_if_the_other_has_won() {
    let elsewhere = Arc::new(TestScheduler::new());
    let runs = || {
        let elsewhere = elsewhere.clone();
        move || elsewhere.run_until_idle()
    };
    let ((sender, receiver), barrier) = (Channel::rendezvous(), Barrier::new(2));
    let receives = elsewhere.spawn(receiver.recv());
    is_too_late(sender.send(1), runs());
    assert!(receives.is_pending());
    receives.cancel_now();
    elsewhere.run_until_idle();
    let sends = elsewhere.spawn(sender.send(2));
    is_too_late(receiver.recv(), runs());
    assert!(sends.is_pending());
    let arrives = elsewhere.spawn(barrier.wait());
    is_too_late(barrier.wait(), runs());
    assert!(arrives.is_pending());
}

#[test]
fn a_reply_to_a_side_that_has_lost_goes_back_to_its_sender_whatever_is_erased() {
    type Races = fn(Fiber<()>, Fiber<u32>) -> Fiber<bool>;
    let erased: [Races; 2] = [
        |tick, answer| tick.race(answer).map(|won| won == Either::Left(())).boxed(),
        |tick, answer| race! { () = tick => true, () = Fiber::never() => false, _ = answer => false },
    ];
    let gives_back = |notify: Notify, reply: Resume<u32>, race: Fiber<bool>| {
        let test = TestScheduler::new();
        let race = test.spawn(race);
        test.run_until_idle();
        notify.notify_one();
        assert_eq!(reply.send(7), Err(7));
        test.run_until_idle();
        assert!(race.outcome().unwrap(), "the notification wins");
    };
    let (notify, (reply, answer)) = (Notify::new(), one_shot());
    let race = notify.wait().race(answer).map(|won| won == Either::Left(())).boxed();
    gives_back(notify, reply, race);
    for races in erased {
        let (notify, (reply, answer)) = (Notify::new(), one_shot());
        let race = races(notify.wait().boxed(), answer.boxed());
        gives_back(notify, reply, race);
    }
}

#[test]
fn a_reply_beside_a_wait_for_several_events_is_not_refused_between_them() {
    let (receivers, replies): (Vec<_>, Vec<_>) = (0..4).map(|_| (Channel::bounded(1), one_shot())).unzip();
    let [a, b, c, d] = <[_; 4]>::try_from(replies).ok().unwrap();
    let senders: Vec<Sender<u32>> = receivers.iter().map(|(sender, _)| sender.clone()).collect();
    let all = move |at: usize| senders[at].send_all(0..3);
    let of_left = |won| match won {
        Either::Left(value) => Some(value),
        Either::Right(()) => None,
    };
    let races: [Fiber<Option<u32>>; 4] = [
        a.1.race(all(0)).map(of_left).boxed(),
        all(1).race(b.1).map(|won| if let Either::Right(value) = won { Some(value) } else { None }).boxed(),
        c.1.boxed().race(all(2).boxed()).map(of_left).boxed(),
        race! { () = all(3) => None, () = Fiber::never() => None, value = d.1 => Some(value) },
    ];
    let replies = [a.0, b.0, c.0, d.0];
    for ((race, reply), (_, receiver)) in races.into_iter().zip(replies).zip(receivers) {
        let test = TestScheduler::new();
        let race = test.spawn(race);
        test.run_until_idle();
        // There is room again, but more to send than that.
        assert_eq!(receiver.try_recv().unwrap(), 0);
        assert_eq!(reply.send(7), Ok(()));
        test.run_until_idle();
        assert_eq!(race.outcome().unwrap(), Some(7));
    }
    // A value that another fiber has taken.
    let watch = Watch::new(0);
    let (watcher, (reply, answer)) = (watch.watch(), one_shot());
    let test = TestScheduler::new();
    let race = test.spawn(answer.race(watcher.changed()));
    test.run_until_idle();
    watch.set(1);
    assert_eq!(watcher.get(), 1);
    assert_eq!(reply.send(7), Ok(()));
    test.run_until_idle();
    assert_eq!(race.outcome().unwrap(), Either::Left(7));
}

/// The right side of a race: ready as soon as it registers, after `before` was called.
struct Claims<F>(Option<F>);

impl<F: FnOnce() + Send + 'static> Wait for Claims<F> {
    type Out = ();
    const CAN_LOSE: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        None
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        self.0.take().into_iter().for_each(|before| before());
        wakeup.claim().then_some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

#[test]
fn a_claim_fails_after_the_other_side_was_served_and_succeeds_before() {
    let (sender, receiver) = Channel::rendezvous();
    let takes = receiver.clone();
    let race = sender.send(1).race(Fiber::wait(Claims(Some(move || assert_eq!(takes.try_recv(), Ok(1))))));
    assert_eq!(TestScheduler::new().run(race).unwrap(), Either::Left(()));
    let race = sender.send(2).race(Fiber::wait(Claims(Some(|| ()))));
    assert_eq!(TestScheduler::new().run(race).unwrap(), Either::Right(()));
    assert!(drained(&receiver).is_empty());
    let alone = Fiber::wait(Claims(Some(|| ())));
    assert!(TestScheduler::new().run(alone).is_success());
}

#[test]
fn two_sides_of_one_race_do_not_meet() {
    let ((sender, receiver), barrier) = (Channel::rendezvous(), Barrier::new(2));
    let test = TestScheduler::new();
    let itself = test.spawn(sender.send(1).race(receiver.recv()));
    let mirrored = test.spawn(receiver.recv().race(sender.send(2)));
    test.run_until_idle();
    let pair = (itself.outcome().unwrap(), mirrored.outcome().unwrap());
    assert!(
        matches!(pair, (Either::Left(()), Either::Left(1)) | (Either::Right(2), Either::Right(()))),
        "{pair:?}"
    );
    let twice = test.spawn(barrier.wait().race(barrier.wait()));
    test.run_until_idle();
    assert!(twice.is_pending());
    let other = test.spawn(barrier.wait());
    test.run_until_idle();
    assert!(twice.outcome().is_success() && other.outcome().is_success());
}

#[test]
fn a_send_that_races_a_receive_happens_once_or_not_at_all() {
    let program = |open: fn() -> Ends| {
        let ((a, from_a), (b, from_b)) = (open(), open());
        let left = a.send(1).race(from_b.recv());
        let right = b.send(2).race(from_a.recv());
        left.zip(right).map(move |(left, right)| {
            let (received, sent) = match left {
                Either::Left(()) => (None, Some(1)),
                Either::Right(item) => (Some(item), None),
            };
            let (other_received, other_sent) = match right {
                Either::Left(()) => (None, Some(2)),
                Either::Right(item) => (Some(item), None),
            };
            let mut all: Vec<u32> = [received, other_received].into_iter().flatten().collect();
            all.extend(drained(&from_a).into_iter().chain(drained(&from_b)));
            all.sort_unstable();
            assert_eq!(all, [sent, other_sent].into_iter().flatten().collect::<Vec<_>>());
            drop((a, b));
        })
    };
    for open in [Channel::rendezvous, || Channel::bounded(1)] as [fn() -> Ends; 2] {
        enumerate(2, || program(open));
        explore(|| program(open));
    }
}

#[test]
fn an_abandoned_race_leaves_both_queues() {
    let ((a, left), (b, right)) = (Channel::unbounded(), Channel::unbounded());
    forget_after(left.recv().race(right.recv()), || {});
    a.try_send(1).unwrap();
    b.try_send(2).unwrap();
    assert_eq!((drained(&left), drained(&right)), (vec![1], vec![2]));
}

#[test]
fn an_abandoned_race_leaves_both_queues_though_the_drop_of_an_item_panics() {
    let ((a, left), (b, right)) = (Channel::sliding(1), Channel::unbounded());
    forget_after(left.recv().race(right.recv()), || {
        // The first item is on its way to the race, and too old to come back.
        a.try_send(Some(Bomb)).unwrap();
        a.try_send(None).unwrap();
    });
    b.try_send(2).unwrap();
    assert_eq!(drained(&right), [2]);
}

#[test]
fn a_cancelled_race_passes_the_items_on() {
    explore(|| {
        let ((a, left), (b, right)) = (Channel::unbounded(), Channel::unbounded());
        let race = || {
            let until_closed = |outcome: Outcome<Either<u32, u32>>| match outcome {
                Outcome::Success(item) => Outcome::Success(item.into_inner()),
                Outcome::Failure(error) if error.is::<Closed>() => Outcome::Cancelled,
                other => other.map(Either::into_inner),
            };
            left.recv().race(right.recv()).map_outcome(until_closed).boxed()
        };
        let send = |sender: Sender<u32>, item| sender.send(item).map(move |()| item).boxed();
        let fibers = vec![race(), race(), send(a, 1), send(b, 2)];
        with_a_victim(fibers).map(move |outcomes| {
            let mut outcomes = outcomes.into_iter().map(Outcome::success);
            let mut received: Vec<u32> = outcomes.by_ref().take(2).flatten().collect();
            received.extend(drained(&left).into_iter().chain(drained(&right)));
            received.sort_unstable();
            let sent: Vec<u32> = outcomes.flatten().collect();
            assert_eq!(received, sent);
        })
    });
}

#[test]
fn closures_after_the_waits_belong_to_the_race() {
    let ((a, left), (b, right)) = (Channel::unbounded(), Channel::unbounded());
    let test = TestScheduler::new();
    let race = |receiver: &Receiver<u32>, other: &Receiver<u32>| {
        receiver
            .recv()
            .map(|item| item * 10)
            .race(other.recv().try_map(|item| if item == 0 { Err(Error::msg("zero")) } else { Ok(item) }))
    };
    let waiting = test.spawn(race(&left, &right));
    test.run_until_idle();
    a.try_send(4).unwrap();
    test.run_until_idle();
    assert_eq!(waiting.try_outcome().unwrap().unwrap(), Either::Left(40));
    let waiting = test.spawn(race(&left, &right));
    test.run_until_idle();
    b.try_send(0).unwrap();
    test.run_until_idle();
    let error = waiting.try_outcome().unwrap().failure().unwrap();
    let operators: Vec<&str> = error.trace().iter().map(|frame| frame.operator()).collect();
    assert_eq!(operators, ["try_map", "race"]);
    let panicking = left.recv().map(|_| panic!("no")).race(Fiber::<()>::never());
    a.try_send(1).unwrap();
    assert!(test.run(panicking.map(|_: Either<(), ()>| ())).is_panicked());
}

#[test]
fn a_report_names_what_a_race_waits_for() {
    let (_sender, receiver) = Channel::<u32>::unbounded();
    let token = CancelToken::new();
    let test = TestScheduler::new();
    let same = test.spawn(token.cancelled().race(token.cancelled()));
    let mixed = test.spawn(receiver.recv().race(token.cancelled()));
    let one = test.spawn(Fiber::<()>::never().race(receiver.recv()));
    test.run_until_idle();
    assert_eq!(same.context().waits_for(), WaitsFor::Signal);
    assert_eq!(mixed.context().waits_for(), WaitsFor::Either);
    assert_eq!(one.context().waits_for(), WaitsFor::Item);
}

#[test]
fn a_report_does_not_take_one_primitive_for_all_that_a_race_waits_for() {
    let (notify, promise, token) =
        (Notify::new().named("notify"), Promise::<()>::new().named("promise"), CancelToken::new());
    let races = [
        (notify.wait().race(promise.wait()).boxed(), "Notify `notify` or another event"),
        (promise.wait().race(notify.wait()).boxed(), "Promise `promise` or another event"),
        (token.cancelled().race(notify.wait()).boxed(), "Notify `notify` or another event"),
        (notify.wait().race(token.cancelled()).boxed(), "Notify `notify` or another event"),
    ];
    for (race, names) in races {
        let report = TestScheduler::new().try_run(race).unwrap_err().to_string();
        assert!(report.contains(&format!("waits for {names}, at")), "{report}");
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("bomb");
    }
}

#[test]
fn panics_of_dropped_closures_are_suppressed_into_the_outcome() {
    fn armed<T>() -> impl FnOnce(T) -> T {
        let bomb = Bomb;
        move |value| {
            std::mem::forget(bomb);
            value
        }
    }
    let (sender, receiver) = Channel::<u32>::unbounded();
    let test = TestScheduler::new();
    let race = test.spawn(receiver.recv().map(armed()).race(receiver.recv().map(armed())));
    test.run_until_idle();
    sender.try_send(1).unwrap();
    test.run_until_idle();
    assert!(race.try_outcome().unwrap().is_panicked());
    let race = test.spawn(receiver.recv().map(armed()).race(receiver.recv().map(armed())));
    test.run_until_idle();
    race.cancel_now();
    test.run_until_idle();
    assert!(race.try_outcome().unwrap().is_panicked());
}
