//! Gaps with corners.
//!
//! min(a, b) ≥ 0 means a ≥ 0 and b ≥ 0, so a gap that is concave in its corners is several walls: min(a, b) becomes a and
//! b, c − |u| becomes c − u and c + u, c − max(a, b) becomes c − a and c − b. A convex corner (max, +|u|) is a wall
//! without a normal at its edge, and is refused unless the corner lies off the wall, or is none: where the pieces of a
//! gap agree in value and gradient across every switching surface u = 0, the gap is one wall with a normal everywhere
//! (the stadium 1 − y² − max(|x| − 1, 0)²).

use carom_expr::{Dag, Expr, Function, Node, Random, Rational, Symbol};
use std::collections::HashMap;

/// Most walls one gap may become.
const MOST: usize = 64;

/// Why a gap is refused.
pub(crate) struct GapRefusal {
    /// The function to point at.
    pub function: &'static str,
    pub message: String,
    pub hint: String,
}

/// The smooth gaps whose minimum is `gap`; `values` are those of parameters, every other symbol moves.
pub(crate) fn split(
    dag: &mut Dag,
    gap: Expr,
    values: &HashMap<Symbol, f64>,
) -> Result<Vec<Expr>, GapRefusal> {
    let mut smooth: Vec<Expr> = Vec::new();
    let mut waiting = vec![gap];
    while let Some(e) = waiting.pop() {
        match corner(dag, e) {
            None => smooth.push(e),
            Some(corner) => {
                let function = corner.function.name();
                let Some(pieces) = pieces(dag, e, &corner) else {
                    if corner.function == Function::Abs && off_the_wall(dag, e, corner.node, values)
                        || is_one_wall(dag, e, values)
                    {
                        smooth.push(e);
                        continue;
                    }
                    return Err(refusal(corner.function, function));
                };
                waiting.extend(pieces.into_iter().rev());
            }
        }
        if smooth.len() + waiting.len() > MOST {
            return Err(GapRefusal {
                function: "min",
                message: format!("has more than {MOST} corners"),
                hint: "write it as several walls".to_owned(),
            });
        }
    }
    smooth.dedup();
    Ok(smooth)
}

fn refusal(function: Function, name: &'static str) -> GapRefusal {
    let hint = match function {
        Function::Max => "max(a, b) >= 0 means a >= 0 or b >= 0, which is not a wall; min(a, b) means both",
        Function::Abs => "use a smooth gap, such as x^2 + y^2 - r^2, or two walls",
        Function::Sign => "a gap must be smooth: use a distance",
        _ => "use min at the top of the formula, or write several walls",
    };
    GapRefusal {
        function: name,
        message: format!("has a corner, from `{name}`, on the wall itself"),
        hint: hint.to_owned(),
    }
}

/// The name of a piecewise function in `e`.
pub(crate) fn corner_in(dag: &Dag, e: Expr) -> Option<&'static str> {
    corner(dag, e).map(|corner| corner.function.name())
}

struct Corner {
    function: Function,
    node: Expr,
}

fn is_corner(dag: &Dag, e: Expr) -> Option<Function> {
    match dag.node(e) {
        Node::Function(f @ (Function::Abs | Function::Sign | Function::Min | Function::Max), _) => Some(*f),
        _ => None,
    }
}

/// The outermost piecewise function in `e`; handles grow towards the outside.
fn corner(dag: &Dag, e: Expr) -> Option<Corner> {
    let nodes = dag.reachable(&[e]);
    nodes.into_iter().rev().find_map(|node| Some(Corner { function: is_corner(dag, node)?, node }))
}

/// `e` = c + k·corner with the corner concave: the two gaps it is the minimum of.
fn pieces(dag: &mut Dag, e: Expr, corner: &Corner) -> Option<[Expr; 2]> {
    let k = coefficient(dag, e, corner.node)?;
    let Node::Function(_, arguments) = dag.node(corner.node).clone() else { return None };
    let concave = match corner.function {
        Function::Min => !k.is_negative(),
        Function::Max | Function::Abs => k.is_negative(),
        _ => false,
    };
    if !concave {
        return None;
    }
    let branches = match corner.function {
        Function::Abs => {
            let minus = dag.neg(arguments[0]);
            [arguments[0], minus]
        }
        _ => [arguments[0], arguments[1]],
    };
    Some(branches.map(|branch| replace(dag, e, corner.node, k, branch)))
}

/// k, when `e` = c + k·corner and c does not contain the corner.
fn coefficient(dag: &Dag, e: Expr, corner: Expr) -> Option<Rational> {
    let contains = |part: Expr| dag.reachable(&[part]).binary_search(&corner).is_ok();
    if e == corner {
        return Some(Rational::ONE);
    }
    match dag.node(e) {
        Node::Sum(_, terms) => {
            let mut found = None;
            for &(k, term) in terms.iter() {
                if term == corner {
                    found = Some(k);
                } else if contains(term) {
                    return None;
                }
            }
            found
        }
        Node::Product(k, factors) => match factors[..] {
            [(base, exponent)] if base == corner && exponent.is_one() => Some(*k),
            _ => None,
        },
        _ => None,
    }
}

/// c + k·branch for `e` = c + k·corner.
fn replace(dag: &mut Dag, e: Expr, corner: Expr, k: Rational, branch: Expr) -> Expr {
    match dag.node(e).clone() {
        Node::Sum(constant, terms) => {
            let terms: Vec<(Rational, Expr)> =
                terms.iter().map(|&(k, term)| (k, if term == corner { branch } else { term })).collect();
            dag.linear(constant, &terms)
        }
        _ => dag.scale(k, branch),
    }
}

/// With |u| = 0, is the gap a number other than 0? Then its corner is not on the wall.
fn off_the_wall(dag: &mut Dag, e: Expr, corner: Expr, values: &HashMap<Symbol, f64>) -> bool {
    let zero = dag.zero();
    let mut known: HashMap<Expr, Expr> = HashMap::new();
    known.insert(corner, zero);
    let Some(k) = coefficient(dag, e, corner) else { return false };
    let rest = replace(dag, e, corner, k, zero);
    let value = dag.evaluate(rest, |s| values.get(&s).copied().unwrap_or(f64::NAN));
    value.is_finite() && value != 0.0
}

/// Pairs of points between which a switching surface is looked for.
const PAIRS: usize = 2000;
/// Points on a surface at which both sides are compared.
const CROSSINGS: usize = 32;
const HALVINGS: usize = 80;
/// Both sides agree when they differ by less than this part of what the gap is around there.
const AGREES: f64 = 1e-9;

/// Do the value and the gradient of `gap` agree across each of its switching surfaces? Decided at points found on the
/// surface by bisection between random points of all sizes; a surface on which no point is found is not believed.
fn is_one_wall(dag: &mut Dag, gap: Expr, values: &HashMap<Symbol, f64>) -> bool {
    let corners: Vec<Expr> =
        dag.reachable(&[gap]).into_iter().filter(|&node| is_corner(dag, node).is_some()).collect();
    let moving: Vec<Symbol> =
        dag.symbols_in(&[gap]).into_iter().filter(|s| !values.contains_key(s)).collect();
    let moving_symbols: Vec<Expr> = moving.iter().map(|&s| dag.symbol_expr(s)).collect();
    let mut surfaces: Vec<Expr> = corners.iter().filter_map(|&corner| surface(dag, corner)).collect();
    surfaces.retain(|&u| dag.symbols_in(&[u]).iter().any(|s| moving.contains(s)));
    surfaces.sort();
    surfaces.dedup();
    surfaces.into_iter().all(|u| {
        let sides = [false, true].map(|above| {
            let side = side(dag, gap, &corners, u, above);
            let slopes: Vec<Expr> = moving_symbols.iter().map(|&x| dag.derivative(side, x)).collect();
            [vec![side], slopes].concat()
        });
        agree_across(dag, u, &sides, &moving, values)
    })
}

/// u, where the function switches at u = 0.
fn surface(dag: &mut Dag, corner: Expr) -> Option<Expr> {
    let Node::Function(f, arguments) = dag.node(corner).clone() else { return None };
    let u = match f {
        Function::Abs | Function::Sign => arguments[0],
        _ => dag.sub(arguments[0], arguments[1]),
    };
    let opposite = dag.negated_argument(u);
    Some(u.min(opposite))
}

/// The gap as it is on one side of u = 0, continued to the other.
fn side(dag: &mut Dag, gap: Expr, corners: &[Expr], u: Expr, above: bool) -> Expr {
    let mut replacements: Vec<(Expr, Expr)> = Vec::new();
    for &corner in corners {
        if surface(dag, corner) != Some(u) {
            continue;
        }
        let Node::Function(f, arguments) = dag.node(corner).clone() else { continue };
        let own = match f {
            Function::Abs | Function::Sign => arguments[0],
            _ => dag.sub(arguments[0], arguments[1]),
        };
        let positive = (own == u) == above;
        let branch = match f {
            Function::Sign => dag.integer(if positive { 1 } else { -1 }),
            Function::Abs if positive => arguments[0],
            Function::Abs => dag.neg(arguments[0]),
            Function::Max if positive => arguments[0],
            Function::Min if !positive => arguments[0],
            _ => arguments[1],
        };
        replacements.push((corner, branch));
    }
    // From the inside out: an outer function is found again after what it contains was replaced.
    let mut result = gap;
    for i in 0..replacements.len() {
        let (corner, branch) = replacements[i];
        result = dag.substitute(result, &[(corner, branch)]);
        for later in &mut replacements[i + 1..] {
            *later =
                (dag.substitute(later.0, &[(corner, branch)]), dag.substitute(later.1, &[(corner, branch)]));
        }
    }
    result
}

fn agree_across(
    dag: &Dag,
    u: Expr,
    sides: &[Vec<Expr>; 2],
    moving: &[Symbol],
    values: &HashMap<Symbol, f64>,
) -> bool {
    let at = |point: &[f64], roots: &[Expr]| {
        dag.evaluate_all(roots, |s| match moving.iter().position(|&m| m == s) {
            Some(i) => point[i],
            None => values.get(&s).copied().unwrap_or(f64::NAN),
        })
    };
    let mut random = Random(7);
    let mut draw = || -> Vec<f64> {
        moving
            .iter()
            .map(|_| {
                let size = 10f64.powf(3.0 * random.symmetric());
                size * random.symmetric()
            })
            .collect()
    };
    let mut found = 0;
    for _ in 0..PAIRS {
        let ends = [draw(), draw()];
        let [below, above] = [0, 1].map(|i| at(&ends[i], &[u])[0]);
        if below * above >= 0.0 || !(below * above).is_finite() {
            continue;
        }
        let [mut low, mut high] = ends.clone();
        // To far below the rounding of the ends, which is what agreement is measured by.
        for _ in 0..HALVINGS {
            let middle: Vec<f64> = low.iter().zip(&high).map(|(a, b)| 0.5 * (a + b)).collect();
            if middle == low || middle == high {
                break;
            }
            if at(&middle, &[u])[0] * below > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let [minus, plus] = [0, 1].map(|i| at(&low, &sides[i]));
        let around = [&ends[0], &ends[1]].map(|end| at(end, &sides[usize::from(at(end, &[u])[0] > 0.0)]));
        let scale =
            |i: usize| [&minus, &plus, &around[0], &around[1]].map(|v| v[i].abs()).iter().sum::<f64>();
        let agrees = |i: usize| (minus[i] - plus[i]).abs() <= AGREES * scale(i);
        if !(0..minus.len()).all(agrees) {
            return false;
        }
        found += 1;
        if found == CROSSINGS {
            return true;
        }
    }
    found > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dag: &mut Dag, text: &str) -> Expr {
        carom_expr::parse(dag, text, &mut |dag, name| Ok(dag.symbol(name.text))).unwrap()
    }

    #[test]
    fn pieces_that_agree_in_value_and_gradient_are_one_wall() {
        let mut dag = Dag::new();
        let mut values = HashMap::new();
        let r = read(&mut dag, "r");
        values.insert(dag.as_symbol(r).unwrap(), 0.003);
        for gap in [
            "1 - y^2 - max(abs(x) - 1, 0)^2",
            "r^2 - y^2 - max(abs(x) - r, 0)^2",
            "y - x*abs(x)",
            "y - sign(x)*x^2",
            "y + min(x, 0)^3 - max(0, x - 2)^2",
            "1 - max(abs(x) - 1, 0)^2 - max(abs(y) - 1, 0)^2",
        ] {
            let e = read(&mut dag, gap);
            let found = split(&mut dag, e, &values).unwrap_or_else(|r| panic!("{gap}: {}", r.message));
            assert_eq!(found, [e], "{gap}");
        }
        // A kink (first power), a jump, a kink that only some places of the surface have.
        for gap in [
            "2 - y^2 - max(abs(x) - 1, 0)*(x - 3)",
            "1 - y^2 - max(abs(x) - 1, 0)^2 + sign(y)",
            "1 - y^2 - max(abs(x) - 1, 0)^2*(1 + abs(y))",
            "y - abs(x)*y",
        ] {
            let e = read(&mut dag, gap);
            assert!(split(&mut dag, e, &values).is_err(), "{gap}");
        }
    }

    #[test]
    fn a_concave_corner_is_two_walls_and_a_convex_one_is_refused() {
        let mut dag = Dag::new();
        let values = HashMap::new();
        for (gap, parts) in [
            ("min(x, y)", vec!["x", "y"]),
            ("min(x, y) - r", vec!["x - r", "y - r"]),
            ("min(x, min(y, z))", vec!["x", "y", "z"]),
            ("1 - abs(x)", vec!["1 - x", "1 + x"]),
            ("2*min(x, y)", vec!["2*x", "2*y"]),
            ("1 - max(x, y)", vec!["1 - x", "1 - y"]),
            ("abs(x) - 1", vec!["abs(x) - 1"]),
        ] {
            let e = read(&mut dag, gap);
            let mut found = split(&mut dag, e, &values).unwrap_or_else(|r| panic!("{gap}: {}", r.message));
            let mut expected: Vec<Expr> = parts.iter().map(|p| read(&mut dag, p)).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{gap}");
        }
        for gap in
            ["max(x, y)", "x + abs(y)", "abs(x)", "sign(x)", "min(x, y)^2", "x*min(x, y)", "-min(x, y)"]
        {
            let e = read(&mut dag, gap);
            assert!(split(&mut dag, e, &values).is_err(), "{gap}");
        }
    }
}
