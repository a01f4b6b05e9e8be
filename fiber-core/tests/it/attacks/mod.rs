//! Safe code that misuses the traits of the engine, or combines its operators in unusual ways. Each test is named by what holds
//! nevertheless.

mod places;
mod races;
mod steps;
mod waits;

use std::time::Duration;

use fiber_core::scheduler::{Cx, Step};
use fiber_core::{Fiber, Outcome, Run};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

/// A description that is a function.
struct By<F>(F);

/// What a [`By`] calls.
trait Calls<T>: FnOnce(&Cx<'_>) -> Outcome<T> + Send + 'static {}

impl<T, F: FnOnce(&Cx<'_>) -> Outcome<T> + Send + 'static> Calls<T> for F {}

impl<T: Send + 'static, F: Calls<T>> Run for By<(F, std::marker::PhantomData<fn() -> T>)> {
    type Out = T;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        Step::Done((self.0.0)(cx))
    }
}

/// A description that ends at once, with what `run` gives.
fn by<T: Send + 'static>(run: impl Calls<T>) -> Fiber<T> {
    Fiber::new(By((run, std::marker::PhantomData))).boxed()
}

/// Waits for another fiber until nothing else happens, in a way that keeps its parts from being single waits.
fn forever<T: Send + 'static>() -> Fiber<T> {
    Fiber::yield_now().bind(|()| Fiber::never()).boxed()
}
