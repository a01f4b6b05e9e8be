//! Compares hyper on fibers with hyper on tokio: HTTP/1.1 requests per second, latency, and the cost to the server.
//!
//! ```text
//! http [CONNECTIONS [ROUNDS [SERVER..]]]    a Markdown table of medians
//! http serve SERVER                         only the server
//! ```

// The adapter of the example, which also provides a clock.
#[allow(dead_code)]
#[path = "../../../../examples/http/adapter.rs"]
mod adapter;
mod server;

use benches::serving::{Protocol, compare};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";

/// An answer. All have the same length.
const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\n\
                      date: Sun, 22 Nov 2026 12:00:00 GMT\r\n\r\nhello, world\n";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let protocol = Protocol { request: REQUEST.to_vec(), answer: ANSWER.len(), burner: None };
    compare(&arguments, &server::ALL, &protocol, server::serve);
}
