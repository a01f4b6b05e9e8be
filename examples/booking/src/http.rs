//! The HTTP interface of the service: routes, deadlines and statuses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::map_response_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use fiber_core::error::{Cancelled, DeadlineExceeded, TimedOut};
use fiber_core::sync::CircuitOpen;
use fiber_core::{Context, Error, Fiber, Group};
use fiber_sched::Inspector;
use fiber_sched::tower::{RequestBody, RequestLayer};
use tokio::runtime::Handle;
use tracing::{error, warn};

use crate::booking::Bookings;
use crate::domain::{Booking, Order, Refusal};
use crate::log::REQUEST;
use crate::upstream::Unexpected;

/// How many milliseconds the client waits.
const DEADLINE: &str = "x-deadline-ms";
/// The maximum deadline of a request.
const LONGEST: Duration = Duration::from_secs(5);
/// The most requests at a time.
const MOST: usize = 1_000;

/// The state that the handlers share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    bookings: Bookings,
    /// The requests in progress.
    requests: Group,
    fibers: Context,
    /// The number of requests whose clients have disconnected.
    gone: AtomicU64,
    /// The number of answers by their statuses.
    answers: Mutex<BTreeMap<u16, u64>>,
}

impl App {
    pub fn new(bookings: Bookings, requests: Group, fibers: Context) -> Self {
        let (gone, answers) = (AtomicU64::new(0), Mutex::default());
        App(Arc::new(Shared { bookings, requests, fibers, gone, answers }))
    }

    pub fn routes(self) -> Router {
        let app = self.clone();
        let inspector = Inspector::new(&self.0.fibers);
        let requests = RequestLayer::new(self.0.requests.clone()).number(&REQUEST).limit(MOST);
        let requests = requests.each(move |head, fiber| app.request(&head.headers, fiber));
        Router::new()
            .route("/bookings", post(book))
            .route("/events/{event}/bookings", get(list))
            .layer((map_response_with_state(self.clone(), answered), requests))
            .route("/debug/fibers", any(move |request: Request| async move { inspector.answer(&request) }))
            .route("/metrics", get(metrics))
            .with_state(self)
    }

    /// Gives a request its deadline.
    fn request(&self, headers: &HeaderMap, fiber: Fiber<()>) -> Fiber<()> {
        let app = self.clone();
        let gone = Fiber::lazy(move || _ = app.0.gone.fetch_add(1, Ordering::Relaxed));
        let logs = |error: &Error| {
            warn!("{error}");
            Fiber::success(())
        };
        fiber.timeout(limit(headers)).on_failure(logs).on_cancel(gone).boxed()
    }
}

/// How long the client waits.
pub fn limit(headers: &HeaderMap) -> Duration {
    let asked = headers.get(DEADLINE).and_then(|value| value.to_str().ok()?.parse().ok());
    asked.map_or(LONGEST, |millis| LONGEST.min(Duration::from_millis(millis)))
}

/// Counts an answer, and says why there is no other one.
async fn answered(State(app): State<App>, answer: Response<RequestBody<Body>>) -> Response {
    *app.0.answers.lock().unwrap().entry(answer.status().as_u16()).or_default() += 1;
    match answer.extensions().get::<Arc<Error>>() {
        Some(error) => (answer.status(), error.to_string()).into_response(),
        None => answer.into_response(),
    }
}

async fn book(
    State(app): State<App>,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Booking>), Failure> {
    let booking = app.0.bookings.book(order).await?;
    Ok((StatusCode::CREATED, Json(booking)))
}

async fn list(State(app): State<App>, Path(event): Path<u32>) -> Result<Json<Vec<Booking>>, Failure> {
    Ok(Json(app.0.bookings.of_event(event).await?))
}

/// In the text format of Prometheus.
async fn metrics(State(app): State<App>) -> String {
    let mut text = String::new();
    for (status, count) in &*app.0.answers.lock().unwrap() {
        _ = writeln!(text, "booking_answers_total{{kind=\"{status}\"}} {count}");
    }
    _ = writeln!(text, "booking_requests_gone_total {}", app.0.gone.load(Ordering::Relaxed));
    let runtime = Handle::current().metrics();
    _ = writeln!(text, "booking_requests_live {}", app.0.requests.len());
    _ = writeln!(text, "tokio_tasks_live {}", runtime.num_alive_tasks());
    text
}

/// A request that ended without a value.
#[derive(Debug)]
pub struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure(error)
    }
}

impl Failure {
    /// The only place that maps failures of the domain, and of the upstreams, to statuses.
    fn status(&self) -> StatusCode {
        let error = &self.0;
        match error.downcast_ref::<Refusal>() {
            Some(Refusal::Invalid(_)) => StatusCode::BAD_REQUEST,
            Some(Refusal::Risky) => StatusCode::FORBIDDEN,
            Some(Refusal::Taken) => StatusCode::CONFLICT,
            None if error.is::<TimedOut>() || error.is::<DeadlineExceeded>() => StatusCode::GATEWAY_TIMEOUT,
            None if error.is::<CircuitOpen>() || error.is::<Cancelled>() => StatusCode::SERVICE_UNAVAILABLE,
            None if error.is::<Unexpected>() => StatusCode::BAD_GATEWAY,
            None => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, Failure(error)) = (self.status(), self);
        match status {
            // The trace names the operators that the error has passed.
            StatusCode::INTERNAL_SERVER_ERROR => error!("{error:#}"),
            status if status.is_server_error() => warn!("{error}"),
            _ => {}
        }
        let text = if status == StatusCode::INTERNAL_SERVER_ERROR {
            "an error".to_owned()
        } else {
            error.to_string()
        };
        (status, text).into_response()
    }
}
