//! The waits at the end: an arrow from the foot of each stuck lane to the lane that it waited for.
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
use super::super::layout::{DEPENDENCY, GRAPH_TEXT, open_end_height, shown};
use super::super::text::{characters_in, fitting};
use super::super::words;
use super::Pen;
use crate::primitive::Dependency;

/// How far from the middle of a lane arrows leave and arrive, in a column with boxes and in a narrow one.
const APART: [usize; 2] = [12, 5];
/// The space between an open end and the head of an arrow.
const GAP: usize = 2;

/// An arrow that is drawn: the columns of its ends, and the height of its track.
struct Track<'a> {
    dependency: &'a Dependency,
    columns: [usize; 2],
    y: usize,
}

impl Pen<'_> {
    /// The words come last, so that no arrow crosses them.
    pub(super) fn dependencies(&self, canvas: &mut Canvas) {
        let tracks = self.tracks();
        tracks.iter().for_each(|track| self.dependency(canvas, track));
        tracks.iter().for_each(|track| self.wanted(canvas, track));
    }

    fn tracks(&self) -> Vec<Track<'_>> {
        let end = self.rows.foot + open_end_height(self.grid);
        let column = |lane: usize| self.view.columns.get(lane).copied().flatten();
        let shown = shown(self.view.trace.dependencies()).enumerate();
        let tracks = shown.filter_map(|(track, dependency)| {
            let columns = [column(dependency.from)?, column(dependency.to)?];
            Some(Track { dependency, columns, y: end + DEPENDENCY * (track + 1) })
        });
        tracks.collect()
    }

    fn apart(&self) -> usize {
        APART[usize::from(self.grid.dense)]
    }

    fn dependency(&self, canvas: &mut Canvas, Track { dependency, columns: [from, to], y }: &Track<'_>) {
        let (leave, arrive) = (self.grid.x(*from) - self.apart(), self.grid.x(*to) + self.apart());
        let end = self.rows.foot + open_end_height(self.grid);
        let tip = end + GAP;
        let class = if dependency.is_of_cycle { "arrow depends of-cycle" } else { "arrow depends" };
        canvas.open_group(format_args!("class=\"{class}\""));
        canvas.tooltip(&self.story(dependency));
        canvas.path("line", format_args!("M{leave} {end}V{y}H{arrive}V{tip}"));
        canvas.path("head full", format_args!("M{arrive} {tip}l-4 7h8Z"));
        canvas.close_group();
    }

    /// What one fiber holds and the other one waits for, on the arrow.
    fn wanted(&self, canvas: &mut Canvas, Track { dependency, columns: [from, to], y }: &Track<'_>) {
        let Some(primitive) = dependency.primitive else { return };
        let words = words::primitive_in_short(self.view.trace, primitive);
        let x = self.grid.x(*from.min(to)) + self.apart() + GRAPH_TEXT;
        let room = characters_in(self.grid.width().saturating_sub(x));
        canvas.text("beside", [x, y - GRAPH_TEXT], &fitting(&words, room));
    }

    fn story(&self, Dependency { from, to, primitive, is_of_cycle }: &Dependency) -> String {
        let trace = self.view.trace;
        let [from, to] = [*from, *to].map(|lane| words::fiber(trace, lane));
        let circle = if *is_of_cycle { ", in a circle" } else { "" };
        match primitive {
            Some(primitive) => {
                format!("{from} waits for {}, and so for {to}{circle}", trace.name(*primitive))
            }
            None => format!("{from} waits for the end of {to}{circle}"),
        }
    }
}
