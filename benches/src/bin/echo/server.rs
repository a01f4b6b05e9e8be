//! The servers. Each tells its address.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::thread;

use benches::serving::tell;
use fiber_core::net::{Part, TcpListener, TcpStream};
use fiber_core::{Context, Fiber};
use fiber_sched::{AffinityPool, CurrentThread, Pool};
use futures::{AsyncReadExt as _, AsyncWriteExt as _};
use mio::{Events, Interest, Poll, Token};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// All of them.
pub(crate) const ALL: [&str; 10] = [
    "tokio-1",
    "tokio-2",
    "mio-1",
    "fiber-1",
    "fiber-2",
    "fiber-2-polls-2",
    "affinity-2",
    "current-thread",
    "fiber-1-on-async-io",
    "fiber-2-on-async-io",
];

const BUFFER: usize = 1024;
const ANYWHERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);
const MOST: usize = 1 << 20;

pub(crate) fn serve(name: &str) {
    match name {
        "tokio-1" => on_tokio(1),
        "tokio-2" => on_tokio(2),
        "mio-1" => _ = thread::spawn(on_mio),
        "fiber-1" => on_pool(Pool::builder().workers(1).build()),
        "fiber-2" => on_pool(Pool::builder().workers(2).build()),
        "fiber-2-polls-2" => on_pool(Pool::builder().workers(2).polls(2).build()),
        "affinity-2" => on_affinity_pool(AffinityPool::builder().workers(2).pinned(false).build()),
        "current-thread" => _ = thread::spawn(|| CurrentThread::new().run(served())),
        "fiber-1-on-async-io" => on_async_io(Pool::builder().workers(1).build()),
        "fiber-2-on-async-io" => on_async_io(Pool::builder().workers(2).build()),
        other => panic!("there is no server {other}"),
    }
}

fn echo(stream: TcpStream) -> Fiber<()> {
    Fiber::iterate((stream, vec![0; BUFFER]), |(stream, buffer)| {
        stream.read(buffer).bind(move |(n, buffer)| {
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
    // A connection to each worker in turn: fibers without a place are given the next one.
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

fn on_async_io(pool: Pool) {
    let above: Context = pool.context().clone();
    let accepts = async move {
        let listener = async_io::Async::<std::net::TcpListener>::bind(ANYWHERE)?;
        tell(listener.get_ref().local_addr());
        loop {
            let (mut stream, _) = listener.accept().await?;
            stream.get_ref().set_nodelay(true)?;
            let echo = async move {
                let mut buffer = [0; BUFFER];
                while let Ok(n @ 1..) = stream.read(&mut buffer).await {
                    stream.write_all(&buffer[..n]).await?;
                }
                Ok::<(), std::io::Error>(())
            };
            drop(above.spawn(Fiber::from_future(echo)));
        }
    };
    drop(pool.spawn(Fiber::<()>::from_future::<std::io::Error, _>(accepts)));
    std::mem::forget(pool);
}

fn on_tokio(workers: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("tokio");
    runtime.spawn(async {
        let listener = tokio::net::TcpListener::bind(ANYWHERE).await.expect("a listener");
        tell(listener.local_addr());
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            _ = stream.set_nodelay(true);
            tokio::spawn(async move {
                let mut buffer = vec![0; BUFFER];
                while let Ok(n @ 1..) = stream.read(&mut buffer).await {
                    if stream.write_all(&buffer[..n]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    std::mem::forget(runtime);
}

/// What the system alone can do: one thread, one poll, no tasks.
fn on_mio() {
    const LISTENER: Token = Token(usize::MAX);
    let mut poll = Poll::new().expect("a poll");
    let mut listener = mio::net::TcpListener::bind(ANYWHERE.into()).expect("a listener");
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).expect("a poll");
    tell(listener.local_addr());
    let (mut streams, mut next) = (HashMap::new(), 0);
    let (mut events, mut buffer) = (Events::with_capacity(1024), vec![0; BUFFER]);
    loop {
        poll.poll(&mut events, None).expect("a poll");
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    _ = stream.set_nodelay(true);
                    poll.registry().register(&mut stream, Token(next), Interest::READABLE).expect("a poll");
                    streams.insert(Token(next), stream);
                    next += 1;
                }
                continue;
            }
            let Some(stream) = streams.get_mut(&event.token()) else { continue };
            match stream.read(&mut buffer) {
                Ok(n @ 1..) => _ = stream.write(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                _ => drop(streams.remove(&event.token())),
            }
        }
    }
}
