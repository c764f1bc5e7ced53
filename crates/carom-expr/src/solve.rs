//! Closed-form solutions of small linear systems: M x = r, xᵢ = det Mᵢ / det M, block by block.
//!
//! Promise: an answer satisfies M x = r wherever det M ≠ 0, and is short enough to read; otherwise there is none.
//! Large systems belong to numerical elimination.

use crate::dag::{Dag, Expr};
use crate::number::Rational;

/// Greatest block that is solved.
const MOST_UNKNOWNS: usize = 3;
/// Longest component of an answer of [`Dag::solve_small`], in characters: about four lines.
const LONGEST: usize = 400;

/// Determinants this many times longer than the limit are not even simplified.
const MOST_SHRINKING: u64 = 5;

impl Dag {
    /// x with `matrix`·x = `rhs`, by Cramer's rule on blocks of at most three unknowns; `None` when a block is
    /// larger, its determinant is zero, or the result is long.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let [a, b, r, zero] = ["a", "b", "r", "0"].map(|name| match name {
    ///     "0" => dag.zero(),
    ///     _ => dag.symbol(name),
    /// });
    /// let solution = dag.solve_small(&[vec![a, zero], vec![zero, b]], &[r, b]).unwrap();
    /// assert_eq!(solution, vec![dag.div(r, a), dag.one()]);
    /// assert_eq!(dag.solve_small(&[vec![a, a], vec![b, b]], &[r, r]), None);
    /// ```
    pub fn solve_small(&mut self, matrix: &[Vec<Expr>], rhs: &[Expr]) -> Option<Vec<Expr>> {
        self.solve_within(matrix, rhs, LONGEST)
    }

    /// [`Dag::solve_small`] with the greatest [`Dag::length`] of a component chosen by the caller.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (a, r) = (dag.symbol("a"), dag.symbol("r"));
    /// assert_eq!(dag.solve_within(&[vec![a]], &[r], 2), None);
    /// assert!(dag.solve_within(&[vec![a]], &[r], 3).is_some());
    /// ```
    pub fn solve_within(&mut self, matrix: &[Vec<Expr>], rhs: &[Expr], longest: usize) -> Option<Vec<Expr>> {
        let longest = longest as u64;
        let n = rhs.len();
        if matrix.len() != n || matrix.iter().any(|row| row.len() != n) {
            return None;
        }
        let matrix: Vec<Vec<Expr>> = matrix.iter().map(|row| self.simplify_all(row)).collect();
        let rhs = self.simplify_all(rhs);
        let blocks = blocks(n, |i, j| !self.is_zero(matrix[i][j]));
        if blocks.iter().any(|block| block.len() > MOST_UNKNOWNS) {
            return None;
        }
        let mut solution = rhs.clone();
        for block in blocks {
            let m: Vec<Vec<Expr>> =
                block.iter().map(|&i| block.iter().map(|&j| matrix[i][j]).collect()).collect();
            let determinant = self.determinant(&m, longest)?;
            if self.length(determinant) > longest || !self.is_visibly_nonzero(determinant, &m) {
                return None;
            }
            for (k, &unknown) in block.iter().enumerate() {
                let mut replaced = m.clone();
                for (row, &i) in replaced.iter_mut().zip(&block) {
                    row[k] = rhs[i];
                }
                let numerator = self.determinant(&replaced, longest)?;
                let quotient = self.div(numerator, determinant);
                solution[unknown] = self.simplify(quotient);
                if self.length(solution[unknown]) > longest {
                    return None;
                }
            }
        }
        Some(solution)
    }

    /// The simplified determinant of a matrix of at most three rows; `None` when it is hopelessly long.
    fn determinant(&mut self, m: &[Vec<Expr>], longest: u64) -> Option<Expr> {
        let summands: Vec<(Rational, Expr)> = permutations(m.len())
            .iter()
            .map(|(sign, columns)| {
                let factors: Vec<Expr> = columns.iter().zip(m).map(|(&j, row)| row[j]).collect();
                (*sign, self.product(&factors))
            })
            .collect();
        let sum = self.linear(Rational::ZERO, &summands);
        if self.length(sum) > MOST_SHRINKING * longest {
            return None;
        }
        Some(self.simplify(sum))
    }

    /// Is the determinant of `m` more than rounding at one of a few points? What is zero there may be zero
    /// everywhere without the simplifier having seen it.
    fn is_visibly_nonzero(&self, determinant: Expr, m: &[Vec<Expr>]) -> bool {
        let entries: Vec<Expr> = m.iter().flatten().copied().collect();
        (1..=8_u32).any(|trial| {
            // Irrational steps spread the points over (0.1, 1.1); symbols are unlikely to be in special relations.
            let at = |s: crate::Symbol| {
                0.1 + (f64::from(trial) * 0.618_033_988_75 + (s.index() + 1) as f64 * 0.414_213_562_37)
                    .fract()
            };
            let value = self.evaluate(determinant, at);
            let sizes = self.evaluate_all(&entries, at);
            let scale: f64 = permutations(m.len())
                .iter()
                .map(|(_, columns)| {
                    columns.iter().enumerate().map(|(i, j)| sizes[i * m.len() + j].abs()).product::<f64>()
                })
                .sum();
            value.is_finite() && value.abs() > 1e-12 * scale
        })
    }
}

/// Permutations of up to three columns with their signs.
fn permutations(n: usize) -> Vec<(Rational, Vec<usize>)> {
    let (plus, minus) = (Rational::ONE, Rational::MINUS_ONE);
    match n {
        0 => vec![(plus, vec![])],
        1 => vec![(plus, vec![0])],
        2 => vec![(plus, vec![0, 1]), (minus, vec![1, 0])],
        _ => vec![
            (plus, vec![0, 1, 2]),
            (plus, vec![1, 2, 0]),
            (plus, vec![2, 0, 1]),
            (minus, vec![0, 2, 1]),
            (minus, vec![1, 0, 2]),
            (minus, vec![2, 1, 0]),
        ],
    }
}

/// Sets of unknowns that no entry connects, each ascending, ordered by their first.
fn blocks(n: usize, connected: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut seen = vec![false; n];
    let mut found = Vec::new();
    for start in 0..n {
        let mut stack = vec![start];
        let mut block = Vec::new();
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                block.push(i);
                stack.extend((0..n).filter(|&j| connected(i, j) || connected(j, i)));
            }
        }
        if !block.is_empty() {
            block.sort_unstable();
            found.push(block);
        }
    }
    found
}
