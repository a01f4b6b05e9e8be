//! There are no stacks on this platform.

use std::io;

use crate::Resumed;

/// A stack, of which there is none.
#[derive(Debug)]
pub enum Stack {}

impl Stack {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A coroutine, of which there is none.
#[derive(Debug)]
pub struct Coroutine<I, Y, R>(Stack, std::marker::PhantomData<fn(I) -> (Y, R)>);

impl<I: 'static, Y: 'static, R: 'static> Coroutine<I, Y, R> {
    /// Never called.
    pub fn new(stack: Stack, _: impl FnOnce(Yielder<'_, I, Y>, I) -> R + 'static) -> Self {
        match stack {}
    }

    /// Never called.
    pub fn resume(&mut self, _: I) -> Resumed<Y, R> {
        match self.0 {}
    }

    /// Never called.
    pub fn bounds(&self) -> (usize, usize) {
        match self.0 {}
    }

    /// Never called.
    pub fn into_stack(self) -> Stack {
        self.0
    }
}

/// The yielder of a coroutine, of which there is none.
#[derive(Debug)]
pub struct Yielder<'a, I, Y>(Stack, std::marker::PhantomData<&'a fn(Y) -> I>);

impl<I, Y> Yielder<'_, I, Y> {
    /// Never called.
    pub fn suspend(&self, _: Y) -> I {
        match self.0 {}
    }
}
