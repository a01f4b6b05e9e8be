//! The workloads of [`benches::workloads::timers`] under criterion.

use benches::{Hosts, report, workloads::timers};
use criterion::{Criterion, criterion_group, criterion_main};

fn timers(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "timers", timers::all(&hosts));
}

criterion_group!(benches, timers);
criterion_main!(benches);
