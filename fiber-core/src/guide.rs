//! Guides. Every piece of code in them is compiled and run as a test.
//!
//! | I want to | |
//! |---|---|
//! | learn the library in one sitting | [`fibers`] |
//! | know what is guaranteed, rule by rule | [`semantics`] |
//! | choose between a channel, a lock and a signal | [`coordination`] |
//! | pass items through stages: map, merge, window, throttle, batch, retry | [`pipelines`] |
//! | use sockets, processes and files | [`io`] |
//! | have steps run in parallel where their values allow it | [`dataflow`](mod@dataflow) |
//! | compute in parallel, and borrow | [`compute`] |
//! | write ordinary functions that wait | [`direct`] |
//! | build a combinator, or a wait, of my own | [`extending`] |
//! | decide between this library and plain async | [`when`] |
//! | write a service on `axum` and tokio, or come from tokio | [`fiber_sched::guide`](https://docs.rs/fiber-sched/latest/fiber_sched/guide/) |
//! | test with virtual time, and find races | [`fiber_test::guide`](https://docs.rs/fiber-test/latest/fiber_test/guide/) |

pub mod fibers {
    //! [from-select.md]: https://docs.rs/fiber-sched/latest/fiber_sched/guide/from_select/
    //! [dataflow.md]: mod@crate::guide::dataflow
    //! [testing.md]: https://docs.rs/fiber-test/latest/fiber_test/guide/
    #![doc = ""]
    #![doc = include_str!("../docs/guide.md")]
}

pub mod semantics {
    #![doc = include_str!("../docs/semantics.md")]
}

pub mod coordination {
    //! [from-select.md]: https://docs.rs/fiber-sched/latest/fiber_sched/guide/from_select/
    //! [testing.md]: https://docs.rs/fiber-test/latest/fiber_test/guide/
    #![doc = ""]
    #![doc = include_str!("../docs/coordination.md")]
}

pub mod pipelines {
    //! [coordination.md]: crate::guide::coordination
    #![doc = ""]
    #![doc = include_str!("../docs/pipelines.md")]
}

pub mod io {
    //! [testing.md#disks-that-crash]: https://docs.rs/fiber-test/latest/fiber_test/guide/#disks-that-crash
    //! [testing.md#when-computers-crash]: https://docs.rs/fiber-test/latest/fiber_test/guide/#when-computers-crash
    //! [testing.md#the-network-beside-a-real-one]: https://docs.rs/fiber-test/latest/fiber_test/guide/#the-network-beside-a-real-one
    #![doc = ""]
    #![doc = include_str!("../docs/io.md")]
}

pub mod dataflow {
    //! [compute.md]: crate::guide::compute
    #![doc = ""]
    #![doc = include_str!("../docs/dataflow.md")]
}

pub mod compute {
    #![doc = include_str!("../docs/compute.md")]
}

// Its programs use this feature.
#[cfg(any(not(doctest), feature = "direct"))]
pub mod direct {
    #![doc = include_str!("../docs/direct.md")]
}

pub mod extending {
    #![doc = include_str!("../docs/extending.md")]
}

pub mod when {
    //! [service.md]: https://docs.rs/fiber-sched/latest/fiber_sched/guide/service/
    #![doc = ""]
    #![doc = include_str!("../docs/when.md")]
}
