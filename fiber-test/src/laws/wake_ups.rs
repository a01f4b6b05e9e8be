//! Wake-ups are neither lost nor duplicated.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::{Fiber, Resume};
use parking_lot::Mutex;

use super::gate::Gate;
use super::host::AnyHost;
use super::probe::{Probe, task};
use super::trial::Trial;

/// Enough rounds that some wake-ups come while a host falls asleep.
const ROUNDS: u64 = 300;

/// Pauses between two wake-ups, in microseconds: they cover the time for which a thread searches for work before it
/// sleeps. A prime, so that the pauses do not fall into step with any period.
const LONGEST_PAUSE: u64 = 61;

/// Lets other threads fall asleep, in some rounds. The law does not depend on it.
fn pause(round: u64) {
    let (start, length) = (Instant::now(), Duration::from_micros(round * 7 % LONGEST_PAUSE));
    while start.elapsed() < length {
        spin_loop();
    }
}

pub(super) fn every_task_runs_once<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const TASKS: usize = 200;
    const SOURCES: usize = 5;
    let gate = Gate::new(SOURCES * TASKS);
    let mut probes = Vec::new();
    let mut source = || {
        let (tasks, more): (Vec<_>, Vec<_>) = (0..TASKS).map(|_| Probe::task(&gate)).unzip();
        probes.extend(more);
        let scheduler = trial.scheduler();
        move || tasks.into_iter().for_each(|task| scheduler.schedule(task))
    };
    source()();
    trial.scheduler().schedule(task(source()));
    let from_fiber = trial.spawn(Fiber::lazy(source()));
    let sources = [source(), source()];
    thread::scope(|scope| sources.into_iter().for_each(|source| _ = scope.spawn(source)));
    trial.run("the tasks that were scheduled", gate.opened());
    trial.finish("the fiber that has scheduled tasks", from_fiber).unwrap();
    let wrong = probes.iter().map(Probe::runs).find(|runs| *runs != 1);
    assert!(wrong.is_none(), "a task has run {wrong:?} times");
}

/// A fiber that waits for a [`Resume`], which other code calls.
#[derive(Clone)]
struct Parked {
    registered: Gate,
    resume: Arc<Mutex<Option<Resume<u64>>>>,
}

impl Parked {
    fn new() -> Self {
        Parked { registered: Gate::new(1), resume: Arc::default() }
    }

    /// The fiber.
    fn wait(&self) -> Fiber<u64> {
        let this = self.clone();
        Fiber::callback(move |resume| {
            *this.resume.lock() = Some(resume);
            this.registered.pass();
        })
        .boxed()
    }

    /// Resumes the fiber as soon as it waits, in another fiber.
    fn resumed(&self, resume: impl FnOnce(Resume<u64>) + Send + 'static) -> Fiber<()> {
        let this = self.clone();
        let resumed = move |()| {
            let taken = this.resume.lock().take();
            resume(taken.expect("the fiber has registered"));
        };
        self.registered.opened().map(resumed).boxed()
    }
}

/// Resumes on another thread, and waits for its end.
fn resume_elsewhere(resume: Resume<u64>) {
    thread::scope(|scope| _ = scope.spawn(|| resume.success(1)));
}

pub(super) fn wake_ups_arrive_whenever_they_come<H: AnyHost + ?Sized>(trial: Trial<H>) {
    for _ in 0..ROUNDS / 3 {
        let ended = trial.spawn(Fiber::yield_now().map(|()| 1));
        trial.run("a fiber that yields", ended.ended());
        let mut resumed = vec![trial.run("a fiber that ended before it was joined", ended.join())];
        let here = Fiber::callback(|resume: Resume<u64>| resume.success(1));
        resumed.push(trial.run("a wait that is over while it begins", here));
        let elsewhere = Fiber::callback(resume_elsewhere);
        resumed.push(trial.run("a wait that another thread ends while it begins", elsewhere));
        for by_thread in [false, true] {
            let parked = Parked::new();
            let waits = trial.spawn(parked.wait());
            trial.run(
                "a fiber that resumes another one",
                parked.resumed(
                    move |resume| {
                        if by_thread { resume_elsewhere(resume) } else { resume.success(1) }
                    },
                ),
            );
            resumed.push(trial.finish("a fiber that was resumed", waits).unwrap());
        }
        assert_eq!(resumed, [1; 5], "values that arrive with the wake-ups");
    }
}

/// A thread that resumes what it receives, after pauses of different lengths.
fn resumer(resumes: Receiver<Resume<u64>>) {
    for (round, resume) in (0..).zip(resumes) {
        pause(round);
        resume.success(1);
    }
}

pub(super) fn wake_ups_from_other_threads_arrive<H: AnyHost + ?Sized>(trial: Trial<H>) {
    if trial.host().is_virtual() {
        return;
    }
    let (left, to_left) = mpsc::channel();
    let (right, to_right) = mpsc::channel();
    let threads = [to_left, to_right].map(|resumes| thread::spawn(move || resumer(resumes)));
    let wait = |to: &mpsc::Sender<Resume<u64>>| {
        let to = to.clone();
        Fiber::callback(move |resume| to.send(resume).expect("the thread lives"))
    };
    for _ in 0..ROUNDS {
        let both = wait(&left).zip(wait(&right));
        assert_eq!(trial.run("a fiber that two threads wake", both), (1, 1));
    }
    let many: Vec<_> = (0..ROUNDS).map(|n| wait(if n % 2 == 0 { &left } else { &right })).collect();
    let sum = Fiber::parallel(many).map(|ones| ones.into_iter().sum::<u64>());
    assert_eq!(trial.run("many fibers that two threads wake", sum), ROUNDS);
    drop((left, right));
    threads.into_iter().for_each(|thread| thread.join().expect("a resumption does not panic"));
}

pub(super) fn fibers_that_other_threads_spawn_run<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const THREADS: u64 = 2;
    let gate = Gate::new((THREADS * ROUNDS) as usize);
    let spawner = || {
        let (context, gate) = (trial.context().clone(), gate.clone());
        thread::spawn(move || {
            for round in 0..ROUNDS {
                pause(round);
                drop(context.spawn(gate.passing()));
            }
        })
    };
    let threads = [(); THREADS as usize].map(|()| spawner());
    let join = || threads.into_iter().for_each(|thread| thread.join().expect("a spawn does not panic"));
    if trial.host().is_virtual() {
        join();
        return trial.run("fibers that other threads have spawned", gate.opened());
    }
    trial.run("fibers that other threads spawn", gate.opened());
    join();
}

pub(super) fn fibers_wake_one_another<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const LENGTH: usize = 1_000;
    let gates: Vec<_> = (0..=LENGTH).map(|_| Gate::new(1)).collect();
    let links = gates.windows(2).map(|pair| {
        let next = pair[1].clone();
        pair[0].opened().map(move |()| next.pass()).boxed()
    });
    let links: Vec<_> = links.map(|link| trial.spawn(link)).collect();
    trial.run("the fiber that wakes the first one", gates[0].passing());
    trial.run("the last fiber of a chain", gates[LENGTH].opened());
    for link in links {
        trial.finish("a fiber of a chain", link).unwrap();
    }
}
