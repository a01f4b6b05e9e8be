//! Paths of Unix sockets.

use std::path::PathBuf;

use fiber_core::fiber;
use fiber_core::net::{UnixListener, UnixStream};

use crate::support::{Seen, Told, agree, fresh, next, seen};

#[test]
fn a_path_has_one_listener() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! _listener = UnixListener::bind(&path);
            let! second = UnixListener::bind(&path).done();
            seen![second]
        }
    });
}

#[test]
fn a_path_at_which_there_is_nothing() {
    agree(|| {
        fiber! {
            let! connects = UnixStream::connect(fresh()).done();
            seen![connects]
        }
    });
}

#[test]
fn the_path_of_a_listener_that_has_ended() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! listener = UnixListener::bind(&path);
            drop(listener);
            let! connects = UnixStream::connect(&path).done();
            let! binds = UnixListener::bind(&path).done();
            seen![connects, binds]
        }
    });
}

#[test]
fn a_path_has_a_longest_length() {
    agree(|| {
        fiber! {
            let folder = fresh();
            let folder = folder.parent().expect("it is in one");
            let mut seen = Seen::new();
            let longest = 107 - folder.as_os_str().len() - 1;
            // The last one is so long that it is no name of a file.
            for length in [longest, longest + 1, 300] {
                let path = folder.join("x".repeat(length));
                let! connects = UnixStream::connect(&path).done();
                let! binds = UnixListener::bind(&path).done();
                drop(std::fs::remove_file(path));
                seen.extend([connects, binds]);
            }
            seen
        }
    });
}

#[test]
fn a_path_with_a_zero_in_it() {
    agree(|| {
        fiber! {
            let mut path = fresh().into_os_string();
            path.push("a\0b");
            let! connects = UnixStream::connect(PathBuf::from(&path)).done();
            let! binds = UnixListener::bind(PathBuf::from(&path)).done();
            seen![connects, binds]
        }
    });
}

/// The name of an abstract address, for this process only.
fn abstract_name() -> PathBuf {
    format!("\0{}", fresh().display()).into()
}

#[test]
fn an_abstract_address_is_free_when_its_listener_has_ended() {
    agree(|| {
        fiber! {
            let name = abstract_name();
            let! before = UnixStream::connect(&name).done();
            let! listener = UnixListener::bind(&name);
            let! second = UnixListener::bind(&name).done();
            let! client = UnixStream::connect(&name) and! server = listener.accept();
            do! client.write_all("x");
            let! read = next(&server);
            drop(listener);
            let! after = UnixStream::connect(&name).done();
            let! again = UnixListener::bind(&name).done();
            seen![before, second, read, after, again]
        }
    });
}

#[test]
fn an_abstract_address_has_a_longest_length() {
    agree(|| {
        fiber! {
            let mut seen = Seen::new();
            for length in [107, 108] {
                let name = abstract_name().display().to_string();
                let padded: PathBuf = format!("{name}{}", "x".repeat(length + 1 - name.len())).into();
                let! connects = UnixStream::connect(&padded).done();
                let! binds = UnixListener::bind(&padded).done();
                seen.extend([connects, binds]);
            }
            seen
        }
    });
}

#[test]
fn two_paths_have_their_own_clients() {
    agree(|| {
        fiber! {
            let (one, other) = (fresh(), fresh());
            let! first = UnixListener::bind(&one);
            let! second = UnixListener::bind(&other);
            let! to_second = UnixStream::connect(&other);
            let! to_first = UnixStream::connect(&one);
            let! of_first = first.accept();
            let! of_second = second.accept();
            do! to_first.write_all("1");
            do! to_second.write_all("2");
            let! one = next(&of_first);
            let! other = next(&of_second);
            seen![one, other]
        }
    });
}

#[test]
fn a_path_that_was_removed_is_free() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! nothing = UnixListener::remove(&path).done();
            let! listener = UnixListener::bind(&path);
            drop(listener);
            let! removed = UnixListener::remove(&path).done();
            let! connects = UnixStream::connect(&path).done();
            let! binds = UnixListener::bind(&path).done();
            seen![nothing, removed, connects, binds]
        }
    });
}

#[test]
fn a_path_is_removed_while_somebody_listens_there() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! first = UnixListener::bind(&path);
            let! early = UnixStream::connect(&path);
            let! removed = UnixListener::remove(&path).done();
            let! gone = UnixStream::connect(&path).done();
            let! second = UnixListener::bind(&path);
            let! late = UnixStream::connect(&path);
            drop((early, late));
            let! of_early = first.accept().done();
            drop(first);
            let! of_late = second.accept().done();
            let! still = UnixStream::connect(&path).done();
            seen![removed, gone, of_early, of_late, still]
        }
    });
}

#[test]
fn what_is_no_path_of_a_file_is_not_removed() {
    agree(|| {
        fiber! {
            let name = abstract_name();
            let! _listener = UnixListener::bind(&name);
            let! abstracted = UnixListener::remove(&name).done();
            let! with_zero = UnixListener::remove("/a\0b").done();
            let! long = UnixListener::remove(format!("/{}", "x".repeat(120))).done();
            let! empty = UnixListener::remove("").done();
            seen![abstracted, with_zero, long, empty]
        }
    });
}

/// It stands for any abstract address that is free.
#[test]
fn nobody_connects_to_the_empty_path() {
    agree(|| {
        fiber! {
            let! first = UnixListener::bind("").done();
            let! _second = UnixListener::bind("");
            let! third = UnixListener::bind("").done();
            let! connects = UnixStream::connect("").done();
            seen![first, third, connects]
        }
    });
}
