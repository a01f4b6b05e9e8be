//! Builds forks, scopes and awaited fibers.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use fiber_core::{Error, Fiber, Handle, Outcome, Scope};

use crate::builder::{Builder, OpenScope};
use crate::part::{Part, Reach};
use crate::program::{Ending, Owner, Program};

impl Builder {
    pub(crate) fn make_forks(&self, program: Program) -> Fiber<u32> {
        match program {
            Program::Await(body) => self.awaits(|inside| {
                let body = inside.fiber(*body);
                async move { body.await }
            }),
            Program::AwaitBoth(left, right) => self.awaits(|inside| inside.both(*left, *right)),
            Program::AwaitFirst(left, right) => self.awaits(|inside| inside.first(*left, *right)),
            Program::Scope(awaits_all, body) => self.scope(awaits_all, *body),
            Program::Fork(owner, ending, child, meanwhile) => {
                self.fork(owner, *child, *meanwhile, move |builder, part, handle| match ending {
                    Ending::Join => handle.join().boxed(),
                    Ending::Forget => Fiber::success(1).boxed(),
                    Ending::Cancel => {
                        let cancelled = handle.cancel().map(move |()| part.end());
                        cancelled.bind(move |()| builder.observe(handle)).boxed()
                    }
                })
            }
            Program::With(with, first, second) => self.operate(with, *first, *second),
            Program::ForkFight(turns, child) => {
                self.fork(Owner::Fiber, *child, Program::Succeed, move |builder, part, handle| {
                    let end = handle.cancel().map(move |()| part.end());
                    let cancel = Fiber::for_each(0..turns, |_| Fiber::yield_now()).bind(move |()| end);
                    builder.observe(handle).zip(cancel).map(|(n, ())| n).boxed()
                })
            }
            other => unreachable!("{other:?} is made elsewhere"),
        }
    }

    /// An awaited fiber is a part of the awaiting one.
    fn awaits<F>(&self, future: impl FnOnce(Builder) -> F) -> Fiber<u32>
    where
        F: Future<Output = Result<u32, Error>> + Send + 'static,
    {
        let inside = self.inside();
        let part = inside.part.clone();
        let fiber = self.ends(part, Fiber::from_future(future(inside)).boxed());
        let (world, reach) = (self.world.clone(), self.reach);
        fiber
            .map_outcome(move |outcome| {
                let is_cancelled =
                    matches!(&outcome, Outcome::Failure(error) if error.is::<fiber_core::error::Cancelled>());
                if is_cancelled && reach == Reach::Nothing {
                    world.broken("a cancellation reached what an uncancelable region awaits");
                }
                outcome
            })
            .boxed()
    }

    /// The sum of both.
    fn both(
        self,
        left: Program,
        right: Program,
    ) -> impl Future<Output = Result<u32, Error>> + Send + 'static {
        let world = self.world.clone();
        let mut running = Vec::from([left, right].map(|program| self.branch(program).into_future()));
        let mut sum = Some(Ok(0u32));
        poll_fn(move |cx| {
            running.retain_mut(|one| {
                let Poll::Ready(end) = Pin::new(one).poll(cx) else { return true };
                // Only one of two errors is passed on, and none if the other one panics.
                end.as_ref().err().into_iter().for_each(|error| world.see_error(error));
                sum = sum.take().map(|sum| Ok(sum?.wrapping_add(end?)));
                false
            });
            sum.take_if(|_| running.is_empty()).map_or(Poll::Pending, Poll::Ready)
        })
    }

    fn first(
        self,
        left: Program,
        right: Program,
    ) -> impl Future<Output = Result<u32, Error>> + Send + 'static {
        let mut both = [left, right].map(|program| self.branch(program).into_future());
        poll_fn(move |cx| {
            let ended = both.iter_mut().map(|one| Pin::new(one).poll(cx)).find(Poll::is_ready);
            ended.unwrap_or(Poll::Pending)
        })
    }

    fn scope(&self, awaits_all: bool, body: Program) -> Fiber<u32> {
        let inside = self.inside();
        let part = inside.part.clone();
        let made = Fiber::scope(move |scope: Scope| {
            let open = OpenScope { scope: scope.clone(), part: inside.part.clone(), reach: inside.reach };
            let body = Builder { scope: Some(open), ..inside }.fiber(body);
            if awaits_all { body.bind(move |n| scope.await_all().map(move |()| n)).boxed() } else { body }
        });
        self.ends(part, made.boxed())
    }

    /// Forks `child`, runs `meanwhile`, and then what `end` makes of the handle and the child's part.
    fn fork<F>(&self, owner: Owner, child: Program, meanwhile: Program, end: F) -> Fiber<u32>
    where
        F: FnOnce(Builder, Part, Handle<u32>) -> Fiber<u32> + Send + 'static,
    {
        let (part, forked) = self.forked(owner, child);
        let (builder, meanwhile) = (self.clone(), self.fiber(meanwhile));
        forked.bind(move |handle| meanwhile.bind(move |_| end(builder, part, handle))).boxed()
    }

    fn forked(&self, owner: Owner, child: Program) -> (Part, Fiber<Handle<u32>>) {
        match (owner, &self.scope) {
            (Owner::Nobody, _) => {
                let outside = self.outside().with_reach(Reach::Perhaps);
                (outside.part.clone(), outside.child(child).detach().boxed())
            }
            (Owner::Scope, Some(OpenScope { scope, part, reach })) => {
                let inside = Builder { part: part.clone(), reach: *reach, ..self.clone() }.inside();
                (inside.part.clone(), scope.fork(inside.child(child)).boxed())
            }
            (Owner::Fiber | Owner::Scope, _) => {
                let inside = Builder { part: self.home.clone(), ..self.clone() }.inside();
                (inside.part.clone(), inside.child(child).fork().boxed())
            }
        }
    }

    /// Inherits from the fiber that forks it.
    fn child(&self, program: Program) -> Fiber<u32> {
        let child = self.fiber(program);
        self.read_local().bind(move |_| child).boxed()
    }

    fn observe(self, handle: Handle<u32>) -> Fiber<u32> {
        handle.outcome().map(move |outcome| self.observed(&outcome).unwrap()).boxed()
    }
}
