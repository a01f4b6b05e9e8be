//! The compiler's messages for wrong uses of the library.

#[test]
fn mistakes_are_reported_where_they_are_made() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
