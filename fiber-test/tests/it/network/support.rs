//! Shared helpers of the tests.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Error, Fiber, Run, fiber};
use fiber_test::{Host, network};

pub(crate) const PORT: u16 = 80;

/// Any address of the host of the fiber.
pub(crate) const HERE: ([u8; 4], u16) = ([0, 0, 0, 0], PORT);

pub(crate) fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Echoes every line, until it is cancelled.
pub(crate) fn echoes() -> Fiber<()> {
    TcpListener::bind(HERE)
        .bind(|listener| {
            listener.serve(100, |stream, _| {
                let answers = stream.clone();
                let lines = stream.buffered();
                fiber! {
                    loop {
                        let! line = lines.line();
                        let Some(line) = line else { break };
                        do! answers.write_all(format!("{line}\n"));
                    }
                }
            })
        })
        .boxed()
}

/// Asks once, and returns the answer.
pub(crate) fn asks(at: SocketAddr, question: &'static str) -> Fiber<Option<String>> {
    fiber! {
        let! stream = TcpStream::connect(at);
        do! stream.write_all(format!("{question}\n"));
        return! stream.buffered().line().boxed();
    }
}

/// A connection from one host to another one: the ends of the client and of the server.
pub(crate) fn connected(client: &Host, server: &Host) -> Fiber<(TcpStream, TcpStream)> {
    let at = server.at(PORT);
    let connects = client.run(move || TcpStream::connect(at));
    let accepts = server.run(|| TcpListener::bind(HERE).bind(|listener| listener.accept()));
    connects.zip(accepts).map(|(client, (server, _))| (client, server)).boxed()
}

/// Hosts of these names.
pub(crate) fn hosts<const N: usize>(names: [&'static str; N]) -> Fiber<[Host; N]> {
    network().map(move |network| names.map(|name| network.host(name))).boxed()
}

/// The error of a socket.
pub(crate) fn kind<T>(result: &Result<T, Error>) -> Option<io::ErrorKind> {
    result.as_ref().err()?.downcast_ref::<io::Error>().map(io::Error::kind)
}

/// A failure as a value.
pub(crate) trait Tried<T> {
    fn tried(self) -> Fiber<Result<T, Error>>;
}

impl<T: Send + 'static, R: Run<Out = T>> Tried<T> for Fiber<T, R> {
    fn tried(self) -> Fiber<Result<T, Error>> {
        self.map(Ok).catch(|error| Fiber::success(Err(error))).boxed()
    }
}
