//! The gutter to the left of the columns: times, turn numbers, letters, and marks at turns that were out of turn.

use super::super::canvas::{Canvas, Glyph};
use super::super::layout::{LINE, Row};
use super::super::text::{characters, characters_in, fitting, width_of};
use super::super::words;
use super::{Pen, disc};
use crate::trace::Turn;

impl Pen<'_> {
    pub(super) fn gutter(&self) -> String {
        let mut canvas = Canvas::default();
        for (index, turn) in self.view.turns() {
            let Some(row) = self.rows.row(index) else { continue };
            if let Some(y) = row.instant {
                let time = fitting(&turn.at.to_string(), characters_in(self.grid.gutter - 8));
                canvas.text("instant", [8, y + 4], &time);
            }
            let prefix = self.prefix;
            canvas.open_group(format_args!("class=\"number\" data-turn=\"{prefix}{index}\""));
            self.gutter_of_turn(&mut canvas, index, turn, row);
            canvas.close_group();
        }
        self.parting_words(&mut canvas);
        canvas.text("dim end", [self.grid.gutter - 8, self.rows.foot + 13], "the end");
        canvas.finish()
    }

    /// The number of the turn, its letter, and whether it was out of turn: in two lines where the box has two.
    fn gutter_of_turn(&self, canvas: &mut Canvas, index: usize, turn: &Turn, row: &Row) {
        let (width, baseline) = (self.grid.gutter, row.top + 13);
        self.band(canvas, index, turn, row, width);
        canvas.rectangle("hit", [0, row.top, width, row.bottom - row.top], 0);
        canvas.text("turn-number end", [width - 8, baseline], &index.to_string());
        let letter = self.view.letter(index);
        if turn.choice != 0 {
            let y = if row.box_height < 2 * LINE { baseline } else { baseline + LINE + 2 };
            self.badge(canvas, turn, y, letter.is_some() && y == baseline);
        }
        if let Some(letter) = letter {
            disc(canvas, [14, row.top + 9], letter);
        }
    }

    /// The place of the chosen fiber, if it was not the first.
    fn badge(&self, canvas: &mut Canvas, turn: &Turn, baseline: usize, beside_letter: bool) {
        let words = format!("{} of {}", words::ordinal(turn.choice + 1), turn.choices);
        let x = if beside_letter { 28 } else { 18 };
        if !beside_letter {
            canvas.glyph(Glyph::Deviation, "", [4, baseline - 9]);
        }
        canvas.text("deviation-text", [x, baseline], &fitting(&words, characters_in(self.grid.gutter - x)));
    }

    /// The words are in the gutter, which does not scroll away.
    fn parting_words(&self, canvas: &mut Canvas) {
        const WORDS: &str = "parts here";
        let Some(y) = self.parting(canvas, self.grid.gutter) else { return };
        canvas.rectangle("parting-label", [3, y - 9, width_of(characters(WORDS)) + 10, 18], 9);
        canvas.text("parting-text", [8, y + 4], WORDS);
    }
}
