//! Null spaces of small dense matrices, and bases one can read.
//!
//! Rows are divided by their largest entry, columns by theirs, so that no unit decides about a rank; elimination uses
//! complete pivoting. What is below [`NOTHING`] of the first pivot is zero: with exact data it is rounding. An entry is only ever
//! compared with what it was made of, and never with entries of other columns, whose unit may be another.

/// A pivot below this is none.
const NOTHING: f64 = 1e-9;
/// An entry of a basis vector below this part of what it was made of is zero.
const NEGLIGIBLE: f64 = 1e-8;

/// A basis of { x : M x = 0 }.
pub(super) fn null_space(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    let mut m: Vec<Vec<f64>> = carom_jet::dense::scaled_rows(rows);
    let scale: Vec<f64> = (0..columns)
        .map(|j| {
            let size = m.iter().fold(0.0f64, |s, row| s.max(row[j].abs()));
            if size > 0.0 { size } else { 1.0 }
        })
        .collect();
    m.iter_mut().for_each(|row| row.iter_mut().zip(&scale).for_each(|(x, s)| *x /= s));
    let mut pivots: Vec<usize> = Vec::new();
    let mut first = 0.0;
    while pivots.len() < m.len() {
        let k = pivots.len();
        let mut best = (0.0, k, 0);
        for (i, row) in m.iter().enumerate().skip(k) {
            for (j, x) in row.iter().enumerate() {
                if x.abs() > best.0 {
                    best = (x.abs(), i, j);
                }
            }
        }
        if k == 0 {
            first = best.0;
        }
        if best.0 <= NOTHING * first || best.0 == 0.0 {
            break;
        }
        m.swap(k, best.1);
        let column = best.2;
        pivots.push(column);
        let pivot = m[k].clone();
        for (i, row) in m.iter_mut().enumerate() {
            if i != k && row[column] != 0.0 {
                let factor = row[column] / pivot[column];
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
                row[column] = 0.0;
            }
        }
    }
    let free = (0..columns).filter(|j| !pivots.contains(j));
    free.map(|f| {
        let mut x = vec![0.0; columns];
        x[f] = 1.0;
        for (k, &column) in pivots.iter().enumerate() {
            x[column] = -m[k][f] / m[k][column];
        }
        // Here all columns have size 1: what is small is rounding.
        let size = x.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        x.iter_mut().filter(|x| x.abs() <= NEGLIGIBLE * size).for_each(|x| *x = 0.0);
        x.iter_mut().zip(&scale).for_each(|(x, s)| *x /= s);
        x
    })
    .collect()
}

/// The part of the span of `basis` on which all of `rows` vanish.
pub(super) fn restrict(basis: &[Vec<f64>], rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let k = basis.len();
    let products: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            basis
                .iter()
                .map(|b| {
                    let (mut sum, mut size) = (0.0, 0.0);
                    for (x, y) in row.iter().zip(b) {
                        sum += x * y;
                        size += (x * y).abs();
                    }
                    if f64::abs(sum) <= NOTHING * size { 0.0 } else { sum }
                })
                .collect::<Vec<f64>>()
        })
        .filter(|row: &Vec<f64>| row.iter().any(|x| *x != 0.0))
        .collect();
    let combined = null_space(&products, k).into_iter().map(|c| {
        let entry = |j: usize| {
            let (sum, size) = c.iter().zip(basis).fold((0.0, 0.0), |(sum, size): (f64, f64), (c, b)| {
                (sum + c * b[j], size + (c * b[j]).abs())
            });
            if sum.abs() <= NEGLIGIBLE * size { 0.0 } else { sum }
        };
        (0..basis.first().map_or(0, Vec::len)).map(entry).collect()
    });
    reduced(combined.collect())
}

/// The reduced echelon form: pivots 1, in the order of the columns.
pub(super) fn reduced(mut basis: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let columns = basis.first().map_or(0, Vec::len);
    for x in &mut basis {
        let size = x.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        if size > 0.0 {
            x.iter_mut().for_each(|x| *x /= size);
        }
    }
    // Per entry, the size of all terms it was made of: what is left when they cancel is rounding, and must not be taken for a
    // vector of its own.
    let mut made_of: Vec<Vec<f64>> = basis.iter().map(|x| x.iter().map(|x| x.abs()).collect()).collect();
    let mut done = 0;
    for column in 0..columns {
        let Some(best) =
            (done..basis.len()).max_by(|&i, &j| basis[i][column].abs().total_cmp(&basis[j][column].abs()))
        else {
            break;
        };
        if basis[best][column] == 0.0 {
            continue;
        }
        basis.swap(done, best);
        made_of.swap(done, best);
        let (pivot, pivot_size) = (basis[done].clone(), made_of[done].clone());
        for (i, (x, size)) in basis.iter_mut().zip(&mut made_of).enumerate() {
            if i != done && x[column] != 0.0 {
                let factor = x[column] / pivot[column];
                for ((x, size), (p, s)) in x.iter_mut().zip(size).zip(pivot.iter().zip(&pivot_size)) {
                    *x -= factor * p;
                    *size += factor.abs() * s;
                    if x.abs() <= NEGLIGIBLE * *size {
                        *x = 0.0;
                    }
                }
                x[column] = 0.0;
            }
        }
        done += 1;
    }
    basis.truncate(done);
    for x in &mut basis {
        if let Some(pivot) = x.iter().copied().find(|x| *x != 0.0) {
            x.iter_mut().for_each(|x| *x /= pivot);
        }
    }
    basis
}

/// `basis`, then what of `more` is not in its span.
pub(super) fn completed(basis: &[Vec<f64>], more: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut all = basis.to_vec();
    for vector in more {
        let mut longer = all.clone();
        longer.push(vector.clone());
        if reduced(longer).len() > all.len() {
            all.push(vector.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_vectors_do_not_depend_on_the_units_of_rows_and_columns() {
        // x + y = 0 and z = 0, in units that differ by 1e12.
        for unit in [1e-12, 1.0, 1e12] {
            let rows = vec![vec![unit, 1.0, 0.0], vec![0.0, 0.0, 3.0 * unit], vec![2.0 * unit, 2.0, 1.0]];
            let found = reduced(null_space(&rows, 3));
            assert_eq!(found.len(), 1, "{unit}");
            let x = &found[0];
            assert!((x[0] * unit + x[1]).abs() < 1e-12 * x[1].abs() && x[2] == 0.0, "{x:?}");
        }
    }

    #[test]
    fn restriction_and_completion_are_inverse() {
        let all = vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
        let plane = restrict(&all, &[vec![1.0, 1.0, 0.0]]);
        assert_eq!(plane, [vec![1.0, -1.0, 0.0], vec![0.0, 0.0, 1.0]]);
        assert_eq!(completed(&plane, &all).len(), 3);
    }
}
