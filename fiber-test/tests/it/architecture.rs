//! The files of this crate import each other in one direction.

use std::path::Path;

#[path = "../imports/mod.rs"]
mod imports;

/// The simulated network: the world owns its sockets and connections, and each of them knows the world.
const NETWORK: imports::Knot<'static> = &[
    "network/datagrams",
    "network/delivery",
    "network/ends",
    "network/hosts",
    "network/link",
    "network/net",
    "network/paths",
    "network/socket",
    "network/ways",
    "network/world",
];

#[test]
fn files_import_each_other_in_one_direction() {
    imports::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &[NETWORK]);
}
