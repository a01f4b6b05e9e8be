//! The two upstreams: most of their answers are quick, some are slow, and some are errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::service::is;

/// The rate of faults of the upstreams. They are counted, not random, so a test knows what to expect.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// The usual latency.
    pub latency: Duration,
    /// One answer in this many takes a hundred times as long. 0: none.
    pub slow_every: u32,
    /// One answer in this many is an error. 0: none.
    pub error_every: u32,
}

impl Faults {
    pub const NONE: Faults = Faults { latency: Duration::ZERO, slow_every: 0, error_every: 0 };
    pub const USUAL: Faults = Faults { latency: Duration::from_millis(2), slow_every: 50, error_every: 30 };
}

/// `FAULTS=none` is for upstreams without faults.
pub fn faults() -> Faults {
    if is("FAULTS", "none") { Faults::NONE } else { Faults::USUAL }
}

/// The addresses in the arguments of the program. Without one, those of two simulations.
///
/// # Errors
/// Those of the operating system.
pub async fn replicas() -> std::io::Result<Vec<String>> {
    let given: Vec<_> = std::env::args().skip(1).collect();
    if given.is_empty() { Ok(vec![start(faults()).await?.0, start(faults()).await?.0]) } else { Ok(given) }
}

/// A client of this name is not trusted.
pub const RISKY: &str = "mallory";

#[derive(Clone)]
struct Simulation {
    faults: Faults,
    answers: Arc<AtomicU32>,
    in_flight: Arc<AtomicUsize>,
}

/// The number of requests in progress.
#[derive(Clone)]
pub struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Counts a request while it lives.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Simulation {
    async fn answer(&self, number: u32) -> Result<String, StatusCode> {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let _counted = Counted(self.in_flight.clone());
        let count = self.answers.fetch_add(1, Ordering::SeqCst) + 1;
        let is_each = |every: u32| every > 0 && count.is_multiple_of(every);
        let factor = if is_each(self.faults.slow_every) { 100 } else { 1 };
        if !self.faults.latency.is_zero() {
            tokio::time::sleep(self.faults.latency * factor).await;
        }
        if is_each(self.faults.error_every) {
            Err(StatusCode::SERVICE_UNAVAILABLE)
        } else {
            Ok(number.to_string())
        }
    }
}

/// Starts the upstreams in the background, on their own port. Returns their address.
///
/// # Errors
/// Those of the operating system.
pub async fn start(faults: Faults) -> std::io::Result<(String, InFlight)> {
    let in_flight = Arc::new(AtomicUsize::new(0));
    let simulation = Simulation { faults, answers: Arc::default(), in_flight: in_flight.clone() };
    let price = |State(this): State<Simulation>, Path((event, seat)): Path<(u32, u32)>| async move {
        this.answer(10 + (event + seat) % 90).await
    };
    let risk = |State(this): State<Simulation>, Path(client): Path<String>| async move {
        this.answer(if client == RISKY { 99 } else { 1 }).await
    };
    let routes = Router::new()
        .route("/price/{event}/{seat}", get(price))
        .route("/risk/{client}", get(risk))
        .with_state(simulation);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok((address, InFlight(in_flight)))
}
