//! From a null vector to the invariant as a textbook writes it: numbers as formulas, F derived from ξ, a name.

use super::{Invariant, Invariants, Search, Unknown, recognise};
use crate::lagrangian::tidy;
use crate::mechanics::Dynamics;
use crate::symbols::dot;
use carom_expr::{Dag, Expr, Node, Rational};

/// Zero at a state that did not take part in the search.
const HOLDS: f64 = 1e-10;

impl Search<'_> {
    /// J of a null vector, if it holds at the states kept for testing.
    pub(super) fn invariant(&self, dag: &mut Dag, vector: &[f64], test: &[Vec<f64>]) -> Option<Invariant> {
        let mut theta: Vec<f64> = vector.iter().zip(&self.scale).map(|(x, s)| x / s).collect();
        let tau = self.unknowns.iter().position(|u| *u == Unknown::Tau).map_or(0.0, |k| theta[k]);
        let lead = theta.iter().copied().find(|x| *x != 0.0)?;
        let unit = if tau != 0.0 { -tau } else { lead };
        theta.iter_mut().for_each(|x| *x /= unit);
        // Numbers beyond all doubles have no formula.
        if theta.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let parameters: Vec<(Expr, f64)> =
            self.mechanics.model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let mut written: Vec<Expr> = theta.iter().map(|&x| recognise::formula(dag, x, &parameters)).collect();
        self.derive_gauge(dag, &theta, &mut written, &parameters);
        let values = dag.evaluate_all(&written, |s| {
            parameters.iter().find(|p| dag.as_symbol(p.0) == Some(s)).map_or(f64::NAN, |p| p.1)
        });
        let holds = |theta: &[f64]| {
            test.iter().all(|row| {
                let terms = row.iter().zip(theta).map(|(x, y)| x * y);
                let (sum, size) = terms.fold((0.0, 0.0), |(s, m): (f64, f64), x| (s + x, m + x.abs()));
                size.is_finite() && sum.abs() <= HOLDS * size
            })
        };
        let written = if holds(&values) {
            written
        } else if holds(&theta) {
            theta.iter().map(|&x| dag.float(x)).collect()
        } else {
            return None;
        };
        Some(self.assemble(dag, &written))
    }

    /// F follows from ξ and τ: F_q = ∂R/∂v and F_t = R at rest, R = ξ·L_q + (B v + d)·p + τ L_t. Where that has the right values
    /// it is how F is written, with the parameters it is made of.
    fn derive_gauge(&self, dag: &mut Dag, theta: &[f64], written: &mut [Expr], parameters: &[(Expr, f64)]) {
        let is_gauge =
            |u: &Unknown| !matches!(u, Unknown::B(..) | Unknown::D(_) | Unknown::Tau | Unknown::C(_));
        let any = self.unknowns.iter().zip(theta).any(|(u, x)| *x != 0.0 && is_gauge(u));
        if !any || matches!(self.mechanics.dynamics, Dynamics::Hamiltonian(_)) {
            return;
        }
        let (q, v, t) = (&self.parts.q, &self.parts.v, self.parts.time);
        let mut terms = Vec::new();
        for (u, &c) in self.unknowns.iter().zip(written.iter()) {
            if dag.is_zero(c) {
                continue;
            }
            match *u {
                Unknown::B(i, j) => {
                    terms.push(dag.product(&[c, q[j], self.parts.slope[i]]));
                    terms.push(dag.product(&[c, v[j], self.parts.p[i]]));
                }
                Unknown::D(i) => {
                    terms.push(dag.product(&[c, t, self.parts.slope[i]]));
                    terms.push(dag.mul(c, self.parts.p[i]));
                }
                Unknown::C(i) => terms.push(dag.mul(c, self.parts.slope[i])),
                Unknown::Tau => terms.push(dag.mul(c, self.parts.explicit)),
                _ => {}
            }
        }
        let total = dag.sum(&terms);
        let total = tidy(dag, total);
        let zero = dag.zero();
        let mut origin: Vec<(Expr, Expr)> = q.iter().chain(v).map(|&x| (x, zero)).collect();
        origin.push((t, zero));
        for (k, u) in self.unknowns.iter().enumerate() {
            if theta[k] == 0.0 || !is_gauge(u) {
                continue;
            }
            let (by, factor) = match *u {
                Unknown::GaugeQ(i) => (vec![v[i]], Rational::ONE),
                Unknown::GaugeQQ(i, j) => {
                    (vec![v[i], q[j]], if i == j { Rational::HALF } else { Rational::ONE })
                }
                Unknown::GaugeQT(i) => (vec![v[i], t], Rational::ONE),
                Unknown::GaugeT => (vec![], Rational::ONE),
                _ => (vec![t], Rational::HALF),
            };
            let slope = by.into_iter().fold(total, |e, x| dag.derivative(e, x));
            let there = dag.substitute(slope, &origin);
            let there = dag.scale(factor, there);
            let value = dag.evaluate(there, |s| {
                parameters.iter().find(|p| dag.as_symbol(p.0) == Some(s)).map_or(f64::NAN, |p| p.1)
            });
            if (value - theta[k]).abs() <= 1e-9 * theta[k].abs() {
                written[k] = tidy(dag, there);
            }
        }
    }

    fn assemble(&self, dag: &mut Dag, theta: &[Expr]) -> Invariant {
        let (q, t) = (&self.parts.q, self.parts.time);
        let zero = dag.zero();
        let mut xi: Vec<Vec<Expr>> = vec![Vec::new(); q.len()];
        let (mut tau, mut gauge) = (zero, Vec::new());
        for (u, &c) in self.unknowns.iter().zip(theta) {
            if c == zero {
                continue;
            }
            match *u {
                Unknown::B(i, j) => xi[i].push(dag.mul(c, q[j])),
                Unknown::D(i) => xi[i].push(dag.mul(c, t)),
                Unknown::C(i) => xi[i].push(c),
                Unknown::Tau => tau = c,
                Unknown::GaugeQ(i) => gauge.push(dag.mul(c, q[i])),
                Unknown::GaugeQQ(i, j) => gauge.push(dag.product(&[c, q[i], q[j]])),
                Unknown::GaugeQT(i) => gauge.push(dag.product(&[c, q[i], t])),
                Unknown::GaugeT => gauge.push(dag.mul(c, t)),
                Unknown::GaugeTT => gauge.push(dag.product(&[c, t, t])),
            }
        }
        let direction: Vec<Expr> = xi.iter().map(|terms| dag.sum(terms)).collect();
        let gauge = dag.sum(&gauge);
        let expr = if direction.iter().all(|&x| x == zero) && gauge == zero {
            // τ = −1
            self.parts.energy
        } else {
            let along = dot(dag, &self.parts.p, &direction);
            let energy = dag.mul(tau, self.parts.energy);
            let minus = Rational::MINUS_ONE;
            let j = dag.linear(Rational::ZERO, &[(Rational::ONE, along), (minus, energy), (minus, gauge)]);
            tidy(dag, j)
        };
        Invariant { name: String::new(), expr, direction, time_shift: tau, gauge, broken_by: Vec::new() }
    }
}

/// Sorts and names: energy, momenta, angular momenta, boosts.
pub(super) fn name_all(search: &Search<'_>, dag: &Dag, found: &mut Invariants) {
    let named = |invariant: &Invariant| -> (usize, String) {
        let zero = |e: Expr| dag.is_zero(e);
        let free = &search.mechanics.free;
        let contains = |e: Expr, symbols: &[Expr]| symbols.iter().any(|&s| dag.contains(e, s));
        let moving: Vec<usize> = (0..free.len()).filter(|&i| !zero(invariant.direction[i])).collect();
        if !zero(invariant.time_shift) {
            let name = if moving.is_empty() { "energy" } else { "generalized energy" };
            return (0, name.to_owned());
        }
        let any = |symbols: &[Expr]| invariant.direction.iter().any(|&e| contains(e, symbols));
        match moving[..] {
            _ if any(&search.parts.q) => {
                let diagonal =
                    (0..free.len()).any(|i| contains(invariant.direction[i], &[search.parts.q[i]]));
                (3, if diagonal { "linear symmetry" } else { "angular momentum" }.to_owned())
            }
            _ if any(&[search.parts.time]) => (4, "boost".to_owned()),
            [one] => {
                let c = &search.mechanics.model.coordinates[free[one]];
                let own = match dag.node(c.momentum) {
                    Node::Symbol(s) => dag.symbol_name(*s).to_owned(),
                    _ => format!("p_{}", c.name),
                };
                if zero(invariant.gauge) { (1, own) } else { (2, format!("momentum along {}", c.name)) }
            }
            _ => (2, "momentum".to_owned()),
        }
    };
    for list in [&mut found.list, &mut found.broken] {
        let mut keyed: Vec<(usize, Invariant)> = Vec::new();
        for mut invariant in list.drain(..) {
            let (rank, name) = named(&invariant);
            invariant.name = name;
            keyed.push((rank, invariant));
        }
        keyed.sort_by_key(|(rank, _)| *rank);
        *list = keyed.into_iter().map(|(_, invariant)| invariant).collect();
        let names: Vec<String> = list.iter().map(|i| i.name.clone()).collect();
        for (k, invariant) in list.iter_mut().enumerate() {
            if names.iter().filter(|n| **n == names[k]).count() > 1 {
                let before = names[..k].iter().filter(|n| **n == names[k]).count();
                invariant.name = format!("{} {}", names[k], before + 1);
            }
        }
    }
}
