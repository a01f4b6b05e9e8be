//! A closure that lies on the stack while another one runs.
//!
//! ```text
//!  owner:   add(link)   run the left closure   remove(link): still there? run the right closure in place
//!  thief:               take the entry; promote: a ticket, and a task that claims it
//!  owner:                                      gone: claim the ticket, or wait until the job is done
//! ```

use std::marker::PhantomData;
use std::mem;
use std::ptr;

use super::crew::{Crew, Link};
use super::ticket::Ticket;
use crate::engine::lend::{Latent, Lendable};
use crate::engine::task::Task;
use crate::outcome::{Panic, guard};
use crate::primitive::{Arc, UnsafeCell};

/// What has become of the right closure when the left one has returned.
pub(crate) enum Offered<B, T> {
    /// Nobody has run it, and nobody will.
    Back(B),
    /// Another thread has run it.
    Done(Result<T, Panic>),
}

/// Calls `left`, while other threads of the crew may call `right`, with `None`.
///
/// # Panics
/// If `left` does: when `right` has ended, if another thread runs it; otherwise without running it.
#[inline]
pub(crate) fn lend<A, B, P, T>(crew: &Crew<'_>, left: impl FnOnce() -> A, right: B) -> (A, Offered<B, T>)
where
    B: FnOnce(Option<P>) -> T + Send,
    T: Send,
{
    if !crew.lends() {
        return (left(), Offered::Back(right));
    }
    let job = Job::new(right);
    let lendable = Lendable::new(Offer(ptr::from_ref(&job), PhantomData));
    let link = Link::new(lendable.header());
    let taken_back = TakeBack { crew, link: &link, lendable: &lendable };
    // SAFETY: `taken_back` removes the link before this call returns or unwinds, and until then the three are borrowed. Links
    // that are added by calls inside of `left` have been removed by then.
    unsafe { crew.add(&link) };
    let left = left();
    drop(taken_back);
    (left, job.into_offered())
}

/// Makes the job belong to its owner again, also when the left closure unwinds.
struct TakeBack<'a, B: FnOnce(Option<P>) -> T + Send, P, T: Send> {
    crew: &'a Crew<'a>,
    link: &'a Link,
    lendable: &'a Lendable<Offer<B, P, T>>,
}

impl<B: FnOnce(Option<P>) -> T + Send, P, T: Send> Drop for TakeBack<'_, B, P, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.crew.remove(self.link) {
            self.claim_or_wait();
        }
    }
}

impl<B: FnOnce(Option<P>) -> T + Send, P, T: Send> TakeBack<'_, B, P, T> {
    #[cold]
    fn claim_or_wait(&self) {
        self.lendable.wait_until_settled();
        // SAFETY: the line above.
        let ticket = unsafe { self.lendable.promoted() };
        // Without a ticket, the thief could not make a task of it.
        if let Some(ticket) = ticket.filter(|ticket| !ticket.claim()) {
            ticket.wait(self.crew);
        }
    }
}

/// A closure, and later its result.
struct Job<B, T>(UnsafeCell<Content<B, T>>);

enum Content<B, T> {
    Waiting(B),
    Running,
    Done(Result<T, Panic>),
}

impl<B, T> Job<B, T> {
    #[inline]
    fn new(right: B) -> Self {
        Job(UnsafeCell::new(Content::Waiting(right)))
    }

    #[inline]
    fn into_offered(self) -> Offered<B, T> {
        let content = self.0.with_mut(|content| {
            // SAFETY: nobody else has a reference, as this is the value itself.
            mem::replace(unsafe { &mut *content }, Content::Running)
        });
        match content {
            Content::Waiting(right) => Offered::Back(right),
            Content::Done(result) => Offered::Done(result),
            Content::Running => unreachable!("its claimer ends it"),
        }
    }
}

/// Runs a job where it lies. Does not unwind.
///
/// # Safety
/// `job` points to a `Job<B, T>` that belongs to the caller.
unsafe fn run<B: FnOnce(Option<P>) -> T, P, T>(job: *const ()) {
    // SAFETY: by the contract.
    let job = unsafe { &*job.cast::<Job<B, T>>() };
    let replace = |with| {
        job.0.with_mut(|content| {
            // SAFETY: by the contract; no reference is kept.
            mem::replace(unsafe { &mut *content }, with)
        })
    };
    if let Content::Waiting(right) = replace(Content::Running) {
        // What it replaces has nothing to drop.
        _ = replace(Content::Done(guard(|| right(None))));
    }
}

/// What a thief finds: where the job lies.
struct Offer<B, P, T>(*const Job<B, T>, PhantomData<fn(P)>);

// SAFETY: whoever has it may claim the closure and send back its result, and both are `Send`.
unsafe impl<B: Send, P, T: Send> Send for Offer<B, P, T> {}

impl<B: FnOnce(Option<P>) -> T + Send, P, T: Send> Latent for Offer<B, P, T> {
    type Promoted = Arc<Ticket>;

    fn promote(self) -> (Task, Arc<Ticket>) {
        // SAFETY: the owner keeps the job in its place until it has claimed the ticket or the job is done. `run` is the one
        // for the type of the job, which may be run on any thread since its closure and its result are `Send`.
        let ticket = unsafe { Ticket::new(self.0.cast(), run::<B, P, T>) };
        let ticket = Arc::new(ticket);
        (Task::compute(ticket.clone()), ticket)
    }
}
