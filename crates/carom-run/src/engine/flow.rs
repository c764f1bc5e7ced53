//! The evaluator of a tape: values at a state, or power series around it. All storage is made once.

use super::factor::Factor;
use super::first;
use super::packed::Packed;
use super::system::Singular;
use super::tape::{Row, Tape, Value};
use super::time::Time;
use std::sync::Arc;

/// A tape with its workspace.
#[derive(Clone, Debug)]
pub struct Flow {
    tape: Arc<Tape>,
    order: usize,
    stride: usize,
    constants: Vec<f64>,
    factors: Vec<Factor>,
    packed: Packed,
    /// What has a series: state variables, then unknowns of all blocks, then watched functions.
    kept: Vec<Value>,
    /// Coefficient k of `kept[i]` is at i·stride + k.
    series: Vec<f64>,
    rates: Vec<f64>,
    noted: Vec<f64>,
}

/// p(h) = Σ p_k h^k.
pub fn horner(row: &[f64], h: f64) -> f64 {
    row.iter().rev().fold(0.0, |sum, &c| sum * h + c)
}

impl Flow {
    /// A workspace for series up to `order` ≥ 1. Parameters are 0 until set.
    pub fn new(tape: Arc<Tape>, order: usize) -> Flow {
        let order = order.max(1);
        let stride = order + 1;
        let mut kept: Vec<Value> = (0..tape.dimension).map(|i| Value::Row(i as Row)).collect();
        for block in &tape.blocks {
            kept.extend((0..block.size).map(|i| Value::Row(block.first + i as Row)));
        }
        kept.extend(&tape.watched);
        let mut flow = Flow {
            order,
            stride,
            constants: vec![0.0; tape.constants.len()],
            factors: tape.blocks.iter().map(Factor::new).collect(),
            packed: Packed::new(&tape, order),
            series: vec![0.0; kept.len() * stride],
            kept,
            rates: vec![0.0; tape.rate.len()],
            noted: vec![0.0; tape.noted.len()],
            tape,
        };
        let zeros = vec![0.0; flow.tape.parameters];
        flow.set_parameters(&zeros);
        flow
    }

    /// The same flow without machine code: slower, and the same bits.
    #[must_use]
    pub fn interpreted(mut self) -> Flow {
        self.packed.without_code();
        self
    }

    /// The tape.
    pub fn tape(&self) -> &Arc<Tape> {
        &self.tape
    }

    /// The highest power of a jet.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Sets the parameters and computes everything that depends on them only.
    ///
    /// # Panics
    /// When the number of values is not the number of parameters.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        assert_eq!(parameters.len(), self.tape.parameters, "one value per parameter");
        first::constants(&self.tape, parameters, &mut self.constants);
        self.packed.set_constants(&self.tape.recurrence, &self.constants);
    }

    /// Values of everything at a state: afterwards [`Flow::rate`] gives rates, and the first coefficients of
    /// [`Flow::unknown`] and [`Flow::watched`] are values. Series from an earlier jet are lost.
    ///
    /// # Errors
    /// When a block is singular.
    pub fn evaluate(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        let n = self.tape.dimension;
        assert_eq!(state.len(), n, "one value per state variable");
        let values = self.packed.current();
        values[..n].copy_from_slice(state);
        values[n] = time.value();
        first::values(&self.tape, &self.constants, &mut self.factors, values)?;
        for (value, series) in self.kept.iter().zip(self.series.chunks_exact_mut(self.stride)) {
            series[0] = first::value(*value, &self.constants, values);
        }
        for (rate, value) in self.rates.iter_mut().zip(&self.tape.rate) {
            *rate = first::value(*value, &self.constants, values);
        }
        for (noted, value) in self.noted.iter_mut().zip(&self.tape.noted) {
            *noted = first::value(*value, &self.constants, values);
        }
        Ok(())
    }

    /// The power series of state, unknowns and watched functions around (time, state).
    ///
    /// # Errors
    /// When a block is singular at the state.
    pub fn jet(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        self.evaluate(time, state)?;
        self.packed.run(&self.tape, &self.constants, &mut self.factors, &self.kept, &mut self.series);
        Ok(())
    }

    /// Takes series and noted values made elsewhere, as if by a jet.
    pub(crate) fn adopt(
        &mut self,
        state: impl Fn(usize, &mut [f64]),
        watched: impl Fn(usize, &mut [f64]),
        noted: impl Fn(usize) -> f64,
    ) {
        let first = self.kept.len() - self.tape.watched.len();
        for (i, series) in self.series.chunks_exact_mut(self.stride).enumerate() {
            if i < self.tape.dimension {
                state(i, series);
            } else if i >= first {
                watched(i - first, series);
            }
        }
        self.noted.iter_mut().enumerate().for_each(|(i, x)| *x = noted(i));
    }

    // ---- results -----------------------------------------------------------------------------------------

    fn kept(&self, i: usize) -> &[f64] {
        &self.series[i * self.stride..][..self.stride]
    }

    /// Coefficients 0 … order of state variable `i`, after a jet.
    pub fn state(&self, i: usize) -> &[f64] {
        assert!(i < self.tape.dimension, "a state variable");
        self.kept(i)
    }

    /// Coefficients of all state variables, `order + 1` each, one after the other.
    pub fn states(&self) -> &[f64] {
        &self.series[..self.tape.dimension * self.stride]
    }

    /// The state at t₀ + h, after a jet.
    pub fn state_at(&self, h: f64, into: &mut [f64]) {
        for (i, x) in into.iter_mut().enumerate() {
            *x = horner(self.state(i), h);
        }
    }

    /// Coefficients 0 … order of watched function `i`, after a jet. After [`Flow::evaluate`] only the first counts.
    pub fn watched(&self, i: usize) -> &[f64] {
        self.kept(self.kept.len() - self.tape.watched.len() + i)
    }

    /// Watched function `i` at t₀ + h, after a jet.
    pub fn watched_at(&self, i: usize, h: f64) -> f64 {
        horner(self.watched(i), h)
    }

    /// Coefficients 0 … order − 1 of an unknown of a block, after a jet. (To have the last one too, watch it.)
    pub fn unknown(&self, block: usize, i: usize) -> &[f64] {
        let before: usize = self.tape.blocks[..block].iter().map(|b| b.size).sum();
        assert!(i < self.tape.blocks[block].size, "an unknown of the block");
        &self.kept(self.tape.dimension + before + i)[..self.order]
    }

    /// The rate of state variable `i`, after [`Flow::evaluate`] or [`Flow::jet`].
    pub fn rate(&self, i: usize) -> f64 {
        self.rates[i]
    }

    /// The value of noted function `i`, after [`Flow::evaluate`] or [`Flow::jet`].
    pub fn noted(&self, i: usize) -> f64 {
        self.noted[i]
    }
}
