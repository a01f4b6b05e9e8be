//! The assertions of a test about a trace.

use crate::trace::{Effect, Trace, Turn};

impl Trace {
    /// The named [events](crate::event), in their order.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.turns.iter().flat_map(|turn| &turn.effects).filter_map(|effect| match effect {
            Effect::Event(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Asserts that these events happened in this order, with any others between them.
    ///
    /// # Panics
    /// With the events of the trace, if they did not.
    #[track_caller]
    pub fn assert_order(&self, names: &[&str]) {
        let mut events = self.events();
        if let Some(missing) = names.iter().find(|name| !events.any(|event| event == **name)) {
            let all: Vec<&str> = self.events().collect();
            panic!(
                "expected the events {names:?} in this order, but {missing:?} does not come in its place in {all:?}"
            );
        }
    }

    /// Asserts that `claim` holds for some turn.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Cause, TestScheduler};
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new().record();
    /// test.run(Fiber::<()>::never().timeout_option(Duration::from_secs(1))).unwrap();
    /// test.trace().assert_eventually("the time is over", |turn| turn.cause == Cause::TimeOut);
    /// test.trace().assert_always("within a second", |turn| turn.at.as_nanos() <= 1_000_000_000);
    /// ```
    ///
    /// # Panics
    /// With `what` and the last turns of the trace, if it holds for none.
    #[track_caller]
    pub fn assert_eventually(&self, what: &str, claim: impl FnMut(&Turn) -> bool) {
        assert!(self.turns.iter().any(claim), "in no turn: {what}\n{}", self.excerpt(self.turns.len()));
    }

    /// Asserts that `claim` holds for every turn.
    ///
    /// # Panics
    /// With `what`, the first turn for which it does not hold, and the turns before it.
    #[track_caller]
    pub fn assert_always(&self, what: &str, mut claim: impl FnMut(&Turn) -> bool) {
        if let Some(number) = self.turns.iter().position(|turn| !claim(turn)) {
            panic!("not in turn {number}: {what}\n{}", self.excerpt(number + 1));
        }
    }
}
