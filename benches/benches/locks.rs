//! The workloads of [`benches::workloads::coordination_locks`] under criterion.

use benches::{Hosts, report, workloads::coordination_locks};
use criterion::{Criterion, criterion_group, criterion_main};

fn locks(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "locks", coordination_locks::all(&hosts));
}

criterion_group!(benches, locks);
criterion_main!(benches);
