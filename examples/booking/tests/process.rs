//! The program as a process: killed, and asked to end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

struct Program {
    child: Child,
    port: u16,
}

impl Program {
    fn start(database: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut child = Command::new(env!("CARGO_BIN_EXE_booking"))
            .env("PORT", port.to_string())
            .env("DATABASE", database)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        assert!(line.contains("serving at"), "{line}");
        // Otherwise the pipe would fill up.
        std::thread::spawn(move || log.lines().for_each(drop));
        Program { child, port }
    }

    /// The status line and the body of an answer; `None` if there is none.
    fn send(&self, head: &str, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let request = format!(
            "{head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        (!answer.is_empty()).then_some(answer)
    }

    fn book(&self, seat: u32, client: &str) -> Option<String> {
        self.send("POST /bookings", &format!(r#"{{"event":1,"seat":{seat},"client":"{client}"}}"#))
    }

    fn bookings(&self) -> String {
        self.send("GET /events/1/bookings", "").unwrap()
    }

    fn end(mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the program does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn database(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("bookings.db")
}

#[test]
fn a_kill_loses_no_booking_that_was_answered_and_doubles_none() {
    let database = database("killed");
    let program = Program::start(&database);
    let booked: Vec<u32> = std::thread::scope(|scope| {
        let program = &program;
        let clients: Vec<_> = (0..4)
            .map(|client| {
                // The seat, if the client has got it. No answer: the program is gone.
                let book = move |seat: u32| {
                    let answer = program.book(seat, &format!("client{client}"))?;
                    Some(answer.starts_with("HTTP/1.1 201").then_some(seat))
                };
                scope.spawn(move || (0..10_000).map_while(book).flatten().collect::<Vec<_>>())
            })
            .collect();
        while !program.bookings().contains("\"seat\":20,") {
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = program.child.id().to_string();
        assert!(Command::new("kill").args(["-KILL", &id]).status().unwrap().success());
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    drop(program);
    let again = Program::start(&database);
    let bookings = again.bookings();
    assert!(!booked.is_empty());
    for seat in &booked {
        assert_eq!(bookings.matches(&format!("\"seat\":{seat},")).count(), 1, "seat {seat}");
    }
    let mut unique = booked.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), booked.len(), "two clients were told that they have the same seat");
    assert_eq!(again.end("TERM"), Some(0));
}

#[test]
fn a_request_to_end_ends_the_program_in_order() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(&database(signal));
        assert!(program.book(1, "Ann").unwrap().starts_with("HTTP/1.1 201"));
        assert_eq!(program.end(signal), Some(0));
    }
}
