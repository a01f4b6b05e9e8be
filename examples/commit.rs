//! Twenty cents move from one bank to another one, while computers crash and the network is partitioned. The explorer decides when:
//!
//! ```text
//! cargo run --release --example commit
//! ```
//!
//! It prints how a bank that keeps its promises only in memory loses money. The protocol is `commit` in the library
//! `bank`; the guide `docs/testing.md` explains it.

use bank::commit::{Disk, Log, PORT, bank as careful_bank, forgetful_bank, transfer};
use fiber_core::{Either, Fiber, fiber};
use fiber_test::{Explore, Faults, network};

/// How a bank serves.
type Bank = fn(Disk) -> Fiber<()>;

/// Two banks with fifty cents each, on their own hosts, and an office that moves twenty of them.
fn two_banks(bank: Bank) -> Fiber<()> {
    fiber! {
        let! network = network();
        let [a, b, office] = ["a", "b", "office"].map(|name| network.host(name));
        let disks = [Disk::new(50), Disk::new(50)];
        let [of_a, of_b] = disks.clone();
        let serve = a.run(move || bank(of_a.clone())).zip(b.run(move || bank(of_b.clone())));
        let (banks, log) = ([a.at(PORT), b.at(PORT)], Log::default());
        let move_cents = office.run(move || transfer(1, 20, banks, log.clone()));
        let! first = serve.race(move_cents);
        let Either::Right(is_moved) = first else { unreachable!("banks serve without end") };
        let [left, right] = disks.map(|disk| disk.balance());
        assert!(left + right == 100, "of 100 cents {} are left", left + right);
        assert!(left == if is_moved { 30 } else { 50 }, "all parties agree");
    }
}

/// A crash and a partition, at any turns.
fn explore() -> Explore {
    Explore::default().faults(Faults::new().crashes(1).partitions(1))
}

fn main() {
    let failure = explore().try_check(|| two_banks(forgetful_bank)).expect_err("it forgets its promises");
    println!("{failure}\n");
    let explored = explore().try_check(|| two_banks(careful_bank)).expect("it keeps its promises");
    println!("a bank that writes down what it promises: {explored}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use fiber_test::{FaultKind, TestScheduler};

    const GUIDE: &str = include_str!("../docs/testing.md");

    #[test]
    fn without_faults_both_banks_are_right() {
        for bank in [forgetful_bank as Bank, careful_bank] {
            let test = TestScheduler::new();
            test.run(two_banks(bank)).unwrap();
            test.assert_no_leaks();
            Explore::default().schedules(200).check(|| two_banks(bank));
        }
    }

    #[test]
    fn a_bank_that_forgets_its_promises_loses_money_by_one_crash() {
        let failure = explore().try_check(|| two_banks(forgetful_bank)).unwrap_err();
        let [crash] = failure.schedule().faults() else { panic!("one is enough: {failure}") };
        assert_eq!(crash.kind, FaultKind::Crash);
        let again = Explore::replay(&failure.schedule().to_string()).try_check(|| two_banks(forgetful_bank));
        assert_eq!(again.unwrap_err().problem().message(), failure.problem().message());
        let report = failure.to_string();
        let shown = report.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n");
        assert!(
            GUIDE.contains(&shown),
            "docs/testing.md has to show this as it is now:\n\n{shown}\n\n{report}"
        );
    }

    #[test]
    fn a_bank_that_writes_them_down_does_not() {
        explore().schedules(300).check(|| two_banks(careful_bank));
        Explore::default()
            .faults(Faults::new().crashes(3).partitions(2).resets(2))
            .schedules(300)
            .check(|| two_banks(careful_bank));
    }
}
