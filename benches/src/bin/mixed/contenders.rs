//! The contenders: each serves requests and runs computations.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use benches::Hosts;
use fiber_core::sync::Channel;
use fiber_core::{Fiber, Handle};
use fiber_sched::{Pool, block_on};
use tokio::sync::oneshot;

use crate::work::{Computation, Served, Server};

/// Returns the number of computations that it has done.
pub(crate) type Count = Box<dyn FnOnce() -> u64>;

/// A contender.
pub(crate) trait Contender {
    /// Starts a server.
    fn serve(&self) -> Server;

    /// Starts a client of computations: one after the other, until the time `until`.
    fn compute(&self, computation: Computation, until: Instant) -> Count;
}

/// Requests and computations on one pool.
pub(crate) struct OnePool<'a>(pub(crate) &'a Pool);

/// Like [`OnePool`], but the client yields after each computation.
pub(crate) struct Yielding<'a>(pub(crate) &'a Pool);

/// The computations on a separate pool.
pub(crate) struct TwoPools<'a> {
    pub(crate) requests: &'a Pool,
    pub(crate) computations: &'a Pool,
}

/// Requests on tokio, computations by rayon.
pub(crate) struct TokioAndRayon<'a> {
    pub(crate) hosts: &'a Hosts,
    pub(crate) rayon: Arc<rayon::ThreadPool>,
}

/// Requests on tokio, each computation on one of its blocking threads.
pub(crate) struct SpawnBlocking<'a>(pub(crate) &'a Hosts);

/// Requests and computations on the workers of tokio, each computation on one worker.
pub(crate) struct TokioAlone<'a>(pub(crate) &'a Hosts);

/// Counts one more.
fn next(done: u64, until: Instant) -> ControlFlow<u64, u64> {
    match done + 1 {
        done if Instant::now() < until => ControlFlow::Continue(done),
        done => ControlFlow::Break(done),
    }
}

fn joined<T: Send + 'static>(handle: Handle<T>) -> Box<dyn FnOnce() -> T> {
    Box::new(|| block_on(handle).unwrap())
}

fn serve_on(pool: &Pool) -> Server {
    let (sender, receiver) = Channel::unbounded();
    let serves = Fiber::iterate(Served::default(), move |mut served| {
        receiver.recv().map(move |request| match request {
            Some(request) => {
                served.serve(request);
                ControlFlow::Continue(served)
            }
            None => ControlFlow::Break(served),
        })
    });
    let send = move |request| sender.try_send(request).expect("the server is there");
    Server { send: Box::new(send), join: joined(pool.spawn(serves)) }
}

impl Contender for OnePool<'_> {
    fn serve(&self) -> Server {
        serve_on(self.0)
    }

    fn compute(&self, computation: Computation, until: Instant) -> Count {
        let computes = Fiber::iterate(0, move |done| {
            Fiber::lazy(move || computation.by_borrowed_tasks()).map(move |()| next(done, until))
        });
        joined(self.0.spawn(computes))
    }
}

impl Contender for Yielding<'_> {
    fn serve(&self) -> Server {
        serve_on(self.0)
    }

    fn compute(&self, computation: Computation, until: Instant) -> Count {
        let computes = Fiber::iterate(0, move |done| {
            let computed = Fiber::lazy(move || computation.by_borrowed_tasks());
            computed.bind(|()| Fiber::yield_now()).map(move |()| next(done, until))
        });
        joined(self.0.spawn(computes))
    }
}

impl Contender for TwoPools<'_> {
    fn serve(&self) -> Server {
        serve_on(self.requests)
    }

    fn compute(&self, computation: Computation, until: Instant) -> Count {
        let there = self.computations.context().clone();
        let computes = Fiber::iterate(0, move |done| {
            let there = there.clone();
            let handed =
                Fiber::lazy(move || there.spawn(Fiber::lazy(move || computation.by_borrowed_tasks())));
            handed.bind(Handle::join).map(move |()| next(done, until))
        });
        joined(self.requests.spawn(computes))
    }
}

fn serve_as_task(hosts: &Hosts) -> Server {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let serves = async move {
        let mut served = Served::default();
        while let Some(Some(request)) = receiver.recv().await {
            served.serve(request);
        }
        served
    };
    let send = move |request| sender.send(request).expect("the server is there");
    Server { send: Box::new(send), join: joined_task(hosts, serves) }
}

/// A task that computes repeatedly by `compute`.
fn compute_as_task<F>(hosts: &Hosts, until: Instant, compute: impl Fn() -> F + Send + 'static) -> Count
where
    F: Future<Output = ()> + Send,
{
    joined_task(hosts, async move {
        let mut done = 0;
        loop {
            compute().await;
            match next(done, until) {
                ControlFlow::Continue(count) => done = count,
                ControlFlow::Break(count) => return count,
            }
        }
    })
}

fn joined_task<F>(hosts: &Hosts, future: F) -> Box<dyn FnOnce() -> F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let task = hosts.tokio.spawn(future);
    Box::new(|| block_on(task).expect("no panic"))
}

impl Contender for TokioAndRayon<'_> {
    fn serve(&self) -> Server {
        serve_as_task(self.hosts)
    }

    fn compute(&self, computation: Computation, until: Instant) -> Count {
        let rayon = self.rayon.clone();
        compute_as_task(self.hosts, until, move || {
            let (done, is_done) = oneshot::channel();
            rayon.spawn(move || {
                computation.by_rayon();
                done.send(()).expect("the task waits");
            });
            async { is_done.await.expect("no panic") }
        })
    }
}

impl Contender for SpawnBlocking<'_> {
    fn serve(&self) -> Server {
        serve_as_task(self.0)
    }

    fn compute(&self, computation: Computation, until: Instant) -> Count {
        compute_as_task(self.0, until, move || {
            let handle = tokio::task::spawn_blocking(move || computation.alone());
            async { handle.await.expect("no panic") }
        })
    }
}

impl Contender for TokioAlone<'_> {
    fn serve(&self) -> Server {
        serve_as_task(self.0)
    }

    fn compute(&self, computation: Computation, until: Instant) -> Count {
        compute_as_task(self.0, until, move || async move {
            computation.alone();
            tokio::task::yield_now().await;
        })
    }
}
