//! Settings from the environment, for one call of `cargo test`.
//!
//! | variable | meaning |
//! |---|---|
//! | `FIBER_TEST_REPLAY` | the one schedule to run, as a report prints it |
//! | `FIBER_TEST_SEED` | a number, or `random` |
//! | `FIBER_TEST_SCHEDULES` | the number of schedules; `x10`: ten times the number of the test |
//! | `FIBER_TEST_SECONDS` | how long to explore |
//! | `FIBER_TEST_THREADS` | the number of threads |
//! | `FIBER_TEST_REGRESSIONS` | `off`: no file of regressions is read or written |
//! | `FIBER_TEST_OUT` | a directory for pictures of failures |

use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use crate::schedule::Schedule;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) replay: Option<Schedule>,
    pub(crate) seed: Option<u64>,
    pub(crate) schedules: Option<Count>,
    pub(crate) time: Option<Duration>,
    pub(crate) threads: Option<usize>,
    pub(crate) has_no_regressions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Exactly(u64),
    Times(u64),
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        Environment::read(|name| std::env::var(name).ok())
    }

    /// # Panics
    /// If a variable has an invalid value: ignoring it would test something else.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let seconds: Option<u64> = parse(&variable, "FIBER_TEST_SECONDS");
        let seed = variable("FIBER_TEST_SEED").filter(|seed| seed == "random").map(|_| {
            let seed = RandomState::new().hash_one("seed");
            println!("FIBER_TEST_SEED={seed}");
            seed
        });
        let regressions = variable("FIBER_TEST_REGRESSIONS");
        let is_off = |text: &str| match text {
            "off" => true,
            "on" | "" => false,
            _ => panic!("FIBER_TEST_REGRESSIONS={text}: expected `on` or `off`"),
        };
        Environment {
            replay: parse(&variable, "FIBER_TEST_REPLAY"),
            seed: seed.or_else(|| parse(&variable, "FIBER_TEST_SEED")),
            schedules: parse(&variable, "FIBER_TEST_SCHEDULES"),
            time: seconds.map(Duration::from_secs),
            threads: parse(&variable, "FIBER_TEST_THREADS").map(NonZeroUsize::get),
            has_no_regressions: regressions.is_some_and(|text| is_off(&text)),
        }
    }
}

fn parse<T: FromStr<Err: Display>>(variable: &impl Fn(&str) -> Option<String>, name: &str) -> Option<T> {
    let text = variable(name)?;
    Some(text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, count): (&str, fn(u64) -> Count) = match text.strip_prefix('x') {
            Some(times) => (times, Count::Times),
            None => (text, Count::Exactly),
        };
        let number = digits.parse().ok().filter(|number| *number > 0);
        number
            .map(count)
            .ok_or_else(|| "expected a number of schedules, or a factor such as `x10`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(all: &[(&str, &str)]) -> Environment {
        let find = |name: &str| all.iter().find(|(one, _)| *one == name).map(|(_, text)| (*text).to_owned());
        Environment::read(find)
    }

    #[test]
    fn everything_can_be_set() {
        assert_eq!(read(&[]), Environment::default());
        let all = read(&[
            ("FIBER_TEST_REPLAY", "x2 1-5:1"),
            ("FIBER_TEST_SEED", "7"),
            ("FIBER_TEST_SCHEDULES", "x10"),
            ("FIBER_TEST_SECONDS", "60"),
            ("FIBER_TEST_THREADS", "2"),
            ("FIBER_TEST_REGRESSIONS", "off"),
        ]);
        let expected = Environment {
            replay: Some("x2 1-5:1".parse().unwrap()),
            seed: Some(7),
            schedules: Some(Count::Times(10)),
            time: Some(Duration::from_secs(60)),
            threads: Some(2),
            has_no_regressions: true,
        };
        assert_eq!(all, expected);
        assert_eq!(read(&[("FIBER_TEST_SCHEDULES", "50")]).schedules, Some(Count::Exactly(50)));
        let seed = || read(&[("FIBER_TEST_SEED", "random")]).seed.unwrap();
        assert_ne!(seed(), seed());
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for (name, text) in [
            ("FIBER_TEST_SCHEDULES", "many"),
            ("FIBER_TEST_SCHEDULES", "0"),
            ("FIBER_TEST_THREADS", "0"),
            ("FIBER_TEST_SEED", "-1"),
            ("FIBER_TEST_REPLAY", "3-1"),
            ("FIBER_TEST_REGRESSIONS", "none"),
        ] {
            assert!(std::panic::catch_unwind(|| read(&[(name, text)])).is_err(), "{name}={text}");
        }
    }
}
