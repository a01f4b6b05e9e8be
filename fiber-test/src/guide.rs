//! [io.md#tests]: https://docs.rs/fiber-core/latest/fiber_core/guide/io/#tests
#![doc = ""]
#![doc = include_str!("../docs/testing.md")]
