//! A layer of [tower](https://docs.rs/tower-layer) under which each request is a fiber. Needs the feature `tower`.
//!
//! ```text
//!  the server's task          the fiber of the request
//!  call ───────── spawns ──────> the service inside ──> a response
//!  RequestFuture <──────────────────── a slot ────────────┘
//!  RequestBody                   waits
//!    the last byte ────────────> ends: what it has forked has ended, the place is free
//! ```
//!
//! * `layer`: what a user sets. `service`: a request, up to its response. `body`: from the response to the last byte.
//! * `slot`: how the response gets from the fiber to the task. `tied`: what becomes of the fiber when the task is dropped.

mod body;
mod layer;
mod service;
mod slot;
mod tied;

pub use body::RequestBody;
pub use layer::{Overloaded, RequestLayer};
pub use service::{RequestFuture, RequestService};
