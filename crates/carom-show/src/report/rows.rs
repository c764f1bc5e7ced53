//! Constraint rows, the distribution they define, driven coordinates, the implicit form, degenerate Lagrangians.

use super::builder::{ReportBuilder, quoted, whole};
use super::document::{Equation, Typeset};
use super::smooth::{balanced, multipliers};
use carom_expr::Expr;
use carom_mech::{ClosedForm, DegenerateDynamics, Dynamics, RowKind};

/// `dx` of a free coordinate.
pub fn differential(pen: &ReportBuilder<'_>, i: usize) -> Typeset {
    let name = pen.name(&pen.mechanics.model.coordinates[i].name);
    Typeset::new("d", r"d").then(&name)
}

/// `∂_x` of a free coordinate.
fn direction(pen: &ReportBuilder<'_>, i: usize) -> Typeset {
    let name = pen.name(&pen.mechanics.model.coordinates[i].name);
    pen.sub("∂", r"\partial", &name)
}

/// Σ nᵢ dqᵢ over the free coordinates.
pub fn one_form(pen: &mut ReportBuilder<'_>, entries: &[Expr]) -> Typeset {
    let free = pen.mechanics.free.clone();
    let parts: Vec<(Expr, Typeset)> =
        free.iter().zip(entries).map(|(&i, &e)| (e, differential(pen, i))).collect();
    pen.combination(&parts, false)
}

/// `left = Σ nᵢ dqᵢ`, broken when long.
pub fn one_form_equation(pen: &mut ReportBuilder<'_>, left: Typeset, entries: &[Expr]) -> Equation {
    let free = pen.mechanics.free.clone();
    let parts: Vec<(Expr, Typeset)> =
        free.iter().zip(entries).map(|(&i, &e)| (e, differential(pen, i))).collect();
    Equation { left, relation: Typeset::pair("="), right: pen.breakable(&parts), sympy: None }
}

/// `left = Σ zᵢ ∂_qᵢ`, broken when long.
fn vector_field(pen: &mut ReportBuilder<'_>, left: Typeset, entries: &[Expr]) -> Equation {
    let free = pen.mechanics.free.clone();
    let parts: Vec<(Expr, Typeset)> =
        free.iter().zip(entries).map(|(&i, &e)| (e, direction(pen, i))).collect();
    Equation { left, relation: Typeset::pair("="), right: pen.breakable(&parts), sympy: None }
}

/// Rows A, b, γ; Δ and Δ°; the linear system; consistency.
pub fn constraints(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    if mechanics.rows.is_empty() {
        return;
    }
    pen.heading(1, "Constraints");
    let holonomic = mechanics.rows.iter().any(|r| r.kind == RowKind::Holonomic);
    let nonholonomic = mechanics.rows.iter().any(|r| r.kind == RowKind::Nonholonomic);
    if holonomic {
        pen.say("A holonomic row ‹c(q, t) = 0› holds for all times, so its rate does too: ‹Ⓐ = ∂c/∂q|Ⓐ = \\partial c/\\partial q›, ‹b = ∂c/∂t|b = \\partial c/\\partial t›.");
    }
    if nonholonomic {
        pen.say("A nonholonomic row restricts the velocities only.");
    }
    pen.law(r"Ⓐ(q, t) v + b(q, t) = 0,   Ⓐ a + γ = 0,   γ = Ȧ v + ḃ|Ⓐ(q,t)\,v + b(q,t) = 0,\qquad Ⓐ\,a + \gamma = 0,\qquad \gamma = \dot Ⓐ\,v + \dot b");
    for row in &mechanics.rows {
        let kind = match row.kind {
            RowKind::Holonomic => "holonomic",
            RowKind::Nonholonomic => "nonholonomic",
        };
        pen.say(&format!("{}, {kind}:", quoted(&row.name)));
        let mut list: Vec<Equation> = Vec::new();
        if let Some(c) = row.position {
            list.extend(pen.equation(Typeset::pair("c"), "=", c));
        }
        let left = pen.pair(r"Ⓐ dq|Ⓐ\,dq");
        list.push(one_form_equation(pen, left, &row.normal));
        if !pen.is_zero(row.drift) {
            list.extend(pen.equation(Typeset::pair("b"), "=", row.drift));
        }
        list.extend(pen.equation(Typeset::pair(r"γ|\gamma"), "=", row.bias));
        pen.equations(list);
    }
    if let Some(basis) = &mechanics.forms.distribution {
        pen.say("The distribution ‹Δ = ker Ⓐ|\\Delta = \\ker Ⓐ› (the velocities the rows allow, apart from ‹b›) is spanned by");
        if basis.is_empty() {
            pen.say("nothing: the rows leave no freedom.");
        }
        let mut list = Vec::new();
        for (k, vector) in basis.iter().enumerate() {
            let left = Typeset::new(format!("z{}", subscript(k + 1)), format!("z_{{{}}}", k + 1));
            list.push(vector_field(pen, left, vector));
        }
        pen.equations(list);
        pen.say("and its annihilator ‹Δ°|\\Delta^{\\circ}›, where reactions live, by the rows ‹Ⓐ dq|Ⓐ\\,dq› above.");
    } else if let Some(reason) = mechanics.forms.why(ClosedForm::Distribution) {
        pen.left_out("A basis of the distribution ‹Δ = ker Ⓐ|\\Delta = \\ker Ⓐ› is", reason);
    }
    match mechanics.dynamics {
        Dynamics::Hamiltonian(_) => {
            pen.say("The multipliers follow from inserting ‹q̇|\\dot q› and ‹ṗ|\\dot p› into the differentiated rows:");
            pen.law(r"(Ⓐ Ⓗ_pp Ⓐᵀ) μ = −[Ⓐ Ⓗ_pp (Ⓠ − Ⓗ_q) + γ]|\bigl(Ⓐ\,Ⓗ_{pp}Ⓐ^{\top}\bigr)\mu = -\bigl[Ⓐ\,Ⓗ_{pp}\,(Ⓠ - Ⓗ_q) + \gamma\bigr]");
        }
        _ => {
            pen.say("Equations of motion and differentiated rows together are one linear system for accelerations and multipliers:");
            pen.law(r"Ⓦ a − Ⓐᵀμ = Ⓠ − h,   Ⓐ a = −γ|\begin{pmatrix} Ⓦ & Ⓐ^{\top}\\ Ⓐ & 0\end{pmatrix}\begin{pmatrix} a\\ -\mu\end{pmatrix} = \begin{pmatrix} Ⓠ - h\\ -\gamma\end{pmatrix}");
            pen.say("It is solvable exactly when ‹ZᵀⓌZ|Z^{\\top}ⓌZ› is nonsingular, the columns of ‹Z› spanning ‹Δ|\\Delta›; ‹Ⓦ› itself may be singular.");
        }
    }
    pen.say("Consistency. At the start every row must hold, and every holonomic row also by position:");
    let mut list = Vec::new();
    let zero = Typeset::pair("0");
    for row in &mechanics.rows {
        if let Some(c) = row.position {
            list.push(whole(pen.formula(c), "=", zero.clone()));
        }
        let parts: Vec<(Expr, Typeset)> = mechanics
            .free
            .iter()
            .zip(&row.normal)
            .map(|(&i, &e)| (e, pen.formula(mechanics.velocities[i])))
            .collect();
        let mut left = pen.combination(&parts, false);
        if !pen.is_zero(row.drift) {
            left = left.then(&Typeset::pair(" + ")).then(&pen.factor(row.drift));
        }
        list.push(whole(left, "=", zero.clone()));
    }
    pen.equations(list);
}

fn subscript(n: usize) -> String {
    n.to_string().chars().filter_map(|d| d.to_digit(10)).filter_map(|d| char::from_u32(0x2080 + d)).collect()
}

/// Driven coordinates: what drives them.
pub fn drives(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    if mechanics.drives.is_empty() {
        return;
    }
    pen.heading(1, "Driven coordinates");
    pen.say("A coordinate with prescribed motion ‹q_k = f(t)|q_k = f(t)› has no equation of its own: ‹f›, ‹ḟ|\\dot f›, ‹f̈|\\ddot f› are inserted in the others. The equation that was removed gives the force that drives it (‹f_i|f_i›: forces of walls in contact):");
    pen.law(r"F_k = d/dt ∂Ⓛ/∂v_k − ∂Ⓛ/∂q_k − Ⓠ_k − (Ⓐᵀμ)_k − Σ f_i n_ik|F_k = \frac{d}{dt}\frac{\partial Ⓛ}{\partial v_k} - \frac{\partial Ⓛ}{\partial q_k} - Ⓠ_k - (Ⓐ^{\top}\mu)_k - \sum_i f_i\,n_{i,k}");
    for (slot, drive) in mechanics.drives.iter().enumerate() {
        let coordinate = &mechanics.model.coordinates[drive.coordinate];
        if let Some(driven) = &coordinate.driven {
            let mut list = pen.equation(pen.formula(coordinate.position), "=", driven.position);
            list.extend(pen.equation(pen.formula(coordinate.velocity), "=", driven.velocity));
            list.extend(pen.equation(pen.formula(coordinate.acceleration), "=", driven.acceleration));
            pen.equations(list);
        }
        if matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) {
            continue;
        }
        let multipliers = multipliers(pen);
        let mut parts = vec![drive.bias, pen.dag.neg(drive.generalized_force)];
        for (&i, &w) in mechanics.free.iter().zip(&drive.mass) {
            parts.push(pen.dag.mul(w, mechanics.model.coordinates[i].acceleration));
        }
        for (row, &mu) in mechanics.rows.iter().zip(&multipliers) {
            let product = pen.dag.mul(row.driven_normal[slot], mu);
            parts.push(pen.dag.neg(product));
        }
        let force = pen.dag.sum(&parts);
        let left = pen.sub("F", "F", &pen.name(&coordinate.name));
        pen.say("Apart from walls in contact:");
        pen.equals(left, force);
    }
}

/// The Lagrange–d'Alembert–Pontryagin form on (q, v, p).
pub fn implicit(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    if let Dynamics::Hamiltonian(h) = &mechanics.dynamics {
        return super::hamilton::implicit(pen, h);
    }
    pen.heading(1, "Implicit form");
    pen.say("On (‹q›, ‹v›, ‹p›) together, without asking that ‹p = ∂Ⓛ/∂v|p = \\partial Ⓛ/\\partial v› can be solved for ‹v› (the Lagrange–d’Alembert–Pontryagin principle, which varies ‹q›, ‹v› and ‹p› independently):");
    if mechanics.rows.is_empty() {
        pen.law(r"q̇ = v,   p = ∂Ⓛ/∂v,   ṗ = ∂Ⓛ/∂q + Ⓠ|\dot q = v,\qquad p = \frac{\partial Ⓛ}{\partial v},\qquad \dot p = \frac{\partial Ⓛ}{\partial q} + Ⓠ");
        pen.say("Without constraint rows ‹Δ|\\Delta› is everything and ‹Δ° = 0|\\Delta^{\\circ} = 0›.");
    } else {
        pen.law(r"q̇ = v ∈ Δ,   p = ∂Ⓛ/∂v,   ṗ − ∂Ⓛ/∂q − Ⓠ ∈ Δ°|\dot q = v \in \Delta,\qquad p = \frac{\partial Ⓛ}{\partial v},\qquad \dot p - \frac{\partial Ⓛ}{\partial q} - Ⓠ \in \Delta^{\circ}");
        let affine = mechanics.rows.iter().any(|r| !pen.is_zero(r.drift));
        if affine {
            pen.say("The rows have a part ‹b› without velocities, so ‹v ∈ Δ|v\\in\\Delta› reads ‹Ⓐ v + b = 0|Ⓐ\\,v + b = 0›.");
        }
    }
    let multipliers = multipliers(pen);
    let lagrangian = match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => l,
        Dynamics::Degenerate(d) => &d.lagrangian,
        Dynamics::Hamiltonian(_) => return,
    };
    pen.say("For this model:");
    let mut list = Vec::new();
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let coordinate = &mechanics.model.coordinates[i];
        let slope = pen.dag.derivative(lagrangian.lagrangian, coordinate.position);
        let slope = pen.dag.simplify(slope);
        let mut parts = vec![slope, lagrangian.generalized_force[slot]];
        for (row, &mu) in mechanics.rows.iter().zip(&multipliers) {
            parts.push(pen.dag.mul(mu, row.normal[slot]));
        }
        let right = pen.dag.sum(&parts);
        let momentum = pen.formula(coordinate.momentum);
        list.extend(pen.equation(momentum, "=", mechanics.momenta[i]));
        list.extend(pen.equation(pen.rate(coordinate.momentum), "=", right));
    }
    pen.equations(list);
}

/// Hidden constraints of a degenerate Lagrangian.
pub fn degenerate(pen: &mut ReportBuilder<'_>, d: &DegenerateDynamics) {
    pen.heading(1, "Hidden constraints");
    pen.say("‹ZᵀⓌZ|Z^{\\top}ⓌZ› is singular: the Lagrangian is degenerate, and the equations do not give every acceleration. Differentiating, and taking combinations of equations in which the accelerations cancel, leaves conditions that hold along every motion:");
    for condition in &d.conditions {
        pen.say(&format!("{}:", condition.name.replace(['‹', '›', '`', '@', '#'], "")));
        let equations = balanced(pen, condition.expr, Typeset::pair("0"));
        pen.equations(equations);
    }
    pen.say("Together with them the accelerations and multipliers are determined: the Euler–Lagrange rows and the differentiated conditions form one consistent linear system.");
}
