//! `http [FOLDER [ADDRESS]]`: serves the files of a folder by HTTP. The protocol comes from hyper; connections, time and
//! files from a `Pool`. There is no other runtime.
//!
//! ```text
//! cargo run --release -p example-http -- docs 127.0.0.1:8000
//! curl http://127.0.0.1:8000/io.md
//! ```
//!
//! At `/debug/fibers`, a page shows the fibers of the server.
//!
//! ```text
//! main            runs the server on a pool, and cancels it on Ctrl-C
//! └ serve         a fiber for each connection
//!   └ connection  hyper's future, as a fiber
//!     └ answer    a fiber for each request; reads the file on a blocking thread
//! ```
//!
//! If a client disconnects, its request ends: hyper drops the future of the answer, which cancels the fiber. A
//! client that does not send its whole request within ten seconds, or that takes nothing of an answer for as long, is disconnected.

mod adapter;

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{CancelToken, Context, Error, Fiber, fiber};
use fiber_sched::Inspector;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};

use adapter::{Clock, Io};

/// More connections wait in the queue of the listener.
const MOST: usize = 10_000;

/// The time limit of the head of a request, and of each step of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

type Answer = Response<Full<Bytes>>;

/// Serves until it is cancelled.
fn serve(listener: &TcpListener, folder: PathBuf) -> Fiber<()> {
    let listener = listener.clone();
    Fiber::current()
        .bind(move |server: Context| {
            let inspector = Inspector::new(&server);
            let answer = move |request: &Request<Incoming>| match request.uri().path() {
                "/debug/fibers" => Fiber::success(inspector.answer(request).map(Full::from)).boxed(),
                path => answer(request.method(), path, &folder),
            };
            let answer = Arc::new(answer);
            listener.serve(MOST, move |stream, _| connection(stream, answer.clone()))
        })
        .boxed()
}

/// One connection, to its end.
fn connection<F>(stream: TcpStream, answer: Arc<F>) -> Fiber<()>
where
    F: Fn(&Request<Incoming>) -> Fiber<Answer> + Send + Sync + 'static,
{
    Fiber::current()
        .bind(move |context: Context| {
            let service = service_fn(move |request| {
                let answer = answer(&request);
                async { Ok::<_, Infallible>(answer.await.unwrap_or_else(|error| failed(&error))) }
            });
            let mut http = http1::Builder::new();
            http.timer(Clock::new(context.clone())).header_read_timeout(PATIENCE);
            Fiber::from_future(http.serve_connection(Io::new(&stream, context, PATIENCE), service))
        })
        // The client has disconnected, or has not sent valid HTTP and got an error.
        .catch(|_: Error| Fiber::success(()))
        .boxed()
}

fn answer(method: &Method, path: &str, folder: &Path) -> Fiber<Answer> {
    if method != Method::GET {
        return Fiber::success(plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n")).boxed();
    }
    let Some(path) = below(folder, path) else {
        return Fiber::success(plain(StatusCode::NOT_FOUND, "no such file\n")).boxed();
    };
    fiber! {
        // On a blocking thread of the pool.
        let! read = Fiber::blocking(move || std::fs::read(path));
        match read {
            Ok(bytes) => Response::new(Full::new(bytes.into())),
            Err(error) => not_read(&error),
        }
    }
}

/// The file that a path names. `None`: the path leads out of the folder.
fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    let inside = Path::new(path.trim_start_matches('/'));
    inside.components().all(|part| matches!(part, Component::Normal(_))).then(|| folder.join(inside))
}

fn not_read(error: &io::Error) -> Answer {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            plain(StatusCode::NOT_FOUND, "no such file\n")
        }
        ErrorKind::InvalidFilename => plain(StatusCode::URI_TOO_LONG, "no file has such a long name\n"),
        ErrorKind::PermissionDenied => plain(StatusCode::FORBIDDEN, "not for you\n"),
        _ => plain(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read\n"),
    }
}

/// The fiber of a request has failed or panicked: the client gets an error, and other requests are not affected.
fn failed(error: &Error) -> Answer {
    eprintln!("{error}");
    plain(StatusCode::INTERNAL_SERVER_ERROR, "this should not have happened\n")
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *answer.status_mut() = status;
    answer
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let address: SocketAddr = address.parse().expect("an address, such as 127.0.0.1:8000");
    let stop = Arc::new(CancelToken::new());
    let on_signal = stop.clone();
    ctrlc::set_handler(move || on_signal.cancel()).expect("a handler for Ctrl-C");
    let (report, reports) = mpsc::channel();
    let server = TcpListener::bind(address).bind(move |listener| {
        _ = report.send(listener.local_addr());
        serve(&listener, folder.into())
    });
    let pool = fiber_sched::Pool::new();
    let server = pool.spawn(server.cancelled_by(&stop));
    if let Ok(Ok(at)) = reports.recv() {
        println!("listening at http://{at}");
    }
    if let Some(error) = fiber_sched::block_on(server).failure() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fiber_core::Either;
    use fiber_test::TestScheduler;
    use std::fs;
    use std::sync::Mutex;
    use tempfile::TempDir;

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hello.txt"), "hello, world\n").unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join("below/large"), vec![7; 300_000]).unwrap();
        folder
    }

    /// Runs a client beside a server of the folder.
    fn beside_a_server<T, F>(folder: &TempDir, client: F) -> Fiber<T>
    where
        T: Send + 'static,
        F: FnOnce(SocketAddr) -> Fiber<T> + Send + 'static,
    {
        let folder = folder.path().to_owned();
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let! first = serve(&listener, folder).race(client(at));
            let Either::Right(value) = first else { unreachable!("it serves until it is cancelled") };
            value
        }
    }

    /// The status line and the body of the answer.
    fn get(at: SocketAddr, request: impl Into<String>) -> Fiber<(String, Vec<u8>)> {
        let request = request.into();
        fiber! {
            let! stream = TcpStream::connect(at);
            do! stream.write_all(format!("{request} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"));
            let! answer = stream.buffered().rest();
            let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
            let status = String::from_utf8_lossy(&answer[..head]).lines().next().unwrap_or_default().to_owned();
            (status, answer[head + 4..].to_vec())
        }
    }

    fn all_kinds_of_requests(at: SocketAddr) -> Fiber<()> {
        fiber! {
            let! (status, body) = get(at, "GET /hello.txt");
            assert_eq!((&*status, &*body), ("HTTP/1.1 200 OK", &b"hello, world\n"[..]));
            let! (status, body) = get(at, "GET /below/large");
            assert_eq!((&*status, body), ("HTTP/1.1 200 OK", vec![7; 300_000]));
            let! (status, _) = get(at, "GET /missing");
            assert_eq!(status, "HTTP/1.1 404 Not Found");
            let! (status, _) = get(at, "GET /hello.txt/below");
            assert_eq!(status, "HTTP/1.1 404 Not Found");
            let! (status, _) = get(at, "GET /../../etc/passwd");
            assert_eq!(status, "HTTP/1.1 404 Not Found");
            let! (status, page) = get(at, "GET /debug/fibers");
            assert!(status.ends_with("200 OK") && page.starts_with(b"<!doctype html>"));
            let! (_, fibers) = get(at, "GET /debug/fibers?text");
            let fibers = String::from_utf8_lossy(&fibers);
            assert!(fibers.contains("\"scope\"") && fibers.contains("http/main.rs"), "{fibers}");
            let! (status, _) = get(at, "DELETE /hello.txt");
            assert_eq!(status, "HTTP/1.1 405 Method Not Allowed");
            let! (status, _) = get(at, format!("GET /{}", "x".repeat(5_000)));
            assert_eq!(status, "HTTP/1.1 414 URI Too Long");
        }
    }

    #[test]
    fn requests_are_answered_on_a_real_network() {
        let folder = folder();
        for workers in [1, 2] {
            let pool = fiber_sched::Pool::builder().workers(workers).build();
            pool.run(beside_a_server(&folder, all_kinds_of_requests)).unwrap();
        }
    }

    #[test]
    fn requests_are_answered_on_a_simulated_network() {
        let folder = folder();
        for seed in 0..8 {
            let test = TestScheduler::with_seed(seed);
            test.network().set_capacity(10_000);
            test.run(beside_a_server(&folder, all_kinds_of_requests)).unwrap();
            test.assert_no_leaks();
        }
    }

    #[test]
    fn a_connection_serves_one_request_after_the_other() {
        let folder = folder();
        let two = |at| {
            fiber! {
                let! stream = TcpStream::connect(at);
                let reader = stream.buffered();
                for _ in 0..2 {
                    do! stream.write_all("GET /hello.txt HTTP/1.1\r\nHost: here\r\n\r\n");
                    loop {
                        let! line = reader.line();
                        if line.as_deref() == Some("") { break }
                    }
                    let! body = reader.read_exact(13);
                    assert_eq!(body, b"hello, world\n");
                }
            }
        };
        fiber_sched::Pool::new().run(beside_a_server(&folder, two)).unwrap();
        TestScheduler::new().run(beside_a_server(&folder, two)).unwrap();
    }

    #[test]
    fn a_client_that_does_not_end_its_request_is_turned_away() {
        let folder = folder();
        let test = TestScheduler::new();
        let slow = |at| {
            fiber! {
                let! stream = TcpStream::connect(at);
                do! stream.write_all("GET /hello.txt HT");
                let! rest = stream.buffered().rest();
                assert!(!rest.starts_with(b"HTTP/1.1 200"), "it was not asked for anything");
            }
        };
        let (outcome, time) = test.run_timed(beside_a_server(&folder, slow));
        outcome.unwrap();
        assert_eq!(time, PATIENCE);
        test.assert_no_leaks();
    }

    #[test]
    fn a_client_that_takes_nothing_is_turned_away() {
        let folder = folder();
        let test = TestScheduler::new();
        test.network().set_capacity(10_000);
        let greedy = |at| {
            fiber! {
                let! stream = TcpStream::connect(at);
                do! stream.write_all("GET /below/large HTTP/1.1\r\nHost: here\r\n\r\n");
                // A pause that is not too long, and one that is.
                do! Fiber::delay(PATIENCE / 2);
                do! stream.read_exact(vec![0; 50_000]);
                do! Fiber::delay(PATIENCE * 2);
                let mut left = 0;
                loop {
                    let read = stream.read(vec![0; 8192]).map(|(n, _)| n);
                    let! n = read.catch(|_: Error| Fiber::success(0));
                    if n == 0 { break }
                    left += n;
                }
                assert!(left < 250_000, "the rest was kept for it: {left}");
            }
        };
        test.run(beside_a_server(&folder, greedy)).unwrap();
        test.assert_no_leaks();
    }

    #[test]
    fn a_request_ends_with_its_client() {
        // A request that is never answered; its client disconnects.
        let impatient = || {
            fiber! {
                let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
                let at = listener.local_addr()?;
                let (tell, is_cancelled) = fiber_core::sync::one_shot();
                let tell = Arc::new(Mutex::new(Some(tell)));
                let never = move |_: &Request<Incoming>| {
                    let tell = tell.lock().unwrap().take().expect("one request");
                    Fiber::never().on_cancel(Fiber::lazy(move || tell.success(())).map(drop)).boxed()
                };
                let client = fiber! {
                    let! stream = TcpStream::connect(at);
                    do! stream.write_all("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
                    do! Fiber::delay(Duration::from_millis(10));
                };
                let server = listener.accept().bind(move |(stream, _)| connection(stream, Arc::new(never)));
                let! () = server and! () = client and! () = is_cancelled;
            }
        };
        fiber_sched::Pool::new().run(impatient()).unwrap();
        let test = TestScheduler::new();
        test.run(impatient()).unwrap();
        test.assert_no_leaks();
    }
}
