//! The digest of one file.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use fiber_core::{CancelToken, Error, Fiber};
use sha2::{Digest, Sha256};

use crate::progress::Progress;

pub(crate) type Sum = [u8; 32];

/// The size of a read: large enough that the call costs nothing compared with the digest, and small enough that a cancellation is
/// noticed within a fraction of a millisecond.
const CHUNK: usize = 64 * 1024;

/// Reads a file on a blocking thread, a chunk at a time. A cancelled fiber stops reading after the chunk.
pub(crate) fn sum(path: Arc<Path>, progress: Arc<Progress>) -> Fiber<Sum> {
    Fiber::blocking_with(move |token| read(&path, token, &progress)).boxed()
}

fn read(path: &Path, token: &CancelToken, progress: &Progress) -> Result<Sum, Error> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        token.check()?;
        match file.read(&mut chunk)? {
            0 => return Ok(digest.finalize().into()),
            size => {
                digest.update(&chunk[..size]);
                progress.has_read(size as u64);
            }
        }
    }
}
