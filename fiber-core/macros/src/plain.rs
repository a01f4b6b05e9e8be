//! Early exits in plain Rust.
//!
//! Plain statements stay what they are, except that a `return`, `?`, `break` or `continue` in them means the fiber
//! block and not the closure that the macro puts them in. Each becomes a Rust `return` of the fiber that goes there.

use std::cell::Cell;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprAsync, ExprClosure, ExprConst, ExprTryBlock, Item};

use crate::frame::{Exit, Frame, at, boxed};

/// The code from one bind to the next: the body of one closure.
pub(crate) struct Segment<'a> {
    /// What a Rust `return` in this closure leaves.
    pub(crate) frame: &'a Frame<'a>,
    /// It holds such a `return`, so all its ways out have to agree in type.
    returns: Cell<bool>,
}

impl<'a> Segment<'a> {
    pub(crate) fn of(frame: &'a Frame<'a>) -> Self {
        Segment { frame, returns: Cell::new(false) }
    }

    pub(crate) fn returns(&self) -> bool {
        self.returns.get()
    }

    /// `return` of a boxed fiber.
    pub(crate) fn early(&self, boxed: &TokenStream) -> TokenStream {
        self.returns.set(true);
        quote!(return #boxed)
    }

    /// Leaves the frame from the middle of a statement.
    pub(crate) fn leave(&self, exit: Exit, span: proc_macro2::Span) -> TokenStream {
        self.early(&boxed(&self.frame.leave(exit, span), span))
    }

    pub(crate) fn stmt(&self, stmt: &syn::Stmt) -> TokenStream {
        let mut stmt = stmt.clone();
        Rewrite { segment: self, plain_loops: 0 }.visit_stmt_mut(&mut stmt);
        stmt.into_token_stream()
    }

    pub(crate) fn expr(&self, expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        Rewrite { segment: self, plain_loops: 0 }.visit_expr_mut(&mut expr);
        expr.into_token_stream()
    }
}

struct Rewrite<'a> {
    segment: &'a Segment<'a>,
    /// How many plain loops are around: `break` and `continue` in them are theirs.
    plain_loops: usize,
}

impl Rewrite<'_> {
    fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.plain_loops += 1;
        visit(self);
        self.plain_loops -= 1;
    }

    /// What the already visited `expr` becomes, if it is an early exit.
    fn early_exit(&self, expr: &Expr) -> Option<TokenStream> {
        let span = expr.span();
        match expr {
            Expr::Return(it) => Some(self.segment.leave(return_or_become(it.expr.as_deref()), span)),
            Expr::Try(it) => {
                let result = &it.expr;
                let error = quote_spanned!(at(it.expr.span())=> ::core::result::Result::Err(error));
                let fail = self.segment.leave(Exit::Become(error), it.question_token.span);
                Some(quote_spanned!(at(it.expr.span())=> (match #result {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(error) => #fail,
                })))
            }
            Expr::Break(it) if self.plain_loops == 0 && it.label.is_none() && it.expr.is_none() => {
                Some(self.segment.leave(Exit::Break, span))
            }
            Expr::Continue(it) if self.plain_loops == 0 && it.label.is_none() => {
                Some(self.segment.leave(Exit::Continue, span))
            }
            _ => None,
        }
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, node: &mut Expr) {
        visit_mut::visit_expr_mut(self, node);
        if let Some(tokens) = self.early_exit(node) {
            *node = Expr::Verbatim(tokens);
        }
    }

    fn visit_expr_for_loop_mut(&mut self, node: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut node.expr);
        self.in_loop(|it| it.visit_block_mut(&mut node.body));
    }

    fn visit_expr_while_mut(&mut self, node: &mut syn::ExprWhile) {
        self.in_loop(|it| visit_mut::visit_expr_while_mut(it, node));
    }

    fn visit_expr_loop_mut(&mut self, node: &mut syn::ExprLoop) {
        self.in_loop(|it| visit_mut::visit_expr_loop_mut(it, node));
    }

    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}
    fn visit_expr_try_block_mut(&mut self, _: &mut ExprTryBlock) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Rust reads `return! fiber` as the return of a negation: the first token tells.
fn return_or_become(value: Option<&Expr>) -> Exit {
    let Some(value) = value else { return Exit::Return(quote!(())) };
    match after_bang(value) {
        Some(fiber) => Exit::Become(fiber),
        None => Exit::Return(without_parentheses(value).into_token_stream()),
    }
}

/// `return (!x)` needs the parentheses, but Rust would say of the expansion that it does not.
pub(crate) fn without_parentheses(value: &Expr) -> &Expr {
    match value {
        Expr::Paren(it) if after_bang(&it.expr).is_some() => &it.expr,
        _ => value,
    }
}

fn after_bang(expr: &Expr) -> Option<TokenStream> {
    let mut tokens = expr.to_token_stream().into_iter();
    match tokens.next() {
        Some(TokenTree::Punct(bang)) if bang.as_char() == '!' => Some(tokens.collect()),
        _ => None,
    }
}
