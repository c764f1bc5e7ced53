//! What is known about the walls between two steps: φ = 0, φ̇ = 0, f > 0, and how impacts follow each other.

use crate::leg::ActiveLeg;
use crate::squeeze::Squeeze;
use crate::zeno::History;
use carom_jet::{Time, peak_on_the_way};
use carom_mech::mechanics::Mechanics;

/// What is known about a wall between two events.
#[derive(Clone, Debug, Default)]
pub(crate) struct WallState {
    /// φ = 0 now.
    pub touching: bool,
    /// φ = 0 and φ̇ = 0 now.
    pub resting: bool,
    /// Held closed by a force during this leg.
    pub closed: bool,
    /// Leading coefficients of the gap known to be zero at the start of the next step.
    pub zeros: usize,
    /// Leading coefficients of the force known to be zero.
    pub force_zeros: usize,
    /// Index of its open record in `motion.contacts`.
    pub contact: Option<usize>,
    /// A Zeno time: the contact's record begins there.
    pub zeno_at: Option<Time>,
}

/// What is known about all walls.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactState {
    /// In model order.
    pub walls: Vec<WallState>,
    /// A wall without inertia that is held closed; while it is, another program runs.
    pub held: Option<usize>,
    /// Leading coefficients of its force known to be zero.
    pub held_force_zeros: usize,
    /// e, per wall.
    pub restitution: Vec<f64>,
    /// Per wall: how far the energy of the start could move its gap in the first step, and how fast (`zero.rs`).
    pub energy_reach: Vec<[f64; 2]>,
    /// The last impacts, for Zeno's series.
    pub history: History,
    /// Which walls the last impact hit.
    pub last_hit: Vec<usize>,
    /// Free space that closes.
    pub squeeze: Squeeze,
    /// Impacts in a row that did not move time by a unit of rounding.
    pub unresolved_impacts: u32,
}

impl ContactState {
    /// Nothing is known of the walls of these mechanics.
    pub fn new(mechanics: &Mechanics) -> ContactState {
        let walls = vec![WallState::default(); mechanics.walls.len()];
        ContactState { walls, squeeze: Squeeze::new(mechanics), ..ContactState::default() }
    }

    /// Another simulation begins, in which no wall is held yet.
    pub fn clear(&mut self) {
        self.walls.fill(WallState::default());
        self.history.clear();
        self.last_hit.clear();
        self.squeeze.clear();
        (self.held, self.held_force_zeros, self.unresolved_impacts) = (None, 0, 0);
    }

    /// The walls held closed by a force, in model order.
    pub fn closed(&self) -> Vec<usize> {
        (0..self.walls.len()).filter(|&w| self.walls[w].closed).collect()
    }

    /// What was known at the start of a step is used up.
    pub fn forget_zeros(&mut self) {
        for wall in &mut self.walls {
            wall.zeros = 0;
            wall.force_zeros = 0;
        }
        self.held_force_zeros = 0;
    }

    /// The same without a wall that is a row of the program in force.
    pub fn closed_as_rows(&self) -> Vec<usize> {
        (0..self.walls.len()).filter(|&w| self.walls[w].closed && self.held != Some(w)).collect()
    }

    /// Free space within the step: where it begins, and on the way if it is the first or last of its leg.
    pub fn see_gaps(&mut self, leg: &ActiveLeg, h: f64, on_the_way: bool) {
        if !self.squeeze.watches {
            return;
        }
        for w in 0..self.walls.len() {
            if self.walls[w].closed {
                continue;
            }
            let c = leg.polynomial(w);
            self.squeeze.see(c[0]);
            if on_the_way {
                self.squeeze.set_largest(peak_on_the_way(self.squeeze.largest(), c, h));
            }
        }
    }
}
