//! Values that fibers share without a count of their own: the drop of the last one has an effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use fiber_core::sync::{Channel, Receiver, Ref, Semaphore, Sender, parallel_map};
use fiber_core::{Fiber, Handle, local_key};
use fiber_test::Explore;
use parking_lot::Mutex as Lock;

/// All that `program` shows in some order.
fn shown(explore: &Explore, program: impl Fn() -> Fiber<String> + Sync) -> BTreeSet<String> {
    let seen = Arc::new(Lock::new(BTreeSet::new()));
    let noted = || {
        let seen = seen.clone();
        program().map(move |shown| {
            seen.lock().insert(shown);
        })
    };
    let explored = explore.try_check(noted).unwrap();
    println!("{explored}");
    assert!(explored.is_complete(), "{explored}: {:?}", seen.lock());
    std::mem::take(&mut *seen.lock())
}

pub(crate) fn assert_nothing_is_missed(program: impl Fn() -> Fiber<String> + Sync) {
    let all = shown(&Explore::exhaustive(), &program);
    println!("{all:?}");
    assert_eq!(shown(&Explore::exhaustive().reduced(), &program), all);
}

/// A part of a fiber forks, and ends before or after its fork, which changes `done` at its end. The last of the two
/// drops what they share, which `look` sees. That depends on the order of both, though none waits for the other.
fn forks_in(
    part: impl FnOnce(Fiber<Handle<()>>) -> Fiber<Handle<()>>,
    look: impl FnOnce() -> bool + Send + 'static,
) -> Fiber<String> {
    let done = Ref::new(false);
    let fork = Fiber::yield_now()
        .bind({
            let done = done.clone();
            move |()| done.set(true)
        })
        .fork();
    let forks = part(fork.bind(Fiber::success).boxed()).bind(Handle::join);
    let looks = Fiber::for_each(0..3, |_| Fiber::yield_now());
    let looks = looks.map(move |()| format!("gone: {}, done: {}", look(), done.load()));
    forks.zip(looks).map(|((), seen)| seen).boxed()
}

#[test]
fn permits_that_forks_hold() {
    assert_nothing_is_missed(|| {
        let semaphore = Semaphore::new(1);
        let all = semaphore.clone();
        forks_in(move |part| all.with_permits(1, part).boxed(), move || semaphore.available() == 1)
    });
}

local_key!(
    static SENDER: Option<Sender<u32>> = None;
);

#[test]
fn locals_that_forks_inherit() {
    assert_nothing_is_missed(|| {
        let (sender, receiver) = Channel::bounded(1);
        forks_in(move |part| part.with_local(&SENDER, Some(sender)).boxed(), move || receiver.is_closed())
    });
}

/// The last sender of a channel that is already closed changes nothing, but which sender is the last depends on the order.
#[test]
fn senders_of_a_channel_that_is_closed() {
    assert_nothing_is_missed(|| {
        let (sender, receiver) = Channel::<u32>::bounded(1);
        let other = sender.clone();
        let drops = Fiber::yield_now().map(move |()| drop(sender));
        let closes = Fiber::yield_now().bind(move |()| {
            let was_open = receiver.close();
            Fiber::yield_now().map(move |()| {
                drop(other);
                was_open
            })
        });
        drops.zip(closes).map(|((), was_open)| format!("was open: {was_open}")).boxed()
    });
}

/// The function of a stage has captured the sender of its results.
#[test]
fn the_function_of_a_stage() {
    assert_nothing_is_missed(|| {
        let stage = parallel_map(1..=2_u32, 2, Fiber::success);
        stage
            .feed(|results: Receiver<u32>| {
                results.fold(String::new(), |seen, n| Fiber::success(format!("{seen}{n}")))
            })
            .boxed()
    });
}
