//! Rules about numbers, looked at when all formulas are right.
//!
//! ```text
//! start on the rows    |c(q₀, t₀)| and |A v₀ + b| ≤ 1e-9 of the row's scale      (theory, §2 and §5)
//! start before walls   φ(q₀, t₀) ≥ −16 units of rounding of the gap's scale      (theory, §3 and §5)
//! ```
//!
//! What the start does not name and the rows determine is computed here and written into the model's start, so that messages
//! have a place in the file and everything after reads one start. A run completes its start once more, for other reasons and
//! by other means: its parameters and start may be a sweep's or a caller's, tables have values there, and hidden conditions of
//! degenerate models, which only derivation finds, have to hold as well; it solves with compiled rows and need not determine
//! what it moves. Both call nine digits of a row's scale zero ([`Scaled::TYPED`]), and a start completed here passes there.

use super::near::Near;
use super::{Checker, short};
use crate::diagnostic::Diagnostic;
use crate::draft::At;
use crate::mechanics::RowMechanics;
use crate::model::{Model, Physics, RowKind};
use crate::redundant::dependent_rows;
use crate::sample::Samples;
use crate::symbols::Symbols;
use carom_expr::{Expr, Scaled, Symbol};
use carom_jet::dense::SingularValues;
use std::collections::HashMap;

impl Checker<'_> {
    /// Reports what is wrong with the numbers of a model, and completes its start.
    pub fn check_numbers(&mut self, model: &mut Model) {
        if !self.check_divisions(model) {
            return; // nothing below has a value
        }
        self.check_shapes(model);
        if !self.check_all_move(model) {
            return;
        }
        self.check_masses(model);
        let mut all_symbols = Symbols::new(model);
        let rows = bare_rows(model, &mut all_symbols);
        if self.check_contradictions(model, &all_symbols, &rows) {
            return;
        }
        let placed = self.check_rows(model, &all_symbols, &rows);
        if placed {
            self.check_energy_at_start(model, &all_symbols);
            self.check_walls_at_start(model, &all_symbols);
        }
    }
    /// Rows that cannot hold together; answers whether there are any.
    fn check_contradictions(&mut self, model: &Model, all_symbols: &Symbols, rows: &[RowMechanics]) -> bool {
        if rows.len() < 2 {
            return false;
        }
        let domain: Vec<Expr> = rows.iter().flat_map(|r| r.normal.iter().copied()).collect();
        let mut samples =
            Samples::new(model, all_symbols, self.scope.hamiltonian, &domain, crate::sample::AROUND);
        let found = dependent_rows(&model.dag, &mut samples, rows);
        let errors: Vec<Diagnostic> = found.into_iter().filter(Diagnostic::is_error).collect();
        let any = !errors.is_empty();
        self.problems.extend(errors.into_iter().map(|d| self.draft.locate(d)));
        any
    }

    /// Does the start satisfy the rows? Completes what it leaves open. Answers whether positions are known now.
    fn check_rows(&mut self, model: &mut Model, all_symbols: &Symbols, rows: &[RowMechanics]) -> bool {
        let usable = |e: Expr, model: &Model| !mentions_tables(model, e);
        // Positions.
        let holonomic: Vec<&RowMechanics> =
            rows.iter().filter(|r| r.position.is_some_and(|c| usable(c, model))).collect();
        let conditions: Vec<Expr> = holonomic.iter().filter_map(|r| r.position).collect();
        let slopes: Vec<Vec<Expr>> = holonomic.iter().map(|r| r.normal.clone()).collect();
        let free = all_symbols.free.clone();
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
            let row = holonomic[r];
            let open: Vec<String> = open
                .iter()
                .filter(|&&k| !model.dag.is_zero(row.normal[k]))
                .map(|&k| model.coordinates[free[k]].name.clone())
                .collect();
            self.off_row(&row.name, RowKind::Holonomic, "start", residual, &open);
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
        let velocities = velocity_forms(model, all_symbols);
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
                    self.off_row(&moving[r].name, moving[r].kind, what, residual, &[]);
                }
            }
            Err(_) => {}
        }
        true
    }

    fn off_row(&mut self, name: &str, kind: RowKind, what: &str, residual: f64, open: &[String]) {
        let list = if kind == RowKind::Holonomic { &self.draft.holonomic } else { &self.draft.nonholonomic };
        let Some(at) = list.iter().find(|(word, _)| word.text == name).map(|(_, f)| f.at) else { return };
        let rate = if kind == RowKind::Holonomic && what != "start" { "the rate of " } else { "" };
        let message =
            format!("the {what} violates row `{name}`: {rate}it is {} instead of 0", short(residual));
        let first = match open {
            [] => "correct the start".to_owned(),
            _ => format!("the start does not name {}, which count as 0: give them", open.join(", ")),
        };
        let way = "or have it moved onto the rows by `project = true` in [start] or --project";
        self.error(at, message, format!("{first}, {way}"));
    }

    /// Energies must be finite where the motion starts.
    fn check_energy_at_start(&mut self, model: &mut Model, all_symbols: &Symbols) {
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
            let e = all_symbols.inserted(&mut model.dag, e);
            let values = start_values(model);
            let value = model.dag.evaluate(e, |s| values.get(&s).copied().unwrap_or(0.0));
            if value.is_finite() {
                continue;
            }
            let how = if value.is_nan() { "undefined" } else { "infinite" };
            let inside = model.dag.reachable(&[e]);
            let state: Vec<String> = all_symbols
                .free
                .iter()
                .filter(|&&i| inside.binary_search(&model.coordinates[i].position).is_ok())
                .map(|&i| {
                    format!("{} = {}", model.coordinates[i].name, model.start.position[i].unwrap_or(0.0))
                })
                .collect();
            let hint = match state.is_empty() {
                true => "choose another [start]".to_owned(),
                false => format!("choose another [start]; now {}", state.join(", ")),
            };
            let message = format!("the {what} is {how} at the start");
            let error = Diagnostic::error(message).with_hint(hint);
            self.problems.push(match at {
                Some(at) => error.at(draft.place(at)),
                None => error,
            });
        }
    }

    fn check_walls_at_start(&mut self, model: &mut Model, all_symbols: &Symbols) {
        for i in 0..model.walls.len() {
            let gap = model.walls[i].gap;
            if mentions_tables(model, gap) {
                continue;
            }
            let gap = all_symbols.inserted(&mut model.dag, gap);
            let mut near = Near::of(model);
            let x = near.value(model, gap);
            let name = model.walls[i].name.clone();
            let at = self.gap_place(&name);
            if !x.value.is_finite() {
                let message = format!("the gap of wall `{name}` has no value at the start");
                self.error(at, message, "choose another [start], or another gap");
            } else if x.value < 0.0 && near.exceeds(model, gap, x, Scaled::ROUNDING) {
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
fn bare_rows(model: &mut Model, all_symbols: &mut Symbols) -> Vec<RowMechanics> {
    let dag = &mut model.dag;
    let mut rows = Vec::with_capacity(model.rows.len());
    for row in &model.rows {
        let holonomic = row.kind == RowKind::Holonomic;
        let by = if holonomic { all_symbols.q.clone() } else { all_symbols.v.clone() };
        let normal: Vec<Expr> = by.iter().map(|&x| dag.derivative(row.expr, x)).collect();
        let mut drift = if holonomic {
            all_symbols.explicit_rate(dag, row.expr)
        } else {
            let zero = dag.zero();
            let at_rest: Vec<(Expr, Expr)> = all_symbols.v.iter().map(|&v| (v, zero)).collect();
            dag.substitute(row.expr, &at_rest)
        };
        for &k in &all_symbols.driven {
            let carried = dag.mul(normal[k], all_symbols.v[k]);
            drift = dag.add(drift, carried);
        }
        let normal = all_symbols.inserted_all(dag, &normal);
        rows.push(RowMechanics {
            name: row.name.clone(),
            kind: row.kind,
            position: holonomic.then(|| all_symbols.inserted(dag, row.expr)),
            normal: all_symbols.free.iter().map(|&i| normal[i]).collect(),
            driven_normal: Vec::new(),
            drift: all_symbols.inserted(dag, drift),
            bias: dag.zero(),
        });
    }
    rows
}

/// Velocities of the free coordinates: their symbols, or ∂H/∂p.
fn velocity_forms(model: &mut Model, all_symbols: &Symbols) -> Vec<Expr> {
    let Physics::Hamiltonian(h) = model.physics else { return all_symbols.free_v() };
    let h = all_symbols.inserted(&mut model.dag, h);
    all_symbols.free_p().iter().map(|&p| model.dag.derivative(h, p)).collect()
}

/// Values of all symbols at the start; what is not named is 0.
pub(super) fn start_values(model: &Model) -> HashMap<Symbol, f64> {
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

/// Numbers by index.
type IndexedValues = Vec<(usize, f64)>;

/// Values of `open` symbols (indices into `symbols`) that make all conditions zero, when they are zero already (none) or
/// the conditions determine them; else the conditions that fail with their residuals.
fn complete(
    model: &Model,
    conditions: &[Expr],
    slopes: &[Vec<Expr>],
    symbols: &[Expr],
    open: &[usize],
) -> Result<IndexedValues, IndexedValues> {
    let dag = &model.dag;
    let mut near = Near::of(model);
    let values: Vec<Scaled> = conditions.iter().map(|&c| near.value(model, c)).collect();
    let holds = |x: &Scaled| x.value.is_finite() && x.value.abs() <= Scaled::TYPED * x.scale;
    if values.iter().all(holds) {
        return Ok(Vec::new());
    }
    let involved: Vec<usize> =
        open.iter().copied().filter(|&k| slopes.iter().any(|row| !dag.is_zero(row[k]))).collect();
    if !involved.is_empty()
        && let Some(found) = solve(model, conditions, slopes, symbols, &involved)
    {
        return Ok(found);
    }
    let failing = |(r, (&c, x)): (usize, (&Expr, &Scaled))| {
        near.exceeds(model, c, *x, Scaled::TYPED).then_some((r, x.value))
    };
    let failures: IndexedValues = conditions.iter().zip(&values).enumerate().filter_map(failing).collect();
    if failures.is_empty() { Ok(Vec::new()) } else { Err(failures) }
}

/// Values of the `involved` symbols that make all conditions zero, if those determine them.
fn solve(
    model: &Model,
    conditions: &[Expr],
    slopes: &[Vec<Expr>],
    symbols: &[Expr],
    involved: &[usize],
) -> Option<IndexedValues> {
    let dag = &model.dag;
    let mut samples = Samples::at(symbol_values(model), Vec::new());
    let unknowns: Vec<Expr> = involved.iter().map(|&k| symbols[k]).collect();
    let part: Vec<Vec<Expr>> = slopes.iter().map(|row| involved.iter().map(|&k| row[k]).collect()).collect();
    samples.project(dag, conditions, &part, &unknowns);
    if samples.len() == 0 {
        return None;
    }
    let matrix = carom_jet::dense::scaled_rows(&samples.matrix(dag, 0, &part));
    if SingularValues::of(&matrix, involved.len()).rank() < involved.len() {
        return None;
    }
    Some(involved.iter().map(|&k| (k, samples.values(dag, symbols[k])[0].value)).collect())
}
