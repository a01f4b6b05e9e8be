//! A transfer between two banks on different computers: two-phase commit (Gray: "Notes on Data Base Operating Systems", 1978).
//!
//! ```text
//! office: prepare 1 -20  ->  bank a: yes        both have promised: the office records the decision
//!         prepare 1 20   ->  bank b: yes
//!         commit 1       ->  bank a: done       repeated until both have answered
//!         commit 1       ->  bank b: done
//! ```
//!
//! Any computer may crash at any moment, and any message may be late. The contents of a [`Disk`] or a [`Log`] survive that.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Error, Fiber, Policy, fiber};
use parking_lot::Mutex;

/// The port on which a bank listens.
pub const PORT: u16 = 80;

/// How long the office waits for an answer, and between two requests.
const PATIENCE: Duration = Duration::from_secs(1);

/// The promises of a bank: the changes of its balance, by the numbers of the transfers.
pub type Promises = Arc<Mutex<BTreeMap<u32, i64>>>;

/// The state of a bank that survives a crash.
#[derive(Clone, Debug)]
pub struct Disk {
    balance: Arc<Mutex<i64>>,
    promises: Promises,
    /// The transfers that are decided.
    over: Arc<Mutex<BTreeSet<u32>>>,
}

impl Disk {
    /// A disk with this balance, in cents.
    pub fn new(balance: i64) -> Self {
        Disk { balance: Arc::new(Mutex::new(balance)), promises: Promises::default(), over: Arc::default() }
    }

    /// The balance in cents.
    pub fn balance(&self) -> i64 {
        *self.balance.lock()
    }
}

/// The first draft of a bank keeps its promises in memory only.
pub fn forgetful_bank(disk: Disk) -> Fiber<()> {
    serve(disk, Promises::default())
}

/// A bank writes a promise to its disk before it answers.
pub fn bank(disk: Disk) -> Fiber<()> {
    let promises = disk.promises.clone();
    serve(disk, promises)
}

/// Answers the office until it is cancelled.
fn serve(disk: Disk, promises: Promises) -> Fiber<()> {
    let here = ([0, 0, 0, 0], PORT);
    TcpListener::bind(here)
        .bind(move |listener| {
            listener.serve(10, move |stream, _| {
                let (disk, promises) = (disk.clone(), promises.clone());
                fiber! {
                    let! request = stream.buffered().line();
                    let answer = answer(&disk, &promises, &request.unwrap_or_default());
                    do! stream.write_all(format!("{answer}\n"));
                }
            })
        })
        .boxed()
}

/// Handles a request. Repeating a request changes nothing.
fn answer(disk: &Disk, promises: &Promises, request: &str) -> &'static str {
    let mut words = request.split(' ');
    let verb = words.next().unwrap_or_default();
    let Some(number) = words.next().and_then(|number| number.parse().ok()) else { return "what?" };
    let change: i64 = words.next().and_then(|change| change.parse().ok()).unwrap_or(0);
    let (mut promises, mut balance, mut over) = (promises.lock(), disk.balance.lock(), disk.over.lock());
    match verb {
        "prepare" => {
            let promised: i64 = promises.values().filter(|change| **change < 0).sum();
            let is_possible = !over.contains(&number) && *balance + promised + change >= 0;
            if is_possible {
                promises.insert(number, change);
            }
            if is_possible { "yes" } else { "no" }
        }
        "commit" | "abort" => {
            let promised = promises.remove(&number);
            if over.insert(number) && verb == "commit" {
                *balance += promised.unwrap_or(0);
            }
            "done"
        }
        _ => "what?",
    }
}

/// The decision of the office about one transfer. It survives a crash.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Option<Entry>>>);

#[derive(Clone, Copy, Debug)]
enum Entry {
    Begun,
    Decided { is_committed: bool },
}

impl Log {
    fn read(&self) -> Option<Entry> {
        *self.0.lock()
    }

    fn write(&self, entry: Entry) {
        *self.0.lock() = Some(entry);
    }
}

/// The office moves cents from one bank to another one, or leaves them where they are. Returns whether they were moved, once both
/// banks know. After a crash of the office, run it again with the same log.
pub fn transfer(number: u32, cents: i64, [from, to]: [SocketAddr; 2], log: Log) -> Fiber<bool> {
    fiber! {
        let is_committed = match log.read() {
            Some(Entry::Decided { is_committed }) => is_committed,
            // The office does not know which banks have promised.
            Some(Entry::Begun) => false,
            None => {
                log.write(Entry::Begun);
                let! one = promises(from, format!("prepare {number} -{cents}"))
                    and! other = promises(to, format!("prepare {number} {cents}"));
                one && other
            }
        };
        log.write(Entry::Decided { is_committed });
        let verb = if is_committed { "commit" } else { "abort" };
        do! tell(from, format!("{verb} {number}")).zip(tell(to, format!("{verb} {number}"))).map(drop);
        is_committed
    }
}

/// Whether the bank promises the transfer. No answer in time counts as no.
fn promises(bank: SocketAddr, request: String) -> Fiber<bool> {
    let answer = ask(bank, request).timeout(PATIENCE).map(|answer| answer == "yes");
    answer.catch(|_| Fiber::success(false)).boxed()
}

/// Repeats the decision until the bank has acknowledged it.
fn tell(bank: SocketAddr, decision: String) -> Fiber<()> {
    let attempt = move || {
        let answer = ask(bank, decision.clone()).timeout(PATIENCE);
        answer.try_map(|answer| if answer == "done" { Ok(()) } else { Err(Error::msg("not done")) })
    };
    Fiber::retry_with(Policy::spaced(PATIENCE), attempt).boxed()
}

fn ask(bank: SocketAddr, request: String) -> Fiber<String> {
    fiber! {
        let! stream = TcpStream::connect(bank);
        do! stream.write_all(format!("{request}\n"));
        let! answer = stream.buffered().line();
        answer.unwrap_or_default()
    }
}
