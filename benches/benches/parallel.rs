//! The workloads of [`benches::workloads::parallel`] under criterion.

use benches::{Hosts, report, workloads::parallel};
use criterion::{Criterion, criterion_group, criterion_main};

fn parallel(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "parallel", parallel::all(&hosts));
}

criterion_group!(benches, parallel);
criterion_main!(benches);
