//! The laws of schedulers hold for the virtual timeline and for a small scheduler with threads. A scheduler with a fault
//! breaks the corresponding law.

mod faults;
mod small;

use fiber_test::{TestScheduler, laws, scheduler_laws};
use small::{Fault, Small};

scheduler_laws!(first_in_first_out, TestScheduler::new);
scheduler_laws!(seeded, || TestScheduler::with_seed(1));
scheduler_laws!(two_virtual_cpus, || TestScheduler::new().virtual_cpus(2));
scheduler_laws!(small_with_one_thread, || Small::new(1));
scheduler_laws!(small_with_two_threads, || Small::new(2));

#[test]
fn the_order_of_timers_is_kept_where_the_thread_that_sets_them_is_interrupted() {
    let make = || Small::with_fault(1, Fault::SetsTimersSlowly);
    laws::timers_fire_in_the_order_of_their_deadlines(make).unwrap();
}
