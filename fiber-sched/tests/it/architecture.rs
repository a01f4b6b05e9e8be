//! The files of this crate import each other in one direction, apart from the parts of a scheduler: its handle starts it, it starts its
//! workers, and these know it.

use std::path::Path;

#[path = "../../../fiber-test/tests/imports/mod.rs"]
mod imports;

const KNOTS: [imports::Knot<'static>; 4] = [
    &["affinity", "affinity/builder", "affinity/scheduler", "affinity/thread", "affinity/worker"],
    &["current_thread/scheduler", "current_thread/thread"],
    // Polls make the sockets that they then watch.
    &["net/polls", "net/tcp", "net/unix"],
    &[
        "pool",
        "pool/builder",
        "pool/host",
        "pool/lookout",
        "pool/queue",
        "pool/scheduler",
        "pool/thief",
        "pool/thread",
        "pool/worker",
    ],
];

#[test]
fn files_import_each_other_in_one_direction() {
    imports::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &KNOTS);
}
