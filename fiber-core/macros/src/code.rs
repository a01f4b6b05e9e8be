//! Finds the waits before which a block has run no code, except between other waits.
//!
//! A wait after code is a scheduling point, because the code may have read what other fibers write. The first wait of a
//! block is none if nothing has run before it, so a block has as many turns as the same program in binds.
//!
//! Code is what may reach state that fibers share: a call, a method, a macro, an `.await`. No code are names, literals,
//! operators, constructors, closures and `async` blocks (which are only made), and the call that makes the fiber of a
//! wait. Code inside the arguments of that call is code. Whatever is unknown counts as code: the point costs a turn
//! in a test, and a missing point hides a race.
//!
//! The places are visited in the order of the source. That is the order in which they run, except in a loop, where code
//! may come before a wait that the first round has skipped.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, BinOp, Block, Expr, ExprCall, ExprMethodCall, Local, Stmt, UnOp, parse_quote_spanned};

use crate::forms::{is_mark, is_tail};
use crate::marks::{AND, FIRST, LET};
use crate::race;
use crate::together::mark_of;

/// Methods of a fiber that give a fiber.
const COMBINATORS: [&str; 23] = [
    "and_then",
    "bind",
    "boxed",
    "catch",
    "disconnect",
    "ensure",
    "fork",
    "hedge",
    "into_fiber",
    "limit",
    "map",
    "named",
    "on_cancel",
    "on_failure",
    "on_outcome",
    "race",
    "repeat",
    "retry",
    "timeout",
    "timeout_option",
    "uncancelable",
    "within",
    "zip",
];

/// Those whose arguments are fibers.
const WITH_FIBERS: [&str; 6] = ["and_then", "ensure", "hedge", "on_cancel", "race", "zip"];

/// Functions of `Fiber` whose arguments are fibers.
const OF_FIBERS: [&str; 3] = ["first_success", "parallel", "race_all"];

/// Marks the waits of a block with [`FIRST`] that come before all code.
pub(crate) fn mark_first(stmts: &mut [Stmt]) {
    Code::default().stmts(stmts);
}

#[derive(Default)]
struct Code {
    /// Whether code may have run before this place.
    has_run: bool,
    /// Whether this is inside a loop that contains code.
    is_repeated: bool,
    /// Whether only the presence of code matters.
    is_search: bool,
}

fn first(span: Span) -> Attribute {
    let mark = syn::Ident::new(FIRST, span);
    parse_quote_spanned!(span=> #[#mark])
}

impl Code {
    fn stmts(&mut self, stmts: &mut [Stmt]) {
        let is_and = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if mark_of(local, AND).is_some());
        let mut rest = stmts;
        while let Some((stmt, others)) = rest.split_first_mut() {
            let beside = others.iter().take_while(|stmt| is_and(stmt)).count();
            match stmt {
                Stmt::Local(local) if mark_of(local, LET).is_some() => {
                    let (others, after) = others.split_at_mut(beside);
                    self.let_bang(local, others);
                    rest = after;
                }
                stmt => {
                    self.visit_stmt_mut(stmt);
                    rest = others;
                }
            }
        }
    }

    /// A `let!`, and each `and!` after it.
    fn let_bang(&mut self, local: &mut Local, others: &mut [Stmt]) {
        local.init.iter_mut().for_each(|init| self.maker(&mut init.expr));
        for other in &mut *others {
            if let Stmt::Local(Local { init: Some(init), .. }) = other {
                self.maker(&mut init.expr);
            }
        }
        if !self.has_run {
            local.attrs.push(first(local.let_token.span));
        }
        self.otherwise(local);
        for other in others {
            if let Stmt::Local(other) = other {
                self.otherwise(other);
            }
        }
    }

    /// The `else` of a `let`.
    fn otherwise(&mut self, local: &mut Local) {
        if let Some((_, diverge)) = local.init.as_mut().and_then(|init| init.diverge.as_mut()) {
            self.branch();
            self.visit_expr_mut(diverge);
        }
    }

    /// The expression of a wait's fiber. The calls that make the fiber are no code.
    fn maker(&mut self, fiber: &mut Expr) {
        match fiber {
            Expr::Paren(inner) => self.maker(&mut inner.expr),
            Expr::Group(inner) => self.maker(&mut inner.expr),
            Expr::Array(fibers) => fibers.elems.iter_mut().for_each(|fiber| self.maker(fiber)),
            Expr::Call(call) => {
                let is_of_fibers = is_of_fibers(&call.func);
                self.visit_expr_mut(&mut call.func);
                for argument in &mut call.args {
                    if is_of_fibers { self.maker(argument) } else { self.visit_expr_mut(argument) }
                }
            }
            Expr::MethodCall(call) if COMBINATORS.iter().any(|name| call.method == name) => {
                self.maker(&mut call.receiver);
                let has_fibers = WITH_FIBERS.iter().any(|name| call.method == name);
                for argument in &mut call.args {
                    if has_fibers { self.maker(argument) } else { self.visit_expr_mut(argument) }
                }
            }
            Expr::MethodCall(call) => visit_mut::visit_expr_method_call_mut(self, call),
            other => self.visit_expr_mut(other),
        }
    }

    /// Code that may be skipped. In a loop, other code may have run by the time when it is not.
    fn branch(&mut self) {
        self.has_run |= self.is_repeated;
    }

    /// The body of a loop, which may run again.
    fn repeat(&mut self, has_code: bool, body: impl FnOnce(&mut Self)) {
        let before = self.is_repeated;
        self.is_repeated |= has_code;
        body(self);
        self.is_repeated = before;
    }
}

/// Whether the block contains code.
fn contains_code(block: &Block) -> bool {
    let mut search = Code { is_search: true, ..Code::default() };
    search.visit_block_mut(&mut block.clone());
    search.has_run
}

/// The last two names of a path: of a type or module, and of a function in it.
fn names(func: &Expr) -> (Option<String>, Option<String>) {
    let Expr::Path(path) = func else { return (None, None) };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let last = names.next();
    (names.next(), last)
}

fn is_of_fibers(func: &Expr) -> bool {
    let (Some(of), Some(name)) = names(func) else { return false };
    of == "Fiber" && OF_FIBERS.contains(&name.as_str()) || of == race::SUPPORT
}

/// Whether the call reaches no state: a constructor like `Some(x)`, or one like `Duration::from_secs(1)` of literals. Another function
/// may read what other fibers write, whatever its arguments are: `store::get("key")`.
fn is_constant(call: &ExprCall) -> bool {
    let (of, Some(name)) = names(&call.func) else { return false };
    let is_literal = |argument: &Expr| matches!(argument, Expr::Lit(_));
    name.starts_with(char::is_uppercase)
        || of.is_some_and(|of| makes(&of, &name)) && !call.args.is_empty() && call.args.iter().all(is_literal)
}

/// Whether the function of this name only makes a value of the type.
fn makes(of: &str, name: &str) -> bool {
    let is_maker =
        ["new", "msg", "bounded"].contains(&name) || name.starts_with("from") || name.starts_with("with_");
    of == "Fiber" || of.starts_with(char::is_uppercase) && is_maker
}

fn is_clone(call: &ExprMethodCall) -> bool {
    call.method == "clone" && call.args.is_empty()
}

/// Whether a `for` over it calls only iterators of the standard library.
fn is_plain_iteration(over: &Expr) -> bool {
    match over {
        Expr::Paren(inner) => is_plain_iteration(&inner.expr),
        Expr::Range(_) | Expr::Reference(_) | Expr::Array(_) => true,
        _ => false,
    }
}

impl VisitMut for Code {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.stmts(&mut block.stmts);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Local(local) => {
                local.init.iter_mut().for_each(|init| self.visit_expr_mut(&mut init.expr));
                self.otherwise(local);
            }
            Stmt::Expr(expr, _) => self.visit_expr_mut(expr),
            Stmt::Macro(_) => self.has_run = true,
            Stmt::Item(_) => {}
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.branch();
        visit_mut::visit_arm_mut(self, arm);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Unary(form) if matches!(form.op, UnOp::Not(_)) && form.attrs.iter().any(is_mark) => {
                self.maker(&mut form.expr);
                if !self.has_run {
                    form.attrs.push(first(Span::call_site()));
                }
            }
            Expr::Break(form) if is_tail(form) => {
                form.expr.iter_mut().for_each(|fiber| self.maker(fiber));
                if !self.has_run {
                    form.attrs.push(first(form.break_token.span));
                }
            }
            // Functions of their own, which are only made here.
            Expr::Closure(_) | Expr::Async(_) => {}
            Expr::If(choice) => {
                self.visit_expr_mut(&mut choice.cond);
                self.branch();
                self.visit_block_mut(&mut choice.then_branch);
                choice.else_branch.iter_mut().for_each(|(_, branch)| self.visit_expr_mut(branch));
            }
            Expr::Binary(both) if matches!(both.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.visit_expr_mut(&mut both.left);
                self.branch();
                self.visit_expr_mut(&mut both.right);
            }
            Expr::Loop(form) => {
                let has_code = !self.is_search && contains_code(&form.body);
                self.repeat(has_code, |this| this.visit_block_mut(&mut form.body));
            }
            Expr::While(form) => {
                let mut condition = Code { is_search: true, ..Code::default() };
                condition.visit_expr_mut(&mut form.cond.clone());
                let has_code = !self.is_search && (condition.has_run || contains_code(&form.body));
                self.repeat(has_code, |this| this.visit_expr_mut(&mut form.cond));
                self.branch();
                self.repeat(has_code, |this| this.visit_block_mut(&mut form.body));
            }
            Expr::ForLoop(form) => {
                self.visit_expr_mut(&mut form.expr);
                self.has_run |= !is_plain_iteration(&form.expr);
                self.branch();
                let has_code = !self.is_search && contains_code(&form.body);
                self.repeat(has_code, |this| this.visit_block_mut(&mut form.body));
            }
            Expr::Call(call) => {
                visit_mut::visit_expr_call_mut(self, call);
                self.has_run |= !is_constant(call);
            }
            Expr::MethodCall(call) => {
                visit_mut::visit_expr_method_call_mut(self, call);
                self.has_run |= !is_clone(call);
            }
            Expr::Macro(_) | Expr::Verbatim(_) => self.has_run = true,
            Expr::Await(form) => {
                self.visit_expr_mut(&mut form.base);
                self.has_run = true;
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
}
