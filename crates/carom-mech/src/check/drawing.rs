//! What is drawn: bodies with their forms, circles and polygons, and which bodies are not.

use super::Checker;
use super::scope::{Context, INPUT, Kinds, POSITION, TIME};
use crate::draft::{self, At};
use crate::model::{Body, Circle, Outline, Point, View};
use carom_expr::{Expr, nearest};

const PLACED: Kinds = POSITION | TIME | INPUT;
const MASS: Context = Context::new("a mass", 0, "a mass is made of parameters");
const POINT: Context = Context::new("a point", PLACED, "a point depends on coordinates and the time only");
const ANGLE: Context = Context::new("an angle", PLACED, "an angle depends on coordinates and the time only");
const LENGTH: Context = Context::new("a length to draw", 0, "a length is made of parameters");

impl<'d> Checker<'d> {
    /// Bodies as they are drawn. What their energies need was already read, and reported, for the energies.
    pub fn bodies_to_draw(&mut self) -> Vec<Body> {
        let draft = self.draft;
        let mut bodies = Vec::new();
        for body in &draft.bodies {
            let outline = self.outline(body);
            let orientation = body.orientation.as_ref().and_then(|(list, at)| {
                if list.len() != 4 {
                    let hint = "a quaternion has four: orientation = [\"q0\", \"q1\", \"q2\", \"q3\"], the real part first";
                    self.error(*at, format!("an orientation in space has {} components, not 4", list.len()), hint);
                    return None;
                }
                list.iter().map(|f| self.formula(f, &ANGLE)).collect()
            });
            let known = self.problems.len();
            let mass = body.mass.as_ref().and_then(|f| self.formula(f, &MASS));
            let at = body.at.as_ref().and_then(|list| list.iter().map(|f| self.formula(f, &POINT)).collect());
            let angle = body.angle.as_ref().and_then(|f| self.formula(f, &ANGLE));
            self.problems.truncate(known);
            if let (Some(mass), Some(at)) = (mass, at) {
                bodies.push(Body { name: body.name.text.clone(), mass, at, angle, orientation, outline });
            }
        }
        bodies
    }

    /// The form of a body: one of radius, polygon and box.
    fn outline(&mut self, body: &'d draft::Body) -> Option<Outline> {
        let places = [
            body.radius.as_ref().map(|r| r.1),
            body.polygon.as_ref().map(|p| p.1),
            body.sides.as_ref().map(|s| s.1),
        ];
        if let [_, second, ..] = places.iter().flatten().copied().collect::<Vec<At>>()[..] {
            let name = &body.name.text;
            self.error(second, format!("body `{name}` has two forms"), "give one of radius, polygon and box");
            return None;
        }
        let space = body.at.as_ref().is_some_and(|at| at.len() == 3);
        if let Some((radius, _)) = &body.radius {
            return self.formula(radius, &LENGTH).map(Outline::Round);
        }
        if let Some((corners, at)) = &body.polygon {
            if corners.len() < 3 || corners.iter().any(|c| c.len() != 2) {
                let hint = "write polygon = [[\"-a\", \"-b\"], [\"a\", \"-b\"], [\"0\", \"b\"]]";
                self.error(*at, "a polygon has at least three corners [x, y]", hint);
                return None;
            }
            if space {
                self.error(
                    *at,
                    "a body in space has no polygon",
                    "give box = [a, b, c], or [view] polygons with points in space",
                );
                return None;
            }
            let corner = |c: &'d Vec<draft::Formula>, this: &mut Self| {
                let (x, y) = (this.formula(&c[0], &LENGTH), this.formula(&c[1], &LENGTH));
                Some([x?, y?])
            };
            let corners: Vec<Option<[Expr; 2]>> = corners.iter().map(|c| corner(c, self)).collect();
            return corners.into_iter().collect::<Option<Vec<_>>>().map(Outline::Polygon);
        }
        let (sides, at) = body.sides.as_ref()?;
        let wanted = if space { 3 } else { 2 };
        if sides.len() != wanted {
            let hint = if space { "write box = [\"a\", \"b\", \"c\"]" } else { "write box = [\"a\", \"b\"]" };
            self.error(*at, format!("this box has {} sides, not {wanted}", sides.len()), hint);
            return None;
        }
        let sides: Vec<Option<Expr>> = sides.iter().map(|f| self.formula(f, &LENGTH)).collect();
        sides.into_iter().collect::<Option<Vec<_>>>().map(Outline::Box)
    }

    /// `circles`, `polygons` and `hide` of `[view]`.
    pub fn fill_view(&mut self, view: &mut View) {
        let draft = self.draft;
        for circle in &draft.view.circles {
            let at = self.point(&circle.at);
            let radius = self.formula(&circle.radius, &LENGTH);
            let axis = circle.axis.as_ref().and_then(|(list, at)| {
                if list.len() != 3 {
                    self.error(*at, "an axis has three components", "write [\"0\", \"0\", \"1\"]");
                    return None;
                }
                list.iter().map(|f| self.formula(f, &POINT)).collect()
            });
            if let (Some(at), Some(radius)) = (at, radius) {
                view.circles.push(Circle { at, radius, axis });
            }
        }
        for (corners, at) in &draft.view.polygons {
            if corners.len() < 3 {
                let hint = "write polygons = [[\"origin\", [\"x\", \"0\"], [\"x\", \"y\"]]]";
                self.error(*at, format!("a polygon has at least three corners, not {}", corners.len()), hint);
                continue;
            }
            let corners: Vec<Option<Point>> = corners.iter().map(|p| self.point(p)).collect();
            view.polygons.extend(corners.into_iter().collect::<Option<Vec<_>>>());
        }
        for word in &draft.view.hide {
            let bodies = || draft.bodies.iter().map(|b| b.name.text.as_str());
            if bodies().any(|b| b == word.text) {
                view.hide.push(word.text.clone());
                continue;
            }
            let hint = match nearest(&word.text, bodies()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None if draft.bodies.is_empty() => {
                    "only bodies are hidden, and this model has none".to_owned()
                }
                None => format!("the bodies are {}", bodies().collect::<Vec<_>>().join(", ")),
            };
            self.error(word.at, format!("unknown body `{}`", word.text), hint);
        }
    }
}
