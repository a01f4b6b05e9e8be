//! Orders that differ only in independent steps are run once.

mod known;
mod promise;
