use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use fiber_core::{Fiber, Resume};

use super::noted::Noted;

/// Wakes the fibers that listen. A notification without a listener is lost, so a fiber has to check its condition after
/// [`listen`](Notification::listen), not before.
#[derive(Clone, Debug, Default)]
pub struct Notification(Arc<Noted<VecDeque<Arc<Noted<Slot>>>>>);

#[derive(Debug, Default)]
enum Slot {
    #[default]
    Listening,
    Waiting(Resume<Word>),
    Notified(Word),
}

impl Notification {
    /// From the call on, no notification is missed.
    pub fn listen(&self) -> Listener {
        let slot = Arc::new(Noted::new(Slot::Listening));
        self.0.lock().push_back(slot.clone());
        Listener(slot)
    }

    /// Listens, and waits, in one step.
    pub fn wait(&self) -> Fiber<()> {
        let notification = self.clone();
        Fiber::defer(move || notification.listen().wait()).boxed()
    }

    /// Wakes the longest-waiting listener. Returns whether there was one.
    pub fn notify_one(&self) -> bool {
        let first = self.0.lock().pop_front();
        first.map(|slot| tell(&slot, Word(Some(self.clone())))).is_some()
    }

    /// Wakes all listeners.
    pub fn notify_all(&self) {
        let all = mem::take(&mut *self.0.lock());
        all.iter().for_each(|slot| tell(slot, Word(None)));
    }
}

fn tell(slot: &Noted<Slot>, word: Word) {
    let mut state = slot.lock();
    match mem::take(&mut *state) {
        Slot::Waiting(resume) => {
            drop(state);
            resume.success(word);
        }
        Slot::Listening | Slot::Notified(_) => *state = Slot::Notified(word),
    }
}

/// The notification of one listener. If it is not consumed, because the listener is gone or was cancelled, the next one gets it.
#[derive(Debug)]
struct Word(Option<Notification>);

impl Word {
    fn take(mut self) {
        self.0 = None;
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        if let Some(notification) = self.0.take() {
            notification.notify_one();
        }
    }
}

/// A listener that a notification reaches, whether it already waits or not.
#[derive(Debug)]
#[must_use = "one that listens has to wait, or to be dropped"]
pub struct Listener(Arc<Noted<Slot>>);

impl Listener {
    pub fn wait(self) -> Fiber<()> {
        Fiber::callback(move |resume| self.enter(resume)).map(Word::take).boxed()
    }

    fn enter(self, resume: Resume<Word>) {
        let mut state = self.0.lock();
        match mem::take(&mut *state) {
            Slot::Notified(word) => {
                drop(state);
                resume.success(word);
            }
            Slot::Listening | Slot::Waiting(_) => *state = Slot::Waiting(resume),
        }
    }
}
