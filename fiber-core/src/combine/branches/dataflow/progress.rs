//! The dependencies between steps, and the steps that can start.

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

/// How far a dataflow has come. Every step becomes ready once.
#[derive(Debug)]
pub(super) struct Progress<const N: usize, const H: usize> {
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

impl<const N: usize, const H: usize> Progress<N, H> {
    pub(super) fn new(graph: &'static Graph<N>, handovers: [Handover; H]) -> Self {
        let mut missing = graph.needs;
        for handover in handovers.iter().filter(|handover| handover.is_moved) {
            missing[usize::from(handover.to)] += 1;
        }
        let mut progress =
            Progress { graph, handovers, missing, ready: [0; N], made_ready: 0, started: 0, ended: 0 };
        (0..N).filter(|step| missing[*step] == 0).for_each(|step| progress.add_ready(step));
        progress
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

    /// The step that starts now.
    #[inline]
    pub(super) fn start_next(&mut self) -> Option<usize> {
        let next = self.has_ready().then(|| usize::from(self.ready[self.started]));
        self.started += usize::from(next.is_some());
        next
    }

    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        self.started < self.made_ready
    }

    /// The expression of the step has been evaluated.
    #[inline]
    pub(super) fn has_started(&mut self, step: usize) {
        for index in 0..H {
            let Handover { from, to, is_moved } = self.handovers[index];
            if is_moved && usize::from(from) == step {
                self.count_down(to);
            }
        }
    }

    /// The step has succeeded.
    #[inline]
    pub(super) fn has_ended(&mut self, step: usize) {
        self.ended += 1;
        self.graph.next[step].iter().for_each(|next| self.count_down(*next));
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.ended == N
    }
}
