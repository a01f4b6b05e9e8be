//! Takes money from an account if the balance suffices, although another fiber may have taken it meanwhile.

use fiber_core::Fiber;

use crate::exact::{Model, Next};
use crate::support::{Lock, Shared};

const BALANCE: i32 = 1000;
const AMOUNTS: [i32; 2] = [700, 500];

fn take(balance: &Shared<i32>, amount: i32) -> Fiber<()> {
    let balance = balance.clone();
    let is_enough = balance.step(move |balance| *balance >= amount);
    let take = move |is_enough| {
        balance.step(move |balance| {
            if is_enough {
                *balance -= amount;
            }
        })
    };
    is_enough.bind(take).boxed()
}

fn program(locked: bool) -> Fiber<()> {
    let (balance, lock) = (Shared::new(BALANCE), Lock::default());
    let one = |amount| if locked { lock.hold(take(&balance, amount)) } else { take(&balance, amount) };
    let both = Fiber::parallel(AMOUNTS.map(one));
    both.map(move |_| assert!(balance.with(|balance| *balance) >= 0, "the account is overdrawn")).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}

/// The balance, and whether each fiber found it to be enough.
pub(crate) type State = (i32, [bool; 2]);

pub(crate) fn model() -> Model<State> {
    let look = |(balance, is_enough): &mut State, fiber: usize| {
        is_enough[fiber] = *balance >= AMOUNTS[fiber];
        Next::GoOn
    };
    let take = |(balance, is_enough): &mut State, fiber: usize| {
        if is_enough[fiber] {
            *balance -= AMOUNTS[fiber];
        }
        Next::GoOn
    };
    Model::new((BALANCE, [false; 2]), vec![vec![look, take]; 2], |(balance, _)| *balance < 0)
}
