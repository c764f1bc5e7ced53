//! Where a motion is, and how it steps from there: order, unit and length of steps, what is known of the next one.

use crate::leg::ActiveLeg;
use crate::options::Options;
use crate::program::Program;
use carom_jet::{Extent, Remainder, Singular, Taylor, Time, shorter_unit, unit_for};

/// Steps shorter than this part of the motion's own time scale …
pub(crate) const SMOOTH: f64 = 1e-3;
/// … so many times in a row mean that the model is stiff.
pub(crate) const STIFF_STEPS: u32 = 1_000;

/// Where the motion is.
#[derive(Default)]
pub(crate) struct Now {
    pub time: Time,
    /// (q, v or p, work).
    pub state: Vec<f64>,
    /// What its doubles leave out.
    pub remainder: Remainder,
    /// Room for the state at the end of a step.
    pub next_state: Vec<f64>,
}

/// What is known of the next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum NextSeries {
    /// Only where it starts.
    #[default]
    Missing,
    /// Its series, made elsewhere; neither audited nor projected.
    Given,
    /// Its series, made at the start of the leg that begins with it.
    Fresh,
    /// Where it starts, and that a leg begins with it ([`Stepper::postpones`]).
    Postponed,
}

impl NextSeries {
    /// Does a leg begin with the next step? What is known of its start has been audited then.
    pub fn begins_leg(self) -> bool {
        matches!(self, NextSeries::Fresh | NextSeries::Postponed)
    }
}

/// A step as a lane would take it, in units of its series: how long they allow it to be, and how long it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct GivenStep {
    pub natural: f64,
    pub length: f64,
    /// Far shorter than the motion's own time scale?
    pub smooth: bool,
}

/// How the motion steps.
pub(crate) struct Stepper {
    pub taylor: Taylor,
    /// What its steps are measured by.
    pub extent: Extent,
    /// The unit of its series; lengths of steps and places in them are in this unit.
    pub unit: f64,
    /// Where the last step ends.
    pub until: Time,
    /// What is known of the next step.
    pub series: NextSeries,
    /// Legs may begin without series: a lane makes those of their first step.
    pub postpones: bool,
    /// What a lane has worked out about the step whose series it has given.
    pub given: Option<GivenStep>,
    /// The step h, h², …
    pub powers: Vec<f64>,
    /// Length of the last step: the series still hold around its start.
    pub last_step: f64,
    /// Steps in a row that were far shorter than the motion's own time scale.
    pub smooth_steps: u32,
    /// How many there were.
    pub steps: u64,
    /// Passes in a row without any advance of time.
    pub stalled: u32,
}

impl Stepper {
    /// Nothing has begun.
    pub fn new(program: &Program, options: &Options) -> Stepper {
        let taylor = Taylor::new(options.tolerance);
        Stepper {
            extent: Extent::new(program.state.len(), program.followed()),
            unit: 1.0,
            until: Time::default(),
            series: NextSeries::Missing,
            postpones: false,
            given: None,
            powers: vec![0.0; taylor.order.max(8)],
            last_step: 0.0,
            smooth_steps: 0,
            steps: 0,
            stalled: 0,
            taylor,
        }
    }

    /// Another simulation begins, with the same order and step rule.
    pub fn clear(&mut self) {
        self.extent.clear();
        (self.steps, self.stalled, self.smooth_steps) = (0, 0, 0);
        (self.last_step, self.series, self.given) = (0.0, NextSeries::Missing, None);
    }

    /// From here to there; the unit of the first series is what lies between.
    pub fn set_span(&mut self, from: Time, until: Time) {
        self.until = until;
        self.unit = unit_for(until.minus(from));
    }

    /// A length of time in the unit of the series.
    pub fn in_units(&self, time: f64) -> f64 {
        time / self.unit
    }

    /// The series of a leg around the present state.
    pub fn jet(&mut self, leg: &mut ActiveLeg, now: &Now) -> Result<(), Singular> {
        loop {
            let flow = leg.flow_mut();
            flow.set_unit(self.unit);
            flow.jet(now.time, &now.state)?;
            // A unit far longer than the motion's own times lets its series overflow.
            if self.unit <= 1.0 || flow.is_finite() {
                return Ok(());
            }
            self.unit = shorter_unit(self.unit);
        }
    }

    /// Counts steps far below |ẋ|/|ẍ|; true when there were so many in a row that something long decayed dictates them.
    pub fn becomes_stiff(&mut self, smooth: bool) -> bool {
        self.smooth_steps = if smooth { self.smooth_steps.saturating_add(1) } else { 0 };
        self.smooth_steps == STIFF_STEPS
    }
}
