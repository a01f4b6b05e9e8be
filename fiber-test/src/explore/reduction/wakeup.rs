//! The steps to run next at a point of the path: the wakeup trees of Abdulla, Aronis, Jonsson, Sagonas ("Optimal dynamic
//! partial order reduction", 2014).

use super::causes::Causes;
use crate::machine::{Steps, TaskId};
use crate::strategy::{Branch, Sleeper};

/// Adds a sequence to the other steps to take at a decision, unless everything that begins with it was seen, or will be: some of its tasks
/// sleep there.
///
/// The accesses of its last step are unknown, because it runs earlier than it was seen to. So it comes after all others.
pub(super) fn plan(
    others: &mut Vec<Branch>,
    sleep: &[Sleeper],
    sequence: Vec<usize>,
    steps: &Steps,
    causes: &Causes,
) {
    let is_seen = sleep.iter().any(|sleeper| place_of(sleeper.task, &sequence, steps, causes).is_some());
    if !is_seen {
        insert(others, sequence, steps, causes);
    }
}

/// The index of a task in a sequence, if it can come first.
fn place_of(task: TaskId, sequence: &[usize], steps: &Steps, causes: &Causes) -> Option<usize> {
    let place = sequence.iter().position(|step| steps.all()[*step].task == task)?;
    let is_free = |earlier: &usize| !causes.is_before(*earlier, sequence[place]);
    let is_last = place + 1 == sequence.len();
    (place == 0 || !is_last && sequence[..place].iter().all(is_free)).then_some(place)
}

fn insert(mut branches: &mut Vec<Branch>, mut sequence: Vec<usize>, steps: &Steps, causes: &Causes) {
    while let Some((at, place)) = branches
        .iter()
        .enumerate()
        .find_map(|(at, branch)| Some((at, place_of(branch.task, &sequence, steps, causes)?)))
    {
        sequence.remove(place);
        branches = &mut branches[at].next;
        if branches.is_empty() || sequence.is_empty() {
            return;
        }
    }
    let tasks = sequence.into_iter().rev().map(|step| steps.all()[step].task);
    branches.extend(tasks.fold(Vec::new(), |next, task| vec![Branch { task, next }]));
}
