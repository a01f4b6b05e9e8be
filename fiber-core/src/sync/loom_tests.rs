//! Permits, locks, latches and notifications that several threads use at the same time, under every interleaving of the
//! memory model.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release`

#![allow(unsafe_code)]

use std::panic::Location;
use std::sync::Arc as Plain;
use std::task::{Wake, Waker};

use loom::cell::UnsafeCell;
use loom::model;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;

use super::Latch;
use super::channel::passed::Passed;
use super::guarded::{Claim, Exclusive, Guard, Guarded, Hold, Shared};
use super::operation::Attempt;
use super::permits::Permits;
use super::waiters::{Waiter, Waiters};
use crate::engine::context::Seat;
use crate::engine::subject::Subject;
use crate::outcome::Outcome;
use crate::primitive::model_with_a_bound;

/// A thread waits here for its wake-up. If the wake-up is lost, loom reports a deadlock. Writes before the wake-up are
/// visible after it, as with the parking slot of a fiber.
struct Bell {
    notify: Notify,
    /// Loom's waits may end spuriously.
    is_rung: AtomicBool,
}

impl Bell {
    fn wait(&self) {
        while !self.is_rung.load(Ordering::Acquire) {
            self.notify.wait();
        }
    }
}

impl Wake for Bell {
    fn wake(self: Plain<Self>) {
        self.is_rung.store(true, Ordering::Release);
        self.notify.notify();
    }
}

fn seat() -> (Plain<Bell>, Seat) {
    let bell = Plain::new(Bell { notify: Notify::new(), is_rung: AtomicBool::new(false) });
    // SAFETY: the operations of these models stay in their variables.
    let seat = unsafe { Seat::of_waker(Waker::from(bell.clone())) };
    (bell, seat)
}

/// Permits, and a value that only the holder of all of them accesses.
struct Site {
    permits: Permits,
    touched: UnsafeCell<usize>,
}

impl Site {
    fn new(free: usize) -> Arc<Self> {
        Arc::new(Site { permits: Permits::new(free), touched: UnsafeCell::new(0) })
    }

    /// Takes permits as a fiber does.
    fn take(&self, count: usize) {
        if self.permits.try_take(count) {
            return;
        }
        let mut waiter = Waiter::default();
        let (bell, seat) = seat();
        if !self.permits.take_or_join(count, &mut waiter, seat) {
            bell.wait();
            assert!(Permits::was_served(&mut waiter));
        }
    }

    /// Loom reports if another thread does the same at the same time, or does not see the writes of this one.
    fn touch(&self) -> usize {
        self.touched.with_mut(|touched| {
            // SAFETY: exclusive access is what the model checks.
            unsafe { *touched += 1 };
            // SAFETY: as above.
            unsafe { *touched }
        })
    }

    fn use_all(&self, count: usize) {
        self.take(count);
        self.touch();
        self.permits.give_back(count);
    }

    /// All permits are free, and the fast path without a queue works.
    fn is_as_new(&self, count: usize) {
        assert_eq!(self.permits.free(), count);
        assert!(self.permits.try_take(count));
    }
}

#[test]
fn two_take_turns() {
    model(|| {
        let site = Site::new(1);
        let other = thread::spawn({
            let site = site.clone();
            move || site.use_all(1)
        });
        site.use_all(1);
        other.join().unwrap();
        site.is_as_new(1);
        assert_eq!(site.touch(), 3);
    });
}

#[test]
fn one_who_leaves_while_a_permit_is_on_its_way_does_not_keep_it() {
    model(|| {
        let site = Site::new(1);
        assert!(site.permits.try_take(1));
        let mut waiter = Waiter::default();
        assert!(!site.permits.take_or_join(1, &mut waiter, seat().1));
        let holder = thread::spawn({
            let site = site.clone();
            move || site.permits.give_back(1)
        });
        site.permits.leave(&mut waiter);
        holder.join().unwrap();
        site.is_as_new(1);
    });
}

#[test]
fn three_take_turns() {
    model_with_a_bound(|| {
        let site = Site::new(1);
        let others = [(); 2].map(|()| {
            let site = site.clone();
            thread::spawn(move || site.use_all(1))
        });
        site.use_all(1);
        others.into_iter().for_each(|other| other.join().unwrap());
        site.is_as_new(1);
        assert_eq!(site.touch(), 4);
    });
}

#[test]
fn what_one_who_leaves_was_given_goes_to_the_next() {
    model_with_a_bound(|| {
        let site = Site::new(1);
        assert!(site.permits.try_take(1));
        let mut leaves = Waiter::default();
        assert!(!site.permits.take_or_join(1, &mut leaves, seat().1));
        let next = thread::spawn({
            let site = site.clone();
            move || site.use_all(1)
        });
        let holder = thread::spawn({
            let site = site.clone();
            move || {
                site.touch();
                site.permits.give_back(1);
            }
        });
        site.permits.leave(&mut leaves);
        next.join().unwrap();
        holder.join().unwrap();
        site.is_as_new(1);
    });
}

#[test]
fn one_who_needs_all_sees_what_all_holders_have_done() {
    model_with_a_bound(|| {
        let site = Site::new(2);
        assert!(site.permits.try_take(2));
        let holders = [(); 2].map(|()| {
            let site = site.clone();
            thread::spawn(move || {
                site.touched.with(|touched| {
                    // SAFETY: no thread writes while another one holds a permit.
                    assert_eq!(unsafe { *touched }, 0);
                });
                site.permits.give_back(1);
            })
        });
        site.use_all(2);
        holders.into_iter().for_each(|holder| holder.join().unwrap());
        site.is_as_new(2);
    });
}

#[test]
fn who_takes_past_one_who_nearly_waited_sees_what_was_given_back_before() {
    model_with_a_bound(|| {
        let site = Site::new(0);
        let takers = [(); 2].map(|()| {
            let site = site.clone();
            thread::spawn(move || {
                site.take(1);
                site.touched.with(|touched| {
                    // SAFETY: no thread writes once there are permits.
                    assert_eq!(unsafe { *touched }, 1);
                });
            })
        });
        site.touch();
        site.permits.give_back(2);
        takers.into_iter().for_each(|taker| taker.join().unwrap());
    });
}

fn guarded() -> Plain<Guarded<usize>> {
    Plain::new(Guarded::new(0, Subject::new("Mutex", Location::caller())))
}

/// Takes a lock as a fiber does.
fn hold<H: Hold>(mut claim: Claim<usize, H>) -> Guard<usize, H> {
    let taken = claim.attempt(None).or_else(|| {
        let mut place = Waiter::default();
        let (bell, seat) = seat();
        claim.join(&mut place, None, seat).or_else(|| {
            bell.wait();
            claim.woken(&mut place, None)
        })
    });
    taken.and_then(Outcome::success).expect("a waiter is woken with the lock")
}

fn exclusive(of: &Plain<Guarded<usize>>) -> Guard<usize, Exclusive> {
    hold(Claim::exclusive(of.clone(), Location::caller()))
}

fn shared(of: &Plain<Guarded<usize>>) -> Guard<usize, Shared> {
    hold(Claim::shared(of.clone(), Location::caller()))
}

#[test]
fn one_holder_at_a_time_touches_the_value() {
    model(|| {
        let of = guarded();
        let other = thread::spawn({
            let of = of.clone();
            move || *exclusive(&of) += 1
        });
        *exclusive(&of) += 1;
        other.join().unwrap();
        assert_eq!(*shared(&of), 2);
    });
}

#[test]
fn readers_see_what_a_writer_has_done_or_nothing_of_it() {
    model_with_a_bound(|| {
        let of = guarded();
        let readers = [(); 2].map(|()| {
            let of = of.clone();
            thread::spawn(move || {
                let guard = shared(&of);
                let seen = *guard;
                assert!(seen == 0 || seen == 2);
                assert_eq!(*guard, seen);
            })
        });
        let mut guard = exclusive(&of);
        *guard += 1;
        *guard += 1;
        drop(guard);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        assert!(!of.is_locked());
    });
}

#[test]
fn the_half_that_goes_last_releases_what_both_have_done() {
    model_with_a_bound(|| {
        let of = guarded();
        let (mut guard, half) = exclusive(&of).split();
        let guards = thread::spawn(move || *guard += 1);
        let halves = thread::spawn(move || drop(half));
        let mut next = exclusive(&of);
        assert_eq!(*next, 1);
        *next += 1;
        drop(next);
        guards.join().unwrap();
        halves.join().unwrap();
        assert!(!of.is_locked());
    });
}

/// Waits as a fiber does.
fn wait<A: Attempt<Out = ()>>(mut attempt: A) {
    if attempt.attempt(None).is_some() {
        return;
    }
    let mut place = A::Place::default();
    let (bell, seat) = seat();
    if attempt.join(&mut place, None, seat).is_none() {
        bell.wait();
        assert!(attempt.woken(&mut place, None).is_some());
    }
}

/// The value that one thread writes before it signals another one.
fn written() -> Arc<UnsafeCell<usize>> {
    Arc::new(UnsafeCell::new(0))
}

#[allow(unsafe_code)]
fn write(cell: &UnsafeCell<usize>) {
    // SAFETY: exclusive access is what the model checks.
    cell.with_mut(|value| unsafe { *value += 1 });
}

#[allow(unsafe_code)]
fn read(cell: &UnsafeCell<usize>) -> usize {
    // SAFETY: as above.
    cell.with(|value| unsafe { *value })
}

#[test]
fn one_who_waits_at_a_latch_sees_what_all_have_done_who_counted() {
    model_with_a_bound(|| {
        let latch = Latch::new(2);
        let counted = [written(), written()];
        let threads = counted.clone().map(|cell| {
            let latch = latch.clone();
            thread::spawn(move || {
                write(&cell);
                latch.count_down();
            })
        });
        wait(latch.attempt());
        assert!(latch.is_open());
        assert_eq!(counted.map(|cell| read(&cell)), [1, 1]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_notification_arrives_with_what_was_done_before() {
    model(|| {
        let (notify, cell) = (super::Notify::new(), written());
        let notifier = thread::spawn({
            let (notify, cell) = (notify.clone(), cell.clone());
            move || {
                write(&cell);
                notify.notify_one();
            }
        });
        wait(notify.attempt());
        assert_eq!(read(&cell), 1);
        notifier.join().unwrap();
        assert!(!notify.try_wait());
    });
}

#[test]
fn a_notification_for_one_who_leaves_goes_to_the_next() {
    model_with_a_bound(|| {
        let notify = super::Notify::new();
        let mut leaving = notify.attempt();
        // In a box, which moves to another thread.
        let mut place = Box::<Waiter<_>>::default();
        assert!(leaving.join(&mut place, None, seat().1).is_none());
        let notifier = thread::spawn({
            let notify = notify.clone();
            move || notify.notify_one()
        });
        let leaver = thread::spawn(move || leaving.leave(&mut place));
        wait(notify.attempt());
        notifier.join().unwrap();
        leaver.join().unwrap();
        assert!(!notify.try_wait());
    });
}

#[test]
fn an_answer_that_is_taken_without_the_lock_is_whole_and_one_that_is_not_there_is_under_it() {
    model(|| {
        let list = Arc::new(Mutex::new(Waiters::new()));
        let mut waiter = Waiter::default();
        waiter.join(&mut list.lock().unwrap(), seat().1, 0);
        let server = thread::spawn({
            let list = list.clone();
            move || {
                let mut list = list.lock().unwrap();
                let served = list.serve(|answer| *answer = 7);
                drop(list);
                served.map(|committed| committed.wake()).is_some()
            }
        });
        // At any time: a fiber may see that its wait is over before the answer is there.
        let answer = match waiter.take_answer() {
            Some(answer) => (answer, true),
            None => waiter.leave(&mut list.lock().unwrap()).unwrap(),
        };
        assert_eq!(answer, if server.join().unwrap() { (7, true) } else { (0, false) });
    });
}

#[test]
fn the_close_of_a_channel_or_the_last_receiver_sees_that_no_item_comes_back() {
    for receivers in 1..=2 {
        model_with_a_bound(move || {
            let passed = Arc::new(Passed::default());
            let told = Arc::new(Mutex::new(false));
            let look = move |passed: &Passed, told: &Mutex<bool>| {
                let mut told = told.lock().unwrap();
                *told |= passed.taken() == receivers;
            };
            let takers = (0..receivers).map(|_| {
                let (passed, told) = (passed.clone(), told.clone());
                thread::spawn(move || {
                    if passed.take() {
                        look(&passed, &told);
                    }
                })
            });
            let takers: Vec<_> = takers.collect();
            passed.close();
            look(&passed, &told);
            takers.into_iter().for_each(|taker| taker.join().unwrap());
            assert!(*told.lock().unwrap());
        });
    }
}
