//! Predicts the end of a program that is not cancelled from outside, and its time: sequentially, without any concurrency.
//!
//! A part of a program is evaluated from its start, with the time of its cancellation known. A race evaluates both sides,
//! finds the first to end, and evaluates the other one again, now cancelled at that time; a timeout is a cancellation at a known
//! time from the start. If two events happen at the same time, an [`Oracle`] decides which comes first. Letting it
//! decide in every way gives all possible ends of a program: for most, exactly one.

use crate::operators::Operator;
use crate::oracle::{Oracle, Unforeseen};
use crate::part::Reach;
use crate::program::{Ending, Owner, Program};
use crate::strand::{Fork, ScopeHere, Strand, Time};

/// The end of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Value(u32),
    /// By an error of the program.
    Raised,
    Panicked,
    TimedOut,
    TooLate,
    /// By another error, of the library.
    Refused,
    Cancelled,
}

impl End {
    pub(crate) fn is_value(self) -> bool {
        matches!(self, End::Value(_))
    }

    pub(crate) fn is_failure(self) -> bool {
        !self.is_value() && !matches!(self, End::Panicked | End::Cancelled)
    }

    /// The end after a finalizer with the end `end`.
    fn finalized(self, end: End) -> End {
        if self.is_value() && !end.is_value() { end } else { self }
    }
}

pub(crate) type Predicted = Result<(End, Time), Unforeseen>;

pub(crate) struct Interpreter {
    pub(crate) oracle: Oracle,
}

impl Interpreter {
    /// A program from its start: [`Builder::whole`](crate::builder::Builder::whole).
    pub(crate) fn whole(&mut self, program: &Program, limit: u32) -> Predicted {
        let mut strand = Strand::outside();
        let (end, at) = self.limited(&mut strand, 0, limit.into(), program)?;
        Ok((end.unwrap_or(End::TimedOut), at))
    }

    pub(crate) fn fiber(&mut self, s: &mut Strand, now: Time, program: &Program) -> Predicted {
        use Program::*;
        if self.is_interrupted(s, now) {
            return Ok((End::Cancelled, now));
        }
        match program {
            Succeed | ReadLocal => Ok((End::Value(1), now)),
            // It ends in another turn.
            Yield | Spin(_) | Block | Forgotten => self.succeed(s, now, 1),
            Fail => Ok((End::Raised, now)),
            Panic => Ok((End::Panicked, now)),
            Never if s.reach == Reach::Everything => self.sleep(s, now, Time::MAX),
            Never => Ok((End::Value(1), now)),
            Sleep(ticks) => self.sleep(s, now, Time::from(*ticks)),
            WithLocal(_, body) => self.fiber(s, now, body),
            Bind(first, then) | InBlock(first, then) => match self.fiber(s, now, first)? {
                (End::Value(n), now) => match self.fiber(s, now, then)? {
                    (End::Value(m), at) => Ok((End::Value(n.wrapping_add(m)), at)),
                    other => Ok(other),
                },
                other => Ok(other),
            },
            Tap(first, then) => match self.fiber(s, now, first)? {
                (value @ End::Value(_), now) => {
                    let (end, at) = self.fiber(s, now, then)?;
                    Ok((if end.is_value() { value } else { end }, at))
                }
                other => Ok(other),
            },
            Brittle(_, acquire, release) => {
                match s.with_reach(Reach::Nothing, |s| self.fiber(s, now, acquire))? {
                    (End::Value(_), at) => self.finalize(s, at, End::Panicked, release),
                    other => Ok(other),
                }
            }
            Armed(_, body) => Ok((End::Panicked, self.fiber(s, now, body)?.1)),
            Keep(body) => match self.fiber(s, now, body)? {
                (End::Value(_), at) => Ok((End::Value(1), at)),
                (_, at) => Ok((End::Panicked, at)),
            },
            Repeat(rounds, body) => {
                let mut now = now;
                for _ in 0..*rounds {
                    match self.fiber(s, now, body)? {
                        (End::Value(_), at) => now = at,
                        other => return Ok(other),
                    }
                }
                self.succeed(s, now, 1)
            }
            Catch(body, handler) | Overlook(body, handler) => match self.fiber(s, now, body)? {
                (end, at) if end.is_failure() => self.fiber(s, at, handler),
                other => Ok(other),
            },
            CatchPanic(body, handler) => match self.fiber(s, now, body)? {
                (End::Panicked, at) => self.fiber(s, at, handler),
                other => Ok(other),
            },
            Heal(body) => Ok((End::Value(1), self.fiber(s, now, body)?.1)),
            Ensure(body, finalizer) | OnOutcome(body, finalizer) => {
                let (end, at) = self.fiber(s, now, body)?;
                self.finalize(s, at, end, finalizer)
            }
            OnCancel(body, finalizer) => match self.fiber(s, now, body)? {
                (End::Cancelled, at) => self.finalize(s, at, End::Cancelled, finalizer),
                other => Ok(other),
            },
            OnFailure(body, finalizer) => match self.fiber(s, now, body)? {
                (end, at) if end.is_failure() => self.finalize(s, at, end, finalizer),
                other => Ok(other),
            },
            Bracket(acquire, using, release) => self.bracket(s, now, &[acquire], using, release),
            Resources(acquire, using, release) => self.bracket(s, now, &[acquire, release], using, release),
            Uncancelable(body) => s.with_reach(Reach::Nothing, |s| self.fiber(s, now, body)),
            Region(body) => s.in_region(|s| self.fiber(s, now, body)),
            Restore(body) => s.with_reach(s.region.unwrap_or(s.reach), |s| self.fiber(s, now, body)),
            other => self.structured(s, now, other),
        }
    }

    fn structured(&mut self, s: &mut Strand, now: Time, program: &Program) -> Predicted {
        use Program::*;
        match program {
            Timeout(ticks, body) => {
                let (end, at) = self.limited(s, now, Time::from(*ticks), body)?;
                Ok((end.unwrap_or(End::TimedOut), at))
            }
            TimeoutOption(ticks, body) => {
                let (end, at) = self.limited(s, now, Time::from(*ticks), body)?;
                Ok((end.unwrap_or(End::Value(1)), at))
            }
            TimeoutTo(ticks, body, fallback) => match self.limited(s, now, Time::from(*ticks), body)? {
                (Some(end), at) => Ok((end, at)),
                (None, at) => self.fiber(s, at, fallback),
            },
            Deadline(0, _) => Ok((End::TooLate, now)),
            Deadline(ticks, body) => {
                let (end, at) = self.limited(s, now, Time::from(*ticks), body)?;
                Ok((end.unwrap_or(End::TooLate), at))
            }
            Scope(awaits_all, body) => {
                let mut inside = s.inside(ScopeHere::Own);
                let (mut end, mut at) = self.fiber(&mut inside, now, body)?;
                if let (true, End::Value(n)) = (*awaits_all, end) {
                    let last =
                        inside.forks.iter().filter(|fork| fork.is_in_scope).map(|fork| fork.end.1).max();
                    (end, at) =
                        self.sleep(&mut inside, at, last.map_or(0, |last| last.saturating_sub(at)))?;
                    end = if end.is_value() { End::Value(n) } else { end };
                }
                let at = self.close(&mut inside, at)?;
                s.learn_from(&inside);
                Ok((end, at))
            }
            Fork(owner, ending, child, meanwhile) => self.fork(s, now, *owner, *ending, child, meanwhile),
            Zip(..) | Race(..) | RaceWith(..) | RaceAll(_) | FirstSuccess(_) | Hedge(..) | Parallel(..)
            | Loot(..) => self.branches(s, now, program),
            With(with, first, second) => self.operate(s, now, *with, first, second),
            // Left to the rules: their timing depends on a callback, a future or a number of yields.
            _ => Err(Unforeseen::Outside),
        }
    }

    /// Whether an operation that starts now ends as cancelled.
    pub(crate) fn is_interrupted(&mut self, s: &mut Strand, now: Time) -> bool {
        if s.reach == Reach::Nothing {
            return false;
        }
        s.is_cancelled = s.is_cancelled || s.cancel < now || s.cancel == now && self.oracle.choose(2) == 1;
        s.is_cancelled
    }

    fn succeed(&mut self, s: &mut Strand, now: Time, value: u32) -> Predicted {
        Ok((if self.is_interrupted(s, now) { End::Cancelled } else { End::Value(value) }, now))
    }

    /// An operator that ends as a simpler program does.
    fn operate(&mut self, s: &mut Strand, now: Time, with: Operator, a: &Program, b: &Program) -> Predicted {
        let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
        let same = match with {
            Operator::Compute | Operator::Timed | Operator::Direct | Operator::Dedicated => {
                Program::Bind(a, b)
            }
            Operator::Arms => Program::Race(a, b),
            Operator::AndLet => Program::Zip(a, b),
            Operator::BracketOutcome => Program::Bracket(a, b, Box::new(Program::Yield)),
            _ => return Err(Unforeseen::Outside),
        };
        self.fiber(s, now, &same)
    }

    pub(crate) fn sleep(&mut self, s: &mut Strand, now: Time, ticks: Time) -> Predicted {
        let until = now.saturating_add(ticks);
        if self.is_interrupted(s, now) {
            return Ok((End::Cancelled, now));
        }
        let is_cut_short = s.reach != Reach::Nothing
            && until > now
            && (s.cancel < until || s.cancel == until && self.oracle.choose(2) == 1);
        s.is_cancelled |= is_cut_short;
        Ok(if is_cut_short { (End::Cancelled, s.cancel) } else { (End::Value(1), until) })
    }

    fn finalize(&mut self, s: &mut Strand, now: Time, end: End, finalizer: &Program) -> Predicted {
        let (finalized, at) = s.finally(|s| self.fiber(s, now, finalizer))?;
        Ok((end.finalized(finalized), at))
    }

    fn bracket(
        &mut self,
        s: &mut Strand,
        now: Time,
        acquire: &[&Program],
        using: &Program,
        release: &Program,
    ) -> Predicted {
        let (mut end, mut at, mut acquired) = (End::Value(1), now, 0);
        while acquired < acquire.len() && end.is_value() {
            (end, at) = s.with_reach(Reach::Nothing, |s| self.fiber(s, at, acquire[acquired]))?;
            acquired += usize::from(end.is_value());
        }
        if end.is_value() {
            (end, at) = self.fiber(s, at, using)?;
        }
        for _ in 0..acquired {
            (end, at) = self.finalize(s, at, end, release)?;
        }
        Ok((end, at))
    }

    /// `None`: out of time.
    fn limited(
        &mut self,
        s: &mut Strand,
        now: Time,
        ticks: Time,
        body: &Program,
    ) -> Result<(Option<End>, Time), Unforeseen> {
        let mut inside = s.inside(s.scope.seen_from_inside());
        let (until, above) = (now.saturating_add(ticks), inside.cancel);
        inside.reach = Reach::Everything;
        inside.cancel = until.min(above);
        let (end, at) = self.fiber(&mut inside, now, body)?;
        let at = self.close(&mut inside, at)?;
        let is_ours = until < above || until == above && self.oracle.choose(2) == 1;
        if !is_ours {
            s.learn_from(&inside);
        }
        Ok((if end == End::Cancelled && is_ours { None } else { Some(end) }, at))
    }

    fn fork(
        &mut self,
        s: &mut Strand,
        now: Time,
        owner: Owner,
        ending: Ending,
        child: &Program,
        meanwhile: &Program,
    ) -> Predicted {
        let is_in_scope = owner == Owner::Scope && s.scope == ScopeHere::Own;
        if owner == Owner::Scope && s.scope == ScopeHere::Around {
            return Err(Unforeseen::Outside);
        }
        let template = match owner {
            Owner::Nobody => s.detached(),
            Owner::Scope if is_in_scope => Strand { reach: s.base.inside(), ..s.forked() },
            Owner::Scope | Owner::Fiber => s.forked(),
        };
        let end = self.run_fork(&template, now, child)?;
        let fork = Fork { program: child.clone(), template, start: now, end, is_in_scope };
        s.forks.push(fork);
        let place = s.forks.len() - 1;
        let (end, now) = self.fiber(s, now, meanwhile)?;
        if !end.is_value() {
            return Ok((end, now));
        }
        match ending {
            Ending::Forget => self.succeed(s, now, 1),
            Ending::Join => {
                let (end, ended) = s.forks[place].end;
                match self.sleep(s, now, ended.saturating_sub(now))? {
                    (End::Value(_), at) if end == End::Cancelled && s.reach != Reach::Nothing => {
                        s.is_cancelled = true;
                        Ok((End::Cancelled, at))
                    }
                    (End::Value(_), at) => Ok((if end == End::Cancelled { End::Refused } else { end }, at)),
                    other => Ok(other),
                }
            }
            Ending::Cancel => {
                if self.is_interrupted(s, now) {
                    return Ok((End::Cancelled, now));
                }
                self.cancel(&mut s.forks[place], now)?;
                let ended = s.forks[place].end.1.max(now);
                self.succeed(s, ended, 1)
            }
        }
    }

    fn run_fork(&mut self, template: &Strand, start: Time, program: &Program) -> Predicted {
        let mut strand = template.clone();
        let (end, at) = self.fiber(&mut strand, start, program)?;
        Ok((end, self.close(&mut strand, at)?))
    }

    fn cancel(&mut self, fork: &mut Fork, at: Time) -> Result<(), Unforeseen> {
        if fork.end.1 >= at {
            fork.template.cancel = fork.template.cancel.min(at);
            let end = self.run_fork(&fork.template, fork.start, &fork.program)?;
            fork.end = if end.1 < at { return Err(Unforeseen::Impossible) } else { end };
        }
        Ok(())
    }

    /// A fiber's own work is over: cancels its forks, and returns the time when all have ended.
    pub(crate) fn close(&mut self, s: &mut Strand, now: Time) -> Result<Time, Unforeseen> {
        let mut at = now;
        for fork in s.forks.iter_mut().filter(|fork| !fork.template.is_detached) {
            if fork.end.1 >= now {
                self.cancel(fork, now)?;
            }
            at = at.max(fork.end.1);
        }
        Ok(at)
    }
}
