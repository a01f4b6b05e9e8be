//! Connects the parts of the service, and shuts them down in order.

use std::future::IntoFuture;
use std::time::Duration;

use axum::serve;
use fiber_core::{Context, Error};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::booking::Bookings;
use crate::http::App;

/// The time that requests in progress have when the service ends.
const DRAIN: Duration = Duration::from_secs(5);
/// The time that cancelled requests then have for their finalizers.
pub const CANCEL: Duration = Duration::from_secs(2);

/// Serves with fibers below the root `fibers` until `stop` is ready. Then it accepts no more connections, lets requests end,
/// cancels those that do not, and waits for their finalizers.
///
/// # Errors
/// Those of the listener.
pub async fn run(
    fibers: Context,
    listener: TcpListener,
    bookings: Bookings,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Error> {
    let requests = fibers.group();
    let app = App::new(bookings, requests.clone(), fibers);
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
    // Usually, no request is left.
    if timeout(CANCEL, requests.cancel()).await.is_err() {
        warn!("requests are still ending");
    }
    info!("stopped");
    Ok(())
}
