//! The same loops by peers, all on one thread of tokio.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::spawn;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use tokio::task::yield_now;

use crate::{CROWD, PRODUCERS};

/// The peers.
pub(crate) const HOSTS: &[&str] = &["tokio", "kanal", "async-lock", "async-channel"];

type Loop = fn(u64) -> Pin<Box<dyn Future<Output = ()> + Send>>;

const ROWS: &[(&str, &str, Loop)] = &[
    ("two messages", "tokio", |n| Box::pin(messages(n, mpsc::channel(1), mpsc::channel(1)))),
    ("two messages", "kanal", |n| Box::pin(messages(n, kanal::bounded_async(1), kanal::bounded_async(1)))),
    ("request and answer", "tokio", |n| Box::pin(requests(n))),
    ("two notifications", "tokio", |n| Box::pin(notifications(n))),
    ("mutex, uncontended", "tokio", |n| {
        Box::pin(async move {
            let mutex = Mutex::new(());
            for _ in 0..n {
                drop(mutex.lock().await);
            }
        })
    }),
    ("mutex, uncontended", "async-lock", |n| {
        Box::pin(async move {
            let mutex = async_lock::Mutex::new(());
            for _ in 0..n {
                drop(mutex.lock().await);
            }
        })
    }),
    ("mutex over a yield, 8 fibers", "tokio", |n| {
        let mutex = Arc::new(Mutex::new(()));
        Box::pin(crowd(n, move || {
            let mutex = mutex.clone();
            async move {
                let _held = mutex.lock().await;
                yield_now().await;
            }
        }))
    }),
    ("mutex over a yield, 8 fibers", "async-lock", |n| {
        let mutex = Arc::new(async_lock::Mutex::new(()));
        Box::pin(crowd(n, move || {
            let mutex = mutex.clone();
            async move {
                let _held = mutex.lock().await;
                yield_now().await;
            }
        }))
    }),
    ("semaphore, uncontended", "tokio", |n| {
        Box::pin(async move {
            let semaphore = Semaphore::new(1);
            for _ in 0..n {
                drop(semaphore.acquire().await);
            }
        })
    }),
    ("semaphore, uncontended", "async-lock", |n| {
        Box::pin(async move {
            let semaphore = async_lock::Semaphore::new(1);
            for _ in 0..n {
                drop(semaphore.acquire().await);
            }
        })
    }),
    ("2 permits over a yield, 8 fibers", "tokio", |n| {
        let semaphore = Arc::new(Semaphore::new(2));
        Box::pin(crowd(n, move || {
            let semaphore = semaphore.clone();
            async move {
                let _held = semaphore.acquire().await;
                yield_now().await;
            }
        }))
    }),
    ("2 permits over a yield, 8 fibers", "async-lock", |n| {
        let semaphore = Arc::new(async_lock::Semaphore::new(2));
        Box::pin(crowd(n, move || {
            let semaphore = semaphore.clone();
            async move {
                let _held = semaphore.acquire().await;
                yield_now().await;
            }
        }))
    }),
    ("4 producers, bounded 64", "tokio", |n| Box::pin(funnel(n, mpsc::channel(64)))),
    ("4 producers, bounded 64", "kanal", |n| Box::pin(funnel(n, kanal::bounded_async(64)))),
    ("4 producers, unbounded", "tokio", |n| Box::pin(funnel(n, mpsc::unbounded_channel()))),
    ("4 producers, unbounded", "kanal", |n| Box::pin(funnel(n, kanal::unbounded_async()))),
    ("4 producers, bounded 64", "async-channel", |n| Box::pin(funnel(n, async_channel::bounded(64)))),
    ("4 producers, unbounded", "async-channel", |n| Box::pin(funnel(n, async_channel::unbounded()))),
];

/// The peers that have a row.
pub(crate) fn of(row: &str) -> Vec<&'static str> {
    ROWS.iter().filter(|(name, ..)| *name == row).map(|(_, host, _)| *host).collect()
}

/// Runs so many rounds of a row. The number of rounds.
pub(crate) fn run(host: &str, row: &str, count: u64) -> u64 {
    let found = ROWS.iter().find(|(name, peer, _)| (*name, *peer) == (row, host));
    let (.., rounds) = found.expect("a row of this peer");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    // Spawned, because the future of `block_on` is polled in another way.
    runtime.block_on(runtime.spawn(rounds(count))).expect("no panic");
    count
}

/// The sending end of some channel.
trait Sends: Clone + Send + Sync + 'static {
    fn put(&self, n: u64) -> impl Future<Output = ()> + Send;
}

/// The receiving end of some channel.
trait Receives: Send + 'static {
    fn take(&mut self) -> impl Future<Output = u64> + Send;
}

macro_rules! ends {
    ($($sender:ty, $receiver:ty;)*) => {$(
        impl Sends for $sender {
            async fn put(&self, n: u64) {
                self.send(n).await.expect("open");
            }
        }

        impl Receives for $receiver {
            async fn take(&mut self) -> u64 {
                self.recv().await.expect("open")
            }
        }
    )*};
}

ends! {
    kanal::AsyncSender<u64>, kanal::AsyncReceiver<u64>;
    async_channel::Sender<u64>, async_channel::Receiver<u64>;
    mpsc::Sender<u64>, mpsc::Receiver<u64>;
}

impl Sends for mpsc::UnboundedSender<u64> {
    async fn put(&self, n: u64) {
        self.send(n).expect("open");
    }
}

impl Receives for mpsc::UnboundedReceiver<u64> {
    async fn take(&mut self) -> u64 {
        self.recv().await.expect("open")
    }
}

async fn messages<S: Sends, R: Receives>(
    count: u64,
    (to, mut from_here): (S, R),
    (back, mut from_there): (S, R),
) {
    let echo = spawn(async move {
        for _ in 0..count {
            let n = from_here.take().await;
            back.put(n).await;
        }
    });
    for n in 0..count {
        to.put(n).await;
        from_there.take().await;
    }
    echo.await.expect("no panic");
}

async fn requests(count: u64) {
    let (to, mut requests) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(1);
    let server = spawn(async move {
        for _ in 0..count {
            let (n, reply) = requests.recv().await.expect("open");
            reply.send(n).expect("the client waits");
        }
    });
    for n in 0..count {
        let (reply, answer) = oneshot::channel();
        to.send((n, reply)).await.expect("open");
        answer.await.expect("the server answers");
    }
    server.await.expect("no panic");
}

async fn notifications(count: u64) {
    let (there, back) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (heard, answer) = (there.clone(), back.clone());
    let echo = spawn(async move {
        for _ in 0..count {
            heard.notified().await;
            answer.notify_one();
        }
    });
    for _ in 0..count {
        there.notify_one();
        back.notified().await;
    }
    echo.await.expect("no panic");
}

async fn crowd<F>(count: u64, once: impl Fn() -> F + Clone + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    let mut all = Vec::new();
    for _ in 0..CROWD {
        let once = once.clone();
        all.push(spawn(async move {
            for _ in 0..count / CROWD {
                once().await;
            }
        }));
    }
    for one in all {
        one.await.expect("no panic");
    }
}

async fn funnel<S: Sends, R: Receives>(count: u64, (sender, mut receiver): (S, R)) {
    for _ in 0..PRODUCERS {
        let sender = sender.clone();
        spawn(async move {
            for n in 0..count / PRODUCERS {
                sender.put(n).await;
            }
        });
    }
    for _ in 0..count {
        receiver.take().await;
    }
}
