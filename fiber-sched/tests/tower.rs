//! Each request of a service is a fiber, on virtual time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use fiber_core::error::{Cancelled, IntoError, Panicked, TimedOut};
use fiber_core::{Error, Fiber, Group, LocalKey, local_key};
use fiber_sched::tower::{Overloaded, RequestBody, RequestLayer};
use fiber_test::{Explore, TestScheduler};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame};
use tower_layer::Layer;
use tower_service::Service;

const SECOND: Duration = Duration::from_secs(1);

local_key! {
    static REQUEST: u64 = 0;
}

/// A body whose frames others push.
#[derive(Clone, Default)]
struct Frames(Arc<Mutex<Stream>>);

#[derive(Default)]
struct Stream {
    frames: VecDeque<Frame<&'static [u8]>>,
    /// Whether frames may follow.
    is_open: bool,
    waker: Option<Waker>,
}

impl Frames {
    fn open() -> Self {
        let frames = Frames::default();
        frames.0.lock().unwrap().is_open = true;
        frames
    }

    fn of(text: &'static str) -> Self {
        let frames = Frames::default();
        frames.push(Frame::data(text.as_bytes()));
        frames
    }

    fn push(&self, frame: Frame<&'static [u8]>) {
        let mut stream = self.0.lock().unwrap();
        stream.frames.push_back(frame);
        stream.waker.take().into_iter().for_each(Waker::wake);
    }

    fn close(&self) {
        let mut stream = self.0.lock().unwrap();
        stream.is_open = false;
        stream.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl Body for Frames {
    type Data = &'static [u8];
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<&'static [u8]>, Infallible>>> {
        let mut stream = self.0.lock().unwrap();
        match stream.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None if stream.is_open => {
                stream.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        let stream = self.0.lock().unwrap();
        !stream.is_open && stream.frames.is_empty()
    }
}

/// A service of one async function.
struct Handler<F, E>(Arc<F>, std::marker::PhantomData<fn() -> E>);

impl<F, E> Clone for Handler<F, E> {
    fn clone(&self) -> Self {
        Handler(self.0.clone(), std::marker::PhantomData)
    }
}

impl<F, A, E> Service<Request<()>> for Handler<F, E>
where
    F: Fn(Request<()>) -> A,
    A: Future<Output = Result<Response<Frames>, E>> + Send + 'static,
{
    type Response = Response<Frames>;
    type Error = E;
    type Future = A;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), E>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> A {
        (self.0)(request)
    }
}

fn handler<F, A, E>(f: F) -> Handler<F, E>
where
    F: Fn(Request<()>) -> A,
    A: Future<Output = Result<Response<Frames>, E>> + Send + 'static,
{
    Handler(Arc::new(f), std::marker::PhantomData)
}

/// A scheduler, and the group of the requests on it.
fn world() -> (TestScheduler, Group) {
    let test = TestScheduler::new();
    let requests = test.context().group();
    (test, requests)
}

fn get(path: &str) -> Request<()> {
    Request::get(path).body(()).unwrap()
}

/// Polls once.
fn poll<A: Future + Unpin>(future: &mut A) -> Poll<A::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn ready<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("not ready"),
    }
}

type Answer = Response<RequestBody<Frames>>;
type NextFrame = Poll<Option<Result<Frame<&'static [u8]>, Box<dyn std::error::Error + Send + Sync>>>>;

fn next_frame(answer: &mut Answer) -> NextFrame {
    Pin::new(answer.body_mut()).poll_frame(&mut Context::from_waker(Waker::noop()))
}

fn next_text(answer: &mut Answer) -> &'static str {
    let frame = ready(next_frame(answer)).expect("a frame").expect("no error");
    std::str::from_utf8(frame.into_data().expect("data")).unwrap()
}

fn error_of(answer: &Answer) -> &Error {
    answer.extensions().get::<Arc<Error>>().expect("an error")
}

/// Waits, and then counts, also if it is cancelled.
fn counts_at_end(count: &Arc<AtomicUsize>, pause: Duration) -> Fiber<()> {
    let count = count.clone();
    Fiber::delay(pause).map(move |()| _ = count.fetch_add(1, Ordering::Relaxed)).boxed()
}

/// The response that the service gives without waiting for time.
fn serve_one<S>(test: &TestScheduler, service: &mut S, request: Request<()>) -> Answer
where
    S: Service<Request<()>, Response = Answer, Error: fmt::Debug, Future: Unpin>,
{
    let mut answer = service.call(request);
    test.run_until_idle();
    ready(poll(&mut answer)).unwrap()
}

#[test]
fn a_request_is_a_named_fiber_with_a_number_until_the_last_byte() {
    let (test, requests) = world();
    let numbers: &'static LocalKey<u64> = &REQUEST;
    let service = handler(|request: Request<()>| async move {
        let inside = Fiber::local(&REQUEST).await?;
        let number = Fiber::local(&REQUEST).fork().await?.join().await?;
        assert_eq!(inside, number);
        let text = if number == 1 { "the first" } else { "another" };
        Ok::<_, Error>(
            Response::builder().header("path", request.uri().path()).body(Frames::of(text)).unwrap(),
        )
    });
    let mut service = RequestLayer::new(requests.clone()).number(numbers).layer(service);
    for expected in ["the first", "another"] {
        let mut answer = serve_one(&test, &mut service, get("/seats"));
        assert_eq!(
            (answer.status(), &answer.headers()["path"]),
            (StatusCode::OK, &"/seats".parse().unwrap())
        );
        assert_eq!(requests.len(), 1);
        assert!(test.context().dump().to_string().contains("request"));
        assert_eq!(next_text(&mut answer), expected);
        test.run_until_idle();
        assert_eq!(requests.len(), 0);
        assert!(ready(next_frame(&mut answer)).is_none());
    }
    test.assert_no_leaks();
}

#[test]
fn a_response_without_a_body_ends_its_fiber() {
    let (test, requests) = world();
    let service = handler(|_| async { Ok::<_, Infallible>(Response::new(Frames::default())) });
    let mut service = RequestLayer::new(requests.clone()).layer(service);
    let answer = serve_one(&test, &mut service, get("/"));
    assert!(answer.body().is_end_stream());
    test.run_until_idle();
    assert_eq!(requests.len(), 0);
}

#[test]
fn after_its_deadline_a_request_is_answered_when_its_finalizers_have_run() {
    let (test, requests) = world();
    let cleaned = Arc::new(AtomicUsize::new(0));
    let count = cleaned.clone();
    let service = handler(move |_| {
        let slow = Fiber::<()>::never().ensure(counts_at_end(&count, 3 * SECOND));
        async move {
            slow.await?;
            Ok::<_, Error>(Response::new(Frames::default()))
        }
    });
    let mut service = RequestLayer::new(requests.clone()).deadline(5 * SECOND).layer(service);
    let mut answer = service.call(get("/"));
    test.run_for(7 * SECOND);
    assert!(poll(&mut answer).is_pending());
    test.run_for(SECOND);
    let answer = ready(poll(&mut answer)).unwrap();
    assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
    assert!(error_of(&answer).is::<TimedOut>());
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (1, 0));
    test.assert_no_leaks();
}

#[test]
fn requests_beyond_the_limit_are_refused_at_once_and_not_run() {
    let (test, requests) = world();
    let begun = Arc::new(AtomicUsize::new(0));
    let count = begun.clone();
    let service = handler(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async {
            // What it has forked keeps its place, too.
            Fiber::<()>::never().ensure(Fiber::delay(2 * SECOND)).fork().await?;
            Fiber::delay(SECOND).await?;
            Ok::<_, Error>(Response::new(Frames::default()))
        }
    });
    let layer = RequestLayer::new(requests).limit(usize::MAX).limit(2);
    let (mut service, mut same) = (layer.layer(service.clone()), layer.clone().layer(service));
    let mut taken = [service.call(get("/1")), same.call(get("/2"))];
    for _ in 0..3 {
        // No turn is needed.
        let refused = ready(poll(&mut service.call(get("/3")))).unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(error_of(&refused).is::<Overloaded>());
        test.run_for(SECOND - SECOND / 4);
    }
    assert_eq!(begun.load(Ordering::Relaxed), 2);
    assert!(taken.iter_mut().all(|taken| ready(poll(taken)).unwrap().status() == StatusCode::OK));
    test.run_for(2 * SECOND);
    assert_eq!(serve_one(&test, &mut service, get("/4")).status(), StatusCode::OK);
}

#[test]
fn a_client_that_goes_away_cancels_its_request_and_the_finalizers_run() {
    let (test, requests) = world();
    let cleaned = Arc::new(AtomicUsize::new(0));
    let count = cleaned.clone();
    let service = handler(move |_| {
        let slow = Fiber::delay(9 * SECOND).ensure(counts_at_end(&count, 2 * SECOND));
        async move {
            slow.await?;
            Ok::<_, Error>(Response::new(Frames::open()))
        }
    });
    let mut service = RequestLayer::new(requests.clone()).limit(1).layer(service);
    let mut answer = service.call(get("/"));
    test.run_for(SECOND);
    assert!(poll(&mut answer).is_pending());
    drop(answer);
    test.run_for(SECOND);
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (0, 1));
    test.run_for(SECOND);
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (1, 0));
    test.assert_no_leaks();
}

/// The response is there, and the server has not looked since.
#[test]
fn a_client_that_goes_away_beside_the_response_cancels_its_request() {
    let (test, requests) = world();
    let gone = Arc::new(AtomicUsize::new(0));
    let counts = gone.clone();
    let layer = RequestLayer::new(requests.clone())
        .each(move |_, fiber| fiber.on_cancel(counts_at_end(&counts, Duration::ZERO)).boxed());
    let mut service = layer.layer(handler(|_| async { Ok::<_, Infallible>(Response::new(Frames::open())) }));
    let mut answer = service.call(get("/"));
    assert!(poll(&mut answer).is_pending());
    test.run_until_idle();
    assert_eq!((gone.load(Ordering::Relaxed), requests.len()), (0, 1));
    drop(answer);
    test.run_until_idle();
    assert_eq!((gone.load(Ordering::Relaxed), requests.len()), (1, 0));
    test.assert_no_leaks();
}

#[test]
fn a_request_may_go_on_without_its_client() {
    let (test, requests) = world();
    let (done, body) = (Arc::new(AtomicUsize::new(0)), Frames::open());
    let (count, frames) = (done.clone(), body.clone());
    let service = handler(move |_| {
        let (work, frames) = (counts_at_end(&count, 9 * SECOND), frames.clone());
        async move {
            work.await?;
            Ok::<_, Error>(Response::new(frames))
        }
    });
    let mut service = RequestLayer::new(requests.clone()).to_the_end().layer(service);
    let answer = service.call(get("/"));
    test.run_for(SECOND);
    drop(answer);
    test.run_for(9 * SECOND);
    assert_eq!((done.load(Ordering::Relaxed), requests.len()), (1, 0));
    // The body is dropped, because nobody reads it.
    assert_eq!(Arc::strong_count(&body.0), 2);
    // A shutdown ends it nevertheless.
    let answer = service.call(get("/"));
    test.run_for(SECOND);
    drop(answer);
    let mut end = pin!(requests.cancel());
    test.run_until_idle();
    ready(poll(&mut end));
    assert_eq!(done.load(Ordering::Relaxed), 1);
    test.assert_no_leaks();
}

/// A service whose body streams, and which has forked a fiber that ends after two seconds of cleaning up.
fn streaming(
    body: &Frames,
    cleaned: &Arc<AtomicUsize>,
) -> impl Service<Request<()>, Response = Response<Frames>, Error = Error, Future: Send + 'static>
+ Clone
+ Send
+ use<> {
    let (body, cleaned) = (body.clone(), cleaned.clone());
    handler(move |_| {
        let (body, cleaned) = (body.clone(), cleaned.clone());
        async move {
            Fiber::<()>::never().ensure(counts_at_end(&cleaned, 2 * SECOND)).fork().await?;
            Ok::<_, Error>(Response::new(body))
        }
    })
}

#[test]
fn a_body_that_streams_keeps_its_fiber_and_what_that_has_forked_until_the_last_byte() {
    let (test, requests) = world();
    let (body, cleaned) = (Frames::open(), Arc::new(AtomicUsize::new(0)));
    let mut service = RequestLayer::new(requests.clone()).limit(1).layer(streaming(&body, &cleaned));
    let mut answer = serve_one(&test, &mut service, get("/"));
    for text in ["one", "two"] {
        body.push(Frame::data(text.as_bytes()));
        assert_eq!(next_text(&mut answer), text);
        assert!(next_frame(&mut answer).is_pending());
        test.run_for(60 * SECOND);
        assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (0, 1));
        assert_eq!(
            ready(poll(&mut service.call(get("/")))).unwrap().status(),
            StatusCode::SERVICE_UNAVAILABLE
        );
    }
    // Trailers are the last frame.
    body.push(Frame::trailers(HeaderMap::new()));
    body.close();
    assert!(ready(next_frame(&mut answer)).unwrap().unwrap().is_trailers());
    // The server drops what it has read, and that cancels nothing.
    drop(answer);
    test.run_for(SECOND);
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (0, 1));
    test.run_for(SECOND);
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (1, 0));
    test.assert_no_leaks();
}

#[test]
fn a_body_that_is_dropped_half_way_cancels_its_fiber() {
    let (test, requests) = world();
    let (body, cleaned) = (Frames::open(), Arc::new(AtomicUsize::new(0)));
    let mut service = RequestLayer::new(requests.clone()).layer(streaming(&body, &cleaned));
    let mut answer = serve_one(&test, &mut service, get("/"));
    body.push(Frame::data(b"one"));
    assert_eq!(next_text(&mut answer), "one");
    drop(answer);
    test.run_for(2 * SECOND);
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (1, 0));
    test.assert_no_leaks();
}

/// So does a server that has announced the length: after the last byte, it does not ask whether there is more.
#[test]
fn a_body_that_is_dropped_after_its_last_byte_is_whole() {
    let (test, requests) = world();
    let gone = Arc::new(AtomicUsize::new(0));
    let counts = gone.clone();
    let layer = RequestLayer::new(requests.clone())
        .each(move |_, fiber| fiber.on_cancel(counts_at_end(&counts, Duration::ZERO)).boxed());
    for (length, frames, is_whole) in [("6", 2, true), ("7", 2, false), ("6", 1, false)] {
        let body = Frames::open();
        let of_response = body.clone();
        let mut service = layer.layer(handler(move |_| {
            let response = Response::builder().header("content-length", length).body(of_response.clone());
            std::future::ready(Ok::<_, Error>(response.unwrap()))
        }));
        let mut answer = serve_one(&test, &mut service, get("/"));
        for _ in 0..frames {
            body.push(Frame::data(b"one"));
            assert_eq!(next_text(&mut answer), "one");
        }
        assert_eq!(requests.len(), 1);
        drop(answer);
        test.run_until_idle();
        assert_eq!((gone.swap(0, Ordering::Relaxed), requests.len()), (usize::from(!is_whole), 0));
    }
    test.assert_no_leaks();
}

#[test]
fn the_body_for_a_head_request_is_not_awaited() {
    let (test, requests) = world();
    let (body, cleaned) = (Frames::open(), Arc::new(AtomicUsize::new(0)));
    let gone = Arc::new(AtomicUsize::new(0));
    let counts = gone.clone();
    let layer = RequestLayer::new(requests.clone()).each(move |_, fiber| {
        let gone = counts.clone();
        let counts = Fiber::lazy(move || _ = gone.fetch_add(1, Ordering::Relaxed));
        fiber.on_cancel(counts).boxed()
    });
    let mut service = layer.layer(streaming(&body, &cleaned));
    // A server sends the head only, and drops the rest.
    drop(serve_one(&test, &mut service, Request::head("/").body(()).unwrap()));
    test.run_for(2 * SECOND);
    assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (1, 0));
    assert_eq!(gone.load(Ordering::Relaxed), 0);
    test.assert_no_leaks();
}

#[test]
fn the_body_for_a_status_without_one_is_not_awaited() {
    for status in [StatusCode::SWITCHING_PROTOCOLS, StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED] {
        let (test, requests) = world();
        let gone = Arc::new(AtomicUsize::new(0));
        let count = gone.clone();
        let layer = RequestLayer::new(requests.clone())
            .each(move |_, fiber| fiber.on_cancel(counts_at_end(&count, Duration::ZERO)).boxed());
        let service = handler(move |_| async move {
            Ok::<_, Infallible>(Response::builder().status(status).body(Frames::of("a text")).unwrap())
        });
        // A server sends the head only, and drops the rest.
        drop(serve_one(&test, &mut layer.layer(service), get("/")));
        test.run_until_idle();
        assert_eq!((gone.load(Ordering::Relaxed), requests.len()), (0, 0), "{status}");
        test.assert_no_leaks();
    }
}

/// A server that is busy reads it late. Of a body whose length is not known, more could be missing.
#[test]
fn a_whole_body_is_sent_although_its_fiber_has_ended_before_the_server_reads_it() {
    for (length, rest, is_sent) in
        [("3", "one", true), ("3", "on", false), ("6", "one", false), ("", "one", false)]
    {
        let (test, requests) = world();
        let mut service = RequestLayer::new(requests.clone()).deadline(SECOND).layer(handler(move |_| {
            let mut response = Response::new(Frames::of(rest));
            if !length.is_empty() {
                response.headers_mut().insert("content-length", length.parse().unwrap());
            }
            std::future::ready(Ok::<_, Error>(response))
        }));
        let mut answer = serve_one(&test, &mut service, get("/"));
        test.run_for(2 * SECOND);
        assert_eq!(requests.len(), 0);
        let frame = ready(next_frame(&mut answer)).unwrap();
        assert_eq!(frame.is_ok(), is_sent, "{rest} of {length}");
        assert!(ready(next_frame(&mut answer)).is_none(), "nothing follows");
        test.assert_no_leaks();
    }
}

#[test]
fn a_body_whose_fiber_has_ended_ends_with_the_error() {
    for by_deadline in [true, false] {
        let (test, requests) = world();
        let (body, cleaned) = (Frames::open(), Arc::new(AtomicUsize::new(0)));
        let mut layer = RequestLayer::new(requests.clone());
        if by_deadline {
            layer = layer.deadline(5 * SECOND);
        }
        let mut service = layer.layer(streaming(&body, &cleaned));
        let mut answer = service.call(get("/"));
        test.run_for(SECOND);
        let mut answer = ready(poll(&mut answer)).unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        body.push(Frame::data(b"one"));
        assert_eq!(next_text(&mut answer), "one");
        let mut end = (!by_deadline).then(|| Box::pin(requests.cancel()));
        test.run_for(8 * SECOND);
        body.push(Frame::data(b"two"));
        let error = ready(next_frame(&mut answer)).unwrap().unwrap_err().into_error();
        assert!(if by_deadline { error.is::<TimedOut>() } else { error.is::<Cancelled>() }, "{error}");
        assert!(ready(next_frame(&mut answer)).is_none(), "nothing follows the error");
        assert_eq!((cleaned.load(Ordering::Relaxed), requests.len()), (1, 0));
        end.iter_mut().for_each(|end| ready(poll(end)));
    }
}

#[test]
fn a_drain_waits_for_the_last_byte_and_then_no_request_begins() {
    let (test, requests) = world();
    let (body, cleaned) = (Frames::open(), Arc::new(AtomicUsize::new(0)));
    let mut service = RequestLayer::new(requests.clone()).layer(streaming(&body, &cleaned));
    let mut answer = serve_one(&test, &mut service, get("/"));
    let mut drained = Box::pin(requests.drain());
    test.run_for(60 * SECOND);
    assert!(poll(&mut drained).is_pending());
    body.close();
    assert!(ready(next_frame(&mut answer)).is_none());
    test.run_for(2 * SECOND);
    ready(poll(&mut drained));
    let mut late = service.call(get("/"));
    let late = ready(poll(&mut late)).unwrap();
    assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(error_of(&late).is::<Cancelled>());
}

#[test]
fn a_panic_is_an_answer_and_the_error_of_the_service_its_own() {
    let (test, requests) = world();
    let service = handler(|request: Request<()>| async move {
        assert_ne!(request.uri().path(), "/panics", "a defect");
        Err::<Response<Frames>, &str>("refused by the service")
    });
    let mut service = RequestLayer::new(requests.clone()).layer(service);
    let answer = serve_one(&test, &mut service, get("/panics"));
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(error_of(&answer).is::<Panicked>());
    let mut refused = service.call(get("/"));
    test.run_until_idle();
    assert_eq!(ready(poll(&mut refused)).err(), Some("refused by the service"));
    test.run_until_idle();
    assert_eq!(requests.len(), 0);
}

#[test]
fn a_request_whose_service_fails_is_not_cancelled() {
    let (test, requests) = world();
    let gone = Arc::new(AtomicUsize::new(0));
    let count = gone.clone();
    let layer = RequestLayer::new(requests.clone())
        .each(move |_, fiber| fiber.on_cancel(counts_at_end(&count, Duration::ZERO)).boxed());
    let mut service =
        layer.layer(handler(|_| async { Err::<Response<Frames>, &str>("refused by the service") }));
    let mut refused = service.call(get("/"));
    test.run_until_idle();
    assert_eq!(ready(poll(&mut refused)).err(), Some("refused by the service"));
    test.run_until_idle();
    assert_eq!((gone.load(Ordering::Relaxed), requests.len()), (0, 0));
}

#[test]
fn each_request_has_a_fiber_of_its_own_making() {
    let (test, requests) = world();
    let gone = Arc::new(AtomicUsize::new(0));
    let count = gone.clone();
    let layer = RequestLayer::new(requests.clone()).number(&REQUEST).each(move |head, fiber| {
        let seconds = head.headers["seconds"].to_str().unwrap().parse().unwrap();
        let (count, limit) = (count.clone(), Duration::from_secs(seconds));
        let gone =
            Fiber::local(&REQUEST).map(move |number| _ = count.fetch_add(number as usize, Ordering::Relaxed));
        match head.uri.path() {
            "/refused" => Fiber::fail(Error::msg("not today")).boxed(),
            "/nothing" => Fiber::success(()).boxed(),
            _ => fiber.timeout(limit).on_cancel(gone).boxed(),
        }
    });
    let service = handler(|request: Request<()>| async move {
        assert!(request.headers().contains_key("seconds"));
        Fiber::<()>::never().await?;
        Ok::<_, Error>(Response::new(Frames::default()))
    });
    let mut service = layer.layer(service);
    let mut call = |path: &str, seconds: &str| {
        service.call(Request::get(path).header("seconds", seconds).body(()).unwrap())
    };
    let mut answers = [call("/", "3"), call("/refused", "3"), call("/nothing", "3"), call("/", "60")];
    test.run_for(3 * SECOND);
    let statuses = [0, 1, 2].map(|index| ready(poll(&mut answers[index])).unwrap().status().as_u16());
    assert_eq!(statuses, [504, 500, 503]);
    drop(answers);
    test.run_until_idle();
    // The fourth.
    assert_eq!(gone.load(Ordering::Relaxed), 4);
    test.assert_no_leaks();
}

#[test]
fn a_panic_of_each_is_the_end_of_its_request_only() {
    let (test, requests) = world();
    let layer = RequestLayer::new(requests.clone()).limit(1).each(|head, fiber| {
        assert_ne!(head.uri.path(), "/panics", "a defect");
        fiber
    });
    let mut service =
        layer.layer(handler(|_| async { Ok::<_, Infallible>(Response::new(Frames::default())) }));
    let answer = serve_one(&test, &mut service, get("/panics"));
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(error_of(&answer).is::<Panicked>());
    assert_eq!(serve_one(&test, &mut service, get("/")).status(), StatusCode::OK);
    test.run_until_idle();
    test.assert_no_leaks();
}

/// A server that drops the request after some turns, reads some of the body, and drops that.
#[test]
fn whenever_a_client_goes_away_nothing_is_left_under_every_schedule() {
    for reads in 0..3 {
        Explore::default().schedules(300).check(move || Fiber::block(move || visit(reads)));
    }
}

async fn visit(reads: usize) -> Result<(), Error> {
    let requests = fiber_core::Context::current().expect("a fiber").group();
    let (begun, cleaned) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begins, cleans) = (begun.clone(), cleaned.clone());
    let service = handler(move |_| {
        let cleans = cleans.clone();
        begins.fetch_add(1, Ordering::Relaxed);
        async move {
            let cleanup = Fiber::yield_now().map(move |()| _ = cleans.fetch_add(1, Ordering::Relaxed));
            Fiber::yield_now().ensure(cleanup).await?;
            Ok::<_, Error>(Response::new(Frames::of("text")))
        }
    });
    let mut service = RequestLayer::new(requests.clone()).limit(1).layer(service);
    let (mut answer, mut patience) = (service.call(get("/")), pin!(patience()));
    let first = poll_fn(|cx| match Pin::new(&mut answer).poll(cx) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => patience.as_mut().poll(cx).map(|()| None),
    });
    let first = first.await;
    drop(answer);
    if let Some(answer) = first {
        let mut answer = answer?;
        assert_eq!(answer.status(), StatusCode::OK);
        for _ in 0..reads {
            let next = poll_fn(|cx| Pin::new(answer.body_mut()).poll_frame(cx)).await;
            next.into_iter().for_each(|frame| drop(frame.unwrap()));
        }
    }
    requests.drain().await;
    assert_eq!(cleaned.load(Ordering::Relaxed), begun.load(Ordering::Relaxed));
    Ok(())
}

/// Some turns, in some schedules fewer than the request takes.
async fn patience() {
    for _ in 0..6 {
        _ = Fiber::yield_now().await;
    }
}
