//! The workloads of [`benches::workloads::ready`] under criterion.

use benches::{Hosts, report, workloads::ready};
use criterion::{Criterion, criterion_group, criterion_main};

fn ready(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "ready", ready::all(&hosts));
}

criterion_group!(benches, ready);
criterion_main!(benches);
