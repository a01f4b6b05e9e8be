use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fiber_core::error::{Cancelled, DeadlineExceeded, TimedOut};
use fiber_core::{Error, Fiber};
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use parking_lot::Mutex;
use tower_layer::Layer;
use tower_service::Service;

use super::body::RequestBody;
use super::layer::{Overloaded, RequestLayer};
use super::slot::{LastByte, Taker, slot};
use super::tied::Tied;

/// The service that [`RequestLayer`] makes of another one.
#[derive(Debug)]
pub struct RequestService<S> {
    /// A router clones a service for each request, and often more than once. Those inside are not cheap to clone: this one is cloned
    /// only for a request that comes.
    inside: Arc<Mutex<S>>,
    /// The clone that was asked whether it is ready, for the next request.
    ready: Option<S>,
    layer: RequestLayer,
}

impl<S> Clone for RequestService<S> {
    fn clone(&self) -> Self {
        RequestService { inside: self.inside.clone(), ready: None, layer: self.layer.clone() }
    }
}

impl<S> Layer<S> for RequestLayer {
    type Service = RequestService<S>;

    fn layer(&self, inside: S) -> RequestService<S> {
        RequestService::new(inside, self.clone())
    }
}

impl<S> RequestService<S> {
    pub(super) fn new(inside: S, layer: RequestLayer) -> Self {
        RequestService { inside: Arc::new(Mutex::new(inside)), ready: None, layer }
    }
}

impl<S, A, B> Service<Request<A>> for RequestService<S>
where
    S: Service<Request<A>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    A: Send + 'static,
    B: Body + Default + Send + 'static,
{
    type Response = Response<RequestBody<B>>;
    type Error = S::Error;
    type Future = RequestFuture<B, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.ready.get_or_insert_with(|| self.inside.lock().clone()).poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let place = match self.layer.place() {
            Ok(place) => place,
            Err(overloaded) => return RequestFuture(Stage::Refused(Some(Error::new(overloaded)))),
        };
        // The one that has said that it is ready.
        let mut inside = self.ready.take().unwrap_or_else(|| self.inside.lock().clone());
        let (giver, taker) = slot();
        let (head, body) = request.into_parts();
        let run = Fiber::from_future(async move {
            giver.give(inside.call(Request::from_parts(giver.head(), body)).await);
            drop(inside);
            // In the block, with which ends what the service has forked.
            giver.last_byte().await;
            Ok::<(), Error>(())
        });
        let has_body = head.method != Method::HEAD;
        // `each` looks at the head before the fiber has it.
        let fiber = self.layer.fiber(&head, run.boxed());
        taker.give_head(head);
        let fiber = Tied::new(self.layer.spawn(fiber, place), !self.layer.is_to_the_end());
        RequestFuture(Stage::Runs { ends: Some((fiber, taker)), has_body })
    }
}

/// The future of a [`RequestService`]: the response of the service inside, or one that says why there is none.
pub struct RequestFuture<B, E>(Stage<B, E>);

enum Stage<B, E> {
    /// `None` at the end.
    Refused(Option<Error>),
    Runs {
        /// `None` at the end. Dropped in this order: a fiber whose client has gone is cancelled before it goes on.
        ends: Option<(Tied, Taker<Parts, Result<Response<B>, E>>)>,
        /// Not the response to a `HEAD`: a server does not read what the service gives as its body.
        has_body: bool,
    },
}

impl<B, E> Future for RequestFuture<B, E>
where
    B: Body + Default + Send + 'static,
    E: Send + 'static,
{
    type Output = Result<Response<RequestBody<B>>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Stage::Refused(error) => {
                let error = error.take().expect("a future is not polled after its end");
                Poll::Ready(Ok(refusal(error)))
            }
            Stage::Runs { ends, has_body } => {
                let (fiber, taker) = ends.as_mut().expect("a future is not polled after its end");
                let Poll::Ready(response) = taker.poll(cx) else {
                    let error = ready!(fiber.poll_end(cx));
                    *ends = None;
                    return Poll::Ready(Ok(refusal(error)));
                };
                let (mut fiber, taker) = ends.take().expect("there is one response");
                Poll::Ready(match response {
                    Ok(response) => Ok(with_fiber(response, fiber, taker.into_last_byte(), *has_body)),
                    Err(error) => {
                        // The client has not gone away: without a body, the fiber ends by itself.
                        fiber.release();
                        Err(error)
                    }
                })
            }
        }
    }
}

/// The response of the service inside. Its fiber goes on until the end of the body.
fn with_fiber<B: Body>(
    response: Response<B>,
    fiber: Tied,
    last_byte: LastByte,
    has_body: bool,
) -> Response<RequestBody<B>> {
    let length = response.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let has_body = has_body && !is_head_only(response.status());
    response.map(|body| {
        let is_over = !has_body || body.is_end_stream();
        let length = length.or_else(|| body.size_hint().exact());
        let mut body = RequestBody::new(body, length, fiber, last_byte);
        if is_over {
            body.end();
        }
        body
    })
}

/// Whether a response of this status has no body: a server drops the one that the service gives.
fn is_head_only(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The response to a request that has ended without one.
fn refusal<B: Default>(error: Error) -> Response<RequestBody<B>> {
    let status = if error.is::<TimedOut>() || error.is::<DeadlineExceeded>() {
        StatusCode::GATEWAY_TIMEOUT
    } else if error.is::<Overloaded>() || error.is::<Cancelled>() {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    let mut response = Response::new(RequestBody::default());
    *response.status_mut() = status;
    response.extensions_mut().insert(Arc::new(error));
    response
}

impl<B, E> fmt::Debug for RequestFuture<B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestFuture")
    }
}
