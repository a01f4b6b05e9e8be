//! Expands a whole block: its statements and its value.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Block, Expr, Stmt, Token};

use crate::code;
use crate::forms::{Forms, Returns};
use crate::marks;
use crate::race;

/// `fiber!`
pub(crate) fn fiber_block(input: TokenStream) -> TokenStream {
    expand(input, Returns::Give)
}

/// `race!` as a fiber of its own.
pub(crate) fn race_block(input: TokenStream) -> TokenStream {
    expand(race::block(input), Returns::Refused)
}

fn expand(input: TokenStream, returns: Returns) -> TokenStream {
    let mut errors = Vec::new();
    let marked = marks::mark(input, &mut errors);
    let parse = |input: ParseStream<'_>| statements(input, &mut errors);
    let mut stmts = parse.parse2(marked).unwrap_or_default();
    race::lower(&mut stmts, &mut errors);
    code::mark_first(&mut stmts);
    let mut forms = Forms::new(errors, returns);
    forms.expand(&mut stmts);
    let errors = forms.into_errors();
    let body = if errors.is_empty() { with_end(stmts) } else { without_end(stmts) };
    let errors = errors.iter().map(syn::Error::to_compile_error);
    quote_spanned! {Span::mixed_site()=> {
        #(#errors)*
        let gives = ::fiber_core::__macro_support::Gives::new();
        ::fiber_core::__macro_support::block(gives, async move { #body })
    }}
}

/// Parses statements. After one that does not parse, it continues with the next, so that an editor sees the others.
fn statements(input: ParseStream<'_>, errors: &mut Vec<syn::Error>) -> syn::Result<Vec<Stmt>> {
    let mut stmts = Vec::new();
    while !input.is_empty() {
        match Block::parse_within(&input.fork()) {
            Ok(rest) => {
                stmts.extend(rest);
                input.parse::<TokenStream>()?;
            }
            // One by one, up to the one that does not parse.
            Err(_) if input.fork().parse::<Stmt>().is_ok() => stmts.push(input.parse()?),
            Err(error) => {
                // Later errors are likely to result from the first.
                if errors.is_empty() {
                    errors.push(error);
                }
                skip_statement(input)?;
            }
        }
    }
    Ok(stmts)
}

fn skip_statement(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![;]) {
        input.parse::<TokenTree>()?;
    }
    input.parse::<Option<Token![;]>>()?;
    Ok(())
}

/// The statements, the last of which gives the value of the block.
///
/// A last expression that may leave in every branch becomes a `return`: otherwise the compiler would warn that the code
/// after it is unreachable.
///
/// Of several last expressions, each with a `#[cfg]`, the compiler keeps one, or none.
fn with_end(mut stmts: Vec<Stmt>) -> TokenStream {
    let span = Span::mixed_site();
    let value = quote_spanned!(span=> gives.value);
    let chosen = stmts.iter().rev().take_while(|stmt| is_chosen_by_cfg(stmt)).count();
    let chosen = stmts.split_off(stmts.len() - chosen);
    if !chosen.is_empty() {
        return quote_spanned! {span=>
            #(#stmts)*
            #[allow(unreachable_code, clippy::diverging_sub_expression, clippy::needless_return)]
            return #value({ #(#chosen)* });
        };
    }
    let end = match stmts.pop() {
        Some(Stmt::Expr(leave @ Expr::Return(_), _)) => quote!(#leave),
        Some(Stmt::Expr(tail, None)) if may_diverge(&tail) => quote_spanned! {span=>
            #[allow(unreachable_code, clippy::diverging_sub_expression, clippy::needless_return)]
            return #value(#tail);
        },
        Some(Stmt::Expr(tail @ (Expr::ForLoop(_) | Expr::While(_)), None)) => {
            quote_spanned!(span=> #tail #value(()))
        }
        Some(Stmt::Expr(tail, None)) => quote_spanned!(span=> #value(#tail)),
        Some(Stmt::Macro(tail)) if tail.semi_token.is_none() => quote_spanned! {span=>
            #[allow(unreachable_code, clippy::diverging_sub_expression, clippy::needless_return)]
            return #value(#tail);
        },
        // A statement that diverges may have any type, like `panic!();` at the end of a function.
        Some(last @ (Stmt::Expr(..) | Stmt::Macro(_))) => quote_spanned! {span=>
            #[allow(unreachable_code, clippy::diverging_sub_expression, clippy::needless_return)]
            return #value({ #last });
        },
        last => quote_spanned! {span=>
            #last
            #[allow(unreachable_code, clippy::needless_return)]
            return #value(());
        },
    };
    quote!(#(#stmts)* #end)
}

/// Expands the statements that parse even beside an error, so that the compiler checks them and an editor completes
/// them.
fn without_end(mut stmts: Vec<Stmt>) -> TokenStream {
    match stmts.last_mut() {
        Some(Stmt::Expr(_, end @ None)) => *end = Some(Token![;](Span::mixed_site())),
        Some(Stmt::Macro(last)) => last.semi_token = Some(Token![;](Span::mixed_site())),
        _ => {}
    }
    quote_spanned! {Span::mixed_site()=>
        #(#stmts)*
        #[allow(unreachable_code)]
        loop {}
    }
}

/// Whether this is an expression without a semicolon that the compiler may remove.
fn is_chosen_by_cfg(stmt: &Stmt) -> bool {
    let attrs = match stmt {
        Stmt::Expr(expr, None) => attributes(expr),
        Stmt::Macro(call) if call.semi_token.is_none() => &call.attrs,
        _ => return false,
    };
    attrs.iter().any(|attr| attr.path().is_ident("cfg"))
}

/// The attributes of an expression that may stand before others without a semicolon, or at the end.
fn attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Block(expr) => &expr.attrs,
        Expr::If(expr) => &expr.attrs,
        Expr::Match(expr) => &expr.attrs,
        Expr::Loop(expr) => &expr.attrs,
        Expr::While(expr) => &expr.attrs,
        Expr::ForLoop(expr) => &expr.attrs,
        Expr::Unsafe(expr) => &expr.attrs,
        _ => &[],
    }
}

fn may_diverge(tail: &Expr) -> bool {
    matches!(
        tail,
        Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Loop(_) | Expr::Macro(_) | Expr::Unsafe(_)
    )
}
