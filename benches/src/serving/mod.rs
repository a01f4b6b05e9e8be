//! Compares servers: requests per second, latency, and the cost to the server.
//!
//! Each server is a separate process, and the clients are another one: a single thread that keeps one request in flight on
//! each connection. Every round measures each server once, so that a slow moment of the machine affects all.
//!
//! With `UNDER="strace -c -f"`, the servers run under that program, which prints its statistics at the end.

mod client;
mod load;
mod usage;

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use client::Sample;
use load::Load;

/// The requests of the clients, and the answers.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The bytes of a request.
    pub request: Vec<u8>,
    /// The number of bytes of the answer.
    pub answer: usize,
    /// An expensive request, with an answer of the same length: one more connection sends it repeatedly.
    pub burner: Option<Vec<u8>>,
}

/// The address of servers: the system chooses the port.
pub const ANYWHERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// The duration of a server's turn: thousands of batches.
const TURN: Duration = Duration::from_millis(400);

/// The minimum duration per connection, so that each of them has several answers.
const TURN_PER_CONNECTION: Duration = Duration::from_micros(200);

/// A server in a separate process.
struct Server {
    name: String,
    process: Child,
    at: SocketAddr,
    samples: Vec<Sample>,
}

/// The body of `main`: `serve SERVER` runs only a server; otherwise `[CONNECTIONS [ROUNDS [SERVER..]]]` prints a Markdown
/// table of medians, or one for each of several numbers of connections, such as `1,8,64`.
///
/// `serve` starts the server of that name, which prints its address by [`tell`].
///
/// # Panics
/// If a server exits, or loses a request.
pub fn compare(arguments: &[String], all: &[&str], protocol: &Protocol, serve: fn(&str)) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["serve", name] = *arguments {
        serve(name);
        // Ends when the clients do.
        _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    }
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let rounds = arguments.get(1).map_or(9, |text| number(text));
    let names = arguments.get(2..).filter(|names| !names.is_empty()).unwrap_or(all);
    for connections in arguments.first().unwrap_or(&"64").split(',').map(number) {
        compare_under(&Load { connections, protocol }.within_limits(), rounds, names);
    }
}

fn compare_under(load: &Load<'_>, rounds: usize, names: &[&str]) {
    let mut servers: Vec<Server> = names.iter().map(|name| Server::start(name)).collect();
    for round in 0..rounds {
        // The order rotates, so that a server does not always run after the same one.
        for turn in 0..servers.len() {
            let at = (turn + round) % names.len();
            servers[at].turn(load);
        }
    }
    println!(
        "| {load} | requests/s | p50 us | p99 us | slowest us | server CPU us/request | context switches/request |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    servers.iter().for_each(Server::print);
    println!();
}

/// Prints the address of a server for the clients.
///
/// # Panics
/// If there is no address.
pub fn tell(at: std::io::Result<SocketAddr>) {
    println!("{}", at.expect("an address"));
}

/// Serves connections on tokio, each in a task of `serve`, and prints the address. Returns at once; the runtime stays alive.
///
/// # Panics
/// If the runtime's threads cannot be started.
pub fn serve_on_tokio<F>(workers: usize, serve: impl Fn(tokio::net::TcpStream) -> F + Send + 'static)
where
    F: Future<Output: Send> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("tokio");
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::bind(ANYWHERE).await.expect("a listener");
        tell(listener.local_addr());
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            _ = stream.set_nodelay(true);
            tokio::spawn(serve(stream));
        }
    });
    std::mem::forget(runtime);
}

impl Server {
    fn start(name: &str) -> Self {
        let mut process = Server::command()
            .args(["serve", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let output = process.stdout.take().expect("its output");
        let line = BufReader::new(output).lines().next().expect("a line").expect("its address");
        Server { name: name.to_owned(), process, at: line.parse().expect("an address"), samples: Vec::new() }
    }

    /// This program, or one that runs it.
    fn command() -> Command {
        let program = std::env::current_exe().expect("this program");
        let under = std::env::var("UNDER").unwrap_or_default();
        let mut words = under.split_whitespace();
        let Some(first) = words.next() else { return Command::new(program) };
        let mut command = Command::new(first);
        command.args(words).arg(program);
        command
    }

    fn turn(&mut self, load: &Load<'_>) {
        let turn = TURN.max(TURN_PER_CONNECTION * load.connections as u32);
        let sample = client::ask(self.at, load, turn, || usage::of(self.process.id()));
        self.samples.push(sample);
    }

    fn print(&self) {
        let median = |of: fn(&Sample) -> f64| {
            let mut all: Vec<f64> = self.samples.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let requests: f64 = self.samples.iter().map(|sample| sample.requests).sum();
        eprintln!("{}: {requests} requests", self.name);
        println!(
            "| {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {:.3} |",
            self.name,
            median(|sample| sample.per_second),
            median(|sample| sample.p50),
            median(|sample| sample.p99),
            median(|sample| sample.slowest),
            median(|sample| sample.cpu),
            median(|sample| sample.switches),
        );
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server ends when its standard input is closed.
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}
