//! Channels behave like a list of items and two lists of waiters.

use std::collections::VecDeque;
use std::time::Duration;

use fiber_core::sync::{Channel, Receiver, Sender, TryRecvError, TrySendError};
use fiber_core::{Fiber, Outcome, Run};
use fiber_test::{Spawned, TestScheduler};
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Bounded(usize),
    Unbounded,
    Sliding(usize),
    Dropping(usize),
}

#[derive(Clone, Debug)]
enum Action {
    TrySend,
    TryRecv,
    /// A fiber sends.
    Send,
    /// A fiber receives.
    Recv,
    /// A fiber receives up to this many.
    RecvMany(usize),
    /// A fiber sends this many.
    SendAll(usize),
    CancelSender(Index),
    CancelReceiver(Index),
    Close,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => (0_usize..4).prop_map(Kind::Bounded),
        1 => Just(Kind::Unbounded),
        1 => (1_usize..4).prop_map(Kind::Sliding),
        1 => (1_usize..4).prop_map(Kind::Dropping),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => Just(Action::TrySend),
        4 => Just(Action::TryRecv),
        6 => Just(Action::Send),
        6 => Just(Action::Recv),
        2 => (1_usize..5).prop_map(Action::RecvMany),
        2 => (0_usize..5).prop_map(Action::SendAll),
        2 => any::<Index>().prop_map(Action::CancelSender),
        2 => any::<Index>().prop_map(Action::CancelReceiver),
        1 => Just(Action::Close),
    ]
}

fn open(kind: Kind) -> (Sender<u32>, Receiver<u32>) {
    match kind {
        Kind::Bounded(capacity) => Channel::bounded(capacity),
        Kind::Unbounded => Channel::unbounded(),
        Kind::Sliding(capacity) => Channel::sliding(capacity),
        Kind::Dropping(capacity) => Channel::dropping(capacity),
    }
}

/// A fiber, and its end in the model: `None` while it waits.
struct Expected<T: 'static> {
    spawned: Spawned<T>,
    /// `None`: it failed, because the channel is closed.
    ended: Option<Option<T>>,
}

struct SenderFiber {
    fiber: Expected<()>,
    /// The items that it has yet to send.
    items: VecDeque<u32>,
}

struct ReceiverFiber {
    fiber: Expected<Vec<u32>>,
    limit: usize,
    /// The items that it was given.
    items: Vec<u32>,
}

/// The model: lists of waiters, and of woken fibers, which continue in that order.
struct Model {
    kind: Kind,
    items: VecDeque<u32>,
    is_closed: bool,
    senders: VecDeque<SenderFiber>,
    receivers: VecDeque<ReceiverFiber>,
    woken: VecDeque<Woken>,
    ended: Vec<Woken>,
}

enum Woken {
    Sender(SenderFiber),
    Receiver(ReceiverFiber),
}

impl Model {
    fn try_send(&mut self, item: u32) -> Result<(), TrySendError<u32>> {
        if self.is_closed {
            return Err(TrySendError::Closed(item));
        }
        if let Some(mut first) = self.receivers.pop_front() {
            first.items.push(item);
            self.woken.push_back(Woken::Receiver(first));
            return Ok(());
        }
        match self.kind {
            Kind::Bounded(capacity) | Kind::Dropping(capacity) if self.items.len() >= capacity => {
                return Err(TrySendError::Full(item));
            }
            Kind::Sliding(capacity) if self.items.len() >= capacity => drop(self.items.pop_front()),
            _ => {}
        }
        self.items.push_back(item);
        Ok(())
    }

    fn try_recv(&mut self) -> Result<u32, TryRecvError> {
        let mut taken = self.items.pop_front();
        // The first item of the first sender that waits gets in.
        if let Some(mut sender) = self.senders.pop_front() {
            let item = sender.items.pop_front().unwrap();
            match taken {
                Some(_) => self.items.push_back(item),
                None => taken = Some(item),
            }
            self.woken.push_back(Woken::Sender(sender));
        }
        match taken {
            Some(item) => Ok(item),
            None if self.is_closed => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Woken fibers proceed if they can, and otherwise wait behind the others.
    fn go_on(&mut self) {
        while let Some(woken) = self.woken.pop_front() {
            match woken {
                Woken::Sender(sender) => self.send(sender),
                Woken::Receiver(receiver) => self.receive(receiver),
            }
        }
    }

    fn send(&mut self, mut sender: SenderFiber) {
        while let Some(&item) = sender.items.front() {
            match self.try_send(item) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) if matches!(self.kind, Kind::Dropping(_)) => {}
                Err(TrySendError::Full(_)) => return self.senders.push_back(sender),
                Err(TrySendError::Closed(_)) => {
                    sender.fiber.ended = Some(None);
                    return self.ended.push(Woken::Sender(sender));
                }
            }
            sender.items.pop_front();
        }
        sender.fiber.ended = Some(Some(()));
        self.ended.push(Woken::Sender(sender));
    }

    fn receive(&mut self, mut receiver: ReceiverFiber) {
        while receiver.items.len() < receiver.limit {
            match self.try_recv() {
                Ok(item) => receiver.items.push(item),
                Err(TryRecvError::Empty) if receiver.items.is_empty() => {
                    return self.receivers.push_back(receiver);
                }
                Err(_) => break,
            }
        }
        let items = std::mem::take(&mut receiver.items);
        receiver.fiber.ended = Some((!items.is_empty()).then_some(items));
        self.ended.push(Woken::Receiver(receiver));
    }

    /// Wakes all waiters.
    fn close(&mut self) {
        self.is_closed = true;
        self.woken.extend(self.receivers.drain(..).map(Woken::Receiver));
        self.woken.extend(self.senders.drain(..).map(Woken::Sender));
    }
}

fn check<T: Send + PartialEq + std::fmt::Debug>(fiber: Expected<T>) -> Result<(), TestCaseError> {
    match (fiber.spawned.try_outcome(), fiber.ended) {
        (Err(_), None) => {}
        (Ok(Outcome::Success(value)), Some(Some(expected))) => prop_assert_eq!(value, expected),
        (Ok(Outcome::Failure(_)), Some(None)) => {}
        (Ok(outcome), expected) => prop_assert!(false, "{outcome:?} instead of {expected:?}"),
        (Err(_), Some(expected)) => prop_assert!(false, "waits instead of {expected:?}"),
    }
    Ok(())
}

fn begin<T: Send + 'static>(test: &TestScheduler, fiber: Fiber<T, impl Run<Out = T>>) -> Expected<T> {
    Expected { spawned: test.spawn(fiber), ended: None }
}

proptest! {
    #[test]
    fn a_channel_does_what_lists_would(kind in kind(), actions in prop::collection::vec(action(), 0..40)) {
        let test = TestScheduler::new();
        let (sender, receiver) = open(kind);
        let mut model = Model {
            kind,
            items: VecDeque::new(),
            is_closed: false,
            senders: VecDeque::new(),
            receivers: VecDeque::new(),
            woken: VecDeque::new(),
            ended: Vec::new(),
        };
        let mut item = 0;
        for action in actions {
            item += 10;
            match action {
                Action::TrySend => prop_assert_eq!(sender.try_send(item), model.try_send(item)),
                Action::TryRecv => prop_assert_eq!(receiver.try_recv(), model.try_recv()),
                Action::Send | Action::SendAll(_) => {
                    let (fiber, count) = match action {
                        Action::SendAll(count) => (begin(&test, sender.send_all((0..).take(count).map(move |n| item + n))), count),
                        _ => (begin(&test, sender.send(item)), 1),
                    };
                    let items = (item..).take(count).collect();
                    model.send(SenderFiber { fiber, items });
                }
                Action::Recv => {
                    let fiber = begin(&test, receiver.recv().map(|item| vec![item]));
                    model.receive(ReceiverFiber { fiber, limit: 1, items: Vec::new() });
                }
                Action::RecvMany(limit) => {
                    let fiber = begin(&test, receiver.recv_many(limit));
                    model.receive(ReceiverFiber { fiber, limit, items: Vec::new() });
                }
                Action::CancelSender(index) if !model.senders.is_empty() => {
                    let cancelled = model.senders.remove(index.index(model.senders.len())).unwrap();
                    cancelled.fiber.spawned.cancel_now();
                }
                Action::CancelReceiver(index) if !model.receivers.is_empty() => {
                    let cancelled = model.receivers.remove(index.index(model.receivers.len())).unwrap();
                    cancelled.fiber.spawned.cancel_now();
                }
                Action::CancelSender(_) | Action::CancelReceiver(_) => {}
                Action::Close => {
                    prop_assert_eq!(sender.close(), !model.is_closed);
                    model.close();
                }
            }
            test.run_for(Duration::ZERO);
            model.go_on();
            prop_assert_eq!(receiver.len(), model.items.len());
        }
        prop_assert_eq!(std::iter::from_fn(|| receiver.try_recv().ok()).collect::<Vec<_>>(), {
            std::iter::from_fn(|| model.try_recv().ok()).collect::<Vec<_>>()
        });
        test.run_for(Duration::ZERO);
        model.go_on();
        let waiting = model.senders.into_iter().map(Woken::Sender);
        let waiting = waiting.chain(model.receivers.into_iter().map(Woken::Receiver));
        for fiber in model.ended.into_iter().chain(waiting) {
            match fiber {
                Woken::Sender(sender) => check(sender.fiber)?,
                Woken::Receiver(receiver) => check(receiver.fiber)?,
            }
        }
    }
}
