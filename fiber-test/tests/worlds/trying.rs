//! Calls that do not wait, and calls that ask for nothing.

use fiber_core::net::ByteStream;
use fiber_core::{Fiber, fiber};

use crate::support::{Seen, Told, eventually, fills, next, over_tcp_and_unix, rest, result, seen};

fn a_try_says_what_is_there(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let mut seen = seen![result(other.try_read(&mut [0]))];
        seen.push(result(one.try_write(b"x")));
        do! other.readable();
        seen.extend([(); 2].map(|()| result(other.try_read(&mut [0]))));
        drop(one);
        do! other.readable();
        seen.extend([(); 2].map(|()| result(other.try_read(&mut [0]))));
        seen
    }
}

fn a_try_writes_until_there_is_no_room(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let written = fills(&one)?;
        let full = result(one.try_write(b"x"));
        do! other.read_exact(vec![0; written]);
        let! again = eventually(move || one.try_write(b"x").ok().map(|n| n.to_string()));
        let! read = rest(&other);
        seen![full, again, read]
    }
}

fn empty_calls_say_nothing(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! read = other.read([0; 0]).map(|(n, _)| n.to_string()).told();
        let! wrote = one.write("").map(|(n, _)| n.to_string()).told();
        drop(one);
        let! end = next(&other);
        let! after = other.read([0; 0]).map(|(n, _)| n.to_string()).told();
        let! vectored = other.write_vectored(vec![""; 3]).map(|(n, _)| n.to_string()).told();
        seen![read, wrote, end, after, vectored]
    }
}

fn several_buffers_arrive_in_their_order(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! _ = one.write_all_vectored(vec!["a", "", "bc", "d"]);
        drop(one);
        let! all = rest(&other);
        seen![all]
    }
}

fn a_cancelled_read_takes_nothing(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! late = next(&other).timeout_option(std::time::Duration::from_millis(5));
        do! one.write_all("x");
        let! read = next(&other);
        seen![format!("{late:?}"), read]
    }
}

fn both_directions_at_once(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let talks = |stream: ByteStream, text: &'static str| fiber! {
            let! _ = stream.write_all(text);
            do! stream.close();
            return! rest(&stream);
        };
        let! first = talks(one, "ping") and! second = talks(other, "pong");
        seen![first, second]
    }
}

over_tcp_and_unix! {
    a_try_says_what_is_there
    a_try_writes_until_there_is_no_room
    empty_calls_say_nothing
    several_buffers_arrive_in_their_order
    a_cancelled_read_takes_nothing
    both_directions_at_once
}
