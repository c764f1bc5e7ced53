//! Energies, bodies and forces.
//!
//! A body adds ½ m |ṙ|² to T and −m g·r to V; a planar rigid body also ½ I ω² with ω the rate of its angle; a rigid body
//! in space ½ (I₁w₁² + I₂w₂² + I₃w₃²) with its spin w in principal axes.

use super::Checker;
use super::scope::{Context, INPUT, MOMENTUM, POSITION, TIME, VELOCITY};
use crate::diagnostic::Diagnostic;
use crate::draft::{self, At, Formula};
use crate::model::{Force, ForceKind, Physics};
use carom_expr::{Expr, Rational};

const MOVING: u8 = POSITION | VELOCITY | TIME | INPUT;
const PLACED: u8 = POSITION | TIME | INPUT;

const KINETIC: Context = Context::new("a kinetic energy", MOVING, "write it with coordinates and velocities");
const POTENTIAL: Context = Context::new("a potential energy", MOVING, "write it with coordinates");
const DISSIPATION: Context = Context::new("a dissipation function", MOVING, "write it with velocities");
const LAGRANGIAN: Context = Context::new("a Lagrangian", MOVING, "write it with coordinates and velocities");
const HAMILTONIAN: Context = Context::new(
    "a Hamiltonian",
    POSITION | MOMENTUM | TIME | INPUT,
    "write it with coordinates and momenta",
);
const FORCE: Context = Context::new("a force", MOVING | MOMENTUM, "write it with coordinates and velocities");
const POINT: Context = Context::new("a point", PLACED, "a point depends on coordinates and the time only");
const MASS: Context = Context::new("a mass", 0, "a mass is made of parameters");
const INERTIA: Context = Context::new("a moment of inertia", 0, "an inertia is made of parameters");
const ANGLE: Context = Context::new("an angle", PLACED, "an angle depends on coordinates and the time only");
const SPIN: Context = Context::new("a spin", MOVING, "write it with coordinates and velocities");
const GRAVITY: Context = Context::new("gravity", TIME | INPUT, "gravity is made of parameters and the time");

impl<'d> Checker<'d> {
    /// How the physics is given: exactly one way.
    pub fn physics(&mut self) -> Option<Physics> {
        let draft = self.draft;
        let mut given: Vec<(&str, At)> = Vec::new();
        given.extend(draft.lagrangian.iter().map(|(word, _)| ("`lagrangian`", word.at)));
        given.extend(draft.hamiltonian.iter().map(|(word, _)| ("`hamiltonian`", word.at)));
        if let Some((word, _)) = draft.kinetic.as_ref().or(draft.potential.as_ref()) {
            given.push(("[energy]", word.at));
        } else if let Some(body) = draft.bodies.first() {
            given.push(("bodies", body.name.at));
        }
        given.sort_by_key(|(_, at)| at.start);
        if let [(first, first_at), (second, second_at), ..] = given[..] {
            let line = self.line(first_at);
            let message = format!("the physics is given twice, by {first} and by {second}");
            self.error(second_at, message, format!("keep one of them; the first is on line {line}"));
        }
        if given.is_empty() && !draft.broken {
            let error = Diagnostic::error("nothing says how the system moves").with_hint(
                "add [energy] with kinetic = \"…\" and potential = \"…\", or bodies, or lagrangian = \"…\"",
            );
            self.problems.push(error);
        }
        let bodies = self.body_energies();
        let lagrangian = draft.lagrangian.as_ref().map(|(_, f)| self.formula(f, &LAGRANGIAN));
        let hamiltonian = draft.hamiltonian.as_ref().map(|(_, f)| (self.formula(f, &HAMILTONIAN), f));
        let kinetic = draft.kinetic.as_ref().map(|(_, f)| self.formula(f, &KINETIC));
        let potential = draft.potential.as_ref().map(|(word, f)| (self.formula(f, &POTENTIAL), word, f));
        if let Some((Some(h), formula)) = hamiltonian {
            if self.scope.kinds_of(&self.dag, h) & MOMENTUM == 0 {
                let names = draft.momentum_names().join(", ");
                let hint = format!("write it with the momenta {names}");
                self.error(formula.at, "the Hamiltonian contains no momentum", hint);
            }
            return Some(Physics::Hamiltonian(h));
        }
        if let Some(lagrangian) = lagrangian {
            return lagrangian.map(Physics::Lagrangian);
        }
        if kinetic.is_none() && draft.bodies.is_empty() {
            if let Some((word, _)) = draft.potential.as_ref().filter(|_| !draft.broken) {
                let hint = "write kinetic = \"m/2*x'^2\" in [energy]";
                self.error(word.at, "the kinetic energy is missing", hint);
            }
            return None;
        }
        if let Some((Some(v), _, formula)) = potential {
            self.warn_velocity_in_potential(v, formula);
        }
        let (mut t, mut v) = bodies?;
        if let Some(kinetic) = kinetic {
            t.push(kinetic?);
        }
        if let Some((potential, _, _)) = potential {
            v.push(potential?);
        }
        let (kinetic, potential) = (self.dag.sum(&t), self.dag.sum(&v));
        Some(Physics::Energies { kinetic, potential })
    }

    fn warn_velocity_in_potential(&mut self, v: Expr, formula: &Formula) {
        let Some(name) = self.scope.example(&self.dag, v, VELOCITY) else { return };
        let at = self.part_or_all(formula, &name);
        let message =
            format!("the potential contains the velocity `{name}`, so it is not a potential energy");
        let hint = "write `lagrangian` if you mean a velocity-dependent potential, `dissipation` or [force.*] for friction";
        self.warning(at, message, hint);
    }

    pub fn dissipation(&mut self) -> Option<Expr> {
        let (_, formula) = self.draft.dissipation.as_ref()?;
        let e = self.formula(formula, &DISSIPATION)?;
        if self.scope.kinds_of(&self.dag, e) & VELOCITY == 0 {
            let hint = "its force is -∂R/∂q', so write it with velocities, such as b/2*x'^2";
            self.error(formula.at, "the dissipation function contains no velocity", hint);
        }
        Some(e)
    }

    /// Terms that bodies add to T and V; `None` when a body is wrong.
    fn body_energies(&mut self) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let draft = self.draft;
        let mut fine = true;
        let mut gravity: Option<Vec<Expr>> = None;
        if let Some((components, at)) = &draft.gravity {
            let list: Vec<Option<Expr>> = components.iter().map(|f| self.formula(f, &GRAVITY)).collect();
            if !(2..=3).contains(&list.len()) {
                self.error(*at, "gravity has two or three components", "write gravity = [0.0, \"-g\"]");
                fine = false;
            }
            if draft.bodies.is_empty() && !draft.broken {
                let hint = "write it into the potential, or describe the masses by [body.*]";
                self.warning(*at, "gravity acts on bodies only, and this model has none", hint);
            }
            gravity = list.into_iter().collect();
            fine &= gravity.is_some();
        }
        let (mut t, mut v) = (Vec::new(), Vec::new());
        for body in &draft.bodies {
            match self.body_energy(body, gravity.as_deref()) {
                Some((kinetic, potential)) => {
                    t.extend(kinetic);
                    v.extend(potential);
                }
                None => fine = false,
            }
        }
        fine.then_some((t, v))
    }

    fn body_energy(
        &mut self,
        body: &'d draft::Body,
        gravity: Option<&[Expr]>,
    ) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let name = &body.name.text;
        let mass = body.mass.as_ref().map(|f| self.formula(f, &MASS));
        let at: Option<Vec<Option<Expr>>> =
            body.at.as_ref().map(|list| list.iter().map(|f| self.formula(f, &POINT)).collect());
        let inertia: Option<Vec<Option<Expr>>> =
            body.inertia.as_ref().map(|(list, _)| list.iter().map(|f| self.formula(f, &INERTIA)).collect());
        let angle = body.angle.as_ref().map(|f| self.formula(f, &ANGLE));
        let spin: Option<Vec<Option<Expr>>> =
            body.spin.as_ref().map(|(list, _)| list.iter().map(|f| self.formula(f, &SPIN)).collect());
        let missing = match (&mass, &at) {
            _ if body.broken => None,
            (None, _) => Some(("mass", "mass = \"m\"")),
            (_, None) => Some(("position", "at = [\"x\", \"y\"]")),
            _ => None,
        };
        if let Some((what, sample)) = missing {
            self.error(body.name.at, format!("body `{name}` has no {what}"), format!("write {sample}"));
        }
        // Everything is looked at before the first mistake ends it.
        let mut kinetic = Vec::new();
        let turning = self.turning_energy(body, inertia, angle, spin, &mut kinetic);
        let place = list_place(body.at.as_deref(), body.name.at);
        let at = at?;
        if !(2..=3).contains(&at.len()) {
            self.error(place, "a body has two or three coordinates in space", "write at = [\"x\", \"y\"]");
            return None;
        }
        if let Some(gravity) = gravity
            && gravity.len() != at.len()
        {
            let message = format!("the position has {} components, gravity has {}", at.len(), gravity.len());
            self.error(place, message, "give both two or both three");
            return None;
        }
        turning?;
        let mass = mass??;
        let at: Vec<Expr> = at.into_iter().collect::<Option<_>>()?;
        let mut moving = Vec::new();
        for &r in &at {
            let rate = self.scope.rate(&mut self.dag, r)?;
            let square = self.dag.powi(rate, 2);
            let term = self.dag.mul(mass, square);
            moving.push(self.dag.scale(Rational::HALF, term));
        }
        moving.append(&mut kinetic);
        let mut potential = Vec::new();
        for (&g, &r) in gravity.unwrap_or_default().iter().zip(&at) {
            let term = self.dag.product(&[mass, g, r]);
            potential.push(self.dag.neg(term));
        }
        Some((moving, potential))
    }

    fn turning_energy(
        &mut self,
        body: &'d draft::Body,
        inertia: Option<Vec<Option<Expr>>>,
        angle: Option<Option<Expr>>,
        spin: Option<Vec<Option<Expr>>>,
        kinetic: &mut Vec<Expr>,
    ) -> Option<()> {
        let inertia_at = body.inertia.as_ref().map_or(body.name.at, |(_, at)| *at);
        let spin_at = body.spin.as_ref().map_or(body.name.at, |(_, at)| *at);
        let rates: Vec<Option<Expr>> = match (&inertia, angle, spin) {
            (None, _, None) => return Some(()),
            (None, _, Some(_)) => {
                self.error(spin_at, "a spin needs an inertia", "write inertia = [\"I1\", \"I2\", \"I3\"]");
                return None;
            }
            (Some(_), Some(_), Some(_)) => {
                self.error(
                    spin_at,
                    "a body has an angle or a spin, not both",
                    "angle in the plane, spin in space",
                );
                return None;
            }
            (Some(_), None, None) if body.broken => return None,
            (Some(list), None, None) => {
                let sample =
                    if list.len() == 1 { "angle = \"theta\"" } else { "spin = [\"w1\", \"w2\", \"w3\"]" };
                self.error(inertia_at, "nothing says how the body turns", format!("write {sample}"));
                return None;
            }
            (Some(_), Some(angle), None) => vec![angle.and_then(|e| self.scope.rate(&mut self.dag, e))],
            (Some(_), None, Some(spin)) => spin,
        };
        let inertia = inertia?;
        if inertia.len() != rates.len() || !matches!(rates.len(), 1 | 3) {
            let message =
                format!("{} moments of inertia for {} rates of turning", inertia.len(), rates.len());
            let hint = "one inertia and an angle in the plane, three and a spin of three components in space";
            self.error(inertia_at, message, hint);
            return None;
        }
        for (inertia, rate) in inertia.into_iter().zip(rates) {
            let square = self.dag.powi(rate?, 2);
            let term = self.dag.mul(inertia?, square);
            kinetic.push(self.dag.scale(Rational::HALF, term));
        }
        Some(())
    }

    pub fn forces(&mut self) -> Vec<Force> {
        let draft = self.draft;
        let mut forces = Vec::new();
        for force in &draft.forces {
            if let Some(kind) = self.force(force) {
                forces.push(Force { name: force.name.text.clone(), kind });
            }
        }
        forces
    }

    fn force(&mut self, force: &'d draft::Force) -> Option<ForceKind> {
        let name = &force.name.text;
        let at: Option<Vec<Option<Expr>>> =
            force.at.as_ref().map(|list| list.iter().map(|f| self.formula(f, &POINT)).collect());
        let vector: Option<Vec<Option<Expr>>> =
            force.vector.as_ref().map(|(list, _)| list.iter().map(|f| self.formula(f, &FORCE)).collect());
        let generalized = force.generalized.as_ref().map(|list| self.generalized(list));
        match (at, vector, generalized) {
            (None, None, Some(generalized)) => generalized.map(ForceKind::Generalized),
            (Some(at), Some(vector), None) => {
                if at.len() != vector.len() || !(1..=3).contains(&at.len()) {
                    self.unequal(force, at.len(), vector.len());
                    return None;
                }
                let at: Option<Vec<Expr>> = at.into_iter().collect();
                let vector: Option<Vec<Expr>> = vector.into_iter().collect();
                Some(ForceKind::Point { at: at?, vector: vector? })
            }
            (at, vector, Some(_)) => {
                if let (Some(at), Some(vector)) = (&at, &vector)
                    && at.len() != vector.len()
                {
                    self.unequal(force, at.len(), vector.len());
                }
                let hint = "keep `at` and `vector`, or `generalized`";
                self.error(force.name.at, format!("force `{name}` is given twice"), hint);
                None
            }
            _ if force.broken => None,
            (Some(_), None, None) => {
                let hint = "write vector = [0.0, \"F\"]";
                self.error(force.name.at, format!("force `{name}` has a point but no vector"), hint);
                None
            }
            (None, Some(_), None) => {
                let hint = "write at = [\"x\", \"y\"]";
                self.error(force.name.at, format!("force `{name}` has a vector but no point"), hint);
                None
            }
            (None, None, None) => {
                let hint =
                    "write at = [\"x\", \"y\"] and vector = [0.0, \"F\"], or generalized = { x = \"F\" }";
                self.error(force.name.at, format!("force `{name}` is empty"), hint);
                None
            }
        }
    }

    fn unequal(&mut self, force: &draft::Force, at: usize, vector: usize) {
        let place = force.vector.as_ref().map_or(force.name.at, |(_, at)| *at);
        let message = format!("the point has {}, the vector {vector}", components(at));
        self.error(place, message, "give both the same number, two or three");
    }

    /// One entry per coordinate, zero where not named.
    fn generalized(&mut self, list: &'d [draft::Assignment]) -> Option<Vec<Expr>> {
        let zero = self.dag.zero();
        let mut force = vec![zero; self.draft.coordinates.len()];
        let mut fine = true;
        for (word, formula) in list {
            let e = self.formula(formula, &FORCE);
            match (self.coordinate(word, "a generalized force belongs to a coordinate"), e) {
                (Some(i), Some(e)) => force[i] = e,
                _ => fine = false,
            }
        }
        fine.then_some(force)
    }
}

fn components(n: usize) -> String {
    format!("{n} component{}", if n == 1 { "" } else { "s" })
}

/// The place of a list of formulas.
fn list_place(list: Option<&[Formula]>, otherwise: At) -> At {
    match list {
        Some([first, .., last]) => At { end: last.at.end, ..first.at },
        Some([only]) => only.at,
        _ => otherwise,
    }
}
