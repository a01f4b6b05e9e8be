//! The steps of a run that come before others in every order with the same effect, and the pairs of steps that could be
//! reversed.
//!
//! Two steps are dependent if they touch the same object, and not both only to read it (or both only to count it). A step
//! also comes after the one that has made it runnable, and after all steps of earlier rounds, because timers fire only
//! when no fiber can run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use fiber_core::scheduler::footprint::Access;

use crate::machine::{Step, Steps};
use crate::random::mix;

/// The causal order of one run.
#[derive(Debug, Default)]
pub(super) struct Causes {
    /// For every step, the set of earlier steps of its round.
    before: Vec<u64>,
    /// The number of words of a set.
    words: usize,
    /// The first step of each step's round.
    rounds: Vec<u32>,
    hashes: Vec<u64>,
    objects: Objects,
    /// Pairs of steps that could be reversed: no step has to come between them.
    races: Vec<(u32, u32)>,
}

/// The accesses of each object.
#[derive(Debug, Default)]
struct Objects {
    numbers: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    all: Vec<Object>,
    used: usize,
}

#[derive(Debug, Default)]
struct Object {
    written: Option<u32>,
    /// The readers since the last write.
    read: Vec<u32>,
    added: Vec<u32>,
    history: u64,
    reads: u64,
    adds: u64,
}

/// The numbers of objects are already well distributed.
#[derive(Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = mix(self.0 ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Objects {
    fn clear(&mut self) {
        self.numbers.clear();
        self.used = 0;
    }

    fn get(&mut self, number: u64) -> &mut Object {
        let Objects { numbers, all, used } = self;
        let place = *numbers.entry(number).or_insert_with(|| {
            let place = *used;
            *used += 1;
            match all.get_mut(place) {
                Some(object) => object.clear(),
                None => all.push(Object::default()),
            }
            place as u32
        });
        &mut all[place as usize]
    }
}

impl Object {
    fn clear(&mut self) {
        self.written = None;
        self.read.clear();
        self.added.clear();
        (self.history, self.reads, self.adds) = (0, 0, 0);
    }

    /// The steps that a step with this access depends on, as far as they do not depend on each other.
    fn earlier(&self, access: Access) -> impl Iterator<Item = u32> {
        let (reads, adds) = match access {
            Access::Read => (&[][..], &self.added[..]),
            Access::Commute | Access::LastButOne => (&self.read[..], &[][..]),
            Access::Write | Access::Join => (&self.read[..], &self.added[..]),
        };
        self.written.into_iter().chain(reads.iter().copied()).chain(adds.iter().copied())
    }

    /// What a step with this access depends on in the past of the object.
    fn past(&self, access: Access) -> u64 {
        let Object { history, reads, adds, .. } = self;
        match access {
            Access::Read => history.wrapping_add(*adds),
            Access::Commute | Access::LastButOne => history.wrapping_add(*reads),
            Access::Write | Access::Join => history.wrapping_add(*reads).wrapping_add(*adds),
        }
    }

    fn touched(&mut self, step: u32, access: Access, hash: u64) {
        match access {
            Access::Read => {
                self.read.push(step);
                self.reads = self.reads.wrapping_add(mix(hash));
            }
            Access::Commute | Access::LastButOne => {
                self.added.push(step);
                self.adds = self.adds.wrapping_add(mix(hash ^ 1));
            }
            Access::Write | Access::Join => {
                self.clear();
                self.written = Some(step);
                self.history = hash;
            }
        }
    }
}

impl Causes {
    /// Learns the order of a run. If any step is new, finds the races from step `new` on.
    pub(super) fn learn(&mut self, steps: &Steps, count: usize, new: usize) {
        let all = &steps.all()[..count];
        self.words = count.div_ceil(64);
        self.before.clear();
        self.before.resize(count * self.words, 0);
        self.rounds.clear();
        self.hashes.clear();
        self.races.clear();
        self.objects.clear();
        // The last step that touches everything, and all accesses since.
        let (mut everything, mut since, mut past) = (None::<u32>, 0, 0_u64);
        let mut earlier = Vec::new();
        for (at, step) in all.iter().enumerate() {
            let is_same_round = at > 0 && all[at - 1].round == step.round;
            let round = if is_same_round { self.rounds[at - 1] } else { at as u32 };
            self.rounds.push(round);
            if let Some(maker) = step.maker {
                self.after(at, maker as usize);
            }
            let footprint = steps.footprint(step);
            if let Some(children) = step.joins {
                let ends = self.objects.get(children).added.clone();
                ends.into_iter().for_each(|end| self.after(at, end as usize));
            }
            earlier.clear();
            let mut hash = step.task.0 ^ mix(step.at.as_nanos() ^ u64::from(step.round));
            if step.touches_all {
                earlier.extend(since..at as u32);
                hash = mix(hash ^ past);
            } else {
                hash = mix(hash ^ everything.map_or(0, |step| self.hashes[step as usize]));
                for (number, access) in footprint {
                    let object = self.objects.get(*number);
                    earlier.extend(object.earlier(*access));
                    let past = object.past(*access);
                    // An object without earlier accesses by others causes no order.
                    if past != 0 {
                        hash = mix(hash.wrapping_add(mix(number ^ past)));
                    }
                }
            }
            earlier.extend(everything);
            earlier.sort_unstable();
            earlier.dedup();
            // The latest first: a step before one of those is not a race.
            for other in earlier.drain(..).rev() {
                if other < round || self.is_before(other as usize, at) {
                    continue;
                }
                if new < count {
                    self.races.push((other, at as u32));
                }
                self.after(at, other as usize);
            }
            self.hashes.push(hash);
            past = past.wrapping_add(hash);
            if step.touches_all {
                (everything, since) = (Some(at as u32), at as u32);
            }
            for (number, access) in footprint {
                self.objects.get(*number).touched(at as u32, *access, hash);
            }
        }
    }

    /// The step comes after another one, and after everything before that.
    fn after(&mut self, step: usize, other: usize) {
        if other < self.rounds[step] as usize {
            return;
        }
        let words = self.words;
        let (before, rest) = self.before.split_at_mut(step * words);
        let others = &before[other * words..(other + 1) * words];
        rest[..words].iter_mut().zip(others).for_each(|(mine, theirs)| *mine |= theirs);
        rest[other / 64] |= 1 << (other % 64);
    }

    /// Whether a step of the same round comes before another one in all orders with the same effect.
    pub(super) fn is_before(&self, one: usize, other: usize) -> bool {
        self.before[other * self.words + one / 64] & (1 << (one % 64)) != 0
    }

    pub(super) fn races(&self) -> &[(u32, u32)] {
        &self.races
    }

    /// The steps after `first` that come before `last` in all orders with the same effect, though not after `first`, and then
    /// `last`.
    pub(super) fn without(&self, first: usize, last: usize) -> Vec<usize> {
        let is_needed = |step: &usize| self.is_before(*step, last) && !self.is_before(first, *step);
        (first + 1..last).filter(is_needed).chain([last]).collect()
    }

    /// The steps after `first` that depend neither on it nor on `last`, of the same round.
    pub(super) fn beside(&self, first: usize, last: usize) -> impl Iterator<Item = usize> {
        let round = self.rounds[first];
        (first + 1..self.rounds.len()).take_while(move |step| self.rounds[*step] == round).filter(
            move |step| *step != last && !self.is_before(first, *step) && !self.is_before(last, *step),
        )
    }

    /// A number that is the same for all orders with the same effect.
    pub(super) fn trace(&self) -> u64 {
        self.hashes.iter().fold(0, |sum, hash| sum.wrapping_add(mix(*hash)))
    }
}

/// Whether all actions of a run are known: every step belongs to a fiber.
pub(super) fn is_named(steps: &[Step]) -> bool {
    steps.iter().all(|step| !step.touches_all)
}
