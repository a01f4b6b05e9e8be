//! Items and bytes that a failing program may have lost: who took them, and where they were dropped.
//!
//! An item is a value of the program, whose drop nobody sees. What is seen is that a fiber took it and was then cancelled, or lost its race,
//! before it waited for the next one; and what a primitive drops itself.

use std::collections::BTreeMap;
use std::fmt;

use fiber_core::scheduler::WaitsFor;

use crate::primitive::{Site, Wanted, place};
use crate::trace::{Cause, Effect, Trace};
use crate::words::counted;

/// The lines of a report, or nothing.
pub(crate) struct Lost<'a>(pub(crate) &'a Trace);

/// The number of lines; the rest is only counted.
const MOST: usize = 20;

/// What is known of a fiber at some turn.
#[derive(Default)]
struct Fiber<'a> {
    /// What it took last, unless it has waited for more since.
    took: Option<Taken>,
    waits: Option<(WaitsFor, Option<Site>, Option<&'a Wanted>)>,
}

struct Taken {
    turn: usize,
    primitive: usize,
    count: usize,
    unit: &'static str,
    site: Option<Site>,
}

impl fmt::Display for Lost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        if lines.is_empty() {
            return Ok(());
        }
        f.write_str("\n\nthese may be lost:")?;
        lines.iter().take(MOST).try_for_each(|line| write!(f, "\n  {line}"))?;
        match lines.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

impl Lost<'_> {
    fn lines(&self) -> Vec<String> {
        let mut fibers: BTreeMap<usize, Fiber<'_>> = BTreeMap::new();
        let mut lines = Vec::new();
        for (number, turn) in self.0.turns.iter().enumerate() {
            match turn.lane {
                Some(lane) if turn.cause == Cause::Cancel => {
                    lines.extend(self.cancelled(&mut fibers, lane, number));
                }
                // A time limit that is over does not end the wait by itself.
                Some(lane) if turn.cause != Cause::TimeOut => fibers.entry(lane).or_default().waits = None,
                _ => {}
            }
            for effect in &turn.effects {
                let own = turn.lane.map(|lane| fibers.entry(lane).or_default());
                match (effect, own) {
                    (Effect::Take { primitive, count, unit, site }, Some(own)) => {
                        let before = own
                            .took
                            .take()
                            .filter(|took| (took.turn, took.primitive) == (number, *primitive));
                        let count = count + before.map_or(0, |took| took.count);
                        let site = site.or(turn.site);
                        own.took = Some(Taken { turn: number, primitive: *primitive, count, unit, site });
                    }
                    (Effect::Wait { what, site, at, .. }, Some(own)) => {
                        own.waits = Some((*what, *site, at.as_deref()));
                        let takes_more = matches!(what, WaitsFor::Item | WaitsFor::Data);
                        let is_same =
                            |took: &Taken| at.as_ref().is_some_and(|at| at.primitive == took.primitive);
                        own.took = own.took.take().filter(|took| !(takes_more && is_same(took)));
                    }
                    (Effect::Lose { primitive, count, unit, why }, _) => {
                        let what = self.some(*primitive, *count, unit);
                        let whom =
                            turn.lane.map_or_else(String::new, |lane| format!(" by {}", self.0.lanes[lane]));
                        lines.push(format!("{what}: dropped in turn {number}{whom}, {why}"));
                    }
                    (Effect::Discard(lane), _) => {
                        let took = fibers.get_mut(lane).and_then(|fiber| fiber.took.take());
                        let dropped =
                            format!("its value was dropped in turn {number}, because it had lost the race");
                        lines.extend(took.map(|took| self.line(*lane, &took, &dropped)));
                    }
                    (Effect::Cancel(lane), _) => lines.extend(self.cancelled(&mut fibers, *lane, number)),
                    (Effect::End(lane, outcome), _) if outcome == "cancelled" => {
                        lines.extend(self.cancelled(&mut fibers, *lane, number));
                    }
                    _ => {}
                }
            }
        }
        lines
    }

    /// A fiber is cancelled, with what it has taken or wants to send.
    fn cancelled(
        &self,
        fibers: &mut BTreeMap<usize, Fiber<'_>>,
        lane: usize,
        number: usize,
    ) -> Option<String> {
        let fiber = fibers.get_mut(&lane)?;
        let waits = fiber.waits.take();
        let at = |site: Option<Site>| site.map_or_else(String::new, |site| format!(" at {}", place(site)));
        if let Some(took) = fiber.took.take() {
            let mut was = format!("it was cancelled in turn {number}");
            if let Some((what, site, wanted)) = waits {
                was += &format!(", while it waited for {}{}", self.0.awaited(what, None, wanted), at(site));
            }
            return Some(self.line(lane, &took, &was));
        }
        let (WaitsFor::Room, site, Some(Wanted { primitive, .. })) = waits? else { return None };
        let (name, fiber) = (self.0.name(*primitive), &self.0.lanes[lane]);
        Some(format!(
            "what {fiber} wanted to send to {name}{}: it was cancelled in turn {number}, before there was room",
            at(site)
        ))
    }

    /// What a fiber took, and what became of the fiber.
    fn line(&self, lane: usize, took: &Taken, fate: &str) -> String {
        let Taken { turn, primitive, count, unit, site } = took;
        let what = self.some(*primitive, *count, unit);
        let at = site.map_or_else(String::new, |site| format!(" at {}", place(site)));
        format!(
            "{what}: {} took {} in turn {turn}{at}; {fate}",
            self.0.lanes[lane],
            if *count == 1 { "it" } else { "them" }
        )
    }

    fn some(&self, primitive: usize, count: usize, unit: &str) -> String {
        format!("{} of {}", counted(count, unit), self.0.name(primitive))
    }
}
