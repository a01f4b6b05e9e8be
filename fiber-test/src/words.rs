//! Numbers in messages.

use std::fmt::Display;

/// `1 item`, `3 bytes`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, unit: &str) -> String {
    if is_one(&count) { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// The verb of so many.
pub(crate) fn were<N: PartialEq + From<u8>>(count: N) -> &'static str {
    if is_one(&count) { "was" } else { "were" }
}

/// `all 7 orders were`, `the only order was`.
pub(crate) fn all_were(count: u64, unit: &str) -> String {
    if is_one(&count) { format!("the only {unit} was") } else { format!("all {count} {unit}s were") }
}

/// `3 turns before these are left out`.
pub(crate) fn left_out(count: usize, unit: &str, place: &str) -> String {
    let are = if is_one(&count) { "is" } else { "are" };
    format!("{}{place} {are} left out", counted(count, unit))
}

fn is_one<N: PartialEq + From<u8>>(count: &N) -> bool {
    *count == N::from(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let of = |n: usize| [counted(n, "turn"), were(n).to_owned(), left_out(n, "turn", " before these")];
        assert_eq!(of(1), ["1 turn", "was", "1 turn before these is left out"]);
        assert_eq!(of(2), ["2 turns", "were", "2 turns before these are left out"]);
        assert_eq!(of(0)[0], "0 turns");
        assert_eq!(
            (all_were(1, "order"), all_were(2, "order")),
            ("the only order was".into(), "all 2 orders were".into())
        );
    }
}
