//! Builds operators that are built on others: each with two programs in it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fiber_core::sync::{self, Cache, Channel, CircuitBreaker, Promise, RateLimiter, Semaphore, parallel_map};
use fiber_core::{
    CancelToken, Error, Fiber, Group, Handle, Outcome, Policy, Run, Scope, dataflow, fiber, race,
};
use proptest::prelude::*;

use crate::builder::{Builder, OpenScope, TICK};
use crate::part::{Part, Reach};
use crate::program::Program;

/// What is done with two programs, the first and the second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
    /// Acquires the first, and uses it in the second. The release looks at the outcome of the use.
    BracketOutcome,
    /// Both at the same time, each while it holds the same lock.
    Locked(Lock),
    /// The first, and then the second, behind a circuit breaker.
    Breaker,
    /// Both, at a rate of one in so many ticks.
    Paced(u32),
    /// Two fibers ask for the same value, which the first computes; one of them does the second before.
    Cached,
    /// The first, with a token for code that is not a fiber. Then the second.
    WithToken,
    /// The first, which a token cancels after so many ticks. Then the second.
    CancelledBy(u32),
    TimeoutDisconnect(u32),
    /// The first, the second, and the first again, as far as they end within so many ticks.
    Within(u32),
    Validate,
    /// So many successes of the same three.
    Quorum(usize),
    /// A `race!`, whose handlers run when both have ended.
    Arms,
    Dataflow,
    AndLet,
    /// An ordinary function, on its own stack.
    Direct,
    /// Forks the first in a scope, runs the second there, and cancels the scope.
    CancelScope,
    /// Forks the first in a scope that is a resource, in whose use it runs the second.
    ScopeAsResource,
    /// Spawns the first in a group, runs the second, and ends the group.
    InGroup(GroupEnd),
    /// Forks both at once, and joins both.
    ForkAll,
    /// Holds the handle of the first during the second; the drop of the handle cancels it.
    Tied,
    /// Runs the first again up to so many times, with pauses of so many ticks. Then the second.
    Restarted(u8, u32),
    /// A stage whose items are the same three programs. Its results may be in order.
    Stage(bool),
    /// Receives the same three, so many at a time.
    Lanes(usize),
    /// So many rounds of the first and the second in turns.
    Fold(u8),
    /// The first completes a promise, for which a fiber waits that then does the second.
    Promised,
    /// A closure on another thread between both.
    Dedicated,
    BlockingWith,
    /// Closures on the threads that run fibers.
    Compute,
    Timed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Lock {
    Permits,
    Resource,
    Mutex,
    Write,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum GroupEnd {
    Cancel,
    Drain,
    Forget,
}

pub(crate) fn operator(ticks: u32) -> impl Strategy<Value = Operator> {
    use Operator::*;
    let lock = prop::sample::select(vec![Lock::Permits, Lock::Mutex, Lock::Write, Lock::Resource]);
    let group = prop::sample::select(vec![GroupEnd::Cancel, GroupEnd::Drain, GroupEnd::Forget]);
    let plain = vec![
        BracketOutcome,
        Breaker,
        Cached,
        WithToken,
        Validate,
        Arms,
        Dataflow,
        AndLet,
        Direct,
        CancelScope,
        ScopeAsResource,
        ForkAll,
        Tied,
        Promised,
        Dedicated,
        BlockingWith,
        Compute,
        Timed,
    ];
    prop_oneof![
        18 => prop::sample::select(plain),
        2 => lock.prop_map(Locked),
        1 => (0..3u32).prop_map(Paced),
        1 => (0..ticks).prop_map(CancelledBy),
        1 => (0..ticks).prop_map(TimeoutDisconnect),
        1 => (0..ticks).prop_map(Within),
        1 => (1..4usize).prop_map(Quorum),
        2 => group.prop_map(InGroup),
        1 => (0..3u8, 0..4u32).prop_map(|(n, pause)| Restarted(n, pause)),
        1 => any::<bool>().prop_map(Stage),
        1 => (1..4usize).prop_map(Lanes),
        1 => (0..4u8).prop_map(Fold),
    ]
}

/// The fibers that have begun and not ended.
#[derive(Clone, Default)]
struct Live(Arc<AtomicU32>);

impl Live {
    fn count(&self, fiber: Fiber<u32>) -> Fiber<u32> {
        let (begun, ended) = (self.0.clone(), self.0.clone());
        let begin = Fiber::defer(move || {
            begun.fetch_add(1, Ordering::Relaxed);
            fiber.map_outcome(move |outcome| {
                ended.fetch_sub(1, Ordering::Relaxed);
                outcome
            })
        });
        begin.boxed()
    }

    fn are_none(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

impl Builder {
    pub(crate) fn operate(&self, with: Operator, first: Program, second: Program) -> Fiber<u32> {
        use Operator::*;
        match with {
            BracketOutcome => self.bracket_outcome(first, second),
            Breaker => self.behind_a_breaker(first, second),
            WithToken => self.with_token(first, second),
            CancelledBy(ticks) => self.cancelled_by(ticks, first, second),
            ScopeAsResource => self.scope_as_resource(first, second),
            InGroup(end) => self.group(end, first, second),
            Restarted(times, pause) => self.restarted(times, pause, first, second),
            TimeoutDisconnect(ticks) => {
                let body = self.outside().with_reach(Reach::Everything).fiber(first);
                body.timeout_disconnect(ticks * TICK).bind(self.adds(second)).boxed()
            }
            ForkAll => {
                let forks = [first, second].map(|program| self.at_home().fiber(program));
                let join = |forks: Vec<Handle<u32>>| Fiber::parallel(forks.into_iter().map(Handle::join));
                Fiber::fork_all(forks).bind(join).map(sum).boxed()
            }
            Tied => {
                let (fork, meanwhile) = (self.at_home().fiber(first).fork(), self.fiber(second));
                let hold = move |fork: Handle<u32>| {
                    let tied = fork.cancel_on_drop();
                    meanwhile.map(move |n| {
                        drop(tied);
                        n
                    })
                };
                fork.bind(hold).boxed()
            }
            Fold(rounds) => {
                let builder = self.clone();
                let add = move |sum: u32, round| {
                    let program = if round % 2 == 0 { &first } else { &second };
                    builder.fiber(program.clone()).map(move |n| n.wrapping_add(sum))
                };
                Fiber::fold(0..rounds, 0, add).boxed()
            }
            Direct if self.world.has_stacks() => {
                let (left, right) = (self.fiber(first), self.fiber(second));
                Fiber::direct(move |d| Ok(d.wait(left)?.wrapping_add(d.wait(right)?))).boxed()
            }
            Direct => self.fiber(first).bind(self.adds(second)).boxed(),
            Dedicated => {
                let called = |n| Fiber::dedicated(move |_| Ok::<_, Error>(n));
                self.fiber(first).bind(called).bind(self.adds(second)).boxed()
            }
            BlockingWith => {
                let ballast = self.ballast();
                let called = move |n| {
                    Fiber::blocking_with(move |_| {
                        ballast.hold();
                        Ok::<_, Error>(n)
                    })
                };
                self.fiber(first).bind(called).bind(self.adds(second)).boxed()
            }
            Compute => {
                let computes = |n| {
                    let (left, right) = fiber_sched::join(move || n, || fiber_sched::par_map(0..3u32, |n| n));
                    assert_eq!(right, [0, 1, 2]);
                    left
                };
                self.fiber(first).map(computes).bind(self.adds(second)).boxed()
            }
            Timed => self.fiber(first).timed().map(|(_, n)| n).bind(self.adds(second)).boxed(),
            other => self.operate_on_branches(other, first, second),
        }
    }

    fn operate_on_branches(&self, with: Operator, first: Program, second: Program) -> Fiber<u32> {
        use Operator::*;
        let inside = self.inside();
        let part = inside.part.clone();
        let three = [first.clone(), second.clone(), first.clone()];
        let two = |inside: &Builder| [&first, &second].map(|program| inside.branch(program.clone()));
        let made = match with {
            Locked(lock) => inside.locked(lock, two(&inside)),
            Cached => inside.cached(first, second),
            CancelScope => inside.cancelled_scope(first, second),
            Arms => inside.arms(two(&inside)),
            Promised => inside.promised(two(&inside)),
            Paced(ticks) => {
                let limiter = RateLimiter::new(1, ticks * TICK);
                let [left, right] = two(&inside).map(|fiber| limiter.limited(fiber));
                left.zip(right).map(|(n, m)| n.wrapping_add(m)).boxed()
            }
            Within(ticks) => {
                let inside = inside.with_reach(Reach::Everything);
                let all = three.map(|program| inside.branch(program));
                Fiber::parallel(all).limit(2).within(ticks * TICK).map(|all| all.len() as u32).boxed()
            }
            Validate => Fiber::validate(two(&inside)).map(sum).boxed(),
            Quorum(wanted) => {
                let all = three.map(|program| inside.skippable(program));
                Fiber::first_successes(wanted, all).map(|all| all.len() as u32).boxed()
            }
            Dataflow => {
                let [a, b, c] = three.map(|program| inside.branch(program));
                let sum = dataflow! {
                    let x = a;
                    let y = b;
                    let z = { let n = x; c.map(move |m: u32| n.wrapping_add(m)) };
                    return y.wrapping_add(z)
                };
                sum.boxed()
            }
            AndLet => {
                let [left, right] = two(&inside);
                fiber! {
                    let! n = left and! m = right;
                    n.wrapping_add(m)
                }
            }
            Stage(is_ordered) => {
                let stage = parallel_map(three, 2, move |program| inside.branch(program));
                let count = |results: sync::Receiver<u32>| {
                    results.fold(0, |count, _| Fiber::yield_now().map(move |()| count + 1))
                };
                if is_ordered { stage.ordered().feed(count).boxed() } else { stage.feed(count).boxed() }
            }
            Lanes(limit) => {
                let (sender, receiver) = Channel::unbounded();
                three.into_iter().for_each(|program| sender.try_send(program).unwrap());
                let work = receiver.for_each_recv(limit, move |program| inside.branch(program).map(drop));
                work.map(|()| 1).boxed()
            }
            other => unreachable!("{other:?} has no branches"),
        };
        self.ends(part, made)
    }

    /// The builder for a fork of this fiber.
    fn at_home(&self) -> Self {
        Builder { part: self.home.clone(), ..self.clone() }.inside()
    }

    /// Does a program after another one, and gives the sum.
    fn adds(&self, then: Program) -> impl FnOnce(u32) -> Fiber<u32> + Send + use<> {
        let then = self.fiber(then);
        move |n| then.map(move |m| n.wrapping_add(m)).boxed()
    }

    fn bracket_outcome(&self, acquire: Program, using: Program) -> Fiber<u32> {
        let during = self.during();
        let release = self.release(during.part.clone(), Program::Yield);
        let (seen, world): (Arc<Mutex<Option<String>>>, _) = (Arc::default(), self.world.clone());
        let given = seen.clone();
        let using = move |lease| {
            during.using(&[lease], using).map_outcome(move |outcome| {
                *locked(&given) = Some(kind(&outcome));
                outcome
            })
        };
        let release = move |lease, outcome: &Outcome<u32>| {
            if locked(&seen).take().is_some_and(|seen| seen != kind(outcome)) {
                world.broken("a release sees another outcome than that of the use");
            }
            release(lease)
        };
        Fiber::bracket_outcome(self.acquire(acquire), using, release).boxed()
    }

    fn behind_a_breaker(&self, first: Program, second: Program) -> Fiber<u32> {
        let (during, breaker) = (self.during(), CircuitBreaker::new(1, TICK));
        let then = breaker.protect(during.fiber(second));
        let adds = move |n| then.map(move |m: u32| n + m.min(1));
        let both = breaker.protect(during.fiber(first)).map(|n| n.min(1)).bind(adds);
        self.ends(during.part, both.boxed())
    }

    fn with_token(&self, first: Program, second: Program) -> Fiber<u32> {
        let inside = self.inside();
        let (part, body) = (inside.part.clone(), inside.fiber(first));
        let (passed, world): (Arc<Mutex<Option<CancelToken>>>, _) = (Arc::default(), self.world.clone());
        let kept = passed.clone();
        let made = Fiber::with_token(move |token| {
            *locked(&passed) = Some(token);
            body
        });
        let end = move |outcome: Outcome<u32>| {
            if locked(&kept).take().is_some_and(|token| !token.is_cancelled()) {
                world.broken("the token of a body that has ended is not cancelled");
            }
            outcome
        };
        self.ends(part, made.map_outcome(end).boxed()).bind(self.adds(second)).boxed()
    }

    fn cancelled_by(&self, ticks: u32, first: Program, second: Program) -> Fiber<u32> {
        let inside = self.inside().with_reach(Reach::Everything);
        let (part, token) = (inside.part.clone(), CancelToken::new());
        if ticks == 0 {
            token.cancel();
        }
        let body = inside.branch(first).cancelled_by(&token).map_outcome({
            let token = token.clone();
            move |outcome| match outcome {
                Outcome::Cancelled if token.is_cancelled() => Outcome::Success(1),
                other => other,
            }
        });
        let canceller = Fiber::delay(ticks * TICK).map(move |()| token.cancel());
        let both = body.zip(canceller).map(|(n, ())| n).boxed();
        self.ends(part, both).bind(self.adds(second)).boxed()
    }

    fn scope_as_resource(&self, first: Program, second: Program) -> Fiber<u32> {
        let during = self.during();
        let (forked, body) = (during.inside().fiber(first), during.fiber(second));
        let used = Scope::resource().using(move |scope| scope.fork(forked).bind(move |_| body));
        self.ends(during.part, used)
    }

    /// Ends as cancelled by itself, which is a success.
    fn cancelled_scope(self, first: Program, second: Program) -> Fiber<u32> {
        let made = Fiber::scope(move |scope: Scope| {
            let (part, reach) = (self.part.clone(), self.reach);
            let forked = scope.fork(self.inside().with_reach(Reach::Everything).fiber(first));
            let inside =
                Builder { scope: Some(OpenScope { scope: scope.clone(), part, reach }), ..self.clone() };
            let body = inside.fiber(second);
            let waits = inside.with_reach(Reach::Everything).fiber(Program::Never);
            let cancel = move |_| {
                scope.cancel_now();
                waits
            };
            forked.bind(move |_| body.bind(cancel))
        });
        let end = |outcome| if let Outcome::Cancelled = outcome { Outcome::Success(1) } else { outcome };
        made.map_outcome(end).boxed()
    }

    fn arms(&self, sides: [Fiber<u32>; 2]) -> Fiber<u32> {
        let (live, world) = (Live::default(), self.world.clone());
        let [left, right] = sides.map(|side| live.count(side));
        let handle = move |n| {
            if !live.are_none() {
                world.kept("a handler runs beside an arm of its race");
            }
            n
        };
        let other = handle.clone();
        let race = race! {
            n = left => handle(n),
            n = right => other(n),
        };
        race.boxed()
    }

    fn promised(&self, sides: [Fiber<u32>; 2]) -> Fiber<u32> {
        let ([first, then], world, promise) = (sides, self.world.clone(), Promise::new());
        let waits = promise.wait().bind(move |n: u32| then.map(move |m| n.wrapping_add(m)));
        let completes = first.map_outcome(move |outcome| {
            // Perhaps nobody waits for it any more.
            world.see_outcome(&outcome);
            let end = if outcome.is_cancelled() { Outcome::Cancelled } else { Outcome::Success(()) };
            promise.outcome(outcome);
            end
        });
        completes.zip(waits).map(|((), n)| n).boxed()
    }

    fn locked(&self, lock: Lock, sides: [Fiber<u32>; 2]) -> Fiber<u32> {
        let (holders, world) = (Live::default(), self.world.clone());
        let [left, right] = sides.map(|side| {
            let (body, holders, world) = (holders.count(side), holders.clone(), world.clone());
            let alone = Fiber::defer(move || {
                if !holders.are_none() {
                    world.broken("two fibers hold the same lock");
                }
                body
            });
            alone.boxed()
        });
        let semaphore = Semaphore::new(1);
        let is_free = semaphore.clone();
        let both = match lock {
            Lock::Permits => both_with([left, right], |side| semaphore.with_permits(1, side)),
            Lock::Resource => {
                both_with([left, right], |side| semaphore.acquire_resource(1).using(holding(side)))
            }
            Lock::Mutex => {
                let mutex = sync::Mutex::new(0);
                both_with([left, right], |side| mutex.with(holding(side)))
            }
            Lock::Write => {
                let lock = sync::RwLock::new(0);
                both_with([left, right], |side| lock.with_write(holding(side)))
            }
        };
        both.map_outcome(move |outcome| {
            // Fibers that were detached meanwhile hold the permits of `with_permits`, too.
            let is_held = !matches!(lock, Lock::Permits) && is_free.available() != 1;
            if is_held || !holders.are_none() {
                world.kept("a lock is held after the end of its holders");
            }
            outcome
        })
        .boxed()
    }

    /// The computation is detached, and cancelled when nobody waits for it any more.
    fn cached(&self, first: Program, second: Program) -> Fiber<u32> {
        let cache = Cache::new(1);
        let [one, other] = [first.clone(), first].map(|first| {
            let (world, computes) = (self.world.clone(), self.outside().with_reach(Reach::Perhaps));
            let asks = cache.get(1, move || computes.fiber(first));
            asks.map_outcome(move |outcome| {
                world.see_outcome(&outcome);
                outcome.map(|n: Arc<u32>| *n)
            })
        });
        let later = self.branch(second).bind(move |n| other.map(move |m| n.wrapping_add(m)));
        one.zip(later).map(|(n, m)| n.wrapping_add(m)).boxed()
    }

    fn group(&self, end: GroupEnd, first: Program, second: Program) -> Fiber<u32> {
        // It belongs to the fiber, which may end after a block in it.
        let member = self.outside();
        let (part, member, meanwhile) = (member.part.clone(), member.fiber(first), self.fiber(second));
        let world = self.world.clone();
        let ends = move |group: Group, handle: Handle<u32>| {
            let waits = match end {
                GroupEnd::Cancel => group.cancel(),
                GroupEnd::Drain => group.drain(),
                GroupEnd::Forget => return Fiber::success(1).boxed(),
            };
            fiber! {
                do! waits;
                part.end();
                match handle.try_outcome() {
                    Ok(outcome) => world.see_outcome(&outcome),
                    Err(_) => world.broken("a group has ended before the outcome of its fiber is there"),
                }
                1
            }
        };
        let made = Fiber::current().bind(move |context| {
            let group = context.group();
            let handle = group.spawn(member);
            meanwhile.bind(move |_| ends(group, handle))
        });
        made.boxed()
    }

    fn restarted(&self, times: u8, pause: u32, first: Program, second: Program) -> Fiber<u32> {
        let (builder, last): (_, Arc<Mutex<Part>>) = (self.clone(), Arc::default());
        let (seen, world, of_last) = (self.world.clone(), self.world.clone(), last.clone());
        let policy = Policy::recurs(times.into()) & Policy::spaced(pause * TICK);
        let policy = policy.while_input(move |error| {
            seen.see_error(error);
            true
        });
        let round = Fiber::defer(move || {
            let inside = builder.inside();
            std::mem::replace(&mut *locked(&last), inside.part.clone()).end();
            inside.fiber(first)
        });
        let ends = move |error| {
            world.see_error(&error);
            locked(&of_last).end();
            Fiber::success(1)
        };
        let whole = round.restarted(policy).map(|never| match never {}).catch(ends);
        whole.bind(self.adds(second)).boxed()
    }
}

fn sum(all: Vec<u32>) -> u32 {
    all.into_iter().fold(0, u32::wrapping_add)
}

/// The sum of two fibers that run at the same time.
fn both_with<R: Run<Out = u32>>(
    sides: [Fiber<u32>; 2],
    wrap: impl FnMut(Fiber<u32>) -> Fiber<u32, R>,
) -> Fiber<u32> {
    let [left, right] = sides.map(wrap);
    left.zip(right).map(|(n, m)| n.wrapping_add(m)).boxed()
}

/// Holds the guard of a lock while the fiber runs.
fn holding<G: Send + 'static>(fiber: Fiber<u32>) -> impl FnOnce(G) -> Fiber<u32> + Send {
    move |guard| {
        let release = move |n| {
            drop(guard);
            n
        };
        fiber.map(release).boxed()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kind<T>(outcome: &Outcome<T>) -> String {
    match outcome {
        Outcome::Success(_) => "success".to_owned(),
        Outcome::Failure(error) => error.to_string(),
        Outcome::Panicked(panic) => panic.to_string(),
        Outcome::Cancelled => "cancelled".to_owned(),
    }
}
