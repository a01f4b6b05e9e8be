//! `load ADDRESS PID REQUESTS CONNECTIONS [PATHS]`: orders REQUESTS seats from a service on this machine, over CONNECTIONS connections,
//! and prints throughput, latencies, and the CPU time and context switches of the service per request. With PATHS, it asks a proxy for
//! that many paths in turn.

use std::env;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, pid, requests, connections, paths @ ..] = &arguments[..] else {
        return Err("load ADDRESS PID REQUESTS CONNECTIONS [PATHS]".into());
    };
    let (requests, connections): (u32, u32) = (requests.parse()?, connections.parse()?);
    let paths: Option<u32> = paths.first().map(|paths| paths.parse()).transpose()?;
    let before = Spent::by(pid)?;
    let (start, next) = (Instant::now(), Arc::new(AtomicU32::new(0)));
    let clients: Vec<_> = (0..connections)
        .map(|_| tokio::spawn(client(address.clone(), paths, next.clone(), requests)))
        .collect();
    let mut latencies = Vec::new();
    for client in clients {
        latencies.extend(client.await??);
    }
    let (took, after) = (start.elapsed(), Spent::by(pid)?);
    latencies.sort_unstable();
    let per_request = |number: f64| number / f64::from(requests);
    let millis =
        |per_mille: usize| latencies[(latencies.len() - 1) * per_mille / 1000].as_secs_f64() * 1000.0;
    println!(
        "{:.0} requests/s, p50 {:.3} ms, p99 {:.3} ms, {:.1} us CPU and {:.2} context switches per request",
        f64::from(requests) / took.as_secs_f64(),
        millis(500),
        millis(990),
        per_request((after.ticks - before.ticks) as f64 * MICROS_PER_TICK),
        per_request((after.switches - before.switches) as f64),
    );
    Ok(())
}

/// Sends one request after the other. Every run uses other events, so no seat is taken, and no price is known.
async fn client(
    address: String,
    paths: Option<u32>,
    next: Arc<AtomicU32>,
    requests: u32,
) -> Result<Vec<Duration>, Failure> {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let run = std::process::id() % 50_000 * 10_000;
    let mut latencies = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= requests {
            return Ok(latencies);
        }
        let number = number % paths.unwrap_or(requests);
        let (event, seat) = (run + number / 10_000, number % 10_000);
        let request = if paths.is_some() {
            Request::get(format!("http://{address}/price/{event}/{seat}")).body(Full::default())?
        } else {
            let body = format!(r#"{{"event":{event},"seat":{seat},"client":"Ann"}}"#);
            let request = Request::post(format!("http://{address}/bookings"));
            request.header("content-type", "application/json").body(Full::from(body))?
        };
        let start = Instant::now();
        let response = client.request(request).await?;
        let status = response.status();
        response.into_body().collect().await?;
        latencies.push(start.elapsed());
        if !status.is_success() {
            return Err(format!("seat {seat} of event {event}: {status}").into());
        }
    }
}

/// Linux counts the time of processes in hundredths of a second.
const MICROS_PER_TICK: f64 = 10_000.0;

/// The resources that a process has used.
struct Spent {
    ticks: u64,
    switches: u64,
}

impl Spent {
    fn by(pid: &str) -> Result<Self, Failure> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name of the program, in parentheses, may contain anything.
        let (_, numbers) = stat.rsplit_once(')').ok_or("no such process")?;
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        let ticks = numbers[11].parse::<u64>()? + numbers[12].parse::<u64>()?;
        let mut switches = 0;
        for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
            let status = fs::read_to_string(thread?.path().join("status"))?;
            let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
            for count in counts.filter_map(|line| line.split_whitespace().last()) {
                switches += count.parse::<u64>()?;
            }
        }
        Ok(Spent { ticks, switches })
    }
}
