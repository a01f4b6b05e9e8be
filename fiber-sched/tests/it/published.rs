//! The metrics of a pool, as a recorder of the `metrics` crate receives them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fiber_core::Fiber;
use fiber_sched::{Pool, block_on};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

/// The numbers by name and labels. A gauge is stored as the bits of an `f64`.
#[derive(Default)]
struct Numbers(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

impl Numbers {
    fn of(&self, key: &Key) -> Arc<AtomicU64> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        self.0.lock().unwrap().entry(format!("{}{{{}}}", key.name(), labels.join(","))).or_default().clone()
    }

    fn get(&self, name: &str) -> u64 {
        self.0.lock().unwrap()[name].load(Ordering::SeqCst)
    }
}

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.of(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.of(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn a_recorder_receives_what_the_pool_has_done() {
    let pool = Pool::builder().workers(1).build();
    for n in 0..10 {
        assert!(block_on(pool.spawn(Fiber::success(n))).is_success());
    }
    let _waits = pool.spawn(Fiber::<()>::never());
    // Its turn is over when the next fiber has ended.
    assert!(block_on(pool.spawn(Fiber::blocking(|| ()))).is_success());
    let numbers = Numbers::default();
    metrics::with_local_recorder(&numbers, || pool.metrics().publish("orders"));
    assert!(numbers.get("fiber_turns_total{pool=orders,kind=start}") >= 11);
    assert_eq!(numbers.get("fiber_stuck_total{pool=orders}"), 0);
    assert!(f64::from_bits(numbers.get("fiber_live{pool=orders}")) >= 1.0);
    assert_eq!(f64::from_bits(numbers.get("fiber_blocking_threads{pool=orders}")), 1.0);
    // Counters continue rather than restart.
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    metrics::with_local_recorder(&numbers, || pool.metrics().publish("orders"));
    assert!(numbers.get("fiber_turns_total{pool=orders,kind=start}") >= 13);
}
