//! Files.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, SeekFrom};
use std::path::PathBuf;

use fiber_core::fs::{self, File};
use fiber_core::{Error, Fiber, fiber};
use fiber_test::TestScheduler;
use tempfile::TempDir;

/// Runs a program with its own folder, on real threads and on a timeline.
fn everywhere(program: fn(PathBuf) -> Fiber<()>) {
    let folder = || TempDir::new().unwrap();
    let (one, other) = (folder(), folder());
    fiber_sched::Pool::builder().workers(2).build().run(program(one.path().into())).unwrap();
    let test = TestScheduler::new();
    test.run(program(other.path().into())).unwrap();
    test.assert_no_leaks();
}

#[test]
fn what_was_written_is_read() {
    everywhere(|folder| {
        fiber! {
            let path = folder.join("file");
            do! fs::write(&path, "old and long");
            do! fs::write(&path, vec![1, 2, 3]);
            let! bytes = fs::read(&path);
            assert_eq!(bytes, [1, 2, 3]);
            do! fs::write(&path, "text");
            let! text = fs::read_to_string(&path);
            assert_eq!(text, "text");
        }
    });
}

#[test]
fn an_open_file_has_a_position() {
    everywhere(|folder| {
        fiber! {
            let options = || OpenOptions::new().read(true).write(true).create(true).truncate(true).to_owned();
            let file = File::from(options().open(folder.join("file"))?);
            do! file.write_all("one two");
            let! at = file.seek(SeekFrom::Start(4));
            assert_eq!(at, 4);
            let! (n, buffer) = file.read([0; 8]);
            assert_eq!(&buffer[..n], b"two");
            let! (n, _) = file.read([0; 8]);
            assert_eq!(n, 0, "the end");
            let! length = file.run(|file| Ok(file.metadata()?.len()));
            assert_eq!(length, 7);
        }
    });
}

#[test]
fn clones_write_one_after_the_other() {
    everywhere(|folder| {
        fiber! {
            let path = folder.join("log");
            let! log = File::create(&path);
            let line = |n: u32| { let log = log.clone(); log.write_all(format!("{n:02}\n")).map(drop).boxed() };
            do! Fiber::parallel((0..20).map(line).collect::<Vec<_>>()).map(drop);
            do! log.sync_all();
            let! text = fs::read_to_string(&path);
            let mut lines: Vec<_> = text.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, (0..20).map(|n| format!("{n:02}")).collect::<Vec<_>>());
        }
    });
}

#[test]
fn an_error_names_the_file() {
    everywhere(|folder| {
        fiber! {
            let path = folder.join("missing");
            for attempt in [fs::read(&path).map(drop).boxed(), File::open(&path).map(drop).boxed()] {
                let! error = attempt.map(|()| None).catch(|error| Fiber::success(Some(error)));
                let error = error.expect("there is no such file");
                assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::NotFound);
                assert!(error.to_string().contains("missing: "), "{error}");
            }
        }
    });
}

/// The text of the error.
fn fails<T: Send + 'static>(operation: Fiber<T>) -> Fiber<String> {
    let text = |error: Error| {
        assert!(error.downcast_ref::<io::Error>().is_some(), "{error}");
        Fiber::success(error.to_string())
    };
    operation.map(|_| panic!("it succeeds")).catch(text).boxed()
}

#[test]
fn an_error_of_an_open_file_names_the_file_and_what_failed() {
    everywhere(|folder| {
        fiber! {
            let path = folder.join("file");
            let! created = File::create(&path);
            let! opened = File::open(&path);
            let failing = [
                ("reading", fails(created.read([0; 8]))),
                ("writing", fails(opened.write_all("text"))),
                ("seeking in", fails(opened.seek(SeekFrom::End(-1)))),
                ("setting the length of", fails(opened.set_len(1))),
                ("using", fails(opened.run(|_| Err::<(), _>(ErrorKind::Other.into())))),
            ];
            for (doing, failing) in failing {
                let! error = failing;
                assert!(error.starts_with(&format!("{doing} {}: ", path.display())), "{error}");
            }
            let! error = fails(File::from(std::fs::File::open(&path)?).write_all("text"));
            assert!(error.starts_with("writing a file: "), "{error}");
        }
    });
}

#[test]
fn an_error_of_a_rename_names_both_paths() {
    everywhere(|folder| {
        fiber! {
            let (from, to) = (folder.join("from"), folder.join("to"));
            let! error = fails(fs::rename(&from, &to));
            assert!(error.starts_with(&format!("renaming {} to {}: ", from.display(), to.display())), "{error}");
        }
    });
}
