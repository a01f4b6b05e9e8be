//! Keys in the order in which they were used last.
//!
//! A ring through a vector, so that a use moves its key in a fixed number of steps, without an allocation. The place of index 0 has no key: the
//! oldest key is after it, and the youngest one before it.

/// See the file.
pub(super) struct Recency<K> {
    places: Vec<Place<K>>,
    /// The indices of places without a key.
    free: Vec<usize>,
}

struct Place<K> {
    key: Option<K>,
    older: usize,
    younger: usize,
}

/// The index of the place without a key that is never free.
const ENDS: usize = 0;

impl<K> Default for Recency<K> {
    fn default() -> Self {
        Recency { places: Vec::new(), free: Vec::new() }
    }
}

impl<K> Recency<K> {
    /// Adds a key as the youngest one. Gives its place.
    pub(super) fn push(&mut self, key: K) -> usize {
        if self.places.is_empty() {
            self.places.push(Place { key: None, older: ENDS, younger: ENDS });
        }
        let place = self.free.pop().unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(Place { key: None, older: ENDS, younger: ENDS });
        }
        self.places[place].key = Some(key);
        self.link(place);
        place
    }

    /// Makes a key the youngest one.
    pub(super) fn renew(&mut self, place: usize) {
        self.unlink(place);
        self.link(place);
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, place: usize) -> Option<K> {
        let key = self.places[place].key.take()?;
        self.unlink(place);
        self.free.push(place);
        Some(key)
    }

    /// The oldest key, and its place.
    pub(super) fn oldest(&self) -> Option<(usize, &K)> {
        let oldest = self.places.first()?.younger;
        Some((oldest, self.places[oldest].key.as_ref()?))
    }

    fn link(&mut self, place: usize) {
        let older = self.places[ENDS].older;
        self.places[place].older = older;
        self.places[place].younger = ENDS;
        self.places[older].younger = place;
        self.places[ENDS].older = place;
    }

    fn unlink(&mut self, place: usize) {
        let Place { older, younger, .. } = self.places[place];
        self.places[older].younger = younger;
        self.places[younger].older = older;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::Recency;

    #[test]
    fn the_oldest_key_is_the_one_that_was_not_used_for_longest() {
        let (mut recency, mut places, mut model) = (Recency::default(), Vec::new(), VecDeque::new());
        for round in 0..500_usize {
            let at = round * 7 % 11;
            match round % 4 {
                0 | 1 => {
                    places.push((round, recency.push(round)));
                    model.push_back(round);
                }
                2 => {
                    let (key, place) = places[at % places.len()];
                    recency.renew(place);
                    model.retain(|other| *other != key);
                    model.push_back(key);
                }
                _ => {
                    let (key, place) = places.swap_remove(at % places.len());
                    assert_eq!(recency.remove(place), Some(key));
                    model.retain(|other| *other != key);
                }
            }
            assert_eq!(recency.oldest().map(|(_, key)| key), model.front(), "round {round}");
        }
        while let Some((place, _)) = recency.oldest() {
            assert_eq!(recency.remove(place), model.pop_front());
        }
        assert!(model.is_empty());
    }
}
