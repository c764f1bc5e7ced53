//! Laws of the expression store at random expressions and points: simplification, substitution and canonical form
//! keep the value, derivatives are slopes.
//!
//! Tolerances are not chosen: [`bounded`] carries a rounding bound through the evaluation, and two ways of computing
//! the same value must agree within the sum of their bounds.

use carom_expr::{Dag, Expr, Function, Node, Rational, evaluate_function};
use proptest::prelude::*;
use std::collections::HashMap;

/// An expression before it is in a DAG.
#[derive(Clone, Debug)]
enum Tree {
    Number(i64, i64),
    Symbol(usize),
    Sum(Vec<Tree>),
    Product(Vec<Tree>),
    Power(Box<Tree>, i64, i64),
    Apply(Function, Box<Tree>),
    Two(Function, Box<Tree>, Box<Tree>),
}

const NAMES: [&str; 4] = ["x", "y", "z", "w"];

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        1 => (-6_i64..7, 1_i64..5).prop_map(|(n, d)| Tree::Number(n, d)),
        4 => (0..NAMES.len()).prop_map(Tree::Symbol),
        2 => (0..NAMES.len(), any::<bool>()).prop_map(|(i, sine)| {
            Tree::Apply(if sine { Function::Sin } else { Function::Cos }, Box::new(Tree::Symbol(i)))
        }),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let function = prop::sample::select(Function::ALL.to_vec());
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 2..5).prop_map(Tree::Sum),
            4 => prop::collection::vec(inner.clone(), 2..5).prop_map(Tree::Product),
            2 => (inner.clone(), prop::sample::select(vec![-2_i64, -1, 2, 3]))
                .prop_map(|(t, n)| Tree::Power(Box::new(t), n, 1)),
            1 => (inner.clone(), prop::sample::select(vec![(1_i64, 2_i64), (-1, 2), (1, 3), (3, 2)]))
                .prop_map(|(t, (n, d))| Tree::Power(Box::new(t), n, d)),
            2 => (inner.clone(), any::<bool>()).prop_map(|(t, sine)| {
                Tree::Apply(if sine { Function::Sin } else { Function::Cos }, Box::new(t))
            }),
            1 => (function, inner.clone(), inner).prop_map(|(f, a, b)| match f.arity() {
                1 => Tree::Apply(f, Box::new(a)),
                _ => Tree::Two(f, Box::new(a), Box::new(b)),
            }),
        ]
    })
}

/// Builds the tree; `reversed` adds and multiplies in the opposite order.
fn build(dag: &mut Dag, tree: &Tree, reversed: bool) -> Expr {
    let all = |dag: &mut Dag, parts: &[Tree]| -> Vec<Expr> {
        match reversed {
            true => parts.iter().rev().map(|t| build(dag, t, reversed)).collect(),
            false => parts.iter().map(|t| build(dag, t, reversed)).collect(),
        }
    };
    match tree {
        Tree::Number(n, d) => dag.rational(*n, *d),
        Tree::Symbol(i) => dag.symbol(NAMES[*i]),
        Tree::Sum(parts) => {
            let parts = all(dag, parts);
            dag.sum(&parts)
        }
        Tree::Product(parts) => {
            let parts = all(dag, parts);
            dag.product(&parts)
        }
        Tree::Power(base, n, d) => {
            let base = build(dag, base, reversed);
            dag.rational_power(base, Rational::new(i128::from(*n), i128::from(*d)).unwrap())
        }
        Tree::Apply(f, arg) => {
            let arg = build(dag, arg, reversed);
            dag.function(*f, &[arg])
        }
        Tree::Two(f, a, b) => {
            let args = [build(dag, a, reversed), build(dag, b, reversed)];
            dag.function(*f, &args)
        }
    }
}

fn new_dag() -> Dag {
    let mut dag = Dag::new();
    for name in NAMES {
        dag.symbol(name);
    }
    dag
}

/// Value of `e` and a bound on its rounding error, by running error analysis: each operation rounds by half a unit
/// (library functions by two units), and passes on what came in through the greatest slope over the uncertain
/// arguments, found at their ends. An infinite bound says that nothing is known.
fn bounded(dag: &Dag, e: Expr, point: &[f64]) -> (f64, f64) {
    const UNIT: f64 = f64::EPSILON;
    let mut values: HashMap<Expr, (f64, f64)> = HashMap::new();
    let through = |f: &dyn Fn(f64) -> f64, (x, error): (f64, f64)| -> (f64, f64) {
        let value = f(x);
        // Ends and quarter points, so that one curved piece is caught; twice that for what lies between.
        let spread = [-1.0, -0.5, 0.5, 1.0]
            .map(|s| (f(x + s * (2.0 * error + f64::MIN_POSITIVE)) - value).abs())
            .into_iter()
            .fold(0.0, |a: f64, b| if b.is_nan() || a.is_nan() { f64::NAN } else { a.max(b) });
        let bound = 2.0 * spread + 2.0 * UNIT * value.abs() + f64::MIN_POSITIVE;
        (value, if bound.is_nan() { f64::INFINITY } else { bound })
    };
    let times = |(x, a): (f64, f64), (y, b): (f64, f64)| {
        (x * y, x.abs() * b + y.abs() * a + a * b + UNIT * (x * y).abs())
    };
    for node in dag.reachable(&[e]) {
        let value = match dag.node(node) {
            Node::Number(r) => (r.to_f64(), UNIT * r.to_f64().abs()),
            Node::Symbol(s) => (point[s.index()], 0.0),
            Node::Sum(c, terms) => {
                let mut total = (c.to_f64(), UNIT * c.to_f64().abs());
                for (k, t) in terms.iter() {
                    let (x, error) = times((k.to_f64(), UNIT * k.to_f64().abs()), values[t]);
                    total.0 += x;
                    total.1 += error + UNIT * total.0.abs();
                }
                total
            }
            Node::Product(c, factors) => {
                let mut total = (c.to_f64(), UNIT * c.to_f64().abs());
                for (b, n) in factors.iter() {
                    let power = through(
                        &|x| match n.to_integer() {
                            Some(n) => x.powi(n as i32),
                            None => x.powf(n.to_f64()),
                        },
                        values[b],
                    );
                    // Repeated multiplication rounds once per factor.
                    let more = UNIT * n.to_f64().abs() * power.0.abs();
                    total = times(total, (power.0, power.1 + more));
                }
                total
            }
            Node::Function(f, args) if f.arity() == 1 => {
                through(&|x| evaluate_function(*f, x, 0.0), values[&args[0]])
            }
            Node::Function(f, args) => {
                let (x, y) = (values[&args[0]], values[&args[1]]);
                let first = through(&|x| evaluate_function(*f, x, y.0), x);
                let second = through(&|y| evaluate_function(*f, x.0, y), y);
                (first.0, first.1 + second.1)
            }
            _ => (dag.evaluate(node, |s| point[s.index()]), 0.0),
        };
        values.insert(node, value);
    }
    values[&e]
}

/// Do two expressions agree at the point, as far as rounding lets one see? `None`: nothing can be seen.
fn agree(dag: &Dag, before: Expr, after: Expr, point: &[f64]) -> Option<bool> {
    let (x, a) = bounded(dag, before, point);
    // What cannot be seen: no value, or one that drowns in rounding.
    let visible = x.is_finite() && a < 1e-3 * (1.0 + x.abs());
    if !visible {
        return None;
    }
    let (y, b) = bounded(dag, after, point);
    Some(y.is_finite() && (x - y).abs() <= a + if b.is_finite() { b } else { return None })
}

fn point() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![0.1_f64..2.5, -2.5_f64..2.5], NAMES.len())
}

/// Expressions per law; PROPTEST_CASES asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simplification_never_changes_a_value_and_is_done_after_one_pass(tree in tree(), point in point()) {
        let mut dag = new_dag();
        let e = build(&mut dag, &tree, false);
        let s = dag.simplify(e);
        prop_assert_ne!(agree(&dag, e, s, &point), Some(false), "{:?}", bounded(&dag, e, &point));
        prop_assert_eq!(dag.simplify(s), s);
    }

    #[test]
    fn simplification_does_not_depend_on_what_else_the_store_holds(tree in tree(), other in tree()) {
        let mut plain = new_dag();
        let e = build(&mut plain, &tree, false);
        let s = plain.simplify(e);
        let mut busy = new_dag();
        build(&mut busy, &other, true);
        let f = build(&mut busy, &tree, true);
        let t = busy.simplify(f);
        prop_assert_eq!(text(&plain, s), text(&busy, t));
    }

    #[test]
    fn the_canonical_form_does_not_depend_on_the_order_of_construction(tree in tree()) {
        let mut dag = new_dag();
        let forward = build(&mut dag, &tree, false);
        let backward = build(&mut dag, &tree, true);
        prop_assert_eq!(forward, backward);
    }

    #[test]
    fn derivatives_are_slopes(tree in tree(), point in point(), direction in 0..NAMES.len()) {
        let mut dag = new_dag();
        let e = build(&mut dag, &tree, false);
        let x = dag.symbol(NAMES[direction]);
        let d = dag.derivative(e, x);
        let (slope, bound) = bounded(&dag, d, &point);
        // Central differences with steps h and h/2: the error of the second is a third of their difference (h²
        // law) plus rounding; where the law does not show, the point says nothing.
        let central = |h: f64| {
            let mut ends = [point.clone(), point.clone()];
            ends[0][direction] -= h;
            ends[1][direction] += h;
            let [(a, ea), (b, eb)] = ends.map(|p| bounded(&dag, e, &p));
            ((b - a) / (2.0 * h), (ea + eb) / (2.0 * h))
        };
        let h = 2.0_f64.powi(-9);
        let ((d1, _), (d2, r2), (d3, r3)) = (central(h), central(h / 2.0), central(h / 4.0));
        let (first, second) = ((d1 - d2).abs(), (d2 - d3).abs());
        let lawful = second <= 0.3 * first + 4.0 * (r2 + r3);
        if slope.is_finite() && bound.is_finite() && lawful && second.is_finite() && second < 1e-3 * (1.0 + d3.abs()) {
            let tolerance = second + 4.0 * (r2 + r3) + bound;
            prop_assert!((slope - d3).abs() <= tolerance, "{} against {} ± {}", slope, d3, tolerance);
        }
    }

    #[test]
    fn substitution_commutes_with_evaluation(tree in tree(), inner in tree(), point in point(), at in 0..NAMES.len()) {
        let mut dag = new_dag();
        let e = build(&mut dag, &tree, false);
        let f = build(&mut dag, &inner, false);
        let x = dag.symbol(NAMES[at]);
        let together = dag.substitute(e, &[(x, f)]);
        let (value, error) = bounded(&dag, f, &point);
        if !(value.is_finite() && error.is_finite()) {
            return Ok(());
        }
        let mut moved = point.clone();
        moved[at] = value;
        // The inserted value is off by `error`; see what that does to the outer expression.
        let (before, a) = bounded(&dag, e, &moved);
        let (after, b) = bounded(&dag, together, &point);
        let mut shifted = moved.clone();
        shifted[at] += error;
        let spread = (bounded(&dag, e, &shifted).0 - before).abs();
        if before.is_finite() && a < 1e-3 * (1.0 + before.abs()) && b < 1e-3 * (1.0 + after.abs()) && spread < 1e-6 {
            prop_assert!((before - after).abs() <= a + b + 4.0 * spread, "{before} against {after}");
        }
    }
}

/// Structure without handles.
fn text(dag: &Dag, e: Expr) -> String {
    let mut known: HashMap<Expr, String> = HashMap::new();
    for e in dag.reachable(&[e]) {
        let text = match dag.node(e) {
            Node::Symbol(s) => dag.symbol_name(*s).to_string(),
            Node::Sum(c, t) => {
                format!("({c:?}, {:?})", t.iter().map(|(k, t)| (k, &known[t])).collect::<Vec<_>>())
            }
            Node::Product(c, f) => {
                format!("[{c:?}, {:?}]", f.iter().map(|(b, n)| (&known[b], n)).collect::<Vec<_>>())
            }
            Node::Power(b, n) => format!("{}^{}", known[b], known[n]),
            Node::Function(f, a) => format!("{f:?}{:?}", a.iter().map(|a| &known[a]).collect::<Vec<_>>()),
            leaf => format!("{leaf:?}"),
        };
        known.insert(e, text);
    }
    known[&e].clone()
}
