use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};

use super::slot::LastByte;
use super::tied::Tied;

/// The body of a response, which keeps the fiber of its request until the last frame, or until it is dropped.
///
/// If the fiber ends before, by its deadline or in a shutdown, the body ends with the error of the fiber. If all that is left by then is one
/// frame, and it is there, the body is whole instead.
pub struct RequestBody<B> {
    inner: B,
    /// The number of bytes to come, if it is known.
    left: Option<u64>,
    /// It has ended with the error of the fiber.
    is_torn: bool,
    /// `None`: the body is over, or the request has had no fiber.
    fiber: Option<Keeps>,
}

/// What ends the fiber. Its fields are dropped in this order: a fiber whose client has gone is cancelled before it goes on.
struct Keeps {
    fiber: Tied,
    last_byte: LastByte,
}

impl<B> RequestBody<B> {
    /// `length`: that of the body, if it is known.
    pub(super) fn new(inner: B, length: Option<u64>, fiber: Tied, last_byte: LastByte) -> Self {
        RequestBody { inner, left: length, is_torn: false, fiber: Some(Keeps { fiber, last_byte }) }
    }

    /// The next frame of the service inside.
    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, BoxError>>>
    where
        B: Body + Unpin,
        B::Error: Into<BoxError>,
    {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        if let (Some(left), Some(Ok(frame))) = (&mut self.left, &frame) {
            let length = frame.data_ref().map_or(0, Buf::remaining);
            *left = left.saturating_sub(length as u64);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    /// Ends the fiber, which waits for that.
    pub(super) fn end(&mut self) {
        if let Some(Keeps { mut fiber, last_byte }) = self.fiber.take() {
            fiber.release();
            drop(last_byte);
        }
    }
}

/// A server that knows the length does not ask for the end after the last byte: it drops the body.
impl<B> Drop for RequestBody<B> {
    fn drop(&mut self) {
        if self.left == Some(0) {
            self.end();
        }
    }
}

type BoxError = Box<dyn StdError + Send + Sync>;

impl<B> Body for RequestBody<B>
where
    B: Body + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        let this = &mut *self;
        if this.is_torn {
            return Poll::Ready(None);
        }
        if let Some(keeps) = &mut this.fiber
            && let Poll::Ready(error) = keeps.fiber.poll_end(cx)
        {
            this.fiber = None;
            // The service inside was in time, and the server looks late.
            if let last @ Poll::Ready(Some(Ok(_))) = this.poll_inner(cx)
                && this.left == Some(0)
            {
                return last;
            }
            this.is_torn = true;
            return Poll::Ready(Some(Err(error.into())));
        }
        let frame = ready!(this.poll_inner(cx));
        if frame.as_ref().is_none_or(Result::is_err) || this.inner.is_end_stream() {
            this.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.is_torn || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Of a response of the layer itself.
impl<B: Default> Default for RequestBody<B> {
    fn default() -> Self {
        RequestBody { inner: B::default(), left: None, is_torn: false, fiber: None }
    }
}

impl<B: fmt::Debug> fmt::Debug for RequestBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fiber = self.fiber.as_ref().map(|keeps| &keeps.fiber);
        f.debug_struct("RequestBody").field("inner", &self.inner).field("fiber", &fiber).finish()
    }
}
