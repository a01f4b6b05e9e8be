//! Plain code of a block: it shares a turn with the wait before it, if that was ready, and never with the wait after it.

use std::sync::Arc;

use fiber_core::sync::Ref;
use fiber_core::{Error, Fiber, fiber};
use fiber_test::Explore;

/// Whether one of two such updates of a counter is lost in some order.
fn may_be_lost(count: fn(Ref<u32>) -> Fiber<()>) -> bool {
    let program = || {
        let value = Ref::new(0);
        let both = count(value.clone()).zip(count(value.clone()));
        both.map(move |_| assert_eq!(*value.load(), 2))
    };
    let explored = Explore::exhaustive().no_regressions().try_check(program);
    explored.map(|explored| assert!(explored.is_complete())).is_err()
}

#[test]
fn code_that_reads_before_a_ready_wait_has_a_turn_of_its_own() {
    assert!(may_be_lost(|value| fiber! {
        let seen = *value.load();
        do! value.set(seen + 1);
    }));
}

/// What the explorer does not see, and how to show it: as a bind, or with the write as a wait.
#[test]
fn code_that_writes_after_a_ready_wait_shares_its_turn() {
    assert!(!may_be_lost(|value| fiber! {
        let! seen = value.read();
        value.store(*seen + 1);
    }));
    assert!(!may_be_lost(|value| {
        let count = async move || {
            let seen = value.read().await?;
            value.store(*seen + 1);
            Ok::<_, Error>(())
        };
        Fiber::block(count).boxed()
    }));
    assert!(may_be_lost(|value| {
        let written = value.clone();
        let write = move |seen: Arc<u32>| {
            written.store(*seen + 1);
            Fiber::success(())
        };
        value.read().bind(write).boxed()
    }));
    assert!(may_be_lost(|value| fiber! {
        let! seen = value.read();
        do! value.set(*seen + 1);
    }));
}
