//! Names and messages of the program under test cannot break the files.

use super::of;
use super::samples::{here, lane, turn};
use crate::picture::{Picture, chrome, escape};
use crate::primitive::{Dependency, Primitive};
use crate::trace::{Cause, Effect, Trace};

/// Ends scripts, comments, attributes and tags, and has characters that XML does not allow.
const HOSTILE: &str = "</script><script>alert(1)</script><!-- ]]> \"'&amp; \u{0} \u{1b}[31m \u{2028} \\";

fn hostile() -> Trace {
    let mut effects = vec![Effect::Event(HOSTILE.to_owned())];
    effects.push(Effect::End(0, format!("failure: {HOSTILE}\nsecond line")));
    let site = here();
    effects.push(Effect::Acquire { lane: Some(0), primitive: 0, permits: 1, site });
    Trace {
        lanes: vec![lane("0", Some(HOSTILE), None)],
        left_out: 0,
        turns: vec![turn(0, Cause::Start, "bind", None).did(effects)],
        primitives: vec![Primitive { kind: "Mutex", name: Some(HOSTILE.to_owned()), site, permits: None }],
        dependencies: vec![Dependency { from: 0, to: 0, primitive: Some(0), is_of_cycle: true }],
        outside: Vec::new(),
    }
}

fn picture(trace: &Trace) -> Picture<'_> {
    Picture { title: HOSTILE, replay: HOSTILE, ..of(trace) }
}

#[test]
fn a_page_has_no_more_scripts_than_its_own() {
    let html = picture(&hostile()).html();
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains("<!--") && !html.contains("alert(1)</"));
}

#[test]
fn a_file_has_no_tags_but_its_own_and_no_control_characters() {
    let svg = picture(&hostile()).svg();
    assert!(!svg.contains("<script") && !svg.contains("<!--"));
    assert!(svg.chars().all(|char| char == '\n' || !char.is_control()));
    assert!(svg.contains("␛[31m"), "what cannot be written is shown");
}

#[test]
fn the_data_of_the_page_is_json_with_the_names_in_it() {
    let html = picture(&hostile()).html();
    let (_, rest) = html.split_once("id=\"turns\">").expect("the page has data");
    let (data, _) = rest.split_once("</script>").expect("the data ends");
    let turns: serde_json::Value = serde_json::from_str(data).expect("the data is JSON");
    let did = turns[0]["did"][0].as_str().expect("the turn did something");
    assert_eq!(did, format!("passed the event {HOSTILE:?}"));
}

#[test]
fn the_export_is_json_with_the_names_in_it() {
    let export: serde_json::Value =
        serde_json::from_str(&chrome::export(&hostile())).expect("the export is JSON");
    let names = export["traceEvents"].as_array().expect("there are events").iter();
    let mut names = names.filter_map(|event| event["args"]["name"].as_str());
    assert!(names.any(|name| name == format!("fiber 0 {HOSTILE:?}")));
}

#[test]
fn a_string_comes_back_from_json_as_it_was() {
    for text in ["", HOSTILE, "\r\t\u{8}\u{7f}\u{2029}", "ümläut 漢字 🦀"] {
        assert_eq!(serde_json::from_str::<String>(&escape::json(text)).expect("it is JSON"), text);
    }
}
