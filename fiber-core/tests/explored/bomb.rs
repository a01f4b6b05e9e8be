//! A value whose drop panics.

use fiber_core::{Error, Fiber};

use crate::ledger::Ledger;

/// Panics when it is dropped, even while another panic unwinds: two of them in one frame abort the test.
pub(crate) struct Bomb {
    ledger: Ledger,
    at: usize,
}

impl Bomb {
    pub(crate) fn new(ledger: &Ledger, name: &'static str) -> Self {
        let mut book = ledger.book();
        book.bombs.push((name, 0));
        Bomb { ledger: ledger.clone(), at: book.bombs.len() - 1 }
    }

    /// Completes with a bomb after this many ticks of the running fiber.
    pub(crate) fn made(ledger: &Ledger, name: &'static str, works: Fiber<u32>) -> Fiber<Bomb> {
        let ledger = ledger.clone();
        works.map(move |_| Bomb::new(&ledger, name)).boxed()
    }

    /// A closure that owns the bomb, and does nothing.
    pub(crate) fn pass<T: Send + 'static>(self) -> impl FnMut(T) -> T + Send + use<T> {
        move |value| {
            let _owned = &self;
            value
        }
    }

    /// A handler that owns the bomb, and passes the error on.
    pub(crate) fn handler(self) -> impl FnOnce(Error) -> Fiber<u32> + Send {
        move |error| {
            let _owned = &self;
            Fiber::fail(error).boxed()
        }
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        let mut book = self.ledger.book();
        let (name, dropped) = &mut book.bombs[self.at];
        *dropped += 1;
        let name = *name;
        book.happened(format!("drops {name}"));
        drop(book);
        std::panic::panic_any(name)
    }
}
