//! Fibers of one type, one after the other: the branches of an operator, or the rounds of a loop.

use crate::engine::context::Cx;
use crate::engine::side::{NoSide, Side, Single};
use crate::engine::step::Run;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

/// A source of fibers.
pub trait Fibers: Send + 'static + Sized {
    /// The description of a fiber.
    type Run: Run;

    /// Whether each is a [single wait](Run::SINGLE). `None`: the types do not say.
    const SINGLE: Option<Single> = Some(Single::NO);

    /// The same of these, of which none was pulled.
    fn single(&self) -> Single {
        Single::NO
    }

    /// The number of fibers, if each may be one.
    const COUNT: usize = 0;

    /// The least number of fibers. May panic.
    fn at_least(&self) -> usize {
        0
    }

    /// The next fiber. This is user code, which may panic.
    fn pull(&mut self) -> Option<Self::Run>;

    /// Drops the rest of the fibers, which is user code; see [`Run::discard`].
    fn discard(self, torn: &mut Vec<Panic>);

    /// The waits, as one side of a race. Called only if they [are waits](Fibers::single).
    fn into_side(self) -> impl Side<Out = Out<Self>> {
        NoSide::<Out<Self>>::unreachable()
    }
}

/// The value of each fiber.
pub(crate) type Out<M> = <<M as Fibers>::Run as Run>::Out;

impl<R: Run, I: Iterator<Item = Fiber<R::Out, R>> + Send + 'static> Fibers for I {
    type Run = R;

    fn at_least(&self) -> usize {
        self.size_hint().0
    }

    #[inline]
    fn pull(&mut self) -> Option<R> {
        self.next().map(Fiber::into_run)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }
}

/// Passes all fibers to `take`, and drops their source.
pub(crate) fn pull_all<M: Fibers>(mut fibers: M, mut take: impl FnMut(M::Run), cx: &Cx<'_>) -> Outcome<()> {
    let end = loop {
        match guard(|| fibers.pull()) {
            Ok(Some(run)) => take(run),
            Ok(None) => break Outcome::Success(()),
            Err(panic) => break Outcome::Panicked(panic),
        }
    };
    end.without_parts(fibers, M::discard, cx)
}
