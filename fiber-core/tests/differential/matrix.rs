//! Waits whose operands have temporaries, in each position of an expression, as `fiber!` and as an `async` block.
//!
//! `#` is a wait in a larger expression. `@` is a wait that is all of a statement, an initializer or an arm; the
//! temporaries of its operand are dropped before it waits. `return ok(..)` leaves with a value.

use std::fmt::Write;

/// Fibers of numbers. A `#` in them is a wait for another one.
const OPERANDS: [&str; 5] = [
    "w.wait(w.beside(&w.noisy(1), n))",
    "w.noisy(1).wait(n)",
    "w.wait(w.beside(&w.noisy(1), #))",
    "match w.noisy(1).number() { one => w.wait(one + n) }",
    "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }",
];

const POSITIONS: [&str; 60] = [
    "@;",
    "let a = @; w.log(a);",
    "let (a, _) = (#, w.noisy(7)); w.log(a);",
    "let Some(a) = w.some(#) else { w.log(70); return ok(7) }; w.log(a);",
    "let a = { @ } + w.noisy(7).number(); w.log(a);",
    "let a = { w.log(7); # + w.noisy(7).number() }; w.log(a);",
    "let a = &#; w.log(*a);",
    "let a = &(#, w.noisy(7).number()); w.log(a.0);",
    "let a = if n > 1 { @ } else { # + w.noisy(7).number() }; w.log(a);",
    "let a = match n { 0 => @, 1 => # + w.noisy(7).number(), _ => { @ } }; w.log(a);",
    "let a = 'a: { if # > 3 { break 'a # + w.noisy(7).number() } 0 }; w.log(a);",
    "let a = loop { break #; }; w.log(a);",
    "let mut a = 0; a = #; w.log(a);",
    "let mut a = [0]; a[w.noisy(7).number() as usize - 7] += #; w.log(a[0]);",
    "let mut a = [0]; *(&mut a[0]) -= # * w.noisy(7).number(); w.log(a[0]);",
    "w.log(#);",
    "w.log(-#);",
    "w.log(# as i8 as i64);",
    "w.log(w.pair(w.noisy(7).number(), #));",
    "w.log(w.pair(#, w.noisy(7).number()));",
    "w.log(w.pair(#, #));",
    "w.log((#).wrapping_add(w.noisy(7).number()));",
    "w.log(w.noisy(7).number().wrapping_add(#));",
    "w.log(w.noisy(7).number() + # * w.noisy(8).number());",
    "w.log([4, 5, 6][# as usize % 3]);",
    "w.log([#, w.noisy(7).number()][1]);",
    "w.log([#; 2][1]);",
    "w.log((#, w.noisy(7)).0);",
    "w.log(Pair { b: w.noisy(7).number(), a: # }.a);",
    "w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: # } }.b);",
    "w.log((|v: i64| v + 1)(#));",
    "w.log(w.beside(&w.noisy(7), #)); w.log(8);",
    "if # > 2 { w.log(6) } else { w.log(7) }",
    "if # < w.noisy(7).number() { w.log(6) } else if # > 2 { w.log(8) }",
    "if w.flag(#) && # < 7 { w.log(6) } else { w.log(7) }",
    "if w.flag(#) || # < w.noisy(7).number() { w.log(6) } else { w.log(7) }",
    "if !w.flag(#) { w.log(6) }",
    "w.log((# > 2 && # < w.noisy(7).number() || # == 7) as i64);",
    "if let Some(a) = w.some(#) { w.log(a) } else { w.log(7) }",
    "if let 2.. = # { w.log(6) } else { w.log(7) }",
    "if let Some(a) = w.some(#) && a < # && let Some(b) = w.some(a + #) { w.log(b) } else { w.log(7) }",
    "match # { 1 | 2 => w.log(6), a => w.log(a) }",
    "match (#, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) }",
    "match n { n if # > n + 1 => w.log(6), n if # == n + 1 => w.log(#), _ => w.log(8) }",
    "match w.some(n) { Some(a) if a < # => w.log(a), _ => w.log(w.noisy(7).number()) }",
    "let mut a = 0; while a < 2 && # > a { w.log(a); a += 1; }",
    "let mut a = 0; while let Some(b) = w.some(a + #) && a < 2 { w.log(b); a += 1; }",
    "for a in 0..(#).min(2) { w.log(a); }",
    "for a in [#, w.noisy(7).number()] { w.log(a); }",
    "for a in 0..2 { if # > a { continue } w.log(a); }",
    "if n == 1 { return ok(#) } w.log(7);",
    "if n == 1 { return ok(# + w.noisy(7).number()) } w.log(7);",
    "assert!(# < 100, \"{}\", w.noisy(7).number());",
    "assert_eq!(# - #, w.noisy(7).number() - 7);",
    "w.log(format!(\"{}{}\", #, w.noisy(7).number()).len() as i64);",
    "w.log(vec![w.noisy(7).number(), #, #].len() as i64);",
    "w.log(matches!(#, a if a < #) as i64);",
    "drop((w.noisy(7), #)); w.log(8);",
    "let _ = (w.noisy(7), #); w.log(8);",
    "let _a = w.noisy(7); let _b = @; w.log(8); @;",
];

/// Each operand in each position, and the list of all pairs.
pub(super) fn functions() -> String {
    let mut out = String::new();
    let mut names = String::new();
    for (place, position) in POSITIONS.iter().enumerate() {
        for (number, operand) in OPERANDS.iter().enumerate() {
            let name = format!("{place}_{number}");
            let body = format!("w.log(0); {position} w.log(9);");
            let [awaited, fiber] = [Form::Async, Form::Fiber].map(|form| {
                let whole = body.replace('@', &alone(form, operand)).replace('#', &inside(form, operand));
                // The wait inside of an operand.
                whole.replace('#', &inside(form, "w.noisy(5).wait(n)"))
            });
            let awaited = awaited.replace("ok(", "Ok(");
            let fiber = fiber.replace("ok(", "(");
            writeln!(
                out,
                "fn async_{name}(w: &Async, n: i64) -> Fiber<i64> {{ let w = w.clone(); \
                 Fiber::from_future(async move {{ {awaited} Ok::<i64, Error>(n) }}).boxed() }}\n\
                 fn fiber_{name}(w: &Async, n: i64) -> Fiber<i64> {{ let w = w.clone(); fiber! {{ {fiber} n }} }}"
            )
            .unwrap();
            writeln!(names, "({position:?}, {operand:?}, async_{name}, fiber_{name}),").unwrap();
        }
    }
    let count = POSITIONS.len() * OPERANDS.len();
    write!(
        out,
        "type InPlace = (&'static str, &'static str, fn(&Async, i64) -> Fiber<i64>, fn(&Async, i64) -> Fiber<i64>);\n\
         pub(crate) const MATRIX: [InPlace; {count}] = [{names}];\n"
    )
    .unwrap();
    out
}

#[derive(Clone, Copy)]
enum Form {
    Async,
    Fiber,
}

fn inside(form: Form, operand: &str) -> String {
    match form {
        Form::Async => format!("{operand}.await?"),
        Form::Fiber => format!("do! {operand}"),
    }
}

fn alone(form: Form, operand: &str) -> String {
    match form {
        Form::Async => format!("{{ let fiber = {operand}; fiber }}.await?"),
        Form::Fiber => format!("do! {operand}"),
    }
}
