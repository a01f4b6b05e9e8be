//! The legend: the meanings of lines, signs and colours.

use super::canvas::{Canvas, Glyph};

/// The entries of the legend.
pub(super) fn list() -> String {
    let items = [lines(), signs(), causes()].concat();
    format!("<ul class=\"legend\">{}</ul>\n", items.concat())
}

fn item(width: usize, drawing: &str, words: &str) -> String {
    format!("<li><svg class=\"drawing\" width=\"{width}\" height=\"16\">{drawing}</svg>{words}</li>")
}

fn lines() -> Vec<String> {
    let arrow = |class: &str, kind: &str, head: &str| {
        format!(
            "<g class=\"arrow {class}\"><path class=\"line\" d=\"M1 8H20\"/><path class=\"head {kind}\" d=\"{head}\"/></g>"
        )
    };
    vec![
        item(4, "<path class=\"can-run\" d=\"M2 1V15\"/>", "can run"),
        item(4, "<path class=\"waits\" d=\"M2 1V15\"/>", "waits"),
        item(24, &arrow("fork", "full", "M22 8l-7 -4v8Z"), "forks"),
        item(24, &arrow("wake", "open", "M22 8l-7 -4M22 8l-7 4"), "wakes"),
        item(24, &arrow("cancel", "cross", "M14 4l8 8M22 4l-8 8"), "cancels"),
        item(24, &arrow("depends of-cycle", "full", "M22 8l-7 -4v8Z"), "waits for, in a circle"),
    ]
}

fn signs() -> Vec<String> {
    let signs = [
        (Glyph::Deviation, "ran out of turn"),
        (Glyph::Wait, "began to wait"),
        (Glyph::Acquire, "got permits or a lock"),
        (Glyph::Release, "gave it back"),
        (Glyph::Finalizer, "finalizer"),
        (Glyph::Event, "event"),
        (Glyph::Success, "success"),
        (Glyph::Failure, "failure, panic"),
        (Glyph::Cancelled, "cancelled"),
    ];
    let of_glyph = |(glyph, words)| {
        let mut canvas = Canvas::default();
        canvas.glyph(glyph, "", [1, 3]);
        item(12, &canvas.finish(), words)
    };
    signs.map(of_glyph).to_vec()
}

/// The left edge of a box shows why the fiber ran.
fn causes() -> Vec<String> {
    let causes = [
        ("start", "start"),
        ("continue", "went on"),
        ("wake", "woken"),
        ("timer", "by time"),
        ("cancel", "by cancel"),
    ];
    let of_cause = |(cause, words)| {
        let drawing = format!(
            "<g class=\"because-{cause}\"><rect class=\"box\" x=\"1\" y=\"2\" width=\"14\" height=\"12\" rx=\"3\"/>\
             <rect class=\"stripe\" x=\"1\" y=\"2\" width=\"4\" height=\"12\" rx=\"2\"/></g>"
        );
        item(16, &drawing, words)
    };
    causes.map(of_cause).to_vec()
}
