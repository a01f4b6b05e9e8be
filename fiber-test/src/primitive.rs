//! The primitives of a trace, and the dependencies between fibers at them.

use std::fmt;
use std::panic::Location;

use crate::words::counted;
use fiber_core::scheduler::{Subject, WaitsFor};

/// A place in the program's source.
pub type Site = &'static Location<'static>;

/// A primitive by which fibers of the trace coordinated: a lock, a semaphore, a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// Its type.
    pub kind: &'static str,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was created.
    pub site: Site,
    /// The number of its permits. `None`: it is a lock, or cannot be held.
    pub permits: Option<usize>,
}

/// At the end, one fiber waited for another one, which also waited: see [`Trace::dependencies`](crate::Trace::dependencies).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The lane of the fiber that waited.
    pub from: usize,
    /// The lane of the fiber that it waited for.
    pub to: usize,
    /// The primitive that the other fiber held, or waited for in front of this one: an index of
    /// [`Trace::primitives`](crate::Trace::primitives). `None`: the wait was for its end.
    pub primitive: Option<usize>,
    /// Whether it is one link of a cycle.
    pub is_of_cycle: bool,
}

/// The primitive at which a fiber waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// An index of [`Trace::primitives`](crate::Trace::primitives).
    pub primitive: usize,
    /// The number of permits that it requested, as [`Subject::total`](fiber_core::scheduler::Subject::total) counts them; 1 if the
    /// primitive has none.
    pub permits: usize,
    /// The lanes of the fibers that held it then.
    pub held_by: Vec<usize>,
}

impl Primitive {
    pub(crate) fn of(subject: &Subject) -> Self {
        Primitive {
            kind: subject.kind(),
            name: subject.name().map(str::to_owned),
            site: subject.site(),
            permits: subject.is_counted().then(|| subject.total()),
        }
    }

    /// The name of the primitive with index `at`.
    pub(crate) fn name_in(all: &[Primitive], at: usize) -> String {
        match (all.get(at), Primitive::number_in(all, at)) {
            (None, _) => format!("primitive {at}"),
            (Some(one), None) => one.to_string(),
            (Some(one), Some(number)) => format!("{one} #{number}"),
        }
    }

    /// Its number among the primitives with the same name, if there are several.
    pub(crate) fn number_in(all: &[Primitive], at: usize) -> Option<usize> {
        let one = all.get(at)?;
        let is_same = |other: &&Primitive| {
            (other.kind, &other.name) == (one.kind, &one.name)
                && (one.name.is_some() || other.site == one.site)
        };
        let number = all[..=at].iter().filter(is_same).count();
        (number > 1 || all[at + 1..].iter().any(|other| is_same(&other))).then_some(number)
    }

    /// The words for what a fiber acquires or releases.
    pub(crate) fn some(&self, name: &str, count: usize) -> String {
        match self.permits {
            Some(2..) => format!("{} of {name}", permits(count)),
            _ => name.to_owned(),
        }
    }
}

/// By its name, or by the place where it was made.
impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} `{name}`", self.kind),
            None => write!(f, "the {} of {}", self.kind, place(self.site)),
        }
    }
}

pub(crate) fn permits(count: usize) -> String {
    counted(count, "permit")
}

pub(crate) fn place(site: Site) -> String {
    format!("{}:{}", site.file(), site.line())
}

/// The words for a wait at a primitive that cannot be held.
pub(crate) fn at_primitive(what: WaitsFor, name: &str) -> String {
    match what {
        WaitsFor::Item => format!("an item from {name}"),
        WaitsFor::Room => format!("room for an item in {name}"),
        WaitsFor::Signal => format!("a signal of {name}"),
        WaitsFor::Data => format!("data from {name}"),
        WaitsFor::Sending => format!("room for data in {name}"),
        WaitsFor::Connection => format!("a connection of {name}"),
        WaitsFor::Lock => name.to_owned(),
        WaitsFor::Either => format!("{name} or another event"),
        _ => format!("{what} of {name}"),
    }
}
