//! Files without crashes.

use std::io::SeekFrom;
use std::path::{Path, PathBuf};

use fiber_core::fs::{self, File};
use fiber_core::{Fiber, fiber};

use crate::support::{Seen, Told, agree_on_a_full_disk, agree_on_files, seen};

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

/// The names in a folder, or the kind of the error.
fn names(folder: impl Into<PathBuf>) -> Fiber<String> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    fs::read_dir(folder).map(move |paths| paths.iter().map(name).collect::<Vec<_>>().join(" ")).told()
}

#[test]
fn a_file_is_read_and_written_in_one_opening() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            let! created = File::update(&path).done();
            do! fs::write(&path, "0123456789");
            let! file = File::update(&path);
            let! first = reads(&file, 3);
            do! file.write_all("xy");
            let! second = reads(&file, 2);
            let! all = contents(&path);
            seen![created, first, second, all]
        }
    });
}

#[test]
fn folders_are_created_with_those_above() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("a").join("b");
            let! missing = fs::write(path.join("file"), "text").done();
            let! first = fs::create_dir_all(&path).done();
            let! again = fs::create_dir_all(&path).done();
            let! written = fs::write(path.join("file"), "text").done();
            let! text = contents(&path.join("file"));
            let! dots = contents(&path.join("..").join("b").join(".").join("file"));
            let! above = names(&folder);
            let! in_a = names(folder.join("a"));
            let! in_b = names(&path);
            seen![missing, first, again, written, text, dots, above, in_a, in_b]
        }
    });
}

#[test]
fn a_file_is_no_folder() {
    agree_on_files(|folder| {
        fiber! {
            let file = folder.join("file");
            do! fs::write(&file, "text");
            let! in_it = contents(&file.join("other"));
            let! writes = fs::write(file.join("other"), "x").done();
            let! list = names(&file);
            let! creates = fs::create_dir_all(&file).done();
            let! below = fs::create_dir_all(file.join("a").join("b")).done();
            let! removes = fs::remove_dir(&file).done();
            let! syncs = fs::sync_dir(&file).done();
            let! renames = fs::rename(&file, file.join("other")).done();
            let! left = contents(&file);
            seen![in_it, writes, list, creates, below, removes, syncs, renames, left]
        }
    });
}

#[test]
fn a_folder_is_no_file() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("a");
            do! fs::create_dir_all(&path);
            let! read = contents(&path);
            let! open = File::open(&path);
            let! reads = reads(&open, 4);
            let! writes = open.write_all("x").done();
            let! length = open.set_len(0).done();
            let! syncs = open.sync_all().done();
            let! create = File::create(&path).done();
            let! append = File::append(&path).done();
            let! update = File::update(&path).done();
            let! removes = fs::remove_file(&path).done();
            let! left = names(&folder);
            seen![read, reads, writes, length, syncs, create, append, update, removes, left]
        }
    });
}

#[test]
fn what_is_missing() {
    agree_on_files(|folder| {
        fiber! {
            let (missing, there) = (folder.join("missing"), folder.join("there"));
            do! fs::write(&there, "text");
            let! list = names(&missing);
            let! file = fs::remove_file(&missing).done();
            let! dir = fs::remove_dir(&missing).done();
            let! syncs = fs::sync_dir(&missing).done();
            let! from = fs::rename(&missing, &there).done();
            let! to = fs::rename(&there, missing.join("file")).done();
            let! open = File::append(missing.join("file")).done();
            let! empty = contents(&PathBuf::new());
            let! left = names(&folder);
            seen![list, file, dir, syncs, from, to, open, empty, left]
        }
    });
}

#[test]
fn a_file_takes_the_place_of_another_one() {
    agree_on_files(|folder| {
        fiber! {
            let (one, other) = (folder.join("one"), folder.join("other"));
            do! fs::write(&one, "one");
            do! fs::write(&other, "other");
            let! replaced = File::open(&other);
            let! renames = fs::rename(&one, &other).done();
            let! syncs = fs::sync_dir(&folder).done();
            let! new = contents(&other);
            let! gone = contents(&one);
            let! still = reads(&replaced, 9);
            let! same = fs::rename(&other, &other).done();
            let! left = names(&folder);
            seen![renames, syncs, new, gone, still, same, left]
        }
    });
}

#[test]
fn an_open_file_is_renamed_and_removed() {
    agree_on_files(|folder| {
        fiber! {
            let (one, other) = (folder.join("one"), folder.join("other"));
            let! file = File::append(&one);
            do! file.write_all("a");
            do! fs::rename(&one, &other);
            let! renamed = file.write_all("b").done();
            let! first = contents(&other);
            let! open = File::open(&other);
            let! removed = fs::remove_file(&other).done();
            let! written = file.write_all("c").done();
            let! synced = file.sync_all().done();
            let! read = reads(&open, 9);
            let! gone = contents(&other);
            do! fs::write(&other, "new");
            let! new = contents(&other);
            let! old = reads(&open, 9);
            seen![renamed, first, removed, written, synced, read, gone, new, old]
        }
    });
}

#[test]
fn folders_are_renamed_with_what_is_in_them() {
    agree_on_files(|folder| {
        fiber! {
            let [a, b, c] = ["a", "b", "c"].map(|name| folder.join(name));
            do! fs::create_dir_all(a.join("deep"));
            do! fs::write(a.join("deep").join("file"), "text");
            do! fs::create_dir_all(&b);
            do! fs::write(&c, "a file");
            let! over_empty = fs::rename(&a, &b).done();
            let! text = contents(&b.join("deep").join("file"));
            let! old = contents(&a.join("deep").join("file"));
            let! into_itself = fs::rename(&b, b.join("deep").join("er")).done();
            let! over_file = fs::rename(&b, &c).done();
            let! file_over_folder = fs::rename(&c, &b).done();
            do! fs::create_dir_all(&a);
            let! over_full = fs::rename(&a, &b).done();
            let! over_above = fs::rename(b.join("deep"), &b).done();
            let! file_over_above = fs::rename(b.join("deep").join("file"), &b).done();
            let! left = names(&folder);
            seen![
                over_empty, text, old, into_itself, over_file, file_over_folder, over_full, over_above,
                file_over_above, left
            ]
        }
    });
}

#[test]
fn a_folder_is_removed_when_it_is_empty() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("a");
            do! fs::create_dir_all(&path);
            do! fs::write(path.join("file"), "");
            let! full = fs::remove_dir(&path).done();
            do! fs::remove_file(path.join("file"));
            let! empty = fs::remove_dir(&path).done();
            let! again = fs::create_dir_all(&path).done();
            let! list = names(&path);
            seen![full, empty, again, list]
        }
    });
}

#[test]
fn names_have_a_greatest_length() {
    agree_on_files(|folder| {
        fiber! {
            let (longest, longer) = (folder.join("n".repeat(255)), folder.join("n".repeat(256)));
            let! fits = fs::write(&longest, "text").done();
            let! write = fs::write(&longer, "text").done();
            let! read = contents(&longer);
            let! folders = fs::create_dir_all(&longer).done();
            let! renames = fs::rename(&longest, &longer).done();
            let! nul = fs::write(folder.join("a\0b"), "text").done();
            seen![fits, write, read, folders, renames, nul]
        }
    });
}

#[test]
fn the_folder_above_a_relative_name_exists() {
    agree_on_files(|_| {
        fiber! {
            let! above = fs::create_dir_all(Path::new("file").parent().unwrap()).done();
            let! list = fs::read_dir("").done();
            let! write = fs::write("", "text").done();
            seen![above, list, write]
        }
    });
}

/// What each operation that takes a path says to it.
fn all_say(path: PathBuf, other: PathBuf) -> Fiber<String> {
    fiber! {
        let! read = contents(&path);
        let! open = File::open(&path).done();
        let! append = File::append(&path).done();
        let! list = names(&path);
        let! syncs = fs::sync_dir(&path).done();
        let! renames = fs::rename(&path, &other).done();
        let! onto = fs::rename(&other, &path).done();
        let! creates = fs::create_dir_all(&path).done();
        let! file = fs::remove_file(&path).done();
        let! folder = fs::remove_dir(&path).done();
        [read, open, append, list, syncs, renames, onto, creates, file, folder].join(" ")
    }
}

/// The same for each of these paths, in folders of their own with the file `file`, the folder `empty` and the file `full/file`.
fn each_says(folder: PathBuf, paths: &'static [&'static str]) -> Fiber<Seen> {
    fiber! {
        let mut seen = Vec::new();
        for (n, path) in paths.iter().enumerate() {
            let folder = folder.join(n.to_string());
            do! fs::create_dir_all(folder.join("empty"));
            do! fs::create_dir_all(folder.join("full"));
            do! fs::write(folder.join("full").join("file"), "text");
            do! fs::write(folder.join("file"), "text");
            let! says = all_say(folder.join(path), folder.join("other"));
            let! left = names(&folder);
            seen.push(format!("{path}: {says}, {left}"));
        }
        seen
    }
}

#[test]
fn a_path_that_ends_with_a_separator() {
    agree_on_files(|folder| {
        each_says(folder, &["file/", "file//", "empty/", "full/", "missing/", "missing/file/", "full/file/"])
    });
}

#[test]
fn a_path_with_dots() {
    agree_on_files(|folder| {
        each_says(
            folder,
            &[
                "file/.",
                "file/./",
                "empty/.",
                "full/./",
                "missing/.",
                "full/./file",
                "file/./file",
                "missing/a/.",
                "missing/./a",
            ],
        )
    });
}

#[test]
fn a_path_with_the_folder_above() {
    agree_on_files(|folder| {
        each_says(
            folder,
            &[
                "file/..",
                "empty/..",
                "empty/../",
                "missing/..",
                "file/../file",
                "empty/../file",
                "missing/../file",
                "missing/../new",
                "empty/../full/../empty",
                "full/file/../..",
            ],
        )
    });
}

/// Folders are created from the first missing one on: then each name below is created, or exists.
#[test]
fn a_file_on_the_way_to_a_folder_that_is_missing() {
    agree_on_files(|folder| {
        fiber! {
            do! fs::write(folder.join("file"), "text");
            let! there = fs::create_dir_all(folder.join("file").join("new")).done();
            let! missing = fs::create_dir_all(folder.join("one").join("..").join("file").join("new")).done();
            let! above = fs::create_dir_all(folder.join("two").join("..").join("file").join("..").join("new")).done();
            let! left = names(&folder);
            seen![there, missing, above, left]
        }
    });
}

#[test]
fn a_name_that_is_too_long_in_a_folder_that_is_missing() {
    agree_on_files(|folder| {
        fiber! {
            let long = "n".repeat(256);
            let! missing = fs::write(folder.join("missing").join(&long), "").done();
            let! creates = fs::create_dir_all(folder.join("new").join(&long)).done();
            let! left = names(&folder);
            seen![missing, creates, left]
        }
    });
}

#[test]
fn a_position_has_a_limit() {
    agree_on_files(|folder| {
        fiber! {
            let path = folder.join("file");
            let! file = File::update(&path);
            do! file.write_all("text");
            let! far = seeks(&file, SeekFrom::Start(1 << 40));
            let! nothing = reads(&file, 8);
            let! farther = seeks(&file, SeekFrom::Start(1 << 63));
            let! farthest = seeks(&file, SeekFrom::Start(u64::MAX));
            let! from_there = seeks(&file, SeekFrom::Current(i64::MAX));
            let! from_the_end = seeks(&file, SeekFrom::End(i64::MAX));
            let! same = seeks(&file, SeekFrom::Current(0));
            let! length = file.set_len(1 << 63).done();
            let! longest = file.set_len(u64::MAX).done();
            let! all = contents(&path);
            seen![far, nothing, farther, farthest, from_there, from_the_end, same, length, longest, all]
        }
    });
}

/// The device of Linux that is always full.
#[test]
fn a_disk_is_full() {
    let writes = |path: PathBuf| {
        fiber! {
            let! file = File::append(&path);
            let! nothing = file.write_all("").done();
            let! written = file.write_all("text").done();
            let! again = file.write_all("text").done();
            let! whole = fs::write(&path, "text").done();
            seen![nothing, written, again, whole]
        }
    };
    agree_on_a_full_disk(writes);
}
