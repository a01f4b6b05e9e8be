//! The columns of both schedules: a fiber has the same column in both.

use super::text::{characters, fitting};
use super::words;
use crate::trace::Lane;

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
