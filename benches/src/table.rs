use std::fmt;

use crate::rounds::Timing;
use crate::workload::{Column, Workload};

/// The timings of many workloads, displayed as Markdown.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    timings: Vec<(Column, Timing)>,
}

impl Table {
    /// Adds a row: the timings are those of the workload's contenders, in their order.
    pub fn add(&mut self, workload: &Workload<'_>, timings: Vec<Timing>) {
        let columns = workload.contenders.iter().map(|contender| contender.column);
        self.rows.push(Row { name: workload.name.clone(), timings: columns.zip(timings).collect() });
    }
}

impl Row {
    fn timing(&self, column: Column) -> Option<Timing> {
        self.timings.iter().find(|(at, _)| *at == column).map(|(_, timing)| *timing)
    }

    /// The library's time as a multiple of that of the quickest peer, of tokio, and of itself with one worker.
    fn ratios(&self) -> [Option<f64>; 3] {
        let peers = self.timings.iter().filter(|(column, _)| column.is_peer());
        let best = peers.map(|(_, timing)| timing.median).min_by(f64::total_cmp);
        let of = |column| self.timing(column).map(|timing| timing.median);
        let others = [best, of(Column::Tokio), of(Column::OneWorker)];
        others.map(|other| Some(of(Column::Fiber)? / other?))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = Column::ALL.map(|column| column.to_string()).join(" | ");
        writeln!(f, "| workload (ns per operation) | {columns} | / best peer | / tokio | / 1 worker |")?;
        writeln!(f, "|---|{}", "---:|".repeat(Column::ALL.len() + 3))?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {} |", self.name)?;
        for column in Column::ALL {
            match self.timing(column) {
                Some(timing) => write!(f, " {timing} |")?,
                None => f.write_str(" |")?,
            }
        }
        for ratio in self.ratios() {
            match ratio {
                Some(ratio) => write!(f, " {ratio:.2} |")?,
                None => f.write_str(" |")?,
            }
        }
        Ok(())
    }
}

/// `12.3 ±4%`.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.median < 10.0 { 2 } else { usize::from(self.median < 100.0) };
        let spread = 100.0 * self.spread / self.median.max(f64::MIN_POSITIVE);
        write!(f, "{:.digits$} ±{spread:.0}%", self.median)
    }
}
