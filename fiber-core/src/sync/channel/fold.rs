//! Loops over the items of a channel, which keep the receiver in their frame.
//!
//! An operation of a [`Receiver`] holds a handle, because it may outlive the receiver that it was made of. A loop that owns its receiver
//! lends it to the waits of its rounds instead. That saves the two locked instructions by which each handle is counted.

#![allow(unsafe_code)]

use std::panic::Location;
use std::ptr::NonNull;

use super::Channel;
use super::receiver::{Leads, Receiver, Receiving, ReceivingNext};
use crate::engine::context::Cx;
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Follow, Run, Step, room_with};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};
use crate::sync::operation::Operation;

impl<T: Send + 'static> Receiver<T> {
    /// Receives all items, and runs the fiber that `f` makes of the state and an item, one after the other. It gives the next state.
    /// When the channel is closed and empty, the last state is the value.
    ///
    /// Faster than one [`next`](Receiver::next) after the other, because no operation has to hold a handle of its own.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    ///
    /// let (sender, receiver) = Channel::bounded(8);
    /// let sum = receiver.fold(0, |sum, n| Fiber::success(sum + n));
    /// let send = sender.send_all(1..=100);
    /// drop(sender);
    /// assert_eq!(fiber_sched::run(send.zip(sum)).unwrap(), ((), 5050));
    /// ```
    ///
    /// # Errors
    /// The first failure of a fiber that `f` makes ends the loop.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A cancellation is noticed where the fiber waits for an item, and where the fiber of an item starts or waits. An item that was
    /// taken reaches `f`. The receiver is dropped when the loop has ended.
    #[track_caller]
    pub fn fold<S, R, F>(self, state: S, f: F) -> Fiber<S, impl Run<Out = S> + use<T, S, R, F>>
    where
        S: Send + 'static,
        R: Run<Out = S>,
        F: FnMut(S, T) -> Fiber<S, R> + Send + 'static,
    {
        let rounds = Rounds { receiver: self, f, name: "fold", site: Location::caller() };
        Fiber::new(Fold { state, rounds })
    }

    /// Receives all items, and runs the fiber that `f` makes of each, one after the other, until the channel is closed and empty.
    /// [`for_each_recv`](Receiver::for_each_recv) runs several at a time.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    ///
    /// let (sender, numbers) = Channel::bounded(8);
    /// let (squares, received) = Channel::unbounded();
    /// let square = numbers.for_each(move |n: u32| squares.send(n * n));
    /// let send = sender.send_all(1..=3);
    /// drop(sender);
    /// assert!(fiber_sched::run(send.zip(square)).is_success());
    /// assert_eq!(fiber_sched::run(received.recv_many(8)).unwrap(), [1, 4, 9]);
    /// ```
    ///
    /// # Errors, Panics, Cancellation
    /// As in [`fold`](Receiver::fold).
    #[track_caller]
    pub fn for_each<R, F>(self, mut f: F) -> Fiber<(), impl Run<Out = ()> + use<T, R, F>>
    where
        R: Run<Out = ()>,
        F: FnMut(T) -> Fiber<(), R> + Send + 'static,
    {
        let f = move |(), item| f(item);
        let rounds = Rounds { receiver: self, f, name: "for_each", site: Location::caller() };
        Fiber::new(Fold { state: (), rounds })
    }
}

/// The description of [`Receiver::fold`].
#[derive(Debug)]
pub(crate) struct Fold<T, S, F> {
    state: S,
    rounds: Rounds<T, F>,
}

#[derive(Debug)]
struct Rounds<T, F> {
    receiver: Receiver<T>,
    f: F,
    name: &'static str,
    site: &'static Location<'static>,
}

/// The wait for an item.
type Next<T> = Leaf<Operation<ReceivingNext<T, Lent<T>>>>;

impl<T: Send + 'static, F: Send + 'static> Rounds<T, F> {
    /// Runs rounds. The first one has `received` this, unless it has to wait for it.
    fn turn<'s, S, R>(
        mut self,
        cx: &'s Cx<'_>,
        mut state: S,
        mut received: Option<Outcome<Option<T>>>,
    ) -> Step<'s, S>
    where
        S: Send + 'static,
        R: Run<Out = S>,
        F: FnMut(S, T) -> Fiber<S, R>,
    {
        loop {
            let item = match received.take() {
                None => match self.now(cx) {
                    Some(item) if self.spend(cx) => item,
                    Some(item) => {
                        let item = Outcome::Success(Some(item));
                        return Step::Wait(cx.pause(item).then(cx, Taking(self, state)));
                    }
                    None => match self.next().run(cx) {
                        Step::Done(item) => {
                            received = Some(item);
                            continue;
                        }
                        Step::Wait(waiting) => return Step::Wait(waiting.then(cx, Taking(self, state))),
                    },
                },
                Some(received) => match received.split() {
                    Ok(Some(item)) => item,
                    Ok(None) => return Step::Done(self.end(cx, Outcome::Success(state))),
                    Err(other) => return Step::Done(self.end(cx, other.without(state, cx))),
                },
            };
            let outcome = match guard(|| (self.f)(state, item)) {
                Ok(fiber) => match fiber.into_run().run(cx) {
                    Step::Done(outcome) => outcome,
                    Step::Wait(waiting) => return Step::Wait(waiting.then(cx, self)),
                },
                Err(panic) => Outcome::Panicked(panic),
            };
            state = match outcome.split() {
                Ok(state) if self.spend(cx) => state,
                Ok(state) => return Step::Wait(cx.pause(Outcome::Success(state)).then(cx, self)),
                Err(other) => return Step::Done(self.end(cx, other)),
            };
        }
    }

    /// The next item, if it is there, and no event has to be asked first.
    #[inline]
    fn now(&self, cx: &Cx<'_>) -> Option<T> {
        if cx.is_interrupted() || cx.is_raced() { None } else { self.receiver.channel().take_now() }
    }

    /// The wait for the next item, which is run at once. The fiber continues here, or in [`Taking`].
    #[inline]
    fn next(&self) -> Next<T> {
        // The wait uses the pointer while it runs, and while its frame waits. It is gone before this loop uses or drops the receiver: the
        // frames behind it contain the loop, and frames are run, and dropped, from the inside out.
        let lent = Lent(NonNull::from(self.receiver.channel()));
        Operation::leaf(ReceivingNext(Receiving::new(lent, self.name, self.site)), self.site)
    }

    /// Ends the loop, and drops what it has.
    fn end<S>(self, cx: &Cx<'_>, outcome: Outcome<S>) -> Outcome<S> {
        let frame = self.frame();
        outcome.without(self.receiver, cx).without(self.f, cx).passed(frame)
    }

    #[inline]
    fn spend(&self, cx: &Cx<'_>) -> bool {
        cx.spend() || cx.ask(SwitchPoint::Bind(self.frame()))
    }
}

impl<T, F> Rounds<T, F> {
    fn frame(&self) -> Frame {
        Frame::new(self.name, self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.receiver, torn);
        discard_part(self.f, torn);
    }
}

impl<T, S, R, F> Run for Fold<T, S, F>
where
    T: Send + 'static,
    S: Send + 'static,
    R: Run<Out = S>,
    F: FnMut(S, T) -> Fiber<S, R> + Send + 'static,
{
    type Out = S;
    const ROOM: usize = room_with::<Taking<T, S, F>>(Next::<T>::ROOM);

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, S> {
        self.rounds.turn(cx, self.state, None)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.state, torn);
        self.rounds.discard(torn);
    }
}

/// The loop while it waits for an item.
struct Taking<T, S, F>(Rounds<T, F>, S);

impl<T, S, R, F> Follow<Option<T>> for Taking<T, S, F>
where
    T: Send + 'static,
    S: Send + 'static,
    R: Run<Out = S>,
    F: FnMut(S, T) -> Fiber<S, R> + Send + 'static,
{
    type Out = S;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, item: Outcome<Option<T>>) -> Step<'s, S> {
        self.0.turn(cx, self.1, Some(item))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.1, torn);
        self.0.discard(torn);
    }

    #[inline]
    fn as_bind(&self, item: &Outcome<Option<T>>) -> Option<Frame> {
        (!item.is_end()).then(|| self.0.frame())
    }
}

/// The loop while the fiber of an item waits.
impl<T, S, R, F> Follow<S> for Rounds<T, F>
where
    T: Send + 'static,
    S: Send + 'static,
    R: Run<Out = S>,
    F: FnMut(S, T) -> Fiber<S, R> + Send + 'static,
{
    type Out = S;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<S>) -> Step<'s, S> {
        match outcome.split() {
            Ok(state) => self.turn(cx, state, None),
            Err(other) => Step::Done(self.end(cx, other)),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        Rounds::discard(self, torn);
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<S>) -> Option<Frame> {
        outcome.is_success().then(|| self.frame())
    }
}

impl<T> Outcome<Option<T>> {
    /// Whether there is no item.
    #[inline]
    fn is_end(&self) -> bool {
        !matches!(self, Outcome::Success(Some(_)))
    }
}

/// The channel of a receiver that a loop has. Not `Clone`: it does not outlive the wait that it was made for.
struct Lent<T>(NonNull<Channel<T>>);

// SAFETY: it is used as a shared reference to the channel, which threads may share.
unsafe impl<T: Send> Send for Lent<T> {}

impl<T: Send + 'static> Leads<T> for Lent<T> {
    #[inline]
    fn channel(&self) -> &Channel<T> {
        // SAFETY: the receiver of the loop keeps the channel; see `Rounds::next`.
        unsafe { self.0.as_ref() }
    }
}
