//! Draws one schedule: its head, its gutter and its body, which a page moves apart and a file puts together.

mod arrows;
mod boxes;
mod dependencies;
mod ends;
mod gutter;
mod heads;

use super::canvas::Canvas;
use super::compare::{Comparison, View};
use super::layout::{Grid, Row, Rows};
use super::life::Stretch;
use crate::trace::Turn;

/// The parts of a drawn schedule. `head` lies above `body`, `gutter` to the left of it.
pub(super) struct Drawing {
    pub(super) head: Part,
    pub(super) gutter: Part,
    pub(super) body: Part,
}

/// Elements of SVG, and the size of what they draw.
pub(super) struct Part {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) elements: String,
}

/// Draws `view`. The ids of its turns begin with `prefix`, so that two drawings fit on one page.
pub(super) fn draw(comparison: &Comparison<'_>, view: &View<'_>, grid: &Grid, prefix: char) -> Drawing {
    let rows = Rows::of(view, grid);
    let height = rows.height;
    let pen = Pen { comparison, view, grid, rows, prefix };
    Drawing {
        head: Part { width: grid.width(), height: grid.head, elements: pen.head() },
        gutter: Part { width: grid.gutter, height, elements: pen.gutter() },
        body: Part { width: grid.width(), height, elements: pen.body() },
    }
}

/// The data from which the parts of a drawing are drawn.
struct Pen<'a> {
    comparison: &'a Comparison<'a>,
    view: &'a View<'a>,
    grid: &'a Grid,
    rows: Rows,
    prefix: char,
}

impl Pen<'_> {
    fn body(&self) -> String {
        let mut canvas = Canvas::default();
        for (index, turn) in self.view.turns() {
            if let Some(row) = self.rows.row(index) {
                self.band(&mut canvas, index, turn, row, self.grid.width());
                self.instant_rule(&mut canvas, row);
            }
        }
        self.lives(&mut canvas);
        self.parting(&mut canvas, self.grid.width());
        self.view.turns().for_each(|(index, turn)| self.arrows(&mut canvas, index, turn));
        canvas.raw("<g class=\"links\"></g>\n");
        self.view.turns().for_each(|(index, turn)| self.turn(&mut canvas, index, turn));
        self.ends(&mut canvas);
        self.dependencies(&mut canvas);
        canvas.finish()
    }

    fn instant_rule(&self, canvas: &mut Canvas, row: &Row) {
        let width = self.grid.width();
        if let Some(y) = row.instant {
            canvas.path("instant-rule", format_args!("M0 {y}H{width}"));
        }
    }

    /// Up to this line, both schedules are the same.
    fn parting(&self, canvas: &mut Canvas, width: usize) -> Option<usize> {
        let y = self.view.parting.and_then(|turn| self.rows.row(turn)?.parting)?;
        canvas.path("parting", format_args!("M0 {y}H{width}"));
        Some(y)
    }

    /// The tint of a highlighted turn.
    fn band(&self, canvas: &mut Canvas, index: usize, turn: &Turn, row: &Row, width: usize) {
        let class = match (self.view.letter(index), turn.choice) {
            (Some(_), _) => "band pair",
            (None, 0) => return,
            (None, _) => "band deviation",
        };
        canvas.rectangle(class, [0, row.top - 3, width, row.box_height + 6], 0);
    }

    fn lives(&self, canvas: &mut Canvas) {
        for (lane, life) in self.view.lives.iter().enumerate() {
            let Some(column) = self.view.columns[lane] else { continue };
            for stretch in &life.stretches {
                self.stretch(canvas, stretch, lane, self.grid.x(column));
            }
        }
    }

    fn stretch(&self, canvas: &mut Canvas, stretch: &Stretch, lane: usize, x: usize) {
        let [from, to] = [stretch.from, stretch.to].map(|place| self.rows.y(place, self.view, lane));
        if from < to {
            let class = if stretch.waits { "waits" } else { "can-run" };
            canvas.path(class, format_args!("M{x} {from}V{to}"));
        }
    }
}

/// A letter in a disc.
fn disc(canvas: &mut Canvas, [x, y]: [usize; 2], letter: &str) {
    canvas.circle("disc", [x, y], 9);
    canvas.text("letter middle", [x, y + 4], letter);
}
