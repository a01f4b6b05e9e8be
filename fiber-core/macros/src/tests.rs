//! What is accepted, what is refused with which words, and what the expansion does not pay for.

use proc_macro2::TokenStream;

use crate::{expand, parse};

fn tokens(source: &str) -> TokenStream {
    source.parse().expect("a test's source is made of Rust tokens")
}

fn errors(source: &str) -> Vec<String> {
    let (_, error) = parse::fiber_block(tokens(source));
    error.into_iter().flatten().map(|it| it.to_string()).collect()
}

fn error(source: &str) -> String {
    let [error] = <[String; 1]>::try_from(errors(source)).expect("exactly one error");
    error
}

/// Where the only error points: the text between its columns.
fn place(source: &str) -> &str {
    let (_, error) = parse::fiber_block(tokens(source));
    let span = error.expect("an error").span();
    &source[span.start().column..span.end().column]
}

fn expansion(source: &str) -> String {
    let (block, error) = parse::fiber_block(tokens(source));
    assert!(error.is_none(), "{source}: {error:?}");
    expand::fiber_block(&block).to_string()
}

#[test]
fn every_form_is_accepted() {
    for source in [
        "",
        ";;",
        "let! a = b;",
        "let! (mut a, Some(b) | None(b)): (u8, X) = c",
        "let! a = b and! c: T = d and! e = f;",
        "let! Some(a) = b else { return };",
        "let Some(a) = b else { do! c; return! d };",
        "do! a",
        "return",
        "return! a;",
        "if a { do! b } else if let Some(c) = d && e { return c } else { return! f }",
        "match a { B => do! c, D if e => return f, G => return! h, I => { do! j } K => l += 1, _ => {} }",
        "for! (a, b) in c { continue; }",
        "while! !a { break }",
        "loop! { do! a; }",
        "{ let! a = b; }",
        "match a { _ => b }.c();",
        "'a: for b in c { if d { break 'a; } }",
        "#[allow(unused)] let a = 1;",
        "fn f() {} const C: u8 = 1; println!(\"{}\", 1); m! { x } a = b?; if c { return d }",
        "todo!()",
    ] {
        expansion(source);
    }
}

#[test]
fn a_bare_last_expression_is_refused_where_it_stands() {
    let source = "let! a = b; a + 1";
    assert!(error(source).contains("write `return value`"));
    assert_eq!(place(source), "a + 1");
}

#[test]
fn a_form_in_a_plain_loop_is_refused_at_the_loop() {
    assert!(error("for a in b { do! c; }").contains("use `for!`"));
    assert!(error("while a { if b { let! c = d; } }").contains("use `while!`"));
    assert!(error("loop { while! a {} }").contains("use `loop!`"));
    assert_eq!(place("let a = 1; for a in b { do! c; }"), "for");
}

#[test]
fn a_form_inside_an_expression_is_refused_at_the_form() {
    assert!(error("let a = if b { do! c } else { d };").contains("stands inside an expression"));
    assert!(error("f(|| { let! a = b; });").contains("stands inside an expression"));
    assert_eq!(place("let a = g(do! b);"), "do");
    assert_eq!(place("if do! a { do! b; }"), "do");
}

#[test]
fn forms_in_another_macro_are_not_looked_at() {
    expansion("let a = fiber! { let! b = c; return b };");
}

#[test]
fn other_mistakes_are_named() {
    assert!(error("do a;").contains("`do! fiber;`"));
    assert!(error("'a: for! b in c { do! d; }").contains("take no label"));
    assert!(error("#[x] do! a;").contains("attribute"));
    assert!(error("while! let Some(a) = b {}").contains("loop!"));
    assert!(error("let! a = b or! c = d;").contains("`and!`"));
}

#[test]
fn one_mistake_does_not_hide_another() {
    assert_eq!(errors("let! = a; do! b; let x = do! c; if d { return } e").len(), 3);
}

#[test]
fn a_bang_belongs_to_the_while_it_touches() {
    assert!(expansion("while! a {}").contains("while_true"));
    assert!(expansion("while !a {}").contains("while ! a"));
}

#[test]
fn only_early_exits_pay_for_control_flow() {
    assert!(
        !expansion("let! a = b; if a { do! c; return 1 } if d { do! e; } return 2").contains("ControlFlow")
    );
    assert!(expansion("if d { do! e; if f { return 1 } } return 2").contains("ControlFlow"));
}

#[test]
fn only_segments_with_early_exits_are_boxed() {
    assert!(!expansion("let! a = b; do! c; return a").contains("boxed"));
    assert!(expansion("let! a = b; if a { return c } do! d; return e").contains("boxed"));
}

#[test]
fn the_exits_of_a_closure_are_its_own() {
    assert!(expansion("let a = || { return b? };").contains("return b ?"));
}

#[test]
fn a_variable_is_handed_on_only_if_it_is_wanted_back() {
    assert!(expansion("let a = 1; if b { let! c = d; f(a); } return a").contains("(a ,)"));
    assert!(!expansion("let a = 1; if b { let! c = d; f(a); } return 1").contains("(a ,)"));
    assert!(!expansion("let a = 1; if b { let! a = d; f(a); } return a").contains("(a ,)"));
}
