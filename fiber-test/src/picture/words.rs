//! Turns, causes and effects in words.

use fiber_core::scheduler::WaitsFor;

use crate::primitive::{Primitive, Site, Wanted};
use crate::trace::{Cause, Effect, Lane, Trace, Turn, timer};
use crate::words::counted;

/// The fiber that had the turn.
pub(super) fn whose(trace: &Trace, turn: &Turn) -> String {
    turn.lane.map_or_else(|| "not a fiber".to_owned(), |lane| fiber(trace, lane))
}

/// A fiber by its id and name.
pub(super) fn fiber(trace: &Trace, lane: usize) -> String {
    trace.lanes().get(lane).map_or_else(|| format!("lane {lane}"), Lane::to_string)
}

/// The operator, its place, and the fiber, in a few words.
pub(super) fn in_short(trace: &Trace, turn: &Turn) -> String {
    let place = turn.site.map(|site| format!(" {}", short_site(site))).unwrap_or_default();
    format!("{}{place} of {}", turn.operator, whose(trace, turn))
}

/// The name of the file and the line.
pub(super) fn short_site(site: Site) -> String {
    let file = site.file();
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    format!("{name}:{}", site.line())
}

/// Why the fiber ran.
pub(super) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Start => "it had not started yet",
        Cause::Continue => "it had yielded to others",
        Cause::Wake => "what it waited for had happened",
        Cause::Cancel => "it was cancelled while it waited",
        Cause::Timer => "its timer was due",
        Cause::Computed => "its computation was over",
        Cause::TimeOut => "its time limit had passed",
        Cause::Blocking => "it ran a closure that may block",
    }
}

/// The place of the chosen fiber among the runnable ones.
pub(super) fn choice(turn: &Turn) -> String {
    match (turn.choice, turn.choices) {
        (0, 0 | 1) => "the only one that could run".to_owned(),
        (0, many) => format!("the first of {many} that could run, as in first in, first out"),
        (other, many) => format!("the {} of {many} that could run: out of turn", ordinal(other + 1)),
    }
}

/// `1st`, `2nd`, `3rd`, `4th`, ...
pub(super) fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// An effect of a turn, as a sentence without its subject.
pub(super) fn effect(trace: &Trace, effect: &Effect) -> String {
    match effect {
        Effect::Fork(lane) => match trace.lanes().get(*lane) {
            Some(made) => format!("made {made}, forked at {}", made.site),
            None => format!("made {}", fiber(trace, *lane)),
        },
        Effect::Wait { what, site, on, at } => {
            let place = site.map(|site| format!(", at {site}")).unwrap_or_default();
            format!("began to wait for {}{place}", trace.awaited(*what, *on, at.as_deref()))
        }
        Effect::Acquire { primitive, permits, site, .. } => {
            let verb = if trace.is_counted(*primitive) { "acquired" } else { "locked" };
            format!("{verb} {}, at {site}", trace.some(*primitive, *permits))
        }
        Effect::Release { primitive, permits } => {
            let verb = if trace.is_counted(*primitive) { "gave back" } else { "unlocked" };
            format!("{verb} {}", trace.some(*primitive, *permits))
        }
        Effect::Wake(lane) => format!("woke {}", fiber(trace, *lane)),
        Effect::Cancel(lane) => format!("cancelled {} and all below it", fiber(trace, *lane)),
        Effect::Finalizer { operator, site } => format!("began a finalizer: {operator} at {site}"),
        Effect::End(lane, outcome) => format!("{} ended: {outcome}", fiber(trace, *lane)),
        Effect::Timer { after, at } => format!("set a timer for {}", timer(*after, *at)),
        Effect::Draw(number) => format!("drew {number}"),
        Effect::Event(name) => format!("passed the event {name:?}"),
        Effect::Take { primitive, count, unit, .. } => {
            format!("took {} from {}", counted(*count, unit), trace.name(*primitive))
        }
        Effect::Lose { primitive, count, unit, why } => {
            format!("dropped {} of {} {why}", counted(*count, unit), trace.name(*primitive))
        }
        Effect::Discard(lane) => format!("dropped the value of {}, which lost the race", fiber(trace, *lane)),
        Effect::Fault(what) => format!("fault: {what}"),
    }
}

/// What a fiber waits for, short enough for a narrow column.
pub(super) fn awaited_in_short(
    trace: &Trace,
    what: WaitsFor,
    on: Option<usize>,
    at: Option<&Wanted>,
) -> String {
    if let Some(at) = at {
        return primitive_in_short(trace, at.primitive);
    }
    match (what, on.and_then(|lane| trace.lanes().get(lane))) {
        (_, Some(lane)) => format!("fiber {}", lane.id),
        (WaitsFor::Nothing, _) => "nothing".to_owned(),
        (WaitsFor::Timer, _) => "timer".to_owned(),
        (WaitsFor::Computation, _) => "computing".to_owned(),
        (WaitsFor::Fiber, _) => "a fiber".to_owned(),
        (WaitsFor::Children, _) => "children".to_owned(),
        (WaitsFor::Forks, _) => "forks".to_owned(),
        (WaitsFor::Callback, _) => "callback".to_owned(),
        (WaitsFor::Blocking, _) => "blocking call".to_owned(),
        (WaitsFor::Future, _) => "future".to_owned(),
        (WaitsFor::Lock, _) => "a lock".to_owned(),
        (WaitsFor::Permits, _) => "permits".to_owned(),
        (WaitsFor::Item, _) => "an item".to_owned(),
        (WaitsFor::Room, _) => "room".to_owned(),
        (WaitsFor::Signal, _) => "a signal".to_owned(),
        (WaitsFor::Data, _) => "data".to_owned(),
        (WaitsFor::Sending, _) => "room for data".to_owned(),
        (WaitsFor::Connection, _) => "a connection".to_owned(),
        (WaitsFor::Never, _) => "never".to_owned(),
        (WaitsFor::Either, _) => "several events".to_owned(),
        (WaitsFor::Other, _) => "an event".to_owned(),
    }
}

/// The name of a primitive, or else its type and where it was made.
pub(super) fn primitive_in_short(trace: &Trace, primitive: usize) -> String {
    let Some(one) = trace.primitives().get(primitive) else { return trace.name(primitive) };
    let name = match &one.name {
        Some(name) => format!("`{name}`"),
        None => format!("{} {}", one.kind, short_site(one.site)),
    };
    match Primitive::number_in(trace.primitives(), primitive) {
        Some(number) => format!("{name} #{number}"),
        None => name,
    }
}
