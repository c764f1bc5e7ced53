//! Tables: written by ourselves, damaged or not, and read back. What must hold: undamaged numbers come back; damaged bytes are
//! a table or a sentence.

use crate::Choices;
use carom_mech::Draft;
use carom_show::table::{ColumnValues, Misread, Table, csv, npz, parquet, read_npz, read_parquet};

/// A table of some columns and rows.
fn made_up(choices: &mut Choices<'_>, numbers_only: bool) -> Table {
    let rows = choices.below(40);
    let mut table = Table::default();
    for k in 0..=choices.below(4) {
        let values = (0..rows).map(|_| match choices.below(6) {
            0 => f64::from_bits(choices.word()),
            1 => choices.below(5) as f64,
            _ => 4.0 * choices.part() - 2.0,
        });
        let values: Vec<f64> = values.map(|x| if x.is_finite() { x } else { 0.0 }).collect();
        table.numbers("fuzz", &format!("{}{k}", choices.one(&["x", "theta'", "a b", "ü", ","])), values);
    }
    if !numbers_only && choices.once_in(4) {
        table.texts("fuzz", "text", (0..rows).map(|i| format!("row \"{i}\", é")).collect());
    }
    if choices.once_in(4) {
        table.integers("fuzz", "whole", (0..rows as i64).collect());
    }
    table
}

/// Bits flipped, pieces cut, copied and overwritten.
fn damage(choices: &mut Choices<'_>, bytes: &mut Vec<u8>) {
    for _ in 0..=choices.below(6) {
        if bytes.is_empty() {
            return;
        }
        // Headers and footers are where formats are fragile.
        let at = match choices.below(3) {
            0 => choices.below(bytes.len()),
            1 => choices.below(bytes.len().min(64)),
            _ => bytes.len() - 1 - choices.below(bytes.len().min(256)),
        };
        let end = (at + 1 + choices.below(16)).min(bytes.len());
        match choices.below(6) {
            0 | 1 => bytes[at] ^= 1 << choices.below(8),
            2 => bytes[at] = choices.one(&[0, 0xff, 0x7f, 0x80]),
            3 => bytes.truncate(at),
            4 => {
                bytes.drain(at..end);
            }
            _ => {
                let copy = bytes[at..end].to_vec();
                let to = choices.below(bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
}

/// Every number of `table` is in what was read, bit for bit.
fn same(table: &Table, read: &Result<Table, Misread>, what: &str) {
    let read = read.as_ref().unwrap_or_else(|misread| panic!("{what} does not read back: {misread}"));
    for column in &table.columns {
        let ColumnValues::Numbers(values) = &column.values else { continue };
        let found = read.columns.iter().find(|c| c.name == column.name);
        let Some(ColumnValues::Numbers(again)) = found.map(|c| &c.values) else {
            panic!("{what} lost the column {}", column.name)
        };
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(values) == bits(again), "{what} changed the column {}", column.name);
    }
}

pub(crate) fn attempt(choices: &mut Choices<'_>, note: &mut dyn FnMut(&str)) {
    let kind = choices.below(3);
    // Readers of starts and parameters refuse texts.
    let whole = kind < 2 && choices.once_in(8);
    let table = made_up(choices, whole);
    let mut bytes = match kind {
        0 => parquet(&table).unwrap_or_default(),
        1 => npz(&[("", &table)]).unwrap_or_default(),
        _ => csv(&table),
    };
    if !whole {
        damage(choices, &mut bytes);
    }
    note(&format!("{} {bytes:02x?}", ["parquet", "npz", "csv"][kind]));
    match kind {
        0 => {
            let read = read_parquet(&bytes);
            if whole {
                same(&table, &read, "parquet");
            }
        }
        1 => {
            let read = read_npz(&bytes);
            if whole {
                same(&table, &read, "npz");
            }
        }
        _ => {
            let text = String::from_utf8_lossy(&bytes);
            let model = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"u*x\"\n[input]\nu = { file = \"u.csv\", column = \"x1\" }\n";
            let (mut draft, _) = Draft::parse(model, "fuzz.toml");
            draft.provide_table("u.csv", &text);
            if let Err(problems) = draft.check() {
                problems.iter().for_each(|problem| drop(problem.render("fuzz.toml")));
            }
        }
    }
}
