//! Thrift's compact protocol, read field by field: what a caller does not know is skipped.
//!
//! ```text
//! structure   [ (id − previous id) << 4 | kind   value ]*  0         integers are zigzag varints
//! ```

use super::Misread;

pub const TRUE: u8 = 1;
pub const FALSE: u8 = 2;
const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
pub const BINARY: u8 = 8;
pub const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub const STRUCT: u8 = 12;

/// Structures within structures: more is not a table's header.
const DEEPEST: u32 = 24;

/// Bytes and how far they are read.
pub struct Cursor<'a> {
    bytes: &'a [u8],
    pub at: usize,
}

/// The kind of a field's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind(u8);

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    fn end<T>() -> Result<T, Misread> {
        Err(Misread::damaged("a header ends too early"))
    }

    fn byte(&mut self) -> Result<u8, Misread> {
        let Some(&byte) = self.bytes.get(self.at) else { return Self::end() };
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8], Misread> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(n).ok().and_then(|n| rest.get(..n)) {
            Some(part) => {
                self.at += part.len();
                Ok(part)
            }
            None => Self::end(),
        }
    }

    pub fn varint(&mut self) -> Result<u64, Misread> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Misread::damaged("a number in a header has no end"))
    }

    /// An integer of any width.
    pub fn integer(&mut self) -> Result<i64, Misread> {
        let n = self.varint()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// A text; what is not UTF-8 is shown as well as possible.
    pub fn text(&mut self) -> Result<String, Misread> {
        let n = self.varint()?;
        Ok(String::from_utf8_lossy(self.take(n)?).into_owned())
    }

    /// Calls `field` for every field of a structure; it answers whether it has read the value.
    pub fn structure(
        &mut self,
        mut field: impl FnMut(&mut Cursor<'a>, i64, Kind) -> Result<bool, Misread>,
    ) -> Result<(), Misread> {
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.integer()?,
                step => id + i64::from(step),
            };
            let kind = Kind(head & 0x0F);
            if !field(self, id, kind)? {
                self.skip(kind, 0)?;
            }
        }
    }

    /// Calls `element` for every element of a list of structures, or of texts.
    pub fn list(
        &mut self,
        mut element: impl FnMut(&mut Cursor<'a>) -> Result<(), Misread>,
    ) -> Result<(), Misread> {
        let (_, n) = self.list_head()?;
        (0..n).try_for_each(|_| element(self))
    }

    fn list_head(&mut self) -> Result<(u8, u64), Misread> {
        let head = self.byte()?;
        let n = match head >> 4 {
            15 => self.varint()?,
            n => u64::from(n),
        };
        Ok((head & 0x0F, n))
    }

    fn skip(&mut self, kind: Kind, depth: u32) -> Result<(), Misread> {
        if depth > DEEPEST {
            return Err(Misread::damaged("a header is nested too deeply"));
        }
        // In a list, a boolean is a byte; in a structure, it is in the kind.
        let inside = |kind: u8| Kind(if kind == TRUE || kind == FALSE { BYTE } else { kind });
        match kind.0 {
            TRUE | FALSE => {}
            BYTE => _ = self.byte()?,
            4..=6 => _ = self.varint()?,
            DOUBLE => _ = self.take(8)?,
            BINARY => {
                let n = self.varint()?;
                self.take(n)?;
            }
            LIST | SET => {
                let (kind, n) = self.list_head()?;
                for _ in 0..n {
                    self.skip(inside(kind), depth + 1)?;
                }
            }
            MAP => {
                let n = self.varint()?;
                let kinds = if n > 0 { self.byte()? } else { 0 };
                for _ in 0..n {
                    self.skip(inside(kinds >> 4), depth + 1)?;
                    self.skip(inside(kinds & 0x0F), depth + 1)?;
                }
            }
            STRUCT => loop {
                let head = self.byte()?;
                if head == 0 {
                    break;
                }
                if head >> 4 == 0 {
                    self.integer()?;
                }
                self.skip(Kind(head & 0x0F), depth + 1)?;
            },
            other => return Err(Misread::damaged(format!("a header has a field of unknown kind {other}"))),
        }
        Ok(())
    }
}

impl Kind {
    /// Is this an integer of any width but a byte?
    pub fn is_integer(self) -> bool {
        (4..=6).contains(&self.0)
    }

    pub fn is(self, kind: u8) -> bool {
        self.0 == kind
    }
}
