//! Draws random programs and writes each of them three times: in plain Rust, as `async`, and as `fiber!`.
//!
//! A program computes with three variables, `a`, `b` and `c`, which it shadows in its scopes. It waits, branches, loops, breaks out of
//! labelled loops, leaves early, fails by `?`, and has guards that log their drops.

use std::fmt::Write;

use super::matrix;

/// The programs of `seed`, as a file of Rust.
pub(crate) fn file(seed: u64, count: usize) -> String {
    let mut out = String::from(
        "//! Written by `generator.rs`: see `main.rs` for how to write it anew.\n\n\
         use super::world::{Async, End, Pair, Plain};\n\
         use fiber_core::{Error, Fiber, fiber};\n",
    );
    let mut names = String::new();
    for number in 0..count {
        let mut drawing = Drawing::new(seed.wrapping_add(number as u64));
        let body = drawing.body();
        for form in [Form::Plain, Form::Async, Form::Fiber] {
            Printer { out: &mut out, form }.program(number, &body);
        }
        write!(names, "(plain_{number}, async_{number}, fiber_{number}),").unwrap();
    }
    out.push_str(&matrix::functions());
    out.push_str("type Program = (fn(&Plain, i64) -> Result<i64, Error>, fn(&Async, i64) -> Fiber<i64>, fn(&Async, i64) -> Fiber<i64>);\n");
    write!(out, "pub(crate) const PROGRAMS: [Program; {count}] = [{names}];").unwrap();
    out
}

enum Expr {
    Number(i64),
    Variable(char),
    Binary(Box<Expr>, char, Box<Expr>),
    Wait(Box<Expr>),
    /// `?` on a plain `Result`.
    Check(Box<Expr>),
    If(Box<Condition>, Body, Body),
    Match(Box<Expr>, Vec<(String, Body)>),
    /// A `loop` with a value.
    Loop(u32, Body),
    Block(Body),
    /// The value of a closure that captures a variable.
    Closure(char, Box<Expr>),
    /// A value beside a temporary that logs its drop.
    Temporary(u32, Box<Expr>),
}

enum Condition {
    Compared(Expr, char, Expr),
    Not(Box<Condition>),
    Both(Box<Condition>, &'static str, Box<Condition>),
}

struct Body {
    stmts: Vec<Stmt>,
    value: Box<Expr>,
}

enum Stmt {
    Let(char, Expr),
    LetWait(char, Expr),
    LetPair(char, char, Expr),
    LetElse(char, Expr, Exit),
    Assign(char, &'static str, Expr),
    Log(Expr),
    If(Condition, Vec<Stmt>, Vec<Stmt>),
    IfLet(char, Expr, Option<Condition>, Vec<Stmt>),
    /// A wait for a variable, with a block right behind it.
    Held(Held, char, Expr, Vec<Stmt>),
    For(u32, char, i64, Vec<Stmt>),
    While(u32, Condition, Vec<Stmt>),
    WhileLet(u32, char, Vec<Stmt>),
    Scope(Vec<Stmt>),
    /// A wait between a borrow and its use.
    Borrow(char),
    Guard(u32, GuardKind),
    Exit(Condition, Exit),
}

#[derive(Clone, Copy)]
enum Held {
    If,
    IfLet,
    Match,
}

enum GuardKind {
    Named,
    Underscore,
    /// Dropped early if the condition holds.
    Dropped(Condition, Vec<Stmt>),
}

enum Exit {
    Return(Expr),
    TailCall(Expr),
    Break(u32, Option<Expr>),
    Continue(u32),
}

/// A loop around the drawn statements.
#[derive(Clone, Copy)]
struct Around {
    label: u32,
    has_value: bool,
}

struct Drawing {
    state: u64,
    next_label: u32,
    next_guard: u32,
    loops: Vec<Around>,
}

const VARIABLES: [char; 3] = ['a', 'b', 'c'];

impl Drawing {
    fn new(seed: u64) -> Self {
        Drawing {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            next_label: 0,
            next_guard: 0,
            loops: vec![],
        }
    }

    /// The generator SplitMix64.
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn variable(&mut self) -> char {
        VARIABLES[self.below(3) as usize]
    }

    fn body(&mut self) -> Body {
        let count = 4 + self.below(5);
        let stmts = (0..count).map(|_| self.stmt(3)).collect();
        Body { stmts, value: Box::new(self.expr(2)) }
    }

    fn inner(&mut self, depth: u32) -> Body {
        Body { stmts: self.stmts(depth), value: Box::new(self.expr(depth.saturating_sub(1))) }
    }

    fn stmts(&mut self, depth: u32) -> Vec<Stmt> {
        let count = self.below(3);
        (0..count).map(|_| self.stmt(depth)).collect()
    }

    fn around<A>(&mut self, has_value: bool, draw: impl FnOnce(&mut Self, u32) -> A) -> A {
        let label = self.next_label;
        self.next_label += 1;
        self.loops.push(Around { label, has_value });
        let drawn = draw(self, label);
        self.loops.pop();
        drawn
    }

    fn expr(&mut self, depth: u32) -> Expr {
        let kinds = if depth == 0 { 3 } else { 14 };
        let below = depth.saturating_sub(1);
        match self.below(kinds) {
            0 => Expr::Number(self.below(9) as i64),
            1 => Expr::Variable(self.variable()),
            2 => {
                let operator = ['+', '-', '*'][self.below(3) as usize];
                let (left, right) = (self.expr(below), self.expr(below));
                Expr::Binary(Box::new(left), operator, Box::new(right))
            }
            3..=5 => Expr::Wait(Box::new(self.expr(below))),
            6 | 7 => Expr::Check(Box::new(self.expr(below))),
            8 => Expr::If(Box::new(self.condition(below)), self.inner(below), self.inner(below)),
            9 => {
                let matched = Box::new(self.expr(below));
                let patterns = ["0 | 3", "n @ 1..=5 if n > 2", "n if n < a", "_"];
                Expr::Match(matched, patterns.map(|pattern| (pattern.to_owned(), self.inner(below))).into())
            }
            10 => self.around(true, |this, label| Expr::Loop(label, this.inner(below))),
            11 if self.below(2) == 0 => Expr::Block(self.inner(below)),
            11 => Expr::Closure(self.variable(), Box::new(self.expr(0))),
            _ => {
                self.next_guard += 1;
                Expr::Temporary(self.next_guard, Box::new(self.expr(below)))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> Condition {
        let below = depth.saturating_sub(1);
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0..=2 => Condition::Compared(self.expr(depth), '<', self.expr(below)),
            3 => Condition::Compared(self.expr(depth), '>', self.expr(below)),
            4 => Condition::Not(Box::new(self.condition(below))),
            _ => {
                let operator = ["&&", "||"][self.below(2) as usize];
                Condition::Both(Box::new(self.condition(below)), operator, Box::new(self.condition(below)))
            }
        }
    }

    fn exit(&mut self) -> Exit {
        let value = self.expr(1);
        let Some(around) = (!self.loops.is_empty()).then(|| {
            let place = self.below(self.loops.len() as u64) as usize;
            self.loops[place]
        }) else {
            return if self.below(2) == 0 { Exit::Return(value) } else { Exit::TailCall(value) };
        };
        match self.below(4) {
            0 => Exit::Return(value),
            1 => Exit::Continue(around.label),
            _ => Exit::Break(around.label, around.has_value.then_some(value)),
        }
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        let kinds = if depth == 0 { 7 } else { 16 };
        let below = depth.saturating_sub(1);
        match self.below(kinds) {
            0 => Stmt::Let(self.variable(), self.expr(depth)),
            1 => Stmt::LetWait(self.variable(), self.expr(below)),
            2 => Stmt::Assign(self.variable(), ["=", "+=", "-="][self.below(3) as usize], self.expr(depth)),
            3 => Stmt::Log(self.expr(depth)),
            4 => Stmt::LetPair('a', self.variable_but_a(), self.expr(below)),
            5 => {
                self.next_guard += 1;
                let guard = self.next_guard;
                match self.below(3) {
                    0 => Stmt::Guard(guard, GuardKind::Underscore),
                    1 => Stmt::Guard(guard, GuardKind::Named),
                    _ => Stmt::Guard(guard, GuardKind::Dropped(self.condition(1), self.stmts(below))),
                }
            }
            6 => Stmt::Exit(self.condition(below), self.exit()),
            7 => Stmt::LetElse(self.variable(), self.expr(below), self.exit()),
            8 => Stmt::If(self.condition(below), self.stmts(below), self.stmts(below)),
            9 => {
                let (variable, value) = (self.variable(), self.expr(below));
                let and = (self.below(2) == 0).then(|| self.condition(below));
                Stmt::IfLet(variable, value, and, self.stmts(below))
            }
            10 => {
                let (variable, rounds) = (self.variable(), 1 + self.below(3) as i64);
                self.around(false, |this, label| Stmt::For(label, variable, rounds, this.stmts(below)))
            }
            11 => {
                let condition = self.condition(below);
                self.around(false, |this, label| Stmt::While(label, condition, this.stmts(below)))
            }
            12 => {
                let variable = self.variable();
                self.around(false, |this, label| Stmt::WhileLet(label, variable, this.stmts(below)))
            }
            13 => Stmt::Scope(self.stmts(below)),
            14 => {
                let held = [Held::If, Held::IfLet, Held::Match][self.below(3) as usize];
                Stmt::Held(held, self.variable(), self.expr(below), self.stmts(below))
            }
            _ => Stmt::Borrow(self.variable()),
        }
    }

    fn variable_but_a(&mut self) -> char {
        ['b', 'c'][self.below(2) as usize]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Async,
    Fiber,
}

struct Printer<'a> {
    out: &'a mut String,
    form: Form,
}

impl Printer<'_> {
    fn put(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
    }

    fn program(&mut self, number: usize, body: &Body) {
        let start = "let (mut a, mut b, mut c) = (n, 1i64, 2i64);";
        match self.form {
            Form::Plain => {
                self.put(format!(
                    "fn plain_{number}(w: &Plain, n: i64) -> Result<i64, Error> {{ \
                     let end = (|| -> Result<End, Error> {{ {start}"
                ));
                self.stmts(&body.stmts);
                self.put("Ok(End::Value(");
                self.alone(&body.value);
                self.put(")) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }\n");
            }
            Form::Async => {
                self.put(format!(
                    "fn async_{number}(w: &Async, n: i64) -> Fiber<i64> {{ let w = w.clone(); \
                     Fiber::from_future(async move {{ let end: Result<End, Error> = async {{ {start}"
                ));
                self.stmts(&body.stmts);
                self.put("Ok(End::Value(");
                self.alone(&body.value);
                self.put(
                    ")) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } \
                     }).boxed() }\n",
                );
            }
            Form::Fiber => {
                self.put(format!(
                    "fn fiber_{number}(w: &Async, n: i64) -> Fiber<i64> {{ let w = w.clone(); fiber! {{ {start}"
                ));
                self.stmts(&body.stmts);
                self.alone(&body.value);
                self.put("} }\n");
            }
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.put("\n");
            self.stmt(stmt);
        }
    }

    fn block(&mut self, stmts: &[Stmt]) {
        self.put("{");
        self.stmts(stmts);
        self.put("}");
    }

    fn body(&mut self, body: &Body) {
        self.put("{");
        self.stmts(&body.stmts);
        self.alone(&body.value);
        self.put("}");
    }

    /// `w.<method>(argument)`, and the wait for it.
    fn wait(&mut self, method: &str, argument: &Expr) {
        if self.form == Form::Fiber {
            self.put("do! ");
        }
        self.call(method, argument);
        self.put(match self.form {
            Form::Plain => "?",
            Form::Async => ".await?",
            Form::Fiber => "",
        });
    }

    /// A wait that is all of a statement, an initializer or an arm: the temporaries of the argument are dropped before.
    fn wait_alone(&mut self, method: &str, argument: &Expr) {
        match self.form {
            Form::Plain => {
                self.put("{ let argument = ");
                self.expr(argument);
                self.put(format!("; w.{method}(argument) }}?"));
            }
            Form::Async => {
                self.put("{ let fiber = ");
                self.call(method, argument);
                self.put("; fiber }.await?");
            }
            Form::Fiber => self.wait(method, argument),
        }
    }

    fn alone(&mut self, expr: &Expr) {
        match expr {
            Expr::Wait(argument) => self.wait_alone("wait", argument),
            _ => self.expr(expr),
        }
    }

    fn call(&mut self, method: &str, argument: &Expr) {
        self.put(format!("w.{method}("));
        self.expr(argument);
        self.put(")");
    }

    /// `let pattern = w.<method>(argument)`, with the wait for it.
    fn let_wait(&mut self, pattern: &str, method: &str, argument: &Expr) {
        if self.form == Form::Fiber {
            self.put(format!("let! {pattern} = "));
            self.call(method, argument);
        } else {
            self.put(format!("let {pattern} = "));
            self.wait_alone(method, argument);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Number(number) => self.put(format!("{number}i64")),
            Expr::Variable(name) => self.put(name.to_string()),
            Expr::Binary(left, operator, right) => {
                let method = match operator {
                    '+' => "wrapping_add",
                    '-' => "wrapping_sub",
                    _ => "wrapping_mul",
                };
                self.put("(");
                self.expr(left);
                self.put(format!(").{method}("));
                self.expr(right);
                self.put(")");
            }
            Expr::Wait(value) => self.wait("wait", value),
            Expr::Check(value) => {
                self.call("check", value);
                self.put("?");
            }
            Expr::If(condition, then, otherwise) => {
                self.put("(if ");
                self.condition(condition);
                self.body(then);
                self.put(" else ");
                self.body(otherwise);
                self.put(")");
            }
            Expr::Match(value, arms) => {
                self.put("(match ");
                self.expr(value);
                self.put("{");
                for (pattern, body) in arms {
                    self.put(format!("{pattern} => "));
                    self.body(body);
                }
                self.put("})");
            }
            Expr::Loop(label, body) => {
                self.put(format!("('l{label}: loop {{ if w.is_tired() {{ break 'l{label} 0i64 }}"));
                self.stmts(&body.stmts);
                self.put(format!("break 'l{label} "));
                self.expr(&body.value);
                self.put("; })");
            }
            Expr::Block(body) => {
                self.put("(");
                self.body(body);
                self.put(")");
            }
            Expr::Temporary(number, value) => {
                self.put(format!("w.beside(&w.noisy({number}), "));
                self.expr(value);
                self.put(")");
            }
            Expr::Closure(captured, argument) => {
                self.put(format!(
                    "(|v: i64| {{ if v > 4 {{ return {captured} }} v.wrapping_mul({captured}) }})("
                ));
                self.expr(argument);
                self.put(")");
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Compared(left, operator, right) => {
                self.expr(left);
                self.put(format!(" {operator} "));
                self.expr(right);
            }
            Condition::Not(condition) => {
                self.put("!(");
                self.condition(condition);
                self.put(")");
            }
            Condition::Both(left, "&&", right) => {
                self.condition(left);
                self.put(" && ");
                self.condition(right);
            }
            Condition::Both(left, operator, right) => {
                self.put("(");
                self.condition(left);
                self.put(format!(" {operator} "));
                self.condition(right);
                self.put(")");
            }
        }
    }

    fn exit(&mut self, exit: &Exit) {
        match (exit, self.form) {
            (Exit::Return(value), Form::Fiber) => {
                self.put("return (");
                self.expr(value);
                self.put(")");
            }
            (Exit::Return(value), _) => {
                self.put("return Ok(End::Value(");
                self.expr(value);
                self.put("))");
            }
            (Exit::TailCall(value), Form::Fiber) => {
                self.put("return! ");
                self.call("wait", value);
            }
            // The variables are dropped before the call.
            (Exit::TailCall(value), _) => {
                self.put("return Ok(End::TailCall(");
                self.expr(value);
                self.put("))");
            }
            (Exit::Break(label, value), _) => {
                self.put(format!("break 'l{label} "));
                if let Some(value) = value {
                    self.expr(value);
                }
            }
            (Exit::Continue(label), _) => self.put(format!("continue 'l{label}")),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(name, value) => {
                self.put(format!("let mut {name} = "));
                self.alone(value);
                self.put(";");
            }
            Stmt::LetWait(name, value) => {
                self.let_wait(&format!("mut {name}"), "wait", value);
                self.put(";");
            }
            Stmt::LetPair(one, other, value) => {
                self.let_wait(&format!("(mut {one}, [mut {other}, ..])"), "wait_pair", value);
                self.put(";");
            }
            Stmt::LetElse(name, value, exit) => {
                self.let_wait(&format!("Some(mut {name})"), "wait_some", value);
                self.put(" else {");
                self.exit(exit);
                self.put("};");
            }
            Stmt::Assign(name, operator, value) => {
                let operation = match *operator {
                    "=" => "",
                    "+=" => "wrapping_add",
                    _ => "wrapping_sub",
                };
                if operation.is_empty() {
                    self.put(format!("{name} = "));
                    self.expr(value);
                    self.put(";");
                } else {
                    self.put(format!("{name} = {name}.{operation}("));
                    self.expr(value);
                    self.put(");");
                }
            }
            Stmt::Log(value) => {
                self.call("log", value);
                self.put(";");
            }
            Stmt::If(condition, then, otherwise) => {
                self.put("if ");
                self.condition(condition);
                self.block(then);
                self.put(" else ");
                self.block(otherwise);
            }
            Stmt::IfLet(name, value, and, then) => {
                self.put(format!("if let Some(mut {name}) = "));
                self.wait("wait_some", value);
                if let Some(condition) = and {
                    self.put(" && ");
                    self.condition(condition);
                }
                self.block(then);
            }
            Stmt::Held(held, name, value, then) => {
                let wait = match self.form {
                    Form::Plain => "held?",
                    Form::Async => "held.await?",
                    Form::Fiber => "do! held",
                };
                self.put("let argument = ");
                self.expr(value);
                self.put(match held {
                    Held::If => format!("; let held = w.wait_flag(argument); if {wait} "),
                    Held::IfLet => {
                        format!("; let held = w.wait_some(argument); if let Some(mut {name}) = {wait} ")
                    }
                    Held::Match => {
                        format!("; let held = w.wait(argument); match {wait} {{ 3 => {{}} mut {name} => ")
                    }
                });
                self.block(then);
                if let Held::Match = held {
                    self.put("}");
                }
            }
            Stmt::For(label, name, rounds, round) => {
                self.put(format!("'l{label}: for mut {name} in 0..{rounds}i64 {{ w.log({name});"));
                self.stmts(round);
                self.put("}");
            }
            Stmt::While(label, condition, round) => {
                self.put(format!("'l{label}: while !w.is_tired() && "));
                self.condition(condition);
                self.block(round);
            }
            Stmt::WhileLet(label, name, round) => {
                self.put(format!(
                    "let mut stack = vec![a, b]; 'l{label}: while let Some(mut {name}) = stack.pop() {{ if w.is_tired() {{ break }}"
                ));
                self.stmts(round);
                self.put("}");
            }
            Stmt::Scope(stmts) => self.block(stmts),
            Stmt::Borrow(name) => {
                self.put(format!("{{ let mut other = 1i64; let borrowed = if {name} > 3 {{ &mut {name} }} else {{ &mut other }};"));
                self.let_wait("got", "wait", &Expr::Number(4));
                self.put("; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }");
                self.stmt(&Stmt::Log(Expr::Variable(*name)));
            }
            Stmt::Guard(guard, GuardKind::Named) => self.put(format!("let _g{guard} = w.noisy({guard});")),
            Stmt::Guard(guard, GuardKind::Underscore) => self.put(format!("let _ = w.noisy({guard});")),
            Stmt::Guard(guard, GuardKind::Dropped(condition, before)) => {
                self.put(format!("let g{guard} = w.noisy({guard});"));
                self.block(before);
                self.put("if ");
                self.condition(condition);
                self.put(format!("{{ drop(g{guard}); }}"));
            }
            Stmt::Exit(condition, exit) => {
                self.put("if ");
                self.condition(condition);
                self.put("{");
                self.exit(exit);
                self.put("}");
            }
        }
    }
}
