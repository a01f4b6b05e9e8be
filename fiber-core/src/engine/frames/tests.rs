//! Frames compared with a typed model: programs of random steps, whose values and closures have many sizes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use proptest::prelude::*;

use super::{Begun, Slot, Waiting, Waits};
use crate::cell::Signal;
use crate::engine::context::{Context, Cx, Turn};
use crate::engine::scheduler::{Scheduler, TimerKey};
use crate::engine::step::{Follow, Step};
use crate::engine::task::{Alone, Task};
use crate::instant::Instant;
use crate::outcome::Outcome;

/// A step of a program, from a number to a number.
#[derive(Clone, Debug)]
enum Op {
    /// In two words.
    Add(u64),
    /// A frame that hardly fits into a cell.
    Large(u64),
    /// Its closure is aligned more than a frame.
    Aligned(u64),
    /// Its outcome is wide: in the buffer.
    Wide(u64),
    /// Its outcome is wide, and aligned more than the buffer.
    WideAligned(u64),
    /// It waits again, and then does this.
    Wait(Vec<Op>),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        any::<u64>().prop_map(Op::Add),
        any::<u64>().prop_map(Op::Large),
        any::<u64>().prop_map(Op::Aligned),
        any::<u64>().prop_map(Op::Wide),
        any::<u64>().prop_map(Op::WideAligned),
    ];
    let op = op.prop_recursive(4, 60, 6, |op| prop::collection::vec(op, 0..6).prop_map(Op::Wait));
    prop::collection::vec(op, 0..12)
}

/// The model.
fn compute(start: u64, ops: &[Op]) -> u64 {
    ops.iter().fold(start, |value, op| match op {
        Op::Add(n) => value.wrapping_add(*n),
        Op::Large(n) => value.wrapping_mul(3).wrapping_add(*n),
        Op::Aligned(n) => value ^ n,
        Op::Wide(n) => value.rotate_left(7).wrapping_sub(*n),
        Op::WideAligned(n) => value.rotate_left(3) ^ n,
        Op::Wait(inner) => compute(value, inner),
    })
}

/// Counts what has not been dropped.
type Live = Arc<()>;

/// Gives a number from the bottom of the stack.
struct Number(u64, #[expect(dead_code, reason = "it counts")] Live);

impl Waits for Number {
    type Event = u64;
    type Out = u64;

    fn begin(&mut self, _: &Cx<'_>) -> Begun<u64> {
        if self.0 & 1 == 0 { Begun::FromBottom } else { Begun::Ready(Outcome::Success(self.0)) }
    }

    fn wake(&mut self, _: &Cx<'_>, _: Signal) -> Option<Outcome<u64>> {
        Some(Outcome::Success(self.0))
    }

    fn end(self, _: &Cx<'_>, outcome: Outcome<u64>) -> Outcome<u64> {
        outcome
    }
}

/// A step that is a closure, with something large or aligned beside it.
struct Calls<F, D>(F, D, #[expect(dead_code, reason = "it counts")] Live);

impl<T, U, F, D> Follow<T> for Calls<F, D>
where
    T: Send + 'static,
    U: Send + 'static,
    F: FnOnce(T, D) -> U + Send + 'static,
    D: Send + 'static,
{
    type Out = U;

    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, U> {
        Step::Done(outcome.map(|value| (self.0)(value, self.1)))
    }
}

struct WaitsAgain(Vec<Op>, Live);

impl Follow<u64> for WaitsAgain {
    type Out = u64;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<u64>) -> Step<'s, u64> {
        let Outcome::Success(value) = outcome else { unreachable!("nothing fails") };
        Step::Wait(push(cx, value, &self.0, &self.1))
    }
}

#[repr(align(64))]
struct Aligned([u64; 9]);

/// Waits, and then does this.
fn push<'s>(cx: &'s Cx<'_>, start: u64, ops: &[Op], live: &Live) -> Waiting<'s, u64> {
    let waiting = cx.wait(Number(start, live.clone()));
    ops.iter().fold(waiting, |waiting, op| {
        let live = live.clone();
        match op.clone() {
            Op::Add(n) => waiting.then(cx, Calls(u64::wrapping_add, n, live)),
            Op::Large(n) => {
                let add = |value: u64, n: [u64; 60]| value.wrapping_mul(3).wrapping_add(n[59]);
                waiting.then(cx, Calls(add, [n; 60], live))
            }
            Op::Aligned(n) => {
                let xor = |value: u64, n: Aligned| value ^ n.0[8];
                waiting.then(cx, Calls(xor, Aligned([n; 9]), live))
            }
            Op::Wide(n) => {
                let widen = |value: u64, n: u64| [value.rotate_left(7), n, n, n, n];
                let waiting = waiting.then(cx, Calls(widen, n, live.clone()));
                waiting.then(cx, Calls(|wide: [u64; 5], ()| wide[0].wrapping_sub(wide[4]), (), live))
            }
            Op::WideAligned(n) => {
                let widen = |value: u64, n: u64| Aligned([value.rotate_left(3), n, n, n, n, n, n, n, n]);
                let waiting = waiting.then(cx, Calls(widen, n, live.clone()));
                waiting.then(cx, Calls(|wide: Aligned, ()| wide.0[0] ^ wide.0[8], (), live))
            }
            Op::Wait(inner) => waiting.then(cx, WaitsAgain(inner, live)),
        }
    })
}

/// Keeps the outcome.
struct End(Arc<Mutex<Option<Outcome<u64>>>>);

impl Follow<u64> for End {
    type Out = ();

    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<u64>) -> Step<'s, ()> {
        *self.0.lock() = Some(outcome);
        Step::Done(Outcome::Success(()))
    }
}

/// Keeps its tasks.
#[derive(Default)]
struct Queue(Mutex<VecDeque<Task>>);

impl Scheduler for Queue {
    fn schedule(&self, task: Task) {
        self.0.lock().push_back(task);
    }

    fn schedule_at(&self, _: Instant, task: Task) -> TimerKey {
        self.schedule(task);
        TimerKey::new(0)
    }

    fn cancel_timer(&self, _: TimerKey) -> bool {
        false
    }

    fn now(&self) -> Instant {
        Instant::EPOCH
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }
}

/// Runs the program for so many tasks at most, and drops what is left of it then.
fn run(ops: &[Op], most: usize) -> Option<u64> {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let (live, result) = (Live::default(), Arc::new(Mutex::new(None)));
    let of_end = result.clone();
    Turn::new(&root, &Alone).run(|turn| {
        let slot = Slot::apart();
        let cx = &Cx::new(&root, turn, &slot);
        let _ = push(cx, 2, ops, &live).then(cx, End(of_end));
        cx.settle();
    });
    for _ in 0..most {
        let Some(task) = queue.0.lock().pop_front() else { break };
        task.run();
    }
    let left: Vec<Task> = queue.0.lock().drain(..).collect();
    drop(left);
    assert_eq!(Arc::strong_count(&live), 1, "everything has been dropped once");
    let outcome = result.lock().take();
    outcome.map(|outcome: Outcome<u64>| match outcome {
        Outcome::Success(value) => value,
        other => panic!("{other:?}"),
    })
}

proptest! {
    #[test]
    fn frames_give_what_the_typed_model_gives(ops in ops()) {
        prop_assert_eq!(run(&ops, usize::MAX), Some(compute(2, &ops)));
    }

    #[test]
    fn frames_that_are_dropped_half_way_drop_every_value_once(ops in ops(), most in 0_usize..3) {
        if let Some(value) = run(&ops, most) {
            prop_assert_eq!(value, compute(2, &ops));
        }
    }
}

#[test]
fn a_wait_is_continued_in_order_and_once() {
    let root = Context::root(Arc::new(Queue::default()));
    let refused = |f: &dyn Fn(&Cx<'_>)| {
        let mut panicked = false;
        Turn::new(&root, &Alone).run(|turn| {
            let slot = Slot::apart();
            panicked = crate::panic::guard(|| f(&Cx::new(&root, turn, &slot))).is_err();
        });
        panicked
    };
    assert!(refused(&|cx| {
        let first = cx.yields();
        let _ = cx.yields();
        drop(first);
    }));
    assert!(!refused(&|cx| drop(cx.yields())));
}
