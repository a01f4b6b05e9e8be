//! The same waits without their types, in several forms, and programs that race with them.

use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Fiber, Run, fiber};

use super::sides::{Side, Sleeps};

/// Counts what a side has won.
pub(super) type Won = Box<dyn FnOnce() + Send>;

/// A [`Side`] whose type is hidden.
pub(super) trait Racer: Send + Sync {
    fn attempt(&self, number: u32) -> Fiber<Won>;
    fn partner(&self, number: u32) -> Fiber<()>;
    fn check(&self);
}

impl<S: Side> Racer for S {
    fn attempt(&self, number: u32) -> Fiber<Won> {
        let this = self.clone();
        let won = move |value| Box::new(move || this.won(number, value)) as Won;
        self.clone().attempt(number).map(won).boxed()
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        Side::partner(self, number)
    }

    fn check(&self) {
        Side::check(self);
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// A kind of racers.
pub(super) type Kind = fn() -> Arc<dyn Racer>;

pub(super) fn of<S: Side>() -> Arc<dyn Racer> {
    println!("{}", super::name::<S>());
    Arc::new(S::open())
}

/// A way to write a wait.
pub(super) type Form = fn(Fiber<Won>) -> Fiber<Won>;

pub(super) const FORMS: [Form; 7] = [boxed, named, in_a_block, awaited, nested, limited, in_direct_code];

pub(super) fn boxed(wait: Fiber<Won>) -> Fiber<Won> {
    wait
}

fn named(wait: Fiber<Won>) -> Fiber<Won> {
    wait.named("side").boxed()
}

fn in_a_block(wait: Fiber<Won>) -> Fiber<Won> {
    fiber! {
        let! won = wait;
        won
    }
}

fn awaited(wait: Fiber<Won>) -> Fiber<Won> {
    Fiber::block(move || async move { wait.await }).boxed()
}

/// A side of another race.
fn nested(wait: Fiber<Won>) -> Fiber<Won> {
    Fiber::<Won>::never().named("a branch").race(wait).map(|won| won.into_inner()).boxed()
}

fn limited(wait: Fiber<Won>) -> Fiber<Won> {
    wait.timeout(HOUR).boxed()
}

fn in_direct_code(wait: Fiber<Won>) -> Fiber<Won> {
    Fiber::direct(|fiber| fiber.wait(wait)).boxed()
}

/// Programs, which are no single waits, and a delay.
pub(super) const PROGRAMS: [Kind; 4] = [of::<Yields>, of::<Steps>, of::<Joins>, of::<Sleeps>];

/// Some turns.
#[derive(Clone)]
pub(super) struct Yields;

impl Side for Yields {
    type Won = ();

    fn open() -> Self {
        Yields
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::for_each(0..number % 4, |_| Fiber::yield_now())
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}

/// Ready at once, after a turn, or never.
#[derive(Clone)]
pub(super) struct Steps;

impl Side for Steps {
    type Won = ();

    fn open() -> Self {
        Steps
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::success(number).bind(|number| match number % 3 {
            0 => Fiber::success(()).boxed(),
            1 => Fiber::yield_now().boxed(),
            _ => Fiber::never().boxed(),
        })
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}

/// The join of another fiber.
#[derive(Clone)]
pub(super) struct Joins;

impl Side for Joins {
    type Won = ();

    fn open() -> Self {
        Joins
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Yields.attempt(number).fork().bind(|other| other.join())
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}
