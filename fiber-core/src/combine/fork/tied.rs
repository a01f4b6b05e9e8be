use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::task::Poll;

use super::handle::Handle;
use super::result_cell::EndKey;
use crate::engine::host::Host;
use crate::outcome::Outcome;

impl<T: Send + 'static> Handle<T> {
    /// Ties the fiber to the returned value: if that is dropped, the fiber is cancelled, with everything below it.
    ///
    /// Use it for work on behalf of a client that may disconnect. Frameworks for HTTP, for example, drop the future of a
    /// request when its client disconnects.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::Pool;
    /// use std::time::Duration;
    ///
    /// /// The body of a handler in some framework.
    /// async fn answer(pool: &Pool) -> Option<&'static str> {
    ///     let query = Fiber::delay(Duration::from_millis(1)).map(|()| "42");
    ///     pool.spawn(query).cancel_on_drop().await.success()
    /// }
    /// let pool = Pool::new();
    /// assert_eq!(fiber_sched::block_on(answer(&pool)), Some("42"));
    ///
    /// let forgotten = pool.spawn(Fiber::<()>::never()).cancel_on_drop();
    /// let context = forgotten.context().clone();
    /// drop(forgotten);
    /// assert!(context.is_cancelled());
    /// ```
    ///
    /// # Cancellation
    /// The drop does not wait for the end of the fiber: its finalizers run in the background. A
    /// [`Group`](crate::Group) waits for them.
    pub fn cancel_on_drop(self) -> CancelOnDrop<T> {
        CancelOnDrop { handle: Some(self), key: None }
    }
}

/// The handle of a fiber that is cancelled when this is dropped, and a future of its outcome; see
/// [`Handle::cancel_on_drop`].
#[must_use = "the fiber is cancelled when this is dropped"]
pub struct CancelOnDrop<T: Send + 'static> {
    /// `None` only at the end of `release`.
    handle: Option<Handle<T>>,
    key: Option<EndKey>,
}

const TIED: &str = "the handle is there until `release`";

impl<T: Send + 'static> CancelOnDrop<T> {
    /// The outcome, if the fiber has ended.
    pub(super) fn take(&mut self) -> Option<Outcome<T>> {
        self.handle.as_mut().expect(TIED).take()
    }

    /// Unties the fiber.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::Pool::new();
    /// let handle = pool.spawn(Fiber::success(1)).cancel_on_drop().release();
    /// assert_eq!(pool.run(handle.join()).unwrap(), 1);
    /// ```
    pub fn release(mut self) -> Handle<T> {
        let handle = self.handle.take().expect(TIED);
        handle.unwait(&mut self.key);
        handle
    }
}

impl<T: Send + 'static> Deref for CancelOnDrop<T> {
    type Target = Handle<T>;

    fn deref(&self) -> &Handle<T> {
        self.handle.as_ref().expect(TIED)
    }
}

impl<T: Send + 'static> Future for CancelOnDrop<T> {
    type Output = Outcome<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome<T>> {
        let this = &mut *self;
        this.handle.as_mut().expect(TIED).poll(&mut this.key, cx)
    }
}

impl<T: Send + 'static> Drop for CancelOnDrop<T> {
    fn drop(&mut self) {
        let Some(handle) = &self.handle else { return };
        handle.unwait(&mut self.key);
        if !handle.is_finished() {
            // A task that is woken now would only be told that its fiber is cancelled.
            let leaving = handle.context().host().map(Host::leave);
            handle.cancel_now();
            leaving.into_iter().for_each(|leaving| leaving.go_on(&**handle.context().scheduler()));
        }
    }
}

impl<T: Send + 'static> fmt::Debug for CancelOnDrop<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelOnDrop").field(&**self).finish()
    }
}
