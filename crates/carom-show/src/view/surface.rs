//! Surfaces F(x, y, z) = 0 in space, drawn by their sections with planes across the axes.
//!
//! A surface is a wall or a holonomic row: by the wall's `draw` formula of x, y and z, or by a formula of three coordinates that
//! are the components of a drawn point (a bead in a bowl). What moves is drawn as it is at the start.

use super::Scene;
use super::curve::zero_set;
use crate::formula::{Formulas, Meaning, curves, meaning};
use crate::track::Track;
use carom_expr::{Expr, Symbol};
use carom_mech::RowKind;

/// Planes across each axis, level ones most, and cells of the grid in each.
const SECTIONS: [usize; 3] = [3, 3, 7];
const GRID: usize = 48;

/// A curve in space.
pub type Curve = Vec<[f64; 3]>;

/// The sections of all surfaces within the bounds of a scene in space.
pub fn surfaces(track: &Track<'_>, scene: &Scene, bounds: &[(f64, f64)]) -> Vec<Curve> {
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
fn of_point(track: &Track<'_>, scene: &Scene, formula: Expr, bounds: &[(f64, f64)]) -> Option<Vec<Curve>> {
    let model = &track.mechanics.model;
    let dag = &model.dag;
    scene.points.iter().find_map(|point| {
        let symbols: Vec<Symbol> = point.at.iter().filter_map(|&e| dag.as_symbol(e)).collect();
        let [x, y, z] = symbols[..] else { return None };
        let places = symbols.iter().all(|s| matches!(meaning(model, *s), Meaning::Position(_)));
        let known = |s: &Symbol| {
            symbols.contains(s) || matches!(meaning(model, *s), Meaning::Known(_) | Meaning::Time)
        };
        let fits = places && dag.symbols_in(&[formula]).iter().all(known);
        fits.then(|| sections(track, formula, [Some(x), Some(y), Some(z)], bounds))
    })
}

fn sections(track: &Track<'_>, formula: Expr, of: [Option<Symbol>; 3], bounds: &[(f64, f64)]) -> Vec<Curve> {
    let model = &track.mechanics.model;
    let mut formulas = Formulas::new(model, &[formula]);
    let inputs = curves(model);
    let start = track.knots.first().map_or(0.0, |&k| track.time(k));
    let symbols = formulas.symbols.clone();
    let meanings = formulas.meanings.clone();
    let mut value = |p: [f64; 3]| {
        let slot = |(s, m): (&Symbol, &Meaning)| match *m {
            _ if of.contains(&Some(*s)) => p[of.iter().position(|o| *o == Some(*s)).unwrap_or(0)],
            Meaning::Known(v) => v,
            Meaning::Time => start,
            Meaning::Input(i, order) => inputs[i].value(order, start),
            _ => f64::NAN,
        };
        let slots: Vec<f64> = symbols.iter().zip(&meanings).map(slot).collect();
        formulas.evaluate(&slots)[0]
    };
    let mut found = Vec::new();
    for axis in 0..3 {
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
                section.into_iter().map(|curve| curve.into_iter().map(|(u, v)| place(u, v)).collect()),
            );
        }
    }
    found
}
