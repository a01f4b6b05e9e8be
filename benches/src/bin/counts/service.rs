//! Requests of a service, with and without the layer that makes each of them a fiber.

use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::task::{self, Poll};

use fiber_core::{Context, Error, Fiber};
use fiber_sched::tower::RequestLayer;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use tower_layer::Layer;
use tower_service::Service;

use crate::{LONG, NUMBER};

/// Answers each request at once, with one chunk.
#[derive(Clone)]
pub(crate) struct Answers;

impl Service<Request<()>> for Answers {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new(Full::from("here"))))
    }
}

/// So many requests, one after the other, each read to its last byte.
pub(crate) fn served<S, B>(count: u64, service: S) -> Fiber<u64>
where
    S: Service<Request<()>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Body<Data = Bytes, Error: std::fmt::Debug> + Unpin + Send + 'static,
{
    Fiber::from_future(async move {
        for _ in 0..count {
            // As a server does it.
            let mut service = service.clone();
            let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(mut answer) = service.call(Request::new(())).await;
            while !answer.body().is_end_stream()
                && let Some(frame) = answer.frame().await
            {
                drop(frame.expect("a chunk"));
            }
        }
        Ok::<_, Error>(count)
    })
    .boxed()
}

/// The same under the layer.
pub(crate) fn under_the_layer(count: u64, has_all: bool) -> Fiber<u64> {
    Fiber::defer(move || {
        let requests = Context::current().expect("in a fiber").group();
        let mut layer = RequestLayer::new(requests);
        if has_all {
            layer = layer.deadline(LONG).limit(100).number(&NUMBER);
        }
        served(count, layer.layer(Answers))
    })
    .boxed()
}
