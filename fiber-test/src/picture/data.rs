//! The turns as JSON, for the page's script.

use super::compare::{Comparison, View, twins};
use super::escape::json;
use super::words;
use crate::trace::Turn;

/// All turns that are drawn, of both schedules.
pub(super) fn of(comparison: &Comparison<'_>) -> String {
    let Comparison { failing, passing, .. } = comparison;
    let mut turns = of_schedule(failing, 'f', passing.as_ref(), 'p');
    if let Some(passing) = passing {
        turns.extend(of_schedule(passing, 'p', Some(failing), 'f'));
    }
    format!("[\n{}\n]", turns.join(",\n"))
}

fn of_schedule(view: &View<'_>, prefix: char, other: Option<&View<'_>>, other_prefix: char) -> Vec<String> {
    let twins = other.map(|other| twins(view.trace, other.trace)).unwrap_or_default();
    let twin = |index: usize| {
        let twin = twins.get(index).copied().flatten()?;
        other.is_some_and(|other| twin >= other.first).then(|| format!("{other_prefix}{twin}"))
    };
    let made_possible = made_possible(view);
    view.turns()
        .map(|(index, turn)| {
            let since =
                turn.since.filter(|since| *since >= view.first).map(|since| format!("{prefix}{since}"));
            let after = made_possible[index].iter().map(|after| json(&format!("{prefix}{after}")));
            object(&[
                ("id", json(&format!("{prefix}{index}"))),
                ("schedule", json(&prefix.to_string())),
                ("number", index.to_string()),
                ("before", nullable(since)),
                ("after", array(after.collect())),
                ("twin", nullable(twin(index))),
                ("pair", nullable(view.letter(index).map(str::to_owned))),
                ("out_of_turn", (turn.choice != 0).to_string()),
                ("lane", nullable(turn.lane.map(|lane| lane.to_string()))),
                ("facts", facts(view, turn)),
                (
                    "did",
                    array(
                        turn.effects.iter().map(|effect| json(&words::effect(view.trace, effect))).collect(),
                    ),
                ),
            ])
        })
        .collect()
}

/// For each turn, the turns that it made possible.
fn made_possible(view: &View<'_>) -> Vec<Vec<usize>> {
    let mut after = vec![Vec::new(); view.trace.turns().len()];
    for (index, turn) in view.trace.turns().iter().enumerate() {
        if let Some(of_turn) = turn.since.and_then(|since| after.get_mut(since)) {
            of_turn.push(index);
        }
    }
    after
}

/// The contents of the details panel for a turn, in order.
fn facts(view: &View<'_>, turn: &Turn) -> String {
    let site = turn.site.map_or_else(|| "unknown".to_owned(), |site| site.to_string());
    let facts = [
        ("fiber", words::whose(view.trace, turn)),
        ("operator", turn.operator.to_owned()),
        ("place", site),
        ("virtual time", turn.at.to_string()),
        ("ran because", words::cause(turn.cause).to_owned()),
        ("choice", words::choice(turn)),
    ];
    array(facts.iter().map(|(name, value)| array(vec![json(name), json(value)])).collect())
}

fn nullable(text: Option<String>) -> String {
    text.map_or_else(|| "null".to_owned(), |text| json(&text))
}

/// A JSON array of items that are already JSON.
pub(super) fn array(items: Vec<String>) -> String {
    format!("[{}]", items.join(","))
}

/// A JSON object of values that are already JSON.
pub(super) fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{value}", json(name))).collect();
    format!("{{{}}}", members.join(","))
}
