//! `for!`, `while!` and `loop!`.
//!
//! A round is a closure that runs many times, so the variables it moves are the state of the loop: a round takes
//! them, and hands them to the next round or to the code after the loop.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::{Body, Code, Shape, bind, state, touch, unpack};
use crate::facts::expr_leaves;
use crate::frame::{Frame, at, going_on, tuple};
use crate::names::{Variable, bound_by, captured_by_round, used_by_loop};
use crate::plain::Segment;
use crate::syntax::{Loop, LoopKind, Stmt};

impl Body<'_> {
    /// A loop and the code after it.
    pub(super) fn repeat(self, it: &Loop, rest: &[Stmt], segment: &Segment<'_>) -> Code {
        let live = self.live(rest);
        let (used, captured) = (used_by_loop(it), captured_by_round(it));
        let state = self.scope.select(|Variable { ident, .. }| {
            let wanted_back = captured.contains(ident) || live.contains(ident) || used.contains_whole(ident);
            used.contains(ident) && wanted_back
        });
        let after: Vec<Variable> = state.iter().filter(|it| live.contains(&it.ident)).cloned().collect();
        let in_header = matches!(&it.kind, LoopKind::While { condition } if expr_leaves(condition).block);
        let early = in_header || it.body.leaves().block;
        let touch = touch(&state);
        let frame = Frame::Round { outer: self.frame, state, after: after.clone(), early };
        let round = Round { body: Body { frame: &frame, scope: self.scope.clone(), end: it.body.end }, it };
        let rounds = match &it.kind {
            LoopKind::For { pat, items } => round.for_each(pat, &segment.expr(items)),
            LoopKind::While { condition } => round.while_true(condition),
            LoopKind::Forever => round.forever(),
        };
        let code = if it.ends() {
            self.never_ends(&rounds, early, rest, it.at)
        } else {
            self.resume(&rounds, &after, early, rest, it.at)
        };
        Code { setup: touch, ..code }
    }

    /// After a loop without `break` comes nothing, except what left it early.
    fn never_ends(self, rounds: &TokenStream, early: bool, rest: &[Stmt], span: Span) -> Code {
        let end = self.end;
        let rest =
            if rest.is_empty() { TokenStream::new() } else { self.closure(rest).boxed(end).in_braces() };
        let never = quote_spanned!(at(span)=> match never {});
        let closure = if early {
            quote_spanned! {at(span)=>
                move |flow: ::core::ops::ControlFlow<_, ::core::convert::Infallible>| -> ::fiber_core::Fiber<_> {
                    match flow {
                        ::core::ops::ControlFlow::Break(fiber) => fiber,
                        ::core::ops::ControlFlow::Continue(never) => { #never #rest }
                    }
                }
            }
        } else {
            quote_spanned!(at(span)=> move |never: ::core::convert::Infallible| -> ::fiber_core::Fiber<_> { #never #rest })
        };
        bind(rounds, &closure, span)
    }
}

/// What one round of a loop is made of.
struct Round<'a> {
    /// Its frame is the [`Frame::Round`] of the loop.
    body: Body<'a>,
    it: &'a Loop,
}

impl Round<'_> {
    fn variables(&self) -> (&[Variable], &[Variable], bool) {
        match self.body.frame {
            Frame::Round { state, after, early, .. } => (state, after, *early),
            Frame::Block | Frame::Join { .. } => (&[], &[], false),
        }
    }

    fn for_each(self, pat: &syn::Pat, items: &TokenStream) -> TokenStream {
        let (start, unpack, end) = (self.start(), self.unpack(), self.end());
        let scope = self.body.scope.with(bound_by(pat));
        let state = state();
        let body = Body { scope, ..self.body }.closure(&self.it.body.stmts);
        let body = body.of(&quote!(#pat, #state), &unpack, self.it.at);
        quote_spanned!(self.it.at=> ::fiber_core::__macro_support::for_each(#items, #start, #body, #end))
    }

    fn while_true(self, condition: &Expr) -> TokenStream {
        let (start, unpack, end, span) = (self.start(), self.unpack(), self.end(), self.it.at);
        let segment = Segment::of(self.body.frame);
        let asked = segment.expr(condition);
        let condition = quote_spanned!(condition.span()=> ::fiber_core::__macro_support::condition(#asked));
        let body = self.body.closure(&self.it.body.stmts).of(&state(), &unpack, self.it.at);
        let round = quote_spanned! {at(span)=>
            ::fiber_core::__macro_support::while_true(#condition, #start, #body, #end)
        };
        let code = Code { setup: TokenStream::new(), fiber: round, shape: Shape::Chain };
        let code = if segment.returns() { code.boxed(span) } else { code };
        iterate(&start, &code.of(&state(), &unpack, span), span)
    }

    fn forever(self) -> TokenStream {
        let (start, unpack) = (self.start(), self.unpack());
        let body = self.body.closure(&self.it.body.stmts).of(&state(), &unpack, self.it.at);
        iterate(&start, &body, self.it.at)
    }

    /// The state of the first round.
    fn start(&self) -> TokenStream {
        tuple(self.variables().0, self.it.at)
    }

    fn unpack(&self) -> TokenStream {
        unpack(self.variables().0)
    }

    /// The closure from the last state to what the code after the loop takes.
    fn end(&self) -> TokenStream {
        let (all, after, early) = self.variables();
        let taken = all.iter().map(|Variable { ident, .. }| {
            if after.iter().any(|it| it.ident == *ident) { quote!(#ident) } else { quote!(_) }
        });
        let result = going_on(tuple(after, self.it.at), early);
        quote_spanned!(at(self.it.at)=> move |(#(#taken,)*)| #result)
    }
}

fn iterate(start: &TokenStream, round: &TokenStream, span: Span) -> TokenStream {
    quote_spanned!(span=> ::fiber_core::__macro_support::iterate(#start, #round))
}
