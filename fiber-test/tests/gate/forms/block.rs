//! Programs of the corpus in `fiber!`.

use fiber_core::{Fiber, fiber};

use crate::support::{Lock, Notification, Shared};

pub(super) fn order_violation() -> Fiber<()> {
    let state = Shared::new((false, false));
    let (preparing, looking) = (state.clone(), state.clone());
    let prepare = fiber! { do! preparing.step(|state| state.0 = true); };
    let look = fiber! { do! looking.step(|state| state.1 = state.0); };
    let both = Fiber::parallel([prepare, look]);
    both.map(move |_| assert!(state.with(|state| state.1), "it was not ready")).boxed()
}

fn increment(value: &Shared<u32>) -> Fiber<()> {
    let value = value.clone();
    fiber! {
        let! seen = value.step(|value| *value);
        do! value.step(move |value| *value = seen + 1);
    }
}

pub(super) fn lost_update() -> Fiber<()> {
    let value = Shared::new(0);
    let both = Fiber::parallel([increment(&value), increment(&value)]);
    both.map(move |_| assert_eq!(value.with(|value| *value), 2)).boxed()
}

pub(super) fn lost_update_all() -> Fiber<()> {
    let value = Shared::new(0);
    let all = Fiber::parallel([increment(&value), increment(&value), increment(&value)]);
    all.map(move |_| assert!(value.with(|value| *value) > 1)).boxed()
}

pub(super) fn min_counter() -> Fiber<()> {
    let value = Shared::new(0);
    let three_times = || {
        let value = value.clone();
        fiber! {
            for _ in 0..3 {
                let! seen = value.step(|value| *value);
                do! value.step(move |value| *value = seen + 1);
            }
        }
    };
    let both = Fiber::parallel([three_times(), three_times()]);
    both.map(move |_| assert_ne!(value.with(|value| *value), 2)).boxed()
}

pub(super) fn check_then_act() -> Fiber<()> {
    let balance = Shared::new(1000);
    let take = |amount: i32| {
        let balance = balance.clone();
        fiber! {
            let! is_enough = balance.step(move |balance| *balance >= amount);
            do! balance.step(move |balance| if is_enough { *balance -= amount });
        }
    };
    let both = Fiber::parallel([take(700), take(500)]);
    both.map(move |_| assert!(balance.with(|balance| *balance) >= 0)).boxed()
}

pub(super) fn close_send() -> Fiber<()> {
    // Closed, sent, drained.
    let channel = Shared::new((false, 0, 0));
    let (sending, closing) = (channel.clone(), channel.clone());
    let send = fiber! {
        let! is_closed = sending.step(|channel| channel.0);
        do! sending.step(move |channel| channel.1 += i32::from(!is_closed));
    };
    let close = fiber! {
        do! closing.step(|channel| channel.0 = true);
        do! closing.step(|channel| channel.2 = channel.1);
    };
    let both = Fiber::parallel([send, close]);
    both.map(move |_| assert!(channel.with(|channel| channel.1 == channel.2))).boxed()
}

fn dine(first: &Lock, second: &Lock) -> Fiber<()> {
    let (first, second) = (first.clone(), second.clone());
    fiber! {
        let! first = first.take();
        let! second = second.take();
        do! Fiber::lazy(move || drop((first, second)));
    }
}

pub(super) fn lock_order() -> Fiber<()> {
    let locks: [Lock; 2] = Default::default();
    Fiber::parallel([dine(&locks[0], &locks[1]), dine(&locks[1], &locks[0])]).map(drop).boxed()
}

pub(super) fn philosophers() -> Fiber<()> {
    let locks: [Lock; 4] = Default::default();
    Fiber::parallel([0, 1, 2, 3].map(|at| dine(&locks[at], &locks[(at + 1) % 4]))).map(drop).boxed()
}

pub(super) fn missed_notify() -> Fiber<()> {
    let (flag, changed) = (Shared::new(false), Notification::default());
    let (setting, notification) = (flag.clone(), changed.clone());
    let wait = fiber! {
        let! is_set = flag.step(|flag| *flag);
        // A wait in both cases, as in binds; and a waiting fiber keeps nothing that could wake it.
        let waits = if is_set { Fiber::success(()).boxed() } else { notification.wait() };
        drop(notification);
        do! waits;
    };
    let notify = fiber! {
        do! setting.step(|flag| *flag = true);
        do! Fiber::lazy(move || changed.notify_all());
    };
    Fiber::parallel([wait, notify]).map(drop).boxed()
}

pub(super) fn double_free() -> Fiber<()> {
    // References, frees.
    let counted = Shared::new((2, 0));
    let release = || {
        let counted = counted.clone();
        fiber! {
            do! counted.step(|counted| counted.0 -= 1);
            do! counted.step(|counted| if counted.0 == 0 { counted.1 += 1 });
        }
    };
    let both = Fiber::parallel([release(), release()]);
    both.map(move |_| assert_eq!(counted.with(|counted| counted.1), 1)).boxed()
}

pub(super) fn torn_pair() -> Fiber<()> {
    let pair = Shared::new((0, 0));
    let (writing, reading) = (pair.clone(), pair);
    let write = fiber! {
        do! writing.step(|pair| pair.0 = 1);
        do! writing.step(|pair| pair.1 = 1);
    };
    let read = fiber! {
        let! first = reading.step(|pair| pair.0);
        let! second = reading.step(|pair| pair.1);
        assert_eq!(first, second, "read half of a write");
    };
    Fiber::parallel([write, read]).map(drop).boxed()
}

pub(super) fn publish_before_init() -> Fiber<()> {
    // Published, content.
    let state = Shared::new((false, 0));
    let (writing, looking) = (state.clone(), state);
    let write = fiber! {
        do! writing.step(|state| state.0 = true);
        do! writing.step(|state| state.1 = 42);
    };
    let look =
        fiber! { do! looking.step(|state| assert!(!state.0 || state.1 == 42, "published, but empty")); };
    Fiber::parallel([write, look]).map(drop).boxed()
}
