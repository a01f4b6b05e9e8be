//! Values whose drop panics.

use fiber_core::{Error, Fiber, Run};

use crate::support::Counter;

/// Makes bombs, and counts those that have gone off.
#[derive(Clone, Default)]
pub(crate) struct Fuse {
    made: Counter,
    dropped: Counter,
}

/// Panics when it is dropped, even while another panic unwinds: two of them in one frame abort the test.
pub(crate) struct Bomb(Fuse);

impl Fuse {
    pub(crate) fn bomb(&self) -> Bomb {
        self.made.add();
        Bomb(self.clone())
    }

    /// A closure that owns a bomb.
    pub(crate) fn closure<T: Send + 'static>(&self) -> impl FnOnce(T) -> T + Clone + Send + use<T> {
        let bomb = self.bomb();
        move |value| {
            hold(&bomb);
            value
        }
    }

    /// A closure that owns a bomb, and makes a ready fiber of its argument.
    pub(crate) fn binding<T: Send + 'static>(&self) -> impl FnOnce(T) -> Fiber<T> + Clone + Send + use<T> {
        let closure = self.closure();
        move |value| Fiber::success(closure(value)).boxed()
    }

    /// A static fiber that owns a bomb.
    pub(crate) fn fiber(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        let closure = self.closure();
        Fiber::lazy(move || closure(()))
    }

    /// The number of bombs, and the number of drops.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.made.get(), self.dropped.get())
    }
}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        self.0.bomb()
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.dropped.add();
        panic!("in drop")
    }
}

/// Makes a closure own the bomb.
pub(crate) fn hold(_: &Bomb) {}

pub(crate) fn failure<T: Send + 'static>() -> Fiber<T> {
    Fiber::fail(Error::msg("genuine")).boxed()
}

/// Intended panics are not printed.
pub(crate) fn quiet() {
    const MEANT: [&str; 4] = ["in drop", "in clone", "in a finalizer", "first"];
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().downcast_ref::<&str>().is_some_and(|message| MEANT.contains(message)) {
            eprintln!("{info}");
        }
    }));
}
