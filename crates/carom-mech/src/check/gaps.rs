//! Gaps with corners.
//!
//! min(a, b) ≥ 0 means a ≥ 0 and b ≥ 0, so a gap that is concave in its corners is several walls: min(a, b) becomes a and
//! b, c − |u| becomes c − u and c + u, c − max(a, b) becomes c − a and c − b. A convex corner (max, +|u|) is a wall
//! without a normal at its edge, and is refused unless the corner lies off the wall.

use carom_expr::{Dag, Expr, Function, Node, Rational, Symbol};
use std::collections::HashMap;

/// Most walls one gap may become.
const MOST: usize = 64;

/// Why a gap is refused.
pub(crate) struct Refusal {
    /// The function to point at.
    pub function: &'static str,
    pub message: String,
    pub hint: String,
}

/// The smooth gaps whose minimum is `gap`.
pub(crate) fn split(dag: &mut Dag, gap: Expr, values: &HashMap<Symbol, f64>) -> Result<Vec<Expr>, Refusal> {
    let mut smooth: Vec<Expr> = Vec::new();
    let mut waiting = vec![gap];
    while let Some(e) = waiting.pop() {
        match corner(dag, e) {
            None => smooth.push(e),
            Some(corner) => {
                let function = corner.function.name();
                let Some(pieces) = pieces(dag, e, &corner) else {
                    if corner.function == Function::Abs && off_the_wall(dag, e, corner.node, values) {
                        smooth.push(e);
                        continue;
                    }
                    return Err(refusal(corner.function, function));
                };
                waiting.extend(pieces.into_iter().rev());
            }
        }
        if smooth.len() + waiting.len() > MOST {
            return Err(Refusal {
                function: "min",
                message: format!("has more than {MOST} corners"),
                hint: "write it as several walls".to_owned(),
            });
        }
    }
    smooth.dedup();
    Ok(smooth)
}

fn refusal(function: Function, name: &'static str) -> Refusal {
    let hint = match function {
        Function::Max => "max(a, b) >= 0 means a >= 0 or b >= 0, which is not a wall; min(a, b) means both",
        Function::Abs => "use a smooth gap, such as x^2 + y^2 - r^2, or two walls",
        Function::Sign => "a gap must be smooth: use a distance",
        _ => "use min at the top of the formula, or write several walls",
    };
    Refusal {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dag: &mut Dag, text: &str) -> Expr {
        carom_expr::parse(dag, text, &mut |dag, name| Ok(dag.symbol(name.text))).unwrap()
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
