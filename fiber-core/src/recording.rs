//! The order of the turns of a program, as a scheduler saw it: one scheduler writes it, and another one follows it.

use std::fmt;
use std::str::FromStr;

/// Which fiber had which turn, in the order in which the turns began. A pool that
/// [records](https://docs.rs/fiber-sched/latest/fiber_sched/struct.Builder.html#method.record) gives one, and the explorer
/// [follows](https://docs.rs/fiber-test/latest/fiber_test/struct.Explore.html#method.recorded) it.
///
/// Its text form has a line for each turn, and can be kept in a file:
///
/// ```
/// use fiber_core::scheduler::TurnKind;
/// use fiber_core::Recording;
///
/// let text = "recording 1, 0 lost\n0 7 start\n0 7.0.0 start\n1 7.0.1 start\n0 7.0.0 bind\n";
/// let recording: Recording = text.parse().unwrap();
/// assert_eq!(recording.turns().len(), 4);
/// assert_eq!(recording.turns()[3].kind, TurnKind::Bind);
/// assert_eq!(recording.to_string(), text);
/// ```
///
/// With the feature `serde`, a recording is that text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    turns: Vec<RecordedTurn>,
    lost: u64,
}

/// One turn: what a fiber did between two scheduling points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTurn {
    /// The thread, numbered from 0 in the order in which the threads had their first turns.
    pub thread: u32,
    /// The [id](crate::Context::id) of the fiber: its path in the tree of forks.
    pub fiber: String,
    /// How the turn began.
    pub kind: TurnKind,
}

/// How a turn began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnKind {
    /// The fiber started.
    Start,
    /// The fiber had waited, or had yielded.
    Resume,
    /// The fiber reached a bind, and continued at once.
    Bind,
}

impl TurnKind {
    /// In their order.
    const NAMED: [(&'static str, TurnKind); 3] =
        [("start", TurnKind::Start), ("resume", TurnKind::Resume), ("bind", TurnKind::Bind)];
}

impl Recording {
    /// A recording of these turns, before which `lost` others were not kept.
    ///
    /// ```
    /// use fiber_core::scheduler::{RecordedTurn, TurnKind};
    /// use fiber_core::Recording;
    /// let start = RecordedTurn { thread: 0, fiber: "7".to_owned(), kind: TurnKind::Start };
    /// assert_eq!(Recording::new(vec![start], 2).to_string(), "recording 1, 2 lost\n0 7 start\n");
    /// ```
    pub fn new(turns: Vec<RecordedTurn>, lost: u64) -> Self {
        Recording { turns, lost }
    }

    /// The turns, in the order in which they began. Those of several threads may have overlapped.
    pub fn turns(&self) -> &[RecordedTurn] {
        &self.turns
    }

    /// How many earlier turns were not kept, because there was no room for them.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The turns of one fiber and of all fibers below it, with ids as if it were the first fiber of its scheduler, `0`: one
    /// request of a service, or one run of a program.
    ///
    /// ```
    /// use fiber_core::Recording;
    /// let all: Recording = "recording 1, 0 lost\n0 7 start\n1 8 start\n0 7.0.1 start\n".parse().unwrap();
    /// assert_eq!(all.of("7").to_string(), "recording 1, 0 lost\n0 0 start\n0 0.0.1 start\n");
    /// ```
    #[must_use]
    pub fn of(&self, fiber: &str) -> Recording {
        let turns = self.turns.iter().filter_map(|turn| {
            let below = turn.fiber.strip_prefix(fiber)?;
            let is_below = below.is_empty() || below.starts_with('.');
            is_below.then(|| RecordedTurn { fiber: format!("0{below}"), ..turn.clone() })
        });
        Recording { turns: turns.collect(), lost: self.lost }
    }
}

impl fmt::Display for TurnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TurnKind::NAMED[*self as usize].0)
    }
}

/// The version of the text form.
const VERSION: &str = "recording 1, ";

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{VERSION}{} lost", self.lost)?;
        let mut turns = self.turns.iter();
        turns.try_for_each(|RecordedTurn { thread, fiber, kind }| writeln!(f, "{thread} {fiber} {kind}"))
    }
}

/// The error for a text that is not a [`Recording`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseRecordingError {
    line: usize,
    text: String,
}

impl fmt::Display for ParseRecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseRecordingError { line, text } = self;
        let expected = if *line == 1 { "`recording 1, 0 lost`" } else { "a turn such as `0 7.0.1 start`" };
        write!(f, "line {line} of the recording, `{text}`: expected {expected}")
    }
}

impl std::error::Error for ParseRecordingError {}

impl FromStr for Recording {
    type Err = ParseRecordingError;

    fn from_str(text: &str) -> Result<Self, ParseRecordingError> {
        let mut lines = (1..).zip(text.lines().map(str::trim));
        let error = |(line, text): (usize, &str)| ParseRecordingError { line, text: text.to_owned() };
        let head = lines.next().unwrap_or((1, ""));
        let lost = head.1.strip_prefix(VERSION).and_then(|rest| rest.strip_suffix(" lost"));
        let lost = lost.and_then(|lost| lost.parse().ok()).ok_or_else(|| error(head))?;
        let turns = lines.filter(|(_, text)| !text.is_empty());
        let turns = turns.map(|line| parse_turn(line.1).ok_or_else(|| error(line)));
        Ok(Recording { turns: turns.collect::<Result<_, _>>()?, lost })
    }
}

fn parse_turn(line: &str) -> Option<RecordedTurn> {
    let mut words = line.split(' ');
    let (thread, fiber, kind) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
    let is_id = fiber.split('.').all(|part| part.parse::<u32>().is_ok());
    let (_, kind) = TurnKind::NAMED.into_iter().find(|(name, _)| *name == kind)?;
    (is_id && words.next().is_none()).then(|| RecordedTurn { thread, fiber: fiber.to_owned(), kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_a_recording_is_refused_with_its_line() {
        let error = |text: &str| text.parse::<Recording>().unwrap_err().to_string();
        assert_eq!(error(""), "line 1 of the recording, ``: expected `recording 1, 0 lost`");
        let head = "recording 1, 12 lost\n";
        for turn in ["0 0", "0 0 begin", "x 0 start", "0 0. start", "0 0 start now"] {
            let expected =
                format!("line 3 of the recording, `{turn}`: expected a turn such as `0 7.0.1 start`");
            assert_eq!(error(&format!("{head}0 0 start\n{turn}\n")), expected);
        }
        assert_eq!(head.parse::<Recording>().unwrap(), Recording::new(Vec::new(), 12));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_recording_as_data_is_its_text() {
        let text = "recording 1, 3 lost\n0 1 start\n0 1.2 bind\n";
        let recording: Recording = text.parse().unwrap();
        let json = serde_json::to_string(&recording).unwrap();
        assert_eq!(json, serde_json::to_string(text).unwrap());
        assert_eq!(serde_json::from_str::<Recording>(&json).unwrap(), recording);
        let error = serde_json::from_str::<Recording>("\"recording 1, 0 lost\\n0 0\"").unwrap_err();
        assert!(error.to_string().starts_with("line 2 of the recording, `0 0`"), "{error}");
    }

    #[test]
    fn a_fiber_whose_id_begins_alike_is_another_one() {
        let all: Recording = "recording 1, 3 lost\n0 1 start\n0 11 start\n0 1.2 bind\n".parse().unwrap();
        assert_eq!(all.of("1").to_string(), "recording 1, 3 lost\n0 0 start\n0 0.2 bind\n");
    }
}
