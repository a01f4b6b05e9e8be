//! Tasks that borrow, from ordinary code: the functions of [`fiber_core::compute`] on the threads of a pool.

use fiber_core::compute::{self, IntoItems, Items, Scope};
use fiber_core::scheduler::{is_served, serve};

use super::Pool;
use super::thread::PoolThread;
use crate::shutdown::Stops;

/// Borrowed tasks; see [`fiber_core::compute`].
///
/// The functions can be called anywhere: on user threads, which take part in the work meanwhile, in closures of fibers of this
/// or another pool, and in the tasks themselves. As many user threads at a time as the pool has workers share their work with
/// the pool; further ones do theirs alone, except for the tasks of a scope.
impl Pool {
    /// Calls both closures, which may run in parallel, and gives both values. See [`compute::join`].
    ///
    /// ```
    /// use fiber_sched::Pool;
    ///
    /// fn fib(pool: &Pool, n: u64) -> u64 {
    ///     if n < 2 {
    ///         return n;
    ///     }
    ///     let (a, b) = pool.join(|| fib(pool, n - 1), || fib(pool, n - 2));
    ///     a + b
    /// }
    /// assert_eq!(fib(&Pool::new(), 20), 6765);
    /// ```
    ///
    /// # Panics
    /// If one of them does, when the other has ended or will not begin.
    ///
    /// # Blocking
    /// Until both have ended.
    #[inline]
    pub fn join<A, B, T, U>(&self, left: A, right: B) -> (T, U)
    where
        A: FnOnce() -> T + Send,
        B: FnOnce() -> U + Send,
        T: Send,
        U: Send,
    {
        self.compute(|| compute::join(left, right))
    }

    /// Calls `body`, which may spawn tasks; all of them have ended when this function returns. See [`compute::scope`].
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// let mut rows = vec![vec![3, 1, 2], vec![9, 8]];
    /// pool.scope(|s| {
    ///     for row in &mut rows {
    ///         s.spawn(|| row.sort());
    ///     }
    /// });
    /// assert_eq!(rows, [vec![1, 2, 3], vec![8, 9]]);
    /// ```
    ///
    /// # Panics
    /// If `body` or a task does, when all tasks have ended.
    ///
    /// # Blocking
    /// Until all tasks have ended.
    pub fn scope<'env, T>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
        self.compute(|| compute::scope(body))
    }

    /// Calls `f` for each element, and gives the values in order. See [`compute::par_map`].
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// assert_eq!(pool.par_map(0..4, |n| n * n), [0, 1, 4, 9]);
    /// ```
    ///
    /// # Panics
    /// If `f` does.
    pub fn par_map<I, T, F>(&self, items: I, f: F) -> Vec<T>
    where
        I: IntoItems,
        F: Fn(<I::Items as Items>::Item) -> T + Sync,
        T: Send,
    {
        self.compute(|| compute::par_map(items, f))
    }

    /// Calls `f` for each element, in any order. See [`compute::par_for_each`].
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// let mut squares = [1, 2, 3];
    /// pool.par_for_each(&mut squares, |n| *n *= *n);
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    ///
    /// # Panics
    /// If `f` does.
    pub fn par_for_each<I, F>(&self, items: I, f: F)
    where
        I: IntoItems,
        F: Fn(<I::Items as Items>::Item) + Sync,
    {
        self.compute(|| compute::par_for_each(items, f));
    }

    /// Reduces the elements to one value. See [`compute::par_reduce`].
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// assert_eq!(pool.par_reduce(1..101u64, || 0, |sum, n| sum + n, |a, b| a + b), 5050);
    /// ```
    ///
    /// # Panics
    /// If one of the closures does.
    pub fn par_reduce<I, T>(
        &self,
        items: I,
        identity: impl Fn() -> T + Sync,
        fold: impl Fn(T, <I::Items as Items>::Item) -> T + Sync,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> T
    where
        I: IntoItems,
        T: Send,
    {
        self.compute(|| compute::par_reduce(items, identity, fold, combine))
    }

    /// Calls `f` on a thread that shares its borrowed tasks with the pool: this one.
    #[inline]
    pub(crate) fn compute<T>(&self, f: impl FnOnce() -> T) -> T {
        if is_served(Some(self.scheduler.id().key())) { f() } else { self.compute_as_guest(f) }
    }

    #[cold]
    #[inline(never)]
    fn compute_as_guest<T>(&self, f: impl FnOnce() -> T) -> T {
        let id = self.scheduler.id();
        let _inside = id.enter();
        let _in_runtime = self.scheduler.threads.runtime().enter();
        serve(&PoolThread::guest(&self.scheduler), id.key(), f)
    }
}
