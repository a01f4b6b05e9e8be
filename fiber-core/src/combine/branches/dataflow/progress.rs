//! The dependencies between steps, and the steps that can start.

use super::core::{Program, Starter};
use super::values::Failed;

/// The edges of a dataflow, as found by the macro.
#[derive(Debug)]
pub struct Graph<const N: usize> {
    /// For each step, the number of steps that have to end before it starts.
    pub needs: [u16; N],
    /// For each step, the steps that wait for its end.
    pub next: [&'static [u16]; N],
}

/// A step moves out a value that another step borrows, and so waits until that step has started, that is, until its
/// expression has been evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// The step that borrows.
    pub from: u16,
    /// The step that takes.
    pub to: u16,
    /// Whether the value is moved. A step that copies it does not wait.
    pub is_moved: bool,
}

/// The value of a dataflow, from its variables and its [`End`](super::End).
pub(super) type Conclusion<V, Q, T> = fn(&mut V, &mut Q) -> Result<T, Failed>;

/// The expansion of [`dataflow!`](crate::dataflow!), and how far it has come. Every step becomes ready once.
#[derive(Debug)]
pub struct Block<V, Q, T, const N: usize, const H: usize>
where
    V: Send + 'static,
    Q: Send + 'static,
    T: Send + 'static,
{
    values: V,
    steps: Q,
    starter: Starter<Self>,
    conclusion: Conclusion<V, Q, T>,
    graph: &'static Graph<N>,
    handovers: [Handover; H],
    /// For each step, the number of events that it still waits for.
    missing: [u16; N],
    /// The steps that have become ready, in that order; those before `started` have started.
    ready: [u16; N],
    made_ready: usize,
    started: usize,
    ended: usize,
}

impl<V, Q, T, const N: usize, const H: usize> Block<V, Q, T, N, H>
where
    V: Send + 'static,
    Q: Send + 'static,
    T: Send + 'static,
{
    pub(super) fn new(
        graph: &'static Graph<N>,
        handovers: [Handover; H],
        (values, steps): (V, Q),
        starter: Starter<Self>,
        conclusion: Conclusion<V, Q, T>,
    ) -> Self {
        let mut missing = graph.needs;
        for handover in handovers.iter().filter(|handover| handover.is_moved) {
            missing[usize::from(handover.to)] += 1;
        }
        let (ready, made_ready, started, ended) = ([0; N], 0, 0, 0);
        let mut block = Block {
            values,
            steps,
            starter,
            conclusion,
            graph,
            handovers,
            missing,
            ready,
            made_ready,
            started,
            ended,
        };
        (0..N).filter(|step| missing[*step] == 0).for_each(|step| block.add_ready(step));
        block
    }

    fn add_ready(&mut self, step: usize) {
        // The macro refuses dataflows with more steps than a `u16` counts.
        self.ready[self.made_ready] = step as u16;
        self.made_ready += 1;
    }

    fn count_down(&mut self, step: u16) {
        let step = usize::from(step);
        self.missing[step] -= 1;
        if self.missing[step] == 0 {
            self.add_ready(step);
        }
    }
}

impl<V, Q, T, const N: usize, const H: usize> Program for Block<V, Q, T, N, H>
where
    V: Send + 'static,
    Q: Send + 'static,
    T: Send + 'static,
{
    type Out = T;
    type Values = V;
    type Steps = Q;

    fn parts(&mut self) -> (&mut V, &mut Q) {
        (&mut self.values, &mut self.steps)
    }

    fn starter(&self) -> Starter<Self> {
        self.starter
    }

    fn end(&mut self) -> Result<T, Failed> {
        (self.conclusion)(&mut self.values, &mut self.steps)
    }

    #[inline]
    fn start_next(&mut self) -> Option<usize> {
        let next = self.has_ready().then(|| usize::from(self.ready[self.started]));
        self.started += usize::from(next.is_some());
        next
    }

    #[inline]
    fn has_ready(&self) -> bool {
        self.started < self.made_ready
    }

    #[inline]
    fn has_started(&mut self, step: usize) {
        for index in 0..H {
            let Handover { from, to, is_moved } = self.handovers[index];
            if is_moved && usize::from(from) == step {
                self.count_down(to);
            }
        }
    }

    #[inline]
    fn has_ended(&mut self, step: usize) {
        self.ended += 1;
        self.graph.next[step].iter().for_each(|next| self.count_down(*next));
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.ended == N
    }
}
