//! Several walls at one instant, for quadratic kinetic energy.
//!
//! ```text
//! 0 ≤ λ_i ⊥ φ̇_i⁺ + ε_i φ̇_i⁻ ≥ 0,   φ̇⁺ = φ̇⁻ + N S Nᵀ λ          for all walls with φ_i = 0, in contact or merely touching
//! ε_i = e_i          where φ̇_i⁻ ≤ 0 (approaching, or at rest)
//!     = max_j e_j    where φ̇_i⁻ > 0 (separating: the others may close it again)
//! ```
//!
//! applied again while a touched wall approaches. With w_i = (1 + ε_i) λ_i φ̇_i⁻ a pass changes E by
//! ½ Σ w_i (1 − ε_i)/(1 + ε_i) besides −λ·φ_t − μ·b. Since Σ w_i = −λᵀ(N S Nᵀ)λ ≤ 0 and separating walls (w_i > 0) carry the
//! smallest factor, E never rises, and at e = 1 it is kept. Passes with mixed e may shrink geometrically: once every approach
//! is 1e-8 of the first the last pass has ε = 0.
//!
//! Where the free space has no interior `room.rs` comes first.
//!
//! `sequential`: the one-wall law for the wall with the largest φ̇²/(n·Sn) among those that approach, again and again.
//!
//! Promise: a wall whose line is active with ε_i φ̇_i⁻ = 0 leaves with φ̇_i = 0, exactly, whether it was pushed or not.

use crate::law::{ImpactOutcome, LawFailure, Touching};
use crate::lcp::{Complementarity, Solution, independent_subset, solve_subset};
use crate::zero::SOLVED;
use carom_jet::dense::dot;

/// Squares of approach speeds below this part of the first: the last pass, or the end of a sequence with e < 1, has e = 0.
const FINISH: f64 = 1e-16;
/// Angles this close to π/k count as π/k.
const SAME_ANGLE: f64 = 1e-7;

/// What several walls do together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Joint {
    /// The impulses of all passes together.
    pub outcome: ImpactOutcome,
    /// φ̇⁺
    pub rates: Vec<f64>,
    /// Which walls leave with φ̇ = 0.
    pub resting: Vec<bool>,
    /// Walls between which there is no room, if they had to be stopped.
    pub stopped: Vec<usize>,
}

/// Gap rates on their way through the passes of one instant.
#[derive(Clone, Debug)]
pub struct GapRates {
    /// φ̇
    pub now: Vec<f64>,
    /// The absolute sums of their terms before the impact.
    pub scale: Vec<f64>,
}

impl Touching {
    /// All walls together. `passes`: how many there may be.
    ///
    /// # Errors
    /// When a wall that is being hit cannot push, the walls close on each other, or there are too many passes.
    pub fn simultaneous(
        &self,
        before: &GapRates,
        restitution: &[f64],
        passes: u64,
    ) -> Result<Joint, LawFailure> {
        let k = before.now.len();
        if let Some(i) = (0..k).find(|&i| before.now[i] < 0.0 && !self.enforceable(i)) {
            return Err(LawFailure::NotEnforceable(i));
        }
        let mut rates = before.clone();
        let mut impulses = vec![0.0; k];
        let mut resting: Vec<bool> = rates.now.iter().map(|u| *u == 0.0).collect();
        let stopped = self.stop_where_no_room(&mut rates, &mut impulses, &mut resting)?;
        let largest = restitution.iter().copied().fold(0.0, f64::max);
        let first = self.fastest(&rates.now);
        for pass in 0.. {
            let fastest = self.fastest(&rates.now);
            if fastest == 0.0 {
                break;
            }
            if pass >= passes {
                return Err(LawFailure::TooMany);
            }
            let last = fastest <= FINISH * first && restitution.iter().any(|e| *e < 1.0);
            let epsilon: Vec<f64> = (0..k)
                .map(|i| match (last, rates.now[i] > 0.0) {
                    (true, _) => 0.0,
                    (false, true) => largest,
                    (false, false) => restitution[i],
                })
                .collect();
            let solution = self.pass(&rates, &epsilon)?;
            for i in 0..k {
                let target = -epsilon[i] * rates.now[i];
                resting[i] = solution.active[i] && target == 0.0;
                // rates of the problem are φ̇⁺ + ε φ̇⁻, exactly 0 where the line is active.
                rates.now[i] = if solution.active[i] { target } else { target + solution.rates[i] };
                impulses[i] += solution.multipliers[i];
                let rounding = rates.scale[i] + dot(self.scale.row(i), &solution.multipliers);
                if !solution.active[i] && rates.now[i].abs() <= SOLVED * rounding {
                    (rates.now[i], resting[i]) = (0.0, true);
                }
            }
        }
        let mut outcome = self.outcome(impulses);
        self.refine(&mut outcome, &before.now, &rates.now);
        Ok(Joint { outcome, rates: rates.now, resting, stopped })
    }

    /// In a thin wedge of angle α large impulses nearly cancel and N S Nᵀ is known to rounding/α² only: what is missing in the
    /// rates n·[v] themselves is added, twice, which leaves rounding/α.
    fn refine(&self, outcome: &mut ImpactOutcome, before: &[f64], after: &[f64]) {
        let pushing: Vec<usize> = (0..before.len()).filter(|&i| outcome.impulses[i] > 0.0).collect();
        if pushing.len() < 2 {
            return;
        }
        let walls = independent_subset(&self.delassus, &pushing);
        for _ in 0..2 {
            let missing: Vec<f64> =
                walls.iter().map(|&i| after[i] - before[i] - dot(&self.normals[i], &outcome.jump)).collect();
            let more = solve_subset(&self.delassus, &walls, &missing);
            for (&i, x) in walls.iter().zip(&more) {
                outcome.impulses[i] = (outcome.impulses[i] + x).max(0.0);
                outcome.jump.iter_mut().zip(&self.inverse_mass_normals[i]).for_each(|(j, s)| *j += x * s);
                outcome.reactions.iter_mut().zip(&self.reaction[i]).for_each(|(r, y)| *r -= x * y);
            }
        }
    }

    /// One pass: 0 ≤ λ ⊥ N S Nᵀ λ + (1 + ε) φ̇⁻ ≥ 0.
    pub(crate) fn pass(&self, rates: &GapRates, epsilon: &[f64]) -> Result<Solution, LawFailure> {
        let offset: Vec<f64> = rates.now.iter().zip(epsilon).map(|(u, e)| (1.0 + e) * u).collect();
        let problem = Complementarity {
            matrix: &self.delassus,
            matrix_scale: &self.scale,
            offset: &offset,
            offset_scale: &rates.scale,
        };
        problem.solve().map_err(|closing| {
            LawFailure::Squeezed((0..offset.len()).filter(|&i| closing.weights[i] > 0.0).collect())
        })
    }

    /// The largest φ̇²/(n·Sn) of the walls that approach.
    fn fastest(&self, rates: &[f64]) -> f64 {
        let speed = |(i, u): (usize, &f64)| if *u < 0.0 { u * u / self.delassus[(i, i)] } else { 0.0 };
        rates.iter().enumerate().map(speed).fold(0.0, f64::max)
    }

    /// The next wall of the sequential rule: the largest φ̇²/(n·Sn) of those that approach; ties in model order.
    pub fn next_in_sequence(&self, rates: &[f64]) -> Option<usize> {
        let speed = |i: usize| rates[i] * rates[i] / self.delassus[(i, i)];
        let approaching = (0..rates.len()).filter(|&i| rates[i] < 0.0);
        approaching.max_by(|&i, &j| speed(i).total_cmp(&speed(j)).then(j.cmp(&i)))
    }

    /// Has every approach become so slow against the first that a sequence with e < 1 is to be finished together?
    pub fn is_finishing(&self, rates: &[f64], first: f64) -> bool {
        self.fastest(rates) <= FINISH * first
    }

    /// The largest φ̇²/(n·Sn) of the walls that approach, the measure of [`Touching::is_finishing`].
    pub fn first_approach(&self, rates: &[f64]) -> f64 {
        self.fastest(rates)
    }

    /// What an impulse of wall i, which sets its rate to `after`, makes of the rates of all.
    pub fn push_alone(&self, rates: &mut GapRates, i: usize, impulse: f64, after: f64) {
        for j in 0..rates.now.len() {
            let rounding = SOLVED * (rates.scale[j] + self.scale[(i, j)] * impulse);
            rates.now[j] += self.delassus[(i, j)] * impulse;
            if rates.now[j].abs() <= rounding {
                rates.now[j] = 0.0;
            }
        }
        rates.now[i] = after;
    }

    /// cos of the wedge angle between two walls, −n_i·Sn_j/√(n_i·Sn_i n_j·Sn_j).
    pub fn wedge_cosine(&self, i: usize, j: usize) -> f64 {
        -self.delassus[(i, j)] / (self.delassus[(i, i)] * self.delassus[(j, j)]).sqrt()
    }

    /// Does the answer for these two walls depend on the rule? Both agree at e = 1 for wedge angles π/k with k even, for
    /// e < 1 only for orthogonal normals.
    pub fn is_ambiguous(&self, i: usize, j: usize, elastic: bool) -> bool {
        let cosine = self.wedge_cosine(i, j).clamp(-1.0, 1.0);
        if cosine.abs() < SAME_ANGLE {
            return false;
        }
        if !elastic {
            return true;
        }
        let k = std::f64::consts::PI / cosine.acos();
        let nearest = k.round().max(1.0);
        let divides = (std::f64::consts::PI / nearest - cosine.acos()).abs() < SAME_ANGLE;
        !(divides && nearest % 2.0 == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::KktFactor;
    use carom_jet::dense::{Factored, Matrix, largest};
    use proptest::prelude::*;

    const MOST: u64 = 1_000_000;

    /// B Bᵀ + I/10
    fn random_mass(n: usize, entries: &[f64]) -> Matrix {
        let mut m = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                let s: f64 = (0..n).map(|k| entries[i * n + k] * entries[j * n + k]).sum();
                m[(i, j)] = s + if i == j { 0.1 } else { 0.0 };
            }
        }
        m
    }

    fn plain_mass(n: usize) -> KktFactor {
        let mut mass = Matrix::zeros(n, n);
        (0..n).for_each(|i| mass[(i, i)] = 1.0);
        KktFactor::new(&mass, &Matrix::zeros(0, n))
    }

    /// Floor y ≥ 0 and the other side of a wedge with this opening.
    fn wedge(degrees: f64) -> (Touching, Vec<Vec<f64>>) {
        let a = degrees.to_radians();
        let normals = vec![vec![0.0, 1.0], vec![a.sin(), -a.cos()]];
        (Touching::new(&plain_mass(2), &normals), normals)
    }

    fn rates_of(normals: &[Vec<f64>], v: &[f64]) -> GapRates {
        let size = |n: &[f64]| n.iter().zip(v).map(|(n, v)| (n * v).abs()).sum();
        GapRates {
            now: normals.iter().map(|n| dot(n, v)).collect(),
            scale: normals.iter().map(|n| size(n)).collect(),
        }
    }

    /// The slow clear version of one pass: every support, with the pivoting solver.
    fn pass_by_enumeration(touching: &Touching, rates: &[f64], epsilon: &[f64]) -> Option<Vec<f64>> {
        let k = rates.len();
        let n = &touching.delassus;
        (0..1u32 << k).find_map(|mask| {
            let set: Vec<usize> = (0..k).filter(|i| mask >> i & 1 == 1).collect();
            let mut part = Matrix::zeros(set.len(), set.len());
            for (a, &i) in set.iter().enumerate() {
                for (b, &j) in set.iter().enumerate() {
                    part[(a, b)] = n[(i, j)];
                }
            }
            let right: Vec<f64> = set.iter().map(|&i| -(1.0 + epsilon[i]) * rates[i]).collect();
            let z = Factored::new(&part).solve(&right);
            let mut lambda = vec![0.0; k];
            set.iter().zip(&z).for_each(|(&i, &x)| lambda[i] = x);
            let jump = n.times(&lambda);
            let size = 1.0 + largest(&lambda);
            let fine = (0..k).all(|i| {
                let u = rates[i] + jump[i] + epsilon[i] * rates[i];
                lambda[i] >= -1e-11 * size
                    && u >= -1e-11 * size
                    && (lambda[i] * u).abs() < 1e-11 * size * size
            });
            fine.then(|| (0..k).map(|i| rates[i] + jump[i]).collect())
        })
    }

    /// The whole law, as the theory states it.
    fn law_by_enumeration(touching: &Touching, rates: &[f64], e: &[f64]) -> Option<Vec<f64>> {
        let top = e.iter().copied().fold(0.0, f64::max);
        let speed = |u: &[f64]| {
            u.iter()
                .enumerate()
                .map(|(i, u)| u.min(0.0).powi(2) / touching.delassus[(i, i)])
                .fold(0.0, f64::max)
        };
        let (mut u, first) = (rates.to_vec(), speed(rates));
        for _ in 0..100_000 {
            if speed(&u) <= 1e-24 * first {
                return Some(u);
            }
            let finish = speed(&u) < 1e-16 * first;
            let epsilon: Vec<f64> = (0..u.len())
                .map(|i| {
                    if finish {
                        0.0
                    } else if u[i] > 0.0 {
                        top
                    } else {
                        e[i]
                    }
                })
                .collect();
            u = pass_by_enumeration(touching, &u, &epsilon)?;
        }
        None
    }

    #[test]
    fn wedges_warn_unless_both_rules_agree() {
        assert!((wedge(60.0).0.wedge_cosine(0, 1) - 0.5).abs() < 1e-15);
        for (degrees, elastic, ambiguous) in [
            (60.0, true, true),
            (45.0, true, false),
            (45.0, false, true),
            (90.0, false, false),
            (90.0, true, false),
            (50.0, true, true),
            (120.0, true, true),
        ] {
            assert_eq!(wedge(degrees).0.is_ambiguous(0, 1, elastic), ambiguous, "{degrees} {elastic}");
        }
    }

    #[test]
    fn both_rules_agree_at_e_1_in_wedges_of_pi_over_an_even_number() {
        for k in [2, 4, 6, 8, 20] {
            let (touching, normals) = wedge(180.0 / f64::from(k));
            for step in 0..720 {
                let a = f64::from(step).to_radians() / 2.0 + 1e-3;
                let v = [a.cos(), a.sin()];
                let before = rates_of(&normals, &v);
                if before.now.iter().all(|u| *u >= 0.0) {
                    continue;
                }
                let together = touching.simultaneous(&before, &[1.0, 1.0], MOST).unwrap();
                let mut rates = before;
                while let Some(i) = touching.next_in_sequence(&rates.now) {
                    let (u, lambda) =
                        (rates.now[i], touching.single(i, rates.now[i], 1.0).unwrap().impulses[i]);
                    touching.push_alone(&mut rates, i, lambda, -u);
                }
                for i in 0..2 {
                    assert!(
                        (together.rates[i] - rates.now[i]).abs() < 1e-12,
                        "π/{k} {step}: {together:?} {rates:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_separating_wall_that_is_closed_again_adds_no_energy() {
        // Corner of 60°, moving away from the side and onto the floor: 33 % appeared here with ε = 0 for separating walls.
        let (touching, normals) = wedge(60.0);
        for step in 0..3600 {
            let a = f64::from(step).to_radians() / 10.0;
            let v = [a.cos(), a.sin()];
            let before = rates_of(&normals, &v);
            let joint = touching.simultaneous(&before, &[1.0, 1.0], MOST).unwrap();
            let after: Vec<f64> = v.iter().zip(&joint.outcome.jump).map(|(v, j)| v + j).collect();
            assert!((dot(&after, &after) - 1.0).abs() < 1e-13, "{step}: {after:?}");
            assert!(joint.rates.iter().all(|u| *u >= 0.0));
        }
    }

    #[test]
    fn thin_wedges_take_many_passes_and_keep_the_energy() {
        for angle in [0.02f64, 0.002, 2e-4] {
            let (touching, normals) = wedge(angle.to_degrees());
            let v = [-1.0, -0.3 * angle];
            let joint = touching.simultaneous(&rates_of(&normals, &v), &[1.0, 1.0], MOST).unwrap();
            let after: Vec<f64> = v.iter().zip(&joint.outcome.jump).map(|(v, j)| v + j).collect();
            let kept = (dot(&after, &after) / dot(&v, &v) - 1.0).abs();
            assert!(kept < 16.0 * f64::EPSILON / angle, "{angle}: {after:?} {kept:e}");
        }
    }

    #[test]
    fn a_wall_in_contact_stays_closed_exactly_through_an_impact_beside_it() {
        for degrees in [12.5, 45.0, 67.3, 89.999, 90.0] {
            // Sliding along the floor into the side.
            let (touching, normals) = wedge(degrees);
            let mut before = rates_of(&normals, &[-1.0, 0.0]);
            before.now[0] = 0.0;
            let joint = touching.simultaneous(&before, &[0.3, 0.8], MOST).unwrap();
            assert_eq!((joint.rates[0], joint.resting[0]), (0.0, true), "{degrees}");
            assert_eq!(joint.rates[1], -0.8 * before.now[1]);
        }
        // Beyond a right angle the side throws it off the floor.
        let (touching, normals) = wedge(91.0);
        let mut before = rates_of(&normals, &[-1.0, 0.0]);
        before.now[0] = 0.0;
        let joint = touching.simultaneous(&before, &[0.3, 0.8], MOST).unwrap();
        assert!(joint.rates[0] > 0.0 && !joint.resting[0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn every_impact_obeys_the_law(
            w in prop::collection::vec(-1.0f64..1.0, 25), a in prop::collection::vec(-1.0f64..1.0, 10),
            n in prop::collection::vec(-1.0f64..1.0, 20), v in prop::collection::vec(-1.0f64..1.0, 5),
            moving in prop::collection::vec(-0.5f64..0.5, 4), e in prop::collection::vec(0.0f64..1.0, 4),
            kind in 0u8..4, walls in 2usize..5, resting in any::<bool>(),
        ) {
            let mass = random_mass(5, &w);
            let rows = Matrix { rows: 2, columns: 5, entries: a };
            let kkt = KktFactor::new(&mass, &rows);
            let mut normals: Vec<Vec<f64>> = n.chunks(5).map(<[f64]>::to_vec).take(walls).collect();
            let mut moving = moving[..walls].to_vec();
            if kind == 3 {
                // A gap written down twice.
                normals[1] = normals[0].iter().map(|x| 2.0 * x).collect();
                moving[1] = 2.0 * moving[0];
            }
            let mut e = e[..walls].to_vec();
            match kind {
                0 => e.fill(1.0),
                1 => {
                    let all = e[0];
                    e.fill(all);
                }
                _ => {}
            }
            if resting {
                moving[walls - 1] = -dot(&normals[walls - 1], &v);
            }
            let touching = Touching::new(&kkt, &normals);
            prop_assume!((0..walls).all(|i| touching.enforceable(i)));
            let mut before = rates_of(&normals, &v);
            before.now.iter_mut().zip(&moving).for_each(|(u, m)| *u += m);
            if resting {
                before.now[walls - 1] = 0.0;
            }
            // Four walls in three free dimensions may close.
            let joint = match touching.simultaneous(&before, &e, MOST) {
                Ok(joint) => joint,
                Err(LawFailure::Squeezed(_)) => {
                    prop_assert!(pass_by_enumeration(&touching, &before.now, &[0.0; 4]).is_none());
                    return Ok(());
                }
                Err(other) => panic!("{other:?}"),
            };
            let out = &joint.outcome;
            let after: Vec<f64> = v.iter().zip(&out.jump).map(|(v, j)| v + j).collect();
            // W[v] = Σ λn + Aᵀμ and A[v] = 0
            let mut residual = mass.times(&out.jump);
            for (n, l) in normals.iter().zip(&out.impulses) {
                prop_assert!(*l >= 0.0);
                residual.iter_mut().zip(n).for_each(|(r, n)| *r -= l * n);
            }
            residual.iter_mut().zip(rows.transposed_times(&out.reactions)).for_each(|(r, m)| *r -= m);
            let scale = 1.0 + largest(&out.impulses) + largest(&out.jump);
            prop_assert!(largest(&residual) < 1e-10 * scale && largest(&rows.times(&out.jump)) < 1e-10 * scale);
            for i in 0..walls {
                let u = dot(&normals[i], &after) + moving[i];
                prop_assert!((u - joint.rates[i]).abs() < 1e-10 * scale, "{u} {}", joint.rates[i]);
                prop_assert!(joint.rates[i] >= 0.0);
                prop_assert!(!joint.resting[i] || joint.rates[i] == 0.0);
            }
            // [E] = −λ·φ_t − μ·b and what the law takes; with T = ½v·Wv, −μ·b = μ·Av.
            let kinetic = |v: &[f64]| 0.5 * dot(v, &mass.times(v));
            let allowed = dot(&out.reactions, &rows.times(&v)) - dot(&out.impulses, &moving);
            let kept = kinetic(&after) - kinetic(&v) - allowed;
            let size = scale * scale;
            prop_assert!(kept < 1e-11 * size, "energy rises by {kept}");
            if kind == 0 && joint.stopped.is_empty() {
                prop_assert!(kept.abs() < 1e-11 * size, "{kept}");
            }
            if let Some(slow) = law_by_enumeration(&touching, &before.now, &e).filter(|_| joint.stopped.is_empty()) {
                for i in 0..walls {
                    prop_assert!((slow[i] - joint.rates[i]).abs() < 1e-7 * scale, "{slow:?} {joint:?}");
                }
            }
        }

        #[test]
        fn a_gap_written_as_twice_itself_changes_nothing(
            n in prop::collection::vec(-1.0f64..1.0, 9), v in prop::collection::vec(-1.0f64..1.0, 3),
            e in prop::collection::vec(0.0f64..1.0, 3), which in 0usize..3,
        ) {
            let mut normals: Vec<Vec<f64>> = n.chunks(3).map(<[f64]>::to_vec).collect();
            let kkt = plain_mass(3);
            let once = Touching::new(&kkt, &normals).simultaneous(&rates_of(&normals, &v), &e, MOST).unwrap();
            normals[which].iter_mut().for_each(|x| *x *= 2.0);
            let twice = Touching::new(&kkt, &normals).simultaneous(&rates_of(&normals, &v), &e, MOST).unwrap();
            prop_assert_eq!(&once.outcome.jump, &twice.outcome.jump);
            prop_assert_eq!(once.outcome.impulses[which], 2.0 * twice.outcome.impulses[which]);
        }
    }
}
