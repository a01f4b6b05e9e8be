//! Reads a value that another fiber prepares, without waiting for it.

use fiber_core::Fiber;

use crate::exact::{Model, Next};
use crate::support::{Notification, Shared};

#[derive(Clone, Default)]
pub(crate) struct State {
    is_ready: bool,
    saw_ready: bool,
}

pub(crate) fn broken() -> Fiber<()> {
    let state = Shared::new(State::default());
    let prepare = state.step(|state| state.is_ready = true).boxed();
    let look = state.step(|state| state.saw_ready = state.is_ready).boxed();
    let both = Fiber::parallel([prepare, look]);
    both.map(move |_| assert!(state.with(|state| state.saw_ready), "it was not ready")).boxed()
}

pub(crate) fn corrected() -> Fiber<()> {
    let (state, prepared) = (Shared::new(State::default()), Notification::default());
    let waiting = prepared.listen();
    let (preparing, looking) = (state.clone(), state.clone());
    let prepare = preparing.step(|state| state.is_ready = true).map(move |()| prepared.notify_all()).boxed();
    let look = waiting.wait().bind(move |()| looking.step(|state| state.saw_ready = state.is_ready)).boxed();
    let both = Fiber::parallel([prepare, look]);
    both.map(move |_| assert!(state.with(|state| state.saw_ready), "it was not ready")).boxed()
}

pub(crate) fn model() -> Model<State> {
    let prepare = |state: &mut State, _| {
        state.is_ready = true;
        Next::GoOn
    };
    let look = |state: &mut State, _| {
        state.saw_ready = state.is_ready;
        Next::GoOn
    };
    Model::new(State::default(), vec![vec![prepare], vec![look]], |state| !state.saw_ready)
}
