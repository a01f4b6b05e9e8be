use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};

use crate::workload::Workload;

/// Enough for a median; comparisons belong in the interleaved table.
const SAMPLES: usize = 20;

/// Passes the workloads of a topic to criterion: a group for each, a benchmark for each contender.
///
/// Criterion times one contender after the other, so a slow moment of the machine may affect only one.
pub fn report(criterion: &mut Criterion, topic: &str, workloads: Vec<Workload<'_>>) {
    for mut workload in workloads {
        let mut group = criterion.benchmark_group(format!("{topic}: {}", workload.name));
        group.sample_size(SAMPLES);
        group.warm_up_time(Duration::from_millis(300));
        group.measurement_time(Duration::from_secs(1));
        group.throughput(Throughput::Elements(workload.operations));
        for contender in &mut workload.contenders {
            let id = BenchmarkId::from_parameter(contender.column);
            group.bench_function(id, |bencher| bencher.iter_custom(|runs| contender.time(runs)));
        }
        group.finish();
    }
}
