//! The columns of both schedules: a fiber has the same column in both.

use std::collections::BTreeMap;

use super::compare::View;
use super::text::{characters, fitting};
use super::words;
use crate::trace::{Lane, Trace};

/// The subject of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column<'a> {
    Fiber(&'a Lane),
    /// For wake-ups of things that are not fibers.
    Outside,
}

/// A name is not made shorter than this.
const SHORTEST_NAME: usize = 8;

impl Column<'_> {
    /// The fiber's name, or its id if it has none.
    pub(super) fn title(&self) -> String {
        match self {
            Column::Fiber(lane) => lane.name.clone().unwrap_or_else(|| format!("fiber {}", lane.id)),
            Column::Outside => "no fiber".to_owned(),
        }
    }

    /// The rest of the title: the id of a fiber with a name, and where it was forked if there is room for both.
    pub(super) fn subtitle(&self, most: usize) -> String {
        let Column::Fiber(lane) = self else { return "wake-ups".to_owned() };
        let site = words::short_site(lane.site);
        let both = format!("{} {site}", lane.id);
        match lane.name {
            None => site,
            Some(_) if characters(&both) <= most => both,
            Some(_) => format!("fiber {}", lane.id),
        }
    }

    /// Name and id, for a narrow column. A long name is cut at its end, so that the id is complete.
    pub(super) fn in_one_line(&self, most: usize) -> String {
        match self {
            Column::Fiber(Lane { id, name: Some(name), .. }) => {
                let room = most.saturating_sub(characters(id) + 1).max(SHORTEST_NAME);
                format!("{} {id}", fitting(name, room))
            }
            Column::Fiber(lane) => lane.id.clone(),
            Column::Outside => self.title(),
        }
    }

    /// The complete description.
    pub(super) fn story(&self) -> String {
        match self {
            Column::Fiber(lane) => format!("{lane}, forked at {}", lane.site),
            Column::Outside => "wake-ups of what is not a fiber".to_owned(),
        }
    }
}

/// The failing trace's lanes in order, then those that occur only in the passing one.
pub(super) fn assign<'a>(failing: &mut View<'a>, passing: Option<&mut View<'a>>) -> Vec<Column<'a>> {
    let mut views: Vec<&mut View<'a>> = vec![failing];
    views.extend(passing);
    let mut columns = Vec::new();
    if views.iter().any(|view| view.has_outside()) {
        columns.push(Column::Outside);
        views.iter_mut().for_each(|view| view.outside = Some(0));
    }
    let keys: Vec<Vec<LaneKey<'a>>> = views.iter().map(|view| lane_keys(view.trace)).collect();
    let mut places = BTreeMap::new();
    for (view, keys) in views.iter().zip(&keys) {
        for (lane, key) in keys.iter().enumerate().filter(|(lane, _)| view.shows(*lane)) {
            places.entry(*key).or_insert_with(|| {
                columns.push(Column::Fiber(&view.trace.lanes()[lane]));
                columns.len() - 1
            });
        }
    }
    for (view, keys) in views.iter_mut().zip(&keys) {
        view.columns = keys.iter().map(|key| places.get(key).copied()).collect();
    }
    columns
}

/// Identifies a lane in two traces: its id, and its number among the lanes with that id.
type LaneKey<'a> = (&'a str, usize);

fn lane_keys(trace: &Trace) -> Vec<LaneKey<'_>> {
    let mut seen = BTreeMap::new();
    let key = |lane: &'_ Lane| -> usize {
        let count = seen.entry(lane.id.clone()).or_insert(0);
        *count += 1;
        *count
    };
    let counts: Vec<usize> = trace.lanes().iter().map(key).collect();
    trace.lanes().iter().map(|lane| lane.id.as_str()).zip(counts).collect()
}
