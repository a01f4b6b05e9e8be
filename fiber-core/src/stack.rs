//! How deep the host's stack is: recursion that is nobody's fault goes on from the bottom before it overflows.

/// Some address on the stack, of the caller's frame or next to it. Whichever way the stack grows, the distance of two tells the depth.
#[inline(always)]
pub(crate) fn address() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr()
}
