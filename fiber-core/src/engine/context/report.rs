//! Information about a running fiber: its children, and the data of a [`Dump`].

use std::iter::successors;

use super::Context;
use super::carried::AWAIT;
use super::state::{Own, Structure};
use crate::cell::{Node, Progress};
use crate::engine::dump::Dump;
use crate::instant::Instant;

impl Context {
    /// The fibers and parts directly below this one that have not ended, in the order in which they were made. Those
    /// that begin or end during the call may be missing, and so is a timeout in which nothing has been forked yet; a
    /// [dump](Context::dump) shows it.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber};
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// test.spawn(Fiber::<()>::never().named("a").fork().bind(|_| Fiber::<()>::never()));
    /// test.run_until_idle();
    /// let main = &test.context().children()[0];
    /// assert_eq!(main.children()[0].name(), Some("a"));
    /// # test.context().cancel();
    /// # test.run_until_idle();
    /// ```
    pub fn children(&self) -> Vec<Context> {
        let mut children: Vec<Context> = Node::live(&self.0).into_iter().map(Context).collect();
        children.sort_by_key(Context::index);
        children
    }

    /// The fiber or part right above this one. `None` for a [root](Context::root).
    ///
    /// ```
    /// use fiber_core::{Context, Fiber};
    /// use std::iter::successors;
    ///
    /// /// Those in which code runs, from the inside out.
    /// fn around() -> Vec<String> {
    ///     let fibers = successors(Context::current(), Context::above);
    ///     fibers.filter_map(|fiber| fiber.name().map(str::to_owned)).collect()
    /// }
    ///
    /// let child = Fiber::yield_now().map(|()| around()).named("child");
    /// let parent = child.fork().bind(|child| child.join()).named("parent");
    /// assert_eq!(fiber_sched::run(parent).unwrap(), ["child", "parent"]);
    /// ```
    pub fn above(&self) -> Option<Context> {
        self.0.parent().cloned().map(Context)
    }

    /// The fiber and everything below it that has not ended, as data and as text. A root is not a fiber, so the dump of
    /// a [root](Context::root) begins below it.
    ///
    /// The fibers run on meanwhile. See [`Dump`] for the consequences.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let pool = fiber_sched::Pool::new();
    /// let dumps = Fiber::current().map(|context| context.dump().to_string()).named("dumps");
    /// let text = pool.run(dumps).unwrap();
    /// assert!(text.contains("fiber 0 \"dumps\" (forked at "), "{text}");
    /// assert!(text.ends_with("runs, or is about to"), "{text}");
    /// ```
    pub fn dump(&self) -> Dump {
        Dump::of(self)
    }

    /// The last part of its [id](Context::id): the number of fibers and parts made before it, below the same fiber.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// let test = TestScheduler::new();
    /// let indices = [1, 2].map(|n| test.spawn(Fiber::success(n)).context().index());
    /// assert_eq!(indices, [0, 1]);
    /// ```
    pub fn index(&self) -> u32 {
        self.state().index
    }

    /// The [id](Context::id) of this fiber, or of the fiber that this is [a part of](Context::is_structure).
    ///
    /// ```
    /// use fiber_core::{Context, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let inside = Fiber::current().map(|part| (part.id(), part.fiber_id()));
    /// let ids = test.run(inside.timeout(Duration::from_secs(1))).unwrap();
    /// assert_eq!(ids, ("0.0".to_owned(), "0".to_owned()));
    /// ```
    pub fn fiber_id(&self) -> String {
        let above = successors(Some(&self.0), |node| node.parent());
        let parts = above.take_while(|node| node.owner().own.has(Own::STRUCTURE)).count();
        let id = self.id();
        id.rsplitn(parts + 1, '.').last().unwrap_or_default().to_owned()
    }

    pub(crate) fn progress(&self) -> Progress {
        self.0.progress()
    }

    /// The fibers that wait for the end of this one, each with the generation of its wait.
    pub(crate) fn joiners(&self) -> Vec<(Context, u64)> {
        (self.0.behavior().joiners)(self)
    }

    /// The deadline of the fiber, if that of the fiber around it is known.
    pub(crate) fn deadline_below(&self, above: Option<Instant>) -> Option<Instant> {
        if !self.is_limited() {
            return None;
        }
        self.0.front::<Structure>().map(|part| part.deadline).or(above)
    }

    /// Whether this is the part of a fiber below which the fibers that its block awaits have moved.
    pub(crate) fn is_place_of_awaited(&self) -> bool {
        self.0.front::<Structure>().is_some_and(|part| part.operator == AWAIT)
    }
}
