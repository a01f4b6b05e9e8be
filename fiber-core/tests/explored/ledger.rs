//! The events of a program under exploration, and the rules that they break.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fiber_core::{Context, Fiber, local_key};

use crate::lease::Lease;
use crate::part::{Bond, Part, PartState};

/// The unit of the programs' sleeps.
pub(crate) const TICK: Duration = Duration::from_millis(1);

local_key! {
    /// The number of enclosing `with_local`.
    pub(crate) static DEPTH: u32 = 0;
}

/// Records the events of one run of a program, as reported by its parts and leases.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    book: Arc<Mutex<Book>>,
    /// The bond of the parts that are made with it.
    bond: Bond,
    /// The value that [`DEPTH`] has to have where those parts run.
    pub(crate) depth: u32,
}

#[derive(Default)]
pub(crate) struct Book {
    pub(crate) parts: Vec<PartState>,
    /// How often each lease was released.
    pub(crate) leases: Vec<(&'static str, u32)>,
    /// How often each bomb was dropped.
    pub(crate) bombs: Vec<(&'static str, u32)>,
    /// The fiber that a cancellation of the program cancels.
    program: Option<Context>,
    happened: Vec<String>,
    broken: Vec<String>,
}

impl Ledger {
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    /// A part of the program, whose start, steps, end and finalizers are recorded.
    pub(crate) fn part(&self, name: &'static str) -> Part {
        let mut book = self.book();
        book.parts.push(PartState::new(name, self.bond));
        Part::new(self.clone(), book.parts.len() - 1)
    }

    /// For parts that a cancellation of the program does not reach.
    pub(crate) fn shielded(&self) -> Self {
        Ledger { bond: self.bond.max(Bond::Shielded), ..self.clone() }
    }

    /// For parts that may run after the end of the program.
    pub(crate) fn detached(&self) -> Self {
        Ledger { bond: Bond::Detached, ..self.clone() }
    }

    /// For parts that carry `depth` as the value of [`DEPTH`].
    pub(crate) fn at_depth(&self, depth: u32) -> Self {
        Ledger { depth, ..self.clone() }
    }

    /// Acquires a lease in two steps: it is held after the second.
    pub(crate) fn acquire(&self, name: &'static str) -> Fiber<Lease> {
        let ledger = self.clone();
        Fiber::delay(TICK).bind(move |()| Fiber::lazy(move || Lease::new(&ledger, name))).boxed()
    }

    /// The fiber of the program starts: cancelling it cancels the program.
    pub(crate) fn program_is(&self, context: Context) {
        self.book().program = Some(context);
    }

    pub(crate) fn is_program_cancelled(&self) -> bool {
        self.book().is_program_cancelled()
    }

    /// Checks that nothing of the program runs, except detached parts.
    pub(crate) fn program_has_ended(&self) {
        let mut book = self.book();
        let running: Vec<String> = book
            .parts
            .iter()
            .filter(|part| part.bond != Bond::Detached)
            .filter_map(PartState::unfinished)
            .collect();
        book.complain_of("after the end of the program", running);
        let bombs = book.bombs.iter().filter(|(_, dropped)| *dropped != 1);
        let bombs = bombs.map(|(name, dropped)| format!("{name} was dropped {dropped} times")).collect();
        book.complain_of("after the end of the program", bombs);
    }

    /// Checks that everything is over: finalizers have run, leases were released.
    ///
    /// # Panics
    /// With all broken rules of the whole run, if there are any.
    pub(crate) fn close(&self) {
        let mut book = self.book();
        let running: Vec<String> = book.parts.iter().filter_map(PartState::unfinished).collect();
        book.complain_of("in the end", running);
        let leases = book.leases.iter().filter(|(_, released)| *released != 1);
        let leases = leases.map(|(name, released)| format!("{name} was released {released} times")).collect();
        book.complain_of("in the end", leases);
        if !book.broken.is_empty() {
            let message = format!("{book:?}");
            drop(book);
            panic!("{message}");
        }
    }

    /// Records a broken rule.
    pub(crate) fn broken(&self, rule: impl Into<String>) {
        self.book().break_rule(rule);
    }

    /// Records that `rule` is broken, unless it is kept.
    pub(crate) fn check(&self, is_kept: bool, rule: &str) {
        if !is_kept {
            self.broken(rule);
        }
    }

    /// A fiber that records an event when it runs.
    pub(crate) fn note(&self, what: &'static str) -> Fiber<()> {
        let ledger = self.clone();
        Fiber::lazy(move || ledger.book().happened(what)).boxed()
    }

    /// The number of these events.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.book().happened.iter().filter(|happened| *happened == what).count()
    }
}

impl Book {
    pub(crate) fn happened(&mut self, what: impl Into<String>) {
        self.happened.push(what.into());
    }

    pub(crate) fn break_rule(&mut self, rule: impl Into<String>) {
        let rule = rule.into();
        self.happened(format!("BROKEN: {rule}"));
        self.broken.push(rule);
    }

    pub(crate) fn complain_of(&mut self, when: &str, what: Vec<String>) {
        what.into_iter().for_each(|what| self.break_rule(format!("{when}: {what}")));
    }

    pub(crate) fn is_program_cancelled(&self) -> bool {
        self.program.as_ref().is_some_and(Context::is_cancelled)
    }
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.broken.join("; "))?;
        self.happened.iter().try_for_each(|what| write!(f, "\n  {what}"))
    }
}
