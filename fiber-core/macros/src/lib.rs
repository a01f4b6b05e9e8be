//! The `fiber!` macro.
mod expand;
mod facts;
mod frame;
mod misplaced;
mod names;
mod parse;
mod plain;
mod syntax;

use proc_macro::TokenStream;

/// docs
#[proc_macro]
pub fn fiber(input: TokenStream) -> TokenStream {
    let (block, error) = parse::fiber_block(input.into());
    let expansion = expand::fiber_block(&block);
    match error {
        None => expansion.into(),
        Some(error) => {
            let error = error.into_compile_error();
            quote::quote!({ #error #expansion }).into()
        }
    }
}
