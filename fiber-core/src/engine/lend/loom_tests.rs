//! Lending, taking back and stealing, under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release`

use std::task::Waker;

use loom::model;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{BranchDeque, BranchStealer, CAPACITY, Latent, Lendable, Lent};
use crate::engine::context::Wakeup;
use crate::engine::task::Task;
use crate::primitive::model_with_a_bound;

/// A branch whose content is in loom's cells, so that loom checks the accesses to it.
struct Branch {
    content: Cell,
    /// The number of times a branch was promoted.
    promoted: Arc<AtomicUsize>,
}

type Cell = Box<loom::cell::UnsafeCell<usize>>;

const PROMOTED: usize = 100;

fn cell(value: usize) -> Cell {
    Box::new(loom::cell::UnsafeCell::new(value))
}

fn read(cell: &Cell) -> usize {
    cell.with(|value| {
        // SAFETY: the content belongs to this thread; loom checks that.
        unsafe { *value }
    })
}

impl Latent for Branch {
    type Promoted = Cell;

    fn promote(self) -> (Task, Cell) {
        // Relaxed: the threads are joined before it is read.
        self.promoted.fetch_add(1, Ordering::Relaxed);
        let task = Task::fire(Wakeup::from(Waker::noop().clone()));
        (task, cell(read(&self.content) + PROMOTED))
    }
}

/// The owner's stack: branches that are lent inside each other.
#[derive(Clone, Default)]
struct Owner(Arc<AtomicUsize>);

impl Owner {
    /// Lends branch `number` during the call of `f`. `true` if it was taken back; otherwise, it has become a fiber.
    fn lends(&self, deque: &BranchDeque, number: usize, f: impl FnOnce()) -> bool {
        let mut lendable = Lendable::new(Branch { content: cell(number), promoted: self.0.clone() });
        lendable.lend(Some(deque), f);
        match lendable.into_inner() {
            Lent::Back(branch) => {
                assert_eq!(read(&branch.content), number);
                true
            }
            Lent::Taken(promoted) => {
                assert_eq!(read(&promoted), number + PROMOTED);
                false
            }
        }
    }

    /// Every branch was taken by one thread: the owner took `back`, the thieves took `stolen`.
    fn has_all(&self, back: usize, stolen: usize, all: usize) {
        assert_eq!(self.0.load(Ordering::Relaxed), stolen);
        assert_eq!(back + stolen, all);
    }
}

fn thief(stealer: BranchStealer, looks: usize) -> thread::JoinHandle<usize> {
    thread::spawn(move || (0..looks).filter(|_| stealer.steal().is_some()).count())
}

#[test]
fn a_branch_is_taken_by_its_owner_or_by_the_thief() {
    model(|| {
        let (owner, deque) = (Owner::default(), BranchDeque::new());
        let thief = thief(deque.stealer(), 1);
        let back = owner.lends(&deque, 1, || ());
        owner.has_all(back.into(), thief.join().unwrap(), 1);
    });
}

#[test]
fn the_place_of_a_branch_is_used_again_for_the_next_one() {
    model_with_a_bound(|| {
        let (owner, deque) = (Owner::default(), BranchDeque::new());
        let thief = thief(deque.stealer(), 2);
        let back = (0..3).filter(|number| owner.lends(&deque, *number, || ())).count();
        owner.has_all(back, thief.join().unwrap(), 3);
    });
}

#[test]
fn of_two_nested_branches_each_is_taken_once() {
    model(|| {
        let (owner, deque) = (Owner::default(), BranchDeque::new());
        let thief = thief(deque.stealer(), 2);
        let mut inner = false;
        let outer = owner.lends(&deque, 1, || inner = owner.lends(&deque, 2, || ()));
        owner.has_all(usize::from(outer) + usize::from(inner), thief.join().unwrap(), 2);
    });
}

#[test]
fn two_thieves_and_the_owner_take_each_branch_once() {
    model_with_a_bound(|| {
        let (owner, deque) = (Owner::default(), BranchDeque::new());
        let thieves = [thief(deque.stealer(), 1), thief(deque.stealer(), 1)];
        let mut inner = false;
        let outer = owner.lends(&deque, 1, || inner = owner.lends(&deque, 2, || ()));
        let stolen = thieves.into_iter().map(|thief| thief.join().unwrap()).sum();
        owner.has_all(usize::from(outer) + usize::from(inner), stolen, 2);
    });
}

#[test]
fn a_full_deque_has_room_again_when_its_oldest_branch_is_promoted() {
    model_with_a_bound(|| {
        let (owner, deque) = (Owner::default(), BranchDeque::new());
        let thief = thief(deque.stealer(), 1);
        let (mut back, mut promoted) = (0, 0);
        lend_nested(&owner, &deque, CAPACITY + 1, &mut back, &mut promoted);
        owner.has_all(back, promoted + thief.join().unwrap(), CAPACITY + 1);
    });
}

fn lend_nested(owner: &Owner, deque: &BranchDeque, left: usize, back: &mut usize, promoted: &mut usize) {
    if left == 0 {
        return;
    }
    if deque.is_full() {
        *promoted += usize::from(deque.promote_oldest().is_some());
    }
    let is_back = owner.lends(deque, left, || lend_nested(owner, deque, left - 1, back, promoted));
    *back += usize::from(is_back);
}

#[test]
fn an_overdue_branch_is_promoted_once_while_a_thief_is_there() {
    model(|| {
        let (owner, deque) = (Owner::default(), BranchDeque::new());
        let thief = thief(deque.stealer(), 1);
        let mut promoted = 0;
        let back = owner.lends(&deque, 1, || {
            assert!(deque.promote_overdue().is_none(), "the checkpoint sees it for the first time");
            promoted = usize::from(deque.promote_overdue().is_some());
        });
        owner.has_all(back.into(), promoted + thief.join().unwrap(), 1);
    });
}
