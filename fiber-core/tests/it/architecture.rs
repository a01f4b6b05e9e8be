//! Imports follow the order of the layers in ARCHITECTURE.md, and those between files have one direction.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fiber-test/tests/imports/mod.rs"]
mod imports;

/// Files that belong together.
const KNOTS: [imports::Knot<'static>; 7] = [
    // A block gives its wait to the driver, through the port, and the driver polls the block.
    &["block/awaited", "block/drive", "block/port"],
    // A node has children, which are references to nodes.
    &["cell/children", "cell/node", "cell/reference"],
    // A step that ends hands its value to the thread that has the core, which starts further steps.
    &[
        "combine/branches/dataflow/core",
        "combine/branches/dataflow/hands",
        "combine/branches/dataflow/shared",
    ],
    // The function of a direct fiber gets a `Direct`, whose waits lead back to its stack or its thread.
    &["direct", "direct/on_stack", "direct/on_thread"],
    // A context holds its scheduler, which runs tasks, which resume fibers in their contexts.
    &[
        "engine/boxed",
        "engine/context",
        "engine/context/carried",
        "engine/context/limit",
        "engine/context/part",
        "engine/context/race",
        "engine/context/state",
        "engine/context/turn",
        "engine/context/wakeup",
        "engine/context/watch",
        "engine/event",
        "engine/frames",
        "engine/frames/buffer",
        "engine/frames/drive",
        "engine/frames/leaf_table",
        "engine/frames/table",
        "engine/host",
        "engine/lend",
        "engine/network",
        "engine/network/readiness",
        "engine/next",
        "engine/scheduler",
        "engine/side",
        "engine/stacks",
        "engine/step",
        "engine/suppress",
        "engine/task",
        "engine/wait_list",
    ],
    // An error converts into the errors of other libraries, and finds itself in them.
    &["error/anyhow", "error/convert", "error/dynamic", "error/shared"],
    // A channel makes its ends, and each of them holds the channel.
    &["sync/channel", "sync/channel/receiver", "sync/channel/send_all", "sync/channel/sender"],
];

/// The names in the first column of the table that follows `after`.
fn listed(text: &str, after: &str) -> Vec<String> {
    let (_, rest) = text.split_once(after).expect("the heading is there");
    let rows = rest
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let names = |row: &str| -> Vec<String> {
        let cell = row.split('|').nth(1).unwrap().to_owned();
        cell.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/').to_owned()).collect()
    };
    rows.flat_map(names).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The names that follow `prefix` in the code of a file.
fn named_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let names = code.lines().filter(is_code).flat_map(|line| line.split(prefix).skip(1));
    names.map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect()).collect()
}

/// The imports of the layers in `folder` by each other, as `(of, by)`.
fn imports(folder: &Path, prefix: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for file in files_below(folder) {
        let inside = file.strip_prefix(folder).unwrap();
        let layer = inside
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs")
            .to_owned();
        let is_whole = layer == "lib" || layer == "mod" || layer == "loom_tests";
        if !is_whole {
            let code = fs::read_to_string(&file).unwrap();
            found.extend(
                named_after(&code, prefix)
                    .into_iter()
                    .filter(|of| *of != layer)
                    .map(|of| (of, layer.clone())),
            );
        }
    }
    found
}

fn check(listed: &[String], folder: &str, prefix: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let place = |name: &str| listed.iter().position(|layer| layer == name);
    let is_layer = |name: &String| place(name).is_some();
    let imports = imports(&folder, prefix);
    assert!(imports.len() > listed.len() / 2, "hardly any imports were found: {imports:?}");
    let up = imports.iter().filter(|(of, by)| is_layer(of) && place(of) > place(by));
    let up: Vec<(&str, &str)> = up.map(|(of, by)| (by.as_str(), of.as_str())).collect();
    assert!(up.is_empty(), "in {}: (by, of) {up:?}", folder.display());
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    for entry in entries {
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_whole = ["lib", "mod", "loom_tests", "guide"].contains(&name.as_str());
        assert!(is_whole || is_layer(&name), "{} is in no list", entry.display());
    }
}

#[test]
fn imports_flow_down_the_lists() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(path).unwrap();
    check(&listed(&text, "## The layers"), "../src", "crate::");
    check(&listed(&text, "In `combine/` imports flow"), "../src/combine", "crate::combine::");
}

#[test]
fn files_import_each_other_in_one_direction() {
    imports::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &KNOTS);
}
