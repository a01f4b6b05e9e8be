//! The arguments in the parentheses of an attribute: `name`, or `name = value`, separated by commas.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Ident, Lit, Result, Token, token};

/// The value that an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// Any expression.
    Value,
    /// A number that is not 0.
    Count,
}

/// An argument that the attribute accepts.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// An example value, for messages.
    pub(crate) example: &'static str,
}

/// An argument in the input.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
}

impl Argument {
    fn parse(input: ParseStream<'_>, known: &[Known]) -> Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error(format!("expected the name of an argument; there are {}", names(known))));
        }
        let name = Ident::parse_any(input)?;
        if input.peek(token::Paren) {
            return Err(input.error(format!("a value has to follow an equals sign: `{name} = ..`")));
        }
        let value = if input.parse::<Option<Token![=]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(Argument { name, value })
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(crate) fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::new(self.name.span(), message)
    }
}

/// Parses the arguments, each of which must be known and occur once.
pub(crate) fn parse(tokens: TokenStream, known: &[Known]) -> Result<Vec<Argument>> {
    let all = (|input: ParseStream<'_>| separated(input, known)).parse2(tokens)?;
    for (at, argument) in all.iter().enumerate() {
        let Some(one) = known.iter().find(|one| argument.is(one.name)) else {
            return Err(unknown(&argument.name, known));
        };
        if all[..at].iter().any(|before| before.is(one.name)) {
            return Err(argument.error(format!("`{}` is given twice", one.name)));
        }
        check_value(argument, one)?;
    }
    Ok(all)
}

/// Parses arguments between which there are commas.
fn separated(input: ParseStream<'_>, known: &[Known]) -> Result<Vec<Argument>> {
    let mut all = Vec::new();
    while !input.is_empty() {
        all.push(Argument::parse(input, known)?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(all)
}

fn check_value(argument: &Argument, known: &Known) -> Result<()> {
    let Known { name, takes, example } = known;
    match (takes, &argument.value) {
        (Takes::Nothing, None) => Ok(()),
        (Takes::Nothing, Some(value)) => Err(Error::new_spanned(
            value,
            format!("`{name}` takes no value: remove the argument to switch it off"),
        )),
        (_, None) => Err(argument.error(format!("`{name}` takes a value: `{name} = {example}`"))),
        (Takes::Count, Some(value)) if is_zero(value) => {
            Err(Error::new_spanned(value, format!("`{name}` has to be at least 1")))
        }
        (_, Some(_)) => Ok(()),
    }
}

fn is_zero(value: &Expr) -> bool {
    let Expr::Lit(literal) = value else { return false };
    matches!(&literal.lit, Lit::Int(number) if number.base10_digits() == "0")
}

fn unknown(name: &Ident, known: &[Known]) -> Error {
    Error::new(name.span(), format!("there is no argument `{name}`; there are {}", names(known)))
}

fn names(known: &[Known]) -> String {
    let names: Vec<String> = known.iter().map(|one| format!("`{}`", one.name)).collect();
    names.join(", ")
}
