//! Closed forms against what they promise, at the numbers of a path.

use super::independent::Path;
use carom_expr::Expr;
use carom_mech::{Dynamics, Mechanics};

/// Closed forms divide by determinants; a hundred thousand units of rounding cover the cancellation at the states
/// used here, whose determinants are not small.
const TOLERANCE: f64 = 1e5 * f64::EPSILON;

fn close(found: f64, expected: f64, scale: f64, what: &str) {
    let bound = TOLERANCE * (1.0 + scale.abs() + expected.abs() + found.abs());
    assert!((found - expected).abs() <= bound, "{what}: {found} instead of {expected} (bound {bound:e})");
}

/// Solves a small square system with row pivoting.
pub fn solve(mut m: Vec<Vec<f64>>, mut r: Vec<f64>) -> Vec<f64> {
    let n = r.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        m.swap(k, p);
        r.swap(k, p);
        for i in k + 1..n {
            let f = m[i][k] / m[k][k];
            for j in k..n {
                let x = m[k][j];
                m[i][j] -= f * x;
            }
            r[i] -= f * r[k];
        }
    }
    for k in (0..n).rev() {
        let tail: f64 = (k + 1..n).map(|j| m[k][j] * r[j]).sum();
        r[k] = (r[k] - tail) / m[k][k];
    }
    r
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Moves the velocities onto A v + b = 0 with the least change; rows must be independent.
pub fn onto_rows(mechanics: &Mechanics, path: &mut Path) {
    if mechanics.rows.is_empty() {
        return;
    }
    let a: Vec<Vec<f64>> =
        mechanics.rows.iter().map(|r| r.normal.iter().map(|&e| path.get(mechanics, e)).collect()).collect();
    let symbols: Vec<Expr> =
        mechanics.free.iter().map(|&i| mechanics.model.coordinates[i].velocity).collect();
    let v: Vec<f64> = symbols.iter().map(|&e| path.get(mechanics, e)).collect();
    let residual: Vec<f64> =
        mechanics.rows.iter().zip(&a).map(|(r, a)| -(dot(a, &v) + path.get(mechanics, r.drift))).collect();
    let gram: Vec<Vec<f64>> = a.iter().map(|x| a.iter().map(|y| dot(x, y)).collect()).collect();
    let nu = solve(gram, residual);
    for (i, &symbol) in symbols.iter().enumerate() {
        let step: f64 = a.iter().zip(&nu).map(|(row, nu)| row[i] * nu).sum();
        path.set(symbol, v[i] + step);
    }
}

/// Checks every closed form of a model at the state of a path.
pub fn closed_forms_hold(mechanics: &Mechanics, path: &Path) {
    let mut path = path.clone();
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    if !hamiltonian {
        onto_rows(mechanics, &mut path);
    }
    let numbers =
        |path: &Path, es: &[Expr]| -> Vec<f64> { es.iter().map(|&e| path.get(mechanics, e)).collect() };
    let rows: Vec<Vec<f64>> = mechanics.rows.iter().map(|r| numbers(&path, &r.normal)).collect();
    let matrix: Vec<Vec<f64>> = match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => &l.mass_matrix,
        Dynamics::Degenerate(d) => &d.lagrangian.mass_matrix,
        Dynamics::Hamiltonian(h) => &h.inverse_mass,
    }
    .iter()
    .map(|r| numbers(&path, r))
    .collect();
    let forms = &mechanics.forms;
    let basis: Vec<Vec<f64>> = forms.distribution.iter().flatten().map(|z| numbers(&path, z)).collect();
    for z in &basis {
        for a in &rows {
            let size: f64 = a.iter().zip(z).map(|(a, z)| (a * z).abs()).sum();
            close(dot(a, z), 0.0, size, "a basis vector of Δ on a row");
        }
    }
    if let (Some(a), Dynamics::Lagrangian(l)) = (&forms.accelerations, &mechanics.dynamics) {
        let a = numbers(&path, a);
        for (row, normal) in mechanics.rows.iter().zip(&rows) {
            close(dot(normal, &a), -path.get(mechanics, row.bias), 1.0, "acceleration on a row");
        }
        for z in &basis {
            let mut total = 0.0;
            let mut size = 0.0;
            for i in 0..a.len() {
                let terms = [
                    dot(&matrix[i], &a),
                    path.get(mechanics, l.bias[i]),
                    -path.get(mechanics, l.generalized_force[i]),
                ];
                total += z[i] * terms.iter().sum::<f64>();
                size += (z[i] * terms.iter().map(|x| x.abs()).sum::<f64>()).abs();
            }
            close(total, 0.0, size, "acceleration along Δ");
        }
    }
    if let (Some(other), Some(inverse)) = (forms.other_side, &forms.inverse) {
        legendre_holds(mechanics, &path, other, inverse);
    }
    for (wall, form) in mechanics.walls.iter().zip(&forms.impacts) {
        let Some(form) = form else { continue };
        let normal = numbers(&path, &wall.normal);
        let direction = numbers(&path, &form.direction);
        let (lambda, mu) = (path.get(mechanics, form.impulse), numbers(&path, &form.reaction_impulse));
        let inverse_mass = path.get(mechanics, form.inverse_mass);
        close(dot(&normal, &direction), inverse_mass, inverse_mass, "n·S n");
        let e = path.get(mechanics, wall.restitution);
        let rate = path.get(mechanics, wall.gap_rate);
        close(lambda * inverse_mass, -(1.0 + e) * rate, 1.0, "impulse");
        let mut after = path.clone();
        let drift: Vec<f64> = mechanics.rows.iter().map(|r| path.get(mechanics, r.drift)).collect();
        for a in &rows {
            let size: f64 = a.iter().zip(&direction).map(|(a, d)| (a * d).abs()).sum();
            close(dot(a, &direction), 0.0, size, "S n on a row");
        }
        let before: Vec<f64> =
            mechanics.free.iter().map(|&i| path.get(mechanics, mechanics.momenta[i])).collect();
        for (slot, &i) in mechanics.free.iter().enumerate() {
            let c = &mechanics.model.coordinates[i];
            let (symbol, new) = if hamiltonian {
                (c.momentum, form.momentum_after[slot])
            } else {
                (c.velocity, form.velocity_after[slot])
            };
            after.set(symbol, path.get(mechanics, new));
        }
        // [p] = λ n + Aᵀμ, φ̇⁺ = −e φ̇⁻, [E] = −λ φ_t − μ·b
        for (slot, &i) in mechanics.free.iter().enumerate() {
            let reaction: f64 = rows.iter().zip(&mu).map(|(a, mu)| a[slot] * mu).sum();
            let jump = after.get(mechanics, mechanics.momenta[i]) - before[slot];
            let size = before[slot].abs() + (lambda * normal[slot]).abs() + reaction.abs();
            close(jump, lambda * normal[slot] + reaction, size, "momentum jump");
            let written = path.get(mechanics, form.momentum_after[slot]);
            close(written, before[slot] + jump, size, "momentum after");
            let v = after.get(mechanics, mechanics.velocities[i]);
            close(path.get(mechanics, form.velocity_after[slot]), v, v, "velocity after");
        }
        close(after.get(mechanics, wall.gap_rate), -e * rate, rate, "gap rate after");
        if e == 1.0 && (!hamiltonian || rows.is_empty()) {
            let (e0, e1) =
                (path.get(mechanics, mechanics.hamiltonian), after.get(mechanics, mechanics.hamiltonian));
            let expected = -lambda * path.get(mechanics, wall.gap_t) - dot(&mu, &drift);
            close(e1 - e0, expected, e0.abs() + e1.abs(), "energy jump");
        }
    }
}

fn legendre_holds(mechanics: &Mechanics, path: &Path, other: Expr, inverse: &[Expr]) {
    let model = &mechanics.model;
    let mut path = path.clone();
    let mut pairing = 0.0;
    let (mut expected, mut size) = (Vec::new(), 0.0);
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    for &i in &mechanics.free {
        let c = &model.coordinates[i];
        let (p, v) =
            (path.get(mechanics, mechanics.momenta[i]), path.get(mechanics, mechanics.velocities[i]));
        pairing += p * v;
        size += (p * v).abs();
        expected.push(if hamiltonian { p } else { v });
        if hamiltonian {
            path.set(c.velocity, v);
        } else {
            path.set(c.momentum, p);
        }
    }
    let e = path.get(mechanics, mechanics.hamiltonian);
    let want = if hamiltonian { pairing - e } else { e };
    close(path.get(mechanics, other), want, size + e.abs(), "the other side");
    for (&found, want) in inverse.iter().zip(expected) {
        close(path.get(mechanics, found), want, want, "the inverse Legendre map");
    }
}
