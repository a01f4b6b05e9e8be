use fiber_core::sync::Receiver;
use fiber_core::{Fiber, fiber};

fn sum(numbers: Receiver<u32>) -> Fiber<u32> {
    fiber! {
        let mut sum = 0;
        while let! Some(n) = numbers.next() {
            sum += n;
        }
        if sum > 9 && let! 3 = numbers.recv() {
            sum += 1;
        }
        sum
    }
}

fn main() {
    let (_, numbers) = fiber_core::sync::Channel::unbounded();
    let _ = sum(numbers);
}
