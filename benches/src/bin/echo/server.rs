//! The servers. Each prints its address.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::thread;

use benches::serving::{ANYWHERE, serve_on_tokio, tell};
use fiber_core::net::{Part, TcpListener, TcpStream};
use fiber_core::{Context, Fiber, Handle};
use fiber_sched::{AffinityPool, CurrentThread, Pool, TokioScheduler};
use futures::stream::FuturesUnordered;
use futures::{AsyncReadExt as _, AsyncWriteExt as _, StreamExt as _};
use mio::{Events, Interest, Poll, Token};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime;

use crate::computation::compute;

/// All of them.
pub(crate) const ALL: [&str; 14] = [
    "tokio-1",
    "tokio-2",
    "mio-1",
    "async-io-1",
    "fiber-1",
    "fiber-2",
    "fiber-2-polls-2",
    "affinity-2",
    "current-thread",
    "fiber-1-on-tokio",
    "fiber-2-on-tokio",
    "fiber-2-on-sockets-of-tokio",
    "fiber-1-on-async-io",
    "fiber-2-on-async-io",
];

/// The size of a buffer: that of a request, if it is larger than this.
const LEAST_BUFFER: usize = 1024;
const MOST: usize = 1 << 20;

pub(crate) fn serve(name: &str) {
    match name {
        "tokio-1" => on_tokio(1),
        "tokio-2" => on_tokio(2),
        "mio-1" => _ = thread::spawn(on_mio),
        "async-io-1" => _ = thread::spawn(|| async_io::block_on(alone_on_async_io())),
        "fiber-1" => on_pool(Pool::builder().workers(1).build()),
        "fiber-2" => on_pool(Pool::builder().workers(2).build()),
        "fiber-2-polls-2" => on_pool(Pool::builder().workers(2).polls(2).build()),
        "affinity-2" => on_affinity_pool(AffinityPool::builder().workers(2).pinned(false).build()),
        "current-thread" => _ = thread::spawn(|| CurrentThread::new().run(served())),
        "fiber-1-on-tokio" => on_runtime(1, |fibers| fibers.spawn(served())),
        "fiber-2-on-tokio" => on_runtime(2, |fibers| fibers.spawn(served())),
        "fiber-2-on-sockets-of-tokio" => {
            on_runtime(2, |fibers| fibers.spawn(served_by_tokio(fibers.context().clone())))
        }
        "fiber-1-on-async-io" => on_async_io(Pool::builder().workers(1).build()),
        "fiber-2-on-async-io" => on_async_io(Pool::builder().workers(2).build()),
        other => panic!("there is no server {other}"),
    }
}

fn buffer() -> Vec<u8> {
    vec![0; crate::bytes().max(LEAST_BUFFER)]
}

fn echo(stream: TcpStream) -> Fiber<()> {
    Fiber::iterate((stream, buffer()), |(stream, buffer)| {
        stream.read(buffer).bind(move |(n, buffer)| {
            compute(&buffer[..n]);
            stream.write_all(Part::new(buffer, n)).map(move |part| match n {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue((stream, part.into_buffer())),
            })
        })
    })
    .boxed()
}

fn served() -> Fiber<()> {
    let serve = |listener: TcpListener| {
        tell(listener.local_addr());
        listener.serve(MOST, |stream, _| {
            _ = stream.set_nodelay(true);
            echo(stream)
        })
    };
    TcpListener::bind(ANYWHERE).bind(serve).boxed()
}

fn on_pool(pool: Pool) {
    drop(pool.spawn(served()));
    std::mem::forget(pool);
}

fn on_affinity_pool(pool: AffinityPool) {
    // Connections are assigned to workers round-robin: a fiber without a place gets the next one.
    let above: Context = pool.context().clone();
    let accepts = TcpListener::bind(ANYWHERE).bind(move |listener| {
        tell(listener.local_addr());
        Fiber::<()>::iterate((), move |()| {
            let above = above.clone();
            listener.accept().map(move |(stream, _)| {
                _ = stream.set_nodelay(true);
                drop(above.spawn(echo(stream).catch(|_| Fiber::success(()))));
                ControlFlow::<(), ()>::Continue(())
            })
        })
    });
    drop(pool.spawn(accepts));
    std::mem::forget(pool);
}

fn on_runtime(workers: usize, serve: impl FnOnce(&TokioScheduler) -> Handle<()>) {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let fibers = TokioScheduler::new(runtime.handle());
    drop(serve(&fibers));
    std::mem::forget((fibers, runtime));
}

/// Each connection is a fiber that awaits the futures of tokio's sockets.
fn served_by_tokio(above: Context) -> Fiber<()> {
    let accepts = async move {
        let listener = tokio::net::TcpListener::bind(ANYWHERE).await?;
        tell(listener.local_addr());
        loop {
            let (stream, _) = listener.accept().await?;
            drop(above.spawn(Fiber::from_future(echo_on_tokio(stream))));
        }
    };
    Fiber::<()>::from_future::<std::io::Error, _>(accepts).boxed()
}

async fn echo_on_tokio(mut stream: tokio::net::TcpStream) -> std::io::Result<()> {
    _ = stream.set_nodelay(true);
    let mut buffer = buffer();
    while let Ok(n @ 1..) = stream.read(&mut buffer).await {
        compute(&buffer[..n]);
        stream.write_all(&buffer[..n]).await?;
    }
    Ok(())
}

fn on_async_io(pool: Pool) {
    let above: Context = pool.context().clone();
    let accepts = async move {
        let listener = async_io::Async::<std::net::TcpListener>::bind(ANYWHERE)?;
        tell(listener.get_ref().local_addr());
        loop {
            let (stream, _) = listener.accept().await?;
            drop(above.spawn(Fiber::from_future(echo_on_async_io(stream))));
        }
    };
    drop(pool.spawn(Fiber::<()>::from_future::<std::io::Error, _>(accepts)));
    std::mem::forget(pool);
}

async fn echo_on_async_io(mut stream: async_io::Async<std::net::TcpStream>) -> std::io::Result<()> {
    stream.get_ref().set_nodelay(true)?;
    let mut buffer = buffer();
    while let Ok(n @ 1..) = stream.read(&mut buffer).await {
        compute(&buffer[..n]);
        stream.write_all(&buffer[..n]).await?;
    }
    Ok(())
}

/// All connections in one task, on the thread that also has the poll.
async fn alone_on_async_io() {
    let listener = async_io::Async::<std::net::TcpListener>::bind(ANYWHERE).expect("a listener");
    tell(listener.get_ref().local_addr());
    let mut incoming = Box::pin(listener.incoming().fuse());
    let mut open = FuturesUnordered::new();
    loop {
        futures::select_biased! {
            stream = incoming.select_next_some() => open.push(echo_on_async_io(stream.expect("a connection"))),
            _ = open.select_next_some() => {}
        }
    }
}

fn on_tokio(workers: usize) {
    serve_on_tokio(workers, echo_on_tokio);
}

/// A connection without a task.
struct Connection {
    stream: mio::net::TcpStream,
    unsent: VecDeque<u8>,
}

impl Connection {
    /// Echoes the bytes that have arrived, as far as there is room. The rest is sent before the next read.
    fn turn(&mut self, buffer: &mut [u8]) -> std::io::Result<()> {
        loop {
            while !self.unsent.is_empty() {
                match self.stream.write(self.unsent.make_contiguous()) {
                    Ok(n) => drop(self.unsent.drain(..n)),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            let n = match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            compute(&buffer[..n]);
            let sent = match self.stream.write(&buffer[..n]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                sent => sent?,
            };
            self.unsent.extend(&buffer[sent..n]);
            // A short read: the next one would find nothing, and new data fires an event.
            if n < buffer.len() && self.unsent.is_empty() {
                return Ok(());
            }
        }
    }
}

/// The limit of the system: one thread, one poll, no tasks.
fn on_mio() {
    const LISTENER: Token = Token(usize::MAX);
    const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);
    let mut poll = Poll::new().expect("a poll");
    let mut listener = mio::net::TcpListener::bind(ANYWHERE.into()).expect("a listener");
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).expect("a poll");
    tell(listener.local_addr());
    let (mut streams, mut next) = (HashMap::new(), 0);
    let (mut events, mut buffer) = (Events::with_capacity(1024), buffer());
    loop {
        poll.poll(&mut events, None).expect("a poll");
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    _ = stream.set_nodelay(true);
                    poll.registry().register(&mut stream, Token(next), BOTH).expect("a poll");
                    streams.insert(Token(next), Connection { stream, unsent: VecDeque::new() });
                    next += 1;
                }
                continue;
            }
            let Some(connection) = streams.get_mut(&event.token()) else { continue };
            if connection.turn(&mut buffer).is_err() {
                streams.remove(&event.token());
            }
        }
    }
}
