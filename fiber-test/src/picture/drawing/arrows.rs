//! The arrows from a turn to the lanes that it acted on.

use super::super::arrows::{Arrow, Kind};
use super::super::canvas::Canvas;
use super::super::layout::Row;
use super::Pen;
use crate::trace::Turn;

/// The space between a lane and the head of an arrow that ends there.
const GAP: usize = 3;
/// How far from its lane's middle an arrow leaves a box, so that it is not mistaken for the lane.
const LEAVE: usize = 7;
/// The radius of the bend below the box.
const CORNER: usize = 5;

impl Pen<'_> {
    pub(super) fn arrows(&self, canvas: &mut Canvas, index: usize, turn: &Turn) {
        let (Some(row), Some(from)) = (self.rows.row(index), self.view.column(turn)) else { return };
        for kind in Kind::ALL {
            let arrows = self.view.arrows[index].iter().filter(|arrow| arrow.kind == kind);
            let columns: Vec<usize> = arrows.filter_map(|Arrow { to, .. }| self.view.columns[*to]).collect();
            let (Some(y), false) = (row.track(kind), columns.is_empty()) else { continue };
            canvas.open_group(format_args!("class=\"arrow {}\"", kind.class()));
            self.arrow_lines(canvas, row, from, &columns, y);
            columns.iter().for_each(|to| self.arrow_head(canvas, kind, from, *to, y));
            canvas.close_group();
        }
    }

    /// Arrows of one kind share a line to the left and one to the right.
    fn arrow_lines(&self, canvas: &mut Canvas, row: &Row, from: usize, columns: &[usize], y: usize) {
        let leftmost = columns.iter().copied().filter(|to| *to < from).min();
        let rightmost = columns.iter().copied().filter(|to| *to > from).max();
        let (x, start, bend) = (self.grid.x(from), row.top + row.box_height, y - CORNER);
        for to in [leftmost, rightmost].into_iter().flatten() {
            let (leave, level) =
                if to < from { (x - LEAVE, x - LEAVE - CORNER) } else { (x + LEAVE, x + LEAVE + CORNER) };
            let tip = self.tip(from, to);
            canvas.path("line", format_args!("M{leave} {start}V{bend}Q{leave} {y} {level} {y}H{tip}"));
        }
    }

    /// Where an arrow ends: at the side of the lane that it comes from.
    fn tip(&self, from: usize, to: usize) -> usize {
        if from < to { self.grid.x(to) - GAP } else { self.grid.x(to) + GAP }
    }

    /// Each kind has a head of its own: a full one, an open one, a cross.
    fn arrow_head(&self, canvas: &mut Canvas, kind: Kind, from: usize, to: usize, y: usize) {
        let (x, tip, back) = (self.grid.x(to), self.tip(from, to), if from < to { "-7" } else { "7" });
        match kind {
            Kind::Fork => canvas.path("head full", format_args!("M{tip} {y}l{back} -4v8Z")),
            Kind::Wake => canvas.path("head", format_args!("M{tip} {y}l{back} -4M{tip} {y}l{back} 4")),
            Kind::Cancel => {
                let (left, right, up, down) = (x - 4, x + 4, y - 4, y + 4);
                canvas.path("head", format_args!("M{left} {up}L{right} {down}M{right} {up}L{left} {down}"));
            }
        }
    }
}
