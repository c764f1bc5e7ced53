//! All derivatives of a weighted sum at once: reverse mode, as definitions that later formulas refer to.
//!
//! ```text
//! F = Σ w_i e_i          ē = ∂F/∂e:     ē_child += ē_parent ∂parent/∂child,   parents before children
//! ```
//!
//! Every ē that is more than a symbol is a *definition*: computed once and never multiplied out. The whole list costs a small
//! multiple of the e_i themselves, however many symbols F is differentiated by.

use crate::FastMap;
use crate::dag::{Dag, Expr, Node};
use crate::number::Rational;

/// The derivatives of Σ w_i e_i.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pullback {
    /// Symbols and what they stand for; a meaning contains earlier symbols only.
    pub definitions: Vec<(Expr, Expr)>,
    /// ∂F/∂x for each x asked for, in terms of these symbols.
    pub slopes: Vec<Expr>,
}

impl Dag {
    /// ∂(Σ w e)/∂x for every x of `by`, the pairs (e, w) being `weighted`. Weights count as constants, whatever they contain;
    /// symbols of definitions are called `name` and a number. Piecewise functions as [`Dag::derivative`] has them.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let [x, y, w] = ["x", "y", "w"].map(|name| dag.symbol(name));
    /// let product = dag.mul(x, y);
    /// let found = dag.pullback(&[(product, w)], &[x, y], "bar");
    /// assert_eq!(found.slopes, [dag.mul(w, y), dag.mul(w, x)]);
    /// ```
    ///
    /// # Panics
    /// When one of `by` is not a symbol.
    pub fn pullback(&mut self, weighted: &[(Expr, Expr)], by: &[Expr], name: &str) -> Pullback {
        assert!(
            by.iter().all(|&x| self.as_symbol(x).is_some()),
            "derivatives are taken with respect to symbols"
        );
        let roots: Vec<Expr> = weighted.iter().map(|pair| pair.0).collect();
        let order = self.reachable(&roots);
        let mut depends: FastMap<Expr, bool> = by.iter().map(|&x| (x, true)).collect();
        for &e in &order {
            let mut any = depends.get(&e).copied().unwrap_or(false);
            self.for_each_child(e, |child| any |= depends.get(&child).copied().unwrap_or(false));
            depends.insert(e, any);
        }
        let depends = |e: Expr| depends.get(&e).copied().unwrap_or(false);
        let mut bars: FastMap<Expr, Vec<(Rational, Expr)>> = FastMap::default();
        for &(e, weight) in weighted {
            bars.entry(e).or_default().push((Rational::ONE, weight));
        }
        let mut found: FastMap<Expr, Expr> = FastMap::default();
        let mut definitions: Vec<(Expr, Expr)> = Vec::new();
        for &e in order.iter().rev().filter(|&&e| depends(e)) {
            let Some(terms) = bars.remove(&e) else { continue };
            let bar = self.linear(Rational::ZERO, &terms);
            if self.is_zero(bar) {
                continue;
            }
            if self.as_symbol(e).is_some() {
                found.insert(e, bar);
                continue;
            }
            let bar = self.defined(bar, &mut definitions, name);
            for (child, factor, slope) in self.slopes_of_node(e, bar, &depends) {
                bars.entry(child).or_default().push((factor, slope));
            }
        }
        let zero = self.zero();
        Pullback { definitions, slopes: by.iter().map(|x| found.get(x).copied().unwrap_or(zero)).collect() }
    }

    /// The symbol of a quantity: itself if it is one.
    fn defined(&mut self, bar: Expr, definitions: &mut Vec<(Expr, Expr)>, name: &str) -> Expr {
        if self.as_symbol(bar).is_some() || self.as_number(bar).is_some() {
            return bar;
        }
        let symbol = self.symbol(&format!("{name} {}", definitions.len()));
        definitions.push((symbol, bar));
        symbol
    }

    /// (child, c, s) with c s = ē ∂e/∂child, for the children that count.
    fn slopes_of_node(
        &mut self,
        e: Expr,
        bar: Expr,
        counts: &impl Fn(Expr) -> bool,
    ) -> Vec<(Expr, Rational, Expr)> {
        let mut out = Vec::new();
        match self.node(e).clone() {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_) => {}
            Node::Sum(_, terms) => {
                out.extend(terms.iter().filter(|t| counts(t.1)).map(|&(c, child)| (child, c, bar)));
            }
            Node::Product(c, factors) => {
                for i in (0..factors.len()).filter(|&i| counts(factors[i].0)) {
                    let slope = self.factor_slope(c, &factors, i, bar);
                    out.push((factors[i].0, Rational::ONE, slope));
                }
            }
            Node::Power(base, exponent) => {
                if counts(exponent) {
                    let log = self.function(crate::dag::Function::Log, &[base]);
                    let slope = self.product(&[bar, e, log]);
                    out.push((exponent, Rational::ONE, slope));
                }
                if counts(base) {
                    let one = self.one();
                    let less = self.sub(exponent, one);
                    let power = self.power(base, less);
                    let slope = self.product(&[bar, exponent, power]);
                    out.push((base, Rational::ONE, slope));
                }
            }
            Node::Function(f, args) => {
                for i in (0..args.len()).filter(|&i| counts(args[i])) {
                    let outer = self.partial(f, &args, i, e);
                    let slope = self.mul(bar, outer);
                    out.push((args[i], Rational::ONE, slope));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dag::Function;

    #[test]
    fn reverse_mode_agrees_with_forward_mode_for_every_kind_of_node() {
        let mut dag = Dag::new();
        let [x, y, z, v, w] = ["x", "y", "z", "v", "w"].map(|name| dag.symbol(name));
        let sum = dag.sum(&[x, y, z]);
        let sine = dag.function(Function::Sin, &[sum]);
        let root = dag.sqrt(sum);
        let ratio = dag.div(sine, root);
        let angle = dag.function(Function::Atan2, &[ratio, z]);
        let power = dag.power(y, x);
        let square = dag.powi(angle, 2);
        let product = dag.product(&[square, power, x, sine]);
        let least = dag.function(Function::Min, &[product, z]);
        let outputs = [(product, v), (angle, w), (least, v), (x, w), (product, w)];
        let by = [x, y, z];
        let found = dag.pullback(&outputs, &by, "bar");
        let given = |name: &str| match name {
            "x" => 0.7,
            "y" => 1.3,
            "z" => 0.4,
            "v" => -0.6,
            "w" => 1.9,
            _ => f64::NAN,
        };
        let mut values: Vec<(String, f64)> = Vec::new();
        for &(symbol, meaning) in &found.definitions {
            let value = dag.evaluate(meaning, |s| {
                let name = dag.symbol_name(s);
                values.iter().find(|(n, _)| n == name).map_or_else(|| given(name), |(_, x)| *x)
            });
            values.push((dag.symbol_name(dag.as_symbol(symbol).unwrap()).to_owned(), value));
        }
        for (slope, &symbol) in found.slopes.iter().zip(&by) {
            let reverse = dag.evaluate(*slope, |s| {
                let name = dag.symbol_name(s);
                values.iter().find(|(n, _)| n == name).map_or_else(|| given(name), |(_, x)| *x)
            });
            let mut forward = 0.0;
            for &(e, weight) in &outputs {
                let d = dag.derivative(e, symbol);
                let product = dag.mul(weight, d);
                forward += dag.evaluate(product, |s| given(dag.symbol_name(s)));
            }
            assert!((reverse - forward).abs() <= 1e-14 * forward.abs(), "{reverse} {forward}");
        }
    }

    #[test]
    fn the_cost_does_not_grow_with_the_number_of_symbols() {
        // A chain of products: the gradient by all symbols has about three operations per factor, forward mode n².
        let mut dag = Dag::new();
        let symbols: Vec<Expr> = (0..200).map(|i| dag.symbol(&format!("x{i}"))).collect();
        let w = dag.symbol("w");
        let mut e = symbols[0];
        for &x in &symbols[1..] {
            let next = dag.mul(e, x);
            e = dag.function(Function::Sin, &[next]);
        }
        let before = dag.len();
        let found = dag.pullback(&[(e, w)], &symbols, "bar");
        assert!(found.slopes.iter().all(|&s| !dag.is_zero(s)));
        assert!(dag.len() - before < 10 * symbols.len(), "{} nodes", dag.len() - before);
    }
}
