//! Comma-separated values (RFC 4180, `\n` line ends): a header line, then one line per row; numbers in the shortest form
//! that reads back to the same double, missing values empty.

use super::{ColumnValues, Table};
use std::fmt::Write;

/// The table as csv.
///
/// ```
/// use carom_show::table::{Table, csv};
/// let mut table = Table::default();
/// table.numbers("", "time", vec![0.0, 0.5]);
/// table.numbers("", "x'", vec![1e-9, f64::NAN]);
/// assert_eq!(csv(&table), b"time,x'\n0.0,1e-9\n0.5,\n");
/// ```
pub fn csv(table: &Table) -> Vec<u8> {
    let mut bytes = csv_header(table);
    bytes.extend(csv_rows(table));
    bytes
}

/// The header line alone.
pub fn csv_header(table: &Table) -> Vec<u8> {
    let mut text = String::new();
    for (i, column) in table.columns.iter().enumerate() {
        separate(&mut text, i);
        field(&mut text, &column.name);
    }
    text.push('\n');
    text.into_bytes()
}

/// The rows alone: a long table is written piece by piece.
pub fn csv_rows(table: &Table) -> Vec<u8> {
    let mut text = String::new();
    for row in 0..table.rows() {
        for (i, column) in table.columns.iter().enumerate() {
            separate(&mut text, i);
            match &column.values {
                ColumnValues::Numbers(v) => match v.get(row) {
                    Some(x) if !x.is_nan() => _ = write!(text, "{x:?}"),
                    _ => {}
                },
                ColumnValues::Integers(v) => v.get(row).into_iter().for_each(|x| _ = write!(text, "{x}")),
                ColumnValues::Texts(v) => v.get(row).into_iter().for_each(|x| field(&mut text, x)),
            }
        }
        text.push('\n');
    }
    text.into_bytes()
}

fn separate(text: &mut String, column: usize) {
    if column > 0 {
        text.push(',');
    }
}

fn field(text: &mut String, value: &str) {
    if value.contains([',', '"', '\n', '\r']) {
        text.push('"');
        text.push_str(&value.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(value);
    }
}
