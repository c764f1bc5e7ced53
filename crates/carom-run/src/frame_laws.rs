//! What the laws ask of a frame: the response to forces and impulses, residuals of rows, how steep a gap is.

use crate::frame::Frame;
use crate::law::{KktFactor, Touching};
use crate::program::LegKey;
use crate::zero::{SOLVED, TYPED};
use carom_jet::dense::{Factored, Matrix, dot, largest};
use carom_mech::mechanics::{Dynamics, Mechanics, RowMechanics};
use carom_mech::model::RowKind;

impl Frame {
    /// The constraint rows, and the normals of these walls after them.
    pub fn stacked_rows(&self, walls: &[usize]) -> Matrix {
        let (n, m) = (self.layout.n, self.layout.rows);
        let mut all = Matrix::zeros(m + walls.len(), n);
        all.entries[..m * n].copy_from_slice(&self.rows().entries);
        for (i, &w) in walls.iter().enumerate() {
            all.entries[(m + i) * n..(m + i + 1) * n].copy_from_slice(self.normal(w));
        }
        all
    }

    /// (x, y): x the acceleration without velocity bias, y = −μ (rows), for the present frame and no contact forces.
    pub fn free_acceleration(&self, kkt: &KktFactor) -> (Vec<f64>, Vec<f64>) {
        let rate: Vec<f64> = self.row_bias().iter().map(|g| -g).collect();
        kkt.solve(self.force(), &rate)
    }

    /// φ̈ of a wall for this q̈.
    pub fn gap_acceleration(&self, wall: usize, acceleration: &[f64]) -> f64 {
        dot(self.normal(wall), acceleration) + self.wall_bias(wall)
    }

    /// Rounding of a contact force f = −(n·S (Q − h) + …)/(n·S n): of the forces and inertial terms it balances.
    pub fn force_rounding(&self, wall: usize) -> f64 {
        let normal = self.normal(wall);
        let (inverse_mass_normal, _) = self.kkt().inverse_mass_times(normal);
        let balanced =
            inverse_mass_normal.iter().enumerate().map(|(j, s)| s.abs() * self.force_scale(j)).sum::<f64>();
        let scale = balanced + self.wall_bias_scale(wall);
        let delassus = dot(normal, &inverse_mass_normal);
        if delassus > 0.0 { SOLVED * scale / delassus } else { 0.0 }
    }

    /// These walls as the impact law sees them.
    pub fn touching(&self, walls: &[usize]) -> Touching {
        let normals: Vec<Vec<f64>> = walls.iter().map(|&w| self.normal(w).to_vec()).collect();
        Touching::new(&self.kkt(), &normals)
    }

    /// Directions without inertia.
    pub fn massless(&self) -> Vec<Vec<f64>> {
        self.kkt().massless_directions().iter().map(|z| z.to_vec()).collect()
    }

    /// |∇gap| at the present frame.
    pub fn steepness(&self, wall: usize) -> f64 {
        self.normal(wall).iter().map(|n| n * n).sum::<f64>().sqrt()
    }

    /// How long the step was that led here.
    pub fn last_reach(&self) -> f64 {
        self.reach().last().copied().unwrap_or(0.0)
    }

    /// Residuals of the rows, of their rates, and of hidden conditions.
    pub fn residuals(&self) -> impl Iterator<Item = f64> {
        self.row_position().iter().chain(self.row_rate()).chain(self.conditions()).copied()
    }

    /// Is any of them not exactly zero?
    pub fn is_off_rows(&self) -> bool {
        self.residuals().any(|x| x != 0.0)
    }

    /// [W Aᵀ; A 0] with the normals of these walls appended to A.
    pub fn stacked_kkt(&self, walls: &[usize]) -> KktFactor {
        let (mass, rows) = (self.mass(), self.stacked_rows(walls));
        if self.layout.inverse { KktFactor::of_inverse(&mass, &rows) } else { KktFactor::new(&mass, &rows) }
    }

    /// Of these walls those whose normals are independent of each other and of the constraint rows kept.
    pub fn independent_walls(&self, key: &LegKey, walls: &[usize]) -> Vec<usize> {
        if walls.len() + self.layout.rows <= 1 || walls.is_empty() {
            return walls.to_vec();
        }
        // In order: rows first, then walls; a wall that adds nothing is implied.
        let mut kept: Vec<usize> = Vec::new();
        let rows = self.rows();
        for &w in walls {
            let count = key.rows.len() + kept.len() + 1;
            let mut all = Matrix::zeros(count, self.layout.n);
            let normals = kept.iter().chain([&w]).map(|&k| self.normal(k));
            let lines = key.multipliers.iter().map(|&r| rows.row(r)).chain(normals);
            for (i, line) in lines.enumerate() {
                for (j, &x) in line.iter().enumerate() {
                    all[(i, j)] = x;
                }
            }
            if Factored::new(&all).rank == count {
                kept.push(w);
            }
        }
        kept
    }

    /// Of walls that are being approached: one that no impulse can stop because its direction has no inertia.
    pub fn massless_wall(&self, walls: &[usize], rates: &[f64]) -> Option<usize> {
        let touching = self.touching(walls);
        (0..walls.len()).find(|&i| rates[i] < 0.0 && !touching.enforceable(i)).map(|i| walls[i])
    }

    /// The scale of every component of (q, v); one without any has that of its largest companion.
    pub fn state_scales(&self) -> Vec<f64> {
        let n = self.layout.n;
        let half = |first: usize| {
            let own: Vec<f64> = (first..first + n).map(|j| self.state_scale(j)).collect();
            let most = largest(&own);
            let least = if most > 0.0 { most } else { 1.0 };
            own.into_iter().map(move |s| if s > 0.0 { s } else { least }).collect::<Vec<f64>>()
        };
        [half(0), half(n)].concat()
    }

    /// Residuals per row, as sentences.
    pub fn failing_rows(&self, mechanics: &Mechanics) -> Vec<String> {
        let names = &mechanics.rows;
        let mut failing = Vec::new();
        let mut test = |what: &str, value: f64, scale: f64| {
            if value.is_nan() || value.abs() > TYPED * scale {
                failing.push(format!("{what} is {value:?} at the start, not 0"));
            }
        };
        for (r, row) in names.iter().enumerate() {
            test(&format!("constraint `{}`", row.name), self.row_position()[r], self.row_position_scale(r));
            test(
                &format!("the rate of constraint `{}`", row.name),
                self.row_rate()[r],
                self.row_rate_scale(r),
            );
        }
        if let Dynamics::Degenerate(d) = &mechanics.dynamics {
            for (c, condition) in d.conditions.iter().enumerate().skip(names.len()) {
                let what = format!("the condition \"{}\"", condition.name);
                test(&what, self.conditions()[c], self.condition_scale(c));
            }
        }
        failing
    }

    /// The gradient of the residual by q and v (or p). The rates of rows by q are left out: positions settle first.
    pub fn residual_gradient(&self, mechanics: &[RowMechanics]) -> Matrix {
        let n = self.layout.n;
        let (rows, conditions) = (self.rows(), self.condition_gradient());
        let m = rows.rows;
        // v = H_p: rates change with momenta through H_pp.
        let inverse = self.layout.inverse.then(|| self.mass());
        let mut gradient = Matrix::zeros(2 * m + conditions.rows, 2 * n);
        for i in 0..m {
            let holonomic = mechanics[i].kind == RowKind::Holonomic;
            for k in 0..n {
                if holonomic {
                    gradient[(i, k)] = rows[(i, k)];
                }
                gradient[(m + i, n + k)] = match &inverse {
                    Some(inverse) => (0..n).map(|j| rows[(i, j)] * inverse[(j, k)]).sum(),
                    None => rows[(i, k)],
                };
            }
        }
        gradient.entries[2 * m * 2 * n..].copy_from_slice(&conditions.entries);
        gradient
    }
}
