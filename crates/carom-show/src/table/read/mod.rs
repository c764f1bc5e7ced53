//! Tables of numbers made elsewhere, read from their bytes: parquet as pandas, pyarrow, polars and DuckDB write it, npz as
//! `numpy.savez` does.
//!
//! Promise: whatever the bytes are, the answer is a table or a sentence. Nothing is allocated because a file says so: room
//! grows with what is really there, up to a fixed multiple of the file's size.

mod npz;
#[cfg(feature = "tables")]
mod parquet;

pub use npz::read_npz;
#[cfg(feature = "tables")]
pub use parquet::{read_own_parquet, read_parquet, stamp_of_parquet};

use std::fmt;

/// Why a table could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misread {
    /// A sentence.
    pub message: String,
    /// A way out.
    pub hint: String,
}

impl Misread {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Misread {
        Misread { message: message.into(), hint: hint.into() }
    }

    /// The bytes are not what the format demands.
    fn damaged(what: impl fmt::Display) -> Misread {
        Misread::new(format!("damaged: {what}"), "write the file again; it may have been cut short")
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  hint: {}", self.message, self.hint)
    }
}

impl std::error::Error for Misread {}

/// So many numbers are read from any file …
const ALWAYS: u64 = 1 << 24;
/// … and so many per byte of a longer one: a few bytes can stand for billions of equal rows.
const PER_BYTE: u64 = 64;

/// How many numbers a file of this many bytes may hold.
fn most_numbers(bytes: usize) -> u64 {
    ALWAYS.max((bytes as u64).saturating_mul(PER_BYTE))
}
