//! Numbers as a textbook writes them: 0, ±1, 1/2, m, m*g, tan(alpha), m1/m2; else the decimal number.

use carom_expr::{Dag, Expr, Function, Rational};

/// How closely a number must be met to be taken for a formula.
const CLOSE: f64 = 1e-10;
/// Most parameters that are tried in pairs.
const PAIRS: usize = 12;

/// A parameter and its value.
pub(super) type KnownParameter = (Expr, f64);

/// Finite `x` as a formula of `parameters` whose value is `x` to rounding; the simplest is taken.
pub(super) fn formula(dag: &mut Dag, x: f64, parameters: &[KnownParameter]) -> Expr {
    if x == 0.0 {
        return dag.zero();
    }
    if let Some(r) = small_rational(x, 4) {
        return dag.number(r);
    }
    // A parameter as it is comes before a fraction that nobody would write: with m = 1.7 the number 1.7 is m, not 17/10.
    for &(symbol, value) in parameters {
        if (x.abs() - value.abs()).abs() <= CLOSE * x.abs() {
            return if (x < 0.0) == (value < 0.0) { symbol } else { dag.neg(symbol) };
        }
    }
    if let Some(r) = small_rational(x, 12) {
        return dag.number(r);
    }
    for &(symbol, value) in parameters {
        for f in [None, Some(Function::Sin), Some(Function::Cos), Some(Function::Tan)] {
            let value = match f {
                None => value,
                Some(Function::Sin) => value.sin(),
                Some(Function::Cos) => value.cos(),
                _ => value.tan(),
            };
            for inverse in [false, true] {
                let ratio = if inverse { x * value } else { x / value };
                if let Some(r) = small_rational(ratio, 4) {
                    let base = f.map_or(symbol, |f| dag.function(f, &[symbol]));
                    let base = if inverse { dag.powi(base, -1) } else { base };
                    return dag.scale(r, base);
                }
            }
        }
    }
    let few = &parameters[..parameters.len().min(PAIRS)];
    for (i, &(a, va)) in few.iter().enumerate() {
        for (j, &(b, vb)) in few.iter().enumerate() {
            for (value, product) in [(va * vb, true), (va / vb, false)] {
                if product && j < i {
                    continue;
                }
                if let Some(r) = small_rational(x / value, 2) {
                    let e = if product { dag.mul(a, b) } else { dag.div(a, b) };
                    return dag.scale(r, e);
                }
            }
        }
    }
    dag.float(x)
}

/// The fraction with the smallest denominator, at most `largest`, that is `x` to rounding.
fn small_rational(x: f64, largest: i128) -> Option<Rational> {
    (1..=largest).find_map(|d| {
        let n = (x * d as f64).round();
        let fits = n != 0.0 && n.abs() <= 12.0 * d as f64 && (x * d as f64 - n).abs() <= CLOSE * n.abs();
        fits.then(|| Rational::new(n as i128, d)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_named_by_the_simplest_formula() {
        let mut dag = Dag::new();
        let parameters: Vec<KnownParameter> =
            [("m", 1.7), ("g", 9.81), ("alpha", 0.4)].map(|(n, x)| (dag.symbol(n), x)).to_vec();
        for (x, text) in [
            (-1.0, "-1"),
            (0.5, "1/2"),
            (1.7, "m"),
            (-1.7 * 9.81, "-m*g"),
            (9.81 / 1.7, "g/m"),
            (0.4f64.tan(), "tan(alpha)"),
            (0.5 / 1.7, "1/(2*m)"),
            (0.123_456_789, "0.123456789"),
        ] {
            let e = formula(&mut dag, x, &parameters);
            let value = dag.evaluate(e, |s| {
                parameters.iter().find(|p| dag.as_symbol(p.0) == Some(s)).map_or(f64::NAN, |p| p.1)
            });
            assert!((value - x).abs() <= 1e-10 * x.abs(), "{text}: {value}");
            assert_eq!(dag.print(e, carom_expr::Style::Text).replace(' ', ""), text);
        }
    }
}
