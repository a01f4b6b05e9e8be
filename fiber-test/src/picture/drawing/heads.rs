//! The names at the heads of the columns.

use super::super::canvas::Canvas;
use super::super::layout::LONGEST_UPWARD;
use super::super::text::{characters_in, fitting, fitting_end};
use super::Pen;

impl Pen<'_> {
    pub(super) fn head(&self) -> String {
        let mut canvas = Canvas::default();
        for (index, column) in self.comparison.columns.iter().enumerate() {
            let absent = !self.has_column(index);
            let class = if absent { "column absent" } else { "column" };
            canvas.open_group(format_args!("class=\"{class}\""));
            canvas.tooltip(&column.story());
            if self.grid.dense {
                let title = fitting(&column.in_one_line(LONGEST_UPWARD), LONGEST_UPWARD);
                canvas.upward_text("name", [self.grid.x(index) + 4, self.grid.head - 8], &title);
            } else {
                self.roomy_head(&mut canvas, index, absent);
            }
            canvas.close_group();
        }
        canvas.finish()
    }

    fn roomy_head(&self, canvas: &mut Canvas, index: usize, absent: bool) {
        let column = &self.comparison.columns[index];
        let most = characters_in(self.grid.pitch() - 4);
        let subtitle = if absent { "not made here".to_owned() } else { column.subtitle(most) };
        canvas.text("name middle", [self.grid.x(index), 18], &fitting(&column.title(), most));
        canvas.text("dim middle", [self.grid.x(index), 34], &fitting_end(&subtitle, most));
    }

    /// Whether this trace has a lane for the column.
    fn has_column(&self, column: usize) -> bool {
        self.view.outside == Some(column) || self.view.columns.contains(&Some(column))
    }
}
