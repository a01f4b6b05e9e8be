// A task may run on another thread.
use std::rc::Rc;

use fiber_core::compute::{join, par_map, scope};

fn main() {
    let local = Rc::new(1);
    scope(|s| drop(s.spawn(|| *local)));
    join(|| *local, || ());
    par_map(0..3, |n| n + *local);
}
