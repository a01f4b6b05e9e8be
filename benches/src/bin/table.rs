//! Times all workloads, alternating between the contenders, and prints a Markdown table.
//!
//! With an argument: only the workloads whose name contains it.

use benches::{Hosts, Table, time_in_turns, workloads};

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let hosts = Hosts::start();
    let mut table = Table::default();
    for mut workload in workloads::all(&hosts) {
        if workload.name.contains(&filter) {
            eprintln!("{}", workload.name);
            let timings = time_in_turns(&mut workload);
            table.add(&workload, timings);
        }
    }
    print!("{table}");
}
