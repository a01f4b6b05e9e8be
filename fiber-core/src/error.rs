//! The one error type, and the errors that the library itself raises.
//!
//! An [`Error`] is a boxed source with added context and an *asynchronous trace*: the `file:line` of every
//! operator that it passed on its way out. The trace is written on the failure path only.

use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::panic::Location;
use std::time::Duration;

use crate::instant::Instant;

type Source = Box<dyn StdError + Send + Sync + 'static>;

/// An error of any type, with context and an asynchronous trace.
///
/// Every `std::error::Error + Send + Sync + 'static` converts into it, so `?` works in functions that return
/// `Result<_, Error>`. `Display` prints one line; `{:#}` and `Debug` print the trace as well.
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
pub struct Error(Box<Inner>);

struct Inner {
    source: Source,
    /// Outermost last.
    context: Vec<String>,
    trace: Trace,
    suppressed: Vec<Error>,
    /// Of a panic that was suppressed into another outcome.
    witness: Option<Box<dyn Witness>>,
}

/// Wants to know whether an error was looked at before it is dropped.
pub(crate) trait Witness: Send + Sync {
    /// Somebody looks at the error.
    fn see(&self);
}

/// A list of suppressed errors that somebody looks at.
pub(crate) fn seen(suppressed: &[Error]) -> &[Error] {
    suppressed.iter().for_each(Error::see);
    suppressed
}

impl Error {
    /// An error from any standard error.
    #[cold]
    pub fn new(source: impl StdError + Send + Sync + 'static) -> Self {
        Error::with_parts(source, Trace::default(), Vec::new())
    }

    /// An error that is only a message.
    ///
    /// ```
    /// assert_eq!(fiber_core::Error::msg("no such order").to_string(), "no such order");
    /// ```
    #[cold]
    pub fn msg(message: impl Display) -> Self {
        Error::new(Message(message.to_string()))
    }

    /// An error from a boxed one. A box that was made of an `Error` gives that error back, with its trace.
    ///
    /// ```
    /// use fiber_core::Error;
    ///
    /// let boxed: Box<dyn std::error::Error + Send + Sync> = "no such host".into();
    /// assert_eq!(Error::from_boxed(boxed).context("connecting").to_string(), "connecting: no such host");
    /// ```
    #[cold]
    pub fn from_boxed(source: Box<dyn StdError + Send + Sync>) -> Self {
        match source.downcast::<Standard>() {
            Ok(standard) => standard.0,
            Err(source) => Error::from_source(source, Trace::default(), Vec::new()),
        }
    }

    pub(crate) fn with_parts(
        source: impl StdError + Send + Sync + 'static,
        trace: Trace,
        suppressed: Vec<Error>,
    ) -> Self {
        Error::from_source(Box::new(source), trace, suppressed)
    }

    fn from_source(source: Source, trace: Trace, suppressed: Vec<Error>) -> Self {
        Error(Box::new(Inner { source, context: Vec::new(), trace, suppressed, witness: None }))
    }

    /// The same error, whose `witness` is told when it is looked at, and dropped with it.
    pub(crate) fn watched_by(mut self, witness: Box<dyn Witness>) -> Self {
        self.0.witness = Some(witness);
        self
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.0.witness.is_some()
    }

    fn see(&self) {
        self.0.witness.iter().for_each(|witness| witness.see());
    }

    /// Says what was being done when the error happened.
    #[must_use]
    pub fn context(mut self, context: impl Display) -> Self {
        self.0.context.push(context.to_string());
        self
    }

    /// Whether the source is an `E`.
    pub fn is<E: StdError + 'static>(&self) -> bool {
        self.0.source.is::<E>()
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
        self.0.source.downcast_ref()
    }

    /// The source by value, if it is an `E`.
    ///
    /// # Errors
    /// Gives the error back when its source is of another type.
    pub fn downcast<E: StdError + 'static>(mut self) -> Result<E, Error> {
        match self.0.source.downcast::<E>() {
            Ok(source) => Ok(*source),
            Err(source) => {
                self.0.source = source;
                Err(self)
            }
        }
    }

    /// The source, as a standard error; walk its `source()` for the causes below it.
    pub fn source(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0.source
    }

    /// The operators that the error passed, innermost first.
    pub fn trace(&self) -> &[Frame] {
        self.0.trace.frames()
    }

    /// Errors that did not become the outcome because this one did: of finalizers, and of siblings.
    ///
    /// A panic among them is a defect, which must not be passed over in silence. It counts as seen when this is called, or when the
    /// error is printed with its trace; an error that is dropped before that tells
    /// [`Scheduler::unobserved`](crate::Scheduler::unobserved) of it:
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    /// use fiber_test::TestScheduler;
    /// # std::panic::set_hook(Box::new(|_| {}));
    ///
    /// let close = Fiber::lazy(|| panic!("not open"));
    /// let read = Fiber::fail(Error::msg("no such file")).ensure(close);
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(read.catch(|_| Fiber::success("default"))).unwrap(), "default");
    /// assert!(test.unobserved()[0].contains("panic: not open"));
    /// ```
    pub fn suppressed(&self) -> &[Error] {
        seen(&self.0.suppressed)
    }

    /// Adds an error that happened while this one was on its way.
    ///
    /// What was suppressed in that one comes into the same list: it does not nest.
    pub fn suppress(&mut self, other: Error) {
        other.join_suppressed(&mut self.0.suppressed);
    }

    /// Adds this error to a list, after what is suppressed in it.
    pub(crate) fn join_suppressed(mut self, list: &mut Vec<Error>) {
        let mut own = std::mem::take(&mut self.0.suppressed);
        own.push(self);
        if list.is_empty() {
            *list = own;
        } else {
            list.append(&mut own);
        }
    }

    pub(crate) fn push_frame(&mut self, frame: Frame) {
        self.0.trace.push(frame);
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(source: E) -> Self {
        Error::new(source)
    }
}

/// `?` on a `Result<_, Error>` works in functions that return a boxed standard error, such as many a `main`. The box
/// displays what the error displays, and its `Debug` prints the trace.
///
/// ```
/// use fiber_core::{Error, Fiber};
///
/// fn serve() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     fiber_sched::run(Fiber::<()>::fail(Error::msg("no port").context("starting"))).into_result()?;
///     Ok(())
/// }
/// assert_eq!(serve().unwrap_err().to_string(), "starting: no port");
/// ```
impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        Box::new(Standard(error))
    }
}

/// As above, for a box that is neither `Send` nor `Sync`.
impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::new(Standard(error))
    }
}

/// As above, for a box that is not `Sync`.
impl From<Error> for Box<dyn StdError + Send> {
    fn from(error: Error) -> Self {
        Box::new(Standard(error))
    }
}

/// An [`Error`] as a standard error, which it cannot be itself: every standard error converts into it.
struct Standard(Error);

impl Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl StdError for Standard {
    /// What caused the source: the source itself is displayed by this error.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source().source()
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.see();
        self.0.context.iter().rev().try_for_each(|context| write!(f, "{context}: "))?;
        Display::fmt(&self.0.source, f)?;
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
    let mut cause = error.0.source.source();
    while let Some(inner) = cause {
        write!(f, "\n  caused by: {inner}")?;
        cause = inner.source();
    }
    write!(f, "{}", error.0.trace)?;
    error.0.suppressed.iter().try_for_each(|error| write!(f, "\nsuppressed: {error:#}"))
}

/// An operator of a program, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    operator: &'static str,
    location: &'static Location<'static>,
}

impl Frame {
    pub(crate) fn new(operator: &'static str, location: &'static Location<'static>) -> Self {
        Frame { operator, location }
    }

    /// The operator's name, such as `"bind"`.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// Where the program calls the operator.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.operator, self.location.file(), self.location.line())
    }
}

/// How many operators a trace names. A failure at the bottom of a deep recursion passes millions of them; the
/// first hundred tell where it came from.
const LONGEST_TRACE: usize = 100;

#[derive(Default)]
pub(crate) struct Trace {
    frames: Vec<Frame>,
    omitted: usize,
}

impl Trace {
    #[cold]
    pub(crate) fn push(&mut self, frame: Frame) {
        if self.frames.len() < LONGEST_TRACE {
            self.frames.push(frame);
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }
}

impl Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frames.iter().try_for_each(|frame| write!(f, "\n  {frame}"))?;
        if self.omitted > 0 {
            write!(f, "\n  and {} more", self.omitted)?;
        }
        Ok(())
    }
}

macro_rules! plain_error {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name;

        impl Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }

        impl StdError for $name {}
    };
}

plain_error! {
    /// Something that should have given a value was cancelled: a joined fiber, or a fiber whose
    /// [`Outcome`](crate::Outcome) was asked for as a `Result`.
    Cancelled, "the fiber was cancelled"
}

plain_error! {
    /// A [`Resume`](crate::Resume) was dropped unused, or a scheduler threw a task away: nobody is left who
    /// could end the wait.
    Abandoned, "nobody is left who could resume this fiber"
}

plain_error! {
    /// A fiber was to be forked in a [`Scope`](crate::Scope) that has ended.
    ScopeEnded, "the scope has ended: fork while its body or one of its fibers runs"
}

plain_error! {
    /// A fiber was awaited in a future that no fiber runs, so there is no scheduler to run it on.
    NoScheduler,
    "a fiber was awaited outside of any fiber: spawn it on a scheduler and await its handle instead"
}

/// A `timeout` passed.
///
/// ```
/// use fiber_core::{Fiber, error::TimedOut};
/// use std::time::Duration;
///
/// let error = fiber_sched::run(Fiber::<()>::never().timeout(Duration::from_millis(1))).failure().unwrap();
/// assert_eq!(error.downcast_ref::<TimedOut>().unwrap().after(), Duration::from_millis(1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TimedOut {
    after: Duration,
    location: &'static Location<'static>,
}

impl TimedOut {
    pub(crate) fn new(after: Duration, location: &'static Location<'static>) -> Self {
        TimedOut { after, location }
    }

    /// The time that was allowed.
    pub fn after(&self) -> Duration {
        self.after
    }

    /// Where the timeout was set.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timed out after {:?}", self.after)
    }
}

impl StdError for TimedOut {}

/// A deadline passed.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineExceeded {
    deadline: Instant,
    location: &'static Location<'static>,
}

impl DeadlineExceeded {
    pub(crate) fn new(deadline: Instant, location: &'static Location<'static>) -> Self {
        DeadlineExceeded { deadline, location }
    }

    /// The deadline, in the scheduler's time.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Where it was set.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl Display for DeadlineExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the deadline at {} of the scheduler's time has passed", self.deadline)
    }
}

impl StdError for DeadlineExceeded {}

#[derive(Debug)]
struct Message(String);

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Message {}

/// What is left of a panic that became an error.
#[derive(Debug)]
pub(crate) struct PanicMessage(pub(crate) String);

impl Display for PanicMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic: {}", self.0)
    }
}

impl StdError for PanicMessage {}
