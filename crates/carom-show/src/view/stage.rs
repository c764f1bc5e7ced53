//! A scene along a motion: where everything is at every knot.

use super::{Fill, FillShape, Scene, contact, surface, walls};
use crate::track::{Knot, Track};

/// A scene along a motion.
#[derive(Clone, Debug)]
pub struct Stage {
    /// 2 or 3.
    pub dimension: usize,
    /// The time of each knot.
    pub times: Vec<f64>,
    /// Points and where they are.
    pub points: Vec<PointTrack>,
    /// Pairs of points joined by a rod.
    pub links: Vec<(usize, usize)>,
    /// Pairs of points joined by a spring.
    pub springs: Vec<(usize, usize)>,
    /// Points that leave a trace.
    pub traces: Vec<usize>,
    /// What is filled.
    pub fills: Vec<Fill>,
    /// Walls that have a place.
    pub walls: Vec<WallTrack>,
    /// In space, sections of the surfaces of walls and rows.
    pub surfaces: Vec<Vec<[f64; 3]>>,
    /// Smallest and largest value of each component that is shown.
    pub bounds: Vec<(f64, f64)>,
    /// What flashes when.
    pub flashes: Vec<Flash>,
}

/// A point along a motion.
#[derive(Clone, Debug)]
pub struct PointTrack {
    /// Its name.
    pub name: String,
    /// How it is drawn.
    pub role: Role,
    /// One list per component, one value per knot; all finite.
    pub at: Vec<Vec<f64>>,
    /// Orientation at each knot.
    pub angle: Option<Vec<f64>>,
    /// Which of the curves' colours a body has.
    pub color: Option<usize>,
}

/// How a point is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
    /// A disc with this radius in pixels.
    Body(f64),
    /// A small disc where links meet.
    Joint,
    /// A point that never moves.
    Pivot,
    /// Not drawn: a corner, a hidden body, or one that is filled.
    Unseen,
}

impl Role {
    /// Radius in pixels.
    pub fn radius(self) -> f64 {
        match self {
            Role::Body(r) => r,
            Role::Joint => 4.0,
            Role::Pivot => 3.5,
            Role::Unseen => 0.0,
        }
    }
}

/// A wall along a motion.
#[derive(Clone, Debug)]
pub struct WallTrack {
    /// Index in the model.
    pub wall: usize,
    /// Its name.
    pub name: String,
    /// Curves per frame, free side to the left; one frame when it never moves.
    pub frames: Vec<Vec<Vec<(f64, f64)>>>,
    /// The time of each frame.
    pub times: Vec<f64>,
    /// How far behind its curve it stands, in units of the picture: the radius of the body it acts on; `None`, as far as
    /// markers are large.
    pub behind: Option<f64>,
}

/// What flashes at an impact.
#[derive(Clone, Debug)]
pub struct Flash {
    /// When.
    pub time: f64,
    /// Index of the knot after it.
    pub knot: usize,
    /// Indices of the walls.
    pub walls: Vec<usize>,
    /// Indices of the points the walls act on.
    pub points: Vec<usize>,
    /// Where each of them is touched: the point itself, or the edge of its form.
    pub places: Vec<Vec<f64>>,
}

impl Stage {
    /// Evaluates `scene` along the motion.
    pub fn new(track: &Track<'_>, scene: &Scene) -> Stage {
        let mut scene = scene.clone();
        let times: Vec<f64> = track.knots.iter().map(|&k| track.time(k)).collect();
        let mut points = evaluate(track, &scene);
        if scene.find_links {
            find_links(track, &mut scene, &mut points);
        }
        let fills = Fill::along(track, &scene);
        let bounds = bounds(&scene, &points, &fills);
        set_roles(track, &scene, &mut points, &bounds);
        set_colors(&scene, &fills, &mut points);
        let free: Vec<(f64, f64, f64)> = points
            .iter()
            .filter(|p| !matches!(p.role, Role::Pivot) && scene.dimension == 2)
            .flat_map(|p| {
                let stride = (times.len() / 50).max(1);
                (0..times.len())
                    .step_by(stride)
                    .map(|k| (p.at[0][k], p.at[1][k], times[k]))
                    .collect::<Vec<_>>()
            })
            .collect();
        let plane = [bounds[0].0, bounds[0].1, bounds[1].0, bounds[1].1];
        let walls = walls::walls(track, &scene, &fills, plane, &free);
        let surfaces = surface::surfaces(track, &scene, &bounds);
        let flashes = flashes(track, &scene, &points, &fills);
        Stage {
            dimension: scene.dimension,
            times,
            points,
            links: scene.links,
            springs: scene.springs,
            traces: scene.traces,
            fills,
            walls,
            surfaces,
            bounds,
            flashes,
        }
    }

    /// Number of knots.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// No knots at all?
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}

fn evaluate(track: &Track<'_>, scene: &Scene) -> Vec<PointTrack> {
    let point = |p: &super::ScenePoint| {
        let mut roots = p.at.clone();
        roots.extend(p.angle);
        let values = track.evaluate(&roots, &track.knots);
        let column = |c: usize| filled(values.iter().map(|v| v[c]).collect());
        PointTrack {
            name: p.name.clone(),
            role: Role::Joint,
            at: (0..scene.dimension).map(column).collect(),
            angle: p.angle.map(|_| column(scene.dimension)),
            color: None,
        }
    };
    scene.points.iter().map(point).collect()
}

/// Values that are not known take the next known one, the last ones the one before, and 0 if none is.
pub(super) fn filled(mut values: Vec<f64>) -> Vec<f64> {
    let mut next = f64::NAN;
    for v in values.iter_mut().rev() {
        if v.is_finite() { next = *v } else { *v = next }
    }
    let mut last = 0.0;
    for v in &mut values {
        if v.is_finite() { last = *v } else { *v = last }
    }
    values
}

fn span(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low
}

/// Joins points that keep their distance while turning about each other, and points that circle about the origin.
fn find_links(track: &Track<'_>, scene: &mut Scene, points: &mut Vec<PointTrack>) {
    let knots = track.knots.len();
    let stride = (knots / 200).max(1);
    let origin = vec![vec![0.0; knots]; scene.dimension];
    let rigid = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        let picks: Vec<usize> = (0..knots).step_by(stride).collect();
        let between = |c: usize| -> Vec<f64> { picks.iter().map(|&k| b[c][k] - a[c][k]).collect() };
        let parts: Vec<Vec<f64>> = (0..a.len()).map(between).collect();
        let distance: Vec<f64> =
            (0..picks.len()).map(|i| parts.iter().map(|p| p[i] * p[i]).sum::<f64>().sqrt()).collect();
        let longest = distance.iter().copied().fold(0.0, f64::max);
        let turning = parts.iter().map(|p| span(p)).fold(0.0, f64::max);
        picks.len() > 2 && longest > 0.0 && span(&distance) <= 1e-7 * longest && turning > 1e-3 * longest
    };
    let count = points.len();
    let mut about_origin: Vec<usize> = Vec::new();
    for i in (0..count).filter(|&i| !scene.points[i].unseen) {
        if rigid(&origin, &points[i].at) {
            about_origin.push(i);
        }
        for j in (i + 1..count).filter(|&j| !scene.points[j].unseen) {
            if rigid(&points[i].at, &points[j].at) {
                scene.links.push((i, j));
            }
        }
    }
    if !about_origin.is_empty() {
        let pivot =
            PointTrack { name: "origin".into(), role: Role::Pivot, at: origin, angle: None, color: None };
        points.push(pivot);
        let at = vec![scene.zero; scene.dimension];
        scene.points.push(super::ScenePoint {
            name: "origin".into(),
            at,
            mass: None,
            angle: None,
            unseen: false,
            rates: vec![],
        });
        scene.links.extend(about_origin.into_iter().map(|i| (count, i)));
    }
}

fn set_roles(track: &Track<'_>, scene: &Scene, points: &mut [PointTrack], bounds: &[(f64, f64)]) {
    let size = bounds.iter().map(|b| b.1 - b.0).fold(0.0, f64::max);
    let masses: Vec<Option<f64>> = scene
        .points
        .iter()
        .map(|p| p.mass.map(|m| track.evaluate(&[m], &track.knots[..1])[0][0]).filter(|m| m.is_finite()))
        .collect();
    let heaviest = masses.iter().flatten().copied().fold(0.0, f64::max);
    let no_bodies = masses.iter().all(Option::is_none);
    for (i, point) in points.iter_mut().enumerate() {
        let moves = point.at.iter().map(|c| span(c)).fold(0.0, f64::max) > 1e-9 * size;
        let joined = scene.links.iter().chain(&scene.springs).any(|&(a, b)| a == i || b == i);
        point.role = match masses.get(i).copied().flatten() {
            _ if scene.points[i].unseen => Role::Unseen,
            _ if scene.fills.iter().any(|f| f.is_body && f.point == i) => Role::Unseen,
            // Volume grows with mass; a light body is still seen.
            Some(m) => Role::Body(if heaviest > 0.0 { (11.0 * (m / heaviest).cbrt()).max(5.5) } else { 8.0 }),
            None if !moves => Role::Pivot,
            None if no_bodies && (!joined || points_few(scene)) => Role::Body(8.0),
            None => Role::Joint,
        };
    }
}

/// Bodies are coloured in their order, whether they have a marker or a form; then other fills.
fn set_colors(scene: &Scene, fills: &[Fill], points: &mut [PointTrack]) {
    let mut next = 0;
    for (i, point) in points.iter_mut().enumerate() {
        let is_body = matches!(point.role, Role::Body(_))
            || scene.points.get(i).is_some_and(|p| p.mass.is_some())
            || fills.iter().any(|f| f.is_body && f.point == i);
        if is_body {
            point.color = Some(next);
            next += 1;
        }
    }
}

/// A handful of joints are bobs; many are the corners of a frame.
fn points_few(scene: &Scene) -> bool {
    scene.points.len() <= 5
}

fn bounds(scene: &Scene, points: &[PointTrack], fills: &[Fill]) -> Vec<(f64, f64)> {
    if let (Some([left, right, bottom, top]), 2) = (scene.range, scene.dimension)
        && right > left
        && top > bottom
    {
        return vec![(left, right), (bottom, top)];
    }
    // A form reaches beyond its point.
    let reach = |i: usize| fills.iter().filter(|f| f.point == i).map(Fill::reach).fold(0.0, f64::max);
    let reaches: Vec<f64> = (0..points.len()).map(reach).collect();
    let ends = |c: usize| {
        let all =
            || points.iter().zip(&reaches).flat_map(move |(p, r)| p.at[c].iter().map(move |x| (*x, *r)));
        let low = all().map(|(x, r)| x - r).fold(f64::INFINITY, f64::min);
        (low, all().map(|(x, r)| x + r).fold(f64::NEG_INFINITY, f64::max))
    };
    let mut found: Vec<(f64, f64)> = (0..scene.dimension).map(ends).collect();
    let mut size = found.iter().map(|b| b.1 - b.0).fold(0.0, f64::max);
    if !(size > 0.0 && size.is_finite()) {
        size = 1.0;
    }
    for b in &mut found {
        if !(b.0.is_finite() && b.1.is_finite()) {
            *b = (-0.5, 0.5);
        }
        let narrow = (0.3 * size - (b.1 - b.0)).max(0.0);
        *b = (b.0 - 0.1 * size - 0.5 * narrow, b.1 + 0.1 * size + 0.5 * narrow);
    }
    found
}

/// What flashes at each impact: for every wall that gave an impulse, the points it acts on.
fn flashes(track: &Track<'_>, scene: &Scene, points: &[PointTrack], fills: &[Fill]) -> Vec<Flash> {
    let mut acted_on: Vec<Option<Vec<usize>>> = vec![None; track.mechanics.model.walls.len()];
    let mut found = Vec::new();
    for (knot, k) in track.knots.iter().enumerate() {
        let Knot::After(j) = *k else { continue };
        let jump = &track.jumps[j];
        if jump.before.is_none() {
            continue;
        }
        let mut chosen: Vec<usize> = Vec::new();
        let mut places: Vec<Vec<f64>> = Vec::new();
        for &w in &jump.walls {
            let Some(known) = acted_on.get_mut(w) else { continue };
            // Which points a wall acts on follows from its formula, so the first impact decides.
            let here = known.get_or_insert_with(|| contact::points_of(track, scene, points, w, jump));
            let new: Vec<usize> = here.iter().filter(|p| !chosen.contains(p)).copied().collect();
            for i in new {
                let at: Vec<f64> = points[i].at.iter().map(|c| c[knot]).collect();
                let form = fills
                    .iter()
                    .find(|f| f.is_body && f.point == i && !matches!(f.form, FillShape::Corners(_)));
                let touched = form.and_then(|form| {
                    let f = contact::direction(track, scene, w, i, jump)?;
                    form.touched(&at, points[i].angle.as_ref().map_or(0.0, |a| a[knot]), &f)
                });
                chosen.push(i);
                places.push(touched.unwrap_or(at));
            }
        }
        found.push(Flash { time: jump.time, knot, walls: jump.walls.clone(), points: chosen, places });
    }
    found
}
