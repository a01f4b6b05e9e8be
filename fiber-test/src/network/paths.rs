//! The paths of Unix sockets, as on Linux. A path outlives its listener, until it is removed; an abstract address, which begins with a
//! zero byte, does not.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::socket::Listening;

/// The length of the field in the address of a socket.
const LENGTH: usize = 108;

/// The paths of all hosts. `None`: the listener has ended.
#[derive(Default)]
pub(super) struct Paths(BTreeMap<(usize, PathBuf), Option<Arc<Listening>>>);

impl Paths {
    pub(super) fn listen(&mut self, host: usize, at: &Path) -> io::Result<Arc<Listening>> {
        check(at)?;
        let key = (host, at.to_owned());
        if self.0.contains_key(&key) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let listening = Listening::new(None, false);
        // The empty path stands for an abstract address that is free, which nobody learns.
        if !at.as_os_str().is_empty() {
            self.0.insert(key, Some(listening.clone()));
        }
        Ok(listening)
    }

    pub(super) fn find(&self, host: usize, to: &Path) -> io::Result<Arc<Listening>> {
        check(to)?;
        if to.as_os_str().is_empty() {
            return Err(ErrorKind::InvalidInput.into());
        }
        match self.0.get(&(host, to.to_owned())) {
            Some(Some(listening)) => Ok(listening.clone()),
            None if !is_abstract(to) => Err(ErrorKind::NotFound.into()),
            _ => Err(ErrorKind::ConnectionRefused.into()),
        }
    }

    pub(super) fn remove(&mut self, host: usize, path: &Path) -> io::Result<()> {
        // What is no path of a file cannot be removed; one that is too long for a socket can be missing.
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(ErrorKind::InvalidInput.into());
        }
        self.0.remove(&(host, path.to_owned())).map(drop).ok_or(ErrorKind::NotFound.into())
    }

    /// The listener has ended.
    pub(super) fn forget(&mut self, listening: &Arc<Listening>) -> Option<Arc<Listening>> {
        let is_it =
            |one: &Option<Arc<Listening>>| one.as_ref().is_some_and(|one| Arc::ptr_eq(one, listening));
        self.end(|_, one| is_it(one)).pop()
    }

    /// All listeners of a host, which end.
    pub(super) fn crash(&mut self, host: usize) -> Vec<Arc<Listening>> {
        self.end(|of, _| of == host)
    }

    fn end(&mut self, is_over: impl Fn(usize, &Option<Arc<Listening>>) -> bool) -> Vec<Arc<Listening>> {
        let mut ended = Vec::new();
        self.0.retain(|(host, path), one| {
            let is_over = is_over(*host, one);
            if is_over {
                ended.extend(one.take());
            }
            !is_over || !is_abstract(path)
        });
        ended
    }
}

fn is_abstract(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().first() == Some(&0)
}

/// Whether it can be an address.
fn check(path: &Path) -> io::Result<()> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_valid = match bytes {
        [0, ..] => bytes.len() <= LENGTH,
        _ => bytes.len() < LENGTH && !bytes.contains(&0),
    };
    if is_valid { Ok(()) } else { Err(ErrorKind::InvalidInput.into()) }
}
