//! Publishes a value, and then initializes it.

use fiber_core::Fiber;

use crate::support::Shared;

#[derive(Clone, Copy, Default)]
struct State {
    is_published: bool,
    content: u32,
}

const CONTENT: u32 = 42;

fn program(steps: [fn(&mut State); 2]) -> Fiber<()> {
    let state = Shared::new(State::default());
    let writing = state.clone();
    let [first, second] = steps;
    let write = state.step(first).bind(move |()| writing.step(second));
    let look = |state: &mut State| {
        assert!(!state.is_published || state.content == CONTENT, "published, but empty");
    };
    Fiber::parallel([write.boxed(), state.step(look).boxed()]).map(drop).boxed()
}

fn publish(state: &mut State) {
    state.is_published = true;
}

fn fill(state: &mut State) {
    state.content = CONTENT;
}

pub(crate) fn broken() -> Fiber<()> {
    program([publish, fill])
}

pub(crate) fn corrected() -> Fiber<()> {
    program([fill, publish])
}
