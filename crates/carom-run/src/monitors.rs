//! What every step monitors at its start, evaluated along with its series: energies for the audit, sizes of gaps, residuals
//! of rows. With it an uneventful step needs no frame.

use crate::frame::FrameLayout;
use crate::project::SMALL;
use crate::rank_loss::WEAK;
use crate::run::{Halt, Run};
use crate::stepper::{SMOOTH, STIFF_STEPS};
use crate::zero::DRIFT;
use carom_jet::{Balance, Monitors, Smooth, greater, relative, with_term};

/// Where the monitored values of a leg are; the order is `FrameLayout::monitored`'s.
#[derive(Clone, Copy, Default)]
struct Places {
    terms: usize,
    gap_size: usize,
    position: usize,
    rate: usize,
    norm: usize,
    condition: usize,
    gap_rate_size: usize,
}

impl Places {
    fn of(layout: &FrameLayout, walls: usize) -> Places {
        let gap_size = 1 + layout.terms;
        let position = gap_size + walls;
        let rate = position + 2 * layout.rows;
        let norm = rate + 2 * layout.rows;
        let condition = norm + layout.rows;
        Places {
            terms: 1,
            gap_size,
            position,
            rate,
            norm,
            condition,
            gap_rate_size: condition + 2 * layout.conditions,
        }
    }
}

impl Run<'_> {
    fn monitored_places(&self) -> Places {
        Places::of(&self.frame.layout, self.contact.walls.len())
    }

    /// What lanes follow, so that a quiet step in a lane leaves what [`Run::audit_monitored`], [`Run::project_monitored`] and the
    /// search for free space would leave.
    pub fn monitors(&self) -> Monitors {
        let places = self.monitored_places();
        let (walls, rows) = (self.contact.walls.len(), self.frame.layout.rows);
        let others = self.events.surfaces.len() + self.events.sides.len();
        let mut monitors = Monitors {
            size: (0..walls).map(|w| Some(places.gap_size + w)).chain((0..others).map(|_| None)).collect(),
            peaks: if self.contact.squeeze.watches { walls } else { 0 },
            balance: Some(Balance {
                value: 0,
                terms: places.terms..places.gap_size,
                work: self.program.has_work.then(|| 2 * self.size()),
            }),
            drift: DRIFT,
            followed: walls + others,
            smooth: Some(Smooth { variables: 2 * self.size(), part: SMOOTH, steps: STIFF_STEPS }),
            ..Monitors::default()
        };
        if rows > 0 {
            monitors.greatest.extend(places.position + rows..places.position + 2 * rows);
            monitors.greatest.extend(places.rate + rows..places.rate + 2 * rows);
            monitors.greatest.extend(places.gap_size..places.gap_size + walls);
            monitors.greatest.extend(places.norm..places.norm + rows);
            monitors.norms.extend((0..rows).map(|r| (places.norm + r, 2 * rows + walls + r)));
            monitors.weak = WEAK;
            monitors.residuals.extend((0..rows).map(|r| (places.position + r, r)));
            monitors.residuals.extend((0..rows).map(|r| (places.rate + r, rows + r)));
        }
        monitors
    }

    /// The absolute sum of the terms of a wall's gap, at the start of the step.
    pub fn gap_size_at_start(&self, wall: usize) -> f64 {
        match self.stepping_by_series() {
            true => self.leg.flow().monitored(1 + self.frame.layout.terms + wall),
            false => self.frame.gap_size(wall),
        }
    }

    /// After a jet: energies, and gaps below zero.
    pub fn audit_monitored(&mut self) -> Result<(), Halt> {
        let places = self.monitored_places();
        let flow = self.leg.flow();
        let energy = flow.monitored(0);
        if !energy.is_finite() {
            return Err(self.not_finite());
        }
        let terms = (places.terms..places.gap_size).map(|i| flow.monitored(i));
        let scale = terms.fold(0.0, with_term);
        let mut lowest = 0.0_f64;
        for w in 0..self.contact.walls.len() {
            lowest = lowest.min(flow.watched(w)[0]);
        }
        self.audit_energy(energy, scale, -lowest);
        Ok(())
    }

    /// Where what is left of the rows' normals is monitored.
    pub fn monitored_norms(&self) -> usize {
        self.monitored_places().norm
    }

    /// Where the residuals of the rows are monitored, of their positions or of their rates.
    pub fn monitored_residuals(&self, rates: bool) -> usize {
        let places = self.monitored_places();
        if rates { places.rate } else { places.position }
    }

    /// After a jet: residuals of rows, conditions and closed walls; beyond rounding the state is projected. True if it
    /// was.
    pub fn project_monitored(&mut self) -> Result<bool, Halt> {
        let places = self.monitored_places();
        let (rows, conditions) = (self.frame.layout.rows, self.frame.layout.conditions);
        let flow = self.leg.flow();
        let kept = &mut self.audit.largest_terms;
        let mut drift = 0.0_f64;
        let mut see = |at: usize, size: usize, largest: &mut f64| {
            *largest = greater(*largest, flow.monitored(size));
            drift = drift.max(relative(flow.monitored(at), *largest));
        };
        for r in 0..rows {
            see(places.position + r, places.position + rows + r, &mut kept.row_position[r]);
            see(places.rate + r, places.rate + rows + r, &mut kept.row_rate[r]);
            kept.row_norm[r] = greater(kept.row_norm[r], flow.monitored(places.norm + r));
        }
        for (w, wall) in self.contact.walls.iter().enumerate() {
            kept.gap[w] = greater(kept.gap[w], flow.monitored(places.gap_size + w));
            if wall.closed && self.contact.held != Some(w) {
                kept.gap_rate[w] = greater(kept.gap_rate[w], flow.monitored(places.gap_rate_size + w));
                drift = drift.max(relative(flow.watched(w)[0], kept.gap[w]));
                drift = drift.max(relative(flow.watched(w)[1] / flow.unit(), kept.gap_rate[w]));
            }
        }
        for c in 0..conditions {
            let size = flow.monitored(places.condition + conditions + c);
            kept.condition[c] = greater(kept.condition[c], size);
            drift = drift.max(relative(flow.monitored(places.condition + c), kept.condition[c]));
        }
        if drift > DRIFT && drift < SMALL && self.project_by_flow() {
            self.recorder.motion.audit.constraint_drift =
                self.recorder.motion.audit.constraint_drift.max(drift);
            return Ok(true);
        }
        self.project_if(drift)
    }
}
