//! Rules about numbers, looked at when all formulas are right.
//!
//! ```text
//! start on the rows    |c(q₀, t₀)| and |A v₀ + b| ≤ 1e-9 of the row's terms      (THEORY §2)
//! start before walls   φ(q₀, t₀) ≥ −16 units of rounding of the gap's terms      (THEORY §3)
//! ```
//!
//! What the start does not name and the rows determine is computed here and written into the model's start.

use super::names::words_in;
use super::{Checker, short};
use crate::diagnostic::Diagnostic;
use crate::draft::{At, Formula};
use crate::frame::Frame;
use crate::mechanics::RowMechanics;
use crate::model::{Model, Physics, RowKind};
use crate::numeric::Singular;
use crate::redundant::dependent_rows;
use crate::sample::Samples;
use carom_expr::{Dag, Expr, Node, Symbol, evaluate_function};
use std::collections::{HashMap, HashSet};

/// A row's residual below this part of its terms counts as zero; the first step projects it away.
const ROW_TOLERANCE: f64 = 1e-9;
/// A gap within this many units of rounding of its terms counts as zero.
const GAP_ROUNDING: f64 = 16.0 * f64::EPSILON;

impl Checker<'_> {
    /// Reports what is wrong with the numbers of a model, and completes its start.
    pub fn check_numbers(&mut self, model: &mut Model) {
        if !self.check_divisions(model) {
            return; // nothing below has a value
        }
        self.check_shapes(model);
        self.check_masses(model);
        let mut frame = Frame::new(model);
        let rows = bare_rows(model, &mut frame);
        if self.check_contradictions(model, &frame, &rows) {
            return;
        }
        let placed = self.check_rows(model, &frame, &rows);
        if placed {
            self.check_energy_at_start(model, &frame);
            self.check_walls_at_start(model, &frame);
        }
    }

    /// Divisions by parameters that are zero, roots and logarithms of parameters that have none.
    fn check_divisions(&mut self, model: &Model) -> bool {
        let roots: Vec<Expr> = self.formulas.iter().map(|(e, _)| *e).collect();
        let bad = undefined_nodes(&model.dag, &roots, &self.values);
        if bad.is_empty() {
            return true;
        }
        let mut told: HashSet<Expr> = HashSet::new();
        for (root, formula) in std::mem::take(&mut self.formulas) {
            for node in model.dag.reachable(&[root]) {
                let Some(&culprit) = bad.get(&node) else { continue };
                if !told.insert(culprit) {
                    continue; // one parameter, one message
                }
                let names: Vec<String> = model
                    .dag
                    .reachable(&[culprit])
                    .into_iter()
                    .filter_map(|e| model.dag.as_symbol(e))
                    .map(|s| {
                        format!("{} = {}", model.dag.symbol_name(s), self.values.get(&s).unwrap_or(&f64::NAN))
                    })
                    .collect();
                let value = model.dag.evaluate(culprit, |s| self.values.get(&s).copied().unwrap_or(f64::NAN));
                let at = self.word_near(formula, &model.dag, culprit, value == 0.0);
                let message = if value == 0.0 {
                    "division by zero".to_owned()
                } else {
                    "this has no real value for these parameters".to_owned()
                };
                self.error(at, message, format!("here {}", names.join(", ")));
            }
        }
        told.is_empty()
    }

    /// The place of a parameter of `e` in a formula, after a `/` when it divides.
    fn word_near(&self, formula: &Formula, dag: &Dag, e: Expr, divides: bool) -> At {
        let names: HashSet<&str> = dag
            .reachable(&[e])
            .into_iter()
            .filter_map(|e| dag.as_symbol(e))
            .map(|s| dag.symbol_name(s))
            .collect();
        let text = &formula.text;
        let words: Vec<(usize, usize)> =
            words_in(text).into_iter().filter(|&(start, end)| names.contains(&text[start..end])).collect();
        // Runs of words that mention every name.
        let runs = words.windows(names.len().max(1)).filter(|run| {
            run.iter().map(|&(start, end)| &text[start..end]).collect::<HashSet<_>>().len() == names.len()
        });
        let runs: Vec<(usize, usize)> = runs.map(|run| (run[0].0, run[run.len() - 1].1)).collect();
        let fits = |&&(start, _): &&(usize, usize)| {
            let before = text[..start].trim_end();
            if divides { before.trim_end_matches([' ', '(']).ends_with('/') } else { before.ends_with('(') }
        };
        match runs.iter().find(fits).or(runs.first()).or(words.first()) {
            Some(&(start, end)) => self.draft.part_of(formula, start, end),
            None => formula.at,
        }
    }

    /// Gaps that are squares, walls that are the same.
    fn check_shapes(&mut self, model: &Model) {
        for (i, wall) in model.walls.iter().enumerate() {
            let at = self.gap_place(&wall.name);
            if let Node::Product(_, factors) = model.dag.node(wall.gap)
                && factors.iter().any(|(_, n)| n.to_f64() > 1.0)
            {
                let message = format!(
                    "the gap of wall `{}` is flat where it is zero, so no impact can happen",
                    wall.name
                );
                self.warning(at, message, "use a gap that grows like a distance, not like its square");
            }
            if let Some(first) = model.walls[..i].iter().find(|w| w.gap == wall.gap) {
                let message = format!("walls `{}` and `{}` are the same", first.name, wall.name);
                self.warning(at, message, "remove one of them");
            }
        }
    }

    /// The place of a wall's gap; the walls of one `min` share it.
    fn gap_place(&self, name: &str) -> At {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let wall = self.draft.walls.iter().find(|w| w.name.text == name);
        let wall = wall.or_else(|| self.draft.walls.iter().find(|w| w.name.text == stem));
        let nowhere = At { source: 0, start: 0, end: 0 };
        wall.map_or(nowhere, |w| w.gap.as_ref().map_or(w.name.at, |gap| gap.at))
    }

    /// Masses that are zero or negative and make the mass matrix singular or indefinite.
    fn check_masses(&mut self, model: &mut Model) {
        let energy = match model.physics {
            Physics::Energies { kinetic, .. } => kinetic,
            Physics::Lagrangian(l) => l,
            Physics::Hamiltonian(_) => return,
        };
        let inside = model.dag.reachable(&[energy]);
        let suspects: Vec<usize> = (0..model.parameters.len())
            .filter(|&i| {
                model.parameters[i].value <= 0.0 && inside.binary_search(&model.parameters[i].symbol).is_ok()
            })
            .collect();
        if suspects.is_empty() {
            return;
        }
        let velocities: Vec<Expr> =
            model.coordinates.iter().filter(|c| c.driven.is_none()).map(|c| c.velocity).collect();
        let mut w: Vec<Vec<Expr>> = Vec::new();
        for &a in &velocities {
            let p = model.dag.derivative(energy, a);
            w.push(velocities.iter().map(|&b| model.dag.derivative(p, b)).collect());
        }
        let at_start = |changed: Option<usize>| -> Vec<Vec<f64>> {
            let values = start_values(model);
            w.iter()
                .map(|row| {
                    model.dag.evaluate_all(row, |s| match changed {
                        Some(i) if model.dag.as_symbol(model.parameters[i].symbol) == Some(s) => {
                            let value = model.parameters[i].value;
                            if value == 0.0 { 1.0 } else { -value }
                        }
                        _ => values.get(&s).copied().unwrap_or(0.0),
                    })
                })
                .collect()
        };
        let now = definite(&at_start(None));
        let mut told = Vec::new();
        for i in suspects {
            let then = definite(&at_start(Some(i)));
            if now < then {
                told.push((i, now));
            }
        }
        for (i, now) in told {
            let parameter = &model.parameters[i];
            let what = if now == Definite::Singular { "singular" } else { "negative in some direction" };
            let message =
                format!("the mass matrix is {what} because {} = {}", parameter.name, parameter.value);
            let at =
                self.draft.parameters.iter().find(|(word, _)| word.text == parameter.name).map(|(_, f)| f.at);
            if let Some(at) = at {
                self.warning(at, message, "a mass or an inertia is positive");
            }
        }
    }

    /// Rows that cannot hold together; answers whether there are any.
    fn check_contradictions(&mut self, model: &Model, frame: &Frame, rows: &[RowMechanics]) -> bool {
        if rows.len() < 2 {
            return false;
        }
        let domain: Vec<Expr> = rows.iter().flat_map(|r| r.normal.iter().copied()).collect();
        let mut samples = Samples::new(model, frame, self.scope.hamiltonian, &domain);
        let found = dependent_rows(&model.dag, &mut samples, rows);
        let errors: Vec<Diagnostic> = found.into_iter().filter(Diagnostic::is_error).collect();
        let any = !errors.is_empty();
        self.problems.extend(errors.into_iter().map(|d| self.draft.locate(d)));
        any
    }

    /// Does the start satisfy the rows? Completes what it leaves open. Answers whether positions are known now.
    fn check_rows(&mut self, model: &mut Model, frame: &Frame, rows: &[RowMechanics]) -> bool {
        let usable = |e: Expr, model: &Model| !mentions_tables(model, e);
        // Positions.
        let holonomic: Vec<&RowMechanics> =
            rows.iter().filter(|r| r.position.is_some_and(|c| usable(c, model))).collect();
        let conditions: Vec<Expr> = holonomic.iter().filter_map(|r| r.position).collect();
        let slopes: Vec<Vec<Expr>> = holonomic.iter().map(|r| r.normal.clone()).collect();
        let free = frame.free.clone();
        let open: Vec<usize> = (0..free.len()).filter(|&k| model.start.position[free[k]].is_none()).collect();
        let symbols: Vec<Expr> = free.iter().map(|&i| model.coordinates[i].position).collect();
        let failures = match complete(model, &conditions, &slopes, &symbols, &open) {
            Ok(found) => {
                for (k, value) in found {
                    model.start.position[free[k]] = Some(value);
                }
                Vec::new()
            }
            Err(failures) => failures,
        };
        if model.start.project && !failures.is_empty() {
            return false;
        }
        for &(r, residual) in &failures {
            self.off_row(&holonomic[r].name, RowKind::Holonomic, "start", residual);
        }
        if !failures.is_empty() {
            return false;
        }
        // Velocities.
        let moving: Vec<&RowMechanics> = rows
            .iter()
            .filter(|r| usable(r.drift, model) && r.normal.iter().all(|&e| usable(e, model)))
            .collect();
        let mut conditions = Vec::new();
        let velocities = velocity_forms(model, frame);
        for row in &moving {
            let mut parts = vec![row.drift];
            for (&n, &v) in row.normal.iter().zip(&velocities) {
                parts.push(model.dag.mul(n, v));
            }
            conditions.push(model.dag.sum(&parts));
        }
        let hamiltonian = self.scope.hamiltonian;
        let symbols: Vec<Expr> = free
            .iter()
            .map(|&i| if hamiltonian { model.coordinates[i].momentum } else { model.coordinates[i].velocity })
            .collect();
        let slopes: Vec<Vec<Expr>> = conditions
            .iter()
            .map(|&c| symbols.iter().map(|&x| model.dag.derivative(c, x)).collect())
            .collect();
        let given = if hamiltonian { &model.start.momentum } else { &model.start.velocity };
        let open: Vec<usize> = (0..free.len()).filter(|&k| given[free[k]].is_none()).collect();
        match complete(model, &conditions, &slopes, &symbols, &open) {
            Ok(found) => {
                let given = if hamiltonian { &mut model.start.momentum } else { &mut model.start.velocity };
                for (k, value) in found {
                    given[free[k]] = Some(value);
                }
            }
            Err(failures) if !model.start.project => {
                let what = if hamiltonian { "start momentum" } else { "start velocity" };
                for (r, residual) in failures {
                    self.off_row(&moving[r].name, moving[r].kind, what, residual);
                }
            }
            Err(_) => {}
        }
        true
    }

    fn off_row(&mut self, name: &str, kind: RowKind, what: &str, residual: f64) {
        let list = if kind == RowKind::Holonomic { &self.draft.holonomic } else { &self.draft.nonholonomic };
        let Some(at) = list.iter().find(|(word, _)| word.text == name).map(|(_, f)| f.at) else { return };
        let rate = if kind == RowKind::Holonomic && what != "start" { "the rate of " } else { "" };
        let message =
            format!("the {what} violates row `{name}`: {rate}it is {} instead of 0", short(residual));
        self.error(
            at,
            message,
            "correct the start, or let it be moved: project = true in [start], or --project",
        );
    }

    /// Energies must be finite where the motion starts.
    fn check_energy_at_start(&mut self, model: &mut Model, frame: &Frame) {
        let draft = self.draft;
        let mut parts: Vec<(&str, Expr, Option<At>)> = Vec::new();
        let place = |given: &Option<crate::draft::Assignment>| given.as_ref().map(|(_, f)| f.at);
        match model.physics {
            Physics::Energies { kinetic, potential } => {
                parts.push(("kinetic energy", kinetic, place(&draft.kinetic)));
                parts.push(("potential energy", potential, place(&draft.potential)));
            }
            Physics::Lagrangian(l) => parts.push(("Lagrangian", l, place(&draft.lagrangian))),
            Physics::Hamiltonian(h) => parts.push(("Hamiltonian", h, place(&draft.hamiltonian))),
        }
        for (what, e, at) in parts {
            if mentions_tables(model, e) {
                continue;
            }
            let e = frame.inserted(&mut model.dag, e);
            let values = start_values(model);
            let value = model.dag.evaluate(e, |s| values.get(&s).copied().unwrap_or(0.0));
            if value.is_finite() {
                continue;
            }
            let how = if value.is_nan() { "undefined" } else { "infinite" };
            let inside = model.dag.reachable(&[e]);
            let state: Vec<String> = frame
                .free
                .iter()
                .filter(|&&i| inside.binary_search(&model.coordinates[i].position).is_ok())
                .map(|&i| {
                    format!("{} = {}", model.coordinates[i].name, model.start.position[i].unwrap_or(0.0))
                })
                .collect();
            let hint = format!("choose another [start]; now {}", state.join(", "));
            let message = format!("the {what} is {how} at the start");
            let error = Diagnostic::error(message).with_hint(hint);
            self.problems.push(match at {
                Some(at) => error.at(draft.place(at)),
                None => error,
            });
        }
    }

    fn check_walls_at_start(&mut self, model: &mut Model, frame: &Frame) {
        for i in 0..model.walls.len() {
            let gap = model.walls[i].gap;
            if mentions_tables(model, gap) {
                continue;
            }
            let gap = frame.inserted(&mut model.dag, gap);
            let x = Samples::at(symbol_values(model), Vec::new()).values(&model.dag, gap)[0];
            let name = model.walls[i].name.clone();
            let at = self.gap_place(&name);
            if !x.value.is_finite() {
                let message = format!("the gap of wall `{name}` has no value at the start");
                self.error(at, message, "choose another [start], or another gap");
            } else if x.value < -GAP_ROUNDING * x.magnitude {
                let message = format!("the start is behind wall `{name}`, {} deep", short(-x.value));
                self.error(
                    at,
                    message,
                    "the gap must not be negative: move the start, or change the sign of the gap",
                );
            }
        }
    }
}

/// The rows A v + b with driven motion inserted, without their second rates.
fn bare_rows(model: &mut Model, frame: &mut Frame) -> Vec<RowMechanics> {
    let dag = &mut model.dag;
    let mut rows = Vec::with_capacity(model.rows.len());
    for row in &model.rows {
        let holonomic = row.kind == RowKind::Holonomic;
        let by = if holonomic { frame.q.clone() } else { frame.v.clone() };
        let normal: Vec<Expr> = by.iter().map(|&x| dag.derivative(row.expr, x)).collect();
        let mut drift = if holonomic {
            frame.explicit_rate(dag, row.expr)
        } else {
            let zero = dag.zero();
            let at_rest: Vec<(Expr, Expr)> = frame.v.iter().map(|&v| (v, zero)).collect();
            dag.substitute(row.expr, &at_rest)
        };
        for &k in &frame.driven {
            let carried = dag.mul(normal[k], frame.v[k]);
            drift = dag.add(drift, carried);
        }
        let normal = frame.inserted_all(dag, &normal);
        rows.push(RowMechanics {
            name: row.name.clone(),
            kind: row.kind,
            position: holonomic.then(|| frame.inserted(dag, row.expr)),
            normal: frame.free.iter().map(|&i| normal[i]).collect(),
            driven_normal: Vec::new(),
            drift: frame.inserted(dag, drift),
            bias: dag.zero(),
        });
    }
    rows
}

/// Velocities of the free coordinates: their symbols, or ∂H/∂p.
fn velocity_forms(model: &mut Model, frame: &Frame) -> Vec<Expr> {
    let Physics::Hamiltonian(h) = model.physics else { return frame.free_v() };
    let h = frame.inserted(&mut model.dag, h);
    frame.free_p().iter().map(|&p| model.dag.derivative(h, p)).collect()
}

/// Values of all symbols at the start; what is not named is 0.
fn start_values(model: &Model) -> HashMap<Symbol, f64> {
    let mut values = HashMap::new();
    let mut put = |e: Expr, x: f64| {
        if let Some(s) = model.dag.as_symbol(e) {
            values.insert(s, x);
        }
    };
    for p in &model.parameters {
        put(p.symbol, p.value);
    }
    put(model.time, model.start.time);
    for (i, c) in model.coordinates.iter().enumerate() {
        put(c.position, model.start.position[i].unwrap_or(0.0));
        put(c.velocity, model.start.velocity[i].unwrap_or(0.0));
        put(c.momentum, model.start.momentum[i].unwrap_or(0.0));
    }
    values
}

/// The same, by index of the symbol.
fn symbol_values(model: &Model) -> Vec<f64> {
    let mut values = vec![0.0; model.dag.symbol_count()];
    for (s, x) in start_values(model) {
        values[s.index()] = x;
    }
    values
}

/// Values of tables between their rows are the interpolation's business.
fn mentions_tables(model: &Model, e: Expr) -> bool {
    if model.inputs.is_empty() {
        return false;
    }
    let inside = model.dag.reachable(&[e]);
    model.inputs.iter().any(|u| [u.value, u.rate, u.second].iter().any(|s| inside.binary_search(s).is_ok()))
}

/// Values of `open` symbols (indices into `symbols`) that make all conditions zero, when they are zero already (none) or
/// the conditions determine them; else the conditions that fail with their residuals.
fn complete(
    model: &Model,
    conditions: &[Expr],
    slopes: &[Vec<Expr>],
    symbols: &[Expr],
    open: &[usize],
) -> Result<Vec<(usize, f64)>, Vec<(usize, f64)>> {
    let dag = &model.dag;
    let mut samples = Samples::at(symbol_values(model), Vec::new());
    let mut failures = Vec::new();
    for (r, &c) in conditions.iter().enumerate() {
        let x = samples.values(dag, c)[0];
        if !x.value.is_finite() || x.value.abs() > ROW_TOLERANCE * x.magnitude {
            failures.push((r, x.value));
        }
    }
    if failures.is_empty() {
        return Ok(Vec::new());
    }
    let involved: Vec<usize> =
        open.iter().copied().filter(|&k| slopes.iter().any(|row| !dag.is_zero(row[k]))).collect();
    if involved.is_empty() {
        return Err(failures);
    }
    let unknowns: Vec<Expr> = involved.iter().map(|&k| symbols[k]).collect();
    let part: Vec<Vec<Expr>> = slopes.iter().map(|row| involved.iter().map(|&k| row[k]).collect()).collect();
    samples.project(dag, conditions, &part, &unknowns);
    if samples.len() == 0 {
        return Err(failures);
    }
    let matrix = crate::numeric::scaled_rows(&samples.matrix(dag, 0, &part));
    if Singular::of(&matrix, involved.len()).rank() < involved.len() {
        return Err(failures);
    }
    Ok(involved.iter().map(|&k| (k, samples.values(dag, symbols[k])[0].value)).collect())
}

/// How definite a symmetric matrix is, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Definite {
    Negative,
    Singular,
    Positive,
}

/// By symmetric elimination with the largest diagonal first.
fn definite(matrix: &[Vec<f64>]) -> Definite {
    let n = matrix.len();
    let mut m = matrix.to_vec();
    let size = m.iter().flatten().fold(0.0_f64, |a, x| a.max(x.abs()));
    let mut left: Vec<usize> = (0..n).collect();
    while let Some((slot, &k)) =
        left.iter().enumerate().max_by(|a, b| m[*a.1][*a.1].total_cmp(&m[*b.1][*b.1]))
    {
        let pivot = m[k][k];
        if pivot <= 1e-12 * size || !pivot.is_finite() {
            let worst = left.iter().map(|&i| m[i][i]).fold(f64::INFINITY, f64::min);
            return if worst < -1e-12 * size { Definite::Negative } else { Definite::Singular };
        }
        left.swap_remove(slot);
        for &i in &left {
            let factor = m[i][k] / pivot;
            for &j in &left {
                let update = factor * m[k][j];
                m[i][j] -= update;
            }
        }
    }
    Definite::Positive
}

/// Nodes without a value because of parameters alone, each with the part that is to blame.
fn undefined_nodes(dag: &Dag, roots: &[Expr], values: &HashMap<Symbol, f64>) -> HashMap<Expr, Expr> {
    let mut bad = HashMap::new();
    // The value of what contains parameters only.
    let mut known: HashMap<Expr, f64> = HashMap::new();
    for e in dag.reachable(roots) {
        let value = match dag.node(e) {
            Node::Symbol(s) => values.get(s).copied(),
            Node::Number(_) | Node::Float(_) | Node::Constant(_) => Some(dag.evaluate(e, |_| 0.0)),
            Node::Sum(c, terms) => {
                terms.iter().try_fold(c.to_f64(), |sum, (k, t)| Some(sum + k.to_f64() * known.get(t)?))
            }
            Node::Product(c, factors) => {
                let mut product = Some(c.to_f64());
                for &(base, n) in factors.iter() {
                    let factor = known.get(&base).map(|&x| match n.to_integer() {
                        Some(n) if i32::try_from(n).is_ok() => x.powi(n as i32),
                        _ => x.powf(n.to_f64()),
                    });
                    if factor.is_some_and(|f| !f.is_finite())
                        && known.get(&base).is_some_and(|x| x.is_finite())
                    {
                        bad.insert(e, base);
                    }
                    product = product.zip(factor).map(|(a, b)| a * b);
                }
                product
            }
            Node::Power(base, n) => known.get(base).zip(known.get(n)).map(|(b, n)| b.powf(*n)),
            Node::Function(f, args) => {
                let first = known.get(&args[0]).copied();
                let second = if args.len() > 1 { known.get(&args[1]).copied() } else { Some(0.0) };
                first.zip(second).map(|(x, y)| evaluate_function(*f, x, y))
            }
        };
        if let Some(value) = value {
            if !value.is_finite() && !bad.contains_key(&e) {
                let mut finite = true;
                dag.for_each_child(e, |child| finite &= known.get(&child).is_none_or(|x| x.is_finite()));
                if finite {
                    bad.insert(e, e);
                }
            }
            known.insert(e, value);
        }
    }
    bad
}
