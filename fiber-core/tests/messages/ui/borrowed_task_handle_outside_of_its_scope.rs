// The task has ended with its scope, and what it gave may be gone.
use fiber_core::compute::scope;

fn main() {
    let text = String::from("lives longer than the scope");
    let handle = scope(|s| s.spawn(|| text.len()));
    handle.join();
}
