// The scope itself cannot leave its body.
use fiber_core::compute::{Scope, scope};

fn main() {
    let mut kept: Option<&Scope<'_, '_>> = None;
    scope(|s| kept = Some(s));
    drop(kept.unwrap().spawn(|| ()));
}
