//! Snappy, the raw block form: a length, then literals and copies of what was already written.
//!
//! ```text
//! length (varint)   [ 00 literal | 01 copy, 4-11 bytes | 10 copy, offset 2 bytes | 11 copy, offset 4 bytes ]*
//! ```

use super::Misread;

/// No stream grows by more: a copy of 64 bytes takes three.
const GROWTH: usize = 32;

/// The bytes that `packed` stands for: exactly `length` of them.
pub fn unpack(packed: &[u8], length: usize) -> Result<Vec<u8>, Misread> {
    let damaged = || Misread::damaged("a page is not snappy-compressed");
    let mut input = Input(packed);
    if input.varint() != Some(length as u64) || length / GROWTH > packed.len() {
        return Err(damaged());
    }
    let mut out: Vec<u8> = Vec::with_capacity(length);
    while let Some(tag) = input.number(1) {
        let high = tag >> 2;
        let (count, offset) = match tag & 3 {
            0 => {
                let count = if high < 60 { Some(high) } else { input.number(high - 59) };
                let literal = count.and_then(|n| input.take(n + 1)).ok_or_else(damaged)?;
                out.extend_from_slice(literal);
                (0, 1)
            }
            1 => ((high & 7) + 4, (tag >> 5) << 8 | input.number(1).ok_or_else(damaged)?),
            2 => (high + 1, input.number(2).ok_or_else(damaged)?),
            _ => (high + 1, input.number(4).ok_or_else(damaged)?),
        };
        if count > 0 && (offset == 0 || offset > out.len()) || out.len() + count > length {
            return Err(damaged());
        }
        // Byte by byte: a copy may overlap what it writes.
        for _ in 0..count {
            out.push(out[out.len() - offset]);
        }
    }
    if out.len() == length { Ok(out) } else { Err(damaged()) }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    /// A little-endian number of up to four bytes.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.number(1)? as u64;
            value |= (byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_overlapping_copies_are_unpacked() {
        // "ab", then 4 bytes from 2 back ("abab"), then 6 from 1 back ("bbbbbb").
        let packed = [12, 0b0000_0100, b'a', b'b', 0b0000_0001, 2, 0b0001_0110, 1, 0];
        assert_eq!(unpack(&packed, 12).unwrap(), b"abababbbbbbb");
    }

    #[test]
    fn a_literal_of_more_than_60_bytes_has_its_length_behind_the_tag() {
        let text: Vec<u8> = (0..100).collect();
        let mut packed = vec![100, 60 << 2, 99];
        packed.extend(&text);
        assert_eq!(unpack(&packed, 100).unwrap(), text);
    }

    #[test]
    fn what_is_not_snappy_is_refused() {
        for packed in [&[][..], &[5], &[1, 0b0000_0001, 1], &[2, 0, b'a'], &[255, 255, 255, 255, 15, 0, b'a']]
        {
            assert!(unpack(packed, 2).is_err(), "{packed:?}");
        }
        assert!(unpack(&[0x80, 0x80, 0x80, 0x80, 4, 0, 1], 1 << 30).is_err());
    }
}
