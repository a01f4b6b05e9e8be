//! Checks a flag, and then registers for the notification of its change, which may have been sent in between.

use fiber_core::Fiber;

use crate::exact::{Model, Next};
use crate::support::{Notification, Shared};

fn program(wait: Fiber<()>, flag: Shared<bool>, changed: Notification) -> Fiber<()> {
    let notify = move |()| Fiber::lazy(move || changed.notify_all());
    let notifier = flag.step(|flag| *flag = true).bind(notify).boxed();
    Fiber::parallel([wait, notifier]).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    let (flag, changed) = (Shared::new(false), Notification::default());
    let notification = changed.clone();
    let wait = move |is_set: bool| if is_set { Fiber::success(()).boxed() } else { notification.wait() };
    program(flag.step(|flag| *flag).bind(wait).boxed(), flag, changed)
}

/// Registers first, then checks.
pub(crate) fn corrected() -> Fiber<()> {
    let (flag, changed) = (Shared::new(false), Notification::default());
    let (notification, looking) = (changed.clone(), flag.clone());
    let listen = Fiber::lazy(move || notification.listen());
    let wait = listen.bind(move |listener| {
        looking.step(|flag| *flag).bind(
            move |is_set| {
                if is_set { Fiber::success(()).boxed() } else { listener.wait() }
            },
        )
    });
    program(wait.boxed(), flag, changed)
}

#[derive(Clone, Default)]
pub(crate) struct State {
    flag: bool,
    waits: bool,
}

pub(crate) fn model() -> Model<State> {
    let look = |state: &mut State, _| if state.flag { Next::End } else { Next::GoOn };
    let wait = |state: &mut State, _| {
        state.waits = true;
        Next::GoOn
    };
    let set = |state: &mut State, _| {
        state.flag = true;
        Next::GoOn
    };
    let notify = |state: &mut State, _| {
        state.waits = false;
        Next::GoOn
    };
    Model::new(State::default(), vec![vec![look, wait], vec![set, notify]], |state| state.waits)
}
