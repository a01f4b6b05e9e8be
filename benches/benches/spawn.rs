//! The workloads of [`benches::workloads::spawn`] under criterion.

use benches::{Hosts, report, workloads::spawn};
use criterion::{Criterion, criterion_group, criterion_main};

fn spawn(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "spawn", spawn::all(&hosts));
}

criterion_group!(benches, spawn);
criterion_main!(benches);
