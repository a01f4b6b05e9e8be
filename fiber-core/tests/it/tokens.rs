//! The tree of tokens alone: the reach of cancellations, and the remaining nodes.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::{Arc, Barrier};

use fiber_core::CancelToken;

use crate::support::MILLION;

/// The number of rounds. Miri explores more interleavings per round, and takes longer.
const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };

#[test]
fn cancelling_reaches_all_below_and_nothing_above_or_beside() {
    let root = CancelToken::new();
    let (left, right) = (root.child(), root.child());
    let (below, beside) = (left.child(), right.child());
    left.cancel();
    assert!(left.is_cancelled() && below.is_cancelled());
    assert!(!root.is_cancelled() && !right.is_cancelled() && !beside.is_cancelled());
}

#[test]
fn a_child_of_a_cancelled_token_is_cancelled() {
    let root = CancelToken::new();
    root.cancel();
    root.cancel();
    assert!(root.child().child().is_cancelled());
}

#[test]
fn a_child_outlives_the_token_that_made_it_and_is_still_reached_from_above() {
    let root = CancelToken::new();
    let middle = root.child();
    let leaf = middle.child();
    drop(middle);
    root.cancel();
    assert!(leaf.is_cancelled());
}

#[test]
fn a_chain_of_a_million_is_cancelled_and_dropped_without_recursion() {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let test = thread.spawn(|| {
        let root = CancelToken::new();
        let mut chain = vec![root.child()];
        for depth in 0..MILLION as usize {
            let next = chain[depth].child();
            chain.push(next);
        }
        root.cancel();
        assert!(chain.last().unwrap().is_cancelled());
        // Parents first: each stays in the tree until its child has gone.
        drop(chain);

        let mut chain = vec![CancelToken::new()];
        for depth in 0..MILLION as usize {
            let next = chain[depth].child();
            chain.push(next);
        }
        // Only the last one now holds the whole chain.
        let last = chain.pop();
        drop(chain);
        drop(last);
    });
    test.unwrap().join().unwrap();
}

#[test]
fn children_added_from_many_threads_while_the_parent_is_cancelled_are_all_cancelled() {
    for _ in 0..ROUNDS {
        let root = Arc::new(CancelToken::new());
        let adders: Vec<_> = (0..4)
            .map(|_| {
                let root = root.clone();
                std::thread::spawn(move || (0..50).map(|_| root.child()).collect::<Vec<_>>())
            })
            .collect();
        root.cancel();
        for adder in adders {
            assert!(adder.join().unwrap().iter().all(CancelToken::is_cancelled));
        }
    }
}

/// A cancellation of this many children takes so long that others meet it half-way.
const MANY: usize = match () {
    () if cfg!(miri) => 10,
    () if cfg!(debug_assertions) => 5_000,
    () => 20_000,
};

#[test]
fn each_of_two_cancellers_has_reached_all_below_when_it_returns() {
    for _ in 0..ROUNDS.div_ceil(10) {
        let root = CancelToken::new();
        let middle: Vec<_> = (0..MANY).map(|_| root.child()).collect();
        let leaves: Vec<_> = middle.iter().map(CancelToken::child).collect();
        let start = Barrier::new(2);
        let cancel = || {
            start.wait();
            root.cancel();
            assert!(middle.iter().chain(&leaves).all(CancelToken::is_cancelled));
        };
        std::thread::scope(|threads| {
            threads.spawn(cancel);
            cancel();
        });
    }
}

#[test]
fn cancel_has_reached_every_child_when_it_returns_while_others_come_and_go() {
    for _ in 0..ROUNDS.div_ceil(10) {
        let root = CancelToken::new();
        let staying: Vec<_> = (0..MANY).map(|_| root.child()).collect();
        let leaving: Vec<_> = (0..2 * MANY).map(|_| root.child()).collect();
        let start = Barrier::new(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                start.wait();
                drop(leaving);
                (0..MANY).for_each(|_| drop(root.child()));
            });
            start.wait();
            root.cancel();
            assert!(staying.iter().all(CancelToken::is_cancelled));
        });
    }
}

#[test]
fn clones_are_one_token_which_ends_with_the_last_of_them() {
    let root = CancelToken::new();
    let token = root.child();
    let clone = token.clone();
    let below = clone.child();
    drop(token);
    drop(clone.clone());
    clone.cancel();
    assert!(below.is_cancelled() && !root.is_cancelled());
    let sibling = root.child();
    let copies: Vec<_> = (0..3).map(|_| sibling.clone()).collect();
    drop(sibling);
    root.cancel();
    assert!(copies.iter().all(CancelToken::is_cancelled));
}

#[test]
fn clones_may_be_dropped_on_any_thread_while_the_root_is_cancelled() {
    for _ in 0..ROUNDS {
        let root = CancelToken::new();
        let token = root.child();
        let start = Barrier::new(3);
        std::thread::scope(|threads| {
            for clone in [token.clone(), token.clone()] {
                let start = &start;
                threads.spawn(move || {
                    start.wait();
                    drop((clone.child(), clone));
                });
            }
            start.wait();
            root.cancel();
        });
        assert!(token.is_cancelled() && token.child().is_cancelled());
    }
}
