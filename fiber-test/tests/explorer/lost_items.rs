//! A report says who took what is lost, and where it was dropped.

use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::sync::{Broadcast, Channel, Receiver, Sender, one_shot};
use fiber_core::{Either, Fiber, fiber};
use fiber_test::Explore;

const MILLI: Duration = Duration::from_millis(1);

/// The lines about what is lost. Lines of this file are relative to `from`, and numbers of turns, which depend on the schedule that was found, are
/// left out.
#[track_caller]
fn lost(from: u32, program: fn() -> Fiber<()>) -> Vec<String> {
    let report = Explore::default().no_regressions().try_check(program).unwrap_err().to_string();
    let Some((_, lost)) = report.split_once("\n\nthese may be lost:\n") else { panic!("{report}") };
    let lost = with_numbers(lost, "in turn ", |_| "in turn N".to_owned());
    let lost = with_numbers(&lost, concat!(file!(), ":"), |line| format!("+{}", line - from));
    lost.lines().map(|line| line.trim().to_owned()).collect()
}

/// The text with other words for each number that follows `before`, and for `before`.
fn with_numbers(text: &str, before: &str, words: impl Fn(u32) -> String) -> String {
    let mut parts = text.split(before);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let number = &part[..part.len() - rest.len()];
        text + &words(number.parse().unwrap()) + rest
    })
}

/// Receives two items, of which it needs both. Each of them is processed under a time limit, so one is lost.
fn consumes(receiver: Receiver<u32>) -> Fiber<u32> {
    fiber! {
        let mut sum = 0;
        for _ in 0..2 {
            let received = receiver.recv();
            let processed = received.bind(|item| Fiber::delay(2 * item * MILLI).map(move |()| item));
            let! item = processed.timeout_option(MILLI);
            sum += item.unwrap_or(0);
        }
        sum
    }
}

fn is_three((sum, ()): (u32, ())) {
    assert_eq!(sum, 3, "an item is lost");
}

fn through((sender, receiver): (Sender<u32>, Receiver<u32>)) -> Fiber<()> {
    let sends = sender.named("jobs").send_all([0, 3]);
    consumes(receiver).zip(sends).map(is_three).boxed()
}

#[test]
fn an_item_of_a_bounded_channel_whose_taker_is_cancelled() {
    let from = line!() + 2;
    let lines = lost(from, || {
        fiber! {
            let (sender, receiver) = Channel::bounded(2);
            let sends = sender.named("jobs").send(5);
            let received = receiver.recv().bind(|item| Fiber::delay(MILLI).map(move |()| item)).named("worker");
            let! first = received.race(Fiber::yield_now()) and! () = sends;
            assert_eq!(first, Either::Left(5), "a job is lost");
        }
    });
    assert_eq!(
        lines,
        [
            "1 item of Channel `jobs`: fiber 0.0.0.0.0 \"worker\" took it in turn N at +3; it was cancelled in turn N, while it waited for a timer at +3"
        ]
    );
}

#[test]
fn an_item_of_an_unbounded_channel_that_is_taken_under_a_time_limit() {
    let lines = lost(0, || through(Channel::unbounded()));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("1 item of Channel `jobs`: fiber 0"), "{lines:?}");
    assert!(lines[0].contains("while it waited for a timer"), "{lines:?}");
}

#[test]
fn an_item_of_a_rendezvous_channel_that_is_taken_under_a_time_limit() {
    let lines = lost(0, || through(Channel::rendezvous()));
    assert!(lines[0].starts_with("1 item of Channel `jobs`: fiber 0"), "{lines:?}");
    assert!(lines[0].contains("while it waited for a timer"), "{lines:?}");
}

#[test]
fn an_item_in_the_value_of_a_side_that_has_lost() {
    let lines = lost(0, || {
        let (sender, receiver) = Channel::rendezvous();
        let sender = sender.named("jobs");
        let sends = Fiber::delay(2 * MILLI).bind(move |()| sender.send(1));
        // It ends after the race is decided.
        let takes = receiver.recv().uncancelable().named("stubborn");
        let race = takes.race(Fiber::delay(MILLI));
        race.zip(sends).map(|(first, ())| assert_eq!(first, Either::Left(1), "a job is lost")).boxed()
    });
    let [line] = &*lines else { panic!("{lines:?}") };
    assert!(
        line.starts_with("1 item of Channel `jobs`: fiber 0.0.0.0.0 \"stubborn\" took it in turn N at "),
        "{line}"
    );
    assert!(line.ends_with("; its value was dropped in turn N, because it had lost the race"), "{line}");
}

#[test]
fn items_that_a_channel_drops() {
    let lines = lost(0, || {
        fiber! {
            let (sender, receiver) = Channel::sliding(1);
            let sender = sender.named("news");
            do! sender.send(1);
            do! sender.send(2);
            let (other, unread) = Channel::dropping(1);
            do! other.named("requests").send_all(0..3);
            drop(unread);
            let! news = receiver.recv();
            assert_eq!(news, 1);
        }
    });
    assert_eq!(
        lines,
        [
            "1 item of Channel `news`: dropped in turn N by fiber 0, because a newer one took its place",
            "2 items of Channel `requests`: dropped in turn N by fiber 0, because the channel was full",
            "1 item of Channel `requests`: dropped in turn N by fiber 0, with the last receiver",
        ]
    );
}

#[test]
fn an_item_whose_sender_is_cancelled() {
    let lines = lost(line!() + 2, || {
        fiber! {
            let (sender, receiver) = Channel::bounded(1);
            let sender = sender.named("jobs");
            do! sender.send(1);
            let! fork = sender.send(2).named("producer").fork();
            do! Fiber::yield_now();
            do! fork.cancel();
            drop(sender);
            let! all = receiver.recv_many(2);
            assert_eq!(all, [1, 2]);
        }
    });
    assert_eq!(
        lines,
        [
            "what fiber 0.0 \"producer\" wanted to send to Channel `jobs` at +3: it was cancelled in turn N, before there was room"
        ]
    );
}

#[test]
fn the_value_of_a_one_shot_whose_answer_was_given_up() {
    let from = line!() + 2;
    let lines = lost(from, || {
        fiber! {
            let (reply, answer) = one_shot();
            let! sent = Fiber::lazy(move || reply.send(7).is_ok());
            drop(answer);
            assert!(!sent, "somebody was told that it arrived");
        }
    });
    let [line] = &*lines else { panic!("{lines:?}") };
    assert_eq!(
        line,
        "1 item of the one-shot of +1: dropped in turn N by fiber 0, with its answer, which no longer waited"
    );
}

#[test]
fn values_of_a_broadcast() {
    let lines = lost(0, || {
        fiber! {
            let prices = Broadcast::lossy(1).named("prices");
            do! prices.send(0);
            let (read, unread) = (prices.subscribe(), prices.subscribe());
            do! prices.send(1);
            do! prices.send(2);
            let! two = read.recv().catch(move |_missed| read.recv());
            drop(unread);
            assert_eq!(two, 1);
        }
    });
    assert_eq!(
        lines,
        [
            "1 item of Broadcast `prices`: dropped in turn N by fiber 0, because there was no subscriber",
            "1 item of Broadcast `prices`: dropped in turn N by fiber 0, because a newer one took its place, before all subscribers had received it",
            "1 item of Broadcast `prices`: dropped in turn N by fiber 0, with the last subscriber that had not received them",
        ]
    );
}

/// A reader for each line, which drops what it has read of the next one.
#[test]
fn bytes_of_a_stream() {
    let lines = lost(0, || {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 7));
            let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
            do! client.write_all("one\ntwo\n");
            let! one = server.buffered().line();
            do! client.write_all("more");
            do! Fiber::delay(MILLI);
            drop((client, server));
            assert_eq!(one.as_deref(), Some("two"));
        }
    });
    let [with_reader, unread] = &*lines else { panic!("{lines:?}") };
    assert!(with_reader.starts_with("4 bytes of TcpStream `"), "{with_reader}");
    assert!(with_reader.ends_with("dropped in turn N by fiber 0, with their BufReader"), "{with_reader}");
    assert!(unread.starts_with("4 bytes of TcpStream `"), "{unread}");
    assert!(unread.ends_with("dropped in turn N by fiber 0, unread, with the stream"), "{unread}");
}

#[test]
fn a_report_of_a_program_that_loses_nothing_says_nothing() {
    let failure = Explore::default().no_regressions().try_check(|| {
        let (sender, receiver) = Channel::bounded(1);
        let sends = sender.send_all(0..3);
        drop(sender);
        let sum = receiver.fold(0, |sum, item| Fiber::success(sum + item));
        sum.zip(sends).map(|(sum, ())| assert_eq!(sum, 4))
    });
    let report = failure.unwrap_err().to_string();
    assert!(report.contains("takes 1 item from the Channel of "), "{report}");
    assert!(!report.contains("may be lost"), "{report}");
}
