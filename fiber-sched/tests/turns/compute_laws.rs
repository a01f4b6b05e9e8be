//! Random trees of borrowed tasks have the same results as sequential calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use fiber_core::compute;
use fiber_sched::Pool;
use proptest::prelude::*;

/// A computation whose result, a text, depends on the order of its parts.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(u8),
    Panics,
    Join(Box<Tree>, Box<Tree>),
    /// Spawns all, joins some of them in reverse order, and leaves the others to the scope.
    Scope(Vec<Tree>),
    Map(Vec<Tree>),
    Reduce(Vec<Tree>),
}

fn trees(panics: u32) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![20 => any::<u8>().prop_map(Tree::Leaf), panics => Just(Tree::Panics)];
    leaf.prop_recursive(6, 200, 8, |tree| {
        let some = prop::collection::vec(tree.clone(), 0..8);
        prop_oneof![
            (tree.clone(), tree).prop_map(|(a, b)| Tree::Join(Box::new(a), Box::new(b))),
            some.clone().prop_map(Tree::Scope),
            some.clone().prop_map(Tree::Map),
            some.prop_map(Tree::Reduce),
        ]
    })
}

fn alone(tree: &Tree) -> String {
    match tree {
        Tree::Leaf(n) => n.to_string(),
        Tree::Panics => std::panic::resume_unwind(Box::new("as planned")),
        Tree::Join(a, b) => format!("({} {})", alone(a), alone(b)),
        Tree::Scope(all) | Tree::Map(all) | Tree::Reduce(all) => all.iter().map(alone).collect(),
    }
}

fn together(tree: &Tree) -> String {
    match tree {
        Tree::Leaf(_) | Tree::Panics => alone(tree),
        Tree::Join(a, b) => {
            let (a, b) = compute::join(|| together(a), || together(b));
            format!("({a} {b})")
        }
        Tree::Scope(all) => compute::scope(|s| {
            let mut tasks: Vec<_> = all.iter().map(|tree| s.spawn(|| together(tree))).collect();
            let last = tasks.split_off(all.len() / 2);
            let mut last: Vec<_> = last.into_iter().rev().map(|task| task.join()).collect();
            last.push(s.join_all(tasks).concat());
            last.into_iter().rev().collect()
        }),
        Tree::Map(all) => compute::par_map(all, together).concat(),
        Tree::Reduce(all) => {
            compute::par_reduce(all, String::new, |text, tree| text + &together(tree), |a, b| a + &b)
        }
    }
}

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::builder().workers(3).build());

fn outcome(f: impl FnOnce() -> String) -> Option<String> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_parallel_as_one_after_the_other(tree in trees(0)) {
        prop_assert_eq!(POOL.scope(|_| together(&tree)), alone(&tree));
    }

    #[test]
    fn a_panic_somewhere_is_a_panic_of_the_whole(tree in trees(2)) {
        prop_assert_eq!(outcome(|| POOL.scope(|_| together(&tree))), outcome(|| alone(&tree)));
    }

    #[test]
    fn ranges_and_slices_are_split_without_loss(start in any::<i16>(), length in 0..2000_i64) {
        let range = i64::from(start)..i64::from(start) + length;
        let all: Vec<i64> = range.clone().collect();
        prop_assert_eq!(&POOL.par_map(range.clone(), |n| n), &all);
        prop_assert_eq!(POOL.par_map(&all, |n| *n), all.clone());
        let collected = POOL.par_reduce(
            range,
            Vec::new,
            |mut all, n| { all.push(n); all },
            |mut all, mut rest| { all.append(&mut rest); all },
        );
        prop_assert_eq!(collected, all);
    }
}
