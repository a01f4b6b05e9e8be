//! Reads the steps of a dataflow.
//!
//! | step | starts when |
//! |---|---|
//! | `let pattern = fiber;` | its inputs are there |
//! | `then let pattern = fiber;`, `then fiber;` | all steps above have ended |
//! | `after(a, b) let pattern = fiber;`, `after(a, b) fiber;` | its inputs are there, and the steps that produce `a` and `b` have ended |

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Item, Local, Pat, PatIdent, Stmt, Token, Type, parenthesized};

/// The contents of a `dataflow!`.
#[derive(Default)]
pub(super) struct Body {
    pub(super) items: Vec<Item>,
    pub(super) steps: Vec<Step>,
    /// The value of the dataflow.
    pub(super) value: Option<Expr>,
}

pub(super) struct Step {
    pub(super) attrs: Vec<Attribute>,
    pub(super) order: Order,
    /// `None`: a fiber without `let`.
    pub(super) pattern: Option<Pat>,
    pub(super) ty: Option<Type>,
    pub(super) expr: Expr,
}

/// The steps that have to end first, besides the inputs.
pub(super) enum Order {
    Nothing,
    /// `then`
    AllAbove(Span),
    /// `after(..)`
    Named(Vec<Ident>),
}

/// A variable that a pattern binds.
pub(super) struct Bound {
    pub(super) ident: Ident,
    pub(super) is_mutable: bool,
}

impl Step {
    /// The variables of the pattern. Removes each `mut` and `ref`.
    pub(super) fn bound(&mut self, errors: &mut Vec<syn::Error>) -> Vec<Bound> {
        let mut binds = Binds { found: Vec::new(), errors };
        if let Some(pattern) = &mut self.pattern {
            binds.visit_pat_mut(pattern);
        }
        binds.found
    }

    /// The span of errors about the step.
    pub(super) fn span(&self) -> Span {
        self.pattern.as_ref().map_or_else(|| self.expr.span(), Spanned::span)
    }
}

struct Binds<'a> {
    found: Vec<Bound>,
    errors: &'a mut Vec<syn::Error>,
}

impl VisitMut for Binds<'_> {
    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        visit_mut::visit_pat_ident_mut(self, pattern);
        if let Some(by_ref) = pattern.by_ref.take() {
            let message = "a variable owns its value, because steps may run at any time: drop the `ref`";
            self.errors.push(syn::Error::new(by_ref.span, message));
        }
        let is_mutable = pattern.mutability.take().is_some();
        // Otherwise it is a constant or a variant.
        if is_variable(&pattern.ident) {
            self.found.push(Bound { ident: pattern.ident.clone(), is_mutable });
        }
    }

    fn visit_expr_mut(&mut self, _: &mut Expr) {}
}

/// Whether the name is that of a variable, or of a function, rather than of a constant or a variant.
pub(super) fn is_variable(name: &Ident) -> bool {
    name.to_string().trim_start_matches("r#").starts_with(|first: char| first == '_' || first.is_lowercase())
}

/// Parses the whole input. If it does not parse, reports the errors and returns nothing.
pub(super) fn body(input: TokenStream, errors: &mut Vec<syn::Error>) -> Option<Body> {
    find_waits(input.clone(), errors);
    if !errors.is_empty() {
        return None;
    }
    let parse = |input: ParseStream<'_>| statements(input, errors);
    match parse.parse2(input) {
        Ok(body) => Some(body),
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

/// Reports the forms of `fiber!`, except in the input of other macros.
fn find_waits(input: TokenStream, errors: &mut Vec<syn::Error>) {
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) => {
                let is_form = ["let", "and", "do"].iter().any(|form| word == form);
                if is_form && is_bang(&tokens[index + 1..]) {
                    let message = format!(
                        "there is no `{word}!` in `dataflow!`, where each step is a fiber and waits by itself: write \
                         `let a = fiber;`, and steps that do not need each other run in parallel"
                    );
                    errors.push(syn::Error::new(word.span(), message));
                }
            }
            TokenTree::Group(group) => {
                let is_input = index > 0
                    && matches!(&tokens[index - 1], TokenTree::Punct(bang) if bang.as_char() == '!');
                if !is_input || group.delimiter() == Delimiter::None {
                    find_waits(group.stream(), errors);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// A `!` that is not the beginning of `!=`.
pub(super) fn is_bang(rest: &[TokenTree]) -> bool {
    let is = |token: Option<&TokenTree>, wanted| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
    is(rest.first(), '!') && !is(rest.get(1), '=')
}

fn statements(input: ParseStream<'_>, errors: &mut Vec<syn::Error>) -> syn::Result<Body> {
    let mut body = Body::default();
    while !input.is_empty() {
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
        } else if input.peek(Token![return]) {
            body.value = value(input)?;
        } else if let Ok(item) = input.fork().parse::<Item>()
            && !matches!(item, Item::Macro(_) | Item::Verbatim(_))
        {
            body.items.push(input.parse()?);
        } else if let Some(step) = statement(input, &mut body, errors)? {
            body.steps.push(step);
        }
    }
    Ok(body)
}

/// `return value;`, at the end.
fn value(input: ParseStream<'_>) -> syn::Result<Option<Expr>> {
    input.parse::<Token![return]>()?;
    if input.peek(Token![!]) {
        let message = "there is no `return!` in `dataflow!`: make the fiber a step, and `return` its value";
        return Err(input.error(message));
    }
    let value = if input.is_empty() || input.peek(Token![;]) { None } else { Some(input.parse()?) };
    while input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
    }
    if !input.is_empty() {
        return Err(input.error(
            "`return` gives the value of the dataflow, so nothing can follow it: move this step above",
        ));
    }
    Ok(value)
}

/// A step, or the value at the end.
fn statement(
    input: ParseStream<'_>,
    body: &mut Body,
    errors: &mut Vec<syn::Error>,
) -> syn::Result<Option<Step>> {
    let attrs = input.call(Attribute::parse_outer)?;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg")) {
        let message = "a step is part of the graph: put the `#[cfg]` on what makes its fiber";
        errors.push(syn::Error::new(attr.span(), message));
    }
    let order = order(input)?;
    if input.peek(Token![let]) {
        let Stmt::Local(local) = input.parse()? else { unreachable!("it begins with `let`") };
        return binding(local, attrs, order, errors);
    }
    let expr: Expr = input.parse()?;
    let has_end = input.parse::<Option<Token![;]>>()?.is_some();
    if !has_end && input.is_empty() && matches!(order, Order::Nothing) {
        body.value = Some(expr);
        return Ok(None);
    }
    if !has_end && !input.is_empty() {
        return Err(input.error("expected `;` at the end of the step"));
    }
    if matches!(order, Order::Nothing) {
        let message = "nothing reads a result of this step, so nothing says when it has to run: `then fiber;` runs it after all \
                       steps above, `after(a, b) fiber;` after those that give `a` and `b`, and `let _ = fiber;` as soon as its \
                       inputs are there";
        errors.push(syn::Error::new_spanned(&expr, message));
    }
    Ok(Some(Step { attrs, order, pattern: None, ty: None, expr }))
}

fn binding(
    local: Local,
    attrs: Vec<Attribute>,
    order: Order,
    errors: &mut Vec<syn::Error>,
) -> syn::Result<Option<Step>> {
    let Some(init) = local.init else {
        let message = "a step is a fiber: `let pattern = fiber;`";
        return Err(syn::Error::new(local.pat.span(), message));
    };
    if let Some((diverge, _)) = init.diverge {
        let message = "a step has no `else`: let its fiber fail, for example by `filter_or` or `try_map`";
        errors.push(syn::Error::new(diverge.span, message));
    }
    let (pattern, ty) = match local.pat {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        pattern => (pattern, None),
    };
    Ok(Some(Step { attrs, order, pattern: Some(pattern), ty, expr: *init.expr }))
}

mod word {
    syn::custom_keyword!(then);
    syn::custom_keyword!(after);
}

/// `then` or `after(..)`, at the beginning of a step.
fn order(input: ParseStream<'_>) -> syn::Result<Order> {
    if input.peek(word::then) {
        return Ok(Order::AllAbove(input.parse::<word::then>()?.span));
    }
    if !(input.peek(word::after) && input.peek2(syn::token::Paren)) {
        return Ok(Order::Nothing);
    }
    let ahead = input.fork();
    let names = names(&ahead);
    let is_call = ahead.is_empty() || ahead.peek(Token![;]) || ahead.peek(Token![.]) || ahead.peek(Token![?]);
    if is_call {
        return Ok(Order::Nothing);
    }
    names?;
    self::names(input).map(Order::Named)
}

fn names(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    input.parse::<word::after>()?;
    let inside;
    parenthesized!(inside in input);
    let names = Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?;
    if names.is_empty() {
        return Err(inside.error("`after(a, b)` names the results of the steps that have to end before"));
    }
    Ok(names.into_iter().collect())
}

/// Expressions, with a comma or a semicolon between them: the input of many macros.
pub(super) struct List(pub(super) Vec<(Expr, TokenStream)>);

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut list = Vec::new();
        while !input.is_empty() {
            let expr = input.parse()?;
            let separator = match input.parse::<Option<Token![;]>>()? {
                Some(semi) => quote::quote!(#semi),
                None if input.is_empty() => TokenStream::new(),
                None => {
                    let comma = input.parse::<Token![,]>()?;
                    quote::quote!(#comma)
                }
            };
            list.push((expr, separator));
        }
        Ok(List(list))
    }
}
