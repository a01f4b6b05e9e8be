//! Measures and cuts text. All text of the drawing has 11 pixels of a monospaced font.

/// A character is 6.67 pixels wide: such fonts are between 0.55 and 0.62 of their size.
const CHARACTERS_IN_1000_PIXELS: usize = 150;

/// How many characters fit into this many pixels.
pub(super) fn characters_in(pixels: usize) -> usize {
    pixels * CHARACTERS_IN_1000_PIXELS / 1000
}

/// How wide this many characters are.
pub(super) fn width_of(characters: usize) -> usize {
    (characters * 1000).div_ceil(CHARACTERS_IN_1000_PIXELS)
}

/// The number of monospaced character cells that a text takes.
pub(super) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// The text, cut at its end if it is too long.
pub(super) fn fitting(text: &str, most: usize) -> String {
    if characters(text) <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The text, cut at its beginning if it is too long: the line number at the end of a site is worth more than the path.
pub(super) fn fitting_end(text: &str, most: usize) -> String {
    let left_out = characters(text).saturating_sub(most.saturating_sub(1));
    if characters(text) <= most {
        return text.to_owned();
    }
    format!("…{}", text.chars().skip(left_out).collect::<String>())
}
