//! The export to the trace event format.

use serde_json::Value;

use super::samples::{deadlock, lost_update};
use crate::picture::chrome::export;
use crate::trace::Trace;

fn events(trace: &Trace, phase: &str) -> Vec<Value> {
    let export: Value = serde_json::from_str(&export(trace)).expect("the export is JSON");
    let events = export["traceEvents"].as_array().expect("there are events");
    events.iter().filter(|event| event["ph"] == phase).cloned().collect()
}

#[test]
fn every_turn_is_a_complete_event_of_one_microsecond_in_the_thread_of_its_lane() {
    let trace = deadlock();
    let events = events(&trace, "X");
    assert_eq!(events.len(), trace.turns().len());
    for (index, (event, turn)) in events.iter().zip(trace.turns()).enumerate() {
        assert_eq!(event["ts"], index);
        assert_eq!(event["dur"], 1);
        assert_eq!(event["tid"], turn.lane.map_or(0, |lane| lane + 1));
        assert_eq!(event["args"]["virtual time"], turn.at.to_string());
    }
}

#[test]
fn every_lane_is_a_thread_with_its_name() {
    let (trace, _, _) = lost_update();
    let threads: Vec<Value> =
        events(&trace, "M").into_iter().filter(|event| event["name"] == "thread_name").collect();
    let names: Vec<&Value> = threads.iter().map(|event| &event["args"]["name"]).collect();
    assert_eq!(names, ["fiber 0 \"main\"", "fiber 0.1 \"deposit\""]);
    assert_eq!(threads[1]["tid"], 2);
}

#[test]
fn a_flow_leads_from_the_turn_that_made_a_turn_possible_to_it() {
    let trace = deadlock();
    let (starts, finishes) = (events(&trace, "s"), events(&trace, "f"));
    let caused: Vec<usize> =
        (0..trace.turns().len()).filter(|turn| trace.turns()[*turn].since.is_some()).collect();
    assert_eq!(starts.len(), caused.len());
    for ((start, finish), turn) in starts.iter().zip(&finishes).zip(caused) {
        assert_eq!((&start["id"], &finish["id"]), (&Value::from(turn), &Value::from(turn)));
        assert_eq!(
            (&start["ts"], &finish["ts"]),
            (&Value::from(trace.turns()[turn].since), &Value::from(turn))
        );
        assert_eq!(finish["bp"], "e");
    }
}

#[test]
fn cancels_finalizers_and_events_are_instants() {
    let categories: Vec<Value> = events(&deadlock(), "i").iter().map(|event| event["cat"].clone()).collect();
    assert_eq!(categories, ["event", "cancel", "finalizer"]);
}
