//! Which variables a piece of code uses, and which of them it takes away from the code after it.
//!
//! What follows a bind is a closure that *moves* the variables it uses. Where control flow joins again, after a
//! branch or from round to round of a loop, the code there may want the same variables back. This module finds them,
//! and [`expand`](crate::expand) hands them on as values. It has no types, so it goes by the names: a lower-case
//! path of one segment is a variable, unless it is only called.

mod uses;

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Expr, Pat};

use self::uses::{used_by_expr, used_by_stmt};
use crate::syntax::{Block, Choice, Loop, LoopKind, Stmt, Way};

/// The names a piece of code uses and does not bind itself.
#[derive(Clone, Default)]
pub(crate) struct Names(BTreeMap<String, Mention>);

/// How a name is used.
#[derive(Clone)]
struct Mention {
    ident: Ident,
    usage: Use,
}

/// How much is known of a use; the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// Called, or in the input of a macro: it may be something else than a variable.
    Perhaps,
    /// Borrowed, or of its fields only.
    Part,
    /// As a whole: it may be given away.
    Whole,
}

impl Names {
    pub(crate) fn contains(&self, ident: &Ident) -> bool {
        self.0.contains_key(&ident.to_string())
    }

    /// May the variable be given away?
    pub(crate) fn contains_whole(&self, ident: &Ident) -> bool {
        self.0.get(&ident.to_string()).is_some_and(|it| it.usage == Use::Whole)
    }

    /// The names that are variables for sure.
    pub(crate) fn sure(self) -> impl Iterator<Item = Ident> {
        self.0.into_values().filter(|it| it.usage > Use::Perhaps).map(|it| it.ident)
    }

    fn insert(&mut self, ident: &Ident, usage: Use) {
        let mention = self.0.entry(ident.to_string());
        let mention = mention.or_insert_with(|| Mention { ident: ident.clone(), usage });
        mention.usage = mention.usage.max(usage);
    }

    pub(crate) fn and(mut self, other: Names) -> Names {
        for mention in other.0.into_values() {
            self.insert(&mention.ident, mention.usage);
        }
        self
    }

    pub(crate) fn without(mut self, bound: &[Variable]) -> Names {
        for variable in bound {
            self.0.remove(&variable.ident.to_string());
        }
        self
    }

    fn union(all: impl IntoIterator<Item = Names>) -> Names {
        all.into_iter().fold(Names::default(), Names::and)
    }
}

impl FromIterator<Ident> for Names {
    fn from_iter<I: IntoIterator<Item = Ident>>(idents: I) -> Self {
        let mut names = Names::default();
        idents.into_iter().for_each(|ident| names.insert(&ident, Use::Whole));
        names
    }
}

/// A variable that a pattern binds.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) ident: Ident,
    /// It may be changed. What comes from outside the `fiber!` block is not known, and taken to be mutable.
    pub(crate) mutable: bool,
    /// The block itself declares it.
    pub(crate) declared: bool,
}

/// The variables of a pattern.
pub(crate) fn bound_by(pat: &Pat) -> Vec<Variable> {
    struct Bound(Vec<Variable>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, node: &'ast syn::PatIdent) {
            if is_variable(&node.ident) {
                let mutable = node.mutability.is_some();
                self.0.push(Variable { ident: node.ident.clone(), mutable, declared: true });
            }
            visit::visit_pat_ident(self, node);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut bound = Bound(Vec::new());
    bound.visit_pat(pat);
    bound.0
}

/// The variables that the `let`s of a condition bind.
pub(crate) fn bound_by_condition(condition: &Expr) -> Vec<Variable> {
    match condition {
        Expr::Let(it) => bound_by(&it.pat),
        Expr::Binary(it) => [bound_by_condition(&it.left), bound_by_condition(&it.right)].concat(),
        _ => Vec::new(),
    }
}

fn is_variable(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.starts_with(|first: char| first.is_lowercase() || first == '_')
        && !matches!(name.as_str(), "self" | "super" | "crate")
}

/// The names that `break` and `continue` use: the state they carry to where they go.
#[derive(Clone, Default)]
pub(crate) struct JumpNames {
    pub(crate) on_break: Names,
    pub(crate) on_continue: Names,
}

impl JumpNames {
    /// What `stmts` use, if `after` is what the code behind them uses.
    pub(crate) fn used(&self, stmts: &[Stmt], after: Names) -> Names {
        stmts.iter().rev().fold(after, |after, stmt| {
            let after = if stmt.ends() { Names::default() } else { after };
            after.without(&bound_by_stmt(stmt)).and(self.used_by(stmt))
        })
    }

    /// What the closures of `stmts` move, if `after` is what the code behind them uses: everything that is used
    /// from the first bind on.
    pub(crate) fn captured(&self, stmts: &[Stmt], after: Names) -> Names {
        let Some(first) = stmts.iter().position(Stmt::waits) else { return Names::default() };
        let rest = self.used(&stmts[first + 1..], after).without(&bound_by_stmt(&stmts[first]));
        let inside = match &stmts[first] {
            Stmt::Choice(choice) => Names::union(
                branches(choice)
                    .map(|(bound, branch)| self.captured(&branch.stmts, Names::default()).without(&bound)),
            ),
            Stmt::LetElse(it) => self.captured(&it.otherwise.stmts, Names::default()),
            Stmt::Bind(it) => it.otherwise.as_ref().map_or_else(Names::default, |it| self.used_in(it)),
            Stmt::Loop(it) => used_by_loop(it),
            _ => Names::default(),
        };
        let before: Vec<Variable> = stmts[..first].iter().flat_map(bound_by_stmt).collect();
        rest.and(inside).without(&before)
    }

    fn used_in(&self, block: &Block) -> Names {
        self.used(&block.stmts, Names::default())
    }

    fn used_by(&self, stmt: &Stmt) -> Names {
        let own = match stmt {
            Stmt::Plain(stmt) => used_by_stmt(stmt),
            Stmt::Unit(expr) => used_by_expr(expr),
            Stmt::LetElse(it) => used_by_expr(&it.expr).and(self.used_in(&it.otherwise)),
            Stmt::Bind(bind) => {
                let otherwise = bind.otherwise.iter().map(|it| self.used_in(it));
                Names::union(bind.bindings.iter().map(|it| used_by_expr(&it.expr)).chain(otherwise))
            }
            Stmt::Do(it) => used_by_expr(&it.expr),
            Stmt::Leave(it) => match &it.way {
                Way::Return(Some(expr)) | Way::Become(expr) | Way::Never(expr) => used_by_expr(expr),
                Way::Return(None) | Way::Break | Way::Continue => Names::default(),
            },
            Stmt::Choice(it) => self.used_by_choice(it),
            Stmt::Loop(it) => match &it.kind {
                LoopKind::For { items, .. } => used_by_expr(items).and(used_by_loop(it)),
                LoopKind::While { .. } | LoopKind::Forever => used_by_loop(it),
            },
        };
        let leaves = stmt.leaves();
        let on_break = leaves.breaks.then(|| self.on_break.clone());
        let on_continue = leaves.continues.then(|| self.on_continue.clone());
        Names::union([Some(own), on_break, on_continue].into_iter().flatten())
    }

    fn used_by_choice(&self, choice: &Choice) -> Names {
        let header = match choice {
            Choice::If { condition, .. } => used_by_expr(condition),
            Choice::Match { scrutinee, arms, .. } => {
                let guards = arms.iter().filter_map(|arm| {
                    let (_, guard) = arm.guard.as_ref()?;
                    Some(used_by_expr(guard).without(&bound_by(&arm.pat)))
                });
                Names::union(guards).and(used_by_expr(scrutinee))
            }
            Choice::Block(_) => Names::default(),
        };
        let branches = branches(choice).map(|(bound, branch)| self.used_in(branch).without(&bound));
        header.and(Names::union(branches))
    }
}

/// What the rounds of a loop use from outside.
pub(crate) fn used_by_loop(it: &Loop) -> Names {
    let body = JumpNames::default().used(&it.body.stmts, Names::default());
    match &it.kind {
        LoopKind::For { pat, .. } => body.without(&bound_by(pat)),
        LoopKind::While { condition } => body.and(used_by_expr(condition)),
        LoopKind::Forever => body,
    }
}

/// What the closures of one round of a loop move from outside. The body of `while!` follows its condition.
pub(crate) fn captured_by_round(it: &Loop) -> Names {
    let body = || JumpNames::default().captured(&it.body.stmts, Names::default());
    match &it.kind {
        LoopKind::For { pat, .. } => body().without(&bound_by(pat)),
        LoopKind::While { .. } => JumpNames::default().used_in(&it.body),
        LoopKind::Forever => body(),
    }
}

/// The branches of a choice, with the variables their headers bind.
pub(crate) fn branches(choice: &Choice) -> impl Iterator<Item = (Vec<Variable>, &Block)> {
    choice.branches().enumerate().map(move |(at, branch)| {
        let bound = match choice {
            Choice::If { condition, .. } if at == 0 => bound_by_condition(condition),
            Choice::Match { arms, .. } => bound_by(&arms[at].pat),
            Choice::If { .. } | Choice::Block(_) => Vec::new(),
        };
        (bound, branch)
    })
}

/// The variables that a statement binds for the statements after it.
pub(crate) fn bound_by_stmt(stmt: &Stmt) -> Vec<Variable> {
    match stmt {
        Stmt::Plain(syn::Stmt::Local(it)) => bound_by(&it.pat),
        Stmt::LetElse(it) => bound_by(&it.pat),
        Stmt::Bind(it) => it.bindings.iter().flat_map(|it| bound_by(&it.pat)).collect(),
        _ => Vec::new(),
    }
}
