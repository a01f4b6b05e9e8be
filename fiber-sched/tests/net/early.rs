//! Reads that stop although more has arrived: at urgent data, and at descriptors that came with the data.

use std::io::{IoSlice, Write};
use std::mem::MaybeUninit;
use std::net;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use fiber_core::net::{ByteStream, TcpListener, UnixListener};
use fiber_core::{Fiber, fiber};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, send, sendmsg};

use super::{PATIENCE, alone, pool};

/// Asks a few times, and reads each answer in one piece if it came in one.
fn reads_all(stream: ByteStream, ask: impl Fn() + Send + 'static) -> Fiber<()> {
    fiber! {
        for round in 0..100 {
            ask();
            if round % 2 == 0 {
                // All of it is there, and its event has come.
                thread::sleep(Duration::from_millis(2));
                do! stream.readable();
                do! Fiber::yield_now();
            }
            let mut all = Vec::new();
            while !all.ends_with(b"end") {
                let! (n, piece) = stream.read([0; 64]);
                all.extend_from_slice(&piece[..n]);
            }
            assert_eq!(all, b"beginning, end", "round {round}");
        }
    }
}

#[test]
fn what_follows_an_urgent_byte_is_read() {
    let _alone = alone();
    let pool = pool(2);
    let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
    let client = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    let (server, _) = pool.run(listener.accept()).unwrap();
    let ask = move || {
        (&client).write_all(b"beginning, ").unwrap();
        send(&client, b"!", SendFlags::OOB).unwrap();
        (&client).write_all(b"end").unwrap();
    };
    pool.run(reads_all(server.into(), ask).timeout(PATIENCE)).unwrap();
}

#[test]
fn what_follows_descriptors_is_read() {
    let _alone = alone();
    let pool = pool(2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = pool.run(UnixListener::bind(&path)).unwrap();
    let client = UnixStream::connect(&path).unwrap();
    let server = pool.run(listener.accept()).unwrap();
    let ask = move || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut passed = SendAncillaryBuffer::new(&mut space);
        let descriptors = [client.as_fd()];
        assert!(passed.push(SendAncillaryMessage::ScmRights(&descriptors)));
        sendmsg(&client, &[IoSlice::new(b"beginning, ")], &mut passed, SendFlags::empty()).unwrap();
        (&client).write_all(b"end").unwrap();
    };
    pool.run(reads_all(server.into(), ask).timeout(PATIENCE)).unwrap();
}
