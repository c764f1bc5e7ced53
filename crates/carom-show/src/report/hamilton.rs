//! Hamiltonian models, and the other side of the Legendre transform.
//!
//! The implicit form of a Hamiltonian model, ṗ + ∂H/∂q − Q ∈ Δ°, q̇ = ∂H/∂p ∈ Δ, comes from Hamilton's principle in phase
//! space; at an impact its boundary terms are p·δq − H δτ: nothing there asks for a Lagrangian.

use super::builder::{ReportBuilder, clean, whole};
use super::document::Typeset;
use super::smooth::{forces, matrix, multipliers};
use carom_expr::Expr;
use carom_mech::{ClosedForm, Dynamics, HamiltonianDynamics, RowMechanics};

/// H and the forces beside it.
pub fn hamiltonian(pen: &mut ReportBuilder<'_>, h: &HamiltonianDynamics) {
    pen.heading(1, "Hamiltonian");
    pen.say("The model gives the Hamiltonian as a function of coordinates and momenta:");
    pen.equals(pen.pair("Ⓗ"), h.hamiltonian);
    forces(pen, &h.generalized_force);
}

/// From the action in phase space to Hamilton's equations.
pub fn principle(pen: &mut ReportBuilder<'_>, h: &HamiltonianDynamics) {
    let mechanics = pen.mechanics;
    pen.heading(1, "From the action to the equations of motion");
    pen.say("The action of a path in phase space is");
    pen.law(r"𝒜[q, p] = ∫ (p·q̇ − Ⓗ(q, p, t)) dt|\mathcal{A}[q,p] = \int_{t_0}^{t_1}\bigl(p\cdot\dot q - Ⓗ(q,p,t)\bigr)\,dt");
    pen.say("Vary ‹q› (fixed at both ends) and ‹p› (free) independently and integrate ‹p·δq̇|p\\cdot\\delta\\dot q› by parts:");
    pen.law(r"δ𝒜 = ∫ [(q̇ − ∂Ⓗ/∂p)·δp − (ṗ + ∂Ⓗ/∂q)·δq] dt|\delta\mathcal{A} = \int_{t_0}^{t_1}\Bigl[\Bigl(\dot q - \frac{\partial Ⓗ}{\partial p}\Bigr)\cdot\delta p - \Bigl(\dot p + \frac{\partial Ⓗ}{\partial q}\Bigr)\cdot\delta q\Bigr]dt");
    let forced = !mechanics.model.forces.is_empty() || mechanics.model.dissipation.is_some();
    if mechanics.rows.is_empty() && !forced {
        pen.say("It vanishes for all variations exactly when");
        pen.law(r"q̇ = ∂Ⓗ/∂p,   ṗ = −∂Ⓗ/∂q|\dot q = \frac{\partial Ⓗ}{\partial p},\qquad \dot p = -\frac{\partial Ⓗ}{\partial q}");
    } else if mechanics.rows.is_empty() {
        pen.say("It vanishes, with the virtual work ‹Ⓠ·δq|Ⓠ\\cdot\\delta q› of forces added, exactly when");
        pen.law(r"q̇ = ∂Ⓗ/∂p,   ṗ = −∂Ⓗ/∂q + Ⓠ|\dot q = \frac{\partial Ⓗ}{\partial p},\qquad \dot p = -\frac{\partial Ⓗ}{\partial q} + Ⓠ");
    } else {
        pen.say("Displacements respect the rows, ‹Ⓐ δq = 0|Ⓐ\\,\\delta q = 0›; with the virtual work ‹Ⓠ·δq|Ⓠ\\cdot\\delta q› of forces added it vanishes exactly when");
        pen.law(r"q̇ = ∂Ⓗ/∂p,   ṗ = −∂Ⓗ/∂q + Ⓠ + Ⓐᵀμ,   Ⓐ ∂Ⓗ/∂p + b = 0|\dot q = \frac{\partial Ⓗ}{\partial p},\qquad \dot p = -\frac{\partial Ⓗ}{\partial q} + Ⓠ + Ⓐ^{\top}\mu,\qquad Ⓐ\,\frac{\partial Ⓗ}{\partial p} + b = 0");
    }
    pen.say("For this model:");
    let multipliers = multipliers(pen);
    let mut list = Vec::new();
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let coordinate = &mechanics.model.coordinates[i];
        list.extend(pen.equation(pen.formula(coordinate.velocity), "=", h.velocity[slot]));
        let mut parts = vec![h.force[slot]];
        for (row, &mu) in mechanics.rows.iter().zip(&multipliers) {
            parts.push(pen.dag.mul(mu, row.normal[slot]));
        }
        let right = pen.dag.sum(&parts);
        list.extend(pen.equation(pen.rate(coordinate.momentum), "=", right));
    }
    pen.equations(list);
}

/// The Hamilton–d'Alembert form on (q, p), and the jumps that belong to it.
pub fn implicit(pen: &mut ReportBuilder<'_>, h: &HamiltonianDynamics) {
    let mechanics = pen.mechanics;
    pen.heading(1, "Implicit form");
    pen.say("On (‹q›, ‹p›), without asking that ‹q̇ = ∂Ⓗ/∂p|\\dot q = \\partial Ⓗ/\\partial p› can be solved for ‹p› (Hamilton’s principle in phase space with displacements ‹δq ∈ Δ|\\delta q\\in\\Delta›, which varies ‹q› and ‹p› independently):");
    if mechanics.rows.is_empty() {
        pen.law(r"ṗ + ∂Ⓗ/∂q − Ⓠ = 0,   q̇ = ∂Ⓗ/∂p|\dot p + \frac{\partial Ⓗ}{\partial q} - Ⓠ = 0,\qquad \dot q = \frac{\partial Ⓗ}{\partial p}");
        pen.say("Without constraint rows ‹Δ|\\Delta› is everything and ‹Δ° = 0|\\Delta^{\\circ} = 0›.");
    } else {
        pen.law(r"ṗ + ∂Ⓗ/∂q − Ⓠ ∈ Δ°,   q̇ = ∂Ⓗ/∂p ∈ Δ|\dot p + \frac{\partial Ⓗ}{\partial q} - Ⓠ \in \Delta^{\circ},\qquad \dot q = \frac{\partial Ⓗ}{\partial p} \in \Delta");
        if mechanics.rows.iter().any(|r| !pen.is_zero(r.drift)) {
            pen.say("The rows have a part ‹b› without velocities, so ‹∂Ⓗ/∂p ∈ Δ|\\partial Ⓗ/\\partial p\\in\\Delta› reads ‹Ⓐ ∂Ⓗ/∂p + b = 0|Ⓐ\\,\\partial Ⓗ/\\partial p + b = 0›.");
        }
    }
    pen.say("For this model:");
    let multipliers = multipliers(pen);
    let mut list = Vec::new();
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let coordinate = &mechanics.model.coordinates[i];
        // ṗ + ∂H/∂q − Q on the left, a combination of the rows on the right.
        let rate = pen.rate(coordinate.momentum);
        let rate = pen.symbol(&rate);
        let force = pen.negative(h.force[slot]);
        let left = pen.dag.sum(&[rate, force]);
        let parts: Vec<Expr> = mechanics
            .rows
            .iter()
            .zip(&multipliers)
            .map(|(row, &mu)| pen.dag.mul(mu, row.normal[slot]))
            .collect();
        let right = pen.dag.sum(&parts);
        list.push(whole(pen.formula(left), "=", pen.formula(right)));
    }
    for row in &mechanics.rows {
        let flow = velocity_along(pen, row, &h.velocity);
        list.push(whole(pen.formula(flow), "=", Typeset::pair("0")));
    }
    pen.equations(list);
    if mechanics.walls.is_empty() {
        return;
    }
    pen.say("At an impact the boundary terms of the same principle, ‹[p]·δq − [Ⓗ] δτ|[p]\\cdot\\delta q - [Ⓗ]\\,\\delta\\tau›, are terms of ‹Ⓗ›, and no Lagrangian is needed:");
    if mechanics.rows.is_empty() {
        pen.law(r"[p] ∈ (T∂Q)°,   [Ⓗ] = −# @_t|[p] \in (T\partial Q)^{\circ},\qquad [Ⓗ] = -#\,@_t");
    } else {
        pen.law(r"[p] ∈ (T∂Q)° + Δ°,   [Ⓗ] = −# @_t − μ·b,   ∂Ⓗ/∂p at p⁺ ∈ Δ|[p] \in (T\partial Q)^{\circ} + \Delta^{\circ},\qquad [Ⓗ] = -#\,@_t - \mu\cdot b,\qquad \frac{\partial Ⓗ}{\partial p}(q, p^{+}, t) \in \Delta");
    }
}

/// Σ A_k v_k + b.
pub fn velocity_along(pen: &mut ReportBuilder<'_>, row: &RowMechanics, velocity: &[Expr]) -> Expr {
    let mut parts: Vec<Expr> = row.normal.iter().zip(velocity).map(|(&a, &v)| pen.dag.mul(a, v)).collect();
    parts.push(row.drift);
    let sum = pen.dag.sum(&parts);
    pen.dag.simplify(sum)
}

/// The Legendre transform, hyperregularity, and Hamilton's equations of a Lagrangian model (or the reverse).
pub fn other_side(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    let forms = &mechanics.forms;
    let coordinates = &mechanics.model.coordinates;
    if let Dynamics::Hamiltonian(h) = &mechanics.dynamics {
        pen.heading(1, "Lagrangian side");
        pen.say("‹Ⓛ› is regular on the other side where ‹∂²Ⓗ/∂p∂p|\\partial^2 Ⓗ/\\partial p\\,\\partial p› is invertible:");
        matrix(pen, "Ⓗ_pp|Ⓗ_{pp}", &h.inverse_mass);
        hyperregular(pen, r"det Ⓗ_pp|\det Ⓗ_{pp}");
        if let (Some(l), Some(inverse)) = (forms.other_side, &forms.inverse) {
            pen.say("Then ‹v = ∂Ⓗ/∂p|v = \\partial Ⓗ/\\partial p› can be solved for ‹p›, and ‹Ⓛ = p·v − Ⓗ|Ⓛ = p\\cdot v - Ⓗ› describes the same motion:");
            let mut list = Vec::new();
            for (&i, &e) in mechanics.free.iter().zip(inverse) {
                list.extend(pen.equation(pen.formula(coordinates[i].momentum), "=", e));
            }
            list.extend(pen.equation(pen.pair("Ⓛ"), "=", l));
            pen.equations(list);
        } else if let Some(obstacle) = &forms.obstacle {
            pen.say(&format!("No closed form: {}.", clean(obstacle)));
        }
        return;
    }
    pen.heading(1, "Hamiltonian side");
    pen.say("‹Ⓛ› is regular where ‹p ↔ v|p \\leftrightarrow v› is invertible, locally where ‹det Ⓦ ≠ 0|\\det Ⓦ \\neq 0›; it is hyperregular when that holds globally. Then both sides describe the same motion.");
    hyperregular(pen, r"det Ⓦ|\det Ⓦ");
    match (forms.other_side, &forms.inverse) {
        (Some(h), Some(inverse)) => {
            pen.say("Solving ‹p = ∂Ⓛ/∂v|p = \\partial Ⓛ/\\partial v› for the velocities and inserting in ‹Ⓗ = p·v − Ⓛ|Ⓗ = p\\cdot v - Ⓛ›:");
            let mut list = Vec::new();
            for (&i, &e) in mechanics.free.iter().zip(inverse) {
                list.extend(pen.equation(pen.formula(coordinates[i].velocity), "=", e));
            }
            list.extend(pen.equation(pen.pair("Ⓗ"), "=", h));
            pen.equations(list);
            pen.say("Hamilton’s equations:");
            let force = match &mechanics.dynamics {
                Dynamics::Lagrangian(l) => &l.generalized_force,
                Dynamics::Degenerate(d) => &d.lagrangian.generalized_force,
                Dynamics::Hamiltonian(h) => &h.generalized_force,
            };
            let multipliers = multipliers(pen);
            let mut list = Vec::new();
            for (slot, &i) in mechanics.free.iter().enumerate() {
                let slope = pen.dag.derivative(h, coordinates[i].position);
                let slope = pen.dag.simplify(slope);
                let mut parts = vec![pen.dag.neg(slope), force[slot]];
                for (row, &mu) in mechanics.rows.iter().zip(&multipliers) {
                    parts.push(pen.dag.mul(mu, row.normal[slot]));
                }
                let right = pen.dag.sum(&parts);
                list.extend(pen.equation(pen.rate(coordinates[i].momentum), "=", right));
            }
            pen.equations(list);
        }
        _ => {
            if let Some(obstacle) = &forms.obstacle {
                pen.say(&format!("No closed form: {}.", clean(obstacle)));
            }
        }
    }
}

fn hyperregular(pen: &mut ReportBuilder<'_>, name: &str) {
    let Some(determinant) = pen.mechanics.forms.hyperregular else {
        if let Some(reason) = pen.mechanics.forms.why(ClosedForm::Determinant) {
            pen.left_out(&format!("‹{name}› is"), reason);
        }
        return;
    };
    if pen.is_zero(determinant) {
        pen.say(&format!("Here ‹{name}› is zero everywhere: the transform is degenerate."));
    } else {
        pen.equals(pen.pair(name), determinant);
    }
}
