//! A second service, a thin proxy: it passes GET requests on to replicas of an upstream.
//!
//! ```text
//!   request ── deadline ── cache ── retries ── hedge ──┬─────────── limit ── a replica
//!                                                      └─ if slow ─ limit ── the next replica
//! ```
//!
//! Requests for the same path at the same time are one request upstream. It is cancelled when all their clients are gone, or out
//! of time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fiber_core::error::{Cancelled, TimedOut};
use fiber_core::sync::Cache;
use fiber_core::{Error, Fiber, Group, Policy, Run};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::http::limit;
use crate::upstream::{Unexpected, is_transient};

/// The time limit of one attempt.
pub const ATTEMPT_LIMIT: Duration = Duration::from_millis(500);
/// The next replica is asked, too, if there is no answer after this time.
pub const HEDGE_AFTER: Duration = Duration::from_millis(40);
/// The pause before the first retry. It doubles each time.
pub const PAUSE: Duration = Duration::from_millis(5);
/// How often an attempt, with its hedge, is repeated.
pub const RETRIES: u32 = 3;
/// How long an answer is kept.
pub const LIFETIME: Duration = Duration::from_secs(10);
/// How many answers are kept.
const MOST_ANSWERS: usize = 10_000;

/// What a replica has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub content_type: Option<HeaderValue>,
    pub body: Bytes,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.content_type.map(|value| [(CONTENT_TYPE, value)]), self.body).into_response()
    }
}

/// One of several servers that give the same answers.
pub trait Replica: Send + Sync + 'static {
    /// What lies at `path`, which begins with a slash.
    ///
    /// # Errors
    /// [`Unexpected`], if the status is not 200.
    fn get(&self, path: &str) -> Fiber<Answer, impl Run<Out = Answer> + use<Self>>;
}

pub struct Proxy<R>(Arc<Shared<R>>);

struct Shared<R> {
    replicas: Vec<R>,
    /// The number of attempts so far. The replicas take turns.
    attempts: AtomicUsize,
    policy: Policy,
    answers: Cache<String, Answer>,
}

impl<R: Replica> Proxy<R> {
    /// # Panics
    /// If there is no replica.
    pub fn new(replicas: Vec<R>) -> Self {
        assert!(!replicas.is_empty(), "a proxy needs a replica");
        let policy = Policy::exponential(PAUSE).jittered() & Policy::recurs(RETRIES.into());
        Proxy(Arc::new(Shared {
            replicas,
            attempts: AtomicUsize::new(0),
            policy: policy.while_input(is_transient),
            answers: Cache::new(MOST_ANSWERS).expires_after(LIFETIME),
        }))
    }

    /// What lies at `path`: the answer that is kept, or that of a replica.
    pub fn get(&self, path: String) -> Fiber<Arc<Answer>, impl Run<Out = Arc<Answer>> + use<R>> {
        let (this, asked) = (self.clone(), path.clone());
        self.0.answers.get(path, move || this.ask(asked))
    }

    fn ask(self, path: String) -> Fiber<Answer, impl Run<Out = Answer> + use<R>> {
        let (policy, path) = (self.0.policy.clone(), Arc::from(path));
        Fiber::retry_with(policy, move || {
            let (this, path) = (self.clone(), Arc::clone(&path));
            Fiber::hedge(HEDGE_AFTER, 2, move || this.attempt(&path)).while_error(is_transient)
        })
    }

    fn attempt(&self, path: &str) -> Fiber<Answer, impl Run<Out = Answer> + use<R>> {
        let Shared { replicas, attempts, .. } = &*self.0;
        let replica = attempts.fetch_add(1, Ordering::Relaxed) % replicas.len();
        replicas[replica].get(path).timeout(ATTEMPT_LIMIT)
    }

    pub fn routes(self, requests: Group) -> Router {
        Router::new().fallback(get(pass)).with_state((self, requests))
    }
}

impl<R> Clone for Proxy<R> {
    fn clone(&self) -> Self {
        Proxy(self.0.clone())
    }
}

/// Passes a request on. The fiber runs in the task of the connection, and is cancelled with it.
async fn pass<R: Replica>(
    State((proxy, requests)): State<(Proxy<R>, Group)>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Answer, (StatusCode, String)> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let answer = requests.call(proxy.get(path).timeout(limit(&headers))).await;
    answer
        .into_result()
        .map(|answer| Answer::clone(&answer))
        .map_err(|error| (status(&error), error.to_string()))
}

fn status(error: &Error) -> StatusCode {
    match error.downcast_ref() {
        Some(Unexpected(status)) if status.is_client_error() => *status,
        _ if error.is::<TimedOut>() => StatusCode::GATEWAY_TIMEOUT,
        _ if error.is::<Cancelled>() => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

/// A replica that is asked by HTTP.
pub struct Remote {
    client: Arc<Client<HttpConnector, Empty<Bytes>>>,
    address: String,
}

impl Remote {
    /// `address`: such as `127.0.0.1:3001`.
    pub fn new(address: String) -> Self {
        Remote { client: Arc::new(Client::builder(TokioExecutor::new()).build_http()), address }
    }
}

impl Replica for Remote {
    fn get(&self, path: &str) -> Fiber<Answer, impl Run<Out = Answer> + use<>> {
        let (client, uri) = (self.client.clone(), format!("http://{}{path}", self.address));
        Fiber::block(move || async move {
            let response = client.get(uri.parse()?).await?;
            if response.status() != StatusCode::OK {
                return Err(Error::new(Unexpected(response.status())));
            }
            let content_type = response.headers().get(CONTENT_TYPE).cloned();
            Ok(Answer { content_type, body: response.into_body().collect().await?.to_bytes() })
        })
    }
}
