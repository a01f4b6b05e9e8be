//! Futures that are not `Send`, as fibers.
//!
//! A fiber is `Send`, so it cannot contain such a future. It contains a number, by which the thread of the future finds it.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use fiber_core::error::IntoError;
use fiber_core::{Error, Fiber};

/// Runs a future that is not `Send` as a fiber: one that has an `Rc`, a `RefCell`, or a handle that belongs to its thread. `fiber.await`
/// works in it, as in [`Fiber::from_future`].
///
/// The future stays on the thread that calls this function, and so has to run there. On a [`CurrentThread`](crate::CurrentThread), everything
/// does:
///
/// ```
/// use fiber_core::{Error, Fiber};
/// use fiber_sched::{CurrentThread, on_this_thread};
/// use std::{cell::RefCell, rc::Rc};
///
/// let log = Rc::new(RefCell::new(Vec::new()));
/// let lines = log.clone();
/// let main = on_this_thread(async move {
///     let beside = lines.clone();
///     let writes = async move {
///         Fiber::yield_now().await?;
///         beside.borrow_mut().push("fork");
///         Ok::<_, Error>(())
///     };
///     let fork = on_this_thread(writes).fork().await?;
///     lines.borrow_mut().push("main");
///     fork.join().await
/// });
/// CurrentThread::new().run(main).unwrap();
/// assert_eq!(*log.borrow(), ["main", "fork"]);
/// ```
///
/// On an [`AffinityPool`](crate::AffinityPool), the fibers of a key do. There, the worker has to make the future, which is what `defer` is for. The
/// future owns the state of its key, and others send messages to it:
///
/// ```
/// use fiber_core::sync::Channel;
/// use fiber_core::{Error, Fiber};
/// use fiber_sched::{AffinityPool, block_on, on_this_thread};
/// use std::{cell::RefCell, rc::Rc};
///
/// let pool = AffinityPool::builder().workers(2).build();
/// let (orders, received) = Channel::bounded(8);
/// let book = pool.spawn_on("ABC", Fiber::defer(move || on_this_thread(async move {
///     let book = Rc::new(RefCell::new(Vec::new())); // stays on this thread
///     while let Some(order) = received.next().await? {
///         book.borrow_mut().push(order);
///     }
///     Ok::<_, Error>(book.take())
/// })));
/// let sent = pool.spawn(Fiber::for_each(["buy", "sell"], move |order| orders.send(order)));
/// assert!(block_on(sent).is_success());
/// assert_eq!(block_on(book).unwrap(), ["buy", "sell"]);
/// ```
///
/// # Errors
/// Those of the future. On any other thread, the fiber fails with [`AnotherThread`].
///
/// # Cancellation
/// The future is dropped on its thread. If the fiber is dropped on another one, unrun or with its scheduler, the future is dropped when its
/// thread ends.
#[track_caller]
pub fn on_this_thread<T, E, F>(future: F) -> Fiber<T>
where
    T: Send + 'static,
    E: IntoError + 'static,
    F: Future<Output = Result<T, E>> + 'static,
{
    Fiber::from_future(Stays::<F>::new(future)).boxed()
}

/// A fiber of [`on_this_thread`] runs on a thread other than that of its future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnotherThread {
    /// The thread of the future.
    pub of: ThreadId,
    /// The thread on which the fiber ran.
    pub on: ThreadId,
}

impl fmt::Display for AnotherThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a future of {:?} cannot run on {:?}", self.of, self.on)
    }
}

impl std::error::Error for AnotherThread {}

thread_local! {
    static FUTURES: RefCell<Futures> = const { RefCell::new(Futures { made: 0, live: BTreeMap::new() }) };
}

/// The futures of a thread that are not being polled.
struct Futures {
    made: u64,
    live: BTreeMap<u64, Box<dyn Any>>,
}

/// Stands for a future in the thread's [`Futures`].
struct Stays<F> {
    number: u64,
    of: ThreadId,
    future: PhantomData<fn() -> F>,
}

impl<F: 'static> Stays<F> {
    fn new(future: F) -> Self {
        let number = FUTURES.with_borrow_mut(|futures| {
            futures.made += 1;
            futures.made
        });
        let stays = Stays { number, of: thread::current().id(), future: PhantomData };
        stays.put(Box::pin(future));
        stays
    }

    fn put(&self, future: Pin<Box<F>>) {
        FUTURES.with_borrow_mut(|futures| futures.live.insert(self.number, Box::new(future)));
    }

    /// `None` on another thread. At the end of a thread, its futures are gone already.
    fn take(&self) -> Option<Pin<Box<F>>> {
        if thread::current().id() != self.of {
            return None;
        }
        let taken = FUTURES.try_with(|futures| futures.borrow_mut().live.remove(&self.number));
        Some(*taken.ok()??.downcast().expect("the future of this number"))
    }
}

impl<T, E, F> Future for Stays<F>
where
    E: IntoError,
    F: Future<Output = Result<T, E>> + 'static,
{
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(mut future) = self.take() else {
            return Poll::Ready(Err(Error::new(AnotherThread { of: self.of, on: thread::current().id() })));
        };
        // Not in the list meanwhile: it may make others, and drop them.
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            self.put(future);
        }
        polled.map_err(IntoError::into_error)
    }
}

impl<F> Drop for Stays<F> {
    fn drop(&mut self) {
        if thread::current().id() == self.of {
            let left = FUTURES.try_with(|futures| futures.borrow_mut().live.remove(&self.number));
            drop(left);
        }
    }
}
