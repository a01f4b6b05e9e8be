//! Faults that the explorer injects: the hosts that they affect, and when they end.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use fiber_core::scheduler::{Scheduler, Task, Wakeup};

use super::hosts::LOCALHOST;
use super::ways::Way;
use super::world::World;
use crate::fault::{Fault, FaultKind};
use crate::machine::Aim;
use crate::schedule::MAX_NUMBER;

impl World {
    /// Injects a fault before a turn. `None`: no host could be affected.
    pub(super) fn fail(self: &Arc<Self>, turn: u32, aim: Aim) -> Option<Fault> {
        let (kind, hosts, lasts) = match aim {
            Aim::Exactly(fault) => (fault.kind, self.numbers(&fault.hosts)?, fault.lasts),
            Aim::Any { kind, number, lasts } => (kind, self.victims(kind, number)?, lasts),
        };
        let over = match kind {
            FaultKind::Crash => {
                let crashes = self.crash(hosts[0])?;
                Some(What::Crash { host: hosts[0], crashes })
            }
            FaultKind::Cut => Some(What::Split(self.split(&hosts))),
            FaultKind::Reset => {
                Way { world: self.clone(), ends: [hosts[0], hosts[1]] }.reset();
                None
            }
            FaultKind::Loss => {
                Way { world: self.clone(), ends: [hosts[0], hosts[1]] }.lose_datagrams();
                None
            }
            FaultKind::DiskError | FaultKind::LaterDiskError => {
                let spared = u32::from(kind == FaultKind::LaterDiskError);
                self.note(|| {
                    let which =
                        if spared == 0 { "the next operation" } else { "the operation after the next one" };
                    format!("{which} on the disk of {} fails", self.name(hosts[0]))
                });
                self.disk(hosts[0]).fail_once(spared);
                None
            }
        };
        over.into_iter().for_each(|what| self.is_over(what, lasts));
        let hosts = hosts.into_iter().map(|host| self.name(host)).collect();
        Some(Fault { turn, kind, hosts, lasts })
    }

    /// All faults of these kinds that are possible now, with the hosts that they affect.
    pub(super) fn possible_faults(&self, kinds: &[FaultKind]) -> Vec<(FaultKind, Vec<String>)> {
        let named = |hosts: Vec<usize>| hosts.into_iter().map(|host| self.name(host)).collect();
        let of_kind = |kind| self.all_victims(kind).into_iter().map(move |hosts| (kind, named(hosts)));
        kinds.iter().flat_map(|kind| of_kind(*kind)).collect()
    }

    /// The numbers of the hosts with these names.
    fn numbers(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.find(name)).collect()
    }

    fn victims(&self, kind: FaultKind, number: u64) -> Option<Vec<usize>> {
        match kind {
            // There may be too many partitions to list.
            FaultKind::Cut => part_of(&self.named(), number),
            _ => one_of(self.all_victims(kind), number),
        }
    }

    fn named(&self) -> Vec<usize> {
        (LOCALHOST + 1..self.hosts()).collect()
    }

    fn all_victims(&self, kind: FaultKind) -> Vec<Vec<usize>> {
        match kind {
            FaultKind::Crash | FaultKind::DiskError | FaultKind::LaterDiskError => {
                let up = self.named().into_iter().filter(|host| self.power(*host).get().is_up);
                up.map(|host| vec![host]).collect()
            }
            FaultKind::Cut => parts_of(&self.named()),
            FaultKind::Reset => {
                let links = self.links().into_iter().filter(|link| link.has_open_end());
                pairs(links.map(|link| link.hosts)).into_iter().map(Vec::from).collect()
            }
            FaultKind::Loss => {
                let ways = self.mailboxes().into_iter().flat_map(|mailbox| mailbox.ways());
                pairs(ways).into_iter().map(Vec::from).collect()
            }
        }
    }

    fn split(self: &Arc<Self>, off: &[usize]) -> u64 {
        self.note(|| {
            let names: Vec<String> = off.iter().map(|host| self.name(*host)).collect();
            format!("cuts {} off from all other hosts", names.join(", "))
        });
        let off = off.to_vec();
        let number = self.ways(|ways| ways.split(off));
        self.update_links();
        number
    }

    fn is_over(self: &Arc<Self>, what: What, after: Duration) {
        let Some(machine) = self.machine().upgrade() else { return };
        let over = Arc::new(Over { world: Arc::downgrade(self), what });
        machine.schedule_at(machine.now() + after, Task::fire(Wakeup::from(Waker::from(over))));
    }
}

fn one_of<T: Clone>(all: Vec<T>, number: u64) -> Option<T> {
    let at = number.checked_rem(all.len() as u64)?;
    all.get(at as usize).cloned()
}

/// A proper non-empty subset: each bit of `number` selects a host.
fn part_of(all: &[usize], number: u64) -> Option<Vec<usize>> {
    let last = all.len().checked_sub(1).filter(|last| *last > 0)?;
    let mut part: Vec<usize> = all[..last]
        .iter()
        .enumerate()
        .filter(|(at, _)| number >> (at % 64) & 1 == 1)
        .map(|(_, host)| *host)
        .collect();
    if part.is_empty() {
        part.push(all[last]);
    }
    Some(part)
}

/// All such subsets, up to one more than can be chosen from.
fn parts_of(all: &[usize]) -> Vec<Vec<usize>> {
    let parts = 1 << all.len().saturating_sub(1).min(MAX_NUMBER.ilog2() as usize);
    (0..parts).filter_map(|number| part_of(all, number)).collect()
}

/// The pairs of hosts that these connect, without those within one host.
fn pairs(ways: impl Iterator<Item = [usize; 2]>) -> Vec<[usize; 2]> {
    let between = ways.filter(|[one, other]| one != other);
    let sorted: BTreeSet<_> = between.map(|[one, other]| [one.min(other), one.max(other)]).collect();
    sorted.into_iter().collect()
}

/// The end of a fault.
struct Over {
    world: Weak<World>,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Crash { host: usize, crashes: u32 },
    Split(u64),
}

impl Wake for Over {
    fn wake(self: Arc<Self>) {
        let Some(world) = self.world.upgrade() else { return };
        match self.what {
            // The program may have restarted it, and crashed it again.
            What::Crash { host, crashes } if world.power(host).get().crashes == crashes => {
                world.restart_host(host);
            }
            What::Crash { .. } => {}
            What::Split(number) => {
                world.note(|| "ends a partition".to_owned());
                world.ways(|ways| ways.end_split(number));
                world.update_links();
            }
        }
    }
}
