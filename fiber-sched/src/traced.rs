//! Fibers as spans of [`tracing`].

use fiber_core::{Context, Ending, Event, Unobserved};
use tracing::{Span, error, info_span, warn};

use crate::by_fiber::ByFiber;
use crate::observer::Observer;
use crate::pool::Stuck;

/// An [`Observer`] that tells [`tracing`] about fibers. Needs the feature `tracing`.
///
/// * Each [named](fiber_core::Fiber::named) fiber has a span `fiber`, with its `name` and `id`, below that of the fiber
///   that forks it. The span is entered in each turn, and in blocking calls, so what the fiber logs is in the span.
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
/// The values of locals are not fields of the span, because a fiber sets them while it runs. A log layer asks
/// [`Context::local`] for them.
#[derive(Debug, Default)]
pub struct Traced {
    /// The spans that live fibers are in.
    spans: ByFiber<Span>,
}

impl Traced {
    /// An observer for one scheduler.
    pub fn new() -> Self {
        Traced::default()
    }

    fn span(&self, fiber: &Context) -> Option<Span> {
        self.spans.with(fiber, |span| span.clone())
    }

    fn create(&self, fiber: &Context, parent: &Context) {
        let above = self.span(parent).unwrap_or_else(Span::current);
        let span = match fiber.name().filter(|_| !fiber.is_structure()) {
            Some(name) => info_span!(target: "fiber", parent: &above, "fiber", name, id = fiber.id()),
            None => above,
        };
        if !span.is_none() {
            self.spans.insert(fiber, span);
        }
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
