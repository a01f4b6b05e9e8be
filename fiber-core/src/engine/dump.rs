//! A snapshot of the live fibers below a context: [`Dump`].

use std::collections::BTreeMap;
use std::fmt;
use std::iter::successors;
use std::panic::Location;

use crate::engine::context::{Context, LimitReport, WaitsFor};
use crate::engine::network::AtSocket;
use crate::error::{Site, counted};
use crate::instant::Instant;

/// The live fibers below a [`Context`], each with its name, its fork site, and what it waits for: see
/// [`Context::dump`], `Pool::dump` and `CurrentThread::dump` of `fiber-sched`.
///
/// The dump is plain data: it keeps no fiber alive. The fibers are not stopped for it. Each entry is accurate at some moment
/// during the call, but two entries may be from different moments. A fiber that begins or ends during the call may be
/// missing. If no fiber runs meanwhile, the dump is exact.
///
/// The text has a line for each fiber, below that of the fiber to which it belongs:
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// const SECOND: Duration = Duration::from_secs(1);
///
/// let test = TestScheduler::new();
/// let reader = Fiber::delay(3600 * SECOND).timeout(60 * SECOND).named("reader");
/// test.spawn(reader.fork().bind(|reader| reader.join()).named("server"));
/// test.run_for(SECOND);
/// let text = test.context().dump().to_string();
/// # let sites = text.split(&[' ', ')']).filter(|word| word.contains(".rs:")).map(str::to_owned).collect::<Vec<_>>();
/// # let text = sites.iter().fold(text, |text, site| text.replace(site, "src/main.rs:7"));
/// assert_eq!(text, "\
/// 2 fibers at 1s
///   fiber 0 \"server\" (forked at src/main.rs:7) waits for the end of fiber 0.0 (wait 1)
///     fiber 0.0 \"reader\" (forked at src/main.rs:7) is in its part 0.0.0
///       part 0.0.0 \"timeout\" (at src/main.rs:7) waits for a timer (wait 1)");
/// # test.context().cancel();
/// # test.run_until_idle();
/// ```
///
/// `format!("{dump:.20}")` prints the first 20 fibers, and the number of the others.
///
/// A dump does not say how long a fiber has waited, because no fiber reads the clock when it begins to wait. Compare two
/// dumps instead: a fiber that waits in both of them, with the same number of [waits](DumpedFiber::waits), has not run
/// in between.
///
/// A part of a fiber (the body of a timeout, the branches of a race) appears in the dump once it has had to wait, because it
/// has no context before. The same holds for a fiber of `Pool::run`, until it leaves the thread of its caller.
///
/// With the feature `serde`, a dump is data for other programs: the time, and a list of the fibers. `above` and `other` (the part in which it is,
/// or the fiber whose end it waits for) are places in the list:
///
/// ```
/// # use fiber_core::Fiber;
/// # let test = fiber_test::TestScheduler::new();
/// test.spawn(Fiber::<()>::never().named("server"));
/// test.run_until_idle();
/// let json = serde_json::to_value(test.context().dump()).unwrap();
/// assert_eq!(json["fibers"][0]["name"], "server");
/// assert_eq!(json["fibers"][0]["state"], "waiting");
/// # test.context().cancel();
/// # test.run_until_idle();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    at: Instant,
    /// The id of the first fiber, if it is an ancestor of all others.
    top: Option<String>,
    /// Parents come before their children.
    fibers: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    key: usize,
    above: Option<usize>,
    depth: usize,
    /// The last part of the id.
    index: u32,
    name: Option<Box<str>>,
    fork_site: Site,
    is_structure: bool,
    is_cancelled: bool,
    is_masked: bool,
    deadline: Option<Instant>,
    waits: u64,
    state: State,
    /// The socket at which it waits.
    socket: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotStarted,
    Runnable,
    InPart(usize),
    Waiting { what: WaitsFor, on: Option<usize> },
}

impl Dump {
    pub(crate) fn of(context: &Context) -> Self {
        let at = context.scheduler().now();
        let mut survey = Survey::default();
        let is_root = context.around().is_none();
        if is_root {
            survey.add_children(context, None, 0);
        } else {
            survey.left.push(Found { context: context.clone(), above: None, depth: 0 });
        }
        let top = (!is_root).then(|| context.id());
        let sockets = context.scheduler().net().map_or_else(Vec::new, |network| network.waiting());
        Dump { at, top, fibers: survey.finish(&sockets) }
    }

    /// The scheduler's time at the start of the dump.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// Whether there are no live fibers.
    pub fn is_empty(&self) -> bool {
        self.fibers.is_empty()
    }

    /// The number of fibers, without [parts](DumpedFiber::is_structure).
    pub fn len(&self) -> usize {
        self.fibers.iter().filter(|entry| !entry.is_structure).count()
    }

    /// The fibers and their parts. A fiber comes before everything below it.
    ///
    /// ```
    /// use fiber_core::scheduler::WaitsFor;
    /// use fiber_core::{DumpedState, Fiber};
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// test.spawn(Fiber::<()>::never().fork().bind(|child| child.join()).named("main"));
    /// test.run_until_idle();
    /// let dump = test.context().dump();
    /// let main = dump.fibers().find(|fiber| fiber.name() == Some("main")).unwrap();
    /// let DumpedState::Waiting { what: WaitsFor::Fiber, on: Some(child) } = main.state() else { panic!("{dump}") };
    /// assert_eq!(child.id(), "0.0");
    /// # test.context().cancel();
    /// # test.run_until_idle();
    /// ```
    pub fn fibers(&self) -> impl Iterator<Item = DumpedFiber<'_>> {
        (0..self.fibers.len()).map(|at| DumpedFiber { dump: self, at })
    }
}

/// A fiber in a [`Dump`], or a part of one.
///
/// ```
/// use fiber_core::{Dump, DumpedState, Fiber};
/// use fiber_test::TestScheduler;
/// use std::collections::BTreeMap;
/// use std::time::Duration;
///
/// /// The fibers that have waited since `before`.
/// fn resting(before: &Dump, now: &Dump) -> Vec<String> {
///     let waits: BTreeMap<String, u64> = before.fibers().map(|fiber| (fiber.id(), fiber.waits())).collect();
///     now.fibers()
///         .filter(|fiber| matches!(fiber.state(), DumpedState::Waiting { .. }))
///         .filter(|fiber| waits.get(&fiber.id()) == Some(&fiber.waits()))
///         .map(|fiber| fiber.id())
///         .collect()
/// }
///
/// const SECOND: Duration = Duration::from_secs(1);
///
/// let test = TestScheduler::new();
/// test.spawn(Fiber::for_each(0..100, |_| Fiber::delay(SECOND)));
/// test.spawn(Fiber::<()>::never());
/// test.run_for(SECOND / 2);
/// let before = test.context().dump();
/// test.run_for(5 * SECOND);
/// assert_eq!(resting(&before, &test.context().dump()), ["1"]);
/// # test.context().cancel();
/// # test.run_until_idle();
/// ```
#[derive(Clone, Copy)]
pub struct DumpedFiber<'a> {
    dump: &'a Dump,
    at: usize,
}

/// The state of a [`DumpedFiber`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum DumpedState<'a> {
    /// It was forked, and no thread has started it.
    NotStarted,
    /// It runs, or waits for a thread.
    Runnable,
    /// It is inside this part, whose state is the state of the fiber.
    InPart(DumpedFiber<'a>),
    /// It waits.
    Waiting {
        /// The event.
        what: WaitsFor,
        /// The fiber whose end it waits for. `None` also if that fiber is not in the dump.
        on: Option<DumpedFiber<'a>>,
    },
}

impl<'a> DumpedFiber<'a> {
    fn entry(&self) -> &'a Entry {
        &self.dump.fibers[self.at]
    }

    fn other(&self, at: usize) -> DumpedFiber<'a> {
        DumpedFiber { dump: self.dump, at }
    }

    /// The id, a path such as `0.2.1`; see [`Context::id`].
    pub fn id(&self) -> String {
        self.path(usize::MAX)
    }

    /// The last part of its id; see [`Context::index`].
    pub fn index(&self) -> u32 {
        self.entry().index
    }

    /// Its position among the [`fibers`](Dump::fibers) of the dump.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// test.spawn(Fiber::<()>::never().fork().bind(|child| child.join()));
    /// test.run_until_idle();
    /// let dump = test.context().dump();
    /// let child = dump.fibers().last().unwrap();
    /// assert_eq!((child.position(), child.above().unwrap().position()), (1, 0));
    /// # test.context().cancel();
    /// # test.run_until_idle();
    /// ```
    pub fn position(&self) -> usize {
        self.at
    }

    /// The [key](Context::key) of the fiber, by which an observer may know it. A limit of time without a context of its own, such
    /// as a timeout in which nothing has been forked, has the key of the fiber around it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let reader = test.spawn(Fiber::<()>::never());
    /// test.run_until_idle();
    /// assert_eq!(test.context().dump().fibers().next().unwrap().key(), reader.context().key());
    /// # test.context().cancel();
    /// # test.run_until_idle();
    /// ```
    pub fn key(&self) -> usize {
        self.entry().key
    }

    /// At most the last `most` parts of the id.
    fn path(&self, most: usize) -> String {
        let mut path = Vec::new();
        for entry in successors(Some(*self), DumpedFiber::above).take(most) {
            let top = self.dump.top.as_ref().filter(|_| entry.entry().above.is_none());
            path.push(top.cloned().unwrap_or_else(|| entry.entry().index.to_string()));
        }
        path.reverse();
        path.join(".")
    }

    /// The name, or the operator that made this part.
    pub fn name(&self) -> Option<&'a str> {
        self.entry().name.as_deref()
    }

    /// The place in the program that forks or spawns it.
    pub fn fork_site(&self) -> &'static Location<'static> {
        self.entry().fork_site
    }

    /// The fiber or part directly above this one. `None` for the topmost fibers of the dump.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// test.spawn(Fiber::<()>::never().named("child").fork().bind(|child| child.join()).named("parent"));
    /// test.run_until_idle();
    /// let dump = test.context().dump();
    /// let child = dump.fibers().find(|fiber| fiber.name() == Some("child")).unwrap();
    /// assert_eq!(child.above().unwrap().name(), Some("parent"));
    /// # test.context().cancel();
    /// # test.run_until_idle();
    /// ```
    pub fn above(&self) -> Option<DumpedFiber<'a>> {
        self.entry().above.map(|at| self.other(at))
    }

    /// The number of its ancestors in the dump.
    pub fn depth(&self) -> usize {
        self.entry().depth
    }

    /// Whether this is not a separate fiber but a part of one; see [`Context::is_structure`].
    pub fn is_structure(&self) -> bool {
        self.entry().is_structure
    }

    /// The state at the moment of the dump.
    pub fn state(&self) -> DumpedState<'a> {
        match self.entry().state {
            State::NotStarted => DumpedState::NotStarted,
            State::Runnable => DumpedState::Runnable,
            State::InPart(part) => DumpedState::InPart(self.other(part)),
            State::Waiting { what, on } => DumpedState::Waiting { what, on: on.map(|on| self.other(on)) },
        }
    }

    /// The socket at which it waits, if the network can name it: `TcpStream to 127.0.0.1:80`.
    pub fn socket(&self) -> Option<&'a str> {
        self.entry().socket.as_deref()
    }

    /// The number of waits it has begun.
    pub fn waits(&self) -> u64 {
        self.entry().waits
    }

    /// Whether it was cancelled and has not ended yet.
    pub fn is_cancelled(&self) -> bool {
        self.entry().is_cancelled
    }

    /// Whether it is in an uncancelable region, as a finalizer always is.
    pub fn is_uncancelable(&self) -> bool {
        self.entry().is_masked
    }

    /// The deadline of the fiber: its own, or that of an ancestor.
    pub fn deadline(&self) -> Option<Instant> {
        self.entry().deadline
    }
}

/// The largest indentation of a line, in levels. The ids of fibers below that are shortened as well: in a chain of a million
/// fibers, each of which has forked the next, all ids together would have a trillion digits.
const DEEPEST: usize = 32;

/// `fiber 0.1 "name" (forked at file:line) waits for a timer (wait 1), cancelled`.
impl fmt::Display for DumpedFiber<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.short_id())?;
        if let Some(name) = self.name() {
            write!(f, " {name:?}")?;
        }
        let site = self.fork_site();
        let made = if self.is_structure() { "at" } else { "forked at" };
        write!(f, " ({made} {}:{}) {}", site.file(), site.line(), self.state())?;
        if let Some(socket) = self.socket() {
            write!(f, ", the {socket}")?;
        }
        // The place of awaited fibers never waits itself.
        if let (DumpedState::Waiting { .. }, 1..) = (self.state(), self.waits()) {
            write!(f, " (wait {})", self.waits())?;
        }
        if self.is_cancelled() {
            f.write_str(", cancelled")?;
        }
        if self.is_uncancelable() {
            f.write_str(", in an uncancelable region")?;
        }
        match self.deadline() {
            Some(at) if self.above().and_then(|above| above.deadline()) != Some(at) => {
                write!(f, ", has to end by {at}")
            }
            _ => Ok(()),
        }
    }
}

impl DumpedFiber<'_> {
    fn kind(&self) -> &'static str {
        if self.is_structure() { "part" } else { "fiber" }
    }

    pub(crate) fn short_id(&self) -> String {
        if self.depth() > DEEPEST { format!("..{}", self.path(DEEPEST)) } else { self.id() }
    }
}

impl fmt::Debug for DumpedFiber<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `waits for the end of fiber 0.1`.
impl fmt::Display for DumpedState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpedState::NotStarted => f.write_str("has not started"),
            DumpedState::Runnable => f.write_str("runs, or is about to"),
            DumpedState::InPart(part) => write!(f, "is in its part {}", part.short_id()),
            DumpedState::Waiting { on: Some(on), .. } => {
                write!(f, "waits for the end of {} {}", on.kind(), on.short_id())
            }
            DumpedState::Waiting { what, on: None } => write!(f, "waits for {what}"),
        }
    }
}

/// A line with the number of fibers and the time, then one for each fiber. A precision limits the number of fibers.
impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", counted(self.len(), "fiber"), self.at)?;
        let most = f.precision().unwrap_or(usize::MAX);
        for fiber in self.fibers().take(most) {
            let indent = 2 * (fiber.depth().min(DEEPEST) + 1);
            write!(f, "\n{:indent$}{fiber}", "")?;
        }
        match self.fibers.len().saturating_sub(most) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// A walk through the tree, parents first. The path is kept on the heap, because a tree may be a million levels deep.
#[derive(Default)]
struct Survey {
    left: Vec<Found>,
    /// A live context keeps its key.
    seen: Vec<(Context, Entry)>,
    /// The key of a context and the generation of its wait for the end of a fiber, mapped to the index of that fiber and to
    /// the waiting context, which keeps its key as long as the map holds it.
    joiners: BTreeMap<(usize, u64), (usize, Context)>,
}

struct Found {
    context: Context,
    above: Option<usize>,
    depth: usize,
}

impl Found {
    /// The part of `at`, an entry of this fiber, in which the fiber is, and which has no node.
    fn limit(&self, at: usize, entry: &Entry) -> Option<Entry> {
        let LimitReport { operator, site, number, deadline } = self.context.limit_report()?;
        Some(Entry {
            above: Some(at),
            depth: self.depth + 1,
            index: number,
            name: Some(operator.into()),
            fork_site: site,
            is_structure: true,
            deadline,
            ..entry.clone()
        })
    }
}

impl Survey {
    /// `sockets`: the waits at each socket.
    fn finish(mut self, sockets: &[AtSocket]) -> Vec<Entry> {
        while let Some(found) = self.left.pop() {
            self.look_at(found);
        }
        self.connect();
        self.name_sockets(sockets);
        self.seen.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Pushes the children of `context`, the first on top.
    fn add_children(&mut self, context: &Context, above: Option<usize>, depth: usize) {
        let children = context.children().into_iter().rev();
        self.left.extend(children.map(|context| Found { context, above, depth }));
    }

    fn look_at(&mut self, found: Found) {
        let Found { context, above, depth } = &found;
        let (above, depth) = (*above, *depth);
        let deadline_above = above.and_then(|above| self.seen[above].1.deadline);
        let Some(mut entry) = Entry::of(context, above, depth, deadline_above) else { return };
        let at = self.seen.len();
        let limit = found.limit(at, &entry);
        if limit.is_some() {
            // What the fiber does, it does in this part.
            (entry.state, entry.is_masked) = (State::Runnable, false);
        }
        for (joiner, generation) in context.joiners() {
            self.joiners.insert((joiner.key(), generation), (at, joiner));
        }
        self.add_children(context, Some(at), depth + 1);
        self.seen.push((context.clone(), entry));
        self.seen.extend(limit.map(|limit| (found.context, limit)));
    }

    /// Adds the sockets of the fibers that wait at them.
    fn name_sockets(&mut self, sockets: &[AtSocket]) {
        let sockets: BTreeMap<(usize, u64), &AtSocket> =
            sockets.iter().map(|waiting| ((waiting.fiber.key(), waiting.wait), waiting)).collect();
        for (context, entry) in &mut self.seen {
            let State::Waiting { .. } = entry.state else { continue };
            let Some(wait) = entry.waits.checked_sub(1) else { continue };
            entry.socket = sockets.get(&(context.key(), wait)).map(|waiting| waiting.socket.clone());
        }
    }

    /// Resolves the fibers that others wait for, and the parts that fibers are in.
    fn connect(&mut self) {
        for at in 0..self.seen.len() {
            let (context, entry) = &mut self.seen[at];
            let is_place = context.is_place_of_awaited();
            match &mut entry.state {
                State::Waiting { what: WaitsFor::Fiber, on } => {
                    let wait = (context.key(), entry.waits - 1);
                    *on = self.joiners.get(&wait).map(|(target, _)| *target);
                }
                state @ State::Runnable if is_place => {
                    *state = State::Waiting { what: WaitsFor::Children, on: None };
                }
                _ => {}
            }
            let fiber = entry.above.filter(|_| entry.is_structure && !is_place);
            if let Some(fiber) = fiber
                && let state @ State::Runnable = &mut self.seen[fiber].1.state
            {
                *state = State::InPart(at);
            }
        }
    }
}

impl Entry {
    /// `None` if the fiber has ended meanwhile.
    fn of(
        context: &Context,
        above: Option<usize>,
        depth: usize,
        deadline_above: Option<Instant>,
    ) -> Option<Self> {
        let progress = context.progress();
        let state = match context.waits_for() {
            _ if progress.has_ended => return None,
            what @ WaitsFor::Never if progress.is_offered => State::Waiting { what, on: None },
            _ if progress.is_offered => State::NotStarted,
            what if progress.is_waiting && what != WaitsFor::Nothing => State::Waiting { what, on: None },
            _ => State::Runnable,
        };
        let deadline =
            if above.is_some() { context.deadline_below(deadline_above) } else { context.deadline() };
        Some(Entry {
            key: context.key(),
            above,
            depth,
            index: context.index(),
            name: context.name().map(Box::from),
            fork_site: context.fork_site(),
            is_structure: context.is_structure(),
            is_cancelled: progress.is_cancelled,
            is_masked: context.is_masked(),
            deadline,
            waits: progress.waits,
            state,
            socket: None,
        })
    }
}
