//! Which fiber waits for which: for its end, or because it holds the wanted primitive.
//!
//! A fiber that waits for permits is blocked by the fibers that hold some, if too few are free for it; otherwise by the
//! fiber before it in the queue.
//!
//! Not every fiber on a cycle is stuck: one of several holders may release its permits once a callback comes. So the
//! search for a cycle covers only the fibers that no event from outside can free:
//!
//! | waits for | continues if |
//! |---|---|
//! | an event from outside, or nothing | always |
//! | the end of fibers | all of them continue |
//! | permits | enough are free without those of the fibers that do not continue, and the fiber before it in the queue continues |

use std::collections::{BTreeMap, BTreeSet};

use fiber_core::Context;
use fiber_core::error::Frame;
use fiber_core::scheduler::{Subject, WaitsFor};

use crate::machine::{At, Blocked, Holding, Lane};
use crate::primitive::{Site, at_primitive, permits, place};

/// The number of holders that a line names; it only counts the rest.
const MOST_HOLDERS: usize = 3;

/// The number of fibers of a circle that are drawn; it only counts the rest.
const LONGEST_CIRCLE: usize = 20;

/// All live fibers, and all that is held, at one moment.
pub(crate) struct Snapshot {
    pub(crate) blocked: Vec<Blocked>,
    pub(crate) held: Vec<Holding>,
    /// The names of primitives, by their keys.
    pub(crate) names: BTreeMap<usize, String>,
}

pub(crate) struct WaitGraph<'a> {
    snapshot: &'a Snapshot,
    /// By the keys of the fibers.
    places: BTreeMap<usize, usize>,
    children: Vec<Vec<usize>>,
    /// Right before each fiber in the queue at a primitive that others hold.
    before_in_queue: Vec<Option<usize>>,
    /// The holdings of each primitive.
    holdings: BTreeMap<usize, Vec<Held<'a>>>,
}

#[derive(Clone, Copy)]
struct Held<'a> {
    holding: &'a Holding,
    /// The fiber, if it lives.
    by: Option<usize>,
}

/// Why one fiber waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// For its end.
    End,
    /// The other one is its child.
    Child,
    /// The other one is a fork of its scope.
    Fork,
    /// The other one is a part of it.
    Part,
    /// The other one holds what it wants.
    Held,
    /// The other one is before it in the queue.
    Behind,
}

/// One fiber waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) why: Why,
}

impl<'a> WaitGraph<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let Snapshot { blocked, held, .. } = snapshot;
        let by_id: BTreeMap<String, usize> =
            blocked.iter().enumerate().map(|(at, one)| (one.context.id(), at)).collect();
        let mut children = vec![Vec::new(); blocked.len()];
        for (id, at) in &by_id {
            let parent = id.rsplit_once('.').and_then(|(parent, _)| by_id.get(parent));
            if let Some(parent) = parent {
                children[*parent].push(*at);
            }
        }
        let places: BTreeMap<usize, usize> =
            by_id.values().map(|at| (blocked[*at].context.key(), *at)).collect();
        let mut holdings: BTreeMap<usize, Vec<Held<'a>>> = BTreeMap::new();
        for holding in held {
            let by = places.get(&holding.fiber.key()).copied();
            holdings.entry(holding.of.key()).or_default().push(Held { holding, by });
        }
        let before_in_queue = vec![None; blocked.len()];
        let mut graph = WaitGraph { snapshot, places, children, before_in_queue, holdings };
        for queue in graph.queues().values() {
            queue.windows(2).for_each(|pair| graph.before_in_queue[pair[1]] = Some(pair[0]));
        }
        graph
    }

    /// The fibers that wait at a primitive that others hold, in order.
    fn queues(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut queues: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, wanted) in (0..self.blocked().len()).filter_map(|at| Some((at, self.wanted(at)?))) {
            queues.entry(wanted.of.key()).or_default().push(at);
        }
        let since = |at: &usize| self.blocked()[*at].at.as_ref().map(|wanted| wanted.since);
        queues.values_mut().for_each(|queue| queue.sort_by_key(since));
        queues
    }

    fn blocked(&self) -> &'a [Blocked] {
        &self.snapshot.blocked
    }

    pub(crate) fn at(&self, context: &Context) -> Option<usize> {
        self.places.get(&context.key()).copied()
    }

    /// The held primitive that the fiber waits for.
    fn wanted(&self, at: usize) -> Option<&'a At> {
        let one = &self.blocked()[at];
        one.at.as_ref().filter(|_| matches!(one.what, WaitsFor::Lock | WaitsFor::Permits))
    }

    fn held(&self, of: &Subject) -> &[Held<'a>] {
        self.holdings.get(&of.key()).map_or(&[], Vec::as_slice)
    }

    /// The parts of a fiber that runs, or is about to, if its own context waits for nothing.
    fn parts(&self, at: usize) -> impl Iterator<Item = usize> {
        let is_elsewhere = self.blocked()[at].what == WaitsFor::Nothing;
        let parts = self.children[at].iter().copied();
        let parts = parts.filter(move |part| is_elsewhere && self.blocked()[*part].context.is_structure());
        parts.filter(|part| !self.is_left_place(*part))
    }

    /// Whether it is the place of the fibers that a block awaits beside others: it never waits itself.
    fn is_place_of_awaited(&self, at: usize) -> bool {
        let Blocked { context, what, .. } = &self.blocked()[at];
        *what == WaitsFor::Nothing && context.is_structure() && context.name() == Some("await")
    }

    /// Whether it is such a place, and all of them have ended.
    fn is_left_place(&self, at: usize) -> bool {
        self.children[at].is_empty() && self.is_place_of_awaited(at)
    }

    /// The fibers that were forked in a scope.
    fn forks(&self, scope: &Context) -> Vec<usize> {
        let children = self.at(scope).map(|at| &self.children[at]);
        children
            .into_iter()
            .flatten()
            .copied()
            .filter(|at| !self.blocked()[*at].context.is_structure())
            .collect()
    }

    /// The fibers that it waits for.
    pub(crate) fn links(&self, from: usize) -> Vec<Link> {
        let one = &self.blocked()[from];
        let links =
            |to: Vec<usize>, why| to.into_iter().map(move |to| Link { from, to, why }).collect::<Vec<_>>();
        match (&one.on, one.what) {
            (Some(scope), WaitsFor::Forks) => links(self.forks(scope), Why::Fork),
            (Some(on), _) => links(self.at(on).into_iter().collect(), Why::End),
            (None, WaitsFor::Children) => links(self.children[from].clone(), Why::Child),
            (None, _) if self.is_place_of_awaited(from) => links(self.children[from].clone(), Why::Child),
            (None, WaitsFor::Nothing) => links(self.parts(from).collect(), Why::Part),
            (None, _) => match (self.wanted(from), self.ahead(from)) {
                (None, _) => Vec::new(),
                (Some(_), Some(ahead)) => links(vec![ahead], Why::Behind),
                (Some(wanted), None) => links(self.holders(&wanted.of), Why::Held),
            },
        }
    }

    /// The live fibers that hold something, each once.
    fn holders(&self, of: &Subject) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        self.held(of).iter().filter_map(|held| held.by).filter(|holder| seen.insert(*holder)).collect()
    }

    /// The fiber right before it in the queue, if only that blocks it: enough is free.
    fn ahead(&self, at: usize) -> Option<usize> {
        let At { of, asks, .. } = self.wanted(at)?;
        self.suffices(of, *asks, |_| true).then_some(self.before_in_queue[at]).flatten()
    }

    /// Whether enough permits are available if those that are `kept` are not released.
    fn suffices(&self, of: &Subject, asks: usize, kept: impl Fn(Held<'_>) -> bool) -> bool {
        let held = self.held(of).iter().filter(|held| kept(**held)).map(|held| held.holding.permits);
        asks <= of.total().saturating_sub(held.fold(0, usize::saturating_add))
    }

    /// Which fibers would continue if all events from outside came.
    fn go_on(&self) -> Vec<bool> {
        let mut go_on = vec![false; self.blocked().len()];
        let all: Vec<usize> = (0..go_on.len()).collect();
        loop {
            let mut has_changed = false;
            // An awaited fiber has a larger number, or came earlier; each direction propagates one of the two cases in one pass.
            for at in all.iter().chain(all.iter().rev()) {
                if !go_on[*at] && self.goes_on(*at, &go_on) {
                    (go_on[*at], has_changed) = (true, true);
                }
            }
            if !has_changed {
                return go_on;
            }
        }
    }

    fn goes_on(&self, at: usize, go_on: &[bool]) -> bool {
        let Some(At { of, asks, .. }) = self.wanted(at) else {
            return self.links(at).iter().all(|link| go_on[link.to]);
        };
        let is_stuck = |held: Held<'_>| held.by.is_some_and(|holder| !go_on[holder]);
        self.suffices(of, *asks, is_stuck) && self.before_in_queue[at].is_none_or(|before| go_on[before])
    }

    /// All fibers that have to end before `start` does, as far as known, in the order of their ids.
    pub(crate) fn before(&self, start: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut left = self.links(start);
        while let Some(Link { to, .. }) = left.pop() {
            if to != start && found.insert(to) {
                left.extend(self.links(to));
            }
        }
        found
    }

    /// The links of a cycle, if there is one: rather one of several fibers than one that waits for itself, though others could free it.
    pub(crate) fn cycle(&self) -> Vec<Link> {
        let go_on = self.go_on();
        let is_stuck = |link: &Link| !go_on[link.from] && !go_on[link.to];
        let cycle = self.cycle_of(&go_on, |link| is_stuck(link) && !self.others_could_free(link));
        if cycle.is_empty() { self.cycle_of(&go_on, is_stuck) } else { cycle }
    }

    /// Whether the fiber waits for itself, but would have enough permits if only the others gave theirs back.
    fn others_could_free(&self, link: &Link) -> bool {
        let is_own = |held: Held<'_>| held.by == Some(link.from);
        let has_enough = |wanted: &At| self.suffices(&wanted.of, wanted.asks, is_own);
        link.from == link.to && link.why == Why::Held && self.wanted(link.from).is_some_and(has_enough)
    }

    fn cycle_of(&self, go_on: &[bool], is_followed: impl Fn(&Link) -> bool) -> Vec<Link> {
        let links = |from: usize| {
            let mut links = self.links(from);
            links.retain(&is_followed);
            links
        };
        let mut is_done = go_on.to_vec();
        for start in 0..is_done.len() {
            if is_done[start] {
                continue;
            }
            // The path to here: a fiber, the link by which the path continues, and the links that were not followed yet.
            let mut way: Vec<(usize, Option<Link>, Vec<Link>)> = vec![(start, None, links(start))];
            while let Some((at, taken, left)) = way.last_mut() {
                let Some(next) = left.pop() else {
                    is_done[*at] = true;
                    way.pop();
                    continue;
                };
                *taken = Some(next);
                if let Some(from) = way.iter().position(|(on_way, ..)| *on_way == next.to) {
                    return beginning_first(way[from..].iter().filter_map(|(_, taken, _)| *taken).collect());
                }
                if !is_done[next.to] {
                    way.push((next.to, None, links(next.to)));
                }
            }
        }
        Vec::new()
    }
}

/// In words.
impl WaitGraph<'_> {
    /// A fiber whose parts wait in its place has no line of its own, unless it has finalizers. Nor has a place that is left.
    /// Returns at most so many lines, and the number of fibers without one: rather a fiber of each kind than many of one.
    pub(crate) fn lines(&self, most: usize) -> (Vec<String>, usize) {
        let all = self.blocked().iter().enumerate().filter(|(at, _)| !self.is_left_place(*at));
        let all = all.filter(|(at, one)| !one.finalizers.is_empty() || self.parts(*at).next().is_none());
        let mut kinds = BTreeSet::new();
        let (firsts, others): (Vec<usize>, Vec<usize>) =
            all.map(|(at, _)| at).partition(|at| kinds.insert(self.kind(*at)));
        let more = (firsts.len() + others.len()).saturating_sub(most);
        let mut shown: Vec<usize> = firsts.into_iter().chain(others).take(most).collect();
        shown.sort_unstable();
        (shown.into_iter().map(|at| self.line(at)).collect(), more)
    }

    /// The same for fibers that wait alike: where they were forked, where they wait, and at which primitive.
    fn kind(&self, at: usize) -> impl Ord + use<> {
        let Blocked { context, what, site, at, .. } = &self.blocked()[at];
        (context.fork_site(), *what as u32, *site, at.as_ref().map(|at| at.of.key()))
    }

    pub(crate) fn line(&self, at: usize) -> String {
        let Blocked { context, finalizers, .. } = &self.blocked()[at];
        let mut line = format!("{context} {}", self.waits(at));
        if !finalizers.is_empty() {
            let list: Vec<String> = finalizers.iter().map(Frame::to_string).collect();
            line.push_str(&format!("; finalizers not run: {}", list.join(", ")));
        }
        line
    }

    /// What it waits for, and where.
    pub(crate) fn waits(&self, at: usize) -> String {
        let Blocked { context, site, .. } = &self.blocked()[at];
        let awaited = self.awaited(at);
        match site.filter(|site| *site != context.fork_site()) {
            Some(site) => format!("waits for {awaited}, at {}", place(site)),
            None => format!("waits for {awaited}"),
        }
    }

    fn awaited(&self, at: usize) -> String {
        let one = &self.blocked()[at];
        match (&one.on, self.parts(at).next()) {
            (Some(_), _) if one.what == WaitsFor::Forks => one.what.to_string(),
            (Some(on), _) => format!("the end of fiber {}", on.id()),
            (None, Some(part)) => format!("its part {}", self.blocked()[part].context.id()),
            (None, None) if self.is_place_of_awaited(at) => WaitsFor::Children.to_string(),
            (None, None) => self.awaited_there(at),
        }
    }

    fn awaited_there(&self, at: usize) -> String {
        let one = &self.blocked()[at];
        let Some(At { of, asks, .. }) = one.at.as_ref() else { return one.what.to_string() };
        let name = self.name(of);
        let held_by = self.held_by(of);
        if one.what == WaitsFor::Either && !held_by.is_empty() {
            return format!("{name}{held_by}, or another event");
        }
        if self.wanted(at).is_none() {
            return at_primitive(one.what, &name);
        }
        let wanted = if is_one_of_many(of) { format!("{} of {name}", permits(*asks)) } else { name };
        match self.ahead(at) {
            Some(ahead) => format!("{wanted}{held_by}, behind {}", fiber(&self.blocked()[ahead].context)),
            // The queue is served as soon as there is enough, so a holder that is not a fiber has the rest.
            None if self.suffices(of, *asks, |_| true) => {
                format!("{wanted}{held_by}, taken by a thread or a `try_` method")
            }
            None => format!("{wanted}{held_by}"),
        }
    }

    /// Who holds it, if anybody does: what follows its name.
    fn held_by(&self, of: &Subject) -> String {
        match self.held(of) {
            [] => String::new(),
            held if is_one_of_many(of) => format!(", which has {}: {}", of.total(), list(held, holds)),
            [one] => format!(" ({}), held by {}", since(one.holding), holder(*one)),
            held => {
                format!(", held by {}", list(held, |one| format!("{} ({})", holder(one), since(one.holding))))
            }
        }
    }

    /// What is held, and by which fiber.
    pub(crate) fn held_line(&self, holding: &Holding) -> String {
        let name = self.name(&holding.of);
        let what = match holding.of.is_counted() {
            true => format!("{} of {name}", permits(holding.permits)),
            false => name,
        };
        let has_ended = if self.at(&holding.fiber).is_none() { ", which has ended" } else { "" };
        format!("{what}, {} by {}{has_ended}", since(holding), holding.fiber)
    }

    pub(crate) fn name(&self, of: &Subject) -> String {
        self.snapshot.names.get(&of.key()).cloned().unwrap_or_else(|| of.to_string())
    }

    /// One line for a fiber that waits for itself. A circle of several is drawn:
    ///
    /// ```text
    ///   ╭> fiber 0.1 waits for Mutex `a`, held by
    ///   │  fiber 0.2, which waits for Mutex `b`, held by
    ///   ╰─ fiber 0.1
    /// ```
    pub(crate) fn circle(&self, cycle: &[Link]) -> Option<String> {
        let fiber = |at: usize| fiber(&self.blocked()[at].context);
        let first = fiber(cycle.first()?.from);
        if let [link] = cycle {
            return Some(format!("{first} {} {first}", self.link(link)));
        }
        let lines = cycle.iter().take(LONGEST_CIRCLE).enumerate().map(|(at, link)| match at {
            0 => format!("\n  ╭> {first} {}", self.link(link)),
            _ => format!("\n  │  {}, which {}", fiber(link.from), self.link(link)),
        });
        let more = cycle[LONGEST_CIRCLE.min(cycle.len())..].split_last().map(|(last, others)| {
            format!("\n  │  {} more, the last of which {}", others.len() + 1, self.link(last))
        });
        Some(format!("{}{}\n  ╰─ {first}", lines.collect::<String>(), more.unwrap_or_default()))
    }

    /// Where the first fiber of the circle waits, or else the first that waits anywhere.
    pub(crate) fn site(&self) -> Option<Site> {
        let first = self.cycle().first().map(|link| link.from);
        let sites = first.into_iter().chain(0..self.blocked().len());
        sites.filter_map(|at| self.blocked()[at].site).next()
    }

    /// Without the fiber that it leads to.
    fn link(&self, link: &Link) -> String {
        let name = || self.blocked()[link.from].at.as_ref().map(|at| self.name(&at.of)).unwrap_or_default();
        match link.why {
            Why::End => "waits for the end of".to_owned(),
            Why::Child => "waits for its child".to_owned(),
            Why::Fork => "waits for the fork".to_owned(),
            Why::Part => "waits for its part".to_owned(),
            Why::Held => format!("waits for {}, held by", name()),
            Why::Behind => format!("waits for {}, behind", name()),
        }
    }

    pub(crate) fn context(&self, at: usize) -> &Context {
        &self.blocked()[at].context
    }

    /// The lane of a fiber, and the primitive of the link.
    pub(crate) fn ends(&self, link: &Link) -> (Lane, Lane, Option<&Subject>) {
        let [from, to] = [link.from, link.to].map(|at| &self.blocked()[at]);
        let of = from.at.as_ref().map(|at| &at.of).filter(|_| matches!(link.why, Why::Held | Why::Behind));
        (from.lane, to.lane, of)
    }

    /// All links, in the order of the waiting fibers.
    pub(crate) fn all_links(&self) -> impl Iterator<Item = Link> {
        (0..self.blocked().len()).flat_map(|at| self.links(at))
    }
}

/// The same cycle, starting at the fiber with the smallest id.
fn beginning_first(mut cycle: Vec<Link>) -> Vec<Link> {
    let first = cycle.iter().enumerate().min_by_key(|(_, link)| link.from).map_or(0, |(at, _)| at);
    cycle.rotate_left(first);
    cycle
}

/// A fiber by its id and name.
fn fiber(context: &Context) -> String {
    match context.name() {
        Some(name) => format!("fiber {} {name:?}", context.id()),
        None => format!("fiber {}", context.id()),
    }
}

fn is_one_of_many(of: &Subject) -> bool {
    of.is_counted() && of.total() > 1
}

fn holder(held: Held<'_>) -> String {
    let has_ended = if held.by.is_none() { ", which has ended" } else { "" };
    format!("{}{has_ended}", fiber(&held.holding.fiber))
}

fn holds(held: Held<'_>) -> String {
    format!("{} holds {} ({})", holder(held), held.holding.permits, since(held.holding))
}

fn since(holding: &Holding) -> String {
    let verb = if holding.of.is_counted() { "acquired" } else { "locked" };
    format!("{verb} at {}", place(holding.site))
}

/// `a, b and c`; of many, the first few.
fn list(held: &[Held<'_>], word: impl Fn(Held<'_>) -> String) -> String {
    let mut words: Vec<String> = held.iter().take(MOST_HOLDERS).map(|one| word(*one)).collect();
    match held.len().saturating_sub(MOST_HOLDERS) {
        0 => {}
        more => words.push(format!("{more} more")),
    }
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}
