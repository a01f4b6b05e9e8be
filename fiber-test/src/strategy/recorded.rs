//! The order of turns that a pool has recorded, kept as far as one thread can follow it.
//!
//! Fibers are matched by their paths, and each has its own turns in the recording. The runnable fiber whose next recorded
//! turn is the earliest has the turn. So a fiber that cannot run yet does not delay the others, and has its
//! turns when it can. Fibers that are not in the recording, or are past its end, come last.

use std::collections::{HashMap, VecDeque};

use fiber_core::Recording;
use fiber_core::scheduler::{TaskKind, TurnKind};

use crate::machine::{Choices, Lane};
use crate::words::{counted, were};

/// How far a run has followed a [recording](crate::Explore::recorded).
///
/// ```
/// use fiber_core::{Fiber, Recording};
/// use fiber_test::Explore;
///
/// // Of a program with a fiber more.
/// let recording: Recording = "recording 1, 0 lost\n0 0 start\n1 0.3 start\n0 0 bind\n".parse().unwrap();
/// let explored = Explore::recorded(&recording).check(|| Fiber::success(1).bind(|n| Fiber::success(n + 1)));
/// let followed = explored.followed().unwrap();
/// assert_eq!((followed.followed(), followed.recorded(), followed.off_at()), (2, 3, Some(1)));
/// assert!(!followed.is_whole());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    recorded: u32,
    followed: u32,
    other: u32,
    off: Option<u32>,
    lost: u64,
}

impl Followed {
    /// The number of recorded turns.
    pub fn recorded(&self) -> u32 {
        self.recorded
    }

    /// The number of recorded turns that the run had in their order. A turn that comes after ones that were recorded later does
    /// not count.
    pub fn followed(&self) -> u32 {
        self.followed
    }

    /// The number of turns of the run that are not in the recording.
    pub fn other(&self) -> u32 {
        self.other
    }

    /// The first turn of the run, counted from 0, that was not the next one of the recording.
    pub fn off_at(&self) -> Option<u32> {
        self.off
    }

    /// Whether the run had exactly the turns of the recording, in their order.
    pub fn is_whole(&self) -> bool {
        self.followed == self.recorded && self.other == 0 && self.lost == 0
    }
}

impl std::fmt::Display for Followed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Followed { recorded, followed, other, off, lost } = self;
        write!(f, "{followed} of {} in their order", counted(*recorded, "turn"))?;
        if *other > 0 {
            write!(f, ", and {other} that {} not recorded", were(*other))?;
        }
        if let Some(turn) = off {
            write!(f, "; from turn {turn} on, who was next could not run")?;
        }
        if *lost > 0 {
            write!(f, "; the recording has lost its first {}", counted(*lost, "turn"))?;
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Recorded {
    /// The remaining turns of each fiber, by its path.
    left: HashMap<Box<str>, VecDeque<Entry>>,
    /// The turns of the recording that the run has had.
    is_had: Vec<bool>,
    /// The first turn that it has not had.
    next: usize,
    /// The turn after the last one that it has had.
    furthest: usize,
    lanes: Vec<Of>,
    followed: Followed,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: usize,
    is_start: bool,
}

/// The fiber of a lane.
#[derive(Debug)]
struct Of {
    path: Box<str>,
    has_started: bool,
}

impl Recorded {
    pub(crate) fn new(recording: &Recording) -> Self {
        let mut left: HashMap<Box<str>, VecDeque<Entry>> = HashMap::new();
        for (number, turn) in recording.turns().iter().enumerate() {
            let entry = Entry { number, is_start: turn.kind == TurnKind::Start };
            left.entry(turn.fiber.as_str().into()).or_default().push_back(entry);
        }
        let count = recording.turns().len();
        let followed = Followed { recorded: count as u32, lost: recording.lost(), ..Followed::default() };
        Recorded { left, is_had: vec![false; count], next: 0, furthest: 0, lanes: Vec::new(), followed }
    }

    pub(crate) fn created(&mut self, path: String) {
        self.lanes.push(Of { path: path.into(), has_started: false });
    }

    pub(crate) fn followed(&self) -> Followed {
        self.followed
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        let starts = |choice| choices.entry(choice).is_some_and(|entry| entry.task.kind() == TaskKind::Start);
        let numbers =
            (0..choices.len()).map(|choice| (self.number(choices.lane(choice), starts(choice)), choice));
        let earliest = numbers.min_by_key(|(number, _)| number.unwrap_or(usize::MAX));
        let (number, choice) = earliest.unwrap_or((None, 0));
        self.has_turn(choices.turn, choices.lane(choice), number);
        choice
    }

    /// The next recorded turn of a fiber, which may be about to start.
    fn number(&self, lane: Lane, starts: bool) -> Option<usize> {
        let of = self.lanes.get(lane.index()?)?;
        let entry = self.left.get(&of.path)?.front()?;
        // A fiber that began on the thread of its caller, or before the recording, has no recorded start. One that has moved apart from the
        // block that awaits it has no start at all.
        let has_turn = of.has_started || entry.is_start || !starts;
        has_turn.then_some(entry.number)
    }

    fn has_turn(&mut self, turn: u32, lane: Lane, number: Option<usize>) {
        let of = lane.index().and_then(|index| self.lanes.get_mut(index));
        let is_first = of.is_some_and(|of| {
            let is_first = !of.has_started;
            of.has_started = true;
            is_first
        });
        let Some(number) = number else {
            // The start of a fiber that began elsewhere does not count as unrecorded.
            self.followed.other += u32::from(!(is_first && self.has_turns(lane)));
            return;
        };
        if number != self.next {
            self.followed.off.get_or_insert(turn);
        }
        if number >= self.furthest {
            self.followed.followed += 1;
            self.furthest = number + 1;
        }
        self.is_had[number] = true;
        while self.is_had.get(self.next) == Some(&true) {
            self.next += 1;
        }
        let left =
            self.lanes.get(lane.index().unwrap_or(usize::MAX)).and_then(|of| self.left.get_mut(&of.path));
        left.and_then(VecDeque::pop_front);
    }

    fn has_turns(&self, lane: Lane) -> bool {
        let of = lane.index().and_then(|index| self.lanes.get(index));
        of.is_some_and(|of| self.left.get(&of.path).is_some_and(|left| !left.is_empty()))
    }
}
