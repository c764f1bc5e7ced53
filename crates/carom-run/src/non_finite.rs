//! What is not a finite number any more, and where.
//!
//! The state first; then every formula as its author wrote it, evaluated at the present state by the plain evaluator; then
//! what is derived from them; then the series of the step. Of a formula without a value, the innermost part that has none
//! although its own parts do is named: `log(x)` at x = −0.25.
//!
//! Promise: this runs once, when a motion has ended; it changes nothing.

use crate::motion::StopReason;
use crate::run::{Halt, Run};
use carom_expr::{Dag, Expr, Function, Node, Style, Symbol};
use carom_mech::mechanics::{Dynamics, Mechanics};
use carom_mech::model::{ForceKind, Physics};

/// Longest formula to quote.
const LONGEST: usize = 60;
/// Most values to quote.
const MOST_VALUES: usize = 4;
/// A singularity this part of the run away, at the present rates, is the one the motion runs into.
const NEAR: f64 = 1e-6;

const LOST: &str = "is not a finite number any more";

/// A formula and what it is.
type Labelled = (String, Expr);

impl Run<'_> {
    /// The end of a motion because something is not a finite number any more.
    pub fn not_finite(&self) -> Halt {
        Halt::new(StopReason::NotFinite, self.non_finite())
    }

    fn non_finite(&self) -> String {
        if let Some(k) = self.now.state.iter().position(|x| !x.is_finite()) {
            return format!("{} {LOST}", self.variable(k));
        }
        let here = Here::of(self, self.now.time.value(), &self.now.state);
        let m = &self.program.mechanics;
        let formulas = author_formulas(m).into_iter().chain(derived_formulas(m));
        for (what, formula) in formulas {
            if let Some(part) = here.without_value(formula) {
                return format!("{what} {LOST}{}", here.quoted(part));
            }
        }
        let (order, what) = self.lost_derivative().unwrap_or((0, "a quantity of the model".into()));
        let near = self.near_singularity(&what);
        match order {
            0 => format!("{what} {LOST}; {near}"),
            1 => format!("the rate of {what} {LOST}; {near}"),
            _ => format!("derivative {order} of {what} {LOST}; {near}"),
        }
    }

    /// The same for a step whose end is no state; it is not taken.
    pub fn not_finite_after(&self, h: f64, end: &[f64]) -> Halt {
        let k = end.iter().position(|x| !x.is_finite()).unwrap_or(0);
        let at = self.now.time.plus(h * self.stepper.unit).value();
        Halt::new(StopReason::NotFinite, format!("{} {LOST} after the step to t = {at:?}", self.variable(k)))
    }

    /// A variable of the state, quoted.
    fn variable(&self, k: usize) -> String {
        let dag = &self.program.mechanics.model.dag;
        match self.program.state.get(k).and_then(|&e| dag.as_symbol(e)) {
            Some(symbol) if k < 2 * self.size() => format!("`{}`", dag.symbol_name(symbol)),
            _ => "the work done".to_owned(),
        }
    }

    /// The lowest derivative in the series of the step that is not finite, and of what.
    fn lost_derivative(&self) -> Option<(usize, String)> {
        let (flow, n) = (self.leg.series()?, self.size());
        let lost = |c: &[f64]| c.iter().position(|x| !x.is_finite());
        let mut worst: Option<(usize, String)> = None;
        let mut see = |k: usize, what: String| {
            if worst.as_ref().is_none_or(|(least, _)| k < *least) {
                worst = Some((k, what));
            }
        };
        for i in 0..self.now.state.len() {
            if let Some(k) = lost(&flow.state(i)) {
                // A derivative of v is one of q.
                match (n..2 * n).contains(&i) && !self.is_hamiltonian() {
                    true => see(k + 1, self.variable(i - n)),
                    false => see(k, self.variable(i)),
                }
            }
        }
        let m = &self.program.mechanics;
        let event = self.program.watched(&self.leg.key).event;
        for (w, wall) in m.walls.iter().enumerate() {
            if let Some(k) = lost(flow.watched(w)) {
                see(k, format!("the gap of wall `{}`", wall.name));
            }
        }
        for (e, model) in m.model.events.iter().enumerate() {
            if let Some(k) = lost(flow.watched(event + e)) {
                see(k, format!("the function of event `{}`", model.name));
            }
        }
        worst
    }

    /// The end of a motion whose steps became too small for time.
    pub fn singular_step(&self, h: f64) -> Halt {
        let what = self.steepest();
        let near = self.near_singularity(&what);
        Halt::new(
            StopReason::Singular,
            format!("the step size fell to {} for the sake of {what}; {near}", crate::figures::figures(h, 2)),
        )
    }

    /// What the series say about the singularity ahead, where `what` is steepest.
    fn near_singularity(&self, what: &str) -> String {
        match self.nearest_singularity() {
            Some((formula, edge)) if formula == what => format!("it is singular at {edge}"),
            Some((formula, edge)) => format!("{formula} is singular at {edge}"),
            None => "the motion runs away, or is not smooth here".to_owned(),
        }
    }

    /// Whose last coefficient is the largest, by its scale.
    fn steepest(&self) -> String {
        let n = self.size();
        let m = &self.program.mechanics;
        let first = self.program.watched(&self.leg.key).event;
        let (state, watched) = self.stepper.taylor.steepest(self.leg.flow(), &self.stepper.extent);
        match (state, watched) {
            (_, Some(w)) if w < m.walls.len() => format!("the gap of wall `{}`", m.walls[w].name),
            (_, Some(w)) if (first..first + m.events.len()).contains(&w) => {
                format!("the function of event `{}`", m.model.events[w - first].name)
            }
            (k, _) if (n..2 * n).contains(&k) && !self.is_hamiltonian() => self.variable(k - n),
            (k, _) => self.variable(k),
        }
    }

    /// The singularity of a formula that is reached first at the present rates, if that is very soon: which formula, where.
    fn nearest_singularity(&self) -> Option<(String, String)> {
        let flow = self.leg.series()?;
        let rates: Vec<f64> = (0..self.now.state.len()).map(|i| flow.rate(i)).collect();
        let t = self.now.time.value();
        let span = t.abs().max(self.options.until - self.options.start.time);
        // u̇ by a difference over a time in which u hardly bends.
        let moment = f64::EPSILON.sqrt() * NEAR * span;
        let later: Vec<f64> = self.now.state.iter().zip(&rates).map(|(x, r)| x + moment * r).collect();
        let (here, there) = (Here::of(self, t, &self.now.state), Here::of(self, t + moment, &later));
        let mut nearest = (NEAR * span, None);
        for (what, formula) in author_formulas(&self.program.mechanics) {
            for (edge, inside) in here.dag.reachable(&[formula]).into_iter().flat_map(|e| edges(here.dag, e))
            {
                let distance =
                    |place: &Here<'_>| edge.distance(place.dag.evaluate(inside, |s| place.value(s)));
                let (u, rate) = (distance(&here), (distance(&there) - distance(&here)) / moment);
                let soon = (u / rate).abs();
                if soon < nearest.0 {
                    let text = here.dag.print(inside, Style::Text);
                    if text.len() <= LONGEST {
                        nearest = (soon, Some((what.clone(), edge.says(&text))));
                    }
                }
            }
        }
        nearest.1
    }
}

/// Where a function of u is not analytic.
#[derive(Clone, Copy)]
enum DomainEdge {
    /// u = 0
    Zero,
    /// u = 1
    One,
    /// u = ±1
    Both,
}

impl DomainEdge {
    fn distance(self, u: f64) -> f64 {
        match self {
            DomainEdge::Zero => u,
            DomainEdge::One => u - 1.0,
            DomainEdge::Both => 1.0 - u.abs(),
        }
    }

    fn says(self, u: &str) -> String {
        match self {
            DomainEdge::Zero => format!("{u} = 0"),
            DomainEdge::One => format!("{u} = 1"),
            DomainEdge::Both => format!("{u} = ±1"),
        }
    }
}

/// Where this one operation is not analytic, and in which argument.
fn edges(dag: &Dag, e: Expr) -> Vec<(DomainEdge, Expr)> {
    match dag.node(e) {
        Node::Product(_, factors) => factors
            .iter()
            .filter(|(_, n)| n.is_negative() || n.to_integer().is_none())
            .map(|&(base, _)| (DomainEdge::Zero, base))
            .collect(),
        Node::Power(base, _) => vec![(DomainEdge::Zero, *base)],
        Node::Function(Function::Log, args) => vec![(DomainEdge::Zero, args[0])],
        Node::Function(Function::Acosh, args) => vec![(DomainEdge::One, args[0])],
        Node::Function(Function::Asin | Function::Acos | Function::Atanh, args) => {
            vec![(DomainEdge::Both, args[0])]
        }
        _ => Vec::new(),
    }
}

/// The values of all symbols at one place.
struct Here<'a> {
    dag: &'a Dag,
    values: Vec<f64>,
}

impl<'a> Here<'a> {
    fn of(run: &'a Run<'_>, time: f64, state: &[f64]) -> Here<'a> {
        let m = &run.program.mechanics;
        let dag = &m.model.dag;
        let mut here = Here { dag, values: vec![f64::NAN; dag.symbol_count()] };
        here.set(m.model.time, time);
        run.program.state.iter().zip(state).for_each(|(&e, &x)| here.set(e, x));
        run.program.parameters.iter().zip(&run.leg.parameters).for_each(|(&e, &x)| here.set(e, x));
        for (input, signal) in m.model.inputs.iter().zip(&run.program.curves) {
            for (order, symbol) in (0..).zip([input.value, input.rate, input.second]) {
                here.set(symbol, signal.value(order, time));
            }
        }
        // In the author's formulas driven coordinates, and velocities of Hamiltonian models, are names.
        for (i, c) in m.model.coordinates.iter().enumerate() {
            for (name, meaning) in [(c.position, m.positions[i]), (c.velocity, m.velocities[i])] {
                if name != meaning {
                    let value = dag.evaluate(meaning, |s| here.value(s));
                    here.set(name, value);
                }
            }
        }
        here
    }

    fn set(&mut self, e: Expr, value: f64) {
        if let Some(symbol) = self.dag.as_symbol(e) {
            self.values[symbol.index()] = value;
        }
    }

    fn value(&self, symbol: Symbol) -> f64 {
        self.values[symbol.index()]
    }

    /// The innermost part of a formula that has no value although its own parts do.
    fn without_value(&self, formula: Expr) -> Option<Expr> {
        let parts = self.dag.reachable(&[formula]);
        let values = self.dag.evaluate_all(&parts, |s| self.value(s));
        // Parts come before what they are part of.
        values.iter().position(|x| !x.is_finite()).map(|k| parts[k])
    }

    /// `: log(x) at x = -0.25`; nothing if that would be long.
    fn quoted(&self, part: Expr) -> String {
        let text = self.dag.print(part, Style::Text);
        let symbols = self.dag.symbols_in(&[part]);
        if text.len() > LONGEST || symbols.len() > MOST_VALUES || self.dag.as_symbol(part).is_some() {
            return String::new();
        }
        let values: Vec<String> =
            symbols.iter().map(|&s| format!("{} = {:?}", self.dag.symbol_name(s), self.value(s))).collect();
        let at = if values.is_empty() { "" } else { " at " };
        format!(": {text}{at}{}", values.join(", "))
    }
}

/// The formulas of the model file that the motion depends on.
fn author_formulas(m: &Mechanics) -> Vec<Labelled> {
    let model = &m.model;
    let mut all: Vec<Labelled> = Vec::new();
    for c in &model.coordinates {
        if let Some(driven) = &c.driven {
            all.push((format!("the driven coordinate `{}`", c.name), driven.position));
            all.push((format!("the rate of the driven coordinate `{}`", c.name), driven.velocity));
        }
    }
    match model.physics {
        Physics::Energies { kinetic, potential } => {
            all.push(("the kinetic energy".into(), kinetic));
            all.push(("the potential energy".into(), potential));
        }
        Physics::Lagrangian(l) => all.push(("the Lagrangian".into(), l)),
        Physics::Hamiltonian(h) => all.push(("the Hamiltonian".into(), h)),
    }
    all.extend(model.dissipation.map(|r| ("the dissipation".into(), r)));
    for force in &model.forces {
        let parts: Vec<Expr> = match &force.kind {
            ForceKind::Point { at, vector } => at.iter().chain(vector).copied().collect(),
            ForceKind::Generalized(parts) => parts.clone(),
        };
        all.extend(parts.into_iter().map(|part| (format!("the force `{}`", force.name), part)));
    }
    all.extend(model.rows.iter().map(|r| (format!("the constraint `{}`", r.name), r.expr)));
    all.extend(model.walls.iter().map(|w| (format!("the gap of wall `{}`", w.name), w.gap)));
    all.extend(model.events.iter().map(|e| (format!("the function of event `{}`", e.name), e.when)));
    all
}

/// What follows from them.
fn derived_formulas(m: &Mechanics) -> Vec<Labelled> {
    let mut all: Vec<Labelled> = Vec::new();
    for (i, &c) in m.free.iter().enumerate() {
        let name = &m.model.coordinates[c].name;
        let equation = format!("the equation of `{name}`");
        let parts: Vec<Expr> = match &m.dynamics {
            Dynamics::Lagrangian(l) => {
                l.mass_matrix[i].iter().chain([&l.bias[i], &l.generalized_force[i]]).copied().collect()
            }
            Dynamics::Degenerate(d) => d.matrix[i].iter().chain([&d.right_side[i]]).copied().collect(),
            Dynamics::Hamiltonian(h) => vec![h.velocity[i], h.force[i]],
        };
        all.extend(parts.into_iter().map(|part| (equation.clone(), part)));
        all.push((format!("the momentum of `{name}`"), m.momenta[c]));
    }
    for row in &m.rows {
        let parts = row.normal.iter().chain([&row.drift, &row.bias]);
        all.extend(parts.map(|&part| (format!("the rate of constraint `{}`", row.name), part)));
    }
    for wall in &m.walls {
        let parts = wall.normal.iter().chain([&wall.gap_t, &wall.gap_rate, &wall.bias]);
        all.extend(parts.map(|&part| (format!("the rate of the gap of wall `{}`", wall.name), part)));
    }
    all
}
