//! The lines of a stream of bytes, which arrive in pieces of any size, are those of the standard library.
#![no_main]

use std::io::BufRead;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Fiber, fiber};
use fiber_test::TestScheduler;
use libfuzzer_sys::fuzz_target;

/// The lines until the end, or until the first that is not UTF-8.
fn expected(bytes: &[u8]) -> Vec<String> {
    bytes.lines().map_while(Result::ok).collect()
}

fn read(pieces: Vec<Vec<u8>>) -> Fiber<Vec<String>> {
    fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
        let sends = fiber! {
            for piece in pieces {
                do! client.write_all(piece);
            }
            drop(client);
        };
        let reads = fiber! {
            let (reader, mut lines) = (server.buffered(), Vec::new());
            loop {
                let! line = reader.line().map(Ok).catch(|error| Fiber::success(Err(error)));
                let Ok(Some(line)) = line else { break };
                lines.push(line);
            }
            lines
        };
        let! lines = reads and! _ = sends.attempt();
        lines
    }
}

// The first byte is the size of the pieces.
fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let pieces = bytes.chunks(usize::from(*size).max(1)).map(<[u8]>::to_vec).collect();
    assert_eq!(TestScheduler::new().run(read(pieces)).unwrap(), expected(bytes));
});
