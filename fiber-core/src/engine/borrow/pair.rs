//! A closure that lies on the stack while another one runs.
//!
//! ```text
//!  owner:   add(link)   run the left closure   remove(link): still there? run the right closure in place
//!  thief:               take the entry; promote: a ticket, and a task that claims it
//!  owner:                                      gone: claim the ticket, or wait until the job is done
//! ```

use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::Arc;

use super::crew::{Lender, Link};
use super::ticket::Ticket;
use crate::engine::lend::Header;
use crate::engine::task::Task;
use crate::panic::{Panic, catch_panic, guard};
use crate::primitive::UnsafeCell;

/// What has become of the right closure when the left one has returned.
pub(crate) enum Offered<B, T> {
    /// No thread has run it, and none will.
    Back(B),
    /// Another thread has run it.
    Done(Result<T, Panic>),
}

/// Calls `left`, while other threads of the crew may call `right`, with `None`.
///
/// # Panics
/// If `left` does: when `right` has ended, if another thread runs it; otherwise without running it.
#[inline]
pub(crate) fn lend<A, B, P, T>(
    lender: Lender<'_, '_>,
    left: impl FnOnce() -> A,
    right: B,
) -> (A, Offered<B, T>)
where
    B: FnOnce(Option<P>) -> T + Send,
    T: Send,
{
    let pending = Pending {
        link: lender.crew.link(lender.branches, promote::<B, P, T>),
        right: UnsafeCell::new(ManuallyDrop::new(right)),
        ticket: UnsafeCell::new(MaybeUninit::uninit()),
        result: UnsafeCell::new(MaybeUninit::uninit()),
    };
    let unwinds = Unwinds { lender, pending: &pending };
    // SAFETY: `take_back` removes the link, here or in `unwinds`, and until then `pending` is borrowed. Links that are made by
    // calls inside of `left` have been removed by then. The pointer is to the whole, of which the link is the first field.
    unsafe { lender.crew.add(lender.branches, ptr::from_ref(&pending).cast()) };
    let left = left();
    mem::forget(unwinds);
    (left, pending.take_back(lender))
}

/// The right closure, on the stack of its owner.
///
/// | entry | `ticket` belongs to | `right` and `result` belong to |
/// |---|---|---|
/// | in the list, or taken back | no thread; it is not there | the owner; there is no result |
/// | taken by a thief, not settled | the thief | no thread |
/// | settled | the owner | the thread that has claimed the ticket |
/// | settled, and the ticket is done | | the owner; only the result is left |
#[repr(C)]
struct Pending<B, T> {
    link: Link,
    right: UnsafeCell<ManuallyDrop<B>>,
    /// What a thief has made.
    ticket: UnsafeCell<MaybeUninit<Arc<Ticket>>>,
    result: UnsafeCell<MaybeUninit<Result<T, Panic>>>,
}

impl<B, T> Pending<B, T> {
    /// Makes the closure belong to its owner again, or gets its result. Called once, by the owner.
    #[inline]
    fn take_back(&self, lender: Lender<'_, '_>) -> Offered<B, T> {
        if !lender.crew.remove(lender.branches, &self.link) && !self.claim_or_wait(lender) {
            let result = self.result.with(|result| {
                // SAFETY: the ticket is done, so the result belongs to the owner, who reads it once.
                unsafe { result.cast::<Result<T, Panic>>().read() }
            });
            return Offered::Done(result);
        }
        Offered::Back(self.right.with_mut(|right| {
            // SAFETY: it belongs to the owner, and is not used again.
            unsafe { right.cast::<B>().read() }
        }))
    }

    /// `true`: the closure belongs to the owner. `false`: there is a result.
    #[cold]
    fn claim_or_wait(&self, lender: Lender<'_, '_>) -> bool {
        self.link.header().wait_until_settled();
        let ticket = self.ticket.with(|ticket| {
            // SAFETY: the entry is settled, so the thief has left a ticket, which is read once.
            unsafe { ticket.cast::<Arc<Ticket>>().read() }
        });
        ticket.claim() || {
            ticket.wait(lender.crew);
            false
        }
    }
}

/// Takes the right closure back if the left one unwinds.
struct Unwinds<'a, 'c, B, T> {
    lender: Lender<'a, 'c>,
    pending: &'a Pending<B, T>,
}

impl<B, T> Drop for Unwinds<'_, '_, B, T> {
    fn drop(&mut self) {
        let right = self.pending.take_back(self.lender);
        // A second panic would abort the process.
        catch_panic(|| drop(right));
    }
}

/// Makes a task of a closure that another thread has taken. Does not unwind.
///
/// # Safety
/// `header` points to the whole of a `Pending<B, T>`, whose entry the caller has taken, and whose owner waits until it is
/// settled, and then until it has claimed the ticket or the ticket is done.
unsafe fn promote<B, P, T>(header: *const Header) -> Task
where
    B: FnOnce(Option<P>) -> T + Send,
    T: Send,
{
    let pending = header.cast::<Pending<B, T>>();
    // SAFETY: the owner keeps the whole in its place until it has claimed the ticket, or the ticket is done. `run` is the one for
    // its type, and may be called on any thread, since the closure and its result are `Send`.
    let ticket = Arc::new(unsafe { Ticket::new(pending.cast(), run::<B, P, T>) });
    // SAFETY: by the contract, and because the header is the first field of the link, which is the first field of the whole.
    let pending = unsafe { &*pending };
    pending.ticket.with_mut(|place| {
        // SAFETY: the entry is taken and not settled, so the place belongs to this thread.
        unsafe { place.cast::<Arc<Ticket>>().write(ticket.clone()) };
    });
    // The owner may go on.
    pending.link.header().settle();
    Task::errand(None, ticket)
}

/// Runs the right closure where it lies. Does not unwind.
///
/// # Safety
/// `pending` points to a `Pending<B, T>`, whose `right` and `result` belong to the caller. The closure is there.
unsafe fn run<B: FnOnce(Option<P>) -> T, P, T>(pending: *const ()) {
    // SAFETY: by the contract.
    let pending = unsafe { &*pending.cast::<Pending<B, T>>() };
    let right = pending.right.with_mut(|right| {
        // SAFETY: by the contract; the owner does not use it again.
        unsafe { right.cast::<B>().read() }
    });
    let result = guard(|| right(None));
    pending.result.with_mut(|place| {
        // SAFETY: by the contract.
        unsafe { place.cast::<Result<T, Panic>>().write(result) };
    });
}
