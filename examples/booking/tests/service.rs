//! The service as its clients see it, over sockets, and what is left when they disconnect.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use booking::booking::{Bookings, Store, Upstreams};
use booking::domain::Booking;
use booking::http::App;
use booking::service;
use booking::simulation::{self, Faults, InFlight, RISKY};
use booking::store::{MOST_CALLS, Sqlite};
use booking::upstream::Remote;
use fiber_core::Fiber;
use fiber_core::sync::Latch;
use fiber_sched::{Shutdown, TokioScheduler};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Fails a test that would otherwise hang.
const PATIENCE: Duration = Duration::from_secs(60);

struct Service {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    store: Sqlite,
    upstream: InFlight,
    fibers: Arc<TokioScheduler>,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<std::io::Result<()>>,
}

impl Service {
    async fn start(faults: Faults) -> Self {
        Service::asking(faults, Remote::new).await
    }

    /// `upstreams` makes the client of the upstreams from their address.
    async fn asking<U: Upstreams>(faults: Faults, upstreams: impl FnOnce(&str) -> U) -> Self {
        let (address, upstream) = simulation::start(faults).await.unwrap();
        let upstreams = upstreams(&address);
        let store = Sqlite::in_memory().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let bookings = Bookings::new(upstreams, store.clone());
        let stopped = async { _ = stopped.await };
        let fibers = Arc::new(TokioScheduler::current());
        let requests = fibers.group();
        let routes = App::new(bookings, requests.clone(), fibers.context().clone()).routes();
        let ended = tokio::spawn(service::run(listener, routes, requests, stopped));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Service { address, client, store, upstream, fibers, stop: Some(stop), ended }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> (StatusCode, String) {
        let response = self.client.request(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        self.send(Request::get(format!("http://{}{path}", self.address)).body(Full::default()).unwrap()).await
    }

    fn order(&self, seat: u64, client: &str, deadline: u64) -> Request<Full<Bytes>> {
        let body = format!(r#"{{"event":1,"seat":{seat},"client":"{client}"}}"#);
        Request::post(format!("http://{}/bookings", self.address))
            .header("content-type", "application/json")
            .header("x-deadline-ms", deadline)
            .body(Full::from(body))
            .unwrap()
    }

    async fn book(&self, seat: u64, client: &str) -> (StatusCode, String) {
        self.send(self.order(seat, client, 5_000)).await
    }

    /// The bookings in the database.
    async fn bookings(&self) -> Vec<Booking> {
        let fibers = TokioScheduler::current();
        fibers.spawn(self.store.bookings(1)).await.unwrap()
    }

    /// Waits until no fiber, timer or call of any request is left, and every permit has been released.
    async fn falls_silent(&self) {
        let end = Instant::now() + PATIENCE;
        loop {
            let (metrics, in_flight, free) =
                (self.fibers.metrics(), self.upstream.count(), self.store.free_calls());
            let is_quiet = metrics.timers == 0 && metrics.injected == 0 && metrics.blocking_queue == 0;
            if metrics.fibers == 0 && is_quiet && in_flight == 0 && free == MOST_CALLS {
                return;
            }
            assert!(
                Instant::now() < end,
                "{in_flight} upstream requests and {free} permits are left; {metrics}\n{}",
                self.fibers.dump()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Asks the service to end.
    fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).unwrap();
        }
    }

    async fn end(mut self) {
        self.stop();
        drop(self.client);
        tokio::time::timeout(PATIENCE, self.ended).await.expect("the service ends").unwrap().unwrap();
        let fibers = Arc::into_inner(self.fibers).unwrap();
        fibers.shutdown(Shutdown::within(PATIENCE)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_is_booked_once_and_the_answers_say_so() {
    let service = Service::start(Faults::NONE).await;
    let (status, body) = service.book(7, "Ann").await;
    assert_eq!(status, StatusCode::CREATED, "{body}");
    assert!(body.contains(r#""client":"Ann""#), "{body}");
    // A repeated order gives the same booking.
    assert_eq!(service.book(7, "Ann").await, (StatusCode::CREATED, body));
    assert_eq!(service.book(7, "Bob").await, (StatusCode::CONFLICT, "the seat is taken".to_owned()));
    assert_eq!(service.book(8, RISKY).await.0, StatusCode::FORBIDDEN);
    assert_eq!(service.book(70_000, "Ann").await.0, StatusCode::BAD_REQUEST);
    assert_eq!(service.get("/events/1/bookings").await.1.matches("\"id\"").count(), 1);
    let metrics = service.get("/metrics").await.1;
    assert!(metrics.contains("booking_answers_total{kind=\"409\"} 1"), "{metrics}");
    service.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_the_upstreams_are_made_up_for() {
    let faults = Faults { error_every: 4, ..Faults::NONE };
    let service = Service::start(faults).await;
    for seat in 0..40 {
        assert_eq!(service.book(seat, "Ann").await.0, StatusCode::CREATED, "seat {seat}");
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_out_of_time_is_told_so_and_leaves_nothing() {
    let service = Service::start(Faults { latency: Duration::from_secs(30), ..Faults::NONE }).await;
    let (status, _) = service.send(service.order(7, "Ann", 20)).await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    service.falls_silent().await;
    assert!(service.bookings().await.is_empty());
    service.end().await;
}

/// Trusts all clients.
struct Trusting(Remote);

impl Upstreams for Trusting {
    fn price(&self, event: u32, seat: u32) -> Fiber<u32> {
        self.0.price(event, seat)
    }

    fn risk(&self, _: &str) -> Fiber<u32> {
        Fiber::success(0).boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_upstream_behind_the_cache_is_a_gateway_timeout() {
    let hangs = Faults { latency: Duration::from_secs(30), ..Faults::NONE };
    let service = Service::asking(hangs, |address| Trusting(Remote::new(address))).await;
    // The limit of the requests for the price passes long before that of the order.
    let (status, body) = service.send(service.order(7, "Ann", 60_000)).await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT, "{body}");
    assert!(body.starts_with("asking for the price"), "{body}");
    service.end().await;
}

/// Sends an order over its own connection, and disconnects after a time. Returns whether the order got the seat.
async fn impatient(service: &Service, number: u64) -> std::io::Result<bool> {
    let mut connection = TcpStream::connect(service.address).await?;
    // Closed by a reset, so that ten thousand connections leave no ports in TIME_WAIT.
    connection.set_zero_linger()?;
    let body = format!(r#"{{"event":1,"seat":{},"client":"client{number}"}}"#, number % SEATS);
    let length = body.len();
    let order = format!(
        "POST /bookings HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    connection.write_all(order.as_bytes()).await?;
    let mut answer = [0; 512];
    let patience = Duration::from_micros(number * 97 % 12_000);
    match tokio::time::timeout(patience, connection.read(&mut answer)).await {
        Ok(length) => Ok(answer[..length?].starts_with(b"HTTP/1.1 201")),
        Err(_) => Ok(false),
    }
}

/// Fewer than the clients, so that many compete for the same one.
const SEATS: u64 = 4_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_ten_thousand_clients_that_go_away_runs_on() {
    const CLIENTS: u64 = 10_000;
    const AT_A_TIME: u64 = 50;
    let faults = Faults { latency: Duration::from_millis(2), slow_every: 10, error_every: 0 };
    let service = Arc::new(Service::start(faults).await);
    let clients = (0..AT_A_TIME).map(|first| {
        let service = service.clone();
        tokio::spawn(async move {
            let mut served = Vec::new();
            for number in (first..CLIENTS).step_by(AT_A_TIME as usize) {
                if impatient(&service, number).await.unwrap() {
                    served.push(number);
                }
            }
            served
        })
    });
    let mut served = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        served.extend(client.await.unwrap());
    }
    service.falls_silent().await;
    let holders: HashMap<_, _> =
        service.bookings().await.into_iter().map(|booking| (booking.seat, booking.client)).collect();
    for number in &served {
        let holder = holders.get(&((number % SEATS) as u32));
        assert_eq!(holder, Some(&format!("client{number}")), "a booking that was confirmed is another's");
    }
    let metrics = service.get("/metrics").await.1;
    let gone = number_of(&metrics, "booking_requests_gone_total");
    println!("{} of {CLIENTS} clients were served, {gone} requests were cancelled", served.len());
    assert!(gone > 0, "no request was cancelled:\n{metrics}");
    Arc::into_inner(service).unwrap().end().await;
}

fn number_of(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

/// Trusts all clients, and tells a price when the test lets it.
#[derive(Clone)]
struct Held {
    asked: Latch,
    answers: Latch,
}

impl Upstreams for Held {
    fn price(&self, _: u32, _: u32) -> Fiber<u32> {
        let Held { asked, answers } = self.clone();
        Fiber::lazy(move || asked.count_down()).bind(move |_| answers.wait()).map(|()| 18).boxed()
    }

    fn risk(&self, _: &str) -> Fiber<u32> {
        Fiber::success(0).boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_in_progress_are_answered_when_the_service_ends() {
    let held = Held { asked: Latch::new(1), answers: Latch::new(1) };
    let mut service = Service::asking(Faults::NONE, |_| held.clone()).await;
    let request = tokio::spawn(service.client.request(service.order(7, "Ann", 5_000)));
    let fibers = TokioScheduler::current();
    fibers.spawn(held.asked.wait()).await.unwrap();
    let (store, address) = (service.store.clone(), service.address);
    service.stop();
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // It accepts no more connections, and the answer is still to come.
    assert!(!request.is_finished());
    held.answers.count_down();
    service.end().await;
    assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::CREATED);
    assert_eq!(fibers.spawn(store.bookings(1)).await.unwrap().len(), 1);
}
