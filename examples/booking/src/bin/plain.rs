//! The same bookings in plain tokio, for comparisons: deadline, retries, hedging, cache and a bounded number of database calls,
//! but no breakers, no dump, and a database call that goes on when its client goes away. `PORT` as for the service.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::post;
use axum::{Json, Router, serve};
use booking::domain::{Booking, Order};
use booking::log;
use booking::simulation::{self, Faults};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rusqlite::{Connection, params};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};
use tracing::{Instrument, info, info_span};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// By event and seat, with the time of the answer.
type Prices = HashMap<(u32, u32), (u32, Instant)>;

#[derive(Clone)]
struct App {
    client: Client<HttpConnector, Empty<Bytes>>,
    upstreams: Arc<str>,
    prices: Arc<Mutex<Prices>>,
    database: Arc<Mutex<Connection>>,
    calls: Arc<Semaphore>,
}

impl App {
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

    async fn ask(&self, path: &str) -> Result<u32, Failure> {
        let mut pause = Duration::from_millis(5);
        for _ in 0..3 {
            if let Ok(answer) = self.get(path).await {
                return Ok(answer);
            }
            sleep(pause).await;
            pause *= 2;
        }
        self.get(path).await
    }

    async fn price(&self, event: u32, seat: u32) -> Result<u32, Failure> {
        let key = (event, seat);
        let known = self.prices.lock().unwrap().get(&key).copied();
        if let Some((price, _)) = known.filter(|(_, at)| at.elapsed() < Duration::from_secs(10)) {
            return Ok(price);
        }
        let path = format!("price/{event}/{seat}");
        let second = async {
            sleep(Duration::from_millis(40)).await;
            self.ask(&path).await
        };
        let price = tokio::select! {
            price = self.ask(&path) => price?,
            price = second => price?,
        };
        self.prices.lock().unwrap().insert(key, (price, Instant::now()));
        Ok(price)
    }

    async fn insert(&self, order: Order, price: u32) -> Result<Option<Booking>, Failure> {
        let permit = self.calls.clone().acquire_owned().await?;
        let database = self.database.clone();
        let call = move || {
            let _permit = permit;
            let Order { event, seat, client } = order;
            let database = database.lock().unwrap();
            let mut insert = database.prepare_cached(
                "INSERT INTO bookings (event, seat, client, price) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING RETURNING id",
            )?;
            let id = insert.query_row(params![event, seat, client, price], |row| row.get(0));
            Ok(id.ok().map(|id| Booking { id, event, seat, client, price }))
        };
        tokio::task::spawn_blocking(call).await?
    }

    async fn book(&self, order: Order) -> Result<Option<Booking>, Failure> {
        let risk = format!("risk/{}", order.client);
        let (price, risk) = tokio::try_join!(self.price(order.event, order.seat), self.ask(&risk))?;
        if risk > 80 {
            return Ok(None);
        }
        let booking = self.insert(order, price).await?;
        if let Some(booking) = &booking {
            info!("{} has seat {} of event {}", booking.client, booking.seat, booking.event);
        }
        Ok(booking)
    }
}

async fn book(
    State(app): State<App>,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Booking>), StatusCode> {
    let request = app.book(order).instrument(info_span!("request"));
    let booking = timeout(Duration::from_secs(5), request).await.map_err(|_| StatusCode::GATEWAY_TIMEOUT)?;
    let booking = booking.map_err(|_| StatusCode::BAD_GATEWAY)?.ok_or(StatusCode::CONFLICT)?;
    Ok((StatusCode::CREATED, Json(booking)))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    log::start();
    let (upstreams, _) = simulation::start(Faults::NONE).await?;
    let database = Connection::open_in_memory()?;
    database.execute_batch(
        "CREATE TABLE bookings (id INTEGER PRIMARY KEY, event INTEGER NOT NULL, seat INTEGER NOT NULL,
         client TEXT NOT NULL, price INTEGER NOT NULL, UNIQUE (event, seat))",
    )?;
    let app = App {
        client: Client::builder(TokioExecutor::new()).build_http(),
        upstreams: upstreams.into(),
        prices: Arc::default(),
        database: Arc::new(Mutex::new(database)),
        calls: Arc::new(Semaphore::new(4)),
    };
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    info!("serving at http://{}", listener.local_addr()?);
    serve(listener, Router::new().route("/bookings", post(book)).with_state(app)).await?;
    Ok(())
}
