//! Serves with fibers, and shuts the parts down in order.

use std::env;
use std::error::Error;
use std::future::IntoFuture;
use std::time::Duration;

use axum::{Router, serve};
use fiber_core::{Context, Group};
use fiber_sched::{Pool, Shutdown, Signal, TokioScheduler};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::{info, warn};

/// The time that requests in progress have when the service ends.
const DRAIN: Duration = Duration::from_secs(5);
/// The time that cancelled requests then have for their finalizers.
const CANCEL: Duration = Duration::from_secs(2);

/// Serves at the port `PORT`, until a signal asks the program to end. With `FIBERS=pool`, the fibers run on a pool beside the tokio
/// runtime.
///
/// # Errors
/// Those of the listener and of the shutdown.
pub async fn start(routes: impl FnOnce(&Context, Group) -> Router) -> Result<(), Box<dyn Error>> {
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let serve = async |fibers: &Context| {
        let signal = Signal::Interrupt.received().race(Signal::Terminate.received()).named("signals");
        let (stop, requests) = (fibers.spawn(signal).into_future(), fibers.group());
        run(listener, routes(fibers, requests.clone()), requests, async { drop(stop.await) }).await
    };
    let end = Shutdown::within(CANCEL);
    if is("FIBERS", "pool") {
        let pool = Pool::builder().tokio(Handle::current()).build();
        serve(pool.context()).await?;
        tokio::task::spawn_blocking(move || pool.shutdown(end)).await??;
    } else {
        let fibers = TokioScheduler::current();
        serve(fibers.context()).await?;
        fibers.shutdown(end).await?;
    }
    Ok(())
}

/// Whether a variable of the environment has this value.
pub fn is(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|text| text == value)
}

/// Serves until `stop` is ready. Then it accepts no more connections, lets requests end, cancels those that do not, and waits for
/// their finalizers.
///
/// # Errors
/// Those of the listener.
pub async fn run(
    listener: TcpListener,
    routes: Router,
    requests: Group,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    info!("serving at http://{}", listener.local_addr()?);
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let stop = async move {
        stop.await;
        info!("stopping");
        _ = stopping.send(());
    };
    let server = serve(listener, routes).with_graceful_shutdown(stop).into_future();
    let late = async {
        // A server that fails drops the sender.
        if stopped.await.is_ok() {
            tokio::time::sleep(DRAIN).await;
        } else {
            std::future::pending().await
        }
    };
    tokio::select! {
        ended = server => ended?,
        () = late => warn!("{} requests are cancelled", requests.len()),
    }
    // Usually, no request is left.
    if timeout(CANCEL, requests.cancel()).await.is_err() {
        warn!("requests are still ending");
    }
    info!("stopped");
    Ok(())
}
