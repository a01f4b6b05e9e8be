//! Enumeration finds every bug with the fewest preemptions that show it, and counts the schedules correctly.

use fiber_core::Fiber;
use fiber_test::Explore;

use crate::exact::Model;
use crate::programs::{
    ALL, aba, check_then_act, close_send, double_free, lock_order, lost_update, min_counter, missed_notify,
    order_violation, publish_before_init, stale_retry,
};

fn is_found(program: fn() -> Fiber<()>, preemptions: u32) -> bool {
    Explore::exhaustive().preemptions(preemptions).try_check(program).is_err()
}

#[test]
fn every_bug_is_found_with_the_fewest_preemptions_and_no_fewer() {
    for program in ALL {
        let found = (0..=program.preemptions).filter(|preemptions| is_found(program.broken, *preemptions));
        assert_eq!(found.collect::<Vec<_>>(), [program.preemptions], "{}", program.name);
    }
}

fn assert_fewest<S: Clone>(model: &Model<S>, name: &str) {
    let program = ALL.iter().find(|program| program.name == name).expect("there is such a program");
    assert_eq!(model.fewest_preemptions(), Some(program.preemptions), "{name}");
}

#[test]
fn the_models_need_as_many_preemptions() {
    assert_fewest(&order_violation::model(), "order_violation");
    assert_fewest(&lost_update::model(), "lost_update");
    assert_fewest(&lost_update::all_but_one_model(), "lost_update_all");
    assert_fewest(&min_counter::model(), "min_counter");
    assert_fewest(&check_then_act::model(), "check_then_act");
    assert_fewest(&close_send::model(), "close_send");
    assert_fewest(&lock_order::model(2), "lock_order");
    assert_fewest(&lock_order::model(4), "philosophers");
    assert_fewest(&missed_notify::model(), "missed_notify");
}

#[test]
fn every_corrected_program_survives_all_schedules_with_a_preemption() {
    for program in ALL {
        let explored = Explore::exhaustive().preemptions(1).try_check(program.corrected);
        let explored = explored.unwrap_or_else(|failure| panic!("{}: {failure}", program.name));
        assert!(explored.is_complete(), "{}: more than {}", program.name, explored.schedules());
    }
}

fn interleavings(program: fn() -> Fiber<()>) -> u64 {
    Explore::exhaustive().check(program).schedules()
}

/// Steps that never wait: there are n! / (a! b!) ways to interleave a and b of them.
#[test]
fn every_interleaving_is_seen_exactly_once() {
    assert_eq!(interleavings(close_send::corrected), 3, "of one step and two");
    assert_eq!(interleavings(publish_before_init::corrected), 3, "of two and one");
    assert_eq!(interleavings(double_free::corrected), 6, "of two and two");
    assert_eq!(interleavings(aba::corrected), 10, "of two and three");
    assert_eq!(interleavings(stale_retry::corrected), 20, "of three and three");
}

/// Six harmless steps each.
#[test]
fn two_fibers_of_six_steps_have_as_many_interleavings_as_the_model() {
    let five = || {
        let two = || Fiber::success(()).bind(|()| Fiber::success(()));
        two().bind(move |()| two()).bind(|()| Fiber::success(()))
    };
    let six = move || five().bind(|()| Fiber::success(()));
    let explored = Explore::exhaustive().check(move || Fiber::parallel([six(), six()]));
    assert_eq!((explored.schedules(), min_counter::model().interleavings()), (924, 924));
}
