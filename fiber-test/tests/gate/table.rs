//! With a single strategy, a bug is found after as many schedules on average as its probability says.

use fiber_core::Fiber;
use fiber_test::{Explore, Search};

use crate::exact::Model;
use crate::first_bug::first_bug;
use crate::programs::{
    check_then_act, close_send, lock_order, lost_update, min_counter, missed_notify, order_violation,
};

/// The mean over so many has a standard error of 7 %.
const SEEDS: u64 = 200;

/// The tolerance of a mean: more than three standard errors.
const TOLERANCE: f64 = 0.25;

/// Far more than any of the bugs needs.
const MOST_SCHEDULES: u64 = 100_000;

fn assert_mean(program: fn() -> Fiber<()>, search: Search, probability: f64) {
    let explore = |seed| Explore::default().only(search).seed(seed).schedules(MOST_SCHEDULES);
    let found = (0..SEEDS).map(|seed| first_bug(&explore(seed), program).expect("a bug"));
    let sum: u64 = found.sum();
    let (mean, expected) = (sum as f64 / SEEDS as f64, 1.0 / probability);
    println!("{search}: {mean:.2} schedules to the first bug, {expected:.2} expected");
    assert!((mean / expected - 1.0).abs() <= TOLERANCE, "{search}: {mean} in place of {expected} schedules");
}

fn assert_found_as_expected<S: Clone>(program: fn() -> Fiber<()>, model: &Model<S>) {
    assert_mean(program, Search::RandomWalk, model.random_walk());
    assert_mean(program, Search::Rounds, model.rounds());
}

/// The expected number of schedules, which the model has to agree with: of the random walk, and of rounds.
fn assert_exact<S: Clone>(model: &Model<S>, expected: [f64; 2]) {
    let exact = [1.0 / model.random_walk(), 1.0 / model.rounds()];
    exact.into_iter().zip(expected).for_each(|(exact, expected)| assert_near(exact, expected));
}

fn assert_near(exact: f64, expected: f64) {
    assert!((exact / expected - 1.0).abs() < 0.001, "{exact} in place of {expected}");
}

#[test]
fn the_models_have_the_known_probabilities() {
    assert_exact(&order_violation::model(), [2.0, 2.0]);
    assert_exact(&lost_update::model(), [2.0, 1.0]);
    assert_exact(&lost_update::all_but_one_model(), [3.0, 1.0]);
    assert_exact(&check_then_act::model(), [2.0, 1.0]);
    assert_exact(&close_send::model(), [8.0, 4.0]);
    assert_exact(&lock_order::model(2), [2.0, 1.0]);
    assert_exact(&lock_order::model(4), [48.0 / 11.0, 1.0]);
    assert_exact(&missed_notify::model(), [8.0, 4.0]);
}

/// Six steps each: a walk ends at two with a probability of 1 / 256.
#[test]
fn min_counter() {
    let probability = min_counter::model().random_walk();
    assert_near(1.0 / probability, 256.0);
    assert_mean(min_counter::broken, Search::RandomWalk, probability);
}

#[test]
fn order_violation() {
    assert_found_as_expected(order_violation::broken, &order_violation::model());
}

#[test]
fn lost_update() {
    assert_found_as_expected(lost_update::broken, &lost_update::model());
}

#[test]
fn lost_update_all() {
    let model = lost_update::all_but_one_model();
    assert_found_as_expected(lost_update::all_but_one_broken, &model);
}

#[test]
fn check_then_act() {
    assert_found_as_expected(check_then_act::broken, &check_then_act::model());
}

#[test]
fn close_send() {
    assert_found_as_expected(close_send::broken, &close_send::model());
}

#[test]
fn lock_order() {
    assert_found_as_expected(lock_order::broken, &lock_order::model(2));
}

#[test]
fn philosophers() {
    assert_found_as_expected(lock_order::philosophers_broken, &lock_order::model(4));
}

#[test]
fn missed_notify() {
    assert_found_as_expected(missed_notify::broken, &missed_notify::model());
}

/// In rounds both fibers read, then both write, three times: the value grows by one with every pair of rounds and ends at three.
#[test]
fn min_counter_is_never_found_in_rounds() {
    assert_eq!(min_counter::model().rounds(), 0.0);
    for seed in 0..5 {
        let explored = Explore::default()
            .only(Search::Rounds)
            .seed(seed)
            .schedules(2_000)
            .try_check(min_counter::broken);
        assert_eq!(explored.expect("rounds cannot find it").schedules(), 2_000);
    }
}
