//! What is filled: forms in the axes of a body, moved and turned with it.
//!
//! ```text
//! planar:    c ↦ r + R(α) c                 in space:   c ↦ r + q c q̄,  q a unit quaternion (real part first)
//! ```
//!
//! Lengths are numbers (made of parameters); where a form is at a knot follows from its point, its angle or its quaternion.
//! [`Fill::faces`] gives the polygons to paint at a moment; a ball is no polygon and looks the same from everywhere.

use super::{Scene, SceneFill, SceneOutline};
use crate::track::Track;
use carom_expr::Expr;
use carom_mech::Outline;

/// Corners of a disc in space.
const ROUND: usize = 48;

/// Something filled, along a motion.
#[derive(Clone, Debug)]
pub struct Fill {
    /// The point it moves with.
    pub point: usize,
    /// Does it belong to that body?
    pub is_body: bool,
    /// Its form.
    pub form: FillShape,
    /// Components of the quaternion or of the axis at each knot; empty when there is none.
    pub turned: Vec<Vec<f64>>,
}

/// The form of something filled.
#[derive(Clone, PartialEq, Debug)]
pub enum FillShape {
    /// A disc, in space a ball, of this radius.
    Round(f64),
    /// Corners in the body's own axes; turns with the angle of its point.
    Polygon(Vec<(f64, f64)>),
    /// Sides of a box in space; turns with a quaternion.
    Box([f64; 3]),
    /// A disc of this radius across an axis in space.
    Disc(f64),
    /// These points are its corners.
    Corners(Vec<usize>),
}

/// A polygon to paint.
#[derive(Clone, PartialEq, Debug)]
pub struct Face {
    /// In the components of the scene.
    pub corners: Vec<Vec<f64>>,
    /// From 0 (in the shade) to 1 (in the light): faces of a box differ.
    pub light: f64,
}

impl Fill {
    /// What the scene fills, along the motion. What has no finite size is left out.
    pub(super) fn along(track: &Track<'_>, scene: &Scene) -> Vec<Fill> {
        scene.fills.iter().filter_map(|fill| evaluate(track, scene, fill)).collect()
    }

    /// The polygons at a moment: `here` is where every point is, `angle` that of its point, `turned` its quaternion or axis.
    pub fn faces(&self, here: &[Vec<f64>], angle: f64, turned: &[f64]) -> Vec<Face> {
        let at = &here[self.point];
        let flat = |corners: Vec<Vec<f64>>| vec![Face { corners, light: 1.0 }];
        match &self.form {
            FillShape::Round(_) => vec![],
            FillShape::Polygon(corners) => {
                let (s, c) = angle.sin_cos();
                flat(
                    corners
                        .iter()
                        .map(|p| vec![at[0] + c * p.0 - s * p.1, at[1] + s * p.0 + c * p.1])
                        .collect(),
                )
            }
            FillShape::Corners(points) => flat(points.iter().map(|&p| here[p].clone()).collect()),
            FillShape::Disc(radius) => {
                let (u, v) = across(turned);
                let corner = |k: usize| {
                    let (s, c) = (std::f64::consts::TAU * k as f64 / ROUND as f64).sin_cos();
                    (0..3).map(|i| at[i] + radius * (c * u[i] + s * v[i])).collect()
                };
                flat((0..ROUND).map(corner).collect())
            }
            FillShape::Box(sides) => boxed(at, sides, turned),
        }
    }

    /// How far the form reaches from its point in direction −f, and the place it reaches there: where something with
    /// outward direction f touches it.
    pub fn touched(&self, at: &[f64], angle: f64, f: &[f64]) -> Option<Vec<f64>> {
        let length = f.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        match &self.form {
            FillShape::Round(radius) => {
                Some(at.iter().zip(f).map(|(r, f)| r - radius * f / length).collect())
            }
            FillShape::Polygon(_) => {
                let mut here = vec![vec![]; self.point + 1];
                here[self.point] = at.to_vec();
                let faces = self.faces(&here, angle, &[]);
                let along = |c: &Vec<f64>| c.iter().zip(f).map(|(c, f)| c * f).sum::<f64>();
                faces.into_iter().flat_map(|face| face.corners).min_by(|a, b| along(a).total_cmp(&along(b)))
            }
            _ => None,
        }
    }

    /// The largest distance of the form from its point.
    pub fn reach(&self) -> f64 {
        match &self.form {
            FillShape::Round(r) | FillShape::Disc(r) => *r,
            FillShape::Polygon(corners) => corners.iter().map(|c| c.0.hypot(c.1)).fold(0.0, f64::max),
            FillShape::Box(sides) => 0.5 * sides.iter().map(|s| s * s).sum::<f64>().sqrt(),
            FillShape::Corners(_) => 0.0,
        }
    }
}

fn evaluate(track: &Track<'_>, scene: &Scene, fill: &SceneFill) -> Option<Fill> {
    let numbers = |list: &[Expr]| -> Option<Vec<f64>> {
        let values = track.evaluate(list, &track.knots[..1]).into_iter().next()?;
        values.iter().all(|x| x.is_finite()).then_some(values)
    };
    let columns = |list: &[Expr]| -> Vec<Vec<f64>> {
        let values = track.evaluate(list, &track.knots);
        (0..list.len()).map(|c| super::stage::filled(values.iter().map(|row| row[c]).collect())).collect()
    };
    let mut turned = vec![];
    let form = match &fill.outline {
        SceneOutline::Body(Outline::Round(radius), _) => FillShape::Round(numbers(&[*radius])?[0].abs()),
        SceneOutline::Body(Outline::Polygon(corners), _) => {
            let all: Vec<Expr> = corners.iter().flatten().copied().collect();
            FillShape::Polygon(numbers(&all)?.chunks_exact(2).map(|c| (c[0], c[1])).collect())
        }
        SceneOutline::Body(Outline::Box(sides), orientation) => {
            let sides = numbers(sides)?;
            if scene.dimension == 2 {
                let (a, b) = (0.5 * sides[0], 0.5 * sides.get(1).copied().unwrap_or(sides[0]));
                FillShape::Polygon(vec![(-a, -b), (a, -b), (a, b), (-a, b)])
            } else {
                turned = orientation.as_ref().map(|q| columns(q)).unwrap_or_default();
                let side = |i: usize| sides.get(i).copied().unwrap_or(0.0);
                FillShape::Box([side(0), side(1), side(2)])
            }
        }
        SceneOutline::Disc(radius, axis) => {
            turned = columns(axis);
            FillShape::Disc(numbers(&[*radius])?[0].abs())
        }
        SceneOutline::Corners(points) => FillShape::Corners(points.clone()),
    };
    Some(Fill { point: fill.point, is_body: fill.is_body, form, turned })
}

/// Two unit vectors across a direction, perpendicular to each other.
fn across(axis: &[f64]) -> ([f64; 3], [f64; 3]) {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let n =
        if length > 0.0 { [axis[0] / length, axis[1] / length, axis[2] / length] } else { [0.0, 0.0, 1.0] };
    // The unit vector that n is least along gives the first direction.
    let least = (0..3).min_by(|&a, &b| n[a].abs().total_cmp(&n[b].abs())).unwrap_or(0);
    let mut u = [0.0; 3];
    u[least] = 1.0;
    for i in 0..3 {
        u[i] -= n[least] * n[i];
    }
    let size = u.iter().map(|x| x * x).sum::<f64>().sqrt();
    u.iter_mut().for_each(|x| *x /= size);
    let v = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]];
    (u, v)
}

/// c ↦ q c q̄ for a quaternion that need not be of length one.
fn rotated(q: &[f64], c: [f64; 3]) -> [f64; 3] {
    let norm = q.iter().map(|x| x * x).sum::<f64>();
    if q.len() != 4 || norm.is_nan() || norm <= 0.0 {
        return c;
    }
    let (w, x, y, z) = (q[0], q[1], q[2], q[3]);
    let row = |a: f64, b: f64, d: f64| (a * c[0] + b * c[1] + d * c[2]) / norm;
    [
        row(w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        row(2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)),
        row(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z),
    ]
}

/// The six faces of a box; the light comes from above, a little from the front and the left.
fn boxed(at: &[f64], sides: &[f64; 3], quaternion: &[f64]) -> Vec<Face> {
    let mut faces = Vec::new();
    for axis in 0..3 {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        for sign in [-1.0, 1.0] {
            let corner = |sb: f64, sc: f64| {
                let mut own = [0.0; 3];
                own[axis] = 0.5 * sign * sides[axis];
                own[b] = 0.5 * sb * sides[b];
                own[c] = 0.5 * sc * sides[c];
                let turned = rotated(quaternion, own);
                (0..3).map(|i| at[i] + turned[i]).collect::<Vec<f64>>()
            };
            let mut normal = [0.0; 3];
            normal[axis] = sign;
            let n = rotated(quaternion, normal);
            let light = 0.5 + 0.5 * (0.3 * n[0] - 0.45 * n[1] + 0.84 * n[2]);
            let corners = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            faces.push(Face { corners, light });
        }
    }
    faces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y_and_keeps_lengths() {
        let h = std::f64::consts::FRAC_1_SQRT_2;
        let v = rotated(&[h, 0.0, 0.0, h], [1.0, 0.0, 0.0]);
        assert!((v[0].abs() + (v[1] - 1.0).abs() + v[2].abs()) < 1e-15);
        let v = rotated(&[0.3, -0.5, 2.0, 0.7], [1.0, 2.0, -2.0]);
        assert!((v.iter().map(|x| x * x).sum::<f64>() - 9.0).abs() < 1e-12);
        assert_eq!(rotated(&[0.0; 4], [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_disc_lies_across_its_axis() {
        for axis in [[0.0, 0.0, 2.0], [1.0, -2.0, 0.5], [0.0, 1e-9, 0.0]] {
            let fill = Fill { point: 0, is_body: false, form: FillShape::Disc(2.0), turned: vec![] };
            for corner in &fill.faces(&[vec![1.0, 1.0, 1.0]], 0.0, &axis)[0].corners {
                let d: Vec<f64> = corner.iter().map(|c| c - 1.0).collect();
                let along: f64 = d.iter().zip(&axis).map(|(a, b)| a * b).sum();
                assert!(along.abs() < 1e-12 && (d.iter().map(|x| x * x).sum::<f64>() - 4.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_wall_touches_a_polygon_at_the_corner_nearest_to_it() {
        let square = FillShape::Polygon(vec![(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]);
        let fill = Fill { point: 0, is_body: true, form: square, turned: vec![] };
        // Turned by 45°, the lowest corner is √2 below the middle; the floor pushes up.
        let touched = fill.touched(&[3.0, 5.0], std::f64::consts::FRAC_PI_4, &[0.0, 2.0]).expect("a place");
        assert!((touched[0] - 3.0).abs() < 1e-12 && (touched[1] - 5.0 + 2f64.sqrt()).abs() < 1e-12);
        let ball = Fill { point: 0, is_body: true, form: FillShape::Round(0.5), turned: vec![] };
        assert_eq!(ball.touched(&[3.0, 5.0], 0.0, &[0.0, 2.0]), Some(vec![3.0, 4.5]));
    }
}
