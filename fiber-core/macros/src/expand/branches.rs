//! `if`, `match` and blocks.
//!
//! A branch that always leaves does so by Rust's `return`. Only a branch that waits *and* reaches its end has to
//! meet the others in a join: then every branch is a boxed fiber of the variables it hands on.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{Body, Code, Shape, touch};
use crate::frame::{Frame, at};
use crate::names::{Names, Variable, branches};
use crate::plain::Segment;
use crate::syntax::{Block, Choice, Stmt};

impl Body<'_> {
    /// A choice after which the segment goes on: no branch waits, or those that wait leave.
    pub(super) fn straight_choice(&self, choice: &Choice, segment: &Segment<'_>) -> TokenStream {
        let bodies = branches(choice).map(|(bound, block)| {
            let body = self.branch(block, bound);
            if block.waits() {
                return body.leaving(block, segment);
            }
            let stmts = block.stmts.iter().map(|it| body.straight(it, segment));
            quote!({ #(#stmts)* })
        });
        print(choice, bodies.collect(), segment)
    }

    /// A choice that nothing follows: each branch leads where the whole leads.
    pub(super) fn last_choice(self, choice: &Choice, segment: &Segment<'_>) -> Code {
        let codes =
            self.branches(choice, |bound, block| self.branch(block, bound).statements(&block.stmts, segment));
        let shape = common_shape(&codes);
        let bodies = codes.into_iter().map(|code| {
            let code = if shape == Shape::Boxed { code.boxed(self.end) } else { code };
            code.in_braces()
        });
        Code { setup: TokenStream::new(), fiber: print(choice, bodies.collect(), segment), shape }
    }

    /// A choice in the middle, of which a branch waits and goes on.
    pub(super) fn join(self, choice: &Choice, rest: &[Stmt], segment: &Segment<'_>) -> Code {
        let live = self.live(rest);
        let captured = self.captured(choice);
        let variables = self.scope.select(|it| captured.contains(&it.ident) && live.contains(&it.ident));
        let early = choice.branches().any(|it| !it.ends() && it.leaves_after_wait().any());
        let frame = Frame::Join { outer: self.frame, variables: variables.clone(), early };
        let joining = Body { frame: &frame, ..self.clone() };
        let bodies = joining.branches(choice, |bound, block| {
            if block.ends() {
                let never = self.branch(block, bound).leaving(block, segment);
                return Code { setup: never, fiber: TokenStream::new(), shape: Shape::Never };
            }
            joining.branch(block, bound).statements(&block.stmts, segment)
        });
        let bodies = bodies.into_iter().map(|code| code.boxed(self.end).in_braces());
        let fiber = print(choice, bodies.collect(), segment);
        // A statement of its own: what the header borrows is given back here.
        let joined = quote_spanned!(at(choice.at())=> joined);
        let touch = touch(&variables);
        let setup = quote!(#touch let #joined = #fiber;);
        let code = self.resume(&joined, &variables, early, rest, choice.at());
        Code { setup, ..code }
    }

    /// The expansions of all branches, a missing `else` included.
    fn branches(&self, choice: &Choice, mut expand: impl FnMut(Vec<Variable>, &Block) -> Code) -> Vec<Code> {
        let mut codes: Vec<Code> = branches(choice).map(|(bound, block)| expand(bound, block)).collect();
        if let Choice::If { otherwise: None, .. } = choice {
            codes.push(Code {
                setup: TokenStream::new(),
                fiber: self.frame.fall(self.end),
                shape: Shape::Success,
            });
        }
        codes
    }

    /// The place of a branch.
    fn branch(&self, block: &Block, bound: Vec<Variable>) -> Self {
        Body { frame: self.frame, scope: self.scope.clone().with(bound), end: block.end }
    }

    /// What the branches that go on take away from the code after them.
    fn captured(&self, choice: &Choice) -> Names {
        let jumps = self.frame.jump_names();
        branches(choice)
            .filter(|(_, block)| !block.ends())
            .map(|(bound, block)| jumps.captured(&block.stmts, Names::default()).without(&bound))
            .fold(Names::default(), Names::and)
    }
}

/// The shape that all branches have, or can be given.
fn common_shape(codes: &[Code]) -> Shape {
    let mut shapes = codes.iter().map(|it| it.shape).filter(|it| *it != Shape::Never);
    let Some(first) = shapes.next() else { return Shape::Never };
    match first {
        Shape::Success if shapes.all(|it| it == Shape::Success) => Shape::Success,
        Shape::Chain if shapes.next().is_none() => Shape::Chain,
        _ => Shape::Boxed,
    }
}

/// Prints a choice with the expansions of its branches, in their order.
fn print(choice: &Choice, bodies: Vec<TokenStream>, segment: &Segment<'_>) -> TokenStream {
    match choice {
        Choice::If { if_token, condition, .. } => {
            let condition = segment.expr(condition);
            let mut bodies = bodies.into_iter();
            let then = bodies.next();
            let otherwise = bodies.next().map(|it| quote!(else #it));
            quote!(#if_token #condition #then #otherwise)
        }
        Choice::Match { match_token, scrutinee, arms } => {
            let scrutinee = segment.expr(scrutinee);
            let arms = arms.iter().zip(bodies).map(|(arm, body)| {
                let (attrs, pat) = (&arm.attrs, &arm.pat);
                let guard = arm.guard.as_ref().map(|(if_token, guard)| {
                    let guard = segment.expr(guard);
                    quote!(#if_token #guard)
                });
                quote!(#(#attrs)* #pat #guard => #body)
            });
            quote!(#match_token #scrutinee { #(#arms)* })
        }
        Choice::Block(_) => bodies.into_iter().collect(),
    }
}
