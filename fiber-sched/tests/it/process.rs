//! Child processes.

#![cfg(unix)]

use std::io::{ErrorKind, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use fiber_core::net::copy;
use fiber_core::scheduler::TaskKind;
use fiber_core::{Either, Fiber, fiber};
use fiber_sched::process::{self, Child};
use fiber_sched::{AffinityPool, CurrentThread, Pool, block_on};

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null());
    command
}

/// A process that does not end by itself.
fn endless() -> Command {
    shell("echo ready; exec sleep 3600")
}

/// Whether there is such a process, alive or a zombie.
fn exists(id: u32) -> bool {
    let mut command = Command::new("kill");
    command.args(["-0", &id.to_string()]).stderr(Stdio::null());
    command.status().unwrap().success()
}

fn everywhere(program: fn() -> Fiber<()>) {
    for workers in [1, 2] {
        Pool::builder().workers(workers).build().run(program().timeout(PATIENCE)).unwrap();
    }
    AffinityPool::builder().workers(2).pinned(false).build().run(program().timeout(PATIENCE)).unwrap();
    CurrentThread::new().run(program().timeout(PATIENCE)).unwrap();
}

#[test]
fn a_process_is_waited_for_and_says_how_it_ended() {
    everywhere(|| {
        fiber! {
            let! status = process::status(shell("exit 7"));
            assert_eq!(status.code(), Some(7));
            let! status = process::status(shell("kill -TERM $$"));
            assert_eq!(status.signal(), Some(15));
        }
    });
}

#[test]
fn the_error_of_a_program_that_is_not_there_names_the_places_where_it_is_started() {
    let error = CurrentThread::new().run(process::output(Command::new("/nowhere"))).failure().unwrap();
    assert_eq!(error.to_string(), "starting /nowhere: No such file or directory (os error 2)");
    assert!(error.trace().iter().all(|frame| frame.location().file() == file!()), "{error:?}");
}

#[test]
fn a_process_of_one_worker_does_not_wait_for_another_one_that_computes() {
    let pool = AffinityPool::builder().workers(2).pinned(false).build();
    for here in 0..2 {
        let [here, there] =
            [here, 1 - here].map(|worker| (0..).find(|key: &u32| pool.worker_of(key) == worker).unwrap());
        let (end, ended) = mpsc::channel::<()>();
        let computes = pool.spawn_on(
            there,
            Fiber::lazy(move || {
                ended.recv_timeout(PATIENCE).is_err_and(|e| e == mpsc::RecvTimeoutError::Disconnected)
            }),
        );
        let output = process::output(shell("sleep 0.05; echo late")).timeout(PATIENCE);
        assert_eq!(block_on(pool.spawn_on(here, output)).unwrap().stdout, b"late\n");
        drop(end);
        assert!(block_on(computes).unwrap(), "the process was not seen while the other worker computed");
    }
}

#[test]
fn large_outputs_are_read_while_the_process_runs() {
    // More than any pipe holds, in both directions.
    everywhere(|| {
        fiber! {
            let script = "head -c 300000 /dev/zero >&2; head -c 400000 /dev/zero; echo end";
            let! output = process::output(shell(script));
            assert!(output.status.success());
            assert_eq!((output.stdout.len(), output.stderr.len()), (400_004, 300_000));
        }
    });
}

#[test]
fn what_is_written_to_a_process_comes_back() {
    everywhere(|| {
        fiber! {
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let talk = process::with(command, |mut cat: Child| fiber! {
                let (stdin, stdout) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
                let all = vec![7; 500_000];
                let writes = stdin.write_all(all.clone()).map(move |_| drop(stdin));
                let! () = writes and! echo = stdout.buffered().limit(usize::MAX).rest();
                assert!(echo == all);
                return! cat.wait();
            });
            let! status = talk;
            assert!(status.success());
        }
    });
}

#[test]
fn processes_are_joined_by_their_pipes() {
    everywhere(|| {
        fiber! {
            let! (reads, writes) = process::pipe();
            let mut source = shell("echo one; echo two");
            source.stdout(Stdio::piped());
            let from = process::with(source, move |mut child: Child| {
                copy(child.stdout.take().unwrap(), writes).map(move |n| { drop(child); n })
            });
            let! bytes = from and! all = reads.buffered().rest();
            assert_eq!((bytes, &*all), (8, &b"one\ntwo\n"[..]));
        }
    });
}

/// `dd` makes the pipe one of packets; a read takes one of them.
#[cfg(target_os = "linux")]
#[test]
fn all_packets_of_a_pipe_are_read_while_the_process_runs() {
    everywhere(|| {
        let mut packets =
            shell("printf abcdef | dd bs=3 oflag=direct iflag=fullblock status=none; exec sleep 3600");
        packets.stdout(Stdio::piped());
        process::with(packets, |mut child: Child| {
            let stdout = child.stdout.take().unwrap();
            fiber! {
                // Both are there when the first is read.
                do! Fiber::delay(Duration::from_millis(300));
                let! all = stdout.read_exact([0; 6]);
                assert_eq!(&all, b"abcdef");
            }
        })
    });
}

#[test]
fn a_pipe_that_is_closed_ends_although_there_are_clones_of_it() {
    everywhere(|| {
        fiber! {
            let! (reads, writes) = process::pipe();
            let other = writes.clone();
            do! writes.write_all("all");
            do! writes.close();
            let! all = reads.buffered().rest();
            assert_eq!(all, b"all");
            let! more = other.write_all("more").attempt();
            assert!(more.unwrap_err().to_string().contains("0 of 4 bytes written"));
            do! other.close();
        }
    });
}

#[test]
fn a_writer_that_waits_for_room_in_a_pipe_is_woken_by_the_close() {
    everywhere(|| {
        fiber! {
            let! (reads, writes) = process::pipe();
            let! waits = writes.write_all(vec![0; 1 << 20]).attempt().fork();
            // There is something to read, so there is no more room soon.
            do! reads.readable();
            do! Fiber::delay(Duration::from_millis(5));
            do! writes.close();
            let! written = waits;
            assert!(written.is_err());
        }
    });
}

#[test]
fn the_input_of_a_process_ends_with_a_copy_that_closes_it() {
    everywhere(|| {
        fiber! {
            let! (reads, writes) = process::pipe();
            do! writes.write_all("copied");
            do! writes.close();
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let! text = process::with(command, move |mut child: Child| {
                let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                let copies = copy(reads, stdin.clone()).bind(move |_| stdin.close());
                copies.bind(move |()| stdout.buffered().rest()).bind(move |text| child.wait().map(|_| text))
            });
            assert_eq!(text, b"copied");
        }
    });
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    everywhere(|| {
        fiber! {
            let missing = process::status(Command::new("/no/such/program"));
            let! error = missing.map(|_| None).catch(|error| Fiber::success(Some(error)));
            let error = error.expect("it cannot be started");
            assert_eq!(error.downcast_ref::<std::io::Error>().unwrap().kind(), ErrorKind::NotFound);
            assert!(error.to_string().starts_with("starting /no/such/program: "), "{error}");
        }
    });
}

/// What a program reads from its input, which the command may set.
fn read_by_cat(set: impl FnOnce(&mut Command)) -> Fiber<Vec<u8>> {
    let mut command = Command::new("cat");
    set(&mut command);
    process::output(command).map(|output| output.stdout).boxed()
}

#[test]
fn the_input_of_a_process_whose_output_is_collected_is_that_of_the_command_or_empty() {
    everywhere(|| {
        fiber! {
            // That of this process may never end.
            let! nothing = read_by_cat(|_| {});
            assert_eq!(nothing, b"");
            // What looks like a setting of the input is none.
            let! nothing = read_by_cat(|command| { command.env("X", "\n    stdin: "); });
            assert_eq!(nothing, b"");
            // Through a pipe that is not taken, nothing comes.
            let! nothing = read_by_cat(|command| { command.stdin(Stdio::piped()); });
            assert_eq!(nothing, b"");
            let mut file = tempfile::tempfile()?;
            file.write_all(b"from a file")?;
            file.rewind()?;
            let! all = read_by_cat(|command| { command.stdin(file); });
            assert_eq!(all, b"from a file");
        }
    });
}

#[test]
fn many_children_that_are_dropped_at_once_are_all_reaped() {
    everywhere(|| {
        fiber! {
            let start = || process::spawn(shell("exec sleep 3600"));
            let! children = Fiber::parallel((0..20).map(|_| start()).collect::<Vec<_>>());
            let ids: Vec<u32> = children.iter().map(Child::id).collect();
            drop(children);
            let deadline = Instant::now() + PATIENCE;
            while ids.iter().any(|id| exists(*id)) {
                assert!(Instant::now() < deadline);
                do! Fiber::delay(Duration::from_millis(1));
            }
        }
    });
}

#[test]
fn a_write_to_a_process_that_has_gone_fails() {
    everywhere(|| {
        fiber! {
            let mut command = Command::new("true");
            command.stdin(Stdio::piped());
            let! mut child = process::spawn(command);
            let stdin = child.stdin.take().unwrap();
            do! child.wait();
            let deadline = Instant::now() + PATIENCE;
            // A process that another test starts has all descriptors of this one, until it runs its program.
            while do! stdin.write_all("x").map(|_| true).catch(|_| Fiber::success(false)) {
                assert!(Instant::now() < deadline);
                do! Fiber::delay(Duration::from_millis(1));
            }
        }
    });
}

#[test]
fn a_cancelled_fiber_kills_its_process_and_waits_for_its_end() {
    everywhere(|| {
        fiber! {
            let id = Arc::new(Mutex::new(None));
            let started = id.clone();
            let (ready, is_ready) = fiber_core::sync::one_shot();
            let mut command = endless();
            command.stdout(Stdio::piped());
            let runs = process::with(command, move |mut child: Child| fiber! {
                *started.lock().unwrap() = Some(child.id());
                let! _line = child.stdout.take().unwrap().buffered().line();
                ready.success(());
                return! child.wait().map(drop);
            });
            let! first = runs.race(is_ready);
            assert!(matches!(first, Either::Right(_)));
            // The race has awaited its loser, which has awaited its process.
            let id = id.lock().unwrap().take().unwrap();
            assert!(!exists(id), "{id} is still there");
        }
    });
}

#[test]
fn a_timeout_of_a_process_ends_it() {
    everywhere(|| {
        fiber! {
            let started = Instant::now();
            let! ended = process::status(shell("exec sleep 3600")).timeout_option(Duration::from_millis(50));
            assert!(ended.is_none());
            assert!(started.elapsed() < PATIENCE);
        }
    });
}

#[test]
fn a_child_that_is_dropped_is_killed() {
    everywhere(|| {
        fiber! {
            let! child = process::spawn(shell("exec sleep 3600"));
            let id = child.id();
            drop(child);
            // Nothing else has to happen for it to be reaped.
            let deadline = Instant::now() + PATIENCE;
            while exists(id) {
                assert!(Instant::now() < deadline, "{id} is a zombie");
                do! Fiber::delay(Duration::from_millis(1));
            }
        }
    });
}

#[test]
fn a_wait_outlives_the_child_and_the_pool_that_has_started_it_and_does_not_spin() {
    let first = Pool::builder().workers(1).build();
    let child = first.run(process::spawn(shell("sleep 0.5; exit 3"))).unwrap();
    let wait = child.wait();
    drop((child, first));
    let second = Pool::builder().workers(1).build();
    let status = second.run(wait.timeout(PATIENCE)).unwrap();
    assert_eq!(status.code(), Some(3));
    let sleeps = second.metrics().total(|worker| worker.tasks(TaskKind::Timer));
    assert!((1..500).contains(&sleeps), "it has slept {sleeps} times");
}

#[test]
fn a_cancelled_wait_leaves_the_process_alone() {
    everywhere(|| {
        fiber! {
            let! child = process::spawn(shell("exec sleep 3600"));
            let! ended = child.wait().timeout_option(Duration::from_millis(10));
            assert!(ended.is_none());
            assert!(exists(child.id()));
            child.kill()?;
            let! status = child.wait();
            assert_eq!(status.signal(), Some(9));
            let! again = child.wait();
            assert_eq!(again, status);
            child.kill()?;
        }
    });
}

#[test]
fn a_scheduler_without_polls_starts_nothing() {
    let outcome = fiber_test::TestScheduler::new().run(process::status(Command::new("true")));
    let error = outcome.failure().unwrap();
    assert_eq!(error.downcast_ref::<std::io::Error>().unwrap().kind(), ErrorKind::Unsupported);
}
