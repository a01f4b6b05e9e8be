//! The virtual timeline keeps the laws of schedulers, in every order.

use fiber_test::{TestScheduler, scheduler_laws};

scheduler_laws!(first_in_first_out, TestScheduler::new);
scheduler_laws!(seeded, || TestScheduler::with_seed(1));
scheduler_laws!(two_workers, || TestScheduler::new().virtual_cpus(2));
