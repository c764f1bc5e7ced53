//! The impact law for quadratic kinetic energy.
//!
//! ```text
//! W[v] = Σ λ_i n_i + Aᵀμ,   A[v] = 0          ⎡ W  Aᵀ ⎤ ⎡ S n ⎤   ⎡ n ⎤
//! one wall   φ̇⁺ = −e φ̇⁻,  λ = −(1+e) φ̇⁻/(n·Sn)      ⎣ A  0  ⎦ ⎣  y  ⎦ = ⎣ 0 ⎦      μ = −λ y
//! several    `several.rs`
//! ```
//!
//! Promise: for e = 1, E changes by −λ·φ_t − μ·b and by nothing else; A v⁺ + b = A v⁻ + b; no λ is negative. W may be
//! singular as long as no direction z with W z = 0, A z = 0 meets the wall (n·z ≠ 0); then no impulse can act.

use carom_jet::Symmetric;
use carom_jet::dense::{Factored, Matrix, dot};

/// n·Sn below this part of its terms is zero: the wall cannot stop anything.
pub(crate) const HOPELESS: f64 = 1e-12;

/// A null vector of [W Aᵀ; A 0] with less than this part in the velocities is a combination of rows, not a motion.
const MOVES: f64 = 1e-6;

/// Beyond this many unknowns the symmetric factorisation is tried before the one that shows the rank.
const LARGE: usize = 16;

/// The inverse mass S on the distribution, at one state.
#[derive(Clone, Debug)]
pub struct KktFactor {
    form: KktForm,
    /// W_ii (or 1/H_pp,ii), the scale of n·Sn.
    diagonal: Vec<f64>,
    rows: usize,
    /// Where rows depend on each other: how their multipliers share the reaction.
    sharing: Option<Sharing>,
}

/// Which of the multipliers y with the same reaction Aᵀy: the one with the smallest Σ y_i² A_i W⁻¹ A_iᵀ, so that a row written as
/// a multiple of itself changes nothing.
#[derive(Clone, Debug)]
struct Sharing {
    /// z with Aᵀ z = 0.
    null: Vec<Vec<f64>>,
    /// A_i W⁻¹ A_iᵀ
    weights: Vec<f64>,
    /// zᵀ D z′, factored.
    gram: Factored,
}

impl Sharing {
    fn new(null: Vec<Vec<f64>>, weights: Vec<f64>) -> Option<Sharing> {
        if null.is_empty() {
            return None;
        }
        let mut gram = Matrix::zeros(null.len(), null.len());
        for (a, x) in null.iter().enumerate() {
            for (b, y) in null.iter().enumerate() {
                gram[(a, b)] = weighted(x, &weights, y);
            }
        }
        Some(Sharing { gram: Factored::new(&gram), null, weights })
    }

    fn apply(&self, y: &mut [f64]) {
        let right: Vec<f64> = self.null.iter().map(|z| weighted(z, &self.weights, y)).collect();
        for (c, z) in self.gram.solve(&right).iter().zip(&self.null) {
            y.iter_mut().zip(z).for_each(|(y, z)| *y -= c * z);
        }
    }
}

fn weighted(x: &[f64], weights: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(weights).zip(y).map(|((x, w), y)| x * w * y).sum()
}

#[derive(Clone, Debug)]
enum KktForm {
    /// [W Aᵀ; A 0]
    Mass(Box<Factored>),
    /// The same where it is large and of full rank
    Large(Box<Symmetric>),
    /// H_pp, A, and A H_pp Aᵀ
    Inverse(Box<(Matrix, Matrix, Factored)>),
}

impl KktFactor {
    /// From W and the constraint rows A.
    pub fn new(mass: &Matrix, rows: &Matrix) -> KktFactor {
        let (n, m) = (mass.rows, rows.rows);
        let diagonal: Vec<f64> = (0..n).map(|i| mass[(i, i)].abs()).collect();
        if n + m > LARGE {
            let entry = |i: usize, j: usize| match (i < n, j < n) {
                (true, true) => mass[(i, j)],
                (false, true) => rows[(i - n, j)],
                _ => 0.0,
            };
            if let Some(factors) = Symmetric::new(n + m, n, entry) {
                return KktFactor {
                    form: KktForm::Large(Box::new(factors)),
                    diagonal,
                    rows: m,
                    sharing: None,
                };
            }
        }
        let mut kkt = Matrix::zeros(n + m, n + m);
        for i in 0..n {
            for j in 0..n {
                kkt[(i, j)] = mass[(i, j)];
            }
        }
        for i in 0..m {
            for j in 0..n {
                kkt[(n + i, j)] = rows[(i, j)];
                kkt[(j, n + i)] = rows[(i, j)];
            }
        }
        let factored = Factored::new(&kkt);
        let redundant = |z: &&Vec<f64>| factored.part_of_null_vector(z, n) <= MOVES;
        let null: Vec<Vec<f64>> =
            factored.null_space.iter().filter(redundant).map(|z| z[n..].to_vec()).collect();
        let weights = if null.is_empty() { Vec::new() } else { row_weights(mass, rows) };
        KktFactor {
            sharing: Sharing::new(null, weights),
            form: KktForm::Mass(Box::new(factored)),
            diagonal,
            rows: m,
        }
    }

    /// From the inverse mass H_pp, which may be singular, and the constraint rows A.
    pub fn of_inverse(inverse: &Matrix, rows: &Matrix) -> KktFactor {
        let m = rows.rows;
        let mut gram = Matrix::zeros(m, m);
        for i in 0..m {
            let carried = inverse.times(rows.row(i));
            for j in 0..m {
                gram[(i, j)] = dot(rows.row(j), &carried);
            }
        }
        let diagonal = (0..inverse.rows).map(|i| 1.0 / inverse[(i, i)].abs()).collect();
        let factored = Factored::new(&gram);
        let weights = (0..m).map(|i| gram[(i, i)]).collect();
        let sharing = Sharing::new(factored.null_space.clone(), weights);
        let form = KktForm::Inverse(Box::new((inverse.clone(), rows.clone(), factored)));
        KktFactor { form, diagonal, rows: m, sharing }
    }

    fn share(&self, y: &mut [f64]) {
        if let Some(sharing) = &self.sharing {
            sharing.apply(y);
        }
    }

    fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// Is it beyond doubt that W is regular on the rows and that they are independent?
    pub fn is_regular(&self) -> bool {
        matches!(self.form, KktForm::Large(_))
    }

    /// Directions z with W z = 0 and A z = 0: no impulse acts along them. Redundant rows do not count.
    pub fn massless_directions(&self) -> Vec<&[f64]> {
        let n = self.size();
        match &self.form {
            KktForm::Mass(factored) => {
                let moves = |z: &&Vec<f64>| factored.part_of_null_vector(z, n) > MOVES;
                factored.null_space.iter().filter(moves).map(|z| &z[..n]).collect()
            }
            KktForm::Large(_) | KktForm::Inverse(..) => Vec::new(),
        }
    }

    /// The parts of a massless direction, each as a part of what is 1 for it.
    pub fn natural_parts<'a>(&'a self, z: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let natural = |j: usize| match &self.form {
            KktForm::Mass(factored) => factored.natural(j),
            KktForm::Large(_) | KktForm::Inverse(..) => 1.0,
        };
        z.iter().enumerate().map(move |(j, x)| x / natural(j))
    }

    /// (S n, y) for a normal n: the velocity and minus the reaction per unit impulse.
    pub fn inverse_mass_times(&self, normal: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.solve(normal, &vec![0.0; self.rows])
    }

    /// The general solve: W x + Aᵀ y = force, A x = rate. Where y is not unique Σ y_i² A_i W⁻¹ A_iᵀ is smallest.
    pub fn solve(&self, force: &[f64], rate: &[f64]) -> (Vec<f64>, Vec<f64>) {
        match &self.form {
            KktForm::Mass(factored) => {
                let right: Vec<f64> = force.iter().chain(rate).copied().collect();
                let mut x = factored.solve(&right);
                let mut y = x.split_off(self.size());
                self.share(&mut y);
                (x, y)
            }
            KktForm::Large(factors) => {
                let mut x: Vec<f64> = force.iter().chain(rate).copied().collect();
                factors.solve(&mut x);
                let y = x.split_off(self.size());
                (x, y)
            }
            KktForm::Inverse(parts) => {
                let (inverse, rows, gram) = &**parts;
                let free = rows.times(&inverse.times(force));
                let right: Vec<f64> = free.iter().zip(rate).map(|(f, r)| f - r).collect();
                let mut y = gram.solve(&right);
                self.share(&mut y);
                let carried: Vec<f64> =
                    force.iter().zip(rows.transposed_times(&y)).map(|(f, a)| f - a).collect();
                (inverse.times(&carried), y)
            }
        }
    }

    /// Σ |n_j| times what is 1 for unknown j.
    fn natural_size(&self, normal: &[f64]) -> f64 {
        match &self.form {
            KktForm::Mass(factored) => {
                normal.iter().enumerate().map(|(j, n)| n.abs() * factored.natural(j)).sum()
            }
            KktForm::Large(_) | KktForm::Inverse(..) => 0.0,
        }
    }

    /// Can an impulse along n change n·v at all?
    pub fn enforceable(&self, normal: &[f64], inverse_mass_normal: &[f64]) -> bool {
        let scale: f64 = normal
            .iter()
            .zip(&self.diagonal)
            .filter(|(_, w)| **w > 0.0 && w.is_finite())
            .map(|(n, w)| n * n / w)
            .sum();
        let meets_massless = self
            .massless_directions()
            .iter()
            .any(|z| dot(z, normal).abs() > 1e-9 * self.natural_size(normal));
        !meets_massless && dot(normal, inverse_mass_normal) > HOPELESS * scale
    }
}

/// A_i W⁻¹ A_iᵀ; where W is singular as if it were diagonal.
fn row_weights(mass: &Matrix, rows: &Matrix) -> Vec<f64> {
    let inverse = Factored::new(mass);
    let weight = |row: &[f64]| match inverse.rank == mass.rows {
        true => dot(row, &inverse.solve(row)),
        false => {
            let masses = (0..mass.rows).map(|j| mass[(j, j)].abs());
            row.iter().zip(masses).filter(|(_, w)| *w > 0.0).map(|(a, w)| a * a / w).sum()
        }
    };
    (0..rows.rows).map(|i| weight(rows.row(i))).collect()
}

/// Why a law has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LawFailure {
    /// n·Sn = 0: no impulse of this wall can stop the motion.
    NotEnforceable(usize),
    /// These walls close on each other: no impulses keep all gaps from closing.
    Squeezed(Vec<usize>),
    /// More passes than impacts are allowed.
    TooMany,
}

/// What an impact does.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ImpactOutcome {
    /// λ per wall of the problem.
    pub impulses: Vec<f64>,
    /// μ per constraint row.
    pub reactions: Vec<f64>,
    /// The jump of v.
    pub jump: Vec<f64>,
}

/// The walls that are closed at one instant.
#[derive(Clone, Debug)]
pub struct Touching {
    /// n per wall.
    pub normals: Vec<Vec<f64>>,
    /// S n per wall.
    pub inverse_mass_normals: Vec<Vec<f64>>,
    /// y per wall.
    pub reaction: Vec<Vec<f64>>,
    /// N S Nᵀ
    pub delassus: Matrix,
    /// The absolute sums of the terms of its entries.
    pub scale: Matrix,
    enforceable: Vec<bool>,
}

impl Touching {
    /// From the metric and the walls' normals.
    pub fn new(kkt: &KktFactor, normals: &[Vec<f64>]) -> Touching {
        let k = normals.len();
        let (mut inverse_mass_normals, mut reaction, mut enforceable) = (Vec::new(), Vec::new(), Vec::new());
        for n in normals {
            let (x, y) = kkt.inverse_mass_times(n);
            enforceable.push(kkt.enforceable(n, &x));
            inverse_mass_normals.push(x);
            reaction.push(y);
        }
        let mut delassus = Matrix::zeros(k, k);
        let mut scale = Matrix::zeros(k, k);
        let size = |n: &[f64], s: &[f64]| n.iter().zip(s).map(|(n, s)| (n * s).abs()).sum::<f64>();
        for i in 0..k {
            for j in 0..=i {
                let terms = size(&normals[i], &inverse_mass_normals[j])
                    .max(size(&normals[j], &inverse_mass_normals[i]));
                scale[(i, j)] = terms;
                scale[(j, i)] = terms;
                // Symmetric in exact arithmetic; make it so.
                let s = 0.5
                    * (dot(&normals[i], &inverse_mass_normals[j])
                        + dot(&normals[j], &inverse_mass_normals[i]));
                delassus[(i, j)] = s;
                delassus[(j, i)] = s;
            }
            if !enforceable[i] {
                for j in 0..k {
                    delassus[(i, j)] = 0.0;
                    delassus[(j, i)] = 0.0;
                }
            }
        }
        Touching { normals: normals.to_vec(), inverse_mass_normals, reaction, delassus, scale, enforceable }
    }

    /// Is wall `i` able to push?
    pub fn enforceable(&self, i: usize) -> bool {
        self.enforceable[i]
    }

    pub(crate) fn outcome(&self, impulses: Vec<f64>) -> ImpactOutcome {
        let mut jump = vec![0.0; self.inverse_mass_normals.first().map_or(0, Vec::len)];
        let mut reactions = vec![0.0; self.reaction.first().map_or(0, Vec::len)];
        for (i, &lambda) in impulses.iter().enumerate().filter(|(_, l)| **l != 0.0) {
            jump.iter_mut().zip(&self.inverse_mass_normals[i]).for_each(|(j, s)| *j += lambda * s);
            reactions.iter_mut().zip(&self.reaction[i]).for_each(|(r, y)| *r -= lambda * y);
        }
        ImpactOutcome { impulses, reactions, jump }
    }

    /// One wall alone: φ̇⁺ = −e φ̇⁻.
    ///
    /// # Errors
    /// When it cannot push.
    pub fn single(&self, wall: usize, rate: f64, restitution: f64) -> Result<ImpactOutcome, LawFailure> {
        if !self.enforceable[wall] {
            return Err(LawFailure::NotEnforceable(wall));
        }
        let mut impulses = vec![0.0; self.inverse_mass_normals.len()];
        impulses[wall] = -(1.0 + restitution) * rate / self.delassus[(wall, wall)];
        Ok(self.outcome(impulses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rolling_disk_hits_the_wall_as_published() {
        // Coordinates x, y, θ, φ; m = R = 1, I = 1/2 (rolling), J = 1/4; heading 60°; gap 10 − y − R sin φ.
        let (heading, theta_rate, phi_rate) = (60f64.to_radians(), 2.0, 0.3);
        let (s, c) = heading.sin_cos();
        let mut mass = Matrix::zeros(4, 4);
        for (i, m) in [1.0, 1.0, 0.5, 0.25].into_iter().enumerate() {
            mass[(i, i)] = m;
        }
        let rows = Matrix { rows: 2, columns: 4, entries: vec![1.0, 0.0, -c, 0.0, 0.0, 1.0, -s, 0.0] };
        let kkt = KktFactor::new(&mass, &rows);
        let normal = vec![0.0, -1.0, 0.0, -c];
        let v = [c * theta_rate, s * theta_rate, theta_rate, phi_rate];
        let touching = Touching::new(&kkt, std::slice::from_ref(&normal));
        let rate = dot(&normal, &v);
        let out = touching.single(0, rate, 1.0).unwrap();
        assert!((out.impulses[0] - 2.509401076758502).abs() < 1e-14);
        let after: Vec<f64> = v.iter().zip(&out.jump).map(|(v, j)| v + j).collect();
        assert!((after[2] - 0.55119661).abs() < 1e-8 && (after[3] + 4.71880215).abs() < 1e-8, "{after:?}");
    }

    #[test]
    fn a_wall_behind_a_constraint_is_not_enforceable() {
        let mass = Matrix { rows: 2, columns: 2, entries: vec![1.0, 0.0, 0.0, 1.0] };
        let rows = Matrix { rows: 1, columns: 2, entries: vec![1.0, 0.0] };
        let touching = Touching::new(&KktFactor::new(&mass, &rows), &[vec![2.0, 0.0]]);
        assert_eq!(touching.single(0, -1.0, 1.0), Err(LawFailure::NotEnforceable(0)));
    }

    #[test]
    fn a_massless_direction_takes_no_impulse() {
        let mass = Matrix { rows: 2, columns: 2, entries: vec![1.0, 0.0, 0.0, 0.0] };
        let kkt = KktFactor::new(&mass, &Matrix::zeros(0, 2));
        assert!(!Touching::new(&kkt, &[vec![0.0, 1.0]]).enforceable(0));
        let touching = Touching::new(&kkt, &[vec![1.0, 0.0]]);
        assert_eq!(touching.single(0, -3.0, 1.0).unwrap().jump[0], 6.0);
    }
}
