//! One symmetric matrix of numbers, factored once:  Pᵀ M P = L D Lᵀ, sparse where M is.
//!
//! For what is solved now and then rather than in every step (jumps, samples, starts) in systems so large that a dense
//! factorisation with pivoting would be felt. Promise: made only when every pivot is beyond doubt, so M has full rank.

use crate::eval::ldl;
use crate::ir::elimination::Elimination;
use crate::ir::layout::{self, Factors};
use crate::ir::tape::{CompiledBlock, TapeValue};
use std::cell::RefCell;

/// The factors.
#[derive(Clone, Debug)]
pub struct Symmetric {
    factors: Factors,
    arena: RefCell<Vec<f64>>,
}

impl Symmetric {
    /// Factors the matrix whose lower half `entry` gives; `None` when a pivot is doubtful. The rows from `first_row` on have
    /// no diagonal entries; they augment the others (see the module of eliminations) if the matrix has no pivots without.
    pub fn new(size: usize, first_row: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Symmetric> {
        Symmetric::with(size, &[], &entry).or_else(|| {
            let rows: Vec<u32> = (first_row as u32..size as u32).collect();
            if rows.is_empty() { None } else { Symmetric::with(size, &rows, &entry) }
        })
    }

    fn with(
        size: usize,
        augmentation_rows: &[u32],
        entry: &impl Fn(usize, usize) -> f64,
    ) -> Option<Symmetric> {
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut values: Vec<f64> = Vec::new();
        for i in 0..size {
            for j in 0..=i {
                let x = entry(i, j);
                if x != 0.0 {
                    places.push((i as u32, j as u32));
                    values.push(x);
                }
            }
        }
        let elimination = Elimination::new(size, &places, augmentation_rows).or_else(|| {
            (!augmentation_rows.is_empty()).then(|| Elimination::dense(size, &places, augmentation_rows))
        });
        let entries =
            places.iter().enumerate().map(|(k, &(i, j))| (i, j, TapeValue::Constant(k as u32))).collect();
        let block = CompiledBlock {
            size,
            entries,
            symmetric: true,
            right_side: Vec::new(),
            elimination,
            first: 0,
            names: Vec::new(),
        };
        let mut length = 0;
        let factors = layout::factors(&block, &mut |elements| {
            length += elements;
            length - elements
        });
        let mut arena = vec![0.0; length];
        ldl::factor(&factors, &block, &mut arena, |_, value| match value {
            TapeValue::Constant(k) => values[k as usize],
            TapeValue::Row(_) => 0.0,
        });
        ldl::is_healthy(&factors, &arena).then(|| Symmetric { factors, arena: RefCell::new(arena) })
    }

    /// Overwrites `b` by the solution.
    pub fn solve(&self, b: &mut [f64]) {
        ldl::solve_elsewhere(&self.factors, &mut self.arena.borrow_mut(), b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of bodies with rods between neighbours: [W Aᵀ; A 0].
    fn chain(n: usize) -> impl Fn(usize, usize) -> f64 {
        move |i, j| match (i < n, j < n) {
            (true, true) => f64::from(u8::from(i == j)) * (1.0 + i as f64),
            (false, true) if j == i - n => 1.0,
            (false, true) if j + 1 == i - n => -0.5,
            _ => 0.0,
        }
    }

    #[test]
    fn solutions_solve() {
        for n in [3, 40] {
            let entry = chain(n);
            let m = Symmetric::new(2 * n, n, &entry).unwrap();
            let x: Vec<f64> = (0..2 * n).map(|i| (1.0 + i as f64).sin()).collect();
            let full = |i: usize, j: usize| entry(i.max(j), i.min(j));
            let mut b: Vec<f64> = (0..2 * n).map(|i| (0..2 * n).map(|j| full(i, j) * x[j]).sum()).collect();
            m.solve(&mut b);
            for (b, x) in b.iter().zip(&x) {
                assert!((b - x).abs() < 1e-12, "{b} {x}");
            }
        }
    }

    #[test]
    fn dependent_rows_are_left_to_others() {
        // Two equal constraint rows on one body.
        let entry = |i: usize, j: usize| if i == 0 || j == 0 { 1.0 } else { 0.0 };
        assert!(Symmetric::new(3, 1, entry).is_none());
    }

    #[test]
    fn rows_augment_what_has_no_mass() {
        // Every other body without mass, held by the rod to the one before.
        for n in [4, 40] {
            let heavy = chain(n);
            let entry = |i: usize, j: usize| if i < n && i % 2 == 1 { 0.0 } else { heavy(i, j) };
            let m = Symmetric::new(2 * n, n, entry).unwrap();
            let full = |i: usize, j: usize| entry(i.max(j), i.min(j));
            let x: Vec<f64> = (0..2 * n).map(|i| (1.0 + i as f64).sin()).collect();
            let mut b: Vec<f64> = (0..2 * n).map(|i| (0..2 * n).map(|j| full(i, j) * x[j]).sum()).collect();
            m.solve(&mut b);
            for (b, x) in b.iter().zip(&x) {
                assert!((b - x).abs() < 1e-10, "{b} {x}");
            }
        }
    }
}
