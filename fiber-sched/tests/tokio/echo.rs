//! A server and its clients, in fibers.

use std::io;
use std::net::SocketAddr;

use fiber_core::Fiber;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Sends one byte to a server, and gives the byte that comes back.
pub(crate) fn ask(address: SocketAddr, byte: u8) -> Fiber<u8> {
    Fiber::block(move || async move {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&[byte]).await?;
        stream.read_u8().await
    })
    .boxed()
}

/// Answers each byte with the next number, one connection after the other.
pub(crate) fn serve(listener: TcpListener) -> Fiber<()> {
    Fiber::block(move || async move {
        loop {
            let (mut stream, _) = listener.accept().await?;
            let byte = stream.read_u8().await?;
            stream.write_all(&[byte + 1]).await?;
        }
        #[allow(unreachable_code, reason = "gives the type of the error")]
        Ok::<_, io::Error>(())
    })
    .boxed()
}
