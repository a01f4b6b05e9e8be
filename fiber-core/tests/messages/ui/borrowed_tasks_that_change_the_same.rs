// Two tasks at the same time cannot change one variable.
use fiber_core::compute::{join, scope};

fn main() {
    let mut count = 0;
    scope(|s| {
        drop(s.spawn(|| count += 1));
        drop(s.spawn(|| count += 1));
    });
    join(|| count += 1, || count += 1);
}
