//! A barrier that is used twice: a waiter detects the opening by a count of zero, which the fastest fiber may have raised again.

use std::ops::ControlFlow::{self, Break, Continue};

use fiber_core::Fiber;

use crate::support::{Listener, Notification, Shared};

const FIBERS: u32 = 2;

#[derive(Clone, Copy, Default)]
struct State {
    waiting: u32,
    /// How often it has opened.
    generation: u32,
}

type IsOpen = fn(&State, u32) -> bool;

#[derive(Clone)]
struct Barrier {
    state: Shared<State>,
    opened: Notification,
    is_open: IsOpen,
}

impl Barrier {
    fn wait(&self) -> Fiber<()> {
        let Barrier { state, opened, .. } = self.clone();
        let arrive = state.step(move |state| {
            let generation = state.generation;
            state.waiting += 1;
            if state.waiting == FIBERS {
                *state = State { waiting: 0, generation: generation + 1 };
                opened.notify_all();
            }
            generation
        });
        let barrier = self.clone();
        arrive.bind(move |generation| barrier.pass(generation)).boxed()
    }

    fn pass(self, generation: u32) -> Fiber<()> {
        let round = move |()| -> Fiber<ControlFlow<(), ()>> {
            let Barrier { state, opened, is_open } = self.clone();
            let look = state.step(move |state| (!is_open(state, generation)).then(|| opened.listen()));
            let wait_or_pass = |listener: Option<Listener>| match listener {
                Some(listener) => listener.wait().map(Continue).boxed(),
                None => Fiber::success(Break(())).boxed(),
            };
            look.bind(wait_or_pass).boxed()
        };
        Fiber::iterate((), round).boxed()
    }
}

fn program(is_open: IsOpen) -> Fiber<()> {
    let barrier = Barrier { state: Shared::new(State::default()), opened: Notification::default(), is_open };
    let twice = |_| {
        let second = barrier.clone();
        barrier.wait().bind(move |()| second.wait()).boxed()
    };
    Fiber::parallel((0..FIBERS).map(twice).collect::<Vec<_>>()).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(|state, _| state.waiting == 0)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(|state, generation| state.generation > generation)
}
