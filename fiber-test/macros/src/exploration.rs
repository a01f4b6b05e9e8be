//! Expands `explore`: runs the test under many schedules.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident, Result};

use crate::arguments::{self, Argument};
use crate::program::{Program, with_errors};
use crate::settings::{KNOWN, Mode};

pub(crate) fn expand(arguments: TokenStream, function: TokenStream) -> TokenStream {
    try_expand(arguments, function.clone()).unwrap_or_else(|error| with_errors(function, &error))
}

fn try_expand(arguments: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let program = Program::parse(function)?;
    let arguments = arguments::parse(arguments, &KNOWN)?;
    let mode = Mode::of(&arguments)?;
    for argument in &arguments {
        if let Some(reason) = mode.refuses(&argument.name.to_string()) {
            return Err(argument.error(reason));
        }
    }
    let start = start(mode, &arguments);
    let calls = arguments.iter().filter(|one| Mode::named(&one.name.to_string()).is_none()).map(call);
    // The check has the place of the test, by which reports and the file of regressions identify it.
    let span = program.span().resolved_at(Span::mixed_site());
    Ok(program.into_test(|make| quote_spanned!(span=> #start #(#calls)*.check(#make);)))
}

fn start(mode: Mode, arguments: &[Argument]) -> TokenStream {
    match mode {
        Mode::Portfolio => quote!(::fiber_test::Explore::default()),
        Mode::Exhaustive => quote!(::fiber_test::Explore::exhaustive()),
        Mode::CancelEverywhere => quote!(::fiber_test::Explore::cancel_everywhere()),
        Mode::Replay => {
            let schedule = value(arguments, "replay");
            quote!(::fiber_test::Explore::replay(#schedule))
        }
        Mode::Recorded => {
            let recording = value(arguments, "recorded");
            quote!(::fiber_test::Explore::recorded(#recording))
        }
    }
}

fn value<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Expr> {
    arguments.iter().find(|one| one.is(name))?.value.as_ref()
}

/// The call has the span of the argument, so that an error in the value is shown there.
fn call(Argument { name, value }: &Argument) -> TokenStream {
    let method = Ident::new(&name.to_string(), name.span());
    quote_spanned!(name.span()=> .#method(#value))
}
