//! Compares echo servers: requests per second, latency, and the cost to the server.
//!
//! ```text
//! echo [CONNECTIONS [ROUNDS [SERVER..]]]    a Markdown table of medians; several numbers, such as 1,8,64: a table for each
//! echo busy [CONNECTIONS [ROUNDS [SERVER..]]]    beside one more connection, whose requests cost the server 20 ms of computation
//! echo serve SERVER                         only the server
//! ```
//!
//! A request has 64 bytes, or the number in the environment variable `BYTES`.

mod computation;
mod server;

use benches::serving::{Protocol, compare};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_busy = arguments.first().is_some_and(|first| first == "busy");
    if is_busy {
        arguments.remove(0);
    }
    let mut request = vec![7; bytes()];
    let burner = is_busy.then(|| {
        request[0] = computation::COMPUTES;
        request.clone()
    });
    request[0] = 0;
    let answer = request.len();
    compare(&arguments, &server::ALL, &Protocol { request, answer, burner }, server::serve);
}

/// The size of a request.
fn bytes() -> usize {
    std::env::var("BYTES").map_or(64, |text| text.parse::<usize>().expect("BYTES is a number")).max(1)
}
