//! A queue whose entries can leave from the middle.
//!
//! The entries are in one vector, and are linked by their places. The ring starts and ends at an entry without a value:
//!
//! ```text
//!   ENDS ─after─> oldest ─after─> .. ─after─> youngest ─after─> ENDS
//! ```
//!
//! Vacant places form a stack, linked by `after`, which also ends at `ENDS`. Every operation takes constant time, and a
//! place that was left is used again.

use std::iter;

/// First come, first served.
pub(crate) struct Ring<T> {
    /// Empty until the first entry comes.
    entries: Vec<Entry<T>>,
    /// The top of the stack.
    vacant: usize,
}

struct Entry<T> {
    value: Option<T>,
    before: usize,
    after: usize,
}

/// The place of the entry where the ring starts and ends.
const ENDS: usize = 0;

impl<T> Entry<T> {
    fn new(value: Option<T>) -> Self {
        Entry { value, before: ENDS, after: ENDS }
    }
}

impl<T> Ring<T> {
    pub(crate) const fn new() -> Self {
        Ring { entries: Vec::new(), vacant: ENDS }
    }

    /// The place of the oldest entry in the queue.
    pub(crate) fn oldest(&self) -> Option<usize> {
        self.entries.first().map(|ends| ends.after).filter(|&place| place != ENDS)
    }

    /// Adds the youngest entry, and returns its place.
    pub(crate) fn push(&mut self, value: T) -> usize {
        if self.entries.is_empty() {
            self.entries.push(Entry::new(None));
        }
        let place = self.occupy(value);
        let youngest = self.entries[ENDS].before;
        self.entries[place].before = youngest;
        self.entries[place].after = ENDS;
        self.entries[youngest].after = place;
        self.entries[ENDS].before = place;
        place
    }

    fn occupy(&mut self, value: T) -> usize {
        if self.vacant == ENDS {
            self.entries.push(Entry::new(Some(value)));
            return self.entries.len() - 1;
        }
        let place = self.vacant;
        self.vacant = self.entries[place].after;
        self.entries[place].value = Some(value);
        place
    }

    /// Takes the entry out of the queue, but leaves it in its place. No effect if it has been taken out already.
    pub(crate) fn unlink(&mut self, place: usize) {
        let Entry { before, after, .. } = self.entries[place];
        self.entries[before].after = after;
        self.entries[after].before = before;
        // Linked to itself, so that unlinking it again changes nothing.
        self.entries[place].before = place;
        self.entries[place].after = place;
    }

    /// Takes the entry out of the queue and of its place.
    pub(crate) fn remove(&mut self, place: usize) -> Option<T> {
        let value = self.entries.get_mut(place)?.value.take()?;
        self.unlink(place);
        self.entries[place].after = self.vacant;
        self.vacant = place;
        Some(value)
    }

}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Action {
        Push,
        Unlink(prop::sample::Index),
        Remove(prop::sample::Index),
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            10 => Just(Action::Push),
            4 => any::<prop::sample::Index>().prop_map(Action::Unlink),
            7 => any::<prop::sample::Index>().prop_map(Action::Remove),
        ]
    }

    proptest! {
        #[test]
        fn it_does_what_a_vector_would(actions in prop::collection::vec(action(), 0..200)) {
            let mut ring = Ring::new();
            // Values, places, and whether they are in the queue.
            let mut model: Vec<(usize, usize, bool)> = Vec::new();
            let mut most = 0;
            for (number, action) in actions.into_iter().enumerate() {
                match action {
                    Action::Push => {
                        let place = ring.push(number);
                        prop_assert!(model.iter().all(|(_, taken, _)| *taken != place));
                        model.push((number, place, true));
                        most = most.max(model.len());
                    }
                    Action::Unlink(_) | Action::Remove(_) if model.is_empty() => {}
                    Action::Unlink(index) => {
                        let (_, place, is_queued) = index.get_mut(&mut model);
                        ring.unlink(*place);
                        *is_queued = false;
                    }
                    Action::Remove(index) => {
                        let (value, place, _) = model.remove(index.index(model.len()));
                        prop_assert_eq!(ring.remove(place), Some(value));
                        prop_assert_eq!(ring.remove(place), None);
                    }
                }
                let queued = model.iter().find(|(_, _, is_queued)| *is_queued);
                prop_assert_eq!(ring.oldest(), queued.map(|(_, place, _)| *place));
                prop_assert_eq!(ring.is_empty(), queued.is_none());
                for (value, place, _) in &mut model {
                    prop_assert_eq!(ring.get(*place), Some(&*value));
                    prop_assert_eq!(ring.get_mut(*place), Some(value));
                }
                prop_assert_eq!(ring.iter().count(), model.len());
            }
            prop_assert!(ring.entries.len() <= most + 1, "places are reused");
            let queue: Vec<usize> = ring.into_queue().collect();
            let expected: Vec<usize> = model.into_iter().filter(|entry| entry.2).map(|entry| entry.0).collect();
            prop_assert_eq!(queue, expected);
        }
    }
}
