//! Measures the depth of the host's stack, so that a deep recursion can continue from the bottom before it overflows.

/// An address in or near the caller's frame. The distance between two such addresses is the depth, whichever way the
/// stack grows.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn address() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr()
}
