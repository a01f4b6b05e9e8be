//! The contenders: each reads files and counts their words.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use benches::Hosts;
use fiber_core::{Fiber, fiber};
use fiber_sched::block_on;
use futures::{StreamExt, stream};
use rayon::prelude::*;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::counting::{self, Counts};

/// The number of files that are read concurrently.
const READERS: usize = 16;

/// The texts to be counted: all files below a path, several times.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) times: usize,
}

/// The time when all texts had been read, and the counts.
pub(crate) type Counted = (Instant, Counts);

/// One thread reads, and then counts.
pub(crate) fn plain(input: &Input) -> Counted {
    let texts: Vec<String> = input.files().into_iter().map(read).collect();
    (Instant::now(), counting::alone(&texts))
}

/// Fibers read on blocking threads, borrowed tasks count, on one pool: `examples/words.rs`.
pub(crate) fn fibers(hosts: &Hosts, input: &Input) -> Counted {
    let input = input.clone();
    let program: Fiber<Counted> = fiber! {
        let! files = Fiber::blocking(move || input.files());
        let reads = files.into_iter().map(|file| Fiber::blocking(move || read(file)));
        let! texts = Fiber::parallel(reads).limit(READERS);
        let! counted = Fiber::lazy(move || (Instant::now(), counting::by_borrowed_tasks(&texts)));
        counted
    };
    block_on(hosts.pool.spawn(program)).unwrap()
}

/// Tasks of tokio read on blocking threads, rayon counts.
pub(crate) fn tokio_and_rayon(hosts: &Hosts, rayon: &Arc<rayon::ThreadPool>, input: &Input) -> Counted {
    let (input, rayon) = (input.clone(), rayon.clone());
    hosts.on_tokio(async move {
        let files = spawn_blocking(move || input.files()).await.expect("no panic");
        let reads = files.into_iter().map(|file| spawn_blocking(move || read(file)));
        let texts: Vec<String> =
            stream::iter(reads).buffered(READERS).map(|text| text.expect("no panic")).collect().await;
        let (done, is_done) = oneshot::channel();
        rayon.spawn(move || {
            let counted = (Instant::now(), counting::by_rayon(&texts));
            done.send(counted).expect("the task waits");
        });
        is_done.await.expect("no panic")
    })
}

/// The threads of rayon read and count, and block while they read.
pub(crate) fn rayon_alone(rayon: &rayon::ThreadPool, input: &Input) -> Counted {
    rayon.install(|| {
        let texts: Vec<String> = input.files().into_par_iter().map(read).collect();
        (Instant::now(), counting::by_rayon(&texts))
    })
}

impl Input {
    fn files(&self) -> Vec<PathBuf> {
        let files = files_below(&self.path).expect("a readable path");
        vec![files; self.times].concat()
    }

    /// The total size of all texts.
    pub(crate) fn bytes(&self) -> usize {
        self.files().into_iter().map(|file| read(file).len()).sum()
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
fn read(path: PathBuf) -> String {
    String::from_utf8(fs::read(path).expect("a readable file")).unwrap_or_default()
}
