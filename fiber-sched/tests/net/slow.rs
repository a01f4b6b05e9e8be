//! Clients that do not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Fiber, fiber};

use super::{alone, eventually, live_bytes, pool};

const CLIENTS: usize = 50;

/// The size of the server's messages.
const MESSAGE: usize = 1024;

/// The memory of a connection with its buffers, on both sides, and of the fiber that serves it.
const MOST_PER_CLIENT: usize = 64 * 1024;

/// A server sends without end to clients that do not read. Once there is no room, all wait, and each keeps one buffer.
#[test]
fn slow_clients_hold_no_more_memory_than_their_buffers() {
    let _alone = alone();
    let pool = pool(2);
    let put = Arc::new(AtomicUsize::new(0));
    let counts = put.clone();
    let (before, _) = live_bytes::live_and_most();
    let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
    let at = listener.local_addr().unwrap();
    let serves = pool.spawn(listener.serve(CLIENTS, move |stream, _| {
        let counts = counts.clone();
        fiber! {
            let writer = stream.buffered_writer();
            loop {
                do! writer.put([7; MESSAGE]);
                counts.fetch_add(MESSAGE, SeqCst);
            }
        }
    }));
    let clients = pool.run(Fiber::parallel((0..CLIENTS).map(move |_| TcpStream::connect(at)))).unwrap();
    // All serving fibers wait for room.
    let waiting = || pool.dump().to_string().matches("waits for room for data").count();
    eventually("the server waits for all of them", || waiting() == CLIENTS);
    let (sent, (live, _)) = (put.load(SeqCst), live_bytes::live_and_most());
    let per_client = live.saturating_sub(before) / CLIENTS;
    assert!(per_client < MOST_PER_CLIENT, "{per_client} bytes for each client");
    assert!(sent > CLIENTS * MOST_PER_CLIENT, "much more was put than is held: {sent}");
    // A client that finally reads makes progress.
    let reads = clients[0].buffered().limit(usize::MAX).read_exact(sent / CLIENTS);
    assert!(pool.run(reads).unwrap().iter().all(|byte| *byte == 7));
    eventually("the server goes on", || put.load(SeqCst) > sent);
    serves.cancel_now();
}
