//! The result of a simulation: plain records, in model order. "Why it stopped" is part of the result.
//!
//! Records hold indices, so that a million of them cost no million names; [`Names`] says what they stand for.

use carom_jet::Arithmetic;
use carom_mech::{Mechanics, Provenance};
use std::sync::Arc;

/// A simulated motion.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// Name of the model.
    pub model: String,
    /// What the indices of its records stand for.
    pub names: Arc<Names>,
    /// Why and when it ended.
    pub stop: Stop,
    /// Sample times.
    pub time: Vec<f64>,
    /// Every coordinate, driven ones included.
    pub position: Vec<Signal>,
    /// Their rates.
    pub velocity: Vec<Signal>,
    /// ∂L/∂v, or p.
    pub momentum: Vec<Signal>,
    /// E = p·v − L, or H, at each sample.
    pub hamiltonian: Vec<f64>,
    /// T + V at each sample.
    pub energy: Vec<f64>,
    /// μ per constraint row.
    pub multiplier: Vec<Signal>,
    /// f per wall.
    pub contact_force: Vec<Signal>,
    /// Driving force per driven coordinate.
    pub driving_force: Vec<Signal>,
    /// User outputs.
    pub output: Vec<Signal>,
    /// φ per wall, for plots.
    pub gap: Vec<Signal>,
    /// Impacts in order of time.
    pub impacts: Vec<Impact>,
    /// Contacts in order of their start.
    pub contacts: Vec<Contact>,
    /// Touching without impulse.
    pub grazes: Vec<Graze>,
    /// User events.
    pub events: Vec<EventRecord>,
    /// The state at the stop, which need not be a sample.
    pub end: End,
    /// Every step, when asked for.
    pub dense: Option<crate::dense::Dense>,
    /// States at both ends of steps, when asked for.
    pub step_states: Option<crate::invariants::StepStates>,
    /// Its derivatives, when asked for.
    pub variation: Option<crate::variation::Variation>,
    /// The gradient of an objective, when asked for.
    pub gradient: Option<crate::gradient::Gradient>,
    /// What a user should know about this result.
    pub warnings: Vec<String>,
    /// How well the laws were kept.
    pub audit: Audit,
    /// Which model this is the motion of, and what was changed about it.
    pub provenance: Arc<Provenance>,
}

impl Motion {
    /// Forgets everything but the storage of its records.
    pub(crate) fn clear(&mut self) {
        self.impacts.clear();
        self.contacts.clear();
        self.grazes.clear();
        self.events.clear();
        self.warnings.clear();
        self.dense = None;
        self.step_states = None;
        self.variation = None;
        self.gradient = None;
        self.audit = Audit::default();
        self.end = End::default();
        self.stop = Stop::default();
    }
}

/// A side of a jump: an impact, a reset by an event, the very start.
///
/// ```
/// assert_eq!(carom_run::Side::default(), carom_run::Side::After);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Side {
    /// The state the jump leads from.
    Before,
    /// The state it leads to.
    #[default]
    After,
}

/// Names in model order: what the indices of records stand for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Names {
    /// Every coordinate, driven ones included.
    pub coordinates: Vec<String>,
    /// The driven ones.
    pub driven: Vec<String>,
    /// Walls.
    pub walls: Vec<String>,
    /// Constraint rows.
    pub rows: Vec<String>,
    /// User events.
    pub events: Vec<String>,
}

impl Names {
    /// The names of a model.
    pub fn of(mechanics: &Mechanics) -> Names {
        let model = &mechanics.model;
        let driven = model.coordinates.iter().filter(|c| c.driven.is_some());
        Names {
            coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            driven: driven.map(|c| c.name.clone()).collect(),
            walls: model.walls.iter().map(|w| w.name.clone()).collect(),
            rows: model.rows.iter().map(|r| r.name.clone()).collect(),
            events: model.events.iter().map(|e| e.name.clone()).collect(),
        }
    }
}

/// One sampled quantity.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// One value per sample time.
    pub values: Vec<f64>,
}

/// Where a motion ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct End {
    /// q, every coordinate.
    pub position: Vec<f64>,
    /// v, every coordinate.
    pub velocity: Vec<f64>,
    /// User outputs.
    pub output: Vec<f64>,
}

/// Why and when a motion ended.
///
/// ```
/// let stop = carom_run::Stop::default();
/// assert!(stop.reason.is_complete() && stop.detail.is_none());
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Stop {
    /// The reason.
    pub reason: StopReason,
    /// When.
    pub time: f64,
    /// What exactly: the wall's name, what became singular, …
    pub detail: Option<String>,
}

/// Reasons to end.
///
/// ```
/// use carom_run::StopReason;
/// assert_eq!(StopReason::ImpactLimit.name(), "impact_limit");
/// assert!(StopReason::StoppedByEvent.is_complete() && !StopReason::Squeezed.is_complete());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum StopReason {
    /// The end time was reached.
    #[default]
    Reached,
    /// An event with `action = "stop"` fired.
    StoppedByEvent,
    /// Infinitely many impacts in finite time, and no motion afterwards.
    ZenoWithoutContinuation,
    /// One impact more than allowed.
    ImpactLimit,
    /// One step more than allowed.
    StepLimit,
    /// The equations have no unique solution, or the motion runs into a singularity.
    Singular,
    /// The free space closed around the motion.
    Squeezed,
    /// No impulse of a wall can stop the motion.
    WallNotEnforceable,
    /// Both sides of a switching surface push towards it, and no combination slides.
    SlidingMode,
    /// A reset left the state behind a wall or off a constraint.
    InconsistentReset,
    /// The caller asked to stop.
    Interrupted,
    /// A formula has no finite value.
    NotFinite,
}

impl StopReason {
    /// All of them; the complete ones first.
    #[rustfmt::skip]
    pub const ALL: [StopReason; 12] = [
        StopReason::Reached, StopReason::StoppedByEvent, StopReason::ZenoWithoutContinuation, StopReason::ImpactLimit,
        StopReason::StepLimit, StopReason::Singular, StopReason::Squeezed, StopReason::WallNotEnforceable,
        StopReason::SlidingMode, StopReason::InconsistentReset, StopReason::Interrupted, StopReason::NotFinite,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            StopReason::Reached => "reached",
            StopReason::StoppedByEvent => "stopped_by_event",
            StopReason::ZenoWithoutContinuation => "zeno_without_continuation",
            StopReason::ImpactLimit => "impact_limit",
            StopReason::StepLimit => "step_limit",
            StopReason::Singular => "singular",
            StopReason::Squeezed => "squeezed",
            StopReason::WallNotEnforceable => "wall_not_enforceable",
            StopReason::SlidingMode => "sliding_mode",
            StopReason::InconsistentReset => "inconsistent_reset",
            StopReason::Interrupted => "interrupted",
            StopReason::NotFinite => "not_finite",
        }
    }

    /// What it means, a sentence for the reference.
    pub fn meaning(self) -> &'static str {
        match self {
            StopReason::Reached => "The end time was reached.",
            StopReason::StoppedByEvent => "An event with `action = \"stop\"` fired; the detail is its name.",
            StopReason::ZenoWithoutContinuation => {
                "Infinitely many impacts within a finite time, and where they accumulate walls and forces leave no motion."
            }
            StopReason::ImpactLimit => "The next impact would have been one more than `max_impacts`.",
            StopReason::StepLimit => "The next step would have been one more than `max_steps`.",
            StopReason::Singular => {
                "The equations have no unique solution at this state: constraint rows became dependent, inertia vanished, or the \
                 motion runs into a singularity such as 1/r at r = 0. The detail names what."
            }
            StopReason::Squeezed => {
                "The space that the walls leave free closes while the motion in it still has kinetic energy: impacts follow \
                 each other ever faster. The detail names the walls and the time at which they meet."
            }
            StopReason::WallNotEnforceable => {
                "The motion arrives at a wall that no impulse can enforce: its normal vanishes there or depends on the constraint \
                 rows, or what would have to be pushed has no inertia."
            }
            StopReason::SlidingMode => {
                "Both sides of a corner of `abs`, `sign`, `min` or `max` push towards it, and no combination of them keeps \
                 the motion on it."
            }
            StopReason::InconsistentReset => {
                "The `set` of an event left the state behind a wall or off a constraint; the detail says by how much."
            }
            StopReason::Interrupted => "Ctrl-C, or the program that called. What was computed is there.",
            StopReason::NotFinite => {
                "A formula has no finite value here: the logarithm of a negative number, an overflow, a state that grows without \
                 bound. The detail names the formula and its innermost part."
            }
        }
    }

    /// What to do about it; empty where nothing is to be done.
    pub fn way_out(self) -> &'static str {
        match self {
            StopReason::Reached | StopReason::StoppedByEvent | StopReason::Interrupted => "",
            StopReason::ZenoWithoutContinuation => {
                "Look at the walls in the detail: do they meet there, or does a force pull through them?"
            }
            StopReason::ImpactLimit => {
                "Raise `max_impacts` in [run] or by `--option max_impacts=N`. Impacts that become ever denser come from walls that \
                 close, or from a ball at rest: then a restitution below 1 ends in contact."
            }
            StopReason::StepLimit => {
                "Raise `max_steps`, end earlier, or loosen `tolerance`. Very many steps mean a stiff model: a warning says \
                 which part."
            }
            StopReason::Singular => {
                "Use coordinates that stay regular there, or a start that does not lead there; redundant rows can be left out."
            }
            StopReason::Squeezed => "End before that time, or keep the walls apart.",
            StopReason::WallNotEnforceable => {
                "Write the gap as a distance, with a slope where it is zero; give an inertia to what touches the wall."
            }
            StopReason::SlidingMode => "Replace the jump by a smooth one: `tanh(x/eps)` for `sign(x)`.",
            StopReason::InconsistentReset => "Let `set` land on the constraints and at or above every gap.",
            StopReason::NotFinite => {
                "Keep the motion within the domain of the formula, by a wall or another start."
            }
        }
    }

    /// Is this the end that was asked for?
    pub fn is_complete(self) -> bool {
        matches!(self, StopReason::Reached | StopReason::StoppedByEvent)
    }
}

/// One application of the impact law.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Impact {
    /// When.
    pub time: f64,
    /// Indices of the walls that received an impulse, in model order.
    pub walls: Vec<usize>,
    /// λ, parallel to `walls`.
    pub impulse: Vec<f64>,
    /// μ per constraint row.
    pub reaction_impulse: Vec<f64>,
    /// Impulse per driven coordinate.
    pub driving_impulse: Vec<f64>,
    /// φ̇⁻, parallel to `walls`.
    pub gap_rate_before: Vec<f64>,
    /// φ̇⁺, parallel to `walls`.
    pub gap_rate_after: Vec<f64>,
    /// q, every coordinate.
    pub position: Vec<f64>,
    /// v⁻, every coordinate.
    pub velocity_before: Vec<f64>,
    /// v⁺, every coordinate.
    pub velocity_after: Vec<f64>,
    /// E⁻
    pub hamiltonian_before: f64,
    /// E⁺
    pub hamiltonian_after: f64,
}

/// A wall held closed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Contact {
    /// Index of the wall.
    pub wall: usize,
    /// Since when.
    pub from: f64,
    /// Until when; `None` while still closed at the end.
    pub to: Option<f64>,
    /// Did it begin at the end of infinitely many impacts?
    pub zeno: bool,
    /// f when it began.
    pub force_at_start: f64,
}

/// Touching without impulse.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graze {
    /// When.
    pub time: f64,
    /// Index of the wall.
    pub wall: usize,
}

/// A user event that fired.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EventRecord {
    /// When.
    pub time: f64,
    /// Index of the event.
    pub event: usize,
    /// q (after a reset), every coordinate.
    pub position: Vec<f64>,
    /// v (after a reset), every coordinate.
    pub velocity: Vec<f64>,
}

/// Were the laws kept as well as the tolerance explains?
///
/// ```
/// assert_eq!(carom_run::Verdict::Drift.name(), "drift");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Verdict {
    /// Yes.
    #[default]
    Ok,
    /// No: a law drifted by more than that, or by more than anyone wants.
    Drift,
}

impl Verdict {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Drift => "drift",
        }
    }
}

/// How well the laws were kept, and at what cost.
///
/// ```
/// let audit = carom_run::Audit::default();
/// assert_eq!((audit.verdict, audit.steps, audit.amplification), (carom_run::Verdict::Ok, 0, None));
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Audit {
    /// Largest |E(t) − E(0) − ∫power − allowed jumps| relative to max(|T| + |V|).
    pub hamiltonian_drift: f64,
    /// Largest residual of a constraint row, positions and rates, relative to its largest term.
    pub constraint_drift: f64,
    /// Largest residual of the impact law, relative to the momentum (energy) scale.
    pub impact_law_residual: f64,
    /// Is that as well as the method promises? If not, `warnings` say what drifted.
    pub verdict: Verdict,
    /// How multiply and add were rounded: results of the same class are the same bits on every machine.
    pub arithmetic: Arithmetic,
    /// Largest −φ seen at a step's end.
    pub deepest_penetration: f64,
    /// Norm of ∂state(end)/∂state(start), when computed.
    pub amplification: Option<f64>,
    /// Steps taken.
    pub steps: u64,
    /// What the model conserves, and how well it was kept; filled in by [`crate::audit_invariants`].
    pub invariants: Vec<InvariantDrift>,
    /// Filled in by the caller, which owns the clock.
    pub derive_seconds: f64,
    /// Filled in by the caller.
    pub compile_seconds: f64,
    /// Filled in by the caller.
    pub simulate_seconds: f64,
}

/// How well an invariant was kept.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InvariantDrift {
    /// `energy`, `p_x`, `angular momentum`, …
    pub name: String,
    /// Its formula.
    pub text: String,
    /// Largest change between two instants that break it, relative to its scale; NaN where no two states between them were seen.
    pub drift: f64,
    /// Do impacts and resets keep it?
    pub survives_impacts: bool,
}
