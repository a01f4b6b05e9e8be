//! A sender checks whether a channel is closed, and then sends; the channel may be closed and drained in between.

use fiber_core::Fiber;

use crate::exact::{Model, Next};
use crate::support::Shared;

#[derive(Clone, Default)]
pub(crate) struct Channel {
    is_closed: bool,
    seen_closed: bool,
    count: u32,
    drained: u32,
}

fn program(send: Fiber<()>, channel: Shared<Channel>) -> Fiber<()> {
    let closing = channel.clone();
    let close = closing.step(|channel| channel.is_closed = true);
    let close = close.bind(move |()| closing.step(|channel| channel.drained = channel.count)).boxed();
    let check = move |_| {
        let (count, drained) = channel.with(|channel| (channel.count, channel.drained));
        assert_eq!(count, drained, "a message was sent and never received");
    };
    Fiber::parallel([send, close]).map(check).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    let channel = Shared::new(Channel::default());
    let sending = channel.clone();
    let send = move |is_closed: bool| {
        sending.step(move |channel| {
            if !is_closed {
                channel.count += 1;
            }
        })
    };
    program(channel.step(|channel| channel.is_closed).bind(send).boxed(), channel)
}

/// Checks and sends in one step.
pub(crate) fn corrected() -> Fiber<()> {
    let channel = Shared::new(Channel::default());
    let send = channel.step(|channel| {
        if !channel.is_closed {
            channel.count += 1;
        }
    });
    program(send.boxed(), channel)
}

pub(crate) fn model() -> Model<Channel> {
    let look = |channel: &mut Channel, _| {
        channel.seen_closed = channel.is_closed;
        Next::GoOn
    };
    let send = |channel: &mut Channel, _| {
        if !channel.seen_closed {
            channel.count += 1;
        }
        Next::GoOn
    };
    let close = |channel: &mut Channel, _| {
        channel.is_closed = true;
        Next::GoOn
    };
    let drain = |channel: &mut Channel, _| {
        channel.drained = channel.count;
        Next::GoOn
    };
    let is_lost = |channel: &Channel| channel.count != channel.drained;
    Model::new(Channel::default(), vec![vec![look, send], vec![close, drain]], is_lost)
}
