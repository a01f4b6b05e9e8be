use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::Weak;

use super::sender::{DISPLACED, FULL, Sender, refused};
use super::state::{Overflow, Put};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::fate::{ITEM, dropped};
use crate::engine::side::Single;
use crate::engine::subject::{Contents, Subject};
use crate::engine::task::Task;
use crate::outcome::Outcome;
use crate::sync::operation::{Attempt, claim_if};
use crate::sync::waiters::{Waiter, Wakes};

/// The largest number of items read ahead: a lock for each item would cost as much as the item itself; a lock for 64 costs
/// next to nothing.
const BATCH: usize = 64;

/// After this many batches without a wait, the fiber yields: with an endless iterator, the channel may never be full.
const BATCHES: usize = 64;

/// The wait of [`Sender::send_all`].
pub struct SendingAll<T, I> {
    sender: Sender<T>,
    items: I,
    /// Items that were read and are not sent, the oldest first.
    read: VecDeque<T>,
    /// Whether it waits only to yield.
    is_resting: bool,
    site: &'static Location<'static>,
}

impl<T, I> SendingAll<T, I> {
    pub(super) fn new(sender: Sender<T>, items: I, site: &'static Location<'static>) -> Self {
        SendingAll { sender, items, read: VecDeque::new(), is_resting: false, site }
    }
}

/// The progress of a batch.
enum Sent {
    /// All items read so far are in the channel.
    All,
    /// There is no more room.
    Full,
    Closed,
}

impl<T, I: Iterator<Item = T>> SendingAll<T, I> {
    /// Reads as many items as have room now, without the lock, because an iterator is user code. `false` if there are
    /// no more.
    fn read(&mut self) -> bool {
        if self.read.is_empty() {
            let room = self.sender.channel().lock().room();
            self.read.extend(self.items.by_ref().take(room.clamp(1, BATCH)));
        }
        !self.read.is_empty()
    }

    /// Sends the items read so far, as far as there is room. The first item without room waits in the place, if there is one with a
    /// seat.
    fn send(&mut self, place: Option<&mut Waiter<Option<T>>>, seat: &mut Option<Seat>) -> Sent {
        let mut lost = Vec::new();
        let mut wakes = Wakes::default();
        let mut state = self.sender.channel().lock();
        let may_put = claim_if(seat, |seat| state.can_put(seat));
        let sent = loop {
            let mut item = self.read.pop_front();
            if item.is_none() {
                break Sent::All;
            }
            match if may_put { state.put(&mut item) } else { Put::Full } {
                Put::In(committed) => committed.into_iter().for_each(|committed| wakes.push(committed)),
                Put::Instead => lost.extend(item),
                Put::Full if may_put && state.overflow() == Overflow::DropNewest => lost.extend(item),
                Put::Full => {
                    match (place, seat.take(), item) {
                        (Some(place), Some(seat), Some(item)) => state.join_senders(place, seat, item),
                        (.., item) => item.into_iter().for_each(|item| self.read.push_front(item)),
                    }
                    break Sent::Full;
                }
                Put::Closed => {
                    item.into_iter().for_each(|item| self.read.push_front(item));
                    break Sent::Closed;
                }
            }
        };
        let why = if state.overflow() == Overflow::DropNewest { FULL } else { DISPLACED };
        wakes.wake_after(state);
        dropped(self.sender.subject(), lost.len(), ITEM, why);
        sent
    }

    /// Sends until there is no room, or nothing to send.
    fn send_batches(
        &mut self,
        mut place: Option<&mut Waiter<Option<T>>>,
        cx: Option<&Cx<'_>>,
        mut seat: Option<Seat>,
    ) -> Option<Outcome<()>>
    where
        T: Send + 'static,
    {
        let mut batches = 0;
        while self.read() {
            match self.send(place.as_deref_mut(), &mut seat) {
                Sent::All if cx.is_some_and(Cx::is_interrupted) => return Some(Outcome::Cancelled),
                Sent::All => {
                    batches += 1;
                    if batches == BATCHES
                        && let Some(cx) = cx
                    {
                        self.is_resting = true;
                        return seat.and_then(|seat| rest(cx, seat));
                    }
                }
                Sent::Full => return None,
                Sent::Closed => {
                    let unsent = Vec::from(std::mem::take(&mut self.read));
                    return Some(refused("send_all", unsent, self.site, cx));
                }
            }
        }
        Some(Outcome::Success(()))
    }

    /// After a wait: the item that waited is in the channel, or is returned because the channel was closed.
    fn end_wait(&mut self, place: &mut Waiter<Option<T>>) {
        if let Some(item) = self.sender.leave(place) {
            self.read.push_front(item);
        }
    }
}

/// Wakes the fiber as soon as it has parked, so that it continues in a separate turn.
fn rest<T>(cx: &Cx<'_>, seat: Seat) -> Option<T> {
    cx.schedule(Task::fire(seat.into_wakeup()));
    None
}

impl<T, I> Attempt for SendingAll<T, I>
where
    T: Send + 'static,
    I: Iterator<Item = T> + Send + 'static,
{
    type Out = ();
    type Place = Waiter<Option<T>>;
    const SINGLE: Single = Single::AGAIN;
    const WAITS_FOR: WaitsFor = WaitsFor::Room;

    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        self.send_batches(None, cx, None)
    }

    fn join(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<()>> {
        match cx {
            Some(cx) if self.is_resting => rest(cx, seat),
            _ => self.send_batches(Some(place), cx, Some(seat)),
        }
    }

    fn woken(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        self.is_resting = false;
        if place.has_joined() {
            self.end_wait(place);
            if cx.is_some_and(Cx::is_interrupted) {
                return Some(Outcome::Cancelled);
            }
        }
        self.send_batches(None, cx, None)
    }

    fn leave(&mut self, place: &mut Self::Place) {
        if place.has_joined() {
            self.end_wait(place);
        }
    }

    fn subject(&self) -> &Subject {
        self.sender.subject()
    }

    const HAS_CONTENTS: bool = true;

    fn contents(&self) -> Option<Weak<dyn Contents>> {
        Some(self.sender.contents())
    }
}

impl<T: Clone, I: Clone> Clone for SendingAll<T, I> {
    fn clone(&self) -> Self {
        let described = SendingAll::new(self.sender.clone(), self.items.clone(), self.site);
        SendingAll { read: self.read.clone(), ..described }
    }
}

impl<T, I> fmt::Debug for SendingAll<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "send_all by the {:?}", self.sender)
    }
}
