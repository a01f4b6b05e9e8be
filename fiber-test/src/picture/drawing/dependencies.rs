//! Who waited for whom at the end: an arrow from the foot of each lane that was stuck.
//!
//! ```text
//!   ┌─────────┐ ┌─────────┐
//!   │still    │ │still    │   the open ends
//!   │waits    │ │waits    │
//!   └─┬─────▲─┘ └─▲─────┬─┘
//!     │     │     │     │
//!     ╰── `b` ────╯     │     a track for each: what the other one holds
//!           ╰─── `a` ───╯
//! ```

use super::super::canvas::Canvas;
use super::super::layout::{DEPENDENCY, GRAPH_TEXT, MOST_DEPENDENCIES, open_end_height};
use super::super::text::{characters_in, fitting};
use super::super::words;
use super::Pen;
use crate::trace::Dependency;

/// How far from the middle of a lane arrows leave and arrive, in a column with boxes and in a narrow one.
const APART: [usize; 2] = [12, 5];
/// The space between an open end and the head of an arrow.
const GAP: usize = 2;

impl Pen<'_> {
    pub(super) fn dependencies(&self, canvas: &mut Canvas) {
        let trace = self.view.trace;
        for (track, dependency) in shown(trace.dependencies()).enumerate() {
            let [from, to] = [dependency.from, dependency.to]
                .map(|lane| self.view.columns.get(lane).copied().flatten());
            if let (Some(from), Some(to)) = (from, to) {
                self.dependency(canvas, dependency, [from, to], track);
            }
        }
    }

    fn dependency(&self, canvas: &mut Canvas, dependency: &Dependency, [from, to]: [usize; 2], track: usize) {
        let trace = self.view.trace;
        let apart = APART[usize::from(self.grid.dense)];
        let (leave, arrive) = (self.grid.x(from) - apart, self.grid.x(to) + apart);
        let end = self.rows.foot + open_end_height(self.grid);
        let (tip, y) = (end + GAP, end + DEPENDENCY * (track + 1));
        let class = if dependency.is_of_cycle { "arrow depends of-cycle" } else { "arrow depends" };
        let wanted = dependency.primitive.map(|primitive| words::primitive_in_short(trace, primitive));
        canvas.open_group(format_args!("class=\"{class}\""));
        canvas.tooltip(&story(self, dependency));
        canvas.path("line", format_args!("M{leave} {end}V{y}H{arrive}V{tip}"));
        canvas.path("head full", format_args!("M{arrive} {tip}l-4 7h8Z"));
        if let Some(wanted) = wanted {
            let (left, right) = (leave.min(arrive), leave.max(arrive));
            let most = characters_in((right - left).max(self.grid.box_width));
            canvas.text("beside", [left + GRAPH_TEXT, y - GRAPH_TEXT], &fitting(&wanted, most));
        }
        canvas.close_group();
    }
}

fn story(pen: &Pen<'_>, Dependency { from, to, primitive, is_of_cycle }: &Dependency) -> String {
    let trace = pen.view.trace;
    let [from, to] = [*from, *to].map(|lane| words::fiber(trace, lane));
    let circle = if *is_of_cycle { " (in a circle)" } else { "" };
    match primitive {
        Some(primitive) => format!("{from} waits for {}, for which {to} stands in its way{circle}", trace.name(*primitive)),
        None => format!("{from} waits for the end of {to}{circle}"),
    }
}

/// Those that are drawn: those of the circle, and others if what they want is held. The end of children and joined fibers
/// is drawn only in a circle: otherwise it is plain from the open ends.
pub(in super::super) fn shown(dependencies: &[Dependency]) -> impl Iterator<Item = &Dependency> {
    let of_cycle = dependencies.iter().filter(|one| one.is_of_cycle);
    let others = dependencies.iter().filter(|one| !one.is_of_cycle && one.primitive.is_some());
    of_cycle.chain(others).take(MOST_DEPENDENCIES)
}
