//! From the tree to Rust.
//!
//! The statements up to the next bind stay statements; what follows the bind is the body of its closure:
//!
//! ```text
//! let a = 1;                       let a = 1;
//! let! b = load(a);        ==>     load(a).into_fiber().bind(move |b| {
//! return a + b                         gives.value(a + b)
//!                                  })
//! ```
//!
//! Each closure is one [`Segment`]. Code that leaves a segment early does it by Rust's `return`, and only then is
//! its last fiber boxed. Branches and loops are in [`branches`](mod@branches) and [`loops`].

mod branches;
mod loops;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::frame::{Exit, Frame, at, boxed, gives, going_on, tuple_pattern};
use crate::names::{JumpNames, Names, Variable, bound_by, bound_by_stmt};
use crate::plain::{Segment, without_parentheses};
use crate::syntax::{Bind, Binding, Block, Do, Leave, Stmt, Way};

/// The expression that a whole `fiber!` block stands for.
pub(crate) fn fiber_block(block: &Block) -> TokenStream {
    let outside = JumpNames::default().used(&block.stmts, Names::default());
    let captured = outside.sure().map(|ident| Variable { ident, mutable: true, declared: false }).collect();
    let body = Body { frame: &Frame::Block, scope: Scope(captured), end: block.end };
    let gives = gives().into_token_stream();
    let body = body.closure(&block.stmts).of(&gives, &TokenStream::new(), Span::call_site());
    quote_spanned! {Span::mixed_site()=>
        ::fiber_core::__macro_support::block(
            ::fiber_core::__macro_support::Gives::new(),
            #body,
        )
    }
}

/// The variables in scope.
#[derive(Clone)]
struct Scope(Vec<Variable>);

impl Scope {
    fn with(mut self, bound: Vec<Variable>) -> Self {
        self.0.retain(|it| bound.iter().all(|new| new.ident != it.ident));
        for new in bound {
            if self.0.iter().all(|it| it.ident != new.ident) {
                self.0.push(new);
            }
        }
        self
    }

    fn select(&self, wanted: impl Fn(&Variable) -> bool) -> Vec<Variable> {
        self.0.iter().filter(|it| wanted(it)).cloned().collect()
    }
}

/// The expansion of some statements: more statements, and a fiber.
struct Code {
    setup: TokenStream,
    fiber: TokenStream,
    shape: Shape,
}

/// What is known of the type of a fiber.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A success: all successes of a frame have one type.
    Success,
    /// A type of its own.
    Chain,
    /// An erased fiber: all of a frame have one type.
    Boxed,
    /// No fiber: the statements never reach their end.
    Never,
}

impl Code {
    fn boxed(self, span: Span) -> Self {
        match self.shape {
            Shape::Boxed | Shape::Never => self,
            Shape::Success | Shape::Chain => {
                Code { fiber: boxed(&self.fiber, span), shape: Shape::Boxed, ..self }
            }
        }
    }

    fn in_braces(self) -> TokenStream {
        let Code { setup, fiber, .. } = self;
        quote!({ #setup #fiber })
    }

    /// The closure of one parameter that runs `unpack` and then this.
    fn of(self, parameter: &TokenStream, unpack: &TokenStream, span: Span) -> TokenStream {
        let output = match self.shape {
            Shape::Success | Shape::Chain => TokenStream::new(),
            Shape::Boxed | Shape::Never => quote!(-> ::fiber_core::Fiber<_>),
        };
        let Code { setup, fiber, .. } = self;
        quote_spanned!(at(span)=> move |#parameter| #output { #unpack #setup #fiber })
    }
}

/// Where statements stand.
#[derive(Clone)]
struct Body<'a> {
    /// What their end leads to.
    frame: &'a Frame<'a>,
    scope: Scope,
    end: Span,
}

impl<'a> Body<'a> {
    /// Statements that are a closure of their own.
    fn closure(self, stmts: &[Stmt]) -> Code {
        let segment = Segment::of(self.frame);
        self.whole(stmts, &segment)
    }

    /// The last statements of the closure that `segment` is.
    fn whole(self, stmts: &[Stmt], segment: &Segment<'_>) -> Code {
        let end = self.end;
        let code = self.statements(stmts, segment);
        if segment.returns() { code.boxed(end) } else { code }
    }

    /// Statements inside `segment`.
    fn statements(mut self, stmts: &[Stmt], segment: &Segment<'_>) -> Code {
        let mut setup = TokenStream::new();
        for (index, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[index + 1..];
            let code = match stmt {
                Stmt::Bind(bind) => Some(self.clone().bind(bind, rest, segment)),
                Stmt::Do(it) => Some(self.clone().discard(it, rest, segment)),
                Stmt::Loop(it) => Some(self.clone().repeat(it, rest, segment)),
                Stmt::Choice(it) if rest.is_empty() && (stmt.waits() || stmt.leaves().any()) => {
                    Some(self.clone().last_choice(it, segment))
                }
                Stmt::Choice(it) if stmt.waits() && !it.ends() => Some(self.clone().join(it, rest, segment)),
                Stmt::Leave(it) if rest.is_empty() => self.last_leave(it, segment),
                _ => None,
            };
            if let Some(code) = code {
                setup.extend(code.setup);
                return Code { setup, ..code };
            }
            setup.extend(self.straight(stmt, segment));
            self.scope = self.scope.with(bound_by_stmt(stmt));
        }
        if stmts.iter().any(Stmt::ends) {
            return Code { setup, fiber: TokenStream::new(), shape: Shape::Never };
        }
        Code { setup, fiber: self.frame.fall(self.end), shape: Shape::Success }
    }

    /// A statement after which the same segment goes on.
    fn straight(&self, stmt: &Stmt, segment: &Segment<'_>) -> TokenStream {
        match stmt {
            Stmt::Plain(stmt) => segment.stmt(stmt),
            Stmt::Unit(expr) => {
                let expr = segment.expr(expr);
                quote!({ #expr })
            }
            Stmt::LetElse(it) => {
                let (pat, expr) = (&it.pat, segment.expr(&it.expr));
                let otherwise = self.clone().otherwise(&it.otherwise, segment);
                quote!(let #pat = #expr else #otherwise;)
            }
            Stmt::Leave(Leave { at: span, way }) => match way {
                Way::Never(expr) => {
                    let expr = segment.expr(expr);
                    quote!(#expr;)
                }
                way => {
                    let leave = segment.leave(exit(way, segment), *span);
                    quote!(#leave;)
                }
            },
            Stmt::Choice(it) => self.straight_choice(it, segment),
            Stmt::Bind(_) | Stmt::Do(_) | Stmt::Loop(_) => TokenStream::new(),
        }
    }

    /// The block after `else`, which has to leave.
    fn otherwise(self, block: &Block, segment: &Segment<'_>) -> TokenStream {
        if !block.waits() {
            let stmts = block.stmts.iter().map(|it| self.straight(it, segment));
            return quote!({ #(#stmts)* });
        }
        if !block.ends() {
            let text = "the `else` block of a `let` has to end in `return`, `return!`, `break` or `continue`";
            return quote_spanned!(block.end=> { ::core::compile_error!(#text) });
        }
        self.leaving(block, segment)
    }

    /// A branch that waits and never reaches its end: it leaves the segment.
    fn leaving(self, block: &Block, segment: &Segment<'_>) -> TokenStream {
        let body = Body { frame: segment.frame, end: block.end, ..self };
        let code = body.statements(&block.stmts, segment).boxed(block.end);
        if code.shape == Shape::Never {
            return code.in_braces();
        }
        let (setup, leave) = (code.setup, segment.early(&code.fiber));
        quote!({ #setup #leave; })
    }

    /// A way out that nothing follows: of the frame that the segment leaves, it is the fiber itself.
    fn last_leave(&self, leave: &Leave, segment: &Segment<'_>) -> Option<Code> {
        if let Way::Never(_) = &leave.way {
            let setup = self.straight(&Stmt::Leave(leave.clone()), segment);
            return Some(Code { setup, fiber: TokenStream::new(), shape: Shape::Never });
        }
        if !std::ptr::eq(self.frame, segment.frame) {
            return None;
        }
        let fiber = self.frame.leave(exit(&leave.way, segment), leave.at);
        let is_chain = matches!((&leave.way, self.frame), (Way::Become(_), Frame::Block));
        let shape = if is_chain { Shape::Chain } else { Shape::Success };
        Some(Code { setup: TokenStream::new(), fiber, shape })
    }

    /// `do!`
    fn discard(self, it: &Do, rest: &[Stmt], segment: &Segment<'_>) -> Code {
        let fiber = into_fiber(&it.expr, segment);
        let body = self.closure(rest).of(&quote!(_), &TokenStream::new(), it.at);
        bind(&fiber, &body, it.at)
    }

    /// `let!`
    fn bind(self, it: &Bind, rest: &[Stmt], segment: &Segment<'_>) -> Code {
        let all = it.bindings.iter();
        let fibers = pairs(all.clone().map(|it| into_fiber(&it.expr, segment)), |first, second| {
            let zip = quote_spanned!(it.at=> .zip(#second));
            quote!(#first #zip)
        });
        let pat =
            pairs(all.clone().map(|it| it.pat.to_token_stream()), |first, second| quote!((#first, #second)));
        let ty = pairs(all.map(Binding::ty), |first, second| quote!((#first, #second)));

        let inside = Segment::of(self.frame);
        let otherwise = it.otherwise.as_ref().map(|it| {
            let block = self.clone().otherwise(it, &inside);
            quote!(else #block)
        });
        let ty = it.bindings.iter().any(|it| it.ty.is_some()).then(|| quote!(: #ty));
        let value = quote_spanned!(at(it.bindings[0].expr.span())=> value);
        let (parameter, unpack) = if ty.is_some() || otherwise.is_some() {
            let unpack = quote_spanned!(at(it.at)=> let #pat #ty = #value #otherwise;);
            (value, unpack)
        } else {
            (pat, TokenStream::new())
        };
        let bound = it.bindings.iter().flat_map(|it| bound_by(&it.pat)).collect();
        let body = Body { scope: self.scope.with(bound), ..self }
            .whole(rest, &inside)
            .of(&parameter, &unpack, it.at);
        bind(&fibers, &body, it.at)
    }

    /// `rest` behind a fiber whose value is `variables`, or says that something left early.
    fn resume(
        self,
        fiber: &TokenStream,
        variables: &[Variable],
        early: bool,
        rest: &[Stmt],
        span: Span,
    ) -> Code {
        let end = self.end;
        let code = self.closure(rest);
        let (state, unpack) = (state(), unpack(variables));
        if !early {
            return bind(fiber, &code.of(&state, &unpack, span), span);
        }
        let body = code.boxed(end).in_braces();
        let go_on = going_on(state, true);
        let closure = quote_spanned! {at(span)=>
            move |flow| -> ::fiber_core::Fiber<_> {
                match flow {
                    ::core::ops::ControlFlow::Break(fiber) => fiber,
                    #go_on => { #unpack #body }
                }
            }
        };
        bind(fiber, &closure, span)
    }

    /// What the code after a statement uses.
    fn live(&self, rest: &[Stmt]) -> Names {
        self.frame.jump_names().used(rest, self.frame.fall_names())
    }
}

/// The call carries the user's own span and not the macro's: `bind` records its caller's line for traces.
fn bind(fiber: &TokenStream, closure: &TokenStream, span: Span) -> Code {
    let bind = quote_spanned!(span=> .bind(#closure));
    Code { setup: TokenStream::new(), fiber: quote!(#fiber #bind), shape: Shape::Chain }
}

/// `a`, `(a, b)`, `((a, b), c)`: the nesting of `zip`.
fn pairs(
    all: impl Iterator<Item = TokenStream>,
    pair: impl Fn(TokenStream, TokenStream) -> TokenStream,
) -> TokenStream {
    all.reduce(pair).unwrap_or_default()
}

fn exit(way: &Way, segment: &Segment<'_>) -> Exit {
    match way {
        Way::Return(None) => Exit::Return(quote!(())),
        Way::Return(Some(expr)) | Way::Never(expr) => Exit::Return(segment.expr(without_parentheses(expr))),
        Way::Become(expr) => Exit::Become(segment.expr(expr)),
        Way::Break => Exit::Break,
        Way::Continue => Exit::Continue,
    }
}

impl Binding {
    fn ty(&self) -> TokenStream {
        self.ty.as_ref().map_or_else(|| quote!(_), ToTokens::to_token_stream)
    }
}

fn into_fiber(expr: &syn::Expr, segment: &Segment<'_>) -> TokenStream {
    let fiber = segment.expr(expr);
    quote_spanned!(expr.span()=> ::fiber_core::__macro_support::into_fiber(#fiber))
}

/// Takes the variables that were handed on out of `state`.
fn unpack(variables: &[Variable]) -> TokenStream {
    let (state, pattern) = (state(), tuple_pattern(variables));
    quote_spanned! {Span::mixed_site()=>
        #[allow(unused_mut, unused_variables, unused_assignments)]
        let #pattern = #state;
    }
}

/// Before variables are handed on: who changes them is the code that takes them, so here they count as changed.
fn touch(variables: &[Variable]) -> TokenStream {
    let mutable = variables.iter().filter(|it| it.mutable && it.declared).map(|it| &it.ident);
    quote_spanned!(Span::mixed_site()=> #(let _ = &mut #mutable;)*)
}

/// The name of the variables that are handed on.
fn state() -> TokenStream {
    quote_spanned!(Span::mixed_site()=> state)
}
