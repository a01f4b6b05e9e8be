use std::fmt;

use crate::rounds::Timing;
use crate::workload::{Column, Operation, Workload};

/// The titles of [`Row::ratios`].
const RATIOS: [&str; 3] = ["/ best peer", "/ tokio", "/ 1 worker"];

/// The timings of many workloads, displayed as Markdown: a part for each kind of operation, with the columns that are
/// not empty.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    operation: Operation,
    timings: Vec<(Column, Timing)>,
}

impl Table {
    /// Adds a row: the timings of the workload's contenders, in order.
    pub fn add(&mut self, workload: &Workload<'_>, timings: Vec<Timing>) {
        let columns = workload.contenders.iter().map(|contender| contender.column);
        self.rows.push(Row {
            name: workload.name.clone(),
            operation: workload.operation,
            timings: columns.zip(timings).collect(),
        });
    }

    fn rows_of(&self, operation: Operation) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.operation == operation).collect()
    }
}

impl Row {
    fn timing(&self, column: Column) -> Option<Timing> {
        self.timings.iter().find(|(at, _)| *at == column).map(|(_, timing)| *timing)
    }

    /// The library's time as a multiple of the fastest peer's, of tokio's, and of its own with one worker.
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
        let mut separator = "";
        for operation in Operation::ALL {
            let rows = self.rows_of(operation);
            if rows.is_empty() {
                continue;
            }
            f.write_str(separator)?;
            separator = "\n";
            write_times(f, operation, &rows)?;
            if operation == Operation::Schedule {
                f.write_str(separator)?;
                write_rates(f, operation, &rows)?;
            }
        }
        Ok(())
    }
}

fn write_times(f: &mut fmt::Formatter<'_>, operation: Operation, rows: &[&Row]) -> fmt::Result {
    let columns = used_columns(rows);
    let titles = columns.iter().map(Column::to_string).chain(RATIOS.map(str::to_owned));
    write_head(f, &format!("ns per {operation}"), titles)?;
    rows.iter().try_for_each(|row| {
        let times = columns.iter().map(|column| row.timing(*column).map(|timing| timing.to_string()));
        let ratios = row.ratios().map(|ratio| ratio.map(|ratio| format!("{ratio:.2}")));
        write_row(f, &row.name, times.chain(ratios))
    })
}

fn write_rates(f: &mut fmt::Formatter<'_>, operation: Operation, rows: &[&Row]) -> fmt::Result {
    let columns = used_columns(rows);
    write_head(f, &format!("{operation}s per second"), columns.iter().map(Column::to_string))?;
    rows.iter().try_for_each(|row| {
        let rates = columns.iter().map(|column| row.timing(*column).map(Timing::per_second));
        write_row(f, &row.name, rates)
    })
}

fn write_head(f: &mut fmt::Formatter<'_>, unit: &str, titles: impl Iterator<Item = String>) -> fmt::Result {
    let titles: Vec<String> = titles.collect();
    writeln!(f, "| workload ({unit}) | {} |", titles.join(" | "))?;
    writeln!(f, "|---|{}", "---:|".repeat(titles.len()))
}

fn write_row(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    cells: impl Iterator<Item = Option<String>>,
) -> fmt::Result {
    write!(f, "| {name} |")?;
    for cell in cells {
        match cell {
            Some(cell) => write!(f, " {cell} |")?,
            None => f.write_str(" |")?,
        }
    }
    writeln!(f)
}

/// The columns that are not empty in all rows.
fn used_columns(rows: &[&Row]) -> Vec<Column> {
    let is_used = |column: &Column| rows.iter().any(|row| row.timing(*column).is_some());
    Column::ALL.into_iter().filter(is_used).collect()
}

impl Timing {
    /// `123,000`: three significant digits, which is more than a machine reproduces.
    fn per_second(self) -> String {
        let rate = 1e9 / self.median.max(f64::MIN_POSITIVE);
        let unit = 10_f64.powf((rate.log10().floor() - 2.0).max(0.0));
        grouped((rate / unit).round() as u64 * unit as u64)
    }
}

/// With a comma before every three digits.
fn grouped(number: u64) -> String {
    let rest = number / 1_000;
    if rest == 0 { number.to_string() } else { format!("{},{:03}", grouped(rest), number % 1_000) }
}

/// `12.3 ±4%`.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.median < 10.0 { 2 } else { usize::from(self.median < 100.0) };
        let spread = 100.0 * self.spread / self.median.max(f64::MIN_POSITIVE);
        write!(f, "{:.digits$} ±{spread:.0}%", self.median)
    }
}
