//! A setting of a fiber that applies while a part of its program runs.

use crate::engine::context::Cx;
use crate::engine::frames::{Frame, Left, Visit};
use crate::engine::step::{Run, Step, room_with};
use crate::outcome::Outcome;

/// The previous value of a setting.
pub(super) trait Setting: Send + 'static + Sized {
    /// Restores it, after the outcome of the part.
    fn put_back<T>(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T>;
}

/// Runs a part of the program, for which the setting has been made, and restores the previous one afterwards.
#[inline]
pub(super) fn run_within<'s, R: Run, S: Setting>(cx: &'s Cx<'_>, run: R, before: S) -> Step<'s, R::Out> {
    match run.run(cx) {
        Step::Done(outcome) => Step::Done(before.put_back(cx, outcome)),
        Step::Wait(waiting) => Step::Wait(waiting.push(cx, PutBack(Some(before)))),
    }
}

/// The room for the frames of a part with a setting.
pub(super) const fn room_within<R: Run, S>() -> usize {
    room_with::<PutBack<S>>(R::ROOM)
}

/// The frame after a part with another setting.
struct PutBack<S>(Option<S>);

impl<T: Send + 'static, S: Setting> Frame<T> for PutBack<S> {
    type Out = T;
    const VISITS: bool = true;

    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        cx.leave(self.put_back(cx, outcome))
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        if let Visit::Undo(cx) = visit {
            let _ = self.put_back(cx, Outcome::Success(()));
        }
    }
}

impl<S: Setting> PutBack<S> {
    fn put_back<T>(&mut self, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T> {
        match self.0.take() {
            Some(before) => before.put_back(cx, outcome),
            None => outcome,
        }
    }
}
