//! Programs of the corpus as ordinary functions that wait.

use fiber_core::{Direct, Error, Fiber};

use crate::support::{Lock, Notification, Shared};

fn direct(f: impl FnOnce(&Direct<'_>) -> Result<(), Error> + Send + 'static) -> Fiber<()> {
    Fiber::direct(f).boxed()
}

pub(super) fn order_violation() -> Fiber<()> {
    let state = Shared::new((false, false));
    let (preparing, looking) = (state.clone(), state.clone());
    let prepare = direct(move |fiber| {
        fiber.wait(preparing.step(|state| state.0 = true))?;
        Ok(())
    });
    let look = direct(move |fiber| {
        fiber.wait(looking.step(|state| state.1 = state.0))?;
        Ok(())
    });
    let both = Fiber::parallel([prepare, look]);
    both.map(move |_| assert!(state.with(|state| state.1), "it was not ready")).boxed()
}

fn increment(value: &Shared<u32>) -> Fiber<()> {
    let value = value.clone();
    direct(move |fiber| {
        let seen = fiber.wait(value.step(|value| *value))?;
        fiber.wait(value.step(move |value| *value = seen + 1))?;
        Ok(())
    })
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
        direct(move |fiber| {
            for _ in 0..3 {
                let seen = fiber.wait(value.step(|value| *value))?;
                fiber.wait(value.step(move |value| *value = seen + 1))?;
            }
            Ok(())
        })
    };
    let both = Fiber::parallel([three_times(), three_times()]);
    both.map(move |_| assert_ne!(value.with(|value| *value), 2)).boxed()
}

pub(super) fn check_then_act() -> Fiber<()> {
    let balance = Shared::new(1000);
    let take = |amount: i32| {
        let balance = balance.clone();
        direct(move |fiber| {
            let is_enough = fiber.wait(balance.step(move |balance| *balance >= amount))?;
            fiber.wait(balance.step(move |balance| {
                if is_enough {
                    *balance -= amount
                }
            }))?;
            Ok(())
        })
    };
    let both = Fiber::parallel([take(700), take(500)]);
    both.map(move |_| assert!(balance.with(|balance| *balance) >= 0)).boxed()
}

pub(super) fn close_send() -> Fiber<()> {
    // Closed, sent, drained.
    let channel = Shared::new((false, 0, 0));
    let (sending, closing) = (channel.clone(), channel.clone());
    let send = direct(move |fiber| {
        let is_closed = fiber.wait(sending.step(|channel| channel.0))?;
        fiber.wait(sending.step(move |channel| channel.1 += i32::from(!is_closed)))?;
        Ok(())
    });
    let close = direct(move |fiber| {
        fiber.wait(closing.step(|channel| channel.0 = true))?;
        fiber.wait(closing.step(|channel| channel.2 = channel.1))?;
        Ok(())
    });
    let both = Fiber::parallel([send, close]);
    both.map(move |_| assert!(channel.with(|channel| channel.1 == channel.2))).boxed()
}

fn dine(first: &Lock, second: &Lock) -> Fiber<()> {
    let (first, second) = (first.clone(), second.clone());
    direct(move |fiber| {
        let first = fiber.wait(first.take())?;
        let second = fiber.wait(second.take())?;
        fiber.wait(Fiber::lazy(move || drop((first, second))))?;
        Ok(())
    })
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
    let wait = direct(move |fiber| {
        let is_set = fiber.wait(flag.step(|flag| *flag))?;
        // A wait in both cases, as in binds; and a waiting fiber keeps nothing that could wake it.
        let waits = if is_set { Fiber::success(()).boxed() } else { notification.wait() };
        drop(notification);
        fiber.wait(waits)?;
        Ok(())
    });
    let notify = direct(move |fiber| {
        fiber.wait(setting.step(|flag| *flag = true))?;
        fiber.wait(Fiber::lazy(move || changed.notify_all()))?;
        Ok(())
    });
    Fiber::parallel([wait, notify]).map(drop).boxed()
}

pub(super) fn double_free() -> Fiber<()> {
    // References, frees.
    let counted = Shared::new((2, 0));
    let release = || {
        let counted = counted.clone();
        direct(move |fiber| {
            fiber.wait(counted.step(|counted| counted.0 -= 1))?;
            fiber.wait(counted.step(|counted| {
                if counted.0 == 0 {
                    counted.1 += 1
                }
            }))?;
            Ok(())
        })
    };
    let both = Fiber::parallel([release(), release()]);
    both.map(move |_| assert_eq!(counted.with(|counted| counted.1), 1)).boxed()
}

pub(super) fn torn_pair() -> Fiber<()> {
    let pair = Shared::new((0, 0));
    let (writing, reading) = (pair.clone(), pair);
    let write = direct(move |fiber| {
        fiber.wait(writing.step(|pair| pair.0 = 1))?;
        fiber.wait(writing.step(|pair| pair.1 = 1))?;
        Ok(())
    });
    let read = direct(move |fiber| {
        let first = fiber.wait(reading.step(|pair| pair.0))?;
        let second = fiber.wait(reading.step(|pair| pair.1))?;
        assert_eq!(first, second, "read half of a write");
        Ok(())
    });
    Fiber::parallel([write, read]).map(drop).boxed()
}

pub(super) fn publish_before_init() -> Fiber<()> {
    // Published, content.
    let state = Shared::new((false, 0));
    let (writing, looking) = (state.clone(), state);
    let write = direct(move |fiber| {
        fiber.wait(writing.step(|state| state.0 = true))?;
        fiber.wait(writing.step(|state| state.1 = 42))?;
        Ok(())
    });
    let look = direct(move |fiber| {
        fiber.wait(looking.step(|state| assert!(!state.0 || state.1 == 42, "published, but empty")))?;
        Ok(())
    });
    Fiber::parallel([write, look]).map(drop).boxed()
}
