//! A race whose loser talks to another side of a race around it, after it has lost: in a finalizer, in an uncancelable region, or in fibers
//! of its own. The outer race goes on meanwhile, under every schedule and on threads.

use std::mem::ManuallyDrop;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fiber_core::sync::{Channel, Receiver, Sender};
use fiber_core::{Either, Fiber, Scope};
use fiber_sched::Pool;
use fiber_test::Explore;

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// Schedules of each program.
pub(crate) const SCHEDULES: u64 = if cfg!(debug_assertions) { 20 } else { 500 };
/// Runs of each program on threads.
const RUNS: u32 = if cfg!(debug_assertions) { 20 } else { 500 };
/// A run takes less than a millisecond, or never ends.
pub(crate) const HANGS: Duration = Duration::from_secs(60);

pub(crate) type Ends = (Sender<u32>, Receiver<u32>);
pub(crate) type Open = fn() -> Ends;

/// Replies to requests until it is cancelled.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) requests: Ends,
    pub(crate) replies: Ends,
}

impl Server {
    pub(crate) fn new(open: Open) -> Self {
        Server { requests: open(), replies: open() }
    }

    pub(crate) fn serve(&self) -> Fiber<u32> {
        let (requests, replies) = (self.requests.1.clone(), self.replies.0.clone());
        let reply = move |_| {
            let replies = replies.clone();
            requests.recv().bind(move |request| replies.send(request))
        };
        Fiber::for_each(0.., reply).bind(|()| never()).boxed()
    }

    pub(crate) fn call(&self) -> Fiber<()> {
        let replies = self.replies.1.clone();
        self.requests.0.send(1).bind(move |()| replies.recv()).map(drop).boxed()
    }
}

pub(crate) fn never() -> Fiber<u32> {
    Fiber::never().boxed()
}

/// The loser of the inner race, which calls the server.
type Loser = fn(&Server) -> Fiber<u32>;

const LOSERS: [Loser; 13] = [
    |server| never().ensure(server.call()).boxed(),
    |server| never().ensure(server.call().timeout(HOUR)).boxed(),
    |server| never().ensure(never().race(server.call()).map(drop)).boxed(),
    |server| never().ensure(never().race(server.call()).timeout(HOUR).timeout(HOUR).map(drop)).boxed(),
    |server| never().ensure(server.call().zip(server.call()).map(drop)).boxed(),
    |server| never().ensure(Fiber::parallel([server.call(), server.call()]).map(drop)).boxed(),
    |server| never().ensure(in_a_fork(server.call())).boxed(),
    in_a_release,
    |server| never().ensure(server.call()).ensure(server.call()).timeout(HOUR).boxed(),
    |server| never().zip(never().ensure(server.call())).map(|(left, _)| left).boxed(),
    |server| never().ensure(server.call()).fork().bind(|_| never()).boxed(),
    // These call the server before they have lost, too.
    |server| calls_twice(server).uncancelable().bind(|()| never()).boxed(),
    |server| calls_twice(server).timeout(HOUR).uncancelable().bind(|()| never()).boxed(),
];

fn in_a_fork(call: Fiber<()>) -> Fiber<()> {
    Fiber::scope(move |scope: Scope| scope.fork(call).bind(|fork| fork.join())).boxed()
}

fn in_a_release(server: &Server) -> Fiber<u32> {
    let server = server.clone();
    Fiber::bracket(Fiber::success(()), |()| never(), move |()| server.call()).boxed()
}

fn calls_twice(server: &Server) -> Fiber<()> {
    let then = server.call();
    server.call().bind(|()| then).boxed()
}

/// A race of some sides.
pub(crate) type Race = fn(Vec<Fiber<u32>>) -> Fiber<u32>;

pub(crate) const RACES: [Race; 4] = [pair, all, first_success, hedge];

fn pair(sides: Vec<Fiber<u32>>) -> Fiber<u32> {
    let race = |all: Fiber<u32>, side| all.race(side).map(Either::into_inner).boxed();
    sides.into_iter().reduce(race).unwrap()
}

fn all(sides: Vec<Fiber<u32>>) -> Fiber<u32> {
    Fiber::race_all(sides).boxed()
}

fn first_success(sides: Vec<Fiber<u32>>) -> Fiber<u32> {
    Fiber::first_success(sides).boxed()
}

fn hedge(sides: Vec<Fiber<u32>>) -> Fiber<u32> {
    let attempts = u32::try_from(sides.len()).unwrap();
    let mut sides = sides.into_iter();
    Fiber::hedge(Duration::ZERO, attempts, move || sides.next().unwrap()).boxed()
}

/// What is between the inner race and the outer one.
pub(crate) type Between = fn(Fiber<u32>) -> Fiber<u32>;

pub(crate) const BETWEEN: [Between; 5] = [
    |inner| inner,
    |inner| pair(vec![never(), inner]),
    |inner| all(vec![pair(vec![inner, never()]), never()]),
    |inner| inner.timeout(HOUR).boxed(),
    |inner| inner.zip(Fiber::yield_now()).map(|(item, ())| item).boxed(),
];

/// The same, for sides that end by themselves.
const UNCANCELABLE: Between = |inner| inner.uncancelable().boxed();

pub(crate) type Program = Arc<dyn Fn() -> Fiber<()> + Send + Sync>;

/// A server, and a client in which the first item wins against the loser. The client wins, because the server never ends.
fn program(loser: Loser, open: Open, race: Race, between: Between, is_first: bool) -> Fiber<()> {
    let (server, (sender, items)) = (Server::new(open), Channel::rendezvous());
    let inner = race(vec![items.recv().boxed(), loser(&server)]);
    let client = between(inner).boxed();
    let outer = if is_first { vec![client, server.serve()] } else { vec![server.serve(), client] };
    let ends = move |(item, ())| {
        drop(server);
        assert_eq!(item, 7);
    };
    race(outer).zip(sender.send(7)).map(ends).boxed()
}

/// Calls `check` with programs of all kinds.
fn each_program(check: impl Fn(Program)) {
    let (rendezvous, buffered): (Open, Open) = (Channel::rendezvous, || Channel::bounded(1));
    let losers = LOSERS.map(|loser| (loser, rendezvous)).into_iter();
    let all = losers.chain(LOSERS.map(|loser| (loser, buffered)));
    for (number, (loser, open)) in all.enumerate() {
        for race in RACES {
            for between in BETWEEN.into_iter().chain([UNCANCELABLE]) {
                println!("loser {number}");
                check(Arc::new(move || program(loser, open, race, between, false)));
                check(Arc::new(move || program(loser, open, race, between, true)));
            }
        }
    }
}

#[test]
fn a_loser_is_served_by_a_side_of_an_outer_race_under_every_schedule() {
    each_program(|program| {
        Explore::default().schedules(SCHEDULES).check(move || program());
    });
}

/// Runs each program many times, on pools. A pool whose program hangs is not dropped, because that would wait for it.
pub(crate) fn on_threads(each_program: impl Fn(&dyn Fn(Program))) {
    for workers in [1, 2, 4] {
        let pool = ManuallyDrop::new(Pool::builder().workers(workers).build());
        each_program(&|program| {
            let (sender, ended) = mpsc::channel();
            let runs = Fiber::for_each(0..RUNS, move |_| program());
            pool.spawn(runs.map(move |()| sender.send(()).unwrap()));
            assert!(ended.recv_timeout(HANGS).is_ok(), "the program has not ended: {}", pool.dump());
        });
        drop(ManuallyDrop::into_inner(pool));
    }
}

#[test]
fn a_loser_is_served_by_a_side_of_an_outer_race_on_threads() {
    on_threads(|check| each_program(check));
}
