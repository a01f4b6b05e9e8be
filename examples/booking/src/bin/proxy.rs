//! `cargo run --release --bin proxy [ADDRESS..]`: passes GET requests at port 3000 on to the replicas at these addresses, such as
//! `127.0.0.1:8000`; without one, to two simulated ones, which know the prices of bookings: `/price/1/7`. `PORT`, `FAULTS` and `FIBERS` as
//! for bookings.

use booking::proxy::{Proxy, Remote};
use booking::{log, service, simulation};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    log::start();
    let replicas = simulation::replicas().await?;
    let proxy = Proxy::new(replicas.into_iter().map(Remote::new).collect());
    service::start(|_, requests| proxy.routes(requests)).await
}
