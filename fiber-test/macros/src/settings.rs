//! The arguments of `explore`, and their legal combinations. Each is a method of `Explore`.

use syn::Result;

use crate::arguments::{Argument, Known, Takes};

pub(crate) const KNOWN: [Known; 27] = [
    mode("exhaustive"),
    mode("cancel_everywhere"),
    value("replay", "\"1:1 4:1\""),
    value("recorded", "&recording"),
    flag("program_only"),
    value("preemptions", "2"),
    flag("reduced"),
    value("seed", "7"),
    count("schedules", "500"),
    value("within", "Duration::from_secs(5)"),
    count("threads", "2"),
    value("only", "Search::Pct"),
    count("as_production", "1024"),
    count("virtual_cpus", "2"),
    flag("may_leak"),
    flag("may_hold"),
    flag("may_be_unobserved"),
    count("turns_per_instant", "1_000"),
    value("lateness", "Duration::from_millis(5)"),
    flag("mishaps"),
    value("faults", "Faults::new().crashes(1)"),
    count("draws", "6"),
    value("inspect", "|trace| trace.assert_order(&[\"first\", \"second\"])"),
    flag("pairs"),
    flag("no_regressions"),
    value("regressions", "\"tests/here.fiber-regressions\""),
    value("pictures", "\"target/pictures\""),
];

const fn mode(name: &'static str) -> Known {
    flag(name)
}

const fn flag(name: &'static str) -> Known {
    Known { name, takes: Takes::Nothing, example: "" }
}

const fn value(name: &'static str, example: &'static str) -> Known {
    Known { name, takes: Takes::Value, example }
}

const fn count(name: &'static str, example: &'static str) -> Known {
    Known { name, takes: Takes::Count, example }
}

/// The kind of exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Portfolio,
    Exhaustive,
    CancelEverywhere,
    Replay,
    Recorded,
}

impl Mode {
    /// The names of the modes in the input.
    const NAMED: [(&'static str, Mode); 4] = [
        ("exhaustive", Mode::Exhaustive),
        ("cancel_everywhere", Mode::CancelEverywhere),
        ("replay", Mode::Replay),
        ("recorded", Mode::Recorded),
    ];

    pub(crate) fn named(name: &str) -> Option<Mode> {
        Mode::NAMED.iter().find(|(one, _)| *one == name).map(|(_, mode)| *mode)
    }

    /// # Errors
    /// If there are several modes.
    pub(crate) fn of(arguments: &[Argument]) -> Result<Mode> {
        let mut modes = arguments.iter().filter(|one| Mode::named(&one.name.to_string()).is_some());
        let Some(first) = modes.next() else { return Ok(Mode::Portfolio) };
        match modes.next() {
            None => Ok(Mode::named(&first.name.to_string()).expect("one of them")),
            Some(second) => Err(second.error(format!(
                "`{}` and `{}` are two explorations: write a test for each",
                first.name, second.name
            ))),
        }
    }

    /// The reason why an argument cannot be used in this mode.
    pub(crate) fn refuses(self, argument: &str) -> Option<&'static str> {
        let is_drawn = matches!(self, Mode::Portfolio | Mode::CancelEverywhere);
        match argument {
            "preemptions" if self != Mode::Exhaustive => Some(
                "preemptions are bounded in an exhaustive exploration: `explore(exhaustive, preemptions = ..)`",
            ),
            "program_only" if self != Mode::CancelEverywhere => {
                Some("nothing is cancelled here: `explore(cancel_everywhere, program_only)`")
            }
            "reduced" if self != Mode::Exhaustive => {
                Some("an exhaustive exploration is reduced: `explore(exhaustive, reduced)`")
            }
            "mishaps" if self != Mode::Portfolio => {
                Some("mishaps are drawn with the portfolio: `explore(mishaps)` without another mode")
            }
            "faults" if !matches!(self, Mode::Portfolio | Mode::Exhaustive) => Some(
                "faults belong to the portfolio and to exhaustive explorations: `explore(faults = ..)` or `explore(exhaustive, faults = ..)`",
            ),
            "only" if !is_drawn => {
                Some("a strategy is chosen from the portfolio: `explore(only = ..)` without another mode")
            }
            "seed" if self == Mode::Replay => {
                Some("a schedule has a seed of its own: `explore(replay = \"r7 1:1\")`")
            }
            "schedules" | "within" | "threads" if matches!(self, Mode::Replay | Mode::Recorded) => {
                Some("what is given is run once: leave this out")
            }
            _ => None,
        }
    }
}
