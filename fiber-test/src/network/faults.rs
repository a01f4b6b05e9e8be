//! Faults that the explorer causes: to whom they happen, and when they are over.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use fiber_core::{Scheduler, Task, Wakeup};

use super::hosts::LOCALHOST;
use super::ways::Way;
use super::world::World;
use crate::fault::{Fault, FaultKind};
use crate::machine::Aim;

impl World {
    /// Causes a fault before a turn. `None`: there is nothing that it could happen to.
    pub(crate) fn inflict(self: &Arc<Self>, turn: u32, aim: Aim) -> Option<Fault> {
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
        };
        over.into_iter().for_each(|what| self.is_over(what, lasts));
        let hosts = hosts.into_iter().map(|host| self.name(host)).collect();
        Some(Fault { turn, kind, hosts, lasts })
    }

    /// The hosts of these names.
    fn numbers(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.find(name)).collect()
    }

    fn victims(&self, kind: FaultKind, number: u64) -> Option<Vec<usize>> {
        let named: Vec<usize> = (LOCALHOST + 1..self.hosts()).collect();
        match kind {
            FaultKind::Crash => {
                let mut up = named;
                up.retain(|host| self.power(*host).get().is_up);
                one_of(up, number).map(|host| vec![host])
            }
            FaultKind::Cut => part_of(&named, number),
            FaultKind::Reset => {
                let links = self.links().into_iter().filter(|link| link.has_open_end());
                one_of(pairs(links.map(|link| link.hosts)), number).map(Vec::from)
            }
            FaultKind::Loss => {
                let ways = self.mailboxes().into_iter().flat_map(|mailbox| mailbox.ways());
                one_of(pairs(ways), number).map(Vec::from)
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

/// Some of them, but not all: each bit says whether one of them is.
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

/// The pairs of hosts between which these lead, without those that stay within one host.
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
            // The program may have started it, and crashed it again.
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
