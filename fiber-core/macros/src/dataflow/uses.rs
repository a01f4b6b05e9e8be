//! Finds the variables that an expression reads, and whether it borrows or takes them.
//!
//! Scopes are those of the language: blocks, closures, arms, loops and `if let` shadow variables of the same name. The
//! name of a called function is not a variable.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, Item, Lit, Local, Macro, Pat, PatIdent, Stmt, Token, UnOp};

use super::parse::{List, is_bang, is_variable};
use crate::marks;

/// How an expression reads a variable, the strongest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// `&x`, or in the input of `format!`.
    Borrows,
    /// As a place expression: `x.field`, `x.method()`, `x == y`.
    Looks,
    /// By its value, or in a closure with `move`, or in an `async` block.
    Takes,
}

/// All uses of one variable in an expression.
#[derive(Clone)]
pub(super) struct Use {
    /// The first use that takes it, or else the first use.
    pub(super) ident: Ident,
    pub(super) how: How,
    /// It occurs only in the input of other macros, where it may mean something else.
    pub(super) is_guess: bool,
}

pub(super) type Uses = BTreeMap<String, Use>;

/// Finds the variables that an expression reads.
pub(super) fn find(expr: &mut Expr, errors: &mut Vec<syn::Error>) -> Uses {
    let mut walk = Walk::new(None);
    walk.visit_expr_mut(expr);
    errors.append(&mut walk.errors);
    walk.found
}

/// How a variable is rewritten in an expression.
pub(super) enum Rename {
    /// It is borrowed: `x` becomes `*x`.
    Borrowed,
    /// `self` becomes another name, which is legal for a variable.
    Owned(Ident),
    /// Both of the above.
    BorrowedAs(Ident),
}

/// Rewrites the variables of an expression.
pub(super) fn rename(expr: &mut Expr, names: BTreeMap<String, Rename>) {
    if !names.is_empty() {
        Walk::new(Some(names)).visit_expr_mut(expr);
    }
}

struct Walk {
    found: Uses,
    /// The names that enclosing blocks and closures inside the expression have bound.
    scopes: Vec<HashSet<String>>,
    /// Inside code that runs later: it takes all variables that it names.
    is_later: bool,
    names: Option<BTreeMap<String, Rename>>,
    /// Inside a function or closure that a `return` would leave.
    is_elsewhere: bool,
    errors: Vec<syn::Error>,
}

/// The name, if the expression is a plain name.
fn plain_name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    }
}

pub(super) fn text(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

impl Walk {
    fn new(names: Option<BTreeMap<String, Rename>>) -> Self {
        let (found, errors) = (Uses::new(), Vec::new());
        Walk { found, scopes: Vec::new(), is_later: false, names, is_elsewhere: false, errors }
    }

    fn is_hidden(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(name))
    }

    fn bind(&mut self, name: String) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name);
        }
    }

    fn within(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(HashSet::new());
        visit(self);
        self.scopes.pop();
    }

    /// Visits code of an inner function, which runs later if `is_later`.
    fn elsewhere(&mut self, is_later: bool, visit: impl FnOnce(&mut Self)) {
        let before = (self.is_later, self.is_elsewhere);
        (self.is_later, self.is_elsewhere) = (before.0 || is_later, true);
        self.within(visit);
        (self.is_later, self.is_elsewhere) = before;
    }

    fn note(&mut self, ident: &Ident, how: How, is_guess: bool) {
        let name = text(ident);
        if self.is_hidden(&name) || !is_variable(ident) || self.names.is_some() {
            return;
        }
        let how = if self.is_later { How::Takes } else { how };
        let used = self.found.entry(name).or_insert_with(|| Use { ident: ident.clone(), how, is_guess });
        if how > used.how {
            (used.how, used.ident) = (how, ident.clone());
        }
        used.is_guess &= is_guess;
    }

    /// The replacement of an expression that is just the name.
    fn renamed(&self, ident: &Ident) -> Option<Expr> {
        let name = text(ident);
        let rename = self.names.as_ref()?.get(&name).filter(|_| !self.is_hidden(&name))?;
        // So that no lint of superfluous parentheses or references fires for code that the user did not write.
        let span = ident.span().resolved_at(Span::mixed_site());
        Some(Expr::Verbatim(match rename {
            Rename::Borrowed => quote_spanned!(span=> (*#ident)),
            Rename::Owned(other) => quote_spanned!(span=> #other),
            Rename::BorrowedAs(other) => quote_spanned!(span=> (*#other)),
        }))
    }

    /// An expression whose place is used rather than its value.
    fn place(&mut self, expr: &mut Expr, how: How) {
        match expr {
            Expr::Paren(inner) => self.place(&mut inner.expr, how),
            Expr::Group(inner) => self.place(&mut inner.expr, how),
            Expr::Field(field) => self.place(&mut field.base, how),
            Expr::Index(index) => {
                self.place(&mut index.expr, how);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                self.place(&mut unary.expr, How::Looks)
            }
            expr => match plain_name(expr).cloned() {
                Some(ident) => {
                    self.note(&ident, how, false);
                    if let Some(renamed) = self.renamed(&ident) {
                        *expr = renamed;
                    }
                }
                None => self.visit_expr_mut(expr),
            },
        }
    }

    // ---- macros ----

    /// A macro of the standard library whose input is a list of expressions.
    fn std_macro(&mut self, name: &str, tokens: &mut TokenStream) -> syn::Result<()> {
        let mut list = syn::parse2::<List>(tokens.clone())?;
        let (formats, looks) = match name {
            "assert" | "debug_assert" => (1, 0),
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => (2, 2),
            "write" | "writeln" => (1, 0),
            "dbg" | "vec" => (usize::MAX, 0),
            _ => (0, 0),
        };
        let named = named_arguments(&list, formats);
        let mut counts = Vec::new();
        for (index, (expr, _)) in list.0.iter_mut().enumerate() {
            match expr {
                // `name = value`
                Expr::Assign(named) if index > formats => self.place(&mut named.right, How::Borrows),
                Expr::Lit(literal) if index == formats => {
                    self.captures(&literal.lit, &named);
                    counts = self.borrowed_counts(&literal.lit, &named);
                }
                expr if index > formats || index < looks => self.place(expr, How::Borrows),
                expr => self.visit_expr_mut(expr),
            }
        }
        if self.names.is_some() {
            *tokens = TokenStream::new();
            for (expr, separator) in &list.0 {
                expr.to_tokens(tokens);
                separator.to_tokens(tokens);
            }
            if !counts.is_empty() && list.0.last().is_some_and(|(_, separator)| separator.is_empty()) {
                tokens.extend(quote!(,));
            }
            for name in counts {
                let value = self.renamed(&name);
                tokens.extend(quote_spanned!(name.span()=> #name = #value,));
            }
        }
        Ok(())
    }

    /// The variables that a format string captures as a width or a precision, and that are borrowed. The macro takes such a number, but no reference
    /// to one.
    fn borrowed_counts(&self, literal: &Lit, named: &HashSet<String>) -> Vec<Ident> {
        let (Lit::Str(string), Some(names)) = (literal, &self.names) else { return Vec::new() };
        let format = string.value().replace("{{", "");
        let counts: BTreeSet<&str> = captured_counts(&format).collect();
        let is_borrowed = |name: &&str| {
            let is_borrowed = matches!(names.get(*name), Some(Rename::Borrowed));
            is_borrowed && !self.is_hidden(name) && !named.contains(*name)
        };
        counts.into_iter().filter(is_borrowed).map(|name| Ident::new(name, string.span())).collect()
    }

    /// `matches!(place, pattern)`
    fn matches_macro(&mut self, tokens: &mut TokenStream) -> syn::Result<()> {
        let parse = |input: syn::parse::ParseStream<'_>| {
            let value = input.parse::<Expr>()?;
            let comma = input.parse::<Token![,]>()?;
            Ok((value, comma, input.parse::<TokenStream>()?))
        };
        let (mut value, comma, rest) = syn::parse::Parser::parse2(parse, tokens.clone())?;
        self.place(&mut value, How::Looks);
        let mut pattern = rest;
        self.within(|this| this.foreign_macro(&mut pattern));
        *tokens = quote_spanned!(comma.spans[0]=> #value #comma #pattern);
        Ok(())
    }

    /// The names in `"{name:width$}"`, except those of arguments.
    fn captures(&mut self, literal: &Lit, named: &HashSet<String>) {
        let Lit::Str(string) = literal else { return };
        for name in captured_names(&string.value().replace("{{", "")).filter(|name| !named.contains(*name)) {
            if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
                ident.set_span(string.span());
                self.note(&ident, How::Borrows, false);
            }
        }
    }

    /// Any other macro may use the names in its input in any way. Variables that a `let` in it binds are its own.
    fn foreign_macro(&mut self, tokens: &mut TokenStream) {
        self.within(|this| {
            let input: Vec<TokenTree> = std::mem::take(tokens).into_iter().collect();
            let mut bound = None;
            for (index, token) in input.iter().enumerate() {
                let renamed = this.foreign_token(token, &input[..index], &input[index + 1..], &mut bound);
                tokens.extend([renamed.unwrap_or_else(|| token.clone())]);
            }
        });
    }

    /// `bound`: the names that the `let` of this statement binds, from its end on.
    fn foreign_token(
        &mut self,
        token: &TokenTree,
        before: &[TokenTree],
        after: &[TokenTree],
        bound: &mut Option<Binding>,
    ) -> Option<TokenTree> {
        let is_pattern = bound.as_ref().is_some_and(|bound| bound.is_pattern);
        match token {
            TokenTree::Ident(word) if word == "let" || word == "and" && is_bang(after) => {
                bound.get_or_insert_default().is_pattern = true;
            }
            TokenTree::Punct(punct) if punct.as_char() == '=' => {
                bound.iter_mut().for_each(|bound| bound.is_pattern = false);
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                let names = bound.take().into_iter().flat_map(|bound| bound.names);
                names.for_each(|name| self.bind(name));
            }
            token if is_pattern => bound.iter_mut().for_each(|bound| bound.add(token.clone())),
            TokenTree::Ident(word) if !is_member(before) && !is_call(after) => {
                return self.foreign_name(word);
            }
            TokenTree::Group(group) => {
                let mut inner = group.stream();
                self.foreign_macro(&mut inner);
                let mut group = Group::new(group.delimiter(), inner);
                group.set_span(token.span());
                return Some(TokenTree::Group(group));
            }
            TokenTree::Literal(literal) => self.foreign_literal(literal),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
        None
    }

    fn foreign_name(&mut self, word: &Ident) -> Option<TokenTree> {
        self.note(word, How::Takes, true);
        let name = text(word);
        match self.names.as_ref()?.get(&name).filter(|_| !self.is_hidden(&name))? {
            Rename::Owned(other) | Rename::BorrowedAs(other) => Some(TokenTree::Ident(other.clone())),
            Rename::Borrowed => None,
        }
    }

    fn foreign_literal(&mut self, literal: &Literal) {
        if let Ok(string) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal.clone()).into()) {
            for name in captured_names(&string.value().replace("{{", "")) {
                if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
                    ident.set_span(literal.span());
                    self.note(&ident, How::Borrows, true);
                }
            }
        }
    }
}

/// The `let` of a statement in the input of another macro.
#[derive(Default)]
struct Binding {
    names: Vec<String>,
    /// Before the `=`.
    is_pattern: bool,
}

impl Binding {
    fn add(&mut self, token: TokenTree) {
        match token {
            TokenTree::Ident(word) => self.names.push(text(&word)),
            TokenTree::Group(group) => group.stream().into_iter().for_each(|token| self.add(token)),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// After the `.` of a field or method, or in a path. In `0..n` and `Point { x: n }`, the name is that of a variable.
fn is_member(before: &[TokenTree]) -> bool {
    let is =
        |token: &TokenTree, wanted| matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted);
    match before {
        [.., first, last] if is(last, '.') => !is(first, '.'),
        [.., first, last] if is(last, ':') => is(first, ':'),
        [last] => is(last, '.'),
        _ => false,
    }
}

/// A function or macro.
fn is_call(after: &[TokenTree]) -> bool {
    match after.first() {
        Some(TokenTree::Group(group)) => group.delimiter() == proc_macro2::Delimiter::Parenthesis,
        _ => is_bang(after),
    }
}

/// The names `name` of the arguments `name = value` behind a format string.
fn named_arguments(list: &List, formats: usize) -> HashSet<String> {
    let behind = list.0.iter().skip(formats.saturating_add(1));
    let names = behind.filter_map(|(expr, _)| match expr {
        Expr::Assign(named) => plain_name(&named.left).map(text),
        _ => None,
    });
    names.collect()
}

/// The names that a format string captures, after `{{` was removed.
fn captured_names(format: &str) -> impl Iterator<Item = &str> {
    let pieces = format.split('{').skip(1);
    let names = pieces.filter_map(|piece| piece.split(['}', ':']).next());
    names.map(str::trim).filter(|name| is_name(name)).chain(captured_counts(format))
}

/// Of those, the names of a width or a precision: `"{:width$.precision$}"`.
fn captured_counts(format: &str) -> impl Iterator<Item = &str> {
    let pieces = format.split('{').skip(1).filter_map(|piece| piece.split('}').next());
    let specs = pieces.filter_map(|piece| piece.split_once(':')).map(|(_, spec)| spec);
    let before = specs.flat_map(|spec| spec.rsplit('$').skip(1));
    // A zero is a flag.
    let names = before.filter_map(|text| text.rsplit(|c: char| c != '_' && !c.is_alphanumeric()).next());
    names.map(|name| name.trim_start_matches('0')).filter(|name| is_name(name))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first == '_' || first.is_alphabetic())
}

impl VisitMut for Walk {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(ident) = plain_name(expr).cloned() {
            return self.place_or_value(expr, &ident);
        }
        match expr {
            Expr::Reference(reference) if reference.mutability.is_none() => {
                let is_renamed = plain_name(&reference.expr).cloned().and_then(|ident| {
                    self.note(&ident, How::Borrows, false);
                    self.reference(&ident)
                });
                match is_renamed {
                    Some(renamed) => *expr = renamed,
                    None => self.place(&mut reference.expr, How::Borrows),
                }
            }
            Expr::Field(_) | Expr::Index(_) => self.place(expr, How::Looks),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                self.place(&mut unary.expr, How::Looks)
            }
            Expr::MethodCall(call) => {
                self.place(&mut call.receiver, How::Looks);
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            }
            Expr::Call(call) => {
                if plain_name(&call.func).is_none() {
                    self.visit_expr_mut(&mut call.func);
                }
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            }
            Expr::Binary(binary) if is_comparison(&binary.op) => {
                self.place(&mut binary.left, How::Looks);
                self.place(&mut binary.right, How::Looks);
            }
            Expr::Closure(closure) => {
                let is_later = closure.capture.is_some() || closure.asyncness.is_some();
                self.elsewhere(is_later, |this| visit_mut::visit_expr_closure_mut(this, closure));
            }
            Expr::Async(block) => self.elsewhere(true, |this| visit_mut::visit_expr_async_mut(this, block)),
            Expr::If(branch) => {
                self.within(|this| {
                    this.visit_expr_mut(&mut branch.cond);
                    this.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, other)) = &mut branch.else_branch {
                    self.visit_expr_mut(other);
                }
            }
            Expr::While(_) => self.within(|this| visit_mut::visit_expr_mut(this, expr)),
            Expr::Let(condition) => {
                self.visit_expr_mut(&mut condition.expr);
                self.visit_pat_mut(&mut condition.pat);
            }
            Expr::ForLoop(each) => {
                self.visit_expr_mut(&mut each.expr);
                self.within(|this| {
                    this.visit_pat_mut(&mut each.pat);
                    this.visit_block_mut(&mut each.body);
                });
            }
            Expr::Struct(literal) => {
                for field in &mut literal.fields {
                    let shorthand = field.colon_token.is_none();
                    self.visit_expr_mut(&mut field.expr);
                    if shorthand && plain_name(&field.expr).is_none() {
                        field.colon_token = Some(Token![:](field.expr.span()));
                    }
                }
                if let Some(rest) = &mut literal.rest {
                    self.visit_expr_mut(rest);
                }
            }
            Expr::Return(leave) => {
                if !self.is_elsewhere {
                    let message = "`return` gives the value of the dataflow, at its end; a step that has to stop it fails: by \
                                   `?`, or as `Fiber::fail(error)`";
                    self.errors.push(syn::Error::new(leave.return_token.span, message));
                }
                visit_mut::visit_expr_return_mut(self, leave);
            }
            expr => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.within(|this| visit_mut::visit_arm_mut(this, arm));
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.within(|this| {
            for stmt in &block.stmts {
                if let Stmt::Item(item) = stmt {
                    this.bind_item(item);
                }
            }
            visit_mut::visit_block_mut(this, block);
        });
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        self.visit_pat_mut(&mut local.pat);
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        visit_mut::visit_pat_ident_mut(self, pattern);
        self.bind(text(&pattern.ident));
    }

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        visit_mut::visit_pat_mut(self, pattern);
    }

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    /// A nested item sees no variables.
    fn visit_item_mut(&mut self, _: &mut Item) {}

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let name = marks::std_macro(&call.path).map(text);
        let is_known = match name.as_deref() {
            Some("matches") => self.matches_macro(&mut call.tokens),
            Some(name) => self.std_macro(name, &mut call.tokens),
            None => Err(syn::Error::new(Span::call_site(), "")),
        };
        if is_known.is_err() {
            self.foreign_macro(&mut call.tokens);
        }
    }
}

impl Walk {
    /// A plain name, used by value.
    fn place_or_value(&mut self, expr: &mut Expr, ident: &Ident) {
        self.note(ident, How::Takes, false);
        if let Some(renamed) = self.renamed(ident) {
            *expr = renamed;
        }
    }

    /// The replacement of `&x`, if `x` is already a reference.
    fn reference(&self, ident: &Ident) -> Option<Expr> {
        let name = text(ident);
        match self.names.as_ref()?.get(&name).filter(|_| !self.is_hidden(&name))? {
            Rename::Borrowed => Some(Expr::Verbatim(ident.to_token_stream())),
            Rename::BorrowedAs(other) => Some(Expr::Verbatim(other.to_token_stream())),
            Rename::Owned(_) => None,
        }
    }

    fn bind_item(&mut self, item: &Item) {
        match item {
            Item::Fn(item) => self.bind(text(&item.sig.ident)),
            Item::Const(item) => self.bind(text(&item.ident)),
            Item::Static(item) => self.bind(text(&item.ident)),
            _ => {}
        }
    }
}

fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}
