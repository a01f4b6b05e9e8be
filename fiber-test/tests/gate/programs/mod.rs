//! The programs: each buggy, and corrected. A program is one [`Fiber::parallel`] of its fibers, followed by a check.
//!
//! A *step* is the code of a fiber between two switch points: a fiber of n steps is n closures joined by n - 1 binds.

pub(crate) mod aba;
pub(crate) mod barrier_reuse;
pub(crate) mod bounded_buffer;
pub(crate) mod check_then_act;
pub(crate) mod close_send;
pub(crate) mod double_checked;
pub(crate) mod double_free;
pub(crate) mod hand_over;
pub(crate) mod held_back;
pub(crate) mod if_for_while;
pub(crate) mod lease;
pub(crate) mod lock_order;
pub(crate) mod lock_upgrade;
pub(crate) mod lost_update;
pub(crate) mod min_counter;
pub(crate) mod missed_abort;
pub(crate) mod missed_notify;
pub(crate) mod order_violation;
pub(crate) mod publish_before_init;
pub(crate) mod stale_retry;
pub(crate) mod timeout_race;
pub(crate) mod torn_pair;

use fiber_core::Fiber;

/// A program with a bug, and the same one without.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) broken: fn() -> Fiber<()>,
    pub(crate) corrected: fn() -> Fiber<()>,
    /// The number of schedules in which the default portfolio has to find the bug.
    pub(crate) within: u64,
    /// The fewest preemptions that show the bug.
    pub(crate) preemptions: u32,
}

const fn program(
    name: &'static str,
    broken: fn() -> Fiber<()>,
    corrected: fn() -> Fiber<()>,
    preemptions: u32,
) -> Program {
    Program { name, broken, corrected, within: 200, preemptions }
}

/// All programs; those whose exact numbers are known come first.
pub(crate) const ALL: [Program; 24] = [
    program("order_violation", order_violation::broken, order_violation::corrected, 0),
    program("lost_update", lost_update::broken, lost_update::corrected, 1),
    program("lost_update_all", lost_update::all_but_one_broken, lost_update::all_but_one_corrected, 1),
    Program { within: 5_000, ..program("min_counter", min_counter::broken, min_counter::corrected, 4) },
    program("check_then_act", check_then_act::broken, check_then_act::corrected, 1),
    program("close_send", close_send::broken, close_send::corrected, 1),
    program("lock_order", lock_order::broken, lock_order::corrected, 1),
    program("philosophers", lock_order::philosophers_broken, lock_order::philosophers_corrected, 1),
    program("missed_notify", missed_notify::broken, missed_notify::corrected, 1),
    program("aba", aba::broken, aba::corrected, 1),
    program("barrier_reuse", barrier_reuse::broken, barrier_reuse::corrected, 0),
    program("bounded_buffer", bounded_buffer::broken, bounded_buffer::corrected, 0),
    program("double_checked", double_checked::broken, double_checked::corrected, 1),
    program("double_free", double_free::broken, double_free::corrected, 1),
    program("hand_over", hand_over::broken, hand_over::corrected, 1),
    // It needs one preemption at one of 26 places, and none later.
    Program { within: 1_000, ..program("held_back", held_back::broken, held_back::corrected, 1) },
    program("if_for_while", if_for_while::broken, if_for_while::corrected, 1),
    program("lease", lease::broken, lease::corrected, 0),
    program("lock_upgrade", lock_upgrade::broken, lock_upgrade::corrected, 1),
    program("missed_abort", missed_abort::broken, missed_abort::corrected, 1),
    program("publish_before_init", publish_before_init::broken, publish_before_init::corrected, 1),
    program("stale_retry", stale_retry::broken, stale_retry::corrected, 1),
    program("timeout_race", timeout_race::broken, timeout_race::corrected, 1),
    program("torn_pair", torn_pair::broken, torn_pair::corrected, 1),
];
