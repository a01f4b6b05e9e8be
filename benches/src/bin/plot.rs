//! Draws a table of benchmarks, as `table` prints it, as a picture: Markdown from stdin, SVG to stdout.
//!
//! One group for each workload, with a bar for each contender. The length of a bar is its time as a multiple of the best
//! contender's, on a logarithmic axis.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::io::{Read, stdin};

/// The columns that are drawn, in the order of the bars, with a colour that is legible on white and on black.
const CONTENDERS: [(&str, &str); 4] =
    [("fiber", "#d9622b"), ("tokio", "#3f7fd0"), ("rayon", "#2f9e6e"), ("async", "#9a6fd0")];

/// All lengths are in pixels.
const LABELS: f64 = 430.0;
const AXIS: f64 = 520.0;
const MARGIN: f64 = 60.0;
const BAR: f64 = 11.0;
const GAP: f64 = 9.0;
const HEAD: f64 = 56.0;

/// The time of each contender that takes part, in nanoseconds.
struct Workload {
    name: String,
    times: BTreeMap<usize, f64>,
}

fn main() {
    let mut text = String::new();
    stdin().read_to_string(&mut text).expect("stdin is text");
    print!("{}", Plot(workloads(&text)));
}

/// The rows of all tables in a text that have times of the first contender and of another one. A workload that occurs
/// again, for example with another allocator, counts once.
fn workloads(text: &str) -> Vec<Workload> {
    let mut columns = Vec::new();
    let mut workloads: Vec<Workload> = Vec::new();
    for line in text.lines() {
        let Some(row) = line.strip_prefix('|') else {
            columns.clear();
            continue;
        };
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if cells[0].starts_with("workload (ns") {
            columns = cells.iter().map(|cell| contender(cell)).collect();
            continue;
        }
        let times: BTreeMap<_, _> =
            columns.iter().zip(&cells).filter_map(|(column, cell)| Some(((*column)?, time(cell)?))).collect();
        let is_new = workloads.iter().all(|workload| workload.name != cells[0]);
        if times.len() > 1 && times.contains_key(&0) && is_new {
            workloads.push(Workload { name: cells[0].to_owned(), times });
        }
    }
    workloads
}

fn contender(column: &str) -> Option<usize> {
    CONTENDERS.iter().position(|(name, _)| *name == column)
}

/// The median in a cell such as `31.5 ±1%`.
fn time(cell: &str) -> Option<f64> {
    cell.split_whitespace().next()?.parse().ok()
}

impl Workload {
    /// The bars: contender, and time as a multiple of the best.
    fn bars(&self) -> impl Iterator<Item = (usize, f64)> {
        let best = self.times.values().copied().fold(f64::INFINITY, f64::min);
        self.times.iter().map(move |(contender, time)| (*contender, time / best))
    }

    fn height(&self) -> f64 {
        self.times.len() as f64 * BAR + GAP
    }
}

/// The picture.
struct Plot(Vec<Workload>);

impl Plot {
    fn worst(&self) -> f64 {
        self.0.iter().flat_map(Workload::bars).map(|(_, ratio)| ratio).fold(1.0, f64::max)
    }

    /// The length of the bar of a ratio. The best one also has a length, so that it is visible.
    fn length(&self, ratio: f64) -> f64 {
        let (visible, end) = (6.0, self.worst().log10().max(0.3));
        visible + ratio.log10() / end * (AXIS - visible)
    }

    /// The ratios that have a line: 1, 2, 5, 10, 20, and so on.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let worst = self.worst();
        let all = (0..).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(decade)));
        all.take_while(move |tick| *tick <= worst)
    }

    fn draw_legend(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for ((name, colour), x) in
            CONTENDERS.iter().zip((0..).map(|column| LABELS + 80.0 * f64::from(column)))
        {
            writeln!(f, r#"<rect x="{x}" y="12" width="12" height="12" fill="{colour}"/>"#)?;
            writeln!(f, r#"<text x="{}" y="22">{name}</text>"#, x + 17.0)?;
        }
        Ok(())
    }

    fn draw_axis(&self, f: &mut Formatter<'_>, bottom: f64) -> fmt::Result {
        for tick in self.ticks() {
            let x = LABELS + self.length(tick);
            writeln!(f, r#"<path class="tick" d="M{x:.1} {HEAD}V{bottom:.1}"/>"#)?;
            writeln!(f, r#"<text class="middle" x="{x:.1}" y="{}">{tick}x</text>"#, HEAD - 8.0)?;
        }
        Ok(())
    }

    fn draw_group(&self, f: &mut Formatter<'_>, workload: &Workload, top: f64) -> fmt::Result {
        let middle = top + (workload.height() - GAP) / 2.0 + 4.0;
        writeln!(
            f,
            r#"<text class="end" x="{}" y="{middle:.1}">{}</text>"#,
            LABELS - 8.0,
            Escaped(&workload.name)
        )?;
        for ((contender, ratio), y) in workload.bars().zip((0..).map(|bar| top + BAR * f64::from(bar))) {
            let (width, colour) = (self.length(ratio), CONTENDERS[contender].1);
            writeln!(
                f,
                r#"<rect x="{LABELS}" y="{y:.1}" width="{width:.1}" height="{}" fill="{colour}"/>"#,
                BAR - 1.0
            )?;
            if ratio > 1.0 {
                let x = LABELS + width + 3.0;
                writeln!(f, r#"<text class="small" x="{x:.1}" y="{:.1}">{ratio:.2}</text>"#, y + BAR - 2.0)?;
            }
        }
        Ok(())
    }
}

impl Display for Plot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bottom = HEAD + self.0.iter().map(Workload::height).sum::<f64>();
        let (width, height) = (LABELS + AXIS + MARGIN, bottom + GAP);
        writeln!(
            f,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">"#
        )?;
        writeln!(f, "<title>Times as multiples of the best contender's, on a logarithmic axis</title>")?;
        writeln!(f, "{STYLE}")?;
        self.draw_legend(f)?;
        self.draw_axis(f, bottom)?;
        let mut top = HEAD + GAP / 2.0;
        for workload in &self.0 {
            self.draw_group(f, workload, top)?;
            top += workload.height();
        }
        writeln!(f, "</svg>")
    }
}

/// The picture has a transparent background. The grey has a contrast of 4 or more with white and with black.
const STYLE: &str = "<style>
text { font: 12px sans-serif; fill: #77797c; }
.small { font-size: 10px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.tick { stroke: #808080; stroke-opacity: 0.4; }
</style>";

/// Text in an element, without Markdown's code marks.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().filter(|letter| *letter != '`').try_for_each(|letter| match letter {
            '<' => f.write_str("&lt;"),
            '&' => f.write_str("&amp;"),
            _ => write!(f, "{letter}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Plot, workloads};

    const TABLE: &str = "\
text
| workload (ns per operation) | fiber | fiber, 1 worker | async | tokio | rayon | / tokio |
|---|---:|---:|---:|---:|---:|---:|
| slow `Fiber<T>` & co | 20.0 ±3% | 7 ±1% | | 10.0 ±1% | 100 ±9% | 2.00 |
| alone | 1.0 ±3% | 7 ±1% | | | | |

| workload (schedules per second) | fiber | tokio |
|---|---:|---:|
| fast | 179,000 | 175,000 |

| workload (ns per operation) | fiber | tokio |
|---|---:|---:|
| slow `Fiber<T>` & co | 5.0 ±3% | 10.0 ±1% |
";

    #[test]
    fn rows_with_peers_become_groups_of_ratios() {
        let workloads = workloads(TABLE);
        let names: Vec<_> = workloads.iter().map(|workload| &*workload.name).collect();
        assert_eq!(names, ["slow `Fiber<T>` & co"]);
        assert_eq!(workloads[0].bars().collect::<Vec<_>>(), [(0, 2.0), (1, 1.0), (2, 10.0)]);
    }

    #[test]
    fn the_worst_bar_ends_where_the_axis_does() {
        let plot = Plot(workloads(TABLE));
        assert_eq!(plot.length(10.0), super::AXIS);
        assert_eq!(plot.ticks().collect::<Vec<_>>(), [1.0, 2.0, 5.0, 10.0]);
        let picture = plot.to_string();
        assert!(picture.contains(">slow Fiber&lt;T> &amp; co</text>"), "{picture}");
    }
}
