//! Erasure: [`Boxed`] hides the type of a description behind one block of memory.
#![allow(unsafe_code)]

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::cell::Recycled;
use crate::engine::context::Cx;
use crate::engine::hidden::{Hidden, Table};
use crate::engine::side::{HiddenSide, Side, Single};
use crate::engine::step::{Follow, Run, Step};
use crate::outcome::Outcome;
use crate::panic::Panic;

/// A description with its type hidden: the `R` of a plain `Fiber<T>`.
pub struct Boxed<T>(Hidden<Functions<T>>);

/// The methods of [`Erased`], for descriptions of one type: [`Boxed`] calls them with no others.
pub(crate) struct Functions<T> {
    run: for<'s> fn(Hidden<Functions<T>>, &'s Cx<'_>) -> Step<'s, T>,
    end_unstarted: fn(Hidden<Functions<T>>, &Cx<'_>) -> Outcome<T>,
    into_side: fn(Hidden<Functions<T>>) -> HiddenSide<T>,
    name: fn(&Hidden<Functions<T>>) -> Option<Arc<str>>,
    is_program: fn(&Hidden<Functions<T>>) -> bool,
    single: fn(&Hidden<Functions<T>>) -> Single,
}

/// A description that can be erased.
pub(crate) trait Erased<T: Send + 'static>: Send + Sized + 'static {
    /// Runs it, at any depth of the stack.
    fn run<'s>(this: Recycled<Self>, cx: &'s Cx<'_>) -> Step<'s, T>;
    /// As [`Run::end_unstarted`].
    fn end_unstarted(this: Recycled<Self>, cx: &Cx<'_>) -> Outcome<T> {
        Outcome::Cancelled.without(this, cx)
    }
    /// As [`Run::into_side`].
    fn into_side(_: Recycled<Self>) -> HiddenSide<T> {
        unreachable!("a description that is no wait is no side")
    }
    fn name(&self) -> Option<Arc<str>> {
        None
    }
    /// As [`Run::is_program`].
    fn is_program(&self) -> bool {
        false
    }
    /// As [`Run::single`].
    fn single(&self) -> Single {
        Single::NO
    }

    const TABLE: &'static Table<Functions<T>> = &Table::of::<Self>(Functions {
        // SAFETY: the description is of this type.
        run: |this, cx| Self::run(unsafe { this.reveal() }, cx),
        // SAFETY: as above.
        end_unstarted: |this, cx| Self::end_unstarted(unsafe { this.reveal() }, cx),
        // SAFETY: as above.
        into_side: |this| Self::into_side(unsafe { this.reveal() }),
        // SAFETY: as above.
        name: |this| Self::name(unsafe { this.as_ref() }),
        // SAFETY: as above.
        is_program: |this| Self::is_program(unsafe { this.as_ref() }),
        // SAFETY: as above.
        single: |this| Self::single(unsafe { this.as_ref() }),
    });
}

/// A description until it runs. If it is dropped before that, its parts are dropped one by one.
struct Unrun<R: Run>(Option<R>);

impl<R: Run> Drop for Unrun<R> {
    #[inline]
    fn drop(&mut self) {
        if const { mem::needs_drop::<R>() }
            && let Some(run) = self.0.take()
        {
            let mut torn = Vec::new();
            run.discard(&mut torn);
            Panic::rethrow(torn);
        }
    }
}

impl<R: Run> Unrun<R> {
    /// A constant, so that the compiler looks into the sides of waits only.
    const INTO_SIDE: Option<fn(R) -> HiddenSide<R::Out>> = if matches!(R::SINGLE, Some(Single::NO)) {
        None
    } else {
        Some(|run| HiddenSide::new(run.into_side()))
    };

    #[inline]
    fn take(&mut self) -> R {
        self.0.take().expect("a fiber is started once")
    }
}

impl<R: Run> Erased<R::Out> for Unrun<R> {
    fn run<'s>(mut this: Recycled<Self>, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let run = this.as_mut().take();
        // The block is free for what the description makes.
        drop(this);
        run.run(cx)
    }

    fn end_unstarted(mut this: Recycled<Self>, cx: &Cx<'_>) -> Outcome<R::Out> {
        this.as_mut().take().end_unstarted(cx)
    }

    fn into_side(mut this: Recycled<Self>) -> HiddenSide<R::Out> {
        Self::INTO_SIDE.expect("a description that is no wait is no side")(this.as_mut().take())
    }

    fn name(&self) -> Option<Arc<str>> {
        self.0.as_ref()?.name()
    }

    fn is_program(&self) -> bool {
        self.0.as_ref().is_some_and(R::is_program)
    }

    fn single(&self) -> Single {
        self.0.as_ref().map_or(Single::NO, R::single)
    }
}

impl<T: Send + 'static> Boxed<T> {
    #[inline]
    pub(crate) fn new<R: Run<Out = T>>(run: R) -> Self {
        Boxed::erased(Recycled::new(|| Unrun(Some(run))))
    }

    #[inline]
    pub(crate) fn erased<E: Erased<T>>(description: Recycled<E>) -> Self {
        // SAFETY: the table is that of the type.
        Boxed(unsafe { Hidden::new(description, E::TABLE) })
    }

    /// Runs the fiber, at any depth of the stack.
    fn run_here<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        (self.0.functions().run)(self.0, cx)
    }

    /// Runs the fiber in a turn of its own.
    pub(crate) fn run_later<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        Step::Wait(cx.yields().then(cx, Start(self)))
    }
}

impl<T: Send + 'static> Run for Boxed<T> {
    type Out = T;
    /// Of most blocks and races of two waits.
    const ROOM: usize = 112;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_deep() {
            Step::Wait(cx.give_later(Outcome::Success(())).then(cx, Start(self)))
        } else {
            self.run_here(cx)
        }
    }

    fn boxed(self) -> Boxed<T> {
        self
    }

    fn name(&self) -> Option<Arc<str>> {
        (self.0.functions().name)(&self.0)
    }

    fn is_program(&self) -> bool {
        (self.0.functions().is_program)(&self.0)
    }

    const SINGLE: Option<Single> = None;

    fn single(&self) -> Single {
        (self.0.functions().single)(&self.0)
    }

    fn into_side(self) -> impl Side<Out = T> {
        (self.0.functions().into_side)(self.0)
    }

    fn end_unstarted(self, cx: &Cx<'_>) -> Outcome<T> {
        (self.0.functions().end_unstarted)(self.0, cx)
    }
}

/// Starts an erased fiber. It does not check the depth again, because a turn that starts at the bottom has to progress.
struct Start<T>(Boxed<T>);

impl<T: Send + 'static> Follow<()> for Start<T> {
    type Out = T;

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<()>) -> Step<'s, T> {
        self.0.run_here(cx)
    }
}

impl<T> fmt::Debug for Boxed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Boxed")
    }
}
