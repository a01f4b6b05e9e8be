//! Reads and writes that are cut short, anywhere.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Fiber, fiber};
use fiber_test::{Explore, TestScheduler};

use super::support::HERE;

fn pair() -> Fiber<(TcpStream, TcpStream)> {
    fiber! {
        let! listener = TcpListener::bind(HERE);
        let! client = TcpStream::connect(([10, 0, 0, 1], 80)) and! (server, _) = listener.accept();
        (client, server)
    }
}

/// How many bytes one write takes, and one read gives after all eight were written.
fn transfers() -> Fiber<(usize, usize)> {
    fiber! {
        let! (client, server) = pair();
        let! (written, _) = client.write([7; 8]);
        do! client.write_all(vec![7; 8 - written]);
        drop(client);
        do! Fiber::delay(std::time::Duration::from_secs(1));
        let! (read, _) = server.read([0; 16]);
        (written, read)
    }
}

fn seen(explore: Explore) -> BTreeSet<(usize, usize)> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    explore.no_regressions().check(move || {
        let seen = seen.clone();
        transfers().map(move |lengths| _ = seen.lock().unwrap().insert(lengths))
    });
    std::mem::take(&mut *all.lock().unwrap())
}

#[test]
fn an_exhaustive_exploration_cuts_everywhere() {
    let everywhere = (1..=8).flat_map(|written| (1..=8).map(move |read| (written, read)));
    assert_eq!(seen(Explore::exhaustive().preemptions(0)), everywhere.collect());
}

#[test]
fn a_few_schedules_of_the_portfolio_cut_everywhere() {
    let seen = seen(Explore::default().schedules(400));
    for lengths in [seen.iter().map(|it| it.0).collect(), seen.iter().map(|it| it.1).collect::<BTreeSet<_>>()]
    {
        assert_eq!(lengths, (1..=8).collect());
    }
}

#[test]
fn without_a_schedule_nothing_is_cut() {
    assert_eq!(TestScheduler::new().run(transfers()).unwrap(), (8, 8));
}

/// A message of a length in two bytes and six of a body, of which a read gets the length at least.
fn reads_a_header_first() -> Fiber<()> {
    fiber! {
        let! (client, server) = pair();
        let! _ = client.write_all([0, 6, 1, 2, 3, 4, 5, 6]) and! (n, _) = server.read([0; 16]);
        assert!(n != 2, "a header without its body");
        assert!(n != 1, "a torn header");
    }
}

#[test]
fn a_header_without_its_body_is_found_shrunk_and_replayed() {
    let failure = Explore::default().no_regressions().try_check(reads_a_header_first).unwrap_err();
    let text = failure.schedule().to_string();
    assert_eq!(failure.schedule().deviations().len(), 1, "one cut is enough: {text}");
    assert!(text.contains(":="), "{text}");
    assert!(Explore::replay(&text).no_regressions().try_check(reads_a_header_first).is_err());
}

#[test]
fn the_rest_of_a_cut_comes_at_once() {
    Explore::default().no_regressions().schedules(200).check(|| {
        fiber! {
            let! (client, server) = pair();
            do! client.write_all(vec![7; 1_000]);
            let mut reads = 0;
            let mut left = 1_000;
            while left > 0 {
                let! (n, _) = server.read([0; 1_000]);
                left -= n;
                reads += 1;
            }
            // Each write is cut once, and each read.
            assert!(reads <= 4, "{reads} reads");
        }
    });
}
