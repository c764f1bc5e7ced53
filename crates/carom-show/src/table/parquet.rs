//! Apache Parquet, written by the field's own library row group by row group.
//!
//! ```text
//! numbers    DOUBLE, PLAIN, null where NaN            doubles of a motion hardly repeat and do not compress
//! integers   INT64, PLAIN
//! texts      UTF8, a dictionary, snappy, null where empty
//! ```
//!
//! Promise: same table, same bytes; every reader of parquet can read it; memory grows with a row group, not with the table.

use super::{ColumnValues, Table};
use ::parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows per row group of a table that is written at once: columns of doubles stay at 8 MiB.
const GROUP: usize = 1 << 20;

/// The key under which a file says where it comes from.
const NOTE: &str = "carom";

/// The table as a parquet file.
///
/// # Errors
/// If its columns are of different lengths.
pub fn parquet(table: &Table) -> io::Result<Vec<u8>> {
    let mut writer = ParquetWriter::new(Vec::new(), table)?;
    let mut from = 0;
    while from < table.rows() {
        let to = table.rows().min(from + GROUP);
        writer.group(table, from, to)?;
        from = to;
    }
    writer.finish()
}

/// A parquet file written row group by row group, for tables too long to hold.
pub struct ParquetWriter<W: Write + Send> {
    schema: Arc<Schema>,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file; `like` names the columns and says what they hold.
    ///
    /// # Errors
    /// If `out` takes no more.
    pub fn new(out: W, like: &Table) -> io::Result<ParquetWriter<W>> {
        let note =
            like.stamp.as_ref().map(|stamp| vec![KeyValue::new(NOTE.to_owned(), stamp.json().to_owned())]);
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("carom version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_max_row_group_row_count(None)
            .set_key_value_metadata(note);
        let mut fields = Vec::new();
        for column in &like.columns {
            let kind = match column.values {
                ColumnValues::Numbers(_) => DataType::Float64,
                ColumnValues::Integers(_) => DataType::Int64,
                ColumnValues::Texts(_) => DataType::Utf8,
            };
            if kind == DataType::Utf8 {
                let path = ColumnPath::new(vec![column.name.clone()]);
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), true)
                    .set_column_compression(path, Compression::SNAPPY);
            }
            fields.push(Field::new(&column.name, kind, true));
        }
        let schema = Arc::new(Schema::new(fields));
        let options =
            ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(out, schema.clone(), options).map_err(cause)?;
        Ok(ParquetWriter { schema, writer })
    }

    /// Appends the rows `from..to` of a table as a row group.
    ///
    /// # Errors
    /// If the file takes no more, or the table has other columns than the first.
    pub fn group(&mut self, table: &Table, from: usize, to: usize) -> io::Result<()> {
        let short = |_| io::Error::new(io::ErrorKind::InvalidInput, "columns of different lengths");
        let columns = table.columns.iter().map(|column| array(&column.values, from, to).ok_or(()));
        let columns = columns.collect::<Result<Vec<ArrayRef>, ()>>().map_err(short)?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let batch = batch.map_err(|error: ArrowError| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.writer.write(&batch).and_then(|()| self.writer.flush()).map_err(cause)
    }

    /// Ends the file and gives it back.
    ///
    /// # Errors
    /// If it takes no more.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(cause)
    }
}

/// Some values of a column; none if there are fewer.
fn array(values: &ColumnValues, from: usize, to: usize) -> Option<ArrayRef> {
    Some(match values {
        ColumnValues::Numbers(v) => {
            let numbers = v.get(from..to)?.iter().map(|x| (!x.is_nan()).then_some(*x));
            Arc::new(numbers.collect::<Float64Array>())
        }
        ColumnValues::Integers(v) => Arc::new(Int64Array::from_iter_values(v.get(from..to)?.iter().copied())),
        ColumnValues::Texts(v) => {
            let texts = v.get(from..to)?.iter().map(|text| (!text.is_empty()).then_some(text));
            Arc::new(texts.collect::<StringArray>())
        }
    })
}

/// What the system said, where it was the system.
fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(system) => *system,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
