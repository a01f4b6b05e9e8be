//! Gives the forms of the macro a form that `syn` can parse.
//!
//! | form | becomes |
//! |---|---|
//! | `let! pattern = fiber;` | `#[fiber_let] let pattern = fiber;` |
//! | `.. and! pattern = fiber` | `..; #[fiber_and] let pattern = fiber` |
//! | `do! fiber` | `#[fiber_do] !fiber`, so that `do!` parses as a prefix operator |
//! | `return! fiber` | `break 'fiber_return fiber` |
//!
//! The input of other macros stays unchanged, except for macros of the standard library whose input is a list of
//! expressions.

use std::iter::Peekable;
use std::mem;

use proc_macro2::{Delimiter, Group, Ident, LineColumn, Spacing, Span, TokenStream, TokenTree, token_stream};
use quote::quote_spanned;

pub(crate) const LET: &str = "fiber_let";
pub(crate) const AND: &str = "fiber_and";
pub(crate) const DO: &str = "fiber_do";
pub(crate) const TAIL: &str = "fiber_return";
/// On a form before which the block has run no code.
pub(crate) const FIRST: &str = "fiber_first";

/// The macros of the standard library whose input is a list of expressions. (That of `matches!` ends with a pattern.)
const STD_MACROS: [&str; 21] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "matches",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

const AND_ALONE: &str =
    "`and!` belongs to a `let!`, before its semicolon: `let! a = fiber and! b = another;`";

const MUT: &str = "the `!` belongs to the `let`: `let! mut name = fiber;`";

/// Whether waits are expanded in the input of the macro of this name.
fn is_std_macro(name: &Ident) -> bool {
    STD_MACROS.iter().any(|known| name == known)
}

fn is_std(name: &Ident) -> bool {
    ["alloc", "core", "std"].iter().any(|known| name == known)
}

/// The name of the macro, if waits are expanded in its input: `format`, `std::format`.
pub(crate) fn std_macro(path: &syn::Path) -> Option<&Ident> {
    let mut names = path.segments.iter().map(|segment| &segment.ident).rev();
    let name = names.next().filter(|name| is_std_macro(name))?;
    let is_alone = path.leading_colon.is_none() && path.segments.len() == 1;
    let is_of_std = path.segments.len() == 2 && names.next().is_some_and(is_std);
    (is_alone || is_of_std).then_some(name)
}

/// Replaces the forms in `input` by their marks.
pub(crate) fn mark(input: TokenStream, errors: &mut Vec<syn::Error>) -> TokenStream {
    let mut marking = Marking {
        out: TokenStream::new(),
        place: Place::Elsewhere,
        is_in_path: false,
        is_in_std: false,
        is_after_operand: false,
        errors,
    };
    let mut tokens = input.into_iter().peekable();
    while let Some(token) = tokens.next() {
        marking.token(token, &mut tokens);
    }
    marking.out
}

type Tokens = Peekable<token_stream::IntoIter>;

struct Marking<'a> {
    out: TokenStream,
    place: Place,
    /// Right after a `:`.
    is_in_path: bool,
    /// Right after `std` or `std::`, or the like.
    is_in_std: bool,
    /// Right after a token that may end an expression.
    is_after_operand: bool,
    errors: &'a mut Vec<syn::Error>,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Between a `let!` and its semicolon.
    WaitingLet,
    /// Between a plain `let` and its semicolon.
    PlainLet,
    Elsewhere,
}

impl Marking<'_> {
    fn token(&mut self, token: TokenTree, rest: &mut Tokens) {
        match token {
            TokenTree::Group(group) => {
                self.is_in_std = false;
                self.group(&group);
            }
            TokenTree::Ident(word) => self.word(word, rest),
            TokenTree::Punct(punct) => {
                if punct.as_char() == ';' {
                    self.place = Place::Elsewhere;
                }
                self.is_in_path = punct.as_char() == ':';
                self.is_in_std &= self.is_in_path;
                self.is_after_operand = punct.as_char() == '?';
                self.put(TokenTree::Punct(punct));
            }
            literal @ TokenTree::Literal(_) => {
                self.is_after_operand = true;
                self.put(literal);
            }
        }
    }

    fn put(&mut self, token: TokenTree) {
        self.out.extend([token]);
    }

    fn group(&mut self, group: &Group) {
        let mut marked = Group::new(group.delimiter(), mark(group.stream(), self.errors));
        marked.set_span(group.span());
        self.is_after_operand = true;
        self.put(TokenTree::Group(marked));
    }

    fn word(&mut self, word: Ident, rest: &mut Tokens) {
        let is_in_path = mem::take(&mut self.is_in_path);
        let is_in_std = mem::replace(&mut self.is_in_std, is_std(&word));
        let is_after_operand = mem::replace(&mut self.is_after_operand, true);
        let Some(bang) = Bang::after(&word, rest) else {
            return match mut_before_bang(&word, rest) {
                Some(mut_word) => self.late_bang(word.span(), mut_word),
                None => self.plain_word(word, is_after_operand),
            };
        };
        let span = word.span();
        match word.to_string().as_str() {
            _ if bang.is_unequal => self.out.extend([TokenTree::Ident(word), bang.token]),
            "let" => {
                self.place = Place::WaitingLet;
                self.marked_let(LET, span);
            }
            "and" if self.place == Place::PlainLet && is_after_operand => {
                self.errors.push(syn::Error::new(span, AND_ALONE));
                self.separate(span);
            }
            // No macro of this name, whose input would follow.
            "and" if self.place == Place::Elsewhere && !matches!(rest.peek(), Some(TokenTree::Group(_))) => {
                self.errors.push(syn::Error::new(span, AND_ALONE));
                self.out.extend(quote_spanned!(span=> let));
            }
            "and" if self.place == Place::WaitingLet => {
                self.out.extend(quote_spanned!(span=> ;));
                self.marked_let(AND, span);
            }
            "do" => self.marked_operator(span, rest),
            "return" if bang.is_attached => self.marked_break(span),
            "for" | "loop" => self.drop_bang(word),
            "while" if bang.is_attached => self.drop_bang(word),
            // A negation.
            "break" | "else" | "if" | "in" | "match" | "move" | "return" | "while" => {
                self.out.extend([TokenTree::Ident(word), bang.token]);
            }
            _ => {
                let is_std = (!is_in_path || is_in_std) && is_std_macro(&word);
                // A plain `let` whose `do!` waits for a `race!`. Behind other macros, the compiler asks for the parentheses.
                let is_waiting =
                    self.place == Place::WaitingLet || self.place == Place::PlainLet && word == "race";
                self.out.extend([TokenTree::Ident(word), bang.token]);
                if !is_std {
                    self.foreign_input(rest, is_waiting);
                }
            }
        }
    }

    /// A `let mut!` is taken for a `let! mut`.
    fn late_bang(&mut self, span: Span, mut_word: TokenTree) {
        self.errors.push(syn::Error::new(mut_word.span(), MUT));
        self.place = Place::WaitingLet;
        self.marked_let(LET, span);
        self.put(mut_word);
    }

    fn plain_word(&mut self, word: Ident, is_after_operand: bool) {
        if word == "let" && self.place == Place::Elsewhere {
            self.place = Place::PlainLet;
        }
        if word == "and" && is_after_operand && self.place == Place::WaitingLet {
            let message = "this `and` needs a `!`: `let! a = fiber and! b = another;`";
            self.errors.push(syn::Error::new(word.span(), message));
            return self.separate(word.span());
        }
        self.put(TokenTree::Ident(word));
    }

    /// Begins another `let` after a reported error.
    fn separate(&mut self, span: Span) {
        self.out.extend(quote_spanned!(span=> ; let));
    }

    fn marked_let(&mut self, mark: &str, span: Span) {
        let mark = Ident::new(mark, span);
        self.out.extend(quote_spanned!(span=> #[#mark] let));
    }

    fn marked_operator(&mut self, span: Span, rest: &mut Tokens) {
        if is_end(rest.peek()) {
            self.errors.push(syn::Error::new(span, "`do!` waits for a fiber: `do! fiber`"));
            return self.out.extend(quote_spanned!(span=> ::std::unreachable!()));
        }
        let mark = Ident::new(DO, span);
        self.out.extend(quote_spanned!(span=> #[#mark] !));
    }

    fn marked_break(&mut self, span: Span) {
        let mark = syn::Lifetime::new(&format!("'{TAIL}"), span);
        self.out.extend(quote_spanned!(span=> break #mark));
    }

    fn drop_bang(&mut self, word: Ident) {
        let negation = if word == "while" { "; for a negation, write `while !x`" } else { "" };
        let message = format!("there is no `{word}!`: a plain `{word}` waits, so drop the `!`{negation}");
        self.errors.push(syn::Error::new(word.span(), message));
        self.put(TokenTree::Ident(word));
    }

    /// The input of another macro, possibly after the name that a `macro_rules!` defines. `is_waiting`: an `else` may follow.
    fn foreign_input(&mut self, rest: &mut Tokens, is_waiting: bool) {
        self.out.extend(rest.next_if(|token| matches!(token, TokenTree::Ident(_))));
        let is_input = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() != Delimiter::None,
            _ => false,
        };
        let Some(mut input) = rest.next_if(is_input) else { return };
        let is_before_else = matches!(rest.peek(), Some(TokenTree::Ident(word)) if word == "else");
        // `let` has no `}` before its `else`, but the macro is not the end of `let! pattern = race! { .. } else { .. }`.
        if let (true, true, TokenTree::Group(group)) = (is_waiting, is_before_else, &input)
            && group.delimiter() == Delimiter::Brace
        {
            let mut same = Group::new(Delimiter::Parenthesis, group.stream());
            same.set_span(group.span());
            input = TokenTree::Group(same);
        }
        self.put(input);
    }
}

/// The text of marked tokens, as the user has written it.
pub(crate) fn source(marked: TokenStream) -> String {
    let mut source = Source::default();
    source.tokens(marked);
    source.text
}

#[derive(Default)]
struct Source {
    text: String,
    /// Where the token before ends, if no space follows it.
    end: Option<LineColumn>,
}

impl Source {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            let is_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
            match token {
                token if is_hash && rest.next_if(|next| next.to_string().contains(DO)).is_some() => {
                    // The `!` of the operator.
                    rest.next();
                    self.token("do!", token.span());
                    self.end = None;
                }
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{ ", " }"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    let mut inside = Source::default();
                    inside.tokens(group.stream());
                    self.token(&format!("{open}{}{close}", inside.text), group.span());
                }
                token => self.token(&token.to_string(), token.span()),
            }
        }
    }

    fn token(&mut self, text: &str, span: Span) {
        if !self.text.is_empty() && !text.is_empty() && self.end != Some(span.start()) {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.end = Some(span.end());
    }
}

/// The `mut` of a `let mut!`, whose `!` is dropped.
fn mut_before_bang(word: &Ident, rest: &mut Tokens) -> Option<TokenTree> {
    let is_mut = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "mut");
    if word != "let" || !rest.peek().is_some_and(is_mut) {
        return None;
    }
    let mut ahead = rest.clone();
    let mut_word = ahead.next()?;
    ahead.next_if(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!'))?;
    *rest = ahead;
    Some(mut_word)
}

/// Whether an expression ends before this token, whatever it is.
fn is_end(next: Option<&TokenTree>) -> bool {
    match next {
        None => true,
        Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), ';' | ','),
        Some(_) => false,
    }
}

/// A `!` after a word.
struct Bang {
    token: TokenTree,
    /// No space stands between the word and the `!`.
    is_attached: bool,
    /// The `!` begins a `!=`.
    is_unequal: bool,
}

impl Bang {
    fn after(word: &Ident, rest: &mut Tokens) -> Option<Bang> {
        let token =
            rest.next_if(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!'))?;
        let TokenTree::Punct(punct) = &token else { return None };
        let is_attached = punct.span().start() == word.span().end();
        let is_unequal = punct.spacing() == Spacing::Joint
            && matches!(rest.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '=');
        Some(Bang { token, is_attached, is_unequal })
    }
}
