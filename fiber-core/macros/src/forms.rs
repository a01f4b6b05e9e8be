//! Expands the marked forms: waits become the `.await` of a wait, and `return` gives the value of the block.
//!
//! A wait is awaited at once where it stands. Only macros of the standard library, named by absolute paths, ever get
//! one in their input. This is the contract of the unsafe function `__macro_support::wait`.

use std::mem;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, Block, Expr, ExprBreak, ExprLet, ExprRange, ExprReturn, ExprUnary, Local, LocalInit,
    Macro, Stmt, Token,
};

use crate::marks::{self, DO, FIRST, LET, TAIL};
use crate::race;
use crate::together;

pub(crate) struct Forms {
    errors: Vec<syn::Error>,
    /// The closure, function or inner block that contains the visited code, if that is not the block itself.
    elsewhere: Option<&'static str>,
    /// How many forms were expanded.
    expanded: usize,
    returns: Returns,
}

/// What a `return` in the block does.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Returns {
    /// It gives the value of the block.
    Give,
    /// It is an error: the block is a `race!`, and the reader would take its handlers for code of the block around it.
    Refused,
}

impl Forms {
    pub(crate) fn new(errors: Vec<syn::Error>, returns: Returns) -> Self {
        Forms { errors, elsewhere: None, expanded: 0, returns }
    }

    pub(crate) fn into_errors(self) -> Vec<syn::Error> {
        self.errors
    }

    pub(crate) fn expand(&mut self, stmts: &mut Vec<Stmt>) {
        for stmt in &mut *stmts {
            self.visit_stmt_mut(stmt);
        }
        together::expand(stmts, self);
    }

    pub(crate) fn error(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    fn inside(&mut self, what: &'static str, visit: impl FnOnce(&mut Self)) {
        let before = self.elsewhere.replace(what);
        visit(self);
        self.elsewhere = before;
    }

    /// Reports a form that is not directly in the block.
    fn check_place(&mut self, form: &str, span: Span) {
        self.expanded += 1;
        if let Some(what) = self.elsewhere {
            let message = format!(
                "`{form}` cannot wait inside {what}, which is a function of its own: \
                 use a loop, or make a fiber there and wait for that"
            );
            self.error(span, message);
        }
    }

    /// Reports a `return` that does not leave the block in which the user reads it.
    fn check_return(&mut self, form: &str, span: Span) {
        if self.returns == Returns::Refused && self.elsewhere.is_none() {
            let message = format!(
                "this `race!` is a fiber of its own, so `{form}` would not leave the block around it: \
                 put `race!` directly behind a `do!` in `fiber!`, or give the value without `{form}`"
            );
            self.error(span, message);
        }
    }

    /// `do! fiber`
    fn wait(&mut self, form: &mut ExprUnary, span: Span, stands: Stands) -> Expr {
        self.check_place("do!", span);
        let comes = Comes::of(&form.attrs);
        form.attrs.retain(|attr| !attr.path().is_ident(FIRST));
        let fiber = unparenthesized(&form.expr);
        let wait = match (self.elsewhere, stands) {
            (None, Stands::Alone) => wait(&fiber.to_token_stream(), fiber.span(), comes, span),
            (None, Stands::Unused) => unused_wait(fiber, comes, span),
            (None, Stands::Inside) => wait_inside(fiber, comes, span),
            (Some(_), _) => misplaced(fiber).into_token_stream(),
        };
        let attrs = &form.attrs;
        Expr::Verbatim(quote!(#(#attrs)* #wait))
    }

    fn expr(&mut self, expr: &mut Expr, stands: Stands) {
        let before = self.expanded;
        self.expand_expr(expr, stands);
        if let Expr::Paren(paren) = expr
            && self.expanded > before
        {
            // As those of the expansion, so that no lint finds them superfluous: a wait has the span of its `do`, so the compiler would propose to
            // remove its fiber with them.
            let span = paren.paren_token.span.join();
            paren.paren_token = syn::token::Paren(span.resolved_at(Span::mixed_site()));
        }
    }

    fn expand_expr(&mut self, expr: &mut Expr, stands: Stands) {
        if let (Expr::Paren(inner), Stands::Alone | Stands::Unused) = (&mut *expr, stands) {
            return self.expr(&mut inner.expr, stands);
        }
        lower_mark(expr);
        visit_mut::visit_expr_mut(self, expr);
        match expr {
            Expr::Unary(form) => {
                if let Some(span) = take_mark(&mut form.attrs) {
                    *expr = self.wait(form, span, stands);
                }
            }
            Expr::Let(condition) => self.condition(condition),
            Expr::Break(form) if is_tail(form) => *expr = self.tail(form),
            Expr::Return(leave) if self.elsewhere.is_none() => self.value(leave),
            _ => {}
        }
    }

    /// Reports a `let!` in a condition, which is no statement.
    fn condition(&mut self, condition: &mut ExprLet) {
        let Some(index) = condition.attrs.iter().position(|attr| attr.path().is_ident(LET)) else { return };
        let mark = condition.attrs.remove(index);
        self.error(
            mark.pound_token.span,
            "a condition waits by `do!`: `if let pattern = do! fiber`, and so in a `while let`",
        );
        *condition.expr = misplaced(&condition.expr);
    }

    fn tail(&mut self, form: &ExprBreak) -> Expr {
        let user = form.break_token.span;
        let span = user.resolved_at(Span::mixed_site());
        self.check_place("return!", user);
        self.check_return("return!", user);
        let Some(fiber) = &form.expr else {
            self.error(user, "`return!` continues as a fiber: `return! fiber`");
            return Expr::Verbatim(quote_spanned!(span=> ::std::unreachable!()));
        };
        let gives = quote_spanned!(span=> gives);
        let stop = match Comes::of(&form.attrs) {
            Comes::First => quote_spanned!(user=> #gives.fiber_first(#fiber)),
            Comes::AfterCode => quote_spanned!(user=> #gives.fiber(#fiber)),
        };
        let return_token = Token![return](span);
        Expr::Return(ExprReturn {
            attrs: form.attrs.iter().filter(|attr| !attr.path().is_ident(FIRST)).cloned().collect(),
            return_token,
            expr: Some(Box::new(Expr::Verbatim(stop))),
        })
    }

    /// `return value`
    fn value(&mut self, leave: &mut ExprReturn) {
        self.expanded += 1;
        self.check_return("return", leave.return_token.span);
        let span = leave.return_token.span.resolved_at(Span::mixed_site());
        let value = match &leave.expr {
            Some(value) => unparenthesized(value).to_token_stream(),
            None => quote_spanned!(span=> ()),
        };
        leave.expr = Some(Box::new(Expr::Verbatim(quote_spanned!(span=> gives.value(#value)))));
    }
}

/// In place of a wait that was reported, with the type of its value: the compiler has nothing to add.
fn misplaced(fiber: &Expr) -> Expr {
    Expr::Verbatim(quote_spanned!(Span::mixed_site()=> ::fiber_core::__macro_support::misplaced(#fiber)))
}

/// A fiber that is awaited beside others. It has the span of the user's expression, so that a type error points
/// there, and a trace names its line.
pub(crate) fn into_fiber(fiber: &Expr) -> TokenStream {
    quote_spanned!(fiber.span()=> ::fiber_core::IntoFiber::into_fiber(#fiber))
}

/// Where a `do!` stands, which decides how long the temporaries of its operand live.
#[derive(Clone, Copy)]
enum Stands {
    /// It is all of a statement, an initializer or an arm.
    Alone,
    /// It is all of a statement that drops the value.
    Unused,
    /// In a larger expression.
    Inside,
}

/// What the block may have run before a form, except between other waits.
#[derive(Clone, Copy)]
pub(crate) enum Comes {
    /// Nothing.
    First,
    /// Code.
    AfterCode,
}

impl Comes {
    pub(crate) fn of(attrs: &[Attribute]) -> Self {
        let is_first = attrs.iter().any(|attr| attr.path().is_ident(FIRST));
        if is_first { Comes::First } else { Comes::AfterCode }
    }
}

/// Waits for the fiber of a `let!`, or of a `do!` that stands alone. The expression of the fiber is evaluated first, and
/// its temporaries are dropped before the wait.
pub(crate) fn wait(fiber: &TokenStream, of: Span, comes: Comes, form: Span) -> TokenStream {
    let (name, wait) = call(of, comes, form);
    quote_spanned!(form.resolved_at(Span::mixed_site())=> { let #name = #fiber; #wait }.await)
}

/// As [`wait`], with the span from the user's `do!` to the end of the fiber, so that the compiler reports there that the value must be used. At
/// tokens of the expansion, it would report the whole block.
fn unused_wait(fiber: &Expr, comes: Comes, form: Span) -> TokenStream {
    let (name, wait) = call(fiber.span(), comes, form);
    let fiber = fiber.to_token_stream();
    let end = match fiber.clone().into_iter().last() {
        Some(TokenTree::Group(last)) => last.span_close(),
        Some(last) => last.span(),
        None => form,
    };
    let awaits = quote_spanned!(end=> .await);
    quote_spanned!(form=> { let #name = #fiber; #wait } #awaits)
}

/// Waits for the fiber of a `do!` in a larger expression. The temporaries of its expression live as long as those of
/// the larger one, because a `match` keeps the temporaries of its value.
fn wait_inside(fiber: &Expr, comes: Comes, form: Span) -> TokenStream {
    let (name, wait) = call(fiber.span(), comes, form);
    // The parentheses allow a struct literal.
    quote_spanned!(form.resolved_at(Span::mixed_site())=> match (#fiber) { #name => #wait }.await)
}

/// A name for the fiber, and the call that makes its wait.
///
/// The call has the span of the user's expression, so that a trace names the line in the block. The `unsafe` has a
/// different span, so that a module that forbids unsafe code can contain the block.
fn call(of: Span, comes: Comes, form: Span) -> (Ident, TokenStream) {
    // All tokens have one span, so that a value that is not a fiber causes one error, at the user's expression.
    // A constant or a unit struct of the user with this name would be a pattern.
    let name = Ident::new("__fiber", of);
    let call = match comes {
        Comes::First => quote_spanned!(of=> ::fiber_core::__macro_support::wait_first(#name)),
        Comes::AfterCode => quote_spanned!(of=> ::fiber_core::__macro_support::wait(#name)),
    };
    // SAFETY: the `async` block of this macro awaits the future at once. A form in an inner `async` block, a closure
    // or a macro, which could move the future elsewhere, was refused before.
    let wait = quote_spanned!(form.resolved_at(Span::mixed_site())=> unsafe { #call });
    (name, wait)
}

/// Without its parentheses, of which the compiler would warn where the expansion needs none.
fn unparenthesized(expr: &Expr) -> &Expr {
    if let Expr::Paren(inner) = expr { &inner.expr } else { expr }
}

pub(crate) fn is_tail(form: &ExprBreak) -> bool {
    form.label.as_ref().is_some_and(|label| label.ident == TAIL)
}

pub(crate) fn is_mark(attr: &Attribute) -> bool {
    attr.path().is_ident(DO)
}

/// The span of the mark of a `do!`, if there is one.
fn take_mark(attrs: &mut Vec<Attribute>) -> Option<Span> {
    let index = attrs.iter().position(is_mark)?;
    Some(attrs.remove(index).pound_token.span)
}

/// Moves the mark from a range to its first operand. In a statement `do! a..b`, `syn` gives the attributes of the
/// statement to the range.
fn lower_mark(expr: &mut Expr) {
    let Expr::Range(range) = expr else { return };
    if !range.attrs.iter().any(is_mark) {
        return;
    }
    let attrs = mem::take(&mut range.attrs);
    let mut first = expr;
    loop {
        first = match first {
            Expr::Range(ExprRange { start: Some(first), .. }) => first,
            Expr::Binary(binary) => &mut binary.left,
            Expr::Cast(cast) => &mut cast.expr,
            Expr::Unary(operand) => return operand.attrs.extend(attrs),
            _ => unreachable!("a mark is followed by a prefix operator"),
        };
    }
}

impl VisitMut for Forms {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.expand(&mut block.stmts);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let let_span = together::mark_of(local, LET);
        let and_span = together::mark_of(local, marks::AND);
        visit_mut::visit_local_mut(self, local);
        let Some(span) = let_span.or(and_span) else { return };
        if let_span.is_some() {
            self.check_place("let!", span);
        }
        if let (Some(_), Some(init)) = (self.elsewhere, &mut local.init) {
            *init.expr = misplaced(&init.expr);
            local.attrs.clear();
        }
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Expr(expr, end) => {
                self.expr(expr, if end.is_some() { Stands::Unused } else { Stands::Alone });
            }
            _ => visit_mut::visit_stmt_mut(self, stmt),
        }
    }

    fn visit_local_init_mut(&mut self, init: &mut LocalInit) {
        self.expr(&mut init.expr, Stands::Alone);
        if let Some((_, diverge)) = &mut init.diverge {
            self.visit_expr_mut(diverge);
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        self.visit_pat_mut(&mut arm.pat);
        self.expr(&mut arm.body, Stands::Alone);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        self.expr(expr, Stands::Inside);
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.inside("a closure", |this| visit_mut::visit_expr_closure_mut(this, closure));
    }

    fn visit_expr_async_mut(&mut self, block: &mut syn::ExprAsync) {
        self.inside("an `async` block", |this| visit_mut::visit_expr_async_mut(this, block));
    }

    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        self.inside("an item", |this| visit_mut::visit_item_mut(this, item));
    }

    /// Expands the input of a macro of the standard library. A macro with forms in its input is called by its absolute
    /// path: another macro of the same name must not see the forms.
    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let Some(name) = marks::std_macro(&call.path).cloned() else { return };
        let before = self.expanded;
        let expand = |input: ParseStream<'_>| {
            if name == "matches" { self.value_and_pattern(input) } else { self.list(input) }
        };
        match expand.parse2(call.tokens.clone()) {
            Ok(expanded) if self.expanded > before => {
                let message = assertion(&name, &call.tokens);
                call.tokens = expanded;
                call.tokens.extend(message);
                let span = name.span();
                call.path = syn::parse_quote_spanned!(span=> ::std::#name);
            }
            Ok(_) => {}
            // The input is not a list of expressions: this is another macro of that name, or the macro will report the
            // error.
            Err(error) if self.expanded > before => self.errors.push(error),
            Err(_) => {}
        }
    }
}

/// What follows the condition of an `assert!` without a message: its own message would show the expansion.
fn assertion(name: &Ident, marked: &TokenStream) -> Option<TokenStream> {
    if name != "assert" && name != "debug_assert" {
        return None;
    }
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let mut condition: Vec<TokenTree> = marked.clone().into_iter().collect();
    let has_comma = condition.pop_if(|last| is_comma(last)).is_some();
    if condition.iter().any(is_comma) {
        return None;
    }
    let message = format!("assertion failed: {}", marks::source(condition.into_iter().collect()));
    let comma = (!has_comma).then(|| quote!(,));
    Some(quote_spanned!(name.span()=> #comma "{}", #message))
}

impl Forms {
    /// An expression with its forms expanded.
    fn operand(&mut self, input: ParseStream<'_>) -> syn::Result<Expr> {
        let mut expr = input.parse::<Expr>()?;
        let errors = self.errors.len();
        race::lower_expr(&mut expr, &mut self.errors);
        if self.errors.len() > errors {
            // The `do!` in front of a wrong `race!` is gone.
            self.expanded += 1;
        }
        self.visit_expr_mut(&mut expr);
        Ok(expr)
    }

    /// Expressions, with a comma or a semicolon between them.
    fn list(&mut self, input: ParseStream<'_>) -> syn::Result<TokenStream> {
        let mut expanded = TokenStream::new();
        while !input.is_empty() {
            self.operand(input)?.to_tokens(&mut expanded);
            if input.peek(Token![;]) {
                input.parse::<Token![;]>()?.to_tokens(&mut expanded);
            } else if !input.is_empty() {
                input.parse::<Token![,]>()?.to_tokens(&mut expanded);
            }
        }
        Ok(expanded)
    }

    /// An expression, and the pattern that it is matched against, which may have a guard.
    fn value_and_pattern(&mut self, input: ParseStream<'_>) -> syn::Result<TokenStream> {
        let mut expanded = self.operand(input)?.into_token_stream();
        input.parse::<Token![,]>()?.to_tokens(&mut expanded);
        syn::Pat::parse_multi_with_leading_vert(input)?.to_tokens(&mut expanded);
        if input.peek(Token![if]) {
            input.parse::<Token![if]>()?.to_tokens(&mut expanded);
            self.operand(input)?.to_tokens(&mut expanded);
        }
        input.parse::<Option<Token![,]>>()?.to_tokens(&mut expanded);
        Ok(expanded)
    }
}
