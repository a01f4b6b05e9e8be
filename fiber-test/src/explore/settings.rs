//! The settings that all runs of an exploration share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::trace::Trace;

#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// Simulated workers, and the binds of a slice.
    pub(crate) cpus: Option<(usize, u32)>,
    pub(crate) may_leak: bool,
    pub(crate) may_hold: bool,
    pub(crate) may_be_unobserved: bool,
    pub(crate) turns_per_instant: Option<usize>,
    /// How late a runnable fiber may be.
    pub(crate) lateness: Option<Duration>,
    /// Random numbers are below this, and each is a choice.
    pub(crate) draws: Option<u32>,
    pub(crate) inspect: Option<Inspect>,
    /// Whether pairs of steps are compared, for which all runs are recorded.
    pub(crate) has_pairs: bool,
}

/// Inspects the trace of every run, and panics to reject it.
pub(crate) type Inspect = Arc<dyn Fn(&Trace) + Send + Sync>;

/// The method calls that set them, as source code, except for `inspect`, which takes a closure.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((workers, budget)) = self.cpus {
            write!(f, ".as_production({budget}).virtual_cpus({workers})")?;
        }
        if let Some(most) = self.turns_per_instant {
            write!(f, ".turns_per_instant({most})")?;
        }
        if let Some(bound) = self.lateness {
            write!(f, ".lateness({})", code(bound))?;
        }
        if let Some(most) = self.draws {
            write!(f, ".draws({most})")?;
        }
        if self.may_leak {
            f.write_str(".may_leak()")?;
        }
        if self.may_hold {
            f.write_str(".may_hold()")?;
        }
        if self.may_be_unobserved {
            f.write_str(".may_be_unobserved()")?;
        }
        Ok(())
    }
}

/// The expression that makes a duration.
fn code(duration: Duration) -> String {
    match duration.as_nanos() {
        nanos if nanos % 1_000_000_000 == 0 => format!("Duration::from_secs({})", nanos / 1_000_000_000),
        nanos if nanos % 1_000_000 == 0 => format!("Duration::from_millis({})", nanos / 1_000_000),
        nanos if nanos <= u128::from(u64::MAX) => format!("Duration::from_nanos({nanos})"),
        _ => format!("Duration::new({}, {})", duration.as_secs(), duration.subsec_nanos()),
    }
}
