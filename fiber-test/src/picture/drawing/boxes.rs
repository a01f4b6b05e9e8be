//! The boxes of the turns.

use super::super::canvas::{Canvas, GLYPH, Glyph};
use super::super::layout::{BASELINE, BOX_SIDES, LINE, PADDING, Row, STRIPE, TEXT};
use super::super::text::{characters, characters_in, fitting, fitting_end};
use super::super::turns::{Words, story};
use super::{Pen, disc};
use crate::trace::{Cause, Turn};

impl Pen<'_> {
    pub(super) fn turn(&self, canvas: &mut Canvas, index: usize, turn: &Turn) {
        let (Some(row), Some(column)) = (self.rows.row(index), self.view.column(turn)) else { return };
        let (prefix, letter) = (self.prefix, self.view.letter(index));
        canvas
            .open_group(format_args!("class=\"{}\" id=\"{prefix}{index}\"", classes(turn, letter.is_some())));
        canvas.tooltip(&story(self.view, index, turn));
        canvas.rectangle("hit", [0, row.top, self.grid.width(), row.bottom - row.top], 0);
        let (left, width) = (self.grid.x(column) - self.grid.box_width / 2, self.grid.box_width);
        canvas.rectangle("box", [left, row.top, width, row.box_height], 4);
        canvas.rectangle("stripe", [left, row.top, STRIPE, row.box_height], 2);
        if self.grid.dense {
            self.words_beside(canvas, row, column, turn);
        } else {
            self.words_inside(canvas, row, left, turn, letter);
        }
        if turn.choice != 0 {
            canvas.glyph(Glyph::Deviation, "corner", [left.saturating_sub(GLYPH / 2), row.top - GLYPH / 2]);
        }
        canvas.close_group();
    }

    /// Operator, place, and a line for each effect that is not an arrow.
    fn words_inside(&self, canvas: &mut Canvas, row: &Row, left: usize, turn: &Turn, letter: Option<&str>) {
        /// The number of characters that the letter covers, in the upper right corner.
        const LETTER: usize = 2;
        let (words, text, width) = (Words::of(self.view, turn), left + TEXT, self.grid.box_width);
        let most = characters_in(width - BOX_SIDES);
        let mut baseline = row.top + PADDING + BASELINE;
        let most_of_first = if letter.is_some() { most - LETTER } else { most };
        canvas.text("operator", [text, baseline], &fitting(words.operator, most_of_first));
        if let Some(site) = &words.site {
            baseline += LINE;
            canvas.text("dim", [text, baseline], &fitting_end(site, most));
        }
        for note in &words.notes {
            baseline += LINE;
            canvas.glyph(note.glyph, "", [text, baseline - GLYPH + 1]);
            canvas.text("note", [text + GLYPH + 4, baseline], &fitting(&note.text, most.saturating_sub(2)));
        }
        if let Some(letter) = letter {
            disc(canvas, [left + width - 5, row.top], letter);
        }
    }

    /// The sign of the last effect in the box, and the words on the side that has more room.
    fn words_beside(&self, canvas: &mut Canvas, row: &Row, column: usize, turn: &Turn) {
        const BESIDE: usize = 6;
        let words = Words::of(self.view, turn);
        let (x, away) = (self.grid.x(column), self.grid.box_width / 2 + BESIDE);
        if let Some(note) = words.notes.last() {
            canvas.glyph(note.glyph, "", [x - 3, row.top + 4]);
        }
        let text = words.in_one_line();
        let [left, right] = [x, self.grid.width() - x].map(|room| characters_in(room.saturating_sub(away)));
        let baseline = row.top + 13;
        if right >= left || characters(&text) <= right {
            canvas.text("beside", [x + away, baseline], &fitting(&text, right));
        } else {
            canvas.text("beside end", [x - away, baseline], &fitting(&text, left));
        }
    }
}

/// The classes of a turn's group.
fn classes(turn: &Turn, of_pair: bool) -> String {
    let cause = match turn.cause {
        Cause::Start => "start",
        Cause::Continue | Cause::Blocking => "continue",
        Cause::Wake => "wake",
        Cause::Cancel => "cancel",
        Cause::Timer | Cause::Computed | Cause::TimeOut => "timer",
    };
    let deviation = if turn.choice != 0 { " deviation" } else { "" };
    let pair = if of_pair { " pair" } else { "" };
    format!("turn because-{cause}{deviation}{pair}")
}
