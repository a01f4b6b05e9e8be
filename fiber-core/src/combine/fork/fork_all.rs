use std::panic::Location;

use super::handle::Handle;
use super::spawn::forked;
use crate::combine::sequence::fibers::{Fibers, Out, pull_all};
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::panic::Panic;

impl<T: Send + 'static> Fiber<Vec<Handle<T>>> {
    /// [Forks](Fiber::fork) all fibers of the iterator, and gives their handles, in order.
    ///
    /// ```
    /// use fiber_core::{Fiber, Handle};
    ///
    /// let forks = Fiber::fork_all((1..=3).map(|n| Fiber::lazy(move || n * n)));
    /// let values = forks.bind(|forks| Fiber::parallel(forks.into_iter().map(Handle::join)));
    /// assert_eq!(fiber_sched::run(values).unwrap(), [1, 4, 9]);
    /// ```
    ///
    /// # Panics
    /// A panic of the iterator becomes the fiber's outcome. The fibers before it have been forked.
    #[track_caller]
    pub fn fork_all<I, R>(fibers: I) -> Fiber<Vec<Handle<T>>, ForkAll<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        Fiber::new(ForkAll { fibers: fibers.into_iter(), site: Location::caller() })
    }
}

/// The description of [`Fiber::fork_all`].
#[derive(Clone, Debug)]
pub struct ForkAll<I> {
    fibers: I,
    site: Site,
}

impl<I: Fibers> Run for ForkAll<I> {
    type Out = Vec<Handle<Out<I>>>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let ForkAll { fibers, site } = self;
        let mut handles = Vec::new();
        let fork = |run| {
            let (branch, task) = forked(cx, run, site);
            cx.schedule(task);
            handles.push(Handle::new(branch));
        };
        let end = pull_all(fibers, fork, cx).passed(Frame::new("fork_all", site));
        Step::Done(end.map(|()| handles))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.fibers.discard(torn);
    }
}
