//! Draws the graph of a dataflow, in the language of Graphviz.

use std::fmt::Write;

use super::graph::Graph;
use super::parse::Step;

/// The graph as DOT text. Edges are labelled with the names of their values; dashed ones come from `then` and `after`, dotted
/// ones lead to a step that takes what another one has borrowed.
pub(super) fn draw(graph: &Graph) -> String {
    let count = graph.body.steps.len();
    let mut dot = String::from("digraph dataflow {\n");
    let mut line = |text: String| _ = writeln!(dot, "    {text}");
    for (index, step) in graph.body.steps.iter().enumerate() {
        line(format!("s{index} [label=\"{}\"];", label(step)));
    }
    if graph.body.value.is_some() {
        line(format!("s{count} [label=\"return\", shape=box];"));
    }
    for variable in &graph.variables {
        let Some(from) = variable.step else { continue };
        for reader in &variable.readers {
            line(format!("s{from} -> s{} [label=\"{}\"];", reader.by, variable.name));
        }
    }
    for (from, to) in &graph.orders {
        line(format!("s{from} -> s{to} [style=dashed];"));
    }
    for handover in &graph.handovers {
        let name = &graph.variables[handover.variable].name;
        line(format!("s{} -> s{} [style=dotted, label=\"{name}\"];", handover.from, handover.to));
    }
    dot.push_str("}\n");
    dot
}

/// The pattern of a step, or the function that it calls.
fn label(step: &Step) -> String {
    let text = match &step.pattern {
        Some(pattern) => plain(quote::quote!(#pattern).to_string()),
        None => called(&step.expr),
    };
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn called(expr: &syn::Expr) -> String {
    match expr {
        syn::Expr::Call(call) => {
            let function = &call.func;
            plain(quote::quote!(#function).to_string())
        }
        syn::Expr::MethodCall(call) => call.method.to_string(),
        _ => "fiber".to_owned(),
    }
}

/// The text of tokens without the spaces that `quote` adds.
fn plain(tokens: String) -> String {
    [("( ", "("), (" )", ")"), (" ,", ","), (" :: ", "::"), (" (", "(")]
        .iter()
        .fold(tokens, |text, (wide, narrow)| text.replace(wide, narrow))
}
