//! The stand-alone SVG file: title, the line to replay, and both drawings side by side.

use super::canvas::Canvas;
use super::compare::Comparison;
use super::drawing::{Drawing, draw};
use super::input::Picture;
use super::layout::Grid;
use super::text::characters_in;
use crate::words;

/// The style of drawings, here and in the page.
pub(super) const STYLE: &str = include_str!("drawing.css");

const MARGIN: usize = 20;
const LINE: usize = 18;
/// The space between the two drawings.
const BETWEEN: usize = 40;

/// Draws the picture as a file.
pub(super) fn file(picture: &Picture<'_>) -> String {
    let comparison = Comparison::of(picture);
    let grid = Grid::of(&comparison);
    let mut sheet = Sheet { canvas: Canvas::default(), width: 0, y: MARGIN };
    let failing = draw(&comparison, &comparison.failing, &grid, 'f');
    let passing = comparison.passing.as_ref().map(|view| draw(&comparison, view, &grid, 'p'));
    sheet.width = [Some(&failing), passing.as_ref()].into_iter().flatten().map(Drawing::width).sum();
    sheet.width += if passing.is_some() { BETWEEN } else { 0 };
    sheet.paragraph("title", picture.title);
    sheet.paragraph("replay", &format!("replay: {}", picture.replay));
    if let Some([a, b]) = comparison.failing.pair_in_words() {
        let moral = comparison.moral();
        sheet.paragraph("pair-text", &format!("A: {a} ran before B: {b}. {moral}"));
    }
    let top = sheet.y + LINE;
    sheet.drawing(&failing, "failing schedule", comparison.failing.first, MARGIN, top);
    let mut height = failing.height();
    if let (Some(passing), Some(view)) = (&passing, &comparison.passing) {
        let x = MARGIN + failing.width() + BETWEEN;
        sheet.drawing(passing, "nearest passing schedule", view.first, x, top);
        height = height.max(passing.height());
    }
    sheet.finish(top + LINE + height + MARGIN)
}

/// A sentence about omitted turns, if there are any.
pub(super) fn left_out(first: usize) -> Option<String> {
    (first > 0).then(|| words::left_out(first, "earlier turn", ""))
}

impl Drawing {
    fn width(&self) -> usize {
        self.gutter.width + self.body.width
    }

    fn height(&self) -> usize {
        self.head.height + self.body.height
    }
}

struct Sheet {
    canvas: Canvas,
    width: usize,
    y: usize,
}

impl Sheet {
    /// Text that wraps at the edge of the sheet.
    fn paragraph(&mut self, class: &str, text: &str) {
        let most = characters_in(self.width).max(20);
        let lines = text.lines().flat_map(|line| wrapped(line, most));
        for line in lines.collect::<Vec<_>>() {
            self.canvas.text(class, [MARGIN, self.y + LINE / 2], &line);
            self.y += LINE;
        }
    }

    fn drawing(&mut self, drawing: &Drawing, caption: &str, first: usize, x: usize, y: usize) {
        let left_out = left_out(first).map(|words| format!(" ({words})")).unwrap_or_default();
        self.canvas.text("caption", [x, y], &format!("{caption}{left_out}"));
        let (y, gutter, head) = (y + LINE, drawing.gutter.width, drawing.head.height);
        for (part, [dx, dy]) in
            [(&drawing.head, [gutter, 0]), (&drawing.gutter, [0, head]), (&drawing.body, [gutter, head])]
        {
            let (x, y) = (x + dx, y + dy);
            self.canvas.open_group(format_args!("transform=\"translate({x} {y})\""));
            self.canvas.raw(&part.elements);
            self.canvas.close_group();
        }
    }

    fn finish(self, height: usize) -> String {
        let width = self.width + 2 * MARGIN;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<style>\n{STYLE}{FILE_STYLE}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.canvas.finish()
        )
    }
}

/// Styles that only the file needs.
const FILE_STYLE: &str = "\
.paper { fill: var(--paper); }
.drawing .title { font-size: 13px; font-weight: 700; }
.drawing .caption { font-weight: 700; fill: var(--dim); }
.drawing .pair-text { fill: var(--pair); }
";

/// The line in pieces of at most this many characters, cut at spaces where there are some.
fn wrapped(line: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let mut characters = word.chars().peekable();
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + word.trim_end().chars().count() > most {
            lines.push(String::new());
        }
        while characters.peek().is_some() {
            let room = most.saturating_sub(lines.last().map_or(0, |line| line.chars().count()));
            if room == 0 {
                lines.push(String::new());
                continue;
            }
            let piece: String = characters.by_ref().take(room).collect();
            lines.last_mut().expect("there is a first line").push_str(&piece);
        }
    }
    lines
}
