//! Without the feature `pictures`, nobody draws any.

use std::path::Path;

use super::failure::Failure;

pub(super) fn save(_: &Failure, _: Option<&Path>) -> Option<String> {
    None
}
