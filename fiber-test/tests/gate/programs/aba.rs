//! Pops from a lock-free stack: reads the top and the node below it, then swaps if the top is still the same. Meanwhile, the top may
//! have been popped, the node below as well, and the first one pushed again.

use fiber_core::Fiber;

use crate::support::Shared;

/// Nodes 0 and 1; node 0 is initially above node 1.
pub(crate) struct Stack {
    pub(crate) top: Option<usize>,
    pub(crate) below: [Option<usize>; 2],
    /// Changes with every swap.
    version: u32,
    pub(crate) is_popped: [bool; 2],
}

impl Stack {
    pub(crate) fn new() -> Self {
        Stack { top: Some(0), below: [Some(1), None], version: 0, is_popped: [false; 2] }
    }

    pub(crate) fn swap(&mut self, top: Option<usize>) {
        self.top = top;
        self.version += 1;
    }

    pub(crate) fn pop(&mut self) {
        if let Some(node) = self.top {
            self.is_popped[node] = true;
            self.swap(self.below[node]);
        }
    }

    pub(crate) fn push(&mut self, node: usize) {
        self.is_popped[node] = false;
        self.below[node] = self.top;
        self.swap(Some(node));
    }
}

fn program(sees_versions: bool) -> Fiber<()> {
    let stack = Shared::new(Stack::new());
    let popping = stack.clone();
    let read = stack.step(|stack| (stack.top, stack.version, stack.top.and_then(|node| stack.below[node])));
    let swap = move |(top, version, below)| {
        popping.step(move |stack: &mut Stack| {
            if stack.top == top && (!sees_versions || stack.version == version) {
                stack.swap(below);
            }
        })
    };
    let (second, third) = (stack.clone(), stack.clone());
    let others = stack
        .step(Stack::pop)
        .bind(move |()| second.step(Stack::pop))
        .bind(move |()| third.step(|stack| stack.push(0)));
    let both = Fiber::parallel([read.bind(swap).boxed(), others.boxed()]);
    let is_sound = |stack: &mut Stack| stack.top.is_none_or(|node| !stack.is_popped[node]);
    both.map(move |_| assert!(stack.with(is_sound), "the top was popped before")).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}
