//! Allocations of crowds, and what is left of them.
//!
//! A process of their own: the blocks that a crowd gives back are there for all threads, and `allocations` counts on threads that have none.

mod support;

use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream, UnixStream};
use fiber_core::{CancelToken, Fiber, fiber};
use fiber_test::TestScheduler;
use support::counting::{COUNT, Counting, LIVE};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SECOND: Duration = Duration::from_secs(1);

/// The number of allocations that are left of `count` children that came and went beside `siblings` others.
fn left_over(siblings: usize, count: usize) -> isize {
    let root = CancelToken::new();
    let _siblings: Vec<_> = (0..siblings).map(|_| root.child()).collect();
    // Its block is kept for the next one.
    drop(root.child());
    let before = LIVE.get();
    (0..count).for_each(|_| drop(root.child()));
    LIVE.get() - before
}

#[test]
fn of_children_that_come_and_go_nothing_is_left() {
    assert_eq!(left_over(0, 10_000), 0);
    assert_eq!(left_over(1, 10_000), 0);
    assert_eq!(left_over(1000, 100_000), 0);
}

#[test]
fn a_tree_of_a_hundred_thousand_sleepers_gives_all_its_memory_back() {
    let test = fiber_test::TestScheduler::new();
    let sleepers = |count: u32| Fiber::parallel((0..count).map(|_| Fiber::delay(SECOND))).map(drop);
    // The tables of the timeline grow once.
    test.run(sleepers(100_000)).unwrap();
    let before = LIVE.get();
    let spawned = test.spawn(sleepers(100_000));
    test.run_for(std::time::Duration::ZERO);
    // Each fiber has one, its cell; some cells and tables of the first run are reused.
    assert!(LIVE.get() - before > 98_000);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert!(LIVE.get() - before < 64, "{} allocations are left", LIVE.get() - before);
}

/// Allocations of ten simulated connections on a host that has many already.
fn allocations_of_connections(beside: usize) -> usize {
    let program = fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let at = listener.local_addr()?;
        let mut connected = Vec::new();
        let mut before = 0;
        for number in 0..beside + 10 {
            if number == beside { before = COUNT.get() }
            let! client = TcpStream::connect(at);
            let! (server, _) = listener.accept();
            connected.push((client, server));
        }
        COUNT.get() - before
    };
    TestScheduler::new().run(program).unwrap()
}

#[test]
fn a_simulated_connection_costs_the_same_beside_many_others() {
    let (few, many) = (allocations_of_connections(10), allocations_of_connections(1_000));
    // A table of the connections grows now and then.
    assert!(many < few + 20, "{few} allocations beside 10 connections, {many} beside 1,000");
}

#[test]
fn simulated_connections_without_an_address_leave_nothing_behind() {
    let test = TestScheduler::new();
    let pairs = |count| test.run(Fiber::for_each(0..count, |_| UnixStream::pair().map(drop)));
    pairs(10).unwrap();
    let before = LIVE.get();
    pairs(1_000).unwrap();
    let kept = LIVE.get() - before;
    assert!(kept < 20, "{kept} allocations are left of 1,000 connections");
}
