//! The bugs that the reduced enumeration finds, and the number of its schedules.

use fiber_test::Explore;

use crate::programs::ALL;

#[test]
fn every_bug_is_found_among_the_reduced_orders() {
    for program in ALL {
        assert!(Explore::exhaustive().reduced().try_check(program.broken).is_err(), "{}", program.name);
    }
}

/// Where all orders can be counted, there are at most as many reduced ones.
#[test]
fn every_corrected_program_survives_all_of_them() {
    for program in ALL {
        let explored = Explore::exhaustive().reduced().schedules(20_000).try_check(program.corrected);
        let explored = explored.unwrap_or_else(|failure| panic!("{}: {failure}", program.name));
        assert!(!explored.is_undeclared(), "{}: {explored}", program.name);
        println!("{}: {explored}", program.name);
        if explored.is_complete() {
            let all =
                Explore::exhaustive().schedules(5_000).try_check(program.corrected).expect("it is correct");
            let orders = all.orders().unwrap_or(u64::MAX);
            assert!(
                explored.traces().is_some_and(|traces| traces <= orders),
                "{}: {explored} of {orders}",
                program.name
            );
        }
    }
}
