//! The same bookings in plain tokio, for comparisons: deadline, retries, hedging, breakers, a cache that makes one request for all
//! callers that want the same price, a bounded number of database calls, request numbers in the log, answers counted by status. It has
//! no dump, no orderly shutdown, no idempotent orders, and no bound on the cache. `PORT` as for the service.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::map_response_with_state;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router, serve};
use booking::domain::{Booking, Order, Refusal};
use booking::http::limit;
use booking::simulation::{self, Faults};
use booking::store;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rusqlite::Connection;
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tracing::{Instrument, info, info_span};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// By event and seat, with the time of the answer. The first caller makes the request, the others wait.
type Prices = HashMap<(u32, u32), Arc<OnceCell<(u32, Instant)>>>;

type App = Arc<Shared>;

struct Shared {
    client: Client<HttpConnector, Empty<Bytes>>,
    upstreams: String,
    prices: Mutex<Prices>,
    price_breaker: Breaker,
    risk_breaker: Breaker,
    database: Arc<Mutex<Connection>>,
    calls: Arc<Semaphore>,
    begun: AtomicU64,
    /// The number of answers by their statuses.
    answers: Mutex<BTreeMap<u16, u64>>,
}

/// After 20 failures in a row, rejects all calls for a second, and then lets one through on trial.
#[derive(Default)]
struct Breaker(Mutex<(u32, Option<Instant>)>);

impl Breaker {
    fn admit(&self) -> Result<(), Failure> {
        let mut state = self.0.lock().unwrap();
        let now = Instant::now();
        match &mut state.1 {
            Some(until) if *until > now => Err("the circuit is open".into()),
            Some(until) => {
                *until = now + Duration::from_secs(1);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn note(&self, is_failure: bool) {
        let mut state = self.0.lock().unwrap();
        *state = match state.0 {
            _ if !is_failure => (0, None),
            failures @ 0..19 => (failures + 1, None),
            failures => (failures, Some(Instant::now() + Duration::from_secs(1))),
        };
    }
}

impl Shared {
    async fn get(&self, path: &str) -> Result<u32, Failure> {
        let uri: Uri = format!("http://{}/{path}", self.upstreams).parse()?;
        let request = async {
            let response = self.client.get(uri).await?;
            if response.status() != StatusCode::OK {
                return Err(Failure::from(response.status().to_string()));
            }
            let body = response.into_body().collect().await?.to_bytes();
            Ok(std::str::from_utf8(&body)?.parse()?)
        };
        timeout(Duration::from_millis(500), request).await?
    }

    /// One `await` for all attempts: each would add to the size of the future, which is moved several times.
    async fn ask(&self, breaker: &Breaker, path: &str) -> Result<u32, Failure> {
        let mut pauses = [5, 10, 20].map(Duration::from_millis).into_iter();
        loop {
            breaker.admit()?;
            let answer = self.get(path).await;
            breaker.note(answer.is_err());
            match (answer, pauses.next()) {
                (Err(_), Some(pause)) => sleep(pause).await,
                (answer, _) => return answer,
            }
        }
    }

    async fn price(&self, event: u32, seat: u32) -> Result<u32, Failure> {
        let price = self.cell(event, seat);
        let asked = async { Ok((self.hedged(&format!("price/{event}/{seat}")).await?, Instant::now())) };
        price.get_or_try_init(|| asked).await.map(|(price, _)| *price)
    }

    /// The cache entry of a price that is not too old.
    fn cell(&self, event: u32, seat: u32) -> Arc<OnceCell<(u32, Instant)>> {
        let mut prices = self.prices.lock().unwrap();
        let cell = prices.entry((event, seat)).or_default();
        if cell.get().is_some_and(|(_, at)| at.elapsed() > Duration::from_secs(10)) {
            *cell = Arc::default();
        }
        cell.clone()
    }

    async fn hedged(&self, path: &str) -> Result<u32, Failure> {
        let second = async {
            sleep(Duration::from_millis(40)).await;
            self.ask(&self.price_breaker, path).await
        };
        tokio::select! {
            price = self.ask(&self.price_breaker, path) => price,
            price = second => price,
        }
    }

    async fn insert(&self, order: Order, price: u32) -> Result<Booking, Failure> {
        let permit = self.calls.clone().acquire_owned().await?;
        let database = self.database.clone();
        let call = move || {
            let _permit = permit;
            store::insert(&database.lock().unwrap(), &order, price)
        };
        Ok(tokio::task::spawn_blocking(call).await??)
    }

    async fn book(&self, order: Order) -> Result<Booking, Failure> {
        let risk = format!("risk/{}", order.client);
        let price = self.price(order.event, order.seat);
        let (price, risk) = tokio::try_join!(price, self.ask(&self.risk_breaker, &risk))?;
        if risk > 80 {
            return Err(Refusal::Risky.into());
        }
        let booking = self.insert(order, price).await?;
        info!("{} has seat {} of event {}", booking.client, booking.seat, booking.event);
        Ok(booking)
    }
}

async fn book(
    State(app): State<App>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Booking>), StatusCode> {
    let number = app.begun.fetch_add(1, Ordering::Relaxed) + 1;
    let request = app.book(order).instrument(info_span!("request", number));
    let booking = timeout(limit(&headers), request).await.map_err(|_| StatusCode::GATEWAY_TIMEOUT)?;
    let booking = booking.map_err(|_| StatusCode::BAD_GATEWAY)?;
    Ok((StatusCode::CREATED, Json(booking)))
}

async fn answered(State(app): State<App>, answer: Response) -> Response {
    *app.answers.lock().unwrap().entry(answer.status().as_u16()).or_default() += 1;
    answer
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    tracing_subscriber::fmt().without_time().with_target(false).with_writer(std::io::stderr).init();
    let (upstreams, _) = simulation::start(Faults::NONE).await?;
    let app = Arc::new(Shared {
        client: Client::builder(TokioExecutor::new()).build_http(),
        upstreams,
        prices: Mutex::default(),
        price_breaker: Breaker::default(),
        risk_breaker: Breaker::default(),
        database: Arc::new(Mutex::new(store::in_memory()?)),
        calls: Arc::new(Semaphore::new(store::MOST_CALLS)),
        begun: AtomicU64::new(0),
        answers: Mutex::default(),
    });
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    info!("serving at http://{}", listener.local_addr()?);
    let counts = map_response_with_state(app.clone(), answered);
    serve(listener, Router::new().route("/bookings", post(book)).layer(counts).with_state(app)).await?;
    Ok(())
}
