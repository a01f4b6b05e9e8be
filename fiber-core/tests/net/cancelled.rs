//! The effects of a cancellation.

use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Either, Fiber, fiber};

use crate::worlds::{connected, everywhere, everywhere_at_length, pattern};

const SOON: Duration = Duration::from_millis(20);

#[test]
fn a_cancelled_read_has_taken_nothing() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            for _ in 0..3 {
                let! read = server.read([0; 8]).timeout_option(Duration::from_millis(5));
                assert!(read.is_none());
            }
            do! client.write_all("all of it");
            let! read = server.buffered().read_exact(9);
            assert_eq!(read, b"all of it");
        }
    });
}

/// The result of one read, unless it was cancelled.
type Attempt = Option<(usize, [u8; 16])>;

/// One side sends parts; the other reads, and is cancelled repeatedly, at any moment. It gets every byte once and in
/// order.
fn loses_no_byte(read: fn(&TcpStream) -> Fiber<Attempt>) -> Fiber<()> {
    fiber! {
        let! (client, server) = connected();
        let sends = fiber! {
            for part in pattern(60).chunks(3) {
                do! client.write_all(part.to_vec());
                do! Fiber::delay(Duration::from_micros(300));
            }
            drop(client);
        };
        let reads = fiber! {
            let mut all = Vec::new();
            loop {
                let! attempt = read(&server);
                let Some((n, bytes)) = attempt else { continue };
                if n == 0 { break }
                all.extend_from_slice(&bytes[..n]);
            }
            all
        };
        let! () = sends and! all = reads;
        assert_eq!(all, pattern(60));
    }
}

const CUT: Duration = Duration::from_micros(200);

#[test]
fn whoever_races_readable_loses_no_byte() {
    fn read(server: &TcpStream) -> Fiber<Attempt> {
        let server = server.clone();
        fiber! {
            let! first = server.readable().race(Fiber::delay(CUT));
            if let Either::Right(()) = first { return None }
            let! read = server.read([0; 16]);
            Some(read)
        }
    }
    everywhere(|| loses_no_byte(read));
}

#[test]
fn a_read_that_races_a_delay_loses_no_byte() {
    fn read(server: &TcpStream) -> Fiber<Attempt> {
        let race = server.read([0; 16]).race(Fiber::delay(CUT));
        race.map(|first| match first {
            Either::Left(read) => Some(read),
            Either::Right(()) => None,
        })
        .boxed()
    }
    everywhere(|| loses_no_byte(read));
}

#[test]
fn a_read_that_succeeds_within_its_timeout_wins() {
    everywhere(|| loses_no_byte(|server| server.read([0; 16]).timeout_option(CUT).boxed()));
}

#[test]
fn a_cancelled_accept_has_taken_no_connection() {
    everywhere(|| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let! nobody = listener.accept().timeout_option(SOON);
            assert!(nobody.is_none());
            let! client = TcpStream::connect(listener.local_addr()?);
            let! (_server, from) = listener.accept();
            assert_eq!(client.local_addr()?, from);
        }
    });
}

#[test]
fn a_torn_write_is_known() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let all = 16 * 1024 * 1024;
            // There is room for a part, and no reader.
            let! first = client.write_all(vec![7; all]).map(drop).race(Fiber::delay(SOON));
            assert!(matches!(first, Either::Right(())));
            let torn = client.torn_write().expect("a part was written");
            assert_eq!(torn.of, all);
            assert!(0 < torn.written && torn.written < all, "{torn}");
            drop(client);
            let! read = server.buffered().limit(usize::MAX).rest();
            assert_eq!(read.len(), torn.written, "it says what the other end gets");
        }
    });
}

#[test]
fn a_torn_write_of_several_buffers_is_known() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let parts = vec![vec![7; 1024 * 1024]; 16];
            let! first = client.write_all_vectored(parts).map(drop).race(Fiber::delay(SOON));
            assert!(matches!(first, Either::Right(())));
            let torn = client.torn_write().expect("a part was written");
            assert_eq!(torn.of, 16 * 1024 * 1024);
            drop(client);
            let! read = server.buffered().limit(usize::MAX).rest();
            assert_eq!(read.len(), torn.written, "it says what the other end gets");
        }
    });
}

#[test]
fn a_write_that_has_not_begun_is_not_torn() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            // Until there is no room left.
            loop {
                let! wrote = client.write(vec![7; 64 * 1024]).timeout_option(SOON);
                if wrote.is_none() { break }
            }
            let! first = client.write_all("late").map(drop).race(Fiber::delay(SOON));
            assert!(matches!(first, Either::Right(())));
            assert_eq!(client.torn_write(), None);
            drop(server);
        }
    });
}

#[test]
fn waiting_fibers_are_cancelled_at_once_and_leave_the_socket() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reads = { let server = server.clone(); move |_| server.read([0; 8]).map(drop).boxed() };
            let! first = Fiber::parallel((0..10).map(reads)).map(drop).race(Fiber::delay(SOON));
            assert!(matches!(first, Either::Right(())));
            // No receiver is left.
            do! client.write_all("x");
            let! (n, _) = server.read([0; 8]);
            assert_eq!(n, 1);
        }
    });
}
