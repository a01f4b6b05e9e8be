//! From tokens to the tree of [`syntax`](crate::syntax).
//!
//! A statement that cannot be parsed is reported and skipped, so that one mistake gives one message and the rest
//! of the block is still checked.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprMacro, Lifetime, Pat, Result, Token, Type, braced, token};

use crate::misplaced;
use crate::syntax::{Arm, Bind, Binding, Block, Choice, Do, Leave, LetElse, Loop, LoopKind, Stmt, Way};

/// Parses the tokens of a whole `fiber!` block: as much of it as makes sense, and what is wrong with the rest.
pub(crate) fn fiber_block(tokens: TokenStream) -> (Block, Option<Error>) {
    let mut parser = Parser { errors: Vec::new() };
    let parsed = (|input: ParseStream<'_>| parser.statements(input)).parse2(tokens);
    let mut stmts = parsed.unwrap_or_else(|error| {
        parser.errors.push(error);
        Vec::new()
    });
    if let Some(Stmt::Unit(expr)) = stmts.last() {
        parser.errors.push(return_missing(expr));
        stmts.pop();
    }
    if !parser.errors.is_empty() && !stmts.iter().any(Stmt::ends) {
        // The end of an incomplete block says nothing about the type of its value.
        stmts.push(unit(syn::parse_quote!(::core::unreachable!())));
    }
    let end = stmts.last().map_or(Span::call_site(), Stmt::at);
    let error = parser.errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    });
    (Block { stmts, end }, error)
}

fn return_missing(last: &Expr) -> Error {
    Error::new_spanned(
        last,
        "a fiber block does not end in a bare expression\n\
         help: write `return value` to succeed with it, or `return! fiber` to continue with it",
    )
}

/// Collects the errors of the statements that were skipped.
struct Parser {
    errors: Vec<Error>,
}

impl Parser {
    fn block(&mut self, input: ParseStream<'_>) -> Result<Block> {
        let content;
        let brace = braced!(content in input);
        Ok(Block { stmts: self.statements(&content)?, end: brace.span.close() })
    }

    fn statements(&mut self, input: ParseStream<'_>) -> Result<Vec<Stmt>> {
        let mut stmts = Vec::new();
        while !input.is_empty() {
            if input.parse::<Option<Token![;]>>()?.is_some() {
                continue;
            }
            let ahead = input.fork();
            match self.statement(&ahead) {
                Ok(stmt) => {
                    input.advance_to(&ahead);
                    stmts.push(stmt);
                }
                Err(error) => {
                    self.errors.push(misplaced::explain(&input.fork(), error));
                    skip_statement(input)?;
                }
            }
        }
        Ok(stmts)
    }

    /// One statement with its semicolon.
    fn statement(&mut self, input: ParseStream<'_>) -> Result<Stmt> {
        let errors = self.errors.len();
        let ahead = input.fork();
        let Some(stmt) = self.form(&ahead)? else { return plain(input) };
        if matches!(stmt, Stmt::Choice(_)) && continues_expression(&ahead) {
            // `match x { ... }.method()` is an expression.
            self.errors.truncate(errors);
            return plain(input);
        }
        input.advance_to(&ahead);
        if !matches!(stmt, Stmt::Choice(_) | Stmt::Loop(_)) && !input.is_empty() {
            input.parse::<Token![;]>()?;
        }
        Ok(stmt)
    }

    /// What the macro has to understand, without the semicolon; `None` at the start of plain Rust.
    fn form(&mut self, input: ParseStream<'_>) -> Result<Option<Stmt>> {
        let bang = input.peek2(Token![!]);
        if input.peek(Token![let]) {
            if bang { self.bind(input).map(Some) } else { self.let_else(input) }
        } else if input.peek(Token![do]) {
            let keyword: Token![do] = input.parse()?;
            if !bang {
                return Err(Error::new(keyword.span, "`do` is not a statement: `do! fiber;` runs a fiber"));
            }
            let at = input.parse::<Token![!]>()?.span;
            Ok(Some(Stmt::Do(Do { at, expr: input.parse()? })))
        } else if is_bang_loop(input) {
            self.bang_loop(input).map(|it| Some(Stmt::Loop(it)))
        } else if input.peek(Token![if]) || input.peek(Token![match]) || input.peek(token::Brace) {
            self.choice(input).map(|it| Some(Stmt::Choice(it)))
        } else if input.peek(Lifetime) {
            reject_label(input).map(|()| None)
        } else {
            leave(input).map(|it| it.map(Stmt::Leave))
        }
    }

    /// `let! pat: Type = expr and! pat = expr else { ... }`.
    fn bind(&mut self, input: ParseStream<'_>) -> Result<Stmt> {
        input.parse::<Token![let]>()?;
        let at = input.parse::<Token![!]>()?.span;
        let mut bindings = vec![binding(input)?];
        while input.peek(syn::Ident) && input.peek2(Token![!]) {
            let and: Ident = input.parse()?;
            if and != "and" {
                return Err(Error::new(and.span(), "expected `and!` or `;`"));
            }
            input.parse::<Token![!]>()?;
            bindings.push(binding(input)?);
        }
        let otherwise = self.otherwise(input)?;
        Ok(Stmt::Bind(Bind { at, bindings, otherwise }))
    }

    /// `let pat = expr else { ... }`; a `let` without `else` is plain.
    fn let_else(&mut self, input: ParseStream<'_>) -> Result<Option<Stmt>> {
        input.parse::<Token![let]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let ty = type_annotation(input)?;
        if input.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(None);
        }
        let expr: Expr = input.parse()?;
        let Some(otherwise) = self.otherwise(input)? else { return Ok(None) };
        let pat = match ty {
            None => pat,
            Some(ty) => Pat::Type(syn::parse_quote!(#pat: #ty)),
        };
        Ok(Some(Stmt::LetElse(LetElse { pat, expr, otherwise })))
    }

    fn otherwise(&mut self, input: ParseStream<'_>) -> Result<Option<Block>> {
        match input.parse::<Option<Token![else]>>()? {
            Some(_) => self.block(input).map(Some),
            None => Ok(None),
        }
    }

    fn bang_loop(&mut self, input: ParseStream<'_>) -> Result<Loop> {
        let keyword = input.call(Ident::parse_any)?;
        let at = input.parse::<Token![!]>()?.span;
        let kind = match keyword.to_string().as_str() {
            "for" => {
                let pat = Box::new(Pat::parse_multi_with_leading_vert(input)?);
                input.parse::<Token![in]>()?;
                LoopKind::For { pat, items: Box::new(Expr::parse_without_eager_brace(input)?) }
            }
            "while" => LoopKind::While { condition: Box::new(while_condition(input)?) },
            _ => LoopKind::Forever,
        };
        Ok(Loop { at, kind, body: self.block(input)? })
    }

    fn choice(&mut self, input: ParseStream<'_>) -> Result<Choice> {
        if input.peek(Token![if]) {
            let if_token = input.parse()?;
            let condition = Expr::parse_without_eager_brace(input)?;
            let then = self.block(input)?;
            let otherwise = self.else_branch(input)?;
            Ok(Choice::If { if_token, condition, then, otherwise })
        } else if input.peek(Token![match]) {
            let match_token = input.parse()?;
            let scrutinee = Expr::parse_without_eager_brace(input)?;
            let content;
            braced!(content in input);
            let mut arms = Vec::new();
            while !content.is_empty() {
                arms.push(self.arm(&content)?);
            }
            Ok(Choice::Match { match_token, scrutinee, arms })
        } else {
            self.block(input).map(Choice::Block)
        }
    }

    fn else_branch(&mut self, input: ParseStream<'_>) -> Result<Option<Block>> {
        if input.peek(Token![else]) && input.peek2(Token![if]) {
            input.parse::<Token![else]>()?;
            let end = input.span();
            let stmts = vec![Stmt::Choice(self.choice(input)?)];
            return Ok(Some(Block { stmts, end }));
        }
        self.otherwise(input)
    }

    fn arm(&mut self, input: ParseStream<'_>) -> Result<Arm> {
        let attrs = input.call(Attribute::parse_outer)?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(if_token) => Some((if_token, input.parse()?)),
            None => None,
        };
        input.parse::<Token![=>]>()?;
        let end = input.span();
        let stmt = self.arm_body(input)?;
        let comma_optional = matches!(stmt, Stmt::Choice(_) | Stmt::Loop(_));
        if !(comma_optional || input.is_empty()) || input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        let body = match stmt {
            Stmt::Choice(Choice::Block(block)) => block,
            stmt => Block { stmts: vec![stmt], end },
        };
        Ok(Arm { attrs, pat, guard, body })
    }

    fn arm_body(&mut self, input: ParseStream<'_>) -> Result<Stmt> {
        let errors = self.errors.len();
        let ahead = input.fork();
        match self.form(&ahead)? {
            Some(stmt) if !continues_expression(&ahead) => {
                input.advance_to(&ahead);
                Ok(stmt)
            }
            _ => {
                self.errors.truncate(errors);
                input.parse().map(unit)
            }
        }
    }
}

/// `pat: Type = expr`.
fn binding(input: ParseStream<'_>) -> Result<Binding> {
    let pat = Pat::parse_multi_with_leading_vert(input)?;
    let ty = type_annotation(input)?;
    input.parse::<Token![=]>()?;
    Ok(Binding { pat, ty, expr: input.parse()? })
}

fn type_annotation(input: ParseStream<'_>) -> Result<Option<Type>> {
    match input.parse::<Option<Token![:]>>()? {
        Some(_) => input.parse().map(Some),
        None => Ok(None),
    }
}

/// `return`, `return!`, `break` and `continue` as statements. A `break` with a label or a value is plain Rust, of
/// a plain loop.
fn leave(input: ParseStream<'_>) -> Result<Option<Leave>> {
    let at = input.span();
    let way = if input.parse::<Option<Token![return]>>()?.is_some() {
        if input.parse::<Option<Token![!]>>()?.is_some() {
            Way::Become(input.parse()?)
        } else if ends_statement(input) {
            Way::Return(None)
        } else {
            Way::Return(Some(input.parse()?))
        }
    } else {
        let ahead = input.fork();
        let way = if ahead.parse::<Option<Token![break]>>()?.is_some() {
            Way::Break
        } else if ahead.parse::<Option<Token![continue]>>()?.is_some() {
            Way::Continue
        } else {
            return Ok(None);
        };
        if !ends_statement(&ahead) {
            return Ok(None);
        }
        input.advance_to(&ahead);
        way
    };
    Ok(Some(Leave { at, way }))
}

/// A statement of plain Rust, or the last expression of a block.
fn plain(input: ParseStream<'_>) -> Result<Stmt> {
    let ahead = input.fork();
    let error = match ahead.parse::<syn::Stmt>() {
        Ok(stmt) => {
            if let Some(error) = misplaced::negated_while(&stmt) {
                return Err(error);
            }
            input.advance_to(&ahead);
            return Ok(match stmt {
                syn::Stmt::Macro(it) if never_returns(&it.mac) => {
                    unit(Expr::Macro(ExprMacro { attrs: it.attrs, mac: it.mac }))
                }
                stmt => Stmt::Plain(stmt),
            });
        }
        Err(error) => error,
    };
    let ahead = input.fork();
    match ahead.parse::<Expr>() {
        Ok(expr) if ahead.is_empty() => {
            input.advance_to(&ahead);
            Ok(unit(expr))
        }
        _ => Err(error),
    }
}

fn unit(expr: Expr) -> Stmt {
    match &expr {
        Expr::Macro(it) if never_returns(&it.mac) => {
            Stmt::Leave(Leave { at: expr.span(), way: Way::Never(expr) })
        }
        _ => Stmt::Unit(expr),
    }
}

fn never_returns(mac: &syn::Macro) -> bool {
    const NEVER: [&str; 4] = ["panic", "todo", "unimplemented", "unreachable"];
    mac.path.segments.last().is_some_and(|name| NEVER.iter().any(|never| name.ident == never))
}

fn ends_statement(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![;]) || input.peek(Token![,])
}

/// After a block-like expression at the start of a statement: is it only the receiver of something?
fn continues_expression(input: ParseStream<'_>) -> bool {
    input.peek(Token![?]) || (input.peek(Token![.]) && !input.peek(Token![..]))
}

fn is_bang_loop(input: ParseStream<'_>) -> bool {
    input.peek2(Token![!])
        && (input.peek(Token![for])
            || input.peek(Token![loop])
            || input.peek(Token![while]) && bang_touches(input))
}

/// `while! x` and `while !x` are the same tokens: the bang belongs to the word it touches.
fn bang_touches(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let (Ok(keyword), Ok(bang)) = (ahead.call(Ident::parse_any), ahead.parse::<Token![!]>()) else {
        return false;
    };
    misplaced::touch(keyword.span(), bang.span)
}

fn while_condition(input: ParseStream<'_>) -> Result<Expr> {
    if input.peek(Token![let]) {
        return Err(input.error(
            "`while!` takes a `bool` or a fiber of `bool`, not a pattern\n\
             help: `loop! { let! value = fiber; let Some(value) = value else { break }; ... }`",
        ));
    }
    Expr::parse_without_eager_brace(input)
}

/// Labels of plain loops are the business of Rust, `for!`, `while!` and `loop!` have none.
fn reject_label(input: ParseStream<'_>) -> Result<()> {
    let ahead = input.fork();
    let label: Lifetime = ahead.parse()?;
    ahead.parse::<Token![:]>()?;
    if is_bang_loop(&ahead) {
        return Err(Error::new(
            label.span(),
            "`for!`, `while!` and `loop!` take no label: `break` and `continue` belong to the innermost of them",
        ));
    }
    Ok(())
}

/// Skips to where the next statement probably starts.
fn skip_statement(input: ParseStream<'_>) -> Result<()> {
    let block_like = starts_block(input);
    while !input.is_empty() {
        let end = match input.parse::<TokenTree>()? {
            TokenTree::Punct(it) => it.as_char() == ';',
            TokenTree::Group(it) => {
                block_like && it.delimiter() == Delimiter::Brace && !input.peek(Token![else])
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        if end {
            break;
        }
    }
    Ok(())
}

fn starts_block(input: ParseStream<'_>) -> bool {
    let choice = input.peek(Token![if]) || input.peek(Token![match]) || input.peek(token::Brace);
    choice || input.peek(Token![for]) || input.peek(Token![while]) || input.peek(Token![loop])
}
