//! The test scheduler, a topic to a module: `cargo test -p fiber-test-tests --test it network::`. The explorer's tests are in `explorer`, and
//! its bugs in `gate`.

mod architecture;
mod direct;
mod disk;
mod held;
mod laws;
mod network;
mod recorded;
mod reports;
mod timeline;
