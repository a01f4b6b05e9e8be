//! Requests as fibers under a real server, over sockets: clients that go away, deadlines, overload, and a shutdown while a body streams.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::routing::get;
use fiber_core::sync::{Channel, Receiver, Sender};
use fiber_core::{Context, Error, Fiber, Group};
use fiber_sched::tower::RequestLayer;
use fiber_sched::{Pool, TokioScheduler};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tonic::server::NamedService;
use tonic::transport::server::TcpIncoming;
use tower::{Layer, Service, service_fn};

/// Fails a test that would otherwise hang.
const PATIENCE: Duration = Duration::from_secs(60);

type Chunk = Result<&'static str, Infallible>;

/// What the handlers of a test share with it.
#[derive(Clone)]
struct World {
    /// How many requests have begun, and how many finalizers have run.
    begun: Arc<AtomicUsize>,
    cleaned: Arc<AtomicUsize>,
    /// What the streaming body sends.
    chunks: (Sender<Chunk>, Receiver<Chunk>),
}

impl World {
    fn new() -> Self {
        World { begun: Arc::default(), cleaned: Arc::default(), chunks: Channel::unbounded() }
    }

    fn cleaned(&self) -> usize {
        self.cleaned.load(Ordering::SeqCst)
    }

    /// Never ends by itself, and cleans up for some time.
    fn hangs(&self) -> Fiber<()> {
        let cleaned = self.cleaned.clone();
        let cleanup =
            Fiber::delay(Duration::from_millis(5)).map(move |()| _ = cleaned.fetch_add(1, Ordering::SeqCst));
        Fiber::<()>::never().ensure(cleanup).boxed()
    }

    fn routes(&self) -> Router {
        let (slow, streams) = (self.clone(), self.clone());
        Router::new()
            .route("/", get(|| async { "here" }))
            .route(
                "/slow",
                get(move || async move {
                    slow.begun.fetch_add(1, Ordering::SeqCst);
                    slow.hangs().await.unwrap();
                }),
            )
            .route("/stream", get(move || async move { streams.stream().await.unwrap() }))
    }

    /// A response that streams, with a fiber beside it.
    async fn stream(self) -> Result<axum::response::Response, Error> {
        self.hangs().fork().await?;
        self.begun.fetch_add(1, Ordering::SeqCst);
        Ok(Response::new(Body::from_stream(self.chunks.1.into_stream())))
    }
}

/// Serves these routes by axum, in tasks of tokio.
async fn serve(routes: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    address
}

async fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    client
}

/// All that the server sends until it closes the connection.
async fn rest(mut client: TcpStream) -> String {
    let mut text = Vec::new();
    // A body that is not whole may end with a reset.
    _ = timeout(PATIENCE, client.read_to_end(&mut text)).await.expect("the server closes");
    String::from_utf8(text).unwrap()
}

/// Reads until this text has come.
async fn read_until(client: &mut TcpStream, text: &str) {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(text) {
        let count = timeout(PATIENCE, client.read_buf(&mut read)).await.expect("the text comes").unwrap();
        assert!(count > 0, "it ends with {:?}", String::from_utf8_lossy(&read));
    }
}

async fn until(what: impl Fn() -> bool) {
    let waits = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, waits).await.expect("it happens");
}

/// Counts its drop: of the future of a request.
struct CountsDrop(Arc<AtomicUsize>);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A scheduler, which has to live as long as its fibers, and the group of the requests.
fn fibers() -> (TokioScheduler, Group) {
    let fibers = TokioScheduler::current();
    let requests = fibers.group();
    (fibers, requests)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_cancels_its_request() {
    let (world, (_fibers, requests)) = (World::new(), fibers());
    let address = serve(world.routes().layer(RequestLayer::new(requests.clone()).limit(1))).await;
    let client = ask(address, "/slow").await;
    until(|| world.begun.load(Ordering::SeqCst) == 1).await;
    drop(client);
    until(|| world.cleaned() == 1 && requests.is_empty()).await;
    assert!(rest(ask(address, "/").await).await.ends_with("here"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_does_not_disturb_a_request_that_may_end() {
    let (world, (_fibers, requests)) = (World::new(), fibers());
    let (begun, goes_on) = (Channel::unbounded(), Channel::unbounded());
    let (begins, waits) = (begun.0.clone(), goes_on.1.clone());
    let done = world.cleaned.clone();
    let handler = move || async move {
        begins.send(()).await.unwrap();
        waits.recv().await.unwrap();
        done.fetch_add(1, Ordering::SeqCst);
    };
    let gone = Arc::new(AtomicUsize::new(0));
    let dropped = gone.clone();
    let notices = move |request, next: Next| {
        let dropped = CountsDrop(dropped.clone());
        async move {
            let _dropped = dropped;
            next.run(request).await
        }
    };
    let routes = Router::new().route("/", get(handler));
    let routes = routes.layer(RequestLayer::new(requests.clone()).to_the_end()).layer(from_fn(notices));
    let address = serve(routes).await;
    let client = ask(address, "/").await;
    until(|| begun.1.try_recv().is_ok()).await;
    drop(client);
    until(|| gone.load(Ordering::SeqCst) == 1).await;
    goes_on.0.try_send(()).unwrap();
    until(|| world.cleaned() == 1 && requests.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_out_of_time_is_answered_after_its_finalizers() {
    let (world, (_fibers, requests)) = (World::new(), fibers());
    let layer = RequestLayer::new(requests.clone()).deadline(Duration::from_millis(20));
    let address = serve(world.routes().layer(layer)).await;
    let answer = rest(ask(address, "/slow").await).await;
    assert!(answer.starts_with("HTTP/1.1 504"), "{answer}");
    assert_eq!((world.cleaned(), requests.len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_the_limit_requests_are_refused_and_not_queued() {
    const PLACES: usize = 3;
    let (world, (_fibers, requests)) = (World::new(), fibers());
    let address = serve(world.routes().layer(RequestLayer::new(requests.clone()).limit(PLACES))).await;
    let mut clients = Vec::new();
    for _ in 0..PLACES {
        clients.push(ask(address, "/slow").await);
    }
    until(|| world.begun.load(Ordering::SeqCst) == PLACES).await;
    for _ in 0..20 {
        let answer = rest(ask(address, "/slow").await).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    }
    assert_eq!(world.begun.load(Ordering::SeqCst), PLACES);
    drop(clients);
    until(|| requests.is_empty()).await;
    assert!(rest(ask(address, "/").await).await.ends_with("here"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_while_a_body_streams_waits_for_its_last_byte_or_cuts_it_off() {
    for is_patient in [true, false] {
        let (world, (_fibers, requests)) = (World::new(), fibers());
        let address = serve(world.routes().layer(RequestLayer::new(requests.clone()))).await;
        let mut client = ask(address, "/stream").await;
        world.chunks.0.try_send(Ok("one")).unwrap();
        read_until(&mut client, "one\r\n").await;
        let (drained, cancelled) = (requests.drain(), (!is_patient).then(|| requests.cancel()));
        if let Some(cancelled) = cancelled {
            timeout(PATIENCE, cancelled).await.unwrap();
            // The body is not whole, and the client sees it: its last chunk is missing.
            assert!(!rest(client).await.ends_with("0\r\n\r\n"));
        } else {
            world.chunks.0.try_send(Ok("two")).unwrap();
            read_until(&mut client, "two\r\n").await;
            assert_eq!((world.cleaned(), requests.len()), (0, 1));
            world.chunks.0.close();
            assert!(rest(client).await.ends_with("0\r\n\r\n"));
        }
        timeout(PATIENCE, drained).await.unwrap();
        assert_eq!((world.cleaned(), requests.len()), (1, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_while_a_body_streams_cancels_its_request() {
    let (world, (_fibers, requests)) = (World::new(), fibers());
    let address = serve(world.routes().layer(RequestLayer::new(requests.clone()))).await;
    let mut client = ask(address, "/stream").await;
    world.chunks.0.try_send(Ok("one")).unwrap();
    read_until(&mut client, "one\r\n").await;
    assert_eq!((world.cleaned(), requests.len()), (0, 1));
    drop(client);
    until(|| world.cleaned() == 1 && requests.is_empty()).await;
}

/// The fibers of the requests run on threads of their own, and the sockets in tasks of tokio.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_requests_may_run_on_a_pool() {
    let pool = Pool::builder().workers(2).tokio(tokio::runtime::Handle::current()).build();
    let requests = pool.group();
    let address = serve(World::new().routes().layer(RequestLayer::new(requests.clone()))).await;
    for _ in 0..50 {
        assert!(rest(ask(address, "/").await).await.ends_with("here"));
    }
    requests.drain().await;
}

/// Answers whether it runs in the fiber of a request.
async fn named() -> String {
    let is_named = Context::current().is_some_and(|fiber| fiber.name() == Some("request"));
    format!("named: {is_named}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hyper_serves_such_a_service_without_axum() {
    let (_fibers, requests) = fibers();
    let service = service_fn(async |_: Request<Incoming>| {
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::from(named().await)))
    });
    let service = TowerToHyperService::new(RequestLayer::new(requests.clone()).layer(service));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (connection, _) = listener.accept().await.unwrap();
        let connection = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
        connection.await.unwrap();
    });
    assert!(rest(ask(address, "/").await).await.ends_with("named: true"));
    timeout(PATIENCE, requests.drain()).await.unwrap();
}

/// A service of tonic, as its generated code is, whose responses have trailers.
#[derive(Clone)]
struct Greeter;

impl NamedService for Greeter {
    const NAME: &'static str = "test.Greeter";
}

impl Service<Request<tonic::body::Body>> for Greeter {
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> task::Poll<Result<(), Infallible>> {
        task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        Box::pin(async move {
            if request.uri().path().ends_with("Hang") {
                Fiber::<()>::never().await.unwrap();
            }
            let status = HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())]);
            let body = Full::<Bytes>::from(named().await).with_trailers(async { Some(Ok(status)) });
            Ok(Response::new(tonic::body::Body::new(body)))
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tonic_serves_such_a_service_with_its_trailers() {
    let (_fibers, requests) = fibers();
    let layer = RequestLayer::new(requests.clone()).deadline(Duration::from_millis(200));
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = incoming.local_addr().unwrap();
    tokio::spawn(
        tonic::transport::Server::builder().layer(layer).add_service(Greeter).serve_with_incoming(incoming),
    );
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http::<Empty<Bytes>>();
    let call = async |method: &str| {
        let request = Request::post(format!("http://{address}/test.Greeter/{method}"));
        client.request(request.body(Empty::new()).unwrap()).await.unwrap()
    };
    let greeted = call("Greet").await.into_body().collect().await.unwrap();
    assert_eq!(greeted.trailers().unwrap()["grpc-status"], "0");
    assert_eq!(greeted.to_bytes(), "named: true");
    // Clients of tonic understand this as `UNAVAILABLE`.
    assert_eq!(call("Hang").await.status(), StatusCode::GATEWAY_TIMEOUT);
    timeout(PATIENCE, requests.drain()).await.unwrap();
}
