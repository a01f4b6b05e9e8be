//! The checksum example as a process, compared with `sha256sum` and `find`.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// More bytes than can be read while a test runs. A sparse file takes no space.
const ENDLESS: u64 = 1 << 40;

/// Much longer than any step takes, on any machine, and much shorter than reading an endless file.
const PROMPT: Duration = Duration::from_secs(60);

/// The program, which Cargo builds for a test only on request. In the workspace's root, it has the features that `cargo test`
/// has built it with.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--example", "checksum", "--message-format", "json"]);
        build.args((!cfg!(debug_assertions)).then_some("--release")).current_dir(ROOT);
        let messages = String::from_utf8(output(&mut build).stdout).unwrap();
        let (_, rest) = messages.rsplit_once(r#""executable":""#).expect("an executable");
        PathBuf::from(rest.split_once('"').expect("the end of its name").0)
    })
}

fn checksum(directory: &TempDir) -> Command {
    let mut command = Command::new(program());
    command.current_dir(directory);
    command
}

fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The output of a shell script in the directory.
fn shell(directory: &TempDir, script: &str) -> Vec<u8> {
    let output = output(Command::new("sh").args(["-euc", script]).current_dir(directory));
    assert!(output.status.success(), "{script}: {}", text(&output.stderr));
    output.stdout
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tree() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn write(directory: &TempDir, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
    let path = directory.path().join(name.as_ref());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn write_endless(directory: &TempDir, name: &str) {
    File::create(directory.path().join(name)).unwrap().set_len(ENDLESS).unwrap();
}

/// Names and contents that are known to cause trouble.
fn troublesome_tree() -> TempDir {
    let tree = tree();
    let names = [
        "plain",
        "with space",
        "two  spaces",
        " ",
        "back\\slash",
        "new\nline",
        "return\r",
        "*star",
        "\\",
        "ünï",
        "a.txt",
    ];
    for (n, name) in names.into_iter().enumerate() {
        write(&tree, name, name.repeat(n));
        write(&tree, format!("a/b/{name}"), name);
    }
    write(&tree, OsStr::from_bytes(b"not \xff\xfe unicode"), "x");
    write(&tree, OsStr::from_bytes(b"\xe4/\xf6\n"), "y");
    write(&tree, "empty", "");
    write(&tree, "large", [7; 1_000_003]);
    write(&tree, "d/".repeat(100) + "deep", "z");
    fs::create_dir(tree.path().join("no files")).unwrap();
    symlink("plain", tree.path().join("link")).unwrap();
    symlink("nowhere", tree.path().join("dangling")).unwrap();
    symlink(".", tree.path().join("loop")).unwrap();
    shell(&tree, "mkfifo pipe");
    tree
}

mod listing {
    use super::*;

    #[test]
    fn is_byte_for_byte_that_of_sha256sum_in_the_order_of_the_names() {
        let tree = troublesome_tree();
        let expected = shell(&tree, "find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum");
        assert!(expected.len() > 24 * 64, "{}", text(&expected));
        for jobs in ["1", "2", "64"] {
            let output = output(checksum(&tree).args(["--jobs", jobs]));
            assert_eq!(text(&output.stdout), text(&expected));
            assert_eq!(output.stdout, expected);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
    }

    #[test]
    fn names_the_files_as_the_path_was_given() {
        let tree = troublesome_tree();
        for path in ["a", "a/", "./a//b", "plain", "new\nline", tree.path().to_str().unwrap()] {
            let output = output(checksum(&tree).arg(path));
            let script = "find \"$0\" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum";
            let expected = super::output(Command::new("sh").args(["-c", script, path]).current_dir(&tree));
            assert_eq!(text(&output.stdout), text(&expected.stdout));
        }
    }

    #[test]
    fn is_accepted_by_sha256sum() {
        let tree = troublesome_tree();
        let listing = output(&mut checksum(&tree)).stdout;
        let mut check = Command::new("sha256sum");
        check.args(["--check", "--strict", "--warn", "--quiet"]).current_dir(&tree);
        let mut check = check.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        check.stdin.take().unwrap().write_all(&listing).unwrap();
        let output = check.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
    }

    #[test]
    fn follows_a_link_that_is_the_path_itself() {
        let tree = tree();
        write(&tree, "real/file", "x");
        symlink("real", tree.path().join("link")).unwrap();
        let output = output(checksum(&tree).arg("link"));
        assert_eq!(text(&output.stdout), text(&shell(&tree, "sha256sum link/file")));
    }

    #[test]
    fn of_nothing_is_empty() {
        let output = output(&mut checksum(&tree()));
        assert_eq!(output.stdout, b"");
        assert_eq!(output.status.code(), Some(0));
    }
}

mod last_word {
    use super::*;

    #[test]
    fn has_the_sum_of_the_listing_as_the_sum_of_the_tree() {
        let tree = troublesome_tree();
        let output = output(&mut checksum(&tree));
        write(&tree, "listing", output.stdout);
        let sum = text(&shell(&tree, "sha256sum < listing"));
        let expected = format!("tree: {}\n", sum.split_whitespace().next().unwrap());
        assert!(text(&output.stderr).contains(&expected), "{}", text(&output.stderr));
    }

    #[test]
    fn tells_files_and_bytes_and_time_and_no_progress_where_there_is_no_terminal() {
        let tree = tree();
        write(&tree, "a", [1; 1024]);
        write(&tree, "b", [2; 512]);
        let stderr = text(&output(&mut checksum(&tree)).stderr);
        let [_, last] = stderr.lines().collect::<Vec<_>>()[..] else { panic!("two lines: {stderr}") };
        assert!(
            last.starts_with("2 of 2 files, 1.50 KiB of 1.50 KiB in ") && last.ends_with("/s)"),
            "{last}"
        );
    }
}

mod trouble {
    use super::*;

    /// Makes a file and a directory that cannot be opened, not even by root: their paths are longer than the 4096 bytes that
    /// the system accepts. Each half of such a path is short enough to be created.
    fn write_unreadable(tree: &TempDir) {
        let name = |letter: &str| letter.repeat(250);
        let [outer, inner] = ["o", "i"].map(|letter| vec![name(letter); 8].join("/"));
        fs::create_dir_all(tree.path().join(&outer)).unwrap();
        write(tree, format!("{inner}/{}", name("f")), "");
        write(tree, format!("{inner}/{}/file", name("d")), "");
        fs::rename(tree.path().join(name("i")), tree.path().join(outer).join(name("i"))).unwrap();
    }

    #[test]
    fn with_a_file_or_directory_leaves_the_others_listed() {
        let tree = tree();
        write(&tree, "a", "a");
        write(&tree, "z", "z");
        write_unreadable(&tree);
        let output = output(&mut checksum(&tree));
        assert_eq!(text(&output.stdout), text(&shell(&tree, "sha256sum ./a ./z")));
        let stderr = text(&output.stderr);
        let [directory, file, _, last] = stderr.lines().collect::<Vec<_>>()[..] else { panic!("{stderr}") };
        assert!(directory.ends_with("dd: File name too long (os error 36)"), "{stderr}");
        assert!(file.ends_with("ff: File name too long (os error 36)"), "{stderr}");
        assert!(last.starts_with("2 of 3 files, 2 B of "), "{stderr}");
        assert_eq!(output.status.code(), Some(1));
    }

    #[test]
    fn of_a_file_that_takes_too_long_is_told_like_any_other() {
        let tree = tree();
        write(&tree, "a", "a");
        write_endless(&tree, "endless");
        write(&tree, "z", "z");
        let others = text(&shell(&tree, "sha256sum ./a ./z"));
        // Again with more time, if the machine is so busy that a small file has taken too long as well.
        let limits = (0..).map(|attempt| Duration::from_millis(200) * 2_u32.pow(attempt));
        let are_others_listed = limits.take_while(|limit| *limit < PROMPT).any(|limit| {
            let output = output(checksum(&tree).args(["--timeout", &limit.as_secs_f64().to_string()]));
            let stderr = text(&output.stderr);
            let message = format!("checksum: ./endless: timed out after {limit:?}\n");
            assert!(stderr.contains(&message), "{stderr}");
            assert_eq!(output.status.code(), Some(1));
            let are_listed = text(&output.stdout) == others;
            assert!(!are_listed || stderr.starts_with(&message), "{stderr}");
            are_listed
        });
        assert!(are_others_listed);
    }

    #[test]
    fn with_the_path_is_told_in_one_line() {
        let tree = tree();
        shell(&tree, "mkfifo pipe");
        for (path, message) in [
            ("nowhere", "checksum: nowhere: No such file or directory (os error 2)\n"),
            ("pipe", "checksum: pipe: neither a regular file nor a directory\n"),
        ] {
            let output = output(checksum(&tree).arg(path));
            assert_eq!(text(&output.stderr), message);
            assert_eq!(output.stdout, b"");
            assert_eq!(output.status.code(), Some(2));
        }
    }

    #[test]
    fn with_the_command_line_is_told_and_help_is_given() {
        let tree = tree();
        for arguments in [&["--jobs", "0"][..], &["--timeout", "-1"], &["--what"], &["a", "b"]] {
            let output = output(checksum(&tree).args(arguments));
            assert!(text(&output.stderr).contains("--help"), "{}", text(&output.stderr));
            assert_eq!(output.status.code(), Some(2));
        }
        let help = output(checksum(&tree).arg("--help"));
        assert!(text(&help.stdout).starts_with("Usage: checksum "));
        assert_eq!(help.status.code(), Some(0));
    }

    #[test]
    fn with_the_output_ends_the_program() {
        let tree = tree();
        write(&tree, "a", "a");
        write_endless(&tree, "endless");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let child = checksum(&tree).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let message = "checksum: standard output: No space left on device (os error 28)\n";
        assert_eq!(text(&output.stderr), message);
        assert_eq!(output.status.code(), Some(2));
    }
}

mod ctrl_c {
    use super::*;

    #[test]
    fn ends_the_program_promptly_and_tells_how_far_it_was() {
        let tree = tree();
        write(&tree, "a", "a");
        write_endless(&tree, "endless");
        write_endless(&tree, "endless too");
        let mut child = checksum(&tree).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        // After its first line, only endless files are left.
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.ends_with("  ./a\n"), "{line}");

        let interrupted = Instant::now();
        let pid = child.id().to_string();
        assert!(output(Command::new("kill").args(["-INT", &pid])).status.success());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(interrupted.elapsed() < PROMPT);
        assert!(stderr.starts_with("checksum: interrupted after 1 of 3 files, "), "{stderr}");
        // On a busy machine, the first buffer of an endless file may not have come yet: "1 B of".
        assert!(stderr.contains("B of 2.00 TiB in ") && !stderr.contains("2.00 TiB of"), "{stderr}");
    }
}
