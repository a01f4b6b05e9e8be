#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;

use crate::engine::borrow::{Crowd, Member};
use crate::engine::context::Context;

/// Calls `body`, which may [spawn](Scope::spawn) tasks. All of them have ended when this function returns, so they may borrow
/// whatever lives longer than the call.
///
/// ```
/// use fiber_core::{Fiber, compute};
///
/// let words = || {
///     let text = String::from("so much depends upon");
///     let mut longest = "";
///     let count = compute::scope(|s| {
///         let count = s.spawn(|| text.split(' ').count());
///         s.spawn(|| longest = text.split(' ').max_by_key(|word| word.len()).unwrap());
///         count.join()
///     });
///     (count, longest.to_owned())
/// };
/// assert_eq!(fiber_sched::run(Fiber::lazy(words)).unwrap(), (4, "depends".to_owned()));
/// ```
///
/// # Panics
/// If `body` or a task does, when all tasks have ended. Of several panics, that of `body` is passed on, else the first.
///
/// # Cancellation
/// Nothing is interrupted. Tasks ask [`is_cancelled`](Scope::is_cancelled).
///
/// # Blocking
/// Until all tasks have ended. The thread runs those of this scope that no other thread has taken, and nothing else.
pub fn scope<'env, T>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    let scope =
        Scope { crowd: Crowd::new(), fiber: Context::current(), scope: PhantomData, env: PhantomData };
    scope.crowd.gather(|| body(&scope))
}

/// Where tasks are spawned; see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    crowd: Crowd,
    fiber: Option<Context>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The handle of a task of a [`Scope`]. The task runs whether or not there is a handle.
pub struct Spawned<'scope, T>(Member<'scope, T>);

impl<'scope> Scope<'scope, '_> {
    /// Adds a task, which runs on some thread before the scope ends. A task may add others.
    ///
    /// A task costs one allocation, and some hundreds of nanoseconds. For many small ones use `join` or `par_for_each`.
    ///
    /// ```
    /// use fiber_core::compute::scope;
    ///
    /// let (left, right) = ([1, 2, 3], [4, 5]);
    /// let sum = scope(|s| {
    ///     let left = s.spawn(|| left.iter().sum::<i32>());
    ///     // A task that adds one.
    ///     let right = s.spawn(|| s.spawn(|| right.iter().sum::<i32>()).join());
    ///     left.join() + right.join()
    /// });
    /// assert_eq!(sum, 15);
    /// ```
    ///
    /// What a task borrows lives longer than the scope. Variables of the body do not:
    ///
    /// ```compile_fail,E0373
    /// use fiber_core::compute::scope;
    ///
    /// scope(|s| {
    ///     let text = String::from("gone when the body returns");
    ///     drop(s.spawn(|| text.len()));
    /// });
    /// ```
    pub fn spawn<T, F>(&'scope self, task: F) -> Spawned<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: only the body of `scope` and its tasks get at the scope, as its lifetime is bound to the call of the body by
        // `for<'scope>`. `'scope` lasts as long as `scope` borrows the crowd, which is until `gather` has returned.
        Spawned(unsafe { self.crowd.add(task) })
    }

    /// The values of several tasks, in order. This thread runs those that no thread has started, and then waits for the
    /// others.
    ///
    /// ```
    /// use fiber_core::compute::scope;
    ///
    /// let texts = ["one", "fifteen"];
    /// let lengths = scope(|s| {
    ///     let tasks: Vec<_> = texts.iter().map(|text| s.spawn(|| text.len())).collect();
    ///     s.join_all(tasks)
    /// });
    /// assert_eq!(lengths, [3, 7]);
    /// ```
    ///
    /// # Panics
    /// If one of the tasks has, with the first panic in their order.
    pub fn join_all<T>(&self, tasks: impl IntoIterator<Item = Spawned<'scope, T>>) -> Vec<T> {
        let tasks: Vec<_> = tasks.into_iter().collect();
        // Helpers begin with the oldest.
        tasks.iter().rev().for_each(|task| task.0.begin());
        tasks.into_iter().map(Spawned::join).collect()
    }

    /// Whether it is of no use to go on: the fiber in which the scope was opened is cancelled, or a task has panicked.
    ///
    /// That fiber is [`Context::current`]. A timeout, or a branch that runs in place, may have no context of its own: then its end is not
    /// seen here. A computation that has to end with a timeout, or as the loser of a race, belongs in [`Fiber::blocking_with`], whose
    /// token its tasks can ask.
    ///
    /// [`Fiber::blocking_with`]: crate::Fiber::blocking_with
    ///
    /// ```
    /// use fiber_core::{Context, Fiber, compute};
    ///
    /// let search = || {
    ///     compute::scope(|s| {
    ///         let endless = s.spawn(|| (0u64..).take_while(|_| !s.is_cancelled()).count());
    ///         Context::current().expect("the scope is in a fiber").cancel();
    ///         endless.join()
    ///     })
    /// };
    /// // It ends at all.
    /// assert!(!fiber_sched::run(Fiber::lazy(search)).is_panicked());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.fiber.as_ref().is_some_and(Context::is_cancelled) || self.crowd.has_panicked()
    }
}

impl<T> Spawned<'_, T> {
    /// The value of the task. If no thread has started the task, this thread does; otherwise it waits, and runs nothing
    /// meanwhile.
    ///
    /// # Panics
    /// If the task has, with its panic. Unless that is caught, it reaches the caller of the scope.
    ///
    /// # Blocking
    /// Until the task has ended. Tasks that wait for each other in a circle never end.
    pub fn join(self) -> T {
        self.0.join()
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.0.has_ended()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Spawned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawned").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
