use std::fmt::Write;

use super::{Row, Total, Window};
use crate::digits::grouped;
use crate::visible::visible;

impl Window {
    /// Writes the rows for a reader, one per line: number, tab, text.
    ///
    /// Numbers are aligned to the right. Characters that could act on a terminal or hide text are
    /// [made visible](crate::visible()), which can lengthen a text up to fourfold. What a row leaves
    /// out of its line is said where it is left out.
    pub fn render(&self) -> String {
        let width = self.rows.last().map_or(1, |row| row.number.to_string().len());
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = write_row(&mut text, row, width);
        }
        text
    }
}

fn write_row(out: &mut String, row: &Row, width: usize) -> std::fmt::Result {
    write!(out, "{:>width$}\t", row.number)?;
    if row.column > 0 {
        write!(out, "[{} bytes of this line before] … ", grouped(row.column))?;
    }
    out.push_str(&visible(&row.text));
    match row.left_out() {
        Total::Exact(0) => Ok(()),
        left_out => write!(out, " … [{left_out} more bytes of this line]"),
    }
}
