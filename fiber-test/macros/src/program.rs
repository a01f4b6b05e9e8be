//! The function below an attribute: it returns a fiber, or is an `async fn`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, ItemFn, Result, ReturnType, Type};

pub(crate) struct Program {
    function: ItemFn,
}

impl Program {
    /// # Errors
    /// If the function cannot be a test.
    pub(crate) fn parse(function: TokenStream) -> Result<Self> {
        let function: ItemFn = syn::parse2(function)?;
        let signature = &function.sig;
        if let Some(first) = signature.inputs.first() {
            return Err(Error::new_spanned(first, "a test takes no arguments"));
        }
        if !signature.generics.params.is_empty() {
            return Err(Error::new_spanned(&signature.generics, "a test has no generic parameters"));
        }
        if let Some(other) = function.attrs.iter().find(|attribute| attribute.path().is_ident("test")) {
            return Err(Error::new_spanned(other, "the other attribute makes the test: leave this one out"));
        }
        if signature.asyncness.is_none() && returns_nothing(&signature.output) {
            return Err(Error::new_spanned(
                &signature.ident,
                "there is nothing to run: return a fiber, as in `-> Fiber<()>`, or write `async fn`",
            ));
        }
        Ok(Program { function })
    }

    /// A `#[test]` with the same name, whose body is `run`. The function is a local item there, of that name too: any other name
    /// could be one that the function uses.
    pub(crate) fn into_test(self, run: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        let make = self.make();
        let ItemFn { attrs, vis, sig, block, .. } = self.function;
        let name = &sig.ident;
        let run = run(make);
        quote! {
            #(#attrs)*
            #[::core::prelude::v1::test]
            #vis fn #name() {
                #sig #block
                #run
            }
        }
    }

    /// A closure that makes the fiber. Reports show the place of the function's name for it.
    fn make(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let span = name.span().resolved_at(Span::mixed_site());
        let make = match self.function.sig.asyncness {
            Some(_) => quote!(future),
            None => quote!(fiber),
        };
        quote_spanned!(span=> || ::fiber_test::__macro_support::#make(#name()))
    }

    /// The span of the function's name.
    pub(crate) fn span(&self) -> Span {
        self.function.sig.ident.span()
    }
}

fn returns_nothing(output: &ReturnType) -> bool {
    match output {
        ReturnType::Default => true,
        ReturnType::Type(_, output) => matches!(&**output, Type::Tuple(all) if all.elems.is_empty()),
    }
}

/// The errors, and the unchanged function, so that an editor still sees its calls.
pub(crate) fn with_errors(function: TokenStream, error: &Error) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#error #[allow(dead_code)] #function)
}
