//! Builds parts with values whose drops panic.

use fiber_core::{Either, Fiber, Instant, Run, fiber};

use crate::builder::{Builder, LONGEST, TICK};
use crate::program::{Gather, Owned, Program};
use crate::world::Bomb;

impl Builder {
    /// Ends with a panic, whatever the end of the body.
    pub(crate) fn armed(&self, owned: Owned, body: Program) -> Fiber<u32> {
        let (world, bomb, body) = (self.world.clone(), self.bomb(0), self.fiber(body));
        match owned {
            Owned::Closure => body
                .map(move |n| {
                    bomb.hold();
                    n
                })
                .boxed(),
            Owned::Handler => body
                .catch(move |error| {
                    world.see_error(&error);
                    let fails = Fiber::fail(error);
                    // The fiber is lost to this panic. At the end of the closure, it would leak (rust#47949).
                    drop(bomb);
                    fails
                })
                .boxed(),
            Owned::Loop => Fiber::for_each([body], move |body| {
                bomb.hold();
                body.map(drop)
            })
            .map(|()| 1)
            .boxed(),
            Owned::Block => fiber! {
                let! n = body;
                bomb.hold();
                n
            },
            Owned::Next => {
                let next = self.of_many_parts(bomb).timeout(LONGEST * TICK).boxed();
                body.bind(move |_| next).boxed()
            }
            Owned::Late => {
                let late = self.of_many_parts(bomb).with_deadline(Instant::EPOCH).boxed();
                body.bind(move |_| late).boxed()
            }
        }
    }

    /// Panics by the drop of its parts, whether it runs or not.
    fn of_many_parts(&self, bomb: Bomb) -> Fiber<u32, impl Run<Out = u32> + use<>> {
        let [second, third] = [self.bomb(0), self.bomb(0)];
        let first = Fiber::lazy(move || {
            bomb.hold();
            1
        });
        let mapped = first.map(move |n| {
            second.hold();
            n
        });
        mapped.bind(move |n| {
            third.hold();
            Fiber::success(n)
        })
    }

    /// The iterator belongs to this part.
    pub(crate) fn stream(&self, limit: usize, all: Vec<Program>) -> Fiber<u32> {
        let (builder, bomb) = (self.clone(), self.bomb(0));
        let all = all.into_iter().map(move |program| {
            bomb.hold();
            builder.branch(program)
        });
        Fiber::parallel(all).limit(limit).map(|all| all.len() as u32).boxed()
    }

    pub(crate) fn keep(&self, body: Program) -> Fiber<u32> {
        let (builder, body) = (self.clone(), self.fiber(body));
        Fiber::lazy(move || builder.bomb(1)).tap(move |_| body).map(Bomb::defuse).boxed()
    }

    /// Two branches of this part.
    pub(crate) fn loot(&self, gather: Gather, left: Program, right: Program) -> Fiber<u32> {
        let [left, right] = [left, right].map(|program| {
            let builder = self.clone();
            self.branch(program).map(move |n| builder.bomb(n)).boxed()
        });
        let sum = |all: Vec<Bomb>| all.into_iter().map(Bomb::defuse).fold(0, u32::wrapping_add);
        match gather {
            Gather::Zip => left.zip(right).map(move |(left, right)| sum(vec![left, right])).boxed(),
            Gather::Parallel => Fiber::parallel([left, right]).map(sum).boxed(),
            Gather::Race => left.race(right).map(Either::into_inner).map(Bomb::defuse).boxed(),
        }
    }

    pub(crate) fn ballast(&self) -> Bomb {
        Bomb::ballast(&self.world, &self.part)
    }

    fn bomb(&self, value: u32) -> Bomb {
        Bomb::new(&self.world, &self.part, value)
    }
}
