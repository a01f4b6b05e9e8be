//! `words [PATH] [COUNT]`: the most frequent words in the text files below a directory.
//!
//! ```text
//! cargo run --release --example words -- . 20
//! ```
//!
//! Fibers read the files, a few at a time, on blocking threads. Borrowed tasks count their words, on the workers
//! of the same pool: `par_reduce` splits a text at line ends and merges the counts of its parts, whose words point into the text.
//! Ctrl-C needs no handler, because nothing is written.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fiber_core::{Fiber, Outcome, fiber};
use fiber_sched::{Pool, join, par_map, par_reduce};

/// Files that are read at a time.
const READERS: usize = 16;

/// The size of a part of a text that is counted separately: large enough for its own map.
const PART: usize = 64 * 1024;

/// How often each word occurs.
type Counts = HashMap<String, u64>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| ".".to_owned());
    let most = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(10);
    match Pool::new().run(count_words(path.into())) {
        Outcome::Success(counts) => {
            frequent(&counts, most).into_iter().for_each(|(word, count)| println!("{count:>8} {word}"));
            ExitCode::SUCCESS
        }
        other => {
            eprintln!("words: {:?}", other.into_result().map(|_| ()));
            ExitCode::FAILURE
        }
    }
}

/// The program: the words of all files below a path.
fn count_words(path: PathBuf) -> Fiber<Counts> {
    fiber! {
        let! files = Fiber::try_blocking(move || files_below(&path));
        let! texts = Fiber::parallel(files.into_iter().map(read)).limit(READERS);
        let! counts = Fiber::lazy(move || of_all(&texts));
        counts
    }
}

/// All files below a path, in order. Links are not followed.
fn files_below(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file()));
    entries.sort_by_key(fs::DirEntry::file_name);
    let below = entries.into_iter().map(|entry| files_below(&entry.path()));
    Ok(below.collect::<io::Result<Vec<_>>>()?.concat())
}

/// The contents of a file; empty if it is not UTF-8.
fn read(path: PathBuf) -> Fiber<String> {
    let text =
        Fiber::try_blocking(move || fs::read(path)).map(|bytes| String::from_utf8(bytes).unwrap_or_default());
    text.boxed()
}

/// The words of all texts. Each text is a task, and large ones are split.
fn of_all(texts: &[String]) -> Counts {
    let parts: Vec<&str> = par_map(texts, |text| parts(text)).concat();
    let counts = par_reduce(&parts, HashMap::new, |counts, part| add(counts, part), merge);
    counts.into_iter().map(|(word, count)| (word.to_owned(), count)).collect()
}

/// Splits a text into parts that end with a line.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > PART {
        let end = rest.as_bytes()[PART..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(rest.len(), |at| PART + at + 1);
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Adds the words of a part.
fn add<'a>(mut counts: HashMap<&'a str, u64>, part: &'a str) -> HashMap<&'a str, u64> {
    let words = part.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

/// Adds the smaller map to the larger one.
fn merge<'a>(a: HashMap<&'a str, u64>, b: HashMap<&'a str, u64>) -> HashMap<&'a str, u64> {
    let (mut large, small) = if a.len() < b.len() { (b, a) } else { (a, b) };
    small.into_iter().for_each(|(word, count)| *large.entry(word).or_default() += count);
    large
}

/// The most frequent words; ties are in alphabetical order.
fn frequent(counts: &Counts, most: usize) -> Vec<(&str, u64)> {
    let mut all: Vec<_> = counts.iter().map(|(word, count)| (word.as_str(), *count)).collect();
    sort(&mut all);
    all.truncate(most);
    all
}

/// Sorts both halves in parallel, and then the whole, which is nearly sorted by then.
fn sort(words: &mut [(&str, u64)]) {
    let order = |a: &(&str, u64), b: &(&str, u64)| b.1.cmp(&a.1).then(a.0.cmp(b.0));
    let (left, right) = words.split_at_mut(words.len() / 2);
    join(|| left.sort_by(order), || right.sort_by(order));
    words.sort_by(order);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(texts: &[String]) -> Counts {
        let mut counts = Counts::new();
        for word in texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric())) {
            *counts.entry(word.to_owned()).or_default() += u64::from(!word.is_empty());
        }
        counts.remove("");
        counts
    }

    /// A text of several parts, beside small ones.
    fn texts() -> Vec<String> {
        let line = |n: usize| format!("line {n} has {} words, Straße included\n", n % 7);
        let long = (0..10_000).map(line).collect();
        vec![long, String::new(), "one".to_owned(), "no line end ".repeat(20_000)]
    }

    #[test]
    fn the_counts_are_those_of_a_plain_loop() {
        let texts = texts();
        assert!(parts(&texts[0]).len() > 3);
        assert_eq!(of_all(&texts), alone(&texts));
    }

    #[test]
    fn files_of_a_directory_are_read_and_counted() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("below")).unwrap();
        fs::write(directory.path().join("a.txt"), "tea milk tea").unwrap();
        fs::write(directory.path().join("below/b.txt"), "tea, sugar!").unwrap();
        fs::write(directory.path().join("no-text"), [0xff, 0xfe]).unwrap();
        let counts = Pool::new().run(count_words(directory.path().to_owned())).unwrap();
        assert_eq!(frequent(&counts, 2), [("tea", 3), ("milk", 1)]);
    }

    #[test]
    fn a_path_that_is_not_there_is_a_failure() {
        assert!(Pool::new().run(count_words("/does/not/exist".into())).is_failure());
    }
}
