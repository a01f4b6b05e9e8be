//! Lines and connections as streams: whichever poll or stream is dropped, nothing is lost.

use std::future::{Future, IntoFuture, poll_fn};
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use fiber_core::net::{BufReader, TcpListener, TcpStream};
use fiber_core::stream::Items;
use fiber_core::{Error, Fiber, fiber};
use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt};

use crate::worlds::{connected, everywhere};

const MILLI: Duration = Duration::from_millis(1);

fn sends(stream: TcpStream, parts: &'static [&'static str]) -> Fiber<()> {
    fiber! {
        for part in parts {
            do! stream.write_all(*part);
            do! Fiber::delay(MILLI);
        }
        drop(stream);
    }
}

/// Polls the stream for a moment only, and drops the poll. `None`: nothing came.
async fn soon<S: Stream + Unpin>(stream: &mut S) -> Option<Option<S::Item>> {
    let mut pause = IntoFuture::into_future(Fiber::delay(MILLI));
    poll_fn(|cx| match Pin::new(&mut *stream).poll_next(cx) {
        Poll::Ready(item) => Poll::Ready(Some(item)),
        Poll::Pending => Pin::new(&mut pause).poll(cx).map(|_| None),
    })
    .await
}

#[test]
fn lines_are_a_stream_that_ends_with_the_connection() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let lines = server.buffered().lines().try_collect::<Vec<_>>();
            let! lines = Fiber::from_future(lines) and! () = sends(client, &["one\r", "\n\ntw", "o\nthree"]);
            assert_eq!(lines, ["one", "", "two", "three"]);
        }
    });
}

/// Every poll is given up soon, and every second stream is dropped after one line.
async fn impatient(reader: BufReader) -> Result<Vec<String>, Error> {
    let mut received = Vec::new();
    loop {
        let mut lines = reader.lines();
        loop {
            match soon(&mut lines).await {
                None => {}
                Some(None) => return Ok(received),
                Some(Some(line)) => {
                    received.push(line?);
                    break;
                }
            }
        }
        if let Some(Some(line)) = soon(&mut reader.lines()).await {
            received.push(line?);
        }
    }
}

#[test]
fn polls_and_streams_that_are_dropped_lose_no_line() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reads = Fiber::from_future(impatient(server.buffered()));
            let! lines = reads and! () = sends(client, &["on", "e\ntwo\nth", "ree", "\n", "four\n"]);
            assert_eq!(lines, ["one", "two", "three", "four"]);
        }
    });
}

#[test]
fn lines_that_lose_races_are_received_by_the_next_fiber() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let lines = Items::of(server.buffered().lines());
            let reads = fiber! {
                let mut received = Vec::new();
                loop {
                    let! line = lines.next().timeout_option(MILLI);
                    match line {
                        None => {}
                        Some(None) => break received,
                        Some(Some(line)) => received.push(line?),
                    }
                }
            };
            let! lines = reads and! () = sends(client, &["one\n", "two\n", "three\n"]);
            assert_eq!(lines, ["one", "two", "three"]);
        }
    });
}

#[test]
fn a_stream_of_lines_ends_after_an_error_and_the_reader_goes_on() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            do! client.write_all(b"\xff\nfine\n".to_vec());
            drop(client);
            let reader = server.buffered();
            let mut lines = reader.lines();
            let! (first, then) = Fiber::from_future(async move {
                Ok::<_, Error>((lines.next().await.unwrap(), lines.next().await))
            });
            assert_eq!(first.unwrap_err().kind(), ErrorKind::InvalidData);
            assert!(then.is_none());
            let! fine = reader.line();
            assert_eq!(fine.as_deref(), Some("fine"));
        }
    });
}

#[test]
fn polls_and_streams_that_are_dropped_lose_no_connection() {
    everywhere(|| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let accepts = Fiber::from_future(async move {
                let mut greeted = 0;
                while greeted < 4 {
                    let mut accepts = listener.accepts();
                    for _ in 0..2 {
                        if let Some(Some(accepted)) = soon(&mut accepts).await {
                            let (stream, _) = accepted?;
                            stream.write_all("hello\n").await?;
                            greeted += 1;
                        }
                    }
                }
                Ok::<_, Error>(())
            });
            let client = move |_| fiber! {
                do! Fiber::delay(MILLI);
                let! stream = TcpStream::connect(at);
                let! line = stream.buffered().line();
                assert_eq!(line.as_deref(), Some("hello"));
            };
            let! () = accepts and! _ = Fiber::parallel((0..4).map(client));
        }
    });
}
