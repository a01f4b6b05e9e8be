//! A table that stores each value in a numbered place.

pub(super) struct Places<T> {
    values: Vec<Option<T>>,
    vacant: Vec<usize>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Places { values: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Places<T> {
    /// Adds a value, and returns its place.
    pub(super) fn add(&mut self, value: T) -> usize {
        if let Some(place) = self.vacant.pop() {
            self.values[place] = Some(value);
            return place;
        }
        self.values.push(Some(value));
        self.values.len() - 1
    }

    /// Takes a value out. `None` if it was taken before.
    pub(super) fn take(&mut self, place: usize) -> Option<T> {
        let value = self.values.get_mut(place)?.take();
        if value.is_some() {
            self.vacant.push(place);
        }
        value
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.values.get_mut(place)?.as_mut()
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = T> {
        self.values.into_iter().flatten()
    }

    pub(super) fn count(&self) -> usize {
        self.values.len() - self.vacant.len()
    }
}
