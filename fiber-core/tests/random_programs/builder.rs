//! Makes a fiber of a program. The fiber records broken rules in the [`World`].

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::{Error, Fiber, Outcome, Policy, Restore, Resume, Scope, fiber, local_key, uncancelable};

use crate::part::{Part, Reach, Strand};
use crate::program::Program;
use crate::world::{Kind, World};

/// The unit of the programs' sleeps.
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// No program has anything left to do after this many ticks, unless it waits for ever.
pub(crate) const LONGEST: u32 = 1_000_000;

local_key! {
    static LOCAL: u32 = 0;
}

#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) world: Arc<World>,
    /// The part in which the fiber is built; the fiber ends before it.
    pub(crate) part: Part,
    /// The part that ends with the strand, to which its forks belong.
    pub(crate) home: Part,
    pub(crate) strand: Strand,
    pub(crate) reach: Reach,
    /// The innermost region: what could reach the program before it, and its strand.
    pub(crate) region: Option<(Restore, Reach, Strand)>,
    pub(crate) scope: Option<OpenScope>,
    /// The value of [`LOCAL`].
    pub(crate) local: u32,
}

/// The innermost scope, its part, and what can reach its forks.
#[derive(Clone)]
pub(crate) struct OpenScope {
    pub(crate) scope: Scope,
    pub(crate) part: Part,
    pub(crate) reach: Reach,
}

impl Builder {
    /// The whole program: when its fiber ends, nothing of it runs any more except for detached fibers.
    pub(crate) fn whole(world: &Arc<World>, program: Program) -> Fiber<u32> {
        let builder = Builder {
            world: world.clone(),
            part: Part::default(),
            home: Part::default(),
            strand: Strand::default(),
            reach: Reach::Everything,
            region: None,
            scope: None,
            local: 0,
        };
        builder.make(Program::Timeout(world.ticks().unwrap_or(LONGEST), Box::new(program)))
    }

    /// The builder for a separate fiber.
    pub(crate) fn inside(&self) -> Self {
        let part = self.part.inside();
        let (home, strand) = (part.clone(), Strand::default());
        Builder { part, home, strand, reach: self.reach.inside(), ..self.clone() }
    }

    /// The builder for a fiber that may outlive everything.
    pub(crate) fn outside(&self) -> Self {
        Builder { part: Part::default(), ..self.clone() }.inside()
    }

    /// The builder for something in the same fiber that ends earlier.
    pub(crate) fn during(&self) -> Self {
        Builder { part: self.part.inside(), ..self.clone() }
    }

    pub(crate) fn with_reach(&self, reach: Reach) -> Self {
        Builder { reach, ..self.clone() }
    }

    /// The builder for a finalizer.
    pub(crate) fn finally(&self) -> Self {
        Builder { region: None, ..self.with_reach(Reach::Nothing) }
    }

    /// Records that `part` has ended when the fiber has.
    pub(crate) fn ends<T: Send + 'static>(&self, part: Part, fiber: Fiber<T>) -> Fiber<T> {
        let end = move |outcome| {
            part.end();
            outcome
        };
        fiber.map_outcome(end).boxed()
    }

    /// Code of the program runs.
    pub(crate) fn runs(&self) {
        if self.part.has_ended() {
            self.world.broken("something ran after the end of the part that it belongs to");
        }
        if self.reach != Reach::Nothing && self.strand.has_seen_cancellation() {
            self.world.broken("a fiber went on after it had seen its cancellation");
        }
    }

    /// The fiber, which is made when it runs: each run is a separate program.
    pub(crate) fn fiber(&self, program: Program) -> Fiber<u32> {
        let (builder, strand) = (self.clone(), self.strand.clone());
        let [made_with, seen_with] = [(); 2].map(|()| self.ballast());
        let made = Fiber::defer(move || {
            made_with.hold();
            builder.runs();
            builder.make(program)
        });
        let seen = move |outcome: Outcome<u32>| {
            seen_with.hold();
            if outcome.is_cancelled() {
                strand.sees_cancellation();
            }
            outcome
        };
        made.map_outcome(seen).boxed()
    }

    fn make(&self, program: Program) -> Fiber<u32> {
        use Program::*;
        let world = self.world.clone();
        match program {
            Succeed => Fiber::success(1).boxed(),
            Fail => Fiber::try_lazy(move || Err(world.raise(Kind::Failure))).boxed(),
            Panic => Fiber::lazy(move || std::panic::panic_any(world.raise(Kind::Panic).to_string())).boxed(),
            Never if self.reach == Reach::Everything => self.waits(Fiber::never().boxed()),
            Never | Yield => self.waits(Fiber::yield_now().map(|()| 1).boxed()),
            Sleep(ticks) => self.waits(self.sleep(ticks)),
            Spin(_) if self.reach == Reach::Everything && world.ticks().is_some() => {
                let forever = |()| Fiber::success(ControlFlow::Continue(()));
                self.waits(Fiber::iterate((), forever).boxed())
            }
            Spin(binds) => {
                let spin = Fiber::for_each(0..binds, |_| Fiber::success(()));
                self.waits(spin.map(|()| 1).boxed())
            }
            Block => self.waits(Fiber::blocking(|| 1).boxed()),
            HandOver(ticks) => self.hand_over(ticks),
            Forgotten => self.waits(Fiber::callback(drop).catch(|_| Fiber::success(1)).boxed()),
            ReadLocal => self.read_local(),
            WithLocal(local, body) => {
                let inner = Builder { local, ..self.clone() };
                inner.fiber(*body).with_local(&LOCAL, local).boxed()
            }
            Bind(first, then) => {
                let then = self.fiber(*then);
                self.fiber(*first).bind(move |n| then.map(move |m: u32| n.wrapping_add(m))).boxed()
            }
            InBlock(first, then) => self.in_block(*first, *then),
            Tap(first, then) => {
                let then = self.fiber(*then);
                self.fiber(*first).tap(move |_| then).boxed()
            }
            Armed(owned, body) => self.armed(owned, *body),
            Keep(body) => self.keep(*body),
            Repeat(rounds, body) => self.repeat(rounds, *body),
            Retry(times, pause, body) => {
                let builder = self.clone();
                let policy = pauses(times, pause).while_input(move |error: &Error| {
                    world.see_error(error);
                    true
                });
                Fiber::retry_with(policy, move || builder.fiber((*body).clone())).boxed()
            }
            Again(times, pause, body) => {
                let builder = self.clone();
                Fiber::repeat_with(pauses(times, pause), move || builder.fiber((*body).clone())).boxed()
            }
            Catch(body, handler) => {
                let (body, handler) = (self.fiber(*body), self.fiber(*handler));
                let see = move |error| {
                    world.see_error(&error);
                    handler
                };
                body.catch(see).boxed()
            }
            Overlook(body, handler) => {
                world.overlooks();
                let (body, handler) = (self.fiber(*body), self.fiber(*handler));
                body.catch(|_| handler).boxed()
            }
            CatchPanic(body, handler) => {
                let (body, handler) = (self.fiber(*body), self.fiber(*handler));
                let see = move |panic| {
                    world.see_panic(&panic);
                    handler
                };
                body.catch_panic(see).boxed()
            }
            Heal(body) => {
                let builder = self.clone();
                self.fiber(*body).map_outcome(move |outcome| builder.observed(&outcome)).boxed()
            }
            Uncancelable(body) => self.with_reach(Reach::Nothing).fiber(*body).uncancelable().boxed(),
            Region(body) => self.region(*body),
            Restore(body) => self.restored(*body),
            other => self.make_structured(other),
        }
    }

    /// A wait that no cancellation may end if none can reach it.
    fn waits(&self, wait: Fiber<u32>) -> Fiber<u32> {
        if self.reach != Reach::Nothing {
            return wait;
        }
        let world = self.world.clone();
        wait.map_outcome(move |outcome| {
            if outcome.is_cancelled() {
                world.broken("a cancellation reached into an uncancelable region");
            }
            outcome
        })
        .boxed()
    }

    /// A value that is produced reaches the code behind the wait.
    fn in_block(&self, first: Program, then: Program) -> Fiber<u32> {
        let taken = self.world.finalizer(false);
        let made = taken.clone();
        let first = self.fiber(first).map(move |n| {
            made.is_due();
            n
        });
        let then = self.fiber(then);
        fiber! {
            let! n = first;
            taken.begins();
            taken.ends();
            let! m = then;
            n.wrapping_add(m)
        }
    }

    fn sleep(&self, ticks: u32) -> Fiber<u32> {
        let (world, length) = (self.world.clone(), ticks * TICK);
        Fiber::now()
            .bind(move |start| {
                Fiber::delay(length).bind(|()| Fiber::now()).map(move |end| end >= start + length)
            })
            .map(move |is_over| {
                if !is_over {
                    world.broken("a sleep succeeded before its time");
                }
                1
            })
            .boxed()
    }

    pub(crate) fn read_local(&self) -> Fiber<u32> {
        let (world, expected) = (self.world.clone(), self.local);
        let compare = move |found| {
            if found != expected {
                world.broken(format!("the fiber carries {found} and not {expected}"));
            }
            1
        };
        Fiber::local(&LOCAL).map(compare).boxed()
    }

    fn hand_over(&self, ticks: u32) -> Fiber<u32> {
        // Empty, the waiter, or the mark that the other one came first.
        let slot: Arc<Mutex<Option<Option<Resume<u32>>>>> = Arc::default();
        let waits = Fiber::callback({
            let slot = slot.clone();
            move |resume: Resume<u32>| {
                let mut slot = slot.lock().unwrap();
                if slot.is_some() {
                    drop(slot);
                    resume.success(1);
                } else {
                    *slot = Some(Some(resume));
                }
            }
        });
        let resumes = Fiber::delay(ticks * TICK).bind(|()| Fiber::yield_now()).map(move |()| {
            let resume = slot.lock().unwrap().replace(None).flatten();
            resume.into_iter().for_each(|resume: Resume<u32>| resume.success(1));
        });
        self.waits(waits.zip(resumes).map(|_| 1).boxed())
    }

    fn repeat(&self, rounds: u8, body: Program) -> Fiber<u32> {
        let builder = self.clone();
        Fiber::iterate(rounds, move |left| {
            let Some(left) = left.checked_sub(1) else {
                return Fiber::success(ControlFlow::Break(1)).boxed();
            };
            builder.fiber(body.clone()).map(move |_| ControlFlow::Continue(left)).boxed()
        })
        .boxed()
    }

    fn region(&self, body: Program) -> Fiber<u32> {
        let builder = self.with_reach(Reach::Nothing);
        let (reach, strand) = (self.reach, self.strand.clone());
        uncancelable(move |restore| Builder { region: Some((restore, reach, strand)), ..builder }.fiber(body))
            .boxed()
    }

    fn restored(&self, body: Program) -> Fiber<u32> {
        match &self.region {
            // In another fiber than that of the region, it changes nothing.
            Some((restore, _, strand)) if !strand.is_same(&self.strand) => {
                restore.apply(self.fiber(body)).boxed()
            }
            Some((restore, reach, _)) => restore.apply(self.with_reach(*reach).fiber(body)).boxed(),
            None => self.fiber(body),
        }
    }

    pub(crate) fn observed(&self, outcome: &Outcome<u32>) -> Outcome<u32> {
        self.world.see_outcome(outcome);
        Outcome::Success(1)
    }
}

/// This many repetitions, with pauses of this many ticks.
fn pauses<I: 'static>(times: u8, ticks: u32) -> Policy<I> {
    Policy::recurs(times.into()) & Policy::spaced(ticks * TICK)
}
