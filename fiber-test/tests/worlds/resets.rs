//! Connections that end with a reset. An end that is closed with something unread resets the connection.

use std::net::Shutdown::Write;

use fiber_core::net::{ByteStream, copy};
use fiber_core::{Fiber, fiber};

use crate::support::{
    Seen, Told, eventually, fails, next, over_tcp_and_unix, rest, result, seen, tcp, unix, writes,
};

/// Closes an end in which something is unread, after it has written a text.
fn resets(one: &ByteStream, other: ByteStream, text: &'static str) -> Fiber<()> {
    let one = one.clone();
    fiber! {
        do! one.write_all("unread");
        do! other.readable();
        do! other.write_all(text);
        drop(other);
    }
}

fn a_reset_is_read_once(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "");
        let! first = next(&one);
        let! second = next(&one);
        let! third = next(&one);
        seen![first, second, third]
    }
}

fn a_reset_comes_after_the_data(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "abc");
        let! all = rest(&one);
        let! after = next(&one);
        seen![all, after]
    }
}

fn a_write_after_a_reset_was_read(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "");
        let! read = next(&one);
        let! first = writes(&one, "x");
        let! second = writes(&one, "x");
        let! after = next(&one);
        seen![read, first, second, after]
    }
}

fn a_write_that_meets_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "");
        do! one.readable();
        let! first = writes(&one, "x");
        let! second = writes(&one, "x");
        let! read = next(&one);
        let! after = next(&one);
        seen![first, second, read, after]
    }
}

fn a_write_that_meets_a_reset_with_data_unread(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "abc");
        let! first = fails(&one);
        let! second = fails(&one);
        let! read = rest(&one);
        let! after = next(&one);
        seen![first, second, read, after]
    }
}

fn readable_takes_no_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "");
        do! one.readable();
        do! one.readable();
        do! one.writable();
        let! first = next(&one);
        do! one.readable();
        let! second = next(&one);
        seen![first, second]
    }
}

fn a_shutdown_after_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "");
        do! one.readable();
        let ends = result(one.shutdown(Write));
        let! close = one.close().done();
        let! read = next(&one);
        let again = result(one.shutdown(Write));
        seen![ends, close, read, again]
    }
}

fn a_reset_after_the_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        other.shutdown(Write)?;
        let! end = rest(&one);
        do! resets(&one, other, "").done();
        let! failed = fails(&one);
        let! again = fails(&one);
        let! read = next(&one);
        let! after = next(&one);
        seen![end, failed, again, read, after]
    }
}

fn a_reset_after_its_own_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! one.write_all("unread");
        let ends = result(one.shutdown(Write));
        do! other.readable();
        drop(other);
        let! read = next(&one);
        let! after = next(&one);
        let! wrote = writes(&one, "x");
        seen![ends, read, after, wrote]
    }
}

fn an_exact_read_meets_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "abc");
        let! exact = one.read_exact([0; 4]).done();
        let! after = next(&one);
        seen![exact, after]
    }
}

fn a_line_meets_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "a\nb");
        let reader = one.buffered();
        let! first = reader.line().map(|line| format!("{line:?}")).told();
        let! second = reader.line().map(|line| format!("{line:?}")).told();
        let! third = reader.line().map(|line| format!("{line:?}")).told();
        seen![first, second, third]
    }
}

fn a_try_meets_a_reset(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! resets(&one, other, "");
        do! one.readable();
        let reads = [(); 3].map(|()| result(one.try_read(&mut [0])));
        let mut seen = Vec::from(reads);
        seen.push(result(one.try_write(b"x")));
        seen
    }
}

fn an_end_that_is_closed_with_all_read_resets_nothing(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! one.write_all("x");
        let! read = next(&other);
        drop(other);
        let! end = rest(&one);
        seen![read, end]
    }
}

fn what_both_have_unread_when_both_close(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        do! one.write_all("a");
        do! other.write_all("b");
        do! one.readable();
        do! other.readable();
        drop(one);
        let! all = rest(&other);
        let! after = next(&other);
        drop(other);
        seen![all, after]
    }
}

over_tcp_and_unix! {
    a_reset_is_read_once
    a_reset_comes_after_the_data
    a_write_after_a_reset_was_read
    a_write_that_meets_a_reset
    a_write_that_meets_a_reset_with_data_unread
    readable_takes_no_reset
    a_shutdown_after_a_reset
    a_reset_after_the_end
    a_reset_after_its_own_end
    an_exact_read_meets_a_reset
    a_line_meets_a_reset
    a_try_meets_a_reset
    an_end_that_is_closed_with_all_read_resets_nothing
    what_both_have_unread_when_both_close
}

/// A copy between two kinds of streams, whose source is reset.
#[test]
fn a_copy_meets_a_reset() {
    crate::support::agree(|| {
        fiber! {
            let! (source, far) = tcp();
            let! (target, reader) = unix();
            do! resets(&source, far, "abc");
            let! copied = copy(source, target).map(|n| n.to_string()).told();
            let! read = rest(&reader);
            let! gone = eventually(move || Some(result(reader.try_write(b"x"))));
            seen![copied, read, gone]
        }
    });
}
