//! Fibers as spans of [`tracing`].

use std::fmt::{self, Display, Write};
use std::iter::successors;
use std::mem;

use fiber_core::scheduler::{Ending, Event, Unobserved};
use fiber_core::{Context, LocalKey};
use tracing::{Span, error, field, info_span, warn};

use crate::by_fiber::ByFiber;
use crate::observer::Observer;
use crate::pool::Stuck;

/// An [`Observer`] that reports fibers to [`tracing`]. Needs the feature `tracing`.
///
/// * Each [named](fiber_core::Fiber::named) fiber has a span `fiber`, with its `name` and `id`, below that of the fiber
///   that forks it. The span is entered in each turn, and in blocking calls, so what the fiber logs is in the span.
/// * What begins in the turn of another fiber logs in the span of that one until it waits: a fiber whose join starts it, and a named branch.
///   A log layer that asks [`Context::current`] is told of a fiber that its join has started.
/// * A fiber without a name is in the span of the fiber above it. If there is none, it is in the span in which it was
///   spawned, such as that of a request.
/// * A panic and an unobserved failure are events of level `ERROR`; a worker that is stuck is one of level `WARN`. Their
///   target is `fiber`.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{Pool, Traced};
///
/// let pool = Pool::builder().observer(Traced::new()).build();
/// let audit = Fiber::yield_now().map(|()| tracing::info!("in the span of the fiber")).named("audit");
/// assert!(pool.run(audit).is_success());
/// ```
///
/// The span also shows the [locals](Traced::with_local) that it was told about.
#[derive(Default)]
pub struct Traced {
    /// The spans that live fibers are in.
    spans: ByFiber<Entered>,
    locals: Vec<Local>,
}

/// The span that a fiber is in.
#[derive(Clone, Debug)]
struct Entered {
    span: Span,
    /// Whether the span is that of the fiber itself, or of the fiber that it is a part of.
    is_own: bool,
    /// Whether its field `locals` shows any.
    shows_locals: bool,
}

/// A local that is shown.
struct Local {
    name: &'static str,
    of: Box<dyn Fn(&Context) -> Option<String> + Send + Sync>,
}

impl Traced {
    /// An observer for one scheduler.
    pub fn new() -> Self {
        Traced::default()
    }

    /// Shows the value that a fiber carries for `key`, by `name`, in the field `locals` of the fiber's span. The field is
    /// recorded when the fiber is created, if it carries a value then, and whenever [`Fiber::with_local`] changes one. A fiber
    /// without a name is in the span of another fiber, and does not change that span's field.
    ///
    /// A log layer that wants the value as a field of its own asks [`Context::local`].
    ///
    /// [`Fiber::with_local`]: fiber_core::Fiber::with_local
    ///
    /// ```
    /// use fiber_core::{Fiber, local_key};
    /// use fiber_sched::{Pool, Traced, block_on};
    ///
    /// local_key! { static REQUEST: u64 = 0; }
    ///
    /// let traced = Traced::new().with_local("request", &REQUEST);
    /// let pool = Pool::builder().observer(traced).build();
    /// // A line of the log begins with `fiber{name="handler" id="0" locals="request=7"}`.
    /// let handler = Fiber::lazy(|| tracing::info!("accepted")).with_local(&REQUEST, 7).named("handler");
    /// assert!(block_on(pool.spawn(handler)).is_success());
    /// ```
    #[must_use]
    pub fn with_local<T>(mut self, name: &'static str, key: &'static LocalKey<T>) -> Self
    where
        T: Clone + Display + Send + Sync,
    {
        let of = move |fiber: &Context| fiber.carried(key).map(|value| value.to_string());
        self.locals.push(Local { name, of: Box::new(of) });
        self
    }

    fn entered(&self, fiber: &Context) -> Option<Entered> {
        self.spans.with(fiber, |entered| entered.clone())
    }

    /// That of the fiber, or of the first one above it that has one. Another thread may be about to tell of a part whose branches are created here.
    fn entered_above(&self, fiber: &Context) -> Option<Entered> {
        let mut is_part = true;
        successors(Some(fiber.clone()), Context::above).find_map(|above| {
            let entered =
                self.entered(&above).map(|entered| Entered { is_own: entered.is_own && is_part, ..entered });
            is_part &= above.is_structure();
            entered
        })
    }

    fn span(&self, fiber: &Context) -> Option<Span> {
        self.entered(fiber).map(|entered| entered.span)
    }

    fn create(&self, fiber: &Context, parent: &Context) {
        let (above, is_own) = match self.entered_above(parent).filter(|above| !above.span.is_none()) {
            Some(Entered { span, is_own, .. }) => (span, is_own && fiber.is_structure()),
            None => (Span::current(), false),
        };
        let Some(name) = fiber.name().filter(|_| !fiber.is_structure()) else {
            // Also if it is in no span: what is created below it need not look at everything above, which may be thousands of fibers.
            self.spans.insert(fiber, Entered { span: above, is_own, shows_locals: false });
            return;
        };
        let locals = field::Empty;
        let span = info_span!(target: "fiber", parent: &above, "fiber", name, id = fiber.id(), locals);
        self.spans.insert(fiber, Entered { span, is_own: true, shows_locals: false });
        self.record(fiber);
    }

    /// Records the locals of a fiber in its own span.
    fn record(&self, fiber: &Context) {
        let Some(Entered { span, .. }) = self.entered(fiber).filter(|entered| entered.is_own) else { return };
        let mut text = String::new();
        for Local { name, of } in &self.locals {
            if let Some(value) = of(fiber) {
                let gap = if text.is_empty() { "" } else { " " };
                _ = write!(text, "{gap}{name}={value}");
            }
        }
        let shows = !text.is_empty();
        let showed = self.spans.with(fiber, |entered| mem::replace(&mut entered.shows_locals, shows));
        if shows || showed == Some(true) {
            span.record("locals", text);
        }
    }
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.locals.iter().map(|local| local.name).collect();
        f.debug_struct("Traced").field("spans", &self.spans).field("locals", &names).finish()
    }
}

impl Observer for Traced {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        match event {
            Event::Created { parent } => self.create(fiber, parent),
            Event::Outcome(Ending::Panicked(panic)) => {
                let _inside = self.span(fiber).map(Span::entered);
                error!(target: "fiber", %fiber, "{panic}");
            }
            Event::Locals if !self.locals.is_empty() => self.record(fiber),
            Event::Ended => drop(self.spans.remove(fiber)),
            _ => {}
        }
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        match self.span(fiber) {
            Some(span) => span.in_scope(turn),
            None => turn(),
        }
    }

    fn unobserved(&self, failure: &Unobserved) {
        let _inside = self.span(failure.fiber()).map(Span::entered);
        error!(target: "fiber", "{failure}");
    }

    fn stuck(&self, stuck: &Stuck) {
        warn!(target: "fiber", "{stuck}");
    }
}
