//! Encodings of parquet pages: plain numbers, and the hybrid of runs and packed bits that levels and dictionary indices
//! use.
//!
//! ```text
//! run      varint(n << 1)        value in ⌈width/8⌉ bytes                  n equal values
//! packed   varint(n << 1 | 1)    n·width bytes, lowest bits first          8n values
//! ```

use super::Misread;
use super::thrift::Cursor;

/// How a column's numbers are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    Int32,
    Unsigned32,
    Int64,
    Unsigned64,
    Float,
    Double,
}

impl Stored {
    pub fn width(self) -> usize {
        match self {
            Stored::Int32 | Stored::Unsigned32 | Stored::Float => 4,
            Stored::Int64 | Stored::Unsigned64 | Stored::Double => 8,
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut buffer = [0; 8];
        buffer[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(buffer);
        match self {
            Stored::Int32 => f64::from(bits as u32 as i32),
            Stored::Unsigned32 => f64::from(bits as u32),
            Stored::Int64 => bits as i64 as f64,
            Stored::Unsigned64 => bits as f64,
            Stored::Float => f64::from(f32::from_bits(bits as u32)),
            Stored::Double => f64::from_bits(bits),
        }
    }

    /// `count` numbers one after the other.
    pub fn plain(self, bytes: &[u8], count: usize) -> Result<impl Iterator<Item = f64>, Misread> {
        let width = self.width();
        let bytes = count.checked_mul(width).and_then(|n| bytes.get(..n));
        let bytes = bytes.ok_or_else(|| Misread::damaged("a page has fewer values than it says"))?;
        Ok(bytes.chunks_exact(width).map(move |b| self.number(b)))
    }
}

/// Calls `each` with `count` numbers of `width` bits.
pub fn hybrid(
    bytes: &[u8],
    width: u32,
    count: usize,
    mut each: impl FnMut(u32) -> Result<(), Misread>,
) -> Result<(), Misread> {
    if width > 32 {
        return Err(Misread::damaged(format!("{width}-bit indices")));
    }
    let short = || Misread::damaged("a page has fewer values than it says");
    let mut cursor = Cursor::new(bytes);
    let mut left = count;
    while left > 0 {
        let head = cursor.varint()?;
        if head & 1 == 0 {
            let value = cursor.at..cursor.at + width.div_ceil(8) as usize;
            let value = bytes.get(value).ok_or_else(short)?;
            cursor.at += value.len();
            let value = value.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)) as u32;
            let n = usize::try_from(head >> 1).map_or(left, |n| n.min(left));
            if n == 0 {
                return Err(Misread::damaged("a run of no values"));
            }
            (0..n).try_for_each(|_| each(value))?;
            left -= n;
            continue;
        }
        // The last group may be cut off where its values end.
        let rest = &bytes[cursor.at..];
        let n = usize::try_from(head >> 1).ok().and_then(|n| n.checked_mul(8)).ok_or_else(short)?;
        let (used, taken) = (n.min(left), (n / 8).saturating_mul(width as usize).min(rest.len()));
        if n == 0 || (used * width as usize).div_ceil(8) > rest.len() {
            return Err(short());
        }
        let (mut bits, mut held, mut next) = (0u64, 0, rest.iter());
        for _ in 0..used {
            while held < width {
                bits |= u64::from(*next.next().ok_or_else(short)?) << held;
                held += 8;
            }
            each((bits & ((1 << width) - 1)) as u32)?;
            bits >>= width;
            held -= width;
        }
        cursor.at += taken;
        left -= used;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>, Misread> {
        let mut out = Vec::new();
        hybrid(bytes, width, count, |x| {
            out.push(x);
            Ok(())
        })?;
        Ok(out)
    }

    #[test]
    fn packed_bits_are_read_as_in_the_format_s_own_example() {
        // The numbers 0 … 7 in 3 bits each.
        let bytes = [3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(read(&bytes, 3, 8).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(read(&bytes, 3, 5).unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn runs_and_packed_bits_may_follow_each_other() {
        let bytes = [6, 1, 3, 0b0000_0101, 4, 0];
        assert_eq!(read(&bytes, 1, 13).unwrap(), [1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(read(&[8], 0, 4).unwrap(), [0; 4]);
        assert_eq!(read(&[4, 1, 2], 16, 2).unwrap(), [513, 513]);
    }

    #[test]
    fn what_ends_too_early_is_refused() {
        for bytes in [&[][..], &[2], &[0, 1], &[1], &[3], &[3, 1], &[0xFF; 12]] {
            assert!(read(bytes, 9, 8).is_err(), "{bytes:?}");
        }
        assert!(read(&[2, 0, 0, 0, 0, 0], 33, 1).is_err());
    }

    #[test]
    fn integers_of_either_sign_and_width_become_the_same_number() {
        let one = |stored: Stored, bytes: &[u8]| stored.plain(bytes, 1).unwrap().next().unwrap();
        assert_eq!(one(Stored::Int32, &[0xFE, 0xFF, 0xFF, 0xFF]), -2.0);
        assert_eq!(one(Stored::Unsigned32, &[0xFE, 0xFF, 0xFF, 0xFF]), 4_294_967_294.0);
        assert_eq!(one(Stored::Int64, &(-3i64).to_le_bytes()), -3.0);
        assert_eq!(one(Stored::Float, &0.1f32.to_le_bytes()), f64::from(0.1f32));
        assert_eq!(one(Stored::Double, &0.1f64.to_le_bytes()), 0.1);
    }
}
