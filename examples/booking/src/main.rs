//! `cargo run --release`: serves bookings at port 3000. Settings are variables of the environment: `PORT`, `DATABASE` (a file;
//! without one, bookings are kept in memory), and `FAULTS=none` for upstreams without faults.

use std::env;
use std::path::Path;

use booking::booking::Bookings;
use booking::simulation::{self, Faults};
use booking::store::Sqlite;
use booking::upstream::Remote;
use booking::{log, service};
use fiber_sched::{Signal, TokioScheduler};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    log::start();
    let faults =
        if env::var("FAULTS").is_ok_and(|faults| faults == "none") { Faults::NONE } else { Faults::USUAL };
    let (upstreams, _) = simulation::start(faults).await?;
    let store = match env::var_os("DATABASE") {
        Some(path) => Sqlite::open(Path::new(&path))?,
        None => Sqlite::in_memory()?,
    };
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let bookings = Bookings::new(Remote::new(&upstreams), store);
    let fibers = TokioScheduler::current();
    let signal =
        fibers.spawn(Signal::Interrupt.received().race(Signal::Terminate.received()).named("signals"));
    service::run(fibers, listener, bookings, async { drop(signal.await) }).await?;
    Ok(())
}
