//! The compiler's messages for wrong uses of the library.

#[test]
fn mistakes_are_reported_where_they_are_made() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*.rs");
    // The attributes of fiber-test. Here, because the library is built once more for such tests.
    cases.compile_fail("ui/attributes/*.rs");
}
