//! Guides. Every piece of code in them is compiled and run as a test. [`fiber_core::guide`](https://docs.rs/fiber-core/latest/fiber_core/guide/) has those for the library as a whole.
//!
//! | I want to | |
//! |---|---|
//! | write a service: deadlines, retries, shutdown, metrics, logs | [`service`] |
//! | know what `select!` became, and why no message is lost | [`from_select`] |
//! | find the fiber for a line of tokio | [`from_tokio`] |
//! | have a short answer: shared state, `anyhow`, borrowing, priorities | [`faq`] |

pub mod service {
    #![doc = include_str!("../docs/service.md")]
}

pub mod from_select {
    #![doc = include_str!("../docs/from-select.md")]
}

pub mod from_tokio {
    //! [service.md]: crate::guide::service
    //! [from-select.md]: crate::guide::from_select
    //! [coordination.md]: https://docs.rs/fiber-core/latest/fiber_core/guide/coordination/
    #![doc = ""]
    #![doc = include_str!("../docs/from-tokio.md")]
}

pub mod faq {
    //! [compute.md]: https://docs.rs/fiber-core/latest/fiber_core/guide/compute/
    //! [dataflow.md]: https://docs.rs/fiber-core/latest/fiber_core/guide/dataflow/
    //! [semantics.md]: https://docs.rs/fiber-core/latest/fiber_core/guide/semantics/
    //! [coordination.md]: https://docs.rs/fiber-core/latest/fiber_core/guide/coordination/
    //! [service.md]: crate::guide::service
    #![doc = ""]
    #![doc = include_str!("../docs/faq.md")]
}
