//! The bank example: its drafts lose money, and the explorer shows how; the final transfer does not.

use bank::{Accounts, BANK, Bank, FEE, Ledger, Order, drafts, everyone_pays, transfer, two_payments};
use fiber_core::{Error, Fiber};
use fiber_test::{Explore, Failure, TestScheduler, any_schedule};
use proptest::prelude::*;

const GUIDE: &str = include_str!("../../docs/testing.md");

/// The guide shows the current source.
#[track_caller]
fn guide_shows(text: &str) {
    assert!(GUIDE.contains(text), "docs/testing.md has to show this as it is now:\n\n{text}");
}

fn broken(explore: Explore, transfer: bank::Transfer) -> Failure {
    explore.try_check(|| two_payments(transfer)).expect_err("a draft loses money")
}

#[test]
fn the_first_draft_loses_an_update_under_two_deviations() {
    let failure = broken(Explore::default(), drafts::first);
    assert_eq!(failure.problem().message(), "of 100 cents 90 are left");
    assert_eq!(failure.schedule().deviations().len(), 2);
    let read_and_write = failure
        .pair()
        .map(|(first, second)| failure.trace().turns()[first].lane != failure.trace().turns()[second].lane);
    assert_eq!(read_and_write, Some(true), "the turns of two fibers are in the wrong order");
    guide_shows(&failure.to_string());
}

#[test]
fn the_first_draft_passes_first_in_first_out_and_on_one_worker() {
    assert!(TestScheduler::new().run(two_payments(drafts::first)).is_success());
    Explore::default().as_production(1024).virtual_cpus(1).check(|| two_payments(drafts::first));
}

#[fiber_test::explore]
fn the_second_draft_loses_nothing_under_any_schedule() -> Fiber<()> {
    two_payments(drafts::second)
}

#[fiber_test::explore(exhaustive)]
fn the_second_draft_loses_nothing_under_all_schedules() -> Fiber<()> {
    two_payments(drafts::second)
}

#[test]
fn the_second_draft_loses_what_it_has_taken_when_it_is_cancelled() {
    let failure = broken(Explore::cancel_everywhere(), drafts::second);
    assert!(failure.problem().message().contains("of 100 cents 79 are left"), "{failure}");
    assert_eq!(failure.replay(), r#"Explore::replay("x2")"#);
    guide_shows(&failure.to_string());
}

#[test]
fn the_transfer_loses_nothing_under_any_schedule() {
    Explore::default().check(|| two_payments(transfer));
    Explore::exhaustive().check(|| two_payments(transfer));
}

#[test]
fn the_transfer_loses_nothing_wherever_it_is_cancelled() {
    Explore::cancel_everywhere().check(|| two_payments(transfer));
    Explore::cancel_everywhere().check(|| everyone_pays(transfer, vec![10, 20, 30, 60]));
}

proptest! {
    #[test]
    fn the_transfer_loses_nothing_whatever_the_amounts_and_the_schedule(
        amounts in prop::collection::vec(0..80u64, 0..=4),
        schedule in any_schedule(),
    ) {
        Explore::with(schedule).try_check(|| everyone_pays(transfer, amounts.clone()))?;
    }
}

#[fiber_test::explore]
async fn a_transfer_pays_the_amount_and_the_fee() -> Result<(), Error> {
    let bank = bank_with(Ledger::new(|_| Fiber::yield_now().boxed()));
    transfer(&bank, ORDER).await?;
    let Bank { accounts, .. } = bank;
    assert_eq!(accounts.balance("alice").await?, 50 - 20 - FEE);
    assert_eq!(accounts.balance("shop").await?, 20);
    assert_eq!(accounts.balance(BANK).await?, FEE);
    Ok(())
}

#[fiber_test::explore]
async fn a_ledger_that_refuses_costs_nothing() -> Result<(), Error> {
    let bank = bank_with(Ledger::new(|_| Fiber::fail("no").boxed()));
    assert!(transfer(&bank, ORDER).await.is_err(), "it was paid");
    assert_eq!(bank.accounts.balance("alice").await?, 50);
    Ok(())
}

#[test]
fn payments_that_lock_in_opposite_orders_wait_in_a_circle() {
    let failure = Explore::default().try_check(bank::crossed_payments).unwrap_err();
    guide_shows(&failure.problem().to_string());
}

#[test]
fn the_guide_shows_the_functions_of_the_example() {
    let drafts = include_str!("../bank/drafts.rs");
    guide_shows(function(drafts, "pub fn first("));
    guide_shows(function(drafts, "pub fn second("));
    guide_shows(function(include_str!("../bank/ledger.rs"), "pub fn approve("));
    guide_shows(function(include_str!("../bank/transfer.rs"), "pub fn transfer("));
    guide_shows(function(include_str!("../bank/payments.rs"), "pub fn two_payments("));
    guide_shows(function(include_str!("../bank/payments.rs"), "fn count("));
    guide_shows(function(include_str!("../bank/locks.rs"), "pub fn crossed_payments("));
    guide_shows(function(include_str!("../bank/locks.rs"), "fn pay("));
}

/// The text of a function, from its head to its closing brace.
fn function<'a>(source: &'a str, head: &str) -> &'a str {
    let (start, end) = (source.find(head).unwrap(), "\n}\n");
    let length = source[start..].find(end).unwrap() + end.len();
    &source[start..start + length]
}

const ORDER: Order = Order { from: "alice", to: "shop", amount: 20 };

fn bank_with(ledger: Ledger) -> Bank {
    Bank { accounts: Accounts::new([("alice", 50), ("shop", 0), (BANK, 0)]), ledger }
}
