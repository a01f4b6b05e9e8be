//! The picture of a failing schedule: a column per fiber, a row per turn, beside the nearest schedule that passes.
//!
//! From the trace to the page, each step in its file:
//!
//! ```text
//! Trace ─ compare ─> View ┬ life ───> what a lane did between its turns ┐
//!                         ├ arrows ─> who made whom able to run         ├ drawing ─> svg, html
//!                         └ layout ─> where rows and columns lie        ┘
//! Trace ─ chrome ─> the trace event format of Chrome and Perfetto
//! ```
//!
//! The same input gives the same bytes: no clock, no address, no hash order.

mod arrows;
mod canvas;
pub(crate) mod chrome;
mod columns;
mod compare;
mod data;
mod drawing;
mod escape;
mod html;
mod layout;
mod legend;
mod life;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod turns;
mod words;

use crate::trace::Trace;

/// What is drawn.
pub(crate) struct Picture<'a> {
    /// What failed, in one line. Any characters.
    pub(crate) title: &'a str,
    /// The line to paste into a test to see it again.
    pub(crate) replay: &'a str,
    /// The schedule that failed.
    pub(crate) failing: &'a Trace,
    /// The nearest schedule that passes.
    pub(crate) passing: Option<&'a Trace>,
    /// The two turns of `failing` whose order differs in `passing`.
    pub(crate) pair: Option<(usize, usize)>,
}

impl Picture<'_> {
    /// A stand-alone SVG file.
    pub(crate) fn svg(&self) -> String {
        svg::file(self)
    }

    /// A page in one file, which tells everything about the turn that is pointed at.
    pub(crate) fn html(&self) -> String {
        html::page(self)
    }
}
