//! Sides of one race that meet at a channel without a buffer, or at a barrier. Programs do, under every schedule and on threads; two single
//! waits do not, whatever is around them.

use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::{Barrier, Channel, Notify};
use fiber_core::{Either, Fiber, fiber};
use fiber_test::{Explore, TestScheduler};

use crate::finalizers::{
    BETWEEN, Between, HOUR, Open, Program, RACES, Race, SCHEDULES, Server, never, on_threads,
};

/// Two sides that have to meet: none of them could end otherwise. The winner gives 7. A server would fail if its channels were closed.
type Sides = fn(&Server) -> [Fiber<u32>; 2];

const SIDES: [Sides; 7] = [
    |server| [server.serve(), server.call().map(|()| 7).boxed()],
    // One side is a single wait.
    |server| [send(server, 7).bind(|()| never()).boxed(), receive(server)],
    |server| [receive(server).bind(|_| never()).boxed(), send(server, 1).map(|()| 7).boxed()],
    // A block that waits on.
    |server| {
        let (sends, then) = (send(server, 1), send(server, 7));
        let sends = fiber! {
            do! sends;
            do! then;
            do! never()
        };
        let receives = server.clone();
        [sends.boxed(), receive(server).bind(move |_| receive(&receives)).boxed()]
    },
    |server| {
        let all = (1..=3).map(|item| send(server, item)).collect::<Vec<_>>();
        [Fiber::for_each(all, |send| send).bind(|()| never()).boxed(), receive_three(server)]
    },
    |server| [server.requests.0.send_all(1..=3).bind(|()| never()).boxed(), receive_three(server)],
    |server| {
        let (barrier, server) = (Barrier::new(2), server.clone());
        let passes = barrier.wait().bind(move |_| send(&server, 1).bind(|()| never())).boxed();
        [passes, barrier.wait().map(|_| 7).boxed()]
    },
];

fn send(server: &Server, item: u32) -> Fiber<()> {
    server.requests.0.send(item).boxed()
}

fn receive(server: &Server) -> Fiber<u32> {
    server.requests.1.recv().boxed()
}

fn receive_three(server: &Server) -> Fiber<u32> {
    let add =
        |sum: Fiber<u32>, item: Fiber<u32>| sum.bind(|sum| item.map(move |item| sum * 10 + item)).boxed();
    let digits = (0..3).map(|_| receive(server)).fold(Fiber::success(0).boxed(), add);
    digits.map(|digits| if digits == 123 { 7 } else { digits }).boxed()
}

/// Channels of which one at least has no buffer.
const CHANNELS: [[Open; 2]; 3] = [
    [Channel::rendezvous, Channel::rendezvous],
    // The last wait of the client is its only one.
    [|| Channel::bounded(1), Channel::rendezvous],
    [Channel::rendezvous, || Channel::bounded(1)],
];

/// The race of two sides, each inside of something.
fn program(sides: Sides, channels: [Open; 2], race: Race, between: Between, is_mirrored: bool) -> Fiber<()> {
    let [requests, replies] = channels.map(|open| open());
    let server = Server { requests, replies };
    let mut sides = sides(&server).map(between);
    if is_mirrored {
        sides.reverse();
    }
    let ends = move |item| {
        drop(server);
        assert_eq!(item, 7);
    };
    race(sides.into()).map(ends).boxed()
}

/// Calls `check` with programs of all kinds.
fn each_program(check: impl Fn(Program)) {
    each_of(&SIDES, &CHANNELS, &BETWEEN, check);
}

/// The same of these sides, over these channels, inside of these.
fn each_of(all: &[Sides], channels: &[[Open; 2]], around: &[Between], check: impl Fn(Program)) {
    for (number, &sides) in all.iter().enumerate() {
        for &channels in channels {
            for race in RACES {
                for &between in around {
                    println!("sides {number}");
                    check(Arc::new(move || program(sides, channels, race, between, false)));
                    check(Arc::new(move || program(sides, channels, race, between, true)));
                }
            }
        }
    }
}

#[test]
fn programs_in_one_race_meet_under_every_schedule() {
    each_program(|program| {
        Explore::default().schedules(SCHEDULES).check(move || program());
    });
}

#[test]
fn programs_in_one_race_meet_on_threads() {
    on_threads(|check| each_program(check));
}

#[test]
fn programs_meet_by_type_and_without_boxes() {
    let server = || Server::new(Channel::rendezvous);
    let test = TestScheduler::new();
    let (one, other) = (server(), server());
    assert_eq!(test.run(one.serve().race(one.call())).unwrap(), Either::Right(()));
    assert_eq!(test.run(other.call().race(other.serve())).unwrap(), Either::Left(()));
    let (barrier, (sender, receiver)) = (Barrier::new(2), Channel::rendezvous());
    let first = barrier.wait().bind(move |_| sender.send(7)).bind(|()| Fiber::<u32>::never());
    let second = barrier.wait().bind(move |_| receiver.recv());
    assert_eq!(test.run(first.race(second)).unwrap(), Either::Right(7));
}

/// What can be around a single wait.
const AROUND: [fn(Fiber<u32>) -> Fiber<u32>; 8] = [
    |wait| wait,
    |wait| fiber! { do! wait }.boxed(),
    |wait| wait.named("side").boxed(),
    |wait| wait.map(|item| item + 1).boxed(),
    |wait| wait.timeout(HOUR).boxed(),
    |wait| wait.with_deadline(fiber_core::Instant::FAR_FUTURE).boxed(),
    |wait| wait.timed().map(|(_, item)| item).boxed(),
    |wait| wait.race(Notify::new().wait().map(|()| 0)).map(Either::into_inner).boxed(),
];

#[test]
fn two_single_waits_in_one_race_do_not_meet() {
    for left in AROUND {
        for right in AROUND {
            Explore::default().schedules(SCHEDULES).check(move || {
                let ((sender, receiver), barrier) = (Channel::rendezvous(), Barrier::new(2));
                let sends = left(sender.send(1).map(|()| 0).boxed());
                let receives = right(receiver.recv().boxed());
                let arrives = || barrier.wait().map(|_| 0).boxed();
                let passes = Fiber::race_all([left(arrives()), right(arrives())]);
                let second = Duration::from_secs(1);
                let both = sends.race(receives).disconnect().timeout_option(second);
                let both = both.zip(passes.disconnect().timeout_option(second));
                both.bind(move |both| {
                    assert!(matches!(both, (None, None)), "{both:?}");
                    Fiber::delay(second).map(move |()| drop((sender, receiver)))
                })
            });
        }
    }
}

#[test]
fn what_a_side_gives_behind_its_wait_is_not_taken_by_one_that_loses() {
    Explore::default().schedules(SCHEDULES).check(|| {
        let ((starts, start), (sender, receiver)) = (Channel::rendezvous(), Channel::rendezvous());
        let side = start.recv().map(move |item| sender.try_send(item).is_ok());
        let taken = receiver.recv().bind(|item| Fiber::success(item == 0));
        side.race(taken).zip(starts.send(7)).map(|(won, ())| assert_eq!(won, Either::Left(false)))
    });
}

/// A single wait, which exchanges something with a program that does not wait again, and must not lose it.
const SERVED: [Sides; 2] = [
    |server| [receive(server), send(server, 7).bind(|()| Fiber::lazy(|| 0)).boxed()],
    |server| {
        let receives = receive(server).bind(|_| Fiber::lazy(|| 0));
        [send(server, 1).map(|()| 7).boxed(), receives.boxed()]
    },
];

fn each_pair(check: impl Fn(Program)) {
    let named: Between = |side| side.named("side").boxed();
    each_of(&SERVED, &CHANNELS[..1], &[|side| side, named], check);
}

#[test]
fn a_single_wait_that_a_program_serves_wins_under_every_schedule() {
    each_pair(|program| {
        Explore::default().schedules(SCHEDULES).check(move || program());
    });
}

#[test]
fn a_single_wait_that_a_program_serves_wins_on_threads() {
    on_threads(|check| each_pair(check));
}
