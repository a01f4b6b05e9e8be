//! The parsed tree of a `fiber!` block.
//!
//! Only what the macro has to understand has a node of its own. Everything else is plain Rust and stays a
//! [`syn::Stmt`] or [`syn::Expr`].

use proc_macro2::Span;
use syn::{Attribute, Expr, Pat, Token, Type};

/// Statements between braces.
pub(crate) struct Block {
    pub(crate) stmts: Vec<Stmt>,
    /// The closing brace: where the block is left when no statement leaves it.
    pub(crate) end: Span,
}

/// One statement of a block.
pub(crate) enum Stmt {
    /// Plain Rust.
    Plain(syn::Stmt),
    /// A last expression without a semicolon. A nested block is a statement, so it has to be `()`.
    Unit(Expr),
    /// `let pat = expr else { ... };`
    LetElse(LetElse),
    /// `let! pat = fiber;` and `let! pat = fiber and! pat = fiber;`
    Bind(Bind),
    /// `do! fiber;`
    Do(Do),
    /// `return`, `return!`, `break`, `continue`, and the macros that never return.
    Leave(Leave),
    /// `if`, `match` and `{ ... }`.
    Choice(Choice),
    /// `for!`, `while!` and `loop!`.
    Loop(Loop),
}

/// `let pat = expr else { ... };`
pub(crate) struct LetElse {
    pub(crate) pat: Pat,
    pub(crate) expr: Expr,
    pub(crate) otherwise: Block,
}

/// `let!`: one binding, or several that `and!` joins.
pub(crate) struct Bind {
    /// The bang of `let!`.
    pub(crate) at: Span,
    pub(crate) bindings: Vec<Binding>,
    /// `else { ... }`, for a pattern that may not match.
    pub(crate) otherwise: Option<Block>,
}

/// One `pat: Type = fiber`.
pub(crate) struct Binding {
    pub(crate) pat: Pat,
    pub(crate) ty: Option<Type>,
    pub(crate) expr: Expr,
}

/// `do! fiber;`
pub(crate) struct Do {
    /// The bang of `do!`.
    pub(crate) at: Span,
    pub(crate) expr: Expr,
}

/// A statement after which its block does not go on.
#[derive(Clone)]
pub(crate) struct Leave {
    /// The keyword.
    pub(crate) at: Span,
    pub(crate) way: Way,
}

/// How a block is left.
#[derive(Clone)]
pub(crate) enum Way {
    /// `return` and `return value`.
    Return(Option<Expr>),
    /// `return! fiber`.
    Become(Expr),
    Break,
    Continue,
    /// `panic!()`, `todo!()`, `unreachable!()`, `unimplemented!()`.
    Never(Expr),
}

/// A statement that runs one of several blocks.
pub(crate) enum Choice {
    If { if_token: Token![if], condition: Expr, then: Block, otherwise: Option<Block> },
    Match { match_token: Token![match], scrutinee: Expr, arms: Vec<Arm> },
    Block(Block),
}

/// One arm of a `match`.
pub(crate) struct Arm {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) pat: Pat,
    pub(crate) guard: Option<(Token![if], Expr)>,
    pub(crate) body: Block,
}

/// A loop whose rounds may wait for fibers.
pub(crate) struct Loop {
    /// The bang of the keyword.
    pub(crate) at: Span,
    pub(crate) kind: LoopKind,
    pub(crate) body: Block,
}

/// What the rounds of a loop depend on.
pub(crate) enum LoopKind {
    /// `for! pat in items`.
    For { pat: Box<Pat>, items: Box<Expr> },
    /// `while! condition`.
    While { condition: Box<Expr> },
    /// `loop!`.
    Forever,
}
