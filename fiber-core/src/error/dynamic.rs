//! The error type.
//!
//! An error is one word, so that an outcome stays small. The word points to a block. Each thread keeps the block of the
//! last error that it dropped and reuses it for the next error; then the box of the source is the only allocation.
//!
//! ```text
//!   Error ──> [ source | trace: frame frame .. | rare ]
//!                 │              │                └──> context, suppressed, witness
//!                 └──> E         └──> all frames, if there are more
//! ```

use std::cell::Cell;
use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::mem;

use super::shared::PromiseFailed;
use super::trace::{Frame, Trace};
use super::{anyhow, convert};

/// A source, as an error keeps it.
pub(super) type Stored = dyn StdError + Send + Sync + 'static;
pub(crate) type Source = Box<Stored>;

/// An error of any type, with context and an asynchronous trace.
///
/// Every `std::error::Error + Send + Sync + 'static` converts into it, so `?` works in functions that return
/// `Result<_, Error>`. `Display` prints the message, on one line if the program's own has one; `{:#}` and `Debug` print the trace as well.
///
/// ```
/// use fiber_core::Error;
///
/// fn port(text: &str) -> Result<u16, Error> {
///     Ok(text.parse::<u16>()?)
/// }
/// let error = port("http").unwrap_err().context("reading the port");
/// assert_eq!(error.to_string(), "reading the port: invalid digit found in string");
/// assert!(error.is::<std::num::ParseIntError>());
/// ```
pub struct Error(
    /// `None` only while the error is dropped.
    Option<Box<Inner>>,
);

#[derive(Default)]
pub(super) struct Inner {
    /// `None` in a spare block.
    source: Option<Source>,
    pub(super) trace: Trace,
    rare: Option<Box<Rare>>,
}

thread_local! {
    // A thread-local, because a drop has no argument through which it could pass the block on.
    /// The block of the last error that was dropped on this thread, without its contents.
    static SPARE: Cell<Option<Box<Inner>>> = const { Cell::new(None) };
}

/// Fields that most errors never use.
#[derive(Default)]
struct Rare {
    /// The outermost context is last.
    context: Vec<String>,
    suppressed: Vec<Error>,
    /// For a panic that was suppressed into another outcome.
    witness: Option<Witness>,
}

const ALIVE: &str = "an error keeps its parts until it is dropped";

/// Called when the program inspects the error, and dropped with it.
pub(crate) type Witness = Box<dyn Fn() + Send + Sync>;

/// Marks the suppressed errors as seen, and returns them.
pub(crate) fn seen(suppressed: &[Error]) -> &[Error] {
    suppressed.iter().for_each(Error::see);
    suppressed
}

impl Error {
    /// Makes an error from any standard error.
    #[cold]
    pub fn new(source: impl StdError + Send + Sync + 'static) -> Self {
        Error::from_source(Box::new(source))
    }

    /// Makes an error that is only a message. The message is kept as it is, and formatted when the error is displayed.
    ///
    /// ```
    /// assert_eq!(fiber_core::Error::msg("no such order").to_string(), "no such order");
    /// ```
    #[cold]
    pub fn msg(message: impl Display + Send + Sync + 'static) -> Self {
        Error::new(Message(message))
    }

    pub(super) fn from_source(source: Source) -> Self {
        // An ending thread no longer has a spare block.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut inner = spare.unwrap_or_default();
        inner.source = Some(source);
        Error(Some(inner))
    }

    /// Adds the trace and the suppressed errors of a panic.
    pub(crate) fn with_past(mut self, trace: Trace, suppressed: Vec<Error>) -> Self {
        self.inner_mut().trace = trace;
        if !suppressed.is_empty() {
            self.rare_mut().suppressed = suppressed;
        }
        self
    }

    #[inline]
    pub(super) fn inner(&self) -> &Inner {
        self.0.as_ref().expect(ALIVE)
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut Inner {
        self.0.as_mut().expect(ALIVE)
    }

    pub(super) fn replace_source(&mut self, source: Source) {
        self.inner_mut().source = Some(source);
    }

    /// Whether there is anything beside its source and its [past](Error::with_past): context, or a witness.
    pub(super) fn has_more_than_past(&self) -> bool {
        self.inner().rare.as_ref().is_some_and(|rare| !rare.context.is_empty() || rare.witness.is_some())
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.inner_mut().rare.get_or_insert_default()
    }

    fn witness(&self) -> Option<&Witness> {
        self.inner().rare.as_ref()?.witness.as_ref()
    }

    /// The suppressed errors, without marking them as seen.
    pub(super) fn unseen(&self) -> &[Error] {
        self.inner().rare.as_ref().map_or(&[], |rare| &rare.suppressed)
    }

    pub(super) fn unseen_mut(&mut self) -> &mut [Error] {
        self.inner_mut().rare.as_mut().map_or(&mut [], |rare| &mut rare.suppressed)
    }

    /// Attaches `witness`, which is called when the program inspects the error, and is dropped with the error.
    pub(crate) fn watched_by(mut self, witness: Witness) -> Self {
        self.rare_mut().witness = Some(witness);
        self
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.witness().is_some()
    }

    fn see(&self) {
        self.witness().into_iter().for_each(|see| see());
        PromiseFailed::of(self.stored()).into_iter().for_each(|shared| shared.error().see());
    }

    /// Adds context: what the program was doing when the error happened.
    #[must_use]
    pub fn context(mut self, context: impl Display) -> Self {
        self.rare_mut().context.push(context.to_string());
        self
    }

    /// Whether the source is an `E`.
    ///
    /// Looks through an error that several fibers share to its source, as do [`downcast_ref`](Error::downcast_ref) and
    /// [`source`](Error::source): a failed computation of a [`Cache`](crate::sync::Cache) is what it would be without the
    /// cache. With the feature `anyhow`, an `E` may also be below the contexts of an `anyhow::Error`, or among its causes.
    pub fn is<E: StdError + 'static>(&self) -> bool {
        self.downcast_ref::<E>().is_some()
    }

    /// The source, if it is an `E`.
    ///
    /// ```
    /// use fiber_core::Error;
    /// let error = Error::from(std::io::Error::from(std::io::ErrorKind::NotFound));
    /// let io = error.downcast_ref::<std::io::Error>().unwrap();
    /// assert_eq!(io.kind(), std::io::ErrorKind::NotFound);
    /// ```
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        let stored = self.stored();
        stored.downcast_ref().or_else(|| match PromiseFailed::of(stored) {
            Some(shared) => shared.error().downcast_ref(),
            None => anyhow::find(stored),
        })
    }

    /// The source by value, if it is an `E`, and is not shared with other fibers.
    ///
    /// ```
    /// use fiber_core::Error;
    /// use std::num::ParseIntError;
    ///
    /// let error = Error::new("seven".parse::<u8>().unwrap_err());
    /// assert!(error.downcast::<ParseIntError>().is_ok());
    /// assert!(Error::msg("no").downcast::<ParseIntError>().is_err());
    /// ```
    ///
    /// # Errors
    /// Gives the error back when its source is of another type, belongs to other fibers too (see [`PromiseFailed`]), or is
    /// below a context of `anyhow`.
    pub fn downcast<E: StdError + 'static>(mut self) -> Result<E, Error> {
        let stored = self.inner_mut().source.take().expect(ALIVE);
        convert::unboxed(stored).map_err(|stored| {
            self.inner_mut().source = Some(stored);
            self
        })
    }

    /// Whether [`downcast`](Error::downcast) gives an `E`.
    pub(crate) fn owns<E: StdError + 'static>(&self) -> bool {
        self.stored().is::<E>() || anyhow::holds::<E>(self.stored())
    }

    /// The source, as a standard error; walk its `source()` for the causes below it.
    pub fn source(&self) -> &(dyn StdError + Send + Sync + 'static) {
        let stored = self.stored();
        match PromiseFailed::of(stored) {
            Some(shared) => shared.error().source(),
            None => anyhow::source(stored).unwrap_or(stored),
        }
    }

    /// The source as it is kept here: for a shared error, the handle on what is shared.
    pub(super) fn stored(&self) -> &Stored {
        self.inner().source.as_deref().expect(ALIVE)
    }

    /// The operators that the error passed, innermost first.
    pub fn trace(&self) -> &[Frame] {
        self.inner().trace.frames()
    }

    /// Errors of finalizers and siblings that did not become the outcome, because this error did.
    ///
    /// A panic among them is a defect, and is not dropped silently. It counts as seen when this function is called, or
    /// when the error is printed with its trace. If the error is dropped before that, the panic goes to
    /// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved):
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// # std::panic::set_hook(Box::new(|_| {}));
    ///
    /// let close = Fiber::lazy(|| panic!("not open"));
    /// let read = Fiber::fail("no such file").ensure(close);
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(read.catch(|_| Fiber::success("default"))).unwrap(), "default");
    /// assert!(test.unobserved()[0].contains("panic: not open"));
    /// ```
    pub fn suppressed(&self) -> &[Error] {
        seen(self.unseen())
    }

    /// Adds an error that occurred while this one was propagating.
    ///
    /// Errors that were suppressed in `other` join the same list; lists do not nest.
    ///
    /// ```
    /// let mut error = fiber_core::Error::msg("cannot write");
    /// error.suppress(fiber_core::Error::msg("cannot close"));
    /// assert_eq!(error.to_string(), "cannot write");
    /// assert_eq!(error.suppressed()[0].to_string(), "cannot close");
    /// ```
    pub fn suppress(&mut self, other: Error) {
        other.join_suppressed(&mut self.rare_mut().suppressed);
    }

    /// Adds this error to a list, after the errors that are suppressed in it.
    pub(crate) fn join_suppressed(mut self, list: &mut Vec<Error>) {
        let mut own =
            self.inner_mut().rare.as_mut().map(|rare| mem::take(&mut rare.suppressed)).unwrap_or_default();
        own.push(self);
        if list.is_empty() {
            *list = own;
        } else {
            list.append(&mut own);
        }
    }

    /// Adds an operator to the trace.
    // By value, because an outcome whose address is taken does not stay in registers.
    #[cold]
    pub(crate) fn passed(mut self, frame: Frame) -> Self {
        self.pass(frame);
        self
    }

    /// The same, for an error in an outcome that may be large, and stays where it is.
    #[cold]
    pub(crate) fn pass(&mut self, frame: Frame) {
        self.inner_mut().trace.push(frame);
    }
}

impl Error {
    /// Takes out the parts whose drops are user code: the source, and the suppressed errors. Keeps the block for the next error.
    #[cold]
    pub(crate) fn dismantle(&mut self) -> Option<(Option<Source>, Vec<Error>)> {
        let mut inner = self.0.take()?;
        let source = inner.source.take();
        let suppressed = inner.rare.take().map(|rare| rare.suppressed).unwrap_or_default();
        inner.trace.clear();
        // An ending thread keeps no block.
        let _ = SPARE.try_with(|spare| spare.set(Some(inner)));
        Some((source, suppressed))
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(source: E) -> Self {
        Error::new(source)
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.see();
        let context = self.inner().rare.iter().flat_map(|rare| rare.context.iter().rev());
        context.into_iter().try_for_each(|context| write!(f, "{context}: "))?;
        Display::fmt(self.stored(), f)?;
        if f.alternate() {
            write_details(self, f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

fn write_details(error: &Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut errors = vec![error];
    let mut cause = error.source().source();
    while let Some(inner) = cause {
        write!(f, "\n  caused by: {inner}")?;
        // Other code may have put an `Error` into one of its own.
        let below = convert::standard(inner);
        errors.extend(below);
        cause = below.map_or(inner, |error| error.source()).source();
    }
    // The innermost operators come first, as in one trace.
    errors.iter().rev().try_for_each(|error| write!(f, "{}", error.inner().trace))?;
    let suppressed = errors.iter().flat_map(|error| error.unseen());
    suppressed.into_iter().try_for_each(|error| write!(f, "\nsuppressed: {error:#}"))
}

struct Message<M>(M);

impl<M: Display> Display for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<M: Display> fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({})", self.0)
    }
}

impl<M: Display> StdError for Message<M> {}
