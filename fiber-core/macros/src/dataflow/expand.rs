//! Expands a dataflow whose graph is known.
//!
//! ```text
//!   let values = (Value::new(), ..);                        one for each variable
//!   let step0 = step(&values, |values| {
//!       let a = values.0.get();
//!       Ok(made(expression, |values, value| { let pattern = value; values.1.put(b); }))
//!   });
//!   dataflow(gives, &__FIBER_GRAPH, handovers, (step0, .., end), values, |index, start| match index { 0 => .. }, ..)
//! ```
//!
//! The user's code sees no names of the expansion except its own variables.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::graph::{Access, Graph, Reader, Variable};
use super::parse::Step;
use super::uses::{self, Rename};

/// An identifier that the user's code cannot see.
fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// In the input of other macros, `self` becomes this.
const SELF: &str = "this";

pub(super) fn dataflow(mut graph: Graph) -> TokenStream {
    let items = std::mem::take(&mut graph.body.items);
    let value = graph.body.value.take();
    let (values, count) = (own("values"), graph.body.steps.len());
    let flow = quote_spanned!(Span::mixed_site()=> ::fiber_core::__macro_support::flow);
    let slots = slots(&graph.variables);
    let initial = graph.variables.iter().filter(|variable| is_kept(variable)).map(|variable| {
        let ident = &variable.ident;
        match variable.step {
            // With the user's span, because the compiler may say here that it is not `Send`.
            None => quote_spanned!(ident.span()=> ::fiber_core::__macro_support::flow::Value::of(#ident)),
            Some(_) => quote!(#flow::Value::new()),
        }
    });
    let names: Vec<Ident> = (0..count).map(|index| own(&format!("step{index}"))).collect();
    let steps = std::mem::take(&mut graph.body.steps);
    let declared = steps.into_iter().enumerate().map(|(index, step)| {
        let (name, attrs) = (&names[index], step.attrs.clone());
        let step = self::step(&graph, &slots, index, step);
        quote!(#(#attrs)* let #name = #step;)
    });
    let end = end(&graph, &slots, count, value);
    let numbers = (0..count).map(Literal::usize_unsuffixed);
    let fields = (0..count).map(syn::Index::from);
    let last = syn::Index::from(count);
    let (table, handovers) = (table(&graph), handovers(&graph, &slots));
    quote_spanned! {Span::mixed_site()=> {
        #(#items)*
        #[allow(unused_imports)]
        use #flow::Own as _;
        #table
        #[allow(unused_mut)]
        let mut #values = (#(#initial,)*);
        #(#declared)*
        let handovers = #handovers;
        let gives = ::core::marker::PhantomData;
        #flow::dataflow(
            gives,
            &__FIBER_GRAPH,
            handovers,
            (#(#names,)* #end,),
            #values,
            |index, start| match index {
                #(#numbers => start.run(|steps| &mut steps.#fields),)*
                _ => start.unknown(),
            },
            |#values, steps| steps.#last.make(#values),
        )
    }}
}

/// Whether a step or the value may read it.
fn is_kept(variable: &Variable) -> bool {
    !variable.readers.is_empty()
}

/// The places of the variables among the values.
fn slots(variables: &[Variable]) -> Vec<Option<syn::Index>> {
    let mut next = 0..;
    variables
        .iter()
        .map(|variable| is_kept(variable).then(|| syn::Index::from(next.next().expect("it has no end"))))
        .collect()
}

fn step(graph: &Graph, slots: &[Option<syn::Index>], index: usize, mut step: Step) -> TokenStream {
    let values = own("values");
    let inputs = inputs(graph, slots, index);
    uses::rename(&mut step.expr, renames(graph, index));
    let (expr, span) = (&step.expr, step.expr.span());
    // With the span of the user's expression, so that a type error points there, and a trace names its line.
    let fiber = Ident::new("fiber", span);
    let into_fiber = quote_spanned!(span=> ::fiber_core::IntoFiber::into_fiber(#fiber));
    let put = put(graph, slots, index, &step);
    let make = quote_spanned! {Span::mixed_site()=>
        move |#values| {
            #inputs
            let #fiber = #expr;
            ::core::result::Result::Ok(::fiber_core::__macro_support::flow::made(#into_fiber, #put))
        }
    };
    quote_spanned!(span=> ::fiber_core::__macro_support::flow::step(&#values, #make))
}

/// Stores the value of the step's fiber in its variables.
fn put(graph: &Graph, slots: &[Option<syn::Index>], index: usize, step: &Step) -> TokenStream {
    // With the span of the user's expression, so that a type error points there.
    let (values, value) = (own("values"), Ident::new("value", step.expr.span()));
    let Some(pattern) = &step.pattern else {
        return quote_spanned!(Span::mixed_site()=> |_, _| {});
    };
    let ty = step.ty.as_ref().map(|ty| quote!(: #ty));
    let given = graph.variables.iter().zip(slots).filter(|(variable, _)| variable.step == Some(index));
    let mut is_used = false;
    let mut puts = Vec::new();
    for (variable, slot) in given {
        let ident = &variable.ident;
        if let Some(slot) = slot {
            is_used = true;
            puts.push(quote_spanned!(Span::mixed_site()=> #values.#slot.put(#ident);));
        } else if variable.is_awaited {
            puts.push(quote_spanned!(Span::mixed_site()=> _ = &#ident;));
        }
    }
    let values = if is_used { quote!(#values) } else { quote!(_) };
    quote_spanned!(Span::mixed_site()=> |#values, #value| { let #pattern #ty = #value; #(#puts)* })
}

fn end(graph: &Graph, slots: &[Option<syn::Index>], count: usize, value: Option<syn::Expr>) -> TokenStream {
    let values = own("values");
    let inputs = inputs(graph, slots, count);
    let value = match value {
        Some(mut value) => {
            uses::rename(&mut value, renames(graph, count));
            quote!(#value)
        }
        None => quote!(()),
    };
    quote_spanned! {Span::mixed_site()=>
        ::fiber_core::__macro_support::flow::end(gives, &#values, move |#values| {
            #inputs
            ::core::result::Result::Ok(#value)
        })
    }
}

/// The variables that a step reads.
fn reads<'a>(
    graph: &'a Graph,
    slots: &'a [Option<syn::Index>],
    by: usize,
) -> impl Iterator<Item = (&'a Variable, &'a Reader, &'a syn::Index)> {
    graph.variables.iter().zip(slots).filter_map(move |(variable, slot)| {
        let reader = variable.readers.iter().find(|reader| reader.by == by)?;
        Some((variable, reader, slot.as_ref()?))
    })
}

/// `let a = values.0.get();` for each variable that a step reads.
fn inputs(graph: &Graph, slots: &[Option<syn::Index>], by: usize) -> TokenStream {
    let values = own("values");
    let mut inputs = TokenStream::new();
    for (variable, reader, slot) in reads(graph, slots, by) {
        let name = if variable.name == "self" { own(SELF) } else { variable.named_at(reader) };
        let mutability = variable.is_mutable.then(|| quote_spanned!(Span::mixed_site()=> mut));
        inputs.extend(match reader.access {
            Access::Borrow => {
                quote_spanned!(Span::mixed_site()=> #[allow(unused_variables)] let #name = #values.#slot.get();)
            }
            Access::Own => quote_spanned! {Span::mixed_site()=>
                #[allow(unused_mut, unused_variables)]
                let #mutability #name = #values.#slot.take();
            },
            Access::Copy => {
                // All tokens have the user's span, because the compiler may say here that the value is not `Copy`.
                let place = Ident::new("place", reader.ident.span());
                let copied = quote_spanned!(place.span()=> ::fiber_core::__macro_support::flow::copied(#place));
                quote_spanned! {Span::mixed_site()=>
                    #[allow(unused_mut, unused_variables)]
                    let #mutability #name = { let #place = &#values.#slot; #copied };
                }
            }
            Access::Last => quote_spanned! {Span::mixed_site()=>
                #[allow(unused_mut, unused_variables)]
                let #mutability #name = (&mut &mut #values.#slot).own();
            },
        });
    }
    inputs
}

fn renames(graph: &Graph, by: usize) -> BTreeMap<String, Rename> {
    let mut renames = BTreeMap::new();
    for variable in &graph.variables {
        let Some(reader) = variable.readers.iter().find(|reader| reader.by == by) else { continue };
        let is_borrowed = reader.access == Access::Borrow;
        let rename = match (is_borrowed, variable.name == "self") {
            (true, false) => Rename::Borrowed,
            (true, true) => Rename::BorrowedAs(own(SELF)),
            (false, true) => Rename::Owned(own(SELF)),
            (false, false) => continue,
        };
        renames.insert(variable.name.clone(), rename);
    }
    renames
}

/// The constant that describes the graph to the engine.
fn table(graph: &Graph) -> TokenStream {
    let count = Literal::usize_unsuffixed(graph.needs.len());
    let needs = graph.needs.iter().map(|needs| Literal::usize_unsuffixed(needs.len()));
    let next = (0..graph.needs.len()).map(|from| {
        let is_next = |to: &usize| graph.needs[*to].contains(&from);
        let next = (0..graph.needs.len()).filter(is_next).map(Literal::usize_unsuffixed);
        quote!(&[#(#next),*])
    });
    let flow = quote_spanned!(Span::mixed_site()=> ::fiber_core::__macro_support::flow);
    // The user's code sees this name, as that of every item.
    let name = own("__FIBER_GRAPH");
    quote_spanned! {Span::mixed_site()=>
        static #name: #flow::Graph<#count> = #flow::Graph { needs: [#(#needs),*], next: [#(#next),*] };
    }
}

fn handovers(graph: &Graph, slots: &[Option<syn::Index>]) -> TokenStream {
    let values = own("values");
    let handovers = graph.handovers.iter().map(|handover| {
        let (from, to) = (Literal::usize_unsuffixed(handover.from), Literal::usize_unsuffixed(handover.to));
        let slot = &slots[handover.variable];
        quote_spanned! {Span::mixed_site()=>
            ::fiber_core::__macro_support::flow::Handover {
                from: #from,
                to: #to,
                is_moved: (&mut &mut #values.#slot).is_moved(),
            }
        }
    });
    quote!([#(#handovers),*])
}
