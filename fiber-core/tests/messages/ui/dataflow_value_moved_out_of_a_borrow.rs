use fiber_core::{Fiber, dataflow};

struct User {
    name: String,
}

fn main() {
    let _: Fiber<(usize, String)> = dataflow! {
        let user = Fiber::success(User { name: "Ann".to_owned() });
        let name = Fiber::success(user.name);
        let length = Fiber::success(user.name.len());
        return (length, name)
    };
}
