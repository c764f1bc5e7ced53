//! What becomes the result: records, samples and warnings of a motion.

use crate::motion::{Graze, Motion};
use crate::program::Program;
use crate::sample::{Sampler, columns};
use carom_jet::Flow;
use std::collections::BTreeSet;

/// The result so far.
pub(crate) struct Recorder {
    pub motion: Motion,
    pub sampler: Sampler,
    /// Everything a sample shows.
    pub outputs: Flow,
    /// How many impacts there were.
    pub impact_count: u64,
    /// Are impacts kept as records, or only counted?
    pub keeps_impacts: bool,
    /// Keeps each warning to one.
    pub warned: BTreeSet<String>,
}

impl Recorder {
    /// Nothing recorded yet.
    pub fn new(program: &Program) -> Recorder {
        Recorder {
            motion: Motion::default(),
            sampler: Sampler::new(columns(program)),
            outputs: program.outputs.clone(),
            impact_count: 0,
            keeps_impacts: true,
            warned: BTreeSet::new(),
        }
    }

    /// Another simulation begins.
    pub fn clear(&mut self) {
        self.motion.clear();
        self.warned.clear();
        self.impact_count = 0;
    }

    /// Says something once.
    pub fn warn(&mut self, message: String) {
        if self.warned.insert(message.clone()) {
            self.motion.warnings.push(message);
        }
    }

    /// A wall was touched and nothing else happened.
    pub fn graze(&mut self, time: f64, wall: usize) {
        self.motion.grazes.push(Graze { time, wall });
    }
}
