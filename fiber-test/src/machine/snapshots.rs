//! What reports ask of the state: all that waits and is held.

use std::collections::BTreeMap;

use fiber_core::scheduler::Subject;

use super::state::State;
use crate::primitive::{Dependency, Primitive};
use crate::wait_graph::{Snapshot, WaitGraph};

impl State {
    /// All that waits and is held now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let (blocked, held) = (self.fibers.blocked(), self.holdings.held());
        let wanted = blocked.iter().filter_map(|one| Some(&one.at.as_ref()?.of));
        let names = self.names(held.iter().map(|holding| &holding.of).chain(wanted));
        Snapshot { blocked, held, names }
    }

    /// Those of one name get numbers: as in the trace, if there is one.
    pub(crate) fn names<'a>(&self, subjects: impl Iterator<Item = &'a Subject>) -> BTreeMap<usize, String> {
        let subjects: BTreeMap<usize, &Subject> = subjects.map(|of| (of.key(), of)).collect();
        if let Some(recorder) = self.notes.recorder() {
            return subjects.into_iter().map(|(key, of)| (key, recorder.name(of))).collect();
        }
        let all: Vec<Primitive> = subjects.values().map(|of| Primitive::of(of)).collect();
        subjects.into_keys().enumerate().map(|(at, key)| (key, Primitive::name_in(&all, at))).collect()
    }

    /// Notes in the trace who waits for whom.
    pub(crate) fn record_dependencies(&mut self, snapshot: &Snapshot) {
        let Some(recorder) = self.notes.recorder_mut() else { return };
        let graph = WaitGraph::new(snapshot);
        let cycle = graph.cycle();
        let dependencies = graph.all_links().filter_map(|link| {
            let (from, to, of) = graph.ends(&link);
            let (from, to) = (from.index()?, to.index()?);
            let is_of_cycle = cycle.contains(&link);
            let primitive = of.map(|of| recorder.primitive(of));
            (from != to || is_of_cycle).then_some(Dependency { from, to, primitive, is_of_cycle })
        });
        let mut dependencies: Vec<Dependency> = dependencies.collect();
        dependencies.dedup();
        recorder.depends(dependencies);
    }
}
