//! What the laws of mechanics say about units: one equation per formula of the model. Pictures (`[view]`, `draw`) are made
//! of plain numbers and say nothing.

use super::{Dimensions, quantity_of};
use crate::draft::{Body, Formula, SignalSource};
use crate::units::Dimension;
use crate::units::system::Affine;
use carom_expr::Rational;

const MINUS_TWO: Rational = Rational::integer(-2);

impl<'d> Dimensions<'_, 'd> {
    /// Goes through all formulas in the order in which a reader meets them.
    pub fn formulas(&mut self) {
        let draft = self.draft;
        for (i, (word, formula)) in draft.parameters.iter().enumerate() {
            if quantity_of(formula).is_none() {
                self.equal(formula, self.parameters[i], &format!("the value of `{}`", word.text));
            }
        }
        for (i, input) in draft.inputs.iter().enumerate() {
            if let SignalSource::Formula(formula) = &input.signal {
                self.equal(formula, self.inputs[i], &format!("the input `{}`", input.name.text));
            }
        }
        for (i, (word, formula)) in draft.definitions.iter().enumerate() {
            self.equal(formula, self.definitions[i], &format!("the definition of `{}`", word.text));
        }
        for (word, formula) in &draft.driven {
            if let Some(i) = draft.coordinates.iter().position(|c| c.text == word.text) {
                self.equal(formula, self.positions[i], &format!("the motion of `{}`", word.text));
            }
        }
        self.energies();
        for body in &draft.bodies {
            self.body(body);
        }
        self.forces();
        self.constraints();
        for (i, (word, formula)) in draft.outputs.iter().enumerate() {
            self.equal(formula, self.outputs[i], &format!("the output `{}`", word.text));
        }
        self.values();
    }

    /// A formula and the unknown it determines.
    fn equal(&mut self, formula: &'d Formula, unknown: usize, what: &str) {
        self.fits(formula, &Affine::unknown(unknown), what, "check the formula, or the stated unit");
    }

    fn fits(&mut self, formula: &'d Formula, wanted: &Affine, what: &str, why: &str) {
        if let Some(found) = self.dimension(formula) {
            self.require(formula.at, &found, wanted, what, why);
        }
    }

    fn energy(&self) -> Affine {
        Affine::unknown(self.energy)
    }

    fn energies(&mut self) {
        let draft = self.draft;
        let energy = self.energy();
        let given = [
            (&draft.kinetic, "the kinetic energy"),
            (&draft.potential, "the potential energy"),
            (&draft.lagrangian, "the Lagrangian"),
            (&draft.hamiltonian, "the Hamiltonian"),
        ];
        for (formula, what) in given {
            if let Some((_, formula)) = formula {
                self.fits(formula, &energy, what, "all energies have the same unit");
            }
        }
        if let (Some((_, formula)), Some(power)) = (&draft.dissipation, self.rate_of(&energy, 1)) {
            let why = "it is half a power: b/2*x'^2 with b*x' a force";
            self.fits(formula, &power, "the dissipation function", why);
        }
    }

    /// m |r′|², m g·r, I ω² are energies.
    fn body(&mut self, body: &'d Body) {
        let energy = self.energy();
        let name = &body.name.text;
        let mass = body.mass.as_ref().and_then(|f| self.dimension(f));
        let gravity: Vec<Option<Affine>> = match &self.draft.gravity {
            Some((list, _)) => list.iter().map(|f| self.dimension(f)).collect(),
            None => Vec::new(),
        };
        for (k, formula) in body.at.iter().flatten().enumerate() {
            let Some(at) = self.dimension(formula) else { continue };
            let speed = self.rate_of(&at, 1);
            if let (Some(mass), Some(speed)) = (&mass, speed)
                && let Some(wanted) = energy.clone().plus(MINUS_TWO, &speed)
            {
                let place = body.mass.as_ref().map_or(formula.at, |f| f.at);
                let what = format!("the mass of `{name}`");
                self.require(place, mass, &wanted, &what, "m|r'|²/2 is its kinetic energy");
            }
            let rate = gravity.get(k).cloned().flatten().zip(self.rate_of(&at, 2));
            if let (Some((gravity, wanted)), Some((list, _))) = (rate, &self.draft.gravity) {
                self.require(list[k].at, &gravity, &wanted, "gravity", "it is an acceleration");
            }
        }
        let mut rates: Vec<Option<Affine>> = Vec::new();
        if let Some(formula) = &body.angle {
            let angle = self.dimension(formula);
            rates.push(angle.and_then(|a| self.rate_of(&a, 1)));
        } else if let Some((list, _)) = &body.spin {
            rates = list.iter().map(|f| self.dimension(f)).collect();
        }
        if let Some((list, _)) = &body.inertia {
            for (formula, rate) in list.iter().zip(rates) {
                let wanted = rate.and_then(|rate| energy.clone().plus(MINUS_TWO, &rate));
                if let Some(wanted) = wanted {
                    let what = format!("the inertia of `{name}`");
                    self.fits(formula, &wanted, &what, "I ω²/2 is its kinetic energy");
                }
            }
        }
    }

    fn forces(&mut self) {
        let draft = self.draft;
        let energy = self.energy();
        for force in &draft.forces {
            let name = &force.name.text;
            if let (Some(at), Some((vector, _))) = (&force.at, &force.vector) {
                for (at, formula) in at.iter().zip(vector) {
                    let at = self.dimension(at);
                    let Some(found) = self.dimension(formula) else { continue };
                    let wanted = at.and_then(|at| energy.clone().plus(Rational::MINUS_ONE, &at));
                    if let Some(wanted) = wanted {
                        let what = format!("the force `{name}`");
                        self.require(formula.at, &found, &wanted, &what, "force times distance is an energy");
                    }
                }
            }
            for (word, formula) in force.generalized.iter().flatten() {
                let Some(i) = draft.coordinates.iter().position(|c| c.text == word.text) else { continue };
                let position = Affine::unknown(self.positions[i]);
                if let Some(wanted) = energy.clone().plus(Rational::MINUS_ONE, &position) {
                    let what = format!("the force on `{}`", word.text);
                    let why = format!("times a change of `{}` it is an energy", word.text);
                    self.fits(formula, &wanted, &what, &why);
                }
            }
        }
    }

    fn constraints(&mut self) {
        let draft = self.draft;
        for (i, (word, formula)) in draft.holonomic.iter().chain(&draft.nonholonomic).enumerate() {
            self.equal(formula, self.rows[i], &format!("the row `{}`", word.text));
        }
        let number = Affine::known(Dimension::NONE);
        for (i, wall) in draft.walls.iter().enumerate() {
            if let Some(formula) = &wall.gap {
                self.equal(formula, self.gaps[i], &format!("the gap of `{}`", wall.name.text));
            }
            if let Some(formula) = &wall.restitution {
                self.fits(formula, &number, "the restitution", "it is a number between 0 and 1");
            }
        }
        for event in &draft.events {
            for formula in event.when.iter().chain(&event.only_if) {
                self.dimension(formula);
            }
            for (word, formula) in event.set.iter().flatten() {
                let bare = word.text.trim_end_matches(['\'', '′', '’']);
                let primes = word.text.chars().count() - bare.chars().count();
                let target = self.named(bare).and_then(|a| self.rate_of(&a, primes as u32));
                if let Some(target) = target {
                    let what = format!("the new value of `{}`", word.text);
                    self.fits(formula, &target, &what, "a reset keeps the unit");
                }
            }
        }
    }

    /// Start and run settings that are formulas.
    fn values(&mut self) {
        for (formula, wanted, what) in self.start_values() {
            if quantity_of(formula).is_none() {
                self.fits(formula, &wanted, &what, "check the value, or the stated unit");
            }
        }
        for (word, formula) in &self.draft.run {
            let (wanted, why) = match word.text.as_str() {
                "until" | "from" | "step" => (Affine::unknown(self.time), "it is a time"),
                "method" | "impact_order" => continue,
                _ => (Affine::known(Dimension::NONE), "it is a number"),
            };
            self.fits(formula, &wanted, &format!("`{}`", word.text), why);
        }
    }

    /// Parameters of the file that are a number with a unit: as good as stated.
    pub fn parameters_with_units(&mut self) {
        for (i, (word, formula)) in self.draft.parameters.iter().enumerate() {
            if quantity_of(formula).is_some() && formula.at.source == 0 {
                let unknown = self.parameters[i];
                self.equal(formula, unknown, &format!("the value of `{}`", word.text));
                self.unknowns[unknown].1 = true;
            }
        }
    }

    /// Start values with a unit, then what was typed with one: judged by the rest.
    pub fn values_with_units(&mut self) {
        let draft = self.draft;
        let parameters = draft.parameters.iter().zip(self.parameters.clone());
        let typed = parameters.filter(|((_, formula), _)| formula.at.source != 0);
        let typed = typed.map(|((word, formula), unknown)| {
            (formula, Affine::unknown(unknown), format!("the value of `{}`", word.text))
        });
        let (mut all, late): (Vec<_>, Vec<_>) =
            self.start_values().into_iter().partition(|(formula, ..)| formula.at.source == 0);
        all.extend(typed.chain(late));
        for (formula, wanted, what) in all {
            if quantity_of(formula).is_some() {
                self.fits(formula, &wanted, &what, "check the value, or the stated unit");
            }
        }
    }

    /// Start values, the dimension each should have, and what it is.
    fn start_values(&self) -> Vec<(&'d Formula, Affine, String)> {
        let draft = self.draft;
        let mut out = Vec::new();
        let coordinate = |text: &str| {
            let bare = text.trim_end_matches(['\'', '′', '’']);
            draft.coordinates.iter().position(|c| c.text == bare)
        };
        for (list, primes) in [(&draft.start.position, 0), (&draft.start.velocity, 1)] {
            for (word, formula) in list {
                let Some(i) = coordinate(&word.text) else { continue };
                let prime = if primes == 1 { "'" } else { "" };
                let wanted = self.rate_of(&Affine::unknown(self.positions[i]), primes);
                let what = format!("the start of `{}{prime}`", draft.coordinates[i].text);
                out.extend(wanted.map(|wanted| (formula, wanted, what)));
            }
        }
        let momenta = draft.momentum_names();
        for (word, formula) in &draft.start.momentum {
            let index = momenta.iter().position(|p| *p == word.text).or_else(|| coordinate(&word.text));
            let wanted = index.and_then(|i| self.momentum(i));
            out.extend(wanted.map(|wanted| (formula, wanted, format!("the start of `{}`", word.text))));
        }
        out
    }
}
