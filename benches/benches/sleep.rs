//! The workloads of [`benches::workloads::sleep`] under criterion.

use benches::{Hosts, report, workloads::sleep};
use criterion::{Criterion, criterion_group, criterion_main};

fn sleep(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "sleep", sleep::all(&hosts));
}

criterion_group!(benches, sleep);
criterion_main!(benches);
