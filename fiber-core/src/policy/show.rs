//! Prints a policy as the program writes it.

use std::fmt::{self, Formatter};

use super::describe::{JITTER, Policy};
use super::part::{Part, between};

impl<I> fmt::Debug for Policy<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&Shown(self.rule.parts()), f)
    }
}

/// A rule.
struct Shown<'a, C>(&'a [Part<C>]);

impl<C> fmt::Debug for Shown<'_, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some((part, inner)) = self.0.split_last() else { return Ok(()) };
        let operand = Operand(inner);
        match part {
            Part::Nothing => Ok(()),
            Part::Forever => f.write_str("forever()"),
            Part::Recurs(times) => write!(f, "recurs({times})"),
            Part::Spaced(pause) => write!(f, "spaced({pause:?})"),
            Part::FixedRate(interval) => write!(f, "fixed_rate({interval:?})"),
            Part::Exponential { next, factor: 2.0 } => write!(f, "exponential({next:?})"),
            Part::Exponential { next, factor } => write!(f, "exponential_with({next:?}, {factor:?})"),
            Part::Fibonacci(two) => write!(f, "fibonacci({:?})", two.get()[0]),
            Part::Capped(longest) => write!(f, "{operand:?}.capped({longest:?})"),
            Part::Jittered(JITTER) => write!(f, "{operand:?}.jittered()"),
            Part::Jittered(factors) => write!(f, "{operand:?}.jittered_within({factors:?})"),
            Part::UpTo(total) => write!(f, "{operand:?}.up_to({total:?})"),
            Part::WhileInput(_) => write!(f, "{operand:?}.while_input(..)"),
            Part::UntilInput(_) => write!(f, "{operand:?}.until_input(..)"),
            Part::Union { left_is_over: true, right_is_over: true } => f.write_str("recurs(0)"),
            Part::Union { left_is_over: true, .. } | Part::AndThen { first_is_over: true } => {
                fmt::Debug::fmt(&split(inner).1, f)
            }
            Part::Union { right_is_over: true, .. } => fmt::Debug::fmt(&split(inner).0, f),
            Part::Union { .. } => infix(f, inner, "|"),
            Part::Intersection => infix(f, inner, "&"),
            Part::AndThen { first_is_over: false } => {
                let (first, second) = split(inner);
                write!(f, "{:?}.and_then({second:?})", Operand(first.0))
            }
        }
    }
}

/// The last two rules of these.
fn split<C>(rules: &[Part<C>]) -> (Shown<'_, C>, Shown<'_, C>) {
    let (left, right) = rules.split_at(between(rules));
    (Shown(left), Shown(right))
}

fn infix<C>(f: &mut Formatter<'_>, rules: &[Part<C>], operator: &str) -> fmt::Result {
    let (left, right) = split(rules);
    write!(f, "{:?} {operator} {:?}", Operand(left.0), Operand(right.0))
}

/// A rule as part of another rule, in parentheses if necessary.
struct Operand<'a, C>(&'a [Part<C>]);

impl<C> fmt::Debug for Operand<'_, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.last() {
            Some(Part::Union { .. } | Part::Intersection) => write!(f, "({:?})", Shown(self.0)),
            _ => fmt::Debug::fmt(&Shown(self.0), f),
        }
    }
}
