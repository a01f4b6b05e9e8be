//! The positions of rows and columns, in pixels.
//!
//! Up to [`ROOMY_COLUMNS`] columns are wide enough for boxes with the words inside. More are as narrow as the lanes of a
//! commit graph, and the words are beside the box: a row has one turn, so there is room.
//!
//! ```text
//!  gutter  | column | column |
//!  2s ─────┼────────┼────────   the rule of an instant
//!  12      | ┌────┐ |    :      the box of a turn
//!          | └────┘ |    :
//!          |   ╰────|──> |      its arrows, below it: a track per kind, so that no arrow crosses a text
//! ```

use super::arrows::Kind;
use super::columns::Column;
use super::compare::{Comparison, View};
use super::life::Place;
use super::text::{characters, width_of};
use super::turns::Words;
use crate::primitive::Dependency;

/// With more columns than this, the words are beside the boxes.
pub(super) const ROOMY_COLUMNS: usize = 8;
/// The height of a line of text.
pub(super) const LINE: usize = 14;
/// The baseline of the letters of a line.
pub(super) const BASELINE: usize = 11;
/// The padding of a box above its first and below its last line.
pub(super) const PADDING: usize = 4;
/// The height of the rule of an instant, and of the line where schedules diverge.
pub(super) const RULE: usize = 26;

/// The stripe at the left of a box, whose colour shows why the fiber ran.
pub(super) const STRIPE: usize = 4;
/// Where the text of a box begins.
pub(super) const TEXT: usize = STRIPE + 4;
/// The horizontal space in a box on both sides of its text.
pub(super) const BOX_SIDES: usize = TEXT + 3;
/// Room for `transfer.rs:42`. Six such columns fit into half of a common screen.
const NARROWEST_BOX: usize = 98;
const WIDEST_BOX: usize = 190;
/// The width that the columns of all schedules should fit into, if possible: a common screen.
const COMMON_WIDTH: usize = 1200;
const ROOMY_GAP: usize = 6;
/// Two lines of text.
const ROOMY_HEAD: usize = 44;
const ROOMY_GUTTER: usize = 80;
const DENSE_PITCH: usize = 28;
const DENSE_BOX: usize = 18;
/// Turn number, letter and deviation share one line.
const DENSE_GUTTER: usize = 124;
/// A dense picture of few columns is still wide enough for the words beside its boxes.
const NARROWEST_DENSE: usize = 560;
/// The space between a box and the next row.
const BELOW_BOX: usize = 8;
const TRACK: usize = 10;
const TOP: usize = 6;
const FOOT: usize = 56;

/// The height of the track of one dependency, below the open ends.
pub(super) const DEPENDENCY: usize = 20;
/// The maximum number of dependencies that are drawn.
const MOST_DEPENDENCIES: usize = 24;
/// The distance of a dependency's text from its line.
pub(super) const GRAPH_TEXT: usize = 4;

/// The dependencies that are drawn: those of the cycle, and others if what they want is held. A wait for the end of a child or
/// joined fiber is drawn only in a cycle: otherwise the open ends already show it.
pub(super) fn shown(dependencies: &[Dependency]) -> impl Iterator<Item = &Dependency> {
    let of_cycle = dependencies.iter().filter(|one| one.is_of_cycle);
    let others = dependencies.iter().filter(|one| !one.is_of_cycle && one.primitive.is_some());
    of_cycle.chain(others).take(MOST_DEPENDENCIES)
}

/// The height of the mark at the end of a lane that is still open.
pub(super) fn open_end_height(grid: &Grid) -> usize {
    const DISC: usize = 20;
    if grid.dense { DISC } else { 2 * LINE + 2 * PADDING }
}

/// The columns, which both schedules share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) dense: bool,
    pub(super) box_width: usize,
    pub(super) head: usize,
    /// The width of the column to the left, with turn numbers and times.
    pub(super) gutter: usize,
    pitch: usize,
    columns: usize,
}

impl Grid {
    pub(super) fn of(comparison: &Comparison<'_>) -> Self {
        let columns = comparison.columns.len();
        if columns > ROOMY_COLUMNS {
            Grid::dense(&comparison.columns)
        } else {
            Grid::roomy(comparison, columns)
        }
    }

    fn roomy(comparison: &Comparison<'_>, columns: usize) -> Self {
        let views = || std::iter::once(&comparison.failing).chain(&comparison.passing);
        let lengths = views().flat_map(|view| view.turns().map(|(_, turn)| Words::of(view, turn).longest()));
        let heads = comparison.columns.iter().map(|column| column.longest());
        let wanted = width_of(lengths.chain(heads).max().unwrap_or(0)) + BOX_SIDES;
        let fair = (COMMON_WIDTH / views().count() / columns.max(1)).saturating_sub(ROOMY_GAP);
        let box_width = wanted.min(fair.min(WIDEST_BOX)).max(NARROWEST_BOX);
        Grid {
            dense: false,
            box_width,
            head: ROOMY_HEAD,
            gutter: ROOMY_GUTTER,
            pitch: box_width + ROOMY_GAP,
            columns,
        }
    }

    fn dense(columns: &[Column<'_>]) -> Self {
        const MARGINS: usize = 16;
        let longest = columns.iter().map(|column| column.longest_upward()).max().unwrap_or(0);
        Grid {
            dense: true,
            box_width: DENSE_BOX,
            head: width_of(longest) + MARGINS,
            gutter: DENSE_GUTTER,
            pitch: DENSE_PITCH,
            columns: columns.len(),
        }
    }

    /// The middle of a column.
    pub(super) fn x(&self, column: usize) -> usize {
        column * self.pitch + self.pitch / 2
    }

    pub(super) fn pitch(&self) -> usize {
        self.pitch
    }

    /// The width without the gutter.
    pub(super) fn width(&self) -> usize {
        let columns = self.columns * self.pitch;
        if self.dense { columns.max(NARROWEST_DENSE) } else { columns.max(NARROWEST_BOX) }
    }
}

/// The longest name that is written upward in a head.
pub(super) const LONGEST_UPWARD: usize = 24;

impl Column<'_> {
    fn longest(&self) -> usize {
        characters(&self.title()).max(characters(&self.subtitle(usize::MAX)))
    }

    fn longest_upward(&self) -> usize {
        characters(&self.in_one_line(LONGEST_UPWARD)).min(LONGEST_UPWARD)
    }
}

/// The height of one turn's row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The position of the rule of a new instant, if there is one above the turn.
    pub(super) instant: Option<usize>,
    /// The position of the line where the schedules diverge, if that is here.
    pub(super) parting: Option<usize>,
    pub(super) top: usize,
    pub(super) box_height: usize,
    tracks: [Option<usize>; 4],
    pub(super) bottom: usize,
}

/// The track of lanes that another lane's turn ended.
const ENDS: usize = Kind::ALL.len();

impl Row {
    /// The position of the arrows of this kind.
    pub(super) fn track(&self, kind: Kind) -> Option<usize> {
        self.tracks[kind as usize]
    }

    fn box_bottom(&self) -> usize {
        self.top + self.box_height
    }
}

/// The rows of one schedule.
pub(super) struct Rows {
    first: usize,
    rows: Vec<Row>,
    pub(super) foot: usize,
    pub(super) height: usize,
}

impl Rows {
    pub(super) fn of(view: &View<'_>, grid: &Grid) -> Self {
        let mut rows = Vec::new();
        let mut y = TOP;
        let mut instant = None;
        for (index, turn) in view.turns() {
            let advanced = instant.replace(turn.at) != Some(turn.at);
            let rule =
                |wanted: bool, y: &mut usize| wanted.then(|| std::mem::replace(y, *y + RULE) + RULE / 2);
            let parting = rule(view.parting == Some(index) && index > view.first, &mut y);
            let instant = rule(advanced, &mut y);
            let lines = if grid.dense { 1 } else { Words::of(view, turn).lines() };
            let box_height = if grid.dense { DENSE_BOX } else { lines * LINE + 2 * PADDING };
            let mut row = Row { instant, parting, top: y, box_height, tracks: [None; 4], bottom: 0 };
            row.bottom = lay_tracks(&mut row, view, index);
            y = row.bottom;
            rows.push(row);
        }
        let dependencies = DEPENDENCY * shown(view.trace.dependencies()).count();
        Rows { first: view.first, rows, foot: y, height: y + FOOT + dependencies }
    }

    pub(super) fn row(&self, turn: usize) -> Option<&Row> {
        self.rows.get(turn.checked_sub(self.first)?)
    }

    /// The height of a place in the life of a lane.
    pub(super) fn y(&self, place: Place, view: &View<'_>, lane: usize) -> usize {
        let at = |turn: usize, height: &dyn Fn(&Row) -> usize| self.row(turn).map_or(0, height);
        match place {
            Place::Before(turn) => at(turn, &|row| row.top),
            Place::After(turn) => at(turn, &Row::box_bottom),
            Place::Touched(turn) => at(turn, &|row| touched(row, view, turn, lane)),
            Place::Instant(turn) => self.instant(turn),
            Place::Foot => self.foot,
        }
    }

    /// The position of the rule of the turn's instant.
    fn instant(&self, turn: usize) -> usize {
        let Some(shown) = turn.checked_sub(self.first) else { return 0 };
        self.rows[..=shown].iter().rev().find_map(|row| row.instant).unwrap_or(0)
    }
}

/// Gives each kind of arrow of a turn its position. Returns the end of the row.
fn lay_tracks(row: &mut Row, view: &View<'_>, turn: usize) -> usize {
    let mut y = row.box_bottom() + BELOW_BOX;
    let mut lay = |track: usize, wanted: bool| {
        if wanted {
            row.tracks[track] = Some(y);
            y += TRACK;
        }
    };
    for kind in Kind::ALL {
        lay(kind as usize, view.arrows[turn].iter().any(|arrow| arrow.kind == kind));
    }
    lay(ENDS, view.lives.iter().any(|life| life.ended_by_other == Some(turn)));
    y
}

/// The position at which a turn acts on a lane.
fn touched(row: &Row, view: &View<'_>, turn: usize, lane: usize) -> usize {
    let ended = view.lives[lane].ended_by_other == Some(turn);
    let arrow = view.arrows[turn].iter().find(|arrow| arrow.to == lane);
    let track = if ended { row.tracks[ENDS] } else { arrow.and_then(|arrow| row.track(arrow.kind)) };
    track.unwrap_or(row.box_bottom())
}
