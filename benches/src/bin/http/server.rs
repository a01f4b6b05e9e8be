//! The servers. Each prints its address. All of them answer by the same function.

use std::convert::Infallible;
use std::time::Duration;

use benches::serving::{ANYWHERE, serve_on_tokio, tell};
use fiber_core::net::TcpListener;
use fiber_core::{Context, Fiber};
use fiber_sched::Pool;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::adapter::Io;

pub(crate) const ALL: [&str; 5] = ["tokio-1", "tokio-2", "fiber-1", "fiber-2", "fiber-2-polls-2"];

const MOST: usize = 1 << 20;

/// How long a client may take nothing of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn serve(name: &str) {
    match name {
        "tokio-1" => on_tokio(1),
        "tokio-2" => on_tokio(2),
        "fiber-1" => on_pool(Pool::builder().workers(1).build()),
        "fiber-2" => on_pool(Pool::builder().workers(2).build()),
        "fiber-2-polls-2" => on_pool(Pool::builder().workers(2).polls(2).build()),
        other => panic!("there is no server {other}"),
    }
}

async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut answer = Response::new(Full::new(Bytes::from_static(b"hello, world\n")));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(answer)
}

fn on_pool(pool: Pool) {
    let serve = |listener: TcpListener| {
        tell(listener.local_addr());
        listener.serve(MOST, |stream, _| {
            _ = stream.set_nodelay(true);
            Fiber::current()
                .bind(move |context: Context| {
                    let stream = Io::new(&stream, context, PATIENCE);
                    Fiber::from_future(http1::Builder::new().serve_connection(stream, service_fn(answer)))
                })
                .catch(|_| Fiber::success(()))
                .boxed()
        })
    };
    drop(pool.spawn(TcpListener::bind(ANYWHERE).bind(serve)));
    std::mem::forget(pool);
}

fn on_tokio(workers: usize) {
    serve_on_tokio(workers, |stream| {
        http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer))
    });
}
