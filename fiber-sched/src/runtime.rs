//! The tokio runtime that the futures on a pool find, if the pool has one.

#[cfg(feature = "tokio")]
pub(crate) use of_tokio::Runtime;
#[cfg(not(feature = "tokio"))]
pub(crate) use without::Runtime;

#[cfg(feature = "tokio")]
mod of_tokio {
    use tokio::runtime::{EnterGuard, Handle};
    use tokio::task;

    /// `None`: futures find the runtime of the thread, if it has one.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Runtime(Option<Handle>);

    impl Runtime {
        pub(crate) fn of(handle: Handle) -> Self {
            Runtime(Some(handle))
        }

        /// Until the guard is dropped, futures on this thread find the runtime.
        pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
            self.0.as_ref().map(Handle::enter)
        }

        /// Lets other workers of the runtime take the task that this one has woken last: an empty task takes the slot for the one that
        /// is next.
        pub(crate) fn clear_slot(&self) {
            if let Some(runtime) = self.0.as_ref().filter(|_| task::try_id().is_some()) {
                drop(runtime.spawn(async {}));
            }
        }
    }
}

#[cfg(not(feature = "tokio"))]
mod without {
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Runtime(());

    /// The guard of a runtime that does not exist.
    pub(crate) struct Inside;

    impl Runtime {
        pub(crate) fn enter(&self) -> Inside {
            Inside
        }

        pub(crate) fn clear_slot(&self) {}
    }
}
