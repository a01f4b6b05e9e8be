//! The sides of races: each primitive that gives or takes something, and what other fibers do meanwhile. What is given is counted at
//! both ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{
    Barrier, Broadcast, Channel, Mutex, MutexGuard, Notify, Permit, Promise, Receiver, RwLock,
    RwLockReadGuard, RwLockWriteGuard, Semaphore, Sender, Subscriber, Watch, Watcher, one_shot,
};
use fiber_core::{CancelToken, Fiber, Resume, Run};
use parking_lot::Mutex as Lock;

/// One side of a race, and what other fibers do meanwhile so that it can win.
pub(super) trait Side: Clone + Send + Sync + 'static {
    type Won: Send + 'static;

    fn open() -> Self;

    /// An attempt with a number of its own.
    fn attempt(self, number: u32) -> Fiber<Self::Won, impl Run<Out = Self::Won>>;

    /// The attempt has won.
    fn won(&self, number: u32, value: Self::Won);

    /// One step of another fiber, with a number of its own.
    fn partner(&self, number: u32) -> Fiber<()>;

    /// Called when all fibers have ended.
    fn check(&self);
}

/// The numbers that were given, and those that were taken.
#[derive(Clone, Default)]
struct Ledger(Arc<Lock<[Vec<u32>; 2]>>);

impl Ledger {
    fn given(&self, number: u32) {
        self.0.lock()[0].push(number);
    }

    fn taken(&self, number: u32) {
        self.0.lock()[1].push(number);
    }

    fn counts(&self) -> [usize; 2] {
        let [given, taken] = &*self.0.lock();
        [given.len(), taken.len()]
    }

    /// Each number that was given was taken once, or is `left`.
    fn check(&self, left: impl IntoIterator<Item = u32>) {
        let [given, taken] = &mut *self.0.lock();
        taken.extend(left);
        given.sort_unstable();
        taken.sort_unstable();
        let without = |all: &[u32], others: &[u32]| -> Vec<u32> {
            all.iter().filter(|number| others.binary_search(number).is_err()).copied().collect()
        };
        let (lost, unknown) = (without(given, taken), without(taken, given));
        assert!(lost.is_empty() && unknown.is_empty(), "lost: {lost:?}; taken, but not given: {unknown:?}");
        assert_eq!(given, taken, "taken twice");
    }
}

/// A channel, whose items are counted.
#[derive(Clone)]
struct Counted {
    sender: Sender<u32>,
    receiver: Receiver<u32>,
    ledger: Ledger,
}

impl Counted {
    fn open(capacity: usize) -> Self {
        let (sender, receiver) =
            if capacity == 0 { Channel::rendezvous() } else { Channel::bounded(capacity) };
        Counted { sender, receiver, ledger: Ledger::default() }
    }

    fn send(&self, number: u32) -> Fiber<()> {
        let ledger = self.ledger.clone();
        self.sender.send(number).map(move |()| ledger.given(number)).boxed()
    }

    fn receive(&self) -> Fiber<()> {
        let ledger = self.ledger.clone();
        self.receiver.recv().map(move |number| ledger.taken(number)).boxed()
    }

    fn check(&self) {
        self.ledger.check(std::iter::from_fn(|| self.receiver.try_recv().ok()));
    }
}

#[derive(Clone)]
pub(super) struct Sends<const CAPACITY: usize>(Counted);

impl<const CAPACITY: usize> Side for Sends<CAPACITY> {
    type Won = ();

    fn open() -> Self {
        Sends(Counted::open(CAPACITY))
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        self.0.sender.send(number)
    }

    fn won(&self, number: u32, (): ()) {
        self.0.ledger.given(number);
    }

    fn partner(&self, _: u32) -> Fiber<()> {
        self.0.receive()
    }

    fn check(&self) {
        self.0.check();
    }
}

#[derive(Clone)]
pub(super) struct Receives<const CAPACITY: usize>(Counted);

impl<const CAPACITY: usize> Side for Receives<CAPACITY> {
    type Won = u32;

    fn open() -> Self {
        Receives(Counted::open(CAPACITY))
    }

    fn attempt(self, _: u32) -> Fiber<u32, impl Run<Out = u32>> {
        self.0.receiver.recv()
    }

    fn won(&self, _: u32, item: u32) {
        self.0.ledger.taken(item);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        self.0.send(number)
    }

    fn check(&self) {
        self.0.check();
    }
}

/// Receives up to three items at a time.
#[derive(Clone)]
pub(super) struct ReceivesMany(Counted);

impl Side for ReceivesMany {
    type Won = Vec<u32>;

    fn open() -> Self {
        ReceivesMany(Counted::open(3))
    }

    fn attempt(self, _: u32) -> Fiber<Vec<u32>, impl Run<Out = Vec<u32>>> {
        self.0.receiver.recv_many(3)
    }

    fn won(&self, _: u32, items: Vec<u32>) {
        items.into_iter().for_each(|item| self.0.ledger.taken(item));
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        self.0.send(number)
    }

    fn check(&self) {
        self.0.check();
    }
}

/// A side with a plain closure behind it.
#[derive(Clone)]
pub(super) struct Mapped<S>(S);

impl<S: Side> Side for Mapped<S> {
    type Won = S::Won;

    fn open() -> Self {
        Mapped(S::open())
    }

    fn attempt(self, number: u32) -> Fiber<S::Won, impl Run<Out = S::Won>> {
        self.0.attempt(number).map(|value| value)
    }

    fn won(&self, number: u32, value: S::Won) {
        self.0.won(number, value);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        self.0.partner(number)
    }

    fn check(&self) {
        self.0.check();
    }
}

/// A lossless broadcast with one subscriber, whose values are counted.
#[derive(Clone)]
struct Published {
    broadcast: Broadcast<u32>,
    subscriber: Arc<Subscriber<u32>>,
    ledger: Ledger,
}

impl Published {
    fn open() -> Self {
        let broadcast = Broadcast::lossless(1);
        let subscriber = Arc::new(broadcast.subscribe());
        Published { broadcast, subscriber, ledger: Ledger::default() }
    }

    fn check(&self) {
        self.ledger.check(std::iter::from_fn(|| self.subscriber.try_recv()).map(Result::unwrap));
    }
}

#[derive(Clone)]
pub(super) struct Publishes(Published);

impl Side for Publishes {
    type Won = ();

    fn open() -> Self {
        Publishes(Published::open())
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        self.0.broadcast.send(number)
    }

    fn won(&self, number: u32, (): ()) {
        self.0.ledger.given(number);
    }

    fn partner(&self, _: u32) -> Fiber<()> {
        let ledger = self.0.ledger.clone();
        self.0.subscriber.recv().map(move |number| ledger.taken(number)).boxed()
    }

    fn check(&self) {
        self.0.check();
    }
}

#[derive(Clone)]
pub(super) struct Hears(Published);

impl Side for Hears {
    type Won = u32;

    fn open() -> Self {
        Hears(Published::open())
    }

    fn attempt(self, _: u32) -> Fiber<u32, impl Run<Out = u32>> {
        self.0.subscriber.recv()
    }

    fn won(&self, _: u32, number: u32) {
        self.0.ledger.taken(number);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        let ledger = self.0.ledger.clone();
        self.0.broadcast.send(number).map(move |()| ledger.given(number)).boxed()
    }

    fn check(&self) {
        self.0.check();
    }
}

#[derive(Clone)]
pub(super) struct Acquires(Semaphore);

impl Side for Acquires {
    type Won = Permit;

    fn open() -> Self {
        Acquires(Semaphore::new(2))
    }

    fn attempt(self, number: u32) -> Fiber<Permit, impl Run<Out = Permit>> {
        self.0.acquire(1 + number as usize % 2)
    }

    fn won(&self, _: u32, permit: Permit) {
        drop(permit);
    }

    fn partner(&self, _: u32) -> Fiber<()> {
        self.0.acquire(1).bind(|permit| Fiber::yield_now().map(move |()| drop(permit))).boxed()
    }

    fn check(&self) {
        assert_eq!(self.0.available(), 2);
    }
}

#[derive(Clone)]
pub(super) struct Locks(Mutex<u32>, Arc<AtomicUsize>);

impl Side for Locks {
    type Won = MutexGuard<u32>;

    fn open() -> Self {
        Locks(Mutex::new(0), Arc::default())
    }

    fn attempt(self, _: u32) -> Fiber<Self::Won, impl Run<Out = Self::Won>> {
        self.0.lock()
    }

    fn won(&self, _: u32, mut guard: Self::Won) {
        *guard += 1;
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        let this = self.clone();
        self.0.lock().bind(move |guard| Fiber::yield_now().map(move |()| this.won(number, guard))).boxed()
    }

    fn check(&self) {
        assert_eq!(*self.0.try_lock().expect("it is free") as usize, self.1.load(Ordering::Relaxed));
    }
}

#[derive(Clone)]
pub(super) struct Reads(RwLock<()>);

impl Side for Reads {
    type Won = RwLockReadGuard<()>;

    fn open() -> Self {
        Reads(RwLock::new(()))
    }

    fn attempt(self, _: u32) -> Fiber<Self::Won, impl Run<Out = Self::Won>> {
        self.0.read()
    }

    fn won(&self, _: u32, guard: Self::Won) {
        drop(guard);
    }

    fn partner(&self, _: u32) -> Fiber<()> {
        self.0.write().bind(|guard| Fiber::yield_now().map(move |()| drop(guard))).boxed()
    }

    fn check(&self) {
        assert!(self.0.try_write().is_some(), "it is free");
    }
}

#[derive(Clone)]
pub(super) struct Writes(RwLock<()>);

impl Side for Writes {
    type Won = RwLockWriteGuard<()>;

    fn open() -> Self {
        Writes(RwLock::new(()))
    }

    fn attempt(self, _: u32) -> Fiber<Self::Won, impl Run<Out = Self::Won>> {
        self.0.write()
    }

    fn won(&self, _: u32, guard: Self::Won) {
        drop(guard);
    }

    fn partner(&self, _: u32) -> Fiber<()> {
        self.0.read().bind(|guard| Fiber::yield_now().map(move |()| drop(guard))).boxed()
    }

    fn check(&self) {
        assert!(self.0.try_write().is_some(), "it is free");
    }
}

/// What a partner gives is acknowledged by the racer that takes it, before the partner gives more.
#[derive(Clone)]
struct Acknowledged(Ledger, Sender<u32>, Receiver<u32>);

impl Acknowledged {
    fn open() -> Self {
        let (sender, receiver) = Channel::unbounded();
        Acknowledged(Ledger::default(), sender, receiver)
    }

    fn give(&self, number: u32, give: impl FnOnce() + Send + 'static) -> Fiber<()> {
        let this = self.clone();
        let given = Fiber::lazy(move || {
            this.0.given(number);
            give();
        });
        let this = self.clone();
        given.bind(move |()| this.2.recv()).map(drop).boxed()
    }

    fn taken(&self, number: u32) {
        self.0.taken(number);
        self.1.try_send(number).unwrap();
    }

    /// As many were given as were taken, or one more, which is `left`.
    fn check(&self, is_left: bool) {
        let [given, taken] = self.0.counts();
        assert_eq!(given, taken + usize::from(is_left));
    }
}

#[derive(Clone)]
pub(super) struct Waits(Notify, Acknowledged);

impl Side for Waits {
    type Won = ();

    fn open() -> Self {
        Waits(Notify::new(), Acknowledged::open())
    }

    fn attempt(self, _: u32) -> Fiber<(), impl Run<Out = ()>> {
        self.0.wait()
    }

    fn won(&self, number: u32, (): ()) {
        self.1.taken(number);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        let notify = self.0.clone();
        self.1.give(number, move || notify.notify_one())
    }

    fn check(&self) {
        self.1.check(self.0.try_wait());
    }
}

#[derive(Clone)]
pub(super) struct Observes(Watch<u32>, Arc<Watcher<u32>>, Acknowledged);

impl Side for Observes {
    type Won = u32;

    fn open() -> Self {
        let watch = Watch::new(0);
        let watcher = Arc::new(watch.watch());
        Observes(watch, watcher, Acknowledged::open())
    }

    fn attempt(self, _: u32) -> Fiber<u32, impl Run<Out = u32>> {
        self.1.changed()
    }

    fn won(&self, _: u32, value: u32) {
        self.2.taken(value);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        let watch = self.0.clone();
        self.2.give(number, move || watch.set(number))
    }

    fn check(&self) {
        self.2.check(self.1.has_changed());
    }
}

/// Each pass needs two parties, one of which is its leader.
#[derive(Clone)]
pub(super) struct Meets(Barrier, Ledger);

impl Meets {
    fn passed(&self, is_leader: bool) {
        self.1.given(0);
        if is_leader {
            self.1.taken(0);
        }
    }
}

impl Side for Meets {
    type Won = bool;

    fn open() -> Self {
        Meets(Barrier::new(2), Ledger::default())
    }

    fn attempt(self, _: u32) -> Fiber<bool, impl Run<Out = bool>> {
        self.0.wait()
    }

    fn won(&self, _: u32, is_leader: bool) {
        self.passed(is_leader);
    }

    fn partner(&self, _: u32) -> Fiber<()> {
        let this = self.clone();
        self.0.wait().map(move |is_leader| this.passed(is_leader)).boxed()
    }

    fn check(&self) {
        let [parties, leaders] = self.1.counts();
        assert_eq!(parties, 2 * leaders, "parties, for {leaders} leaders");
        assert_eq!(self.0.arrived(), 0);
    }
}

/// Requests that partners answer, if there are any.
struct Requests<T>(Arc<Lock<Vec<T>>>, Ledger);

impl<T> Clone for Requests<T> {
    fn clone(&self) -> Self {
        Requests(self.0.clone(), self.1.clone())
    }
}

impl<T: Send + 'static> Requests<T> {
    fn answer(&self, answer: impl FnOnce(T, &Ledger) + Send + 'static) -> Fiber<()> {
        let this = self.clone();
        Fiber::yield_now()
            .map(move |()| {
                let request = this.0.lock().pop();
                if let Some(request) = request {
                    answer(request, &this.1);
                }
            })
            .boxed()
    }
}

impl<T> Requests<T> {
    fn open() -> Self {
        Requests(Arc::default(), Ledger::default())
    }
}

/// A reply counts as given if its sender was not told otherwise. One that came before the race began to wait may be left.
#[derive(Clone)]
pub(super) struct Asks(Requests<Resume<u32>>);

impl Side for Asks {
    type Won = u32;

    fn open() -> Self {
        Asks(Requests::open())
    }

    fn attempt(self, _: u32) -> Fiber<u32, impl Run<Out = u32>> {
        let (reply, answer) = one_shot();
        self.0.0.lock().push(reply);
        answer
    }

    fn won(&self, _: u32, value: u32) {
        self.0.1.taken(value);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        self.0.answer(move |reply, ledger| {
            if reply.send(number).is_err() {
                ledger.given(number);
            }
        })
    }

    fn check(&self) {
        let [refused, taken] = &*self.0.1.0.lock();
        assert!(taken.iter().all(|number| !refused.contains(number)), "refused, and taken");
    }
}

#[derive(Clone)]
pub(super) struct Expects(Requests<Promise<u32>>);

impl Side for Expects {
    type Won = u32;

    fn open() -> Self {
        Expects(Requests::open())
    }

    fn attempt(self, _: u32) -> Fiber<u32, impl Run<Out = u32>> {
        let promise = Promise::new();
        self.0.0.lock().push(promise.clone());
        promise.wait()
    }

    fn won(&self, _: u32, value: u32) {
        self.0.1.taken(value);
    }

    fn partner(&self, number: u32) -> Fiber<()> {
        self.0.answer(move |promise, ledger| {
            ledger.given(number);
            assert!(promise.success(number));
        })
    }

    fn check(&self) {}
}

#[derive(Clone)]
pub(super) struct Listens(Requests<CancelToken>);

impl Side for Listens {
    type Won = ();

    fn open() -> Self {
        Listens(Requests::open())
    }

    fn attempt(self, _: u32) -> Fiber<(), impl Run<Out = ()>> {
        let token = CancelToken::new();
        let cancelled = token.cancelled();
        self.0.0.lock().push(token);
        cancelled
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        self.0.answer(|token, _| token.cancel())
    }

    fn check(&self) {}
}

#[derive(Clone)]
pub(super) struct Sleeps;

impl Side for Sleeps {
    type Won = ();

    fn open() -> Self {
        Sleeps
    }

    fn attempt(self, number: u32) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::delay(Duration::from_micros(1 + u64::from(number % 5)))
    }

    fn won(&self, _: u32, (): ()) {}

    fn partner(&self, _: u32) -> Fiber<()> {
        Fiber::never().boxed()
    }

    fn check(&self) {}
}
