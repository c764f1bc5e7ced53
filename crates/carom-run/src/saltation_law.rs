//! The impact law, differentiated along a direction of states, times and parameters.
//!
//! Quadratic kinetic energy: u = S n with [W Aᵀ; A 0][u; y] = [n; 0], λ = −(1+e) φ̇⁻/(n·u), v⁺ = v⁻ + λ u:
//!
//! ```text
//! [W Aᵀ; A 0][du; dy] = [dn − dW u − dAᵀ y; −dA u],      dλ = −(de φ̇⁻ + (1+e) dφ̇⁻ + λ (dn·u + n·du))/(n·u)
//! ```
//!
//! Any other: at a point P of the curve p = p⁻ + λn + Aᵀμ, A v + b = 0, the differential is dx = a + dλ u with a from the same
//! matrix at P, and the energy G = E + λφ_t + μ·b changes by dG = dG(a) + φ̇ dλ. So dG_c is known where φ̇ = 0, and
//!
//! ```text
//! G⁺ − E⁻ = (1 − e²)(G_c − E⁻):     dλ = [(1−e²)(dG_c − dE⁻) − 2e de (G_c − E⁻) − (dG⁺(a) − dE⁻)]/φ̇⁺,     e = 0: dφ̇_c = 0
//! ```
//!
//! Walls that are closed and push are rows like the others.

use crate::law::KktFactor;
use crate::momentum::MomentumLaw;
use crate::run::Run;
use carom_jet::Time;
use carom_jet::dense::{Matrix, dot};
use std::borrow::Cow;

/// Where the law is applied and along what it is differentiated.
pub(crate) struct Along<'a> {
    pub time: Time,
    pub state: &'a [f64],
    /// ξ per direction: before the law, afterwards after it.
    pub moved: &'a mut [Vec<f64>],
    /// ξ_t per direction.
    pub shift: &'a [f64],
    /// The differentials along (ξ, ξ_t, δθ) at the state, where they are known already.
    pub known: Option<&'a [Vec<f64>]>,
}

/// One wall with its restitution.
pub(crate) struct OneWall<'a> {
    pub wall: usize,
    pub restitution: f64,
    /// Does the restitution depend on θ? (The e = 0 that ends a series of impacts does not.)
    pub varies: bool,
    /// Closed walls that push too.
    pub held: &'a [usize],
}

/// A point of the curve p(λ) on which the law of any kinetic energy lives.
#[derive(Clone, Debug)]
pub(crate) struct LawPoint {
    pub impulse: f64,
    pub reactions: Vec<f64>,
    pub state: Vec<f64>,
    /// g(λ)
    pub energy_kept: f64,
}

/// dλ per direction, and the points of the curve that were met (none where the kinetic energy is quadratic).
pub(crate) type LawVariation = (Vec<f64>, Vec<LawPoint>);

/// The differentials of rows (walls held last) and mass along one direction.
struct LawDifferentials {
    mass: Matrix,
    rows: Matrix,
    normal: Vec<f64>,
}

impl Run<'_> {
    fn parts(&self, values: &[f64], wall: &OneWall<'_>) -> Option<LawDifferentials> {
        let l = &self.tangent.as_ref()?.layout;
        let (n, m) = (self.size(), l.rows);
        let normal = |w: usize| values[l.normal + w * n..l.normal + (w + 1) * n].to_vec();
        let mut rows = values[l.row_normal..l.row_normal + m * n].to_vec();
        wall.held.iter().for_each(|&w| rows.extend(normal(w)));
        Some(LawDifferentials {
            mass: Matrix { rows: n, columns: n, entries: values[l.mass..l.mass + n * n].to_vec() },
            rows: Matrix { rows: m + wall.held.len(), columns: n, entries: rows },
            normal: normal(wall.wall),
        })
    }

    /// de of the wall's restitution.
    fn restitution_change(&self, values: &[f64], wall: &OneWall<'_>, d: usize) -> Option<f64> {
        let tangent = self.tangent.as_ref()?;
        let own = f64::from(u8::from(tangent.seeds[d].restitution == Some(wall.wall)));
        Some(if wall.varies { values[tangent.layout.restitution + wall.wall] + own } else { 0.0 })
    }

    /// Carries ξ over one application of the law; returns dλ per direction.
    pub fn differentiate_law(&mut self, along: &mut Along<'_>, wall: &OneWall<'_>) -> Option<LawVariation> {
        self.frame.at(along.time, along.state);
        let found = if self.program.mechanics.quadratic {
            self.differentiate_quadratic(along, wall).map(|impulses| (impulses, Vec::new()))
        } else {
            self.differentiate_momentum(along, wall)
        };
        self.evaluate_frame();
        found
    }

    /// Along ξ of a direction.
    fn differential_of<'k>(&mut self, along: &Along<'k>, d: usize) -> Option<Cow<'k, [f64]>> {
        match along.known {
            Some(known) => Some(Cow::Borrowed(&known[d])),
            None => self.differential_along(along, along.state, d, &along.moved[d]).map(Cow::Owned),
        }
    }

    fn differential_along(
        &mut self,
        along: &Along<'_>,
        state: &[f64],
        d: usize,
        x: &[f64],
    ) -> Option<Vec<f64>> {
        let seed = self.tangent.as_ref()?.parameter_seed(d);
        Some(self.differential_at(along.time, state, x, along.shift[d], &seed))
    }

    fn differentiate_quadratic(&mut self, along: &mut Along<'_>, wall: &OneWall<'_>) -> Option<Vec<f64>> {
        let (n, e) = (self.size(), wall.restitution);
        let (kkt, rows) = self.frame.kkt_with(wall.held);
        let normal = self.frame.normal(wall.wall).to_vec();
        let rate = self.frame.gap_rate(wall.wall);
        let inverse = self.frame.layout.inverse;
        let (u, y) = kkt.inverse_mass_times(&normal);
        let push = dot(&normal, &u);
        let lambda = -(1.0 + e) * rate / push;
        // n − Aᵀy, what u is the image of.
        let carried: Vec<f64> = normal.iter().zip(rows.transposed_times(&y)).map(|(n, a)| n - a).collect();
        let (mut impulses, still) = (Vec::new(), vec![0.0; rows.rows]);
        for d in 0..along.shift.len() {
            let values = self.differential_of(along, d)?;
            let parts = self.parts(&values, wall)?;
            let d_rate = values[self.tangent.as_ref()?.layout.gap_rate + wall.wall];
            let d_e = self.restitution_change(&values, wall, d)?;
            let solve = Solve { kkt: &kkt, rows: &rows, inverse };
            let (du, dp) = solve.differential(&u, &y, &carried, &parts, &parts.normal, &still);
            let d_push = dot(&parts.normal, &u) + dot(&normal, &du);
            let d_lambda = -(d_e * rate + (1.0 + e) * d_rate + lambda * d_push) / push;
            let (per_impulse, turned) = if inverse { (&carried, &dp) } else { (&u, &du) };
            for i in 0..n {
                along.moved[d][n + i] += d_lambda * per_impulse[i] + lambda * turned[i];
            }
            impulses.push(d_lambda);
        }
        Some(impulses)
    }

    /// d|φ̈| of a wall in free flight, per direction, other walls resting.
    pub fn differentiate_fall(
        &mut self,
        time: Time,
        state: &[f64],
        moved: &[Vec<f64>],
        shift: &[f64],
        w: usize,
        resting: &[usize],
    ) -> Option<Vec<f64>> {
        self.frame.at(time, state);
        let (n, m) = (self.size(), self.frame.layout.rows);
        let (kkt, rows) = self.frame.kkt_with(resting);
        let normal = self.frame.normal(w).to_vec();
        let target: Vec<f64> = self.frame.row_bias().iter().map(|g| -g).collect();
        let target: Vec<f64> =
            target.into_iter().chain(resting.iter().map(|&r| -self.frame.wall_bias(r))).collect();
        let force = self.frame.force().to_vec();
        let (x, y) = kkt.solve(&force, &target);
        let carried: Vec<f64> = force.iter().zip(rows.transposed_times(&y)).map(|(f, a)| f - a).collect();
        let solve = Solve { kkt: &kkt, rows: &rows, inverse: self.frame.layout.inverse };
        let wall = OneWall { wall: w, restitution: 0.0, varies: false, held: resting };
        let mut all = Vec::new();
        for d in 0..shift.len() {
            let seed = self.tangent.as_ref()?.parameter_seed(d);
            let values = self.differential_at(time, state, &moved[d], shift[d], &seed);
            let parts = self.parts(&values, &wall)?;
            let l = &self.tangent.as_ref()?.layout;
            let d_target: Vec<f64> = (0..m)
                .map(|r| -values[l.row_bias + r])
                .chain(resting.iter().map(|r| -values[l.wall_bias + r]))
                .collect();
            let d_force = &values[l.force..l.force + n];
            let (dx, _) = solve.differential(&x, &y, &carried, &parts, d_force, &d_target);
            all.push(-(dot(&parts.normal, &x) + dot(&normal, &dx) + values[l.wall_bias + w]));
        }
        self.evaluate_frame();
        Some(all)
    }

    fn differentiate_momentum(&mut self, along: &mut Along<'_>, wall: &OneWall<'_>) -> Option<LawVariation> {
        let (n, e) = (self.size(), wall.restitution);
        let kept = (self.now.time, self.now.state.clone());
        (self.now.time, self.now.state) = (along.time, along.state.to_vec());
        self.evaluate_frame();
        let mut points = Vec::new();
        for restitution in [0.0, e] {
            let Some(found) = MomentumLaw::solve(self, wall.wall, restitution) else { break };
            let mut state = along.state.to_vec();
            state[n..2 * n].iter_mut().zip(&found.velocity_jump).for_each(|(x, j)| *x += j);
            let (impulse, reactions, energy_kept) = (found.impulse, found.reactions, found.energy_kept);
            points.push(LawPoint { impulse, reactions, state, energy_kept });
        }
        (self.now.time, self.now.state) = kept;
        let [compressed, after] = &points[..] else { return None };
        // g(λ_c), from the energy kept at e = 0.
        let absorbed = compressed.energy_kept;
        let mut impulses = Vec::new();
        for d in 0..along.shift.len() {
            let x = along.moved[d].clone();
            let values = self.differential_of(along, d)?;
            let l = self.tangent.as_ref()?.layout.clone();
            let energy = values[l.energy];
            let d_e = self.restitution_change(&values, wall, d)?;
            let momentum = values[l.momentum..l.momentum + n].to_vec();
            let mut curve = |point: &LawPoint| self.curve_differential(along, wall, d, &x, &momentum, point);
            let at_end = curve(after)?;
            let d_lambda = if e == 0.0 {
                -at_end.rate / at_end.push
            } else {
                let lost = if e == 1.0 { 0.0 } else { (1.0 - e * e) * (curve(compressed)?.energy - energy) };
                (lost - 2.0 * e * d_e * absorbed - (at_end.energy - energy)) / at_end.gap_rate
            };
            for i in 0..n {
                along.moved[d][n + i] = at_end.fixed[i] + d_lambda * at_end.spread[i];
            }
            impulses.push(d_lambda);
        }
        Some((impulses, points))
    }

    /// The differential at a point of the curve p(λ), apart from what dλ adds.
    fn curve_differential(
        &mut self,
        along: &Along<'_>,
        wall: &OneWall<'_>,
        d: usize,
        x: &[f64],
        momentum: &[f64],
        point: &LawPoint,
    ) -> Option<CurveDifferential> {
        let LawPoint { impulse: lambda, reactions, state, .. } = point;
        let n = self.size();
        self.frame.at(along.time, state);
        let (kkt, rows) = self.frame.kkt_with(&[]);
        let inverse = self.frame.layout.inverse;
        let normal = self.frame.normal(wall.wall).to_vec();
        let (gap_rate, drift) = (self.frame.gap_rate(wall.wall), self.frame.row_drift().to_vec());
        let mut still = x.to_vec();
        still[n..].fill(0.0);
        let explicit = self.differential_along(along, state, d, &still)?;
        let l = self.tangent.as_ref()?.layout.clone();
        let bare = OneWall { held: &[], ..*wall };
        let parts = self.parts(&explicit, &bare)?;
        let mut force: Vec<f64> = (0..n).map(|i| momentum[i] + lambda * parts.normal[i]).collect();
        force.iter_mut().zip(parts.rows.transposed_times(reactions)).for_each(|(f, a)| *f += a);
        if !inverse {
            force.iter_mut().zip(&explicit[l.momentum..]).for_each(|(f, p)| *f -= p);
        }
        let target: Vec<f64> = (0..rows.rows).map(|r| -explicit[l.row_rate + r]).collect();
        let (mut fixed, y) = kkt.solve(&force, &target);
        let (u, y_u) = kkt.inverse_mass_times(&normal);
        let push = dot(&normal, &u);
        let mut spread = u;
        if inverse {
            fixed = force.iter().zip(rows.transposed_times(&y)).map(|(f, a)| f - a).collect();
            spread = normal.iter().zip(rows.transposed_times(&y_u)).map(|(n, a)| n - a).collect();
        }
        still[n..].copy_from_slice(&fixed);
        let values = self.differential_along(along, state, d, &still)?;
        let drifted: f64 = (0..rows.rows).map(|r| reactions[r] * explicit[l.row_drift + r]).sum();
        let energy = values[l.energy] + lambda * explicit[l.gap_t + wall.wall] - dot(&y, &drift) + drifted;
        Some(CurveDifferential {
            fixed,
            spread,
            push,
            gap_rate,
            energy,
            rate: values[l.gap_rate + wall.wall],
        })
    }
}

/// dx = fixed + dλ spread.
struct CurveDifferential {
    fixed: Vec<f64>,
    spread: Vec<f64>,
    /// n·Sn
    push: f64,
    gap_rate: f64,
    /// dG and dφ̇ apart from dλ.
    energy: f64,
    rate: f64,
}

/// x = S(force), A x = target: the metric at a state.
pub(crate) struct Solve<'a> {
    kkt: &'a KktFactor,
    rows: &'a Matrix,
    inverse: bool,
}

impl Solve<'_> {
    /// (du, d(force − Aᵀy)) for u = S force with multipliers y, carried = force − Aᵀy.
    fn differential(
        &self,
        u: &[f64],
        y: &[f64],
        carried: &[f64],
        parts: &LawDifferentials,
        d_force: &[f64],
        d_target: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let mut target: Vec<f64> = parts.rows.times(u).iter().zip(d_target).map(|(x, t)| t - x).collect();
        let mut force: Vec<f64> =
            d_force.iter().zip(parts.rows.transposed_times(y)).map(|(f, r)| f - r).collect();
        if self.inverse {
            let spread = parts.mass.times(carried);
            target.iter_mut().zip(self.rows.times(&spread)).for_each(|(t, s)| *t -= s);
            let (mut du, dy) = self.kkt.solve(&force, &target);
            du.iter_mut().zip(&spread).for_each(|(x, s)| *x += s);
            let dp = force.iter().zip(self.rows.transposed_times(&dy)).map(|(f, a)| f - a).collect();
            (du, dp)
        } else {
            force.iter_mut().zip(parts.mass.times(u)).for_each(|(f, s)| *f -= s);
            let (du, _) = self.kkt.solve(&force, &target);
            let none = Vec::new();
            (du, none)
        }
    }
}
