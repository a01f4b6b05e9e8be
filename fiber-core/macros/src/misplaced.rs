//! Better words for a statement that failed to parse: usually a fiber form stands where plain Rust has to stand.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Error, Lifetime, Stmt, Token};

/// Replaces `error`, which Rust's grammar gave, if the statement at `input` holds a fiber form out of place.
pub(crate) fn explain(input: ParseStream<'_>, error: Error) -> Error {
    if let Some(error) = explain_attribute(input) {
        return error;
    }
    let header_only = holds_statements(&input.fork());
    find(statement_tokens(input, header_only)).map_or(error, Misplaced::into_error)
}

/// `while! x` parses inside plain Rust, but as `while !x`: the opposite.
pub(crate) fn negated_while(stmt: &Stmt) -> Option<Error> {
    if let Stmt::Item(_) = stmt {
        return None;
    }
    find(stmt.to_token_stream()).filter(|it| it.form == "while").map(Misplaced::into_error)
}

/// Do the two tokens stand next to each other in the source?
pub(crate) fn touch(left: Span, right: Span) -> bool {
    left.end() == right.start()
}

fn explain_attribute(input: ParseStream<'_>) -> Option<Error> {
    let attrs = input.fork().call(syn::Attribute::parse_outer).ok()?;
    let first = attrs.first()?;
    // `#` and `[...]` for each.
    let after = input.fork().parse::<TokenStream>().ok()?.into_iter().skip(2 * attrs.len());
    let after: Vec<TokenTree> = after.collect();
    is_form(&after).then(|| Error::new_spanned(first, "an attribute cannot stand on a fiber form"))
}

/// Does the block of the statement hold statements of the macro? Then forms in it are in place.
fn holds_statements(input: ParseStream<'_>) -> bool {
    if input.parse::<Lifetime>().is_ok() && input.parse::<Token![:]>().is_err() {
        return false;
    }
    let bang_loop = input.peek2(Token![!]) && !input.peek(Token![let]) && !input.peek(Token![do]);
    bang_loop || input.peek(Token![if]) || input.peek(Token![match])
}

/// A form inside plain Rust, and the plain loop it stands in.
struct Misplaced {
    form: Ident,
    plain_loop: Option<Ident>,
}

impl Misplaced {
    fn into_error(self) -> Error {
        let Misplaced { form, plain_loop } = self;
        match plain_loop {
            None => Error::new(
                form.span(),
                format!(
                    "`{form}!` stands inside an expression or a closure, where a fiber cannot wait\n\
                     help: bind it in a statement of its own before this one, or open another `fiber! {{ ... }}` there"
                ),
            ),
            Some(keyword) => Error::new(
                keyword.span(),
                format!(
                    "a plain `{keyword}` cannot hold `{form}!`: its rounds do not wait\n\
                     help: use `{keyword}!`, whose rounds wait for their fibers"
                ),
            ),
        }
    }
}

/// The tokens up to the end of the statement, or of its header: up to the block.
fn statement_tokens(input: ParseStream<'_>, header_only: bool) -> TokenStream {
    let mut tokens = TokenStream::new();
    while let Ok(token) = input.parse::<TokenTree>() {
        match &token {
            TokenTree::Punct(it) if it.as_char() == ';' => break,
            TokenTree::Group(it) if header_only && it.delimiter() == Delimiter::Brace => break,
            _ => tokens.extend([token]),
        }
    }
    tokens
}

/// The first form in `tokens` that is not the start of the statement.
fn find(tokens: TokenStream) -> Option<Misplaced> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let label = if is_label(&tokens) { 3 } else { 0 };
    let starts_with_form = is_form(&tokens[label..]);
    find_after(&tokens, label + usize::from(starts_with_form))
}

fn find_after(tokens: &[TokenTree], start: usize) -> Option<Misplaced> {
    let mut plain_loop = None;
    for at in start..tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if is_form(&tokens[at..]) => {
                return Some(Misplaced { form: word.clone(), plain_loop: None });
            }
            TokenTree::Ident(word) if word == "for" || word == "while" || word == "loop" => {
                plain_loop = Some(word.clone());
            }
            TokenTree::Group(group) if !is_macro_input(&tokens[..at]) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                if let Some(mut found) = find_after(&inner, 0) {
                    found.plain_loop = found.plain_loop.or(plain_loop);
                    return Some(found);
                }
                if group.delimiter() == Delimiter::Brace {
                    plain_loop = None;
                }
            }
            _ => {}
        }
    }
    None
}

/// `'label:`
fn is_label(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(quote), TokenTree::Ident(_), TokenTree::Punct(colon), ..]
        if quote.as_char() == '\'' && colon.as_char() == ':')
}

/// A keyword of a form and its bang.
fn is_form(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Ident(word), TokenTree::Punct(bang), ..] = tokens else { return false };
    bang.as_char() == '!'
        && match word.to_string().as_str() {
            "let" | "do" | "for" | "loop" => true,
            "while" => touch(word.span(), bang.span()),
            _ => false,
        }
}

/// Does a macro's name and its bang end here, so that the group after it is the macro's own?
fn is_macro_input(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., TokenTree::Ident(_), TokenTree::Punct(bang)] if bang.as_char() == '!')
}
