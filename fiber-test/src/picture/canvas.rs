//! Writes the elements of SVG.

use std::fmt::Write;

use super::escape;

/// Text that grows by elements. Coordinates are whole pixels, so the same picture has the same bytes everywhere.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Appends markup unchanged.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    pub(super) fn element(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(markup);
        self.text.push('\n');
    }

    pub(super) fn open_group(&mut self, attributes: std::fmt::Arguments<'_>) {
        self.element(format_args!("<g {attributes}>"));
    }

    pub(super) fn close_group(&mut self) {
        self.raw("</g>\n");
    }

    /// The text that a browser shows when the pointer rests on the group.
    pub(super) fn tooltip(&mut self, text: &str) {
        self.element(format_args!("<title>{}</title>", escape::xml(text)));
    }

    pub(super) fn path(&mut self, class: &str, data: std::fmt::Arguments<'_>) {
        self.element(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
    }

    pub(super) fn rectangle(&mut self, class: &str, [x, y, width, height]: [usize; 4], radius: usize) {
        self.element(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
        ));
    }

    pub(super) fn circle(&mut self, class: &str, [x, y]: [usize; 2], radius: usize) {
        self.element(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// Text whose baseline begins (or ends, or is centred, as its class says) at this point.
    pub(super) fn text(&mut self, class: &str, [x, y]: [usize; 2], text: &str) {
        let text = escape::xml(&text.replace('\n', " "));
        self.element(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    /// Text that runs upward.
    pub(super) fn upward_text(&mut self, class: &str, [x, y]: [usize; 2], text: &str) {
        let text = escape::xml(&text.replace('\n', " "));
        self.element(format_args!(
            "<text class=\"{class}\" transform=\"translate({x} {y}) rotate(-90)\">{text}</text>"
        ));
    }

    /// A small sign, [`GLYPH`] pixels wide and high, with its upper left corner at this point.
    pub(super) fn glyph(&mut self, glyph: Glyph, class: &str, [x, y]: [usize; 2]) {
        let (name, data) = (glyph.class(), glyph.path());
        self.element(format_args!(
            "<path class=\"glyph {name} {class}\" transform=\"translate({x} {y})\" d=\"{data}\"/>"
        ));
    }
}

/// The size of a glyph.
pub(super) const GLYPH: usize = 10;

/// Signs that are drawn rather than typed, so that they do not depend on a font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glyph {
    Wait,
    Acquire,
    Release,
    Finalizer,
    Event,
    Success,
    Failure,
    Cancelled,
    Deviation,
    CanRun,
}

impl Glyph {
    fn class(self) -> &'static str {
        match self {
            Glyph::Wait => "is-wait",
            Glyph::Acquire => "is-acquire",
            Glyph::Release => "is-release",
            Glyph::Finalizer => "is-finalizer",
            Glyph::Event => "is-event",
            Glyph::Success => "is-success",
            Glyph::Failure => "is-failure",
            Glyph::Cancelled => "is-cancelled",
            Glyph::Deviation => "is-deviation",
            Glyph::CanRun => "is-can-run",
        }
    }

    fn path(self) -> &'static str {
        match self {
            // An hourglass.
            Glyph::Wait => {
                "M2 1H8M2 9H8M2.5 1C2.5 4 4.5 4.5 4.5 5S2.5 6 2.5 9M7.5 1C7.5 4 5.5 4.5 5.5 5S7.5 6 7.5 9"
            }
            // A closed lock.
            Glyph::Acquire => "M2 4.5H8V9H2ZM3.2 4.5V3A1.8 1.8 0 0 1 6.8 3V4.5",
            // An open lock.
            Glyph::Release => "M2 4.5H8V9H2ZM3.2 4.5V2.6A1.8 1.8 0 0 1 6.8 2.2",
            // A circle that closes.
            Glyph::Finalizer => "M8.5 5A3.5 3.5 0 1 1 6.5 1.8M6 0L6.8 1.9L4.8 2.8",
            // A flag.
            Glyph::Event => "M2 9.5V.8H8.5L6.5 3L8.5 5.2H2",
            // A tick.
            Glyph::Success => "M1.5 5.5L4 8L8.5 2",
            // A cross.
            Glyph::Failure => "M2 2L8 8M8 2L2 8",
            // A circle with a bar.
            Glyph::Cancelled => "M5 1A4 4 0 1 0 5 9A4 4 0 1 0 5 1M2.2 2.2L7.8 7.8",
            // A diamond.
            Glyph::Deviation => "M5 0L10 5L5 10L0 5Z",
            // A triangle that points to the right.
            Glyph::CanRun => "M2.5 1.5L8.5 5L2.5 8.5Z",
        }
    }
}
