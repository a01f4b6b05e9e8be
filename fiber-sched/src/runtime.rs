//! The tokio runtime that the futures on a pool find, if the pool has one.

#[cfg(feature = "tokio")]
pub(crate) use of_tokio::Runtime;
#[cfg(not(feature = "tokio"))]
pub(crate) use without::Runtime;

#[cfg(feature = "tokio")]
mod of_tokio {
    use tokio::runtime::{EnterGuard, Handle};

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
    }
}
