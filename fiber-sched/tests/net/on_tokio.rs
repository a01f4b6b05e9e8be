//! The sockets of fibers on a tokio runtime.

use std::io::{Read, Write};
use std::net::{self, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::net::{TcpListener, TcpStream, UdpSocket, copy};
use fiber_core::{Either, Fiber, fiber};
use fiber_sched::process;
use fiber_sched::{Shutdown, TokioScheduler, block_on};
use tokio::runtime::{Builder, Runtime};

use super::{PATIENCE, alone, connected, descriptors, eventually, rallies};

/// Calls `test` with several runtimes, one after the other.
fn on_every_runtime(test: impl Fn(Runtime)) {
    [0, 1, 3].into_iter().for_each(|workers| with_runtime(workers, &test));
}

/// Calls `test`, which has to close all descriptors.
fn with_runtime(workers: usize, test: impl FnOnce(Runtime)) {
    let _alone = alone();
    let before = descriptors();
    test(runtime(workers));
    eventually("the descriptors are closed", || descriptors() == before);
}

/// A runtime of so many workers. 0: of the current thread.
fn runtime(workers: usize) -> Runtime {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(workers.max(1)).enable_all().build().unwrap()
}

/// Echoes what one client sends, and compares it.
fn echoes(at: SocketAddr, client: u8) -> Fiber<usize> {
    fiber! {
        let! stream = TcpStream::connect(at);
        for round in 0..20u8 {
            do! stream.write_all([client, round]);
            let! both = stream.read_exact([0; 2]);
            assert_eq!(both, [client, round]);
        }
        20usize
    }
}

#[test]
fn many_clients_are_served_on_every_runtime() {
    on_every_runtime(|runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let program = fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let server = listener.serve(500, |stream, _| copy(stream.clone(), stream).map(drop).boxed());
            let clients = Fiber::parallel((0..200u8).map(move |client| echoes(at, client)));
            let! first = clients.race(server);
            match first {
                Either::Left(counts) => counts.into_iter().sum::<usize>(),
                Either::Right(()) => 0,
            }
        };
        let count = runtime.block_on(fibers.spawn(program.timeout(PATIENCE)).into_future());
        assert_eq!(count.unwrap(), 4_000);
        runtime.block_on(fibers.shutdown(Shutdown::within(PATIENCE))).unwrap();
        drop(runtime);
    });
}

/// More sockets have events than one look at the poll gives.
#[test]
fn of_many_events_at_once_none_is_lost() {
    const MANY: usize = 300;
    on_every_runtime(|runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let ends = Fiber::parallel((0..MANY).map(|_| connected()));
        let ends = runtime.block_on(fibers.spawn(ends).into_future()).unwrap();
        let (clients, servers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        for _ in 0..5 {
            let reads: Vec<_> = servers.iter().map(|server| fibers.spawn(server.read([0]))).collect();
            // All of them wait, and no thread of the runtime looks, until all have been written to.
            runtime.block_on(async { tokio::task::yield_now().await });
            let writes = clients.iter().map(|client| client.write_all([7])).collect::<Vec<_>>();
            let writes = runtime.block_on(fibers.spawn(Fiber::parallel(writes)).into_future());
            assert_eq!(writes.unwrap().len(), MANY);
            let all = async {
                for read in reads {
                    assert_eq!(read.await.unwrap(), (1, [7]));
                }
            };
            runtime.block_on(async { tokio::time::timeout(PATIENCE, all).await }).unwrap();
        }
    });
}

#[test]
fn a_computation_delays_no_socket_of_a_runtime_with_several_workers() {
    with_runtime(2, |runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let count = Arc::new(AtomicUsize::new(0));
        let rallies: Vec<_> = rallies(&count).map(|rally| fibers.spawn(rally)).collect();
        eventually("they play", || count.load(SeqCst) > 100);
        for _ in 0..3 {
            let seen = count.clone();
            let computes = fibers.spawn(Fiber::lazy(move || {
                let before = seen.load(SeqCst);
                eventually("they go on", || seen.load(SeqCst) > before + 1000);
            }));
            assert!(block_on(computes).is_success());
        }
        rallies.iter().for_each(|rally| rally.cancel_now());
    });
}

#[test]
fn a_quiet_runtime_serves_a_socket_beside_a_computation() {
    with_runtime(2, |runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let pairs = connected().zip(connected());
        let ((begins, begun), (client, server)) = block_on(fibers.spawn(pairs)).unwrap();
        let answered = Arc::new(AtomicBool::new(false));
        let answers = answered.clone();
        let computes = fibers.spawn(begun.read([0]).map(move |_| {
            eventually("the other one is served", || answers.load(SeqCst));
        }));
        let answer = server.read([0]).map(move |_| answered.store(true, SeqCst));
        let answer = fibers.spawn(answer);
        // The workers sleep.
        thread::sleep(Duration::from_millis(100));
        let write = fibers.spawn(begins.write_all([1]).zip(client.write_all([1])));
        assert!(block_on(write).is_success());
        assert!(block_on(computes).is_success());
        assert!(block_on(answer).is_success());
    });
}

/// A runtime looks at its sockets after so many tasks, however long those take.
#[test]
fn long_turns_do_not_keep_a_runtime_with_one_worker_from_its_sockets() {
    const ANSWERS: usize = 10;
    [0, 1].into_iter().for_each(|workers| {
        with_runtime(workers, |runtime| {
            let fibers = TokioScheduler::new(runtime.handle());
            let listener = net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let at = listener.local_addr().unwrap();
            // Answers late, so that the fiber has to wait.
            let answers = thread::spawn(move || {
                let mut stream = listener.accept().unwrap().0;
                let mut question = [0];
                while stream.read(&mut question).unwrap() == 1 {
                    thread::sleep(Duration::from_millis(1));
                    stream.write_all(&question).unwrap();
                }
            });
            let turns = Arc::new(AtomicUsize::new(0));
            let counts = turns.clone();
            let computes = fiber! {
                loop {
                    do! Fiber::yield_now();
                    counts.fetch_add(1, SeqCst);
                    let end = Instant::now() + Duration::from_millis(1);
                    while Instant::now() < end {}
                }
            };
            let computes = fibers.spawn(computes.map(|_: ()| ()));
            let asks = fiber! {
                let! stream = TcpStream::connect(at);
                for _ in 0..ANSWERS {
                    do! stream.write_all([7]);
                    let! answer = stream.read_exact([0]);
                    assert_eq!(answer, [7]);
                }
            };
            runtime.block_on(fibers.spawn(asks).into_future()).unwrap();
            let turns = turns.load(SeqCst);
            assert!(turns < 20 * ANSWERS, "{turns} turns until {ANSWERS} answers");
            computes.cancel_now();
            answers.join().unwrap();
            runtime.block_on(fibers.shutdown(Shutdown::within(PATIENCE))).unwrap();
        });
    });
}

/// A task that awaits a call runs its turns, and is woken by the events of its sockets.
#[test]
fn a_call_waits_at_sockets_in_its_task() {
    on_every_runtime(|runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let program = fiber! {
            let! (client, server) = connected();
            do! client.write_all("ping");
            let! text = server.read_exact([0; 4]);
            text
        };
        let text = runtime.block_on(fibers.call(program.timeout(PATIENCE)));
        assert_eq!(&text.unwrap(), b"ping");
    });
}

#[test]
fn datagrams_and_processes_work_too() {
    on_every_runtime(|runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let program = fiber! {
            let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
            let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
            do! one.send_to(*b"hello", other.local_addr()?);
            let! (n, _, text) = other.recv_from([0; 8]);
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let! mut child = process::spawn(command);
            let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            do! input.write_all(text[..n].to_vec());
            drop(input);
            let! (said, text) = output.read([0; 8]);
            let! status = child.wait();
            assert!(status.success());
            text[..said].to_vec()
        };
        let said = runtime.block_on(fibers.spawn(program.timeout(PATIENCE)).into_future());
        assert_eq!(said.unwrap(), b"hello");
    });
}

#[test]
fn who_waits_when_the_scheduler_ends_is_cancelled_and_its_sockets_are_closed() {
    on_every_runtime(|runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let (begun, has_ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begins, ends) = (begun.clone(), has_ended.clone());
        let waits = fibers.spawn(fiber! {
            let! (_client, server) = connected();
            begins.store(true, SeqCst);
            do! server.read([0; 8]).map(drop).ensure(Fiber::lazy(move || ends.store(true, SeqCst)));
        });
        let end = Instant::now() + PATIENCE;
        while !begun.load(SeqCst) || !fibers.dump().to_string().contains("data from a socket") {
            assert!(Instant::now() < end, "{}", fibers.dump());
            runtime.block_on(async { tokio::task::yield_now().await });
        }
        drop(fibers);
        assert!(runtime.block_on(waits.into_future()).is_cancelled());
        assert!(has_ended.load(SeqCst));
        drop(runtime);
    });
}

#[test]
fn who_waits_when_the_runtime_ends_is_abandoned_and_its_sockets_are_closed() {
    on_every_runtime(|runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let (client, server) = runtime.block_on(fibers.spawn(connected()).into_future()).unwrap();
        let waits = fibers.spawn(server.read([0; 8]).map(drop));
        drop(runtime);
        assert!(!block_on(waits).is_success());
        // There is nobody to tell of events any more.
        assert!(fiber_sched::run(client.read([0]).map(drop)).is_failure());
    });
}

/// One worker ends the tasks of the runtime, and another one is still in a turn.
#[test]
fn who_waits_when_the_runtime_ends_does_not_go_on_after_a_turn_that_lasts() {
    with_runtime(2, |runtime| {
        let fibers = TokioScheduler::new(runtime.handle());
        let (client, server) = block_on(fibers.spawn(connected())).unwrap();
        let goes_on = Arc::new(AtomicBool::new(false));
        let goes = goes_on.clone();
        let waits = fibers.spawn(server.read([0]).attempt().map(move |_| goes.store(true, SeqCst)));
        eventually("it waits", || fibers.dump().to_string().contains("data from a socket"));
        let (begun, may_end) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begins, ends) = (begun.clone(), may_end.clone());
        let lasts = fibers.spawn(Fiber::lazy(move || {
            begins.store(true, SeqCst);
            eventually("it may end", || ends.load(SeqCst));
        }));
        eventually("it lasts", || begun.load(SeqCst));
        runtime.shutdown_background();
        // Until the sockets have stopped.
        assert!(fiber_sched::run(client.read([0]).map(drop)).is_failure());
        thread::sleep(Duration::from_millis(5));
        may_end.store(true, SeqCst);
        assert!(!block_on(waits).is_success());
        assert!(!goes_on.load(SeqCst));
        drop(block_on(lasts));
    });
}

#[test]
fn a_runtime_without_io_says_what_to_do() {
    let _alone = alone();
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let bind = TcpListener::bind(([127, 0, 0, 1], 0)).map(drop);
    let outcome = runtime.block_on(fibers.spawn(bind).into_future());
    assert!(outcome.is_panicked() && format!("{outcome:?}").contains("enable_io"), "{outcome:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_started_on_a_runtime_without_io_is_killed() {
    /// Whether it runs, or has not been waited for.
    fn is_there(id: &str) -> bool {
        std::path::Path::new("/proc").join(id).exists()
    }

    let _alone = alone();
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let folder = tempfile::tempdir().unwrap();
    let id = folder.path().join("id");
    // As the shell begins, it tells its id. It may be killed before.
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ > id; exec sleep 100"]).current_dir(folder.path());
    let outcome = runtime.block_on(fibers.spawn(process::status(command)).into_future());
    assert!(outcome.is_panicked() && format!("{outcome:?}").contains("enable_io"), "{outcome:?}");
    for _ in 0..10 {
        thread::sleep(Duration::from_millis(20));
        let id = std::fs::read_to_string(&id).unwrap_or_default();
        eventually("it is gone", || id.is_empty() || !is_there(id.trim()));
    }
}

/// The lookout, which looks at the poll beside the task that collects its events, may take the one that ends this task.
#[test]
fn a_scheduler_that_ends_while_all_workers_compute_closes_its_poll() {
    with_runtime(2, |runtime| {
        let before = descriptors();
        for _ in 0..3 {
            let fibers = TokioScheduler::new(runtime.handle());
            drop(block_on(fibers.spawn(connected())));
            let (begun, may_end) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let (begins, ends) = (begun.clone(), may_end.clone());
            let computes = fibers.spawn(Fiber::lazy(move || {
                begins.store(true, SeqCst);
                eventually("it may end", || ends.load(SeqCst));
            }));
            eventually("it computes", || begun.load(SeqCst));
            let shutdown = runtime.spawn(async move {
                let unfinished = fibers.shutdown(Shutdown::within(Duration::from_millis(20))).await;
                // So does the other worker, until the lookout has looked.
                thread::sleep(Duration::from_millis(20));
                unfinished.is_err()
            });
            assert!(block_on(shutdown).unwrap());
            may_end.store(true, SeqCst);
            drop(block_on(computes));
            eventually("its descriptors are closed", || descriptors() == before);
        }
    });
}

#[test]
fn a_scheduler_without_sockets_opens_no_poll() {
    on_every_runtime(|runtime| {
        let before = descriptors();
        let fibers = TokioScheduler::new(runtime.handle());
        runtime.block_on(fibers.spawn(Fiber::delay(Duration::from_millis(2))).into_future()).unwrap();
        assert!(!fibers.dump().to_string().contains("socket"));
        assert_eq!(descriptors(), before);
    });
}
