//! A fiber that spins until another one has made progress ends under every strategy: it is not a livelock.

use std::ops::ControlFlow::{Break, Continue};

use fiber_core::Fiber;
use fiber_test::{Explore, Search};

use crate::support::Shared;

/// One fiber spins at its binds until the other one has taken `steps` steps.
fn spin(steps: u32) -> Fiber<()> {
    let progress = Shared::new(0);
    let looking = progress.clone();
    let look =
        move |()| looking.step(move |progress| if *progress == steps { Break(()) } else { Continue(()) });
    let work = Fiber::for_each(0..steps, move |_| progress.step(|progress| *progress += 1));
    Fiber::parallel([Fiber::iterate((), look).boxed(), work.boxed()]).map(drop).boxed()
}

const ALL: [Search; 7] = [
    Search::Fifo,
    Search::RunAhead,
    Search::Lifo,
    Search::Rounds,
    Search::RandomWalk,
    Search::Pct,
    Search::Urw,
];

/// Some strategies need many turns, so there are few schedules.
fn assert_ends(steps: u32) {
    for search in ALL {
        let explored = Explore::default().only(search).schedules(8).try_check(|| spin(steps));
        assert!(explored.is_ok(), "{search}: {}", explored.unwrap_err().problem());
    }
}

#[test]
fn a_spin_loop_ends_when_it_waits_for_one_step() {
    assert_ends(1);
}

#[test]
fn a_spin_loop_ends_when_it_waits_for_many_steps() {
    assert_ends(30);
}
