//! Echo servers beside each other: requests of 64 bytes, per second, their latency, and what each costs the server.
//!
//! ```text
//! echo [CONNECTIONS [ROUNDS [SERVER..]]]    a Markdown table of medians
//! echo serve SERVER                         only the server
//! ```

mod server;

use benches::serving::{Protocol, compare};

fn main() {
    compare(&server::ALL, Protocol { request: &[7; 64], answer: 64 }, server::serve);
}
