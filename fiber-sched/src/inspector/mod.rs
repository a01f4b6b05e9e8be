//! A page that shows the live fibers: [`Inspector`].
//!
//! ```text
//! answer     a request                                          mod
//! ├ report   a sample as JSON                                   report, json
//! │ ├ waits  circles of fibers that wait for each other         waits
//! │ └ sample the dump, and what is known beside it              sample
//! │   ├ what the scheduler tells                                source
//! │   └ what an observer has noted                              history, lane
//! └ page     what draws it in a browser                         page.html, page.css, page.js
//! ```

mod history;
mod json;
mod lane;
mod report;
mod sample;
mod source;
mod waits;

use std::fmt;
use std::iter::successors;
use std::sync::Arc;
use std::time::Instant;

use fiber_core::Context;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use parking_lot::Mutex;

pub use self::history::History;
use self::report::Report;
use self::sample::Memory;

const HTML: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// So many fibers and parts are written, unless the request asks for another number.
const MOST_ROWS: usize = 20_000;

/// The header that a request to cancel has to have. A page of another site cannot send it.
const CANCEL_HEADER: &str = "x-fiber-inspector";

/// The page loads nothing from elsewhere, and runs no code but its own.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// A page for a browser that shows the live fibers of a scheduler: the tree, what each fiber waits for and for how long, who holds what it
/// waits for, circles of fibers that wait for each other, workers, queues, and fibers that should have ended. Needs the feature
/// `inspector`.
///
/// It is a function from a request to a response, so it mounts in any server with one line. All its addresses are one path with different
/// queries, whatever the path is:
///
/// | request | answer |
/// |---|---|
/// | `GET /fibers` | the page |
/// | `GET /fibers?json` | what the page shows, as JSON; `?json&most=100` for other than the first 20,000 fibers |
/// | `GET /fibers?text` | the [dump](Context::dump) |
/// | `POST /fibers?cancel=0.1.2` | cancels a fiber, if that is [allowed](Inspector::allow_cancel) |
///
/// The id of a fiber more than 128 levels below the first is shortened to `..N`, which other fibers may have, too. The page does not cancel such
/// a fiber. The whole id, which the request needs, is that of the row `above`, a point, and `N`.
///
/// Whoever can open the page sees names and places of the program, so it belongs behind the same door as other pages for
/// operators. An address that only this machine can reach is not such a door: a page of another site gets through it if the name
/// of that site is resolved to the address (DNS rebinding). A server without another door has to check the header `Host`.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{History, Inspector, Pool};
///
/// // The history is optional: see below.
/// let pool = Pool::builder().observer(History::new()).build();
/// let inspector = Inspector::new(pool.context());
/// // axum:  Router::new().route("/fibers", any(move |request: Request| async move { inspector.answer(&request) }))
/// // hyper: service_fn(move |request| ready(Ok::<_, Infallible>(inspector.answer(&request))))
///
/// let reader = pool.context().spawn_here(Fiber::<()>::never().named("reader"));
/// let page = inspector.answer(&http::Request::get("/fibers").body(()).unwrap());
/// assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
/// let json = inspector.answer(&http::Request::get("/fibers?json").body(()).unwrap());
/// assert!(json.body().contains(r#""name":"reader""#));
/// # drop(reader);
/// ```
///
/// # With and without a history
/// Without a [`History`], a running program pays nothing: all is read when the page asks for it. The page then cannot know when a wait has
/// begun (it says "at least", since it has seen the fiber first), who holds a lock, or what a thread did.
///
/// # Cost
/// The page asks again two seconds after an answer, or after a hundred times as long as the answer has taken, if that is longer. So each open
/// page costs about one percent of a core at most, whatever the number of fibers is.
#[derive(Clone)]
pub struct Inspector {
    context: Context,
    memory: Arc<Mutex<Memory>>,
    may_cancel: bool,
}

impl Inspector {
    /// Inspects the fibers below a context, such as `pool.context()`, the context of a `TokioScheduler`, or any
    /// other [root](Context::root) or fiber.
    pub fn new(context: &Context) -> Self {
        Inspector { context: context.clone(), memory: Arc::default(), may_cancel: false }
    }

    /// Lets the page cancel fibers, with a button for each. Such a request needs the method `POST` and the header
    /// `x-fiber-inspector`, so no page of another site can make it, unless the server answers to any `Host`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Inspector, Pool, block_on};
    ///
    /// let pool = Pool::new();
    /// let inspector = Inspector::new(pool.context()).allow_cancel();
    /// let reader = pool.spawn(Fiber::<()>::never());
    /// let cancel = http::Request::post("/fibers?cancel=0").header("x-fiber-inspector", "cancel").body(()).unwrap();
    /// assert_eq!(inspector.answer(&cancel).status(), http::StatusCode::ACCEPTED);
    /// assert!(block_on(reader).is_cancelled());
    /// ```
    pub fn allow_cancel(self) -> Self {
        Inspector { may_cancel: true, ..self }
    }

    /// Answers a request. It reads the method, the query and the headers, and neither the path nor the body.
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// let inspector = fiber_sched::Inspector::new(pool.context());
    /// let dump = inspector.answer(&http::Request::get("/anywhere?text").body(()).unwrap());
    /// assert!(dump.body().starts_with("0 fibers at "));
    /// ```
    ///
    /// # Blocking
    /// For as long as the answer takes to be made, about two microseconds for each fiber. With tens of thousands of them, make it on a thread for
    /// blocking calls.
    pub fn answer<B>(&self, request: &Request<B>) -> Response<String> {
        let query = request.uri().query().unwrap_or_default();
        let (what, rest) = query.split_once('&').unwrap_or((query, ""));
        if let Some(id) = what.strip_prefix("cancel=") {
            let is_own = request.headers().contains_key(CANCEL_HEADER);
            return self.cancel(id, request.method() == Method::POST, is_own);
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
        }
        match what {
            "" => response("text/html", HTML.to_owned()),
            "style" => response("text/css", STYLE.to_owned()),
            "script" => response("text/javascript", SCRIPT.to_owned()),
            "text" => response("text/plain", format!("{}\n", self.context.dump())),
            "json" => match most(rest) {
                Some(most) => response("application/json", self.json(most)),
                None => plain(StatusCode::BAD_REQUEST, "a number is needed: ?json&most=100\n"),
            },
            _ => plain(StatusCode::NOT_FOUND, "no such page; try ?json or ?text\n"),
        }
    }

    fn json(&self, most: usize) -> String {
        // The time of the machine: what the answer costs, also if the scheduler's own time stands still.
        let began = Instant::now();
        let Inspector { context, memory, may_cancel } = self;
        let scheduler = &**context.scheduler();
        let (dump, history) = (context.dump(), source::history(scheduler));
        let threads = history.map(|history| history.threads(dump.at()));
        let mut memory = memory.lock();
        memory.update(&dump);
        let (rows, primitives) =
            sample::rows(&dump, history, &memory, threads.as_deref().unwrap_or_default());
        let circles = waits::circles(&rows, &primitives);
        let root = successors(Some(context.clone()), Context::above).last();
        let fibers = root.map_or(0, |root| root.live_children());
        let report = Report {
            dump: &dump,
            rows: &rows,
            primitives: &primitives,
            circles: &circles,
            metrics: source::metrics(scheduler, fibers),
            threads,
            failures: history.map_or_else(Vec::new, History::failures),
            may_cancel: *may_cancel,
        };
        report.json(most, || began.elapsed())
    }

    fn cancel(&self, id: &str, is_post: bool, is_own: bool) -> Response<String> {
        if !self.may_cancel {
            return plain(StatusCode::FORBIDDEN, "this inspector does not cancel\n");
        }
        if !is_post {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "only POST\n");
        }
        if !is_own {
            return plain(StatusCode::FORBIDDEN, "the header x-fiber-inspector is missing\n");
        }
        match find(&self.context, id) {
            Some(fiber) => {
                fiber.cancel();
                plain(StatusCode::ACCEPTED, "it is cancelled, and will end after its finalizers\n")
            }
            None => plain(StatusCode::NOT_FOUND, "no such fiber lives\n"),
        }
    }
}

/// The number of rows that a query asks for.
fn most(rest: &str) -> Option<usize> {
    if rest.is_empty() { Some(MOST_ROWS) } else { rest.strip_prefix("most=")?.parse().ok() }
}

/// The live fiber with this id, at or below `context`. A root is no fiber.
fn find(context: &Context, id: &str) -> Option<Context> {
    let is_root = context.above().is_none();
    if !is_root && id == context.id() {
        return Some(context.clone());
    }
    let below = if is_root { id } else { id.strip_prefix(&format!("{}.", context.id()))? };
    below.split('.').try_fold(context.clone(), |above, part| {
        let index: u32 = part.parse().ok()?;
        above.children().into_iter().find(|child| child.index() == index)
    })
}

fn response(kind: &'static str, body: String) -> Response<String> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let kind = HeaderValue::try_from(format!("{kind}; charset=utf-8"));
    headers.extend(kind.ok().map(|kind| (header::CONTENT_TYPE, kind)));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    let mut response = response("text/plain", text.to_owned());
    *response.status_mut() = status;
    response
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspector").field("may_cancel", &self.may_cancel).finish_non_exhaustive()
    }
}
