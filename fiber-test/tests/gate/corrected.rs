//! The corrected programs survive.

use fiber_test::Explore;

use crate::programs::ALL;

const SCHEDULES: u64 = 10_000;

#[test]
fn no_corrected_program_breaks() {
    for program in ALL {
        let explored = Explore::default().schedules(SCHEDULES).try_check(program.corrected);
        let explored = explored.unwrap_or_else(|failure| panic!("{}: {failure}", program.name));
        assert!(explored.schedules() == SCHEDULES || explored.is_complete(), "{}: {explored}", program.name);
    }
}
