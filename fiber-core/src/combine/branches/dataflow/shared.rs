//! A dataflow on which several threads work, or whose steps wait.

use std::mem::take;
use std::sync::Arc;

use parking_lot::Mutex;

use super::core::{Core, Program};
use super::hands::{Crew, Hands, How, Start};
use super::values::{Made, Put};
use crate::combine::fork::branch::Branch;
use crate::combine::fork::sink::Sink;
use crate::combine::region::end::RegionEnd;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::engine::suppress::discard;
use crate::engine::task::Task;
use crate::error::Site;
use crate::footprint::{Access, Side};
use crate::outcome::Outcome;

/// The threads and fibers that work on one dataflow share this.
pub(super) struct Shared<P: Program> {
    desk: Mutex<Desk<P>>,
    pub(super) group: Context,
    site: Site,
}

/// Holds the core while no thread uses it. User code runs while its thread holds the core, and never under the lock.
struct Desk<P: Program> {
    core: Option<Box<Core<P>>>,
    /// The changes that were made while a thread held the core.
    late: Vec<Late<P>>,
}

type Late<P> = Box<dyn FnOnce(&mut Core<P>) + Send>;

impl<P: Program> Shared<P> {
    pub(super) fn new(group: &Context, core: Core<P>) -> Arc<Self> {
        let site = core.site;
        let desk = Desk { core: Some(Box::new(core)), late: Vec::new() };
        Arc::new(Shared { desk: Mutex::new(desk), group: group.clone(), site })
    }

    /// Takes the core for the next step. `None`: there is no step to start, or another thread holds the core and will
    /// look for one itself.
    pub(super) fn take(&self) -> Option<(usize, Box<Core<P>>)> {
        self.group.touch(Side::Branches, Access::Write);
        let mut core = {
            let mut desk = self.desk.lock();
            if !desk.core.as_ref()?.has_ready() {
                return None;
            }
            desk.core.take()?
        };
        match core.start_next(self.group.is_cancelled(), &self.group) {
            Some(index) => Some((index, core)),
            None => {
                self.give_back(core);
                None
            }
        }
    }

    /// Puts the core back, after applying the changes made meanwhile. Returns whether another step is ready.
    pub(super) fn give_back(&self, mut core: Box<Core<P>>) -> bool {
        loop {
            let mut desk = self.desk.lock();
            if desk.late.is_empty() {
                let (has_ready, is_decided) = (core.has_ready(), core.is_decided());
                desk.core = Some(core);
                drop(desk);
                if is_decided && !self.group.is_cancelled() {
                    self.group.cancel();
                }
                return has_ready;
            }
            let late = take(&mut desk.late);
            drop(desk);
            late.into_iter().for_each(|late| late(&mut core));
        }
    }

    /// Changes the core, at once or when the thread that holds it puts it back.
    pub(super) fn change(&self, change: impl FnOnce(&mut Core<P>) + Send + 'static) {
        self.group.touch(Side::Branches, Access::Write);
        let mut desk = self.desk.lock();
        let Some(mut core) = desk.core.take() else {
            desk.late.push(Box::new(change));
            return;
        };
        drop(desk);
        change(&mut core);
        self.give_back(core);
    }

    /// Whether a step can be started. `false` while another thread holds the core, because that thread will look for
    /// one itself.
    pub(super) fn has_ready(&self) -> bool {
        self.group.touch(Side::Branches, Access::Read);
        self.desk.lock().core.as_ref().is_some_and(|core| core.has_ready())
    }

    /// Makes a separate fiber of each ready step. `cx` schedules them, or the scheduler from outside of a fiber.
    pub(super) fn start_apart(self: &Arc<Self>, cx: Option<&Cx<'_>>) {
        while let Some((index, core)) = self.take() {
            let starter = core.starter();
            starter(index, Start { index, how: How::Apart { shared: self, core, cx } });
        }
    }

    pub(super) fn schedule<R: Run>(
        self: &Arc<Self>,
        index: usize,
        (made, site): (Made<P::Values, R>, Site),
        cx: Option<&Cx<'_>>,
    ) {
        let Made { run, put } = made;
        let arrival = Arrival { shared: self.clone(), index, put, site };
        let (_, task) = Branch::new(&self.group, run, arrival, site);
        match cx {
            Some(cx) => cx.schedule(task),
            None => self.group.schedule(task),
        }
    }

    /// A fiber that helps.
    pub(super) fn helper(self: &Arc<Self>) -> (Helper<P>, Task) {
        Branch::new(&self.group, Help(self.clone()), Helped(self.clone()), self.site)
    }

    /// Offers other threads to work on the dataflow beside, or instead of, the caller.
    pub(super) fn offer_helper(self: &Arc<Self>) -> Helper<P> {
        let (helper, task) = self.helper();
        self.group.schedule(task);
        helper
    }
}

impl<P: Program> Drop for Shared<P> {
    /// The core is still here if the scheduler has dropped the fiber.
    fn drop(&mut self) {
        let Desk { core, late } = self.desk.get_mut();
        discard(core.take(), &self.group);
        take(late).into_iter().for_each(|late| discard(late, &self.group));
    }
}

/// The sink of a step's fiber.
pub(super) struct Arrival<P: Program, T> {
    pub(super) shared: Arc<Shared<P>>,
    pub(super) index: usize,
    pub(super) put: Put<P::Values, T>,
    pub(super) site: Site,
}

impl<P: Program, T: Send + 'static> Sink<T> for Arrival<P, T> {
    type Place = ();
    const IS_OUTSIDE: bool = true;

    fn deliver(self, fiber: &Context, outcome: Outcome<T>) {
        let (index, site, put, fiber) = (self.index, self.site, self.put, fiber.clone());
        self.shared.change(move |core| core.arrive(index, site, outcome, put, &fiber));
        self.shared.start_apart(None);
    }
}

/// A fiber that works on a dataflow beside the first one.
pub(super) type Helper<P> = Branch<Help<P>, Helped<P>>;

pub(super) struct Help<P: Program>(Arc<Shared<P>>);

impl<P: Program> Run for Help<P> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        Hands::new(cx, &cx.enter(&self.0.group), Crew::Together(self.0.clone())).work();
        Step::Done(Outcome::Success(()))
    }
}

pub(super) struct Helped<P: Program>(Arc<Shared<P>>);

impl<P: Program> Sink<()> for Helped<P> {
    type Place = ();
    const IS_OUTSIDE: bool = true;

    fn deliver(self, fiber: &Context, outcome: Outcome<()>) {
        // If the helper could not start, no other fiber may be left to start the remaining steps.
        if let Err(other) = outcome.split::<()>() {
            let fiber = fiber.clone();
            self.0.change(move |core| {
                if !core.is_over() {
                    core.fail(other, &fiber);
                }
            });
        }
    }
}

/// Gives the outcome of the dataflow.
pub(super) struct Concluded<P: Program>(pub(super) Arc<Shared<P>>);

impl<P: Program> RegionEnd<()> for Concluded<P> {
    type Out = P::Out;

    fn conclude(self, cx: &Cx<'_>, _: Option<Outcome<()>>) -> Outcome<P::Out> {
        let core = self.0.desk.lock().core.take().expect("the dataflow is concluded once");
        core.conclude(cx)
    }
}
