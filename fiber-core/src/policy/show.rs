//! Prints a policy as the program writes it.

use std::fmt::{self, Formatter};

use super::describe::{JITTER, Policy};
use super::rule::{Condition, Rule};

impl<I> fmt::Debug for Policy<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.rule, f)
    }
}

impl<I> fmt::Debug for Rule<Condition<I>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Forever => f.write_str("forever()"),
            Rule::Recurs(times) => write!(f, "recurs({times})"),
            Rule::Spaced(pause) => write!(f, "spaced({pause:?})"),
            Rule::FixedRate(interval) => write!(f, "fixed_rate({interval:?})"),
            Rule::Exponential { next, factor: 2.0 } => write!(f, "exponential({next:?})"),
            Rule::Exponential { next, factor } => write!(f, "exponential_with({next:?}, {factor:?})"),
            Rule::Fibonacci { next, .. } => write!(f, "fibonacci({next:?})"),
            Rule::Capped(rule, longest) => write!(f, "{:?}.capped({longest:?})", Operand(rule)),
            Rule::Jittered(rule, JITTER) => write!(f, "{:?}.jittered()", Operand(rule)),
            Rule::Jittered(rule, factors) => write!(f, "{:?}.jittered_within({factors:?})", Operand(rule)),
            Rule::UpTo(rule, total) => write!(f, "{:?}.up_to({total:?})", Operand(rule)),
            Rule::OnInput(rule, condition) => write!(f, "{:?}.{}(..)", Operand(rule), condition.name),
            Rule::Union(left, right) => infix(f, left.as_deref(), "|", right.as_deref()),
            Rule::Intersection(left, right) => infix(f, Some(left), "&", Some(right)),
            Rule::AndThen(Some(first), second) => write!(f, "{:?}.and_then({second:?})", Operand(first)),
            Rule::AndThen(None, second) => fmt::Debug::fmt(second, f),
        }
    }
}

fn infix<I>(
    f: &mut Formatter<'_>,
    left: Option<&Rule<Condition<I>>>,
    operator: &str,
    right: Option<&Rule<Condition<I>>>,
) -> fmt::Result {
    match (left, right) {
        (Some(left), Some(right)) => write!(f, "{:?} {operator} {:?}", Operand(left), Operand(right)),
        (Some(one), None) | (None, Some(one)) => fmt::Debug::fmt(one, f),
        (None, None) => f.write_str("recurs(0)"),
    }
}

/// A rule as part of another rule, in parentheses if necessary.
struct Operand<'a, I>(&'a Rule<Condition<I>>);

impl<I> fmt::Debug for Operand<'_, I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rule::Union(..) | Rule::Intersection(..) => write!(f, "({:?})", self.0),
            _ => fmt::Debug::fmt(self.0, f),
        }
    }
}
