//! Orders that an exploration has not tried are reported as pairs of steps.

use fiber_core::Fiber;
use fiber_test::{Explore, Explored, Search};

use crate::known;
use crate::support::Lock;

fn two_by_two() -> Fiber<()> {
    let steps = || Fiber::success(()).bind(|()| Fiber::success(()));
    Fiber::parallel([steps(), steps()]).map(drop).boxed()
}

fn pairs(explored: &Explored) -> Vec<String> {
    let words = |text: &str| text.split(" at ").next().unwrap_or_default().to_owned();
    explored
        .one_way()
        .iter()
        .map(|pair| format!("{} < {}", words(&pair.first), words(&pair.second)))
        .collect()
}

#[test]
fn one_schedule_has_seen_every_pair_in_one_order() {
    let ahead = Explore::default().pairs().only(Search::RunAhead).check(two_by_two);
    assert_eq!(
        pairs(&ahead),
        [
            "fiber 0.0.0, start < fiber 0.0.1, start",
            "fiber 0.0.0, start < fiber 0.0.1, bind",
            "fiber 0.0.0, bind < fiber 0.0.1, start",
            "fiber 0.0.0, bind < fiber 0.0.1, bind",
        ]
    );
    let text = ahead.to_string();
    assert!(
        text.contains("; 4 pairs of steps were seen in one order only:\n  fiber 0.0.0, start at "),
        "{text}"
    );
}

#[test]
fn all_orders_have_seen_every_pair_in_both() {
    assert_eq!(pairs(&Explore::exhaustive().pairs().check(two_by_two)), Vec::<String>::new());
    assert_eq!(
        pairs(&Explore::default().pairs().threads(2).check(known::close_send_corrected)),
        Vec::<String>::new()
    );
}

/// The turn that makes another one possible comes before it in every order, which carries no information.
#[test]
fn what_is_forced_is_not_told() {
    let program = || {
        let lock = Lock::default();
        let child = lock.hold(Fiber::yield_now()).fork().bind(|child| child.join());
        child.bind(|()| Fiber::success(()))
    };
    assert_eq!(pairs(&Explore::default().pairs().check(program)), Vec::<String>::new());
}

#[test]
fn without_being_asked_for_nothing_is_told() {
    assert_eq!(Explore::default().only(Search::RunAhead).check(two_by_two).one_way(), []);
}
