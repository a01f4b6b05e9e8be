//! Where control can go from a point of the block, and the fiber that goes there.
//!
//! Statements after a bind live in closures, so Rust's own `return`, `break` and `continue` do not reach beyond
//! them. A [`Frame`] knows the fiber that stands for each of these ways out:
//!
//! ```text
//! frame   falls off its end          return value                     break / continue
//! Block   gives.value(())            gives.value(value)               an error
//! Join    success(variables)         the outer frame's fiber, handed on
//! Round   success(Continue(state))   the outer frame's fiber, handed  success(Break(after)) /
//!                                    on                               success(Continue(state))
//! ```
//!
//! *Handed on*: the value of a join is a `ControlFlow<Fiber, variables>` if something leaves it early, and so is what
//! a loop breaks with. `Break(fiber)` says: do not go on, this fiber is the rest. It keeps `return!` a tail call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::names::{JumpNames, Names, Variable};

/// A way out of a frame.
pub(crate) enum Exit {
    Return(TokenStream),
    Become(TokenStream),
    Break,
    Continue,
}

/// What the end of a piece of code leads to.
pub(crate) enum Frame<'a> {
    /// The end of the whole `fiber!` block.
    Block,
    /// The code after a branch.
    Join { outer: &'a Frame<'a>, variables: Vec<Variable>, early: bool },
    /// The next round of a loop, and the code after it.
    Round { outer: &'a Frame<'a>, state: Vec<Variable>, after: Vec<Variable>, early: bool },
}

impl Frame<'_> {
    /// The fiber of code that reaches its end.
    pub(crate) fn fall(&self, end: Span) -> TokenStream {
        match self {
            Frame::Block => {
                let gives = gives();
                let unit = quote_spanned!(at(end)=> ());
                quote_spanned!(at(end)=> #gives.value(#unit))
            }
            Frame::Join { variables, early, .. } => success(&going_on(tuple(variables, end), *early), end),
            Frame::Round { state, .. } => next_round(state, end),
        }
    }

    /// The fiber of code that leaves early.
    pub(crate) fn leave(&self, exit: Exit, span: Span) -> TokenStream {
        match (self, exit) {
            (Frame::Block, Exit::Return(value)) => {
                let gives = gives();
                quote_spanned!(at(span)=> #gives.value(#value))
            }
            (Frame::Block, Exit::Become(fiber)) => {
                let gives = gives();
                quote_spanned!(at(span)=> #gives.fiber(#fiber))
            }
            (Frame::Block, Exit::Break | Exit::Continue) => {
                let text = "`break` and `continue` belong inside `for!`, `while!` or `loop!`";
                quote_spanned!(span=> ::core::compile_error!(#text))
            }
            (Frame::Round { after, early, .. }, Exit::Break) => {
                success(&stop(&going_on(tuple(after, span), *early)), span)
            }
            (Frame::Round { state, .. }, Exit::Continue) => next_round(state, span),
            (Frame::Join { outer, .. }, exit) => success(&stop(&boxed(&outer.leave(exit, span), span)), span),
            (Frame::Round { outer, .. }, exit) => {
                success(&stop(&stop(&boxed(&outer.leave(exit, span), span))), span)
            }
        }
    }

    /// The variables that [`fall`](Frame::fall) uses.
    pub(crate) fn fall_names(&self) -> Names {
        match self {
            Frame::Block => Names::default(),
            Frame::Join { variables: used, .. } | Frame::Round { state: used, .. } => names(used),
        }
    }

    /// The variables that `break` and `continue` use.
    pub(crate) fn jump_names(&self) -> JumpNames {
        match self {
            Frame::Block => JumpNames::default(),
            Frame::Join { outer, .. } => outer.jump_names(),
            Frame::Round { state, after, .. } => {
                JumpNames { on_break: names(after), on_continue: names(state) }
            }
        }
    }
}

/// The name of the witness of the block's type, see `fiber_core::__macro_support`.
pub(crate) fn gives() -> Ident {
    Ident::new("gives", Span::mixed_site())
}

/// The place of the user's `span` with the hygiene of the macro: messages point there, lints do not.
pub(crate) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

pub(crate) fn boxed(fiber: &TokenStream, span: Span) -> TokenStream {
    quote_spanned!(at(span)=> ::fiber_core::Fiber::boxed(#fiber))
}

/// `(a, b,)`. A variable that cannot be handed on, because it was moved, is reported at `span`.
pub(crate) fn tuple(variables: &[Variable], span: Span) -> TokenStream {
    let idents = variables.iter().map(|Variable { ident, .. }| {
        let mut ident = ident.clone();
        ident.set_span(span.resolved_at(ident.span()));
        ident
    });
    quote!((#(#idents,)*))
}

/// `(a, mut b,)`
pub(crate) fn tuple_pattern(variables: &[Variable]) -> TokenStream {
    let bindings = variables.iter().map(|Variable { ident, mutable, .. }| {
        let mutability = mutable.then(|| quote!(mut));
        quote!(#mutability #ident)
    });
    quote!((#(#bindings,)*))
}

/// What a join or the end of a loop carries: wrapped only if something leaves early.
pub(crate) fn going_on(variables: TokenStream, early: bool) -> TokenStream {
    if early { quote!(::core::ops::ControlFlow::Continue(#variables)) } else { variables }
}

fn next_round(state: &[Variable], span: Span) -> TokenStream {
    success(&going_on(tuple(state, span), true), span)
}

fn stop(value: &TokenStream) -> TokenStream {
    quote!(::core::ops::ControlFlow::Break(#value))
}

fn success(value: &TokenStream, span: Span) -> TokenStream {
    quote_spanned!(at(span)=> ::fiber_core::Fiber::success(#value))
}

fn names(variables: &[Variable]) -> Names {
    variables.iter().map(|it| it.ident.clone()).collect()
}
