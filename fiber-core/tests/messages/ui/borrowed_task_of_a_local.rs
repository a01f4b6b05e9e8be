// A task may outlive the body of its scope, so it cannot borrow a variable of the body.
use fiber_core::compute::scope;

fn main() {
    scope(|s| {
        let text = String::from("a local");
        drop(s.spawn(|| text.len()));
    });
}
