//! Many trajectories of one system at once, in the lanes of the vector unit.
//!
//! Every lane has its own time, step and parameters; an event in one lane never waits for another, and a lane whose
//! trajectory ends takes the next from the queue. The caller is asked ([`Handler::attend`]) only for steps in which a
//! watched function may vanish: the bound s w₀ + Σ min(0, s w_k h^k) > 0, s = ±1 the side it is on, settles nearly all
//! others for all lanes together; for one that leaves zero (a gap after an impact) s w₁ h + Σ_{k≥2} min(0, s w_k h^k) > 0 does.
//! What a caller follows through every step ([`Monitors`]) is followed by the lanes and kept
//! in the trajectory's [`BatchAudit`].
//!
//! Promise: a trajectory's bits are those of [`super::Flow`] with [`super::Taylor`], whatever the width and the
//! neighbours.

use crate::batch::rounds::LaneBatch;
use crate::emit::InstructionSet;
use crate::eval::flow::Flow;
use crate::eval::time::Time;
use crate::ir::tape::Tape;
use crate::simd::Level;
use crate::step::extent::Extent;
use crate::step::taylor::Taylor;
use std::ops::Range;
use std::sync::Arc;

/// What lanes follow by themselves, for all trajectories alike.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Monitors {
    /// Per watched function the monitored function that is its size: 4 ε times it is rounding. Empty: none has one.
    pub size: Vec<Option<usize>>,
    /// So many of the first watched functions have their greatest value at the starts of steps followed.
    pub peaks: usize,
    /// A balance to audit at the start of every step.
    pub balance: Option<Balance>,
    /// Monitored functions whose greatest values are followed.
    pub greatest: Vec<usize>,
    /// Monitored functions that should be zero: a step is looked at when one exceeds `drift` times its greatest size, given by
    /// its place in `greatest`.
    pub residuals: Vec<(usize, usize)>,
    /// See `residuals`.
    pub drift: f64,
    /// A lane is left, as if for pivoting, where its firmness falls to this part of the greatest it had, or one of these
    /// monitored functions to this part of its greatest (given by its place in `greatest`). 0: never.
    pub weak: f64,
    /// See `weak`.
    pub norms: Vec<(usize, usize)>,
    /// Steps to count.
    pub smooth: Option<Smooth>,
    /// So many of the first watched functions are measured by what they have done so far.
    pub followed: usize,
}

/// Steps h with h |ẍ| < part · |ẋ|, the largest of each over some of the state: far shorter than the motion's own time scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Smooth {
    /// So many of the first state variables.
    pub variables: usize,
    /// See above.
    pub part: f64,
    /// The step that makes so many in a row is looked at.
    pub steps: u32,
}

/// value = expected + work, up to rounding of the terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Balance {
    /// Which monitored function is balanced.
    pub value: usize,
    /// Which monitored functions are its terms.
    pub terms: Range<usize>,
    /// Which state variable is the work done.
    pub work: Option<usize>,
}

/// What the lanes keep of one trajectory.
#[derive(Clone, PartialEq, Debug)]
pub struct BatchAudit {
    /// Steps begun.
    pub steps: u64,
    /// The trajectory is taken out of its lane before it begins more.
    pub most_steps: u64,
    /// Per watched function: ±1, the side it is on; 0: every step is looked at.
    pub sides: Vec<f64>,
    /// The greatest value of the first watched functions; never below 0.
    pub peak: f64,
    /// What the balance should give.
    pub expected: f64,
    /// The largest |value − expected − work| so far.
    pub worst: f64,
    /// The largest sum of |terms| so far.
    pub scale: f64,
    /// The greatest values of `Monitors::greatest` so far.
    pub greatest: Vec<f64>,
    /// How many steps of `Monitors::smooth` there were in a row.
    pub smooth: u32,
    /// The greatest firmness so far.
    pub firmest: f64,
    /// What steps are measured by.
    pub extent: Extent,
    /// The unit of the series.
    pub unit: f64,
    /// What the doubles of the state leave out, one per state variable: the state is carried as a pair.
    pub low: Vec<f64>,
    /// The next step is the first after a jump: where it begins is not audited, and its peaks are looked for on the way, too.
    pub first: bool,
    /// Per watched function: is it zero where that step begins, and known to leave to its side?
    pub leaving: Vec<bool>,
}

impl Default for BatchAudit {
    fn default() -> BatchAudit {
        BatchAudit {
            steps: 0,
            most_steps: 0,
            sides: Vec::new(),
            peak: 0.0,
            expected: 0.0,
            worst: 0.0,
            scale: 0.0,
            greatest: Vec::new(),
            smooth: 0,
            extent: Extent::default(),
            unit: 1.0,
            firmest: 0.0,
            low: Vec::new(),
            first: false,
            leaving: Vec::new(),
        }
    }
}

/// Where a lane starts.
#[derive(Clone, Debug, Default)]
pub struct LaneStart {
    /// Now.
    pub time: Time,
    /// Where it ends.
    pub end: Time,
    /// x(time)
    pub state: Vec<f64>,
    /// Its parameters.
    pub parameters: Vec<f64>,
    /// What is kept of it; comes without limits, all sides unknown.
    pub audit: BatchAudit,
}

/// Why a lane was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// The end was reached.
    Reached,
    /// The handler wanted it.
    Asked,
    /// A linear block needs pivoting at this state: go on with a single [`crate::Flow`].
    NeedsPivoting,
    /// The step is zero, far below rounding, or not a number.
    NotFinite,
    /// As many steps as its audit allows.
    StepLimit,
}

/// What to do with a step that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepVerdict {
    /// Nothing happens in it: take it.
    Pass,
    /// The handler has taken it: time, state (`after`) and audit to go on with are written, [`BatchAudit::low`] included.
    Cut,
    /// Take the trajectory out of the lane (state and time of the step's start are handed back).
    Leave,
}

/// One lane's step, as polynomials in (t − time)/τ, τ the unit of the series.
pub struct LaneStep<'a> {
    /// Where it starts; with [`StepVerdict::Cut`]: where to go on.
    pub time: Time,
    /// How long it is, in units of the series.
    pub size: f64,
    /// How long the series allow it to be.
    pub natural: f64,
    /// Is it one of [`Monitors::smooth`]?
    pub smooth: bool,
    /// Does it end at the trajectory's end?
    pub reaches_end: bool,
    /// With [`StepVerdict::Cut`]: the state to go on with.
    pub after: &'a mut [f64],
    /// What is kept of the trajectory.
    pub audit: &'a mut BatchAudit,
    /// The parameters; with [`StepVerdict::Cut`] they may change.
    pub parameters: &'a mut Vec<f64>,
    /// Have they changed?
    pub reparametrised: bool,
    pub(crate) lane: usize,
    pub(crate) series: &'a dyn LaneSeries,
}

impl LaneStep<'_> {
    /// Copies the coefficients of state variable `i`.
    pub fn state(&self, i: usize, into: &mut [f64]) {
        self.series.state(i, self.lane, into);
    }

    /// Copies the coefficients of watched function `i`.
    pub fn watched(&self, i: usize, into: &mut [f64]) {
        self.series.watched(i, self.lane, into);
    }

    /// The value of monitored function `i` at the start of the step.
    pub fn monitored(&self, i: usize) -> f64 {
        self.series.monitored(i, self.lane)
    }

    /// The state at `h` units into the step; returns what its doubles leave out.
    pub fn pair_at(&self, h: f64, into: &mut [f64]) -> Vec<f64> {
        let mut low = self.audit.low.clone();
        self.series.pair_at(self.lane, h, into, &mut low);
        low
    }

    /// Gives a single workspace of the same tape and order the series of this step, as if it had made them.
    pub fn give(&self, flow: &mut Flow) {
        flow.adopt(
            self.series.unit(self.lane),
            |i, into| self.state(i, into),
            |i, into| self.watched(i, into),
            |i| self.monitored(i),
            |i, k| self.series.guarded(i, k, self.lane),
        );
    }
}

/// What the caller does for single trajectories.
pub trait Handler {
    /// Fills in the next trajectory for a lane; false when there is none left.
    fn next(&mut self, lane: usize, start: &mut LaneStart) -> bool;
    /// Looks at a step in which a watched function may vanish.
    fn attend(&mut self, lane: usize, step: &mut LaneStep<'_>) -> StepVerdict;
    /// Takes a trajectory out of a lane.
    fn leave(&mut self, lane: usize, why: Leave, time: Time, state: &[f64], audit: &BatchAudit);
    /// Asked while there is nothing left to begin and only so many lanes are in use: shall they be left, as if asked for?
    /// A round costs the same however few lanes it serves.
    fn leaves_early(&mut self, _in_use: usize) -> bool {
        false
    }
    /// Asked now and then, with the steps begun so far: shall the ensemble go on? If not, what is in the lanes is dropped.
    fn goes_on(&mut self, _steps: u64) -> bool {
        true
    }
}

/// The series of all lanes.
pub(crate) trait LaneSeries {
    fn unit(&self, lane: usize) -> f64;
    fn state(&self, i: usize, lane: usize, into: &mut [f64]);
    fn watched(&self, i: usize, lane: usize, into: &mut [f64]);
    fn monitored(&self, i: usize, lane: usize) -> f64;
    /// Coefficient k of what the i-th guarded function depends on.
    fn guarded(&self, i: usize, k: usize, lane: usize) -> f64;
    /// The state h units into the step; `low`: what the state leaves out, then what the result does.
    fn pair_at(&self, lane: usize, h: f64, into: &mut [f64], low: &mut [f64]);
}

/// An ensemble of trajectories of one system.
///
/// ```
/// # use carom_expr::Dag;
/// # use carom_jet::*;
/// # let mut dag = Dag::new();
/// # let [t, k, x] = ["t", "k", "x"].map(|name| dag.symbol(name));
/// # let rate = vec![dag.mul(k, x)];
/// # let system = System { time: t, parameters: vec![k], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![] };
/// # let tape = Tape::compile(&dag, &system)?;
/// /// x' = k x from 1 for k = 0, 1/100, …, to t = 1.
/// #[derive(Default)]
/// struct Growth { begun: usize, ended: Vec<(f64, f64)>, rates: [f64; 8] }
/// impl Handler for Growth {
///     fn next(&mut self, lane: usize, start: &mut LaneStart) -> bool {
///         self.rates[lane] = self.begun as f64 / 100.0;
///         start.parameters.copy_from_slice(&[self.rates[lane]]);
///         start.state.copy_from_slice(&[1.0]);
///         (start.time, start.end) = (Time::new(0.0), Time::new(1.0));
///         self.begun += 1;
///         self.begun <= 100
///     }
///     fn attend(&mut self, _: usize, _: &mut LaneStep<'_>) -> StepVerdict {
///         StepVerdict::Pass
///     }
///     fn leave(&mut self, lane: usize, _: Leave, _: Time, state: &[f64], _: &BatchAudit) {
///         self.ended.push((self.rates[lane], state[0]));
///     }
/// }
/// let mut growth = Growth::default();
/// Ensemble::new(tape, Taylor::new(1e-15), Monitors::default()).run(&mut growth);
/// assert_eq!(growth.ended.len(), 100);
/// assert!(growth.ended.iter().all(|(k, x)| (x / k.exp() - 1.0).abs() < 1e-14));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ensemble(LaneWidth);

/// As many lanes as a vector of the machine code has doubles; eight where it is interpreted, so that reading the program is
/// shared by many.
#[derive(Clone, Debug)]
enum LaneWidth {
    Eight(Box<LaneBatch<8>>),
    Four(Box<LaneBatch<4>>),
}

impl Ensemble {
    /// Lanes for a tape.
    pub fn new(tape: Arc<Tape>, taylor: Taylor, monitors: Monitors) -> Ensemble {
        Ensemble::with(Level::detect(), tape, taylor, monitors)
    }

    /// The same with these instructions: the same bits, if the arithmetic is the same.
    pub fn with(level: Level, tape: Arc<Tape>, taylor: Taylor, monitors: Monitors) -> Ensemble {
        Ensemble(match level.code().map(InstructionSet::lanes) {
            Some(4) => LaneWidth::Four(Box::new(LaneBatch::new(tape, taylor, monitors, level))),
            _ => LaneWidth::Eight(Box::new(LaneBatch::new(tape, taylor, monitors, level))),
        })
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        match &self.0 {
            LaneWidth::Eight(_) => 8,
            LaneWidth::Four(_) => 4,
        }
    }

    /// Runs until the handler has no trajectory left and all lanes are done. Returns the number of steps taken.
    pub fn run(&mut self, handler: &mut dyn Handler) -> u64 {
        match &mut self.0 {
            LaneWidth::Eight(rounds) => rounds.run(handler),
            LaneWidth::Four(rounds) => rounds.run(handler),
        }
    }
}
