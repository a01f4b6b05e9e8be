//! Fibers as subscribers of `tracing` see them.

use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use fiber_core::scheduler::Event;
use fiber_core::{Context, Error, Fiber, fiber, local_key};
use fiber_sched::{Observer, Pool, Settings, Shutdown, Traced, block_on};
use tracing::{Dispatch, dispatcher, info, info_span};

/// The lines of a log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn line(&self, with: &str) -> String {
        let text = self.text();
        let line = text.lines().find(|line| line.contains(with));
        line.unwrap_or_else(|| panic!("no line with {with:?} in\n{text}")).trim().to_owned()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All tests share the subscriber, because workers cannot have another one.
fn lines() -> Lines {
    static LINES: std::sync::OnceLock<Lines> = std::sync::OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).without_time();
        dispatcher::set_global_default(Dispatch::new(subscriber.finish())).unwrap();
        lines
    });
    lines.clone()
}

fn pool() -> Pool {
    let settings = Settings::new().on_unobserved(|_| ());
    Pool::builder().workers(2).settings(settings).observer(Traced::new()).build()
}

fn finish(pool: Pool) {
    let long = Duration::from_secs(60);
    pool.shutdown(Shutdown::within(long).after_draining(long)).unwrap();
}

#[test]
fn a_named_fiber_is_in_its_span_in_every_turn_and_so_is_what_it_forks() {
    let (lines, pool) = (lines(), pool());
    let work = fiber! {
        info!("first turn");
        do! Fiber::delay(Duration::from_millis(1));
        info!("second turn");
        do! Fiber::blocking(|| info!("blocking call"));
        do! Fiber::delay(Duration::from_millis(1)).map(|()| info!("under a timeout")).timeout(Duration::from_secs(60));
        let! fork = Fiber::yield_now().map(|()| info!("unnamed fork")).fork();
        do! fork;
        let! fork = Fiber::yield_now().map(|()| info!("fork with a name")).named("inner").fork();
        do! fork;
    };
    assert!(block_on(pool.spawn(work.named("outer"))).is_success());
    assert!(block_on(pool.spawn(Fiber::yield_now().map(|()| info!("another fiber")))).is_success());
    finish(pool);
    for inside in ["first turn", "second turn", "blocking call", "under a timeout", "unnamed fork"] {
        let line = lines.line(inside);
        assert!(line.contains("fiber{name=\"outer\" id=\"0\"}: "), "{line}");
        assert!(!line.contains("inner"), "{line}");
    }
    let inner = lines.line("fork with a name");
    assert!(inner.contains("fiber{name=\"outer\" id=\"0\"}:fiber{name=\"inner\" id=\"0."), "{inner}");
    assert!(!lines.line("another fiber").contains("outer"));
}

local_key! { static REQUEST: u64 = 0; }
local_key! { static USER: &'static str = "nobody"; }

#[test]
fn the_span_of_a_fiber_shows_the_locals_that_it_was_told_about() {
    let lines = lines();
    let traced = Traced::new().with_local("request", &REQUEST).with_local("user", &USER);
    let pool = Pool::builder().workers(2).observer(traced).build();
    let inner = Fiber::yield_now().map(|()| info!("in a fork")).named("fork");
    let work = fiber! {
        info!("request known");
        do! Fiber::yield_now().map(|()| info!("user known")).with_local(&USER, "Ann").timeout(Duration::from_secs(60));
        // A branch does not have its own span.
        do! Fiber::yield_now().with_local(&USER, "Bob").zip(Fiber::yield_now());
        info!("user forgotten");
        let! fork = inner.fork();
        do! fork;
    };
    let work = work.with_local(&REQUEST, 7).named("handler");
    assert!(block_on(pool.spawn(work)).is_success());
    finish(pool);
    let shows = |with: &str, last: &str| {
        let line = lines.line(with);
        let (spans, _) = line.split_once("}: ").expect("a span");
        assert!(spans.ends_with(last), "{line}");
        assert!(!spans.contains("Bob"), "{line}");
    };
    shows("request known", r#"name="handler" id="0" locals="request=7""#);
    shows("user known", r#"locals="request=7 user=Ann""#);
    shows("user forgotten", r#"locals="request=7""#);
    shows("in a fork", r#"locals="request=7""#);
}

#[test]
fn the_span_of_a_fiber_does_not_show_a_local_after_its_region() {
    let lines = lines();
    let pool = Pool::builder().workers(1).observer(Traced::new().with_local("request", &REQUEST)).build();
    let work = fiber! {
        do! Fiber::yield_now().map(|()| info!("within")).with_local(&REQUEST, 7);
        info!("behind");
    };
    assert!(block_on(pool.spawn(work.named("handler"))).is_success());
    finish(pool);
    assert!(lines.line("within").contains(r#"locals="request=7"}: "#), "{}", lines.line("within"));
    assert!(lines.line("behind").contains(r#"locals=""}: "#), "{}", lines.line("behind"));
}

#[test]
fn a_fiber_is_in_the_span_in_which_it_was_spawned() {
    let (lines, pool) = (lines(), pool());
    let request = info_span!("request", number = 7);
    let handle = request.in_scope(|| pool.spawn(Fiber::yield_now().map(|()| info!("of a request"))));
    assert!(block_on(handle).is_success());
    finish(pool);
    let line = lines.line("of a request");
    assert!(line.contains("request{number=7}: "), "{line}");
}

/// An observer to which another thread tells of a part only after a while.
struct Slow;

impl Observer for Slow {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        if matches!(event, Event::Created { .. }) && fiber.is_structure() {
            thread::sleep(Duration::from_millis(3));
        }
    }
}

/// Two threads run the branches, and one of them makes the part in which both are.
#[test]
fn a_branch_is_in_the_span_of_its_fiber_although_its_part_is_told_of_later() {
    let lines = lines();
    let pool = Pool::builder().workers(2).observer(Slow).observer(Traced::new()).build();
    let branch = || {
        let takes_a_while = Fiber::lazy(|| thread::sleep(Duration::from_millis(1)));
        let fork = Fiber::yield_now().map(|()| info!("fork of a branch")).named("of a branch").fork();
        let waits = Fiber::delay(Duration::from_millis(1)).map(|()| info!("in a branch"));
        takes_a_while.bind(|()| waits).bind(|()| fork).bind(|fork| fork.join())
    };
    for _ in 0..20 {
        let both = branch().zip(branch()).timeout(Duration::from_secs(60));
        assert!(block_on(pool.spawn(both.named("around"))).is_success());
    }
    finish(pool);
    let text = lines.text();
    let all = |what: &str| text.lines().filter(|line| line.contains(what)).collect::<Vec<_>>();
    let is_around = |line: &&str| line.contains(r#" fiber{name="around" id="#);
    assert_eq!(all("in a branch").into_iter().filter(is_around).count(), 40, "{text}");
    assert_eq!(all("fork of a branch").into_iter().filter(is_around).count(), 40, "{text}");
}

#[test]
fn panics_and_lost_failures_are_events_in_the_span() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"a defect") {
            eprintln!("{info}");
        }
    }));
    let (lines, pool) = (lines(), pool());
    let panics = pool.spawn(Fiber::<()>::lazy(|| panic!("a defect")).named("panicking"));
    assert!(block_on(panics).is_panicked());
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("a lost failure")).named("failing")));
    finish(pool);
    let line = lines.line("a defect");
    assert!(line.starts_with("ERROR fiber{name=\"panicking\" id=\"0\"}: fiber: "), "{line}");
    let line = lines.line("a lost failure");
    assert!(line.starts_with("ERROR"), "{line}");
}

#[test]
fn nothing_is_kept_of_fibers_that_have_ended() {
    lines();
    let traced = Arc::new(Traced::new());
    let pool = Pool::builder().workers(2).observer(traced.clone()).build();
    let spans = || format!("{traced:?}").matches("Span").count();
    let live = pool.spawn(Fiber::<()>::never().named("long"));
    for _ in 0..100 {
        let fork = Fiber::yield_now().fork().bind(|fork| fork.join());
        drop(pool.spawn(fork.timeout(Duration::from_secs(60)).named("short")));
    }
    assert!(spans() > 0);
    live.cancel_now();
    finish(pool);
    assert_eq!(spans(), 0);
}
