//! One frame of a film as a picture: the same drawing as the page's, from the same stage.

use crate::draw::{Anchor, Label, Line, Picture, Shape, Theme};
use crate::view::{Fill, FillShape, Role, Stage, WallTrack};

/// Height of a frame relative to its width.
pub fn shape(stage: &Stage) -> f64 {
    let b = &stage.bounds;
    if stage.dimension == 3 {
        let (across, up) = extent(stage);
        return (up / across).clamp(0.6, 1.0);
    }
    ((b[1].1 - b[1].0) / (b[0].1 - b[0].0)).clamp(0.42, 1.1)
}

/// Angles from which places in space are seen.
const ABOUT: f64 = -0.9;
const ABOVE: f64 = 0.35;
/// Points of a trace that are drawn at most.
const TRACE: usize = 3000;

/// Half of what a box in space takes across and upwards on the picture, however it is turned about z.
fn extent(stage: &Stage) -> (f64, f64) {
    let half: Vec<f64> = stage.bounds.iter().map(|r| 0.5 * (r.1 - r.0)).collect();
    let across = half[0].hypot(half[1]);
    (across, half[2] * ABOVE.cos() + across * ABOVE.sin())
}

struct Eye<'s> {
    stage: &'s Stage,
    width: f64,
    height: f64,
}

impl Eye<'_> {
    /// Pixel and depth of a place.
    fn see(&self, p: &[f64]) -> (f64, f64, f64) {
        let b = &self.stage.bounds;
        let pad = 12.0;
        let middle: Vec<f64> = b.iter().map(|r| 0.5 * (r.0 + r.1)).collect();
        if self.stage.dimension == 2 {
            let across = (self.width - 2.0 * pad) / (b[0].1 - b[0].0);
            let scale = across.min((self.height - 2.0 * pad) / (b[1].1 - b[1].0));
            let (x, y) = (p[0] - middle[0], p[1] - middle[1]);
            return (0.5 * self.width + x * scale, 0.5 * self.height - y * scale, 0.0);
        }
        let (across, up) = extent(self.stage);
        let scale = ((0.5 * self.width - pad) / across).min((0.5 * self.height - pad) / up);
        let (x, y, z) = (p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]);
        let right = ABOUT.cos() * x - ABOUT.sin() * y;
        let back = ABOUT.sin() * x + ABOUT.cos() * y;
        let up = z * ABOVE.cos() + back * ABOVE.sin();
        (
            0.5 * self.width + right * scale,
            0.5 * self.height - up * scale,
            back * ABOVE.cos() - z * ABOVE.sin(),
        )
    }

    fn at(&self, p: &[f64]) -> (f64, f64) {
        let (x, y, _) = self.see(p);
        (x, y)
    }

    /// Pixels per unit.
    fn scale(&self) -> f64 {
        let middle: Vec<f64> = self.stage.bounds.iter().map(|r| 0.5 * (r.0 + r.1)).collect();
        let mut beside = middle.clone();
        // In space every direction across the line of sight has the same scale; x + y is seen shortened.
        if self.stage.dimension == 2 {
            beside[0] += 1.0;
        } else {
            beside[0] += ABOUT.cos();
            beside[1] -= ABOUT.sin();
        }
        let (a, b) = (self.at(&middle), self.at(&beside));
        (a.0 - b.0).hypot(a.1 - b.1)
    }
}

/// The frame at time t. A flash lasts `flash` of the motion's time.
pub fn picture(
    stage: &Stage,
    t: f64,
    flash: f64,
    title: &str,
    theme: Theme,
    width: f64,
    aspect: f64,
) -> Picture {
    let height = width * aspect;
    let eye = Eye { stage, width, height };
    let background = theme.background();
    let mut picture = Picture { width, height, background, title: title.to_string(), shapes: vec![] };
    let times = &stage.times;
    let knot = times.partition_point(|x| *x <= t).saturating_sub(1);
    let next = (knot + 1).min(times.len() - 1);
    let part = if times[next] > times[knot] { (t - times[knot]) / (times[next] - times[knot]) } else { 0.0 };
    let part = part.clamp(0.0, 1.0);
    let between = |c: &Vec<f64>| c[knot] + part * (c[next] - c[knot]);
    let here: Vec<Vec<f64>> = stage.points.iter().map(|p| p.at.iter().map(between).collect()).collect();

    if stage.dimension == 3 {
        draw_floor(&mut picture, &eye, theme);
        draw_surfaces(&mut picture, &eye, theme);
        draw_shadows(&mut picture, &eye, &here, theme);
    }
    let now = FilmMoment { knot, next, part };
    if stage.dimension == 2 {
        // What stands around is behind everything.
        for fill in stage.fills.iter().filter(|f| !f.is_body) {
            draw_fill(&mut picture, &eye, fill, &here, now, theme);
        }
    }
    let radius =
        stage.points.iter().fold(0.0f64, |r, p| if let Role::Body(b) = p.role { r.max(b) } else { r });
    for wall in &stage.walls {
        for curve in curves(wall, t) {
            let behind = wall.behind.map_or(radius, |b| b * eye.scale());
            draw_wall(&mut picture, &eye, &curve, behind, theme);
        }
    }
    draw_traces(&mut picture, &eye, knot, &here, theme);
    for &(a, b) in &stage.springs {
        picture.line(&spring(eye.at(&here[a]), eye.at(&here[b])), Line::new(theme.muted(), 1.6));
    }
    for &(a, b) in &stage.links {
        picture.line(&[eye.at(&here[a]), eye.at(&here[b])], Line::new(theme.ink(), 3.0));
    }
    draw_points(&mut picture, &eye, &here, now, theme);
    for f in stage.flashes.iter().filter(|f| f.time <= t && t - f.time < flash) {
        let age = (t - f.time) / flash;
        for (&i, place) in f.points.iter().zip(&f.places) {
            let line = Line::new(theme.flash().faded(1.0 - age), 3.5 - 2.5 * age);
            let radius = stage.points[i].role.radius() + 3.0 + 22.0 * age;
            picture.shapes.push(Shape::Disc { at: eye.at(place), radius, fill: None, line: Some(line) });
        }
    }
    let clock = Label::name("t").then(&format!(" = {}", clock_text(t, times[times.len() - 1] - times[0])));
    picture.text((10.0, height - 10.0), clock, 13.0, Anchor::Start, theme.muted());
    picture
}

fn clock_text(t: f64, length: f64) -> String {
    let decimals = (2.0 - length.max(1e-12).log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{t:.decimals$}").replace('-', "−")
}

fn draw_floor(picture: &mut Picture, eye: &Eye<'_>, theme: Theme) {
    let b = &eye.stage.bounds;
    let floor = b[2].0;
    let mut pieces = Vec::new();
    for i in 0..=6 {
        let s = f64::from(i) / 6.0;
        let (x, y) = (b[0].0 + s * (b[0].1 - b[0].0), b[1].0 + s * (b[1].1 - b[1].0));
        pieces.push(vec![eye.at(&[x, b[1].0, floor]), eye.at(&[x, b[1].1, floor])]);
        pieces.push(vec![eye.at(&[b[0].0, y, floor]), eye.at(&[b[0].1, y, floor])]);
    }
    let line = Some(Line::new(theme.grid(), 1.0));
    picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line, clip: None });
    // Which way is which.
    let corner = [b[0].0, b[1].0, floor];
    let size = 0.22 * b.iter().map(|r| r.1 - r.0).fold(0.0, f64::max);
    for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
        let mut end = corner;
        end[i] += size;
        let (p, q) = (eye.at(&corner), eye.at(&end));
        picture.line(&[p, q], Line::new(theme.muted(), 1.0));
        picture.text((q.0 + 4.0, q.1 + 4.0), Label::name(name), 13.0, Anchor::Start, theme.muted());
    }
}

/// The curves of a wall at time t; straight walls move smoothly between their frames.
fn curves(wall: &WallTrack, t: f64) -> Vec<Vec<(f64, f64)>> {
    let k = wall.times.partition_point(|x| *x <= t).saturating_sub(1);
    let n = (k + 1).min(wall.frames.len() - 1);
    let (a, b) = (&wall.frames[k], &wall.frames[n]);
    let straight = |f: &Vec<Vec<(f64, f64)>>| f.len() == 1 && f[0].len() == 2;
    if k == n || !straight(a) || !straight(b) {
        return a.clone();
    }
    let gap = wall.times[n] - wall.times[k];
    let s = if gap > 0.0 { ((t - wall.times[k]) / gap).clamp(0.0, 1.0) } else { 0.0 };
    let mix = |p: (f64, f64), q: (f64, f64)| (p.0 + s * (q.0 - p.0), p.1 + s * (q.1 - p.1));
    vec![vec![mix(a[0][0], b[0][0]), mix(a[0][1], b[0][1])]]
}

/// A wall one marker's radius behind its curve, so that markers touch it, hatched on its own side.
fn draw_wall(picture: &mut Picture, eye: &Eye<'_>, curve: &[(f64, f64)], radius: f64, theme: Theme) {
    let p: Vec<(f64, f64)> = curve.iter().map(|q| eye.at(&[q.0, q.1])).collect();
    let n = p.len();
    let closed = n > 3 && (p[0].0 - p[n - 1].0).hypot(p[0].1 - p[n - 1].1) < 1e-3;
    let normal = |i: usize| {
        let a = p[if i > 0 {
            i - 1
        } else if closed {
            n - 2
        } else {
            0
        }];
        let b = p[if i + 1 < n {
            i + 1
        } else if closed {
            1
        } else {
            n - 1
        }];
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let l = dx.hypot(dy).max(1e-12);
        (-dy / l, dx / l)
    };
    let behind: Vec<(f64, f64)> =
        (0..n).map(|i| (p[i].0 + radius * normal(i).0, p[i].1 + radius * normal(i).1)).collect();
    picture.line(&behind, Line::new(theme.muted(), 2.0));
    let (mut pieces, mut along) = (Vec::new(), 0.0);
    for i in 1..n {
        let (a, b) = (behind[i - 1], behind[i]);
        let l = (b.0 - a.0).hypot(b.1 - a.1);
        if !(l > 0.0 && l < 1e6) {
            continue;
        }
        let (ux, uy) = ((b.0 - a.0) / l, (b.1 - a.1) / l);
        let (nx, ny) = normal(i - 1);
        while along < l {
            let (x, y) = (a.0 + ux * along, a.1 + uy * along);
            along += 9.0;
            if x > -20.0 && y > -20.0 && x < eye.width + 20.0 && y < eye.height + 20.0 {
                pieces.push(vec![(x, y), (x + (nx - ux) * 7.0, y + (ny - uy) * 7.0)]);
            }
        }
        along -= l;
    }
    let line = Some(Line::new(theme.muted(), 1.0));
    picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line, clip: None });
}

fn draw_traces(picture: &mut Picture, eye: &Eye<'_>, knot: usize, here: &[Vec<f64>], theme: Theme) {
    let stage = eye.stage;
    let stride = stage.len().div_ceil(TRACE);
    let length = stage.times[stage.len() - 1] - stage.times[0];
    let recent = stage.times.partition_point(|x| *x <= stage.times[knot] - 0.06 * length).saturating_sub(1);
    for (n, &i) in stage.traces.iter().enumerate() {
        let at = &stage.points[i].at;
        let color = theme.curve(color_of(stage, i).unwrap_or(n));
        for (from, opacity, width) in [(0, 0.35, 1.2), (recent, 0.85, 1.8)] {
            let place = |k: usize| eye.at(&at.iter().map(|c| c[k]).collect::<Vec<f64>>());
            let mut line: Vec<(f64, f64)> = (from..=knot).step_by(stride).map(place).collect();
            line.push(eye.at(&here[i]));
            picture.line(&line, Line::new(color.faded(opacity), width));
        }
    }
}

/// A moment between two knots.
#[derive(Clone, Copy)]
struct FilmMoment {
    knot: usize,
    next: usize,
    part: f64,
}

impl FilmMoment {
    fn of(self, values: &[f64]) -> f64 {
        values[self.knot] + self.part * (values[self.next] - values[self.knot])
    }
}

fn color_of(stage: &Stage, point: usize) -> Option<usize> {
    stage.points[point].color
}

/// Sections of surfaces, faint: what is in front of them is more important.
fn draw_surfaces(picture: &mut Picture, eye: &Eye<'_>, theme: Theme) {
    let pieces: Vec<Vec<(f64, f64)>> =
        eye.stage.surfaces.iter().map(|curve| curve.iter().map(|p| eye.at(p)).collect()).collect();
    if !pieces.is_empty() {
        let line = Some(Line::new(theme.muted().faded(0.45), 1.0));
        picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line, clip: None });
    }
}

/// Where bodies are above the floor.
fn draw_shadows(picture: &mut Picture, eye: &Eye<'_>, here: &[Vec<f64>], theme: Theme) {
    let floor = eye.stage.bounds[2].0;
    for (i, point) in eye.stage.points.iter().enumerate() {
        if point.color.is_some()
            && (point.role != Role::Unseen || eye.stage.fills.iter().any(|f| f.point == i))
        {
            let at = eye.at(&[here[i][0], here[i][1], floor]);
            picture.shapes.push(Shape::Disc { at, radius: 4.0, fill: Some(theme.grid()), line: None });
        }
    }
}

/// Something filled: a polygon, a disc, or the faces of a box from back to front.
fn draw_fill(
    picture: &mut Picture,
    eye: &Eye<'_>,
    fill: &Fill,
    here: &[Vec<f64>],
    now: FilmMoment,
    theme: Theme,
) {
    let stage = eye.stage;
    let body = stage.points[fill.point].color.filter(|_| fill.is_body);
    let (color, edge) = match body {
        Some(n) => (theme.curve(n), theme.curve(n).over(theme.ink(), 0.6)),
        None => (theme.shade(), theme.muted()),
    };
    let line = Some(Line::new(edge, 1.2));
    let angle = stage.points[fill.point].angle.as_ref().map(|a| now.of(a));
    let at = eye.at(&here[fill.point]);
    if let FillShape::Round(radius) = fill.form {
        let radius = (radius * eye.scale()).max(1.0);
        picture.shapes.push(Shape::Disc { at, radius, fill: Some(color), line });
        if let Some(a) = angle {
            let rim = (at.0 + radius * a.cos(), at.1 - radius * a.sin());
            picture.line(&[at, rim], Line::new(theme.background(), 2.0));
        }
        return;
    }
    let turned: Vec<f64> = fill.turned.iter().map(|c| now.of(c)).collect();
    let mut faces = fill.faces(here, angle.unwrap_or(0.0), &turned);
    let depth = |face: &crate::view::Face| {
        face.corners.iter().map(|c| eye.see(c).2).sum::<f64>() / face.corners.len() as f64
    };
    faces.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
    for face in faces {
        let corners: Vec<(f64, f64)> = face.corners.iter().map(|c| eye.at(c)).collect();
        let fill =
            color.over(theme.background(), if body.is_some() { 0.45 + 0.55 * face.light } else { 1.0 });
        picture.shapes.push(Shape::Path {
            pieces: vec![corners],
            closed: true,
            fill: Some(fill),
            line,
            clip: None,
        });
    }
}

/// Markers and forms, from back to front.
fn draw_points(picture: &mut Picture, eye: &Eye<'_>, here: &[Vec<f64>], now: FilmMoment, theme: Theme) {
    let stage = eye.stage;
    let mut order: Vec<usize> = (0..stage.points.len()).collect();
    order.sort_by(|&a, &b| eye.see(&here[b]).2.total_cmp(&eye.see(&here[a]).2));
    for i in order {
        let point = &stage.points[i];
        let at = eye.at(&here[i]);
        // In the plane, what stands around was drawn first; in space it is in front or behind.
        for fill in stage.fills.iter().filter(|f| f.point == i && (f.is_body || stage.dimension == 3)) {
            draw_fill(picture, eye, fill, here, now, theme);
        }
        let fill = match point.role {
            Role::Body(_) => theme.curve(color_of(stage, i).unwrap_or(0)),
            Role::Joint => theme.ink(),
            Role::Pivot => theme.background(),
            Role::Unseen => continue,
        };
        let edge = if point.role == Role::Pivot { theme.muted() } else { theme.background() };
        let line = Some(Line::new(edge, 1.5));
        picture.shapes.push(Shape::Disc { at, radius: point.role.radius(), fill: Some(fill), line });
        if let (Some(angle), 2) = (&point.angle, stage.dimension) {
            let (a, r) = (now.of(angle), point.role.radius() + 9.0);
            let (dx, dy) = (r * a.cos(), -r * a.sin());
            picture.line(&[(at.0 - dx, at.1 - dy), (at.0 + dx, at.1 + dy)], Line::new(theme.ink(), 2.5));
        }
    }
}

/// A zigzag from a to b.
fn spring(a: (f64, f64), b: (f64, f64)) -> Vec<(f64, f64)> {
    let turns = 11;
    let l = (b.0 - a.0).hypot(b.1 - a.1).max(1e-9);
    let (ux, uy) = ((b.0 - a.0) / l, (b.1 - a.1) / l);
    let lead = (0.15 * l).min(12.0);
    let mut line = vec![a, (a.0 + ux * lead, a.1 + uy * lead)];
    for i in 0..=2 * turns {
        let s = lead + (l - 2.0 * lead) * (f64::from(i) + 0.5) / f64::from(2 * turns + 1);
        let w = if i % 2 == 1 { 6.0 } else { -6.0 };
        line.push((a.0 + ux * s - uy * w, a.1 + uy * s + ux * w));
    }
    line.extend([(b.0 - ux * lead, b.1 - uy * lead), b]);
    line
}
