//! The workloads of [`benches::workloads::switch`] under criterion.

use benches::{Hosts, report, workloads::switch};
use criterion::{Criterion, criterion_group, criterion_main};

fn switch(criterion: &mut Criterion) {
    let hosts = Hosts::start();
    report(criterion, "switch", switch::all(&hosts));
}

criterion_group!(benches, switch);
criterion_main!(benches);
