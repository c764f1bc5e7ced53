//! Apache Parquet through the field's own library, as far as starts and parameters need it: flat columns of integers,
//! floats, doubles or decimals in any encoding, compressed with snappy, zstd, gzip, lz4 or brotli, or not at all.
//!
//! Promise: a table or a sentence. How many rows there may be follows from the file's size before any is read.

use super::{Misread, most_numbers};
use crate::provenance::Stamp;
use crate::table::{Column, ColumnValues, Table};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, types};
use arrow_schema::DataType;
use bytes::Bytes;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What pandas calls the column of an index that is not one of the table's.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads a parquet file: a column of numbers for each of its columns, NaN where a value is missing.
///
/// ```
/// use carom_show::table::{Table, parquet, read_parquet};
/// let mut table = Table::default();
/// table.numbers("", "theta'", vec![0.1, f64::MAX, -0.0]);
/// assert_eq!(read_parquet(&parquet(&table)?), Ok(table));
/// assert!(read_parquet(b"theta\n0.1\n").unwrap_err().message.contains("not a parquet file"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If it is no parquet file, is damaged, or holds something else than flat columns of numbers.
pub fn read_parquet(file: &[u8]) -> Result<Table, Misread> {
    frame(file)?;
    // The library asserts some of what a file must be; a broken assertion is damage.
    catch_unwind(AssertUnwindSafe(|| read(file)))
        .unwrap_or_else(|_| Err(Misread::damaged("it contradicts itself")))
}

/// The first and the last bytes of a parquet file.
fn frame(file: &[u8]) -> Result<(), Misread> {
    let hint = "a parquet file begins and ends with PAR1; is it complete, and is its extension right?";
    if file.len() < 12 || !(file.starts_with(b"PAR1") || file.starts_with(b"PARE")) {
        return Err(Misread::new("it is not a parquet file", hint));
    }
    match &file[file.len() - 4..] {
        b"PAR1" => Ok(()),
        b"PARE" => Err(Misread::new("it is encrypted", "write it without encryption")),
        _ => Err(Misread::new("it is not a whole parquet file", hint)),
    }
}

fn damaged(error: impl fmt::Display) -> Misread {
    let text = error.to_string();
    let sentence = ["Parquet error: ", "Parquet argument error: ", "EOF: ", "Arrow: ", "External: "]
        .iter()
        .fold(text.as_str(), |text, prefix| text.strip_prefix(prefix).unwrap_or(text));
    Misread::damaged(sentence.trim())
}

fn read(file: &[u8]) -> Result<Table, Misread> {
    let reader = opened(file)?;
    let fields = reader.schema().fields().clone();
    let wanted: Vec<usize> =
        (0..fields.len()).filter(|&k| !fields[k].name().starts_with(PANDAS_INDEX)).collect();
    for &k in &wanted {
        kind(fields[k].data_type()).map_err(|holds| {
            let name = fields[k].name();
            let hint = format!("a start or a parameter is a number: leave `{name}` out or convert it");
            Misread::new(format!("column `{name}` holds {holds}"), hint)
        })?;
    }
    believable(reader.metadata(), file.len())?;
    let mask = ProjectionMask::roots(reader.parquet_schema(), wanted.iter().copied());
    let rows = reader.metadata().file_metadata().num_rows();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); wanted.len()];
    for batch in reader.with_projection(mask).build().map_err(damaged)? {
        let batch = batch.map_err(damaged)?;
        if batch.num_columns() != columns.len() {
            return Err(Misread::damaged("a row group has another number of columns than the table"));
        }
        for (values, array) in columns.iter_mut().zip(batch.columns()) {
            numbers(array, values);
        }
    }
    if columns.iter().any(|values| i64::try_from(values.len()) != Ok(rows)) {
        return Err(Misread::damaged("it has another number of rows than it says"));
    }
    let mut table = Table::default();
    for (&k, values) in wanted.iter().zip(columns) {
        table.columns.push(Column { name: fields[k].name().clone(), values: ColumnValues::Numbers(values) });
    }
    Ok(table)
}

/// Reads a parquet file that carom wrote: numbers, whole numbers and texts, and where it comes from.
///
/// ```
/// use carom_show::table::{Table, parquet, read_own_parquet};
/// let mut table = Table::default();
/// table.texts("", "stop", vec!["until".to_owned(), String::new()]);
/// table.integers("", "impacts", vec![3, 0]);
/// assert_eq!(read_own_parquet(&parquet(&table)?), Ok(table));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If it is no parquet file, is damaged, or has columns that carom does not write.
pub fn read_own_parquet(file: &[u8]) -> Result<Table, Misread> {
    frame(file)?;
    catch_unwind(AssertUnwindSafe(|| own(file)))
        .unwrap_or_else(|_| Err(Misread::damaged("it contradicts itself")))
}

/// Where a parquet file comes from, if it says so: the line of JSON of its stamp.
///
/// # Errors
/// If it is no parquet file or is damaged.
pub fn stamp_of_parquet(file: &[u8]) -> Result<Option<String>, Misread> {
    frame(file)?;
    catch_unwind(AssertUnwindSafe(|| Ok(stamp(opened(file)?.metadata()))))
        .unwrap_or_else(|_| Err(Misread::damaged("it contradicts itself")))
}

// Only what the format itself says: the schema that writers hide in a note may say otherwise.
fn opened(file: &[u8]) -> Result<ParquetRecordBatchReaderBuilder<Bytes>, Misread> {
    let options = ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_page_index_policy(PageIndexPolicy::Skip);
    ParquetRecordBatchReaderBuilder::try_new_with_options(Bytes::copy_from_slice(file), options)
        .map_err(damaged)
}

fn stamp(metadata: &ParquetMetaData) -> Option<String> {
    let notes = metadata.file_metadata().key_value_metadata()?;
    notes.iter().find(|note| note.key == "carom").and_then(|note| note.value.clone())
}

fn own(file: &[u8]) -> Result<Table, Misread> {
    let reader = opened(file)?;
    believable(reader.metadata(), file.len())?;
    let mut table =
        Table { stamp: stamp(reader.metadata()).map(|json| Stamp::read(&json)), ..Table::default() };
    for field in reader.schema().fields() {
        let values = match field.data_type() {
            DataType::Float64 => ColumnValues::Numbers(Vec::new()),
            DataType::Int64 => ColumnValues::Integers(Vec::new()),
            DataType::Utf8 => ColumnValues::Texts(Vec::new()),
            _ => {
                let hint = "only tables that carom wrote can be joined";
                return Err(Misread::new(
                    format!("column `{}` is of a kind carom does not write", field.name()),
                    hint,
                ));
            }
        };
        table.columns.push(Column { name: field.name().clone(), values });
    }
    for batch in reader.build().map_err(damaged)? {
        let batch = batch.map_err(damaged)?;
        for (column, array) in table.columns.iter_mut().zip(batch.columns()) {
            match &mut column.values {
                ColumnValues::Numbers(v) => numbers(array, v),
                ColumnValues::Integers(v) => {
                    let Some(array) = array.as_primitive_opt::<Int64Type>() else { continue };
                    v.extend(array.iter().map(Option::unwrap_or_default));
                }
                ColumnValues::Texts(v) => {
                    let Some(array) = array.as_string_opt::<i32>() else { continue };
                    v.extend(array.iter().map(|text| text.unwrap_or_default().to_owned()));
                }
            }
        }
    }
    Ok(table)
}

/// Rows and pages that a file of this size may have.
fn believable(metadata: &ParquetMetaData, bytes: usize) -> Result<(), Misread> {
    let mut left = most_numbers(bytes);
    for group in metadata.row_groups() {
        let rows = u64::try_from(group.num_rows()).map_err(|_| Misread::damaged("a negative size"))?;
        for chunk in group.columns() {
            left = left.checked_sub(rows).ok_or_else(|| {
                Misread::new("it has more rows than can be believed", "divide it into several tables")
            })?;
            let name = chunk.column_path().string();
            if chunk.file_path().is_some_and(|path| !path.is_empty()) {
                let hint = "write the table as a single file";
                return Err(Misread::new(format!("column `{name}`: its data is in another file"), hint));
            }
            if u64::try_from(chunk.num_values()) != Ok(rows) {
                return Err(Misread::damaged(format!("column `{name}` has another length")));
            }
            let from = chunk.dictionary_page_offset().map_or(chunk.data_page_offset(), |at| {
                if at > 0 { at.min(chunk.data_page_offset()) } else { chunk.data_page_offset() }
            });
            let to = from.checked_add(chunk.compressed_size()).and_then(|to| u64::try_from(to).ok());
            if from < 0 || chunk.compressed_size() < 0 || to.is_none_or(|to| to > bytes as u64) {
                return Err(Misread::damaged(format!(
                    "the pages of column `{name}` are beyond the end of the file"
                )));
            }
        }
    }
    Ok(())
}

/// Whether values of this kind are numbers; else what they are.
fn kind(kind: &DataType) -> Result<(), &'static str> {
    match kind {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Ok(()),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Ok(()),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Ok(()),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => Ok(()),
        DataType::Decimal256(..) => Err("decimal numbers of more than 38 digits"),
        DataType::Null => Err("nothing"),
        DataType::Boolean => Err("truth values"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Err("texts"),
        DataType::List(_) | DataType::LargeList(_) | DataType::Struct(_) | DataType::Map(..) => {
            Err("lists or structures")
        }
        kind if kind.is_temporal() => Err("dates or times"),
        _ => Err("bytes"),
    }
}

/// Appends the values of an array, NaN where one is missing.
fn numbers(array: &dyn Array, values: &mut Vec<f64>) {
    fn each<T: ArrowPrimitiveType>(
        array: &dyn Array,
        values: &mut Vec<f64>,
        number: impl Fn(T::Native) -> f64,
    ) {
        let Some(array) = array.as_primitive_opt::<T>() else { return };
        values.extend(array.iter().map(|value| value.map_or(f64::NAN, &number)));
    }
    // The double nearest to digits · 10^-scale.
    let decimal = |digits: i128, scale: i8| {
        let text = format!("{digits}e{}", -i32::from(scale));
        text.parse().unwrap_or(f64::NAN)
    };
    match *array.data_type() {
        DataType::Int8 => each::<Int8Type>(array, values, f64::from),
        DataType::Int16 => each::<Int16Type>(array, values, f64::from),
        DataType::Int32 => each::<Int32Type>(array, values, f64::from),
        DataType::Int64 => each::<Int64Type>(array, values, |x| x as f64),
        DataType::UInt8 => each::<UInt8Type>(array, values, f64::from),
        DataType::UInt16 => each::<UInt16Type>(array, values, f64::from),
        DataType::UInt32 => each::<UInt32Type>(array, values, f64::from),
        DataType::UInt64 => each::<UInt64Type>(array, values, |x| x as f64),
        DataType::Float16 => each::<Float16Type>(array, values, f64::from),
        DataType::Float32 => each::<Float32Type>(array, values, f64::from),
        DataType::Float64 => each::<Float64Type>(array, values, |x| x),
        DataType::Decimal32(_, scale) => {
            each::<types::Decimal32Type>(array, values, |x| decimal(x.into(), scale))
        }
        DataType::Decimal64(_, scale) => {
            each::<types::Decimal64Type>(array, values, |x| decimal(x.into(), scale))
        }
        DataType::Decimal128(_, scale) => each::<types::Decimal128Type>(array, values, |x| decimal(x, scale)),
        _ => {}
    }
}
