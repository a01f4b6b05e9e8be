//! What the state learns from the events of fibers.

use fiber_core::Context;
use fiber_core::error::Frame;
use fiber_core::scheduler::{Subject, WaitsFor};

use super::lane::Lane;
use super::places::Place;
use super::state::State;
use crate::primitive::Site;
use crate::strategy::Strategy;

impl State {
    #[inline]
    pub(crate) fn created(&mut self, context: &Context, parent: &Context) {
        let (lane, above) = self.fibers.insert(context, parent);
        if let Some(notes) = self.notes.kept() {
            notes.created(context, lane, parent, above);
        }
        if context.is_structure() {
            return;
        }
        self.decisions.strategy.created(lane, above);
        if let Strategy::Recorded(recorded) = &mut self.decisions.strategy {
            recorded.created(context.id());
        }
        self.numbers.created(above);
        // What is detached is below the root, and runs where it was made.
        let maker = self.current.filter(|lane| lane.index().is_some());
        self.places.created(lane, maker.unwrap_or(above));
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn waits(
        &mut self,
        context: &Context,
        what: WaitsFor,
        site: Site,
        on: Option<&Context>,
        at: Option<(&Subject, usize)>,
    ) -> Option<impl Sized + use<>> {
        if let Some(recorder) = self.notes.recorder_mut() {
            let on = on.map(|on| self.fibers.lane(on));
            let at = at.map(|(of, permits)| (of, permits, self.holdings.holders(of)));
            recorder.waits(what, site, on, at);
        }
        self.fibers.waits(context, what, site, on, at)
    }

    pub(crate) fn acquires(&mut self, context: &Context, of: &Subject, permits: usize, site: Site) {
        let by = self.fibers.fiber(context);
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.acquires(by.1, of, permits, site);
        }
        self.holdings.acquired(context, by, of, permits, site);
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn releases(
        &mut self,
        context: &Context,
        of: &Subject,
        permits: usize,
        site: Site,
    ) -> Option<impl Sized + use<>> {
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.releases(of, permits);
        }
        self.holdings.released(context, of, permits, site)
    }

    pub(crate) fn yields(&mut self, context: &Context, at: Frame) {
        self.pausing = Some(at);
        // Its slice is over.
        if let Some(cpus) = &mut self.cpus {
            cpus.end();
        }
        let lane = self.fibers.lane(context);
        self.decisions.strategy.yielded(lane);
    }

    pub(crate) fn cancelled(&mut self, context: &Context) {
        if let Some(recorder) = self.notes.recorder_mut()
            && !context.is_structure()
        {
            recorder.cancelled(self.fibers.lane(context));
        }
    }

    pub(crate) fn finalizer(&mut self, context: &Context, frame: Frame) {
        self.fibers.finalizer_begins(context, frame);
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.finalizer(frame);
        }
    }

    pub(crate) fn ends(&mut self, context: &Context, outcome: String) {
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.ends(self.fibers.lane(context), outcome);
        }
    }

    pub(crate) fn here(&self) -> Place {
        self.places.of(self.current.unwrap_or(Lane::NONE))
    }

    pub(crate) fn put(&mut self, context: &Context, place: Place) {
        self.places.put(self.fibers.lane(context), place);
    }

    pub(crate) fn fibers_at(&self, host: usize) -> Vec<Context> {
        let mut all = self.fibers.contexts();
        all.retain(|context| {
            !context.is_structure() && usize::from(self.places.of(self.fibers.lane(context)).host) == host
        });
        all
    }

    pub(crate) fn fault(&mut self, text: String) {
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.fault(text);
        }
    }

    pub(crate) fn event(&mut self, name: String) {
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.event(name);
        }
    }
}
