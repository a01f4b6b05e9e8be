use fiber_core::{Fiber, fiber};

fn greet(name: String) -> Fiber<String> {
    let greeting = fiber! { format!("hello {name}") };
    println!("{name}");
    greeting
}

fn main() {
    let _ = greet(String::new());
}
