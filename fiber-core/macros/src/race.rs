//! `race!`: a race of several fibers, and a `match` on the winner.
//!
//! Behind a `do!` or a `let!`, it belongs to the block around it:
//!
//! ```text
//!  do! race! { a = f => x, b = g => y, c = h => z }
//!
//!  {
//!      let won = do! race_arms(arm(f, arm(g, last_arm(h))));
//!      match won {
//!          Left(value) => { let a = { value }; x }
//!          Right(Left(value)) => { let b = { value }; y }
//!          Right(Right(value)) => { let c = { value }; z }
//!      }
//!  }
//! ```
//!
//! So a handler is code of the block, which runs when the race is over. Elsewhere, `race!` is a block of its own. With a condition, `f` is
//! `switched(if condition { Some(f) } else { None })`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::token::Brace;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprUnary, Ident, Local, Macro, Pat, Stmt, Token, Type, UnOp};

use crate::forms::is_mark;
use crate::marks::{self, AND, DO, LET};
use crate::together::mark_of;

/// The module with the functions that the macros call. Here, those with fibers as their arguments.
pub(crate) const SUPPORT: &str = "__macro_support";

const FORM: &str =
    "an arm of `race!` is `pattern = fiber => handler`, or `pattern = fiber, if condition => handler`";

const BRACE: &str = "expected `=>` and the handler of the arm; a struct literal in its condition needs parentheses, as behind `if`";

/// The block that `race!` is as a fiber of its own.
pub(crate) fn block(input: TokenStream) -> TokenStream {
    quote_spanned!(Span::call_site()=> do! race! { #input })
}

/// Replaces each `race!` that a form of the block waits for.
pub(crate) fn lower(stmts: &mut [Stmt], errors: &mut Vec<syn::Error>) {
    Lowering { errors }.stmts(stmts);
}

/// As [`lower`], in an expression in the input of another macro.
pub(crate) fn lower_expr(expr: &mut Expr, errors: &mut Vec<syn::Error>) {
    Lowering { errors }.visit_expr_mut(expr);
}

struct Lowering<'a> {
    errors: &'a mut Vec<syn::Error>,
}

impl Lowering<'_> {
    fn stmts(&mut self, stmts: &mut [Stmt]) {
        let is_and =
            |stmt: Option<&Stmt>| matches!(stmt, Some(Stmt::Local(local)) if mark_of(local, AND).is_some());
        for index in 0..stmts.len() {
            let is_alone = !is_and(stmts.get(index + 1));
            if let Stmt::Local(local) = &mut stmts[index]
                && is_alone
            {
                let_race(local);
            }
            self.visit_stmt_mut(&mut stmts[index]);
        }
    }

    /// The block that replaces `do! race! { .. }`.
    fn race(&mut self, call: &Macro, mark: Attribute) -> Expr {
        let name = call.path.span();
        let arms = marks::mark(call.tokens.clone(), self.errors);
        let arms = match arms_of(name).parse2(arms) {
            Ok(arms) => arms,
            Err(error) => {
                self.errors.push(error);
                return Expr::Verbatim(quote_spanned!(name=> ::std::unreachable!()));
            }
        };
        let span = name.resolved_at(Span::mixed_site());
        let won = Ident::new("won", span);
        let waits = Expr::Unary(ExprUnary {
            attrs: vec![mark],
            op: UnOp::Not(Token![!](span)),
            expr: Box::new(race_of(&arms, name)),
        });
        let count = arms.len();
        let arms = arms.iter().enumerate().map(|(index, arm)| arm.handled(index, index + 1 == count, span));
        syn::parse_quote_spanned! {span=> {
            let #won = #waits;
            match #won { #(#arms)* }
        }}
    }
}

/// Makes `let! pattern = race! { .. };` a plain `let` with a `do!`.
fn let_race(local: &mut Local) {
    let Some(span) = mark_of(local, LET) else { return };
    let Some(init) = &mut local.init else { return };
    if race_in(&init.expr).is_some() {
        let do_mark = Ident::new(DO, span);
        let mark: Attribute = syn::parse_quote_spanned!(span=> #[#do_mark]);
        let expr = init.expr.clone();
        *init.expr = Expr::Unary(ExprUnary { attrs: vec![mark], op: UnOp::Not(Token![!](span)), expr });
        local.attrs.retain(|attr| !attr.path().is_ident(LET));
    }
}

/// The call of `race!` that an expression is.
fn race_in(expr: &Expr) -> Option<&Macro> {
    match expr {
        Expr::Paren(inner) => race_in(&inner.expr),
        Expr::Macro(call) => {
            let path = &call.mac.path;
            let mut names = path.segments.iter().map(|segment| segment.ident.to_string()).rev();
            let is_race = names.next().is_some_and(|name| name == "race");
            let is_ours = names.next().is_none_or(|of| of == "fiber_core") && names.next().is_none();
            (is_race && is_ours).then_some(&call.mac)
        }
        _ => None,
    }
}

impl VisitMut for Lowering<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.stmts(&mut block.stmts);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Unary(form) = expr
            && let Some(at) = form.attrs.iter().position(is_mark)
            && let Some(call) = race_in(&form.expr).cloned()
        {
            let mark = form.attrs.remove(at);
            *expr = self.race(&call, mark);
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

/// `pattern = fiber, if condition => handler`
struct Arm {
    pattern: Pat,
    ty: Option<Type>,
    fiber: Expr,
    condition: Option<Expr>,
    handler: Expr,
}

impl Arm {
    fn parse(input: ParseStream<'_>) -> syn::Result<Arm> {
        if input.peek(Token![else]) {
            return Err(input.error("`race!` has no `else`: its arms are fibers, one of which ends first"));
        }
        if input.fork().call(Ident::parse_any).is_ok_and(|word| word == "biased") && input.peek2(Token![;]) {
            return Err(input.error("the arms of `race!` begin in their order: drop `biased`"));
        }
        let pattern = parenthesized(Pat::parse_multi_with_leading_vert(input)?);
        let ty = if input.parse::<Option<Token![:]>>()?.is_some() { Some(input.parse()?) } else { None };
        if input.peek(Token![=>]) {
            return Err(input.error(FORM));
        }
        expect::<Token![=]>(input)?;
        let fiber = input.parse()?;
        let condition = if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            let condition = Expr::parse_without_eager_brace(input)?;
            if input.peek(Brace) {
                return Err(input.error(BRACE));
            }
            Some(condition)
        } else {
            None
        };
        expect::<Token![=>]>(input)?;
        let handler = Expr::parse_with_earlier_boundary_rule(input)?;
        if input.parse::<Option<Token![,]>>()?.is_none() && !input.is_empty() && !is_block(&handler) {
            return Err(input.error("expected `,` before the next arm of `race!`"));
        }
        Ok(Arm { pattern, ty, fiber, condition, handler })
    }

    /// The fiber. That of an arm that is switched off is not even made. The calls have the span of the user's expression, so that a type
    /// error points there.
    fn fiber(&self) -> TokenStream {
        let Arm { fiber, condition, .. } = self;
        match condition {
            None => fiber.to_token_stream(),
            Some(condition) => {
                let made = quote_spanned!(fiber.span()=> ::fiber_core::__macro_support::into_fiber(#fiber));
                // An `if` of the macro: a lint for those of the user would say of `x.unwrap(), if x.is_some()` that it should be an `if let`.
                let hygienic = fiber.span().resolved_at(Span::mixed_site());
                let made = quote_spanned! {hygienic=>
                    if #condition { ::std::option::Option::Some(#made) } else { ::std::option::Option::None }
                };
                quote_spanned!(fiber.span()=> ::fiber_core::__macro_support::switched(#made))
            }
        }
    }

    /// The arm of the `match` on the winner. The pattern is that of a `let`, so the compiler says that it may not be refutable.
    /// The braces move the value: as behind `let!`, what the pattern leaves out is dropped before the handler, and the rest may be borrowed mutably.
    /// The compiler would find braces around a short handler unnecessary there.
    fn handled(&self, index: usize, is_last: bool, span: Span) -> TokenStream {
        let value = Ident::new("value", span);
        let mut won = value.to_token_stream();
        if !is_last {
            won = quote_spanned!(span=> ::fiber_core::Either::Left(#won));
        }
        for _ in 0..index {
            won = quote_spanned!(span=> ::fiber_core::Either::Right(#won));
        }
        let (pattern, handler) = (&self.pattern, &self.handler);
        let ty = self.ty.iter();
        quote_spanned!(span=> #[allow(unused_braces)] #won => { let #pattern #(: #ty)* = { #value }; #handler })
    }
}

/// A `let` takes alternatives in parentheses only.
fn parenthesized(pattern: Pat) -> Pat {
    if matches!(pattern, Pat::Or(_)) {
        Pat::Verbatim(quote_spanned!(pattern.span()=> (#pattern)))
    } else {
        pattern
    }
}

/// Whether a handler needs no comma behind it, as the arm of a `match`.
fn is_block(handler: &Expr) -> bool {
    match handler {
        // A `$handler:block` of a `macro_rules!`.
        Expr::Group(group) => is_block(&group.expr),
        Expr::Block(_) | Expr::Const(_) | Expr::Unsafe(_) | Expr::If(_) | Expr::Match(_) => true,
        Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => true,
        _ => false,
    }
}

fn expect<T: syn::parse::Parse>(input: ParseStream<'_>) -> syn::Result<()> {
    let here = input.span();
    input.parse::<T>().map(drop).map_err(|_| syn::Error::new(here, FORM))
}

fn arms_of(name: Span) -> impl Parser<Output = Vec<Arm>> {
    move |input: ParseStream<'_>| {
        let mut arms = Vec::new();
        while !input.is_empty() {
            arms.push(Arm::parse(input)?);
        }
        if arms.len() < 2 {
            return Err(syn::Error::new(name, format!("`race!` needs two arms or more; {FORM}")));
        }
        Ok(arms)
    }
}

/// The race of all arms. Two may be one wait of one fiber. The calls have the spans of the user's expressions, so that a type
/// error points there.
fn race_of(arms: &[Arm], name: Span) -> Expr {
    let into_fiber = |arm: &Arm| {
        let fiber = arm.fiber();
        quote_spanned!(arm.fiber.span()=> ::fiber_core::__macro_support::into_fiber(#fiber))
    };
    if let [left, right] = arms {
        let (left, right) = (into_fiber(left), into_fiber(right));
        return syn::parse_quote_spanned!(name=> #left.race(#right));
    }
    let mut all = None;
    for arm in arms.iter().rev() {
        let (fiber, span) = (arm.fiber(), arm.fiber.span());
        all = Some(match all {
            None => quote_spanned!(span=> ::fiber_core::__macro_support::last_arm(#fiber)),
            Some(rest) => quote_spanned!(span=> ::fiber_core::__macro_support::arm(#fiber, #rest)),
        });
    }
    syn::parse_quote_spanned!(name=> ::fiber_core::__macro_support::race_arms(#all))
}
