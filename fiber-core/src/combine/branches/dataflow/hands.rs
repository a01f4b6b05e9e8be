//! A thread that works on a dataflow: it starts one step after the other, and meanwhile lends the rest.

use std::fmt;
use std::mem::replace;
use std::sync::Arc;

use super::core::{Core, Program, Starter};
use super::shared::{Arrival, Helper, Shared};
use super::values::{Failed, Made, Step};
use crate::combine::fork::branch::Ran;
use crate::engine::context::{Cx, Part};
use crate::engine::lend::{Latent, Lendable, Lent};
use crate::engine::step::Run;
use crate::engine::task::Task;
use crate::error::Site;

/// The fibers that work on a dataflow.
pub(super) enum Crew<'a, P: Program> {
    /// Only the fiber itself, which owns the state.
    Alone(Core<P>, &'a Part<'a>),
    /// Any number of fibers.
    Together(Arc<Shared<P>>),
    /// A placeholder during the change from `Alone` to `Shared`.
    Changing,
}

impl<P: Program> Latent for Crew<'_, P> {
    type Promoted = (Arc<Shared<P>>, Helper<P>);

    fn promote(self) -> (Task, Self::Promoted) {
        let shared = self.into_shared();
        let (helper, task) = shared.helper();
        (task, (shared, helper))
    }
}

impl<P: Program> Crew<'_, P> {
    fn into_shared(self) -> Arc<Shared<P>> {
        match self {
            Crew::Alone(core, group) => Shared::new(group.context(), core),
            Crew::Together(shared) => shared,
            Crew::Changing => unreachable!("`share` replaces it before it returns"),
        }
    }
}

/// A thread that works on a dataflow, as described at the head of this file.
pub(super) struct Hands<'a, P: Program> {
    cx: &'a Cx<'a>,
    /// The place of the steps in the cancel tree.
    inside: &'a Cx<'a>,
    crew: Lendable<Crew<'a, P>>,
    /// The core, while this thread holds the core of a shared dataflow.
    core: Option<Box<Core<P>>>,
    /// A helper that perhaps no thread has started. One is enough.
    helper: Option<Helper<P>>,
}

impl<'a, P: Program> Hands<'a, P> {
    pub(super) fn new(cx: &'a Cx<'a>, inside: &'a Cx<'a>, crew: Crew<'a, P>) -> Self {
        Hands { cx, inside, crew: Lendable::new(crew), core: None, helper: None }
    }

    /// Starts steps until none is ready.
    pub(super) fn work(&mut self) {
        while let Some((index, starter)) = self.next() {
            starter(index, Start { index, how: How::Here(self) });
            if self.has_ready() && !self.cx.spend_on_branch() {
                self.share().offer_helper();
                break;
            }
        }
        if let Some(helper) = self.helper.take() {
            // If no thread has started the helper, there is one branch less to wait for.
            helper.start_inline(self.cx);
        }
    }

    /// The core if the fiber still works alone; otherwise the state that it shares with others.
    pub(super) fn into_rest(self) -> Result<Core<P>, Arc<Shared<P>>> {
        match self.crew.into_inner() {
            Lent::Back(Crew::Alone(core, _)) => Ok(core),
            Lent::Back(crew) => Err(crew.into_shared()),
            Lent::Taken((shared, _)) => Err(shared),
        }
    }

    fn next(&mut self) -> Option<(usize, Starter<P>)> {
        let index = match self.crew.get_mut() {
            Some(Crew::Alone(core, _)) => core.start_next(self.inside.is_cancelled(), self.cx)?,
            Some(Crew::Together(shared)) => {
                let (index, core) = shared.take()?;
                self.core = Some(core);
                index
            }
            _ => unreachable!("the caller has handled a promoted crew"),
        };
        Some((index, self.core().starter()))
    }

    /// The core that [`next`](Hands::next) took.
    fn core(&mut self) -> &mut Core<P> {
        match (&mut self.core, self.crew.get_mut()) {
            (Some(core), _) => core,
            (None, Some(Crew::Alone(core, _))) => core,
            _ => unreachable!("this thread holds the core"),
        }
    }

    /// Gives the core up. Returns whether another step is ready.
    fn release(&mut self) -> bool {
        match (self.core.take(), self.crew.get_mut()) {
            (Some(core), Some(Crew::Together(shared))) => shared.give_back(core),
            (None, Some(Crew::Alone(core, _))) => core.has_ready(),
            _ => unreachable!("this thread holds the core"),
        }
    }

    /// Whether another step is ready that only this thread can start.
    fn has_ready(&mut self) -> bool {
        match self.crew.get_mut() {
            Some(Crew::Alone(core, _)) => core.has_ready(),
            Some(Crew::Together(shared)) => shared.has_ready(),
            _ => unreachable!("the caller has handled a promoted crew"),
        }
    }

    /// Shares the dataflow, so that other fibers may work on it.
    fn share(&mut self) -> Arc<Shared<P>> {
        if let Some(Crew::Together(shared)) = self.crew.get_mut() {
            return shared.clone();
        }
        let shared = match replace(&mut self.crew, Lendable::new(Crew::Changing)).into_inner() {
            Lent::Back(crew) => crew.into_shared(),
            Lent::Taken((shared, helper)) => {
                self.helper = Some(helper);
                shared
            }
        };
        self.crew = Lendable::new(Crew::Together(shared.clone()));
        shared
    }

    /// Runs the fiber of a step on this thread until it ends or has to wait.
    fn run<R: Run>(&mut self, index: usize, (made, site): (Made<P::Values, R>, Site)) {
        let Made { run, put } = made;
        let has_other = self.release();
        let has_helper = self.helper.as_ref().is_some_and(|helper| !helper.context().is_claimed());
        let invites = has_other && !has_helper;
        let branches = self.cx.branches().filter(|_| invites);
        if invites && branches.is_none() {
            self.helper = Some(self.share().offer_helper());
        }
        let mut part = Part::for_fibers(self.inside, site);
        let run = || Ran::of::<Arrival<P, R::Out>, R>(self.cx, &mut part, run);
        let ran = self.cx.lend(branches, &mut self.crew, run);
        match (self.crew.get_mut(), ran) {
            (Some(Crew::Alone(core, _)), Ran::Ended(outcome)) => {
                core.arrive(index, site, outcome, put, self.cx);
            }
            (_, Ran::Ended(outcome)) => {
                let shared = self.share();
                let fiber = shared.group.clone();
                shared.change(move |core| core.arrive(index, site, outcome, put, &fiber));
            }
            (_, lives) => {
                let shared = self.share();
                let arrival = Arrival { shared: shared.clone(), index, put, site };
                lives.join(self.cx, &shared.group, arrival);
            }
        }
    }
}

/// The start of a step.
pub struct Start<'s, 'h, P: Program> {
    pub(super) index: usize,
    pub(super) how: How<'s, 'h, P>,
}

pub(super) enum How<'s, 'h, P: Program> {
    /// By a thread that runs the step.
    Here(&'s mut Hands<'h, P>),
    /// As a fiber whose start the scheduler decides about.
    Apart { shared: &'s Arc<Shared<P>>, core: Box<Core<P>>, cx: Option<&'s Cx<'h>> },
}

impl<P: Program> Start<'_, '_, P> {
    /// Evaluates the expression of the step that `pick` gives, and starts its fiber.
    #[doc(hidden)]
    pub fn run<R, F>(self, pick: impl FnOnce(&mut P::Steps) -> &mut Step<F>)
    where
        R: Run,
        F: FnOnce(&mut P::Values) -> Result<Made<P::Values, R>, Failed>,
    {
        let index = self.index;
        match self.how {
            How::Here(hands) => {
                let cx = hands.cx;
                match hands.core().make(index, pick, cx) {
                    Some(made) => hands.run(index, made),
                    None => _ = hands.release(),
                }
            }
            How::Apart { shared, mut core, cx } => {
                let made = core.make(index, pick, &shared.group);
                shared.give_back(core);
                if let Some(made) = made {
                    shared.schedule(index, made, cx);
                }
            }
        }
    }

    /// There is no step of this number.
    #[doc(hidden)]
    pub fn unknown(self) {
        unreachable!("the graph has no step {}", self.index);
    }
}

impl<P: Program> fmt::Debug for Start<'_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start of step {}", self.index)
    }
}
