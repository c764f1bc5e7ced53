//! Smooth motion: the model, its Lagrangian, the principle, the Euler–Lagrange equations, the energy.

use super::builder::{ReportBuilder, quoted, whole};
use super::document::{Equation, Inline, Right, Typeset, inlines};
use carom_expr::Expr;
use carom_mech::{Action, ClosedForm, CrossingDirection, Dynamics, ForceKind, LagrangianDynamics, Physics};

/// A row of a matrix wider than this is listed entry by entry.
const WIDEST_ROW: usize = 90;

fn count(n: usize, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

fn math(formula: Typeset) -> Vec<Inline> {
    vec![Inline::Math(formula)]
}

/// What the author wrote down.
pub fn model(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    let model = &mechanics.model;
    pen.heading(1, "The model");
    let driven = model.coordinates.len() - mechanics.free.len();
    let mut parts = vec![count(model.coordinates.len(), "coordinate", "coordinates")];
    if driven > 0 {
        parts[0].push_str(&format!(" ({driven} driven)"));
    }
    for (n, one, many) in [
        (model.rows.len(), "constraint row", "constraint rows"),
        (model.walls.len(), "wall", "walls"),
        (model.events.len(), "event", "events"),
    ] {
        if n > 0 {
            parts.push(count(n, one, many));
        }
    }
    pen.say(&format!("{}.", parts.join(", ")));
    for (plain, script) in pen.scripted() {
        pen.say(&format!(
            "The theory’s {plain} is written ‹{}|{}› here, because the model has a name `{plain}` of its own.",
            script.unicode, script.latex
        ));
    }
    let rows = model
        .coordinates
        .iter()
        .map(|c| {
            let motion = match &c.driven {
                Some(d) => {
                    math(pen.name(&c.name).then(&Typeset::new(" = ", " = ")).then(&pen.formula(d.position)))
                }
                None => inlines("free"),
            };
            vec![
                math(pen.formula(c.position)),
                math(pen.formula(c.velocity)),
                math(pen.formula(c.momentum)),
                motion,
            ]
        })
        .collect();
    pen.table(&["coordinate", "velocity", "momentum", "motion"], rows);
    if !model.parameters.is_empty() {
        let rows = model
            .parameters
            .iter()
            .map(|p| {
                let formula = match pen.dag.as_number(p.formula) {
                    Some(_) => Vec::new(),
                    None => math(pen.formula(p.formula)),
                };
                vec![math(pen.name(&p.name)), inlines(&format!("{}", p.value)), formula]
            })
            .collect();
        pen.table(&["parameter", "value", "formula"], rows);
    }
    if !model.inputs.is_empty() {
        let names: Vec<String> =
            model.inputs.iter().map(|i| format!("`{}` ({})", i.name, i.interpolate.name())).collect();
        pen.say(&format!(
            "Signals read from a table, and how they go from row to row: {}.",
            names.join(", ")
        ));
    }
    if !model.definitions.is_empty() {
        pen.say("Named formulas, with the names inside them already inserted:");
        let mut equations = Vec::new();
        for d in &model.definitions {
            equations.extend(pen.equation(pen.name(&d.name), "=", d.expr));
        }
        pen.equations(equations);
    }
}

/// T, V, L and what is not in them.
pub fn lagrangian(pen: &mut ReportBuilder<'_>, l: &LagrangianDynamics) {
    let mechanics = pen.mechanics;
    let model = &mechanics.model;
    pen.heading(1, "Lagrangian");
    let driven = model.coordinates.iter().any(|c| c.driven.is_some());
    if driven {
        pen.say("The prescribed motions of driven coordinates are already inserted.");
    }
    match (&model.physics, &mechanics.energy_terms[..]) {
        (Physics::Energies { .. }, &[kinetic, potential]) => {
            let potential = pen.dag.simplify(potential);
            pen.say("Kinetic and potential energy, and their difference:");
            let mut equations = pen.equation(pen.pair("Ⓣ"), "=", kinetic);
            equations.extend(pen.equation(pen.pair("Ⓥ"), "=", potential));
            equations.extend(pen.equation(pen.pair("Ⓛ = Ⓣ − Ⓥ|Ⓛ = Ⓣ - Ⓥ"), "=", l.lagrangian));
            pen.equations(equations);
        }
        _ => {
            pen.say("The model gives the Lagrangian itself:");
            pen.equals(pen.pair("Ⓛ"), l.lagrangian);
        }
    }
    forces(pen, &l.generalized_force);
}

/// Forces that do not come from a potential.
pub fn forces(pen: &mut ReportBuilder<'_>, generalized: &[Expr]) {
    let mechanics = pen.mechanics;
    let model = &mechanics.model;
    if model.forces.is_empty() && model.dissipation.is_none() {
        return;
    }
    pen.heading(2, "Forces without a potential");
    if let Some(r) = model.dissipation {
        pen.say("Rayleigh's function ‹Ⓡ›; its force is ‹−∂Ⓡ/∂v|-\\partial Ⓡ/\\partial v›:");
        pen.equals(pen.pair("Ⓡ"), r);
    }
    let mut point = false;
    for force in &model.forces {
        match &force.kind {
            ForceKind::Point { at, vector } => {
                point = true;
                let label = pen.label(&force.name);
                let r = pen.sub("r", "r", &label);
                let f = pen.sub("F", "F", &label);
                let list = |pen: &ReportBuilder<'_>, entries: &[Expr]| -> Vec<Vec<Typeset>> {
                    entries.iter().map(|&e| vec![pen.formula(e)]).collect()
                };
                let matrix = |left: Typeset, rows| Equation {
                    left,
                    relation: Typeset::pair("="),
                    right: Right::Matrix(rows),
                    sympy: None,
                };
                pen.say(&format!("{} acts at a point:", quoted(&force.name)));
                let equations = vec![matrix(r, list(pen, at)), matrix(f, list(pen, vector))];
                pen.equations(equations);
            }
            ForceKind::Generalized(_) => {
                pen.say(&format!("{} is given as a generalized force.", quoted(&force.name)));
            }
        }
    }
    if point {
        pen.say("A force ‹F› at a point ‹r(q, t)› does the work ‹F·δr = F·(∂r/∂q) δq|F\\cdot\\delta r = F\\cdot(\\partial r/\\partial q)\\,\\delta q›, so");
        pen.law(r"Ⓠ = Σ (∂r/∂q)ᵀ F|Ⓠ = \sum \Bigl(\frac{\partial r}{\partial q}\Bigr)^{\!\top} F");
    }
    pen.say("All forces together, per free coordinate:");
    let mut equations = Vec::new();
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let left = pen.sub("Ⓠ", "Ⓠ", &pen.name(&model.coordinates[i].name));
        equations.extend(pen.equation(left, "=", generalized[slot]));
    }
    pen.equations(equations);
}

/// From the action to the Euler–Lagrange equations.
pub fn principle(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    let forced = !mechanics.model.forces.is_empty() || mechanics.model.dissipation.is_some();
    pen.heading(1, "From the action to the equations of motion");
    pen.say("The action of a path from ‹t₀|t_0› to ‹t₁|t_1›, its velocities written ‹v = q̇|v = \\dot q›, is");
    pen.law(r"𝒜[q] = ∫ Ⓛ(q, q̇, t) dt|\mathcal{A}[q] = \int_{t_0}^{t_1} Ⓛ(q, \dot q, t)\,dt");
    pen.say("Move the path a little, ‹q + εη|q + \\varepsilon\\eta› with ‹η = 0|\\eta = 0› at both ends, differentiate at ‹ε = 0|\\varepsilon = 0›, and integrate the term with ‹η̇|\\dot\\eta› by parts; the boundary terms vanish with ‹η|\\eta›:");
    pen.law(r"δ𝒜 = ∫ (∂Ⓛ/∂q − d/dt ∂Ⓛ/∂v)·η dt|\delta\mathcal{A} = \int_{t_0}^{t_1}\Bigl(\frac{\partial Ⓛ}{\partial q} - \frac{d}{dt}\frac{\partial Ⓛ}{\partial v}\Bigr)\cdot\eta\;dt");
    if forced {
        pen.say("Forces without a potential add their virtual work ‹∫ Ⓠ·η dt|\\int Ⓠ\\cdot\\eta\\,dt› (the Lagrange–d’Alembert principle).");
    }
    let force = if forced { ("Ⓠ", "Ⓠ") } else { ("0", "0") };
    if mechanics.rows.is_empty() {
        pen.say("It vanishes for every ‹η|\\eta› exactly when");
        pen.law(&format!(
            r"d/dt ∂Ⓛ/∂v − ∂Ⓛ/∂q = {}|\frac{{d}}{{dt}}\frac{{\partial Ⓛ}}{{\partial v}} - \frac{{\partial Ⓛ}}{{\partial q}} = {}",
            force.0, force.1
        ));
    } else {
        let (plain, tex) = if forced { ("Ⓠ + ", "Ⓠ + ") } else { ("", "") };
        pen.say("Only displacements that respect the constraint rows are admitted, ‹Ⓐ η = 0|Ⓐ\\,\\eta = 0›. What vanishes for all of those is a combination of the rows, with multipliers ‹μ|\\mu›:");
        pen.law(&format!(
            r"d/dt ∂Ⓛ/∂v − ∂Ⓛ/∂q = {plain}Ⓐᵀμ,   Ⓐ v + b = 0|\frac{{d}}{{dt}}\frac{{\partial Ⓛ}}{{\partial v}} - \frac{{\partial Ⓛ}}{{\partial q}} = {tex}Ⓐ^{{\top}}\mu,\qquad Ⓐ\,v + b = 0"
        ));
        pen.say("‹Ⓐᵀμ|Ⓐ^{\\top}\\mu› is the reaction, a generalized force. Texts that subtract ‹zᵀc|z^{\\top}c› from ‹Ⓛ› have ‹z = −μ|z = -\\mu›.");
    }
}

/// Momenta, W, h, and the equations row by row.
pub fn equations(pen: &mut ReportBuilder<'_>, l: &LagrangianDynamics) {
    let mechanics = pen.mechanics;
    let coordinates = &mechanics.model.coordinates;
    pen.say("For this model. The momenta ‹p = ∂Ⓛ/∂v|p = \\partial Ⓛ/\\partial v›:");
    let mut list = Vec::new();
    for &i in &mechanics.free {
        list.extend(pen.equation(pen.formula(coordinates[i].momentum), "=", mechanics.momenta[i]));
    }
    pen.equations(list);
    pen.say("Carrying out ‹d/dt|d/dt› separates the accelerations from the rest:");
    let forced = !mechanics.model.forces.is_empty() || mechanics.model.dissipation.is_some();
    let right = match (forced, mechanics.rows.is_empty()) {
        (true, true) => ("Ⓠ", "Ⓠ"),
        (true, false) => ("Ⓠ + Ⓐᵀμ", r"Ⓠ + Ⓐ^{\top}\mu"),
        (false, true) => ("0", "0"),
        (false, false) => ("Ⓐᵀμ", r"Ⓐ^{\top}\mu"),
    };
    pen.law(&format!(
        r"Ⓦ a + h = {},   Ⓦ = ∂²Ⓛ/∂v∂v,   h = (∂²Ⓛ/∂v∂q) v + ∂²Ⓛ/∂v∂t − ∂Ⓛ/∂q|Ⓦ a + h = {},\quad Ⓦ = \frac{{\partial^2 Ⓛ}}{{\partial v\,\partial v}},\quad h = \frac{{\partial^2 Ⓛ}}{{\partial v\,\partial q}}\,v + \frac{{\partial^2 Ⓛ}}{{\partial v\,\partial t}} - \frac{{\partial Ⓛ}}{{\partial q}}",
        right.0, right.1
    ));
    matrix(pen, "Ⓦ", &l.mass_matrix);
    let mut list = Vec::new();
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let left = pen.sub("h", "h", &pen.name(&coordinates[i].name));
        list.extend(pen.equation(left, "=", l.bias[slot]));
    }
    pen.equations(list);
    let pure = mechanics.drives.is_empty() && matches!(mechanics.model.physics, Physics::Energies { .. });
    if mechanics.quadratic && pure {
        pen.say("For a kinetic energy ‹Ⓣ = ½ vᵀⓌ v|Ⓣ = \\tfrac12 v^{\\top}Ⓦ v› this ‹h› is ‹∂/∂q(Ⓦ v) v − ∂Ⓣ/∂q + ∂Ⓥ/∂q|\\frac{\\partial}{\\partial q}(Ⓦv)\\,v - \\frac{\\partial Ⓣ}{\\partial q} + \\frac{\\partial Ⓥ}{\\partial q}›: velocity terms first, then the force of the potential.");
    } else if !mechanics.quadratic {
        pen.say("‹Ⓦ› depends on the velocities: the kinetic energy is not quadratic.");
    }
    pen.say("Written out, one equation per free coordinate:");
    let multipliers = multipliers(pen);
    let mut list = Vec::new();
    for slot in 0..mechanics.free.len() {
        let mut parts = vec![l.bias[slot]];
        for (other, &j) in mechanics.free.iter().enumerate() {
            parts.push(pen.dag.mul(l.mass_matrix[slot][other], coordinates[j].acceleration));
        }
        let left = pen.dag.sum(&parts);
        let mut right = vec![l.generalized_force[slot]];
        for (row, &mu) in mechanics.rows.iter().zip(&multipliers) {
            right.push(pen.dag.mul(mu, row.normal[slot]));
        }
        let right = pen.dag.sum(&right);
        let right = pen.formula(right);
        list.extend(balanced(pen, left, right));
    }
    pen.equations(list);
}

/// `left = right` with a long left side: the left is what is broken.
pub fn balanced(pen: &ReportBuilder<'_>, left: Expr, right: Typeset) -> Vec<Equation> {
    let mut equations = pen.equation(Typeset::default(), "", left);
    // Code for `left` alone says the equation only where the right side is zero.
    if let Some(first) = equations.first_mut().filter(|_| right.unicode != "0") {
        first.sympy = None;
    }
    if let Some(Equation { right: Right::Terms { unicode, latex }, .. }) = equations.first_mut()
        && let (Some(u), Some(l)) = (unicode.last_mut(), latex.last_mut())
    {
        u.text.push_str(&format!(" = {}", right.unicode));
        l.text.push_str(&format!(" = {}", right.latex));
        u.width += right.width + 3;
        l.width += right.width + 3;
    }
    equations
}

/// Symbols μ of the rows.
pub fn multipliers(pen: &mut ReportBuilder<'_>) -> Vec<Expr> {
    let mechanics = pen.mechanics;
    mechanics
        .rows
        .iter()
        .map(|row| {
            let formula = pen.sub("μ", r"\mu", &pen.label(&row.name));
            pen.symbol(&formula)
        })
        .collect()
}

/// A symmetric matrix over the free coordinates: as a matrix when it fits, else entry by entry.
pub fn matrix(pen: &mut ReportBuilder<'_>, name: &str, entries: &[Vec<Expr>]) {
    let mechanics = pen.mechanics;
    let rows: Vec<Vec<Typeset>> =
        entries.iter().map(|row| row.iter().map(|&e| pen.formula(e)).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let width: usize = (0..columns).map(|j| rows.iter().map(|r| r[j].width + 2).max().unwrap_or(0)).sum();
    if width <= WIDEST_ROW {
        let left = pen.pair(name);
        pen.equations(vec![Equation {
            left,
            relation: Typeset::pair("="),
            right: Right::Matrix(rows),
            sympy: None,
        }]);
        return;
    }
    let base = pen.pair(name);
    pen.say(&format!("‹{name}› is symmetric; its entries that are not zero:"));
    let mut list = Vec::new();
    for (i, row) in entries.iter().enumerate() {
        for (j, &entry) in row.iter().enumerate().skip(i) {
            if pen.is_zero(entry) {
                continue;
            }
            let name_of = |k: usize| pen.name(&mechanics.model.coordinates[mechanics.free[k]].name);
            let index = name_of(i).then(&Typeset::new(",", ",")).then(&name_of(j));
            list.extend(pen.equation(pen.sub(&base.unicode, &base.latex, &index), "=", entry));
        }
    }
    pen.equations(list);
}

/// Accelerations, when they are short.
pub fn solved(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    let Some(accelerations) = &mechanics.forms.accelerations else {
        if let Some(reason) = mechanics.forms.why(ClosedForm::Accelerations) {
            pen.heading(1, "Accelerations");
            pen.left_out("Solved for the accelerations, the equations are", reason);
        }
        return;
    };
    pen.heading(1, "Accelerations");
    pen.say(if mechanics.rows.is_empty() {
        "Solved for the accelerations:"
    } else {
        "Solved for the accelerations, with the reactions eliminated:"
    });
    let mut list = Vec::new();
    for (&i, &e) in mechanics.free.iter().zip(accelerations) {
        list.extend(pen.equation(pen.formula(mechanics.model.coordinates[i].acceleration), "=", e));
    }
    pen.equations(list);
}

/// E and its balance.
pub fn energy(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    pen.heading(1, "Energy");
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    if hamiltonian {
        pen.say("The energy ‹Ⓔ› is the Hamiltonian.");
    } else {
        pen.say("‹Ⓔ = p·v − Ⓛ|Ⓔ = p\\cdot v - Ⓛ›, as a function of the velocities:");
        pen.equals(pen.pair("Ⓔ"), mechanics.hamiltonian);
        if differ(pen, mechanics.energy, mechanics.hamiltonian) {
            pen.say("It differs from ‹Ⓣ + Ⓥ› because a coordinate is driven or the kinetic energy is not purely quadratic in the free velocities:");
            let energy = pen.dag.simplify(mechanics.energy);
            pen.equals(pen.pair("Ⓣ + Ⓥ"), energy);
        }
    }
    let multipliers = multipliers(pen);
    let mut parts = vec![mechanics.power];
    for (row, &mu) in mechanics.rows.iter().zip(&multipliers) {
        let product = pen.dag.mul(mu, row.drift);
        parts.push(pen.dag.neg(product));
    }
    let rate = pen.dag.sum(&parts);
    let (law, tex) = if hamiltonian {
        (
            "dⒺ/dt = Ⓠ·v + ∂Ⓗ/∂t − μ·b",
            r"\frac{dⒺ}{dt} = Ⓠ\cdot v + \frac{\partial Ⓗ}{\partial t} - \mu\cdot b",
        )
    } else {
        (
            "dⒺ/dt = Ⓠ·v − ∂Ⓛ/∂t − μ·b",
            r"\frac{dⒺ}{dt} = Ⓠ\cdot v - \frac{\partial Ⓛ}{\partial t} - \mu\cdot b",
        )
    };
    pen.say("Along smooth motion, multiplying the equations of motion by ‹v›:");
    pen.law(&format!("{law}|{tex}"));
    if pen.is_zero(rate) {
        pen.say("Here every term is zero: ‹Ⓔ› is conserved between impacts.");
    } else {
        pen.say("For this model:");
        pen.equals(pen.pair(r"dⒺ/dt|\frac{dⒺ}{dt}"), rate);
    }
}

/// Are two expressions different functions? Decided at a few points when simplification does not tell.
fn differ(pen: &mut ReportBuilder<'_>, a: Expr, b: Expr) -> bool {
    let difference = pen.dag.sub(a, b);
    let difference = pen.dag.simplify(difference);
    if pen.is_zero(difference) {
        return false;
    }
    let at = |e: Expr, k: usize| {
        let point = |s: carom_expr::Symbol| 0.4 + ((s.index() * 7 + k * 3) % 11) as f64 / 13.0;
        pen.dag.evaluate(e, point)
    };
    // Rounding of the two sums is a few units in the last place of their size.
    (0..5).any(|k| {
        let (x, y, d) = (at(a, k), at(b, k), at(difference, k));
        d.abs() > 1e-12 * x.abs().max(y.abs()).max(1.0)
    })
}

/// The first-order form, and its linearisation at the start when it is small.
pub fn state_space(pen: &mut ReportBuilder<'_>) {
    const MOST_STATES: usize = 8;
    let mechanics = pen.mechanics;
    let model = &mechanics.model;
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    pen.heading(1, "First-order form");
    pen.say(
        "As a system of first order, in the state ‹ξ|\\xi›, the table inputs ‹u› and the outputs ‹ζ|\\zeta›:",
    );
    pen.law(r"ξ̇ = f(ξ, u, t),   ζ = h(ξ, u, t)|\dot\xi = f(\xi, u, t),\qquad \zeta = h(\xi, u, t)");
    let mut state = Typeset::default();
    let first = mechanics.free.iter().map(|&i| model.coordinates[i].position);
    let second = mechanics.free.iter().map(|&i| {
        let c = &model.coordinates[i];
        if hamiltonian { c.momentum } else { c.velocity }
    });
    for (k, symbol) in first.chain(second).enumerate() {
        let comma = if k > 0 { Typeset::new(", ", r",\, ") } else { Typeset::default() };
        state = state.then(&comma).then(&pen.formula(symbol));
    }
    let (open, close) = (Typeset::new("(", "("), Typeset::new(")", ")"));
    let right = open.then(&state).then(&close);
    pen.equations(vec![whole(Typeset::pair(r"ξ|\xi"), "=", right)]);
    pen.say(if hamiltonian {
        "‹f› is the right side of the equations of motion above."
    } else {
        "The upper half of ‹f› is ‹v›, the lower half the accelerations that solve the equations above."
    });
    let states = 2 * mechanics.free.len();
    if states > MOST_STATES {
        let reason = format!("its matrix has {states} rows, and more than {MOST_STATES} are hard to read");
        pen.left_out("The linearisation at the start is", &reason);
        return;
    }
    let linear = match carom_mech::linearise(mechanics, &carom_mech::StateValues::start(mechanics)) {
        Ok(linear) => linear,
        Err(problems) => {
            let reason = problems.first().map_or("it cannot be evaluated there", |p| p.message.as_str());
            pen.left_out("The linearisation at the start is", reason);
            return;
        }
    };
    if linear.a.iter().flatten().any(|x| !x.is_finite()) {
        pen.left_out("The linearisation at the start is", "not all of its entries are finite there");
        return;
    }
    pen.say("Linearised at the start and the parameters’ values, ‹δξ̇ = (∂f/∂ξ) δξ|\\delta\\dot\\xi = \\frac{\\partial f}{\\partial\\xi}\\,\\delta\\xi› with");
    let rows = linear
        .a
        .iter()
        .map(|row| {
            row.iter()
                .map(|&x| {
                    let text = short(x);
                    Typeset::new(text.replace('-', "−"), text)
                })
                .collect()
        })
        .collect();
    let left = Typeset::pair(r"∂f/∂ξ|\frac{\partial f}{\partial\xi}");
    pen.equations(vec![Equation {
        left,
        relation: Typeset::pair("="),
        right: Right::Matrix(rows),
        sympy: None,
    }]);
}

/// A number for reading: four decimals, none when it is whole.
fn short(x: f64) -> String {
    let rounded = (x * 1e4).round() / 1e4;
    if rounded == 0.0 { "0".to_string() } else { format!("{rounded}") }
}

/// Events and outputs.
pub fn extras(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    let model = &mechanics.model;
    if !model.events.is_empty() {
        pen.heading(1, "Events");
        for (event, derived) in model.events.iter().zip(&mechanics.events) {
            let crossing = match event.direction {
                CrossingDirection::Rising => "rises through",
                CrossingDirection::Falling => "falls through",
                CrossingDirection::Both => "crosses",
            };
            let action = match event.action {
                Action::Record => "the state is recorded",
                Action::Stop => "the motion ends",
                Action::Set(_) => "the state is reset, all at once:",
            };
            pen.say(&format!("{}: when this {crossing} zero, {action}", quoted(&event.name)));
            pen.equals(pen.pair("g"), derived.when);
            if let Some(condition) = derived.only_if {
                pen.say("but only where this is positive:");
                pen.equals(pen.pair("c"), condition);
            }
            let mut list = Vec::new();
            for &(symbol, value) in &derived.set {
                let left = pen.formula(symbol);
                list.extend(pen.equation(left, r"←|\leftarrow", value));
            }
            pen.equations(list);
        }
    }
    if !model.outputs.is_empty() {
        pen.heading(1, "Outputs");
        let mut list = Vec::new();
        for (output, &e) in model.outputs.iter().zip(&mechanics.outputs) {
            list.extend(pen.equation(pen.name(&output.name), "=", e));
        }
        pen.equations(list);
    }
    if !mechanics.warnings.is_empty() {
        pen.heading(1, "Notes");
        let notes: Vec<String> =
            mechanics.warnings.iter().map(|w| w.message.replace(['‹', '›', '`', '@', '#'], "")).collect();
        let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
        pen.list(&notes);
    }
}
