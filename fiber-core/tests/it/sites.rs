//! Traces, reports and errors name places in the user's program, never in the library.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::fs::{self, File};
use fiber_core::net::{TcpListener, TcpStream, copy, resolve};
use fiber_core::scheduler::{Cx, Follow, Step};
use fiber_core::stream::ticks;
use fiber_core::sync::{
    Barrier, Broadcast, Cache, Channel, CircuitBreaker, Latch, Mutex, Notify, Promise, RateLimiter, Receiver,
    Ref, RwLock, Semaphore, Watch, one_shot, parallel_map,
};
use fiber_core::{
    CancelToken, Context, Either, Error, Fiber, LocalKey, Outcome, Policy, Resource, Scope, dataflow, fiber,
    race, uncancelable,
};
use fiber_test::{Effect, TestScheduler};
use futures_core::Stream;

const SECOND: Duration = Duration::from_secs(1);

/// Runs the program with a trace and with dumps, all of whose places have to be in this file.
#[track_caller]
fn run(program: Fiber<()>) -> Outcome<()> {
    let test = TestScheduler::new().record();
    let dumps = Arc::new(parking_lot::Mutex::new(BTreeSet::new()));
    let _ = test.spawn(witness(test.context().clone(), dumps.clone()));
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
    let of_library = |text: &str| text.contains("/src/");
    assert!(!of_library(&trace.to_string()), "a primitive is named by no place of the program:\n{trace}");
    for text in dumps.lock().iter().chain(&test.unobserved()) {
        assert!(!of_library(text), "a place of the library:\n{text}");
    }
    let frames = match &outcome {
        Outcome::Failure(error) => error.trace(),
        Outcome::Panicked(panic) => panic.trace(),
        _ => &[],
    };
    for frame in frames {
        assert_eq!(frame.location().file(), file!(), "{outcome:?}");
    }
    outcome
}

/// Keeps the dumps of many turns, then of some later times.
fn witness(root: Context, dumps: Arc<parking_lot::Mutex<BTreeSet<String>>>) -> Fiber<()> {
    fiber! {
        for round in 0..60 {
            dumps.lock().insert(root.dump().to_string());
            do! if round < 50 { Fiber::yield_now().boxed() } else { Fiber::delay(SECOND / 4).boxed() };
        }
    }
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
    let fails = TcpListener::bind(([127, 0, 0, 1], 80)).bind(|listener| {
        let client = TcpStream::connect(([127, 0, 0, 1], 80)).bind(|_| slow());
        listener.serve(1, |_, _| fails()).race(client).map(drop)
    });
    assert!(run(fails.boxed()).is_success());
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

/// Fails in its second turn.
fn fails() -> Fiber<()> {
    Fiber::yield_now().bind(|()| Fiber::fail(Error::msg("on purpose"))).boxed()
}

/// Panics in its second turn.
fn panics() -> Fiber<()> {
    Fiber::yield_now().map(|()| panic!("on purpose")).boxed()
}

/// Succeeds after a second.
fn slow() -> Fiber<()> {
    Fiber::delay(SECOND).boxed()
}

/// Gives what it gets.
struct Same;

impl Follow<()> for Same {
    type Out = ();

    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<()>) -> Step<'s, ()> {
        Step::Done(outcome)
    }
}

/// Programs with one operator each around a fiber that fails, panics, is slow, or is used otherwise.
fn around(end: fn() -> Fiber<()>) -> Vec<Fiber<()>> {
    static KEY: LocalKey<u32> = LocalKey::new(|| 0);
    let recurs = || Policy::recurs(1);
    let failing = || Fiber::<()>::fail(Error::msg("first"));
    vec![
        end().bind(move |()| end()).boxed(),
        end().map(|()| ()).boxed(),
        end().map_outcome(|outcome| outcome).boxed(),
        end().try_map(|()| Ok::<_, Error>(())).boxed(),
        end().filter_or(|()| false, |()| Error::msg("filtered")).boxed(),
        end().tap(move |()| end()).boxed(),
        end().context("in the test").boxed(),
        end().attempt().bind(move |_| end()).boxed(),
        end().catch(move |_| end()).boxed(),
        end().catch_err(move |_: std::io::Error| end()).boxed(),
        end().catch_panic(move |_| end()).boxed(),
        end().or_else(Err).boxed(),
        end().ensure(end()).boxed(),
        end().on_outcome(move |_| end()).boxed(),
        end().on_failure(move |_| end()).boxed(),
        end().on_cancel(end()).timeout(SECOND / 2).boxed(),
        Fiber::bracket(end(), move |()| end(), move |()| end()).boxed(),
        Fiber::bracket_outcome(end(), move |()| end(), move |(), _| end()).boxed(),
        uncancelable(move |restore| restore.apply(end())).boxed(),
        end().with_local(&KEY, 1).boxed(),
        Fiber::local(&KEY).bind(move |_| end()).boxed(),
        end().when(true).map(drop).boxed(),
        end().timed().map(drop).boxed(),
        Fiber::defer(end).retry(recurs()).boxed(),
        Fiber::retry_with(recurs(), end).boxed(),
        Fiber::defer(end).repeat(Policy::recurs(1)).boxed(),
        Fiber::repeat_with(Policy::recurs(1), end).boxed(),
        Fiber::defer(end).restarted(recurs()).map(drop).boxed(),
        Fiber::defer(end).repeat_while(|()| false).boxed(),
        Fiber::iterate((), move |()| end().map(ControlFlow::<_, ()>::Break)).boxed(),
        Fiber::fold(0..2, (), move |(), _| end()).boxed(),
        Fiber::for_each(0..2, move |_| end()).boxed(),
        end().zip(end()).map(drop).boxed(),
        end().race(end()).map(drop).boxed(),
        end().race_with(end()).map(drop).boxed(),
        Fiber::race_all([end(), end()]).boxed(),
        Fiber::first_success([end(), end()]).boxed(),
        Fiber::first_successes(1, [end(), end()]).map(drop).boxed(),
        Fiber::first_successes(1, [end(), end()]).within(SECOND / 2).map(drop).boxed(),
        Fiber::parallel([end(), end()]).map(drop).boxed(),
        Fiber::parallel([end(), end()]).limit(1).within(SECOND / 2).map(drop).boxed(),
        Fiber::validate([end(), end()]).map(drop).boxed(),
        Fiber::hedge(SECOND / 4, 2, end).boxed(),
        end().cancelled_by(&CancelToken::new()).boxed(),
        Fiber::with_token(move |_| end()).boxed(),
        Fiber::with_token(move |token| token.cancelled().timeout(SECOND).bind(move |()| end())).boxed(),
        end().timeout(SECOND / 2).boxed(),
        end().timeout_option(SECOND / 2).map(drop).boxed(),
        end().timeout_to(SECOND / 2, end()).boxed(),
        end().timeout_disconnect(SECOND / 2).boxed(),
        end().timeout_with_grace(SECOND / 2, SECOND / 4),
        end().disconnect().boxed(),
        Fiber::now().bind(move |now| end().with_deadline(now + SECOND / 2)).boxed(),
        end().fork().bind(|fork| fork.join()).boxed(),
        end().fork().bind(|fork| fork.outcome()).bind(Fiber::from_outcome).boxed(),
        end().fork().bind(|fork| fork.ended().bind(move |()| fork.join())).boxed(),
        end().fork().bind(|fork| fork.cancel().bind(move |()| fork.join())).boxed(),
        end().detach().bind(|fork| fork.join()).boxed(),
        Fiber::fork_all([end(), end()]).bind(|all| Fiber::for_each(all, |one| one.join())).boxed(),
        Fiber::scope(move |scope| scope.fork(end()).bind(move |_| scope.await_all()).bind(move |()| end()))
            .boxed(),
        Scope::resource().using(move |scope| scope.fork(end()).bind(|fork| fork.join())).boxed(),
        Fiber::current().bind(move |context| context.spawn(end()).join()).boxed(),
        Fiber::current().bind(move |context| context.group().spawn(end()).join()).boxed(),
        Fiber::lazy(|| ()).bind(move |()| end()).boxed(),
        Fiber::try_lazy(|| Ok::<_, Error>(())).bind(move |()| end()).boxed(),
        Fiber::defer(end).boxed(),
        Fiber::blocking(|| ()).bind(move |()| end()).boxed(),
        Fiber::try_blocking(|| Err::<(), _>(Error::msg("blocking"))).catch(move |_| end()).boxed(),
        Fiber::blocking_with(|_| Err::<(), _>(Error::msg("blocking"))).catch(move |_| end()).boxed(),
        Fiber::dedicated(|_| Err::<(), _>(Error::msg("dedicated"))).catch(move |_| end()).boxed(),
        Fiber::direct(move |direct| direct.wait(end())).boxed(),
        Fiber::callback(|resume| resume.success(())).bind(move |()| end()).boxed(),
        Fiber::callback(|resume: fiber_core::Resume<()>| drop(resume)).boxed(),
        Fiber::from_future(async move { end().await }).boxed(),
        Fiber::block(move || async move { end().await }).boxed(),
        fiber! { let! () = end() and! () = end(); },
        fiber! { do! Err::<(), _>(Error::msg("a result")); },
        fiber! { return! end() },
        race! { () = end() => (), () = end() => () }.boxed(),
        race! { () = end(), if true => (), () = end(), if false => () }.boxed(),
        failing().catch(move |_| end()).boxed(),
        Fiber::from_result(Err::<(), _>(Error::msg("a result"))).catch(move |_| end()).boxed(),
        end().follow_with(Same).boxed(),
        dataflow! { let one = end(); let two = end(); let three = Fiber::success((one, two)); return three }
            .map(drop)
            .boxed(),
        Fiber::yield_now().bind(move |()| end()).boxed(),
        Fiber::now().bind(|now| Fiber::until(now + SECOND)).bind(move |()| end()).boxed(),
    ]
}

/// The functions that the code of `race!` and `dataflow!` calls.
const OF_MACROS: [&str; 4] = ["into_fiber", "switched", "race_arms", "dataflow"];

/// Whether this file uses each function of these layers that takes its caller's place into a fiber.
#[test]
fn those_of_every_operator_are_looked_at() {
    let here = include_str!("sites.rs");
    let mut missing = Vec::new();
    for file in
        ["combine", "leaf", "sync"].iter().flat_map(|layer| files_below(&format!("../src/{layer}").into()))
    {
        let text = std::fs::read_to_string(&file).unwrap();
        for function in text.split("#[track_caller]").skip(1) {
            let Some((signature, _)) = function.split_once('{') else { continue };
            let Some((_, name)) = signature.split_once("pub fn ") else { continue };
            let name = name.split(['(', '<']).next().unwrap();
            let is_of_macros = OF_MACROS.contains(&name);
            if signature.contains("-> Fiber<") && !is_of_macros && !here.contains(&format!("{name}(")) {
                missing.push(format!("{name} of {}", file.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

fn files_below(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn those_of_every_operator_around_a_fiber() {
    for end in [fails, panics, slow] {
        around(end).into_iter().for_each(|program| drop(run(program)));
    }
}

/// Waits of primitives that fail, or wait for a fiber that is slow.
fn primitives() -> Vec<Fiber<()>> {
    let closed = || {
        let (sender, receiver) = Channel::<()>::unbounded();
        sender.close();
        (sender, receiver)
    };
    let items = || {
        let (sender, receiver) = Channel::unbounded();
        sender.try_send(()).unwrap();
        receiver.into_stream()
    };
    let (barrier, latch, notify, promise) =
        (Barrier::new(2), Latch::new(1), Notify::new(), Promise::<()>::new());
    let (mutex, lock, semaphore, watch) =
        (Mutex::new(()), RwLock::new(()), Semaphore::new(1), Watch::new(()));
    let (broadcast, broken) = (Broadcast::lossless(1), CircuitBreaker::new(1, SECOND));
    let (limiter, state) = (RateLimiter::new(1, SECOND), Ref::new(0));
    let subscriber = broadcast.subscribe();
    let watcher = watch.watch();
    let unanswered = {
        let (reply, answer) = one_shot::<()>();
        drop(reply);
        answer
    };
    let twice = |limited: &RateLimiter| limited.limited(slow()).zip(limited.acquire()).map(drop).boxed();
    let held = semaphore.clone();
    vec![
        closed().0.send(()).boxed(),
        closed().0.send_all([()]).boxed(),
        closed().0.send_stream(items()).boxed(),
        closed().1.recv().boxed(),
        closed().1.recv_many(2).map(drop).boxed(),
        Fiber::try_lazy(move || closed().1.blocking_recv()).boxed(),
        Fiber::try_lazy(move || closed().0.blocking_send(())).boxed(),
        unanswered.boxed(),
        barrier.wait().zip(slow()).map(drop).timeout(SECOND / 2).boxed(),
        latch.wait().timeout(SECOND / 2).boxed(),
        notify.wait().timeout(SECOND / 2).boxed(),
        promise.wait().timeout(SECOND / 2).boxed(),
        mutex.with(|_| slow()).zip(mutex.lock().timeout(SECOND / 2)).map(drop).boxed(),
        mutex.lock_resource().using(|_| fails()).boxed(),
        lock.with_read(|_| slow()).zip(lock.write().timeout(SECOND / 2)).map(drop).boxed(),
        lock.with_write(|_| slow()).zip(lock.read().timeout(SECOND / 2)).map(drop).boxed(),
        lock.read_resource().using(|_| fails()).boxed(),
        lock.write_resource().using(|_| fails()).boxed(),
        semaphore.with_permits(1, slow()).zip(held.acquire(1).timeout(SECOND / 2)).map(drop).boxed(),
        semaphore.acquire_resource(1).using(|_| fails()).boxed(),
        watcher.changed().boxed(),
        subscriber.recv().map(drop).timeout(SECOND / 2).boxed(),
        Fiber::for_each(0..2, move |n| broadcast.send(n)).timeout(SECOND / 2).boxed(),
        broken.protect(fails()).attempt().bind(move |_| broken.protect(fails())).boxed(),
        twice(&limiter),
        limiter.try_acquire().bind(|_| fails()).boxed(),
        state.read().bind(|_| fails()).boxed(),
        state.set(1).bind(|()| fails()).boxed(),
        state.update(|_| panic!("on purpose")).map(drop).boxed(),
        state.modify(|_| panic!("on purpose")).boxed(),
    ]
}

#[test]
fn those_of_primitives() {
    primitives().into_iter().for_each(|program| drop(run(program)));
}

fn pipelines(end: fn() -> Fiber<()>) -> Vec<Fiber<()>> {
    let (sender, receiver) = Channel::bounded(1);
    let sends = sender.send_all(0..4);
    let one_by_one = receiver.clone().for_each(move |_| end());
    let several = receiver.for_each_recv(2, move |_| end());
    let stage = || parallel_map(0..4, 2, move |_| end());
    let consume = |results: Receiver<()>| results.for_each(|()| Fiber::delay(SECOND));
    let ends_early = move |results: Receiver<u32>| results.recv().bind(move |_| end());
    let endless = || parallel_map(0.., 2, Fiber::success);
    vec![
        sends.zip(several.zip(one_by_one)).map(drop).boxed(),
        stage().feed(consume).boxed(),
        stage().ordered().feed(consume).boxed(),
        endless().feed(ends_early).boxed(),
        endless().ordered().feed(ends_early).boxed(),
    ]
}

#[test]
fn those_of_pipelines() {
    for end in [fails, panics, slow] {
        pipelines(end).into_iter().for_each(|program| drop(run(program)));
    }
}

#[test]
fn those_of_ticks() {
    let waits = Fiber::from_future(async {
        let mut ticks = pin!(ticks(SECOND));
        poll_fn(|cx| ticks.as_mut().poll_next(cx)).await.expect("they have no end").map(drop)
    });
    assert!(run(waits.boxed()).is_success());
}

#[test]
fn those_of_a_copy() {
    let at = ([127, 0, 0, 1], 80);
    let program = |end: fn(TcpStream) -> Fiber<()>| {
        fiber! {
            let! listener = TcpListener::bind(at);
            let! client = TcpStream::connect(at) and! (server, _) = listener.accept();
            do! client.write_all("something");
            do! end(server);
        }
    };
    let waits = program(|server| copy(server.clone(), server).map(drop).timeout(SECOND).boxed());
    assert!(run(waits).is_failure());
    let closed =
        program(|server| server.close().bind(move |()| copy(server.clone(), server)).map(drop).boxed());
    assert!(run(closed).is_failure());
}

#[test]
fn those_of_files() {
    assert!(run(fs::read("/nowhere").map(drop).boxed()).is_failure());
    let panics = |file: File| file.run(|_| panic!("on purpose"));
    assert!(run(File::open("Cargo.toml").bind(panics).boxed()).is_panicked());
}
