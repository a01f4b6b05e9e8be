//! `cargo run --release`: serves bookings at port 3000. Settings are variables of the environment: `PORT`, `DATABASE` (a
//! file; without one, bookings are kept in memory), `FAULTS=none` for upstreams without faults, and `FIBERS=pool` for
//! fibers on a pool beside the tokio runtime.

use std::env;
use std::path::Path;

use booking::booking::Bookings;
use booking::http::App;
use booking::simulation;
use booking::store::Sqlite;
use booking::upstream::Remote;
use booking::{log, service};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    log::start();
    let (upstreams, _) = simulation::start(simulation::faults()).await?;
    let store = match env::var_os("DATABASE") {
        Some(path) => Sqlite::open(Path::new(&path))?,
        None => Sqlite::in_memory()?,
    };
    let bookings = Bookings::new(Remote::new(&upstreams), store);
    service::start(|fibers, requests| App::new(bookings, requests, fibers.clone()).routes()).await
}
