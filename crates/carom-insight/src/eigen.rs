//! Eigenvalues of small real matrices, and of products of them.
//!
//! ```text
//! A = Q H Qᵀ (Hessenberg),   H → Qᵀ H Q with the double shift of the trailing 2 × 2 block, until blocks of size 1 and 2 are left
//! A_k Q_k = Q_{k+1} R_k round and round:   Q_1ᵀ A_m ⋯ A_1 Q_1 → S R_m ⋯ R_1,  S diagonal but for blocks of equal growth
//! ```
//!
//! A product is never formed: the directions are carried round the factors until those that grow differently have come apart (the
//! periodic Schur form), and multipliers of 10¹⁶ and 10⁻¹⁶ are products of as many well-known numbers.

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

/// Rounds of orthogonal iteration, and what is left of a coupling when it is taken for none.
const ROUNDS: usize = 160;
const DECOUPLED: f64 = 1e-14;

/// The eigenvalues of A_m ⋯ A_1, given A_1 first, largest first.
///
/// ```
/// use carom_insight::eigen::eigenvalues_of_product;
/// use carom_jet::dense::Matrix;
/// let stretch = |a: f64, b: f64| Matrix { rows: 2, columns: 2, entries: vec![a, 0.0, 0.0, b] };
/// let found = eigenvalues_of_product(&[stretch(1e3, 1e-3), stretch(1e3, 1e-3)]).unwrap();
/// assert!((found[0][0] / 1e6 - 1.0).abs() < 1e-12 && (found[1][0] / 1e-6 - 1.0).abs() < 1e-12);
/// ```
pub fn eigenvalues_of_product(factors: &[Matrix]) -> Option<Vec<Complex>> {
    let n = factors.first()?.rows;
    if factors.len() == 1 {
        return eigenvalues(&factors[0]);
    }
    if factors.iter().flat_map(|f| &f.entries).any(|x| !x.is_finite()) {
        return None;
    }
    let mut q = identity(n);
    let mut triangles: Vec<Matrix> = Vec::new();
    let mut turned = identity(n);
    for _ in 0..ROUNDS {
        let before = q.clone();
        triangles.clear();
        for factor in factors {
            let (next, triangle) = factored(&product(factor, &q));
            q = next;
            triangles.push(triangle);
        }
        // Q_oldᵀ Q_new: what is left below its diagonal couples directions that grow alike.
        turned = product(&transposed(&before), &q);
        if (1..n).all(|i| (0..i).all(|j| turned[(i, j)].abs() < DECOUPLED)) {
            break;
        }
    }
    let mut found = Vec::with_capacity(n);
    let mut first = 0;
    for end in 1..=n {
        let coupled = (end..n).any(|i| (0..end).any(|j| turned[(i, j)].abs() > DECOUPLED));
        if end < n && coupled {
            continue;
        }
        found.extend(block_of_product(&triangles, &turned, first, end)?);
        first = end;
    }
    found.sort_by(|a, b| {
        modulus(*b).total_cmp(&modulus(*a)).then(b[0].total_cmp(&a[0])).then(b[1].total_cmp(&a[1]))
    });
    Some(found)
}

/// The eigenvalues of one diagonal block of S R_m ⋯ R_1: of sizes that are alike, so nothing is lost by multiplying it out, in a
/// power of two that keeps it from overflowing.
fn block_of_product(triangles: &[Matrix], turned: &Matrix, first: usize, end: usize) -> Option<Vec<Complex>> {
    let size = end - first;
    let part = |m: &Matrix| {
        let mut block = Matrix::zeros(size, size);
        (0..size).for_each(|i| (0..size).for_each(|j| block[(i, j)] = m[(first + i, first + j)]));
        block
    };
    let mut all = identity(size);
    let mut exponent = 0;
    for triangle in triangles.iter().map(part).chain([part(turned)]) {
        all = product(&triangle, &all);
        let largest = all.entries.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if largest > 0.0 {
            let power = largest.log2().floor() as i32;
            all.entries.iter_mut().for_each(|x| *x *= (-power as f64).exp2());
            exponent += power;
        }
    }
    let found = if size == 1 { vec![[all[(0, 0)], 0.0]] } else { eigenvalues(&all)? };
    // In two halves, so that a large power times a small number does not overflow on the way.
    let (half, rest) = (f64::from(exponent / 2).exp2(), f64::from(exponent - exponent / 2).exp2());
    Some(found.into_iter().map(|z| [z[0] * half * rest, z[1] * half * rest]).collect())
}

fn identity(n: usize) -> Matrix {
    let mut one = Matrix::zeros(n, n);
    (0..n).for_each(|i| one[(i, i)] = 1.0);
    one
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = Matrix::zeros(a.rows, b.columns);
    for i in 0..a.rows {
        for k in 0..a.columns {
            (0..b.columns).for_each(|j| c[(i, j)] += a[(i, k)] * b[(k, j)]);
        }
    }
    c
}

fn transposed(a: &Matrix) -> Matrix {
    let mut t = Matrix::zeros(a.columns, a.rows);
    (0..a.rows).for_each(|i| (0..a.columns).for_each(|j| t[(j, i)] = a[(i, j)]));
    t
}

/// Q and R of a square matrix, by reflections; R with a diagonal that is not negative.
fn factored(a: &Matrix) -> (Matrix, Matrix) {
    let n = a.rows;
    let (mut r, mut q) = (a.clone(), identity(n));
    for k in 0..n.saturating_sub(1) {
        let x: Vec<f64> = (k..n).map(|i| r[(i, k)]).collect();
        let Some(v) = reflector(&x) else { continue };
        let size = 2.0 / v.iter().map(|a| a * a).sum::<f64>();
        for j in 0..n {
            let s = size * v.iter().enumerate().map(|(i, a)| a * r[(k + i, j)]).sum::<f64>();
            v.iter().enumerate().for_each(|(i, a)| r[(k + i, j)] -= s * a);
            let s = size * v.iter().enumerate().map(|(i, a)| a * q[(j, k + i)]).sum::<f64>();
            v.iter().enumerate().for_each(|(i, a)| q[(j, k + i)] -= s * a);
        }
        (k + 1..n).for_each(|i| r[(i, k)] = 0.0);
    }
    for k in (0..n).filter(|&k| r[(k, k)] < 0.0).collect::<Vec<usize>>() {
        (0..n).for_each(|j| r[(k, j)] = -r[(k, j)]);
        (0..n).for_each(|i| q[(i, k)] = -q[(i, k)]);
    }
    (q, r)
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

    #[test]
    fn far_apart_multipliers_keep_their_digits() {
        // A_k = X_{k+1} D_k X_k⁻¹ with X_{m+1} = X_1: multipliers Π D, from 10¹⁸ to 10⁻¹⁸, a rotation of size 1 among them.
        let mut random = Random(5);
        let m = 6;
        let mut bases: Vec<Matrix> = (0..m)
            .map(|_| {
                let entries =
                    (0..16).map(|k| random.symmetric() + if k % 5 == 0 { 2.0 } else { 0.0 }).collect();
                Matrix { rows: 4, columns: 4, entries }
            })
            .collect();
        bases.push(bases[0].clone());
        let (s, c) = 0.3_f64.sin_cos();
        let middle = Matrix {
            rows: 4,
            columns: 4,
            entries: vec![1e3, 0., 0., 0., 0., c, -s, 0., 0., s, c, 0., 0., 0., 0., 1e-3],
        };
        let inverse = |a: &Matrix| {
            let factored = carom_jet::dense::Factored::new(a);
            let mut inverse = Matrix::zeros(4, 4);
            for j in 0..4 {
                let unit: Vec<f64> = (0..4).map(|i| f64::from(u8::from(i == j))).collect();
                factored.solve(&unit).iter().enumerate().for_each(|(i, x)| inverse[(i, j)] = *x);
            }
            inverse
        };
        let factors: Vec<Matrix> =
            (0..m).map(|k| product(&product(&bases[k + 1], &middle), &inverse(&bases[k]))).collect();
        let found = eigenvalues_of_product(&factors).unwrap();
        assert!((found[0][0] / 1e18 - 1.0).abs() < 1e-12 && found[0][1] == 0.0, "{found:?}");
        let angle = 0.3 * m as f64;
        assert!((found[1][0] - angle.cos()).abs() < 1e-9 && (found[1][1] - angle.sin()).abs() < 1e-9);
        // Each factor of 10⁻³ stands beside entries of 10³: six digits are lost, ten are left.
        assert!((found[3][0] / 1e-18 - 1.0).abs() < 1e-8 && found[3][1] == 0.0, "{found:?}");
    }

    #[test]
    fn a_product_that_forgets_has_the_multiplier_zero() {
        let forget = Matrix { rows: 2, columns: 2, entries: vec![1.0, 2.0, 2.0, 4.0] };
        let turn = Matrix { rows: 2, columns: 2, entries: vec![0.0, -1.0, 1.0, 0.5] };
        let found = eigenvalues_of_product(&[forget, turn]).unwrap();
        // tr [[0, −1], [1, ½]] [[1, 2], [2, 4]] = −2 + 4
        assert!((found[0][0] - 2.0).abs() < 1e-14 && found[1][0].abs() < 1e-14, "{found:?}");
    }
}
