//! Values that fibers share without a count of their own: the drop of the last one has an effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use fiber_core::sync::{Channel, Ref, Semaphore, Sender};
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
