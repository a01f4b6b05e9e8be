use std::panic::Location;
use std::sync::Arc;

use super::one_shot::one_shot_at;
use crate::combine::Scope;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::resource::Resource;

impl Scope {
    /// A scope as a resource: a value that can be passed on, kept in a struct, and combined with other resources. It is
    /// open during its use. Then its forks are cancelled and awaited.
    ///
    /// [`Fiber::scope`] is for a scope that one function opens and closes.
    ///
    /// ```
    /// use fiber_core::{Fiber, Resource, Scope};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// /// A service that has background work.
    /// #[derive(Clone)]
    /// struct Mailer { background: Scope }
    ///
    /// impl Mailer {
    ///     fn open() -> Resource<Mailer> {
    ///         Scope::resource().map(|background| Mailer { background })
    ///     }
    ///     fn send(&self) -> Fiber<()> {
    ///         self.background.fork(Fiber::delay(Duration::from_secs(60))).map(drop).boxed()
    ///     }
    /// }
    ///
    /// let test = TestScheduler::new();
    /// let sent = Mailer::open().using(|mailer| mailer.send().map(move |()| mailer.background.live_forks()));
    /// assert_eq!(test.run(sent).unwrap(), 1);
    /// assert_eq!(test.live_fibers(), 0);
    /// ```
    ///
    /// # Cancellation
    /// The release waits for the forks, which run their finalizers.
    #[track_caller]
    pub fn resource() -> Resource<Scope> {
        let site = Location::caller();
        let open = Fiber::defer(move || {
            let (passed, scope) = one_shot_at(site);
            let keeper = Fiber::scope_at(site, move |scope| {
                passed.success(scope);
                Fiber::<()>::never_at(site)
            });
            // Before the keeper has passed the scope, only a cancellation of this fiber ends it.
            let end = |scope: Outcome<_>| if scope.is_success() { scope } else { Outcome::Cancelled };
            let scope = scope.map_outcome_at(site, end);
            let keep = move |keeper| scope.map_at(site, move |scope| (scope, Arc::new(keeper)));
            keeper.fork_at(site).bind_at(site, keep)
        });
        Resource::new(open, move |(_, keeper)| keeper.cancel_at(site)).map(|(scope, _)| scope)
    }
}
