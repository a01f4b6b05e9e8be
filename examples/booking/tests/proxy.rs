//! The proxy on virtual time: what slow, faulty and hanging replicas, and clients that go away, do to a request. And its statuses, over
//! sockets.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use booking::proxy::{Answer, HEDGE_AFTER, LIFETIME, Proxy, Remote, Replica};
use booking::service;
use booking::simulation::{self, Faults};
use booking::upstream::Unexpected;
use fiber_core::error::TimedOut;
use fiber_core::{Error, Fiber, Run};
use fiber_sched::TokioScheduler;
use fiber_test::{Explore, TestScheduler};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;

const MILLI: Duration = Duration::from_millis(1);
const OK: StatusCode = StatusCode::OK;
const BUSY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// A replica whose first answers are given: after how many milliseconds, and with which status. All others come at once.
#[derive(Clone, Default)]
struct Scripted(Arc<Script>);

#[derive(Default)]
struct Script {
    next: Mutex<VecDeque<(u32, StatusCode)>>,
    asked: AtomicUsize,
    cancelled: AtomicUsize,
}

impl Scripted {
    fn new(answers: &[(u32, StatusCode)]) -> Self {
        Scripted(Arc::new(Script {
            next: Mutex::new(answers.iter().copied().collect()),
            ..Script::default()
        }))
    }

    fn asked(&self) -> usize {
        self.0.asked.load(SeqCst)
    }

    fn cancelled(&self) -> usize {
        self.0.cancelled.load(SeqCst)
    }
}

impl Replica for Scripted {
    fn get(&self, path: &str) -> Fiber<Answer, impl Run<Out = Answer> + use<>> {
        let (this, body) = (self.0.clone(), Bytes::copy_from_slice(path.as_bytes()));
        this.asked.fetch_add(1, SeqCst);
        let (millis, status) = this.next.lock().unwrap().pop_front().unwrap_or((0, OK));
        let answer = move || match status {
            OK => Ok(Answer { content_type: None, body }),
            status => Err(Error::new(Unexpected(status))),
        };
        let cancelled = Fiber::lazy(move || _ = this.cancelled.fetch_add(1, SeqCst));
        Fiber::delay(millis * MILLI).bind(move |()| Fiber::try_lazy(answer)).on_cancel(cancelled)
    }
}

/// A request, whose answer has to be the path.
fn ask(proxy: &Proxy<Scripted>) -> Fiber<()> {
    proxy.get("/a?b".to_owned()).map(|answer| assert_eq!(answer.body, "/a?b")).boxed()
}

#[test]
fn the_next_replica_answers_for_a_slow_one_which_is_cancelled() {
    let (slow, quick) = (Scripted::new(&[(10_000, OK)]), Scripted::new(&[(1, OK)]));
    let test = TestScheduler::new();
    test.run(ask(&Proxy::new(vec![slow.clone(), quick]))).unwrap();
    assert_eq!(u128::from(test.now().as_nanos()), (HEDGE_AFTER + MILLI).as_nanos());
    assert_eq!(slow.cancelled(), 1);
    test.assert_no_leaks();
}

#[test]
fn failures_are_repeated_until_there_is_an_answer() {
    let (test, replica) = (TestScheduler::new(), Scripted::new(&[(1, BUSY); 7]));
    test.run(ask(&Proxy::new(vec![replica.clone()]))).unwrap();
    assert_eq!(replica.asked(), 8);
}

#[test]
fn failures_are_not_repeated_for_ever() {
    let (test, replica) = (TestScheduler::new(), Scripted::new(&[(1, BUSY); 100]));
    let error = test.run(ask(&Proxy::new(vec![replica.clone()]))).failure().unwrap();
    assert!(error.is::<Unexpected>());
    // An attempt and three retries, each with a hedge.
    assert_eq!(replica.asked(), 8);
}

#[test]
fn an_answer_that_is_definite_is_not_asked_for_again() {
    let (test, replica) = (TestScheduler::new(), Scripted::new(&[(1, StatusCode::NOT_FOUND)]));
    let error = test.run(ask(&Proxy::new(vec![replica.clone()]))).failure().unwrap();
    assert_eq!(error.downcast_ref::<Unexpected>().unwrap().0, StatusCode::NOT_FOUND);
    assert_eq!(replica.asked(), 1);
}

#[test]
fn an_answer_is_kept_for_its_lifetime_and_requests_at_a_time_are_one() {
    let (test, replica) = (TestScheduler::new(), Scripted::new(&[(1, OK)]));
    let proxy = Proxy::new(vec![replica.clone()]);
    test.run(ask(&proxy).zip(ask(&proxy))).unwrap();
    test.run(Fiber::delay(LIFETIME - MILLI)).unwrap();
    test.run(ask(&proxy)).unwrap();
    assert_eq!(replica.asked(), 1);
    test.run(Fiber::delay(MILLI)).unwrap();
    test.run(ask(&proxy)).unwrap();
    assert_eq!(replica.asked(), 2);
}

#[test]
fn a_request_out_of_time_leaves_nothing() {
    let (test, replica) = (TestScheduler::new(), Scripted::new(&[(10_000, OK); 2]));
    let late = ask(&Proxy::new(vec![replica.clone()])).timeout(100 * MILLI);
    assert!(test.run(late).failure().unwrap().is::<TimedOut>());
    assert_eq!(test.now().as_nanos(), 100_000_000);
    test.run_until_idle();
    assert_eq!((replica.asked(), replica.cancelled()), (2, 2));
    test.assert_no_leaks();
}

/// Two clients ask at the same time. The first one goes away at some moment.
#[test]
fn in_every_schedule_a_client_that_goes_away_takes_no_answer_from_another() {
    Explore::default().check(|| {
        let proxy = Proxy::new(vec![Scripted::new(&[(1, BUSY), (1, OK)])]);
        let gone = ask(&proxy).race(Fiber::yield_now().bind(|()| Fiber::delay(MILLI)));
        gone.zip(ask(&proxy)).map(drop)
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_see_answers_statuses_and_deadlines_and_the_proxy_ends_in_order() {
    let (address, in_flight) =
        simulation::start(Faults { latency: 20 * MILLI, ..Faults::NONE }).await.unwrap();
    let fibers = TokioScheduler::current();
    let (requests, listener) = (fibers.group(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let routes = Proxy::new(vec![Remote::new(address)]).routes(requests.clone());
    let ended = tokio::spawn(service::run(listener, routes, requests, async { drop(stopped.await) }));
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let get = async |path: &str, millis: &str| {
        let request = Request::get(format!("{url}{path}")).header("x-deadline-ms", millis);
        let response = client.request(request.body(Empty::new()).unwrap()).await.unwrap();
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        (response.status(), kind, response.into_body().collect().await.unwrap().to_bytes())
    };
    let (status, kind, body) = get("/price/1/7", "60000").await;
    assert_eq!((status, kind.as_deref(), &*body), (OK, Some("text/plain; charset=utf-8"), &b"18"[..]));
    // From the cache.
    assert_eq!(get("/price/1/7", "10").await.0, OK);
    // No time at all: on a busy machine, any other may pass together with the latency of the answer.
    assert_eq!(get("/price/1/8", "0").await.0, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(get("/nothing", "60000").await.0, StatusCode::NOT_FOUND);
    // That of the request out of time is on its way back.
    while in_flight.count() > 0 {
        tokio::task::yield_now().await;
    }
    let ask = |seat: u32| tokio::spawn(client.get(format!("{url}/price/1/{seat}").parse().unwrap()));
    let mut last = ask(9);
    // Another one, if a request is answered before this task sees it, on a busy machine.
    for seat in 10.. {
        while in_flight.count() == 0 && !last.is_finished() {
            tokio::task::yield_now().await;
        }
        if !last.is_finished() {
            break;
        }
        last = ask(seat);
    }
    stop.send(()).unwrap();
    drop(client);
    ended.await.unwrap().unwrap();
    assert_eq!(last.await.unwrap().unwrap().status(), OK);
    fibers.shutdown(fiber_sched::Shutdown::within(60_000 * MILLI)).await.unwrap();
}
