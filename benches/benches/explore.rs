//! The workloads of [`benches::workloads::explore`] under criterion.

use benches::{Hosts, report, workloads::explore};
use criterion::{Criterion, criterion_group, criterion_main};

fn explore(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "explore", explore::all(&hosts));
}

criterion_group!(benches, explore);
criterion_main!(benches);
