//! The tests that `docs/semantics.md` names for each rule exist.

use std::path::Path;

#[test]
fn every_rule_names_tests_and_every_test_that_it_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let text = read("docs/semantics.md");
    let mut named = 0;
    for rule in 1..=20 {
        let start = text.find(&format!("**{rule}. ")).unwrap_or_else(|| panic!("rule {rule} is missing"));
        let end = text[start..].find("\n\n").map_or(text.len(), |length| start + length);
        let tests =
            text[start..end].split_once("Tests:").unwrap_or_else(|| panic!("rule {rule} names no test")).1;
        let mut source = String::new();
        for name in tests.split('`').skip(1).step_by(2) {
            if name.ends_with(".rs") {
                source = read(name);
            } else {
                assert!(source.contains(&format!("fn {name}(")), "rule {rule}: there is no test {name}");
                named += 1;
            }
        }
    }
    assert!(named > 30, "only {named} tests were found: has the form of the page changed?");
}
