//! A resource that is acquired, used and released.

use fiber_core::Fiber;

use crate::ledger::{Ledger, TICK};

/// An acquired resource.
#[derive(Clone)]
pub(crate) struct Lease {
    ledger: Ledger,
    at: usize,
}

impl Lease {
    pub(crate) fn new(ledger: &Ledger, name: &'static str) -> Self {
        let mut book = ledger.book();
        book.leases.push((name, 0));
        book.happened(format!("acquires {name}"));
        Lease { ledger: ledger.clone(), at: book.leases.len() - 1 }
    }

    /// Uses it in `ticks` steps, with a tick between them.
    pub(crate) fn is_used(&self, ticks: u32) -> Fiber<u32> {
        let lease = self.clone();
        Fiber::for_each(0..ticks, move |_| {
            let lease = lease.clone();
            Fiber::lazy(move || lease.must_be_held("used")).bind(|()| Fiber::delay(TICK))
        })
        .map(move |()| ticks)
        .boxed()
    }

    /// Releases it, which takes a while.
    pub(crate) fn release(&self) -> Fiber<()> {
        let lease = self.clone();
        let released = Fiber::lazy(move || {
            lease.must_be_held("released");
            let mut book = lease.ledger.book();
            let (name, released) = &mut book.leases[lease.at];
            *released += 1;
            let line = format!("releases {name}");
            book.happened(line);
        });
        Fiber::yield_now().bind(move |()| released).bind(|()| Fiber::delay(TICK)).boxed()
    }

    fn must_be_held(&self, what: &str) {
        let (name, released) = self.ledger.book().leases[self.at];
        self.ledger.check(released == 0, &format!("{name} was {what} when it was not held"));
    }
}
