//! Work that never waits: binds, static and erased; recursion; failures and retries.

use std::fmt;
use std::ops::ControlFlow;

use fiber_core::{Error, Fiber, Policy, Run, fiber};
use fiber_sched::Pool;
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{BoxFuture, Ready, ready};

use crate::hosts::Hosts;
use crate::workload::{Column, Workload, step};

/// Binds in one chain.
const LINKS: u64 = 10;
/// Chains in one run: enough that the start of the run does not count.
const TURNS: u64 = 1_000;
/// A fold that fits every contender's stack.
const SHALLOW: u64 = 1_000;
/// Attempts that fail before the one that succeeds.
const FAILURES: u64 = 2;
/// Waits of one loop: enough that the start of the run does not count.
const WAITS: u64 = 100_000;
/// A depth that only the heap can hold.
const DEEP: u64 = 1_000_000;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![
        static_chain(hosts),
        chain_erased_once(hosts),
        chain_of_erased_links(hosts),
        left_fold(hosts, SHALLOW)
            .by(Column::Async, || block_on(async_fold(SHALLOW)))
            .by(Column::Boxed, || block_on(boxed_fold(SHALLOW))),
        left_fold(hosts, DEEP),
        recursion(hosts),
        loop_of_waits(hosts, "`iterate`", iterated),
        loop_of_waits(hosts, "`fiber!`", block_of_waits),
        loop_of_waits(hosts, "`.await` in a future", future_of_awaits),
        failure(hosts),
        retry(hosts),
    ]
}

/// Runs the fiber that `f` makes of a number `TURNS` times, each time with the previous result.
fn repeat<R: Run<Out = u64>>(pool: &Pool, f: fn(u64) -> Fiber<u64, R>) -> u64 {
    let turns =
        Fiber::iterate((0, 0), move |(turn, n)| {
            f(n).map(move |n| {
                if turn + 1 == TURNS { ControlFlow::Break(n) } else { ControlFlow::Continue((turn + 1, n)) }
            })
        });
    pool.run(turns).unwrap()
}

/// The same for a future.
async fn repeat_async<F: Future<Output = u64>>(f: fn(u64) -> F) -> u64 {
    let mut n = 0;
    for _ in 0..TURNS {
        n = f(n).await;
    }
    n
}

fn static_chain(hosts: &Hosts) -> Workload<'_> {
    Workload::new("bind, static chain of 10", TURNS * LINKS, TURNS * LINKS)
        .by(Column::Fiber, || repeat(&hosts.pool, chain))
        .by(Column::Plain, || (0..TURNS * LINKS).fold(0, |n, _| step(n)))
        .by(Column::Async, || block_on(repeat_async(async_chain)))
        .by(Column::Boxed, || block_on(repeat_async(|n| then_chain(n).boxed())))
        .by(Column::Tokio, || hosts.tokio.block_on(repeat_async(async_chain)))
}

fn chain_erased_once(hosts: &Hosts) -> Workload<'_> {
    Workload::new("bind, chain of 10 erased once", TURNS * LINKS, TURNS * LINKS)
        .by(Column::Fiber, || repeat(&hosts.pool, |n| chain(n).boxed()))
        .by(Column::Async, || block_on(repeat_async(|n| async_chain(n).boxed())))
        .by(Column::Boxed, || block_on(repeat_async(|n| then_chain(n).boxed())))
}

fn chain_of_erased_links(hosts: &Hosts) -> Workload<'_> {
    Workload::new("bind, chain of 10, every link erased", TURNS * LINKS, TURNS * LINKS)
        .by(Column::Fiber, || repeat(&hosts.pool, |n| erased_fold(n, LINKS)))
        .by(Column::Async, || block_on(repeat_async(|n| async_fold_from(n, LINKS))))
        .by(Column::Boxed, || block_on(repeat_async(|n| boxed_fold_from(n, LINKS))))
}

fn left_fold(hosts: &Hosts, links: u64) -> Workload<'_> {
    Workload::new(format!("bind, left fold of {links} erased links"), links, links)
        .by(Column::Fiber, move || hosts.pool.run(erased_fold(0, links)).unwrap())
}

fn recursion(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("bind, recursion through `Fiber<T>`, {DEEP} deep"), DEEP, DEEP)
        .by(Column::Fiber, || hosts.pool.run(count(DEEP, 0)).unwrap())
        .by(Column::Plain, || (0..DEEP).fold(0, |n, _| boxed_step(n)()))
        .by(Column::Async, || block_on(boxed_loop(DEEP)))
        .by(Column::Tokio, || hosts.tokio.block_on(boxed_loop(DEEP)))
}

fn loop_of_waits<'a>(hosts: &'a Hosts, form: &str, fiber: fn() -> Fiber<u64>) -> Workload<'a> {
    Workload::new(format!("loop of {WAITS} waits that are ready, {form}"), WAITS, WAITS)
        .by(Column::Fiber, move || hosts.pool.run(fiber()).unwrap())
        .by(Column::Plain, || (0..WAITS).fold(0, |n, _| step(n)))
        .by(Column::Async, || block_on(async_waits()))
        .by(Column::Tokio, || hosts.tokio.block_on(async_waits()))
}

fn failure(hosts: &Hosts) -> Workload<'_> {
    Workload::new("fail, catch, bind", TURNS, 2 * TURNS)
        .by(Column::Fiber, || repeat(&hosts.pool, recover))
        .by(Column::Plain, || (0..TURNS).fold(0, |n, _| step(refuse(n).unwrap_or_else(|Refused(n)| step(n)))))
        .by(Column::Async, || block_on(repeat_async(async_recover)))
        .by(Column::Tokio, || hosts.tokio.block_on(repeat_async(async_recover)))
}

fn retry(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("retry of what fails {FAILURES} times"), TURNS, TURNS)
        .by(Column::Fiber, || repeat(&hosts.pool, persist))
        .by(Column::Plain, || (0..TURNS).fold(0, |n, _| plain_persist(n)))
        .by(Column::Async, || block_on(repeat_async(async_persist)))
        .by(Column::Tokio, || hosts.tokio.block_on(repeat_async(async_persist)))
}

// The fibers.

fn iterated() -> Fiber<u64> {
    Fiber::iterate((0, 0), |(turn, n)| {
        link(n).map(move |n| {
            if turn + 1 == WAITS { ControlFlow::Break(n) } else { ControlFlow::Continue((turn + 1, n)) }
        })
    })
    .boxed()
}

fn block_of_waits() -> Fiber<u64> {
    fiber! {
        let mut n = 0;
        for _ in 0..WAITS {
            n = do! link(n);
        }
        n
    }
}

fn future_of_awaits() -> Fiber<u64> {
    let future = async {
        let mut n = 0;
        for _ in 0..WAITS {
            n = link(n).await?;
        }
        Ok::<_, Error>(n)
    };
    Fiber::from_future(future).boxed()
}

async fn async_waits() -> u64 {
    let mut n = 0;
    for _ in 0..WAITS {
        n = ready(step(n)).await;
    }
    n
}

fn link(n: u64) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::success(step(n))
}

/// Ten closures, as in a real program: a function used ten times would be compiled once, and called.
fn chain(n: u64) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::success(n)
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
}

fn erased_fold(n: u64, links: u64) -> Fiber<u64> {
    (0..links).fold(Fiber::success(n).boxed(), |before, _| before.bind(link).boxed())
}

fn count(left: u64, n: u64) -> Fiber<u64> {
    if left == 0 {
        Fiber::success(n).boxed()
    } else {
        Fiber::success(step(n)).bind(move |n| count(left - 1, n)).boxed()
    }
}

fn recover(n: u64) -> Fiber<u64, impl Run<Out = u64>> {
    let refused = Fiber::try_lazy(move || refuse(n));
    refused
        .catch(|error: Error| Fiber::success(step(error.downcast_ref::<Refused>().map_or(0, |e| e.0))))
        .bind(link)
}

fn persist(n: u64) -> Fiber<u64, impl Run<Out = u64>> {
    let mut attempts = 0..;
    Fiber::retry_with(Policy::recurs(FAILURES), move || {
        let failures = attempts.next();
        Fiber::try_lazy(move || attempt(n, failures.expect("few attempts")))
    })
}

// The futures.

fn ready_link(n: u64) -> Ready<u64> {
    ready(step(n))
}

async fn async_link(n: u64) -> u64 {
    step(n)
}

async fn async_chain(mut n: u64) -> u64 {
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    n = async { step(n) }.await;
    async { step(n) }.await
}

fn then_chain(n: u64) -> impl Future<Output = u64> + Send {
    ready(n)
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
        .then(|n| ready(step(n)))
}

fn boxed_fold(links: u64) -> BoxFuture<'static, u64> {
    boxed_fold_from(0, links)
}

fn boxed_fold_from(n: u64, links: u64) -> BoxFuture<'static, u64> {
    (0..links).fold(ready(n).boxed(), |before, _| before.then(ready_link).boxed())
}

fn async_fold(links: u64) -> BoxFuture<'static, u64> {
    async_fold_from(0, links)
}

fn async_fold_from(n: u64, links: u64) -> BoxFuture<'static, u64> {
    (0..links).fold(ready(n).boxed(), |before, _| async { step(before.await) }.boxed())
}

/// The closest equivalent of a deep recursion with futures: nested awaits overflow the stack.
async fn boxed_loop(turns: u64) -> u64 {
    let mut n = 0;
    for _ in 0..turns {
        n = async_link(n).boxed().await;
    }
    n
}

/// An allocation and an indirect call: the minimum cost of an erased link.
fn boxed_step(n: u64) -> Box<dyn FnOnce() -> u64> {
    std::hint::black_box(Box::new(move || step(n)))
}

// A failure that costs nothing itself.

#[derive(Clone, Copy, Debug)]
struct Refused(u64);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused {}", self.0)
    }
}

impl std::error::Error for Refused {}

#[inline(never)]
fn refuse(n: u64) -> Result<u64, Refused> {
    Err(std::hint::black_box(Refused(n)))
}

async fn async_recover(n: u64) -> u64 {
    let n = match async { refuse(n) }.await {
        Ok(n) => n,
        Err(Refused(n)) => async_link(n).await,
    };
    async_link(n).await
}

#[inline(never)]
fn attempt(n: u64, failures: u64) -> Result<u64, Refused> {
    if failures < FAILURES { refuse(n) } else { Ok(step(n)) }
}

fn plain_persist(n: u64) -> u64 {
    (0..).find_map(|failures| attempt(n, failures).ok()).expect("few attempts")
}

async fn async_persist(n: u64) -> u64 {
    let mut failures = 0;
    loop {
        match async { attempt(n, failures) }.await {
            Ok(n) => return n,
            Err(Refused(_)) => failures += 1,
        }
    }
}
