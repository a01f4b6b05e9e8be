//! Expands `test`: runs the test once, in virtual time.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, Result};

use crate::arguments::{self, Argument, Known, Takes};
use crate::program::{Program, with_errors};

const KNOWN: [Known; 6] = [
    Known { name: "schedule", takes: Takes::Value, example: "\"1:1 4:1\"" },
    Known { name: "seed", takes: Takes::Value, example: "7" },
    Known { name: "draws", takes: Takes::Count, example: "6" },
    Known { name: "as_production", takes: Takes::Count, example: "1024" },
    Known { name: "virtual_cpus", takes: Takes::Count, example: "2" },
    Known { name: "may_hold", takes: Takes::Nothing, example: "" },
];

pub(crate) fn expand(arguments: TokenStream, function: TokenStream) -> TokenStream {
    try_expand(arguments, function.clone()).unwrap_or_else(|error| with_errors(function, &error))
}

fn try_expand(arguments: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let program = Program::parse(function)?;
    let arguments = arguments::parse(arguments, &KNOWN)?;
    let span = program.span().resolved_at(Span::mixed_site());
    let scheduler = scheduler(&arguments)?;
    let settings = arguments.iter().filter(|one| !one.is("schedule") && !one.is("seed"));
    let calls = settings.map(|Argument { name, value }| {
        let method = Ident::new(&name.to_string(), name.span());
        quote!(.#method(#value))
    });
    Ok(program.into_test(
        |make| quote_spanned!(span=> ::fiber_test::__macro_support::run(#scheduler #(#calls)*, #make);),
    ))
}

fn scheduler(arguments: &[Argument]) -> Result<TokenStream> {
    let find = |name: &str| arguments.iter().find(|one| one.is(name));
    match (find("schedule"), find("seed")) {
        (Some(_), Some(seed)) => Err(seed.error("a schedule has a seed of its own: `schedule = \"r7 1:1\"`")),
        (Some(Argument { value, .. }), None) => Ok(
            quote!(::fiber_test::TestScheduler::with_schedule(::fiber_test::__macro_support::schedule(#value))),
        ),
        (None, Some(Argument { value, .. })) => Ok(quote!(::fiber_test::TestScheduler::with_seed(#value))),
        (None, None) => Ok(quote!(::fiber_test::TestScheduler::new())),
    }
}
