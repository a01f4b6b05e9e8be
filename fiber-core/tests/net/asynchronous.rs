//! Streams for polling code.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use fiber_core::net::{AsyncStream, ByteStream, PolledStream, TcpStream};
use fiber_core::{Either, Error, Fiber, fiber};
use fiber_sched::CurrentThread;
use fiber_test::TestScheduler;
use futures_core::Stream;

use crate::worlds::{connected, everywhere, pattern, real};

/// More than a simulated connection accepts at once.
const LONG: usize = 300;

async fn writes(stream: TcpStream, all: Vec<u8>) -> io::Result<()> {
    let (mut stream, mut left) = (stream.asynchronous(), &*all);
    while !left.is_empty() {
        let n = poll_fn(|cx| stream.poll_write(cx, left)).await?;
        left = &left[n..];
    }
    poll_fn(|cx| stream.poll_shutdown(cx)).await
}

async fn reads(mut stream: AsyncStream) -> io::Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), [0; 7]);
    loop {
        let n = poll_fn(|cx| stream.poll_read(cx, &mut buffer)).await?;
        if n == 0 {
            return Ok(all);
        }
        all.extend_from_slice(&buffer[..n]);
    }
}

#[test]
fn futures_read_what_futures_write() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let writes = Fiber::from_future(writes(client, pattern(LONG)));
            let! () = writes and! all = Fiber::from_future(reads(server.asynchronous()));
            assert_eq!(all, pattern(LONG));
        }
    });
}

#[test]
fn one_future_uses_both_directions() {
    /// Sends the received bytes back.
    async fn echo(mut stream: AsyncStream) -> io::Result<()> {
        let mut buffer = [0; 16];
        loop {
            let n = poll_fn(|cx| stream.poll_read(cx, &mut buffer)).await?;
            let mut left = &buffer[..n];
            while !left.is_empty() {
                let n = poll_fn(|cx| stream.poll_write(cx, left)).await?;
                left = &left[n..];
            }
            if n == 0 {
                return Ok(());
            }
        }
    }
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let echoes = Fiber::from_future(echo(server.asynchronous()));
            let (answers, asks) = client.split();
            let sends = asks.write_all(pattern(LONG)).map(move |_| drop(asks));
            let! () = echoes and! () = sends and! all = answers.stream().read_exact(vec![0; LONG]);
            assert_eq!(all, pattern(LONG));
            drop((answers, server));
        }
    });
}

#[test]
fn a_future_that_is_dropped_has_taken_nothing_and_waits_no_more() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let waits = Fiber::from_future(reads(server.asynchronous())).race(Fiber::delay(Duration::from_millis(20)));
            let! first = waits;
            assert!(matches!(first, Either::Right(())));
            do! client.write_all("all of it");
            drop(client);
            let! all = server.buffered().rest();
            assert_eq!(all, b"all of it");
        }
    });
}

#[test]
fn a_stream_may_be_polled_beside_something_else() {
    // `fiber.await` and a read, in one future.
    async fn first(stream: TcpStream) -> Result<usize, Error> {
        let (mut stream, mut buffer) = (stream.asynchronous(), [0; 16]);
        let mut delay = std::pin::pin!(IntoFuture::into_future(Fiber::delay(Duration::from_secs(3600))));
        let read = poll_fn(|cx| {
            assert!(delay.as_mut().poll(cx).is_pending());
            stream.poll_read(cx, &mut buffer)
        });
        Ok(read.await?)
    }
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let! _ = client.write_all("x") and! n = Fiber::from_future(first(server));
            assert_eq!(n, 1);
        }
    });
}

/// A peer that is always faster than its reader, up to an end that is far away.
struct Fast {
    left: usize,
}

impl PolledStream for Fast {
    fn poll_read(&mut self, _: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let n = into.len().min(self.left);
        into[..n].fill(b'\n');
        self.left -= n;
        Poll::Ready(Ok(n))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let n = from.len().min(self.left);
        self.left -= n;
        Poll::Ready(Ok(n))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_future_whose_peer_is_fast_lets_others_run_and_is_cancelled() {
    /// As many bytes as a future does not read in one turn.
    const FAR: usize = 100_000;

    async fn writes(mut stream: AsyncStream) -> io::Result<()> {
        while poll_fn(|cx| stream.poll_write(cx, b"x")).await? > 0 {}
        Ok(())
    }
    async fn lines(stream: ByteStream) -> io::Result<()> {
        let mut lines = stream.buffered().lines();
        while poll_fn(|cx| Pin::new(&mut lines).poll_next(cx)).await.transpose()?.is_some() {}
        Ok(())
    }
    let fast = || ByteStream::polled(Fast { left: FAR });
    let futures = move || {
        [
            Fiber::from_future(reads(fast().asynchronous())).map(drop).boxed(),
            Fiber::from_future(writes(fast().asynchronous())).boxed(),
            Fiber::from_future(lines(fast())).boxed(),
        ]
    };
    for (index, future) in futures().into_iter().enumerate() {
        let first = TestScheduler::new().run(future.race(Fiber::yield_now())).unwrap();
        assert_eq!(first, Either::Right(()), "future {index}");
    }
    for future in futures() {
        // To its end, as without others.
        assert!(CurrentThread::new().run(future).is_success());
    }
}

#[test]
fn tools_of_futures_work_on_it() {
    use futures_util::io::{AsyncReadExt, AsyncWriteExt};

    async fn asks(stream: TcpStream) -> io::Result<Vec<u8>> {
        let mut stream = stream.asynchronous();
        stream.write_all(&pattern(LONG)).await?;
        stream.close().await?;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await?;
        Ok(all)
    }
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let answers = fiber! {
                let! all = server.buffered().rest();
                do! server.write_all(all).map(|_| drop(server));
            };
            let! all = Fiber::from_future(asks(client)) and! () = answers;
            assert_eq!(all, pattern(LONG));
        }
    });
}

#[test]
fn tools_of_tokio_work_on_it_without_a_runtime() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufStream};

    async fn asks(stream: TcpStream) -> io::Result<String> {
        let mut stream = BufStream::new(stream.asynchronous());
        stream.write_all(b"hello\n").await?;
        stream.shutdown().await?;
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        Ok(line)
    }
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let answers = fiber! {
                let! line = server.buffered().line();
                do! server.write_all(line.unwrap_or_default().to_uppercase() + "\n").map(|_| drop(server));
            };
            let! line = Fiber::from_future(asks(client)) and! () = answers;
            assert_eq!(line, "HELLO\n");
        }
    });
}

#[test]
fn a_future_writes_more_buffers_than_one_call_takes() {
    real(|| {
        fiber! {
            let! (client, server) = connected();
            let mut stream = client.asynchronous();
            let writes = async move {
                let all = pattern(5_000);
                let mut sent = 0;
                while sent < all.len() {
                    let parts: Vec<_> = all[sent..].chunks(1).map(IoSlice::new).collect();
                    sent += poll_fn(|cx| stream.poll_write_vectored(cx, &parts)).await?;
                }
                Ok::<_, io::Error>(())
            };
            let writes = Fiber::from_future(writes).timeout(Duration::from_secs(20));
            let! () = writes and! all = server.read_exact(vec![0; 5_000]);
            assert_eq!(all, pattern(5_000));
            drop(client);
        }
    });
}
