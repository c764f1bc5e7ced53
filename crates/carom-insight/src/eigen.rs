//! Eigenvalues of small real matrices, and of products of them.
//!
//! ```text
//! A = Q H Qᵀ (Hessenberg),   H → Qᵀ H Q with the double shift of the trailing 2 × 2 block, until blocks of size 1 and 2 are left
//! μ(A_m ⋯ A_1) = z^m,   z the eigenvalues of the cyclic matrix  C x = (A_m x_m, A_1 x_1, …, A_{m−1} x_{m−1})
//! ```
//!
//! A product is never formed: multipliers of 10⁸ and 10⁻⁸ are as exact as their roots of order m, which lie closer together.

use carom_jet::dense::Matrix;

/// A complex number: real and imaginary part.
pub type Complex = [f64; 2];

/// |z|
pub fn modulus(z: Complex) -> f64 {
    z[0].hypot(z[1])
}

/// a b
pub fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Sweeps per eigenvalue before a shift of another kind is tried, and before giving up.
const EXCEPTIONAL: usize = 10;
const MOST: usize = 120;

/// The eigenvalues, largest first; of a pair the one with positive imaginary part first. `None` if an entry is not finite or
/// the iteration does not end.
///
/// ```
/// use carom_insight::eigen::eigenvalues;
/// use carom_jet::dense::Matrix;
/// let turn = Matrix { rows: 2, columns: 2, entries: vec![0.0, -2.0, 2.0, 0.0] };
/// assert_eq!(eigenvalues(&turn).unwrap(), [[0.0, 2.0], [0.0, -2.0]]);
/// ```
pub fn eigenvalues(matrix: &Matrix) -> Option<Vec<Complex>> {
    if matrix.entries.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut h = matrix.clone();
    balance(&mut h);
    hessenberg(&mut h);
    let mut found = Vec::with_capacity(h.rows);
    let mut end = h.rows;
    let mut sweeps = 0;
    while end > 0 {
        let first = start_of_block(&mut h, end);
        match end - first {
            1 => {
                found.push([h[(first, first)], 0.0]);
                (end, sweeps) = (first, 0);
            }
            2 => {
                found.extend(pair(
                    h[(first, first)],
                    h[(first, end - 1)],
                    h[(end - 1, first)],
                    h[(end - 1, end - 1)],
                ));
                (end, sweeps) = (first, 0);
            }
            _ => {
                sweeps += 1;
                if sweeps > MOST {
                    return None;
                }
                sweep(&mut h, first, end, sweeps % EXCEPTIONAL == 0);
            }
        }
    }
    found.sort_by(|a, b| {
        modulus(*b).total_cmp(&modulus(*a)).then(b[0].total_cmp(&a[0])).then(b[1].total_cmp(&a[1]))
    });
    Some(found)
}

/// The eigenvalues of A_m ⋯ A_1, given A_1 first, largest first.
///
/// ```
/// use carom_insight::eigen::eigenvalues_of_product;
/// use carom_jet::dense::Matrix;
/// let stretch = |a: f64, b: f64| Matrix { rows: 2, columns: 2, entries: vec![a, 0.0, 0.0, b] };
/// let found = eigenvalues_of_product(&[stretch(1e3, 1e-3), stretch(1e3, 1e-3)]).unwrap();
/// assert!((found[0][0] / 1e6 - 1.0).abs() < 1e-12 && (found[1][0] / 1e-6 - 1.0).abs() < 1e-8);
/// ```
pub fn eigenvalues_of_product(factors: &[Matrix]) -> Option<Vec<Complex>> {
    let (m, n) = (factors.len(), factors.first()?.rows);
    if m == 1 {
        return eigenvalues(&factors[0]);
    }
    let mut cyclic = Matrix::zeros(m * n, m * n);
    for (k, factor) in factors.iter().enumerate() {
        let to = (k + 1) % m;
        for i in 0..n {
            for j in 0..n {
                cyclic[(to * n + i, k * n + j)] = factor[(i, j)];
            }
        }
    }
    // Every μ appears m times, as its m-th roots; these are neighbours when sorted by modulus of their power.
    let roots = eigenvalues(&cyclic)?;
    let mut powers: Vec<Complex> =
        roots.iter().map(|&z| (1..m).fold(z, |power, _| times(power, z))).collect();
    powers.sort_by(|a, b| modulus(*b).total_cmp(&modulus(*a)));
    let mut found: Vec<Complex> = Vec::with_capacity(n);
    // Of equal moduli (pairs) the groups are told apart by the sign of the imaginary part.
    while !powers.is_empty() {
        let z = powers[0];
        let mut alike: Vec<usize> = (0..powers.len()).collect();
        let distance = |w: Complex| (w[0] - z[0]).hypot(w[1] - z[1]);
        alike.sort_by(|&a, &b| distance(powers[a]).total_cmp(&distance(powers[b])));
        alike.truncate(m);
        let mean = alike.iter().fold([0.0; 2], |s, &i| [s[0] + powers[i][0], s[1] + powers[i][1]]);
        let mean = [mean[0] / alike.len() as f64, mean[1] / alike.len() as f64];
        let real = mean[1].abs() <= 1e-9 * modulus(mean);
        found.push(if real { [mean[0], 0.0] } else { mean });
        alike.sort_unstable();
        alike.iter().rev().for_each(|&i| {
            powers.remove(i);
        });
    }
    found.truncate(n);
    found.sort_by(|a, b| {
        modulus(*b).total_cmp(&modulus(*a)).then(b[0].total_cmp(&a[0])).then(b[1].total_cmp(&a[1]))
    });
    Some(found)
}

/// Rows and columns of comparable size, by powers of two: no rounding.
fn balance(a: &mut Matrix) {
    let n = a.rows;
    for _ in 0..20 {
        let mut done = true;
        for i in 0..n {
            let (mut row, mut column) = (0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                row += a[(i, j)].abs();
                column += a[(j, i)].abs();
            }
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let scale = (row / column).log2().div_euclid(2.0).clamp(-500.0, 500.0).exp2();
            if scale != 1.0 && row / scale + column * scale < 0.95 * (row + column) {
                done = false;
                for j in 0..n {
                    a[(i, j)] /= scale;
                }
                for j in 0..n {
                    a[(j, i)] *= scale;
                }
            }
        }
        if done {
            break;
        }
    }
}

/// The reflection that maps x to a multiple of the first unit vector, as v with 1 − 2 v vᵀ/(v·v); nothing to do for zero.
fn reflector(x: &[f64]) -> Option<Vec<f64>> {
    let size = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if size == 0.0 {
        return None;
    }
    let mut v: Vec<f64> = x.iter().map(|a| a / size).collect();
    let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
    v[0] += norm.copysign(v[0]);
    Some(v)
}

/// Reflects rows (from column `from` on) and columns (up to row `to`) first .. first + v.len().
fn reflect(h: &mut Matrix, v: &[f64], first: usize, from: usize, until: usize, top: usize, to: usize) {
    let size = 2.0 / v.iter().map(|a| a * a).sum::<f64>();
    for j in from..until {
        let s = size * v.iter().enumerate().map(|(k, a)| a * h[(first + k, j)]).sum::<f64>();
        v.iter().enumerate().for_each(|(k, a)| h[(first + k, j)] -= s * a);
    }
    for i in top..to {
        let s = size * v.iter().enumerate().map(|(k, a)| a * h[(i, first + k)]).sum::<f64>();
        v.iter().enumerate().for_each(|(k, a)| h[(i, first + k)] -= s * a);
    }
}

fn hessenberg(h: &mut Matrix) {
    let n = h.rows;
    for k in 0..n.saturating_sub(2) {
        let x: Vec<f64> = (k + 1..n).map(|i| h[(i, k)]).collect();
        if x[1..].iter().all(|a| *a == 0.0) {
            continue;
        }
        if let Some(v) = reflector(&x) {
            reflect(h, &v, k + 1, k, n, 0, n);
        }
        (k + 2..n).for_each(|i| h[(i, k)] = 0.0);
    }
}

/// Where the last block that does not fall apart begins; what couples it is set to zero when it is rounding.
fn start_of_block(h: &mut Matrix, end: usize) -> usize {
    let mut first = end - 1;
    while first > 0 {
        let near = h[(first, first)].abs() + h[(first - 1, first - 1)].abs();
        let near = if near == 0.0 { h.entries.iter().fold(0.0_f64, |m, x| m.max(x.abs())) } else { near };
        if h[(first, first - 1)].abs() <= f64::EPSILON * near {
            h[(first, first - 1)] = 0.0;
            break;
        }
        first -= 1;
    }
    first
}

/// One implicit double-shift sweep over rows first .. end.
fn sweep(h: &mut Matrix, first: usize, end: usize, exceptional: bool) {
    let m = end - 1;
    let (mut s, mut t) =
        (h[(m - 1, m - 1)] + h[(m, m)], h[(m - 1, m - 1)] * h[(m, m)] - h[(m - 1, m)] * h[(m, m - 1)]);
    if exceptional {
        let size = h[(m, m - 1)].abs() + h[(m - 1, m - 2)].abs();
        (s, t) = (1.5 * size, size * size);
    }
    let l = first;
    let mut x = vec![
        h[(l, l)] * (h[(l, l)] - s) + h[(l, l + 1)] * h[(l + 1, l)] + t,
        h[(l + 1, l)] * (h[(l, l)] + h[(l + 1, l + 1)] - s),
        h[(l + 1, l)] * h[(l + 2, l + 1)],
    ];
    for k in l..m {
        if let Some(v) = reflector(&x) {
            reflect(h, &v, k, k.saturating_sub(1).max(l), end, l, (k + 4).min(end));
        }
        if k > l {
            (k + 1..(k + 3).min(end)).for_each(|i| h[(i, k - 1)] = 0.0);
        }
        x = (k + 1..(k + 4).min(end)).map(|i| h[(i, k)]).collect();
    }
}

/// The eigenvalues of [a b; c d].
fn pair(a: f64, b: f64, c: f64, d: f64) -> [Complex; 2] {
    let half = (a - d) / 2.0;
    let under = half * half + b * c;
    if under < 0.0 {
        let im = (-under).sqrt();
        return [[(a + d) / 2.0, im], [(a + d) / 2.0, -im]];
    }
    // The one of larger size first; the other from the product, without cancellation.
    let root = half + under.sqrt().copysign(half);
    let large = d + root;
    let small = if root == 0.0 { d } else { d - b * c / root };
    [[large, 0.0], [small, 0.0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_expr::Random;

    #[test]
    fn the_roots_of_a_polynomial_are_the_eigenvalues_of_its_companion_matrix() {
        // (x − 3)(x + 2)(x − 0.5)(x² − 2x + 5): real roots and the pair 1 ± 2i.
        let roots: [Complex; 5] = [[3.0, 0.0], [1.0, 2.0], [1.0, -2.0], [-2.0, 0.0], [0.5, 0.0]];
        let mut c: Vec<Complex> = vec![[1.0, 0.0]];
        for r in roots {
            c.push([0.0; 2]);
            for k in (1..c.len()).rev() {
                let shifted = times(r, c[k - 1]);
                c[k] = [c[k][0] - shifted[0], c[k][1] - shifted[1]];
            }
        }
        let mut companion = Matrix::zeros(5, 5);
        (0..5).for_each(|j| companion[(0, j)] = -c[j + 1][0]);
        (1..5).for_each(|i| companion[(i, i - 1)] = 1.0);
        for (found, root) in eigenvalues(&companion).unwrap().iter().zip(roots) {
            assert!(modulus([found[0] - root[0], found[1] - root[1]]) < 1e-13, "{found:?} {root:?}");
        }
    }

    #[test]
    fn trace_and_determinant_are_sum_and_product() {
        let mut random = Random(7);
        for n in 1..9 {
            for _ in 0..50 {
                let a =
                    Matrix { rows: n, columns: n, entries: (0..n * n).map(|_| random.symmetric()).collect() };
                let found = eigenvalues(&a).unwrap();
                let sum: f64 = found.iter().map(|z| z[0]).sum();
                let trace: f64 = (0..n).map(|i| a[(i, i)]).sum();
                assert!((sum - trace).abs() < 1e-13 * n as f64, "{n}: {sum} {trace}");
                // tr A² = Σ μ²
                let square: f64 = (0..n).map(|i| (0..n).map(|k| a[(i, k)] * a[(k, i)]).sum::<f64>()).sum();
                let squares: f64 = found.iter().map(|&z| times(z, z)[0]).sum();
                assert!((square - squares).abs() < 1e-12 * n as f64);
            }
        }
    }

    #[test]
    fn the_eigenvalues_of_a_product_are_those_of_the_matrix_multiplied_out() {
        let mut random = Random(3);
        for m in 2..5 {
            let factors: Vec<Matrix> = (0..m)
                .map(|_| Matrix {
                    rows: 3,
                    columns: 3,
                    entries: (0..9).map(|_| random.symmetric()).collect(),
                })
                .collect();
            let mut product = factors[0].clone();
            for factor in &factors[1..] {
                let mut next = Matrix::zeros(3, 3);
                for i in 0..3 {
                    for j in 0..3 {
                        next[(i, j)] = (0..3).map(|k| factor[(i, k)] * product[(k, j)]).sum();
                    }
                }
                product = next;
            }
            let (one, other) = (eigenvalues(&product).unwrap(), eigenvalues_of_product(&factors).unwrap());
            for (a, b) in one.iter().zip(&other) {
                assert!(modulus([a[0] - b[0], a[1] - b[1]]) < 1e-12, "{one:?} {other:?}");
            }
        }
    }
}
