//! Without the feature `anyhow`, an error of `anyhow` is a boxed error like any other.

use std::any::Any;
use std::error::Error as StdError;

use super::dynamic::{Error, Source, Stored};

pub(super) fn converted(_: &mut dyn Any) -> Option<Error> {
    None
}

pub(super) fn source(_: &Stored) -> Option<&Stored> {
    None
}

pub(super) fn find<E: StdError + 'static>(_: &Stored) -> Option<&E> {
    None
}

#[expect(clippy::extra_unused_type_parameters, reason = "with the feature, it is used")]
pub(super) fn holds<E: StdError + 'static>(_: &Stored) -> bool {
    false
}

pub(super) fn unwrapped<E: StdError + 'static>(source: Source) -> Result<E, Source> {
    Err(source)
}
