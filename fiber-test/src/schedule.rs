//! A schedule: what was decided where production leaves it open.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The decisions of one run, as far as they differ from first in, first out.
///
/// Its text form is what [`Explore::replay`](crate::Explore::replay) takes: `12:1` takes, in turn 12, the fiber at place 1 of those
/// that could run (0 had been able to for longest); `x7` cancels the program before turn 7; `r5` draws its random numbers
/// from seed 5. The empty text is first in, first out.
///
/// ```
/// use fiber_test::Schedule;
/// let schedule: Schedule = "r5 x30 3:1 12:2".parse().unwrap();
/// assert_eq!(schedule.deviations().len(), 2);
/// assert_eq!(schedule.to_string(), "r5 x30 3:1 12:2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    pub(crate) deviations: Vec<Deviation>,
    pub(crate) cancel_at: Option<u32>,
    pub(crate) seed: u64,
}

/// One decision that was not first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deviation {
    /// The turn, counted from 0.
    pub turn: u32,
    /// Which of those that could run was taken, in the order in which they had become able to. Past the last one, it is the last.
    pub choice: u32,
}

impl Schedule {
    /// First in, first out.
    pub fn fifo() -> Self {
        Schedule::default()
    }

    /// Where it is not first in, first out, in the order of the turns.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// The turn before which the program is cancelled.
    pub fn cancel_at(&self) -> Option<u32> {
        self.cancel_at
    }

    /// Where the program's random numbers start.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl FromIterator<Deviation> for Schedule {
    /// Of several decisions for one turn, the first counts.
    fn from_iter<I: IntoIterator<Item = Deviation>>(deviations: I) -> Self {
        let mut deviations: Vec<Deviation> = deviations.into_iter().filter(|one| one.choice > 0).collect();
        deviations.sort_by_key(|one| one.turn);
        deviations.dedup_by_key(|one| one.turn);
        Schedule { deviations, ..Schedule::default() }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut word = |f: &mut fmt::Formatter<'_>, word: fmt::Arguments<'_>| {
            write!(f, "{separator}{word}")?;
            separator = " ";
            Ok(())
        };
        if self.seed != 0 {
            word(f, format_args!("r{}", self.seed))?;
        }
        if let Some(turn) = self.cancel_at {
            word(f, format_args!("x{turn}"))?;
        }
        self.deviations.iter().try_for_each(|one| word(f, format_args!("{}:{}", one.turn, one.choice)))
    }
}

/// A text that is no [`Schedule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseScheduleError {
    word: String,
    wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    NoWord,
    /// Another word says what this one says.
    Twice(&'static str),
}

impl fmt::Display for ParseScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wrong {
            Wrong::NoWord => write!(
                f,
                "`{}` is no part of a schedule: expected words such as `12:1` (turn:choice), `x7` (cancel before turn 7) or `r5` \
                 (seed of the random numbers), as a failure report prints them",
                self.word
            ),
            Wrong::Twice(what) => write!(f, "`{}` is one too many: a schedule has {what}", self.word),
        }
    }
}

impl std::error::Error for ParseScheduleError {}

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, ParseScheduleError> {
        let (mut deviations, mut decided) = (Vec::new(), BTreeSet::new());
        let (mut cancel_at, mut seed) = (None, None);
        for word in text.split_whitespace() {
            let error = |wrong| ParseScheduleError { word: word.to_owned(), wrong };
            let no_word = || error(Wrong::NoWord);
            let is_second = if let Some(turn) = word.strip_prefix('x') {
                let turn = turn.parse().map_err(|_| no_word())?;
                cancel_at.replace(turn).map(|_: u32| "one cancellation (x)")
            } else if let Some(number) = word.strip_prefix('r') {
                let number = number.parse().map_err(|_| no_word())?;
                seed.replace(number).map(|_: u64| "one seed (r)")
            } else {
                let (turn, choice) = word.split_once(':').ok_or_else(no_word)?;
                let turn = turn.parse().map_err(|_| no_word())?;
                let choice = choice.parse().map_err(|_| no_word())?;
                deviations.push(Deviation { turn, choice });
                (!decided.insert(turn)).then_some("one choice for a turn")
            };
            if let Some(what) = is_second {
                return Err(error(Wrong::Twice(what)));
            }
        }
        Ok(Schedule { cancel_at, seed: seed.unwrap_or(0), ..Schedule::from_iter(deviations) })
    }
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
        assert_eq!(error("x1 x2"), "`x2` is one too many: a schedule has one cancellation (x)");
        assert_eq!(error("r1 3:1 r1"), "`r1` is one too many: a schedule has one seed (r)");
        assert_eq!(error("1:1 2:1 1:2"), "`1:2` is one too many: a schedule has one choice for a turn");
    }

    #[test]
    fn the_empty_text_is_first_in_first_out() {
        assert_eq!("".parse::<Schedule>().unwrap(), Schedule::fifo());
        assert_eq!(Schedule::fifo().to_string(), "");
    }
}
