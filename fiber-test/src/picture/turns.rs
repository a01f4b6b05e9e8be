//! The text in the box of a turn.

use super::canvas::Glyph;
use super::compare::View;
use super::text::characters;
use super::words;
use crate::trace::{Effect, Turn};

/// The words of one turn.
pub(super) struct Words {
    pub(super) operator: &'static str,
    pub(super) site: Option<String>,
    pub(super) notes: Vec<Note>,
}

/// An effect that is not drawn as an arrow.
pub(super) struct Note {
    pub(super) glyph: Glyph,
    pub(super) text: String,
}

impl Words {
    pub(super) fn of(view: &View<'_>, turn: &Turn) -> Self {
        let notes = turn.effects.iter().filter_map(|effect| note(view, turn, effect)).collect();
        Words { operator: turn.operator, site: turn.site.map(words::short_site), notes }
    }

    /// The complete text in one line, for beside a box.
    pub(super) fn in_one_line(&self) -> String {
        let site = self.site.iter().map(|site| format!(" {site}"));
        let notes = self.notes.iter().map(|note| format!(", {}", note.sentence()));
        std::iter::once(self.operator.to_owned()).chain(site).chain(notes).collect()
    }

    /// How many lines there are.
    pub(super) fn lines(&self) -> usize {
        1 + usize::from(self.site.is_some()) + self.notes.len()
    }

    /// The length of the longest line, with the place of its glyph.
    pub(super) fn longest(&self) -> usize {
        /// A glyph and its distance from the text, in characters.
        const GLYPH_CHARACTERS: usize = 2;
        let site = self.site.as_deref().map_or(0, characters);
        let notes = self.notes.iter().map(|note| characters(&note.text) + GLYPH_CHARACTERS).max();
        site.max(characters(self.operator)).max(notes.unwrap_or(0))
    }
}

impl Note {
    /// The text with a word for its glyph, where the text alone is not clear.
    fn sentence(&self) -> String {
        match self.glyph {
            Glyph::Wait => format!("waits for {}", self.text),
            Glyph::Acquire => format!("acquires {}", self.text),
            Glyph::Release => format!("gives back {}", self.text),
            Glyph::Finalizer => format!("finalizer {}", self.text),
            Glyph::Event => format!("event {}", self.text),
            _ => self.text.clone(),
        }
    }
}

/// An effect of a turn, as a line of its box.
fn note(view: &View<'_>, turn: &Turn, effect: &Effect) -> Option<Note> {
    let (glyph, text) = match effect {
        Effect::Wait { what, on, at, .. } => {
            (Glyph::Wait, words::awaited_in_short(view.trace, *what, *on, at.as_deref()))
        }
        Effect::Acquire { primitive, .. } => {
            (Glyph::Acquire, words::primitive_in_short(view.trace, *primitive))
        }
        Effect::Release { primitive, .. } => {
            (Glyph::Release, words::primitive_in_short(view.trace, *primitive))
        }
        Effect::Finalizer { operator, .. } => (Glyph::Finalizer, (*operator).to_owned()),
        Effect::End(lane, outcome) if turn.lane == Some(*lane) => (outcome_glyph(outcome), outcome.clone()),
        Effect::Cancel(lane) if turn.lane == Some(*lane) => (Glyph::Cancelled, "cancels itself".to_owned()),
        Effect::Event(name) => (Glyph::Event, name.clone()),
        _ => return None,
    };
    Some(Note { glyph, text })
}

/// The sign for the outcome of a fiber.
pub(super) fn outcome_glyph(outcome: &str) -> Glyph {
    match outcome {
        "success" => Glyph::Success,
        "cancelled" => Glyph::Cancelled,
        _ => Glyph::Failure,
    }
}

/// The complete description of a turn, one fact per line.
pub(super) fn story(view: &View<'_>, index: usize, turn: &Turn) -> String {
    let place = turn.site.map(|site| format!(" at {site}")).unwrap_or_default();
    let mut lines = vec![
        format!("turn {index} at {}: {}", turn.at, words::whose(view.trace, turn)),
        format!("{}{place}", turn.operator),
        format!("ran because {}", words::cause(turn.cause)),
        words::choice(turn),
    ];
    lines.extend(turn.since.map(|since| format!("made possible by turn {since}")));
    lines.extend(turn.effects.iter().map(|effect| words::effect(view.trace, effect)));
    lines.join("\n")
}
