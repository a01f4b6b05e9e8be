//! Puts the service together, and ends it in order.

use std::future::IntoFuture;
use std::time::Duration;

use axum::serve;
use fiber_core::Error;
use fiber_sched::{Shutdown, TokioScheduler};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::booking::Bookings;
use crate::http::App;

/// Requests that are being answered have so long when the service ends.
const DRAIN: Duration = Duration::from_secs(5);
/// Fibers that are cancelled then have so long for their finalizers.
const CANCEL: Duration = Duration::from_secs(2);

/// Serves until `stop` is ready: then takes no more connections, lets requests end, cancels those that do not, and waits
/// for their finalizers.
///
/// # Errors
/// Those of the listener, and [`Unfinished`](fiber_sched::Unfinished), which names what has not ended.
pub async fn run(
    fibers: TokioScheduler,
    listener: TcpListener,
    bookings: Bookings,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Error> {
    let requests = fibers.group();
    let app = App::new(bookings, requests.clone(), fibers.context().clone());
    info!("serving at http://{}", listener.local_addr()?);
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let stop = async move {
        stop.await;
        info!("stopping");
        _ = stopping.send(());
    };
    let server = serve(listener, app.routes()).with_graceful_shutdown(stop).into_future();
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
    // Most often, none is left.
    if timeout(CANCEL, requests.cancel()).await.is_err() {
        warn!("requests are still ending");
    }
    fibers.shutdown(Shutdown::within(CANCEL)).await?;
    info!("stopped");
    Ok(())
}
