//! The two worlds, and what a program observes in them.

use std::any::type_name;
use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use fiber_core::net::{ByteStream, TcpListener, TcpStream, UnixStream, WriteFailed};
use fiber_core::{Error, Fiber, Outcome, Run, fiber, fs};
use fiber_sched::{CurrentThread, TokioScheduler};
use fiber_test::{Explore, TestScheduler, network};
use tempfile::TempDir;
use tokio::runtime;

/// The observations of a program, in their order.
pub(crate) type Seen = Vec<String>;

/// The number of seeds, and of schedules of the explorer.
const SEEDS: u64 = 4;
const RUNS: u64 = 30;

/// Longer than any program takes: those that hang differ from those that do not.
const LONG: Duration = Duration::from_secs(20);

/// The pause between two looks at something that changes.
const PAUSE: Duration = Duration::from_millis(1);

/// How often something is looked at that may never change.
const LOOKS: usize = 2_000;

/// At how many ports something is tried.
const PORTS: usize = 4;

/// Fails unless the program observes the same on both networks, and on the simulated one under every schedule that is tried.
#[track_caller]
pub(crate) fn agree<F>(program: F)
where
    F: Fn() -> Fiber<Seen> + Clone + Send + Sync + 'static,
{
    let name = type_name::<F>().trim_start_matches("worlds::").trim_end_matches("::{{closure}}");
    let real = on_the_real_network(program());
    println!("{name:<64} {}", real.join(", "));
    assert_eq!(on_a_runtime_of_tokio(program()), real, "{name}: on tokio (left), and on this thread (right)");
    for seed in 0..SEEDS {
        let test = TestScheduler::with_seed(seed);
        let simulated = ended(test.run(limited(program())));
        assert_eq!(simulated, real, "{name}: simulated with seed {seed} (left), and real (right)");
        test.assert_no_leaks();
    }
    let checks = move || {
        let real = real.clone();
        limited(program()).map(move |seen| assert_eq!(seen, real, "simulated (left), and real (right)"))
    };
    Explore::default().no_regressions().schedules(RUNS).check(checks);
}

/// Fails unless the program observes these two different things.
#[track_caller]
pub(crate) fn differ<const N: usize>(
    program: fn() -> Fiber<Seen>,
    real: [&'static str; N],
    simulated: [&'static str; N],
) {
    assert_eq!(on_the_real_network(program()), real, "real");
    assert_eq!(ended(TestScheduler::new().run(limited(program()))), simulated, "simulated");
}

/// One program at a time: the ports of another one would be in its way.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn on_the_real_network(program: Fiber<Seen>) -> Seen {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    ended(CurrentThread::new().run(limited(program)))
}

/// The same network, whose poll is in that of a runtime.
fn on_a_runtime_of_tokio(program: Fiber<Seen>) -> Seen {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    ended(runtime.block_on(fibers.spawn(limited(program)).into_future()))
}

/// Fails unless the program observes the same in a folder of the real files and on the disk of a simulated host.
#[track_caller]
pub(crate) fn agree_on_files(program: fn(PathBuf) -> Fiber<Seen>) {
    let folder = tempfile::tempdir().unwrap();
    let real = on_the_real_network(program(folder.path().to_owned()));
    agree_on_a_host(real, "/data", move |path| {
        fs::create_dir_all("/data").bind(move |()| program(path)).boxed()
    });
}

/// The same for a program with a file on a full disk.
#[track_caller]
pub(crate) fn agree_on_a_full_disk(program: fn(PathBuf) -> Fiber<Seen>) {
    let real = on_the_real_network(program("/dev/full".into()));
    agree_on_a_host(real, "/file", move |path| {
        let full = network().map(|network| network.host("a").disk().set_capacity(0));
        full.bind(move |()| program(path)).boxed()
    });
}

#[track_caller]
fn agree_on_a_host(
    real: Seen,
    path: &'static str,
    program: impl Fn(PathBuf) -> Fiber<Seen> + Copy + Send + Sync + 'static,
) {
    println!("{}", real.join(", "));
    let on_a_host =
        move || network().bind(move |network| network.host("a").run(move || program(path.into()))).boxed();
    let simulated = TestScheduler::new().run(limited(on_a_host()));
    assert_eq!(ended(simulated), real, "simulated (left), and real (right)");
    Explore::default().no_regressions().schedules(RUNS).check(move || {
        let real = real.clone();
        on_a_host().map(move |seen| assert_eq!(seen, real, "simulated (left), and real (right)"))
    });
}

fn limited(program: Fiber<Seen>) -> Fiber<Seen> {
    program.timeout(LONG).boxed()
}

fn ended(outcome: Outcome<Seen>) -> Seen {
    match outcome {
        Outcome::Success(seen) => seen,
        other => vec![format!("{other:?}")],
    }
}

/// A test for each transport, of programs that get the two ends of a connection.
macro_rules! over_tcp_and_unix {
    ($($name:ident)*) => {
        mod over_tcp {
            use crate::support::{agree, tcp};
            $(#[test] fn $name() { agree(|| tcp().bind(|(one, other)| super::$name(one, other)).boxed()) })*
        }

        mod over_unix {
            use crate::support::{agree, unix};
            $(#[test] fn $name() { agree(|| unix().bind(|(one, other)| super::$name(one, other)).boxed()) })*
        }
    };
}
pub(crate) use over_tcp_and_unix;

/// Two ends of a TCP connection.
pub(crate) fn tcp() -> Fiber<(ByteStream, ByteStream)> {
    connected().map(|(client, server)| (client.into(), server.into())).boxed()
}

/// Two ends of a connection within the host.
pub(crate) fn unix() -> Fiber<(ByteStream, ByteStream)> {
    UnixStream::pair().map(|(one, other)| (one.into(), other.into())).boxed()
}

/// The client and the server.
pub(crate) fn connected() -> Fiber<(TcpStream, TcpStream)> {
    fiber! {
        let! listener = TcpListener::bind(LOCAL);
        let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
        (client, server)
    }
}

/// Any port of this host.
pub(crate) const LOCAL: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

/// A path in a folder that exists, at which there is nothing.
pub(crate) fn fresh() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    folder.path().join(NEXT.fetch_add(1, Ordering::Relaxed).to_string())
}

/// The next byte, `end`, or the kind of the error.
pub(crate) fn next(stream: &ByteStream) -> Fiber<String> {
    let byte =
        |(n, [byte]): (usize, [u8; 1])| if n == 0 { "end".to_owned() } else { char::from(byte).into() };
    stream.read([0]).map(byte).told()
}

/// All bytes, and what comes after them.
pub(crate) fn rest(stream: &ByteStream) -> Fiber<String> {
    let stream = stream.clone();
    fiber! {
        let mut all = String::new();
        loop {
            let! one = next(&stream);
            if one.len() > 1 { break format!("{all:?} {one}") }
            all.push_str(&one);
        }
    }
}

/// `written`, or the kind of the error.
pub(crate) fn writes(stream: &ByteStream, text: &'static str) -> Fiber<String> {
    stream.write_all(text).map(|_| "written").told()
}

/// The kind of the first error of writes, which come until there is one.
pub(crate) fn fails(stream: &ByteStream) -> Fiber<String> {
    let stream = stream.clone();
    eventually(move || stream.try_write(b"x").map_or_else(|error| Some(kind(&error)), |_| None))
}

/// Writes as much as there is room for.
pub(crate) fn fills(stream: &ByteStream) -> io::Result<usize> {
    let mut written = 0;
    loop {
        match stream.try_write(&[b'x'; 4096]) {
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(written),
            Err(error) => return Err(error),
        }
    }
}

/// The first answer of a function that is called until it has one, or `never`.
pub(crate) fn eventually(look: impl Fn() -> Option<String> + Send + 'static) -> Fiber<String> {
    fiber! {
        for _ in 0..LOOKS {
            if let Some(seen) = look() { return seen }
            do! Fiber::delay(PAUSE);
        }
        "never".to_owned()
    }
}

/// Whether something succeeds at one of a few ports. At some of them, a socket of another process may be in the way.
pub(crate) fn at_some_port(look: impl Fn() -> Fiber<String> + Send + 'static) -> Fiber<String> {
    fiber! {
        for _ in 1..PORTS {
            let! seen = look();
            if seen == "done" { return seen }
        }
        return! look();
    }
}

/// What a program observes a moment after another one has begun.
pub(crate) fn meanwhile<T: Send + 'static>(
    waits: Fiber<T>,
    acts: impl FnOnce() + Send + 'static,
) -> Fiber<T> {
    waits.zip(Fiber::delay(Duration::from_millis(10)).map(move |()| acts())).map(|(seen, ())| seen).boxed()
}

/// A value, or the kind of the error.
pub(crate) fn result<T: Debug>(result: io::Result<T>) -> String {
    result.map_or_else(|error| kind(&error), |value| format!("{value:?}"))
}

fn kind(error: &io::Error) -> String {
    format!("{:?}", error.kind())
}

/// What a fiber gives, as an observation.
pub(crate) trait Told<T> {
    /// A failure as a value.
    fn tried(self) -> Fiber<Result<T, Error>>;

    /// The text, or the kind of the error.
    fn told(self) -> Fiber<String>
    where
        T: Into<String>;

    /// `done`, or the kind of the error.
    fn done(self) -> Fiber<String>;
}

impl<T: Send + 'static, R: Run<Out = T>> Told<T> for Fiber<T, R> {
    fn tried(self) -> Fiber<Result<T, Error>> {
        self.map(Ok).catch(|error| Fiber::success(Err(error))).boxed()
    }

    fn told(self) -> Fiber<String>
    where
        T: Into<String>,
    {
        self.tried().map(|result| result.map_or_else(|error| of(&error), T::into)).boxed()
    }

    fn done(self) -> Fiber<String> {
        self.map(|_| "done").told()
    }
}

fn of(error: &Error) -> String {
    let of_write = error.downcast_ref::<WriteFailed>().map(WriteFailed::error);
    error.downcast_ref::<io::Error>().or(of_write).map_or_else(|| error.to_string(), kind)
}

/// Owned observations.
macro_rules! seen {
    ($($one:expr),* $(,)?) => { vec![$(String::from($one)),*] };
}
pub(crate) use seen;
