//! What the doubles of a state leave out: x = hi + lo exactly, |lo| ≤ ½ ulp(hi), as time is kept.
//!
//! ```text
//! hi + lo ← hi + (lo + Σ x_k h^k)        x_k: the series around hi
//! ```
//!
//! A step adds a tenth of the state or less; without lo each of them would be rounded to the last place of the whole.
//! Promise: a remainder belongs to the double it was left out of. Where a jump, a projection or a reset has put another one
//! in its place, there is none.

use crate::eval::flow::Flow;

/// What is left out of the state a step led to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Remainder {
    /// The doubles it was left out of.
    state: Vec<f64>,
    low: Vec<f64>,
}

impl Remainder {
    /// Nothing is left out.
    pub fn clear(&mut self) {
        self.state.clear();
        self.low.clear();
    }

    /// This much is left out of these.
    pub fn keep(&mut self, state: &[f64], low: &[f64]) {
        self.clear();
        self.state.extend(state);
        self.low.extend(low);
    }

    /// What is left out of a state: nothing where it is another than the one the step led to.
    pub fn of<'a>(&'a self, state: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let known = self.state.iter().zip(&self.low).map(Some).chain(std::iter::repeat(None));
        state.iter().zip(known).map(|(x, known)| match known {
            Some((same, low)) if same == x => *low,
            _ => 0.0,
        })
    }

    /// Moves on to t₀ + h τ along series that carry what was left out of their start. `powers`: h, h², … if they are known.
    pub fn advance(&mut self, flow: &Flow, h: f64, powers: Option<&[f64]>, into: &mut [f64]) {
        self.low.resize(into.len(), 0.0);
        match powers {
            Some(powers) => flow.pair_with(powers, into, &mut self.low),
            None => flow.pair_at(h, into, &mut self.low),
        }
        self.state.clear();
        self.state.extend(&*into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remainder_belongs_to_the_double_it_was_left_out_of() {
        let mut remainder = Remainder::default();
        assert_eq!(remainder.of(&[1.0, 2.0]).collect::<Vec<_>>(), [0.0, 0.0], "nothing is known");
        remainder.keep(&[1.0, 2.0], &[1e-17, -1e-17]);
        assert_eq!(remainder.of(&[1.0, 2.0]).collect::<Vec<_>>(), [1e-17, -1e-17]);
        assert_eq!(remainder.of(&[1.0, -2.0, 3.0]).collect::<Vec<_>>(), [1e-17, 0.0, 0.0], "a jump");
        remainder.clear();
        assert_eq!(remainder.of(&[1.0]).collect::<Vec<_>>(), [0.0]);
    }
}
