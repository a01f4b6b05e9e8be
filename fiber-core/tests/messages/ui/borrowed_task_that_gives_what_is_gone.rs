// What a task borrows has to live longer than the scope.
use fiber_core::compute::scope;

fn main() {
    let longest = {
        let words = vec![String::from("gone"), String::from("soon")];
        scope(|s| s.spawn(|| words.iter().max_by_key(|word| word.len()).unwrap().as_str()).join())
    };
    println!("{longest}");
}
