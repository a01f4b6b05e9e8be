//! The same proxy in plain tokio, for comparisons: deadline, retries, hedging, and a cache that makes one request for all callers that
//! want the same path. It has no dump, no orderly shutdown, and no bound on the cache. `PORT`, `FAULTS` and arguments as for the proxy.

use std::collections::HashMap;
use std::env;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::get;
use axum::{Router, serve};
use booking::http::limit;
use booking::proxy::{ATTEMPT_LIMIT, Answer, HEDGE_AFTER, LIFETIME, PAUSE, RETRIES};
use booking::simulation;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};

/// By path, with the time of the answer. The first caller makes the request, the others wait.
type Answers = HashMap<String, Arc<OnceCell<(Answer, Instant)>>>;

struct Proxy {
    client: Client<HttpConnector, Empty<Bytes>>,
    replicas: Vec<String>,
    attempts: AtomicUsize,
    answers: Mutex<Answers>,
}

/// Whether the same request may have another answer soon.
fn is_transient(answer: &Result<Answer, StatusCode>) -> bool {
    answer.as_ref().is_err_and(|status| !status.is_client_error())
}

impl Proxy {
    async fn get(&self, path: &str) -> Result<Answer, StatusCode> {
        let cell = self.cell(path);
        let asked = async { Ok((self.ask(path).await?, Instant::now())) };
        cell.get_or_try_init(|| asked).await.map(|(answer, _)| answer.clone())
    }

    /// The cache entry of an answer that is not too old.
    fn cell(&self, path: &str) -> Arc<OnceCell<(Answer, Instant)>> {
        let mut answers = self.answers.lock().unwrap();
        if let Some(cell) = answers.get(path)
            && cell.get().is_none_or(|(_, at)| at.elapsed() <= LIFETIME)
        {
            return cell.clone();
        }
        let cell = Arc::default();
        answers.insert(path.to_owned(), Arc::clone(&cell));
        cell
    }

    async fn ask(&self, path: &str) -> Result<Answer, StatusCode> {
        let mut retries = 0;
        loop {
            let answer = self.hedged(path).await;
            if retries == RETRIES || !is_transient(&answer) {
                return answer;
            }
            sleep(PAUSE * 2_u32.pow(retries)).await;
            retries += 1;
        }
    }

    async fn hedged(&self, path: &str) -> Result<Answer, StatusCode> {
        let (mut first, mut second) = (pin!(self.attempt(path)), pin!(self.attempt(path)));
        match timeout(HEDGE_AFTER, &mut first).await {
            Ok(answer) if is_transient(&answer) => return second.await,
            Ok(answer) => return answer,
            Err(_) => {}
        }
        let (answer, is_first) = tokio::select! {
            answer = &mut first => (answer, true),
            answer = &mut second => (answer, false),
        };
        match is_transient(&answer) {
            true if is_first => second.await,
            true => first.await,
            false => answer,
        }
    }

    async fn attempt(&self, path: &str) -> Result<Answer, StatusCode> {
        let replica = self.attempts.fetch_add(1, Ordering::Relaxed) % self.replicas.len();
        let uri = format!("http://{}{path}", self.replicas[replica]);
        let uri: Uri = uri.parse().map_err(|_| StatusCode::BAD_GATEWAY)?;
        let request = async {
            let response = self.client.get(uri).await.map_err(|_| StatusCode::BAD_GATEWAY)?;
            match response.status() {
                StatusCode::OK => {}
                status if status.is_client_error() => return Err(status),
                _ => return Err(StatusCode::BAD_GATEWAY),
            }
            let content_type = response.headers().get(CONTENT_TYPE).cloned();
            let body = response.into_body().collect().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
            Ok(Answer { content_type, body: body.to_bytes() })
        };
        timeout(ATTEMPT_LIMIT, request).await.unwrap_or(Err(StatusCode::GATEWAY_TIMEOUT))
    }
}

async fn pass(State(proxy): State<Arc<Proxy>>, headers: HeaderMap, uri: Uri) -> Result<Answer, StatusCode> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    timeout(limit(&headers), proxy.get(path)).await.unwrap_or(Err(StatusCode::GATEWAY_TIMEOUT))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let proxy = Arc::new(Proxy {
        client: Client::builder(TokioExecutor::new()).build_http(),
        replicas: simulation::replicas().await?,
        attempts: AtomicUsize::new(0),
        answers: Mutex::default(),
    });
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    serve(listener, Router::new().fallback(get(pass)).with_state(proxy)).await?;
    Ok(())
}
