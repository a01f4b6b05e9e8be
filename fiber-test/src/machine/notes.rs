//! What is noted of a run for those who ask: its trace, what its steps touch, who had which turn. Most runs of an exploration have no notes.

use fiber_core::error::Frame;
use fiber_core::scheduler::Task;
use fiber_core::{Context, Instant};

use super::census::Census;
use super::fibers::Fibers;
use super::lane::Lane;
use super::ready::Entry;
use super::steps::{Steps, TaskId};
use crate::recorder::Recorder;

/// In one box, so that a run without notes asks for all of them at once.
#[derive(Default)]
pub(crate) struct Notes(Option<Box<Kept>>);

#[derive(Default)]
pub(super) struct Kept {
    recorder: Option<Recorder>,
    steps: Option<Box<Steps>>,
    census: Option<Census>,
}

impl Notes {
    /// Records a trace from now on.
    pub(super) fn record(&mut self) {
        self.0.get_or_insert_default().recorder = Some(Recorder::default());
    }

    /// Those of the next run, which has a trace if this one has.
    pub(super) fn restart(&mut self, steps: Option<Box<Steps>>, has_census: bool) {
        if self.0.is_none() && steps.is_none() && !has_census {
            return;
        }
        let kept = self.0.get_or_insert_default();
        kept.recorder = kept.recorder.is_some().then(Recorder::default);
        kept.steps = steps;
        kept.steps.iter_mut().for_each(|steps| steps.clear());
        kept.census = has_census.then(Census::default);
    }

    #[inline]
    pub(super) fn kept(&mut self) -> Option<&mut Kept> {
        self.0.as_deref_mut()
    }

    pub(super) fn recorder(&self) -> Option<&Recorder> {
        self.0.as_ref()?.recorder.as_ref()
    }

    #[inline]
    pub(super) fn recorder_mut(&mut self) -> Option<&mut Recorder> {
        self.0.as_mut()?.recorder.as_mut()
    }

    #[inline]
    pub(super) fn steps(&self) -> Option<&Steps> {
        self.0.as_ref()?.steps.as_deref()
    }

    #[inline]
    pub(super) fn steps_mut(&mut self) -> Option<&mut Steps> {
        self.0.as_mut()?.steps.as_deref_mut()
    }

    pub(crate) fn take_steps(&mut self) -> Option<Box<Steps>> {
        self.0.as_mut()?.steps.take()
    }

    pub(crate) fn take_census(&mut self) -> Option<Census> {
        self.0.as_mut()?.census.take()
    }
}

impl Kept {
    /// A fiber was made, or a part of one.
    pub(super) fn created(&mut self, context: &Context, lane: Lane, parent: &Context, above: Lane) {
        if let Some(steps) = &mut self.steps {
            steps.created(context, lane, parent);
        }
        if context.is_structure() {
            return;
        }
        if let Some(census) = &mut self.census {
            census.created(context, lane);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.created(context, lane, above);
        }
    }

    /// A task can run from now on. `rest_of`: the rest of a turn, which was over at this place. Returns its name.
    pub(super) fn scheduled(&mut self, task: &Task, lane: Lane, rest_of: Option<Frame>) -> TaskId {
        if let Some(recorder) = &mut self.recorder {
            recorder.scheduled(task, lane, rest_of);
        }
        self.steps.as_mut().map_or(TaskId::default(), |steps| steps.scheduled(task))
    }

    /// A turn begins, by a choice of so many.
    pub(super) fn begin_turn(&mut self, fibers: &Fibers, now: Instant, entry: &Entry, by: (usize, usize)) {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(fibers, now, entry, by.0, by.1);
        }
        if let Some(steps) = &mut self.steps {
            steps.begin(entry.id, entry.lane, entry.by(), now);
        }
        self.has_turn(entry.lane);
    }

    /// The fiber whose turn it was has the next one, from this bind on, by a choice of so many.
    pub(super) fn go_on(&mut self, now: Instant, lane: Lane, bind: Frame, by: (usize, usize)) {
        if let Some(recorder) = &mut self.recorder {
            recorder.go_on(now, lane, bind, by.0, by.1);
        }
        self.has_turn(lane);
    }

    fn has_turn(&mut self, lane: Lane) {
        if let Some(census) = &mut self.census {
            census.turn(lane);
        }
    }
}
