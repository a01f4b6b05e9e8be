//! The [`Interpreter`]'s evaluation of branches: the first one to end decides how the others end.

use crate::interpreter::{End, Interpreter, Predicted};
use crate::oracle::Unforeseen;
use crate::part::Reach;
use crate::program::{Gather, Program};
use crate::strand::{Strand, Time};

/// A branch: a delay, and a program after it.
type Branch<'a> = (Time, &'a Program);

struct Running<'a> {
    branch: Branch<'a>,
    start: Time,
    end: End,
    at: Time,
    is_cancelled: bool,
}

impl Interpreter {
    pub(crate) fn branches(&mut self, s: &mut Strand, now: Time, program: &Program) -> Predicted {
        use Program::*;
        let pair = |left, right| -> [Branch<'_>; 2] { [(0, left), (0, right)] };
        let sum = |ends: &[End]| ends.iter().fold(0u32, |sum, end| sum.wrapping_add(end.value()));
        match program {
            Zip(left, right) => {
                let (ends, at) = self.together(s, now, &pair(left, right), 2, |end| !end.is_value())?;
                Ok((all_of(&ends, sum(&ends)), at))
            }
            Parallel(limit, all) => {
                let all: Vec<Branch<'_>> = all.iter().map(|one| (0, one)).collect();
                let (ends, at) = self.together(s, now, &all, *limit, |end| !end.is_value())?;
                Ok((all_of(&ends, ends.len() as u32), at))
            }
            Race(left, right) => {
                let (ends, at) = self.together(s, now, &pair(left, right), 2, |_| true)?;
                Ok((ends[0], at))
            }
            RaceWith(left, right) => {
                let (ends, at) = self.together(s, now, &pair(left, right), 2, |_| true)?;
                let is_cancelled = ends.iter().all(|end| *end == End::Cancelled);
                Ok((if is_cancelled { End::Cancelled } else { End::Value(sum(&ends)) }, at))
            }
            Loot(Gather::Race, left, right) => {
                let (ends, at) = self.together(s, now, &pair(left, right), 2, |_| true)?;
                Ok((ends[0], at))
            }
            Loot(Gather::Zip | Gather::Parallel, left, right) => {
                let (ends, at) = self.together(s, now, &pair(left, right), 2, |end| !end.is_value())?;
                let is_torn = ends.iter().any(|end| end.is_value()) && !ends.iter().all(|end| end.is_value());
                Ok((if is_torn { End::Panicked } else { all_of(&ends, sum(&ends)) }, at))
            }
            RaceAll(all) => {
                let all: Vec<Branch<'_>> = all.iter().map(|one| (0, one)).collect();
                let (ends, at) = self.together(s, now, &all, all.len(), |_| true)?;
                Ok((ends.first().copied().unwrap_or(End::Refused), at))
            }
            FirstSuccess(all) => {
                let all: Vec<Branch<'_>> = all.iter().map(|one| (0, one)).collect();
                self.first_success(s, now, &all)
            }
            Hedge(pause, attempts, body) => {
                let (ends, at) = self.attempts(s, now, Time::from(*pause), *attempts, body)?;
                Ok((best_of(&ends), at))
            }
            other => unreachable!("{other:?} has no branches"),
        }
    }

    fn first_success(&mut self, s: &mut Strand, now: Time, all: &[Branch<'_>]) -> Predicted {
        let (ends, at) = self.together(s, now, all, all.len(), End::is_value)?;
        Ok((best_of(&ends), at))
    }

    /// The attempts of a hedge. The next one starts one `pause` after the start of the last, or when one has failed.
    fn attempts(
        &mut self,
        s: &mut Strand,
        now: Time,
        pause: Time,
        attempts: u32,
        body: &Program,
    ) -> Result<(Vec<End>, Time), Unforeseen> {
        let above = if s.reach == Reach::Nothing { Time::MAX } else { s.cancel };
        let (mut running, mut ends) = (vec![self.branch(s, (0, body), now, above)?], Vec::new());
        let (mut unstarted, mut started, mut last) = (attempts - 1, now, now);
        loop {
            // The end of the pause, or of all that have not started.
            let due = (unstarted > 0).then(|| (started + pause).min(above));
            let is_due = match (due, running.iter().map(|branch| branch.at).min()) {
                (None, None) => return Ok((ends, last)),
                (Some(due), Some(end)) if due == end => self.oracle.choose(2) == 0,
                (Some(due), Some(end)) => due < end,
                (due, _) => due.is_some(),
            };
            if is_due && started + pause > above {
                ends.extend((0..unstarted).map(|_| End::Cancelled));
                s.is_cancelled |= s.reach != Reach::Nothing;
                (unstarted, last) = (0, above);
                continue;
            }
            if is_due {
                running.push(self.branch(s, (pause, body), started, above)?);
                (unstarted, started) = (unstarted - 1, started + pause);
                continue;
            }
            let first = self.take_first(&mut running, |_| true).expect("one has ended");
            ends.push(first.end);
            last = first.at;
            s.is_cancelled |= first.is_cancelled && s.reach != Reach::Nothing;
            if first.end.is_value() {
                return self.stop(s, running, ends, first.at);
            }
            if unstarted > 0 {
                running.push(self.branch(s, (0, body), first.at, above)?);
                (unstarted, started) = (unstarted - 1, first.at);
            }
        }
    }

    /// The ends of branches, at most `limit` of which run at a time, in order, and the time of the last. The
    /// first that `stops` cancels the rest.
    fn together(
        &mut self,
        s: &mut Strand,
        now: Time,
        branches: &[Branch<'_>],
        limit: usize,
        stops: fn(End) -> bool,
    ) -> Result<(Vec<End>, Time), Unforeseen> {
        let above = if s.reach == Reach::Nothing { Time::MAX } else { s.cancel };
        let (mut waiting, mut running, mut ends) = (branches.iter(), Vec::new(), Vec::new());
        for branch in waiting.by_ref().take(limit) {
            running.push(self.branch(s, *branch, now, above)?);
        }
        let mut last = now;
        while let Some(first) = self.take_first(&mut running, |end| stops(end) || !end.is_value()) {
            ends.push(first.end);
            last = first.at;
            // From above, because no branch has been stopped here.
            s.is_cancelled |= first.is_cancelled && s.reach != Reach::Nothing;
            if stops(first.end) {
                return self.stop(s, running, ends, first.at);
            }
            if let Some(branch) = waiting.next() {
                running.push(self.branch(s, *branch, first.at, above)?);
            }
        }
        Ok((ends, last))
    }

    /// Cancels the rest.
    fn stop(
        &mut self,
        s: &Strand,
        running: Vec<Running<'_>>,
        mut ends: Vec<End>,
        now: Time,
    ) -> Result<(Vec<End>, Time), Unforeseen> {
        let above = if s.reach == Reach::Nothing { Time::MAX } else { s.cancel };
        let mut cancelled = Vec::new();
        for Running { branch, start, .. } in running {
            cancelled.push(self.branch(s, branch, start, above.min(now))?);
        }
        if cancelled.iter().any(|branch| branch.at < now) {
            return Err(Unforeseen::Impossible);
        }
        let mut last = now;
        while let Some(next) = self.take_first(&mut cancelled, |end| !end.is_value()) {
            ends.push(next.end);
            last = next.at;
        }
        Ok((ends, last))
    }

    fn branch<'a>(
        &mut self,
        s: &Strand,
        branch: Branch<'a>,
        start: Time,
        cancel: Time,
    ) -> Result<Running<'a>, Unforeseen> {
        let mut inside = s.inside(s.scope.seen_from_inside());
        inside.cancel = cancel;
        let (delayed, at) = self.sleep(&mut inside, start, branch.0)?;
        let (end, at) =
            if delayed.is_value() { self.fiber(&mut inside, at, branch.1)? } else { (delayed, at) };
        let at = self.close(&mut inside, at)?;
        Ok(Running { branch, start, end, at, is_cancelled: inside.is_cancelled })
    }

    /// The oracle decides between branches that end at the same time, if one of them `matters`.
    fn take_first<'a>(
        &mut self,
        running: &mut Vec<Running<'a>>,
        matters: impl Fn(End) -> bool,
    ) -> Option<Running<'a>> {
        let at = running.iter().map(|branch| branch.at).min()?;
        let first: Vec<usize> = (0..running.len()).filter(|&place| running[place].at == at).collect();
        let is_even = first.len() == 1 || !first.iter().any(|&place| matters(running[place].end));
        let chosen = if is_even { 0 } else { self.oracle.choose(first.len()) };
        Some(running.remove(first[chosen]))
    }
}

impl End {
    fn value(self) -> u32 {
        if let End::Value(value) = self { value } else { 0 }
    }
}

/// The first success; if there is none, a panic, or else the first problem.
fn best_of(ends: &[End]) -> End {
    let none = if ends.is_empty() { End::Refused } else { all_of(ends, 0) };
    let find = |is: fn(&End) -> bool| ends.iter().copied().find(is);
    find(|end| end.is_value()).or(find(|end| *end == End::Panicked)).unwrap_or(none)
}

/// The first problem, or `value`. An error takes precedence over a cancellation.
fn all_of(ends: &[End], value: u32) -> End {
    let wrong = ends.iter().copied().find(|end| *end == End::Panicked || end.is_failure());
    let cancelled = ends.iter().copied().find(|end| *end == End::Cancelled);
    wrong.or(cancelled).unwrap_or(End::Value(value))
}
