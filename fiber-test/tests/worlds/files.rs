//! Files without crashes.

use std::io::SeekFrom;
use std::path::PathBuf;

use fiber_core::fs::{self, File};
use fiber_core::{Fiber, fiber};

use crate::support::{Told, agree_on_files, seen};

/// The whole file, or the kind of the error.
fn contents(path: &PathBuf) -> Fiber<String> {
    fs::read_to_string(path).map(|text| format!("{text:?}")).told()
}

/// What a read of so many bytes gives.
fn reads(file: &File, most: usize) -> Fiber<String> {
    let text = |(n, buffer): (usize, Vec<u8>)| format!("{:?}", String::from_utf8_lossy(&buffer[..n]));
    file.read(vec![0; most]).map(text).told()
}

fn seeks(file: &File, to: SeekFrom) -> Fiber<String> {
    file.seek(to).map(|at| at.to_string()).told()
}

#[test]
fn what_was_written_is_read() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            let! first = fs::write(&path, "old and long").done();
            let! old = contents(&path);
            let! second = fs::write(&path, "new").done();
            let! new = contents(&path);
            let! empty = fs::write(&path, "").done();
            let! nothing = contents(&path);
            seen![first, old, second, new, empty, nothing]
        }
    });
}

#[test]
fn a_file_that_is_missing() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("missing");
            let! read = contents(&path);
            let! open = File::open(&path).done();
            let! append = File::append(&path).done();
            let! created = contents(&path);
            seen![read, open, append, created]
        }
    });
}

#[test]
fn a_file_has_a_position() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, "0123456789");
            let! file = File::open(&path);
            let! first = reads(&file, 3);
            let! second = reads(&file.clone(), 3);
            let! at = seeks(&file, SeekFrom::Current(-1));
            let! third = reads(&file, 2);
            let! end = seeks(&file, SeekFrom::End(-2));
            let! fourth = reads(&file, 8);
            let! after = reads(&file, 8);
            let! beyond = seeks(&file, SeekFrom::Start(100));
            let! nothing = reads(&file, 8);
            let! wrong = seeks(&file, SeekFrom::End(-100));
            seen![first, second, at, third, end, fourth, after, beyond, nothing, wrong]
        }
    });
}

#[test]
fn two_openings_have_two_positions() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, "0123");
            let! one = File::open(&path);
            let! other = File::open(&path);
            let! first = reads(&one, 2);
            let! second = reads(&other, 2);
            seen![first, second]
        }
    });
}

#[test]
fn appended_bytes_are_at_the_end() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, "one");
            let! file = File::append(&path);
            let! at = seeks(&file, SeekFrom::Start(0));
            let! wrote = file.write_all(" two").done();
            let! other = File::append(&path);
            let! also = other.write_all(" three").done();
            let! again = file.write_all(" four").done();
            let! synced = file.sync_all().done();
            let! all = contents(&path);
            seen![at, wrote, also, again, synced, all]
        }
    });
}

#[test]
fn a_write_beyond_the_end_fills_the_gap_with_zeros() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            let! file = File::create(&path);
            do! file.write_all("a");
            let! at = seeks(&file, SeekFrom::Start(3));
            do! file.write_all("b");
            let! first = contents(&path);
            do! file.seek(SeekFrom::Start(0)).map(drop);
            do! file.write_all("cd");
            let! second = contents(&path);
            seen![at, first, second]
        }
    });
}

#[test]
fn a_file_is_made_shorter_and_longer() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            let! file = File::create(&path);
            do! file.write_all("0123");
            let! shorter = file.set_len(2).done();
            let! first = contents(&path);
            // The position is where it was.
            do! file.write_all("x");
            let! second = contents(&path);
            let! longer = file.set_len(7).done();
            let! third = contents(&path);
            seen![shorter, first, second, longer, third]
        }
    });
}

#[test]
fn a_file_is_opened_for_one_purpose() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, "text");
            let! open = File::open(&path);
            let! writes = open.write_all("x").done();
            let! length = open.set_len(1).done();
            let! syncs = open.sync_all().done();
            let! append = File::append(&path);
            let! read = reads(&append, 4);
            let! create = File::create(&path);
            let! nothing = reads(&create, 4);
            let! left = contents(&path);
            seen![writes, length, syncs, read, nothing, left]
        }
    });
}

#[test]
fn a_file_that_is_made_empty_while_it_is_read() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, "0123");
            let! file = File::open(&path);
            let! first = reads(&file, 2);
            do! fs::write(&path, "ab");
            let! second = reads(&file, 2);
            do! fs::write(&path, "abcdef");
            let! third = reads(&file, 8);
            seen![first, second, third]
        }
    });
}

#[test]
fn bytes_that_are_no_text() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, [0xff, 0x00]);
            let! text = contents(&path);
            let! bytes = fs::read(&path).map(|bytes| format!("{bytes:?}")).told();
            seen![text, bytes]
        }
    });
}
