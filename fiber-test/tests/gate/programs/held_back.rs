//! A fiber with a stale value that is held back while another one takes 25 steps: a plain random walk sees that once in 2^26 schedules.

use fiber_core::Fiber;

use crate::support::Shared;

const STEPS: u32 = 25;

#[derive(Default)]
struct State {
    progress: u32,
    is_reset_late: bool,
}

/// `reset` comes after a check of the progress, in a separate step.
fn program(reset: fn(&mut State, u32)) -> Fiber<()> {
    let state = Shared::new(State::default());
    let (working, resetting) = (state.clone(), state.clone());
    let work = Fiber::for_each(0..STEPS, move |_| working.step(|state| state.progress += 1));
    let look = state.step(|state| state.progress);
    let reset = look.bind(move |seen| resetting.step(move |state| reset(state, seen)));
    let check = move |_| assert!(!state.with(|state| state.is_reset_late), "all the work is lost");
    Fiber::parallel([reset.boxed(), work.boxed()]).map(check).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(|state, seen| state.is_reset_late = seen == 0 && state.progress == STEPS)
}

/// Checks again.
pub(crate) fn corrected() -> Fiber<()> {
    program(|state, _| state.is_reset_late = false)
}
