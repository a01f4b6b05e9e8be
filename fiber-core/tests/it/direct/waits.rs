//! The results of waits, on virtual time.

use super::{Log, SECOND, dig};
use fiber_core::sync::Channel;
use fiber_core::{Context, Error, Fiber, fiber, local_key};
use fiber_test::TestScheduler;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

#[test]
fn a_wait_gives_the_value_and_takes_the_time_of_its_fiber() {
    let test = TestScheduler::new();
    let fiber = Fiber::direct(|d| {
        let one = d.wait(Fiber::delay(SECOND).map(|()| 1))?;
        let two = d.wait(Fiber::delay(2 * SECOND).map(|()| 2))?;
        Ok(one + two)
    });
    assert_eq!(test.run_timed(fiber).0.unwrap(), 3);
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn others_run_while_it_waits() {
    let test = TestScheduler::new();
    let wait = |n: u32| Fiber::direct(move |d| d.wait(Fiber::delay(SECOND).map(move |()| n)));
    let all = Fiber::parallel((0..100).map(wait)).map(|all| all.into_iter().sum::<u32>());
    let (outcome, time) = test.run_timed(all);
    assert_eq!((outcome.unwrap(), time), (4950, SECOND));
}

#[test]
fn it_waits_in_the_middle_of_a_recursion() {
    assert_eq!(TestScheduler::new().run(Fiber::direct(|d| dig(d, 200))).unwrap(), 200);
}

#[test]
fn borrows_and_values_that_are_not_send_live_across_waits() {
    let fiber = Fiber::direct(|d| {
        let shared = Rc::new(RefCell::new(vec![1, 2, 3]));
        let other = shared.clone();
        let mut items = other.borrow_mut();
        for item in items.iter_mut() {
            let factor = *item;
            *item = d.wait(Fiber::delay(SECOND).map(move |()| factor * factor))?;
        }
        drop(items);
        Ok(shared.take())
    });
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), [1, 4, 9]);
}

#[test]
fn a_callback_of_other_code_may_wait() {
    let fiber = Fiber::direct(|d| {
        let mut words = vec!["three", "a", "to"];
        // The comparison is slow.
        words.sort_by_key(|word| d.wait(Fiber::delay(SECOND).map(|()| word.len())).unwrap_or(0));
        Ok(words)
    });
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), ["a", "to", "three"]);
}

#[test]
fn a_failure_comes_out_of_its_wait_and_may_be_handled_there() {
    let test = TestScheduler::new();
    let fail = || Fiber::delay(SECOND).bind(|()| Fiber::<u8>::fail(Error::msg("no")));
    let handled = Fiber::direct(move |d| Ok(d.wait(fail()).unwrap_or(7)));
    assert_eq!(test.run(handled).unwrap(), 7);
    let fail = || Fiber::<u8>::fail(Error::msg("no"));
    let error = test.run(Fiber::direct(move |d| d.wait(fail()))).failure().unwrap();
    assert_eq!(error.to_string(), "no");
    let trace = format!("{error:?}");
    assert!(trace.contains("wait at") && trace.contains("direct at"), "{trace}");
}

#[test]
fn a_panic_of_the_function_is_the_outcome_and_drops_what_it_held() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let fiber = Fiber::<()>::direct(move |d| {
        let _held = noted.on_drop("held");
        d.wait(Fiber::delay(SECOND))?;
        panic!("out of tea")
    });
    let outcome = test.run(fiber);
    assert!(outcome.is_panicked(), "{outcome:?}");
    assert_eq!(log.all(), ["held dropped"]);
    test.assert_no_leaks();
}

#[test]
fn a_panic_of_the_fiber_unwinds_the_function() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let fiber = Fiber::<()>::direct(move |d| {
        let _held = noted.on_drop("held");
        d.wait(Fiber::delay(SECOND).map(|()| panic!("deep inside")))
    });
    let fiber_core::Outcome::Panicked(panic) = test.run(fiber) else { panic!("it has to panic") };
    assert_eq!(panic.message(), "deep inside");
    assert_eq!(log.all(), ["held dropped"]);
}

#[test]
fn a_wait_in_a_drop_while_a_panic_unwinds_fails_at_once() {
    struct Waits<'a, 'b>(&'a fiber_core::Direct<'b>, Log);
    impl Drop for Waits<'_, '_> {
        fn drop(&mut self) {
            let result = self.0.wait(Fiber::delay(SECOND));
            self.1.add(result.map_or_else(|error| error.to_string(), |()| "waited".to_owned()));
        }
    }
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let fiber = Fiber::<()>::direct(move |d| {
        drop(Waits(d, noted.clone()));
        let _late = Waits(d, noted.clone());
        panic!("now")
    });
    assert!(test.run(fiber).is_panicked());
    assert_eq!(log.all(), ["waited", "a wait while the stack unwinds"]);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
}

#[test]
fn direct_fibers_nest() {
    fn nested(depth: u32) -> Fiber<u32> {
        Fiber::direct(move |d| {
            if depth == 0 {
                return d.wait(Fiber::delay(SECOND).map(|()| 1));
            }
            let (left, right) = d.wait(nested(depth - 1).zip(nested(depth - 1)))?;
            Ok(left + right)
        })
        .boxed()
    }
    let (outcome, time) = TestScheduler::new().run_timed(nested(5));
    assert_eq!((outcome.unwrap(), time), (32, SECOND));
}

#[test]
fn its_fibers_see_its_locals_its_deadline_and_its_context() {
    local_key! { static REQUEST: u64 = 0; }
    let fiber = Fiber::direct(|d| {
        let before = (Context::local(&REQUEST), d.wait(Fiber::local(&REQUEST))?);
        d.wait(Fiber::delay(SECOND))?;
        let after = (Context::local(&REQUEST), d.wait(Fiber::local(&REQUEST))?);
        let inside = d.wait(Fiber::current().map(|fiber| fiber.id()))?;
        let here = Context::current().map(|fiber| fiber.id());
        Ok((before, after, here == Some(inside)))
    });
    let test = TestScheduler::new();
    let outcome = test.run(fiber.with_local(&REQUEST, 7));
    assert_eq!(outcome.unwrap(), ((7, 7), (7, 7), true));
    let late = Fiber::direct(|d| d.wait(Fiber::delay(5 * SECOND))).timeout(SECOND);
    let (outcome, time) = test.run_timed(late);
    assert!(outcome.failure().unwrap().is::<fiber_core::error::TimedOut>());
    assert_eq!(time, SECOND);
}

#[test]
fn its_forks_belong_to_its_fiber_and_end_before_that_does() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let fiber = Fiber::direct(move |d| {
        let child = Fiber::<()>::never().ensure(Fiber::delay(SECOND).map(move |()| noted.add("child ended")));
        d.wait(child.fork())?;
        // It begins.
        d.wait(Fiber::yield_now())
    });
    let (outcome, time) = test.run_timed(fiber);
    assert!(outcome.is_success());
    assert_eq!((log.all(), time), (vec!["child ended".to_owned()], SECOND));
}

#[test]
fn blocks_and_direct_fibers_wait_for_each_other() {
    let fiber = fiber! {
        let! a = Fiber::direct(|d| {
            let b = d.wait(fiber! { do! Fiber::delay(SECOND); 2 })?;
            let c = d.wait(Fiber::block(|| async { Fiber::delay(SECOND).map(|()| 3).await }))?;
            Ok(b * c)
        });
        a + 1
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 7);
}

#[test]
fn a_blocking_section_is_a_wait_like_any_other() {
    let fiber = Fiber::direct(|d| Ok(d.wait(Fiber::blocking(|| 20))? + d.wait(Fiber::blocking(|| 1))?));
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 21);
}

#[test]
fn a_channel_between_direct_fibers_takes_turns() {
    let (sender, receiver) = Channel::bounded(1);
    let produce = Fiber::direct(move |d| {
        for n in 0..100 {
            d.wait(sender.send(n))?;
        }
        Ok(())
    });
    let consume = Fiber::direct(move |d| {
        let mut sum = 0;
        while let Ok(n) = d.wait(receiver.recv()) {
            sum += n;
        }
        Ok(sum)
    });
    assert_eq!(TestScheduler::new().run(produce.zip(consume)).unwrap().1, 4950);
}

#[test]
fn boxed_fibers_deep_in_a_recursion_run_from_the_bottom() {
    fn down(depth: u32) -> Fiber<u32> {
        match depth {
            0 => Fiber::success(0).boxed(),
            _ => Fiber::success(depth - 1).bind(down).map(|n| n + 1).boxed(),
        }
    }
    let fiber = Fiber::direct(|d| {
        // Far more than the stack would hold.
        d.wait(down(20_000))
    });
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 20_000);
}

#[test]
fn a_million_waits_of_ready_fibers_neither_overflow_nor_livelock() {
    let pool = fiber_sched::Pool::builder().workers(1).build();
    let fiber = Fiber::direct(|d| {
        let mut sum = 0u64;
        for n in 0..1_000_000 {
            sum += d.wait(Fiber::success(n))?;
        }
        Ok(sum)
    });
    assert_eq!(pool.run(fiber).unwrap(), 499_999_500_000);
}

#[test]
fn thread_locals_are_those_of_the_same_thread() {
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    let fiber = Fiber::direct(|d| {
        COUNT.set(5);
        d.wait(Fiber::delay(SECOND))?;
        Ok(COUNT.get())
    });
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 5);
}

#[test]
#[should_panic(expected = "borrowed its thread")]
fn a_wait_in_a_scope_of_another_pool_panics() {
    let pool = fiber_sched::Pool::builder().workers(1).build();
    let other = fiber_sched::Pool::builder().workers(1).build();
    let fiber =
        Fiber::direct(move |d| other.scope(|_| d.wait(Fiber::delay(std::time::Duration::from_millis(1)))));
    pool.run(fiber).unwrap();
}

#[test]
fn a_wait_in_an_own_scope_is_a_wait() {
    let pool = fiber_sched::Pool::builder().workers(1).build();
    let fiber = Fiber::direct(|d| {
        let text = String::from("so much depends upon");
        fiber_core::compute::scope(|s| {
            let count = s.spawn(|| text.split(' ').count());
            d.wait(Fiber::delay(std::time::Duration::from_millis(1)))?;
            Ok(count.join())
        })
    });
    assert_eq!(pool.run(fiber).unwrap(), 4);
}
