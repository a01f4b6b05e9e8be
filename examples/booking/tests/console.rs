//! tokio-console shows fibers: its own client reads what the observer `ConsoleTasks` has written.

use std::collections::HashMap;
use std::time::Duration;

use console_api::field::{Name, Value};
use console_api::instrument::InstrumentRequest;
use console_api::instrument::instrument_client::InstrumentClient;
use console_api::tasks::{Stats, Task, TaskUpdate};
use console_subscriber::ConsoleLayer;
use fiber_core::{Fiber, fiber};
use fiber_sched::{ConsoleTasks, TokioScheduler};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Fails a test that would otherwise hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The tasks as the console sees them.
#[derive(Default)]
struct Seen {
    tasks: HashMap<u64, Task>,
    stats: HashMap<u64, Stats>,
}

impl Seen {
    fn update(&mut self, update: TaskUpdate) {
        self.tasks.extend(update.new_tasks.into_iter().map(|task| (task.id.unwrap().id, task)));
        self.stats.extend(update.stats_update);
    }

    fn named(&self, name: &str) -> Option<(&Task, &Stats)> {
        let task = self.tasks.values().find(|task| text(task, "task.name").as_deref() == Some(name))?;
        Some((task, self.stats.get(&task.id?.id)?))
    }
}

fn text(task: &Task, field: &str) -> Option<String> {
    let is_it = |name: &Name| matches!(name, Name::StrName(name) if name == field);
    let field = task.fields.iter().find(|field| field.name.as_ref().is_some_and(is_it))?;
    match field.value.as_ref()? {
        Value::StrVal(text) | Value::DebugVal(text) => Some(text.clone()),
        _ => None,
    }
}

/// Serves the console, and returns a client of it.
async fn console() -> InstrumentClient<tonic::transport::Channel> {
    let (layer, server) = ConsoleLayer::builder().publish_interval(Duration::from_millis(20)).build();
    let targets = Targets::new().with_target("tokio", tracing::Level::TRACE);
    tracing_subscriber::registry().with(layer.with_filter(targets)).init();
    let parts = server.into_parts();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(parts.aggregator.run());
    let service = Server::builder().add_service(parts.instrument_server);
    tokio::spawn(service.serve_with_incoming(TcpIncoming::from(listener)));
    InstrumentClient::connect(format!("http://{address}")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_console_shows_fibers_their_turns_and_their_ends() {
    let mut client = console().await;
    let fibers = TokioScheduler::builder(&Handle::current()).observer(ConsoleTasks::new()).build();
    let request = fiber! {
        do! Fiber::delay(Duration::from_millis(1)).timeout(PATIENCE);
        do! Fiber::delay(Duration::from_millis(1));
        do! Fiber::yield_now();
    };
    // One after the other: of two threads that emit the first event of a kind at once, the console sees one. The thread that
    // finds the callsite half registered asks each subscriber, and the console's layer does not know the callsite yet.
    assert!(fibers.spawn(request.named("request")).await.is_success());
    let reader = fibers.spawn(Fiber::<()>::never().named("reader"));

    let mut updates = client.watch_updates(InstrumentRequest {}).await.unwrap().into_inner();
    let mut seen = Seen::default();
    let is_complete = |seen: &Seen| {
        let ended = seen.named("request").is_some_and(|(_, stats)| stats.dropped_at.is_some());
        ended && seen.named("reader").is_some_and(|(_, stats)| stats.waker_clones > 0)
    };
    while !is_complete(&seen) {
        let update = tokio::time::timeout(PATIENCE, updates.message()).await.expect("updates come").unwrap();
        seen.update(update.unwrap().task_update.unwrap());
    }

    let (task, stats) = seen.named("request").unwrap();
    let location = task.location.as_ref().unwrap();
    assert!(location.file().ends_with("console.rs") && location.line() > 0, "{location:?}");
    assert_eq!(text(task, "fiber").as_deref(), Some("0"));
    assert_eq!(stats.poll_stats.as_ref().unwrap().polls, 4, "a start, two delays and a yield");
    assert_eq!((stats.wakes, stats.self_wakes), (3, 1));
    assert_eq!((stats.waker_clones, stats.waker_drops), (2, 2), "one for each wait");
    let (_, stats) = seen.named("reader").unwrap();
    assert!(stats.dropped_at.is_none());
    assert_eq!((stats.poll_stats.as_ref().unwrap().polls, stats.waker_clones, stats.waker_drops), (1, 1, 0));

    reader.cancel_now();
    assert!(reader.await.is_cancelled());
}
