//! The traces that the parts of a running program leave, and the rules that they break at the end.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use fiber_core::{Error, Outcome, Panic};

use crate::part::Part;

#[derive(Default)]
pub(crate) struct World {
    /// Set if time advances while a fiber binds: a [`Spin`](crate::program::Program::Spin) that a cancellation may end binds until then,
    /// and the whole program has this many ticks.
    ticks: Option<u32>,
    next: AtomicU32,
    /// The failures and panics that happened, and those that were observed.
    raised: Mutex<BTreeSet<(u32, Kind)>>,
    seen: Mutex<BTreeSet<u32>>,
    finalizers: Mutex<Vec<Arc<Finalizer>>>,
    broken: Mutex<Vec<String>>,
    /// Ballast and locks that were kept too long, which is right in a program that its scheduler has abandoned.
    kept: Mutex<Vec<String>>,
    /// Bombs that were neither dropped nor defused.
    bombs: AtomicU32,
    /// A handler ignores failures, so they may vanish. A panic that was suppressed into one may not.
    is_overlooked: AtomicBool,
    /// Whether the scheduler has stacks for direct fibers. Otherwise they would block its only thread.
    has_stacks: bool,
}

/// The kind of a raised value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Failure,
    Panic,
}

/// The error that a program raises.
#[derive(Debug)]
pub(crate) struct Raised(u32);

/// The beginning of the message of a [`Raised`], as an error or as a panic.
pub(crate) const MARK: &str = "raised #";

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{};", self.0)
    }
}

impl std::error::Error for Raised {}

/// A value of a part of the program, whose drop panics unless it was defused.
pub(crate) struct Bomb {
    value: u32,
    world: Arc<World>,
    part: Part,
    is_defused: bool,
    is_ballast: bool,
}

impl Bomb {
    pub(crate) fn new(world: &Arc<World>, part: &Part, value: u32) -> Self {
        world.bombs.fetch_add(1, Ordering::Relaxed);
        Bomb { value, world: world.clone(), part: part.clone(), is_defused: false, is_ballast: false }
    }

    /// Makes a closure own it.
    pub(crate) fn hold(&self) {}

    /// A value whose drop does not panic.
    pub(crate) fn ballast(world: &Arc<World>, part: &Part) -> Self {
        let mut bomb = Bomb::new(world, part, 0);
        (bomb.is_defused, bomb.is_ballast) = (true, true);
        bomb
    }

    pub(crate) fn defuse(mut self) -> u32 {
        self.is_defused = true;
        self.value
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.world.bombs.fetch_sub(1, Ordering::Relaxed);
        if self.part.has_ended() {
            let rule = "a value was kept after the end of the part that it belongs to";
            if self.is_ballast { self.world.kept(rule) } else { self.world.broken(rule) }
        }
        if !self.is_defused {
            std::panic::panic_any(self.world.raise(Kind::Panic).to_string());
        }
    }
}

impl World {
    pub(crate) fn of_ticks(ticks: u32) -> Self {
        World { ticks: Some(ticks), ..World::default() }
    }

    pub(crate) fn with_stacks() -> Self {
        World { has_stacks: true, ..World::default() }
    }

    pub(crate) fn has_stacks(&self) -> bool {
        self.has_stacks
    }

    pub(crate) fn ticks(&self) -> Option<u32> {
        self.ticks
    }

    pub(crate) fn raise(&self, kind: Kind) -> Raised {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.raised.lock().unwrap().insert((id, kind));
        Raised(id)
    }

    pub(crate) fn overlooks(&self) {
        self.is_overlooked.store(true, Ordering::Relaxed);
    }

    /// Records every [`Raised`] in a message as observed.
    fn see(&self, message: &str) {
        let ids = message.split(MARK).skip(1).filter_map(|rest| rest.split(';').next()?.parse::<u32>().ok());
        self.seen.lock().unwrap().extend(ids);
    }

    pub(crate) fn see_error(&self, error: &Error) {
        self.see(&format!("{error:?}"));
    }

    pub(crate) fn see_panic(&self, panic: &Panic) {
        self.see(&format!("{panic:?}"));
    }

    pub(crate) fn see_outcome<T>(&self, outcome: &Outcome<T>) {
        match outcome {
            Outcome::Failure(error) => self.see_error(error),
            Outcome::Panicked(panic) => self.see_panic(panic),
            Outcome::Success(_) | Outcome::Cancelled => {}
        }
    }

    pub(crate) fn broken(&self, rule: impl Into<String>) {
        self.broken.lock().unwrap().push(rule.into());
    }

    pub(crate) fn kept(&self, what: impl Into<String>) {
        self.kept.lock().unwrap().push(what.into());
    }

    /// A finalizer that runs exactly as often as it is due; or, if it `may_run_early`, possibly also when its body
    /// was cancelled before its start.
    pub(crate) fn finalizer(&self, may_run_early: bool) -> Arc<Finalizer> {
        let finalizer = Arc::new(Finalizer { may_run_early, ..Finalizer::default() });
        self.finalizers.lock().unwrap().push(finalizer.clone());
        finalizer
    }

    /// All broken rules after the end.
    pub(crate) fn complaints(&self, unobserved: &[String]) -> Vec<String> {
        unobserved.iter().for_each(|report| self.see(report));
        let mut complaints = self.broken_rules();
        let (raised, seen) = (self.raised.lock().unwrap(), self.seen.lock().unwrap());
        let may_vanish = |kind| kind == Kind::Failure && self.is_overlooked.load(Ordering::Relaxed);
        let vanished: Vec<_> =
            raised.iter().filter(|(id, kind)| !seen.contains(id) && !may_vanish(*kind)).collect();
        if !vanished.is_empty() {
            complaints.push(format!("not observed: {vanished:?}; unobserved: {unobserved:?}"));
        }
        complaints
    }

    /// The broken rules after the end of a program that may have been abandoned: code that ran wrongly, or too often.
    pub(crate) fn overdone(&self) -> Vec<String> {
        let mut overdone = self.broken.lock().unwrap().clone();
        let finalizers = self.finalizers.lock().unwrap();
        overdone
            .extend(finalizers.iter().filter(|finalizer| finalizer.is_overdone()).map(|f| format!("{f:?}")));
        overdone
    }

    /// The broken rules after the end, except for those about failures.
    pub(crate) fn broken_rules(&self) -> Vec<String> {
        let mut broken = self.broken.lock().unwrap().clone();
        broken.extend(self.kept.lock().unwrap().iter().cloned());
        match self.bombs.load(Ordering::Relaxed) {
            0 => {}
            left => broken.push(format!("{left} values were never dropped")),
        }
        let finalizers = self.finalizers.lock().unwrap();
        broken.extend(finalizers.iter().filter(|finalizer| !finalizer.is_right()).map(|f| format!("{f:?}")));
        broken
    }
}

/// How often a finalizer, or a release, had to run, and how often it began and ended.
#[derive(Debug, Default)]
pub(crate) struct Finalizer {
    may_run_early: bool,
    due: AtomicU32,
    begun: AtomicU32,
    ended: AtomicU32,
}

impl Finalizer {
    /// It has to run: its body has started, or its value was acquired.
    pub(crate) fn is_due(&self) {
        self.due.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn begins(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ends(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether its value was acquired, and the release has not begun.
    pub(crate) fn is_held(&self) -> bool {
        let [due, begun, _] = self.counts();
        due > begun
    }

    fn counts(&self) -> [u32; 3] {
        [&self.due, &self.begun, &self.ended].map(|count| count.load(Ordering::Relaxed))
    }

    fn is_overdone(&self) -> bool {
        let [_, begun, ended] = self.counts();
        begun > 1 || ended > begun
    }

    fn is_right(&self) -> bool {
        let [due, begun, ended] = self.counts();
        let most = if self.may_run_early { 1 } else { due };
        due <= begun && begun <= most && begun <= 1 && begun == ended
    }
}
