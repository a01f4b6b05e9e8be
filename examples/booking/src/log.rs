//! Log lines with the number of the request that they belong to.

use std::fmt;

use fiber_core::{Context, local_key};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

local_key! {
    /// The number of the request; 0 outside of requests.
    pub static REQUEST: u64 = 0;
}

/// `INFO request 7: Ann has seat 3 of event 1`.
pub struct WithRequest;

impl<S, N> FormatEvent<S, N> for WithRequest
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, cx: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        write!(to, "{} ", event.metadata().level())?;
        match Context::local(&REQUEST) {
            0 => {}
            request => write!(to, "request {request}: ")?,
        }
        cx.format_fields(to.by_ref(), event)?;
        writeln!(to)
    }
}

/// Writes the log to stderr.
pub fn start() {
    tracing_subscriber::fmt().event_format(WithRequest).with_writer(std::io::stderr).init();
}
