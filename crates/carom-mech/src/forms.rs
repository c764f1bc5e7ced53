//! Closed forms for reading: Δ by a basis, accelerations, hyperregularity, the other side of the Legendre
//! transform, and the impact law of each wall.
//!
//! ```text
//! S = Z (ZᵀWZ)⁻¹ Zᵀ,   λ = −(1 + e) φ̇ / (n·S n),   v⁺ = v + λ S n,   Aᵀμ = λ (W S n − n)
//! ```
//!
//! with the columns of Z spanning ker A. Systems of at most three coupled unknowns are solved by Cramer's rule;
//! what is larger has no form that helps a reader, and stays the linear system it is.

use crate::eliminate::{EliminatedRows, eliminate};
use crate::lagrangian::tidy;
use crate::legendre::{TO_HAMILTONIAN, TO_LAGRANGIAN, blocks, legendre};
use crate::mechanics::{ClosedForm, ClosedForms, Dynamics, ImpactForm, LeftOut, Mechanics, RowMechanics};
use crate::sample::Samples;
use crate::symbols::{Symbols, dot};
use carom_expr::{Dag, Expr, Rational};

/// Rows that are still eliminated by hand.
const MOST_ROWS: usize = 8;
/// Unknowns that Cramer's rule is still good for.
const MOST_COUPLED: usize = 3;
/// Longest component of a closed form that is written out.
const LONGEST: usize = 400;
/// Longest matrix and right-hand side, all entries together, that are worth solving by hand: what is longer ends up
/// longer than [`LONGEST`] anyway.
const LONGEST_SYSTEM: u64 = 600;
/// Longest expression that is collected once more after an impulse was put in.
const LONGEST_COLLECTED: u64 = 150;

fn length(dag: &Dag, es: &[Expr]) -> u64 {
    es.iter().fold(0u64, |sum, &e| sum.saturating_add(dag.length(e)))
}

/// The textbook form of what is short, the rest as it stands.
fn tidy_short(dag: &mut Dag, e: Expr, longest: u64) -> Expr {
    if dag.length(e) <= longest { tidy(dag, e) } else { e }
}

/// Fills in what can be written down.
pub(crate) fn closed_forms(
    mechanics: &mut Mechanics,
    symbols: &Symbols,
    samples: &mut Samples,
) -> ClosedForms {
    let mut forms = ClosedForms { impacts: vec![None; mechanics.walls.len()], ..ClosedForms::default() };
    let elimination = eliminate_rows(&mut mechanics.model.dag, samples, &mechanics.rows);
    let state = samples.state.clone();
    forms.distribution = match &elimination {
        Some(e) => Some(basis(&mut mechanics.model.dag, e, symbols.free.len(), &state)),
        None => None,
    };
    let (x, y, f) = match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => (symbols.free_v(), symbols.free_p(), l.lagrangian),
        Dynamics::Degenerate(d) => (symbols.free_v(), symbols.free_p(), d.lagrangian.lagrangian),
        Dynamics::Hamiltonian(h) => (symbols.free_p(), symbols.free_v(), h.hamiltonian),
    };
    let matrix = match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => l.mass_matrix.clone(),
        Dynamics::Degenerate(d) => d.lagrangian.mass_matrix.clone(),
        Dynamics::Hamiltonian(h) => h.inverse_mass.clone(),
    };
    forms.hyperregular = determinant(&mut mechanics.model.dag, &matrix);
    if forms.distribution.is_none() {
        leave_out(&mut forms, ClosedForm::Distribution, rows_reason(mechanics.rows.len()));
    }
    if forms.hyperregular.is_none() {
        let reason = coupled_reason(largest_block(&mechanics.model.dag, &matrix));
        leave_out(&mut forms, ClosedForm::Determinant, reason);
    }
    let words = match &mechanics.dynamics {
        Dynamics::Hamiltonian(_) => &TO_LAGRANGIAN,
        _ => &TO_HAMILTONIAN,
    };
    match legendre(&mut mechanics.model, f, &x, &y, words) {
        Ok(transform) => {
            forms.other_side = Some(transform.value);
            forms.inverse = Some(transform.inverse);
        }
        Err(obstacle) => forms.obstacle = Some(obstacle),
    }
    match &mechanics.dynamics {
        Dynamics::Lagrangian(_) => {
            let reason = lagrangian_forms(mechanics, symbols, &mut forms, elimination.as_ref());
            if forms.accelerations.is_none() {
                leave_out(&mut forms, ClosedForm::Accelerations, reason.clone());
            }
            for wall in 0..mechanics.walls.len() {
                let known = forms.why(ClosedForm::Impact(wall)).is_some();
                if mechanics.quadratic && forms.impacts[wall].is_none() && !known {
                    leave_out(&mut forms, ClosedForm::Impact(wall), reason.clone());
                }
            }
        }
        Dynamics::Degenerate(_) => {
            let reason =
                "the Lagrangian is degenerate: they follow from its equations and conditions together";
            leave_out(&mut forms, ClosedForm::Accelerations, reason.to_owned());
        }
        Dynamics::Hamiltonian(_) if mechanics.quadratic => {
            hamiltonian_impacts(mechanics, symbols, &mut forms)
        }
        Dynamics::Hamiltonian(_) => {}
    }
    forms
}

fn leave_out(forms: &mut ClosedForms, form: ClosedForm, reason: String) {
    forms.left_out.push(LeftOut { form, reason });
}

fn rows_reason(rows: usize) -> String {
    match rows {
        n if n > MOST_ROWS => {
            format!("there are {n} constraint rows, and more than {MOST_ROWS} are not eliminated by hand")
        }
        _ => "eliminating the constraint rows makes its entries too long to help".to_owned(),
    }
}

fn coupled_reason(coupled: usize) -> String {
    format!(
        "{coupled} coordinates are coupled, and solutions for more than {MOST_COUPLED} unknowns are too long to help"
    )
}

const TOO_LONG: &str = "the result would be too long to help";

fn largest_block(dag: &Dag, matrix: &[Vec<Expr>]) -> usize {
    blocks(dag, matrix).iter().map(Vec::len).max().unwrap_or(0)
}

/// A and −γ eliminated; `None` when there are more rows than a reader can use or entries swell.
fn eliminate_rows(dag: &mut Dag, samples: &mut Samples, rows: &[RowMechanics]) -> Option<EliminatedRows> {
    if rows.len() > MOST_ROWS || (samples.len() == 0 && !rows.is_empty()) {
        return None;
    }
    let normals: Vec<Vec<Expr>> = rows.iter().map(|r| r.normal.clone()).collect();
    let right: Vec<Expr> = rows.iter().map(|r| dag.neg(r.bias)).collect();
    let columns = normals.first().map_or(0, Vec::len);
    eliminate(dag, samples, normals, right, columns, LONGEST as u64 / 2)
}

/// Columns of Z.
fn basis(dag: &mut Dag, elimination: &EliminatedRows, n: usize, state: &[Expr]) -> Vec<Vec<Expr>> {
    if elimination.rows.is_empty() {
        let (zero, one) = (dag.zero(), dag.one());
        return (0..n).map(|i| (0..n).map(|j| if i == j { one } else { zero }).collect()).collect();
    }
    elimination.null_vectors(dag, state)
}

/// The determinant, block by block; `None` when a block has more than three rows.
pub(crate) fn determinant(dag: &mut Dag, matrix: &[Vec<Expr>]) -> Option<Expr> {
    let mut factors = Vec::new();
    for block in blocks(dag, matrix) {
        let m = |i: usize, j: usize| matrix[block[i]][block[j]];
        let det = match block.len() {
            1 => m(0, 0),
            2 => {
                let (a, b) = (dag.mul(m(0, 0), m(1, 1)), dag.mul(m(0, 1), m(1, 0)));
                dag.sub(a, b)
            }
            3 => {
                let mut terms = Vec::new();
                for (p, sign) in [
                    ([0, 1, 2], 1),
                    ([1, 2, 0], 1),
                    ([2, 0, 1], 1),
                    ([0, 2, 1], -1),
                    ([1, 0, 2], -1),
                    ([2, 1, 0], -1),
                ] {
                    let product = dag.product(&[m(0, p[0]), m(1, p[1]), m(2, p[2])]);
                    terms.push((Rational::integer(sign), product));
                }
                dag.linear(Rational::ZERO, &terms)
            }
            _ => return None,
        };
        factors.push(tidy(dag, det));
    }
    let product = dag.product(&factors);
    Some(tidy(dag, product))
}

fn apply(dag: &mut Dag, matrix: &[Vec<Expr>], x: &[Expr]) -> Vec<Expr> {
    matrix.iter().map(|row| dot(dag, row, x)).collect()
}

/// ZᵀMZ
fn restricted(dag: &mut Dag, matrix: &[Vec<Expr>], z: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    let images: Vec<Vec<Expr>> = z.iter().map(|z| apply(dag, matrix, z)).collect();
    let zero = dag.zero();
    let mut out = vec![vec![zero; z.len()]; z.len()];
    for i in 0..z.len() {
        for j in 0..=i {
            let e = dot(dag, &z[i], &images[j]);
            let e = tidy_short(dag, e, LONGEST_SYSTEM);
            out[i][j] = e;
            out[j][i] = e;
        }
    }
    out
}

fn combine(dag: &mut Dag, z: &[Vec<Expr>], c: &[Expr], n: usize) -> Vec<Expr> {
    (0..n)
        .map(|i| {
            let column: Vec<Expr> = z.iter().map(|z| z[i]).collect();
            let e = dot(dag, &column, c);
            tidy(dag, e)
        })
        .collect()
}

/// Accelerations and impact laws; why those that are missing are, unless the form says so itself.
fn lagrangian_forms(
    mechanics: &mut Mechanics,
    symbols: &Symbols,
    forms: &mut ClosedForms,
    elimination: Option<&EliminatedRows>,
) -> String {
    let Dynamics::Lagrangian(l) = &mechanics.dynamics else { return String::new() };
    let (Some(z), Some(elimination)) = (forms.distribution.clone(), elimination) else {
        return rows_reason(mechanics.rows.len());
    };
    let dag = &mut mechanics.model.dag;
    let n = symbols.free.len();
    let w = &l.mass_matrix;
    // Larger blocks have no closed form: do not even multiply them out.
    let coupled = largest_block(dag, w);
    if coupled > MOST_COUPLED && elimination.rows.is_empty() {
        return coupled_reason(coupled);
    }
    let entries: Vec<Expr> = z.iter().flatten().copied().collect();
    if length(dag, &entries) > LONGEST_SYSTEM {
        return TOO_LONG.to_owned();
    }
    let mass = restricted(dag, w, &z);
    let coupled = largest_block(dag, &mass);
    let reason = if coupled > MOST_COUPLED { coupled_reason(coupled) } else { TOO_LONG.to_owned() };

    // a = Z α + a₀ with A a₀ = −γ;  ZᵀWZ α = Zᵀ(Q − h − W a₀)
    let zero = dag.zero();
    let mut particular = vec![zero; n];
    for &(row, column) in &elimination.pivots {
        particular[column] = dag.div(elimination.right[row], elimination.rows[row][column]);
    }
    let carried = apply(dag, w, &particular);
    let load: Vec<Expr> = (0..n)
        .map(|i| {
            let force = dag.sub(l.generalized_force[i], l.bias[i]);
            dag.sub(force, carried[i])
        })
        .collect();
    let right: Vec<Expr> = z
        .iter()
        .map(|z| {
            let e = dot(dag, z, &load);
            tidy_short(dag, e, LONGEST_SYSTEM)
        })
        .collect();
    let entries: Vec<Expr> = mass.iter().flatten().chain(&right).copied().collect();
    let within = length(dag, &entries) <= LONGEST_SYSTEM;
    if let Some(alpha) = within.then(|| dag.solve_within(&mass, &right, LONGEST)).flatten() {
        let moved = combine(dag, &z, &alpha, n);
        let all: Vec<Expr> = moved
            .into_iter()
            .zip(&particular)
            .map(|(e, &p)| {
                let e = dag.add(e, p);
                tidy(dag, e)
            })
            .collect();
        forms.accelerations = Some(all);
    }
    if !mechanics.quadratic {
        return reason;
    }
    for (slot, wall) in mechanics.walls.iter().enumerate() {
        let projected: Vec<Expr> = z.iter().map(|z| dot(dag, z, &wall.normal)).collect();
        if projected.iter().all(|&e| dag.is_zero(e)) {
            let reason = "no motion that the rows allow changes the gap, so no impulse can act";
            forms.left_out.push(LeftOut { form: ClosedForm::Impact(slot), reason: reason.to_owned() });
            continue;
        }
        let entries: Vec<Expr> = mass.iter().flatten().chain(&projected).copied().collect();
        if length(dag, &entries) > LONGEST_SYSTEM {
            continue;
        }
        let Some(beta) = dag.solve_within(&mass, &projected, LONGEST) else { continue };
        let direction = combine(dag, &z, &beta, n);
        let inverse_mass = dot(dag, &projected, &beta);
        let inverse_mass = tidy(dag, inverse_mass);
        let impulse = impulse(dag, wall.restitution, wall.gap_rate, inverse_mass);
        // A_Pᵀ μ = λ (W S n − n)_P on the pivot columns P
        let image: Vec<Expr> =
            apply(dag, w, &direction).into_iter().map(|e| tidy_short(dag, e, LONGEST_COLLECTED)).collect();
        let (mut matrix, mut load) = (Vec::new(), Vec::new());
        let pivot_rows: Vec<usize> = elimination.pivots.iter().map(|p| p.0).collect();
        for &(_, column) in &elimination.pivots {
            matrix.push(pivot_rows.iter().map(|&r| mechanics.rows[r].normal[column]).collect::<Vec<Expr>>());
            let e = dag.sub(image[column], wall.normal[column]);
            load.push(tidy(dag, e));
        }
        let mut reaction = vec![zero; mechanics.rows.len()];
        if !matrix.is_empty() {
            let Some(share) = dag.solve_within(&matrix, &load, LONGEST) else { continue };
            for (&r, e) in pivot_rows.iter().zip(share) {
                let e = dag.mul(impulse, e);
                reaction[r] = tidy_short(dag, e, LONGEST_COLLECTED);
            }
        }
        let velocity_after = shifted(dag, &symbols.free_v(), impulse, &direction);
        let p: Vec<Expr> = symbols.free.iter().map(|&i| mechanics.momenta[i]).collect();
        let momentum_after = shifted(dag, &p, impulse, &image);
        forms.impacts[slot] = Some(ImpactForm {
            inverse_mass,
            direction,
            impulse,
            reaction_impulse: reaction,
            velocity_after,
            momentum_after,
        });
    }
    reason
}

fn hamiltonian_impacts(mechanics: &mut Mechanics, symbols: &Symbols, forms: &mut ClosedForms) {
    let Dynamics::Hamiltonian(h) = &mechanics.dynamics else { return };
    let dag = &mut mechanics.model.dag;
    let m = &h.inverse_mass;
    let zero = dag.zero();
    let images: Vec<Vec<Expr>> = mechanics.rows.iter().map(|r| apply(dag, m, &r.normal)).collect();
    for (slot, wall) in mechanics.walls.iter().enumerate() {
        // S n = M(n − Aᵀν), (A M Aᵀ) ν = A M n, μ = −λ ν
        let pushed_by_wall = apply(dag, m, &wall.normal);
        let mut nu = Vec::new();
        if !mechanics.rows.is_empty() {
            let matrix: Vec<Vec<Expr>> = mechanics
                .rows
                .iter()
                .map(|r| images.iter().map(|image| dot(dag, &r.normal, image)).collect())
                .collect();
            let right: Vec<Expr> =
                mechanics.rows.iter().map(|r| dot(dag, &r.normal, &pushed_by_wall)).collect();
            let Some(solved) = dag.solve_within(&matrix, &right, LONGEST) else {
                let coupled = largest_block(dag, &matrix);
                let reason =
                    if coupled > MOST_COUPLED { coupled_reason(coupled) } else { TOO_LONG.to_owned() };
                forms.left_out.push(LeftOut { form: ClosedForm::Impact(slot), reason });
                continue;
            };
            nu = solved;
        }
        let direction: Vec<Expr> = (0..pushed_by_wall.len())
            .map(|i| {
                let mut terms = vec![(Rational::ONE, pushed_by_wall[i])];
                for (image, &nu) in images.iter().zip(&nu) {
                    terms.push((Rational::MINUS_ONE, dag.mul(image[i], nu)));
                }
                let e = dag.linear(Rational::ZERO, &terms);
                tidy(dag, e)
            })
            .collect();
        if direction.iter().all(|&e| e == zero) {
            let reason = "no motion that the rows allow changes the gap, so no impulse can act";
            forms.left_out.push(LeftOut { form: ClosedForm::Impact(slot), reason: reason.to_owned() });
            continue;
        }
        let inverse_mass = dot(dag, &wall.normal, &direction);
        let inverse_mass = tidy(dag, inverse_mass);
        let impulse = impulse(dag, wall.restitution, wall.gap_rate, inverse_mass);
        let reaction: Vec<Expr> = nu
            .iter()
            .map(|&nu| {
                let e = dag.mul(impulse, nu);
                dag.neg(e)
            })
            .collect();
        let velocity_after = shifted(dag, &h.velocity, impulse, &direction);
        let momentum_after =
            pushed(dag, &symbols.free_p(), impulse, &wall.normal, &reaction, &mechanics.rows);
        forms.impacts[slot] = Some(ImpactForm {
            inverse_mass,
            direction,
            impulse,
            reaction_impulse: reaction,
            velocity_after,
            momentum_after,
        });
    }
}

/// λ = −(1 + e) φ̇ / (n·S n)
fn impulse(dag: &mut Dag, restitution: Expr, gap_rate: Expr, inverse_mass: Expr) -> Expr {
    let one = dag.one();
    let factor = dag.add(one, restitution);
    let ratio = dag.div(gap_rate, inverse_mass);
    let product = dag.mul(factor, ratio);
    let e = dag.neg(product);
    tidy_short(dag, e, LONGEST_COLLECTED)
}

/// x + λ d
fn shifted(dag: &mut Dag, x: &[Expr], impulse: Expr, direction: &[Expr]) -> Vec<Expr> {
    x.iter()
        .zip(direction)
        .map(|(&x, &d)| {
            let step = dag.mul(impulse, d);
            let e = dag.add(x, step);
            tidy_short(dag, e, LONGEST_COLLECTED)
        })
        .collect()
}

/// p + λ n + Aᵀμ
fn pushed(
    dag: &mut Dag,
    p: &[Expr],
    impulse: Expr,
    normal: &[Expr],
    reaction: &[Expr],
    rows: &[RowMechanics],
) -> Vec<Expr> {
    (0..p.len())
        .map(|i| {
            let mut parts = vec![p[i], dag.mul(impulse, normal[i])];
            for (&mu, row) in reaction.iter().zip(rows) {
                parts.push(dag.mul(mu, row.normal[i]));
            }
            let e = dag.sum(&parts);
            tidy_short(dag, e, LONGEST_COLLECTED)
        })
        .collect()
}
