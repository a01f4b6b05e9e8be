//! The exact numbers, from all interleavings of an abstract program, with which the explorer is compared. Nothing of the explorer
//! is used here.

/// The effect of a step of the given fiber on the state.
pub(crate) type Step<S> = fn(&mut S, usize) -> Next;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    /// The fiber ends here, whatever steps are left.
    End,
}

/// Fibers of steps over a state.
#[derive(Clone)]
pub(crate) struct Model<S> {
    pub(crate) state: S,
    /// The steps of each fiber.
    pub(crate) fibers: Vec<Vec<Step<S>>>,
    /// Whether a fiber waits for another one.
    pub(crate) waits: fn(&S, usize) -> bool,
    /// Checked when no fiber can run.
    pub(crate) is_broken: fn(&S) -> bool,
}

#[derive(Clone)]
struct Run<'a, S> {
    model: &'a Model<S>,
    state: S,
    /// The next step of each fiber.
    next: Vec<usize>,
}

impl<S: Clone> Model<S> {
    /// Fibers that never wait.
    pub(crate) fn new(state: S, fibers: Vec<Vec<Step<S>>>, is_broken: fn(&S) -> bool) -> Self {
        Model { state, fibers, waits: |_, _| false, is_broken }
    }

    fn start(&self) -> Run<'_, S> {
        Run { model: self, state: self.state.clone(), next: vec![0; self.fibers.len()] }
    }

    /// The probability that a walk that picks among the runnable fibers uniformly breaks the program.
    pub(crate) fn random_walk(&self) -> f64 {
        self.start().random_walk()
    }

    /// The same, if all runnable fibers have a step each, in a random order, before any has the next.
    pub(crate) fn rounds(&self) -> f64 {
        self.start().rounds(&[])
    }

    /// The number of interleavings of the fibers.
    pub(crate) fn interleavings(&self) -> u64 {
        self.start().interleavings()
    }

    /// The fewest preemptions that break the program: switches away from a fiber that could continue.
    pub(crate) fn fewest_preemptions(&self) -> Option<u32> {
        self.start().fewest_preemptions(None)
    }
}

impl<S: Clone> Run<'_, S> {
    fn can_run(&self, fiber: usize) -> bool {
        self.next[fiber] < self.model.fibers[fiber].len() && !(self.model.waits)(&self.state, fiber)
    }

    fn runnable(&self) -> Vec<usize> {
        (0..self.next.len()).filter(|fiber| self.can_run(*fiber)).collect()
    }

    fn after(&self, fiber: usize) -> Self {
        let mut run = self.clone();
        let steps = &self.model.fibers[fiber];
        run.next[fiber] = match steps[self.next[fiber]](&mut run.state, fiber) {
            Next::GoOn => self.next[fiber] + 1,
            Next::End => steps.len(),
        };
        run
    }

    fn is_broken(&self) -> bool {
        (self.model.is_broken)(&self.state)
    }

    fn random_walk(&self) -> f64 {
        let runnable = self.runnable();
        if runnable.is_empty() {
            return f64::from(u8::from(self.is_broken()));
        }
        let sum: f64 = runnable.iter().map(|fiber| self.after(*fiber).random_walk()).sum();
        sum / runnable.len() as f64
    }

    /// `left`: the fibers that have not had their step of this round.
    fn rounds(&self, left: &[usize]) -> f64 {
        let all = if left.is_empty() { self.runnable() } else { left.to_vec() };
        if all.is_empty() {
            return f64::from(u8::from(self.is_broken()));
        }
        let one = |at: usize| {
            let mut left = all.clone();
            let fiber = left.swap_remove(at);
            self.after(fiber).rounds(&left)
        };
        (0..all.len()).map(one).sum::<f64>() / all.len() as f64
    }

    fn interleavings(&self) -> u64 {
        let runnable = self.runnable();
        let below: u64 = runnable.iter().map(|fiber| self.after(*fiber).interleavings()).sum();
        below.max(1)
    }

    fn fewest_preemptions(&self, last: Option<usize>) -> Option<u32> {
        let runnable = self.runnable();
        if runnable.is_empty() {
            return self.is_broken().then_some(0);
        }
        let cost = |fiber| u32::from(last.is_some_and(|last| last != fiber && self.can_run(last)));
        let each = runnable.into_iter().filter_map(|fiber| {
            self.after(fiber).fewest_preemptions(Some(fiber)).map(|fewest| fewest + cost(fiber))
        });
        each.min()
    }
}
