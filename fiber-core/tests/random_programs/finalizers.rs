//! Builds fibers with finalizers, and fibers that acquire and release resources.

use std::sync::Arc;

use fiber_core::{Fiber, Outcome, Resource};

use crate::builder::Builder;
use crate::part::{Part, Reach};
use crate::program::Program;
use crate::world::{Finalizer, Kind, World};

struct Brittle {
    lease: Arc<Finalizer>,
    world: Arc<World>,
}

impl Clone for Brittle {
    fn clone(&self) -> Self {
        std::panic::panic_any(self.world.raise(Kind::Panic).to_string())
    }
}

impl Builder {
    pub(crate) fn ensure(&self, body: Program, finalizer: Program, sees_outcome: bool) -> Fiber<u32> {
        let (counts, during) = (self.world.finalizer(true), self.during());
        let finalizer = self.finalizer(counts.clone(), during.part.clone(), finalizer);
        let body = Fiber::defer(move || {
            counts.is_due();
            during.fiber(body)
        });
        if sees_outcome {
            body.on_outcome(move |_| finalizer).boxed()
        } else {
            body.ensure(finalizer).boxed()
        }
    }

    pub(crate) fn on_cancel(&self, body: Program, finalizer: Program) -> Fiber<u32> {
        let (body, finalizer) = self.only_for(Outcome::is_cancelled, body, finalizer);
        body.on_cancel(finalizer).boxed()
    }

    pub(crate) fn on_failure(&self, body: Program, finalizer: Program) -> Fiber<u32> {
        let (body, finalizer) = self.only_for(Outcome::is_failure, body, finalizer);
        body.on_failure(move |_| finalizer).boxed()
    }

    /// A body, and a finalizer that is due after some of its outcomes only.
    fn only_for(
        &self,
        is_due: fn(&Outcome<u32>) -> bool,
        body: Program,
        finalizer: Program,
    ) -> (Fiber<u32>, Fiber<()>) {
        let (counts, during) = (self.world.finalizer(false), self.during());
        let finalizer = self.finalizer(counts.clone(), during.part.clone(), finalizer);
        let body = during.fiber(body).map_outcome(move |outcome| {
            if is_due(&outcome) {
                counts.is_due();
            }
            outcome
        });
        (body.boxed(), finalizer)
    }

    /// Begins after the end of `body`.
    fn finalizer(&self, counts: Arc<Finalizer>, body: Part, program: Program) -> Fiber<()> {
        let (builder, ended) = (self.finally(), counts.clone());
        let finalizer = Fiber::defer(move || {
            body.end();
            counts.begins();
            builder.fiber(program)
        });
        let end = move |outcome: Outcome<u32>| {
            ended.ends();
            outcome.map(drop)
        };
        finalizer.map_outcome(end).boxed()
    }

    pub(crate) fn bracket(&self, acquire: Program, using: Program, release: Program) -> Fiber<u32> {
        let during = self.during();
        let release = self.release(during.part.clone(), release);
        let using = move |lease: Arc<Finalizer>| during.using(&[lease], using);
        Fiber::bracket(self.acquire(acquire), using, release).boxed()
    }

    /// Two resources, to be released in reverse.
    pub(crate) fn resources(&self, acquire: Program, using: Program, release: Program) -> Fiber<u32> {
        let during = self.during();
        let first = Resource::new(self.acquire(acquire), self.release(during.part.clone(), release.clone()));
        let builder = self.clone();
        let both = first.and_then(move |first| {
            let (world, earlier) = (builder.world.clone(), first.clone());
            let released = builder.release(Part::default(), release.clone());
            let second = Resource::new(builder.acquire(release), move |second| {
                if !earlier.is_held() {
                    world.broken("a resource was released before one that was acquired after it");
                }
                released(second)
            });
            second.map(move |second| [first, second])
        });
        both.using(move |leases| during.using(&leases, using)).boxed()
    }

    /// A value whose clone panics. It is never used, and released all the same.
    pub(crate) fn brittle(&self, is_resource: bool, acquire: Program, release: Program) -> Fiber<u32> {
        let (during, world) = (self.during(), self.world.clone());
        let release = self.release(during.part.clone(), release);
        let acquire = self.acquire(acquire).map(move |lease| Brittle { lease, world });
        let release = move |brittle: Brittle| release(brittle.lease.clone());
        let using = move |_| during.fiber(Program::Succeed);
        if is_resource {
            Resource::new(acquire, release).using(using).boxed()
        } else {
            Fiber::bracket(acquire, using, release).boxed()
        }
    }

    /// The counts of the release of what it acquires.
    pub(crate) fn acquire(&self, program: Program) -> Fiber<Arc<Finalizer>> {
        let counts = self.world.finalizer(false);
        let acquired = move |_| {
            counts.is_due();
            counts
        };
        self.with_reach(Reach::Nothing).fiber(program).map(acquired).boxed()
    }

    pub(crate) fn using(&self, leases: &[Arc<Finalizer>], program: Program) -> Fiber<u32> {
        if !leases.iter().all(|lease| lease.is_held()) {
            self.world.broken("something was used that was not acquired, or that was released");
        }
        self.fiber(program)
    }

    /// Releases something after the end of its use.
    pub(crate) fn release(
        &self,
        using: Part,
        program: Program,
    ) -> impl FnOnce(Arc<Finalizer>) -> Fiber<()> + Send + use<> {
        let builder = self.clone();
        move |lease| {
            if !lease.is_held() {
                builder.world.broken("something was released that was not acquired");
            }
            builder.finalizer(lease, using, program)
        }
    }
}
