//! The page: one self-contained file, useful without scripts.

use super::compare::{Comparison, View};
use super::drawing::{Part, draw};
use super::escape::xml;
use super::input::Picture;
use super::layout::Grid;
use super::svg::{STYLE, left_out};
use super::{data, legend};
use crate::words::counted;

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the picture as a page.
pub(super) fn page(picture: &Picture<'_>) -> String {
    let comparison = Comparison::of(picture);
    let grid = Grid::of(&comparison);
    let failing = pane(&comparison, &comparison.failing, &grid, 'f');
    let passing = comparison.passing.as_ref().map(|view| pane(&comparison, view, &grid, 'p'));
    let panes = [failing, passing.unwrap_or_default()].concat();
    let (title, header, legend, data) =
        (xml(picture.title), header(picture, &comparison), legend::list(), data::of(&comparison));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{PAGE_STYLE}</style>\n<body>\n{header}{legend}<main>\n{panes}</main>\n{DETAILS}\
         <script type=\"application/json\" id=\"turns\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Filled by the script. Without it, the tooltips of the turns contain the same text.
const DETAILS: &str = "<aside id=\"details\" aria-label=\"the chosen turn\">\
    <p class=\"hint\">Rest the pointer on a turn to read everything about it.</p></aside>\n";

fn header(picture: &Picture<'_>, comparison: &Comparison<'_>) -> String {
    let pair = comparison.failing.pair_in_words().map(|[a, b]| {
        let (a, b, moral) = (xml(&a), xml(&b), comparison.moral());
        format!(
            "<p class=\"pair-text\"><b class=\"letter\">A</b> {a} <em>ran before</em> <b class=\"letter\">B</b> {b}. \
             {moral}</p>\n"
        )
    });
    format!(
        "<header>\n<h1>{}</h1>\n{}<p class=\"replay\"><code>{}</code>\
         <button type=\"button\" id=\"copy\">Copy</button><span id=\"jumps\"></span></p>\n</header>\n",
        xml(picture.title),
        pair.unwrap_or_default(),
        xml(picture.replay),
    )
}

fn pane(comparison: &Comparison<'_>, view: &View<'_>, grid: &Grid, prefix: char) -> String {
    let drawing = draw(comparison, view, grid, prefix);
    let (class, caption) =
        if prefix == 'f' { ("failing", "Failing schedule") } else { ("passing", "Nearest passing schedule") };
    let corner = Part { width: drawing.gutter.width, height: drawing.head.height, elements: String::new() };
    format!(
        "<section class=\"pane {class}\">\n<h2>{caption} <small>{}</small></h2>\n<div class=\"scroll\">\n\
         <div class=\"head\">{}{}</div>\n<div class=\"rows\">{}{}</div>\n</div>\n</section>\n",
        xml(&summary(view)),
        picture_of(&corner, "corner"),
        picture_of(&drawing.head, "lanes"),
        picture_of(&drawing.gutter, "gutter"),
        picture_of(&drawing.body, "body"),
    )
}

/// The number of turns, and how many of them are drawn.
fn summary(view: &View<'_>) -> String {
    let turns = view.turns().count();
    let deviations = view.turns().filter(|(_, turn)| turn.choice != 0).count();
    let left_out = left_out(view.first).map(|words| format!("; {words}")).unwrap_or_default();
    let order = match view.pair {
        [Some(a), Some(b)] if a < b => ", A before B",
        [Some(_), Some(_)] => ", B before A",
        _ => "",
    };
    format!("{}, {deviations} out of turn{order}{left_out}", counted(turns, "turn"))
}

fn picture_of(part: &Part, class: &str) -> String {
    let Part { width, height, elements } = part;
    format!("<svg class=\"drawing {class}\" width=\"{width}\" height=\"{height}\">\n{elements}</svg>")
}
