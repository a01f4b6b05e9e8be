use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fiber_core::sync::{Permit, Semaphore};
use fiber_core::{Fiber, Group, Handle, LocalKey, Outcome, Panic, local_key};
use http::request::Parts;

/// Runs each request as a fiber, named `request`, from its first step to the last byte of its response.
///
/// The service inside is polled in that fiber. So what it awaits, forks and logs belongs to the request: an async handler awaits fibers by
/// `fiber.await`, and what it has forked ends with the request. A body that streams keeps the fiber until its last byte, or until it is dropped.
/// The server polls the body outside of the fiber, so a fiber that the body awaits fails with [`NoScheduler`](fiber_core::error::NoScheduler).
/// A body receives what a fork of the handler sends: see `Receiver::into_stream`, with the feature `stream` of `fiber-core`.
///
/// The layer fits axum's `Router::layer`, hyper's services (by `hyper_util::service::TowerToHyperService`) and tonic's servers:
///
/// ```
/// use fiber_core::{Fiber, local_key};
/// use fiber_sched::tower::RequestLayer;
/// use fiber_sched::{Pool, block_on};
/// use http::{Request, Response, StatusCode};
/// use std::time::Duration;
/// use tower_layer::Layer;
/// use tower_service::Service;
/// # use std::convert::Infallible;
/// # use std::future::{Future, poll_fn};
/// # use std::pin::Pin;
/// # use std::task::{Context, Poll};
/// # #[derive(Default)]
/// # struct Text(Option<String>);
/// # impl http_body::Body for Text {
/// #     type Data = std::io::Cursor<String>;
/// #     type Error = Infallible;
/// #     fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Self::Data>, Infallible>>> {
/// #         Poll::Ready(self.0.take().map(|text| Ok(http_body::Frame::data(std::io::Cursor::new(text)))))
/// #     }
/// # }
/// # #[derive(Clone)]
/// # struct Site;
/// # impl Service<Request<()>> for Site {
/// #     type Response = Response<Text>;
/// #     type Error = Infallible;
/// #     type Future = Pin<Box<dyn Future<Output = Result<Response<Text>, Infallible>> + Send>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> { Poll::Ready(Ok(())) }
/// #     fn call(&mut self, request: Request<()>) -> Self::Future { Box::pin(handle(request)) }
/// # }
///
/// local_key! {
///     /// The number of the request.
///     static REQUEST: u64 = 0;
/// }
///
/// async fn handle(request: Request<()>) -> Result<Response<Text>, Infallible> {
///     if request.uri() == "/slow" {
///         let never = Fiber::<()>::never().await;
///         unreachable!("the request is cancelled: {never:?}");
///     }
///     let number = Fiber::local(&REQUEST).await.unwrap();
///     Ok(Response::new(Text(Some(format!("request {number}")))))
/// }
///
/// let pool = Pool::new();
/// let layer = RequestLayer::new(pool.group()).deadline(Duration::from_millis(20)).limit(100).number(&REQUEST);
/// // In a program: Router::new().route("/", get(handle)).layer(layer)
/// # let service = Site;
/// let mut service = layer.layer(service);
/// let get = |path: &str| Request::get(path).body(()).unwrap();
/// let answers = block_on(async { [service.call(get("/")).await, service.call(get("/slow")).await] });
/// assert_eq!(answers.map(|answer| answer.unwrap().status()), [StatusCode::OK, StatusCode::GATEWAY_TIMEOUT]);
/// ```
///
/// # A client that goes away
/// The server drops the request or its body. The fiber is then cancelled, with all that it has started, and its finalizers run. With
/// [`to_the_end`](RequestLayer::to_the_end), the service inside is not disturbed.
///
/// # Responses of the layer
/// A request that ends without a response gets an empty one. Its extensions hold the error, as an `Arc<Error>`, for a layer around this one
/// that wants to say more (in axum, `map_response`).
///
/// | status | error |
/// |---|---|
/// | 503 | [`Overloaded`]; or [`Cancelled`](fiber_core::error::Cancelled), if the group was cancelled or has ended: the service shuts down |
/// | 504 | [`TimedOut`](fiber_core::error::TimedOut) or [`DeadlineExceeded`](fiber_core::error::DeadlineExceeded) |
/// | 500 | [`Panicked`](fiber_core::error::Panicked), also if [`each`](RequestLayer::each) panics; and whatever a fiber of `each` fails with |
///
/// If the fiber ends before the last byte, the body ends with the error, so the client sees that it is not whole. One that lacks a single frame,
/// which is there, is whole.
///
/// # Shutdown
/// [`Group::drain`] waits for the last bytes of all requests, [`Group::cancel`] for their finalizers.
#[derive(Clone, Debug)]
pub struct RequestLayer(Arc<Settings>);

/// Makes the fiber of a request out of the one that runs the service inside.
type Each = dyn Fn(&Parts, Fiber<()>) -> Fiber<()> + Send + Sync;

#[derive(Clone)]
struct Settings {
    requests: Group,
    /// Of each fiber.
    name: Arc<str>,
    deadline: Option<Duration>,
    places: Option<Semaphore>,
    number: Option<&'static LocalKey<u64>>,
    /// How many requests have come.
    came: Arc<AtomicU64>,
    each: Option<Arc<Each>>,
    is_to_the_end: bool,
}

local_key! {
    /// Keeps the place of a request until everything that carries it has ended.
    static PLACE: Option<Permit> = None;
}

/// More requests are in progress than the [limit](RequestLayer::limit) allows. This one was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many requests are in progress")
    }
}

impl std::error::Error for Overloaded {}

impl RequestLayer {
    /// A layer whose fibers are members of this group. The scheduler of the group has to live as long as the service.
    pub fn new(requests: Group) -> Self {
        RequestLayer(Arc::new(Settings {
            requests,
            name: "request".into(),
            deadline: None,
            places: None,
            number: None,
            came: Arc::default(),
            each: None,
            is_to_the_end: false,
        }))
    }

    fn set(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(Arc::make_mut(&mut self.0));
        self
    }

    /// Limits the time of each request, the last byte of its response included. A deadline that depends on the request is a
    /// [`timeout`](Fiber::timeout) in [`each`](RequestLayer::each).
    #[must_use]
    pub fn deadline(self, limit: Duration) -> Self {
        self.set(|settings| settings.deadline = Some(limit))
    }

    /// Runs at most `most` requests at a time, of all services of this layer and its clones. Others are not queued: they are answered with 503 at
    /// once. A request keeps its place until everything that it has started has ended, closures on blocking threads included.
    #[must_use]
    #[track_caller]
    pub fn limit(self, most: usize) -> Self {
        let places = Semaphore::new(most.min(Semaphore::MAX_PERMITS)).named("requests");
        self.set(|settings| settings.places = Some(places))
    }

    /// Numbers the requests from 1. The number of a request is the value of `key` in its fiber, and in everything below it.
    #[must_use]
    pub fn number(self, key: &'static LocalKey<u64>) -> Self {
        self.set(|settings| settings.number = Some(key))
    }

    /// Makes the fiber of each request. `f` receives the head of the request, and the fiber that runs the service inside. It adds what depends on the
    /// request: a deadline from a header, locals, a counter of cancellations.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::Pool;
    /// use fiber_sched::tower::RequestLayer;
    /// use std::time::Duration;
    ///
    /// let pool = Pool::new();
    /// let layer = RequestLayer::new(pool.group()).each(|head, fiber| {
    ///     let seconds = if head.uri.path() == "/export" { 60 } else { 5 };
    ///     let gone = Fiber::lazy(|| println!("a client has gone away"));
    ///     fiber.timeout(Duration::from_secs(seconds)).on_cancel(gone).boxed()
    /// });
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn each(self, f: impl Fn(&Parts, Fiber<()>) -> Fiber<()> + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.each = Some(Arc::new(f)))
    }

    /// Lets the service inside run to its response although the client has gone away. The deadline holds, and so does a shutdown.
    /// A body that nobody reads any more is dropped.
    ///
    /// ```
    /// use fiber_sched::Pool;
    /// use fiber_sched::tower::RequestLayer;
    /// use std::time::Duration;
    ///
    /// let pool = Pool::new();
    /// let payments = RequestLayer::new(pool.group()).deadline(Duration::from_secs(30)).to_the_end();
    /// # drop(payments);
    /// ```
    #[must_use]
    pub fn to_the_end(self) -> Self {
        self.set(|settings| settings.is_to_the_end = true)
    }

    pub(super) fn is_to_the_end(&self) -> bool {
        self.0.is_to_the_end
    }

    /// A place for a request. `Err`: all are taken.
    pub(super) fn place(&self) -> Result<Option<Permit>, Overloaded> {
        let places = self.0.places.as_ref();
        places.map(|places| places.try_acquire(1).ok_or(Overloaded)).transpose()
    }

    /// The fiber of a request. A panic of `each` is its outcome: unwinding would end a connection, with all its requests.
    pub(super) fn fiber(&self, head: &Parts, inside: Fiber<()>) -> Fiber<()> {
        let Settings { deadline, each, .. } = &*self.0;
        let fiber = match *deadline {
            Some(limit) => inside.timeout(limit).boxed(),
            None => inside,
        };
        match each {
            Some(each) => catch_unwind(AssertUnwindSafe(|| each(head, fiber))).unwrap_or_else(|payload| {
                Fiber::from_outcome(Outcome::Panicked(Panic::new(payload))).boxed()
            }),
            None => fiber,
        }
    }

    /// Starts the fiber of a request, with its number and in its place.
    pub(super) fn spawn(&self, fiber: Fiber<()>, place: Option<Permit>) -> Handle<()> {
        let Settings { requests, name, number, came, .. } = &*self.0;
        let name = name.clone();
        // Relaxed: only the numbers have to differ.
        let number = number.map(|key| (key, came.fetch_add(1, Ordering::Relaxed) + 1));
        // Erased, it would be one fiber, and one more allocation for each local.
        match (number, place) {
            (None, None) => requests.spawn(fiber.named(name)),
            (None, place) => requests.spawn(fiber.with_local(&PLACE, place).named(name)),
            (Some((key, number)), None) => requests.spawn(fiber.with_local(key, number).named(name)),
            (Some((key, number)), place) => {
                requests.spawn(fiber.with_local(key, number).with_local(&PLACE, place).named(name))
            }
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("requests", &self.requests)
            .field("deadline", &self.deadline)
            .field("places", &self.places)
            .field("is_to_the_end", &self.is_to_the_end)
            .finish_non_exhaustive()
    }
}
