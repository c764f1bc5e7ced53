//! Hamiltonian models, and the other side of the Legendre transform.

use super::pen::{Pen, clean};
use super::smooth::{forces, matrix, multipliers};
use carom_mech::{Dynamics, Form, HamiltonianDynamics};

/// H and the forces beside it.
pub fn hamiltonian(pen: &mut Pen<'_>, h: &HamiltonianDynamics) {
    pen.heading(1, "Hamiltonian");
    pen.say("The model gives the Hamiltonian as a function of coordinates and momenta:");
    pen.equals(pen.pair("Ⓗ"), h.hamiltonian);
    forces(pen, &h.generalized_force);
}

/// From the action in phase space to Hamilton's equations.
pub fn principle(pen: &mut Pen<'_>, h: &HamiltonianDynamics) {
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

/// The Legendre transform, hyperregularity, and Hamilton's equations of a Lagrangian model (or the reverse).
pub fn other_side(pen: &mut Pen<'_>) {
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

fn hyperregular(pen: &mut Pen<'_>, name: &str) {
    let Some(determinant) = pen.mechanics.forms.hyperregular else {
        if let Some(reason) = pen.mechanics.forms.why(Form::Determinant) {
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
