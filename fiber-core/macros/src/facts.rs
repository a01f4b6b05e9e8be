//! What can be said about a statement without knowing its types: does it wait, does it go on, is it left early?

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprAsync, ExprBreak, ExprClosure, ExprConst, ExprContinue, ExprReturn, ExprTry, ExprTryBlock, Item,
};

use crate::syntax::{Block, Choice, Leave, Loop, LoopKind, Stmt, Way};

/// The early ways out of a piece of code.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Leaves {
    /// It may end the whole fiber block: `return`, `return!`, `?`.
    pub(crate) block: bool,
    /// It may `break` out of the loop around it.
    pub(crate) breaks: bool,
    /// It may `continue` with the next round of the loop around it.
    pub(crate) continues: bool,
}

impl Leaves {
    const NONE: Leaves = Leaves { block: false, breaks: false, continues: false };

    pub(crate) fn any(self) -> bool {
        self != Leaves::NONE
    }

    fn or(self, other: Leaves) -> Leaves {
        Leaves {
            block: self.block || other.block,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
        }
    }

    /// Seen from outside a loop: `break` and `continue` are the loop's own affair.
    fn of_loop(self) -> Leaves {
        Leaves { block: self.block, ..Leaves::NONE }
    }

    fn all(leaves: impl IntoIterator<Item = Leaves>) -> Leaves {
        leaves.into_iter().fold(Leaves::NONE, Leaves::or)
    }
}

impl Block {
    pub(crate) fn waits(&self) -> bool {
        self.stmts.iter().any(Stmt::waits)
    }

    /// No way leads to the closing brace.
    pub(crate) fn ends(&self) -> bool {
        self.stmts.iter().any(Stmt::ends)
    }

    pub(crate) fn leaves(&self) -> Leaves {
        leaves(&self.stmts)
    }

    /// Is the block left early from inside a closure that follows one of its binds?
    pub(crate) fn leaves_after_wait(&self) -> Leaves {
        let Some(first) = self.stmts.iter().position(Stmt::waits) else { return Leaves::NONE };
        let inside = match &self.stmts[first] {
            Stmt::Choice(choice) => {
                Leaves::all(choice.branches().filter(|it| !it.ends()).map(Block::leaves_after_wait))
            }
            Stmt::Loop(it) => it.leaves(),
            Stmt::Bind(bind) => bind.otherwise.as_ref().map_or(Leaves::NONE, Block::leaves),
            _ => Leaves::NONE,
        };
        inside.or(leaves(&self.stmts[first + 1..]))
    }
}

impl Stmt {
    /// Does its expansion put what follows into the closure of a bind?
    pub(crate) fn waits(&self) -> bool {
        match self {
            Stmt::Plain(_) | Stmt::Unit(_) | Stmt::Leave(_) => false,
            Stmt::LetElse(it) => it.otherwise.waits(),
            Stmt::Bind(_) | Stmt::Do(_) | Stmt::Loop(_) => true,
            Stmt::Choice(it) => it.branches().any(Block::waits),
        }
    }

    /// Nothing after it can run.
    pub(crate) fn ends(&self) -> bool {
        match self {
            Stmt::Plain(_) | Stmt::Unit(_) | Stmt::LetElse(_) | Stmt::Bind(_) | Stmt::Do(_) => false,
            Stmt::Leave(_) => true,
            Stmt::Choice(it) => it.ends(),
            Stmt::Loop(it) => it.ends(),
        }
    }

    pub(crate) fn leaves(&self) -> Leaves {
        match self {
            Stmt::Plain(stmt) => EarlyExits::of(|it| it.visit_stmt(stmt)),
            Stmt::Unit(expr) => expr_leaves(expr),
            Stmt::LetElse(it) => expr_leaves(&it.expr).or(it.otherwise.leaves()),
            Stmt::Bind(bind) => {
                let otherwise = bind.otherwise.as_ref().map_or(Leaves::NONE, Block::leaves);
                Leaves::all(bind.bindings.iter().map(|it| expr_leaves(&it.expr))).or(otherwise)
            }
            Stmt::Do(it) => expr_leaves(&it.expr),
            Stmt::Leave(it) => it.leaves(),
            Stmt::Choice(it) => it.leaves(),
            Stmt::Loop(it) => it.leaves(),
        }
    }

    /// Where a message about the whole statement points.
    pub(crate) fn at(&self) -> Span {
        match self {
            Stmt::Plain(stmt) => stmt.span(),
            Stmt::Unit(expr) => expr.span(),
            Stmt::LetElse(it) => it.pat.span(),
            Stmt::Bind(it) => it.at,
            Stmt::Do(it) => it.expr.span(),
            Stmt::Leave(it) => it.at,
            Stmt::Choice(it) => it.at(),
            Stmt::Loop(it) => it.at,
        }
    }
}

impl Choice {
    pub(crate) fn branches(&self) -> impl Iterator<Item = &Block> {
        let (first, second, arms) = match self {
            Choice::If { then, otherwise, .. } => (Some(then), otherwise.as_ref(), [].as_slice()),
            Choice::Match { arms, .. } => (None, None, arms.as_slice()),
            Choice::Block(block) => (Some(block), None, [].as_slice()),
        };
        first.into_iter().chain(second).chain(arms.iter().map(|arm| &arm.body))
    }

    pub(crate) fn ends(&self) -> bool {
        let no_branch_runs = matches!(self, Choice::If { otherwise: None, .. });
        !no_branch_runs && self.branches().all(Block::ends)
    }

    /// Its keyword.
    pub(crate) fn at(&self) -> Span {
        match self {
            Choice::If { if_token, .. } => if_token.span,
            Choice::Match { match_token, .. } => match_token.span,
            Choice::Block(block) => block.end,
        }
    }

    fn leaves(&self) -> Leaves {
        let header = match self {
            Choice::If { condition, .. } => expr_leaves(condition),
            Choice::Match { scrutinee, arms, .. } => {
                let guards = arms.iter().filter_map(|arm| arm.guard.as_ref());
                Leaves::all(guards.map(|(_, guard)| expr_leaves(guard))).or(expr_leaves(scrutinee))
            }
            Choice::Block(_) => Leaves::NONE,
        };
        header.or(Leaves::all(self.branches().map(Block::leaves)))
    }
}

impl Loop {
    /// A `loop!` that nothing breaks.
    pub(crate) fn ends(&self) -> bool {
        matches!(self.kind, LoopKind::Forever) && !self.body.leaves().breaks
    }

    fn leaves(&self) -> Leaves {
        let header = match &self.kind {
            LoopKind::For { items, .. } => expr_leaves(items),
            LoopKind::While { condition } => expr_leaves(condition).of_loop(),
            LoopKind::Forever => Leaves::NONE,
        };
        header.or(self.body.leaves().of_loop())
    }
}

impl Leave {
    fn leaves(&self) -> Leaves {
        match &self.way {
            Way::Return(_) | Way::Become(_) => Leaves { block: true, ..Leaves::NONE },
            Way::Break => Leaves { breaks: true, ..Leaves::NONE },
            Way::Continue => Leaves { continues: true, ..Leaves::NONE },
            Way::Never(_) => Leaves::NONE,
        }
    }
}

pub(crate) fn leaves(stmts: &[Stmt]) -> Leaves {
    Leaves::all(stmts.iter().map(Stmt::leaves))
}

pub(crate) fn expr_leaves(expr: &Expr) -> Leaves {
    EarlyExits::of(|it| it.visit_expr(expr))
}

/// Finds the early exits in plain Rust. Closures, `async` blocks and items keep theirs to themselves, and so do
/// plain loops with their `break` and `continue`.
#[derive(Default)]
struct EarlyExits {
    found: Leaves,
    plain_loops: usize,
}

impl EarlyExits {
    fn of(visit: impl FnOnce(&mut Self)) -> Leaves {
        let mut exits = EarlyExits::default();
        visit(&mut exits);
        exits.found
    }

    fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.plain_loops += 1;
        visit(self);
        self.plain_loops -= 1;
    }
}

impl<'ast> Visit<'ast> for EarlyExits {
    fn visit_expr_return(&mut self, node: &'ast ExprReturn) {
        self.found.block = true;
        visit::visit_expr_return(self, node);
    }

    fn visit_expr_try(&mut self, node: &'ast ExprTry) {
        self.found.block = true;
        visit::visit_expr_try(self, node);
    }

    fn visit_expr_break(&mut self, node: &'ast ExprBreak) {
        self.found.breaks |= self.plain_loops == 0;
        visit::visit_expr_break(self, node);
    }

    fn visit_expr_continue(&mut self, _: &'ast ExprContinue) {
        self.found.continues |= self.plain_loops == 0;
    }

    fn visit_expr_for_loop(&mut self, node: &'ast syn::ExprForLoop) {
        self.visit_expr(&node.expr);
        self.in_loop(|it| it.visit_block(&node.body));
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.in_loop(|it| visit::visit_expr_while(it, node));
    }

    fn visit_expr_loop(&mut self, node: &'ast syn::ExprLoop) {
        self.in_loop(|it| visit::visit_expr_loop(it, node));
    }

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_expr_const(&mut self, _: &'ast ExprConst) {}
    fn visit_expr_try_block(&mut self, _: &'ast ExprTryBlock) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}
