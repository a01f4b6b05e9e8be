//! Stacks and coroutines: a thin layer over `corosensei`.

use std::fmt;
use std::io;
use std::ops::Range;

use corosensei::CoroutineResult;
use corosensei::stack::{DefaultStack, Stack as _};

use crate::Resumed;
use crate::overflow::{self, Running};

/// A stack with a guard page below it. It takes memory as far as it has been used.
pub struct Stack(DefaultStack);

impl Stack {
    /// Makes a stack of `size` bytes, rounded up to pages.
    ///
    /// # Errors
    /// If the system has no memory for it, or allows no more mappings. [`Unsupported`](io::ErrorKind::Unsupported) on a
    /// platform without stacks.
    pub fn new(size: usize) -> io::Result<Self> {
        overflow::watch();
        DefaultStack::new(size).map(Stack)
    }

    /// Where it lies, with its guard page.
    fn range(&self) -> Range<usize> {
        self.0.limit().get()..self.0.base().get()
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stack at {:x?}", self.range())
    }
}

/// A function on a stack of its own, which can stop in the middle.
///
/// Resume one that is suspended to its end before it is dropped, or forget it. `I` goes in with each resumption, `Y` comes out with each suspension, and `R` in the
/// end. The coroutine stays on its thread, and so does all that its function holds.
pub struct Coroutine<I, Y, R> {
    inner: corosensei::Coroutine<I, Y, R>,
    range: Range<usize>,
}

impl<I: 'static, Y: 'static, R: 'static> Coroutine<I, Y, R> {
    /// Makes a coroutine that has not begun. Its function gets what the first resumption brings.
    pub fn new(stack: Stack, f: impl FnOnce(Yielder<'_, I, Y>, I) -> R + 'static) -> Self {
        let range = stack.range();
        let body = |yielder: &corosensei::Yielder<I, Y>, first| f(Yielder(yielder), first);
        Coroutine { inner: corosensei::Coroutine::with_stack(stack.0, body), range }
    }

    /// Runs it until it suspends itself or returns.
    ///
    /// # Panics
    /// If its function does, and if it has returned before.
    #[inline]
    pub fn resume(&mut self, input: I) -> Resumed<Y, R> {
        let _running = Running::on(self.range.clone());
        match self.inner.resume(input) {
            CoroutineResult::Yield(value) => Resumed::Suspended(value),
            CoroutineResult::Return(value) => Resumed::Returned(value),
        }
    }

    /// The address where its stack begins, and how many bytes the stack has, with the guard page.
    pub fn bounds(&self) -> (usize, usize) {
        (self.range.end, self.range.len())
    }

    /// The stack, for another coroutine.
    ///
    /// # Panics
    /// If it has not returned.
    pub fn into_stack(self) -> Stack {
        Stack(self.inner.into_stack())
    }
}

impl<I, Y, R> fmt::Debug for Coroutine<I, Y, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coroutine").field("has_returned", &self.inner.done()).finish_non_exhaustive()
    }
}

/// Suspends the coroutine whose function has got it.
pub struct Yielder<'a, I, Y>(&'a corosensei::Yielder<I, Y>);

impl<I, Y> Yielder<'_, I, Y> {
    /// Leaves the stack. Returns what the next resumption brings.
    #[inline]
    pub fn suspend(&self, value: Y) -> I {
        self.0.suspend(value)
    }
}

impl<I, Y> fmt::Debug for Yielder<'_, I, Y> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Yielder")
    }
}
