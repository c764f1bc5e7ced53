//! Tables made by pandas, pyarrow, polars and numpy (`tests/readers/starts/make.py`), and what a hostile hand makes of them.

use carom_show::table::{ColumnValues, Misread, Table, csv, npz, parquet, read_npz, read_parquet};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/readers/starts")
}

fn read(name: &str) -> Result<Table, Misread> {
    let bytes = std::fs::read(folder().join(name)).unwrap();
    if name.ends_with("npz") { read_npz(&bytes) } else { read_parquet(&bytes) }
}

/// What make.py says.
fn expected() -> Table {
    let mut table = Table::default();
    let column = |f: &dyn Fn(usize) -> f64| (0..40).map(f).collect();
    table.numbers("", "y", column(&|i| 0.5 + i as f64 / 7.0));
    table.numbers("", "y'", column(&|i| (i % 3) as f64 - 1.0));
    table.numbers("", "m", column(&|i| 1.0 + (i % 4) as f64 / 4.0));
    table.numbers("", "g", column(&|i| if i < 20 { 9.81 } else { 1.62 }));
    table
}

#[test]
fn tables_of_pandas_pyarrow_polars_and_numpy_hold_what_was_written() {
    for name in [
        "pandas.parquet",
        "pandas_index.parquet",
        "polars.parquet",
        "pyarrow.parquet",
        "pyarrow_v2.parquet",
        "pyarrow_groups.parquet",
        "pyarrow_gzip.parquet",
        "pyarrow_required.parquet",
        "brotli.parquet",
        "delta.parquet",
        "numpy.npz",
        "numpy_compressed.npz",
    ] {
        assert_eq!(read(name), Ok(expected()), "{name}");
    }
}

#[test]
fn a_missing_value_is_nan_at_its_place() {
    let table = read("missing.parquet").unwrap();
    let ColumnValues::Numbers(y) = &table.columns[0].values else { panic!() };
    for (i, y) in y.iter().enumerate() {
        assert_eq!(y.is_nan(), i % 5 == 3, "{i}");
        assert!(y.is_nan() || *y == i as f64 / 8.0);
    }
}

#[test]
fn what_is_not_a_table_of_numbers_is_refused_with_a_way_out() {
    for (name, message, hint) in [
        ("texts.parquet", "column `y` holds texts", "leave `y` out"),
        ("truths.parquet", "column `y` holds truth values", "convert"),
        ("lists.parquet", "column `y` holds lists", "convert"),
        ("times.parquet", "column `y` holds dates or times", "convert"),
    ] {
        let misread = read(name).unwrap_err();
        assert!(misread.message.starts_with(message), "{misread}");
        assert!(misread.hint.contains(hint), "{misread}");
    }
    for bytes in [&b""[..], b"PAR1", b"y,m\n1,2\n", b"PAR1PAR1", b"PAR1\xFF\xFF\xFF\x7FPAR1"] {
        assert!(read_parquet(bytes).is_err());
        assert!(read_npz(bytes).is_err());
    }
}

#[test]
fn what_was_written_here_reads_back() {
    let mut table = expected();
    table.numbers("", "hole", (0..40).map(|i| if i % 9 == 0 { f64::NAN } else { -0.1 * i as f64 }).collect());
    // NaN equals nothing: compare texts.
    assert_eq!(csv(&read_parquet(&parquet(&table).unwrap()).unwrap()), csv(&table));
    assert_eq!(csv(&read_npz(&npz(&[("", &table)]).unwrap()).unwrap()), csv(&table));
}

/// Every file, cut anywhere and with any byte replaced, gives a table or a sentence, and no more numbers than it may.
#[test]
fn damaged_tables_give_sentences() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let zip = name.ends_with("npz");
        if !zip && !name.ends_with("parquet") {
            continue;
        }
        let whole = std::fs::read(&path).unwrap();
        let read = |bytes: &[u8]| if zip { read_npz(bytes) } else { read_parquet(bytes) };
        for cut in 0..whole.len() {
            assert!(read(&whole[..cut]).is_err(), "{name} cut at {cut}");
        }
        let right = csv(&read(&whole).unwrap_or_default());
        let mut bytes = whole.clone();
        for at in 0..whole.len() {
            // A low bit, a sign, nothing, everything.
            let others = if at % 2 == 0 { [whole[at] ^ 1, 0xFF] } else { [whole[at] ^ 0x80, 0] };
            for other in others {
                bytes[at] = other;
                if let Ok(table) = read(&bytes) {
                    let numbers: usize = table.columns.iter().map(|c| c.values.len()).sum();
                    assert!(numbers <= 1 << 24, "{name}: {numbers} numbers");
                    // Zip has checksums: only a name can have changed.
                    let names = csv(&table).iter().position(|b| *b == b'\n');
                    let as_before = names.is_some_and(|n| right.ends_with(&csv(&table)[n..]));
                    assert!(!zip || as_before || table.columns.len() < 4, "{name} {at}");
                }
            }
            bytes[at] = whole[at];
        }
    }
}

#[test]
fn a_small_file_that_says_it_has_billions_of_rows_is_not_believed() {
    // One value, said to be there 2^31 times: PLAIN in a page of 8 bytes, in a group of that many rows.
    let mut table = Table::default();
    table.numbers("", "y", vec![1.0]);
    let good = parquet(&table).unwrap();
    // Every varint 2 (zigzag of 1) becomes a long one, one at a time.
    for at in (0..good.len()).filter(|&at| good[at] == 2) {
        let mut bytes = good[..at].to_vec();
        bytes.extend([0xFE, 0xFF, 0xFF, 0xFF, 0x0F]);
        bytes.extend(&good[at + 1..]);
        let tail = bytes.len() - 8;
        let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) + 4;
        bytes[tail..tail + 4].copy_from_slice(&length.to_le_bytes());
        assert!(!read_parquet(&bytes).is_ok_and(|read| read.rows() > 1), "{at}");
    }
}
