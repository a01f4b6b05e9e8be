//! A trace as text: a column per fiber, a row per turn.

use std::cmp::Reverse;
use std::fmt;

use crate::trace::{Cause, Effect, Trace, Turn};
use crate::words::{self, counted};

/// The number of rows that are printed, the last ones: about as many as fit on a terminal.
const MOST_ROWS: usize = 60;

/// The number of fibers that have a column; the rows of others name their fiber instead.
const MOST_COLUMNS: usize = 8;

pub(crate) struct Columns<'a> {
    pub(crate) trace: &'a Trace,
    /// Two turns to be marked.
    pub(crate) pair: Option<(usize, usize)>,
}

impl fmt::Display for Columns<'_> {
    /// `*` marks a turn that deviates from first in, first out; `>` one of the pair.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Columns { trace, .. } = self;
        let left_out = trace.turns.len().saturating_sub(MOST_ROWS);
        let columns = columns(trace, left_out);
        for (column, lane) in columns.iter().enumerate() {
            let lane = &trace.lanes[*lane];
            writeln!(f, "{} = {lane} (forked at {}:{})", letter(column), lane.site.file(), lane.site.line())?;
        }
        if trace.lanes.len() > columns.len() {
            writeln!(f, "and {}", counted(trace.lanes.len() - columns.len(), "more fiber"))?;
        }
        if left_out > 0 {
            writeln!(f, "({})", words::left_out(left_out, "turn", " before these"))?;
        }
        let mut before = None;
        for (number, turn) in trace.turns.iter().enumerate().skip(left_out) {
            if before != Some(turn.at) {
                writeln!(f, "---- {} ", turn.at)?;
                before = Some(turn.at);
            }
            trace.write_outside(f, number)?;
            self.row(f, number, turn, &columns)?;
        }
        trace.write_outside(f, trace.turns.len())?;
        if trace.turns.iter().any(|turn| turn.choice > 0) {
            writeln!(f, "* deviates from first in, first out")?;
        }
        Ok(())
    }
}

impl Columns<'_> {
    fn row(&self, f: &mut fmt::Formatter<'_>, number: usize, turn: &Turn, columns: &[usize]) -> fmt::Result {
        let is_of_pair = self.pair.is_some_and(|(first, second)| number == first || number == second);
        let pair = if is_of_pair { '>' } else { ' ' };
        let deviates = if turn.choice > 0 { '*' } else { ' ' };
        write!(f, "{pair}{number:>4}{deviates} ")?;
        for (column, lane) in columns.iter().enumerate() {
            let cell = if turn.lane == Some(*lane) { letter(column) } else { '.' };
            write!(f, "{cell} ")?;
        }
        if let Some(lane) = turn.lane.filter(|lane| !columns.contains(lane)) {
            write!(f, "fiber {} ", self.trace.lanes[lane].id)?;
        }
        write!(f, " {turn}")?;
        if turn.cause == Cause::Start {
            f.write_str(" (its first turn)")?;
        }
        let effects = turn.effects.iter().filter(|effect| !matches!(effect, Effect::Fork(_)));
        for effect in effects {
            write!(f, "; {}", self.trace.describe(effect))?;
        }
        writeln!(f)
    }
}

/// The fibers that have columns, in the order of their creation. If there are too many, those with the most turns among
/// the rows.
fn columns(trace: &Trace, left_out: usize) -> Vec<usize> {
    let mut lanes: Vec<usize> = (0..trace.lanes.len()).collect();
    if lanes.len() > MOST_COLUMNS {
        let mut turns = vec![0; lanes.len()];
        trace.turns[left_out..].iter().filter_map(|turn| turn.lane).for_each(|lane| turns[lane] += 1);
        lanes.retain(|lane| turns[*lane] > 0);
        lanes.sort_by_key(|lane| Reverse(turns[*lane]));
        lanes.truncate(MOST_COLUMNS);
        lanes.sort_unstable();
    }
    lanes
}

fn letter(column: usize) -> char {
    char::from(b'A' + column as u8)
}
