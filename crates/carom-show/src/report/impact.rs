//! Impacts: from the action, split at the impact time, to the law, and its solution for each wall of the model.

use super::builder::{ReportBuilder, quoted, whole};
use super::document::{Inline, Typeset, inlines};
use super::hamilton::velocity_along;
use super::rows::{one_form, one_form_equation};
use super::smooth::multipliers;
use carom_expr::Expr;
use carom_mech::{ClosedForm, Dynamics, HamiltonianDynamics, WallMechanics};

/// The law, and every wall.
pub fn walls(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    if mechanics.walls.is_empty() {
        return;
    }
    law(pen);
    solution(pen);
    let many = mechanics.walls.len() > MANY;
    for (k, wall) in mechanics.walls.iter().enumerate() {
        if k == 0 || !many || !alike(pen, k) {
            self::wall(pen, k, wall);
        }
    }
    if many {
        others(pen);
    }
    if mechanics.walls.len() > 1 {
        pen.heading(2, "Several walls at once");
        pen.say("When several walls are touched at the same instant, the rule `simultaneous` (the default) solves for all impulses together, ‹0 ≤ #ᵢ ⊥ @̇ᵢ⁺ + εᵢ @̇ᵢ⁻ ≥ 0|0 \\le #_i \\perp \\dot{@}_i^{+} + \\varepsilon_i \\dot{@}_i^{-} \\ge 0› with ‹εᵢ = eᵢ|\\varepsilon_i = e_i› for walls that approach and the largest restitution of all for walls that separate, again while one approaches; the rule `sequential` applies the one-wall law again and again. They agree for elastic walls only when the angle between the walls, measured by the kinetic energy, is ‹π/k|\\pi/k› with ‹k› even.");
    }
}

/// So many walls have their laws written out one by one. Of more, those that differ from the first in gap and normal only
/// are given by these: sixteen laws that say the same hide what they say.
const MANY: usize = 6;

/// Does the law of a wall read like that of the first, but for its gap and normal?
fn alike(pen: &ReportBuilder<'_>, k: usize) -> bool {
    let mechanics = pen.mechanics;
    let (first, wall) = (&mechanics.walls[0], &mechanics.walls[k]);
    let solved = |k: usize| mechanics.forms.impacts.get(k).is_some_and(Option::is_some);
    let still = |w: &WallMechanics| pen.is_zero(w.gap_t);
    first.restitution == wall.restitution && still(first) == still(wall) && solved(0) == solved(k)
}

/// The walls whose law is that of the first.
fn others(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    let same: Vec<usize> = (1..mechanics.walls.len()).filter(|&k| alike(pen, k)).collect();
    if same.is_empty() {
        return;
    }
    let first = quoted(&mechanics.walls[0].name);
    pen.heading(2, "The other walls");
    pen.say(&format!("Their laws read as that of wall {first}, line by line, each with its own gap and normal: ‹@̇ = n·v + @_t|\\dot{{@}} = n\\cdot v + @_t›, and ‹#|#›, ‹S n› and ‹v⁺|v^{{+}}› follow from ‹n› as they do there. The format `json` has all of them written out."));
    for k in same {
        let wall = &mechanics.walls[k];
        pen.heading(3, &format!("Wall {}", quoted(&wall.name)));
        let mut list = pen.equation(pen.gap.clone(), "=", wall.gap);
        list.push(one_form_equation(pen, Typeset::pair(r"n dq|n\,dq"), &wall.normal));
        if !pen.is_zero(wall.gap_t) {
            list.extend(pen.equation(pen.pair("@_t|@_t"), "=", wall.gap_t));
        }
        pen.equations(list);
    }
}

fn has_rows(pen: &ReportBuilder<'_>) -> bool {
    !pen.mechanics.rows.is_empty()
}

fn law(pen: &mut ReportBuilder<'_>) {
    let hamiltonian = matches!(pen.mechanics.dynamics, Dynamics::Hamiltonian(_));
    pen.heading(1, "Impacts: from the action to the law");
    if pen.gap.unicode != "φ" {
        pen.say("The gap is written ‹@|@› here, because the model has a name `phi` of its own.");
    }
    if pen.impulse.unicode != "λ" {
        pen.say("The impulse is written ‹#|#› here, because the model has a name `lambda` of its own.");
    }
    pen.say("A wall is a one-sided constraint ‹@(q, t) ≥ 0|@(q, t) \\ge 0› with normal ‹n = ∂@/∂q|n = \\partial @/\\partial q›. Take a path that touches it once, at time ‹τ|\\tau›, and split the action there:");
    let integrand = if hamiltonian { ("(p·q̇ − Ⓗ)", r"(p\cdot\dot q - Ⓗ)") } else { ("Ⓛ", "Ⓛ") };
    pen.law(&format!(
        r"𝒜 = ∫ {0} dt (t₀ to τ) + ∫ {0} dt (τ to t₁)|\mathcal{{A}} = \int_{{t_0}}^{{\tau}} {1}\,dt + \int_{{\tau}}^{{t_1}} {1}\,dt",
        integrand.0, integrand.1
    ));
    pen.say("Vary the path on both legs, ‹q + εη|q + \\varepsilon\\eta›, and the time of impact, ‹τ + ε δτ|\\tau + \\varepsilon\\,\\delta\\tau›. Leibniz’ rule gives a term for each moved limit, integration by parts one for the ends of the legs:");
    if hamiltonian {
        pen.law(r"δ𝒜 = ∫ (Hamilton) dt + p⁻·η⁻ − p⁺·η⁺ + ((p·q̇ − Ⓗ)⁻ − (p·q̇ − Ⓗ)⁺) δτ|\delta\mathcal{A} = \int(\text{Hamilton})\,dt + p^{-}\cdot\eta^{-} - p^{+}\cdot\eta^{+} + \bigl((p\cdot\dot q - Ⓗ)^{-} - (p\cdot\dot q - Ⓗ)^{+}\bigr)\,\delta\tau");
    } else {
        pen.law(r"δ𝒜 = ∫ (Euler–Lagrange)·η dt + p⁻·η⁻ − p⁺·η⁺ + (Ⓛ⁻ − Ⓛ⁺) δτ|\delta\mathcal{A} = \int(\text{Euler–Lagrange})\cdot\eta\,dt + p^{-}\cdot\eta^{-} - p^{+}\cdot\eta^{+} + (Ⓛ^{-} - Ⓛ^{+})\,\delta\tau");
    }
    pen.say("Inside the legs ‹η|\\eta› is arbitrary, so the equations of motion hold before and after the impact. At the impact the two ‹η|\\eta› differ, because the legs meet at the moved time; what they have in common is the displacement of the point of impact:");
    pen.law(r"δq = η⁻ + v⁻ δτ = η⁺ + v⁺ δτ|\delta q = \eta^{-} + v^{-}\,\delta\tau = \eta^{+} + v^{+}\,\delta\tau");
    let inserted = "Insert ‹η^± = δq − v^± δτ|\\eta^{\\pm} = \\delta q - v^{\\pm}\\,\\delta\\tau›.";
    if hamiltonian {
        pen.say(&format!("{inserted} The terms ‹p·v|p\\cdot v› cancel. With ‹[x] = x⁺ − x⁻|[x] = x^{{+}} - x^{{-}}› the boundary terms that remain are"));
        pen.law(r"[p]·δq − [Ⓗ] δτ = 0|[p]\cdot\delta q - [Ⓗ]\,\delta\tau = 0");
    } else {
        pen.say(&format!("{inserted} With ‹Ⓔ = p·v − Ⓛ|Ⓔ = p\\cdot v - Ⓛ› and ‹[x] = x⁺ − x⁻|[x] = x^{{+}} - x^{{-}}› the boundary terms that remain are"));
        pen.law(r"[p]·δq − [Ⓔ] δτ = 0|[p]\cdot\delta q - [Ⓔ]\,\delta\tau = 0");
    }
    if has_rows(pen) {
        pen.say("for all admissible variations: the moved point of impact lies on the wall, and the displacement respects the rows,");
        pen.law(r"n·δq + @_t δτ = 0,   Ⓐ δq + b δτ = 0|n\cdot\delta q + @_t\,\delta\tau = 0,\qquad Ⓐ\,\delta q + b\,\delta\tau = 0");
    } else {
        pen.say("for all admissible variations: the moved point of impact lies on the wall,");
        pen.law(r"n·δq + @_t δτ = 0|n\cdot\delta q + @_t\,\delta\tau = 0");
    }
    let tangent = if has_rows(pen) {
        "Those with ‹δτ = 0|\\delta\\tau = 0› leave the time alone: ‹δq|\\delta q› is tangent to the wall and in ‹Δ|\\Delta›, and ‹[p]|[p]› vanishes on all of them, so it is a combination of the normal and the rows."
    } else {
        "Those with ‹δτ = 0|\\delta\\tau = 0› leave the time alone: ‹δq|\\delta q› is tangent to the wall, and ‹[p]|[p]› vanishes on all of them, so it is a multiple of the normal."
    };
    pen.list(&[
        tangent,
        "One more, with ‹δτ = 1|\\delta\\tau = 1›, moves the time of impact: it fixes how the energy changes.",
    ]);
    if hamiltonian && has_rows(pen) {
        pen.law(r"[p] = # n + Ⓐᵀμ,   [Ⓗ] = −# @_t − μ·b,   Ⓐ ∂Ⓗ/∂p(p⁺) + b = 0,   # > 0|[p] = #\,n + Ⓐ^{\top}\mu,\qquad [Ⓗ] = -#\,@_t - \mu\cdot b,\qquad Ⓐ\,\frac{\partial Ⓗ}{\partial p}(q, p^{+}, t) + b = 0,\qquad # > 0");
    } else if hamiltonian {
        pen.law(r"[p] = # n,   [Ⓗ] = −# @_t,   # > 0|[p] = #\,n,\qquad [Ⓗ] = -#\,@_t,\qquad # > 0");
    } else if has_rows(pen) {
        pen.law(r"[p] = # n + Ⓐᵀμ,   [Ⓔ] = −# @_t − μ·b,   Ⓐ v⁺ + b = 0,   # > 0|[p] = #\,n + Ⓐ^{\top}\mu,\qquad [Ⓔ] = -#\,@_t - \mu\cdot b,\qquad Ⓐ\,v^{+} + b = 0,\qquad # > 0");
    } else {
        pen.law(r"[p] = # n,   [Ⓔ] = −# @_t,   # > 0|[p] = #\,n,\qquad [Ⓔ] = -#\,@_t,\qquad # > 0");
    }
    pen.say("‹# = 0|# = 0› always solves the first two: the path that goes on through the wall. It is rejected; a wall can only push, so ‹# > 0|# > 0›. ‹#|#› is the impulse of the wall; it multiplies ‹∂@/∂q|\\partial @/\\partial q›, and is the physical impulse when the gap is a distance.");
}

fn solution(pen: &mut ReportBuilder<'_>) {
    let mechanics = pen.mechanics;
    if let Dynamics::Degenerate(_) = mechanics.dynamics {
        pen.say("The Lagrangian is degenerate. If some ‹z› has ‹Ⓦ z = 0|Ⓦ z = 0›, ‹Ⓐ z = 0|Ⓐ z = 0› and ‹n·z ≠ 0|n\\cdot z \\ne 0›, then ‹z·[p] = # n·z = 0|z\\cdot[p] = #\\,n\\cdot z = 0› allows no impulse: the wall can only hold the motion by a finite force, or not at all. Otherwise the law applies, and dependent velocities follow from the hidden constraints.");
        return;
    }
    if mechanics.quadratic {
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        let s = if hamiltonian && has_rows(pen) {
            r"S = Ⓗ_pp − Ⓗ_pp Ⓐᵀ(Ⓐ Ⓗ_pp Ⓐᵀ)⁻¹ Ⓐ Ⓗ_pp|S = Ⓗ_{pp} - Ⓗ_{pp}Ⓐ^{\top}\bigl(Ⓐ\,Ⓗ_{pp}Ⓐ^{\top}\bigr)^{-1}Ⓐ\,Ⓗ_{pp}"
        } else if hamiltonian {
            r"S = Ⓗ_pp|S = Ⓗ_{pp}"
        } else if has_rows(pen) {
            r"S = Z (ZᵀⓌZ)⁻¹ Zᵀ|S = Z\,(Z^{\top}ⓌZ)^{-1}Z^{\top}"
        } else {
            r"S = Ⓦ⁻¹|S = Ⓦ^{-1}"
        };
        let quadratic = if hamiltonian {
            "‹Ⓗ› is quadratic in ‹p›, so ‹[v] = Ⓗ_pp [p]|[v] = Ⓗ_{pp}[p]›."
        } else {
            "The kinetic energy is quadratic, so ‹[p] = Ⓦ [v]|[p] = Ⓦ[v]›."
        };
        pen.say(&format!("{quadratic} The jump ‹[v] = # S n|[v] = #\\,S n› with ‹{s}› satisfies the momentum condition{} for every ‹#|#›; the energy condition becomes a quadratic equation with one root to reject:", if has_rows(pen) { " and the rows" } else { "" }));
        pen.law(r"# (@̇⁻ + ½ # n·S n) = 0   ⟹   # = −2 @̇⁻/(n·S n),   @̇⁺ = −@̇⁻|#\Bigl(\dot{@}^{-} + \tfrac12\,#\,n\cdot S n\Bigr) = 0 \quad\Longrightarrow\quad # = -\frac{2\,\dot{@}^{-}}{n\cdot S n},\qquad \dot{@}^{+} = -\dot{@}^{-}");
        pen.say("Approaching means ‹@̇⁻ < 0|\\dot{@}^{-} < 0›, so this root is positive. With restitution ‹e› the factor 2 becomes ‹1 + e› and ‹@̇⁺ = −e @̇⁻|\\dot{@}^{+} = -e\\,\\dot{@}^{-}›; the impact then also absorbs ‹(1 − e²)(@̇⁻)²/(2 n·S n)|(1 - e^2)(\\dot{@}^{-})^2/(2\\,n\\cdot S n)›.");
    } else {
        let rows = has_rows(pen);
        let g = if rows {
            r"g(#) = min over μ of Ⓗ(p⁻ + # n + Ⓐᵀμ) − Ⓗ(p⁻) + # @_t + μ·b|g(#) = \min_{\mu}\; Ⓗ\bigl(p^{-} + #\,n + Ⓐ^{\top}\mu\bigr) - Ⓗ(p^{-}) + #\,@_t + \mu\cdot b"
        } else {
            r"g(#) = Ⓗ(p⁻ + # n) − Ⓗ(p⁻) + # @_t|g(#) = Ⓗ\bigl(p^{-} + #\,n\bigr) - Ⓗ(p^{-}) + #\,@_t"
        };
        pen.say("The kinetic energy is not quadratic: reversing the gap rate would be wrong. Along the momenta that the law allows, the energy condition is one equation for ‹#|#›:");
        pen.law(g);
        pen.say("‹g(0) = 0|g(0) = 0›, and ‹g′(#)|g'(#)› is the gap rate at the momentum reached, so ‹g′(0) = @̇⁻ < 0|g'(0) = \\dot{@}^{-} < 0›: ‹g› falls first. Where ‹Ⓗ› is convex in ‹p› so is ‹g›, and the impact is its only root ‹# > 0|# > 0›; it is found numerically, in momentum space.");
    }
}

/// A cell of mathematics.
fn math(formula: Typeset) -> Vec<Inline> {
    vec![Inline::Math(formula)]
}

fn equal(left: &Typeset, right: &Typeset) -> Typeset {
    left.then(&Typeset::pair(" = ")).then(right)
}

fn wall(pen: &mut ReportBuilder<'_>, k: usize, wall: &WallMechanics) {
    pen.heading(2, &format!("Wall {}", quoted(&wall.name)));
    let gap = pen.gap.clone();
    let moving = !pen.is_zero(wall.gap_t);
    let mut list = pen.equation(gap.clone(), "=", wall.gap);
    let normal = one_form(pen, &wall.normal);
    list.push(one_form_equation(pen, Typeset::pair(r"n dq|n\,dq"), &wall.normal));
    if moving {
        list.extend(pen.equation(pen.pair("@_t|@_t"), "=", wall.gap_t));
    }
    list.extend(pen.equation(pen.pair(r"@̇|\dot{@}"), "=", wall.gap_rate));
    pen.equations(list);
    if moving {
        pen.say("The gap depends on time by itself (a moving wall, or a driven coordinate), so the energy of the free coordinates jumps by ‹−# @_t|-#\\,@_t›: with ‹[Ⓔ] = 0|[Ⓔ] = 0› it would be wrong.");
    }
    conditions(pen, wall, &normal);
    closed(pen, k, wall);
    hybrid(pen, wall);
}

/// The law line by line, as a table to compare with a paper.
fn conditions(pen: &mut ReportBuilder<'_>, wall: &WallMechanics, normal: &Typeset) {
    let mechanics = pen.mechanics;
    let multipliers = multipliers(pen);
    let impulse = pen.impulse.clone();
    let labels: Vec<Typeset> = multipliers.iter().map(|&mu| pen.formula(mu)).collect();
    let mut rows: Vec<Vec<Vec<Inline>>> = Vec::new();
    let annihilator = Typeset::new("(T∂Q)° = span { ", r"(T\partial Q)^{\circ} = \operatorname{span}\,\{");
    let close = Typeset::new(" }", r"\}");
    rows.push(vec![inlines("wall"), math(annihilator.then(normal).then(&close))]);
    if has_rows(pen) {
        let mut forms = Typeset::default();
        for (i, row) in mechanics.rows.iter().enumerate() {
            if i > 0 {
                forms = forms.then(&Typeset::new(", ", r",\; "));
            }
            let form = one_form(pen, &row.normal);
            forms = forms.then(&form);
        }
        let annihilator = Typeset::new("Δ° = span { ", r"\Delta^{\circ} = \operatorname{span}\,\{");
        rows.push(vec![inlines("rows"), math(annihilator.then(&forms).then(&close))]);
    }
    let space = if has_rows(pen) {
        "‹p⁺ − p⁻ ∈ (T∂Q)° + Δ°|p^{+} - p^{-} \\in (T\\partial Q)^{\\circ} + \\Delta^{\\circ}›"
    } else {
        "‹p⁺ − p⁻ ∈ (T∂Q)°|p^{+} - p^{-} \\in (T\\partial Q)^{\\circ}›"
    };
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let p = pen.formula(mechanics.model.coordinates[i].momentum);
        let left = pen.marked(&p, true).then(&Typeset::new(" − ", " - ")).then(&pen.marked(&p, false));
        let mut parts = vec![(wall.normal[slot], impulse.clone())];
        parts.extend(mechanics.rows.iter().zip(&labels).map(|(row, mu)| (row.normal[slot], mu.clone())));
        let right = pen.combination(&parts, true);
        rows.push(vec![inlines(if slot == 0 { space } else { "" }), math(equal(&left, &right))]);
    }
    let energy = match mechanics.dynamics {
        Dynamics::Hamiltonian(_) => pen.pair(r"Ⓗ⁺ − Ⓗ⁻|Ⓗ^{+} - Ⓗ^{-}"),
        _ => pen.pair(r"Ⓔ⁺ − Ⓔ⁻|Ⓔ^{+} - Ⓔ^{-}"),
    };
    let mut parts = vec![(pen.negative(wall.gap_t), impulse.clone())];
    for (row, mu) in mechanics.rows.iter().zip(&labels) {
        parts.push((pen.negative(row.drift), mu.clone()));
    }
    let right = pen.combination(&parts, true);
    rows.push(vec![inlines("energy"), math(equal(&energy, &right))]);
    let after = match &mechanics.dynamics {
        Dynamics::Hamiltonian(h) => Some(velocity_after(pen, h)),
        _ => None,
    };
    for (r, row) in mechanics.rows.iter().enumerate() {
        if let Some(velocity) = &after {
            let flow = velocity_along(pen, row, velocity);
            let name = if r == 0 {
                "‹∂Ⓗ/∂p⁺ ∈ Δ|\\partial Ⓗ/\\partial p^{+} \\in \\Delta›"
            } else {
                ""
            };
            let name = pen.letters(name);
            rows.push(vec![inlines(&name), math(equal(&pen.formula(flow), &Typeset::pair("0")))]);
            continue;
        }
        let parts: Vec<(Expr, Typeset)> = mechanics
            .free
            .iter()
            .zip(&row.normal)
            .map(|(&i, &e)| {
                let v = pen.formula(mechanics.model.coordinates[i].velocity);
                (e, pen.marked(&v, true))
            })
            .collect();
        let mut left = pen.combination(&parts, false);
        if !pen.is_zero(row.drift) {
            left = left.then(&Typeset::pair(" + ")).then(&pen.factor(row.drift));
        }
        let name = if r == 0 { "‹v⁺ ∈ Δ|v^{+} \\in \\Delta›" } else { "" };
        rows.push(vec![inlines(name), math(equal(&left, &Typeset::pair("0")))]);
    }
    let sign = impulse.then(&Typeset::pair(" > 0"));
    rows.push(vec![inlines("a wall only pushes"), math(sign)]);
    pen.say("The law for this wall, line by line:");
    pen.table(&["condition", "for this model"], rows);
}

/// ∂H/∂p at the momenta after the impact.
fn velocity_after(pen: &mut ReportBuilder<'_>, h: &HamiltonianDynamics) -> Vec<Expr> {
    let mut marked = Vec::new();
    for coordinate in &pen.mechanics.model.coordinates {
        let p = pen.formula(coordinate.momentum);
        let after = pen.marked(&p, true);
        marked.push((coordinate.momentum, pen.symbol(&after)));
    }
    pen.dag.substitute_all(&h.velocity, &marked)
}

/// The closed form of the law.
fn closed(pen: &mut ReportBuilder<'_>, k: usize, wall: &WallMechanics) {
    let mechanics = pen.mechanics;
    let Some(form) = mechanics.forms.impacts.get(k).and_then(Option::as_ref) else {
        if mechanics.quadratic && !matches!(mechanics.dynamics, Dynamics::Degenerate(_)) {
            pen.say("Solved for ‹#|#› and ‹v⁺|v^{+}›, this has no short form; it is a linear system, solved at each impact.");
            if let Some(reason) = mechanics.forms.why(ClosedForm::Impact(k)) {
                pen.left_out("The solution is", reason);
            }
        }
        return;
    };
    // Written out when that can be read, else through S n.
    const READABLE: usize = 110;
    let explicit = form.velocity_after.iter().all(|&e| pen.formula(e).width <= READABLE);
    pen.say("Its solution, with the state on the right that before the impact:");
    let mut list = pen.equation(pen.pair(r"n·S n|n\cdot S n"), "=", form.inverse_mass);
    let impulse = pen.impulse.clone();
    if explicit {
        list.extend(pen.equation(impulse, "=", form.impulse));
    } else {
        for (slot, &i) in mechanics.free.iter().enumerate() {
            let name = pen.name(&mechanics.model.coordinates[i].name);
            list.extend(pen.equation(pen.sub("(S n)", "(S n)", &name), "=", form.direction[slot]));
        }
        let factor = if pen.dag.is_one(wall.restitution) {
            Typeset::pair("2")
        } else {
            let e = pen.factor(wall.restitution);
            Typeset::new(format!("(1 + {})", e.unicode), format!("(1 + {})", e.latex))
        };
        let right = pen.pair(&format!(
            r"−{} @̇/(n·S n)|-\frac{{{}\,\dot{{@}}}}{{n\cdot S n}}",
            factor.unicode, factor.latex
        ));
        list.push(whole(impulse, "=", right));
    }
    for (row, &mu) in mechanics.rows.iter().zip(&form.reaction_impulse) {
        let left = pen.sub("μ", r"\mu", &pen.label(&row.name));
        list.extend(pen.equation(left, "=", mu));
    }
    pen.equations(list);
    if matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) {
        let mut list = Vec::new();
        for (slot, &i) in mechanics.free.iter().enumerate() {
            let p = pen.formula(mechanics.model.coordinates[i].momentum);
            list.extend(pen.equation(pen.marked(&p, true), "=", form.momentum_after[slot]));
        }
        pen.equations(list);
        return;
    }
    let mut list = Vec::new();
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let v = pen.formula(mechanics.model.coordinates[i].velocity);
        let left = pen.marked(&v, true);
        if explicit {
            list.extend(pen.equation(left, "=", form.velocity_after[slot]));
        } else {
            let name = pen.name(&mechanics.model.coordinates[i].name);
            let step = pen.impulse.then(&Typeset::new("·", r"\,")).then(&pen.sub("(S n)", "(S n)", &name));
            list.push(whole(left, "=", v.then(&Typeset::pair(" + ")).then(&step)));
        }
    }
    pen.equations(list);
    if !mechanics.drives.is_empty() {
        pen.say("The drives take part: the driving impulse of a driven coordinate is ‹[p_k] − # n_k − (Ⓐᵀμ)_k|[p_k] - #\\,n_k - (Ⓐ^{\\top}\\mu)_k›.");
    }
}

/// The wall as guard and reset of a hybrid system.
fn hybrid(pen: &mut ReportBuilder<'_>, wall: &WallMechanics) {
    let mechanics = pen.mechanics;
    if matches!(mechanics.dynamics, Dynamics::Degenerate(_)) {
        return;
    }
    let restitution = pen.factor(wall.restitution);
    let elastic = pen.dag.is_one(wall.restitution);
    pen.say("As a hybrid system: guard ‹{@ = 0, @̇ < 0}|\\{@ = 0,\\ \\dot{@} < 0\\}›, and the reset");
    if mechanics.quadratic && !matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) {
        let factor = if elastic {
            Typeset::pair("2")
        } else {
            Typeset::new(format!("(1 + {})", restitution.unicode), format!("(1 + {})", restitution.latex))
        };
        pen.law(&format!(
            r"v⁺ = v⁻ − {} v^⊥,   v^⊥ = @̇⁻/(n·S n) S n|v^{{+}} = v^{{-}} - {}\,v^{{\perp}},\qquad v^{{\perp}} = \frac{{\dot{{@}}^{{-}}}}{{n\cdot S n}}\,S n",
            factor.unicode, factor.latex
        ));
        pen.say("‹v^⊥|v^{\\perp}› is the part of the velocity normal to the wall in the metric of the kinetic energy.");
    } else {
        let rows = if has_rows(pen) { (" + Ⓐᵀμ", r" + Ⓐ^{\top}\mu") } else { ("", "") };
        pen.law(&format!(r"p⁻ ↦ p⁺ = p⁻ + # n{}|p^{{-}} \mapsto p^{{+}} = p^{{-}} + #\,n{}", rows.0, rows.1));
    }
    let known = |s: carom_expr::Symbol| {
        let symbol = mechanics.model.dag.symbol_expr(s);
        mechanics.model.parameters.iter().find(|p| p.symbol == symbol).map_or(f64::NAN, |p| p.value)
    };
    let e = mechanics.model.dag.evaluate(wall.restitution, known);
    let single = mechanics.walls.len() == 1;
    pen.say(if e < 1.0 {
        "Zeno: with restitution below 1 infinitely many impacts in a finite time are possible wherever ‹@̈ < 0|\\ddot{@} < 0› at contact; they are summed, and the motion goes on in contact."
    } else if !pen.is_zero(wall.gap_t) {
        "Zeno: the reset loses no approach speed; impacts can accumulate only if the moving wall closes the free space."
    } else if single {
        "Zeno: the law is reversible in time and the wall stands still. With analytic formulas (no `abs`, `sign`, `min`, `max`, no tables) impacts cannot accumulate: finitely many in every finite time."
    } else {
        "Zeno: the reset loses no approach speed; impacts on this wall alone do not accumulate. In a corner between walls they are finitely many when the corner’s angle, measured by the kinetic energy, is positive."
    });
}
