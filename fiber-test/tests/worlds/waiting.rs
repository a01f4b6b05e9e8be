//! What wakes the fibers that wait at a connection.

use std::net::Shutdown::{Read, Write};

use fiber_core::net::ByteStream;
use fiber_core::{Fiber, fiber};

use crate::support::{Seen, Told, fills, meanwhile, next, over_tcp_and_unix, rest, seen, writes};

fn a_reader_is_woken_by_data(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! read = meanwhile(next(&one), move || _ = other.try_write(b"x"));
        seen![read]
    }
}

fn a_reader_is_woken_by_the_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! read = meanwhile(next(&one), move || drop(other));
        seen![read]
    }
}

fn a_reader_is_woken_by_a_shutdown_of_its_peer(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = other.clone();
        let! read = meanwhile(next(&one), move || _ = ends.shutdown(Write));
        drop(other);
        seen![read]
    }
}

fn a_reader_is_woken_by_its_own_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = one.clone();
        let! read = meanwhile(next(&one), move || _ = ends.shutdown(Read));
        drop(other);
        seen![read]
    }
}

fn a_reader_is_woken_by_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! one.write_all("unread");
        do! other.readable();
        let! read = meanwhile(next(&one), move || drop(other));
        let! after = next(&one);
        seen![read, after]
    }
}

fn who_waits_for_readable_is_woken_by_the_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! ready = meanwhile(one.readable().done(), move || drop(other));
        let! read = next(&one);
        seen![ready, read]
    }
}

fn several_readers_see_the_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let readers = [next(&one), next(&one), next(&one)];
        let! all = meanwhile(Fiber::parallel(readers).boxed(), move || drop(other));
        all
    }
}

fn one_of_several_readers_sees_the_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! one.write_all("unread");
        do! other.readable();
        let readers = [next(&one), next(&one), next(&one)];
        let! mut all = meanwhile(Fiber::parallel(readers).boxed(), move || drop(other));
        all.sort();
        all
    }
}

fn a_writer_is_woken_by_its_own_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        fills(&one)?;
        let ends = one.clone();
        let! wrote = meanwhile(writes(&one, "x"), move || _ = ends.shutdown(Write));
        drop(other);
        seen![wrote]
    }
}

fn a_writer_is_woken_by_its_reader(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let written = fills(&one)?;
        let! wrote = writes(&one, "x") and! exact = other.read_exact(vec![0; written]);
        drop(one);
        let! all = rest(&other);
        assert_eq!(exact.len(), written);
        seen![wrote, all]
    }
}

/// What it had sent is unread, so the connection is reset.
fn a_writer_is_woken_by_the_close_of_its_peer(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        fills(&one)?;
        let! wrote = meanwhile(writes(&one, "x"), move || drop(other));
        let! read = next(&one);
        let! after = next(&one);
        seen![wrote, read, after]
    }
}

fn who_waits_for_writable_is_woken_by_the_close_of_its_peer(
    one: ByteStream,
    other: ByteStream,
) -> Fiber<Seen> {
    fiber! {
        fills(&one)?;
        let! ready = meanwhile(one.writable().done(), move || drop(other));
        let! wrote = writes(&one, "x");
        seen![ready, wrote]
    }
}

fn a_reader_and_a_writer_are_both_woken_by_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        fills(&one)?;
        let both = next(&one).zip(writes(&one, "x")).boxed();
        let! (read, wrote) = meanwhile(both, move || drop(other));
        let mut seen = seen![read, wrote];
        // One of them takes the error of a TCP connection.
        seen.sort();
        seen.retain(|one| one == "ConnectionReset");
        seen
    }
}

over_tcp_and_unix! {
    a_reader_is_woken_by_data
    a_reader_is_woken_by_the_end
    a_reader_is_woken_by_a_shutdown_of_its_peer
    a_reader_is_woken_by_its_own_end
    a_reader_is_woken_by_a_reset
    who_waits_for_readable_is_woken_by_the_end
    several_readers_see_the_end
    one_of_several_readers_sees_the_reset
    a_writer_is_woken_by_its_own_end
    a_writer_is_woken_by_its_reader
    a_writer_is_woken_by_the_close_of_its_peer
    who_waits_for_writable_is_woken_by_the_close_of_its_peer
    a_reader_and_a_writer_are_both_woken_by_a_reset
}
