//! A scene for a model that says nothing about drawing: what obviously is a place.

use super::Scene;
use crate::draw::is_greek;
use crate::formula::{Formulas, SymbolMeaning};
use carom_expr::{Expr, Function};
use carom_mech::{Diagnostic, Mechanics, Physics, Severity};

/// Fills `scene`, or says what to add.
pub fn fill(mechanics: &mut Mechanics, scene: &mut Scene) -> Result<(), Vec<Diagnostic>> {
    let places = places(mechanics);
    if places.is_empty() {
        return Err(vec![Diagnostic {
            severity: Severity::Error,
            place: None,
            message: "nothing to draw: the coordinates do not say where things are".into(),
            hint: Some(
                "add [body.NAME] with at = [\"x\", \"y\"], or [view] with links = [[\"origin\", [\"l*sin(theta)\", \
                 \"-l*cos(theta)\"]]]; plots (-o file.svg) need neither"
                    .into(),
            ),
        }]);
    }
    scene.dimension = places.iter().map(|(_, at)| at.len()).max().unwrap_or(2).clamp(2, 3);
    for (name, at) in &places {
        scene.add(name, at);
    }
    scene.find_links = true;
    scene.traces = vec![scene.points.len() - 1];
    Ok(())
}

fn places(mechanics: &mut Mechanics) -> Vec<(String, Vec<Expr>)> {
    let model = &mechanics.model;
    let coordinates = model.coordinates.iter().map(|c| (c.name.clone(), c.position));
    let definitions = model.definitions.iter().map(|d| (d.name.clone(), d.expr));
    let named: Vec<(String, Expr)> = coordinates.chain(definitions).collect();
    let find = |name: &str| named.iter().find(|(n, _)| n == name).map(|(_, e)| *e);

    // x…, y… and perhaps z… with the same ending
    let mut found = Vec::new();
    for (name, x) in &named {
        for (letter, other, third) in [("x", "y", "z"), ("X", "Y", "Z")] {
            let Some(ending) = name.strip_prefix(letter) else { continue };
            let Some(y) = find(&format!("{other}{ending}")) else { continue };
            let mut at = vec![*x, y];
            at.extend(find(&format!("{third}{ending}")));
            found.push((format!("({name}, {other}{ending})"), at));
        }
    }
    if !found.is_empty() {
        return found;
    }

    let names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let positions: Vec<Expr> = model.coordinates.iter().map(|c| c.position).collect();
    let angles: Vec<usize> = (0..names.len()).filter(|&k| is_greek(&names[k])).collect();
    let lengths: Vec<usize> =
        (0..names.len()).filter(|&k| matches!(names[k].as_str(), "r" | "R" | "l" | "L" | "s")).collect();
    match (&angles[..], &lengths[..], names.len()) {
        // a single angle: a rod of the length the parameters name, or 1
        ([angle], [], 1) => {
            let length = ["l", "L", "length", "r", "R"].into_iter();
            let length =
                length.filter_map(|n| model.parameters.iter().find(|p| p.name == n)).next().map(|p| p.symbol);
            let length = length.unwrap_or_else(|| mechanics.model.dag.one());
            vec![(names[*angle].clone(), on_circle(mechanics, *angle, length))]
        }
        // a length and an angle
        ([angle], [length], 2) => {
            let name = format!("({}, {})", names[*length], names[*angle]);
            vec![(name, on_circle(mechanics, *angle, positions[*length]))]
        }
        // everything along one line
        _ => {
            let zero = mechanics.model.dag.zero();
            let all = |letters: &[&str]| {
                names
                    .iter()
                    .all(|n| letters.contains(&n.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_')))
            };
            let level = all(&["x", "X", "s", "u", "q"]);
            if level || all(&["y", "Y", "z", "Z", "h", "height"]) {
                let at = |p: Expr| if level { vec![p, zero] } else { vec![zero, p] };
                names.into_iter().zip(positions).map(|(n, p)| (n, at(p))).collect()
            } else {
                vec![]
            }
        }
    }
}

/// The end of a rod of this length. Which way the angle counts follows from the potential: it is lowest when the rod hangs.
/// (θ = 0 lowest: from below; θ = 0 highest: from above; neither: from the horizontal.)
fn on_circle(mechanics: &mut Mechanics, angle: usize, length: Expr) -> Vec<Expr> {
    let at = |theta: f64| potential(mechanics, angle, theta);
    let (right, top, left, bottom) = (at(0.0), at(0.5), at(1.0), at(-0.5));
    // values at θ = 0, π/2, π, −π/2
    let vertical = (top - bottom).abs();
    let level = (right - left).abs();
    let theta = mechanics.model.coordinates[angle].position;
    let dag = &mut mechanics.model.dag;
    let (sine, cosine) = (dag.function(Function::Sin, &[theta]), dag.function(Function::Cos, &[theta]));
    let (across, up) = if level > vertical {
        (sine, if right < left { dag.neg(cosine) } else { cosine })
    } else {
        (cosine, sine)
    };
    vec![dag.product(&[length, across]), dag.product(&[length, up])]
}

/// V (or −L, or H, at rest) with one angle at `turns`·π and everything else at the start.
fn potential(mechanics: &Mechanics, angle: usize, turns: f64) -> f64 {
    let model = &mechanics.model;
    let (expr, sign) = match model.physics {
        Physics::Energies { potential, .. } => (potential, 1.0),
        Physics::Lagrangian(l) => (l, -1.0),
        Physics::Hamiltonian(h) => (h, 1.0),
    };
    let mut formulas = Formulas::new(model, &[expr]);
    let slots: Vec<f64> = formulas
        .meanings
        .iter()
        .map(|m| match *m {
            SymbolMeaning::Position(k) if k == angle => turns * std::f64::consts::PI,
            SymbolMeaning::Position(k) => model.start.position.get(k).copied().flatten().unwrap_or(1.0),
            SymbolMeaning::Known(x) => x,
            SymbolMeaning::Time => model.start.time,
            _ => 0.0,
        })
        .collect();
    sign * formulas.evaluate(&slots)[0]
}
