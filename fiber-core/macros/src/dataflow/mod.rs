//! The `dataflow!` macro.
//!
//! ```text
//! tokens --parse--> steps --uses--> the names in each --graph--> who reads what --expand--> a fiber
//!                                                                               --dot-----> a picture
//! ```

mod dot;
mod expand;
mod graph;
mod parse;
mod uses;

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;

use graph::Graph;

/// `dataflow!`
pub(crate) fn dataflow(input: TokenStream) -> TokenStream {
    read(input).map_or_else(|errors| errors, expand::dataflow)
}

/// `dataflow_graph!`
pub(crate) fn dataflow_graph(input: TokenStream) -> TokenStream {
    let drawn = read(input).map(|graph| Literal::string(&dot::draw(&graph)));
    drawn.map_or_else(|errors| errors, |text| quote_spanned!(Span::mixed_site()=> #text))
}

/// The graph, or the tokens that report the errors.
fn read(input: TokenStream) -> Result<Graph, TokenStream> {
    let mut errors = Vec::new();
    let body = parse::body(input, &mut errors);
    let graph = body.map(|body| Graph::new(body, &mut errors));
    match graph {
        Some(graph) if errors.is_empty() => Ok(graph),
        _ => {
            let errors = errors.iter().map(syn::Error::to_compile_error);
            Err(quote_spanned!(Span::mixed_site()=> { #(#errors)* loop {} }))
        }
    }
}
