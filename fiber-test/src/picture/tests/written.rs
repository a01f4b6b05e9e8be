//! Writes samples as files, for a check in a browser or by eye.

use std::fs;
use std::path::Path;

use super::samples::{deadlock, lost_update, simulate};
use crate::picture::compare::twins;
use crate::picture::{Picture, chrome};
use crate::trace::Trace;

/// `PICTURE_SAMPLES=folder cargo test -p fiber-test --lib picture` leaves them in that folder.
#[test]
fn samples_are_written_to_a_folder() {
    match std::env::var_os("PICTURE_SAMPLES") {
        Some(folder) => write_all(Path::new(&folder)),
        None => {
            let folder = std::env::temp_dir().join(format!("pictures-of-schedules-{}", std::process::id()));
            write_all(&folder);
            let files = fs::read_dir(&folder).expect("the folder is there").count();
            assert_eq!(files, 5 * 3, "a page, a drawing and a trace for each sample");
            fs::remove_dir_all(folder).expect("the folder can go");
        }
    }
}

fn write_all(folder: &Path) {
    fs::create_dir_all(folder).expect("the folder can be made");
    let (failing, passing, pair) = lost_update();
    write(folder, "small", "panic at 0ns: v is 1, not 2", &failing, Some(&passing), Some(pair));
    write(
        folder,
        "deadlock",
        "deadlock at 1s: nothing can run and no timer is pending",
        &deadlock(),
        None,
        Some((1, 2)),
    );
    let (failing, passing) = (simulate(7, 6, 80, &[30, 52]), simulate(7, 6, 80, &[52]));
    let pair = first_difference(&failing, &passing);
    write(
        folder,
        "timers",
        "deadlock at 6.5s: nothing can run & no timer is pending",
        &failing,
        Some(&passing),
        pair,
    );
    let (failing, passing) = (simulate(3, 30, 400, &[120, 250, 300]), simulate(3, 30, 400, &[120, 300]));
    let pair = first_difference(&failing, &passing);
    write(folder, "large", "leak at 9.251s: 4 fibers have not ended", &failing, Some(&passing), pair);
    let failing = simulate(5, 40, 2_500, &[2_400]);
    write(
        folder,
        "left-out",
        "livelock at 300s: <b>2500</b> turns & \"no\" end </script>",
        &failing,
        None,
        None,
    );
}

/// The first turn that differs in the passing schedule, and the one in its place there.
fn first_difference(failing: &Trace, passing: &Trace) -> Option<(usize, usize)> {
    let twins = twins(failing, passing);
    let first = (0..twins.len()).find(|turn| twins[*turn] != Some(*turn))?;
    Some((first, twins.iter().position(|twin| *twin == Some(first))?))
}

fn write(
    folder: &Path,
    name: &str,
    title: &str,
    failing: &Trace,
    passing: Option<&Trace>,
    pair: Option<(usize, usize)>,
) {
    let picture = Picture { title, replay: "Explore::replay(\"12:1 40:2\")", failing, passing, pair };
    let files = [("html", picture.html()), ("svg", picture.svg()), ("json", chrome::export(failing))];
    for (ending, text) in files {
        fs::write(folder.join(format!("{name}.{ending}")), text).expect("the sample can be written");
    }
}
