//! Escapes text of the program under test for XML and JSON.

/// For text and attributes of XML and HTML.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(visible(other)),
        }
    }
    out
}

/// A string of JSON, with its quotes. It may stand in a `<script>`: it has no `<`, so nothing in it can end the script.
pub(super) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push_code(&mut out, char),
            control if control.is_control() => push_code(&mut out, control),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn push_code(out: &mut String, char: char) {
    out.push_str(&format!("\\u{:04x}", u32::from(char)));
}

/// Replaces a character that XML does not allow, even escaped, by its control picture. Lines stay lines.
fn visible(char: char) -> char {
    /// "␀", the first of the pictures of the control characters.
    const PICTURES: u32 = 0x2400;
    match char {
        '\n' => '\n',
        '\t' => ' ',
        '\0'..='\x1f' => char::from_u32(PICTURES + u32::from(char)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}
