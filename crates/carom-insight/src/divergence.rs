//! The laws that a spectrum of exponents must obey.
//!
//! ```text
//! ln det Φ = ∫ tr W⁻¹Q_v dt + Σ 2 ln e + ln det W(0) − ln det W(T)          in (q, v);   ∫ tr Q_p dt + Σ 2 ln e   in (q, p)
//! zeros = rank X + rank dJ − rank dJ·X            X = f and every ξ that keeps the motion a motion,  J what is conserved
//! ```
//!
//! The first holds for every motion, however short, and to rounding where the rate is constant. The second counts directions that
//! neither grow nor shrink: X is carried along by the motion, and so is dJ; where invariants commute, dJ·X = 0 and each has two.

use crate::request::{depends_on_time, is_conservative};
use crate::subject::Subject;
use crate::symmetry;
use carom_expr::{Dag, Expr};
use carom_jet::dense::{Factored, Matrix, SingularValues, dot};
use carom_mech::mechanics::Dynamics;
use carom_mech::model::Action;
use carom_run::{Columns, Motion, Side};

/// ∫ tr W⁻¹ Q_v dt + Σ 2 ln e: what ln det Φ must be in (q, p).
pub(crate) struct Divergence {
    /// W and Q_v (or Q_p), row by row; `None` where the law does not apply.
    formulas: Option<(Dag, Vec<Expr>)>,
    free: usize,
    /// Is the rate the same everywhere?
    constant: bool,
    restitution: Vec<f64>,
    total: f64,
    pub impacts: usize,
    /// Has nothing happened that loses energy?
    pub elastic: bool,
}

/// Nodes and weights of Gauss's rule of five points on (−1, 1).
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];
/// Halvings of a leg, and the difference between a leg and its halves that is small enough, relative to the integral of |rate|.
const DEEPEST: usize = 14;
const CLOSE: f64 = 1e-12;

/// The part of a motion over one interval.
pub(crate) struct Interval<'a> {
    pub motion: &'a Motion,
    /// The state at its beginning.
    pub from: &'a [f64],
    pub time: f64,
    pub length: f64,
}

impl Divergence {
    pub fn new(subject: &Subject<'_>, parameters: &[f64]) -> Divergence {
        let mechanics = subject.mechanics;
        let model = &mechanics.model;
        let free = mechanics.free.len();
        let zeros = vec![0.0; subject.size()];
        let restitution =
            mechanics.walls.iter().map(|w| subject.value(w.restitution, &zeros, 0.0, parameters)).collect();
        let mut dag = model.dag.clone();
        let coordinates = || mechanics.free.iter().map(|&i| &model.coordinates[i]);
        let all = match &mechanics.dynamics {
            _ if !mechanics.rows.is_empty() => None,
            Dynamics::Lagrangian(l) => {
                let mut all: Vec<Expr> = l.mass_matrix.iter().flatten().copied().collect();
                for &q in &l.generalized_force {
                    all.extend(coordinates().map(|c| dag.derivative(q, c.velocity)));
                }
                Some(all)
            }
            Dynamics::Hamiltonian(h) => {
                let (zero, one) = (dag.zero(), dag.one());
                let unit = (0..free * free).map(|k| if k % (free + 1) == 0 { one } else { zero });
                let mut all: Vec<Expr> = unit.collect();
                for &q in &h.generalized_force {
                    all.extend(coordinates().map(|c| dag.derivative(q, c.momentum)));
                }
                Some(all)
            }
            Dynamics::Degenerate(_) => None,
        };
        let constant = all.as_ref().is_none_or(|all| {
            let slopes_vanish = all[free * free..].iter().all(|&e| dag.is_zero(e));
            let known: Vec<_> = model.parameters.iter().filter_map(|p| dag.as_symbol(p.symbol)).collect();
            slopes_vanish || dag.symbols_in(all).iter().all(|s| known.contains(s))
        });
        let formulas = all.map(|all| (dag, all));
        Divergence { formulas, free, constant, restitution, total: 0.0, impacts: 0, elastic: true }
    }

    /// tr W⁻¹ Q_v
    fn rate(&self, subject: &Subject<'_>, x: &[f64], time: f64, parameters: &[f64]) -> f64 {
        let Some((dag, all)) = &self.formulas else { return 0.0 };
        let values: Vec<f64> = subject.values_in(dag, all, x, time, parameters);
        let n = self.free;
        let slopes = &values[n * n..];
        if slopes.iter().all(|v| *v == 0.0) {
            return 0.0;
        }
        let factored = Factored::new(&Matrix { rows: n, columns: n, entries: values[..n * n].to_vec() });
        (0..n).map(|j| factored.solve(&(0..n).map(|i| slopes[i * n + j]).collect::<Vec<f64>>())[j]).sum()
    }

    /// ln |det W|
    pub fn ln_inertia(&self, subject: &Subject<'_>, x: &[f64], time: f64, parameters: &[f64]) -> f64 {
        let Some((dag, all)) = &self.formulas else { return 0.0 };
        let n = self.free;
        let values = subject.values_in(dag, &all[..n * n], x, time, parameters);
        let rows: Vec<Vec<f64>> = values.chunks(n).map(<[f64]>::to_vec).collect();
        SingularValues::of(&rows, n).values.iter().map(|s| s.ln()).sum()
    }

    pub fn add(&mut self, subject: &mut Subject<'_>, interval: &Interval<'_>, parameters: &[f64]) {
        let motion = interval.motion;
        self.impacts += motion.impacts.len();
        self.elastic &= subject.elastic(parameters, motion);
        for impact in &motion.impacts {
            let e = impact.walls.iter().map(|&w| self.restitution[w]);
            match impact.walls[..] {
                [wall] if self.restitution[wall] > 0.0 => self.total += 2.0 * self.restitution[wall].ln(),
                // Several at once: each keeps volumes if all are elastic.
                [_, _, ..] if e.clone().all(|e| e == 1.0) => {}
                _ => self.formulas = None,
            }
        }
        let model = &subject.mechanics.model;
        let reset = motion.events.iter().any(|e| matches!(model.events[e.event].action, Action::Set(_)));
        if reset || !motion.contacts.is_empty() {
            self.formulas = None;
        }
        if self.formulas.is_none() {
            return;
        }
        self.total += if self.constant {
            interval.length * self.rate(subject, interval.from, interval.time, parameters)
        } else {
            self.integral(subject, interval, parameters)
        };
    }

    /// ∫ rate dt, leg by leg: at an impact the rate jumps.
    fn integral(&mut self, subject: &mut Subject<'_>, interval: &Interval<'_>, parameters: &[f64]) -> f64 {
        let end = interval.time + interval.length;
        let mut options = subject.options_from(interval.from, interval.time, end, parameters);
        options.dense = true;
        let Ok(motion) = subject.simulate(&options) else {
            self.formulas = None;
            return 0.0;
        };
        let mut ends = vec![interval.time];
        ends.extend(motion.impacts.iter().map(|i| i.time));
        ends.push(end);
        let columns = Columns::of(subject.program());
        let free = subject.mechanics.free.clone();
        let hamiltonian = subject.hamiltonian;
        let mut at = |t: f64| {
            let Some(values) = subject.read(&motion, t, Side::After) else { return f64::NAN };
            let rates = if hamiltonian {
                &values[columns.momentum.clone()]
            } else {
                &values[columns.velocity.clone()]
            };
            let positions = free.iter().map(|&i| values[columns.position.clone()][i]);
            let x: Vec<f64> = positions.chain(free.iter().map(|&i| rates[i])).collect();
            self.rate(subject, &x, t, parameters)
        };
        ends.windows(2).map(|leg| quadrature(leg[0], leg[1], DEEPEST, &mut at)).sum()
    }

    /// What Σ λ T must be, but for the change of ln det W.
    pub fn total(&self) -> Option<f64> {
        self.formulas.as_ref().map(|_| self.total)
    }
}

/// ∫ f from a to b: Gauss's rule, halved until the halves agree with the whole.
fn quadrature(a: f64, b: f64, depth: usize, f: &mut impl FnMut(f64) -> f64) -> f64 {
    let rule = |a: f64, b: f64, f: &mut dyn FnMut(f64) -> f64| {
        let (middle, half) = ((a + b) / 2.0, (b - a) / 2.0);
        let terms = GAUSS.map(|(node, weight)| weight * half * f(middle + half * node));
        (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>())
    };
    let (whole, size) = rule(a, b, f);
    let middle = (a + b) / 2.0;
    if depth == 0 || !(a < middle && middle < b) {
        return whole;
    }
    let halves = rule(a, middle, f).0 + rule(middle, b, f).0;
    if (whole - halves).abs() <= CLOSE * size {
        return halves;
    }
    quadrature(a, middle, depth - 1, f) + quadrature(middle, b, depth - 1, f)
}

/// A singular value below this part of the largest is none.
const DEPENDENT: f64 = 1e-7;

fn rank(rows: &[Vec<f64>], columns: usize) -> usize {
    let unit: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let size = dot(row, row).sqrt();
            row.iter().map(|x| if size > 0.0 { x / size } else { 0.0 }).collect()
        })
        .collect();
    if unit.is_empty() || columns == 0 {
        return 0;
    }
    SingularValues::of(&unit, columns).values.iter().filter(|s| **s > DEPENDENT).count()
}

/// How many exponents of a motion are zero because of the flow and of what is conserved, seen from one of its states. `met` are
/// parts of the motion, `basis` the directions that keep the constraints there.
pub(crate) fn zeros(
    subject: &Subject<'_>,
    met: &[Motion],
    elastic: bool,
    x: &[f64],
    time: f64,
    parameters: &[f64],
    basis: &[Vec<f64>],
) -> usize {
    let autonomous = !depends_on_time(subject.mechanics);
    let (mut carried, mut conserved): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    if autonomous {
        carried.push(subject.rate(x, time, parameters));
        if elastic && is_conservative(subject, parameters) {
            conserved.push(subject.gradient(subject.mechanics.hamiltonian, x, time, parameters).1);
        }
    }
    for s in symmetry::unbroken(subject, met) {
        carried.push(subject.turn(&s, x, time, parameters));
        conserved.push(subject.gradient_in(&s.dag, s.conserved, x, time, parameters).1);
    }
    let along = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
        all.iter().map(|v| basis.iter().map(|q| dot(q, v)).collect()).collect()
    };
    let (carried, conserved) = (along(&carried), along(&conserved));
    let size = |v: &[f64]| dot(v, v).sqrt().max(f64::MIN_POSITIVE);
    let brackets: Vec<Vec<f64>> = conserved
        .iter()
        .map(|g| {
            let product = |c: &Vec<f64>| dot(g, c) / (size(g) * size(c));
            carried.iter().map(product).map(|b| if b.abs() < DEPENDENT { 0.0 } else { b }).collect()
        })
        .collect();
    let both = brackets.iter().filter(|row| row.iter().any(|b| *b != 0.0)).cloned().collect::<Vec<_>>();
    rank(&carried, basis.len()) + rank(&conserved, basis.len()) - rank(&both, carried.len())
}
