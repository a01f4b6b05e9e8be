//! The picture of a failing schedule: a column per fiber, a row per turn, beside the nearest schedule that passes.
//!
//! From the trace to the page, one file per step:
//!
//! ```text
//! Trace ─ compare ─> View ┬ life ───> what a lane did between its turns ┐
//!                         ├ arrows ─> who made whom able to run         ├ drawing ─> svg, html
//!                         └ layout ─> where rows and columns lie        ┘
//! Trace ─ chrome ─> the trace event format of Chrome and Perfetto
//! ```
//!
//! The same input gives the same bytes: they depend on no clock, no memory address, and no hash order.

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

/// The input of a picture.
pub(crate) struct Picture<'a> {
    /// A one-line description of the failure. It may contain any characters.
    pub(crate) title: &'a str,
    /// The line that replays the schedule in a test.
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

    /// A page in one file, which shows all details of the turn under the pointer.
    pub(crate) fn html(&self) -> String {
        html::page(self)
    }
}
