//! The verdict on a motion: did it keep its laws as well as its method promises?
//!
//! ```text
//! energy balance   |E(t) − E(0) − ∫power − Σ allowed jumps| ≤ k N (τ S + u s_E),  and ≤ S/100      S = max(|T| + |V|) over the motion
//! rows             |residual before a projection|           ≤ k max(τ, u) s_c                     s_c = the row's largest scale so far
//! impact law       |[p] − λn − Aᵀμ|, |[E] − allowed|        ≤ k u P, k u S;  under rows k max(τ, u)    P = the momenta's size
//! ```
//!
//! *Why these.* A step of tolerance τ leaves component x_j wrong by at most τ s_j, s_j its own scale, so E by at most
//! τ Σ|∂E/∂x_j| s_j, which for energies of moderate degree is a few times τ S. Rounding leaves u s_E, s_E the scale of E by the
//! sweep of `zero.rs`: more than u S where T and V are small differences of large terms. The balance is a law of the *computed*
//! motion: power is integrated along it, so an error made in one step is counted once and never amplified, however chaotic the
//! motion is. N steps and impacts leave at most N times what one leaves. Rows are projected after the step in which they are
//! off, so they do not add up. The law at an impact is an algebraic problem solved at the state found: only rounding, whatever τ
//! is, except that it also restores the rows, which are off by up to k τ there. The amplification ‖∂x(t)/∂x(0)‖ says how far the
//! computed motion is from the exact one of the same start; it enters none of the three.
//!
//! A step across rank loss (`rank_loss.rs`) leaves more in the rows, (u/strength) ρ^N, and was taken only if it left no more.
//!
//! k = [`EXPLAINED`] stands for the degree of formulas and the number of their terms. A drift above [`LARGE`] is reported even if
//! it is explained: the tolerance was chosen too loose. The fixed-step method has no tolerance, and nothing explains its drift: it
//! may reach [`UNCONTROLLED`]. Where T and V never are more than rounding of their own terms (a pendulum at rest in
//! `1 - cos(theta)`) the drift is measured by those terms.

use crate::figures::figures;
use crate::motion::Verdict;
use crate::project::LargestTerms;
use crate::run::Run;
use crate::zero::{EXPLAINED, LARGE, UNCONTROLLED};
use carom_jet::{relative, unbalanced};
use carom_mech::model::Method;

/// What rounding leaves of a law in one step, as a part of its scale.
const ROUNDED: f64 = EXPLAINED * f64::EPSILON;

/// How well the laws were kept so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LawAudit {
    /// s_c of every row, condition, gap and gap rate.
    pub largest_terms: LargestTerms,
    /// E(0) + jumps the law allowed; the work variable is added when compared.
    pub expected_energy: f64,
    /// S
    pub energy_scale: f64,
    /// The largest |E(t) − E(0) − ∫power − Σ allowed jumps|.
    pub worst_energy: f64,
    /// What the start missed its rows by.
    pub start_residual: f64,
}

impl LawAudit {
    /// Another simulation begins.
    pub fn clear(&mut self) {
        self.largest_terms.clear();
        self.worst_energy = 0.0;
    }

    /// Holds E against what it should be.
    pub fn see_energy(&mut self, energy: f64, work: f64, scale: f64) {
        self.energy_scale = self.energy_scale.max(scale);
        self.worst_energy = unbalanced(self.worst_energy, energy, self.expected_energy, work);
    }
}

impl Run<'_> {
    /// Judges the motion as it is now: fills in the audit and warns of what drifted.
    pub fn judge(&mut self) {
        self.recorder.motion.audit.steps = self.stepper.steps;
        self.recorder.motion.audit.arithmetic = self.program.level().arithmetic();
        self.recorder.motion.audit.verdict = Verdict::Ok;
        self.judge_balance();
        self.judge_rows();
        self.judge_law();
    }

    /// What one step explains, as a part of a scale.
    fn explained(&self) -> f64 {
        match self.options.method {
            Method::Taylor => EXPLAINED * self.options.tolerance.max(f64::EPSILON),
            Method::Rk4 { .. } => UNCONTROLLED,
        }
    }

    fn judge_balance(&mut self) {
        let (worst, scale) = (self.audit.worst_energy, self.audit.energy_scale);
        let drift = relative(worst, scale);
        self.recorder.motion.audit.hamiltonian_drift = drift;
        let count = self.stepper.steps.saturating_add(self.recorder.impact_count).max(1) as f64;
        let explained = match self.options.method {
            Method::Taylor => count * self.explained(),
            Method::Rk4 { .. } => self.explained(),
        };
        if drift <= explained.min(LARGE) {
            return;
        }
        // Before an alarm: are T and V small differences of large terms? Where the motion is now is as good a place as any.
        self.frame.reach_mut().fill(0.0);
        self.evaluate_frame();
        let terms = scale.max(self.frame.energy_sweep());
        let rounding = ROUNDED * terms;
        let fine = if scale <= rounding {
            self.recorder.motion.audit.hamiltonian_drift = relative(worst, terms);
            worst <= count * rounding
        } else {
            worst <= (explained * scale + count * rounding).min(LARGE * scale)
        };
        if !fine {
            let over = format!(" of |T| + |V| over {}", counted(self.stepper.steps, "step"));
            self.alarm("the energy balance", self.recorder.motion.audit.hamiltonian_drift, &over, explained);
        }
    }

    fn judge_rows(&mut self) {
        // A step across rank loss has checked what it costs.
        let explained = self.explained().max(self.rank.cost);
        let rows = self.recorder.motion.audit.constraint_drift;
        // What a start misses its rows by is the author's, and was projected away.
        if rows > self.audit.start_residual && rows > explained.min(LARGE) {
            self.alarm("a constraint", rows, " of its largest terms", explained);
        }
    }

    fn judge_law(&mut self) {
        let law = self.recorder.motion.audit.impact_law_residual;
        let explained = if self.frame.layout.rows > 0 { self.explained() } else { ROUNDED };
        if law > explained.min(LARGE) {
            self.recorder.motion.audit.verdict = Verdict::Drift;
            let (law, explained) = (figures(law, 2), figures(explained, 1));
            self.warn(format!(
                "the impact law was kept only to {law}, where {explained} can be explained: do not trust this motion"
            ));
        }
    }

    fn alarm(&mut self, what: &str, drift: f64, over: &str, explained: f64) {
        self.recorder.motion.audit.verdict = Verdict::Drift;
        let tolerance = figures(self.options.tolerance, 2);
        let way_out = match self.options.method {
            Method::Rk4 { step } => {
                let step = figures(step, 6);
                format!(
                    "rk4 has no error control, and steps of {step} are too long here; shorten them, or use taylor"
                )
            }
            Method::Taylor if drift <= explained => {
                format!("the tolerance {tolerance} is too loose for this motion; lower it")
            }
            Method::Taylor => format!(
                "the tolerance {tolerance} explains {}; do not trust this motion before another tolerance or other coordinates \
                 confirm it",
                figures(explained, 1)
            ),
        };
        self.warn(format!("{what} drifted by {}{over}: {way_out}", figures(drift, 2)));
    }
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
