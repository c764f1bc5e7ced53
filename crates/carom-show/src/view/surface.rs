//! Surfaces F(x, y, z) = 0 in space, drawn by their sections with planes across the axes.
//!
//! A surface is a wall or a holonomic row: by the wall's `draw` formula of x, y and z, or by a formula of three coordinates that
//! are the components of a drawn point (a bead in a bowl). What moves is drawn as it is at the start. A bowl ends at its last
//! level that is a closed curve.

use super::Scene;
use super::curve::zero_set;
use crate::formula::{Formulas, SymbolMeaning, curves, meaning};
use crate::track::Track;
use carom_expr::{Expr, Symbol};
use carom_mech::RowKind;

/// Planes across each axis, level ones most, and cells of the grid in each.
const SECTIONS: [usize; 3] = [3, 3, 7];
const GRID: usize = 48;

/// A curve in space.
pub type SpaceCurve = Vec<[f64; 3]>;

/// The sections of all surfaces within the bounds of a scene in space.
pub fn surfaces(track: &Track<'_>, scene: &Scene, bounds: &[(f64, f64)]) -> Vec<SpaceCurve> {
    if scene.dimension != 3 || bounds.len() != 3 {
        return vec![];
    }
    let model = &track.mechanics.model;
    let symbol = |name: &str| model.dag.find_symbol(name).and_then(|e| model.dag.as_symbol(e));
    let drawn = [symbol("x"), symbol("y"), symbol("z")];
    let mut found = Vec::new();
    for wall in &model.walls {
        match wall.draw {
            Some(draw) => found.extend(sections(track, draw, drawn, bounds)),
            None => found.extend(of_point(track, scene, wall.gap, bounds).unwrap_or_default()),
        }
    }
    for row in model.rows.iter().filter(|r| r.kind == RowKind::Holonomic) {
        found.extend(of_point(track, scene, row.expr, bounds).unwrap_or_default());
    }
    found
}

/// The surface of a formula of nothing but the coordinates that are a point.
fn of_point(
    track: &Track<'_>,
    scene: &Scene,
    formula: Expr,
    bounds: &[(f64, f64)],
) -> Option<Vec<SpaceCurve>> {
    let model = &track.mechanics.model;
    let dag = &model.dag;
    scene.points.iter().find_map(|point| {
        let symbols: Vec<Symbol> = point.at.iter().filter_map(|&e| dag.as_symbol(e)).collect();
        let [x, y, z] = symbols[..] else { return None };
        let places = symbols.iter().all(|s| matches!(meaning(model, *s), SymbolMeaning::Position(_)));
        let known = |s: &Symbol| {
            symbols.contains(s) || matches!(meaning(model, *s), SymbolMeaning::Known(_) | SymbolMeaning::Time)
        };
        let fits = places && dag.symbols_in(&[formula]).iter().all(known);
        fits.then(|| sections(track, formula, [Some(x), Some(y), Some(z)], bounds))
    })
}

fn sections(
    track: &Track<'_>,
    formula: Expr,
    of: [Option<Symbol>; 3],
    bounds: &[(f64, f64)],
) -> Vec<SpaceCurve> {
    let model = &track.mechanics.model;
    let mut formulas = Formulas::new(model, &[formula]);
    let inputs = curves(model);
    let start = track.knots.first().map_or(0.0, |&k| track.time(k));
    let symbols = formulas.symbols.clone();
    let meanings = formulas.meanings.clone();
    let mut value = |p: [f64; 3]| {
        let slot = |(s, m): (&Symbol, &SymbolMeaning)| match *m {
            _ if of.contains(&Some(*s)) => p[of.iter().position(|o| *o == Some(*s)).unwrap_or(0)],
            SymbolMeaning::Known(v) => v,
            SymbolMeaning::Time => start,
            SymbolMeaning::Input(i, order) => inputs[i].value(order, start),
            _ => f64::NAN,
        };
        let slots: Vec<f64> = symbols.iter().zip(&meanings).map(slot).collect();
        formulas.evaluate(&slots)[0]
    };
    let mut heights = (f64::NEG_INFINITY, f64::INFINITY);
    let mut found = Vec::new();
    for axis in [2, 0, 1] {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let area = [bounds[a].0, bounds[a].1, bounds[b].0, bounds[b].1];
        for k in 0..SECTIONS[axis] {
            let part = (k as f64 + 0.5) / SECTIONS[axis] as f64;
            let c = bounds[axis].0 + part * (bounds[axis].1 - bounds[axis].0);
            let place = |u: f64, v: f64| {
                let mut p = [0.0; 3];
                (p[axis], p[a], p[b]) = (c, u, v);
                p
            };
            let section = zero_set(|u, v| value(place(u, v)), area, GRID, GRID);
            found.extend(
                section
                    .into_iter()
                    .map(|curve| curve.into_iter().map(|(u, v)| place(u, v)).collect::<SpaceCurve>()),
            );
        }
        if axis == 2 {
            heights = whole_levels(&found);
        }
    }
    found.into_iter().flat_map(|curve| within(curve, heights, &mut value)).collect()
}

/// Where a bowl ends: beyond the levels that are closed curves, those cut by the sides of the box are corners that nobody
/// takes for the same surface. A surface whose levels are all closed (a ball), or all cut (a plane), has no such end.
fn whole_levels(levels: &[SpaceCurve]) -> (f64, f64) {
    let height = |level: &&SpaceCurve| level[0][2];
    let (closed, open): (Vec<&SpaceCurve>, Vec<&SpaceCurve>) =
        levels.iter().filter(|l| !l.is_empty()).partition(|l| l.first() == l.last());
    let is_cut = |z: f64| open.iter().any(|l| height(l) == z);
    let whole = || closed.iter().map(height).filter(|z| !is_cut(*z));
    let (least, greatest) =
        (whole().fold(f64::INFINITY, f64::min), whole().fold(f64::NEG_INFINITY, f64::max));
    if least > greatest {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let (below, above) = (open.iter().any(|l| height(l) < least), open.iter().any(|l| height(l) > greatest));
    (if below { least } else { f64::NEG_INFINITY }, if above { greatest } else { f64::INFINITY })
}

/// The parts between two heights of a curve on which `value` vanishes.
fn within(
    curve: SpaceCurve,
    (low, high): (f64, f64),
    value: &mut impl FnMut([f64; 3]) -> f64,
) -> Vec<SpaceCurve> {
    let inside = |p: &[f64; 3]| (low..=high).contains(&p[2]);
    if curve.iter().all(inside) {
        return vec![curve];
    }
    // Where an edge of the curve leaves the range, it ends at the height itself, and on the surface: an edge is a chord.
    let mut cut = |p: [f64; 3], q: [f64; 3]| {
        let z = if p[2].max(q[2]) > high { high } else { low };
        let at = |part: f64| [p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1]), z];
        let mut part = (z - p[2]) / (q[2] - p[2]);
        let (mut a, mut b) = ((0.0, value(at(0.0))), (1.0, value(at(1.0))));
        if a.1 * b.1 < 0.0 {
            for _ in 0..40 {
                let here = value(at(part));
                if here == 0.0 {
                    break;
                }
                if here * a.1 > 0.0 {
                    a = (part, here)
                } else {
                    b = (part, here)
                }
                part = 0.5 * (a.0 + b.0);
            }
        }
        at(part)
    };
    let (mut parts, mut part) = (Vec::new(), SpaceCurve::new());
    for (i, p) in curve.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| curve[i]);
        match (inside(p), before) {
            (true, Some(before)) if !inside(&before) => part.extend([cut(before, *p), *p]),
            (true, _) => part.push(*p),
            (false, Some(before)) if inside(&before) => {
                part.push(cut(before, *p));
                parts.push(std::mem::take(&mut part));
            }
            _ => {}
        }
    }
    parts.push(part);
    parts.retain(|part| part.len() > 1);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(radius: f64, z: f64) -> SpaceCurve {
        let corner = |(x, y): (f64, f64)| [radius * x, radius * y, z];
        [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)].map(corner).to_vec()
    }

    #[test]
    fn a_bowl_ends_at_its_last_whole_level_and_a_ball_nowhere() {
        let corner = |z: f64| vec![[1.0, 0.5, z], [0.5, 1.0, z]];
        let bowl = [circle(0.5, 0.1), circle(0.8, 0.3), corner(0.5), corner(0.7)];
        assert_eq!(whole_levels(&bowl), (f64::NEG_INFINITY, 0.3));
        let ball = [circle(0.5, -0.5), circle(1.0, 0.0), circle(0.5, 0.5)];
        assert_eq!(whole_levels(&ball), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(whole_levels(&[corner(0.1), corner(0.2)]), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_curve_is_cut_at_the_height_itself() {
        let valley = vec![[0.0, 0.0, 2.0], [1.0, 0.0, 0.0], [2.0, 0.0, 2.0]];
        let mut value = |p: [f64; 3]| p[2] - 2.0 * (p[0] - 1.0).abs();
        assert_eq!(
            within(valley, (f64::NEG_INFINITY, 1.0), &mut value),
            [[[0.5, 0.0, 1.0], [1.0, 0.0, 0.0], [1.5, 0.0, 1.0]]]
        );
    }

    #[test]
    fn the_end_of_a_curve_lies_on_the_surface_and_not_on_the_chord() {
        // z = x², by chords from one whole x to the next: the chord is at height 2 where x = 4/3.
        let parabola: SpaceCurve = (0..4).map(|i| [f64::from(i), 0.0, f64::from(i * i)]).collect();
        let parts = within(parabola, (f64::NEG_INFINITY, 2.0), &mut |p| p[2] - p[0] * p[0]);
        let end = parts[0].last().unwrap();
        assert!(parts.len() == 1 && (end[0] - 2f64.sqrt()).abs() < 1e-11 && end[2] == 2.0, "{parts:?}");
    }
}
