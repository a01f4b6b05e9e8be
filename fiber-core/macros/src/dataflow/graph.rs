//! The graph of a dataflow: which step reads which variable, and which steps it waits for.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;

use super::parse::{Body, Order};
use super::uses::{self, How, Use, Uses, text};

/// A dataflow with resolved names.
pub(super) struct Graph {
    pub(super) body: Body,
    pub(super) variables: Vec<Variable>,
    /// For each step, the steps that have to end before it starts.
    pub(super) needs: Vec<BTreeSet<usize>>,
    /// For each step, all steps that have ended when it starts.
    before: Vec<BTreeSet<usize>>,
    /// `(from, to)`, for the orders that `then` and `after` add to the inputs.
    pub(super) orders: BTreeSet<(usize, usize)>,
    pub(super) handovers: Vec<Handover>,
}

/// A variable that a step produces, or one from outside that several steps read.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ident: Ident,
    pub(super) is_mutable: bool,
    /// The step that produces it. `None`: it is captured.
    pub(super) step: Option<usize>,
    /// In the order of the steps; the value of the dataflow comes last.
    pub(super) readers: Vec<Reader>,
    /// An `after(..)` names it.
    pub(super) is_awaited: bool,
}

pub(super) struct Reader {
    /// The step, or the number of steps for the value of the dataflow.
    pub(super) by: usize,
    pub(super) ident: Ident,
    pub(super) access: Access,
}

/// How a reader gets the variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// A reference.
    Borrow,
    /// A copy, because later steps read the variable.
    Copy,
    /// The value, because this is the only reader, or because all others have ended.
    Own,
    /// The value or a copy, as the last reader. The value cannot leave before the other readers have started.
    Last,
}

/// A step takes a variable that another step borrows.
pub(super) struct Handover {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) variable: usize,
}

/// Far more steps than programs have, and few enough for the numbers in the graph.
const MOST_STEPS: usize = 1000;

impl Graph {
    pub(super) fn new(body: Body, errors: &mut Vec<syn::Error>) -> Self {
        let count = body.steps.len();
        if let Some(step) = body.steps.get(MOST_STEPS) {
            let message = format!("a dataflow has at most {MOST_STEPS} steps: make a fiber of a part of it");
            errors.push(syn::Error::new(step.span(), message));
        }
        let none = vec![BTreeSet::new(); count];
        let mut graph = Graph {
            body,
            variables: Vec::new(),
            needs: none.clone(),
            before: none,
            orders: BTreeSet::new(),
            handovers: Vec::new(),
        };
        graph.add_variables(errors);
        let uses = graph.find_uses(errors);
        graph.check_order(&uses, errors);
        graph.add_captures(&uses);
        graph.add_readers(&uses);
        graph.add_orders(errors);
        graph.check_results(errors);
        graph.add_handovers();
        graph
    }

    fn add_variables(&mut self, errors: &mut Vec<syn::Error>) {
        for (index, step) in self.body.steps.iter_mut().enumerate() {
            let bound = step.bound(errors);
            self.variables.extend(
                bound.into_iter().map(|bound| Variable::new(bound.ident, bound.is_mutable, Some(index))),
            );
        }
    }

    /// The names in each step, and in the value.
    fn find_uses(&mut self, errors: &mut Vec<syn::Error>) -> Vec<Uses> {
        let mut uses: Vec<Uses> =
            self.body.steps.iter_mut().map(|step| uses::find(&mut step.expr, errors)).collect();
        uses.push(self.body.value.as_mut().map(|value| uses::find(value, errors)).unwrap_or_default());
        uses
    }

    /// The variable that a name means in step `by`: the last one above, or else a captured one.
    fn resolve(&self, name: &str, by: usize) -> Option<usize> {
        let is_above = |variable: &Variable| variable.step.is_some_and(|step| step < by);
        let found = |is_wanted: &dyn Fn(&Variable) -> bool| {
            self.variables.iter().rposition(|variable| variable.name == name && is_wanted(variable))
        };
        found(&is_above).or_else(|| found(&|variable| variable.step.is_none()))
    }

    // ---- names that are defined further down ----

    /// The step further down that produces what step `by` calls `name`.
    fn giver_below(&self, name: &str, used: &Use, by: usize) -> Option<usize> {
        if used.is_guess || self.resolve(name, by).is_some() {
            return None;
        }
        // A step may give its result the name of one of its inputs.
        let gives = |step: usize| self.variables.iter().any(|it| it.step == Some(step) && it.name == name);
        if gives(by) {
            return None;
        }
        (by + 1..self.body.steps.len()).find(|step| gives(*step))
    }

    fn check_order(&self, uses: &[Uses], errors: &mut Vec<syn::Error>) {
        for (by, names) in uses.iter().enumerate() {
            for (name, used) in names {
                let Some(giver) = self.giver_below(name, used, by) else { continue };
                let message = match self.way(uses, giver, by) {
                    Some(way) => format!(
                        "`{name}` needs the result of this step, which needs `{name}`{}: steps in a circle can never start",
                        through(&way)
                    ),
                    None => format!(
                        "`{name}` is used here, and defined further down: move its step above this one; if another `{name}` is \
                         meant, rename one of the two"
                    ),
                };
                errors.push(syn::Error::new(used.ident.span(), message));
            }
        }
    }

    /// The names along which step `from` depends on step `to`, through other steps.
    fn way(&self, uses: &[Uses], from: usize, to: usize) -> Option<Vec<String>> {
        let mut ways = BTreeMap::from([(from, Vec::new())]);
        let mut next = vec![from];
        while let Some(step) = next.pop() {
            if step == to {
                return ways.remove(&step);
            }
            for (name, used) in &uses[step] {
                let above = self.resolve(name, step).and_then(|variable| self.variables[variable].step);
                let Some(giver) = above.or_else(|| self.giver_below(name, used, step)) else { continue };
                if !ways.contains_key(&giver) {
                    let mut way: Vec<String> = ways[&step].clone();
                    way.push(name.clone());
                    ways.insert(giver, way);
                    next.push(giver);
                }
            }
        }
        None
    }

    // ---- readers of each variable ----

    /// Adds variables from outside that several steps read. A variable that a single step reads is captured by
    /// that step.
    fn add_captures(&mut self, uses: &[Uses]) {
        let mut readers: BTreeMap<&String, Vec<&Use>> = BTreeMap::new();
        for (by, names) in uses.iter().enumerate() {
            for (name, used) in names.iter().filter(|(name, _)| self.resolve(name, by).is_none()) {
                readers.entry(name).or_default().push(used);
            }
        }
        let captured = readers.into_values().filter(|uses| uses.len() > 1);
        let sure = captured.filter_map(|uses| uses.into_iter().find(|used| !used.is_guess));
        let captured: Vec<Ident> = sure.map(|used| used.ident.clone()).collect();
        self.variables.extend(captured.into_iter().map(|ident| Variable::new(ident, false, None)));
    }

    fn add_readers(&mut self, uses: &[Uses]) {
        let count = self.body.steps.len();
        let mut takes: Vec<Vec<bool>> = vec![Vec::new(); self.variables.len()];
        for (by, names) in uses.iter().enumerate() {
            for (name, used) in names {
                let Some(index) = self.resolve(name, by) else { continue };
                let variable = &mut self.variables[index];
                // A method call on a mutable variable may modify it.
                takes[index].push(used.how == How::Takes || variable.is_mutable && used.how == How::Looks);
                variable.readers.push(Reader { by, ident: used.ident.clone(), access: Access::Borrow });
                if let Some(step) = variable.step
                    && by < count
                {
                    self.needs[by].insert(step);
                }
            }
        }
        for (variable, takes) in self.variables.iter_mut().zip(takes) {
            let last = variable.readers.len().saturating_sub(1);
            for (index, (reader, takes)) in variable.readers.iter_mut().zip(takes).enumerate() {
                reader.access = match (index == last, takes) {
                    (true, _) if last == 0 || reader.by == count => Access::Own,
                    (true, true) => Access::Last,
                    (false, true) => Access::Copy,
                    (_, false) => Access::Borrow,
                };
            }
        }
    }

    // ---- orders without an input ----

    fn add_orders(&mut self, errors: &mut Vec<syn::Error>) {
        for to in 0..self.body.steps.len() {
            for from in self.needs[to].clone() {
                self.put_before(from, to);
            }
            for from in self.ordered_before(to, errors) {
                if !self.before[to].contains(&from) {
                    self.orders.insert((from, to));
                    self.needs[to].insert(from);
                    self.put_before(from, to);
                }
            }
        }
    }

    fn put_before(&mut self, from: usize, to: usize) {
        let earlier = self.before[from].clone();
        self.before[to].extend(earlier);
        self.before[to].insert(from);
    }

    /// The steps that `then` or `after` names, the latest first, so that those that they wait for can be omitted.
    fn ordered_before(&mut self, to: usize, errors: &mut Vec<syn::Error>) -> Vec<usize> {
        match &self.body.steps[to].order {
            Order::Nothing => Vec::new(),
            Order::AllAbove(span) => {
                if to == 0 {
                    let message = "`then` runs a step after all steps above, and there is none: drop it, or move this step down";
                    errors.push(syn::Error::new(*span, message));
                }
                (0..to).rev().collect()
            }
            Order::Named(names) => {
                let mut before = Vec::new();
                for ident in names.clone() {
                    let above = self.resolve(&text(&ident), to);
                    match above.and_then(|index| Some((index, self.variables[index].step?))) {
                        Some((index, step)) => {
                            self.variables[index].is_awaited = true;
                            before.push(step);
                        }
                        None => {
                            let message =
                                format!("no step above gives `{ident}`: `after(..)` names results of steps");
                            errors.push(syn::Error::new(ident.span(), message));
                        }
                    }
                }
                before.sort_unstable_by(|a, b| b.cmp(a));
                before
            }
        }
    }

    // ---- results that are never read ----

    fn check_results(&self, errors: &mut Vec<syn::Error>) {
        for step in 0..self.body.steps.len() {
            let mut given = self.variables.iter().filter(|variable| variable.step == Some(step)).peekable();
            let Some(first) = given.peek().map(|variable| &variable.ident) else { continue };
            let is_read = given.any(Variable::is_read);
            if !is_read {
                let message = format!(
                    "nothing reads `{first}`: use it in a step or in `return`; `let _ = fiber;` says that the result is not needed, \
                     and `then fiber;` that the step runs after all steps above"
                );
                errors.push(syn::Error::new(first.span(), message));
            }
        }
    }

    // ---- values that are moved ----

    fn add_handovers(&mut self) {
        for (index, variable) in self.variables.iter().enumerate() {
            let Some(last) = variable.readers.last().filter(|last| last.access == Access::Last) else {
                continue;
            };
            for reader in &variable.readers {
                if reader.by != last.by && !self.before[last.by].contains(&reader.by) {
                    self.handovers.push(Handover { from: reader.by, to: last.by, variable: index });
                }
            }
        }
    }
}

fn through(way: &[String]) -> String {
    let names: Vec<String> = way.iter().rev().skip(1).map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" (by {})", names.join(", ")) }
}

impl Variable {
    fn new(ident: Ident, is_mutable: bool, step: Option<usize>) -> Self {
        Variable { name: text(&ident), ident, is_mutable, step, readers: Vec::new(), is_awaited: false }
    }

    /// Its name, at the place of a reader. Not as the reader has written it: a name that a macro was given is another variable than the same name in
    /// the text of that macro, and the compiler knows which of the two is meant.
    pub(super) fn named_at(&self, reader: &Reader) -> Ident {
        let mut name = self.ident.clone();
        name.set_span(reader.ident.span().resolved_at(self.ident.span()));
        name
    }

    fn is_read(&self) -> bool {
        !self.readers.is_empty() || self.is_awaited || self.name.starts_with('_')
    }
}
