//! Every pair of operations on a node that can race, under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release`

use loom::model;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::delivery::{Delivery, Joining};
use super::lazy::{LazyPlace, MadeCount};
use super::node::{Node, Offer, Owner};
use super::one_shot::{Sent, one_shot};
use super::parking::{Fired, Signal, Unparked};
use super::reference::{Body, Ref, Seed};
use crate::primitive::{beside, model_up_to, model_with_a_bound};

/// An owner that counts the calls to it.
#[derive(Default)]
struct Probe {
    cancelled: AtomicUsize,
    childless: AtomicUsize,
    /// How often `cancelled` was called.
    taken_back: AtomicUsize,
    /// Loom reports an `Arc` that is never dropped, and with it the node.
    _dropped: Option<Arc<()>>,
    freed: Freed,
}

/// Written by the drop, so that loom reports a use of a node beside it.
#[derive(Default)]
struct Freed(loom::cell::UnsafeCell<()>);

#[allow(unsafe_code)]
// SAFETY: there is nothing in it; loom checks the accesses.
unsafe impl Sync for Freed {}

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.with_mut(|_| ());
    }
}

impl Probe {
    fn new() -> Self {
        Probe { _dropped: Some(Arc::new(())), ..Probe::default() }
    }
}

/// The body of the cells in these tests.
struct Fiber;

impl Body<Probe> for Fiber {
    type Description = Box<usize>;
    const ROOM: usize = 64;
    type Front = ();

    const BEHAVIOR: &'static () = &();
}

/// The body of a cell that never has a description.
struct Begun;

impl Body<Probe> for Begun {
    type Description = std::convert::Infallible;
    const ROOM: usize = 64;
    type Front = ();

    const BEHAVIOR: &'static () = &();
}

/// The body of a cell with a place for an outcome.
struct Forked;

impl Body<Probe> for Forked {
    type Description = Box<usize>;
    const ROOM: usize = 0;
    type Front = Outcome;

    const BEHAVIOR: &'static () = &();
}

type Outcome = Delivery<Box<usize>, ()>;

/// The value that the fiber writes before it parks. It is read at the wake-up, so that loom checks the hand-over.
type Waiter = Box<loom::cell::UnsafeCell<usize>>;

const WRITTEN: usize = 7;

fn waiter() -> Waiter {
    let waiter = Box::new(loom::cell::UnsafeCell::new(0));
    #[allow(unsafe_code)]
    waiter.with_mut(|value| {
        // SAFETY: no other thread has the cell yet.
        unsafe { *value = WRITTEN }
    });
    waiter
}

fn check(waiter: &Waiter) {
    #[allow(unsafe_code)]
    let value = waiter.with(|value| {
        // SAFETY: this thread has received the waiter.
        unsafe { *value }
    });
    assert_eq!(value, WRITTEN);
}

/// 1 if the fiber has not parked because of a cancellation, or of the end of its limit.
fn is_cancelled(parked: Result<(), Unparked<Waiter>>) -> usize {
    let Err(Unparked(waiter, signal)) = parked else { return 0 };
    assert_eq!(signal, Signal::Cancelled);
    check(&waiter);
    1
}

impl Owner for Probe {
    type Fiber = Ref<Self>;
    type Waiter = Waiter;
    type Behavior = ();
    type Root = usize;

    const IDLE: &'static () = &();

    fn wake(node: &Ref<Self>, waiter: Waiter, signal: Signal) {
        assert_eq!(signal, Signal::Cancelled);
        check(&waiter);
        node.owner().cancelled.fetch_add(1, Ordering::Relaxed);
    }

    fn cancelled(node: &Ref<Self>) {
        if node.claim::<Fiber>().is_some() {
            node.owner().taken_back.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn touched(node: &Ref<Self>) {
        node.owner().freed.0.with(|_| ());
    }

    fn childless(node: &Ref<Self>) -> bool {
        node.owner().childless.fetch_add(1, Ordering::Relaxed);
        false
    }
}

fn root() -> Ref<Probe> {
    Ref::root(Probe::new(), WRITTEN)
}

fn child(parent: &Ref<Probe>) -> Ref<Probe> {
    Node::child(parent, false, |_| Probe::new(), Seed::without(((), ())))
}

fn described() -> Seed<Probe> {
    Seed::with(Box::new(WRITTEN), ((), Fiber))
}

/// A child with a description, not offered.
fn held_back(parent: &Ref<Probe>) -> (Ref<Probe>, Offer) {
    let [node, _] = Node::fiber(parent, None, |_| Probe::new(), described(), true);
    let offer = Node::link_fiber(&node, true).unwrap();
    (node, offer)
}

/// A child with a description.
fn fiber(parent: &Ref<Probe>) -> Ref<Probe> {
    let [fiber, _] = Node::fiber(parent, None, |_| Probe::new(), described(), false);
    assert!(Node::link_fiber(&fiber, false).is_none());
    fiber
}

#[test]
fn a_child_added_while_its_parent_is_cancelled_is_cancelled() {
    model(|| {
        let parent = root();
        let adder = beside(&parent, child);
        Node::cancel(&parent, 0);
        let child = adder.join().unwrap();
        assert!(child.is_cancelled());
        Node::end(&child);
        Node::end(&parent);
    });
}

#[test]
fn a_grandchild_added_while_the_root_is_cancelled_is_cancelled() {
    model(|| {
        let root = root();
        let middle = child(&root);
        let adder = beside(&middle, child);
        Node::cancel(&root, 0);
        let leaf = adder.join().unwrap();
        assert!(middle.is_cancelled() && leaf.is_cancelled());
        Node::end(&leaf);
        Node::end(&middle);
        Node::end(&root);
    });
}

#[test]
fn a_child_that_ends_while_its_parent_is_cancelled_leaves_nothing() {
    model(|| {
        let parent = root();
        let leaving = child(&parent);
        let staying = child(&parent);
        let ender = thread::spawn(move || Node::end(&leaving));
        Node::cancel(&parent, 0);
        ender.join().unwrap();
        assert!(staying.is_cancelled());
        Node::end(&staying);
        assert_eq!(parent.live_children(), 0);
        Node::end(&parent);
    });
}

#[test]
fn cancel_has_reached_every_child_when_it_returns_while_a_sibling_ends() {
    model(|| {
        let parent = root();
        let leaving = child(&parent);
        let staying = child(&parent);
        let ender = thread::spawn(move || Node::end(&leaving));
        Node::cancel(&parent, 0);
        // Not joined yet: the ending thread may be at any step.
        assert!(staying.is_cancelled());
        ender.join().unwrap();
        Node::end(&staying);
        Node::end(&parent);
    });
}

#[test]
fn each_of_two_cancellations_has_reached_all_below_when_it_returns() {
    model_with_a_bound(|| {
        let root = root();
        let middle = child(&root);
        let leaf = child(&middle);
        let other = thread::spawn({
            let (root, leaf) = (root.clone(), leaf.clone());
            move || {
                Node::cancel(&root, 0);
                assert!(leaf.is_cancelled());
            }
        });
        Node::cancel(&middle, 0);
        assert!(leaf.is_cancelled());
        other.join().unwrap();
        Node::end(&leaf);
        Node::end(&middle);
        Node::end(&root);
    });
}

#[test]
fn a_child_that_ends_between_two_cancellations_is_dropped_once() {
    // Three preemptions take longer than all other models together.
    model_up_to(2, || {
        let parent = root();
        let leaving = child(&parent);
        let cancellers = [(); 2].map(|()| beside(&parent, |parent| Node::cancel(parent, 0)));
        Node::end(&leaving);
        cancellers.into_iter().for_each(|canceller| canceller.join().unwrap());
        // The model fails if a reference stays in a slot: the root is not ended here, as a scheduler's root is not.
        assert_eq!(parent.live_children(), 0);
    });
}

#[test]
fn a_slot_is_used_again_while_others_take_theirs() {
    model(|| {
        let parent = root();
        // One slot is free now, and both threads want it.
        Node::end(&child(&parent));
        let other = beside(&parent, |parent| Node::end(&child(parent)));
        let staying = child(&parent);
        other.join().unwrap();
        Node::cancel(&parent, 0);
        assert!(staying.is_cancelled());
        Node::end(&staying);
        Node::end(&parent);
    });
}

#[test]
fn children_beyond_the_first_two_are_found() {
    model_with_a_bound(|| {
        let parent = root();
        let inline = [child(&parent), child(&parent)];
        let adder = beside(&parent, child);
        let mine = child(&parent);
        Node::cancel(&parent, 0);
        assert!(mine.is_cancelled() && inline.iter().all(|child| child.is_cancelled()));
        let added = adder.join().unwrap();
        assert!(added.is_cancelled());
        inline.iter().chain([&mine, &added]).for_each(Node::end);
        Node::end(&parent);
    });
}

#[test]
fn a_child_that_ends_during_a_report_leaves_nothing() {
    model(|| {
        let parent = root();
        let (leaving, staying) = (child(&parent), child(&parent));
        let reporter = beside(&parent, Node::live);
        Node::end(&leaving);
        let found = reporter.join().unwrap();
        assert!(found.iter().any(|child| Ref::ptr_eq(child, &staying)));
        assert!(found.iter().all(|child| Ref::ptr_eq(child, &staying) || Ref::ptr_eq(child, &leaving)));
        Node::end(&staying);
        // The model fails if a reference stays in a slot: the root is not ended here, as a scheduler's root is not.
        assert!(Node::live(&parent).is_empty());
    });
}

#[test]
fn a_child_that_ends_between_two_reports_is_dropped_once_and_leaves_its_slot() {
    // Three preemptions take longer than all other models together.
    model_up_to(2, || {
        let parent = root();
        let leaving = child(&parent);
        let reporters = [(); 2].map(|()| {
            beside(&parent, |parent| {
                Node::live(parent).iter().for_each(|child| assert!(!child.is_cancelled()))
            })
        });
        Node::end(&leaving);
        drop(leaving);
        // This child may get the slot while the reports still walk.
        let second = child(&parent);
        Node::end(&second);
        reporters.into_iter().for_each(|reporter| reporter.join().unwrap());
        assert_eq!(parent.slots_in_use(), 0);
    });
}

#[test]
fn a_child_that_ends_between_a_report_and_a_cancellation_is_dropped_once() {
    // As above.
    model_up_to(2, || {
        let parent = root();
        let leaving = child(&parent);
        let reporter = beside(&parent, |parent| drop(Node::live(parent)));
        let canceller = beside(&parent, |parent| Node::cancel(parent, 0));
        Node::end(&leaving);
        reporter.join().unwrap();
        canceller.join().unwrap();
        assert_eq!(parent.slots_in_use(), 0);
    });
}

#[test]
fn a_shielded_child_is_reported_and_is_not_cancelled_with_its_parent() {
    model(|| {
        let parent = root();
        let shielded = Node::child(&parent, true, |_| Probe::new(), Seed::without(((), ())));
        let canceller = beside(&parent, |parent| Node::cancel(parent, 0));
        assert!(Node::live(&parent).iter().any(|child| Ref::ptr_eq(child, &shielded)));
        canceller.join().unwrap();
        assert!(!shielded.is_cancelled());
        Node::end(&shielded);
        assert_eq!(parent.slots_in_use(), 0);
    });
}

#[test]
fn two_cancellations_wake_the_waiter_once() {
    model(|| {
        let node = root();
        node.begin_wait();
        assert!(node.parking().park(waiter(), false).is_ok());
        let other = beside(&node, |node| Node::cancel(node, 0));
        Node::cancel(&node, 0);
        other.join().unwrap();
        assert_eq!(node.owner().cancelled.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_cancellation_and_a_fiber_that_parks_meet_exactly_once() {
    model(|| {
        let node = root();
        let canceller = beside(&node, |node| Node::cancel(node, 0));
        node.begin_wait();
        let seen_by_fiber = is_cancelled(node.parking().park(waiter(), false));
        canceller.join().unwrap();
        assert_eq!(seen_by_fiber + node.owner().cancelled.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn the_end_of_a_limit_and_a_fiber_that_parks_in_it_meet_exactly_once() {
    model(|| {
        let node = root();
        let timer = beside(&node, |node| usize::from(node.end_limit().inspect(check).is_some()));
        node.begin_wait();
        let seen_by_fiber = is_cancelled(node.parking().park_limited(waiter(), false));
        assert_eq!(timer.join().unwrap() + seen_by_fiber, 1);
    });
}

#[test]
fn an_event_a_cancellation_and_the_end_of_a_limit_wake_the_waiter_once() {
    model_with_a_bound(|| {
        let node = root();
        let generation = node.begin_wait();
        assert!(node.parking().park_limited(waiter(), false).is_ok());
        let timer = beside(&node, |node| usize::from(node.end_limit().inspect(check).is_some()));
        let canceller = beside(&node, |node| Node::cancel(node, 0));
        let by_event = usize::from(node.parking().fire(generation).waiter().inspect(check).is_some());
        let by_timer = timer.join().unwrap();
        canceller.join().unwrap();
        assert_eq!(by_event + by_timer + node.owner().cancelled.load(Ordering::Relaxed), 1);
    });
}

/// It has left the limit: the flag that the timer sets late means nothing to it.
#[test]
fn the_end_of_a_limit_does_not_wake_a_fiber_that_waits_after_it() {
    model(|| {
        let node = root();
        let timer = beside(&node, |node| assert!(node.end_limit().is_none()));
        let generation = node.begin_wait();
        assert!(node.parking().park(waiter(), false).is_ok());
        check(&node.parking().fire(generation).waiter().expect("the event took the waiter"));
        timer.join().unwrap();
        node.forget_limit();
        node.begin_wait();
        assert!(node.parking().park_limited(waiter(), false).is_ok());
        check(&node.take_parked().expect("it waits"));
    });
}

#[test]
fn a_shielded_waiter_is_left_to_its_event() {
    model(|| {
        let node = root();
        let generation = node.begin_wait();
        assert!(node.parking().park(waiter(), true).is_ok());
        let canceller = beside(&node, |node| Node::cancel(node, 0));
        let fired = node.parking().fire(generation).waiter();
        check(&fired.expect("the event took the waiter"));
        canceller.join().unwrap();
        assert_eq!(node.owner().cancelled.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn an_event_and_a_cancellation_wake_the_waiter_once() {
    model(|| {
        let node = root();
        let generation = node.begin_wait();
        assert!(node.parking().park(waiter(), false).is_ok());
        let event = beside(&node, move |node| {
            usize::from(node.parking().fire(generation).waiter().inspect(check).is_some())
        });
        Node::cancel(&node, 0);
        let fired = event.join().unwrap();
        assert_eq!(fired + node.owner().cancelled.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn of_several_events_one_ends_the_wait_and_the_fiber_knows_which() {
    model_with_a_bound(|| {
        let node = root();
        let event = node.begin_wait();
        let fire = |event| {
            beside(&node, move |node| match node.parking().fire(event) {
                Fired::Late => false,
                Fired::Armed => true,
                Fired::Parked(waiter) => {
                    check(&waiter);
                    true
                }
            })
        };
        let (first, third) = (fire(event), fire(event.next().next()));
        if let Err(Unparked(waiter, signal)) = node.parking().park(waiter(), false) {
            check(&waiter);
            assert_eq!(signal, Signal::Fired);
        }
        let (first, third) = (first.join().unwrap(), third.join().unwrap());
        assert!(first != third, "exactly one of them ended the wait");
        assert_eq!(node.last_event(), if third { 2 } else { 0 });
        node.begin_wait();
        assert_eq!(node.last_event(), 0);
    });
}

#[test]
fn a_fiber_that_claims_its_wait_while_it_registers_and_the_first_event_do_not_both_succeed() {
    model(|| {
        let node = root();
        let event = node.begin_wait();
        let served = beside(&node, move |node| !matches!(node.parking().fire(event), Fired::Late));
        let canceller = beside(&node, |node| Node::cancel(node, 0));
        let is_claimed = !matches!(node.parking().fire(event.next()), Fired::Late);
        if is_claimed {
            node.end_wait();
        } else {
            let Err(Unparked(waiter, signal)) = node.parking().park(waiter(), false) else {
                panic!("it was served")
            };
            check(&waiter);
            assert_eq!(signal, Signal::Fired);
        }
        assert!(served.join().unwrap() != is_claimed);
        canceller.join().unwrap();
        assert_eq!(node.last_event(), u64::from(is_claimed));
    });
}

#[test]
fn an_event_a_cancellation_and_a_fiber_that_parks_meet_exactly_once() {
    model_with_a_bound(|| {
        let node = root();
        let generation = node.begin_wait();
        let event = beside(&node, move |node| {
            usize::from(node.parking().fire(generation).waiter().inspect(check).is_some())
        });
        let canceller = beside(&node, |node| Node::cancel(node, 0));
        let seen_by_fiber = match node.parking().park(waiter(), false) {
            Ok(()) => 0,
            Err(Unparked(waiter, _)) => {
                check(&waiter);
                1
            }
        };
        let fired = event.join().unwrap();
        canceller.join().unwrap();
        assert_eq!(seen_by_fiber + fired + node.owner().cancelled.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn an_event_that_ends_the_wait_of_a_cancelled_fiber_that_parks_is_what_the_fiber_sees() {
    model(|| {
        let node = root();
        Node::cancel(&node, 0);
        let generation = node.begin_wait();
        let event = beside(&node, move |node| !matches!(node.parking().fire(generation), Fired::Late));
        let Err(Unparked(waiter, signal)) = node.parking().park(waiter(), false) else {
            panic!("a cancelled fiber does not park");
        };
        check(&waiter);
        assert_eq!(event.join().unwrap(), signal == Signal::Fired);
    });
}

#[test]
fn a_description_that_is_offered_while_its_node_is_cancelled_is_taken_back_or_sees_the_cancellation() {
    model(|| {
        let root = root();
        let (node, offer) = held_back(&root);
        let canceller = beside(&node, |node| Node::cancel(node, 0));
        let sees_cancellation = node.offer(offer);
        canceller.join().unwrap();
        let taken_back = node.owner().taken_back.load(Ordering::Relaxed);
        assert_eq!(taken_back + usize::from(sees_cancellation), 1);
        assert_eq!(node.claim::<Fiber>().is_some(), sees_cancellation);
        Node::end(&node);
    });
}

#[test]
fn a_description_that_is_made_while_its_parent_is_cancelled_is_taken_back_once() {
    model(|| {
        let root = root();
        let maker = beside(&root, fiber);
        Node::cancel(&root, 0);
        let node = maker.join().unwrap();
        assert!(node.is_cancelled() && node.is_claimed());
        assert_eq!(node.owner().taken_back.load(Ordering::Relaxed), 1);
        Node::end(&node);
        Node::end(&root);
    });
}

#[test]
fn children_made_by_two_threads_have_different_numbers() {
    model(|| {
        let root = root();
        let number = |root: &Ref<Probe>| {
            let mut given = None;
            let child = Node::child(
                root,
                false,
                |number| {
                    given = Some(number);
                    Probe::new()
                },
                Seed::without(((), ())),
            );
            Node::end(&child);
            given.unwrap()
        };
        let other = beside(&root, number);
        assert_ne!(number(&root), other.join().unwrap());
        assert_eq!(root.live_children(), 0);
        assert!(root.finish_alone());
        Node::end(&root);
    });
}

#[test]
fn one_of_two_claims_gets_the_description() {
    model(|| {
        let root = root();
        let node = fiber(&root);
        let other = beside(&node, |node| node.claim::<Fiber>().map(|(value, _room)| value));
        let mine = node.claim::<Fiber>().map(|(value, _room)| value);
        let theirs = other.join().unwrap();
        assert_eq!(mine.into_iter().chain(theirs).map(|value| *value).collect::<Vec<_>>(), [WRITTEN]);
        Node::end(&node);
    });
}

#[test]
fn the_room_of_a_cell_without_a_description_is_taken_once() {
    model(|| {
        let root = root();
        let with_description = fiber(&root);
        assert!(Ref::take_room(&with_description).is_none());
        drop(with_description.claim::<Fiber>());
        assert!(Ref::take_room(&with_description).is_none(), "the claim has taken it");
        Node::end(&with_description);
        let node = Node::child(&root, false, |_| Probe::new(), Seed::without(((), Begun)));
        let other = beside(&node, |node| Ref::take_room(node).is_some());
        let mine = Ref::take_room(&node).is_some();
        assert!(mine != other.join().unwrap(), "exactly one of them has taken it");
        Node::end(&node);
    });
}

#[test]
fn a_child_that_never_ends_stays_where_a_canceller_finds_it() {
    model(|| {
        // Without what loom would report, because both nodes leak.
        let parent = Ref::root(Probe::default(), WRITTEN);
        let child = Node::child(&parent, false, |_| Probe::default(), Seed::without(((), ())));
        let canceller = beside(&parent, |parent| Node::cancel(parent, 0));
        drop(child);
        canceller.join().unwrap();
        let children = Node::live(&parent);
        assert!(children.len() == 1 && children[0].is_cancelled());
    });
}

#[test]
fn the_last_of_two_references_drops_the_line_of_ancestors() {
    model(|| {
        let leaf = child(&child(&root()));
        let other = beside(&leaf, |leaf| assert_eq!(*leaf.top(), WRITTEN));
        // Loom reports a node that is not dropped.
        Node::end(&leaf);
        let middle = leaf.parent().expect("a parent").clone();
        drop(leaf);
        Node::end(&middle);
        drop(middle);
        other.join().unwrap();
    });
}

/// A fiber with two references, for its handle and its task.
fn forked(parent: &Ref<Probe>) -> [Ref<Probe>; 2] {
    let seed = Seed::with(Box::new(WRITTEN), (Outcome::new(), Forked));
    let both = Node::fiber(parent, None, |_| Probe::new(), seed, false);
    assert!(Node::link_fiber(&both[0], false).is_none());
    both
}

/// Ends it with an outcome.
fn end_with_outcome(fiber: &Ref<Probe>) {
    assert!(fiber.front::<Outcome>().unwrap().complete(Box::new(WRITTEN)).is_none());
    Node::end(fiber);
}

/// Takes the outcome by its only reference, or beside others.
fn outcome_of(handle: &mut Ref<Probe>) -> Option<Box<usize>> {
    if let Some(alone) = Ref::front_mut::<Outcome>(handle) {
        return alone.take_alone();
    }
    handle.front::<Outcome>().unwrap().take()
}

#[test]
fn two_references_of_one_thread_become_one_beside_a_report() {
    model(|| {
        let parent = root();
        let [mut handle, task] = forked(&parent);
        let reporter = beside(&parent, |parent| drop(Node::live(parent)));
        end_with_outcome(&task);
        Ref::absorb(&mut handle, task);
        assert_eq!(outcome_of(&mut handle).map(|value| *value), Some(WRITTEN));
        drop(handle);
        reporter.join().unwrap();
        // Loom reports a node that is not dropped, or is dropped twice.
        assert_eq!(parent.slots_in_use(), 0);
    });
}

#[test]
fn the_last_reference_takes_the_outcome_of_a_fiber_that_has_ended_on_another_thread() {
    model_with_a_bound(|| {
        let parent = root();
        let [mut handle, task] = forked(&parent);
        let reporter = beside(&parent, |parent| drop(Node::live(parent)));
        let fiber = thread::spawn(move || end_with_outcome(&task));
        let early = outcome_of(&mut handle);
        fiber.join().unwrap();
        let late = outcome_of(&mut handle);
        assert_eq!(early.into_iter().chain(late).map(|value| *value).collect::<Vec<_>>(), [WRITTEN]);
        drop(handle);
        reporter.join().unwrap();
        assert_eq!(parent.slots_in_use(), 0);
    });
}

#[test]
fn a_waiter_that_registers_while_the_value_arrives_is_woken_or_sees_it() {
    model(|| {
        let delivery = Arc::new(Delivery::<_, ()>::new());
        let fiber = beside(&delivery, |delivery| {
            delivery.complete(Box::new(WRITTEN)).is_some_and(|before| before.is_awaited)
        });
        let waits = delivery.expect();
        let seen = if waits { None } else { delivery.take() };
        assert_eq!(fiber.join().unwrap(), waits);
        assert_eq!(seen.or_else(|| delivery.take()).as_deref(), Some(&WRITTEN));
    });
}

/// What a joiner leaves; its drop is checked by loom.
fn joiner() -> Arc<loom::cell::UnsafeCell<usize>> {
    Arc::new(loom::cell::UnsafeCell::new(WRITTEN))
}

#[test]
fn a_joiner_that_comes_while_the_value_arrives_is_taken_once_or_sees_the_value() {
    model(|| {
        let delivery = Arc::new(Delivery::new());
        let fiber = beside(&delivery, |delivery| {
            delivery.complete(Box::new(WRITTEN)).is_some_and(|before| before.joiner.is_some())
        });
        let waits = matches!(delivery.join(joiner()), Joining::Waits);
        let seen = if waits { None } else { delivery.take() };
        assert_eq!(fiber.join().unwrap(), waits);
        assert_eq!(seen.or_else(|| delivery.take()).as_deref(), Some(&WRITTEN));
    });
}

#[test]
fn a_joiner_that_leaves_while_the_value_arrives_is_taken_once() {
    model(|| {
        let delivery = Arc::new(Delivery::new());
        assert!(matches!(delivery.join(joiner()), Joining::Waits));
        let fiber = beside(&delivery, |delivery| {
            delivery.complete(Box::new(WRITTEN)).is_some_and(|before| before.joiner.is_some())
        });
        let is_withdrawn = delivery.withdraw().is_some();
        assert!(fiber.join().unwrap() != is_withdrawn, "exactly one of them has it");
    });
}

#[test]
fn the_place_of_a_joiner_that_has_left_is_used_again() {
    model(|| {
        let delivery = Arc::new(Delivery::<Box<usize>, _>::new());
        assert!(matches!(delivery.join(joiner()), Joining::Waits));
        let other = beside(&delivery, |delivery| match delivery.join(joiner()) {
            Joining::Waits => true,
            Joining::Occupied(_) => false,
            Joining::Over(_) => unreachable!("there is no value"),
        });
        assert!(delivery.withdraw().is_some());
        let is_there = other.join().unwrap();
        assert_eq!(
            delivery.complete(Box::new(WRITTEN)).is_some_and(|before| before.joiner.is_some()),
            is_there
        );
    });
}

#[test]
fn a_joiner_that_is_reported_while_the_value_arrives_is_taken_once() {
    model(|| {
        let delivery = Arc::new(Delivery::new());
        assert!(matches!(delivery.join(joiner()), Joining::Waits));
        let fiber = beside(&delivery, |delivery| {
            assert!(delivery.complete(Box::new(WRITTEN)).is_some_and(|before| before.joiner.is_some()))
        });
        drop(delivery.joiner());
        fiber.join().unwrap();
        assert!(delivery.joiner().is_none());
    });
}

/// Two places with one count, as in `Part`.
struct Places {
    outer: LazyPlace<'static, Box<usize>>,
    inner: LazyPlace<'static, Box<usize>>,
}

impl Places {
    fn new() -> Arc<Self> {
        let count: &'static MadeCount = Box::leak(Box::new(MadeCount::new()));
        Arc::new(Places { outer: LazyPlace::new(count), inner: LazyPlace::new(count) })
    }

    fn make(place: &LazyPlace<'static, Box<usize>>) -> bool {
        let (value, is_new) = place.get_or_make(|| Box::new(WRITTEN));
        assert_eq!(**value, WRITTEN);
        is_new
    }
}

#[test]
fn a_value_that_two_threads_need_is_made_by_one_in_its_place() {
    model(|| {
        let places = Places::new();
        let other = beside(&places, |places| Places::make(&places.outer));
        let is_mine = Places::make(&places.outer);
        assert!(other.join().unwrap() != is_mine);
        assert_eq!(places.outer.get().map(|value| **value), Some(WRITTEN));
        assert!(places.inner.get().is_none());
        assert!(places.outer.count().is_still(2));
    });
}

#[test]
fn who_sees_the_same_count_has_missed_no_value() {
    model(|| {
        let places = Places::new();
        let maker = beside(&places, |places| Places::make(&places.outer) && Places::make(&places.inner));
        let looker = thread::spawn(move || {
            let count = places.outer.count();
            let seen = count.settled();
            let found = || [&places.outer, &places.inner].map(|place| u64::from(place.get().is_some()));
            let (before, after) = (found(), found());
            // What was found only afterwards was made after the count was seen.
            assert!(!count.is_still(seen) || before == after);
            // All that had been counted is found.
            assert!(seen == u64::MAX || before.iter().sum::<u64>() >= seen / 2);
        });
        assert!(maker.join().unwrap());
        looker.join().unwrap();
    });
}

#[test]
fn one_of_two_takes_the_value() {
    model(|| {
        let delivery = Arc::new(Delivery::<_, ()>::new());
        assert!(delivery.complete(Box::new(WRITTEN)).is_none());
        let other = beside(&delivery, |delivery| delivery.take().is_some());
        let mine = delivery.take().is_some();
        assert!(mine ^ other.join().unwrap());
    });
}

#[test]
fn a_value_that_comes_while_its_handle_is_dropped_is_taken_once() {
    model(|| {
        let delivery = Arc::new(Delivery::<_, ()>::new());
        let fiber = beside(&delivery, |delivery| {
            let is_forgotten = delivery.complete(Box::new(WRITTEN)).is_some_and(|before| before.is_forgotten);
            is_forgotten.then(|| delivery.take()).flatten()
        });
        let mine = delivery.forget();
        let theirs = fiber.join().unwrap();
        assert_eq!(mine.into_iter().chain(theirs).map(|value| *value).collect::<Vec<_>>(), [WRITTEN]);
    });
}

#[test]
fn an_event_that_is_lost_while_the_fiber_parks_never_counts_as_fired() {
    model(|| {
        let root = root();
        let generation = root.begin_wait();
        let lost = beside(&root, move |root| root.parking().abandon(generation));
        let unparked = root.parking().park(waiter(), false).err();
        let taken = lost.join().unwrap();
        if let Some(Unparked(waiter, signal)) = &unparked {
            assert_eq!(*signal, Signal::Abandoned);
            check(waiter);
        }
        taken.iter().for_each(check);
        assert_eq!(usize::from(unparked.is_some()) + usize::from(taken.is_some()), 1);
    });
}

#[test]
fn the_event_of_an_old_wait_does_not_end_a_new_one() {
    model(|| {
        let node = root();
        let old = node.begin_wait();
        let late = beside(&node, move |node| node.parking().fire(old).waiter().is_some());
        // The fiber sees its event itself, and waits for another one.
        node.end_wait();
        let new = node.begin_wait();
        assert!(node.parking().park(waiter(), false).is_ok());
        assert!(!late.join().unwrap());
        assert!(node.parking().fire(new).waiter().is_some());
    });
}

#[test]
fn the_last_child_and_the_end_of_the_work_hand_over_exactly_once() {
    model_with_a_bound(|| {
        let parent = root();
        let children = [child(&parent), child(&parent)];
        let enders = children.map(|child| thread::spawn(move || Node::end(&child)));
        let first = usize::from(parent.finish_work());
        enders.into_iter().for_each(|ender| ender.join().unwrap());
        assert_eq!(first + parent.owner().childless.load(Ordering::Relaxed), 1);
        Node::end(&parent);
    });
}

#[test]
fn the_last_child_wakes_a_parent_that_waits_for_it() {
    model(|| {
        let parent = root();
        let only = child(&parent);
        parent.begin_wait();
        let ender = beside(&parent, move |parent| {
            Node::end(&only);
            // What `Owner::childless` does for a fiber.
            let is_last = parent.owner().childless.load(Ordering::Relaxed) == 1;
            usize::from(is_last && parent.fire_current().inspect(check).is_some())
        });
        let seen_by_parent = if parent.finish_work() {
            parent.end_wait();
            1
        } else {
            usize::from(parent.parking().park(waiter(), true).is_err())
        };
        let woken = ender.join().unwrap();
        assert_eq!(seen_by_parent + woken, 1);
        Node::end(&parent);
    });
}

#[test]
fn a_child_that_is_made_below_one_that_has_ended_does_not_revive_it() {
    model(|| {
        let root = root();
        let node = child(&root);
        let outside = beside(&node, |node| {
            let is_held = node.hold();
            let below = child(node);
            if is_held {
                Node::release(node);
            } else {
                Node::cancel(&below, 0);
            }
            let is_held_again = node.hold();
            assert!(is_held || !is_held_again);
            if is_held_again {
                Node::release(node);
            }
            below
        });
        let has_ended = node.finish_alone();
        if has_ended {
            Node::end(&node);
        }
        let below = outside.join().unwrap();
        assert_eq!(below.is_cancelled(), has_ended);
        Node::end(&below);
        if !has_ended {
            assert!(node.finish_work());
            Node::end(&node);
        }
    });
}

#[test]
fn a_child_added_from_outside_is_awaited_or_refused() {
    model(|| {
        let scope = root();
        let outsider = beside(&scope, |scope| {
            if !scope.hold() {
                return false;
            }
            let added = child(scope);
            Node::release(scope);
            Node::end(&added);
            true
        });
        let ended_alone = scope.finish_alone();
        let last = ended_alone || scope.finish_work();
        let was_added = outsider.join().unwrap();
        let told = scope.owner().childless.load(Ordering::Relaxed);
        // Exactly one side finishes the node, and a refused child came after the scope had ended.
        assert_eq!(usize::from(last) + told, 1);
        assert!(was_added || last);
        assert!(!scope.hold());
        Node::end(&scope);
    });
}

/// A wait that one side ends.
#[derive(Clone, Default)]
struct Wait(Arc<AtomicUsize>);

impl Wait {
    /// `false`: it was over.
    fn end(&self) -> bool {
        self.0.swap(1, Ordering::AcqRel) == 0
    }
}

#[test]
fn a_value_is_received_or_given_back_though_its_wait_is_cancelled() {
    model(|| {
        // Loom reports an `Arc` that is never dropped, in the place of the value and of the waiter.
        let (sender, mut receiver) = one_shot::<Arc<()>, Wait, ()>(());
        let outside = thread::spawn(move || match sender.send(Arc::new(())) {
            Sent::Left => false,
            Sent::Refused(_) => true,
            Sent::Ends(wait, ending) => {
                let refused = if wait.end() { ending.keep() } else { ending.take_back() };
                refused.is_some()
            }
        });
        let wait = Wait::default();
        if receiver.wait(wait.clone()).is_ok() {
            wait.end();
        }
        let received = receiver.take();
        let closed = receiver.close();
        drop(receiver);
        let is_back = outside.join().unwrap();
        let places = [received.is_some(), closed.is_some(), is_back];
        assert_eq!(places.into_iter().filter(|is_there| *is_there).count(), 1, "{places:?}");
    });
}

#[test]
fn a_value_that_is_kept_after_a_wait_is_there_for_the_next_one() {
    model(|| {
        let (sender, mut receiver) = one_shot::<usize, Wait, ()>(());
        let outside = thread::spawn(move || match sender.send(7) {
            Sent::Ends(wait, ending) => {
                wait.end();
                assert!(ending.keep().is_none());
            }
            Sent::Left => {}
            Sent::Refused(_) => unreachable!("the receiver does not close"),
        });
        let mut received = None;
        let first = Wait::default();
        if receiver.wait(first.clone()).is_ok() {
            first.end();
            let again = receiver.wait(first.clone());
            received = received.or_else(|| receiver.take());
            assert!(received.is_some() || again.is_ok());
        }
        outside.join().unwrap();
        assert_eq!(received.or_else(|| receiver.take()), Some(7));
    });
}

#[test]
fn the_side_that_leaves_last_frees_what_is_left() {
    model(|| {
        let (sender, mut receiver) = one_shot::<Arc<()>, Arc<()>, Arc<()>>(Arc::new(()));
        let outside = thread::spawn(move || match sender.send(Arc::new(())) {
            Sent::Ends(_, ending) => drop(ending),
            Sent::Left => {}
            Sent::Refused(_) => {}
        });
        drop(receiver.wait(Arc::new(())));
        drop(receiver);
        outside.join().unwrap();
    });
}

#[test]
fn one_that_closes_has_the_value_or_its_sender_has() {
    model(|| {
        let (sender, mut receiver) = one_shot::<Arc<()>, (), ()>(());
        let outside = thread::spawn(move || match sender.send(Arc::new(())) {
            Sent::Left => false,
            Sent::Refused(_) => true,
            Sent::Ends(..) => unreachable!("nobody waits"),
        });
        let closed = receiver.close().is_some();
        assert!(receiver.is_over());
        assert_eq!(outside.join().unwrap(), !closed);
    });
}
