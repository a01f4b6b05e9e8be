//! `cargo run --release`: serves bookings at port 3000. Settings are variables of the environment: `PORT`, `DATABASE` (a
//! file; without one, bookings are kept in memory), `FAULTS=none` for upstreams without faults, and `FIBERS=pool` for
//! fibers on a pool beside the tokio runtime.

use std::env;
use std::path::Path;

use booking::booking::Bookings;
use booking::simulation::{self, Faults};
use booking::store::Sqlite;
use booking::upstream::Remote;
use booking::{log, service};
use fiber_core::{Context, Error};
use fiber_sched::{Pool, Shutdown, Signal, TokioScheduler};
use tokio::net::TcpListener;
use tokio::runtime::Handle;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    log::start();
    let faults = if is("FAULTS", "none") { Faults::NONE } else { Faults::USUAL };
    let (upstreams, _) = simulation::start(faults).await?;
    let store = match env::var_os("DATABASE") {
        Some(path) => Sqlite::open(Path::new(&path))?,
        None => Sqlite::in_memory()?,
    };
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let bookings = Bookings::new(Remote::new(&upstreams), store);
    let end = Shutdown::within(service::CANCEL);
    if is("FIBERS", "pool") {
        let pool = Pool::builder().tokio(Handle::current()).build();
        serve(pool.context(), listener, bookings).await?;
        tokio::task::spawn_blocking(move || pool.shutdown(end)).await??;
    } else {
        let fibers = TokioScheduler::current();
        serve(fibers.context(), listener, bookings).await?;
        fibers.shutdown(end).await?;
    }
    Ok(())
}

fn is(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|text| text == value)
}

/// Serves until a signal asks the program to end.
async fn serve(fibers: &Context, listener: TcpListener, bookings: Bookings) -> Result<(), Error> {
    let signal = Signal::Interrupt.received().race(Signal::Terminate.received()).named("signals");
    let stop = fibers.spawn(signal).into_future();
    service::run(fibers.clone(), listener, bookings, async { drop(stop.await) }).await
}
