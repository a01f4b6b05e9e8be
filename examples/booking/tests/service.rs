//! The service as its clients see it, over sockets, and what is left when they go away.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use booking::booking::{Bookings, Store};
use booking::domain::Booking;
use booking::service;
use booking::simulation::{self, Faults, InFlight, RISKY};
use booking::store::Sqlite;
use booking::upstream::Remote;
use fiber_core::Error;
use fiber_sched::{Shutdown, TokioScheduler};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Fails a test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(60);

struct Service {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    store: Sqlite,
    upstream: InFlight,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), Error>>,
}

impl Service {
    async fn start(faults: Faults) -> Self {
        let (upstreams, upstream) = simulation::start(faults).await.unwrap();
        let store = Sqlite::in_memory().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let bookings = Bookings::new(Remote::new(&upstreams), store.clone());
        let stopped = async { _ = stopped.await };
        let ended = tokio::spawn(async move {
            let fibers = TokioScheduler::current();
            service::run(fibers.context().clone(), listener, bookings, stopped).await?;
            Ok(fibers.shutdown(Shutdown::within(PATIENCE)).await?)
        });
        let client = Client::builder(TokioExecutor::new()).build_http();
        Service { address, client, store, upstream, stop, ended }
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

    /// Waits until nothing of any request is left.
    async fn falls_silent(&self) {
        let end = Instant::now() + PATIENCE;
        loop {
            let dump = self.get("/debug/fibers").await.1;
            let in_flight = self.upstream.count();
            if !dump.contains("\"request\"") && in_flight == 0 {
                return;
            }
            assert!(
                Instant::now() < end,
                "{in_flight} upstream requests are left, and of the fibers:\n{dump}"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        drop(self.client);
        tokio::time::timeout(PATIENCE, self.ended).await.expect("the service ends").unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_is_booked_once_and_the_answers_say_so() {
    let service = Service::start(Faults::NONE).await;
    let (status, body) = service.book(7, "Ann").await;
    assert_eq!(status, StatusCode::CREATED, "{body}");
    assert!(body.contains(r#""client":"Ann""#), "{body}");
    // Sent again, it is the same booking.
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_client_that_goes_away_runs_on() {
    const CLIENTS: u64 = 500;
    let faults = Faults { latency: Duration::from_millis(2), slow_every: 10, error_every: 0 };
    let service = Service::start(faults).await;
    let (answered, seats) = (AtomicU64::new(0), AtomicU64::new(0));
    let client = |number: u64| {
        let (service, answered, seats) = (&service, &answered, &seats);
        async move {
            // A connection of its own, which is closed with the client that owns it.
            let own: Client<HttpConnector, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
            let seat = seats.fetch_add(1, Ordering::Relaxed) % (CLIENTS / 2);
            let request = own.request(service.order(seat, &format!("client{number}"), 5_000));
            let patience = Duration::from_micros(number * 97 % 12_000);
            if let Ok(Ok(response)) = tokio::time::timeout(patience, request).await
                && response.status() == StatusCode::CREATED
            {
                answered.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    for begin in (0..CLIENTS).step_by(50) {
        let clients: Vec<_> = (begin..begin + 50).map(client).collect();
        join_all(clients).await;
    }
    service.falls_silent().await;
    let bookings = service.bookings().await;
    // Each seat at most once is what the table says; every answer has its booking.
    assert!(bookings.len() as u64 >= answered.load(Ordering::Relaxed));
    let metrics = service.get("/metrics").await.1;
    assert!(!metrics.contains("booking_requests_gone_total 0\n"), "no request was cancelled:\n{metrics}");
    service.end().await;
}

/// Awaits all at the same time.
async fn join_all<F: Future<Output = ()>>(futures: Vec<F>) {
    let mut futures: Vec<_> = futures.into_iter().map(|future| Some(Box::pin(future))).collect();
    std::future::poll_fn(|cx| {
        for slot in &mut futures {
            if slot.as_mut().is_some_and(|future| future.as_mut().poll(cx).is_ready()) {
                *slot = None;
            }
        }
        if futures.iter().all(Option::is_none) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_in_progress_are_answered_when_the_service_ends() {
    let service = Service::start(Faults { latency: Duration::from_millis(300), ..Faults::NONE }).await;
    let request = service.client.request(service.order(7, "Ann", 5_000));
    let request = tokio::spawn(request);
    while service.upstream.count() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let store = service.store.clone();
    service.end().await;
    assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::CREATED);
    let fibers = TokioScheduler::current();
    assert_eq!(fibers.spawn(store.bookings(1)).await.unwrap().len(), 1);
}
