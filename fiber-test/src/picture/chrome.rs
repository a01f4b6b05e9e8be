//! The trace event format, which Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` open.
//!
//! Virtual time stands still while fibers run, so turns at one instant would overlap. Each turn
//! therefore takes one microsecond: turn *n* lasts from *n* to *n + 1*, and its virtual time is in its arguments.

use super::data::{array, object};
use super::escape::json;
use super::words;
use crate::trace::{Effect, Trace, Turn};

/// The one process that all lanes belong to.
const PROCESS: usize = 1;
/// The thread of turns that belong to no fiber. The lanes are the threads after it.
const OUTSIDE: usize = 0;

/// The trace as a JSON object: a thread per lane, a complete event per turn, flows from the turn that made a turn possible,
/// and instant events for cancels, finalizers, permits and named events.
pub(crate) fn export(trace: &Trace) -> String {
    let mut events = vec![name_event("process_name", OUTSIDE, "fibers")];
    if trace.turns().iter().any(|turn| turn.lane.is_none()) {
        events.push(name_event("thread_name", OUTSIDE, "not a fiber"));
    }
    for (lane, fiber) in trace.lanes().iter().enumerate() {
        events.push(name_event("thread_name", lane + 1, &fiber.to_string()));
    }
    for (index, turn) in trace.turns().iter().enumerate() {
        events.push(complete_event(trace, index, turn));
        events.extend(turn.effects.iter().filter_map(|effect| instant_event(trace, index, turn, effect)));
        events.extend(flow_events(trace, index, turn));
    }
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

fn thread(turn: &Turn) -> usize {
    turn.lane.map_or(OUTSIDE, |lane| lane + 1)
}

/// An event of this phase; `ts` is in microseconds.
fn event(phase: &str, name: &str, thread: usize, ts: usize, more: &[(&str, String)]) -> String {
    let mut members = vec![
        ("ph", json(phase)),
        ("name", json(name)),
        ("pid", PROCESS.to_string()),
        ("tid", thread.to_string()),
        ("ts", ts.to_string()),
    ];
    members.extend(more.iter().cloned());
    object(&members)
}

fn name_event(what: &str, thread: usize, name: &str) -> String {
    event("M", what, thread, 0, &[("args", object(&[("name", json(name))]))])
}

fn complete_event(trace: &Trace, index: usize, turn: &Turn) -> String {
    let effects = turn.effects.iter().map(|effect| json(&words::effect(trace, effect))).collect();
    let arguments = object(&[
        ("virtual time", json(&turn.at.to_string())),
        ("place", turn.site.map_or_else(|| "null".to_owned(), |site| json(&site.to_string()))),
        ("ran because", json(words::cause(turn.cause))),
        ("choice", json(&words::choice(turn))),
        ("did", array(effects)),
    ]);
    let more = [("dur", "1".to_owned()), ("cat", json("turn")), ("args", arguments)];
    event("X", turn.operator, thread(turn), index, &more)
}

fn instant_event(trace: &Trace, index: usize, turn: &Turn, effect: &Effect) -> Option<String> {
    let category = match effect {
        Effect::Cancel(_) => "cancel",
        Effect::Finalizer { .. } => "finalizer",
        Effect::Acquire { .. } | Effect::Release { .. } => "permits",
        Effect::Event(_) => "event",
        Effect::Fault(_) => "fault",
        _ => return None,
    };
    // The scope of the mark is its thread.
    let more = [("s", json("t")), ("cat", json(category))];
    Some(event("i", &words::effect(trace, effect), thread(turn), index, &more))
}

/// From the turn that made this one possible. A flow binds to the event in its thread at its time.
fn flow_events(trace: &Trace, index: usize, turn: &Turn) -> Vec<String> {
    let Some((since, from)) = turn.since.and_then(|since| Some((since, trace.turns().get(since)?))) else {
        return Vec::new();
    };
    let members = |more: &[(&'static str, String)]| {
        let mut members = vec![("id", index.to_string()), ("cat", json("made possible"))];
        members.extend(more.iter().cloned());
        members
    };
    vec![
        event("s", "made possible", thread(from), since, &members(&[])),
        event("f", "made possible", thread(turn), index, &members(&[("bp", json("e"))])),
    ]
}
