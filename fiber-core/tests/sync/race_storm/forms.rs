//! Forms of the same wait, whose types differ, and programs that race with it.

use std::marker::PhantomData;

use fiber_core::{Fiber, Run, fiber};

use super::sides::Side;

/// A way to write a wait.
pub(super) trait Form: Send + Sync + 'static {
    fn of<T: Send + 'static, R: Run<Out = T>>(wait: Fiber<T, R>) -> Fiber<T, impl Run<Out = T>>;
}

/// A side in another form.
pub(super) struct In<F, S>(S, PhantomData<fn() -> F>);

impl<F, S: Clone> Clone for In<F, S> {
    fn clone(&self) -> Self {
        In(self.0.clone(), PhantomData)
    }
}

impl<F: Form, S: Side> Side for In<F, S> {
    type Won = S::Won;

    fn open() -> Self {
        In(S::open(), PhantomData)
    }

    fn attempt(self, number: u32) -> Fiber<S::Won, impl Run<Out = S::Won>> {
        F::of(self.0.attempt(number))
    }

    fn won(&self, number: u32, value: S::Won) {
        self.0.won(number, value);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        self.0.partner(number)
    }

    fn check(&self) {
        self.0.check();
    }
}

/// With a plain closure behind it.
pub(super) struct Mapped;

impl Form for Mapped {
    fn of<T: Send + 'static, R: Run<Out = T>>(wait: Fiber<T, R>) -> Fiber<T, impl Run<Out = T>> {
        wait.map(|value| value)
    }
}

pub(super) struct Boxed;

impl Form for Boxed {
    fn of<T: Send + 'static, R: Run<Out = T>>(wait: Fiber<T, R>) -> Fiber<T, impl Run<Out = T>> {
        wait.boxed()
    }
}

pub(super) struct Named;

impl Form for Named {
    fn of<T: Send + 'static, R: Run<Out = T>>(wait: Fiber<T, R>) -> Fiber<T, impl Run<Out = T>> {
        wait.named("side")
    }
}

/// In a block that does nothing else.
pub(super) struct Blocked;

impl Form for Blocked {
    fn of<T: Send + 'static, R: Run<Out = T>>(wait: Fiber<T, R>) -> Fiber<T, impl Run<Out = T>> {
        fiber! {
            let! value = wait;
            value
        }
    }
}

/// A side of another race.
pub(super) struct Nested;

impl Form for Nested {
    fn of<T: Send + 'static, R: Run<Out = T>>(wait: Fiber<T, R>) -> Fiber<T, impl Run<Out = T>> {
        Fiber::<T>::never().boxed().race(wait).map(|won| won.into_inner())
    }
}

/// A program of some turns.
#[derive(Clone)]
pub(super) struct Yields;

impl Side for Yields {
    type Won = ();

    fn open() -> Self {
        Yields
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::for_each(0..number % 4, |_| Fiber::yield_now())
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}

/// A program that is ready at once, or after a step.
#[derive(Clone)]
pub(super) struct Steps;

impl Side for Steps {
    type Won = ();

    fn open() -> Self {
        Steps
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::success(number).bind(|number| match number % 3 {
            0 => Fiber::success(()).boxed(),
            1 => Fiber::yield_now().boxed(),
            _ => Fiber::never().boxed(),
        })
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}

/// The join of another fiber.
#[derive(Clone)]
pub(super) struct Joins;

impl Side for Joins {
    type Won = ();

    fn open() -> Self {
        Joins
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Yields.attempt(number).fork().bind(|other| other.join())
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}
