//! Panics of user code, as values, and the guard that makes them.
#![allow(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::mem::{ManuallyDrop, forget, needs_drop, replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::thread::panicking;

use crate::error::{self, Error, Frame, Panicked, Trace};

/// A panic of a closure, caught by the operator that called the closure.
///
/// `Debug` prints the message, and the operators that the panic passed.
///
/// Dropping it does not panic, even if the drop of the payload does; the panic hook reports that.
pub struct Panic(Box<Inner>);

struct Inner {
    payload: Box<dyn Any + Send>,
    trace: Trace,
    suppressed: Vec<Error>,
}

/// The one place where payloads end.
impl Drop for Inner {
    fn drop(&mut self) {
        let payload = replace(&mut self.payload, Box::new(()));
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            // Its drop may panic in the same way, without end.
            forget(again);
        }
        take(&mut self.suppressed).into_iter().for_each(|error| catch_panic(|| drop(error)));
    }
}

impl Panic {
    /// Wraps the payload that `catch_unwind` returned. A `Panic` that was rethrown stays as it was.
    #[cold]
    pub fn new(payload: Box<dyn Any + Send>) -> Self {
        match payload.downcast::<Panic>() {
            Ok(panic) => *panic,
            Err(payload) => {
                Panic(Box::new(Inner { payload, trace: Trace::default(), suppressed: Vec::new() }))
            }
        }
    }

    /// The message, if the payload is a string, as the payload of `panic!` is.
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome};
    /// # std::panic::set_hook(Box::new(|_| {}));
    /// let outcome = fiber_sched::run(Fiber::lazy(|| -> u8 { panic!("out of tea") }));
    /// let Outcome::Panicked(panic) = outcome else { unreachable!() };
    /// assert_eq!(panic.message(), "out of tea");
    /// ```
    pub fn message(&self) -> &str {
        let payload = &*self.0.payload;
        payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic whose payload is not a string")
    }

    /// The payload, for `std::panic::resume_unwind`.
    ///
    /// ```
    /// use fiber_core::Panic;
    /// assert!(Panic::new(Box::new(7)).into_payload().is::<i32>());
    /// ```
    pub fn into_payload(mut self) -> Box<dyn Any + Send> {
        replace(&mut self.0.payload, Box::new(()))
    }

    /// A payload to rethrow, from which [`Panic::new`] restores this panic.
    pub(crate) fn into_thrown(self) -> Box<dyn Any + Send> {
        let is_bare = self.0.trace.frames().is_empty() && self.0.suppressed.is_empty();
        if is_bare { self.into_payload() } else { Box::new(self) }
    }

    /// The operators that the panic passed, innermost first.
    pub fn trace(&self) -> &[Frame] {
        self.0.trace.frames()
    }

    /// Errors of finalizers and of siblings that failed while this panic propagated. Panics among them now count as
    /// seen; see [`Error::suppressed`].
    pub fn suppressed(&self) -> &[Error] {
        error::seen(&self.0.suppressed)
    }

    /// An ordinary error, a [`Panicked`], which displays the message and keeps the trace.
    ///
    /// ```
    /// use fiber_core::{Panic, error::Panicked};
    /// let error = Panic::new(Box::new("out of tea")).into_error();
    /// assert!(error.is::<Panicked>());
    /// ```
    pub fn into_error(mut self) -> Error {
        let panicked = Panicked::new(self.message().to_owned());
        Error::new(panicked).with_past(take(&mut self.0.trace), take(&mut self.0.suppressed))
    }

    // By value, as in `Error::passed`.
    #[cold]
    pub(crate) fn passed(mut self, frame: Frame) -> Self {
        self.0.trace.push(frame);
        self
    }

    /// The suppressed panics that have no witness yet.
    pub(crate) fn unwatched(&self) -> impl Iterator<Item = &Error> {
        self.0.suppressed.iter().filter(|error| error.owns::<Panicked>() && !error.is_watched())
    }

    /// The first panic, with the others suppressed into it.
    pub(crate) fn join(panics: Vec<Panic>) -> Option<Panic> {
        panics.into_iter().reduce(|mut first, other| {
            first.suppress(other.into_error());
            first
        })
    }

    /// Panics with the first panic at the end of a drop, unless another one unwinds: two at a time would abort the process.
    pub(crate) fn rethrow(panics: Vec<Panic>) {
        match Panic::join(panics) {
            Some(panic) if !panicking() => resume_unwind(panic.into_thrown()),
            _ => {}
        }
    }

    pub(crate) fn suppress(&mut self, error: Error) {
        error.join_suppressed(&mut self.0.suppressed);
    }
}

/// Drops the source and the suppressed errors one by one, because each of these drops may panic.
impl Drop for Error {
    #[inline]
    fn drop(&mut self) {
        let Some((source, suppressed)) = self.dismantle() else { return };
        // One panic at most, and none around it.
        if suppressed.is_empty() && !panicking() {
            return drop(source);
        }
        let mut torn = Vec::new();
        discard_part(source, &mut torn);
        suppressed.into_iter().for_each(|error| discard_part(error, &mut torn));
        Panic::rethrow(torn);
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic: {}", self.message())
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.0.trace)?;
        self.0.suppressed.iter().try_for_each(|error| write!(f, "\nsuppressed: {error:?}"))
    }
}

/// Calls a user closure under the panic guard.
#[inline]
pub(crate) fn guard<F: FnOnce() -> T, T>(f: F) -> Result<T, Panic> {
    let mut call = Call { f: ManuallyDrop::new(f) };
    // SAFETY: the call is one of this closure, which has not been called.
    match unsafe { caught(Call::<F, T>::run, &raw mut call as *mut ()) } {
        // SAFETY: the closure has returned, so its value is there.
        None => Ok(ManuallyDrop::into_inner(unsafe { call.value })),
        Some(panic) => Err(panic),
    }
}

/// A closure that is called, then its value.
#[repr(C)]
union Call<F, T> {
    f: ManuallyDrop<F>,
    value: ManuallyDrop<T>,
}

impl<F: FnOnce() -> T, T> Call<F, T> {
    /// # Safety
    /// The pointer is to a call whose closure has not been called.
    #[inline]
    unsafe fn run(call: *mut ()) {
        // SAFETY: by the contract.
        let f = unsafe { call.cast::<F>().read() };
        // SAFETY: the closure was moved out.
        unsafe { call.cast::<T>().write(f()) };
    }
}

/// Calls `f` with `data`. It is compiled once, where `catch_unwind` would be five functions for each type of closure.
///
/// # Safety
/// As `f`.
#[inline]
unsafe fn caught(f: unsafe fn(*mut ()), data: *mut ()) -> Option<Panic> {
    // A closure that panicked is consumed and never called again, so the program cannot observe its broken invariants.
    // SAFETY: by the contract.
    catch_unwind(AssertUnwindSafe(|| unsafe { f(data) })).map_err(Panic::new).err()
}

/// Drops a value, possibly of the user, under the panic guard.
#[inline]
pub(crate) fn guarded_drop<D>(unused: D) -> Option<Panic> {
    // A constant, so that nothing is compiled for a type without a drop.
    if const { !needs_drop::<D>() } {
        return None;
    }
    let mut unused = ManuallyDrop::new(unused);
    // SAFETY: the value is not used any more.
    unsafe { guarded_drop_in_place(&raw mut unused as *mut D) }
}

/// The same for a value that is dropped where it is.
///
/// # Safety
/// As [`ptr::drop_in_place`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn guarded_drop_in_place<D>(unused: *mut D) -> Option<Panic> {
    if const { !needs_drop::<D>() } {
        return None;
    }
    /// # Safety
    /// As [`ptr::drop_in_place`].
    #[inline]
    unsafe fn drop_at<D>(unused: *mut ()) {
        // SAFETY: by the contract.
        unsafe { ptr::drop_in_place(unused as *mut D) }
    }
    // SAFETY: by the contract.
    unsafe { caught(drop_at::<D>, unused as *mut ()) }
}

/// Drops one of several parts, and adds a panic of its drop to `torn`. Two panics in one drop would abort the process.
#[inline]
pub(crate) fn discard_part<D>(unused: D, torn: &mut Vec<Panic>) {
    if const { needs_drop::<D>() }
        && let Some(panic) = guarded_drop(unused)
    {
        torn.push(panic);
    }
}

/// Calls code and ignores its panics, which the panic hook has reported.
#[inline]
pub(crate) fn catch_panic(f: impl FnOnce()) {
    drop(guard(f));
}
