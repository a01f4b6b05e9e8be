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
mod input;
mod layout;
mod legend;
mod life;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod turns;
mod words;

pub(crate) use input::Picture;

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
