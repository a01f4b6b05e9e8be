//! Traces, reports and errors name places in the user's program, never in the library.

use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream, resolve};
use fiber_core::sync::Cache;
use fiber_core::{Either, Error, Fiber, Outcome, Policy, Resource, Scope, fiber};
use fiber_test::{Effect, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

/// Runs the program with a trace, all of whose places have to be in this file.
#[track_caller]
fn run(program: Fiber<()>) -> Outcome<()> {
    let test = TestScheduler::new().record();
    let outcome = test.run(program);
    let trace = test.trace();
    let of_effect = |effect: &Effect| match effect {
        Effect::Wait { site, .. } => *site,
        Effect::Finalizer { site, .. } => Some(*site),
        _ => None,
    };
    let sites = trace
        .turns()
        .iter()
        .flat_map(|turn| turn.site.into_iter().chain(turn.effects.iter().filter_map(of_effect)));
    for site in sites {
        assert_eq!(site.file(), file!(), "{site} is no place of the program:\n{trace}");
    }
    assert!(
        !trace.to_string().contains("/src/"),
        "a primitive is named by no place of the program:\n{trace}"
    );
    if let Outcome::Failure(error) = &outcome {
        for frame in error.trace() {
            assert_eq!(frame.location().file(), file!(), "{error:?}");
        }
    }
    outcome
}

fn resource(name: &'static str) -> Resource<&'static str> {
    let acquire = Fiber::yield_now().bind(move |()| Fiber::success(name));
    Resource::new(acquire, |_| Fiber::yield_now().bind(|()| Fiber::success(())))
}

#[test]
fn those_of_resources() {
    let all = || resource("a").zip(resource("b")).and_then(|_| resource("c")).map(|_| ());
    assert!(run(all().using(|()| Fiber::yield_now())).is_success());
    assert!(run(all().using(|()| Fiber::fail(Error::msg("in use")))).is_failure());
    let broken = || Resource::from_fiber(Fiber::<()>::fail(Error::msg("not acquired")));
    assert!(run(all().and_then(move |()| broken()).using(|()| Fiber::success(()))).is_failure());
    assert!(run(all().map(|()| panic!("on purpose")).using(|()| Fiber::success(()))).is_panicked());
}

#[test]
fn the_finalizer_of_a_resource_is_where_it_is_used() {
    let (program, line) = (resource("a").using(|_| Fiber::<()>::never()), line!());
    let report = TestScheduler::new().try_run(program).unwrap_err().to_string();
    let expected = format!("finalizers not run: ensure at {}:{line}", file!());
    assert!(report.contains(&expected), "{report}");
}

#[test]
fn those_of_a_timeout_with_grace() {
    let after = |time| Fiber::delay(time).timeout_with_grace(2 * SECOND, SECOND);
    assert!(run(after(SECOND)).is_success());
    assert!(run(after(3 * SECOND)).is_failure());
    let slow = Fiber::<()>::never().ensure(Fiber::delay(2 * SECOND));
    assert!(run(slow.timeout_with_grace(SECOND, SECOND)).is_failure());
    assert!(run(after(2 * SECOND).race(Fiber::delay(SECOND)).map(drop).boxed()).is_success());
}

#[test]
fn those_of_the_pauses_of_retry_and_repeat() {
    let fails =
        Fiber::retry_with(Policy::spaced(SECOND).up_to(2 * SECOND), || Fiber::<()>::fail(Error::msg("busy")));
    assert!(run(fails.boxed()).is_failure());
    let again = Fiber::repeat_with(Policy::spaced(SECOND).up_to(2 * SECOND), || Fiber::success(()));
    assert!(run(again.boxed()).is_success());
}

#[test]
fn those_of_the_rounds_of_a_supervised_fiber() {
    let ends = [|| Ok(()), || Err(Error::msg("over")), || panic!("on purpose")];
    for end in ends {
        let round = Fiber::yield_now().try_map(move |()| end());
        assert!(run(round.restarted(Policy::recurs(2)).map(drop).boxed()).is_failure());
    }
}

#[test]
fn those_of_a_scope_as_a_resource() {
    let fork = |scope: Scope| scope.fork(Fiber::delay(SECOND)).bind(|fork| fork.join());
    assert!(run(Scope::resource().using(fork)).is_success());
}

#[test]
fn those_of_a_cache() {
    let cache = Cache::new(1);
    let ask =
        move |_| cache.get(1, || Fiber::delay(SECOND).bind(|()| Fiber::<u32>::fail(Error::msg("none"))));
    assert!(run(Fiber::parallel((0..2).map(ask)).map(drop).boxed()).is_failure());
}

#[test]
fn those_of_a_server_and_of_a_name_that_is_not_known() {
    let program = fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 80));
        let served = listener.serve(usize::MAX, |stream, _| stream.write_all("hello").map(drop).boxed());
        let client = TcpStream::connect(([127, 0, 0, 1], 80)).bind(|stream| stream.buffered().rest());
        let! first = served.race(client);
        assert_eq!(first, Either::Right(b"hello".to_vec()));
        do! resolve("nowhere", 80);
    };
    assert!(run(program).is_failure());
}

#[test]
fn those_of_a_block_and_of_a_handle_in_it() {
    let program = fiber! {
        let! slow = Fiber::delay(SECOND).fork();
        do! slow;
    };
    assert!(run(program).is_success());
    let panics = fiber! {
        assert_eq!(SECOND, Duration::ZERO);
        do! Fiber::success(());
    };
    let Outcome::Panicked(panic) = run(panics) else { panic!("it panics") };
    assert_eq!(panic.trace()[0].location().file(), file!(), "{panic:?}");
}
