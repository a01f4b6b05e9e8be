//! The services that are asked about an order, and the handling of their faults.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{StatusCode, Uri};
use fiber_core::sync::{Cache, CircuitBreaker, CircuitOpen};
use fiber_core::{Error, Fiber, Policy, Run};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::booking::Upstreams;

type Body = Empty<axum::body::Bytes>;

/// The time limit of one request.
const REQUEST_LIMIT: Duration = Duration::from_millis(500);
/// A second request for a price starts if there is no answer after this time, within which nearly all answers come.
const HEDGE_AFTER: Duration = Duration::from_millis(40);
/// Prices change seldom.
const PRICE_LIFETIME: Duration = Duration::from_secs(10);

/// An upstream has answered with an unexpected status.
#[derive(Debug)]
pub struct Unexpected(pub StatusCode);

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the upstream answers with {}", self.0)
    }
}

impl std::error::Error for Unexpected {}

/// Whether the same request may have another answer soon. For the retries, the hedge and the breakers.
pub fn is_transient(error: &Error) -> bool {
    let is_definite = |Unexpected(status): &Unexpected| status.is_client_error();
    !error.is::<CircuitOpen>() && !error.downcast_ref().is_some_and(is_definite)
}

/// Both services, by HTTP.
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

struct Shared {
    client: Client<HttpConnector, Body>,
    address: String,
    /// Shared by all requests.
    policy: Policy,
    prices: Cache<(u32, u32), u32>,
    price_breaker: CircuitBreaker,
    risk_breaker: CircuitBreaker,
}

impl Remote {
    /// `address`: such as `127.0.0.1:3001`.
    pub fn new(address: &str) -> Self {
        let breaker = || CircuitBreaker::new(20, Duration::from_secs(1)).counting(is_transient);
        let policy = Policy::exponential(Duration::from_millis(5)).jittered() & Policy::recurs(3);
        Remote(Arc::new(Shared {
            client: Client::builder(TokioExecutor::new()).build_http(),
            address: address.to_owned(),
            policy: policy.while_input(is_transient),
            prices: Cache::new(10_000).expires_after(PRICE_LIFETIME),
            price_breaker: breaker(),
            risk_breaker: breaker(),
        }))
    }

    /// One request, whose answer is a number.
    fn get(&self, path: &str) -> Fiber<u32, impl Run<Out = u32> + use<>> {
        let (Remote(this), uri) = (self.clone(), format!("http://{}/{path}", self.0.address));
        let request = Fiber::block(move || async move {
            let response = this.client.get(uri.parse::<Uri>()?).await?;
            if response.status() != StatusCode::OK {
                return Err(Error::new(Unexpected(response.status())));
            }
            let body = response.into_body().collect().await?.to_bytes();
            Ok(std::str::from_utf8(&body)?.parse::<u32>()?)
        });
        request.timeout(REQUEST_LIMIT)
    }

    /// Up to several attempts, unless the service has failed too often lately.
    fn ask(&self, breaker: &CircuitBreaker, path: String) -> Fiber<u32, impl Run<Out = u32> + use<>> {
        let (this, breaker) = (self.clone(), breaker.clone());
        Fiber::retry_with(self.0.policy.clone(), move || breaker.protect(this.get(&path)))
    }
}

impl Upstreams for Remote {
    fn price(&self, event: u32, seat: u32) -> Fiber<u32> {
        let this = self.clone();
        let ask = move || this.ask(&this.0.price_breaker, format!("price/{event}/{seat}"));
        let hedged = || Fiber::hedge(HEDGE_AFTER, 2, ask).while_error(is_transient);
        self.0.prices.get((event, seat), hedged).map(|price| *price).boxed()
    }

    fn risk(&self, client: &str) -> Fiber<u32> {
        self.ask(&self.0.risk_breaker, format!("risk/{client}")).boxed()
    }
}
