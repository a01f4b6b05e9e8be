//! The list of waiters for one event.

use std::collections::BTreeMap;
use std::num::NonZero;

use super::context::Wakeup;

/// The wake-ups for one event, first come, first served. A single wake-up, by far the most frequent case, needs no
/// allocation.
#[derive(Default)]
pub(crate) struct WaitList {
    /// The number of keys handed out so far.
    keys: u64,
    waiting: Waiting,
}

/// The waiters for an event, also after the event, until they are fired.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// The first waiter, unless it has left.
    first: Option<(WaitKey, Wakeup)>,
    /// The waiters that came while others were waiting.
    others: BTreeMap<WaitKey, Wakeup>,
}

/// Names a wake-up in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WaitKey(NonZero<u64>);

impl WaitList {
    pub(crate) fn insert(&mut self, wakeup: Wakeup) -> WaitKey {
        let key = WaitKey(NonZero::<u64>::MIN.saturating_add(self.keys));
        self.keys += 1;
        let Waiting { first, others } = &mut self.waiting;
        if first.is_none() && others.is_empty() {
            *first = Some((key, wakeup));
        } else {
            others.insert(key, wakeup);
        }
        key
    }

    pub(crate) fn remove(&mut self, key: WaitKey) -> Option<Wakeup> {
        let Waiting { first, others } = &mut self.waiting;
        if let Some((_, wakeup)) = first.take_if(|(of_first, _)| *of_first == key) {
            return Some(wakeup);
        }
        others.remove(&key)
    }

    pub(crate) fn get(&self, key: WaitKey) -> Option<&Wakeup> {
        let Waiting { first, others } = &self.waiting;
        let first = first.as_ref().filter(|(of_first, _)| *of_first == key);
        first.map(|(_, wakeup)| wakeup).or_else(|| others.get(&key))
    }

    /// The wake-ups, in no order.
    pub(crate) fn wakeups(&self) -> impl Iterator<Item = &Wakeup> {
        let Waiting { first, others } = &self.waiting;
        let first = first.iter().map(|(_, wakeup)| wakeup);
        first.chain(others.values())
    }

    /// Takes out all waiters, to be fired without a lock. Keys continue from where they were: a waiter that is taken
    /// out here, and whose fiber is being cancelled at the same time, still returns its key, and that key must not
    /// match a later waiter.
    pub(crate) fn take_all(&mut self) -> Waiting {
        std::mem::take(&mut self.waiting)
    }
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }

    pub(crate) fn fire(self) {
        if let Some((_, wakeup)) = self.first {
            wakeup.fire();
        }
        // Usually empty: a chained iterator would check both parts.
        self.others.into_values().for_each(Wakeup::fire);
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::sync::Arc;
    use std::task::{Wake, Waker};

    use parking_lot::Mutex;
    use proptest::prelude::*;

    use super::*;

    /// Wakers that record their number when they are woken.
    #[derive(Default)]
    struct Numbered {
        woken: Arc<Mutex<Vec<usize>>>,
        count: usize,
    }

    struct Number(usize, Arc<Mutex<Vec<usize>>>);

    impl Wake for Number {
        fn wake(self: Arc<Self>) {
            self.1.lock().push(self.0);
        }
    }

    impl Numbered {
        fn next(&mut self) -> Wakeup {
            self.count += 1;
            Waker::from(Arc::new(Number(self.count - 1, self.woken.clone()))).into()
        }

        fn insert_into(&mut self, list: &mut WaitList, count: usize) -> Vec<WaitKey> {
            (0..count).map(|_| list.insert(self.next())).collect()
        }

        /// The numbers of the wakers that were woken since the last call.
        fn woken(&self) -> Vec<usize> {
            std::mem::take(&mut self.woken.lock())
        }
    }

    #[test]
    fn waiters_are_fired_in_order_of_arrival_when_others_have_left() {
        let (mut list, mut numbered) = (WaitList::default(), Numbered::default());
        let keys = numbered.insert_into(&mut list, 5);
        for left in [0, 3, 1] {
            assert!(list.remove(keys[left]).is_some());
        }
        numbered.insert_into(&mut list, 3);
        list.take_all().fire();
        assert_eq!(numbered.woken(), [2, 4, 5, 6, 7]);
    }

    #[test]
    fn a_key_that_is_returned_late_removes_no_waiter() {
        let (mut list, mut numbered) = (WaitList::default(), Numbered::default());
        let mut late = numbered.insert_into(&mut list, 3);
        list.take_all().fire();
        late.extend(numbered.insert_into(&mut list, 3));
        late.drain(3..).for_each(|key| assert!(list.remove(key).is_some()));
        numbered.insert_into(&mut list, 3);
        assert!(late.into_iter().all(|key| list.remove(key).is_none()));
        assert_eq!(numbered.woken(), [0, 1, 2]);
        list.take_all().fire();
        assert_eq!(numbered.woken(), [6, 7, 8]);
    }

    #[test]
    fn a_single_waiter_needs_no_entry_even_after_others_have_left() {
        let (mut list, mut numbered) = (WaitList::default(), Numbered::default());
        for key in numbered.insert_into(&mut list, 3) {
            list.remove(key);
        }
        numbered.insert_into(&mut list, 1);
        assert!(list.waiting.others.is_empty());
        list.take_all().fire();
        assert_eq!(numbered.woken(), [3]);
    }

    #[derive(Clone, Debug)]
    enum Action {
        Insert,
        /// With one of the keys handed out so far.
        Remove(prop::sample::Index),
        FireAll,
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            10 => Just(Action::Insert),
            8 => any::<prop::sample::Index>().prop_map(Action::Remove),
            1 => Just(Action::FireAll),
        ]
    }

    proptest! {
        #[test]
        fn it_does_what_a_vector_would(actions in prop::collection::vec(action(), 0..200)) {
            let (mut list, mut numbered) = (WaitList::default(), Numbered::default());
            let mut keys = Vec::new();
            let mut waiting: Vec<usize> = Vec::new();
            for action in actions.into_iter().chain([Action::FireAll]) {
                match action {
                    Action::Insert => {
                        waiting.push(keys.len());
                        keys.extend(numbered.insert_into(&mut list, 1));
                    }
                    Action::Remove(_) if keys.is_empty() => {}
                    Action::Remove(index) => {
                        let number = index.index(keys.len());
                        let is_there = waiting.iter().position(|&other| other == number);
                        is_there.map(|at| waiting.remove(at));
                        let removed = list.remove(keys[number]);
                        prop_assert_eq!(removed.is_some(), is_there.is_some());
                        removed.into_iter().for_each(Wakeup::fire);
                        prop_assert_eq!(numbered.woken(), is_there.map(|_| number).into_iter().collect::<Vec<_>>());
                    }
                    Action::FireAll => {
                        list.take_all().fire();
                        prop_assert_eq!(numbered.woken(), std::mem::take(&mut waiting));
                    }
                }
            }
        }
    }
}
