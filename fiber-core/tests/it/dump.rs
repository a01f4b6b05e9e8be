//! Dumps of live fibers: exact on virtual time. (`fiber-sched/tests/it/dump.rs` takes them while other threads run.)

use std::future::{IntoFuture, poll_fn};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use crate::support::{MILLION, Queue};
use fiber_core::scheduler::WaitsFor;
use fiber_core::{Context, Dump, DumpedState, Error, Fiber, Handle, Instant, fiber};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

/// The text, with the lines of this file counted from line `from`.
fn text(dump: &Dump, from: u32) -> String {
    let dump = dump.to_string();
    let mut parts = dump.split(concat!(file!(), ":"));
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (line, rest) = part.split_once(')').unwrap();
        text += &format!("+{}){rest}", line.parse::<u32>().unwrap() - from);
    }
    text
}

fn cancel_all(test: &TestScheduler) {
    test.context().cancel();
    test.run_until_idle();
    assert!(test.context().dump().is_empty());
}

#[test]
fn a_dump_shows_the_tree_and_what_each_fiber_waits_for() {
    let test = TestScheduler::new();
    let (keep, _kept) = mpsc::channel();
    let callback = Fiber::<u8>::callback(move |resume| keep.send(resume).unwrap());
    let from = line!();
    let child = || Fiber::delay(60 * SECOND).timeout(30 * SECOND);
    let joins = |child: Handle<()>| child.outcome().map(drop).named("joins");
    let sides = || Fiber::<u8>::never().named("left").race(callback);
    let main = child()
        .fork()
        .bind(move |child| joins(child).fork().bind(move |_| sides().map(drop).ensure(Fiber::success(()))));
    _ = test.spawn(main.named("main"));
    let late = |at| Fiber::delay(SECOND / 2).bind(move |()| Fiber::<()>::never().with_deadline(at));
    _ = test.spawn(late(Instant::EPOCH + 9 * SECOND));
    test.run_for(SECOND);
    assert_eq!(
        text(&test.context().dump(), from),
        "\
6 fibers at 1s
  fiber 0 \"main\" (forked at +7) is in its part 0.2
    fiber 0.0 (forked at +5) is in its part 0.0.0
      part 0.0.0 \"timeout\" (at +1) waits for a timer (wait 1)
    fiber 0.1 \"joins\" (forked at +6) waits for the end of fiber 0.0 (wait 1)
    part 0.2 \"race\" (at +3) waits for the end of its children (wait 1)
      fiber 0.2.0 \"left\" (forked at +3) waits for nothing that will ever happen (never) (wait 1)
      fiber 0.2.1 (forked at +3) waits for a callback (wait 1)
  fiber 1 (forked at +9) is in its part 1.0
    part 1.0 \"with_deadline\" (at +8) waits for nothing that will ever happen (never) (wait 1), has to end by 9s"
    );
    cancel_all(&test);
}

#[test]
fn a_dump_shows_what_a_cancelled_fiber_still_does() {
    let test = TestScheduler::new();
    let from = line!();
    let cleanup = || Fiber::delay(100 * SECOND).timeout(50 * SECOND);
    let finalizing = test.spawn(Fiber::<()>::never().ensure(cleanup()));
    let program = || Fiber::delay(20 * SECOND).bind(Fiber::success);
    let both = || program().race(Fiber::delay(10 * SECOND));
    let shielded = test.spawn(both().uncancelable().timeout(SECOND));
    test.run_for(SECOND / 2);
    finalizing.cancel_now();
    test.run_for(SECOND);
    assert_eq!(
        text(&test.context().dump(), from),
        "\
4 fibers at 1.5s
  fiber 0 (forked at +2) is in its part 0.0, cancelled, in an uncancelable region
    part 0.0 \"timeout\" (at +1) waits for a timer (wait 1)
  fiber 1 (forked at +5) is in its part 1.0
    part 1.0 \"timeout\" (at +5) is in its part 1.0.0, cancelled, in an uncancelable region
      part 1.0.0 \"race\" (at +4) waits for the end of its children (wait 1)
        fiber 1.0.0.0 (forked at +4) waits for a timer (wait 1)
        fiber 1.0.0.1 (forked at +4) waits for a timer (wait 1)"
    );
    test.run_until_idle();
    assert!(finalizing.outcome().is_cancelled() && shielded.outcome().is_success());
    assert!(test.context().dump().is_empty());
}

/// Polls both until both are ready.
async fn both(a: impl Future<Output = Result<(), Error>>, b: impl Future<Output = Result<(), Error>>) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(move |cx| match (a.as_mut().poll(cx), b.as_mut().poll(cx)) {
        (Poll::Ready(_), Poll::Ready(_)) => Poll::Ready(()),
        _ => Poll::Pending,
    })
    .await;
}

#[test]
fn a_dump_shows_the_fibers_that_a_block_awaits() {
    let test = TestScheduler::new();
    let from = line!();
    let in_place = fiber! {
        let! child = Fiber::<()>::never().fork();
        do! child.join();
    };
    _ = test.spawn(in_place.named("in place"));
    let beside = fiber! {
        both(Fiber::<()>::never().into_future(), Fiber::delay(60 * SECOND).into_future()).await;
    };
    _ = test.spawn(beside.named("beside"));
    test.run_for(SECOND);
    assert_eq!(
        text(&test.context().dump(), from),
        "\
5 fibers at 1s
  fiber 0 \"in place\" (forked at +5) waits for the end of fiber 0.0 (wait 1)
    fiber 0.0 (forked at +2) waits for nothing that will ever happen (never) (wait 1)
  fiber 1 \"beside\" (forked at +9) waits for a future (wait 1)
    part 1.0 \"await\" (at +9) waits for the end of its children
      fiber 1.0.0 (forked at +7) waits for nothing that will ever happen (never) (wait 1)
      fiber 1.0.1 (forked at +7) waits for a timer (wait 1)"
    );
    cancel_all(&test);
}

#[test]
fn a_dump_of_a_fiber_begins_with_that_fiber() {
    let test = TestScheduler::new();
    let from = line!();
    let dumps = Fiber::<()>::never().fork().bind(|_| Fiber::current().map(|context| context.dump()));
    let forks = dumps.fork().bind(|child| child.join());
    let dump = test.run(forks).unwrap();
    assert_eq!(
        text(&dump, from),
        "\
2 fibers at 0ns
  fiber 0.0 (forked at +2) runs, or is about to
    fiber 0.0.0 (forked at +1) waits for nothing that will ever happen (never) (wait 1)"
    );
    assert_eq!(dump.fibers().map(|fiber| fiber.id()).collect::<Vec<_>>(), ["0.0", "0.0.0"]);
    assert!(test.context().dump().is_empty());
}

#[test]
fn a_fiber_that_waits_in_two_dumps_has_moved_if_the_number_of_its_waits_has_changed() {
    let test = TestScheduler::new();
    _ = test.spawn(Fiber::delay(3600 * SECOND));
    _ = test.spawn(Fiber::for_each(0..3600, |_| Fiber::delay(SECOND)));
    let waits = || test.context().dump().fibers().map(|fiber| fiber.waits()).collect::<Vec<_>>();
    test.run_for(SECOND / 2);
    assert_eq!(waits(), [1, 1]);
    test.run_for(10 * SECOND);
    assert_eq!(waits(), [1, 11]);
    cancel_all(&test);
}

#[test]
fn a_dump_names_the_target_of_the_present_wait_only() {
    let test = TestScheduler::new();
    let target = || Fiber::delay(SECOND).bind(|()| Fiber::<()>::never());
    let handles = [test.spawn(target()).into_handle(), test.spawn(target()).into_handle()];
    // The fiber leaves the first target after a second.
    let [first, second] = handles;
    let joins = first.ended().timeout_option(SECOND).bind(move |_| second.ended());
    _ = test.spawn(joins.named("joins"));
    let target_of = |dump: &Dump| {
        let mut fibers = dump.fibers();
        fibers.find_map(|fiber| match fiber.state() {
            DumpedState::Waiting { what: WaitsFor::Fiber, on } => Some(on.unwrap().id()),
            _ => None,
        })
    };
    test.run_for(SECOND / 2);
    assert_eq!(target_of(&test.context().dump()).as_deref(), Some("0"));
    test.run_for(SECOND);
    assert_eq!(target_of(&test.context().dump()).as_deref(), Some("1"));
    // The target is not below this fiber.
    let joins = &test.context().children()[2];
    assert!(joins.dump().to_string().ends_with("waits for the end of another fiber (wait 1)"));
    cancel_all(&test);
}

#[test]
fn a_precision_limits_the_number_of_lines() {
    let test = TestScheduler::new();
    (0..5).for_each(|_| drop(test.spawn(Fiber::<()>::never())));
    test.run_until_idle();
    let text = format!("{:.2}", test.context().dump());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!((lines[0], lines[3]), ("5 fibers at 0ns", "  and 3 more"));
    cancel_all(&test);
}

#[test]
fn children_are_in_the_order_in_which_they_were_made_whatever_slots_they_have() {
    let test = TestScheduler::new();
    let spawned: Vec<_> = (0..100).map(|_| test.spawn(Fiber::<()>::never()).into_handle()).collect();
    test.run_until_idle();
    spawned.iter().step_by(3).for_each(Handle::cancel_now);
    test.run_until_idle();
    (0..20).for_each(|_| drop(test.spawn(Fiber::<()>::never())));
    let ids: Vec<usize> = test.context().children().iter().map(|child| child.id().parse().unwrap()).collect();
    assert_eq!(ids, (0..120).filter(|id| *id >= 100 || id % 3 != 0).collect::<Vec<_>>());
    cancel_all(&test);
}

#[test]
fn a_chain_of_a_million_fibers_is_dumped_without_recursion_and_with_short_lines() {
    const DEPTH: usize = MILLION as usize;
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let mut last = root.clone();
    for _ in 0..DEPTH {
        last = last.spawn(Fiber::<()>::never()).context().clone();
    }
    let dump = root.dump();
    assert_eq!(dump.len(), DEPTH);
    assert!(dump.fibers().all(|fiber| matches!(fiber.state(), DumpedState::NotStarted)));
    assert_eq!(dump.fibers().last().unwrap().depth(), DEPTH - 1);
    let last = dump.fibers().last().unwrap().to_string();
    assert!(
        last.starts_with("fiber ..0.0.") && last.ends_with(" has not started") && last.len() < 200,
        "{last}"
    );
    root.cancel();
    queue.drain();
    assert!(root.dump().is_empty());
}

/// The name is that of the fiber, the branch or the part that is all such a future.
#[test]
fn a_future_is_found_by_the_name_of_its_fiber() {
    let foreign = || Fiber::from_future(std::future::pending::<Result<(), Error>>());
    let test = TestScheduler::new();
    let main = fiber! {
        let! _fork = foreign().named("rates").fork();
        do! foreign().named("left").zip(foreign().named("right").timeout(60 * SECOND));
    };
    _ = test.spawn(main);
    test.run_for(SECOND);
    let dump = test.context().dump().to_string();
    for name in ["rates", "left", "right"] {
        let line = dump.lines().find(|line| line.contains(&format!("{name:?}")));
        assert!(line.is_some_and(|line| line.contains("waits for a future")), "{name} in\n{dump}");
    }
}

#[test]
fn a_dump_as_data_says_what_its_text_says() {
    let test = TestScheduler::new();
    let child = Fiber::delay(60 * SECOND).timeout(30 * SECOND).named("child");
    _ = test.spawn(child.fork().bind(|child| child.join()).named("parent"));
    test.run_for(SECOND);
    let (before, dump) = (test.context().dump(), test.context().dump());
    assert_eq!(before, dump, "nothing has run in between");
    let json = serde_json::to_value(&dump).unwrap();
    assert_eq!(json["at"], 1_000_000_000);
    let fibers = json["fibers"].as_array().unwrap();
    let of = |field: &str| fibers.iter().map(|fiber| fiber[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("id"), ["0", "0.0", "0.0.0"]);
    assert_eq!(of("name"), ["parent", "child", "timeout"]);
    assert_eq!(of("state"), ["waiting", "in its part", "waiting"]);
    let events = [Some(WaitsFor::Fiber), None, Some(WaitsFor::Timer)];
    assert_eq!(of("waits_for"), events.map(|event| serde_json::json!(event.map(|event| event.to_string()))));
    assert_eq!(of("above"), [None, Some(0), Some(1)].map(|place| serde_json::json!(place)));
    assert_eq!(of("other"), [Some(1), Some(2), None].map(|place| serde_json::json!(place)));
    assert_eq!(of("is_structure"), [false, false, true]);
    assert_eq!(of("is_cancelled"), [false; 3]);
    assert_eq!(fibers[0]["fork_site"], dump.fibers().next().unwrap().fork_site().to_string());
    cancel_all(&test);
    assert_ne!(before, test.context().dump());
}

#[test]
fn the_place_of_a_token_is_told_from_a_fork_that_is_about_to_start() {
    let test = TestScheduler::new();
    let serve = Fiber::with_token(|token| Fiber::<()>::never().map(move |()| drop(token)));
    let _serves = test.spawn(serve.named("serves"));
    test.run_until_idle();
    let dump = test.context().dump();
    let last = dump.fibers().last().unwrap();
    assert_eq!(last.name(), Some("token"), "{dump}");
    assert!(matches!(last.state(), DumpedState::Waiting { what: WaitsFor::Never, .. }), "{dump}");
    cancel_all(&test);
    assert!(test.context().dump().is_empty());

    let report = TestScheduler::new().try_run(Fiber::with_token(|_| Fiber::<()>::never())).unwrap_err();
    assert!(!report.to_string().contains("it can run"), "{report}");
}
