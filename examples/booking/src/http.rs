//! The HTTP interface of the service: routes, deadlines and statuses.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fiber_core::error::{Cancelled, DeadlineExceeded, TimedOut};
use fiber_core::sync::CircuitOpen;
use fiber_core::{Context, Error, Fiber, Group};
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

/// The state that the handlers share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    bookings: Bookings,
    /// The requests in progress.
    requests: Group,
    fibers: Context,
    begun: AtomicU64,
    /// The number of requests whose clients have disconnected.
    gone: AtomicU64,
    answered: [Answers; 5],
}

/// The number of answers with this status.
struct Answers(StatusCode, AtomicU64);

impl App {
    pub fn new(bookings: Bookings, requests: Group, fibers: Context) -> Self {
        let kinds = [200, 400, 409, 500, 504].map(|code| StatusCode::from_u16(code).expect("a status"));
        let answered = kinds.map(|status| Answers(status, AtomicU64::new(0)));
        App(Arc::new(Shared {
            bookings,
            requests,
            fibers,
            begun: AtomicU64::new(0),
            gone: AtomicU64::new(0),
            answered,
        }))
    }

    pub fn routes(self) -> Router {
        Router::new()
            .route("/bookings", post(book))
            .route("/events/{event}/bookings", get(list))
            .route("/debug/fibers", get(fibers))
            .route("/metrics", get(metrics))
            .with_state(self)
    }

    /// Runs a fiber for a request until its deadline, and only while the client is connected. axum drops the handler when
    /// the client disconnects, which cancels the fiber.
    async fn answer<T: Send + 'static>(&self, headers: &HeaderMap, fiber: Fiber<T>) -> Result<T, Failure> {
        let number = self.0.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let app = self.clone();
        let gone = Fiber::lazy(move || _ = app.0.gone.fetch_add(1, Ordering::Relaxed));
        let request =
            fiber.timeout(limit(headers)).on_cancel(gone).with_local(&REQUEST, number).named("request");
        let ended = self.0.requests.spawn(request).cancel_on_drop().await;
        let answer = ended.into_result().map_err(|error| Failure { number, error });
        self.count(answer.as_ref().map_or_else(Failure::status, |_| StatusCode::OK));
        answer
    }

    fn count(&self, status: StatusCode) {
        let mut kinds = self.0.answered.iter();
        let exact = kinds.find(|Answers(kind, _)| *kind == status);
        let class =
            || self.0.answered.iter().find(|Answers(kind, _)| kind.as_u16() / 100 == status.as_u16() / 100);
        if let Some(Answers(_, count)) = exact.or_else(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// How long the client waits.
pub fn limit(headers: &HeaderMap) -> Duration {
    let asked = headers.get(DEADLINE).and_then(|value| value.to_str().ok()?.parse().ok());
    asked.map_or(LONGEST, |millis| LONGEST.min(Duration::from_millis(millis)))
}

async fn book(
    State(app): State<App>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Booking>), Failure> {
    let booking = app.answer(&headers, app.0.bookings.book(order)).await?;
    Ok((StatusCode::CREATED, Json(booking)))
}

async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Path(event): Path<u32>,
) -> Result<Json<Vec<Booking>>, Failure> {
    Ok(Json(app.answer(&headers, app.0.bookings.of_event(event)).await?))
}

/// The live fibers, and what each of them waits for.
async fn fibers(State(app): State<App>) -> String {
    app.0.fibers.dump().to_string()
}

/// In the text format of Prometheus.
async fn metrics(State(app): State<App>) -> String {
    let mut text = String::new();
    for Answers(status, count) in &app.0.answered {
        let count = count.load(Ordering::Relaxed);
        _ = writeln!(text, "booking_answers_total{{kind=\"{}\"}} {count}", status.as_u16());
    }
    let total = |count: &AtomicU64| count.load(Ordering::Relaxed);
    _ = writeln!(text, "booking_requests_total {}", total(&app.0.begun));
    _ = writeln!(text, "booking_requests_gone_total {}", total(&app.0.gone));
    let runtime = Handle::current().metrics();
    _ = writeln!(text, "booking_requests_live {}", app.0.requests.len());
    _ = writeln!(text, "tokio_tasks_live {}", runtime.num_alive_tasks());
    text
}

/// A request that ended without a value.
#[derive(Debug)]
pub struct Failure {
    number: u64,
    error: Error,
}

impl Failure {
    /// The only place that maps failures of the domain, of the upstreams and of deadlines to statuses.
    fn status(&self) -> StatusCode {
        let error = &self.error;
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
        let (status, Failure { number, error }) = (self.status(), self);
        match status {
            // The trace names the operators that the error has passed.
            StatusCode::INTERNAL_SERVER_ERROR => error!("request {number}: {error:#}"),
            status if status.is_server_error() => warn!("request {number}: {error}"),
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
