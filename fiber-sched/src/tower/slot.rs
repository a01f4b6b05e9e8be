//! What the fiber of a request and the task of the server pass to each other: the head, the response, and the news that its last byte
//! was sent.

use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::{Mutex, MutexGuard};

/// The end that the fiber has.
pub(super) struct Giver<H, T>(Arc<Shared<H, T>>);

/// The end that the task has until it has the value.
pub(super) struct Taker<H, T>(Ends<Shared<H, T>>);

/// The end that the task has then. A drop says that the last byte was sent, or that nobody asks for it any more.
pub(super) struct LastByte(#[expect(dead_code, reason = "its drop counts")] Ends<dyn End + Send + Sync>);

/// A drop ends the slot.
struct Ends<S: End + ?Sized>(Option<Arc<S>>);

trait End {
    /// The slot keeps no value from now on, and the fiber goes on.
    fn end(&self);
}

type Shared<H, T> = Mutex<Slot<H, T>>;

struct Slot<H, T> {
    head: Option<H>,
    stage: Stage<T>,
    /// Of the task until there is a value, and then of the fiber.
    waker: Option<Waker>,
}

enum Stage<T> {
    Empty,
    Full(T),
    Taken,
    Over,
}

pub(super) fn slot<H, T>() -> (Giver<H, T>, Taker<H, T>) {
    let shared = Arc::new(Mutex::new(Slot { head: None, stage: Stage::Empty, waker: None }));
    (Giver(shared.clone()), Taker(Ends(Some(shared))))
}

impl<H, T> Giver<H, T> {
    /// What the fiber begins with.
    ///
    /// # Panics
    /// If it was not there, or was taken before.
    pub(super) fn head(&self) -> H {
        self.0.lock().head.take().expect("it was given before the fiber was spawned")
    }

    /// Gives the value, or drops it if the task is gone.
    pub(super) fn give(&self, value: T) {
        let mut slot = self.0.lock();
        if matches!(slot.stage, Stage::Over) {
            // The value is dropped outside of the lock.
            drop(slot);
            return;
        }
        slot.stage = Stage::Full(value);
        let waker = slot.waker.take();
        drop(slot);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits until the [`LastByte`] is dropped.
    pub(super) fn last_byte(&self) -> impl Future<Output = ()> {
        poll_fn(|cx| {
            let mut slot = self.0.lock();
            if matches!(slot.stage, Stage::Over) {
                return Poll::Ready(());
            }
            let before = slot.waker.replace(cx.waker().clone());
            drop(slot);
            drop(before);
            Poll::Pending
        })
    }
}

impl<H, T> Taker<H, T> {
    fn slot(&self) -> MutexGuard<'_, Slot<H, T>> {
        self.0.0.as_ref().expect("it is there as long as this is").lock()
    }

    pub(super) fn give_head(&self, head: H) {
        self.slot().head = Some(head);
    }

    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<T> {
        let mut slot = self.slot();
        if let Stage::Full(_) = slot.stage
            && let Stage::Full(value) = mem::replace(&mut slot.stage, Stage::Taken)
        {
            return Poll::Ready(value);
        }
        if slot.waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            let before = slot.waker.replace(cx.waker().clone());
            // Its drop may run code that gives the value.
            drop(slot);
            drop(before);
        }
        Poll::Pending
    }

    /// After the value.
    pub(super) fn into_last_byte(mut self) -> LastByte
    where
        H: Send + 'static,
        T: Send + 'static,
    {
        LastByte(Ends(self.0.0.take().map(|slot| slot as Arc<dyn End + Send + Sync>)))
    }
}

impl<H, T> End for Shared<H, T> {
    fn end(&self) {
        let mut slot = self.lock();
        let left = mem::replace(&mut slot.stage, Stage::Over);
        let waker = slot.waker.take();
        drop(slot);
        // The waker of the task itself is dropped.
        if !matches!(left, Stage::Empty) {
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl<S: End + ?Sized> Drop for Ends<S> {
    fn drop(&mut self) {
        self.0.iter().for_each(|slot| slot.end());
    }
}
