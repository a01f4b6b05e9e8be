//! Much data.

use std::time::Duration;

use fiber_core::net::TcpStream;
use fiber_core::{Fiber, fiber};
use fiber_test::TestScheduler;

use super::support::{connected, hosts, millis, secs};

/// Reads until the end. Returns how many reads there were, and how many bytes.
fn takes(stream: TcpStream, most: usize) -> Fiber<(u64, u64)> {
    fiber! {
        let (mut reads, mut bytes) = (0, 0);
        let mut buffer = vec![0; most];
        loop {
            let! (n, filled) = stream.read(buffer);
            if n == 0 { break (reads, bytes) }
            reads += 1;
            bytes += n as u64;
            buffer = filled;
        }
    }
}

fn gives(stream: TcpStream, bytes: u64, piece: usize) -> Fiber<()> {
    fiber! {
        let mut piece = vec![7; piece];
        let mut left = bytes;
        while left > 0 {
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= piece.len() as u64;
            let! given = stream.write_all(piece);
            piece = given;
        }
    }
}

/// How many reads a transfer between two hosts takes, and the time.
fn transferred(bytes: u64, bandwidth: u64) -> (u64, Duration) {
    let test = TestScheduler::new();
    test.network().between("a", "b").set_bandwidth(bandwidth);
    let (outcome, elapsed) = test.run_timed(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        let! (reads, read) = takes(server, 64 * 1024) and! () = gives(client, bytes, 64 * 1024);
        assert_eq!(read, bytes);
        reads
    });
    (outcome.unwrap(), elapsed)
}

const MEGABYTE: u64 = 1_000_000;

#[test]
fn a_hundred_megabytes_take_their_time_and_few_reads() {
    let (reads, elapsed) = transferred(100 * MEGABYTE, MEGABYTE);
    assert_eq!(elapsed, secs(100));
    assert!(reads < 2 * 100 * MEGABYTE / (64 * 1024), "{reads} reads");
}

/// A window that is full makes the packets no smaller.
#[test]
fn reads_grow_with_the_data_and_not_faster() {
    let reads = |kilobytes: u64| transferred(kilobytes * 1_000, MEGABYTE).0;
    assert!(reads(300) <= 10 && reads(3_000) <= 100, "{} and {}", reads(300), reads(3_000));
}

/// A writer of single bytes beside a reader of single bytes.
#[test]
fn a_writer_is_not_woken_for_each_byte() {
    let test = TestScheduler::new();
    test.network().set_capacity(1_000);
    let (outcome, elapsed) = test.run_timed(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! network = fiber_test::network();
        network.set_latency(millis(1));
        let! (client, server) = connected(&a, &b);
        let! (_, read) = takes(server, 1) and! () = gives(client, 10_000, 10_000);
        assert_eq!(read, 10_000);
    });
    outcome.unwrap();
    // Half of the capacity in each millisecond, and not a byte.
    assert!(elapsed < millis(30), "{elapsed:?}");
}
