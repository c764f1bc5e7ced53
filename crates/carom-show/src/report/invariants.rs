//! What the model conserves, with the symmetry it comes from and what breaks it; the Routh function when asked for.

use super::builder::{ReportBuilder, clean, whole};
use super::document::Typeset;
use carom_mech::invariants::{Breaker, Invariant};

/// Symmetries and invariants.
pub fn invariants(pen: &mut ReportBuilder<'_>) {
    let found = carom_mech::invariants_in(pen.mechanics, pen.dag.clone());
    pen.dag = found.dag.clone();
    if found.list.is_empty() && found.broken.is_empty() {
        return;
    }
    let model = &pen.mechanics.model;
    pen.heading(1, "Invariants");
    pen.say("A symmetry ‹q → q + εξ(q, t), t → t + ετ|q \\to q + \\varepsilon\\xi(q, t),\\ t \\to t + \\varepsilon\\tau› that changes ‹Ⓛ› by no more than ‹dF/dt|dF/dt› conserves ‹J = p·ξ − τⒺ − F|J = p\\cdot\\xi - \\tau Ⓔ - F› along smooth motion, if forces do no work on it and the rows allow it; an impact on a wall changes it by ‹#(n·ξ + @_t τ)|#(n\\cdot\\xi + @_t\\,\\tau)›. Symmetries with ‹ξ|\\xi› of first degree in ‹q› and ‹t›, ‹τ|\\tau› constant and ‹F› of second degree were searched for.");
    if !found.cyclic.is_empty() {
        let names: Vec<String> =
            found.cyclic.iter().map(|&i| format!("`{}`", clean(&model.coordinates[i].name))).collect();
        pen.say(&format!("Cyclic, that is, not in ‹Ⓛ|Ⓛ›: {}.", names.join(", ")));
    }
    for invariant in &found.list {
        pen.say(&format!("{}, {}:", capital(&invariant.name), holds(invariant)));
        quantity(pen, invariant);
    }
    for invariant in &found.broken {
        pen.say(&format!(
            "Not conserved, although ‹Ⓛ› has the symmetry: {}, broken by {}:",
            clean(&invariant.name),
            breakers(invariant)
        ));
        quantity(pen, invariant);
    }
}

/// J by the energy and the momenta, which the report has already said, and written out where that is short.
fn quantity(pen: &mut ReportBuilder<'_>, invariant: &Invariant) {
    const WIDEST: usize = 90;
    let mechanics = pen.mechanics;
    let zero = pen.dag.zero();
    let j = pen.pair("J");
    if invariant.expr == mechanics.hamiltonian {
        return pen.equations(vec![whole(j, "=", pen.pair("Ⓔ"))]);
    }
    if invariant.time_shift != zero {
        return pen.equals(j, invariant.expr);
    }
    let mut terms = vec![pen.dag.neg(invariant.gauge)];
    for (&i, &xi) in mechanics.free.iter().zip(&invariant.direction) {
        terms.push(pen.dag.mul(xi, mechanics.model.coordinates[i].momentum));
    }
    let by_momenta = pen.dag.sum(&terms);
    let mut list = pen.equation(j, "=", by_momenta);
    if by_momenta != invariant.expr && pen.formula(invariant.expr).width <= WIDEST {
        list.extend(pen.equation(Typeset::default(), "=", invariant.expr));
    }
    pen.equations(list);
}

/// The Routh function, or why there is none.
pub fn routh(pen: &mut ReportBuilder<'_>) {
    let found = carom_mech::invariants_in(pen.mechanics, pen.dag.clone());
    let mut dag = found.dag.clone();
    let made = carom_mech::routh(pen.mechanics, &found, &mut dag);
    pen.dag = dag;
    pen.heading(1, "Routh function");
    match made {
        Err(reason) => pen.say(&format!("There is none: {}.", clean(&reason))),
        Ok(routh) => {
            pen.say("Cyclic coordinates are eliminated by their momenta ‹J|J›, which are constant; ‹R = Ⓛ − Σ J θ′|R = Ⓛ - \\sum J\\,\\dot\\theta› gives the equations of the others, and the impact law of ‹R› is that of ‹Ⓛ› with the Schur complement of ‹Ⓦ›.");
            let mut list = Vec::new();
            for (&i, &rate) in routh.cyclic.iter().zip(&routh.rates) {
                list.extend(pen.equation(
                    pen.formula(pen.mechanics.model.coordinates[i].velocity),
                    "=",
                    rate,
                ));
            }
            list.extend(pen.equation(pen.pair("R"), "=", routh.function));
            pen.equations(list);
        }
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().filter(|_| !name.starts_with("p_"));
    match first {
        Some(first) => clean(&format!("{}{}", first.to_uppercase(), letters.as_str())),
        None => format!("`{}`", clean(name)),
    }
}

fn holds(invariant: &Invariant) -> String {
    if invariant.broken_by.is_empty() {
        "always conserved".to_owned()
    } else {
        format!("conserved between impacts; broken by {}", breakers(invariant))
    }
}

fn breakers(invariant: &Invariant) -> String {
    let name = |b: &Breaker| match b {
        Breaker::Wall(name) => format!("wall `{}`", clean(name)),
        Breaker::Row(name) => format!("row `{}`", clean(name)),
        Breaker::Force(name) => format!("force `{}`", clean(name)),
        Breaker::Event(name) => format!("the reset of event `{}`", clean(name)),
    };
    invariant.broken_by.iter().map(name).collect::<Vec<_>>().join(", ")
}
