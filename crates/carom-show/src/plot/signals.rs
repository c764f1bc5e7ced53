//! Everything about a motion that can be plotted, by name.
//!
//! ```text
//! time · x · x' · p_x · energy · hamiltonian · kinetic · potential · gap.WALL · f.WALL · mu.ROW · drive.COORDINATE · OUTPUT · DEFINITION
//! groups: positions velocities momenta energies gaps contacts multipliers drives outputs
//! ```
//!
//! Values come from the motion's samples; at the two sides of a jump from its record, or from the formula at that state.

use crate::draw::{Label, is_greek};
use crate::table::momentum_column;
use crate::track::{Knot, Track};
use carom_expr::Expr;
use carom_expr::nearest;
use carom_mech::units::DisplayUnit;
use carom_mech::{Diagnostic, Physics, Severity};
use carom_run::Signal;

/// A quantity that can be plotted.
#[derive(Clone, Debug)]
pub struct PlotSignal<'a> {
    /// How `--plot` calls it.
    pub name: String,
    /// How an axis calls it.
    pub label: Label,
    /// The unit it is shown in, if the model gives one.
    pub unit: Option<String>,
    /// Values in coherent units are divided by this to be shown.
    factor: f64,
    /// What it is.
    pub kind: SignalKind,
    samples: Option<&'a [f64]>,
    formula: Option<Expr>,
}

/// What a signal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalKind {
    /// t
    Time,
    /// q of a coordinate.
    Position(usize),
    /// v of a coordinate.
    Velocity(usize),
    /// p of a coordinate.
    Momentum(usize),
    /// E
    Hamiltonian,
    /// T + V, T or V.
    Energy,
    /// φ of a wall.
    Gap,
    /// A force, which may also jump where a contact begins or ends.
    Force(Forces),
    /// A user's output.
    Output,
    /// A definition of the model.
    Definition,
}

/// Kinds of forces.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forces {
    Contact,
    Multiplier,
    Drive,
}

/// All signals of a motion.
pub struct SignalCatalog<'a> {
    /// The motion.
    pub track: &'a Track<'a>,
    /// In the order of the module header.
    pub signals: Vec<PlotSignal<'a>>,
}

impl<'a> SignalCatalog<'a> {
    /// Lists what can be plotted.
    pub fn new(track: &'a Track<'a>) -> SignalCatalog<'a> {
        let (motion, mechanics) = (track.motion, track.mechanics);
        let model = &mechanics.model;
        let unit = |name: &str| model.shown_unit(name);
        let mut signals: Vec<PlotSignal<'a>> = Vec::new();
        let mut add =
            |name: String, kind: SignalKind, samples: Option<&'a [f64]>, formula, of: Option<DisplayUnit>| {
                if signals.iter().all(|s| s.name != name) {
                    let label = Label::name(&name);
                    let factor = of.as_ref().map_or(1.0, |shown| shown.factor);
                    let unit = of.map(|shown| shown.label);
                    signals.push(PlotSignal { unit, factor, label, name, kind, samples, formula });
                }
            };
        add("time".into(), SignalKind::Time, Some(&motion.time), Some(model.time), unit("t"));
        for (k, s) in motion.position.iter().enumerate() {
            let formula = model.coordinates.get(k).map(|c| c.position);
            add(s.name.clone(), SignalKind::Position(k), Some(&s.values), formula, unit(&s.name));
        }
        for (k, s) in motion.velocity.iter().enumerate() {
            let formula = model.coordinates.get(k).map(|c| c.velocity);
            let name = format!("{}'", s.name);
            let unit = unit(&name);
            add(name, SignalKind::Velocity(k), Some(&s.values), formula, unit);
        }
        for (k, s) in motion.momentum.iter().enumerate() {
            let name = model.coordinates.get(k).map_or_else(|| format!("p_{}", s.name), momentum_column);
            let unit = unit(&name);
            add(name, SignalKind::Momentum(k), Some(&s.values), mechanics.momenta.get(k).copied(), unit);
        }
        let energy_unit = unit("energy");
        let energy = mechanics.energy;
        add("energy".into(), SignalKind::Energy, Some(&motion.energy), Some(energy), energy_unit.clone());
        let hamiltonian = mechanics.hamiltonian;
        let values = Some(motion.hamiltonian.as_slice());
        add("hamiltonian".into(), SignalKind::Hamiltonian, values, Some(hamiltonian), energy_unit.clone());
        if let (Physics::Energies { .. }, [kinetic, potential]) =
            (&model.physics, &mechanics.energy_terms[..])
        {
            add("kinetic".into(), SignalKind::Energy, None, Some(*kinetic), energy_unit.clone());
            add("potential".into(), SignalKind::Energy, None, Some(*potential), energy_unit);
        }
        let mut add_all =
            |prefix: &str, kind: SignalKind, list: &'a [Signal], formulas: &dyn Fn(usize) -> Option<Expr>| {
                for (i, s) in list.iter().enumerate() {
                    let name = format!("{prefix}{}", s.name);
                    let unit = unit(&name).or_else(|| unit(&s.name).filter(|_| prefix.is_empty()));
                    add(name, kind, Some(&s.values), formulas(i), unit);
                }
            };
        add_all("gap.", SignalKind::Gap, &motion.gap, &|i| mechanics.walls.get(i).map(|w| w.gap));
        add_all("f.", SignalKind::Force(Forces::Contact), &motion.contact_force, &|_| None);
        add_all("mu.", SignalKind::Force(Forces::Multiplier), &motion.multiplier, &|_| None);
        add_all("drive.", SignalKind::Force(Forces::Drive), &motion.driving_force, &|_| None);
        add_all("", SignalKind::Output, &motion.output, &|i| mechanics.outputs.get(i).copied());
        for d in &model.definitions {
            add(d.name.clone(), SignalKind::Definition, None, Some(d.expr), unit(&d.name));
        }
        // One wall, row or drive needs no index on its symbol; words read better upright.
        for s in &mut signals {
            match s.kind {
                SignalKind::Time => s.label = Label::name("t"),
                SignalKind::Energy if s.name == "kinetic" => s.label = Label::name("T"),
                SignalKind::Energy if s.name == "potential" => s.label = Label::name("V"),
                SignalKind::Energy if s.name == "energy" => {
                    s.label = Label::name("T").then(" + ").join(Label::name("V"))
                }
                SignalKind::Hamiltonian => s.label = Label::name("H"),
                SignalKind::Gap => s.label = Label::name(&format!("phi{}", s.name.trim_start_matches("gap"))),
                SignalKind::Output | SignalKind::Definition
                    if s.name.contains('_') && !starts_with_letter(&s.name) =>
                {
                    s.label = Label::plain(&s.name.replace('_', " "));
                }
                _ => {}
            }
        }
        SignalCatalog { track, signals }
    }

    /// The signal or the group of signals called `name`.
    pub fn find(&self, name: &str) -> Result<Vec<&PlotSignal<'a>>, Vec<Diagnostic>> {
        let named = |n: &str| self.signals.iter().filter(|s| s.name == n).collect::<Vec<_>>();
        let of =
            |f: &dyn Fn(&SignalKind) -> bool| self.signals.iter().filter(|s| f(&s.kind)).collect::<Vec<_>>();
        let outputs = self.signals.iter().filter(|s| s.kind == SignalKind::Output);
        if outputs.clone().any(|s| s.name == name) {
            return Ok(named(name));
        }
        let found = match name {
            "t" => named("time"),
            "energy" | "energies" => {
                let mut all = of(&|k| *k == SignalKind::Energy);
                all.sort_by_key(|s| ["kinetic", "potential", "energy"].iter().position(|n| *n == s.name));
                all
            }
            "positions" | "coordinates" => of(&|k| matches!(k, SignalKind::Position(_))),
            "velocities" => of(&|k| matches!(k, SignalKind::Velocity(_))),
            "momenta" => of(&|k| matches!(k, SignalKind::Momentum(_))),
            "gap" | "gaps" => of(&|k| *k == SignalKind::Gap),
            "contacts" | "forces" => of(&|k| *k == SignalKind::Force(Forces::Contact)),
            "multipliers" => of(&|k| *k == SignalKind::Force(Forces::Multiplier)),
            "drives" => of(&|k| *k == SignalKind::Force(Forces::Drive)),
            "outputs" => of(&|k| *k == SignalKind::Output),
            _ => {
                let mut found = named(name);
                if found.is_empty() {
                    // A row or wall by its label alone: its multiplier, its gap.
                    for prefix in ["mu.", "gap.", "drive."] {
                        if found.is_empty() {
                            found = named(&format!("{prefix}{name}"));
                        }
                    }
                }
                found
            }
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let groups = ["positions", "velocities", "momenta", "energies", "gaps", "outputs", "multipliers"];
        let known = self.signals.iter().map(|s| s.name.as_str()).chain(groups);
        let hint = match nearest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = if groups.contains(&name) || matches!(name, "gap" | "contacts" | "drives") {
            format!("nothing to plot for `{name}` in this model")
        } else {
            format!("unknown signal `{name}`")
        };
        Err(vec![Diagnostic { severity: Severity::Error, place: None, message, hint: Some(hint) }])
    }

    /// The values of a signal at `knots`; NaN where it is not known.
    pub fn values(&self, signal: &PlotSignal<'_>, knots: &[Knot]) -> Vec<f64> {
        let track = self.track;
        let direct = |knot: Knot| -> Option<f64> {
            match (signal.kind, knot) {
                (SignalKind::Time, knot) => Some(track.time(knot)),
                (SignalKind::Position(k), knot) => Some(track.position(knot, k)),
                (SignalKind::Velocity(k), knot) => Some(track.velocity(knot, k)),
                (SignalKind::Hamiltonian, Knot::Before(j)) => Some(track.jumps[j].hamiltonian.0),
                (SignalKind::Hamiltonian, Knot::After(j)) => Some(track.jumps[j].hamiltonian.1),
                (_, Knot::Sample(i)) => signal.samples.map(|v| v.get(i).copied().unwrap_or(f64::NAN)),
                _ => None,
            }
        };
        let mut values: Vec<f64> = Vec::with_capacity(knots.len());
        let mut missing: Vec<usize> = Vec::new();
        for (i, &knot) in knots.iter().enumerate() {
            values.push(direct(knot).unwrap_or_else(|| {
                missing.push(i);
                f64::NAN
            }));
        }
        if let Some(formula) = signal.formula.filter(|_| !missing.is_empty()) {
            let wanted: Vec<Knot> = missing.iter().map(|&i| knots[i]).collect();
            for (i, v) in missing.into_iter().zip(track.evaluate_one(formula, &wanted)) {
                values[i] = v;
            }
        }
        if signal.factor != 1.0 {
            values.iter_mut().for_each(|v| *v /= signal.factor);
        }
        values
    }

    /// Is this an angle: measured in radians, or a coordinate with a Greek name?
    pub fn is_angle(&self, signal: &PlotSignal<'_>) -> bool {
        match signal.unit.as_deref() {
            Some(unit) => unit == "rad",
            None => matches!(signal.kind, SignalKind::Position(_)) && is_greek(&signal.name),
        }
    }
}

/// `x_wall`, `theta_max`: a symbol with an index rather than words.
fn starts_with_letter(name: &str) -> bool {
    name.split('_').next().is_some_and(|s| s.chars().count() <= 2 || is_greek(s))
}
