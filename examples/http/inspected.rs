//! `inspected ADDRESS [TROUBLE..]`: fibers that are in trouble on purpose, and an inspector's page that shows it.
//!
//! ```text
//! cargo run --release -p example-http --bin inspected -- 127.0.0.1:8000 requests deadlock stuck leak lost
//! ```
//!
//! | trouble | what |
//! |---|---|
//! | `requests` | none: fibers that come and go |
//! | `deadlock` | two transfers lock two accounts in different orders, and an audit waits for one of them |
//! | `stuck` | a closure blocks its worker for a minute, three times in five |
//! | `leak` | fibers that outlive their deadline, or their cancellation |
//! | `lost` | failures that no handle takes |
//! | `idle=10000` | so many fibers that wait |
//! | `hostile` | names that try to be markup |
//!
//! Fibers may be cancelled on the page.

mod adapter;

use std::convert::Infallible;
use std::future::ready;
use std::net::SocketAddr;
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::sync::Mutex;
use fiber_core::{Context, Error, Fiber, fiber};
use fiber_sched::{History, Inspector, Pool};
use hyper::server::conn::http1;
use hyper::service::service_fn;

use adapter::{Clock, Io};

const PATIENCE: Duration = Duration::from_secs(10);
const MOST_CONNECTIONS: usize = 100;

fn serve(listener: &TcpListener, inspector: Inspector) -> Fiber<()> {
    listener.serve(MOST_CONNECTIONS, move |stream, _| {
        connection(stream, inspector.clone()).named("connection").boxed()
    })
}

fn connection(stream: TcpStream, inspector: Inspector) -> Fiber<()> {
    Fiber::current()
        .bind(move |context: Context| {
            let service = service_fn(move |request| ready(Ok::<_, Infallible>(inspector.answer(&request))));
            let mut http = http1::Builder::new();
            http.timer(Clock::new(context.clone())).header_read_timeout(PATIENCE);
            Fiber::from_future(http.serve_connection(Io::new(&stream, context, PATIENCE), service))
        })
        .catch(|_: Error| Fiber::success(()))
        .boxed()
}

/// Each takes a while, by a timer and with a limit.
fn requests() -> Fiber<()> {
    fiber! {
        for number in 0_u64.. {
            let time = Duration::from_millis(200 + 37 * (number * number % 83));
            let stock = Fiber::delay(time).named("stock");
            let price = Fiber::delay(time / 2).named("price");
            let request = stock.zip(price).timeout(PATIENCE).named(format!("request {number}"));
            do! request.detach().map(drop);
            do! Fiber::delay(Duration::from_millis(40));
        }
    }
}

fn deadlock() -> Fiber<()> {
    let [north, south] = ["north", "south"].map(|name| Mutex::new(100_i64).named(name));
    let transfer = |from: &Mutex<i64>, to: &Mutex<i64>| {
        let to = to.clone();
        from.with(move |_| {
            let second = to.with(|_| Fiber::success(()));
            Fiber::delay(Duration::from_millis(10)).bind(move |()| second)
        })
        .boxed()
    };
    let there = transfer(&north, &south).named("north to south");
    let back = transfer(&south, &north).named("south to north");
    let audit = Fiber::delay(Duration::from_millis(50)).bind(move |()| north.with(|_| Fiber::success(())));
    there.zip(back).zip(audit.named("audit")).map(drop).boxed()
}

fn stuck() -> Fiber<()> {
    fiber! {
        for number in 0.. {
            // What no fiber should do: it blocks its worker, not a thread for blocking calls.
            let seconds = if number % 5 < 3 { 60 } else { 0 };
            do! Fiber::lazy(move || std::thread::sleep(Duration::from_secs(seconds)));
            do! Fiber::delay(Duration::from_secs(1));
        }
    }
}

fn leak() -> Fiber<()> {
    let late =
        Fiber::<()>::never().uncancelable().timeout(Duration::from_millis(10)).named("outlives its deadline");
    let cancelled = Fiber::<()>::never().ensure(Fiber::<()>::never()).named("never ends its finalizer");
    let cancelled = cancelled.fork().bind(|child| {
        Fiber::delay(Duration::from_millis(10)).bind(move |()| {
            child.cancel_now();
            Fiber::<()>::never()
        })
    });
    late.zip(cancelled).map(drop).boxed()
}

fn lost() -> Fiber<()> {
    Fiber::<()>::fail("order 7 is sold out").named("order 7").detach().map(drop).boxed()
}

fn idle(number: usize) -> Fiber<()> {
    let sleeper = |number| Fiber::delay(Duration::from_secs(3600)).named(format!("sleeper {number}"));
    Fiber::for_each(0..number, move |number| sleeper(number).fork().map(drop))
        .bind(|()| Fiber::never())
        .boxed()
}

fn hostile() -> Fiber<()> {
    let names = [
        "<img src=x onerror=\"document.title='broken'\">",
        "\"};alert(1)//",
        "</script><script>document.title='broken'</script>",
    ];
    Fiber::parallel(names.map(|name| Fiber::<()>::never().named(name))).map(drop).boxed()
}

fn trouble(name: &str) -> Fiber<()> {
    match name.split_once('=') {
        Some(("idle", number)) => idle(number.parse().expect("a number of fibers")),
        _ => match name {
            "requests" => requests(),
            "deadlock" => deadlock(),
            "stuck" => stuck(),
            "leak" => leak(),
            "lost" => lost(),
            "hostile" => hostile(),
            _ => panic!("no such trouble: {name}"),
        },
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let address: SocketAddr = address.parse().expect("an address, such as 127.0.0.1:8000");
    fiber_sched::dump_on_panic();
    let pool = Pool::builder().workers(3).name("demo").observer(History::new()).build();
    let troubles: Vec<_> = arguments.map(|name| pool.spawn(trouble(&name).named(name))).collect();
    let inspector = Inspector::new(pool.context()).allow_cancel();
    let server = TcpListener::bind(address).bind(move |listener| {
        if let Ok(at) = listener.local_addr() {
            println!("http://{at}/fibers");
        }
        serve(&listener, inspector)
    });
    let ended = pool.run(server.named("server"));
    drop(troubles);
    if let Some(error) = ended.failure() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
