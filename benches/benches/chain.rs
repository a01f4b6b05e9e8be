//! The workloads of [`benches::workloads::chain`] under criterion.

use benches::{Hosts, report, workloads::chain};
use criterion::{Criterion, criterion_group, criterion_main};

fn chain(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "chain", chain::all(&hosts));
}

criterion_group!(benches, chain);
criterion_main!(benches);
