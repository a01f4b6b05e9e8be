//! The output: a line for each file, in order, as soon as all files before it are done.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use fiber_core::Error;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::progress::Progress;
use crate::sum::Sum;

pub(crate) struct Listing {
    progress: Arc<Progress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The place of the first file that is not done.
    next: usize,
    /// The lines after it that are done. Empty for a file without a line.
    early: BTreeMap<usize, Vec<u8>>,
    /// The digest of the printed lines.
    tree: Sha256,
    unreadable: Vec<String>,
}

impl Listing {
    pub(crate) fn new(progress: Arc<Progress>) -> Self {
        Listing { progress, state: Mutex::default() }
    }

    /// Adds the file at `place`, and prints the lines that were waiting for it.
    ///
    /// # Blocking
    /// While the reader of standard output is slow.
    ///
    /// # Errors
    /// If the lines cannot be written to standard output.
    pub(crate) fn add(&self, place: usize, path: &Path, sum: Result<Sum, Error>) -> Result<(), Error> {
        let state = &mut *self.state.lock();
        let line = match sum {
            Ok(sum) => {
                self.progress.has_summed_a_file();
                line(path, &sum)
            }
            Err(error) => {
                state.unreadable.push(format!("{}: {error}", path.display()));
                Vec::new()
            }
        };
        state.early.insert(place, line);
        while let Some(line) = state.early.remove(&state.next) {
            state.next += 1;
            state.tree.update(&line);
            let printed = self.progress.suspend(|| io::stdout().write_all(&line));
            printed.map_err(|error| Error::new(error).context("standard output"))?;
        }
        Ok(())
    }

    pub(crate) fn add_unreadable(&self, files: Vec<String>) {
        self.state.lock().unreadable.extend(files);
    }

    /// The files that could not be read, and why, in order.
    pub(crate) fn unreadable(&self) -> Vec<String> {
        let mut files = self.state.lock().unreadable.clone();
        files.sort();
        files
    }

    /// The sum of the tree: the digest of all lines.
    pub(crate) fn tree(&self) -> String {
        hex(&self.state.lock().tree.clone().finalize().into())
    }
}

/// A line like that of `sha256sum`. Bytes of the name that would end the line are escaped, and a backslash at the beginning of the
/// line marks that.
fn line(path: &Path, sum: &Sum) -> Vec<u8> {
    let name = path.as_os_str().as_encoded_bytes();
    let mut escaped = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'\\' => escaped.extend(br"\\"),
            b'\n' => escaped.extend(br"\n"),
            b'\r' => escaped.extend(br"\r"),
            _ => escaped.push(byte),
        }
    }
    let mark = if escaped.len() > name.len() { r"\" } else { "" };
    [mark.as_bytes(), hex(sum).as_bytes(), b"  ", &escaped, b"\n"].concat()
}

fn hex(sum: &Sum) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}
