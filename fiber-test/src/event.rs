use fiber_core::Fiber;

use crate::machine::Machine;

/// Marks a place of a program with a name, for assertions about its [`Trace`](crate::Trace). On any other scheduler it does nothing.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_test::{TestScheduler, event};
/// use std::time::Duration;
///
/// let ping = event("sent").bind(|()| Fiber::delay(Duration::from_secs(1))).bind(|()| event("acknowledged"));
/// let test = TestScheduler::new().record();
/// test.run(ping).unwrap();
/// test.trace().assert_order(&["sent", "acknowledged"]);
/// ```
#[track_caller]
pub fn event(name: impl Into<String>) -> Fiber<()> {
    let name = name.into();
    let mark = Fiber::current().map(move |context| {
        if let Some(machine) = Machine::of(&**context.scheduler()) {
            machine.event(name);
        }
    });
    mark.boxed()
}
