//! Counts the words in texts in memory, like `examples/words.rs`.

use std::collections::HashMap;

use fiber_core::compute::{par_map, par_reduce};
use rayon::prelude::*;

/// The size of a part of a text that is counted separately: large enough for its own map.
const PART: usize = 64 * 1024;

/// The number of occurrences of each word.
pub(crate) type Counts = HashMap<String, u64>;

/// The same, with words that borrow from the texts.
type Borrowed<'a> = HashMap<&'a str, u64>;

/// By one thread.
pub(crate) fn alone(texts: &[String]) -> Counts {
    owned(texts.iter().fold(HashMap::new(), |counts, text| add(counts, text)))
}

/// By borrowed tasks of the current pool.
pub(crate) fn by_borrowed_tasks(texts: &[String]) -> Counts {
    let parts: Vec<&str> = par_map(texts, |text| parts(text)).concat();
    owned(par_reduce(&parts, HashMap::new, |counts, part| add(counts, part), merge))
}

/// By rayon, on the current one of its threads.
pub(crate) fn by_rayon(texts: &[String]) -> Counts {
    let parts: Vec<&str> = texts.par_iter().flat_map_iter(|text| parts(text)).collect();
    owned(parts.par_iter().fold(HashMap::new, |counts, part| add(counts, part)).reduce(HashMap::new, merge))
}

fn owned(counts: Borrowed<'_>) -> Counts {
    counts.into_iter().map(|(word, count)| (word.to_owned(), count)).collect()
}

/// Splits a text into parts that end with a line.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > PART {
        let line_end = rest.as_bytes()[PART..].iter().position(|byte| *byte == b'\n');
        let (part, after) = rest.split_at(line_end.map_or(rest.len(), |at| PART + at + 1));
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Adds the words of a part.
fn add<'a>(mut counts: Borrowed<'a>, part: &'a str) -> Borrowed<'a> {
    let words = part.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

/// Adds the smaller map to the larger one.
fn merge<'a>(a: Borrowed<'a>, b: Borrowed<'a>) -> Borrowed<'a> {
    let (mut large, small) = if a.len() < b.len() { (b, a) } else { (a, b) };
    small.into_iter().for_each(|(word, count)| *large.entry(word).or_default() += count);
    large
}
