//! The same programs as binds, in `fiber!`, in `async` and as ordinary functions that wait ([`Fiber::direct`]): every wait is one turn in
//! each of them, and the end of a block is none. So the explorer makes the same decisions for binds and blocks, and its
//! tables are the same to the last schedule. In the other two, a wait may always come after code, so each of their fibers has one
//! more turn, before its first wait; they have the same tables as each other.
//!
//! And the same with plain code in place of the steps, before waits for what is ready: the races that would hide there.

mod corpus;
mod lower;

use fiber_core::Fiber;
use fiber_test::{Explore, Search};

use crate::first_bug::first_bug;
use crate::programs::{ALL, Program};

/// The programs in one form and style.
macro_rules! modules {
    ($($name:ident: $form:ident $style:ident),*) => {
        $(mod $name { super::corpus::corpus!($form $style); })*
    };
}

modules! {
    block: block steps, asynchronous: asynchronous steps, direct: direct steps,
    plain_block: block plain, plain_asynchronous: asynchronous plain, plain_direct: direct plain
}

struct Forms {
    name: &'static str,
    block: fn() -> Fiber<()>,
    asynchronous: fn() -> Fiber<()>,
    direct: fn() -> Fiber<()>,
    /// Accesses are plain code before a wait for what is ready.
    plain: [fn() -> Fiber<()>; 3],
}

macro_rules! forms {
    ($($name:ident)*) => {
        [$(Forms {
            name: stringify!($name),
            block: block::$name,
            asynchronous: asynchronous::$name,
            direct: direct::$name,
            plain: [plain_block::$name, plain_asynchronous::$name, plain_direct::$name],
        }),*]
    };
}

const FORMS: [Forms; ALL.len()] = forms![
    order_violation lost_update lost_update_all min_counter check_then_act close_send lock_order philosophers missed_notify aba
    barrier_reuse bounded_buffer double_checked double_free hand_over held_back if_for_while lease lock_upgrade missed_abort
    publish_before_init stale_retry timeout_race torn_pair
];

impl Forms {
    fn in_binds(&self) -> &'static Program {
        ALL.iter().find(|program| program.name == self.name).expect("it is of the corpus")
    }
}

/// Whose binds have other waits: a loop of binds (`iterate`) waits for something in its last round too, and an `if` in both cases.
const WITH_OTHER_WAITS: [&str; 3] = ["barrier_reuse", "bounded_buffer", "if_for_while"];

/// Checks that `tell` has the same result for a program in the forms with the same turns.
fn assert_same<T: PartialEq + std::fmt::Debug>(what: &str, tell: impl Fn(fn() -> Fiber<()>) -> T) {
    for forms in FORMS {
        let Forms { name, block, asynchronous, direct, .. } = forms;
        if !WITH_OTHER_WAITS.contains(&name) {
            assert_eq!(tell(block), tell(forms.in_binds().broken), "{name} in fiber!: {what}");
        }
        assert_eq!(tell(direct), tell(asynchronous), "{name} as a function: {what}");
    }
}

impl Forms {
    /// In all forms: with steps, and with plain code.
    fn all(&self) -> [(&'static str, fn() -> Fiber<()>); 6] {
        let [block, asynchronous, direct] = self.plain;
        [
            ("fiber!", self.block),
            ("async", self.asynchronous),
            ("direct", self.direct),
            ("fiber!, plain", block),
            ("async, plain", asynchronous),
            ("direct, plain", direct),
        ]
    }
}

#[test]
fn the_portfolio_finds_every_bug_in_every_form() {
    for forms in FORMS {
        let most = forms.in_binds().within;
        for (form, program) in forms.all() {
            let missed = (0..SEEDS).filter(|seed| {
                let explore = Explore::default().seed(*seed).schedules(most);
                first_bug(&explore, program).is_none() && explore.try_check(program).is_ok()
            });
            assert_eq!(missed.count(), 0, "{} in {form}: not found in {most} schedules", forms.name);
        }
    }
}

/// The schedules of the default portfolio to the bug, on average.
///
/// ```sh
/// cargo test -p fiber-test-tests --test gate -- --ignored --nocapture figures_of_forms
/// ```
#[test]
#[ignore = "measures, and claims nothing"]
fn figures_of_forms() {
    let mean = |program: fn() -> Fiber<()>, most: u64| {
        let found = (0..20).map(|seed| {
            let explore = Explore::default().seed(seed).schedules(most);
            let deadlock = || explore.try_check(program).err().map(|failure| failure.number());
            first_bug(&explore, program).or_else(deadlock).unwrap_or(most)
        });
        found.sum::<u64>() as f64 / 20.0
    };
    println!("| program | binds | fiber! | async | direct | fiber!, plain | async, plain | direct, plain |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for forms in FORMS {
        let program = forms.in_binds();
        let all = [program.broken].into_iter().chain(forms.all().map(|(_, program)| program));
        let row: String = all.map(|one| format!(" {:.1} |", mean(one, program.within))).collect();
        println!("| {} |{row}", forms.name);
    }
}

const SEEDS: u64 = 5;
const MOST_SCHEDULES: u64 = 500;

/// The schedules to the first bug, for each seed.
fn found(search: Option<Search>, program: fn() -> Fiber<()>) -> Vec<Option<u64>> {
    let explore = |seed| {
        let explore = Explore::default().seed(seed).schedules(MOST_SCHEDULES);
        search.into_iter().fold(explore, Explore::only)
    };
    (0..SEEDS).map(|seed| first_bug(&explore(seed), program)).collect()
}

#[test]
fn every_strategy_finds_a_bug_with_the_same_schedule_in_forms_of_the_same_turns() {
    for search in
        [Search::RunAhead, Search::Lifo, Search::Rounds, Search::RandomWalk, Search::Pct, Search::Urw]
    {
        assert_same(&search.to_string(), |program| found(Some(search), program));
    }
}

#[test]
fn the_portfolio_finds_a_bug_with_the_same_schedule_in_forms_of_the_same_turns() {
    assert_same("the portfolio", |program| found(None, program));
}

/// The number of schedules with at most this many preemptions, of a program whose bug is not a failure.
fn schedules(preemptions: Option<u32>, program: fn() -> Fiber<()>) -> Result<u64, u64> {
    let explore = preemptions.into_iter().fold(Explore::exhaustive(), Explore::preemptions);
    let tolerant = move || {
        let tolerant = program().catch_panic(|_| Fiber::success(()));
        Fiber::parallel([tolerant]).map(drop).catch_panic(|_| Fiber::success(()))
    };
    // A deadlock ends it.
    explore.try_check(tolerant).map(|explored| explored.schedules()).map_err(|failure| failure.number())
}

#[test]
fn an_enumeration_has_as_many_schedules_in_forms_of_the_same_turns() {
    for preemptions in [Some(0), Some(1), Some(2), None] {
        assert_same(&format!("{preemptions:?} preemptions"), |program| schedules(preemptions, program));
    }
}

/// The fewest preemptions that show the bug.
fn fewest(program: fn() -> Fiber<()>) -> Option<u32> {
    (0..=4).find(|most| Explore::exhaustive().preemptions(*most).try_check(program).is_err())
}

#[test]
fn a_bug_needs_as_many_preemptions_in_every_form() {
    for forms in FORMS {
        let expected = fewest(forms.in_binds().broken);
        assert_eq!(fewest(forms.block), expected, "{} in fiber!", forms.name);
        assert_eq!(fewest(forms.asynchronous), expected, "{} in async", forms.name);
        assert_eq!(fewest(forms.direct), expected, "{} as a function", forms.name);
    }
}

/// A smallest schedule names turns, which have the same numbers.
#[test]
fn the_smallest_schedule_is_the_same_in_forms_of_the_same_turns() {
    assert_same("the smallest schedule", |program| {
        let failure = Explore::default().schedules(5_000).try_check(program).unwrap_err();
        (failure.schedule().to_string(), failure.trace().turns().len())
    });
}
