//! One fiber, as the [`Interpreter`](crate::interpreter::Interpreter) sees it.

use crate::interpreter::End;
use crate::part::Reach;
use crate::program::Program;

/// In ticks.
pub(crate) type Time = u64;

#[derive(Clone)]
pub(crate) struct Strand {
    /// The time of its cancellation.
    pub(crate) cancel: Time,
    /// Whether the cancellation is known to have happened.
    pub(crate) is_cancelled: bool,
    pub(crate) is_detached: bool,
    pub(crate) reach: Reach,
    /// What can reach it outside of all regions, including the forks of its scope.
    pub(crate) base: Reach,
    /// What could reach the innermost region before it.
    pub(crate) region: Option<Reach>,
    pub(crate) scope: ScopeHere,
    pub(crate) forks: Vec<Fork>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ScopeHere {
    None,
    /// The strand is the body of the innermost scope.
    Own,
    Around,
}

#[derive(Clone)]
pub(crate) struct Fork {
    pub(crate) program: Program,
    pub(crate) template: Strand,
    pub(crate) start: Time,
    pub(crate) end: (End, Time),
    pub(crate) is_in_scope: bool,
}

impl ScopeHere {
    pub(crate) fn seen_from_inside(self) -> Self {
        if self == ScopeHere::Own { ScopeHere::Around } else { self }
    }
}

impl Strand {
    pub(crate) fn outside() -> Self {
        Strand {
            cancel: Time::MAX,
            is_cancelled: false,
            is_detached: false,
            reach: Reach::Everything,
            base: Reach::Everything,
            region: None,
            scope: ScopeHere::None,
            forks: Vec::new(),
        }
    }

    /// A detached fiber, made in this one.
    pub(crate) fn detached(&self) -> Self {
        let scope = self.scope.seen_from_inside();
        Strand { is_detached: true, reach: Reach::Perhaps, scope, ..Strand::outside() }
    }

    /// A forked fiber, which no region shields.
    pub(crate) fn forked(&self) -> Self {
        let (reach, scope) = (self.reach.inside(), self.scope.seen_from_inside());
        Strand { cancel: self.cancel, reach, scope, ..Strand::outside() }
    }

    /// A fiber that is a part of this one.
    pub(crate) fn inside(&self, scope: ScopeHere) -> Self {
        let cancel = if self.reach == Reach::Nothing { Time::MAX } else { self.cancel };
        Strand { cancel, scope, base: self.reach.inside(), ..self.forked() }
    }

    /// A cancellation from above that has cancelled a part has also cancelled this strand.
    pub(crate) fn learn_from(&mut self, part: &Strand) {
        self.is_cancelled |= part.is_cancelled && self.reach != Reach::Nothing;
    }

    pub(crate) fn with_reach<T>(&mut self, reach: Reach, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.reach, reach);
        let done = f(self);
        self.reach = before;
        done
    }

    pub(crate) fn in_region<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.region.replace(self.reach);
        let done = self.with_reach(Reach::Nothing, f);
        self.region = before;
        done
    }

    pub(crate) fn finally<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.region.take();
        let done = self.with_reach(Reach::Nothing, f);
        self.region = before;
        done
    }
}
