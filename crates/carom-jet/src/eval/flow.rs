//! The evaluator of a tape: values at a state, or power series around it. All storage is made once.

use crate::eval::polynomial::{Coefficients, powers};
use crate::eval::single::SingleWorkspace;
use crate::eval::time::Time;
use crate::ir::system::Singular;
use crate::ir::tape::{Tape, TapeValue};
use crate::roots::horner;
use crate::simd::{Kernel, Level, dispatch};
use std::sync::Arc;

/// A tape with its workspace.
///
/// ```
/// # use carom_expr::Dag;
/// # use carom_jet::*;
/// # let mut dag = Dag::new();
/// # let [t, k, x] = ["t", "k", "x"].map(|name| dag.symbol(name));
/// # let rate = vec![dag.mul(k, x)];
/// # let system = System { time: t, parameters: vec![k], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![] };
/// # let tape = Tape::compile(&dag, &system)?;
/// // x' = k x around x = 1, k = 2:  x = e^{2t} = 1 + 2 t + 2 t² + 4/3 t³ + …
/// let mut flow = Flow::new(tape, 12);
/// flow.set_parameters(&[2.0]);
/// flow.jet(Time::new(0.0), &[1.0])?;
/// assert_eq!(flow.state(0)[..3], [1.0, 2.0, 2.0]);
/// let mut x = [0.0];
/// flow.state_at(0.25, &mut x);
/// assert!((x[0] - 0.5_f64.exp()).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Flow {
    tape: Arc<Tape>,
    single: SingleWorkspace,
    /// What the doubles of the state leave out.
    low: Vec<f64>,
}

impl Flow {
    /// A workspace for series up to `order` ≥ 1. Parameters are 0 until set.
    pub fn new(tape: Arc<Tape>, order: usize) -> Flow {
        let low = vec![0.0; tape.dimension];
        let mut flow = Flow { single: SingleWorkspace::new(&tape, order.max(1)), tape, low };
        let zeros = vec![0.0; flow.tape.parameters];
        flow.set_parameters(&zeros);
        flow
    }

    /// The same flow without machine code: slower, and the same bits.
    #[must_use]
    pub fn interpreted(self) -> Flow {
        let level = self.level().interpreted();
        self.with(level)
    }

    /// The same flow with these instructions: the same bits, if the arithmetic is the same.
    #[must_use]
    pub fn with(mut self, level: Level) -> Flow {
        self.single.set_level(level);
        self
    }

    /// The instructions in use.
    pub fn level(&self) -> Level {
        self.single.level()
    }

    /// The tape.
    pub fn tape(&self) -> &Arc<Tape> {
        &self.tape
    }

    /// The highest power of a jet.
    pub fn order(&self) -> usize {
        self.single.layout.order
    }

    /// The unit τ of the series: their coefficients belong to powers of (t − t₀)/τ. 1 unless set.
    pub fn unit(&self) -> f64 {
        self.single.unit()
    }

    /// Series from the next jet on have this unit, a power of two: the same bits but for the exponents, which neither
    /// over- nor underflow when τ is about as long as a step.
    pub fn set_unit(&mut self, unit: f64) {
        self.single.set_unit(unit);
    }

    /// Sets the parameters and computes everything that depends on them only.
    ///
    /// # Panics
    /// When the number of values is not the number of parameters.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        assert_eq!(parameters.len(), self.tape.parameters, "one value per parameter");
        self.single.set_parameters(&self.tape, parameters);
    }

    /// Values of everything at a state: afterwards [`Flow::rate`] gives rates, and the first coefficients of
    /// [`Flow::watched`] are values. Series from an earlier jet are lost.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// # use carom_jet::*;
    /// # let mut dag = Dag::new();
    /// # let [t, k, x] = ["t", "k", "x"].map(|name| dag.symbol(name));
    /// # let rate = vec![dag.mul(k, x)];
    /// # let system = System { time: t, parameters: vec![k], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![] };
    /// # let tape = Tape::compile(&dag, &system)?;
    /// let mut flow = Flow::new(tape, 12);
    /// flow.set_parameters(&[-0.5]);
    /// flow.evaluate(Time::new(0.0), &[3.0])?;
    /// assert_eq!(flow.rate(0), -1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a block is singular.
    pub fn evaluate(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        assert_eq!(state.len(), self.tape.dimension, "one value per state variable");
        self.single.values(&self.tape, time.value(), state)
    }

    /// The power series of state and watched functions around (time, state).
    ///
    /// # Errors
    /// When a block is singular at the state.
    pub fn jet(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        assert_eq!(state.len(), self.tape.dimension, "one value per state variable");
        self.low.fill(0.0);
        self.single.jet(&self.tape, time.value(), state)
    }

    /// Completes the series after [`Flow::evaluate`] at the same point.
    ///
    /// # Errors
    /// When a block is singular at the state.
    pub fn expand(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        self.low.fill(0.0);
        self.single.expand(&self.tape, time.value(), state)
    }

    /// Solves with the matrix of a block as it was at the last evaluation.
    pub fn solve(&mut self, block: usize, right_side: &mut [f64]) {
        self.single.solve(block, right_side);
    }

    /// How far the constraint rows are from depending on each other: sin² of the smallest angle met in the elimination, 1
    /// without such rows. After [`Flow::evaluate`] or [`Flow::jet`].
    pub fn firmness(&self) -> f64 {
        self.single.firmness()
    }

    /// The same polynomials in powers of t − (t₀ + s): x(t₀ + s + h) = Σ_k h^k Σ_{j≥k} (j over k) s^{j−k} x_j.
    pub fn recentre(&mut self, s: f64) {
        self.low.fill(0.0);
        let layout = Arc::clone(&self.single.layout);
        let order = layout.order;
        let shift = |c: &mut [f64]| {
            for k in 0..order {
                for j in (k..order).rev() {
                    c[j] += s * c[j + 1];
                }
            }
        };
        for i in 0..self.tape.dimension {
            let mut c = self.state(i);
            shift(&mut c);
            self.single.set_series(layout.places[i], &c);
        }
        // A watched function may be a state variable, or another watched one.
        let mut done: Vec<_> = layout.places[..self.tape.dimension].iter().map(|p| p.index(0)).collect();
        for (i, place) in layout.watched.iter().enumerate() {
            if self.tape.moves(i) && !done.contains(&place.index(0)) {
                done.push(place.index(0));
                shift(&mut self.single.series_mut(*place)[..=order]);
            }
        }
    }

    /// Takes series and monitored values made elsewhere, as if by a jet.
    pub(crate) fn adopt(
        &mut self,
        unit: f64,
        state: impl Fn(usize, &mut [f64]),
        watched: impl Fn(usize, &mut [f64]),
        monitored: impl Fn(usize) -> f64,
        guarded: impl Fn(usize, usize) -> f64,
    ) {
        self.low.fill(0.0);
        self.single.set_unit(unit);
        let layout = Arc::clone(&self.single.layout);
        for i in 0..self.tape.dimension {
            if layout.pitch == 0 {
                state(i, self.single.series_mut(layout.places[i]));
            } else {
                let mut series = vec![0.0; layout.stride];
                state(i, &mut series);
                self.single.set_series(layout.places[i], &series);
            }
        }
        for (i, place) in layout.watched.iter().enumerate() {
            watched(i, self.single.series_mut(*place));
        }
        for (i, value) in self.tape.monitored.iter().enumerate() {
            if let TapeValue::Row(row) = value {
                self.single.set(layout.places[*row as usize], 0, monitored(i));
            }
        }
        for (i, h) in self.tape.recurrence.guarded.iter().enumerate() {
            for k in 0..layout.order {
                self.single.set(layout.places[h.u as usize], k, guarded(i, k));
            }
        }
    }

    /// Coefficient k of what guarded function `i` depends on.
    pub(crate) fn guarded(&self, i: usize, k: usize) -> f64 {
        let u = self.tape.recurrence.guarded[i].u;
        self.single.doubles()[self.single.layout.places[u as usize].index(k)]
    }

    // ---- results -----------------------------------------------------------------------------------------

    /// Coefficients 0 … order of state variable `i`, after a jet.
    pub fn state(&self, i: usize) -> Vec<f64> {
        assert!(i < self.tape.dimension, "a state variable");
        (0..=self.order()).map(|k| self.coefficient(i, k)).collect()
    }

    /// Coefficient `k` of state variable `i`, after a jet.
    pub fn coefficient(&self, i: usize, k: usize) -> f64 {
        self.single.doubles()[self.single.layout.places[i].index(k)]
    }

    /// These coefficients of state variable `i`, or of a watched function: they are counted after the variables.
    #[inline(always)]
    pub(crate) fn series_of<const K: usize>(&self, i: usize, orders: [usize; K]) -> [f64; K] {
        let (layout, doubles) = (&self.single.layout, self.single.doubles());
        let place = match i.checked_sub(self.tape.dimension) {
            None => layout.places[i],
            Some(watched) => layout.watched[watched],
        };
        orders.map(|k| doubles[place.index(k)])
    }

    /// The first three and the last three coefficients of row `i`, counted as in [`Flow::series_of`], the last of them first.
    #[inline(always)]
    pub(crate) fn ends_of_series(&self, i: usize) -> [[f64; 3]; 2] {
        // Where the series of the state follow each other no place need be looked up.
        if let Coefficients::ByRow(rows, stride) = self.coefficients()
            && let Some(row) = rows.get(i * stride..).and_then(|rest| rest.get(..stride))
            && let (Some(first), Some([c, b, a])) = (row.first_chunk(), row.last_chunk())
        {
            return [*first, [*a, *b, *c]];
        }
        let n = self.order();
        [self.series_of(i, [0, 1, 2]), self.series_of(i, [n, n - 1, n - 2])]
    }

    /// Coefficients of all state variables, `order + 1` each, one after the other.
    pub fn states(&self) -> Vec<f64> {
        (0..self.tape.dimension).flat_map(|i| self.state(i)).collect()
    }

    /// Are the last coefficients of state and watched functions finite, after a jet?
    pub fn is_finite(&self) -> bool {
        let n = self.order();
        let mut finite = true;
        self.coefficients().each([n], |[x]| finite &= x.is_finite());
        finite && (0..self.tape.watched.len()).all(|i| self.watched(i)[n].is_finite())
    }

    /// The coefficients of the state, as they are kept.
    pub fn coefficients(&self) -> Coefficients<'_> {
        let (layout, doubles) = (&self.single.layout, self.single.doubles());
        match layout.pitch {
            0 => Coefficients::ByRow(&doubles[..self.tape.dimension * layout.stride], layout.stride),
            pitch => Coefficients::ByOrder(&doubles[..pitch * layout.stride], pitch, self.tape.dimension),
        }
    }

    /// The state was rounded to doubles by these, less than half a unit of their last places each: from now on, until the next
    /// jet, they are part of it. Series are those of the doubles; what a step adds is added to the pairs.
    pub fn carry(&mut self, low: impl IntoIterator<Item = f64>) {
        self.low.iter_mut().zip(low).for_each(|(kept, low)| *kept = low);
    }

    /// What is carried; 0 after a jet.
    pub fn carried(&self) -> &[f64] {
        &self.low
    }

    /// The state at t₀ + h τ, after a jet.
    pub fn state_at(&self, h: f64, into: &mut [f64]) {
        self.pair_at(h, into, &mut self.low.clone());
    }

    /// The state at t₀ + h τ as a pair, after a jet: the doubles, and what they leave out.
    pub fn pair_at(&self, h: f64, into: &mut [f64], low: &mut [f64]) {
        self.with_powers(h, |h_powers| self.pair_with(h_powers, into, low));
    }

    /// Hands h, h², … h^order to `work`.
    pub(crate) fn with_powers<R>(&self, h: f64, work: impl FnOnce(&[f64]) -> R) -> R {
        let mut room = [0.0; 64];
        let mut more;
        let h_powers = match self.order() {
            n if n <= room.len() => &mut room[..n],
            n => {
                more = vec![0.0; n];
                &mut more[..]
            }
        };
        self.powers(h, h_powers);
        work(h_powers)
    }

    /// h, h², … into `into`: [`powers`], with the instructions in use.
    pub fn powers(&self, h: f64, into: &mut [f64]) {
        dispatch(self.single.level(), Powers { h, into });
    }

    /// The state at t₀ + h τ as a pair, given h, h², ….
    pub fn pair_with(&self, powers: &[f64], into: &mut [f64], low: &mut [f64]) {
        low.copy_from_slice(&self.low);
        dispatch(self.single.level(), StepEnd { coefficients: self.coefficients(), powers, into, low });
    }

    /// Coefficients 0 … order of watched function `i`, after a jet. After [`Flow::evaluate`] only the first counts.
    pub fn watched(&self, i: usize) -> &[f64] {
        self.single.series(self.single.layout.watched[i])
    }

    /// Watched function `i` at t₀ + h τ, after a jet.
    pub fn watched_at(&self, i: usize, h: f64) -> f64 {
        horner(self.watched(i), h)
    }

    /// The rate of state variable `i`, after [`Flow::evaluate`] or [`Flow::jet`].
    pub fn rate(&self, i: usize) -> f64 {
        self.single.value(self.tape.rate[i])
    }

    /// The value of a row or constant, after [`Flow::evaluate`] or [`Flow::jet`].
    pub(crate) fn value(&self, value: TapeValue) -> f64 {
        self.single.value(value)
    }

    /// The value of monitored function `i`, after [`Flow::evaluate`] or [`Flow::jet`].
    pub fn monitored(&self, i: usize) -> f64 {
        self.single.value(self.tape.monitored[i])
    }
}

/// The powers of a step, compiled for each instruction set.
struct Powers<'a> {
    h: f64,
    into: &'a mut [f64],
}

impl Kernel for Powers<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        powers(self.h, self.into);
    }
}

/// The state at the end of a step, compiled for each instruction set.
struct StepEnd<'a> {
    coefficients: Coefficients<'a>,
    powers: &'a [f64],
    into: &'a mut [f64],
    low: &'a mut [f64],
}

impl Kernel for StepEnd<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.coefficients.end(self.powers, self.into, self.low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extent, System};
    use carom_expr::{Dag, Function, Rational};

    #[test]
    fn recentred_series_are_the_same_polynomials() {
        // x' = y, y' = −x; watched: x itself, twice, and x y.
        let mut dag = Dag::new();
        let [t, x, y] = ["t", "x", "y"].map(|n| dag.symbol(n));
        let (minus, product) = (dag.neg(x), dag.mul(x, y));
        let system = System {
            time: t,
            parameters: vec![],
            state: vec![x, y],
            rate: vec![y, minus],
            blocks: vec![],
            watched: vec![x, x, product],
            monitored: vec![],
        };
        let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), 20);
        flow.jet(Time::new(0.0), &[0.6, 0.8]).unwrap();
        let before = flow.clone();
        flow.recentre(0.3);
        let (mut here, mut there) = ([0.0; 2], [0.0; 2]);
        for h in [0.0, 0.1, 0.2] {
            flow.state_at(h, &mut here);
            before.state_at(0.3 + h, &mut there);
            assert!(here.iter().zip(&there).all(|(a, b)| (a - b).abs() < 1e-15), "{here:?} {there:?}");
            for i in 0..3 {
                assert!((flow.watched_at(i, h) - before.watched_at(i, 0.3 + h)).abs() < 1e-15, "{i}");
            }
        }
    }

    #[test]
    fn large_systems_know_what_hides() {
        // x' = y, y' = −x exp(−30 (x − 1)²) for each of many; the pulse is invisible at x = 5.
        let mut dag = Dag::new();
        let t = dag.symbol("t");
        let (mut state, mut rate) = (Vec::new(), Vec::new());
        let one = dag.integer(1);
        for i in 0..80 {
            let [x, y] = ["x", "y"].map(|n| dag.symbol(&format!("{n}{i}")));
            let from = dag.sub(x, one);
            let square = dag.powi(from, 2);
            let exponent = dag.scale(Rational::new(-30, 1).unwrap(), square);
            let pulse = dag.function(Function::Exp, &[exponent]);
            let pull = dag.mul(x, pulse);
            state.extend([x, y]);
            rate.extend([y, dag.neg(pull)]);
        }
        let start: Vec<f64> = state.iter().enumerate().map(|(i, _)| [5.0, -1.0][i % 2]).collect();
        let (parameters, blocks, watched, monitored) = (vec![], vec![], vec![], vec![]);
        let system = System { time: t, parameters, state, rate, blocks, watched, monitored };
        let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), 24);
        let mut plain = flow.clone().interpreted();
        flow.jet(Time::new(0.0), &start).unwrap();
        plain.jet(Time::new(0.0), &start).unwrap();
        assert!(!flow.tape.recurrence.classes.is_empty(), "large enough");
        let extent = Extent::new(160, 0);
        assert!(plain.cut(10.0, &extent) < 3.0, "the pulse is 4 away at speed 1");
        assert_eq!(flow.cut(10.0, &extent), plain.cut(10.0, &extent), "the same bits");
    }
}
