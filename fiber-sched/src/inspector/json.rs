//! Writes JSON.

use std::fmt::{Display, Write};
use std::time::Duration;

/// An object that is being written. Fields have different names, which need no escapes.
pub(super) struct Object<'a> {
    text: &'a mut String,
    is_empty: bool,
}

/// The text of an object.
pub(super) fn document(fields: impl FnOnce(&mut Object<'_>)) -> String {
    let mut text = String::new();
    object(&mut text, fields);
    text
}

fn object(text: &mut String, fields: impl FnOnce(&mut Object<'_>)) {
    text.push('{');
    fields(&mut Object { text, is_empty: true });
    text.push('}');
}

impl Object<'_> {
    fn name(&mut self, name: &str) -> &mut String {
        let comma = if self.is_empty { "" } else { "," };
        self.is_empty = false;
        put(self.text, format_args!("{comma}\"{name}\":"));
        self.text
    }

    /// A number, or `true`, or `false`.
    pub(super) fn plain(&mut self, name: &str, value: impl Display) {
        put(self.name(name), value);
    }

    /// A field that is there only if it is `true`.
    pub(super) fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.plain(name, true);
        }
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        string(self.name(name), value);
    }

    /// Seconds, to the microsecond.
    pub(super) fn seconds(&mut self, name: &str, value: Duration) {
        self.plain(name, Seconds(value));
    }

    pub(super) fn object(&mut self, name: &str, fields: impl FnOnce(&mut Object<'_>)) {
        object(self.name(name), fields);
    }

    /// An array of objects.
    pub(super) fn objects<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut fields: impl FnMut(&mut Object<'_>, T),
    ) {
        array(self.name(name), items, |text, item| object(text, |object| fields(object, item)));
    }

    pub(super) fn texts<'t>(&mut self, name: &str, items: impl IntoIterator<Item = &'t str>) {
        array(self.name(name), items, string);
    }

    pub(super) fn numbers(&mut self, name: &str, items: impl IntoIterator<Item = impl Display>) {
        array(self.name(name), items, put);
    }
}

fn array<T>(text: &mut String, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut String, T)) {
    text.push('[');
    for (at, one) in items.into_iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        item(text, one);
    }
    text.push(']');
}

fn put(text: &mut String, value: impl Display) {
    // Writing to a string does not fail.
    _ = write!(text, "{value}");
}

fn string(text: &mut String, value: &str) {
    text.push('"');
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            // What ends a script, or a line of one, is escaped too: the text may be pasted anywhere.
            '<' | '\u{2028}' | '\u{2029}' | '\0'..=' ' if letter != ' ' => {
                put(text, format_args!("\\u{:04x}", u32::from(letter)));
            }
            _ => text.push(letter),
        }
    }
    text.push('"');
}

/// As a number, without an exponent.
pub(super) struct Seconds(pub(super) Duration);

impl Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0.as_secs(), self.0.subsec_micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_one_json_string() {
        let hostile = "</script>\"\\\n\t\0\u{1b}\u{7f}\u{2028}é 🦀 ';--";
        let text = document(|object| object.text("name", hostile));
        assert!(!text.contains(['<', '\n', '\0', '\u{2028}']), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["name"], hostile);
    }

    #[test]
    fn all_kinds_of_fields_are_read_back() {
        let text = document(|object| {
            object.plain("number", 7);
            object.flag("yes", true);
            object.flag("no", false);
            object.seconds("seconds", Duration::new(3, 4_000));
            object.object("empty", |_| ());
            object.objects("objects", [1, 2], |object, n| object.plain("n", n));
            object.texts("texts", ["a", "b"]);
            object.numbers("numbers", [1, 2]);
        });
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = serde_json::json!({
            "number": 7, "yes": true, "seconds": 3.000004, "empty": {}, "objects": [{"n": 1}, {"n": 2}],
            "texts": ["a", "b"], "numbers": [1, 2],
        });
        assert_eq!(read, expected);
    }
}
