//! How the directions of a connection end.

use std::net::Shutdown::{Both, Read, Write};

use fiber_core::net::ByteStream;
use fiber_core::{Fiber, fiber};

use crate::support::{Seen, Told, eventually, fails, next, over_tcp_and_unix, rest, result, seen, writes};

fn the_end_comes_after_the_data(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! wrote = writes(&one, "abc");
        drop(one);
        let! all = rest(&other);
        let! after = next(&other);
        seen![wrote, all, after]
    }
}

fn one_direction_ends_alone(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(one.shutdown(Write));
        let! end = rest(&other);
        let! wrote = writes(&other, "x");
        let! read = next(&one);
        seen![ends, end, wrote, read]
    }
}

fn a_write_after_its_own_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(one.shutdown(Write));
        let! first = writes(&one, "x");
        let! second = writes(&one, "x");
        let! read = rest(&other);
        seen![ends, first, second, read]
    }
}

fn a_direction_ends_twice(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = [Write, Write, Read, Read, Both, Both].map(|how| result(one.shutdown(how)));
        let! read = rest(&other);
        let mut seen = Vec::from(ends);
        seen.push(read);
        seen
    }
}

fn a_close_ends_the_writing_direction(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! first = one.close().done();
        let! second = one.close().done();
        let! read = rest(&other);
        let! answer = writes(&other, "x");
        let! heard = next(&one);
        seen![first, second, read, answer, heard]
    }
}

fn a_read_after_its_own_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(one.shutdown(Read));
        let! first = next(&one);
        let! second = next(&one);
        let! wrote = writes(&one, "x");
        let! read = next(&other);
        seen![ends, first, second, wrote, read]
    }
}

fn what_is_unread_when_reading_ends(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! wrote = writes(&other, "x");
        do! one.readable();
        let ends = result(one.shutdown(Read));
        let! read = rest(&one);
        seen![wrote, ends, read]
    }
}

fn what_comes_when_reading_has_ended(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(one.shutdown(Read));
        let! wrote = writes(&other, "x");
        let is_coming = wrote == "written";
        let! read = eventually(move || match one.try_read(&mut [0]) {
            Ok(0) if is_coming => None,
            read => Some(result(read)),
        });
        seen![ends, wrote, read]
    }
}

fn a_writer_after_its_reader_has_ended_reading(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(other.shutdown(Read));
        let! first = writes(&one, "x");
        let! second = writes(&one, "x");
        let! answer = writes(&other, "y");
        let! heard = next(&one);
        seen![ends, first, second, answer, heard]
    }
}

fn a_writer_after_its_reader_has_ended_both(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(other.shutdown(Both));
        let! end = rest(&one);
        let! failed = fails(&one);
        let! again = fails(&one);
        let! after = next(&one);
        seen![ends, end, failed, again, after]
    }
}

fn a_reader_that_has_ended_both_and_is_written_to(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let ends = result(other.shutdown(Both));
        let! before = next(&other);
        let! end = rest(&one);
        let! failed = fails(&one);
        let! first = next(&other);
        let! second = next(&other);
        let! wrote = writes(&other, "x");
        seen![ends, before, end, failed, first, second, wrote]
    }
}

fn an_end_of_both_directions(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let first = result(one.shutdown(Write));
        let! read = rest(&other);
        let second = result(other.shutdown(Write));
        let! answer = rest(&one);
        let writes_after = [result(one.try_write(b"x")), result(other.try_write(b"x"))];
        let! reads_after = next(&one);
        let mut seen = seen![first, read, second, answer, reads_after];
        seen.extend(writes_after);
        seen
    }
}

/// The end of a connection that has none of its directions left says so, as soon as the last end has arrived.
fn a_shutdown_after_both_directions_have_ended(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        one.shutdown(Write)?;
        let! _ = rest(&other);
        other.shutdown(Write)?;
        let! _ = rest(&one);
        let mut seen = Seen::new();
        for end in [one, other] {
            for how in [Write, Read, Both] { seen.push(result(end.shutdown(how))); }
        }
        seen
    }
}

fn a_writer_whose_peer_has_closed(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        drop(other);
        let! end = rest(&one);
        let! failed = fails(&one);
        let! again = fails(&one);
        let! after = next(&one);
        seen![end, failed, again, after]
    }
}

fn a_peer_that_has_ended_hears_what_is_written(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        other.shutdown(Write)?;
        let! end = rest(&one);
        let! first = writes(&one, "a");
        let! second = writes(&one, "b");
        drop(one);
        let! heard = rest(&other);
        seen![end, first, second, heard]
    }
}

fn a_close_keeps_what_was_written(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! wrote = writes(&one, "abc");
        let! end = one.close().done();
        drop(one);
        do! other.readable();
        let! answer = writes(&other, "x");
        let! all = rest(&other);
        seen![wrote, end, answer, all]
    }
}

fn a_clone_keeps_the_connection(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let clone = one.clone();
        drop(one);
        let! wrote = writes(&clone, "x");
        drop(clone);
        let! read = rest(&other);
        seen![wrote, read]
    }
}

fn readable_at_the_end_takes_nothing(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        drop(one);
        do! other.readable();
        do! other.readable();
        let! first = next(&other);
        do! other.readable();
        let! second = next(&other);
        seen![first, second]
    }
}

fn an_exact_read_meets_the_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! _ = writes(&one, "abc");
        drop(one);
        let! exact = other.read_exact([0; 4]).done();
        let! after = next(&other);
        seen![exact, after]
    }
}

fn a_line_meets_the_end(one: ByteStream, other: ByteStream) -> Fiber<Seen> {
    fiber! {
        let! _ = writes(&one, "a\nb");
        drop(one);
        let reader = other.buffered();
        let! first = reader.line();
        let! second = reader.line();
        let! third = reader.line();
        [first, second, third].map(|line| format!("{line:?}")).to_vec()
    }
}

over_tcp_and_unix! {
    the_end_comes_after_the_data
    one_direction_ends_alone
    a_write_after_its_own_end
    a_direction_ends_twice
    a_close_ends_the_writing_direction
    a_read_after_its_own_end
    what_is_unread_when_reading_ends
    what_comes_when_reading_has_ended
    a_writer_after_its_reader_has_ended_reading
    a_writer_after_its_reader_has_ended_both
    a_reader_that_has_ended_both_and_is_written_to
    an_end_of_both_directions
    a_shutdown_after_both_directions_have_ended
    a_writer_whose_peer_has_closed
    a_peer_that_has_ended_hears_what_is_written
    a_close_keeps_what_was_written
    a_clone_keeps_the_connection
    readable_at_the_end_takes_nothing
    an_exact_read_meets_the_end
    a_line_meets_the_end
}
