//! Locks, permits, gates and promises behave like a sequential model, for any sequence of operations and
//! cancellations.

use std::collections::VecDeque;

use fiber_core::sync::{Barrier, Latch, Mutex, Notify, Promise, Ref, Semaphore};
use fiber_core::{Error, Fiber};
use fiber_test::{Spawned, TestScheduler};
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Clone, Debug)]
enum Action {
    /// A new fiber requests this many.
    Ask(usize),
    /// One of the waiters or holders is cancelled.
    Cancel(Index),
    /// One of the holders ends.
    End(Index),
    /// A request that does not wait.
    Try(usize),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        6 => (1..4_usize).prop_map(Action::Ask),
        3 => any::<Index>().prop_map(Action::Cancel),
        5 => any::<Index>().prop_map(Action::End),
        2 => (1..4_usize).prop_map(Action::Try),
    ];
    prop::collection::vec(action, 0..50)
}

/// A fiber that requests something, and then holds it until it gets the signal to end.
struct User {
    fiber: Spawned<()>,
    end: Notify,
    needs: usize,
}

/// Permits, and the list of waiters.
struct Model {
    free: usize,
    holds: Vec<usize>,
    waits: VecDeque<(usize, usize)>,
}

impl Model {
    fn serve(&mut self) {
        while let Some(&(user, needs)) = self.waits.front().filter(|(_, needs)| *needs <= self.free) {
            self.free -= needs;
            self.holds.push(user);
            self.waits.pop_front();
        }
    }
}

/// Runs the actions on a primitive with `total` permits. `ask` makes a fiber that acquires permits and then runs its argument;
/// `try_take` returns whether permits could be acquired, and releases them.
fn permits_follow_the_model(
    total: usize,
    actions: Vec<Action>,
    ask: impl Fn(usize, Fiber<()>) -> Fiber<()>,
    try_take: impl Fn(usize) -> bool,
) -> Result<(), TestCaseError> {
    let test = TestScheduler::new();
    let mut model = Model { free: total, holds: Vec::new(), waits: VecDeque::new() };
    let mut users: Vec<Option<User>> = Vec::new();
    let held = Semaphore::new(1000);
    for action in actions {
        match action {
            Action::Ask(needs) => {
                let needs = needs.min(total);
                let end = Notify::new();
                // The permits taken from `held` are those that the fibers hold.
                let holding = held.with_permits(needs, end.wait()).boxed();
                users.push(Some(User { fiber: test.spawn(ask(needs, holding)), end, needs }));
                model.waits.push_back((users.len() - 1, needs));
            }
            Action::Cancel(index) => {
                let live: Vec<usize> = (0..users.len()).filter(|&user| users[user].is_some()).collect();
                if !live.is_empty() {
                    let user = *index.get(&live);
                    let User { fiber, needs, .. } = users[user].take().unwrap();
                    fiber.cancel_now();
                    test.run_until_idle();
                    prop_assert!(fiber.outcome().is_cancelled());
                    model.waits.retain(|(waits, _)| *waits != user);
                    if let Some(at) = model.holds.iter().position(|&holds| holds == user) {
                        model.holds.remove(at);
                        model.free += needs;
                    }
                }
            }
            Action::End(index) if !model.holds.is_empty() => {
                let user = model.holds.remove(index.index(model.holds.len()));
                let User { fiber, end, needs } = users[user].take().unwrap();
                end.notify_one();
                test.run_until_idle();
                prop_assert!(fiber.outcome().is_success());
                model.free += needs;
            }
            Action::End(_) => {}
            Action::Try(needs) => {
                let needs = needs.min(total);
                prop_assert_eq!(try_take(needs), model.waits.is_empty() && needs <= model.free);
            }
        }
        model.serve();
        test.run_until_idle();
        let taken = total - model.free;
        prop_assert_eq!(held.total() - held.available(), taken, "as many hold permits as in the model");
    }
    for user in users.into_iter().flatten() {
        user.fiber.cancel_now();
    }
    test.run_until_idle();
    prop_assert!(try_take(total), "everything is back");
    Ok(())
}

proptest! {
    #[test]
    fn a_semaphore_serves_as_a_list_would(total in 1..5_usize, actions in actions()) {
        let semaphore = Semaphore::new(total);
        let ask = |needs, then| semaphore.with_permits(needs, then).boxed();
        permits_follow_the_model(total, actions, ask, |needs| semaphore.try_acquire(needs).is_some())?;
    }

    #[test]
    fn a_mutex_serves_as_a_list_would(actions in actions()) {
        let mutex = Mutex::new(());
        let with = |_, then| mutex.with(move |_| then).boxed();
        permits_follow_the_model(1, actions.clone(), with, |_| mutex.try_lock().is_some())?;
        let lock = |_, then: Fiber<()>| mutex.lock().bind(|guard| then.map(move |()| drop(guard))).boxed();
        permits_follow_the_model(1, actions, lock, |_| mutex.try_lock().is_some())?;
    }

    #[test]
    fn a_barrier_lets_as_many_pass_as_it_is_for(parties in 1..5_usize, actions in actions()) {
        let (barrier, test) = (Barrier::new(parties), TestScheduler::new());
        let mut waits: Vec<Spawned<bool>> = Vec::new();
        for action in actions {
            match action {
                Action::Cancel(index) if !waits.is_empty() => {
                    let fiber = waits.remove(index.index(waits.len()));
                    fiber.cancel_now();
                    test.run_until_idle();
                    prop_assert!(fiber.outcome().is_cancelled());
                }
                Action::Ask(_) => {
                    waits.push(test.spawn(barrier.wait()));
                    test.run_until_idle();
                }
                _ => {}
            }
            if waits.len() == parties {
                let leaders: Vec<bool> = waits.drain(..).map(|fiber| fiber.outcome().unwrap()).collect();
                prop_assert_eq!(leaders.iter().filter(|is_leader| **is_leader).count(), 1);
                prop_assert_eq!(leaders.last(), Some(&true), "the last one to arrive leads");
            }
            prop_assert_eq!(barrier.arrived(), waits.len());
            prop_assert!(waits.iter().all(Spawned::is_pending));
        }
    }

    #[test]
    fn a_latch_opens_with_the_last_count_and_stays_open(count in 0..5_usize, actions in actions()) {
        let (latch, test) = (Latch::new(count), TestScheduler::new());
        let (mut missing, mut waits) = (count, Vec::new());
        for action in actions {
            match action {
                Action::Cancel(index) if !waits.is_empty() => {
                    let fiber: Spawned<()> = waits.remove(index.index(waits.len()));
                    fiber.cancel_now();
                    test.run_until_idle();
                    prop_assert!(fiber.outcome().is_cancelled());
                }
                Action::Ask(_) => waits.push(test.spawn(latch.wait())),
                Action::End(_) => {
                    prop_assert_eq!(latch.count_down(), missing == 1);
                    missing = missing.saturating_sub(1);
                }
                _ => {}
            }
            test.run_until_idle();
            prop_assert_eq!(latch.remaining(), missing);
            if missing == 0 {
                prop_assert!(waits.drain(..).all(|fiber| fiber.outcome().is_success()));
            }
            prop_assert!(waits.iter().all(Spawned::is_pending));
        }
    }

    #[test]
    fn a_promise_keeps_its_first_completion(actions in actions()) {
        let (promise, test) = (Promise::new(), TestScheduler::new());
        let (mut kept, mut waits) = (None, Vec::new());
        for (number, action) in actions.into_iter().enumerate() {
            match action {
                Action::Cancel(index) if !waits.is_empty() => {
                    let fiber: Spawned<usize> = waits.remove(index.index(waits.len()));
                    fiber.cancel_now();
                    test.run_until_idle();
                    prop_assert!(fiber.outcome().is_cancelled());
                }
                Action::Ask(_) => waits.push(test.spawn(promise.wait())),
                Action::End(_) => {
                    prop_assert_eq!(promise.success(number), kept.is_none());
                    kept.get_or_insert(Ok(number));
                }
                Action::Try(1) => {
                    let text = number.to_string();
                    prop_assert_eq!(promise.fail(Error::msg(text.clone())), kept.is_none());
                    kept.get_or_insert(Err(text));
                }
                _ => {}
            }
            test.run_until_idle();
            prop_assert_eq!(promise.is_completed(), kept.is_some());
            if kept.is_none() {
                prop_assert!(waits.iter().all(Spawned::is_pending));
                continue;
            }
            for fiber in waits.drain(..) {
                let outcome = fiber.outcome().into_result().map_err(|error| error.to_string());
                prop_assert_eq!(Some(outcome), kept.clone());
            }
        }
    }

    #[test]
    fn a_ref_is_a_variable(values in prop::collection::vec((any::<u8>(), 0..3), 0..30)) {
        let (reference, test) = (Ref::new(0_u8), TestScheduler::new());
        let mut variable = 0_u8;
        for (value, kind) in values {
            match kind {
                0 => {
                    prop_assert!(test.run(reference.set(value)).is_success());
                    variable = value;
                }
                1 => {
                    prop_assert!(test.run(reference.update(move |old| old.wrapping_add(value))).is_success());
                    variable = variable.wrapping_add(value);
                }
                _ => {
                    let before = test.run(reference.modify(move |old| (old ^ value, *old))).unwrap();
                    prop_assert_eq!(before, variable);
                    variable ^= value;
                }
            }
            prop_assert_eq!(*test.run(reference.read()).unwrap(), variable);
        }
    }
}
