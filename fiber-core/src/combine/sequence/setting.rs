//! A setting of a fiber that applies while a part of its program runs.

use std::fmt;

use crate::engine::context::{Context, Cx};
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::outcome::Outcome;

/// The previous value of a setting.
pub trait Setting: Send + 'static {
    /// Restores it, after the outcome of the part.
    fn put_back<T>(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T>;
}

/// Runs a part of the program, for which the setting has been made, and restores the previous one afterwards.
#[inline]
pub(super) fn run_within<R: Run, S: Setting>(
    cx: &Cx<'_>,
    run: R,
    before: S,
) -> Step<R::Out, Within<R::Suspension, S>> {
    match run.run(cx) {
        Step::Done(outcome) => Step::Done(before.put_back(cx, outcome)),
        Step::Suspend(suspension) => Step::Suspend(Within { suspension, before }),
    }
}

/// A wait with a different setting than the code around it.
pub struct Within<W, S> {
    suspension: W,
    before: S,
}

impl<W: Suspension, S: Setting> Suspension for Within<W, S> {
    type Out = W::Out;

    fn attach<C: Callback<W::Out>>(self, cx: &Cx<'_>, callback: C) {
        let Within { suspension, before } = self;
        suspension.attach(cx, put_back_then(before, callback));
    }

    fn parts(&self, found: &mut Vec<Context>) {
        self.suspension.parts(found);
    }
}

impl<W, S> fmt::Debug for Within<W, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Within")
    }
}

fn put_back_then<T, S: Setting, C: Callback<T>>(before: S, callback: C) -> impl Callback<T> {
    move |cx: &Cx<'_>, outcome| {
        let outcome = before.put_back(cx, outcome);
        callback.resume(cx, outcome);
    }
}
