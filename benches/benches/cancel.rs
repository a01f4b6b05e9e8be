//! The workloads of [`benches::workloads::cancel`] under criterion.

use benches::{Hosts, report, workloads::cancel};
use criterion::{Criterion, criterion_group, criterion_main};

fn cancel(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "cancel", cancel::all(&hosts));
}

criterion_group!(benches, cancel);
criterion_main!(benches);
