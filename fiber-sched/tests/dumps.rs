//! What a program prints about its fibers, on a panic and on a signal. Each program is a process of its own, because the panic hook and the
//! signal are those of the process.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use fiber_core::Fiber;
use fiber_sched::{CurrentThread, Pool};

/// Marks the process that prints.
const PRINTS: &str = "FIBER_PRINTS";

/// A test of this file, in another process.
fn program(test: &str) -> Command {
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    program.args(["--exact", test, "--ignored", "--nocapture"]).env(PRINTS, "1");
    program
}

fn assert_is_another_process() {
    assert!(std::env::var_os(PRINTS).is_some(), "this belongs into a process of its own");
}

/// What the program prints to stderr, without the numbers of lines and the times.
fn printed_by(test: &str) -> String {
    let output = program(test).output().expect("the program");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_fiber_that_is_run_was_forked_by_the_caller() {
    let dumps = || Fiber::yield_now().bind(|()| Fiber::current()).map(|fiber| fiber.dump().to_string());
    let pool = Pool::builder().workers(1).build();
    for dump in [pool.run(dumps()), fiber_sched::run(dumps()), CurrentThread::new().run(dumps())] {
        let dump = dump.unwrap();
        assert!(dump.contains("(forked at fiber-sched/tests/dumps.rs:"), "{dump}");
    }
}

#[test]
fn a_panic_prints_the_tree_of_its_fiber() {
    let printed = printed_by("panics");
    let after = |start: &str| {
        let lines = printed.lines().skip_while(|line| !line.starts_with(start));
        lines.take(5).collect::<Vec<_>>()
    };
    let tree = after("it is in fiber 1.0 \"order\", of which this is the tree");
    assert!(tree[1].starts_with("3 fibers at "), "{printed}");
    assert!(tree[2].starts_with("  fiber 1 \"request\" (forked at fiber-sched/tests/dumps.rs:"), "{printed}");
    assert!(tree[2].ends_with(" waits for the end of fiber 1.0 (wait 1)"), "{printed}");
    assert!(tree[3].starts_with("    fiber 1.0 \"order\" (forked at "), "{printed}");
    assert!(tree[3].ends_with(" runs, or is about to"), "{printed}");
    assert!(tree[4].starts_with("      fiber 1.0.0 \"below\" (forked at "), "{printed}");
    assert!(!printed.contains("other"), "it belongs to another tree: {printed}");
    assert_eq!(
        printed.matches("of which this is the tree").count(),
        1,
        "two of the panics have no tree: {printed}"
    );
    assert!(printed.contains("the hook before"), "{printed}");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn panics() {
    assert_is_another_process();
    std::panic::set_hook(Box::new(|_| eprintln!("the hook before")));
    fiber_sched::dump_on_panic();
    let scheduler = CurrentThread::new();
    let _other = scheduler.spawn(Fiber::<()>::never().named("other"));
    let order = Fiber::<()>::never().named("below").fork().bind(|_| {
        let fails = || -> () { panic!("no such order") };
        Fiber::yield_now().bind(|()| Fiber::yield_now()).map(move |()| fails())
    });
    let request = order.named("order").fork().bind(|order| order.join()).named("request");
    let request = scheduler.spawn(request);
    assert!(scheduler.run(request.join()).is_panicked());
    assert!(std::panic::catch_unwind(|| panic!("in no fiber")).is_err());
    assert!(scheduler.run(Fiber::lazy(|| -> () { panic!("in place") })).is_panicked());
}

#[test]
fn a_panic_whose_tree_nobody_reads_ends_only_its_fiber() {
    let mut program = program("panics_unread");
    let mut child =
        program.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    drop(child.stdin.take()); // it goes on
    assert!(child.wait().unwrap().success());
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn panics_unread() {
    assert_is_another_process();
    std::io::stdin().read_line(&mut String::new()).unwrap();
    fiber_sched::dump_on_panic();
    let pool = Pool::builder().workers(1).build();
    assert!(
        fiber_sched::block_on(pool.spawn(Fiber::lazy(|| -> () { panic!("no such order") }))).is_panicked()
    );
}

#[cfg(unix)]
#[test]
fn a_signal_prints_the_fibers_while_all_workers_are_stuck() {
    let mut child =
        program("is_stuck").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
    let mut lines = BufReader::new(child.stderr.take().expect("its stderr")).lines().map(Result::unwrap);
    // It says so when it is ready, so that the signal does not come before the handler.
    assert!(lines.any(|line| line == "ready"));
    let kill = Command::new("kill").args(["-USR1".to_owned(), child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    assert!(lines.any(|line| line.starts_with("2 fibers at ")));
    assert!(lines.next().unwrap().contains("\"blocks\""));
    assert!(lines.next().unwrap().contains("\"waits\""));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
#[ignore = "run by the test above, in a process of its own"]
fn is_stuck() {
    assert_is_another_process();
    let pool = Pool::builder().workers(1).build();
    fiber_sched::dump_on_signal(pool.context()).unwrap();
    // Until the other process closes its end.
    let blocks = move || _ = std::io::stdin().read_line(&mut String::new());
    let blocked = pool.spawn(Fiber::lazy(blocks).named("blocks"));
    let _waits = pool.spawn(Fiber::<()>::never().named("waits"));
    eprintln!("ready");
    fiber_sched::block_on(blocked).unwrap();
}
