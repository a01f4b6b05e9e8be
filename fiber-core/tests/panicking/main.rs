//! Panics wherever user code runs. These tests replace the panic hook, which belongs to the whole process: their panics, and those of
//! every test beside them, would be printed otherwise.

mod drops;
mod laws;
mod panics;
mod refused;
mod suppressed;
mod torn;

#[path = "../support/mod.rs"]
mod support;
