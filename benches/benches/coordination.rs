//! The workloads of [`benches::workloads::coordination`] under criterion.

use benches::{Hosts, report, workloads::coordination};
use criterion::{Criterion, criterion_group, criterion_main};

fn coordination(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "coordination", coordination::all(&hosts));
}

criterion_group!(benches, coordination);
criterion_main!(benches);
