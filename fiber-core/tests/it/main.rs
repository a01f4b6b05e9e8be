//! The behaviour of fibers, a topic to a module: `cargo test -p fiber-core-tests --test it cancel::`.
//!
//! One executable, because linking takes longer than compiling. Tests that replace the panic hook are in `panicking`; those that count
//! allocations, or need a process for another reason, are files beside this folder.

mod after_code;
mod architecture;
mod attacks;
mod awaited;
mod blocking;
mod borrowed;
mod branches;
mod burials;
mod callback;
mod cancel;
mod cells;
mod clones;
mod current;
mod dataflow;
mod direct;
mod do_bang;
mod dump;
mod errors;
mod examples;
mod fiber_macro;
mod files;
mod finalizers;
mod futures;
mod groups;
mod handy;
mod hedge;
mod inline;
mod late;
mod leaves;
mod lending;
mod limits;
mod messages;
mod parts;
mod payloads;
mod points;
mod policy;
mod race_macro;
mod scopes;
mod semantics;
mod sites;
mod strange;
mod structure;
mod supervision;
mod tokens;
mod unstarted;
mod within;

#[path = "../support/mod.rs"]
mod support;
