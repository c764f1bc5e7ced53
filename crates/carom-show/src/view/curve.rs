//! Curves f(x, y) = 0 in the plane, by marching squares: on a grid, each cell whose corners differ in sign is crossed by a
//! piece from edge to edge. Pieces are joined; f > 0 lies to the left of the direction of travel.

use std::collections::BTreeMap;

/// The curves f = 0 within [left, right, bottom, top], on a grid of `columns` × `rows` cells.
pub fn zero_set(
    mut f: impl FnMut(f64, f64) -> f64,
    [left, right, bottom, top]: [f64; 4],
    columns: usize,
    rows: usize,
) -> Vec<Vec<(f64, f64)>> {
    let x = |i: usize| left + (right - left) * i as f64 / columns as f64;
    let y = |j: usize| bottom + (top - bottom) * j as f64 / rows as f64;
    let values: Vec<Vec<f64>> = (0..=rows).map(|j| (0..=columns).map(|i| f(x(i), y(j))).collect()).collect();
    // An edge is named by its lower left node and whether it goes up.
    let mut crossing = |i: usize, j: usize, up: bool| -> (f64, f64) {
        let (mut a, mut b) = ((x(i), y(j)), if up { (x(i), y(j + 1)) } else { (x(i + 1), y(j)) });
        let fa = values[j][i];
        // Bisection: the curve is exact where it crosses the grid, whatever f is like between.
        for _ in 0..24 {
            let middle = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
            if (f(middle.0, middle.1) > 0.0) == (fa > 0.0) { a = middle } else { b = middle }
        }
        (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1))
    };
    type CellEdge = (usize, usize, bool);
    let mut next: BTreeMap<CellEdge, CellEdge> = BTreeMap::new();
    for j in 0..rows {
        for i in 0..columns {
            let corners = [values[j][i], values[j][i + 1], values[j + 1][i + 1], values[j + 1][i]];
            if corners.iter().any(|v| !v.is_finite()) {
                continue;
            }
            let edges: [CellEdge; 4] = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
            // Going round anticlockwise, enter where the sign turns from − to +, leave where it turns back: then + is left.
            let sign = |k: usize| corners[k % 4] > 0.0;
            let enter: Vec<usize> = (0..4).filter(|&k| sign(k) && !sign(k + 1)).collect();
            let leave: Vec<usize> = (0..4).filter(|&k| !sign(k) && sign(k + 1)).collect();
            for (&a, &b) in enter.iter().zip(&leave) {
                next.insert(edges[a], edges[b]);
            }
        }
    }
    let mut curves = Vec::new();
    let ends: std::collections::BTreeSet<CellEdge> = next.values().copied().collect();
    let mut starts: Vec<CellEdge> = next.keys().filter(|e| !ends.contains(e)).copied().collect();
    // Open curves first, then closed ones.
    while let Some(start) = starts.pop().or_else(|| next.keys().next().copied()) {
        let mut curve = vec![crossing(start.0, start.1, start.2)];
        let mut edge = start;
        while let Some(following) = next.remove(&edge) {
            curve.push(crossing(following.0, following.1, following.2));
            edge = following;
        }
        if curve.len() > 1 {
            curves.push(curve);
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_one_closed_curve_with_its_inside_to_the_left() {
        let curves = zero_set(|x, y| 1.0 - x * x - y * y, [-1.3, 1.2, -1.25, 1.35], 40, 40);
        assert_eq!(curves.len(), 1);
        let c = &curves[0];
        assert_eq!(c.first(), c.last());
        assert!(c.iter().all(|p| (p.0.hypot(p.1) - 1.0).abs() < 1e-6));
        let area: f64 = c.windows(2).map(|w| 0.5 * (w[0].0 * w[1].1 - w[1].0 * w[0].1)).sum();
        assert!((area - std::f64::consts::PI).abs() < 0.02, "{area}");
    }

    #[test]
    fn a_line_is_one_open_curve() {
        let curves = zero_set(|x, _| x - 0.1, [-1.0, 1.0, -1.0, 1.0], 30, 20);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].len(), 21);
    }
}
