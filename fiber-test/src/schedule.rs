//! A schedule: the decisions that production leaves open.

use std::collections::BTreeSet;
use std::fmt;
use std::iter;
use std::str::FromStr;

use crate::fault::{self, Fault};

/// The decisions of one run, as far as they differ from first in, first out.
///
/// Its text form is what [`Explore::replay`](crate::Explore::replay) takes:
///
/// | word | meaning |
/// |---|---|
/// | `12:1` | in turn 12, the runnable fiber at place 1 of the queue has the turn; the one at place 0 had waited longest |
/// | `12-20:1` | the same in turns 12 to 20 |
/// | `12:~` | before turn 12, time passes until the next timer is due, although a fiber could run; `12:~2` twice |
/// | `12:=3` | the first number that is drawn between turns 11 and 12 is 3: a random number (see [`Explore::draws`](crate::Explore::draws)), the number of bytes to which a read or a write of the simulated network is cut, or the place of the [borrowed task](fiber_core::compute) that runs next (at a `spawn`, places count from 1, and 0 is none); `12:=3@1`: the second one |
/// | `x7` | the program is cancelled before turn 7 |
/// | `x7@0.0.1` | fiber 0.0.1 alone is cancelled before turn 7 |
/// | `crash7@a:200ms` | a [fault](Fault) of the simulated network happens before turn 7 |
/// | `r5` | random numbers are drawn from seed 5 |
///
/// The empty text is first in, first out.
///
/// ```
/// use fiber_test::Schedule;
/// let schedule: Schedule = "r5 x30 3:1 12:2".parse().unwrap();
/// assert_eq!(schedule.deviations().len(), 2);
/// assert_eq!(schedule.to_string(), "r5 x30 3:1 12:2");
/// ```
///
/// With the feature `serde`, a schedule is that text:
///
/// ```
/// # use fiber_test::Schedule;
/// let schedule: Schedule = serde_json::from_str("\"r5 3:1\"").unwrap();
/// assert_eq!(serde_json::to_string(&schedule).unwrap(), "\"r5 3:1\"");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    pub(crate) deviations: Vec<Deviation>,
    pub(crate) cancellations: Vec<Cancellation>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) seed: u64,
}

/// One decision that differs from first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deviation {
    /// The turn, counted from 0.
    pub turn: u32,
    /// The place of the chosen fiber among the runnable ones, in the order in which they became runnable. A larger number means the
    /// last one. [`Deviation::LATER`] chooses none of them yet.
    pub choice: u32,
}

impl Deviation {
    /// The choice that lets time pass before the turn, although a fiber could run: see [`Explore::lateness`](crate::Explore::lateness).
    pub const LATER: u32 = u32::MAX;

    pub(crate) fn is_later(&self) -> bool {
        self.choice == Deviation::LATER
    }

    /// The `nth` random number that is drawn before the choice of a turn.
    pub(crate) fn number(turn: u32, nth: u32, number: u32) -> Self {
        // Programs that draw more numbers in one turn repeat the first ones.
        Deviation { turn, choice: NUMBER | ((nth % NUMBERS) << NUMBER_BITS) | (number % MAX_NUMBER) }
    }

    /// The index and the value of the random number.
    pub(crate) fn as_number(&self) -> Option<(u32, u32)> {
        let is_number = self.choice & NUMBER != 0 && !self.is_later();
        is_number.then_some(((self.choice & !NUMBER) >> NUMBER_BITS, self.choice % MAX_NUMBER))
    }

    pub(crate) fn is_number(&self) -> bool {
        self.as_number().is_some()
    }

    /// Whether a schedule may have it after another one.
    pub(crate) fn is_after(&self, other: &Deviation) -> bool {
        let [own, before] = [self, other].map(|one| (one.turn, one.rank()));
        own > before || own == before && self.is_later()
    }

    /// The order of the decisions before a turn.
    fn rank(&self) -> u32 {
        match self.as_number() {
            Some((nth, _)) => nth,
            None => NUMBERS + u32::from(!self.is_later()),
        }
    }
}

/// Marks a choice that is a random number.
const NUMBER: u32 = 1 << 31;

const NUMBER_BITS: u32 = 16;

/// Random numbers that are choices are below this.
pub(crate) const MAX_NUMBER: u32 = 1 << NUMBER_BITS;

/// # Panics
/// If random numbers cannot be limited to below `most`.
#[track_caller]
pub(crate) fn assert_is_bound(most: u32) {
    assert!(
        (1..=MAX_NUMBER).contains(&most),
        "the bound {most} is out of range; it has to be 1 to {MAX_NUMBER}"
    );
}

/// The number of random draws in a turn that can be distinguished.
const NUMBERS: u32 = (1 << 15) - 1;

/// The cancellation of a fiber, with all below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cancellation {
    /// The turn before which it happens, counted from 0.
    pub turn: u32,
    /// The [id](fiber_core::Context::id) of the fiber; `None`: the whole program.
    pub fiber: Option<String>,
}

impl fmt::Display for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.turn)?;
        self.fiber.iter().try_for_each(|fiber| write!(f, "@{fiber}"))
    }
}

impl Schedule {
    /// First in, first out.
    ///
    /// ```
    /// assert_eq!(fiber_test::Schedule::fifo(), "".parse().unwrap());
    /// ```
    pub fn fifo() -> Self {
        Schedule::default()
    }

    /// The decisions that are not first in, first out, in the order of the turns.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// The planned cancellations.
    pub fn cancellations(&self) -> &[Cancellation] {
        &self.cancellations
    }

    /// The faults of the simulated network.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The turn before which the first cancellation happens.
    pub fn cancel_at(&self) -> Option<u32> {
        self.cancellations.iter().map(|one| one.turn).min()
    }

    /// The last turn in the schedule.
    pub(crate) fn last_turn(&self) -> Option<u32> {
        let deviations = self.deviations.last().map(|one| one.turn);
        let cancellations = self.cancellations.iter().map(|one| one.turn);
        cancellations.chain(self.faults.iter().map(|one| one.turn)).chain(deviations).max()
    }

    /// The seed of the program's random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl FromIterator<Deviation> for Schedule {
    /// If there are several decisions for one turn, the first counts.
    fn from_iter<I: IntoIterator<Item = Deviation>>(deviations: I) -> Self {
        let mut deviations: Vec<Deviation> = deviations.into_iter().filter(|one| one.choice > 0).collect();
        deviations.sort_by_key(|one| (one.turn, one.rank()));
        deviations.dedup_by(|one, before| {
            (one.turn, one.rank()) == (before.turn, before.rank()) && !before.is_later()
        });
        Schedule { deviations, ..Schedule::default() }
    }
}

/// A run of this many turns with the same choice is written as a range.
const LEAST_RANGE: usize = 3;

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = (self.seed != 0).then(|| format!("r{}", self.seed));
        let cancellations = self.cancellations.iter().map(Cancellation::to_string);
        let faults = self.faults.iter().map(Fault::to_string);
        let words: Vec<String> =
            seed.into_iter().chain(cancellations).chain(faults).chain(self.runs()).collect();
        f.write_str(&words.join(" "))
    }
}

impl Schedule {
    /// The words of the deviations.
    fn runs(&self) -> impl Iterator<Item = String> {
        let mut rest = &self.deviations[..];
        iter::from_fn(move || {
            let first = *rest.first()?;
            let is_next = |(at, one): &(usize, &Deviation)| {
                let step = if first.is_later() { 0 } else { *at as u32 };
                one.choice == first.choice && one.turn == first.turn + step
            };
            let count = rest.iter().enumerate().take_while(is_next).count();
            if let Some((nth, number)) = first.as_number() {
                rest = &rest[1..];
                let nth = if nth == 0 { String::new() } else { format!("@{nth}") };
                return Some(format!("{}:={number}{nth}", first.turn));
            }
            let (word, taken) = match (first.is_later(), count) {
                (true, 1) => (format!("{}:~", first.turn), 1),
                (true, count) => (format!("{}:~{count}", first.turn), count),
                (false, LEAST_RANGE..) => {
                    let last = first.turn + (count as u32 - 1);
                    (format!("{}-{last}:{}", first.turn, first.choice), count)
                }
                (false, _) => (format!("{}:{}", first.turn, first.choice), 1),
            };
            rest = &rest[taken..];
            Some(word)
        })
    }
}

/// An error in the text of a [`Schedule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseScheduleError {
    word: String,
    wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    NoWord,
    /// The text contains two words of this meaning.
    Twice(&'static str),
}

impl fmt::Display for ParseScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wrong {
            Wrong::NoWord => write!(
                f,
                "`{}` is no part of a schedule: expected words such as `12:1` (turn:choice), `12:~` (time passes before turn 12), \
                 `x7` (cancel before turn 7), `crash7@a:1ms` (a fault of the network) or `r5` (seed of the random numbers), as a failure report prints them",
                self.word
            ),
            Wrong::Twice(what) => write!(f, "`{}` is a duplicate: a schedule has at most {what}", self.word),
        }
    }
}

impl std::error::Error for ParseScheduleError {}

/// The most decisions in one word: more than any program that is explored has turns.
const MAX_RANGE: u64 = 1_000_000;

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, ParseScheduleError> {
        let (mut deviations, mut decided) = (Vec::new(), BTreeSet::new());
        let (mut cancellations, mut faults, mut seed) = (Vec::new(), Vec::new(), None);
        for word in text.split_whitespace() {
            let error = |wrong| ParseScheduleError { word: word.to_owned(), wrong };
            let is_second = if let Some(fault) = fault::parse(word) {
                faults.push(fault);
                None
            } else if let Some(cancellation) = word.strip_prefix('x') {
                let cancellation = parse_cancellation(cancellation).ok_or_else(|| error(Wrong::NoWord))?;
                let is_second =
                    cancellations.iter().any(|one: &Cancellation| one.fiber == cancellation.fiber);
                cancellations.push(cancellation);
                is_second.then_some("one cancellation of a fiber (x)")
            } else if let Some(number) = word.strip_prefix('r') {
                let number = number.parse().map_err(|_| error(Wrong::NoWord))?;
                seed.replace(number).map(|_: u64| "one seed (r)")
            } else {
                let run = parse_run(word).ok_or_else(|| error(Wrong::NoWord))?;
                let is_second = run.iter().any(|one| decided.contains(&(one.turn, one.rank())));
                decided.extend(run.iter().map(|one| (one.turn, one.rank())));
                deviations.extend(run);
                is_second.then_some("one choice for a turn")
            };
            if let Some(what) = is_second {
                return Err(error(Wrong::Twice(what)));
            }
        }
        // Those before one turn happen in the order of their words.
        cancellations.sort_by_key(|one: &Cancellation| one.turn);
        faults.sort_by_key(|fault: &Fault| fault.turn);
        Ok(Schedule { cancellations, faults, seed: seed.unwrap_or(0), ..Schedule::from_iter(deviations) })
    }
}

/// What follows the `x`.
fn parse_cancellation(text: &str) -> Option<Cancellation> {
    let (turn, fiber) = text.split_once('@').map_or((text, None), |(turn, fiber)| (turn, Some(fiber)));
    let is_id = |id: &str| id.split('.').all(|part| part.parse::<u32>().is_ok());
    if !fiber.is_none_or(is_id) {
        return None;
    }
    Some(Cancellation { turn: turn.parse().ok()?, fiber: fiber.map(str::to_owned) })
}

/// `12:1`, `12-20:1`, `12:~`, `12:~2`, `12:=3` or `12:=3@1`.
fn parse_run(word: &str) -> Option<Vec<Deviation>> {
    let (turns, choice) = word.split_once(':')?;
    let (first, last) = turns.split_once('-').unwrap_or((turns, turns));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let turns = u64::from(last.checked_sub(first)?) + 1;
    if let Some(number) = choice.strip_prefix('=') {
        let (number, nth) = number.split_once('@').unwrap_or((number, "0"));
        let (number, nth): (u32, u32) = (number.parse().ok()?, nth.parse().ok()?);
        let is_known = first == last && number < MAX_NUMBER && nth < NUMBERS;
        return is_known.then(|| vec![Deviation::number(first, nth, number)]);
    }
    let (choice, times) = match choice.strip_prefix('~') {
        None => (choice.parse().ok().filter(|choice| *choice < NUMBER)?, 1),
        Some("") => (Deviation::LATER, 1),
        Some(times) => (Deviation::LATER, times.parse::<u32>().ok()?),
    };
    if turns * u64::from(times) > MAX_RANGE {
        return None;
    }
    let run = (first..=last).flat_map(|turn| (0..times).map(move |_| Deviation { turn, choice }));
    Some(run.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_schedule_is_named() {
        let error = "3:1 later".parse::<Schedule>().unwrap_err();
        assert!(error.to_string().contains("`later` is no part of a schedule"), "{error}");
    }

    #[test]
    fn what_is_said_twice_is_named() {
        let error = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(
            error("x1 x2"),
            "`x2` is a duplicate: a schedule has at most one cancellation of a fiber (x)"
        );
        assert_eq!(error("r1 3:1 r1"), "`r1` is a duplicate: a schedule has at most one seed (r)");
        assert_eq!(
            error("1:1 2:1 1:2"),
            "`1:2` is a duplicate: a schedule has at most one choice for a turn"
        );
    }

    #[test]
    fn the_empty_text_is_first_in_first_out() {
        assert_eq!("".parse::<Schedule>().unwrap(), Schedule::fifo());
        assert_eq!(Schedule::fifo().to_string(), "");
    }

    #[test]
    fn runs_of_one_choice_are_ranges() {
        for text in [
            "1-3:1 4:2",
            "1:1 2:1 4:1",
            "2:~ 2:1 3:~2",
            "r3 x4 x7@0.0.1 12-20:1",
            "r3 x4 crash2@a:5ms cut7@a+b:1ms reset7@a+b 1:1",
            "3:=7 3:=2@1 3:~ 3:1",
            "4294967293-4294967295:1",
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!("1:1 2:1 3:1".parse::<Schedule>().unwrap().to_string(), "1-3:1");
        assert!("3-1:1".parse::<Schedule>().is_err());
        assert!(
            "0-999999:~999999".parse::<Schedule>().is_err(),
            "that many decisions do not fit into memory"
        );
        assert!("x1@root".parse::<Schedule>().is_err());
    }
}
