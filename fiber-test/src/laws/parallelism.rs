//! Computations run on all threads.

use fiber_core::Fiber;

use super::host::AnyHost;
use super::meeting::Meeting;
use super::trial::Trial;

/// In some rounds, the threads have fallen asleep before the beginning.
const ROUNDS: usize = 100;

/// A meeting of `size` closures, which fails before the law's own limit, with a message.
fn meeting<H: AnyHost + ?Sized>(trial: &Trial<H>, size: usize) -> Meeting {
    Meeting::new(size, trial.host().patience() / 2)
}

pub(super) fn branches_that_compute_run_at_the_same_time<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let threads = trial.host().threads();
    if threads < 2 || !trial.host().shares_work() {
        return;
    }
    for round in 0..ROUNDS {
        let two = meeting(&trial, 2);
        trial.run("the two sides of `zip`", two.attend().zip(two.attend()));
        let two = meeting(&trial, 2);
        trial.run("the two sides of `race`", two.attend().race(two.attend()));
        let all = meeting(&trial, threads);
        let branches: Vec<_> = (0..threads).map(|_| all.attend()).collect();
        trial.run("the branches of `parallel`", Fiber::parallel(branches));
        let all = meeting(&trial, threads);
        let nest = (1..threads).fold(all.attend(), |nest, _| nest.zip(all.attend()).map(drop).boxed());
        // Some rounds begin on a thread that has just woken.
        let pause = if round % 2 == 0 { Fiber::success(()).boxed() } else { Fiber::yield_now().boxed() };
        trial.run("the sides of nested `zip`s", pause.bind(|()| nest));
    }
}

pub(super) fn fibers_that_compute_run_at_the_same_time<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let threads = trial.host().threads();
    if threads < 2 || !trial.host().shares_work() {
        return;
    }
    for _ in 0..ROUNDS {
        let all = meeting(&trial, threads);
        let spawned: Vec<_> = (0..threads).map(|_| trial.spawn(all.attend())).collect();
        for handle in spawned {
            trial.finish("fibers that are spawned", handle).unwrap();
        }
        let all = meeting(&trial, threads);
        let forks: Vec<_> = (1..threads).map(|_| all.attend()).collect();
        let own = all.attend();
        let forks = Fiber::for_each(forks, |fiber| fiber.fork().map(drop));
        trial.run("fibers that are forked", forks.bind(|()| own));
    }
}
