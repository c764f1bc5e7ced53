//! Where walls stand in the plane of the picture.
//!
//! A wall is drawn where its `draw` formula is zero; without one, where its gap is, if the gap says something about a single
//! drawn point: φ(q, t) = α X(q) + β Y(q) + γ(t) for the point's components (then it is a straight wall, found by fitting at
//! scattered states), or φ is a formula of the two coordinates that are the point. Walls between bodies have no place.
//! The free side (φ > 0) lies to the left of every curve.

use super::curve::zero_set;
use super::{Fill, FillShape, Scene, WallTrack};
use crate::formula::{Formulas, SymbolMeaning, curves};
use crate::track::Track;
use carom_expr::{Expr, Random, Symbol};
use carom_run::input::Spline;

/// Cells of the grid in which curves are looked for; curves that move are looked for more coarsely, many times.
const GRID: usize = 140;
const MOVING_GRID: usize = 64;
const MOVING_FRAMES: usize = 90;
/// Scattered states at which a straight wall must fit, and how well, relative to the gap's spread.
const FITTED: usize = 24;
const MISFIT: f64 = 1e-9;

/// A function of the plane and time.
struct PlaneFunction {
    formulas: Formulas,
    curves: Vec<Spline>,
    x: Option<Symbol>,
    y: Option<Symbol>,
    moving: bool,
}

impl PlaneFunction {
    fn new(track: &Track<'_>, expr: Expr, x: Option<Symbol>, y: Option<Symbol>) -> PlaneFunction {
        let model = &track.mechanics.model;
        let formulas = Formulas::new(model, &[expr]);
        let moving =
            formulas.meanings.iter().any(|m| matches!(m, SymbolMeaning::Time | SymbolMeaning::Input(..)));
        PlaneFunction { formulas, curves: curves(model), x, y, moving }
    }

    fn value(&mut self, x: f64, y: f64, t: f64) -> f64 {
        let slots: Vec<f64> = self
            .formulas
            .symbols
            .iter()
            .zip(&self.formulas.meanings)
            .map(|(s, m)| match *m {
                _ if Some(*s) == self.x => x,
                _ if Some(*s) == self.y => y,
                SymbolMeaning::Known(v) => v,
                SymbolMeaning::Time => t,
                SymbolMeaning::Input(i, order) => self.curves[i].value(order, t),
                _ => f64::NAN,
            })
            .collect();
        self.formulas.evaluate(&slots)[0]
    }
}

/// α x + β y + γ
type Straight = (f64, f64, f64);

/// All walls that have a place. `free` are points of the plane where the motion was, to tell the free side.
pub fn walls(
    track: &Track<'_>,
    scene: &Scene,
    fills: &[Fill],
    bounds: [f64; 4],
    free: &[(f64, f64, f64)],
) -> Vec<WallTrack> {
    if scene.dimension != 2 {
        return vec![];
    }
    let model = &track.mechanics.model;
    let mut found: Vec<WallTrack> = Vec::new();
    for (index, wall) in model.walls.iter().enumerate() {
        let symbol = |name: &str| model.dag.find_symbol(name).and_then(|e| model.dag.as_symbol(e));
        let track_of = match wall.draw {
            Some(draw) => {
                let mut plane = PlaneFunction::new(track, draw, symbol("x"), symbol("y"));
                let inside = free.iter().filter(|p| plane.value(p.0, p.1, p.2) > 0.0).count();
                let flip = 2 * inside < free.len();
                // Where bodies have forms, a wall stands where it is drawn; markers have no size in the plane.
                let behind = fills.iter().any(|f| f.is_body).then_some(0.0);
                Some((in_plane(track, plane, bounds, flip), behind))
            }
            None => derived(track, scene, wall.gap, bounds).map(|(frames, point)| {
                let form = fills.iter().find(|f| f.is_body && f.point == point);
                let behind = form.map(|f| behind(f, track, scene, &frames));
                (frames, behind)
            }),
        };
        if let Some(((frames, times), behind)) = track_of
            && frames.iter().any(|f| !f.is_empty())
        {
            found.push(WallTrack { wall: index, name: wall.name.clone(), frames, times, behind });
        }
    }
    found
}

type Frames = (Vec<Vec<Vec<(f64, f64)>>>, Vec<f64>);

fn in_plane(track: &Track<'_>, mut plane: PlaneFunction, bounds: [f64; 4], flip: bool) -> Frames {
    let [left, right, bottom, top] = bounds;
    let knot_times: Vec<f64> = track.knots.iter().map(|&k| track.time(k)).collect();
    let mut random = Random(1);
    let spots: Vec<(f64, f64)> = (0..FITTED)
        .map(|_| (left + (right - left) * random.unit(), bottom + (top - bottom) * random.unit()))
        .collect();
    let straight_at = |plane: &mut PlaneFunction, t: f64| -> Option<Straight> {
        let data: Vec<(f64, f64, f64)> = spots.iter().map(|p| (p.0, p.1, plane.value(p.0, p.1, t))).collect();
        fit(&data)
    };
    let orient = |mut curve: Vec<(f64, f64)>| {
        if flip {
            curve.reverse();
        }
        curve
    };
    let first = knot_times.first().copied().unwrap_or(0.0);
    if straight_at(&mut plane, first).is_some() {
        let times = if plane.moving { knot_times } else { vec![first] };
        let frames = times
            .iter()
            .map(|&t| {
                straight_at(&mut plane, t).map(|s| vec![orient(segment(s, bounds))]).unwrap_or_default()
            })
            .collect();
        return (frames, times);
    }
    let margin = 0.25 * (right - left).max(top - bottom);
    let wide = [left - margin, right + margin, bottom - margin, top + margin];
    let (times, grid) = if plane.moving {
        let last = knot_times.last().copied().unwrap_or(first);
        let at = |k: usize| first + (last - first) * k as f64 / (MOVING_FRAMES - 1) as f64;
        ((0..MOVING_FRAMES).map(at).collect(), MOVING_GRID)
    } else {
        (vec![first], GRID)
    };
    let frames = times
        .iter()
        .map(|&t| zero_set(|x, y| plane.value(x, y, t), wide, grid, grid).into_iter().map(orient).collect())
        .collect();
    (frames, times)
}

/// How far a wall stands behind the curve of a body's point: as far as the body reaches towards it. A gap that is measured
/// from the middle of a ball, or from half the width of a block, is zero when they touch.
fn behind(form: &Fill, track: &Track<'_>, scene: &Scene, frames: &Frames) -> f64 {
    match &form.form {
        FillShape::Round(radius) => *radius,
        // A block that turns touches with a corner, which has a gap of its own.
        FillShape::Polygon(corners) => {
            let angles = scene.points[form.point].angle.map(|a| track.evaluate_one(a, &track.some_knots(50)));
            let angles = angles.unwrap_or_else(|| vec![0.0]);
            let turns = angles.iter().any(|v| (v - angles[0]).abs() > 1e-9);
            let straight = frames.0.first().and_then(|f| f.first()).filter(|c| c.len() == 2);
            let (Some(line), false) = (straight, turns) else { return 0.0 };
            let (dx, dy) = (line[1].0 - line[0].0, line[1].1 - line[0].1);
            let ((s, c), length) = (angles[0].sin_cos(), dx.hypot(dy).max(f64::MIN_POSITIVE));
            // The free side is to the left of the line.
            let towards = |p: &(f64, f64)| (dy * (c * p.0 - s * p.1) - dx * (s * p.0 + c * p.1)) / length;
            corners.iter().map(towards).fold(0.0, f64::max)
        }
        _ => 0.0,
    }
}

/// A wall from its gap alone, and the point it is measured at.
fn derived(track: &Track<'_>, scene: &Scene, gap: Expr, bounds: [f64; 4]) -> Option<(Frames, usize)> {
    let model = &track.mechanics.model;
    let curves = curves(model);
    let states = scattered_states(track);
    for (index, point) in scene.points.iter().enumerate() {
        let mut formulas = Formulas::new(model, &[gap, point.at[0], point.at[1]]);
        let moving = Formulas::new(model, &[gap])
            .meanings
            .iter()
            .any(|m| matches!(m, SymbolMeaning::Time | SymbolMeaning::Input(..)));
        let mut straight_at = |t: f64| -> Option<Straight> {
            let values = states.iter().map(|q| formulas.at(&curves, t, q, &[]));
            fit(&values.map(|v| (v[1], v[2], v[0])).collect::<Vec<_>>())
        };
        let first = track.knots.first().map_or(0.0, |&k| track.time(k));
        if straight_at(first).is_some() {
            let times =
                if moving { track.knots.iter().map(|&k| track.time(k)).collect() } else { vec![first] };
            let frames = times
                .iter()
                .map(|&t| straight_at(t).map(|s| vec![segment(s, bounds)]).unwrap_or_default())
                .collect();
            return Some(((frames, times), index));
        }
        // The point is two coordinates and the gap a formula of nothing else.
        let dag = &model.dag;
        if let (Some(x), Some(y)) = (dag.as_symbol(point.at[0]), dag.as_symbol(point.at[1])) {
            let known = |s: &Symbol| {
                *s == x
                    || *s == y
                    || matches!(
                        crate::formula::meaning(model, *s),
                        SymbolMeaning::Known(_) | SymbolMeaning::Time
                    )
            };
            if dag.symbols_in(&[gap]).iter().all(known) {
                let plane = PlaneFunction::new(track, gap, Some(x), Some(y));
                return Some((in_plane(track, plane, bounds, false), index));
            }
        }
    }
    None
}

/// States around those of the motion, every coordinate moved independently.
fn scattered_states(track: &Track<'_>) -> Vec<Vec<f64>> {
    let n = track.mechanics.model.coordinates.len();
    let mut random = Random(7);
    (0..FITTED)
        .map(|i| {
            let knot = track.knots[i * (track.knots.len() - 1) / FITTED];
            (0..n)
                .map(|k| {
                    let q = track.position(knot, k);
                    let q = if q.is_finite() { q } else { 0.0 };
                    q + (0.2 + 0.3 * q.abs()) * random.symmetric()
                })
                .collect()
        })
        .collect()
}

/// (α, β, γ) with z = α x + β y + γ for all (x, y, z), if there is one and it is not constant.
fn fit(data: &[(f64, f64, f64)]) -> Option<Straight> {
    let data: Vec<&(f64, f64, f64)> =
        data.iter().filter(|p| p.0.is_finite() && p.1.is_finite() && p.2.is_finite()).collect();
    if data.len() < FITTED / 2 {
        return None;
    }
    let n = data.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64, f64)) -> f64| data.iter().map(|p| f(p)).sum::<f64>() / n;
    let (mx, my, mz) = (mean(&|p| p.0), mean(&|p| p.1), mean(&|p| p.2));
    let moment = |f: &dyn Fn(f64, f64, f64) -> f64| mean(&|p| f(p.0 - mx, p.1 - my, p.2 - mz));
    let (xx, xy, yy) = (moment(&|x, _, _| x * x), moment(&|x, y, _| x * y), moment(&|_, y, _| y * y));
    let (xz, yz, zz) = (moment(&|x, _, z| x * z), moment(&|_, y, z| y * z), moment(&|_, _, z| z * z));
    let determinant = xx * yy - xy * xy;
    // A component that does not vary (a ball on a vertical line) has no say.
    let (alpha, beta) = if determinant > 1e-12 * (xx + yy).powi(2) {
        ((xz * yy - yz * xy) / determinant, (yz * xx - xz * xy) / determinant)
    } else if xx > yy {
        (xz / xx, 0.0)
    } else if yy > 0.0 {
        (0.0, yz / yy)
    } else {
        return None;
    };
    let gamma = mz - alpha * mx - beta * my;
    let worst = data.iter().map(|p| (p.2 - alpha * p.0 - beta * p.1 - gamma).abs()).fold(0.0, f64::max);
    let spread = zz.sqrt();
    (spread > 0.0 && worst <= MISFIT * (spread + mz.abs())).then_some((alpha, beta, gamma))
}

/// The part of a straight wall near the picture, long enough to cross it.
fn segment((alpha, beta, gamma): Straight, [left, right, bottom, top]: [f64; 4]) -> Vec<(f64, f64)> {
    let norm = alpha.hypot(beta);
    let (nx, ny) = (alpha / norm, beta / norm);
    let (cx, cy) = (0.5 * (left + right), 0.5 * (bottom + top));
    let distance = nx * cx + ny * cy + gamma / norm;
    let (fx, fy) = (cx - distance * nx, cy - distance * ny);
    let length = (right - left).hypot(top - bottom);
    // n is to the left of the direction (n_y, −n_x).
    vec![(fx - length * ny, fy + length * nx), (fx + length * ny, fy - length * nx)]
}
