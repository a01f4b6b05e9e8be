//! Coroutines on stacks of their own, for the direct fibers of `fiber-core`. This crate is a part of that one, and promises
//! nothing to others.
//!
//! | file | what |
//! |---|---|
//! | `coroutine` | stacks and coroutines: a thin layer over the crate `corosensei` |
//! | `no_coroutine` | the same where there are no stacks |
//! | `overflow` | says that a stack has overflowed, on Unix |
//!
//! ```
//! use fiber_stack::{Coroutine, Resumed, Stack};
//!
//! let Ok(stack) = Stack::new(64 * 1024) else { return };
//! let mut coroutine = Coroutine::new(stack, |yielder, first| first + yielder.suspend(first * 10));
//! assert!(matches!(coroutine.resume(4), Resumed::Suspended(40)));
//! assert!(matches!(coroutine.resume(3), Resumed::Returned(7)));
//! ```

#[cfg_attr(
    not(all(
        not(miri),
        any(unix, windows),
        any(
            target_arch = "x86_64",
            target_arch = "x86",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64"
        )
    )),
    path = "no_coroutine.rs"
)]
mod coroutine;
#[cfg_attr(not(unix), path = "no_overflow.rs")]
mod overflow;

pub use coroutine::{Coroutine, Stack, Yielder};

/// Why a call of [`Coroutine::resume`] has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed<Y, R> {
    /// The coroutine has suspended itself.
    Suspended(Y),
    /// The function of the coroutine has returned.
    Returned(R),
}
