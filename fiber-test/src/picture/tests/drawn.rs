//! The contents of the drawing.

use super::samples::{circle, deadlock, lost_update, simulate, turn};
use super::{count, of};
use crate::picture::Picture;
use crate::picture::compare::{Comparison, MOST_TURNS};
use crate::trace::{Cause, Effect, Trace};

/// With more lanes than this, the words are beside the boxes.
const FEW_LANES: usize = 6;
const MANY_LANES: usize = 30;

#[test]
fn every_turn_is_drawn_with_its_operator_and_place() {
    for lanes in [FEW_LANES, MANY_LANES] {
        let trace = simulate(11, lanes, 80, &[]);
        let svg = of(&trace).svg();
        for (index, turn) in trace.turns().iter().enumerate() {
            assert_eq!(count(&svg, &format!(" id=\"f{index}\"")), 1, "turn {index} of {lanes} lanes");
            assert!(svg.contains(turn.operator), "{}", turn.operator);
        }
        assert_eq!(count(&svg, "class=\"turn "), trace.turns().len());
        assert!(svg.contains("samples.rs:"));
    }
}

#[test]
fn turns_out_of_turn_have_a_sign_and_words() {
    for lanes in [FEW_LANES, MANY_LANES] {
        let trace = simulate(3, lanes, 200, &[20, 90]);
        let out_of_turn = trace.turns().iter().filter(|turn| turn.choice != 0).count();
        assert_eq!(out_of_turn, 2, "the sample has them");
        let svg = of(&trace).svg();
        assert_eq!(count(&svg, "is-deviation corner\""), out_of_turn);
        assert_eq!(count(&svg, "class=\"deviation-text\""), out_of_turn);
        assert_eq!(count(&of(&simulate(3, lanes, 200, &[])).svg(), "is-deviation corner"), 0);
    }
}

#[test]
fn the_pair_has_its_letters_in_both_schedules() {
    let (failing, passing, pair) = lost_update();
    let picture = Picture { passing: Some(&passing), pair: Some(pair), ..of(&failing) };
    let comparison = Comparison::of(&picture);
    assert_eq!(comparison.failing.pair, [Some(2), Some(3)]);
    assert_eq!(comparison.passing.map(|view| view.pair), Some([Some(3), Some(2)]));
    let html = picture.html();
    assert!(html.contains("A before B") && html.contains("B before A"));
    assert!(html.contains("The other way round, it passes."));
}

#[test]
fn a_pair_that_no_turn_has_is_not_drawn() {
    let (failing, _, _) = lost_update();
    let picture = Picture { pair: Some((1, 99)), ..of(&failing) };
    assert!(!picture.html().contains("ran before"));
}

#[test]
fn the_schedules_part_at_the_first_turn_that_differs() {
    let (failing, passing, _) = lost_update();
    let both = Picture { passing: Some(&passing), ..of(&failing) };
    assert_eq!(Comparison::of(&both).failing.parting, Some(2));
    assert_eq!(count(&both.svg(), "parts here"), 2);
    let same = Picture { passing: Some(&failing), ..of(&failing) };
    assert_eq!(Comparison::of(&same).failing.parting, None);
}

#[test]
fn the_same_fiber_has_the_same_column_in_both_schedules() {
    let (failing, mut passing, _) = lost_update();
    passing.lanes.reverse();
    passing.turns.iter_mut().for_each(|turn| turn.lane = turn.lane.map(|lane| 1 - lane));
    let comparison_of = |passing| Picture { passing: Some(passing), ..of(&failing) };
    let picture = comparison_of(&passing);
    let comparison = Comparison::of(&picture);
    assert_eq!(comparison.failing.columns, [Some(0), Some(1)]);
    assert_eq!(comparison.passing.map(|view| view.columns), Some(vec![Some(1), Some(0)]));
}

#[test]
fn a_fiber_of_the_passing_schedule_alone_has_an_empty_column_in_the_failing_one() {
    let (mut failing, passing, _) = lost_update();
    failing.lanes.truncate(1);
    failing.turns = vec![turn(0, Cause::Start, "map", None)];
    let picture = Picture { passing: Some(&passing), ..of(&failing) };
    assert_eq!(Comparison::of(&picture).columns.len(), 2);
    assert_eq!(count(&picture.svg(), "not made here"), 1);
}

#[test]
fn of_a_long_trace_the_last_turns_are_drawn_and_the_others_counted() {
    let trace = simulate(5, FEW_LANES, MOST_TURNS + 500, &[]);
    let (svg, html) = (of(&trace).svg(), of(&trace).html());
    assert_eq!(count(&svg, "class=\"turn "), MOST_TURNS);
    assert!(!svg.contains(" id=\"f499\"") && svg.contains(" id=\"f500\""));
    assert!(svg.contains("500 earlier turns are left out"));
    assert!(html.contains("500 earlier turns are left out"));
}

#[test]
fn what_never_ended_is_shown_at_the_foot() {
    let svg = of(&deadlock()).svg();
    assert_eq!(count(&svg, "still waits</text>"), 3);
    assert!(svg.contains("still waits, since turn 7, for the end of fiber 0.1"));
}

#[test]
fn who_waits_for_whom_at_the_end_is_drawn_below_the_foot_the_circle_apart() {
    let picture = circle();
    for drawing in [of(&picture).svg(), of(&picture).html()] {
        assert_eq!(count(&drawing, "class=\"arrow depends of-cycle\">\n<title>"), 2);
        assert_eq!(
            count(&drawing, "class=\"arrow depends\">\n<title>"),
            1,
            "not the one that needs no arrow"
        );
        let drawing = drawing.replace("&quot;", "\"");
        assert!(drawing.contains(
            "fiber there \"there\" waits for Mutex `b`, and so for fiber back \"back\", in a circle"
        ));
        assert!(drawing.contains("still waits, since turn 3, for Mutex `b`, held by fiber back \"back\""));
    }
    let height = |trace: &Trace| -> usize {
        let svg = of(trace).svg();
        let height = svg.split("height=\"").nth(1).and_then(|rest| rest.split('"').next());
        height.unwrap().parse().unwrap()
    };
    let without = Trace { dependencies: Vec::new(), ..picture.clone() };
    assert!(height(&picture) > height(&without), "there is room for the arrows");
}

#[test]
fn what_a_turn_gets_and_gives_back_stands_in_its_box() {
    let mut trace = circle();
    trace.turns[3].effects.push(Effect::Release { primitive: 0, permits: 1 });
    let svg = of(&trace).svg();
    assert_eq!(count(&svg, "glyph is-acquire"), 2);
    assert_eq!(count(&svg, "glyph is-release"), 1);
    assert!(svg.contains("unlocked Mutex `a`"));
}

#[test]
fn virtual_time_is_shown_whenever_it_advances() {
    let trace = deadlock();
    assert_eq!(count(&of(&trace).svg(), "class=\"instant\""), 2);
    assert!(of(&trace).svg().contains(">1s</text>"));
}

#[test]
fn the_same_trace_gives_the_same_bytes() {
    let [one, other] = [(); 2].map(|()| simulate(9, MANY_LANES, 400, &[100]));
    assert_eq!(of(&one).html(), of(&other).html());
    assert_eq!(of(&one).svg(), of(&other).svg());
}

#[test]
fn an_empty_trace_is_a_picture_too() {
    let empty = Trace::default();
    assert!(of(&empty).svg().ends_with("</svg>\n"));
    assert!(of(&empty).html().ends_with("</html>\n"));
}

#[test]
fn a_trace_that_names_what_it_does_not_have_is_drawn_without_it() {
    let mut trace = deadlock();
    trace.turns.push(
        turn(99, Cause::Wake, "bind", Some(98))
            .did([Effect::Wake(97), Effect::End(96, "success".to_owned())]),
    );
    assert_eq!(count(&of(&trace).svg(), "class=\"turn "), trace.turns().len() - 1);
    assert!(of(&trace).html().contains("lane 97"));
}
