//! Impacts of the trajectories under way: a page in memory for each, full ones on disk.
//!
//! Promise: memory does not grow with the number of impacts. Where the disk takes no more, pages stay in memory: nothing is
//! lost here, and the journal will say that it is full.

use super::journal::pack_page;
use super::record::{ImpactPage, Occurrence};
use carom_run::Impact;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a full page.
const FULL: usize = 1 << 15;

/// The impacts of some trajectories.
#[derive(Default)]
pub struct Pages(BTreeMap<u64, TrajectoryPages>);

/// The impacts of one.
#[derive(Default)]
struct TrajectoryPages {
    page: ImpactPage,
    /// Full pages.
    count: u32,
    file: Option<File>,
    /// Bytes of whole pages in the file.
    written: u64,
    /// Pages the file did not take, and all after them.
    packed: Vec<u8>,
}

/// The pages of a trajectory as they go into the journal.
#[derive(Default)]
pub struct PackedPages {
    /// What is on disk.
    pub file: Option<File>,
    /// What comes after it.
    pub bytes: Vec<u8>,
    /// How many pages there are.
    pub count: u32,
}

impl Pages {
    /// Takes impacts of a trajectory; full pages go to a nameless file in `folder`.
    pub fn add(&mut self, index: u64, impacts: &[Impact], folder: &Path) {
        let kept = self.0.entry(index).or_default();
        for impact in impacts {
            for (k, &wall) in impact.walls.iter().enumerate() {
                let state = impact.position.iter().chain(&impact.velocity_after).copied().collect();
                let impulse = impact.impulse.get(k).copied().unwrap_or(f64::NAN);
                kept.page.push(&Occurrence { time: impact.time, what: wall as u32, impulse, state });
            }
            if kept.page.len() >= FULL {
                kept.turn(index, folder);
            }
        }
    }

    /// Forgets what there is of a trajectory.
    pub fn forget(&mut self, index: u64) {
        self.0.remove(&index);
    }

    /// Everything of a trajectory, packed for the journal.
    pub fn take(&mut self, index: u64) -> PackedPages {
        let Some(mut kept) = self.0.remove(&index) else { return PackedPages::default() };
        if kept.page.len() > 0 {
            kept.pack(index);
        }
        PackedPages { file: kept.file, bytes: kept.packed, count: kept.count }
    }
}

impl TrajectoryPages {
    fn pack(&mut self, index: u64) {
        pack_page(&mut self.page, index, self.count, &mut self.packed);
        self.count += 1;
    }

    /// The page is full.
    fn turn(&mut self, index: u64, folder: &Path) {
        self.pack(index);
        if self.file.is_none() && self.written == 0 {
            self.file = tempfile::tempfile_in(folder).ok();
        }
        let Some(file) = &mut self.file else { return };
        let end = SeekFrom::Start(self.written);
        if file.seek(end).and_then(|_| file.write_all(&self.packed)).is_ok() {
            self.written += self.packed.len() as u64;
            self.packed.clear();
        } else {
            // Half a page is none.
            let _ = file.set_len(self.written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::HEAD_OF_BLOCK;
    use super::super::record::JournalEntry;
    use super::*;
    use std::io::Read;

    fn impact(i: usize) -> Impact {
        Impact {
            time: i as f64,
            walls: vec![0, 1],
            impulse: vec![2.0, 3.0],
            position: vec![0.5],
            velocity_after: vec![-(i as f64)],
            ..Impact::default()
        }
    }

    /// The occurrences of packed pages.
    fn read(bytes: &[u8]) -> Vec<Occurrence> {
        let mut rest = bytes;
        let mut all = Vec::new();
        while let Some((head, tail)) = rest.split_at_checked(HEAD_OF_BLOCK) {
            let length = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
            let Some(JournalEntry::Page(page)) = JournalEntry::decode(&tail[..length]) else {
                panic!("a page")
            };
            all.extend(page);
            rest = &tail[length..];
        }
        all
    }

    #[test]
    fn impacts_come_back_in_order_whether_the_disk_takes_them_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let impacts: Vec<Impact> = (0..5000).map(impact).collect();
        for (place, on_disk) in [(folder.path(), true), (Path::new("/nowhere/at/all"), false)] {
            let mut pages = Pages::default();
            for some in impacts.chunks(64) {
                pages.add(7, some, place);
                pages.add(8, &some[..1], place);
            }
            pages.add(9, &impacts, place);
            pages.forget(9);
            assert_eq!(pages.0.get(&7).unwrap().packed.is_empty(), on_disk);
            let PackedPages { file, bytes: packed, count } = pages.take(7);
            assert!(count > 1);
            assert_eq!(file.is_some(), on_disk);
            let mut bytes = Vec::new();
            if let Some(mut file) = file {
                file.rewind().unwrap();
                file.read_to_end(&mut bytes).unwrap();
                assert!(packed.len() < 2 * FULL);
            }
            bytes.extend(packed);
            let all = read(&bytes);
            assert_eq!(all.len(), 10_000);
            assert!(
                all.iter().enumerate().all(|(k, h)| h.time == (k / 2) as f64 && h.what == (k % 2) as u32)
            );
            let PackedPages { file, bytes: packed, .. } = pages.take(8);
            assert!(file.is_none() && read(&packed).len() == 2 * 79);
            assert_eq!(pages.take(9).bytes, Vec::<u8>::new());
            assert!(pages.0.is_empty());
        }
    }
}
