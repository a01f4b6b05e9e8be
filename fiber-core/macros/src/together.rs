//! Expands `let!`, and the `and!` after it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Local, LocalInit, Pat, PatType, Stmt, Token, Type};

use crate::forms::{self, Comes, Forms};
use crate::marks::{AND, FIRST, LET};

/// The span of the mark, if the statement has it.
pub(crate) fn mark_of(local: &Local, mark: &str) -> Option<Span> {
    local.attrs.iter().find(|attr| attr.path().is_ident(mark)).map(|attr| attr.pound_token.span)
}

fn unmark(local: &mut Local) {
    local.attrs.retain(|attr| ![LET, AND, FIRST].iter().any(|mark| attr.path().is_ident(mark)));
}

/// Expands each `let!` of `stmts`.
pub(crate) fn expand(stmts: &mut Vec<Stmt>, forms: &mut Forms) {
    let mut old = std::mem::take(stmts).into_iter().peekable();
    let is_and = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if mark_of(local, AND).is_some());
    while let Some(stmt) = old.next() {
        let Stmt::Local(mut local) = stmt else {
            stmts.push(stmt);
            continue;
        };
        if let Some(span) = mark_of(&local, LET) {
            let comes = Comes::of(&local.attrs);
            unmark(&mut local);
            let others = std::iter::from_fn(|| old.next_if(is_and));
            let others = others.filter_map(|stmt| match stmt {
                Stmt::Local(local) => Some(local),
                _ => None,
            });
            wait_for_all(&mut local, others.collect(), comes, span, forms);
        }
        unmark(&mut local);
        stmts.push(Stmt::Local(local));
    }
}

/// Makes `first` wait for its own fiber and the fibers of the others.
fn wait_for_all(first: &mut Local, others: Vec<Local>, comes: Comes, span: Span, forms: &mut Forms) {
    let Some(init) = &mut first.init else {
        return forms.error(span, "`let!` waits for a fiber: `let! pattern = fiber;`");
    };
    if others.is_empty() {
        let fiber = forms::wait(&init.expr.to_token_stream(), init.expr.span(), comes, span);
        *init.expr = syn::Expr::Verbatim(fiber);
        return;
    }
    let mut binding = Binding::new(&first.pat, init);
    for other in others {
        match other.init {
            Some(mut other_init) => {
                binding.zip(Binding::new(&other.pat, &other_init), span);
                match (&init.diverge, other_init.diverge.take()) {
                    (Some(_), Some((second, _))) => forms.error(
                        second.span,
                        "one `else` leaves for all patterns of a `let!` with `and!`: put it behind the last fiber",
                    ),
                    (None, only) => init.diverge = only,
                    (Some(_), None) => {}
                }
            }
            None => forms.error(span, "`and!` waits for a fiber: `and! pattern = fiber`"),
        }
    }
    *init.expr = syn::Expr::Verbatim(forms::wait(&binding.fiber, span, comes, span));
    first.pat = binding.into_pattern();
}

/// A pattern with its type, and the fiber whose value it takes.
struct Binding {
    pattern: TokenStream,
    ty: Option<TokenStream>,
    fiber: TokenStream,
}

impl Binding {
    fn new(pattern: &Pat, init: &LocalInit) -> Self {
        let fiber = forms::into_fiber(&init.expr);
        match pattern {
            Pat::Type(typed) => {
                Binding { pattern: typed.pat.to_token_stream(), ty: Some(typed.ty.to_token_stream()), fiber }
            }
            pattern => Binding { pattern: pattern.to_token_stream(), ty: None, fiber },
        }
    }

    /// Combines this binding with another one, whose fibers run in parallel.
    fn zip(&mut self, other: Binding, span: Span) {
        let site = span.resolved_at(Span::mixed_site());
        let (pattern, other_pattern) = (&self.pattern, other.pattern);
        let (fiber, other_fiber) = (&self.fiber, other.fiber);
        if self.ty.is_some() || other.ty.is_some() {
            let or_any = |ty: Option<TokenStream>| ty.unwrap_or_else(|| quote!(_));
            let (ty, other_ty) = (or_any(self.ty.take()), or_any(other.ty));
            self.ty = Some(quote_spanned!(site=> (#ty, #other_ty)));
        }
        self.pattern = quote_spanned!(site=> (#pattern, #other_pattern));
        // With the user's span, so that a trace names the line in the block.
        self.fiber = quote_spanned!(span=> #fiber.zip(#other_fiber));
    }

    fn into_pattern(self) -> Pat {
        let pattern = Pat::Verbatim(self.pattern);
        let Some(ty) = self.ty else { return pattern };
        Pat::Type(PatType {
            attrs: Vec::new(),
            pat: Box::new(pattern),
            colon_token: Token![:](Span::mixed_site()),
            ty: Box::new(Type::Verbatim(ty)),
        })
    }
}
