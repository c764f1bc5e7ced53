//! What an animation draws.
//!
//! A [`Scene`] says it in formulas: points r(q, t) and what joins them. A [`Stage`] is the scene along a motion: where every
//! point is at every knot, where walls stand in the plane, what flashes at an impact. Evaluating a point at a state that is
//! already known is presentation; no mechanics happens here.
//!
//! Without `[view]`, bodies are drawn; without bodies, what obviously is a place is: definitions and coordinates called
//! x…, y… (and z…), a length and an angle, a single angle, coordinates along a line. Two points that keep their distance are
//! joined by a link. Otherwise [`scene`] says what to add.
//!
//! What has a form is filled ([`Fill`]): bodies with a radius, a polygon or a box, circles and polygons of `[view]`. In space
//! (three components) a wall or a holonomic row that is a formula of a point's coordinates is a surface, drawn by its sections.

mod contact;
mod curve;
mod fill;
mod guess;
mod stage;
mod surface;
mod walls;

pub use fill::{Face, Fill, FillShape};
pub use stage::{Flash, PointTrack, Role, Stage, WallTrack};

use carom_expr::Expr;
use carom_mech::{Diagnostic, Mechanics, Outline, Point};

/// Points and what joins them, in formulas.
#[derive(Clone, Debug)]
pub struct Scene {
    /// 2, or 3 for places in space.
    pub dimension: usize,
    /// Every point that is drawn or joined.
    pub points: Vec<ScenePoint>,
    /// Pairs of points joined by a rod.
    pub links: Vec<(usize, usize)>,
    /// Pairs of points joined by a spring.
    pub springs: Vec<(usize, usize)>,
    /// Points that leave a trace.
    pub traces: Vec<usize>,
    /// What is filled, in formulas.
    pub fills: Vec<SceneFill>,
    /// Visible range [left, right, bottom, top], if the model says.
    pub range: Option<[f64; 4]>,
    /// May links be found by looking at distances?
    pub find_links: bool,
    /// The number 0, for the origin.
    pub zero: Expr,
    /// ∂φ/∂q_k of every wall, for every coordinate: which points a wall acts on follows from it.
    pub normals: Vec<Vec<Expr>>,
}

/// A point of a scene.
#[derive(Clone, Debug)]
pub struct ScenePoint {
    /// The body's name, or the formulas as written.
    pub name: String,
    /// As many components as the scene has dimensions.
    pub at: Vec<Expr>,
    /// A body's mass.
    pub mass: Option<Expr>,
    /// A planar rigid body's orientation.
    pub angle: Option<Expr>,
    /// Only an end of something else, a corner, or a body that is hidden or has a form of its own: no marker.
    pub unseen: bool,
    /// ∂r/∂q_k for every coordinate, where a wall may act on it; empty for a point that never moves.
    pub rates: Vec<Vec<Expr>>,
}

/// Something filled.
#[derive(Clone, Debug)]
pub struct SceneFill {
    /// The point it moves with, and turns with if that has an angle.
    pub point: usize,
    /// Does it belong to that body, which then has no marker?
    pub is_body: bool,
    /// Its form.
    pub outline: SceneOutline,
}

/// The form of something filled.
#[derive(Clone, Debug)]
pub enum SceneOutline {
    /// The form of a body; in space with its orientation.
    Body(Outline, Option<Vec<Expr>>),
    /// A disc across an axis.
    Disc(Expr, Vec<Expr>),
    /// A polygon with these points as corners.
    Corners(Vec<usize>),
}

impl Scene {
    fn add(&mut self, name: &str, at: &[Expr]) -> usize {
        let mut at = at.to_vec();
        at.resize(self.dimension, self.zero);
        if let Some(i) = self.points.iter().position(|p| p.at == at) {
            return i;
        }
        self.points.push(ScenePoint {
            name: name.to_string(),
            at,
            mass: None,
            angle: None,
            unseen: false,
            rates: vec![],
        });
        self.points.len() - 1
    }
}

/// What to draw for a model; an error says what the model would need.
pub fn scene(mechanics: &mut Mechanics) -> Result<Scene, Vec<Diagnostic>> {
    let mut scene = what_is_drawn(mechanics)?;
    let model = &mut mechanics.model;
    if model.walls.is_empty() {
        return Ok(scene);
    }
    let coordinates: Vec<Expr> = model.coordinates.iter().map(|c| c.position).collect();
    let gaps: Vec<Expr> = model.walls.iter().map(|w| w.gap).collect();
    let dag = &mut model.dag;
    let mut gradient = |e: Expr| coordinates.iter().map(|&q| dag.derivative(e, q)).collect::<Vec<Expr>>();
    scene.normals = gaps.into_iter().map(&mut gradient).collect();
    for point in &mut scene.points {
        let parts: Vec<Vec<Expr>> = point.at.iter().map(|&e| gradient(e)).collect();
        point.rates = (0..coordinates.len()).map(|k| parts.iter().map(|part| part[k]).collect()).collect();
    }
    Ok(scene)
}

fn what_is_drawn(mechanics: &mut Mechanics) -> Result<Scene, Vec<Diagnostic>> {
    let view = mechanics.model.view.clone();
    let bodies = mechanics.model.bodies.clone();
    let corners = view.polygons.iter().flatten().chain(view.circles.iter().map(|c| &c.at));
    let given: Vec<&Point> = view
        .links
        .iter()
        .chain(&view.springs)
        .flat_map(|(a, b)| [a, b])
        .chain(&view.traces)
        .chain(corners)
        .collect();
    let largest = given.iter().map(|p| p.at.len()).chain(bodies.iter().map(|b| b.at.len())).max();
    let mut scene = Scene {
        dimension: largest.unwrap_or(2).clamp(2, 3),
        points: vec![],
        links: vec![],
        springs: vec![],
        traces: vec![],
        fills: vec![],
        range: view.range,
        find_links: false,
        zero: mechanics.model.dag.zero(),
        normals: vec![],
    };
    let only_fills = view.links.is_empty() && view.springs.is_empty() && view.traces.is_empty();
    if bodies.is_empty() && only_fills {
        // Circles and polygons are the surroundings of what can be guessed; alone they are all there is.
        let guessed = guess::fill(mechanics, &mut scene);
        if given.is_empty() {
            guessed?;
        }
    }
    for body in &bodies {
        let i = scene.add(&body.name, &body.at);
        scene.points[i].name = body.name.clone();
        scene.points[i].mass = Some(body.mass);
        scene.points[i].angle = body.angle;
        scene.points[i].unseen = view.hide.contains(&body.name);
        if let (Some(outline), false) = (&body.outline, scene.points[i].unseen) {
            let outline = SceneOutline::Body(outline.clone(), body.orientation.clone());
            scene.fills.push(SceneFill { point: i, is_body: true, outline });
        }
    }
    let find_links =
        scene.find_links || (view.links.is_empty() && view.springs.is_empty() && !bodies.is_empty());
    let mut pair = |(a, b): &(Point, Point)| (scene.add(&a.name, &a.at), scene.add(&b.name, &b.at));
    let links: Vec<(usize, usize)> = view.links.iter().map(&mut pair).collect();
    let springs: Vec<(usize, usize)> = view.springs.iter().map(&mut pair).collect();
    let traces: Vec<usize> = view.traces.iter().map(|p| scene.add(&p.name, &p.at)).collect();
    scene.find_links = find_links;
    if !(bodies.is_empty() && only_fills) {
        (scene.links, scene.springs, scene.traces) = (links, springs, traces);
    }
    fill_view(&mut scene, &view);
    Ok(scene)
}

/// Circles and polygons of `[view]`. A corner that is nothing else has no marker.
fn fill_view(scene: &mut Scene, view: &carom_mech::View) {
    let corner = |scene: &mut Scene, point: &Point| {
        let known = scene.points.len();
        let i = scene.add(&point.name, &point.at);
        scene.points[i].unseen |= i >= known;
        i
    };
    for circle in &view.circles {
        let point = corner(scene, &circle.at);
        let outline = match &circle.axis {
            Some(axis) if scene.dimension == 3 => SceneOutline::Disc(circle.radius, axis.clone()),
            _ => SceneOutline::Body(Outline::Round(circle.radius), None),
        };
        scene.fills.push(SceneFill { point, is_body: false, outline });
    }
    for polygon in &view.polygons {
        let corners: Vec<usize> = polygon.iter().map(|p| corner(scene, p)).collect();
        scene.fills.push(SceneFill {
            point: corners[0],
            is_body: false,
            outline: SceneOutline::Corners(corners),
        });
    }
}
