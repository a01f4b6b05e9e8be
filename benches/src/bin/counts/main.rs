//! Loops whose instructions are counted. `benches/counts.py` runs them under callgrind and prints the table.
//!
//! ```sh
//! cargo run --release -p benches --bin counts -- thread "yield" 1000   # 1,000 rounds of one row on `CurrentThread`
//! cargo run --release -p benches --bin counts -- history "yield" 1000  # on `CurrentThread` with a `History`
//! cargo run --release -p benches --bin counts -- pool "yield" 1000     # on a pool of one worker
//! cargo run --release -p benches --bin counts -- runtime "yield" 1000  # on `TokioScheduler`, with one worker
//! cargo run --release -p benches --bin counts -- tokio "two messages" 1000   # the same by a peer
//! cargo run --release -p benches --bin counts                          # the names of the rows, and who has them
//! ```

mod peers;
mod service;

use std::env::args;
use std::hint::black_box;
use std::mem::replace;
use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::sync::{
    Cache, Channel, CircuitBreaker, Mutex, Notify, Receiver, Semaphore, Sender, one_shot,
};
use fiber_core::{Context, Error, Fiber, Handle, Outcome, Policy, Resume, Run, fiber, local_key, race};
use fiber_sched::{CurrentThread, History, Pool, TokioScheduler, block_on};
use fiber_test::{Explore, Search};
use tokio::runtime::Builder;

use service::served;

/// Longer than any loop.
const LONG: Duration = Duration::from_secs(3_600);

/// Fibers that share a lock.
const CROWD: u64 = 8;
/// Fibers that send to one channel.
const PRODUCERS: u64 = 4;

/// Makes a loop of so many rounds.
type Row = fn(u64) -> Fiber<u64>;

const ROWS: &[(&str, Row)] = &[
    ("yield", |count| rounds(count, Fiber::yield_now)),
    ("yield, `do!` in a block", |count| {
        fiber! {
            for _ in 0..count {
                do! Fiber::yield_now();
            }
            count
        }
    }),
    ("yield, `.await` in a future", |count| awaited(count, Fiber::yield_now)),
    ("yield in a timeout, `.await` in a future", |count| awaited(count, || Fiber::yield_now().timeout(LONG))),
    ("something ready, `.await` in a future", |count| awaited(count, || Fiber::lazy(|| ()))),
    ("fork and join, ready", |count| rounds(count, || Fiber::lazy(|| ()).fork().bind(Handle::join))),
    ("fork and join, the child yields", |count| {
        rounds(count, || Fiber::yield_now().fork().bind(Handle::join))
    }),
    ("zip, ready", |count| rounds(count, || Fiber::lazy(|| ()).zip(Fiber::lazy(|| ())).map(drop))),
    ("zip of two yields", |count| rounds(count, || Fiber::yield_now().zip(Fiber::yield_now()).map(drop))),
    ("parallel of 8, ready", |count| {
        rounds(count, || Fiber::parallel((0..8).map(|n| Fiber::lazy(move || n))).map(drop))
    }),
    ("parallel of 8 that yield", |count| {
        rounds(count, || Fiber::parallel((0..8).map(|_| Fiber::yield_now())).map(drop))
    }),
    ("yield in a timeout", |count| rounds(count, || Fiber::yield_now().timeout(LONG))),
    ("two messages", messages),
    ("two messages, by loops of receivers", messages_by_loops),
    ("request and answer", requests),
    ("two notifications", notifications),
    ("mutex, uncontended", |count| {
        Fiber::defer(move || {
            let mutex = Mutex::new(());
            rounds(count, move || mutex.lock().map(drop))
        })
        .boxed()
    }),
    ("mutex over a yield, 8 fibers", |count| {
        Fiber::defer(move || {
            let mutex = Mutex::new(());
            crowd(count, move || {
                mutex.lock().bind(|held| Fiber::yield_now().map(move |()| drop(held))).boxed()
            })
        })
        .boxed()
    }),
    ("semaphore, uncontended", |count| {
        Fiber::defer(move || {
            let semaphore = Semaphore::new(1);
            rounds(count, move || semaphore.acquire(1).map(drop))
        })
        .boxed()
    }),
    ("2 permits over a yield, 8 fibers", |count| {
        Fiber::defer(move || {
            let semaphore = Semaphore::new(2);
            crowd(count, move || {
                semaphore.acquire(1).bind(|held| Fiber::yield_now().map(move |()| drop(held))).boxed()
            })
        })
        .boxed()
    }),
    ("4 producers, bounded 64", |count| funnel(count, Channel::bounded(64))),
    ("4 producers, bounded 64, by a loop of the receiver", |count| {
        funnel_by_loop(count, Channel::bounded(64))
    }),
    ("4 producers, unbounded", |count| funnel(count, Channel::unbounded())),
    ("4 producers, unbounded, by a loop of the receiver", |count| {
        funnel_by_loop(count, Channel::unbounded())
    }),
    ("an item beside a delay", |count| {
        items(count, |items| items.recv().race(Fiber::delay(LONG)).map(drop).boxed())
    }),
    ("an item beside two delays", |count| {
        items(count, |items| {
            let items = items.clone();
            race! { _ = items.recv() => (), () = Fiber::delay(LONG) => (), () = Fiber::delay(LONG) => () }
        })
    }),
    ("an item beside a delay, boxed", |count| {
        items(count, |items| items.recv().boxed().race(Fiber::delay(LONG).boxed()).map(drop).boxed())
    }),
    ("an item in a timeout", |count| items(count, |items| items.recv().timeout(LONG).map(drop).boxed())),
    ("an item in a timeout, boxed", |count| {
        items(count, |items| items.recv().boxed().timeout(LONG).map(drop).boxed())
    }),
    ("policy, built, cloned and dropped", |count| {
        rounds(count, || {
            let policy = policy();
            drop(black_box(policy.clone()));
            drop(black_box(policy));
            Fiber::lazy(|| ())
        })
    }),
    ("retry that succeeds", |count| rounds(count, || Fiber::lazy(|| ()).retry(policy()))),
    ("retry that fails once", |count| {
        rounds(count, || {
            let (mut failed, policy) =
                (false, Policy::recurs(3).while_input(|error: &Error| !error.is::<std::fmt::Error>()));
            Fiber::retry_with(policy, move || {
                let succeeds = replace(&mut failed, true);
                Fiber::try_lazy(move || if succeeds { Ok(()) } else { Err(Error::msg("no")) })
            })
        })
    }),
    ("hedge, ready", |count| rounds(count, || Fiber::hedge(LONG, 2, || Fiber::lazy(|| ())))),
    ("hedge whose attempt yields", |count| rounds(count, || Fiber::hedge(LONG, 2, Fiber::yield_now))),
    ("a value that a cache keeps", |count| values(count, 1)),
    ("a value that a cache computes, with a yield", |count| values(count, u64::MAX)),
    ("a call through a breaker", |count| {
        let breaker = CircuitBreaker::new(3, LONG);
        rounds(count, move || breaker.protect(Fiber::yield_now()))
    }),
    ("spawn in a group and join", |count| {
        Fiber::defer(move || {
            let group = Context::current().expect("in a fiber").group();
            rounds(count, move || group.spawn(Fiber::lazy(|| ())).join())
        })
        .boxed()
    }),
    ("with_local and local", |count| rounds(count, || Fiber::local(&NUMBER).with_local(&NUMBER, 1))),
    ("local in a timeout that yields", |count| {
        let read = || Fiber::yield_now().bind(|()| Fiber::local(&NUMBER)).timeout(LONG);
        rounds(count, read).with_local(&NUMBER, 1).boxed()
    }),
    ("fork and join, with a local", |count| {
        rounds(count, || Fiber::lazy(|| ()).fork().bind(Handle::join)).with_local(&NUMBER, 1).boxed()
    }),
    ("a request of a service", |count| served(count, service::Answers)),
    ("a request of a service, under the layer", |count| service::under_the_layer(count, false)),
    ("a request of a service, under the layer with a deadline, a limit and a number", |count| {
        service::under_the_layer(count, true)
    }),
    ("blocking call", |count| rounds(count, || Fiber::blocking(|| ()))),
    // Below, the host only runs the explorer.
    ("a schedule of 3 fibers of 2 steps, first in, first out", |count| schedules(count, Search::Fifo)),
    ("a schedule of 3 fibers of 2 steps, random walk", |count| schedules(count, Search::RandomWalk)),
    ("a schedule of 3 fibers of 2 steps, random priorities (PCT)", |count| schedules(count, Search::Pct)),
];

local_key! {
    static NUMBER: u64 = 0;
}

/// Asks a cache for values, with so many keys in turns.
fn values(count: u64, keys: u64) -> Fiber<u64> {
    let cache = Cache::new(1_000);
    Fiber::iterate(0, move |n| cache.get(n % keys, Fiber::yield_now).map(move |_| next(n, count))).boxed()
}

/// What a service repeats a request by.
fn policy() -> Policy {
    let pauses = Policy::exponential(Duration::from_millis(5)).jittered();
    (pauses & Policy::recurs(3)).while_input(|error: &Error| !error.is::<std::fmt::Error>())
}

fn main() {
    let args: Vec<String> = args().skip(1).collect();
    let [host, row, count] = &args[..] else {
        for (name, _) in ROWS {
            println!("{name}\t{}", peers::of(name).join("\t"));
        }
        return;
    };
    let count = count.parse().expect("the number of rounds");
    if peers::HOSTS.contains(&&host[..]) {
        return assert_eq!(peers::run(host, row, count), count);
    }
    let (_, row) = ROWS.iter().find(|(name, _)| name == row).expect("the name of a row");
    let done = match &host[..] {
        "thread" => CurrentThread::new().run(row(count)),
        "history" => CurrentThread::with_observer(History::new()).run(row(count)),
        // Spawned, because `run` would run it on this thread as long as it does not wait.
        "pool" => block_on(Pool::builder().workers(1).build().spawn(row(count))),
        "runtime" => on_runtime(row(count)),
        _ => panic!("`thread`, `history`, `pool` or `runtime`"),
    };
    assert_eq!(done.unwrap(), count);
}

/// On a tokio runtime with one worker.
fn on_runtime(fiber: Fiber<u64>) -> Outcome<u64> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("a runtime");
    let fibers = TokioScheduler::new(runtime.handle());
    runtime.block_on(fibers.spawn(fiber).into_future())
}

/// So many schedules of three fibers of two steps each.
fn schedules(count: u64, search: Search) -> Fiber<u64> {
    let steps = || Fiber::lazy(|| 1).bind(|n| Fiber::success(n + 1));
    let program =
        move || Fiber::parallel((0..3).map(move |_| steps())).map(|all: Vec<u64>| assert_eq!(all, [2; 3]));
    let explore = Explore::default().only(search).schedules(count);
    Fiber::lazy(move || explore.try_check(program).expect("nothing is wrong with it").schedules()).boxed()
}

/// So many rounds of a program.
fn rounds<T, R>(count: u64, once: impl Fn() -> Fiber<T, R> + Clone + Send + 'static) -> Fiber<u64>
where
    T: Send + 'static,
    R: Run<Out = T>,
{
    Fiber::iterate(0, move |n| once().map(move |_| next(n, count))).boxed()
}

/// The same as a future, which awaits each round.
fn awaited<T, R>(count: u64, once: impl Fn() -> Fiber<T, R> + Send + 'static) -> Fiber<u64>
where
    T: Send + 'static,
    R: Run<Out = T>,
{
    Fiber::from_future(async move {
        for _ in 0..count {
            once().await?;
        }
        Ok::<_, Error>(count)
    })
    .boxed()
}

/// The state after one more round.
fn next(n: u64, count: u64) -> ControlFlow<u64, u64> {
    let n = n + 1;
    if n == count { ControlFlow::Break(n) } else { ControlFlow::Continue(n) }
}

/// Two fibers that pass a number to and fro, over channels with room for one.
fn messages(count: u64) -> Fiber<u64> {
    Fiber::defer(move || {
        let ((to, from_here), (back, from_there)) = (Channel::bounded(1), Channel::bounded(1));
        let echo = Fiber::for_each(0..count, move |_| {
            let back = back.clone();
            from_here.recv().bind(move |n: u64| back.send(n))
        });
        let ask = Fiber::iterate(0, move |n| {
            let answer = from_there.recv();
            to.send(n).bind(move |()| answer).map(move |n| next(n, count))
        });
        echo.fork().bind(move |echo| ask.bind(move |n| echo.join().map(move |()| n)))
    })
    .boxed()
}

/// The same by loops that keep the receivers.
fn messages_by_loops(count: u64) -> Fiber<u64> {
    Fiber::defer(move || {
        let ((to, from_here), (back, from_there)) = (Channel::bounded(1), Channel::bounded(1));
        let echo = from_here.for_each(move |n: u64| back.send(n));
        let start = to.send(0);
        let ask = from_there.fold(0, move |n, _| {
            if n + 1 == count {
                to.close();
            }
            to.send(n).map(move |()| n + 1)
        });
        // The last send fails.
        let ask = start.bind(move |()| ask).catch(move |_| Fiber::success(count));
        echo.fork().bind(move |echo| ask.bind(move |n| echo.join().map(move |()| n)))
    })
    .boxed()
}

/// Items that a fiber waits for, one after the other, as `take` does.
fn items(count: u64, take: fn(&Receiver<u64>) -> Fiber<()>) -> Fiber<u64> {
    Fiber::defer(move || {
        let (to, items) = Channel::rendezvous();
        let takes = Fiber::for_each(0..count, move |_| take(&items));
        let gives = Fiber::iterate(0, move |n| to.send(n).map(move |()| next(n, count)));
        takes.fork().bind(move |takes| gives.bind(move |n| takes.join().map(move |()| n)))
    })
    .boxed()
}

/// Requests to a fiber, over a channel, each with a place for its answer.
fn requests(count: u64) -> Fiber<u64> {
    Fiber::defer(move || {
        let (to, requests) = Channel::bounded(1);
        let serve = Fiber::for_each(0..count, move |_| {
            requests.recv().map(|(n, reply): (u64, Resume<u64>)| _ = reply.send(n))
        });
        let ask = Fiber::iterate(0, move |n| {
            let (reply, answer) = one_shot();
            to.send((n, reply)).bind(move |()| answer).map(move |n| next(n, count))
        });
        serve.fork().bind(move |server| ask.bind(move |n| server.join().map(move |()| n)))
    })
    .boxed()
}

/// Two fibers that notify each other in turn.
fn notifications(count: u64) -> Fiber<u64> {
    Fiber::defer(move || {
        let (there, back) = (Notify::new(), Notify::new());
        let (heard, answer) = (there.clone(), back.clone());
        let echo = Fiber::for_each(0..count, move |_| {
            let answer = answer.clone();
            heard.wait().map(move |()| answer.notify_one())
        });
        let ask = Fiber::iterate(0, move |n| {
            there.notify_one();
            back.wait().map(move |()| next(n, count))
        });
        echo.fork().bind(move |echo| ask.bind(move |n| echo.join().map(move |()| n)))
    })
    .boxed()
}

/// Eight fibers that take turns: so many rounds of all together.
fn crowd(count: u64, once: impl Fn() -> Fiber<()> + Clone + Send + 'static) -> Fiber<u64> {
    let one = move |_| rounds(count / CROWD, once.clone());
    Fiber::parallel((0..CROWD).map(one)).map(move |_| count).boxed()
}

/// The items of four fibers, received by one.
fn funnel(count: u64, (sender, receiver): (Sender<u64>, Receiver<u64>)) -> Fiber<u64> {
    let consume = Fiber::iterate(0, move |n| receiver.recv().map(move |_| next(n, count)));
    producers(count, sender).bind(move |()| consume).boxed()
}

fn funnel_by_loop(count: u64, (sender, receiver): (Sender<u64>, Receiver<u64>)) -> Fiber<u64> {
    let consume = receiver.fold(0, move |n, _| Fiber::success(n + 1));
    producers(count, sender).bind(move |()| consume).boxed()
}

fn producers(count: u64, sender: Sender<u64>) -> Fiber<(), impl Run<Out = ()>> {
    Fiber::for_each(0..PRODUCERS, move |_| {
        let sender = sender.clone();
        Fiber::for_each(0..count / PRODUCERS, move |n| sender.send(n)).fork().map(drop)
    })
}
