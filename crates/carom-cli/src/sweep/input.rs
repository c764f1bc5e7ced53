//! A table of starts and parameters, from a file: csv, parquet or npz. One column per quantity, one row per trajectory.
//!
//! Promise: every number of the table is finite; a mistake has its line, or its row and column.

use super::plan::number;
use crate::failure::Failure;
use carom_show::table::{Column, ColumnValues, Table, read_npz};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Names of the columns, and the values of each.
pub struct InputColumns {
    pub names: Vec<String>,
    pub values: Vec<Vec<f64>>,
}

/// Reads a table; its extension says how.
///
/// # Errors
/// If the file cannot be read, or holds something else than named columns of numbers.
pub fn read(file: &str) -> Result<InputColumns, Failure> {
    let extension = Path::new(file).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let columns = match extension.as_str() {
        #[cfg(feature = "tables")]
        "parquet" | "pq" => {
            let bytes = bytes(file)?;
            numbers(quietly(|| carom_show::table::read_parquet(&bytes)), file)
        }
        "npz" => numbers(read_npz(&bytes(file)?), file),
        "csv" | "txt" | "" => {
            let reader = File::open(file).map_err(|error| Failure::read(file, &error))?;
            csv(BufReader::new(reader), file)
        }
        other => Err(Failure::wrong(format!(
            "cannot read starts from {file}: .{other} is none of .csv, .parquet, .npz"
        ))),
    }?;
    if columns.names.is_empty() {
        return Err(Failure::wrong(format!(
            "{file} has no columns\n  hint: name them after coordinates, velocities (theta') and parameters"
        )));
    }
    if columns.values.iter().all(Vec::is_empty) {
        let hint = "hint: one row per trajectory";
        return Err(Failure::wrong(format!("{file} has column names but no rows\n  {hint}")));
    }
    Ok(columns)
}

/// Without a word from the reader's own assertions: what they say of a damaged file is part of its answer. Nothing else runs yet.
#[cfg(feature = "tables")]
fn quietly<T>(read: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let table = read();
    std::panic::set_hook(hook);
    table
}

fn bytes(file: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::read(file, &error))
}

/// The columns of a binary table.
fn numbers(table: Result<Table, carom_show::table::Misread>, file: &str) -> Result<InputColumns, Failure> {
    let table = table.map_err(|misread| Failure::File(format!("cannot read {file}: {misread}")))?;
    let mut columns = InputColumns { names: Vec::new(), values: Vec::new() };
    for Column { name, values } in table.columns {
        let ColumnValues::Numbers(values) = values else { continue };
        if let Some(row) = values.iter().position(|x| !x.is_finite()) {
            let what = if values[row].is_nan() { "missing or not a number" } else { "infinite" };
            return Err(Failure::wrong(format!(
                "{file}: row {} of column `{name}` is {what}\n  hint: leave the row out, or give it a value",
                row + 1
            )));
        }
        columns.names.push(plain(&name));
        columns.values.push(values);
    }
    Ok(columns)
}

/// Reads csv line by line.
///
/// # Errors
/// If a row has another length than the header, or something in it is not a finite number.
pub fn csv(mut reader: impl BufRead, file: &str) -> Result<InputColumns, Failure> {
    let mut columns = InputColumns { names: Vec::new(), values: Vec::new() };
    let mut line = Vec::new();
    for at in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|error| Failure::read(file, &error))? == 0 {
            break;
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            return Err(Failure::wrong(format!("{file}:{at} is not UTF-8 text\n  hint: save it as UTF-8")));
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        let fields = text.split(',').map(|field| field.trim().trim_matches('"'));
        if columns.names.is_empty() {
            columns.names = fields.map(plain).collect();
            columns.values = vec![Vec::new(); columns.names.len()];
            check_header(&columns.names, text, file, at)?;
            continue;
        }
        let found = fields.clone().count();
        if found != columns.names.len() {
            return Err(ragged(found, &columns.names, file, at));
        }
        for ((field, name), values) in fields.zip(&columns.names).zip(&mut columns.values) {
            let Some(value) = number(field) else {
                let what = match field {
                    "" => format!("column `{name}` is empty"),
                    _ => format!("`{field}` in column `{name}` is not a finite number"),
                };
                let hint = "leave the row or the column out, or give it a number";
                return Err(Failure::wrong(format!("{file}:{at}: {what}\n  hint: {hint}")));
            };
            values.push(value);
        }
    }
    if columns.names.is_empty() {
        return Err(Failure::wrong(format!("{file} is empty; its first line must name the columns")));
    }
    Ok(columns)
}

/// A row with another length than the first line, and what is usually wrong with it.
fn ragged(found: usize, names: &[String], file: &str, at: usize) -> Failure {
    let counted = |n: usize, thing: &str| format!("{n} {thing}{}", if n == 1 { "" } else { "s" });
    let hint = match names.get(found) {
        Some(missing) => {
            format!("the row ends before column `{missing}`: give it a number, or leave the row out")
        }
        None => {
            "a decimal sign is a point (1.5, not 1,5); a comma at the end begins another value".to_owned()
        }
    };
    Failure::wrong(format!(
        "{file}:{at}: {} under {}\n  hint: {hint}",
        counted(found, "value"),
        counted(names.len(), "column name")
    ))
}

/// What is usually wrong with a first line.
fn check_header(names: &[String], text: &str, file: &str, at: usize) -> Result<(), Failure> {
    let wrong = |message: String| Err(Failure::wrong(format!("{file}:{at}: {message}")));
    if names.len() == 1 && text.contains([';', '\t']) {
        return wrong("columns are separated by commas\n  hint: 1.5;2 must be written 1.5,2".to_owned());
    }
    if names.iter().all(|name| number(name).is_some()) {
        let hint = "hint: begin with a line such as theta,theta',m";
        return wrong(format!("the first line must name the columns\n  {hint}"));
    }
    if let Some(k) = names.iter().position(String::is_empty) {
        let hint = "hint: pandas writes its index like that: to_csv(…, index=False)";
        return wrong(format!("column {} has no name\n  {hint}", k + 1));
    }
    Ok(())
}

/// A name with the prime one types.
fn plain(name: &str) -> String {
    name.trim().replace(['′', '’'], "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<InputColumns, Failure> {
        csv(text.as_bytes(), "s.csv")
    }

    #[test]
    fn a_table_is_read_line_by_line_with_quotes_and_formulas() {
        let columns = read("\u{feff}theta,\"theta’\"\r\n1,2\r\n\r\n 3.5 , -pi/2\r\n").unwrap();
        assert_eq!(columns.names, ["theta", "theta'"]);
        assert_eq!(columns.values, [vec![1.0, 3.5], vec![2.0, -std::f64::consts::FRAC_PI_2]]);
    }

    #[test]
    fn a_mistake_has_its_line() {
        for (text, says) in [
            ("a,b\n1,2\n3\n", "s.csv:3: 1 value under 2 column names"),
            ("a\n1,2\n", "s.csv:2: 2 values under 1 column name\n"),
            ("a,b\n\n1,x\n", "s.csv:3: `x` in column `b` is not"),
            ("a,b\n1,\n", "s.csv:2: column `b` is empty"),
            ("a\nnan\n", "s.csv:2: `nan`"),
            ("a\ninf\n", "s.csv:2: `inf`"),
            ("a;b\n1;2\n", "s.csv:1: columns are separated by commas"),
            ("1,2\n3,4\n", "s.csv:1: the first line must name"),
            (",a\n0,1\n", "s.csv:1: column 1 has no name"),
            ("", "s.csv is empty"),
            ("\n\n", "s.csv is empty"),
        ] {
            let message = read(text).err().unwrap().to_string();
            assert!(message.starts_with(says), "{message}");
        }
    }

    #[test]
    fn a_ragged_row_says_what_to_do() {
        for (text, hint) in [
            ("a,b,c\n1\n", "hint: the row ends before column `b`"),
            ("a,b\n1,2,\n", "a comma at the end begins another value"),
            ("a,b\n1,5,2\n", "a decimal sign is a point (1.5, not 1,5)"),
        ] {
            let message = read(text).err().unwrap().to_string();
            assert!(message.contains(hint), "{message}");
        }
    }
}
