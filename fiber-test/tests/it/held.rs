//! Reports name the holders and waiters of primitives, and the permits that were not given back.

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fiber_core::sync::{Cache, Channel, Mutex as FiberMutex, Permit, RwLock, Semaphore};
use fiber_core::{Fiber, Run, fiber, race};
use fiber_test::{Explore, Failure, ProblemKind, Schedule, Spawned, TestScheduler, Trace};
use parking_lot::Mutex;

const SECOND: Duration = Duration::from_secs(1);

/// `file:line` of a line of this file.
fn at(line: u32) -> String {
    format!("{}:{line}", file!())
}

fn never() -> Fiber<()> {
    Fiber::never().boxed()
}

fn semaphore(permits: usize, name: &str) -> Semaphore {
    Semaphore::new(permits).named(name)
}

/// A deadlock of `program`.
#[track_caller]
fn deadlock<T: Send + 'static, R: Run<Out = T>>(program: Fiber<T, R>) -> Vec<String> {
    let Err(report) = TestScheduler::new().try_run(program) else { panic!("it ended") };
    assert!(report.is_deadlock(), "{report}");
    in_words(&report.to_string()).lines().map(str::to_owned).collect()
}

/// With a drawn circle in one line.
fn in_words(report: &str) -> String {
    report.replace("\n  ╭> ", ": ").replace("\n  │  ", " ").replace("\n  ╰─ ", " ")
}

/// The report about a fiber that has not ended.
fn pending<T: Send + 'static>(spawned: Spawned<T>) -> String {
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| drop(spawned.outcome()))).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[track_caller]
fn leak_of(test: &TestScheduler) -> String {
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| test.assert_no_leaks())).expect_err("no leak");
    panic.downcast_ref::<String>().unwrap().clone()
}

const LINE_OF_AB: u32 = line!() + 5;
/// Two fibers that take the same two semaphores in opposite orders.
fn opposite_orders() -> Fiber<()> {
    let [a, b] = ["a", "b"].map(|name| semaphore(1, name));
    let (inner_a, inner_b) = (a.with_permits(1, Fiber::success(())), b.with_permits(1, Fiber::success(())));
    let there = a.with_permits(1, inner_b).named("there");
    let back = b.with_permits(1, inner_a).named("back");
    there.zip(back).map(drop).boxed()
}

fn failure(program: fn() -> Fiber<()>) -> Failure {
    Explore::default().try_check(program).unwrap_err()
}

#[test]
fn a_lock_beside_another_event_of_a_race_is_told_with_its_holder() {
    let lock = FiberMutex::new(()).named("lock");
    let (_sender, receiver) = Channel::<()>::rendezvous();
    let line = line!() + 1;
    let program = lock.lock().bind(move |guard| lock.lock().race(receiver.recv()).map(move |_| drop(guard)));
    let waits = format!(
        "waits for Mutex `lock` (locked at {0}), held by fiber 0, or another event, at {0}",
        at(line)
    );
    let report = deadlock(program);
    assert!(report[1].ends_with(&waits), "{report:#?}");
}

#[test]
fn an_arm_that_is_switched_off_or_never_ends_is_no_event_of_a_race() {
    let (lock, line) = (FiberMutex::new(()).named("lock"), line!() + 5);
    let race = |locks: bool, receives: bool| {
        let lock = lock.clone();
        let (sender, receiver) = Channel::<()>::rendezvous();
        let guard = lock.try_lock().unwrap();
        race! { _ = lock.lock(), if locks => drop(guard), () = receiver.recv(), if receives => drop(sender), () = Fiber::<()>::never() => () }
    };
    let report = |locks, receives| {
        let report = deadlock(race(locks, receives))[1].clone();
        report.split_once(" waits for ").unwrap().1.to_owned()
    };
    let lock = "Mutex `lock`, taken by a thread or a `try_` method";
    assert_eq!(report(true, false), format!("{lock}, at {}", at(line)));
    assert_eq!(report(true, true), format!("Mutex `lock` or another event, at {}", at(line)));
    assert_eq!(report(false, false), format!("nothing that will ever happen (never), at {}", at(line)));
}

#[test]
fn the_end_of_a_fiber_beside_an_arm_that_never_ends_names_the_fiber() {
    let only = never().fork().bind(|worker| worker.ended().race(Fiber::<()>::never()));
    let two = Fiber::fork_all([never(), never()]).bind(|all| all[0].ended().race(all[1].ended()));
    let waits = |program: Fiber<()>| deadlock(program)[1].split_once(" waits for ").unwrap().1.to_owned();
    let only = waits(only.map(drop).boxed());
    assert!(only.starts_with("the end of fiber 0.0, at "), "{only}");
    let two = waits(two.map(drop).boxed());
    assert!(two.starts_with("one of several events, at "), "{two}");
}

#[test]
fn a_deadlock_of_two_semaphores_is_found_and_told_with_its_circle_and_places() {
    let failure = failure(opposite_orders);
    assert_eq!(failure.problem().kind(), ProblemKind::Deadlock);
    let (inner, there, back, zip) =
        (at(LINE_OF_AB - 1), at(LINE_OF_AB), at(LINE_OF_AB + 1), at(LINE_OF_AB + 2));
    let lines: Vec<&str> = failure.problem().message().lines().collect();
    assert_eq!(
        lines[2..],
        [
            format!(
                "  fiber 0.0.0 \"there\" (forked at {zip}) waits for Semaphore `b` (acquired at {back}), held by fiber 0.0.1 \"back\", \
                 at {inner}"
            ),
            format!(
                "  fiber 0.0.1 \"back\" (forked at {zip}) waits for Semaphore `a` (acquired at {there}), held by fiber 0.0.0 \
                 \"there\", at {inner}"
            ),
            "they wait in a circle".to_owned(),
            "  ╭> fiber 0.0.0 \"there\" waits for Semaphore `b`, held by".to_owned(),
            "  │  fiber 0.0.1 \"back\", which waits for Semaphore `a`, held by".to_owned(),
            "  ╰─ fiber 0.0.0 \"there\"".to_owned(),
        ]
    );
}

#[test]
fn the_trace_tells_who_gets_what_and_who_waits_for_whom_in_the_end() {
    let failure = failure(opposite_orders);
    let trace = failure.trace();
    let names: Vec<String> = trace.primitives().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Semaphore `a`", "Semaphore `b`"]);
    let depends: Vec<_> =
        trace.dependencies().iter().map(|one| (one.from, one.to, one.primitive, one.is_of_cycle)).collect();
    assert_eq!(
        depends,
        [(0, 1, None, false), (0, 2, None, false), (1, 2, Some(1), true), (2, 1, Some(0), true)]
    );
    let text = failure.to_string();
    let (inner, there) = (at(LINE_OF_AB - 1), at(LINE_OF_AB));
    assert!(text.contains(&format!("; acquires Semaphore `a` at {there}\n")), "{text}");
    let waits = format!("; waits for Semaphore `a`, held by fiber 0.0.0 \"there\", at {inner}\n");
    assert!(text.contains(&waits), "{text}");
    assert_eq!(failure.html().matches("class=\"arrow depends of-cycle\">\n<title>").count(), 2);
    let (_, passing) = failure.passing().unwrap();
    assert!(passing.to_string().contains("gives back Semaphore `b`"), "{passing}");
    assert!(passing.dependencies().is_empty());
}

#[test]
fn who_waits_for_several_permits_is_told_who_has_how_many() {
    let (pool, test) = (semaphore(4, "db"), TestScheduler::new());
    let (first, first_line) = (test.spawn(pool.with_permits(2, never())), line!());
    let (second, second_line) = (test.spawn(pool.with_permits(1, never()).named("bob")), line!());
    let (third, third_line) = (test.spawn(pool.acquire(2)), line!());
    let fourth = test.spawn(pool.acquire(1));
    test.run_until_idle();
    let held = format!(
        "Semaphore `db`, which has 4: fiber 0 holds 2 (acquired at {}) and fiber 1 \"bob\" holds 1 (acquired at {})",
        at(first_line),
        at(second_line),
    );
    let text = pending(third);
    assert!(text.starts_with(&format!("fiber 2 (forked at {}) has not ended: ", at(third_line))), "{text}");
    assert!(text.contains(&format!(" it waits for 2 permits of {held}")), "{text}");
    assert!(text.contains("\n  fiber 0 ") && text.contains("\n  fiber 1 \"bob\" "), "{text}");
    let text = pending(fourth);
    // One permit is free, but reserved for the third fiber.
    assert!(text.contains(&format!(" it waits for 1 permit of {held}, behind fiber 2")), "{text}");
    assert!(text.contains("\n  fiber 2 "), "{text}");
    drop((first, second));
}

#[test]
fn of_many_holders_the_first_are_named() {
    let (pool, test) = (semaphore(5, "db"), TestScheduler::new());
    let holders: Vec<_> = (0..5).map(|_| test.spawn(pool.with_permits(1, never()))).collect();
    test.run_until_idle();
    let waits = test.spawn(pool.acquire(5));
    test.run_until_idle();
    let text = pending(waits);
    let line = text.lines().next().unwrap();
    assert!(
        line.contains("which has 5: fiber 0 holds 1 (") && line.contains("), fiber 2 holds 1 ("),
        "{text}"
    );
    assert!(line.contains(") and 2 more"), "{text}");
    drop(holders);
}

#[test]
fn what_no_fiber_holds_was_taken_by_a_thread_or_without_a_wait() {
    let door = semaphore(1, "door");
    let _taken = door.try_acquire(1).unwrap();
    let lines = deadlock(door.acquire(1));
    assert!(
        lines[1].contains(" waits for Semaphore `door`, taken by a thread or a `try_` method"),
        "{lines:?}"
    );
}

#[test]
fn what_has_no_name_is_named_by_its_place_and_what_is_called_the_same_has_numbers() {
    let (locks, line) = ([(); 3].map(|()| Semaphore::new(1)), line!());
    let fibers = (0..3).map(move |n| {
        let next = locks[(n + 1) % 3].with_permits(1, Fiber::success(()));
        locks[n].with_permits(1, next).boxed()
    });
    let lines = deadlock(Fiber::parallel(fibers));
    let name = |n: usize| format!("the Semaphore of {} #{n}", at(line));
    let circle = format!(
        "they wait in a circle: fiber 0.0.0 waits for {}, held by fiber 0.0.1, which waits for {}, held by fiber 0.0.2, which \
         waits for {}, held by fiber 0.0.0",
        name(2),
        name(3),
        name(1)
    );
    assert_eq!(lines.last(), Some(&circle));
}

#[test]
fn who_asks_again_for_what_it_holds_waits_for_itself() {
    let door = semaphore(1, "door");
    let (inner, inner_line) = (door.with_permits(1, Fiber::success(())), line!());
    let (outer, line) = (door.with_permits(1, inner), line!());
    let lines = deadlock(outer);
    let waits =
        format!("Semaphore `door` (acquired at {}), held by fiber 0, at {}", at(line), at(inner_line));
    assert!(lines[1].ends_with(&waits), "{lines:?}");
    let itself = lines[2].strip_prefix("it waits for itself: fiber 0 (forked at ").unwrap();
    assert!(itself.ends_with("): fiber 0 waits for Semaphore `door`, held by fiber 0"), "{lines:?}");
}

/// The second reader waits only because the writer came before it.
#[test]
fn who_reads_again_behind_a_writer_waits_in_a_circle_with_it() {
    let prices = RwLock::new(3).named("prices");
    let raise = prices.with_write(|_| Fiber::success(())).named("writer").boxed();
    let again = prices.with_read(|_| Fiber::success(()));
    let reader = prices.with_read(|_| Fiber::yield_now().bind(|()| again)).named("reader").boxed();
    let lines = deadlock(Fiber::parallel([reader, raise]));
    let circle = "fiber 0.0.0 \"reader\" waits for RwLock `prices`, behind fiber 0.0.1 \"writer\", which waits for RwLock `prices`, held by fiber 0.0.0 \"reader\"";
    assert_eq!(lines.last().unwrap(), &format!("they wait in a circle: {circle}"));
}

#[test]
fn a_circle_may_lead_through_the_children_of_who_holds() {
    let door = semaphore(1, "door");
    let child = door.with_permits(1, Fiber::success(())).named("child");
    let lines = deadlock(door.with_permits(1, child.zip(Fiber::success(()))));
    let circle = lines.last().unwrap();
    assert!(circle.contains(
        "waits for its child fiber 0.0.0 \"child\", which waits for Semaphore `door`, held by fiber 0"
    ));
    let circle = deadlock({
        let joined = door.with_permits(1, Fiber::success(())).named("joined");
        door.with_permits(1, joined.fork().bind(|fork| fork.join()))
    });
    let circle = circle.last().unwrap();
    let told = "they wait in a circle: fiber 0 waits for the end of fiber 0.0 \"joined\", which waits for Semaphore `door`, held by \
                fiber 0";
    assert_eq!(circle, told);
}

#[test]
fn what_a_part_of_a_fiber_acquires_the_fiber_holds() {
    let door = semaphore(1, "door");
    let acquired = Fiber::scope({
        let door = door.clone();
        move |_| door.acquire(1)
    });
    // The part that acquires it ends, and another part waits.
    let again = move |permit| Fiber::scope(move |_| door.acquire(1)).map(move |_| drop(permit));
    let lines = deadlock(acquired.bind(again));
    assert!(
        lines[1].starts_with("  fiber 0.1 \"scope\" ") && lines[1].contains("), held by fiber 0, at "),
        "{lines:?}"
    );
    let circle = "they wait in a circle: fiber 0 waits for its part fiber 0.1 \"scope\", which waits for Semaphore `door`, held by \
                  fiber 0";
    assert_eq!(lines[2], circle);
}

#[test]
fn who_an_event_from_outside_could_free_is_on_no_circle() {
    // The second fiber holds one permit and waits for another one, but the first could release its own.
    let both = |first: Fiber<()>| {
        let pool = semaphore(2, "db");
        let again = pool.with_permits(1, Fiber::success(()));
        pool.with_permits(1, first).zip(pool.with_permits(1, again))
    };
    let lines = deadlock(both(Fiber::callback(mem::forget).boxed()));
    assert!(lines[3].contains("fiber 0.0.1 ") && lines[3].contains("waits for 1 permit of Semaphore `db`"));
    assert!(!lines.iter().any(|line| line.contains("circle") || line.contains("itself")), "{lines:?}");
    // No event frees this one.
    let pool = semaphore(2, "db");
    let all = pool.with_permits(2, Fiber::success(()));
    let lines =
        deadlock(pool.with_permits(1, Fiber::<()>::callback(mem::forget)).zip(pool.with_permits(1, all)));
    assert!(lines.iter().any(|line| line.starts_with("it waits for itself: fiber 0.0.1 ")), "{lines:?}");
}

/// Each could go on with what the other one has.
#[test]
fn two_who_have_one_of_two_permits_each_and_want_another_one_wait_in_a_circle() {
    let pool = semaphore(2, "db");
    let one = || {
        let again = pool.with_permits(1, Fiber::success(()));
        pool.with_permits(1, Fiber::yield_now().bind(move |()| again))
    };
    let lines = deadlock(one().zip(one()));
    let expected = "they wait in a circle: fiber 0.0.0 waits for Semaphore `db`, held by fiber 0.0.1, which waits for Semaphore `db`, \
                    held by fiber 0.0.0";
    assert_eq!(lines.last().unwrap(), expected);
}

#[test]
fn a_holder_that_has_ended_is_said_to_have_ended() {
    let (door, test) = (semaphore(1, "door"), TestScheduler::new());
    let (forgotten, line) = (door.acquire(1).map(mem::forget).named("careless"), line!());
    test.run(forgotten).unwrap();
    let next = test.spawn(door.acquire(1));
    test.run_until_idle();
    let text = pending(next);
    let held = format!("(acquired at {}), held by fiber 0 \"careless\", which has ended", at(line));
    assert!(text.contains(&held), "{text}");
}

#[test]
fn fibers_that_are_left_in_a_circle_are_a_leak_with_a_circle() {
    let program = || opposite_orders().detach().map(drop);
    let failure = Explore::default().try_check(program).unwrap_err();
    let message = failure.problem().message();
    assert_eq!(failure.problem().kind(), ProblemKind::Leak);
    assert!(message.starts_with("leak at 0ns: these have not ended\n"), "{message}");
    assert!(message.contains("\nthey wait in a circle\n  ╭> fiber "), "{message}");
    assert!(
        message.contains("\nand these were not given back\n  1 permit of Semaphore `a`, acquired at "),
        "{message}"
    );
}

const LINE_OF_FORGETFUL: u32 = line!() + 4;
/// A fiber that never releases its permit.
fn forgetful() -> Fiber<()> {
    let door = semaphore(2, "door");
    let forgotten = door.acquire(1).map(mem::forget).named("careless");
    forgotten.boxed()
}

#[test]
fn a_permit_that_nobody_gives_back_is_a_leak_of_every_run() {
    let failure = failure(forgetful);
    assert_eq!(failure.problem().kind(), ProblemKind::Leak);
    let (line, forked) = (at(LINE_OF_FORGETFUL), failure.trace().lanes()[0].site);
    assert_eq!(
        failure.problem().message(),
        format!(
            "leak at 0ns: these were not given back\n  1 permit of Semaphore `door`, acquired at {line} by fiber 0 \"careless\" \
             (forked at {}:{}), which has ended",
            forked.file(),
            forked.line()
        )
    );
    assert_eq!(failure.replay(), "Explore::replay(\"\")");
}

#[test]
fn what_is_held_in_the_end_is_no_failure_if_the_test_says_so() {
    Explore::default().schedules(20).may_hold().check(forgetful);
    Explore::default().schedules(20).may_leak().check(forgetful);
    let panics = || forgetful().map(|()| panic!("another failure"));
    let failure = Explore::default().may_hold().try_check::<(), _, _>(panics).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Panic);
    assert_eq!(failure.replay(), "Explore::replay(\"\").may_hold()");
}

#[test]
fn a_permit_in_a_circle_of_owners_is_a_leak() {
    struct Owner(Mutex<Option<(Permit, Arc<Owner>)>>);
    let circle = || {
        let owner = Arc::new(Owner(Mutex::new(None)));
        semaphore(1, "door").acquire(1).map(move |permit| *owner.0.lock() = Some((permit, owner.clone())))
    };
    assert_eq!(Explore::default().try_check(circle).unwrap_err().problem().kind(), ProblemKind::Leak);
}

#[test]
fn what_comes_back_in_the_end_is_no_leak_however_it_does() {
    let schedules = 100;
    for explore in [Explore::default(), Explore::cancel_everywhere(), Explore::default().as_production(4)] {
        let explore = explore.schedules(schedules).no_regressions();
        // In the value of the program.
        explore.check(|| semaphore(1, "door").acquire(1));
        // With a fork, with one that outlives its parent, and with a closure.
        explore.check(|| {
            let section = Fiber::delay(SECOND).fork().map(drop).bind(|()| Fiber::yield_now());
            semaphore(1, "door").with_permits(1, section.timeout(2 * SECOND))
        });
        explore.check(|| semaphore(1, "door").with_permits(1, Fiber::delay(SECOND).detach().map(drop)));
        explore.check(|| semaphore(1, "door").with_permits(1, Fiber::blocking(|| ())));
        // Passed from fiber to fiber.
        explore.check(|| {
            let (give, take) = mpsc::channel();
            let giver =
                semaphore(1, "door").acquire(1).timeout(SECOND).map(move |permit| give.send(permit).is_ok());
            let taker = Fiber::delay(SECOND).map(move |()| drop(take.try_recv()));
            giver.zip(taker)
        });
        // In the captured state of the program.
        explore.check(|| {
            let (kept, door) = (Arc::new(Mutex::new(Vec::new())), semaphore(1, "door"));
            let keep = kept.clone();
            door.acquire(1).map(move |permit| keep.lock().push(permit)).bind(move |()| {
                let left = kept.clone();
                Fiber::delay(SECOND).ensure(Fiber::lazy(move || drop(left)))
            })
        });
    }
}

#[test]
fn a_permit_that_a_fiber_of_a_test_forgets_is_a_leak() {
    let (door, test) = (semaphore(1, "door"), TestScheduler::new());
    let (forgets, line) = (door.acquire(1).map(mem::forget), line!());
    test.run(forgets).unwrap();
    let text = leak_of(&test);
    let held = format!(
        "these were not given back\n  1 permit of Semaphore `door`, acquired at {} by fiber 0 ",
        at(line)
    );
    assert!(text.contains(&held), "{text}");
    assert!(text.ends_with(", which has ended"), "{text}");
}

#[test]
fn a_permit_that_the_test_may_own_is_no_leak() {
    let (door, test) = (semaphore(3, "door"), TestScheduler::new());
    let permit = test.run(door.acquire(1)).unwrap();
    test.assert_no_leaks();
    drop(permit);
    // Still in the handle.
    let spawned = test.spawn(door.acquire(1));
    test.run_until_idle();
    test.assert_no_leaks();
    drop(spawned);
    // Acquired without a wait, and by no fiber.
    let permit = door.try_acquire(1);
    test.assert_no_leaks();
    drop(permit);
    // Of a fiber that the test has not spawned itself.
    let handle = test.context().spawn(door.acquire(1));
    test.run_until_idle();
    test.assert_no_leaks();
    drop(handle);
    assert_eq!(door.available(), 3);
}

#[test]
fn a_permit_in_a_cell_of_the_test_is_no_leak_when_the_cell_is_empty_or_the_test_says_so() {
    let (door, cell) = (semaphore(1, "door"), Arc::new(Mutex::new(None)));
    let into_cell = || {
        let cell = cell.clone();
        door.acquire(1).map(move |permit| *cell.lock() = Some(permit))
    };
    let test = TestScheduler::new();
    test.run(into_cell()).unwrap();
    assert!(leak_of(&test).contains("these were not given back"));
    *cell.lock() = None;
    test.assert_no_leaks();

    let test = TestScheduler::new().may_hold();
    test.run(into_cell()).unwrap();
    test.assert_no_leaks();
}

#[test]
fn a_leak_of_fibers_names_what_they_hold() {
    let (pool, test) = (semaphore(3, "db"), TestScheduler::new());
    let (spawned, line) = (test.spawn(pool.with_permits(2, never())), line!());
    test.run_until_idle();
    let text = leak_of(&test);
    assert!(text.starts_with("leak at 0ns: these have not ended\n  fiber 0 "), "{text}");
    let held = format!(
        "\nand these were not given back\n  2 permits of Semaphore `db`, acquired at {} by fiber 0 ",
        at(line)
    );
    assert!(text.contains(&held), "{text}");
    drop(spawned);
}

#[test]
fn who_waits_at_a_channel_is_told_for_what_and_what_is_in_it() {
    let (sender, receiver) = Channel::bounded(2);
    let (_never_sends, empty) = Channel::<()>::bounded(1);
    let (sender, empty) = (sender.named("jobs"), empty.named("answers"));
    let send = Fiber::for_each(1..=3, move |n| sender.send(n)).named("sends");
    let lines = deadlock(send.zip(empty.recv().named("receives")));
    assert!(
        lines[2].contains("\"sends\"")
            && lines[2].contains(" waits for room for an item in Channel `jobs`, at ")
    );
    assert!(
        lines[3].contains("\"receives\"")
            && lines[3].contains(" waits for an item from Channel `answers`, at ")
    );
    assert_eq!(lines[4..], ["and these were not received", "  2 items in Channel `jobs`"]);
    drop(receiver);
}

#[test]
fn who_waits_for_a_value_of_a_cache_is_told_where_it_asked() {
    let cache = Cache::<u8, u8>::new(1);
    let (again, line) = (cache.clone(), line!() + 1);
    let get = cache.get(1, move || again.get(1, || Fiber::success(1)).map(|value| *value));
    let lines = deadlock(get);
    let waits = format!(" waits for a signal of the Cache of {}, at ", at(line));
    assert_eq!(lines.iter().filter(|fiber| fiber.contains(&waits)).count(), 2, "{lines:#?}");
}

#[test]
fn items_that_are_left_in_a_channel_are_no_leak_by_themselves() {
    // The test can still receive them.
    let (sender, receiver) = Channel::unbounded();
    let (sender, test) = (sender.named("jobs"), TestScheduler::new());
    test.run(sender.send_all(1..=4)).unwrap();
    test.assert_no_leaks();
    let spawned = test.spawn(never());
    test.run_until_idle();
    assert!(leak_of(&test).ends_with("\nand these were not received\n  4 items in Channel `jobs`"));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(leak_of(&test).ends_with("  3 items in Channel `jobs`"));
    drop((receiver, spawned));
    assert!(!leak_of(&test).contains("received"));
    // And a program may end before it has received all.
    Explore::default().schedules(50).check(|| {
        let (sender, receiver) = Channel::unbounded();
        sender.send_all(1..=4).zip(receiver.recv().map(drop).bind(move |()| receiver.recv()))
    });
}

/// Holds the permit until its next turn.
fn section(door: &Semaphore) -> Fiber<()> {
    let give_back = |permit| {
        drop(permit);
        Fiber::success(())
    };
    door.acquire(1).bind(give_back).boxed()
}

/// The turns of each fiber.
fn turns(program: Fiber<()>, schedule: &str) -> Vec<usize> {
    let schedule: Schedule = schedule.parse().unwrap();
    let test = TestScheduler::with_schedule(schedule).record();
    test.run(program).unwrap();
    let trace: Trace = test.trace();
    let of_lane = |lane| trace.turns().iter().filter(|turn| turn.lane == Some(lane)).count();
    (0..trace.lanes().len()).map(of_lane).collect()
}

#[test]
fn an_operation_is_one_step_and_a_wait_one_more() {
    let program = |acquire: fn(&Semaphore) -> Fiber<()>| {
        let door = semaphore(1, "door");
        acquire(&door).zip(acquire(&door)).map(drop).boxed()
    };
    // A fiber that does not have to wait continues in its turn: neither acquiring nor releasing a permit is a turn.
    let nothing = |_: &Semaphore| Fiber::success(()).boxed();
    let at_once = |door: &Semaphore| door.acquire(1).map(drop).boxed();
    let without = turns(program(nothing), "");
    assert_eq!(turns(program(at_once), ""), without);
    // One holds the permit until its next turn. The other one has a turn in which it begins to wait, one when it is woken
    // with the permit, and the next one.
    assert_eq!(turns(program(section), ""), [without[0], 2, 3]);
    // One after the other, no fiber waits.
    assert_eq!(turns(program(section), "2:1"), [without[0], 2, 2]);
}

#[test]
fn the_schedules_of_two_that_need_one_permit_are_few() {
    // Each of the two fibers has two steps: before the bind, and after it. If each operation were a step, there would be many
    // more orders.
    let explored = Explore::exhaustive().check(move || {
        let door = semaphore(1, "door");
        section(&door).zip(section(&door))
    });
    assert_eq!(explored.schedules(), 4);
}

#[test]
fn the_same_schedule_gives_the_same_trace_and_report_wherever_the_primitives_lie() {
    let once = || {
        let test = TestScheduler::new().record();
        let report = test.try_run(opposite_orders()).unwrap_err();
        (test.trace(), report.to_string())
    };
    let first = once();
    let _elsewhere: Vec<Semaphore> = (0..100).map(Semaphore::new).collect();
    assert_eq!(once(), first);
}

/// The circle at the end of the report of a deadlock, in words.
fn told_circle<R: Run<Out = ()>>(program: impl Fn() -> Fiber<(), R> + Sync) -> String {
    let failure = Explore::default().try_check(program).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Deadlock);
    in_words(failure.problem().message()).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn two_locks_in_opposite_orders_are_told_with_their_owners() {
    let circle = told_circle(|| {
        let [one, other] = ["one", "other"].map(|name| FiberMutex::new(0).named(name));
        let both = |first: &FiberMutex<i32>, second: &FiberMutex<i32>| {
            let second = second.clone();
            let first = first.lock();
            first.bind(move |first| second.lock().map(move |second| drop((first, second))))
        };
        both(&one, &other).zip(both(&other, &one)).map(drop)
    });
    assert_eq!(
        circle,
        "they wait in a circle: fiber 0.0.0 waits for Mutex `other`, held by fiber 0.0.1, which waits for Mutex `one`, held by \
         fiber 0.0.0"
    );
}

/// Each reads one value, and wants to write the other one.
#[test]
fn two_readers_who_want_to_write_are_told_with_their_owners() {
    let circle = told_circle(|| {
        let [one, other] = ["one", "other"].map(|name| RwLock::new(0).named(name));
        let both = |read: &RwLock<i32>, write: &RwLock<i32>| {
            let write = write.clone();
            read.read().bind(move |reads| write.write().map(move |writes| drop((reads, writes))))
        };
        both(&one, &other).zip(both(&other, &one)).map(drop)
    });
    assert_eq!(
        circle,
        "they wait in a circle: fiber 0.0.0 waits for RwLock `other`, held by fiber 0.0.1, which waits for RwLock `one`, held \
         by fiber 0.0.0"
    );
}

/// In a race with what never happens, it asks for as many permits as alone.
#[test]
fn a_race_that_asks_for_more_permits_than_are_left_is_told_to_wait_for_itself() {
    let circle = told_circle(|| {
        fiber! {
            let permits = Semaphore::new(3).named("permits");
            let! _held = permits.acquire(2);
            do! race! {
                _ = permits.acquire(2) => (),
                () = Fiber::delay(SECOND), if false => (),
            }
        }
    });
    assert!(circle.ends_with(": fiber 0 waits for Semaphore `permits`, held by fiber 0"), "{circle}");
    let circle = told_circle(|| {
        let value = RwLock::new(0).named("value");
        let writes = value.write().race(Fiber::<()>::never());
        value.read().bind(move |reads| writes.map(move |writes| drop((reads, writes))))
    });
    assert!(circle.ends_with(": fiber 0 waits for RwLock `value`, held by fiber 0"), "{circle}");
}

/// A reader that wants to write waits for itself.
#[test]
fn a_reader_who_wants_to_write_is_told_to_be_its_own_owner() {
    let circle = told_circle(|| {
        let value = RwLock::new(0).named("value");
        value.read().bind(move |reads| value.write().map(move |writes| drop((reads, writes))))
    });
    assert!(circle.starts_with("it waits for itself: fiber 0 "), "{circle}");
    assert!(circle.ends_with(": fiber 0 waits for RwLock `value`, held by fiber 0"), "{circle}");
}
