//! Who holds which locks and permits, and which primitives may have items in them.

use std::collections::BTreeMap;
use std::sync::Weak;

use fiber_core::Context;
use fiber_core::scheduler::{Contents, Subject};

use super::lane::Lane;
use crate::primitive::Site;

#[derive(Default)]
pub(crate) struct Holdings {
    held: BTreeMap<Key, Holding>,
    /// How many there ever were: their order.
    made: u64,
    used: BTreeMap<usize, Used>,
    /// So many may have been used before those that are gone are forgotten.
    most_used: usize,
}

/// What one fiber holds of one primitive since one place.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) of: Subject,
    pub(crate) fiber: Context,
    pub(crate) lane: Lane,
    pub(crate) permits: usize,
    pub(crate) site: Site,
    number: u64,
}

/// A primitive that may have items in it.
#[derive(Clone)]
pub(crate) struct Used {
    pub(crate) what: Subject,
    pub(crate) contents: Weak<dyn Contents>,
}

/// The primitive, the tag of the context, and the place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(usize, u64, usize);

impl Key {
    fn of(of: &Subject, context: &Context, site: Site) -> Self {
        Key(of.key(), context.tag(), std::ptr::from_ref(site).addr())
    }
}

impl Holdings {
    /// `context` is `fiber`, or a part of it.
    pub(crate) fn acquired(
        &mut self,
        context: &Context,
        (fiber, lane): (&Context, Lane),
        of: &Subject,
        permits: usize,
        site: Site,
    ) {
        self.made += 1;
        let number = self.made;
        let holding = self.held.entry(Key::of(of, context, site)).or_insert_with(|| Holding {
            of: of.clone(),
            fiber: fiber.clone(),
            lane,
            permits: 0,
            site,
            number,
        });
        holding.permits = holding.permits.saturating_add(permits);
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn released(
        &mut self,
        context: &Context,
        of: &Subject,
        permits: usize,
        site: Site,
    ) -> Option<impl Sized + use<>> {
        let key = Key::of(of, context, site);
        let holding = self.held.get_mut(&key)?;
        holding.permits = holding.permits.saturating_sub(permits);
        if holding.permits > 0 {
            return None;
        }
        self.held.remove(&key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// All holders, the longest first.
    pub(crate) fn held(&self) -> Vec<Holding> {
        let mut all: Vec<Holding> = self.held.values().cloned().collect();
        all.sort_by_key(|holding| holding.number);
        all
    }

    /// The holders of a primitive, in the same order.
    pub(crate) fn holders(&self, of: &Subject) -> Vec<Lane> {
        let first = Key(of.key(), 0, 0);
        let last = Key(of.key(), u64::MAX, usize::MAX);
        let mut holders: Vec<_> =
            self.held.range(first..=last).map(|(_, holding)| (holding.number, holding.lane)).collect();
        holders.sort_unstable_by_key(|(number, _)| *number);
        holders.into_iter().map(|(_, lane)| lane).collect()
    }

    pub(crate) fn used(&mut self, what: &Subject, contents: &Weak<dyn Contents>) {
        const FEW: usize = 64;
        self.used
            .entry(what.key())
            .or_insert_with(|| Used { what: what.clone(), contents: contents.clone() });
        if self.used.len() > self.most_used.max(FEW) {
            self.used.retain(|_, used| used.contents.strong_count() > 0);
            self.most_used = 2 * self.used.len();
        }
    }

    /// Those that live, in the order in which they were first used. To ask them is the code of the program.
    pub(crate) fn all_used(&self) -> Vec<Used> {
        self.used.values().filter(|used| used.contents.strong_count() > 0).cloned().collect()
    }

    /// Forgets all. Returns what is to be dropped without any lock.
    #[inline]
    pub(crate) fn clear(&mut self) -> Option<Box<impl Sized + use<>>> {
        let is_new = self.made == 0 && self.used.is_empty();
        if is_new { None } else { Some(Box::new(std::mem::take(self))) }
    }
}

#[cfg(test)]
mod tests {
    //! The primitives with items are those of fiber-core; here one is made up, to be used as they are.

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fiber_core::Fiber;
    use fiber_core::scheduler::{Event, Scheduler};
    use fiber_core::sync::Semaphore;

    use super::*;
    use crate::TestScheduler;
    use crate::machine::Machine;

    struct Items(AtomicUsize);

    impl Contents for Items {
        fn items(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// A fiber waits for ever, after it has used these primitives.
    fn stuck(all: &[&Arc<Items>]) -> TestScheduler {
        let test = TestScheduler::new();
        drop(test.spawn(Fiber::<()>::never()));
        for (number, items) in all.iter().enumerate() {
            let semaphore = Semaphore::new(1).named(&format!("jobs {number}"));
            drop(test.spawn(semaphore.with_permits(1, Fiber::<()>::never())));
            test.run_until_idle();
            let machine = Machine::of(&**test.context().scheduler()).unwrap();
            let of = machine.state().holdings.held().pop().unwrap().of;
            let items: Arc<dyn Contents> = Arc::clone(items) as _;
            machine.observe(test.context(), Event::Uses { of: &of, contents: &Arc::downgrade(&items) });
        }
        test
    }

    fn deadlock_of(test: &TestScheduler) -> String {
        Machine::of(&**test.context().scheduler()).unwrap().deadlock().to_string()
    }

    #[test]
    fn a_report_counts_the_items_that_are_left() {
        let [many, one, none] = [3, 1, 0].map(|items| Arc::new(Items(items.into())));
        let test = stuck(&[&many, &one, &none]);
        let text = deadlock_of(&test);
        let left =
            "\nand these were not received\n  3 items in Semaphore `jobs 0`\n  1 item in Semaphore `jobs 1`";
        assert!(text.ends_with(left), "{text}");
        many.0.store(0, Ordering::Relaxed);
        drop(one);
        assert!(
            !deadlock_of(&test).contains("received"),
            "those that were received, or are gone, are not left"
        );
    }

    #[test]
    fn items_that_are_left_are_no_leak_by_themselves() {
        let items = Arc::new(Items(2.into()));
        let test = stuck(&[&items]);
        let leak = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test.assert_no_leaks()));
        assert!(leak.unwrap_err().downcast::<String>().unwrap().contains("\n  2 items in "));
        test.context().cancel();
        test.run_until_idle();
        test.assert_no_leaks();
    }

    #[test]
    fn those_that_are_gone_are_forgotten() {
        let mut holdings = Holdings::default();
        let test = stuck(&[]);
        for _ in 0..10_000 {
            let semaphore = Semaphore::new(1);
            let spawned = test.spawn(semaphore.acquire(1));
            test.run_until_idle();
            let machine = Machine::of(&**test.context().scheduler()).unwrap();
            let of = machine.state().holdings.held().pop().unwrap().of;
            let items: Arc<dyn Contents> = Arc::new(Items(1.into()));
            holdings.used(&of, &Arc::downgrade(&items));
            drop(spawned);
        }
        assert!(holdings.used.len() < 100, "{}", holdings.used.len());
    }
}
