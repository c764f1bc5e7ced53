//! Scaling of rows and columns by powers of two, so that pivots may be compared:  M̃_ij = r_i M_ij c_j.
//!
//! Promise: the scaled matrix does not depend on units. If rows and columns of M are multiplied by powers of two, r and c are
//! divided by them exactly, and every decision made on M̃ (pivots, rank) stays the same, bit for bit.
//!
//! A symmetric matrix with a diagonal (masses, [W Aᵀ; A 0], N S Nᵀ) has |M̃_ii| between 1 and 4; unknowns without diagonal entry
//! follow, their largest coupling to those that are scaled already becoming about 1. Any other matrix is scaled along a tree of
//! its entries first, which fixes all units; then the largest entries of rows and columns become about 1.

/// r and c; 1 where a row or column is zero.
pub fn balance(rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> (Vec<f64>, Vec<f64>) {
    let exponents: Vec<Option<i32>> =
        (0..rows * columns).map(|k| exponent(at(k / columns, k % columns))).collect();
    let e = |i: usize, j: usize| exponents[i * columns + j];
    let symmetric =
        rows == columns && (0..rows).all(|i| (0..i).all(|j| at(i, j).to_bits() == at(j, i).to_bits()));
    let along_diagonal = if symmetric { by_diagonal(rows, e) } else { None };
    let (r, c) = along_diagonal.unwrap_or_else(|| by_tree(rows, columns, e));
    (r.into_iter().map(power).collect(), c.into_iter().map(power).collect())
}

/// ⌊log₂ |x|⌋ of what is neither zero nor infinite.
fn exponent(x: f64) -> Option<i32> {
    (x.abs() >= f64::MIN_POSITIVE && x.is_finite()).then(|| (x.to_bits() >> 52 & 0x7ff) as i32 - 1023)
}

fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// Exponents of rows and columns from the diagonal (its first entry gives the unit of them all), then from what is scaled
/// already; `None` when something is not reached.
fn by_diagonal(n: usize, e: impl Fn(usize, usize) -> Option<i32>) -> Option<(Vec<i32>, Vec<i32>)> {
    let unit = (0..n).find_map(|i| e(i, i))?;
    let half = |i: usize| Some(-((e(i, i)? - unit).div_euclid(2)));
    let mut known: Vec<Option<[i32; 2]>> = (0..n).map(|i| half(i).map(|c| [c - unit, c])).collect();
    loop {
        let largest = |i: usize, side: usize| (0..n).filter_map(|j| Some(e(i, j)? + known[j]?[side])).max();
        let found: Vec<(usize, [i32; 2])> = (0..n)
            .filter(|&i| known[i].is_none())
            .filter_map(|i| Some((i, [-largest(i, 1)?, -largest(i, 0)?])))
            .collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|(i, x)| known[i] = Some(x));
    }
    let empty = |i: usize| (0..n).all(|j| e(i, j).is_none());
    let all: Option<Vec<[i32; 2]>> =
        (0..n).map(|i| known[i].or_else(|| empty(i).then_some([0, 0]))).collect();
    Some(all?.into_iter().map(|[r, c]| (r, c)).unzip())
}

/// Exponents along a tree of entries, then by the largest of rows and columns.
fn by_tree(rows: usize, columns: usize, e: impl Fn(usize, usize) -> Option<i32>) -> (Vec<i32>, Vec<i32>) {
    let (mut r, mut c): (Vec<Option<i32>>, Vec<Option<i32>>) = (vec![None; rows], vec![None; columns]);
    for root in 0..rows {
        if r[root].is_some() {
            continue;
        }
        r[root] = Some(0);
        let mut queue = std::collections::VecDeque::from([(true, root)]);
        while let Some((is_row, k)) = queue.pop_front() {
            let own = if is_row { r[k] } else { c[k] }.unwrap_or(0);
            let others = if is_row { columns } else { rows };
            for l in 0..others {
                let (entry, other) = if is_row { (e(k, l), &mut c[l]) } else { (e(l, k), &mut r[l]) };
                if let (Some(entry), None) = (entry, *other) {
                    *other = Some(-(entry + own));
                    queue.push_back((!is_row, l));
                }
            }
        }
    }
    let mut r: Vec<i32> = r.into_iter().map(|x| x.unwrap_or(0)).collect();
    let mut c: Vec<i32> = c.into_iter().map(|x| x.unwrap_or(0)).collect();
    for _ in 0..2 {
        for (i, own) in r.iter_mut().enumerate() {
            *own -= c.iter().enumerate().filter_map(|(j, c)| Some(e(i, j)? + *own + c)).max().unwrap_or(0);
        }
        for (j, own) in c.iter_mut().enumerate() {
            *own -= r.iter().enumerate().filter_map(|(i, r)| Some(e(i, j)? + r + *own)).max().unwrap_or(0);
        }
    }
    (r, c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn powers_of_two_of_rows_and_columns_leave_the_scaled_matrix_alone(
            entries in prop::collection::vec(prop_oneof![Just(0.0), -2.0f64..2.0, -1e-9f64..1e9], 20),
            powers in prop::collection::vec(-60i32..60, 9), square in any::<bool>(),
        ) {
            let (m, n) = if square { (4, 4) } else { (4, 5) };
            // Symmetric, units of rows and columns alike; or any.
            let matrix = |i: usize, j: usize| if square { entries[4 * i.max(j) + i.min(j)] } else { entries[5 * i + j] };
            let unit = |i: usize, j: usize| power(powers[i] + if square { powers[j] + powers[8] } else { powers[4 + j] });
            let (r, c) = balance(m, n, matrix);
            let (s, d) = balance(m, n, |i, j| matrix(i, j) * unit(i, j));
            for i in 0..m {
                for j in 0..n {
                    prop_assert_eq!(r[i] * matrix(i, j) * c[j], s[i] * (matrix(i, j) * unit(i, j)) * d[j]);
                }
            }
        }
    }

    #[test]
    fn masses_and_rows_of_any_size_become_comparable() {
        // [W Aᵀ; A 0] with W = 1e-30 (1, 4) and A = 1e12 (3, 1).
        let m = [[1e-30, 0.0, 3e12], [0.0, 4e-30, 1e12], [3e12, 1e12, 0.0]];
        let (r, c) = balance(3, 3, |i, j| m[i][j]);
        for i in 0..3 {
            let largest = (0..3).map(|j| (r[i] * m[i][j] * c[j]).abs()).fold(0.0, f64::max);
            assert!((0.5..4.0).contains(&largest), "{largest}");
        }
    }
}
