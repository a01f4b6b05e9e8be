//! The programs of the corpus, each of which is written once for all forms but binds.

/// Defines them in one form and style of [`lower`](super::lower).
macro_rules! corpus {
    ($form:ident $style:ident) => {
        use std::time::Duration;

        use fiber_core::{Fiber, Instant};

        use crate::forms::lower::lower;
        use crate::programs::{aba::Stack, hand_over::{self, AskingLock}, lease::Store};
        use crate::support::{Lock, Notification, Shared};

        pub(crate) fn order_violation() -> Fiber<()> {
            let state = Shared::new((false, false));
            let (preparing, looking) = (state.clone(), state.clone());
            let prepare = lower!($form $style fiber { on(preparing, |state| state.0 = true); });
            let look = lower!($form $style fiber { on(looking, |state| state.1 = state.0); });
            let both = Fiber::parallel([prepare, look]);
            both.map(move |_| assert!(state.with(|state| state.1), "it was not ready")).boxed()
        }

        fn increments(fibers: usize, times: usize, is_right: fn(u32) -> bool) -> Fiber<()> {
            let value = Shared::new(0);
            let increment = |_| {
                let value = value.clone();
                lower!($form $style fiber {
                    for (_ in 0..times) {
                        let seen = on(value, |value| *value);
                        on(value, move |value| *value = seen + 1);
                    }
                })
            };
            let all = Fiber::parallel((0..fibers).map(increment).collect::<Vec<_>>());
            all.map(move |_| assert!(is_right(value.with(|value| *value)))).boxed()
        }

        pub(crate) fn lost_update() -> Fiber<()> {
            increments(2, 1, |end| end == 2)
        }

        pub(crate) fn lost_update_all() -> Fiber<()> {
            increments(3, 1, |end| end > 1)
        }

        pub(crate) fn min_counter() -> Fiber<()> {
            increments(2, 3, |end| end != 2)
        }

        pub(crate) fn check_then_act() -> Fiber<()> {
            let balance = Shared::new(1000);
            let take = |amount: i32| {
                let balance = balance.clone();
                lower!($form $style fiber {
                    let is_enough = on(balance, move |balance| *balance >= amount);
                    on(balance, move |balance| if is_enough { *balance -= amount });
                })
            };
            let both = Fiber::parallel([take(700), take(500)]);
            both.map(move |_| assert!(balance.with(|balance| *balance) >= 0)).boxed()
        }

        pub(crate) fn close_send() -> Fiber<()> {
            // Closed, sent, drained.
            let channel = Shared::new((false, 0, 0));
            let (sending, closing) = (channel.clone(), channel.clone());
            let send = lower!($form $style fiber {
                let is_closed = on(sending, |channel| channel.0);
                on(sending, move |channel| channel.1 += i32::from(!is_closed));
            });
            let close = lower!($form $style fiber {
                on(closing, |channel| channel.0 = true);
                on(closing, |channel| channel.2 = channel.1);
            });
            let both = Fiber::parallel([send, close]);
            both.map(move |_| assert!(channel.with(|channel| channel.1 == channel.2))).boxed()
        }

        fn dine(first: &Lock, second: &Lock) -> Fiber<()> {
            let (first, second) = (first.clone(), second.clone());
            lower!($form $style fiber {
                let first = wait(first.take());
                let second = wait(second.take());
                wait(Fiber::lazy(move || drop((first, second))));
            })
        }

        pub(crate) fn lock_order() -> Fiber<()> {
            let locks: [Lock; 2] = Default::default();
            Fiber::parallel([dine(&locks[0], &locks[1]), dine(&locks[1], &locks[0])]).map(drop).boxed()
        }

        pub(crate) fn philosophers() -> Fiber<()> {
            let locks: [Lock; 4] = Default::default();
            Fiber::parallel([0, 1, 2, 3].map(|at| dine(&locks[at], &locks[(at + 1) % 4]))).map(drop).boxed()
        }

        pub(crate) fn missed_notify() -> Fiber<()> {
            let (flag, changed) = (Shared::new(false), Notification::default());
            let (setting, notification) = (flag.clone(), changed.clone());
            let wait = lower!($form $style fiber {
                let is_set = on(flag, |flag| *flag);
                // A wait in both cases, as in binds; and a waiting fiber keeps nothing that could wake it.
                code { let waits = if is_set { Fiber::success(()).boxed() } else { notification.wait() }; }
                code { drop(notification); }
                wait(waits);
            });
            let notify = lower!($form $style fiber {
                on(setting, |flag| *flag = true);
                wait(Fiber::lazy(move || changed.notify_all()));
            });
            Fiber::parallel([wait, notify]).map(drop).boxed()
        }

        pub(crate) fn aba() -> Fiber<()> {
            let stack = Shared::new(Stack::new());
            let (popping, others) = (stack.clone(), stack.clone());
            let pop = lower!($form $style fiber {
                let seen = on(popping, |stack| (stack.top, stack.top.and_then(|node| stack.below[node])));
                on(popping, move |stack| if stack.top == seen.0 { stack.swap(seen.1) });
            });
            let others = lower!($form $style fiber {
                on(others, Stack::pop);
                on(others, Stack::pop);
                on(others, |stack| stack.push(0));
            });
            let is_sound = |stack: &mut Stack| stack.top.is_none_or(|node| !stack.is_popped[node]);
            let both = Fiber::parallel([pop, others]);
            both.map(move |_| assert!(stack.with(is_sound), "the top was popped before")).boxed()
        }

        pub(crate) fn barrier_reuse() -> Fiber<()> {
            let (waiting, opened) = (Shared::new(0), Notification::default());
            let twice = |()| {
                let (waiting, opened) = (waiting.clone(), opened.clone());
                lower!($form $style fiber {
                    for (_ in 0..2) {
                        code { let opening = opened.clone(); }
                        on(waiting, move |waiting| {
                            *waiting += 1;
                            if *waiting == 2 {
                                *waiting = 0;
                                opening.notify_all();
                            }
                        });
                        loop {
                            code { let opening = opened.clone(); }
                            let listener = on(waiting, move |waiting| (*waiting != 0).then(|| opening.listen()));
                            code { let Some(listener) = listener else { break }; }
                            wait(listener.wait());
                        }
                    }
                })
            };
            Fiber::parallel([(), ()].map(twice)).map(drop).boxed()
        }

        pub(crate) fn bounded_buffer() -> Fiber<()> {
            let (is_full, changed) = (Shared::new(false), Notification::default());
            let change = |to_full: bool| {
                let (is_full, changed) = (is_full.clone(), changed.clone());
                lower!($form $style fiber {
                    loop {
                        code { let changing = changed.clone(); }
                        let listener = on(is_full, move |is_full| {
                            if *is_full == to_full {
                                return Some(changing.listen());
                            }
                            *is_full = to_full;
                            changing.notify_one();
                            None
                        });
                        code { let Some(listener) = listener else { break }; }
                        wait(listener.wait());
                    }
                })
            };
            Fiber::parallel([true, true, false, false].map(change)).map(drop).boxed()
        }

        pub(crate) fn double_checked() -> Fiber<()> {
            let (made, lock) = (Shared::new(0), Lock::default());
            let get = |()| {
                let (made, lock) = (made.clone(), lock.clone());
                lower!($form $style fiber {
                    let is_made = on(made, |made| *made > 0);
                    if (!is_made) {
                        let held = wait(lock.take());
                        on(made, |made| *made += 1);
                        code { drop(held); }
                    }
                })
            };
            let both = Fiber::parallel([(), ()].map(get));
            both.map(move |_| assert_eq!(made.with(|made| *made), 1, "it was made more than once")).boxed()
        }

        pub(crate) fn double_free() -> Fiber<()> {
            // References, frees.
            let counted = Shared::new((2, 0));
            let release = |()| {
                let counted = counted.clone();
                lower!($form $style fiber {
                    on(counted, |counted| counted.0 -= 1);
                    on(counted, |counted| if counted.0 == 0 { counted.1 += 1 });
                })
            };
            let both = Fiber::parallel([(), ()].map(release));
            both.map(move |_| assert_eq!(counted.with(|counted| counted.1), 1)).boxed()
        }

        pub(crate) fn hand_over() -> Fiber<()> {
            let lock = AskingLock::default();
            hand_over::program(move || {
                let lock = lock.clone();
                lower!($form $style fiber {
                    wait(lock.take());
                    wait(Fiber::lazy(move || lock.release()));
                })
            })
        }

        pub(crate) fn held_back() -> Fiber<()> {
            // Progress, reset too late.
            let state = Shared::new((0, false));
            let (working, resetting) = (state.clone(), state.clone());
            let reset = lower!($form $style fiber {
                let seen = on(resetting, |state| state.0);
                on(resetting, move |state| state.1 = seen == 0 && state.0 == 25);
            });
            let work = lower!($form $style fiber {
                for (_ in 0..25) {
                    on(working, |state| state.0 += 1);
                }
            });
            let check = move |_| assert!(!state.with(|state| state.1), "all the work is lost");
            Fiber::parallel([reset, work]).map(check).boxed()
        }

        pub(crate) fn if_for_while() -> Fiber<()> {
            let (items, filled) = (Shared::new(0), Notification::default());
            let take = |()| {
                let (items, filled) = (items.clone(), filled.clone());
                lower!($form $style fiber {
                    let listener = on(items, move |items| (*items == 0).then(|| filled.listen()));
                    if (let Some(listener) = listener) {
                        wait(listener.wait());
                    }
                    let left = on(items, |items| {
                        *items -= 1;
                        *items
                    });
                    code { assert!(left >= 0, "took from an empty queue"); }
                })
            };
            let [one, other] = [(), ()].map(take);
            let put = lower!($form $style fiber {
                for (_ in 0..2) {
                    code { let filled = filled.clone(); }
                    on(items, move |items| {
                        *items += 1;
                        filled.notify_all();
                    });
                }
            });
            Fiber::parallel([one, other, put]).map(drop).boxed()
        }

        pub(crate) fn lease() -> Fiber<()> {
            const LEASE: Duration = Duration::from_secs(10);
            let store = Shared::new(Store::default());
            let (old, new) = (store.clone(), store);
            let old = lower!($form $style fiber {
                wait(Fiber::delay(LEASE));
                let now = wait(Fiber::now());
                on(old, move |store| if now <= Instant::EPOCH + LEASE { store.write(1) });
            });
            let new = lower!($form $style fiber {
                wait(Fiber::delay(LEASE));
                on(new, |store| store.write(2));
            });
            Fiber::parallel([old, new]).map(drop).boxed()
        }

        pub(crate) fn lock_upgrade() -> Fiber<()> {
            let (value, lock) = (Shared::new(0), Lock::default());
            let upgrade = |()| {
                let (value, lock) = (value.clone(), lock.clone());
                lower!($form $style fiber {
                    let held = wait(lock.take());
                    let seen = on(value, |value| *value);
                    code { drop(held); }
                    let held = wait(lock.take());
                    on(value, move |value| *value = seen + 1);
                    code { drop(held); }
                })
            };
            let both = Fiber::parallel([(), ()].map(upgrade));
            both.map(move |_| assert_eq!(value.with(|value| *value), 2)).boxed()
        }

        pub(crate) fn missed_abort() -> Fiber<()> {
            // Aborted, prepared.
            let transaction = Shared::new((false, false));
            let (preparing, aborting) = (transaction.clone(), transaction.clone());
            let prepare = lower!($form $style fiber {
                let is_aborted = on(preparing, |transaction| transaction.0);
                on(preparing, move |transaction| transaction.1 = !is_aborted);
            });
            let abort = lower!($form $style fiber {
                on(aborting, |transaction| transaction.0 = true);
                on(aborting, |transaction| transaction.1 = false);
            });
            let both = Fiber::parallel([prepare, abort]);
            both.map(move |_| assert!(!transaction.with(|(aborted, prepared)| *aborted && *prepared))).boxed()
        }

        pub(crate) fn publish_before_init() -> Fiber<()> {
            // Published, content.
            let state = Shared::new((false, 0));
            let (writing, looking) = (state.clone(), state);
            let write = lower!($form $style fiber {
                on(writing, |state| state.0 = true);
                on(writing, |state| state.1 = 42);
            });
            let look = lower!($form $style fiber {
                on(looking, |state| assert!(!state.0 || state.1 == 42, "published, but empty"));
            });
            Fiber::parallel([write, look]).map(drop).boxed()
        }

        pub(crate) fn stale_retry() -> Fiber<()> {
            let value = Shared::new(0);
            let add = |()| {
                let value = value.clone();
                lower!($form $style fiber {
                    let seen = on(value, |value| *value);
                    let found = on(value, move |value| {
                        let found = *value;
                        if found == seen {
                            *value = seen + 1;
                        }
                        found
                    });
                    on(value, move |value| if found != seen && *value == found { *value = seen + 1 });
                })
            };
            let both = Fiber::parallel([(), ()].map(add));
            both.map(move |_| assert_eq!(value.with(|value| *value), 2, "an addition is lost")).boxed()
        }

        pub(crate) fn timeout_race() -> Fiber<()> {
            // Paid, expired.
            let order = Shared::new((false, false));
            let end = |end: fn(&mut (bool, bool))| {
                let order = order.clone();
                lower!($form $style fiber {
                    wait(Fiber::delay(Duration::from_secs(30)));
                    let is_over = on(order, |order| order.0 || order.1);
                    on(order, move |order| if !is_over { end(order) });
                })
            };
            let both = Fiber::parallel([end(|order| order.0 = true), end(|order| order.1 = true)]);
            both.map(move |_| assert!(order.with(|(paid, expired)| *paid != *expired))).boxed()
        }

        pub(crate) fn torn_pair() -> Fiber<()> {
            let pair = Shared::new((0, 0));
            let (writing, reading) = (pair.clone(), pair);
            let write = lower!($form $style fiber {
                on(writing, |pair| pair.0 = 1);
                on(writing, |pair| pair.1 = 1);
            });
            let read = lower!($form $style fiber {
                let first = on(reading, |pair| pair.0);
                let second = on(reading, |pair| pair.1);
                code { assert_eq!(first, second, "read half of a write"); }
            });
            Fiber::parallel([write, read]).map(drop).boxed()
        }
    };
}

pub(super) use corpus;
