//! WebSockets by tungstenite, over any stream.

use fiber_core::net::ByteStream;
use fiber_core::{Error, Fiber};
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_async, client_async};

/// Answers each message in capitals, until the client closes the connection.
pub(crate) fn shouts(stream: &ByteStream) -> Fiber<()> {
    let stream = stream.asynchronous();
    let serve = async move {
        let mut socket = accept_async(stream).await?;
        while let Some(message) = socket.next().await {
            if let Message::Text(text) = message? {
                socket.send(text.to_uppercase().into()).await?;
            }
        }
        Ok::<(), Error>(())
    };
    Fiber::from_future(serve).boxed()
}

/// Sends these messages, and returns the answers.
pub(crate) fn says(stream: &ByteStream, words: Vec<&'static str>) -> Fiber<Vec<String>> {
    let stream = stream.asynchronous();
    let ask = async move {
        let (mut socket, _response) = client_async("ws://localhost/chat", stream).await?;
        let mut answers = Vec::new();
        for word in words {
            socket.send(word.into()).await?;
            let answer = socket.next().await.ok_or_else(|| Error::msg("it answers no more"))??;
            answers.push(answer.into_text()?.to_string());
        }
        socket.close(None).await?;
        // Drain the answer to the close.
        while let Some(Ok(_)) = socket.next().await {}
        Ok::<_, Error>(answers)
    };
    Fiber::from_future(ask).boxed()
}
