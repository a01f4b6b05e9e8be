//! A part of a program: a body with steps, and its finalizers.

use fiber_core::{Error, Fiber, Run};

use crate::ledger::{DEPTH, Ledger, TICK};

/// How many finalizers a guarded part has, one around the other.
const LEVELS: usize = 2;

/// How a part belongs to the program.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bond {
    /// It is cancelled with the program, and ends before it.
    #[default]
    Bound,
    /// It ends before the program, but continues when that is cancelled.
    Shielded,
    /// It may go on after the program's end.
    Detached,
}

/// The state of a part.
pub(crate) struct PartState {
    name: &'static str,
    pub(crate) bond: Bond,
    started: u32,
    ended: u32,
    /// For each level, the number of finalizers that have begun and that have ended.
    finalizers: [(u32, u32); LEVELS],
    is_guarded: bool,
}

impl PartState {
    pub(crate) fn new(name: &'static str, bond: Bond) -> Self {
        PartState { name, bond, started: 0, ended: 0, finalizers: [(0, 0); LEVELS], is_guarded: false }
    }

    fn is_running(&self) -> bool {
        self.started > self.ended
    }

    /// What is unfinished, if anything is.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let name = self.name;
        if self.is_running() {
            return Some(format!("{name} runs"));
        }
        let wrong = self.finalizers.iter().enumerate().find_map(|(level, (begun, ended))| {
            // A finalizer also runs when its fiber was cancelled right before the body's first step.
            let is_right =
                !self.is_guarded || begun == ended && (self.started..=self.started + 1).contains(begun);
            (!is_right).then_some((level, begun, ended))
        });
        wrong.map(|(level, begun, ended)| {
            format!(
                "{name} started {} times, finalizer {level} began {begun} and ended {ended} times",
                self.started
            )
        })
    }
}

/// A part of a program.
#[derive(Clone)]
pub(crate) struct Part {
    ledger: Ledger,
    at: usize,
}

impl Part {
    pub(crate) fn new(ledger: Ledger, at: usize) -> Self {
        Part { ledger, at }
    }

    /// Runs `fiber` as the body of this part.
    pub(crate) fn body<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Fiber<T> {
        let (starts, ends) = (self.clone(), self.clone());
        let body = Fiber::defer(move || {
            starts.starts();
            fiber.map_outcome(move |outcome| {
                ends.changes("ends", |part| part.ended += 1);
                outcome
            })
        });
        body.boxed()
    }

    /// Runs `fiber` as the body of this part, with two finalizers that wait.
    pub(crate) fn guarded<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Fiber<T> {
        self.ledger.book().parts[self.at].is_guarded = true;
        self.body(fiber).ensure(self.finalizer(0)).ensure(self.finalizer(1)).boxed()
    }

    /// `steps` steps, with a bind before each. The value is their number.
    pub(crate) fn works(&self, steps: u32) -> Fiber<u32> {
        let part = self.clone();
        Fiber::for_each(0..steps, move |_| part.step()).map(move |()| steps).boxed()
    }

    /// `ticks` steps, with a tick before each. The value is their number.
    pub(crate) fn waits(&self, ticks: u32) -> Fiber<u32> {
        let part = self.clone();
        Fiber::for_each(0..ticks, move |_| {
            let step = part.step();
            Fiber::delay(TICK).bind(move |()| step)
        })
        .map(move |()| ticks)
        .boxed()
    }

    /// Works, and then waits for ever.
    pub(crate) fn stays(&self, steps: u32) -> Fiber<u32> {
        self.works(steps).bind(|_| Fiber::never()).boxed()
    }

    /// Waits for `ticks` ticks, and fails.
    pub(crate) fn fails(&self, ticks: u32) -> Fiber<u32> {
        let name = self.name();
        self.waits(ticks).bind(move |_| Fiber::fail(Error::msg(name))).boxed()
    }

    /// Waits for `ticks` ticks, and panics.
    pub(crate) fn panics(&self, ticks: u32) -> Fiber<u32> {
        let name = self.name();
        self.waits(ticks).bind(move |_| Fiber::lazy(move || -> u32 { std::panic::panic_any(name) })).boxed()
    }

    /// Some steps, then some ticks: a body that may be cut short at any point.
    pub(crate) fn runs(&self, steps: u32, ticks: u32) -> Fiber<u32> {
        let waits = self.waits(ticks);
        self.works(steps).bind(move |_| waits).boxed()
    }

    /// The part runs a step.
    pub(crate) fn step(&self) -> Fiber<()> {
        let part = self.clone();
        Fiber::local(&DEPTH)
            .map(move |depth| {
                part.ledger.check(depth == part.ledger.depth, "a fiber does not carry what it should");
                let is_running = part.ledger.book().parts[part.at].is_running();
                part.ledger.check(is_running, &format!("{} runs a step outside of its body", part.name()));
                part.must_not_be_cancelled("runs a step");
            })
            .boxed()
    }

    /// Checks, when `fiber` has ended, that this part and its finalizers have, too.
    pub(crate) fn ends_before<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Fiber<T> {
        let part = self.clone();
        let check = move |outcome| {
            part.has_ended();
            outcome
        };
        fiber.map_outcome(check).boxed()
    }

    /// Checks the same, if `fiber` has a value: a waiter that is cancelled leaves this part running.
    pub(crate) fn ends_before_value<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
    ) -> Fiber<T> {
        let part = self.clone();
        let check = move |value| {
            part.has_ended();
            value
        };
        fiber.map(check).boxed()
    }

    /// Checks that it has ended, with its finalizers.
    pub(crate) fn has_ended(&self) {
        let mut book = self.ledger.book();
        let unfinished = book.parts[self.at].unfinished();
        book.complain_of("not awaited", unfinished.into_iter().collect());
    }

    pub(crate) fn has_started(&self) -> bool {
        self.times_started() > 0
    }

    pub(crate) fn times_started(&self) -> u32 {
        self.ledger.book().parts[self.at].started
    }

    pub(crate) fn is_running(&self) -> bool {
        self.ledger.book().parts[self.at].is_running()
    }

    /// Runs once after the body, after those of lower levels, and without interruption.
    fn finalizer(&self, level: usize) -> Fiber<()> {
        let (begins, goes_on, ends) = (self.clone(), self.clone(), self.clone());
        let finalizer = Fiber::lazy(move || begins.begins_finalizer(level))
            .bind(|()| Fiber::delay(TICK))
            .bind(move |()| Fiber::lazy(move || goes_on.changes("still finalizes", |_| ())));
        let finalizer = finalizer.map_outcome(move |outcome| {
            ends.ledger.check(outcome.is_success(), "a finalizer was cut short");
            ends.changes("has finalized", |part| part.finalizers[level].1 += 1);
            outcome
        });
        finalizer.boxed()
    }

    fn begins_finalizer(&self, level: usize) {
        self.changes("finalizes", |part| part.finalizers[level].0 += 1);
        let book = self.ledger.book();
        let part = &book.parts[self.at];
        let (is_running, is_inner_over) =
            (part.is_running(), part.finalizers[..level].iter().all(|(b, e)| b == e));
        drop(book);
        self.ledger.check(!is_running, "a finalizer began while its body still ran");
        self.ledger.check(is_inner_over, "a finalizer began before the one inside it had ended");
    }

    fn starts(&self) {
        self.changes("starts", |part| part.started += 1);
        self.must_not_be_cancelled("starts");
    }

    fn must_not_be_cancelled(&self, what: &str) {
        let mut book = self.ledger.book();
        let PartState { name, bond, .. } = book.parts[self.at];
        if bond == Bond::Bound && book.is_program_cancelled() {
            book.break_rule(format!("{name} {what} after the program was cancelled"));
        }
    }

    fn changes(&self, what: &str, change: impl FnOnce(&mut PartState)) {
        let mut book = self.ledger.book();
        let line = format!("{} {what}", book.parts[self.at].name);
        change(&mut book.parts[self.at]);
        book.happened(line);
    }

    fn name(&self) -> &'static str {
        self.ledger.book().parts[self.at].name
    }
}
