//! Steps that start as soon as their inputs have values: the engine behind [`dataflow!`](crate::dataflow!).
//!
//! The macro declares the variables, the steps, and the graph of their dependencies. The types of all of them are
//! inferred.
//!
//! ```text
//!   Block { values: (Value<_>, ..), steps: (Step<make, put>, .., End<make>), progress }
//!
//!   ready step --make--> a fiber --runs--> an outcome --put--> values; counts down its dependents
//! ```
//!
//! `make` evaluates the expression of a step, which borrows values or moves them. Only the thread that holds the
//! [`Core`](core::Core) does that; so values need not be `Sync`. The fibers themselves run in parallel:
//!
//! ```text
//!  alone:     Core on the stack, lent while the fiber of a step runs and another one is ready
//!                 | a thread takes it, or a step has to wait
//!                 v
//!  together:  Arc<Shared { core }>; the fiber and each thread that joins are Hands. A step that ends on its own starts
//!             its dependents as separate fibers.
//! ```
//!
//! * [`values`]: variables, steps, and the traits behind error messages.
//! * [`progress`]: the dependencies between steps.
//! * [`core`]: the state, and the calls of user code.
//! * [`hands`]: a thread that works on a dataflow. [`shared`]: several of them, and steps that wait.

mod core;
mod hands;
mod progress;
mod shared;
mod values;

use std::marker::PhantomData;
use std::panic::Location;

use self::core::{Core, NAME, Starter};
use self::hands::{Crew, Hands};
use self::progress::Conclusion;
use self::shared::{Concluded, Shared};
use crate::combine::region::group;
use crate::engine::context::{Cx, Part};
use crate::engine::step::{Run, Step as Ran};
use crate::error::Site;
use crate::fiber::Fiber;
use crate::instant::Instant;

pub use self::core::Program;
pub use self::hands::Start;
pub use self::progress::{Block, Graph, Handover};
pub use self::values::{Copied, End, Failed, Made, Own, Step, Value, copied, end, made, step};

/// Makes the fiber of a dataflow. The type of its value comes first, so that the type of the result is known before its value is checked.
#[doc(hidden)]
#[track_caller]
pub fn dataflow<V, Q, T, const N: usize, const H: usize>(
    _: PhantomData<fn() -> T>,
    graph: &'static Graph<N>,
    handovers: [Handover; H],
    steps: Q,
    values: V,
    starter: Starter<Block<V, Q, T, N, H>>,
    conclusion: Conclusion<V, Q, T>,
) -> Fiber<T>
where
    V: Send + 'static,
    Q: Send + 'static,
    T: Send + 'static,
{
    let program = Block::new(graph, handovers, (values, steps), starter, conclusion);
    Fiber::new(Dataflow { program, site: Location::caller() }).boxed()
}

/// The description of a dataflow.
#[derive(Debug)]
struct Dataflow<P> {
    program: P,
    site: Site,
}

impl<P: Program> Run for Dataflow<P> {
    type Out = P::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Ran<'s, P::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Dataflow { program, site } = self;
        let core = Core::new(program, site);
        if !core.has_ready() {
            return Ran::Done(core.conclude(cx));
        }
        let may_start = cx.spend_on_branch();
        if !may_start || cx.branches().is_none() {
            return run_apart(cx, core, site);
        }
        let mut group = Part::structure(cx, NAME, Instant::FAR_FUTURE, site);
        let inside = &cx.within(&group);
        let mut hands = Hands::new(cx, inside, Crew::Alone(core, &group));
        hands.work();
        match hands.into_rest() {
            Ok(core) => Ran::Done(core.conclude(cx)),
            Err(shared) => group::settle(cx, group.leave_inside(), Concluded(shared)),
        }
    }
}

/// Runs all steps as separate fibers, because the scheduler decides when each of them runs, or because the thread cannot
/// lend.
#[cold]
fn run_apart<'s, P: Program>(cx: &'s Cx<'_>, core: Core<P>, site: Site) -> Ran<'s, P::Out> {
    let group = group::open(cx, NAME, site);
    let shared = Shared::new(&group, core);
    shared.start_apart(Some(cx));
    group::settle(cx, group, Concluded(shared))
}
