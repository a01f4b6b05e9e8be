use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A piece of work, and each contender's implementation.
pub struct Workload<'a> {
    /// The description of the work: the name of the row.
    pub name: String,
    /// The number of operations of one run.
    pub operations: u64,
    /// The kind of the operations.
    pub operation: Operation,
    /// The contenders.
    pub contenders: Vec<Contender<'a>>,
    /// The time that a run takes in any case: the sleeps that it requests.
    floor: Duration,
    answer: u64,
}

/// One contender's implementation of a [`Workload`].
pub struct Contender<'a> {
    /// The contender's column.
    pub column: Column,
    /// Does the work the given number of times, checks the answer, and returns how long that took.
    turn: Box<dyn FnMut(u64, u64) -> Duration + 'a>,
    floor: Duration,
    answer: u64,
}

/// The unit that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The unit that the row names.
    Any,
    /// A run of a program under one schedule: the table also shows how many there are per second.
    Schedule,
}

impl Operation {
    /// All, in the order of the table's parts.
    pub const ALL: [Operation; 2] = [Operation::Any, Operation::Schedule];
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Any => "operation",
            Operation::Schedule => "schedule",
        })
    }
}

/// A contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The library, with two workers; exploring, with one thread unless the row says otherwise.
    Fiber,
    /// The library, with one worker or thread.
    OneWorker,
    /// The library on a tokio runtime with two workers.
    Runtime,
    /// Rust without any library.
    Plain,
    /// `async` blocks, polled by an executor that does nothing else.
    Async,
    /// Futures behind a `Box<dyn Future>`.
    Boxed,
    /// tokio with two workers, or with its paused clock.
    Tokio,
    /// kanal's channels, on tokio.
    Kanal,
    /// flume's channels, on tokio.
    Flume,
    /// async-channel's channels, on tokio.
    AsyncChannel,
    /// async-lock's locks, on tokio.
    AsyncLock,
    /// async-io, whose reactor has a thread of its own.
    AsyncIo,
    /// may's coroutines, with two workers.
    May,
    /// rayon with two workers.
    Rayon,
    /// chili with one worker, the calling thread.
    Chili,
    /// shuttle, on one thread.
    Shuttle,
    /// loom, on one thread.
    Loom,
}

impl Column {
    /// All, in the order of the table.
    pub const ALL: [Column; 17] = [
        Column::Fiber,
        Column::OneWorker,
        Column::Runtime,
        Column::Plain,
        Column::Async,
        Column::Boxed,
        Column::Tokio,
        Column::Kanal,
        Column::Flume,
        Column::AsyncChannel,
        Column::AsyncLock,
        Column::AsyncIo,
        Column::May,
        Column::Rayon,
        Column::Chili,
        Column::Shuttle,
        Column::Loom,
    ];

    /// The library itself does not count as its own peer.
    pub fn is_peer(self) -> bool {
        !matches!(self, Column::Fiber | Column::OneWorker | Column::Runtime)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Column::Fiber => "fiber",
            Column::OneWorker => "fiber, 1 worker",
            Column::Runtime => "fiber on tokio",
            Column::Plain => "plain",
            Column::Async => "async",
            Column::Boxed => "boxed futures",
            Column::Tokio => "tokio",
            Column::Kanal => "kanal",
            Column::Flume => "flume",
            Column::AsyncChannel => "async-channel",
            Column::AsyncLock => "async-lock",
            Column::AsyncIo => "async-io",
            Column::May => "may",
            Column::Rayon => "rayon",
            Column::Chili => "chili, 1 worker",
            Column::Shuttle => "shuttle",
            Column::Loom => "loom",
        })
    }
}

impl<'a> Workload<'a> {
    /// A row whose runs have `operations` each and give `answer`.
    pub fn new(name: impl Into<String>, operations: u64, answer: u64) -> Self {
        let operation = Operation::Any;
        Workload {
            name: name.into(),
            operations,
            operation,
            contenders: Vec::new(),
            floor: Duration::ZERO,
            answer,
        }
    }

    /// Sets the kind of operation.
    #[must_use]
    pub fn of(mut self, operation: Operation) -> Self {
        self.operation = operation;
        self
    }

    /// Counts only the time beyond `floor`. Must be called before the contenders are added.
    #[must_use]
    pub fn beyond(mut self, floor: Duration) -> Self {
        self.floor = floor;
        self
    }

    /// Adds a contender.
    #[must_use]
    pub fn by(self, column: Column, mut work: impl FnMut() -> u64 + 'a) -> Self {
        self.timed(column, move |runs, answer| {
            let start = Instant::now();
            for _ in 0..runs {
                check(column, black_box(work()), answer);
            }
            start.elapsed()
        })
    }

    /// Adds a contender of whose runs only `work` is timed: neither the preparation nor finding the answer afterwards.
    #[must_use]
    pub fn by_parts<S, T>(
        self,
        column: Column,
        mut prepare: impl FnMut() -> S + 'a,
        mut work: impl FnMut(&mut S) -> T + 'a,
        answer_in: impl Fn(S, &T) -> u64 + 'a,
    ) -> Self {
        self.timed(column, move |runs, answer| {
            let mut time = Duration::ZERO;
            for _ in 0..runs {
                let mut prepared = prepare();
                let start = Instant::now();
                let done = black_box(work(&mut prepared));
                time += start.elapsed();
                check(column, answer_in(prepared, &done), answer);
            }
            time
        })
    }

    fn timed(mut self, column: Column, turn: impl FnMut(u64, u64) -> Duration + 'a) -> Self {
        let (floor, answer) = (self.floor, self.answer);
        self.contenders.push(Contender { column, turn: Box::new(turn), floor, answer });
        self
    }
}

impl Contender<'_> {
    /// Does the work `runs` times, and returns how long that took.
    ///
    /// # Panics
    /// If an answer is wrong.
    pub fn time(&mut self, runs: u64) -> Duration {
        let time = (self.turn)(runs, self.answer);
        time.saturating_sub(self.floor * u32::try_from(runs).expect("few runs"))
    }
}

fn check(column: Column, answer: u64, expected: u64) {
    assert_eq!(answer, expected, "{column} has not done the work");
}

impl fmt::Debug for Workload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workload {:?}", self.name)
    }
}

impl fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contender {:?}", self.column)
    }
}

/// The smallest unit of work: a call that the compiler cannot optimise away.
#[inline(never)]
pub fn step(n: u64) -> u64 {
    black_box(n + 1)
}
