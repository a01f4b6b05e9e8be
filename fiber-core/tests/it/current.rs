//! The current fiber of a thread, and its locals, as code outside of fibers sees them.

use std::time::Duration;

use fiber_core::{Context, Error, Fiber, LocalKey, Scope, fiber, local_key};
use fiber_sched::{CurrentThread, Pool};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

local_key! { static TENANT: u32 = 0; }
static SPAN: LocalKey<u32> = LocalKey::new(|| 0).not_inherited();

fn tenant() -> u32 {
    Context::local(&TENANT)
}

fn span() -> u32 {
    Context::local(&SPAN)
}

fn name() -> Option<String> {
    Context::current().and_then(|fiber| fiber.name().map(str::to_owned))
}

/// Reads them in closures of all kinds, before and after waits of all kinds.
fn everywhere() -> Fiber<Vec<u32>> {
    fiber! {
        let mut seen = vec![tenant()];
        let! lazy = Fiber::lazy(tenant);
        let! after_yield = Fiber::yield_now().map(|()| tenant());
        let! after_sleep = Fiber::delay(Duration::from_millis(1)).bind(|()| Fiber::success(tenant()));
        let! limited = Fiber::lazy(tenant).timeout(SECOND);
        let! limited_wait = Fiber::delay(Duration::from_millis(1)).map(|()| tenant()).timeout(SECOND);
        let! left = Fiber::yield_now().map(|()| tenant()) and! right = Fiber::lazy(tenant);
        let! forked = Fiber::lazy(tenant).fork().bind(|fork| fork.join());
        let! in_scope = Fiber::scope(|scope: Scope| scope.fork(Fiber::lazy(tenant)).bind(|fork| fork.join()));
        let! callback = Fiber::callback(|resume| resume.success(tenant()));
        let! caught = Fiber::<u32>::fail(Error::msg("no")).catch(|_| Fiber::success(tenant()));
        let! finalized = Fiber::lazy(tenant).ensure(Fiber::lazy(|| assert_eq!(tenant(), 7)));
        let! awaited = Fiber::from_future(async { Ok::<_, Error>(tenant() + Fiber::lazy(tenant).await? - 7) });
        seen.extend([lazy, after_yield, after_sleep, limited, limited_wait, left, right, forked, in_scope]);
        seen.extend([callback, caught, finalized, awaited, tenant()]);
        seen
    }
}

fn assert_everywhere(seen: Vec<u32>) {
    assert_eq!(seen, [7; 15]);
}

#[test]
fn a_local_is_seen_in_every_closure() {
    let fiber = || everywhere().with_local(&TENANT, 7);
    assert_everywhere(TestScheduler::new().run(fiber()).unwrap());
    assert_everywhere(CurrentThread::new().run(fiber()).unwrap());
    let pool = Pool::builder().workers(2).build();
    assert_everywhere(pool.run(fiber()).unwrap());
    assert_everywhere(fiber_sched::block_on(pool.spawn(fiber())).unwrap());
}

#[test]
fn a_local_is_seen_in_blocking_closures() {
    let pool = Pool::builder().workers(1).build();
    let blocking = Fiber::blocking(tenant).zip(Fiber::yield_now().bind(|()| Fiber::blocking(tenant)));
    assert_eq!(pool.run(blocking.with_local(&TENANT, 7)).unwrap(), (7, 7));
}

#[test]
fn a_local_ends_with_its_part_of_the_program() {
    let test = TestScheduler::new();
    let wait = || Fiber::delay(SECOND).map(|()| tenant());
    let parts: Vec<Fiber<u32>> = vec![
        wait().with_local(&TENANT, 7).boxed(),
        wait().with_local(&TENANT, 7).timeout(9 * SECOND).boxed(),
        wait().timeout(9 * SECOND).with_local(&TENANT, 7).boxed(),
        Fiber::lazy(tenant).with_local(&TENANT, 7).boxed(),
        Fiber::callback(|resume| resume.success(tenant())).with_local(&TENANT, 7).boxed(),
        wait().with_local(&TENANT, 7).zip(Fiber::delay(SECOND)).map(|(seen, ())| seen).boxed(),
        Fiber::scope(move |_| wait().with_local(&TENANT, 7)).boxed(),
        wait().with_local(&TENANT, 7).fork().bind(|fork| fork.join()).boxed(),
        wait().with_local(&TENANT, 7).uncancelable().boxed(),
    ];
    for (number, part) in parts.into_iter().enumerate() {
        let outside = part.map(|inside| (inside, tenant())).with_local(&TENANT, 3);
        assert_eq!(test.run(outside).unwrap(), (7, 3), "part {number}");
        assert_eq!(tenant(), 0);
    }
}

#[test]
fn in_a_closure_of_another_pool_the_fiber_of_that_pool_is_current() {
    let (outer, inner) = (Pool::builder().workers(1).build(), Pool::builder().workers(1).build());
    let nested = move || {
        let inside = inner.run(Fiber::yield_now().map(|()| tenant()).with_local(&TENANT, 3)).unwrap();
        (inside, tenant())
    };
    assert_eq!(outer.run(Fiber::lazy(nested).with_local(&TENANT, 7)).unwrap(), (3, 7));
}

#[test]
fn the_current_fiber_has_its_name() {
    let test = TestScheduler::new();
    assert_eq!(name(), None);
    let named =
        |fiber: Fiber<Option<String>>, name: &'static str| fiber.named(name).fork().bind(|fork| fork.join());
    let both =
        named(Fiber::lazy(name).boxed(), "a").zip(named(Fiber::delay(SECOND).map(|()| name()).boxed(), "b"));
    assert_eq!(test.run(both).unwrap(), (Some("a".to_owned()), Some("b".to_owned())));
    assert_eq!(name(), None);
}

#[test]
fn forks_inherit_only_what_they_may() {
    let test = TestScheduler::new();
    let look = || Fiber::lazy(|| (tenant(), span()));
    let read = || Fiber::local(&SPAN).map(|span| (0, span));
    let fiber = fiber! {
        let! own = look();
        let! (left, right) = Fiber::yield_now().bind(move |()| look()).zip(look());
        let! limited = look().timeout(SECOND);
        let! detached_part = look().timeout_with_grace(SECOND, SECOND);
        let! fork = look().fork().bind(|fork| fork.join());
        let! grandchild = look().fork().bind(|fork| fork.join()).fork().bind(|fork| fork.join());
        let! detached = look().detach().bind(|fork| fork.join());
        let! in_scope = Fiber::scope(move |scope: Scope| scope.fork(look()).bind(|fork| fork.join()));
        let! set_again = look().with_local(&SPAN, 9).fork().bind(|fork| fork.join());
        let! read_by_fiber = read().fork().bind(|fork| fork.join());
        let! after = look();
        let parts = [own, left, right, limited, detached_part, after];
        (parts, [fork, grandchild, detached, in_scope], set_again, read_by_fiber)
    };
    let (parts, forks, set_again, read_by_fiber) =
        test.run(fiber.with_local(&SPAN, 5).with_local(&TENANT, 7)).unwrap();
    assert_eq!(parts, [(7, 5); 6]);
    assert_eq!(forks, [(7, 0); 4]);
    assert_eq!(set_again, (7, 9));
    assert_eq!(read_by_fiber, (0, 0));
}

#[test]
fn what_is_spawned_below_a_fiber_inherits_what_its_forks_may() {
    let test = TestScheduler::new();
    let look = || Fiber::lazy(|| (tenant(), span()));
    let fiber = Fiber::current().bind(move |fiber| {
        let group = fiber.group();
        let mut spawned = fiber.spawn_all([look()]);
        spawned.extend([fiber.spawn(look()), fiber.spawn_here(look()), group.spawn(look())]);
        let called = group.call(look());
        let joined = Fiber::parallel(spawned.into_iter().map(|handle| handle.join()));
        joined.zip(Fiber::block(move || async move { called.await.into_result() }))
    });
    let (spawned, called) = test.run(fiber.with_local(&SPAN, 5).with_local(&TENANT, 7)).unwrap();
    assert_eq!((spawned, called), (vec![(7, 0); 4], (7, 0)));
}
