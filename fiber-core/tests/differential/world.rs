//! The effects of the programs, all of which are logged.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::{Error, Fiber};

/// The events so far, and how many more may follow.
#[derive(Default)]
pub(crate) struct Log {
    events: Mutex<Vec<String>>,
    rounds: Mutex<u32>,
}

/// The end of a program that is not a `fiber!`.
pub(crate) enum End {
    Value(i64),
    /// By waiting for the answer to this number, after its variables have been dropped.
    TailCall(i64),
}

/// Rounds of the loops of a program that have no other end.
const ROUNDS: u32 = 20;

impl Log {
    pub(crate) fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    fn note(&self, event: String) {
        self.events.lock().unwrap().push(event);
    }

    fn is_tired(&self) -> bool {
        let mut rounds = self.rounds.lock().unwrap();
        *rounds += 1;
        *rounds > ROUNDS
    }

    /// The result of a wait.
    fn answer(&self, n: i64) -> Result<i64, Error> {
        self.note(format!("wait {n}"));
        if n % 5 == 4 { Err(Error::msg(format!("refused {n}"))) } else { Ok(n.wrapping_add(1)) }
    }

    fn check(&self, n: i64) -> Result<i64, std::num::ParseIntError> {
        self.note(format!("check {n}"));
        if n % 3 == 2 { "no number".parse() } else { Ok(n) }
    }
}

/// Logs its drop.
pub(crate) struct Noisy(Arc<Log>, i64);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.0.note(format!("drop {}", self.1));
    }
}

impl Noisy {
    pub(crate) fn number(&self) -> i64 {
        self.1
    }

    pub(crate) fn wait(&self, n: i64) -> Fiber<i64> {
        Async(self.0.clone()).wait(n)
    }
}

pub(crate) struct Pair {
    pub(crate) a: i64,
    pub(crate) b: i64,
}

/// The world of plain Rust, without waits.
#[derive(Clone, Default)]
pub(crate) struct Plain(pub(crate) Arc<Log>);

/// The world of fibers: some waits are ready, some yield, some sleep.
#[derive(Clone, Default)]
pub(crate) struct Async(pub(crate) Arc<Log>);

macro_rules! same_in_both {
    ($($world:ident),*) => {$(
        impl $world {
            pub(crate) fn log(&self, n: i64) {
                self.0.note(format!("log {n}"));
            }

            pub(crate) fn is_tired(&self) -> bool {
                self.0.is_tired()
            }

            pub(crate) fn check(&self, n: i64) -> Result<i64, std::num::ParseIntError> {
                self.0.check(n)
            }

            pub(crate) fn noisy(&self, n: i64) -> Noisy {
                Noisy(self.0.clone(), n)
            }

            /// The number, while the temporary lives.
            pub(crate) fn beside(&self, _: &Noisy, n: i64) -> i64 {
                n
            }
        }
    )*};
}
same_in_both!(Plain, Async);

impl Plain {
    pub(crate) fn wait(&self, n: i64) -> Result<i64, Error> {
        self.0.answer(n)
    }

    pub(crate) fn wait_pair(&self, n: i64) -> Result<(i64, [i64; 2]), Error> {
        self.wait(n).map(|n| (n, [n.wrapping_mul(2), 0]))
    }

    pub(crate) fn wait_some(&self, n: i64) -> Result<Option<i64>, Error> {
        self.wait(n).map(|n| (n % 3 != 0).then_some(n))
    }

    pub(crate) fn wait_flag(&self, n: i64) -> Result<bool, Error> {
        self.wait(n).map(|n| n % 2 == 0)
    }
}

impl Async {
    pub(crate) fn wait(&self, n: i64) -> Fiber<i64> {
        let log = self.0.clone();
        let answer = Fiber::try_lazy(move || log.answer(n));
        match n.rem_euclid(4) {
            0 => Fiber::yield_now().bind(|()| answer).boxed(),
            1 => Fiber::delay(Duration::from_millis(5)).bind(|()| answer).boxed(),
            _ => answer.boxed(),
        }
    }

    pub(crate) fn some(&self, n: i64) -> Option<i64> {
        (n % 3 != 0).then_some(n)
    }

    pub(crate) fn flag(&self, n: i64) -> bool {
        n % 2 == 0
    }

    pub(crate) fn pair(&self, a: i64, b: i64) -> i64 {
        a.wrapping_mul(10).wrapping_add(b)
    }

    pub(crate) fn wait_pair(&self, n: i64) -> Fiber<(i64, [i64; 2])> {
        self.wait(n).map(|n| (n, [n.wrapping_mul(2), 0])).boxed()
    }

    pub(crate) fn wait_some(&self, n: i64) -> Fiber<Option<i64>> {
        self.wait(n).map(|n| (n % 3 != 0).then_some(n)).boxed()
    }

    pub(crate) fn wait_flag(&self, n: i64) -> Fiber<bool> {
        self.wait(n).map(|n| n % 2 == 0).boxed()
    }
}
