//! The wait for the end of another fiber.

use std::fmt;

use super::result_cell::{EndKey, ResultCell};
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::side::Single;
use crate::leaf::Wait;
use crate::outcome::Outcome;

/// How a wait for another fiber begins, and how it translates the end of that fiber.
pub trait FiberEnd: Send + 'static {
    /// The value of a success of the fiber.
    type Value: Send + 'static;
    /// The value of a success of the wait.
    type Out: Send + 'static;
    /// See [`Wait`].
    const IS_SHIELDED: bool = false;
    /// See [`Wait`].
    const CAN_LOSE: bool = false;

    /// The fiber.
    fn context(&self) -> &Context;

    /// Begins the wait. Returns the result if that ends the wait already.
    fn begin(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let _ = cx;
        None
    }

    /// The result of the wait, if the fiber has ended.
    fn end(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>>;
}

/// A wait for the end of another fiber.
pub struct FiberWait<E> {
    pub(super) end: E,
    /// Set when the wait has begun.
    key: Option<EndKey>,
}

impl<E: FiberEnd> FiberWait<E> {
    pub(super) fn new(end: E) -> Self {
        FiberWait { end, key: None }
    }

    fn cell(&self) -> &ResultCell<E::Value> {
        ResultCell::of(self.end.context())
    }
}

impl<E: FiberEnd> Wait for FiberWait<E> {
    type Out = E::Out;
    const IS_SHIELDED: bool = E::IS_SHIELDED;
    const CAN_LOSE: bool = E::CAN_LOSE;
    const SINGLE: Single = if E::CAN_LOSE { Single::ONCE } else { Single::NO };

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<E::Out>> {
        if self.key.is_none()
            && let Some(outcome) = self.end.begin(cx)
        {
            return Some(outcome);
        }
        self.end.end(cx)
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<E::Out>> {
        match self.cell().wait(wakeup) {
            Ok(key) => {
                self.key = Some(key);
                None
            }
            // The fiber has ended meanwhile.
            Err(wakeup) => wakeup.claim().then(|| self.end.end(cx))?,
        }
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Some(key) = self.key.take() {
            self.cell().unwait(key);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.end.context())
    }
}

impl<E: FiberEnd> fmt::Debug for FiberWait<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wait for {}", self.end.context())
    }
}
