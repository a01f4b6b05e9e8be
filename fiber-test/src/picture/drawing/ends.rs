//! The ends of lanes: by the turn of another one, or none. An end in a lane's own turn is in its box.

use super::super::canvas::{Canvas, GLYPH, Glyph};
use super::super::layout::{BASELINE, BOX_SIDES, LINE, PADDING, TEXT};
use super::super::life::{Open, Place};
use super::super::text::{characters_in, fitting};
use super::super::turns::outcome_glyph;
use super::super::words;
use super::Pen;
use crate::trace::Effect;

impl Pen<'_> {
    /// Draws the ends of lanes that another lane's turn ended, and of those that did not end.
    pub(super) fn ends(&self, canvas: &mut Canvas) {
        for (lane, life) in self.view.lives.iter().enumerate() {
            let Some(column) = self.view.columns[lane] else { continue };
            if let Some(turn) = life.ended_by_other {
                self.end_by_other(canvas, lane, column, turn);
            }
            if let Some(open) = life.open {
                self.open_end(canvas, lane, column, open);
            }
        }
    }

    fn end_by_other(&self, canvas: &mut Canvas, lane: usize, column: usize, turn: usize) {
        let y = self.rows.y(Place::Touched(turn), self.view, lane);
        let trace = self.view.trace;
        let mut effects = trace.turns()[turn].effects.iter().chain(trace.outside(turn + 1));
        let outcome = effects.find_map(|effect| match effect {
            Effect::End(ended, outcome) if *ended == lane => Some(outcome.as_str()),
            _ => None,
        });
        let outcome = outcome.unwrap_or_default();
        canvas.open_group(format_args!("class=\"end\""));
        canvas.tooltip(&format!("{} ended: {outcome}", words::fiber(self.view.trace, lane)));
        canvas.circle("end-disc", [self.grid.x(column), y], 7);
        canvas.glyph(outcome_glyph(outcome), "", [self.grid.x(column) - GLYPH / 2, y - GLYPH / 2]);
        canvas.close_group();
    }

    /// A fiber that had not ended when the trace did.
    fn open_end(&self, canvas: &mut Canvas, lane: usize, column: usize, open: Open) {
        let (glyph, words, what, story) = match open {
            Open::CanRun => (Glyph::CanRun, "could run", String::new(), "could have run".to_owned()),
            Open::Waits { since } => {
                let (what, story) = self.last_wait(since);
                (Glyph::Wait, "still waits", what, format!("still waits, since turn {since}, for {story}"))
            }
        };
        canvas.open_group(format_args!("class=\"open\""));
        canvas.tooltip(&format!("at the end, {} {story}", words::fiber(self.view.trace, lane)));
        if self.grid.dense {
            self.open_disc(canvas, column, glyph);
        } else {
            self.open_box(canvas, column, glyph, [words, &what]);
        }
        canvas.close_group();
    }

    fn open_disc(&self, canvas: &mut Canvas, column: usize, glyph: Glyph) {
        const RADIUS: usize = 9;
        let (x, y) = (self.grid.x(column), self.rows.foot + RADIUS + 1);
        canvas.circle("open-disc", [x, y], RADIUS);
        canvas.glyph(glyph, "", [x - GLYPH / 2, y - GLYPH / 2]);
    }

    fn open_box(&self, canvas: &mut Canvas, column: usize, glyph: Glyph, [words, what]: [&str; 2]) {
        let (y, width) = (self.rows.foot, self.grid.box_width);
        let left = self.grid.x(column) - width / 2;
        let (text, baseline) = (left + TEXT + GLYPH + 2, y + PADDING + BASELINE);
        let most = characters_in(width - BOX_SIDES - GLYPH - 2);
        canvas.rectangle("open-box", [left, y, width, 2 * LINE + 2 * PADDING], 4);
        canvas.glyph(glyph, "", [left + TEXT - 2, baseline - GLYPH + 1]);
        canvas.text("operator", [text, baseline], words);
        canvas.text("note", [text, baseline + LINE], &fitting(what, most));
    }

    /// What the fiber began to wait for in the turn, in short and in full.
    fn last_wait(&self, turn: usize) -> (String, String) {
        let trace = self.view.trace;
        let waits = trace.turns()[turn].effects.iter().rev().find_map(|effect| match effect {
            Effect::Wait { what, on, at, .. } => Some((*what, *on, at.as_deref())),
            _ => None,
        });
        waits.map_or_else(
            || (String::new(), "something".to_owned()),
            |(what, on, at)| (words::awaited_in_short(trace, what, on, at), trace.awaited(what, on, at)),
        )
    }
}
