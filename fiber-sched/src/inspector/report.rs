//! A sample as JSON. The fields are documented in the guide.

use std::collections::HashMap;
use std::panic::Location;
use std::time::Duration;

use fiber_core::{Dump, DumpedState, Instant};

use super::history::Lost;
use super::json::{Object, document};
use super::lane::{SLOT, Seen};
use super::sample::{Holder, Lasts, Primitive, Row};
use super::waits::{Circles, Link, Why};
use crate::metrics::{KINDS, Metrics, WorkerMetrics};

/// All that one answer shows.
pub(super) struct Report<'a> {
    pub(super) dump: &'a Dump,
    pub(super) rows: &'a [Row<'a>],
    pub(super) primitives: &'a [Primitive],
    pub(super) circles: &'a Circles,
    pub(super) metrics: Option<Metrics>,
    /// `None`: there is no history.
    pub(super) threads: Option<Vec<Seen>>,
    pub(super) failures: Vec<Lost>,
    pub(super) may_cancel: bool,
}

/// The places of the program that the answer mentions, each once.
#[derive(Default)]
struct Sites {
    numbers: HashMap<&'static Location<'static>, usize>,
    texts: Vec<String>,
}

impl Sites {
    fn number(&mut self, site: &'static Location<'static>) -> usize {
        *self.numbers.entry(site).or_insert_with(|| {
            self.texts.push(place(site));
            self.texts.len() - 1
        })
    }
}

fn place(site: &Location<'_>) -> String {
    format!("{}:{}", site.file(), site.line())
}

impl Report<'_> {
    /// `most`: so many rows are written, at most. `cost` gives the time that the whole answer has taken so far.
    pub(super) fn json(&self, most: usize, cost: impl FnOnce() -> Duration) -> String {
        let mut sites = Sites::default();
        let of_circle = self.of_circle();
        document(|json| {
            json.seconds("at", self.now() - Instant::EPOCH);
            json.plain("fibers", self.dump.len());
            json.plain("may_cancel", self.may_cancel);
            json.plain("has_history", self.threads.is_some());
            json.plain("left_out", self.rows.len().saturating_sub(most));
            json.objects("rows", self.rows.iter().take(most).enumerate(), |json, (at, row)| {
                self.row(json, row, &mut sites);
                if let Some(circle) = of_circle.get(&at) {
                    json.plain("circle", circle);
                }
                json.flag("behind_circle", self.circles.behind.contains(&at));
            });
            json.objects("primitives", self.primitives, |json, one| primitive(json, one, &mut sites));
            json.objects("circles", &self.circles.all, |json, links| self.circle(json, links));
            if let Some(metrics) = &self.metrics {
                json.object("metrics", |json| numbers(json, metrics));
            }
            if let Some(threads) = &self.threads {
                json.seconds("slot", SLOT);
                json.objects("threads", threads, |json, thread| self.thread(json, thread));
                json.objects("lost_failures", &self.failures, |json, lost| {
                    json.seconds("ago", self.now() - lost.at);
                    json.text("text", &lost.text);
                });
            }
            json.texts("sites", sites.texts.iter().map(String::as_str));
            json.seconds("cost", cost());
        })
    }

    fn now(&self) -> Instant {
        self.dump.at()
    }

    /// The numbers of the circles by their rows.
    fn of_circle(&self) -> HashMap<usize, usize> {
        let circles = self.circles.all.iter().enumerate();
        circles.flat_map(|(number, links)| links.iter().map(move |link| (link.from, number))).collect()
    }

    fn row(&self, json: &mut Object<'_>, row: &Row<'_>, sites: &mut Sites) {
        let fiber = &row.fiber;
        json.text("id", &row.id);
        if let Some(above) = fiber.above() {
            json.plain("above", above.position());
        }
        if let Some(name) = fiber.name() {
            json.text("name", name);
        }
        json.flag("part", fiber.is_structure());
        json.plain("site", sites.number(fiber.fork_site()));
        self.state(json, row);
        if let Some(wait) = row.wait() {
            json.plain("where", sites.number(wait.site));
        }
        if let Some(primitive) = row.primitive {
            json.plain("at", primitive);
            json.plain("asks", row.asks());
        }
        if let Some(socket) = fiber.socket() {
            json.text("socket", socket);
        }
        json.plain("waits", fiber.waits());
        lasts(json, "lasts", "at_least", row.lasts);
        lasts(json, "cancelled", "cancelled_at_least", row.cancelled);
        json.flag("uncancelable", fiber.is_uncancelable());
        if let Some(deadline) = row.own_deadline() {
            match deadline > self.now() {
                true => json.seconds("deadline", deadline - self.now()),
                false => json.seconds("overdue", self.now() - deadline),
            }
        }
        if let Some(life) = &row.life {
            json.seconds("lives", self.now() - life.since);
        }
        if let Some(stuck) = row.stuck {
            json.seconds("stuck", stuck);
        }
        if let Some(why) = row.leaked(self.now()) {
            json.text("leaked", why);
        }
    }

    fn state(&self, json: &mut Object<'_>, row: &Row<'_>) {
        match row.fiber.state() {
            DumpedState::NotStarted => json.text("state", "new"),
            DumpedState::Runnable => json.text("state", "runs"),
            DumpedState::InPart(part) => {
                json.text("state", "in");
                json.plain("in", part.position());
            }
            DumpedState::Waiting { what, on } => {
                json.text("state", "waits");
                json.text("for", &what.to_string());
                if let Some(on) = on {
                    json.plain("on", on.position());
                }
            }
            // For states that are yet to come.
            state => json.text("state", &state.to_string()),
        }
    }

    fn circle(&self, json: &mut Object<'_>, links: &[Link]) {
        let deadlines = links.iter().filter_map(|link| self.rows[link.from].fiber.deadline());
        if let Some(deadline) = deadlines.min() {
            json.seconds("ends_in", deadline - self.now());
        }
        json.objects("links", links, |json, link| {
            json.plain("row", link.from);
            json.text("id", &self.rows[link.from].id);
            json.text("why", &self.why(link));
        });
    }

    fn why(&self, link: &Link) -> String {
        match (link.why, self.rows[link.from].primitive) {
            (Why::Holds, Some(primitive)) => format!("{}, held by", self.primitives[primitive].subject),
            (Why::Holds, None) => "a lock, held by".to_owned(),
            (Why::End, _) => "the end of".to_owned(),
            (Why::Branch, _) => "its branch".to_owned(),
            (Why::Part, _) => "its part".to_owned(),
        }
    }

    fn thread(&self, json: &mut Object<'_>, thread: &Seen) {
        json.text("name", &thread.name);
        json.plain("turns", thread.turns);
        json.numbers("busy", &thread.busy);
        if let Some(turn) = &thread.turn {
            json.object("turn", |json| {
                json.text("fiber", &super::lane::label(&turn.fiber));
                json.seconds("lasts", self.now() - turn.since);
                json.flag("blocking", turn.is_blocking_call);
            });
        }
        json.objects("long_turns", &thread.long, |json, turn| {
            json.text("fiber", &turn.fiber);
            json.seconds("began_ago", self.now() - turn.since);
            json.seconds("lasted", turn.end - turn.since);
        });
    }
}

fn lasts(json: &mut Object<'_>, name: &str, at_least: &str, lasts: Option<Lasts>) {
    if let Some(lasts) = lasts {
        json.seconds(name, lasts.time);
        json.flag(at_least, lasts.is_at_least);
    }
}

fn primitive(json: &mut Object<'_>, primitive: &Primitive, sites: &mut Sites) {
    let Primitive { subject, holders } = primitive;
    json.text("name", &subject.to_string());
    json.plain("site", sites.number(subject.site()));
    if subject.is_counted() {
        json.plain("permits", subject.total());
    }
    json.objects("holders", holders, |json, Holder { row, label, permits, holding }| {
        match row {
            Some(row) => json.plain("row", row),
            None => json.flag("has_ended", true),
        }
        json.text("fiber", label);
        json.plain("permits", permits);
        json.plain("site", sites.number(holding.site));
    });
}

fn numbers(json: &mut Object<'_>, metrics: &Metrics) {
    json.plain("may_run", metrics.may_run);
    json.plain("injected", metrics.injected);
    json.plain("timers", metrics.timers);
    json.plain("blocking_threads", metrics.blocking_threads);
    json.plain("blocking_queue", metrics.blocking_queue);
    json.objects("workers", &metrics.workers, worker);
    json.objects("hosts", metrics.hosts.iter().filter(|host| host.turns() > 0), worker);
}

fn worker(json: &mut Object<'_>, worker: &WorkerMetrics) {
    json.plain("turns", worker.turns());
    json.object("by_kind", |json| {
        KINDS.iter().for_each(|kind| json.plain(&kind.to_string(), worker.tasks(*kind)));
    });
    json.plain("queued", worker.queued);
    json.plain("steals", worker.steals);
    json.plain("stolen_branches", worker.stolen_branches);
    json.plain("searches", worker.searches);
    json.plain("wake_ups", worker.wake_ups);
    json.plain("notifications", worker.notifications);
    json.plain("cut_by_steps", worker.cut_by_steps);
    json.plain("cut_by_time", worker.cut_by_time);
    json.plain("stuck_turns", worker.stuck);
    json.flag("is_stuck", worker.is_stuck);
    if let Some(site) = worker.runs {
        json.text("runs", &place(site));
    }
    json.objects("latencies", worker.latencies().filter(|(_, count)| *count > 0), |json, (below, count)| {
        json.seconds("below", below);
        json.plain("count", count);
    });
}
