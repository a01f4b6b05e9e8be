//! The names in plain Rust.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Expr, Pat, Stmt};

use super::{Names, Use, bound_by, is_variable};

pub(super) fn used_by_expr(expr: &Expr) -> Names {
    let mut uses = Uses::default();
    uses.visit_expr(expr);
    uses.found
}

pub(super) fn used_by_stmt(stmt: &Stmt) -> Names {
    let mut uses = Uses::default();
    uses.visit_stmt(stmt);
    uses.found
}

/// Finds the names that plain Rust uses and does not bind itself.
#[derive(Default)]
struct Uses {
    found: Names,
    scopes: Vec<BTreeSet<String>>,
}

impl Uses {
    fn mention(&mut self, ident: &Ident, usage: Use) {
        let name = ident.to_string();
        if is_variable(ident) && !self.scopes.iter().any(|scope| scope.contains(&name)) {
            self.found.insert(ident, usage);
        }
    }

    /// An expression that, if it is only a name, is used in this way.
    fn operand(&mut self, expr: &Expr, usage: Use) {
        match expr {
            Expr::Path(path) => path.path.get_ident().into_iter().for_each(|it| self.mention(it, usage)),
            expr => self.visit_expr(expr),
        }
    }

    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeSet::new());
        visit(self);
        self.scopes.pop();
    }

    fn bind(&mut self, pat: &Pat) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(bound_by(pat).into_iter().map(|it| it.ident.to_string()));
        }
    }

    /// The input of a macro: the words that may be variables, also those between the braces of a format string.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) if !after_dot => self.mention(ident, Use::Perhaps),
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.format_string(literal),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
            after_dot = matches!(&token, TokenTree::Punct(it) if it.as_char() == '.');
        }
    }

    fn format_string(&mut self, literal: &proc_macro2::Literal) {
        let text = literal.to_string();
        for part in text.split('{').skip(1) {
            let name = part.split(|it: char| it != '_' && !it.is_alphanumeric()).next().unwrap_or_default();
            if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
                ident.set_span(literal.span());
                self.mention(&ident, Use::Perhaps);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_expr_path(&mut self, node: &'ast syn::ExprPath) {
        if let Some(ident) = node.path.get_ident() {
            self.mention(ident, Use::Whole);
        }
    }

    fn visit_expr_call(&mut self, node: &'ast syn::ExprCall) {
        self.operand(&node.func, Use::Perhaps);
        node.args.iter().for_each(|it| self.visit_expr(it));
    }

    fn visit_expr_field(&mut self, node: &'ast syn::ExprField) {
        self.operand(&node.base, Use::Part);
    }

    fn visit_expr_reference(&mut self, node: &'ast syn::ExprReference) {
        self.operand(&node.expr, Use::Part);
    }

    fn visit_expr_index(&mut self, node: &'ast syn::ExprIndex) {
        self.operand(&node.expr, Use::Part);
        self.visit_expr(&node.index);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.tokens(node.tokens.clone());
    }

    fn visit_expr_closure(&mut self, node: &'ast syn::ExprClosure) {
        self.scope(|it| {
            node.inputs.iter().for_each(|pat| it.bind(pat));
            it.visit_expr(&node.body);
        });
    }

    fn visit_block(&mut self, node: &'ast syn::Block) {
        self.scope(|it| visit::visit_block(it, node));
    }

    fn visit_local(&mut self, node: &'ast syn::Local) {
        visit::visit_local(self, node);
        self.bind(&node.pat);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        self.scope(|it| {
            it.bind(&node.pat);
            it.visit_pat(&node.pat);
            it.visit_expr(&node.body);
        });
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.scope(|it| {
            it.visit_expr(&node.cond);
            it.visit_block(&node.then_branch);
        });
        node.else_branch.iter().for_each(|(_, otherwise)| self.visit_expr(otherwise));
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.scope(|it| visit::visit_expr_while(it, node));
    }

    fn visit_expr_let(&mut self, node: &'ast syn::ExprLet) {
        self.visit_expr(&node.expr);
        self.bind(&node.pat);
    }

    fn visit_expr_for_loop(&mut self, node: &'ast syn::ExprForLoop) {
        self.visit_expr(&node.expr);
        self.scope(|it| {
            it.bind(&node.pat);
            it.visit_block(&node.body);
        });
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
