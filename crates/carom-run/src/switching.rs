//! Piecewise functions, made analytic on each side of their switching surfaces.
//!
//! ```text
//! |u| → s u,   sign(u) → s,   min(a, b) → (a + b − s (a − b))/2,   max(a, b) → (a + b + s (a − b))/2,   u = a − b
//! ```
//!
//! s = ±1 is a parameter of the leg and u is watched. Functions of parameters only stay as they are. Innermost
//! functions are replaced first, so the surface of an outer one contains the signs of the inner ones.

use carom_expr::{Dag, Expr, Function, Node, Rational};
use std::collections::HashMap;

/// A switching surface.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Surface {
    /// u
    pub value: Expr,
    /// The parameter that holds its sign.
    pub sign: Expr,
}

/// Finds the surfaces in `roots` that move with one of `moving` and returns the replacements to make, with the
/// surfaces in the order they were found.
pub fn split(dag: &mut Dag, roots: &[Expr], moving: &[Expr]) -> (Vec<(Expr, Expr)>, Vec<Surface>) {
    let reachable = dag.reachable(roots);
    let piecewise = |dag: &Dag, e: Expr| {
        matches!(
            dag.node(e),
            Node::Function(Function::Abs | Function::Sign | Function::Min | Function::Max, _)
        )
    };
    if !reachable.iter().any(|&e| piecewise(dag, e)) {
        return (Vec::new(), Vec::new());
    }
    let mut moves: HashMap<Expr, bool> = HashMap::new();
    for &e in &reachable {
        let mut any = moving.contains(&e);
        dag.for_each_child(e, |child| any |= moves.get(&child).copied().unwrap_or(false));
        moves.insert(e, any);
    }
    let mut replacements: Vec<(Expr, Expr)> = Vec::new();
    let mut surfaces: Vec<Surface> = Vec::new();
    for &e in &reachable {
        if !moves[&e] {
            continue;
        }
        let Node::Function(f, args) = dag.node(e).clone() else { continue };
        let half = Rational::HALF;
        let args = dag.substitute_all(&args, &replacements);
        let new = match f {
            Function::Abs => {
                let s = sign_of(dag, &mut surfaces, args[0]);
                dag.mul(s, args[0])
            }
            Function::Sign => sign_of(dag, &mut surfaces, args[0]),
            Function::Min | Function::Max => {
                let difference = dag.sub(args[0], args[1]);
                let s = sign_of(dag, &mut surfaces, difference);
                let distance = dag.mul(s, difference);
                let distance = if f == Function::Min { dag.neg(distance) } else { distance };
                let twice = dag.sum(&[args[0], args[1], distance]);
                dag.scale(half, twice)
            }
            _ => continue,
        };
        replacements.push((e, new));
    }
    (replacements, surfaces)
}

/// The sign parameter of u, or minus that of −u.
fn sign_of(dag: &mut Dag, surfaces: &mut Vec<Surface>, u: Expr) -> Expr {
    let opposite = dag.negated_argument(u);
    if let Some(known) = surfaces.iter().find(|s| s.value == u) {
        return known.sign;
    }
    if let Some(known) = surfaces.iter().find(|s| s.value == opposite) {
        let sign = known.sign;
        return dag.neg(sign);
    }
    let sign = dag.symbol(&format!("sign {}", surfaces.len()));
    surfaces.push(Surface { value: u, sign });
    sign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_functions_agree_with_the_originals_on_both_sides() {
        let mut dag = Dag::new();
        let (x, y, p) = (dag.symbol("x"), dag.symbol("y"), dag.symbol("p"));
        let inner = dag.function(Function::Abs, &[y]);
        let sum = dag.add(x, inner);
        let outer = dag.function(Function::Max, &[sum, p]);
        let sign = dag.function(Function::Sign, &[x]);
        let fixed = dag.function(Function::Abs, &[p]);
        let total = dag.sum(&[outer, sign, fixed]);
        let (replacements, surfaces) = split(&mut dag, &[total], &[x, y]);
        assert_eq!(surfaces.len(), 3);
        let new = dag.substitute(total, &replacements);
        for (vx, vy, vp) in [(1.0, 2.0, -3.0), (-1.0, 0.5, 2.0), (0.3, -4.0, 1.0), (-2.0, -1.0, 0.0)] {
            let plain = |s: carom_expr::Symbol, dag: &Dag| match dag.symbol_name(s) {
                "x" => vx,
                "y" => vy,
                "p" => vp,
                _ => f64::NAN,
            };
            let mut signs: HashMap<String, f64> = HashMap::new();
            for s in &surfaces {
                let value = dag.evaluate(s.value, |sym| {
                    signs.get(dag.symbol_name(sym)).copied().unwrap_or_else(|| plain(sym, &dag))
                });
                signs.insert(dag.symbol_name(dag.as_symbol(s.sign).unwrap()).to_string(), value.signum());
            }
            let a = dag.evaluate(total, |s| plain(s, &dag));
            let b = dag
                .evaluate(new, |s| signs.get(dag.symbol_name(s)).copied().unwrap_or_else(|| plain(s, &dag)));
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
    }
}
