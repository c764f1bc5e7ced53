//! Functions folded where the value is exact: `sin(0)`, `exp(log(x))`, `cos(-x)`, `sin(x + π/2)`.
//!
//! Promise: a fold holds at every point of the unfolded expression's domain.

use crate::dag::{Constant, Dag, Expr, Function, Node};
use crate::number::Rational;

impl Dag {
    /// `f(args)`, folded where the value is exact (`sin(0)`, `exp(log(x))`, `cos(-x)`).
    ///
    /// ```
    /// # use carom_expr::{Dag, Function};
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let minus = dag.neg(x);
    /// assert_eq!(dag.function(Function::Cos, &[minus]), dag.function(Function::Cos, &[x]));
    /// ```
    pub fn function(&mut self, f: Function, args: &[Expr]) -> Expr {
        debug_assert_eq!(args.len(), f.arity());
        if let Some(folded) = self.fold(f, args) {
            return folded;
        }
        self.intern(Node::Function(f, args.into()))
    }

    /// Does this look like minus something? (leading coefficient below zero in the structural order)
    fn leads_negative(&self, e: Expr) -> bool {
        match self.node(e) {
            Node::Number(r) => r.is_negative(),
            Node::Float(x) => *x < 0.0,
            Node::Product(c, _) => c.is_negative(),
            Node::Sum(_, terms) => terms[0].0.is_negative(),
            _ => false,
        }
    }

    /// `−e`, spread over the summands when e is a sum: the form an odd or even function's argument takes.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// let difference = dag.sub(x, y);
    /// assert_eq!(dag.negated_argument(difference), dag.sub(y, x));
    /// ```
    pub fn negated_argument(&mut self, e: Expr) -> Expr {
        self.linear(Rational::ZERO, &[(Rational::MINUS_ONE, e)])
    }

    fn fold(&mut self, f: Function, args: &[Expr]) -> Option<Expr> {
        use Function::*;
        let x = args[0];
        if matches!(f, Sin | Cos | Tan | Asin | Atan | Sinh | Cosh | Tanh | Asinh | Atanh | Abs | Sign)
            && self.leads_negative(x)
        {
            let positive = self.negated_argument(x);
            let value = self.function(f, &[positive]);
            return Some(if matches!(f, Cos | Cosh | Abs) { value } else { self.neg(value) });
        }
        let zero = self.is_zero(x);
        match f {
            Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh | Abs | Sign if zero => Some(x),
            Cos | Cosh | Exp if zero => Some(self.one()),
            Log if self.is_one(x) => Some(self.zero()),
            Acosh if self.is_one(x) => Some(self.zero()),
            Exp => match self.node(x) {
                Node::Function(Log, inner) => Some(inner[0]),
                _ => None,
            },
            Log => match self.node(x) {
                Node::Function(Exp, inner) => Some(inner[0]),
                Node::Constant(Constant::E) => Some(self.one()),
                _ => None,
            },
            Sin | Cos | Tan => self.quarter_turns(f, x),
            // Negative numbers were turned around above.
            Abs => match self.node(x) {
                Node::Number(_) | Node::Float(_) | Node::Constant(_) => Some(x),
                Node::Function(Abs | Exp | Cosh | Acosh, _) => Some(x),
                _ => None,
            },
            Sign => match self.node(x) {
                Node::Number(_) | Node::Float(_) | Node::Constant(_) => Some(self.one()),
                Node::Function(Sign, _) => Some(x),
                _ => None,
            },
            Min | Max => {
                if args[0] == args[1] {
                    return Some(x);
                }
                let (a, b) = (self.as_number(args[0])?, self.as_number(args[1])?);
                let first = (a <= b) == (f == Min);
                Some(if first { args[0] } else { args[1] })
            }
            _ => None,
        }
    }

    /// sin, cos and tan of `rest + n π/2` with whole n, and the sines and cosines that are ½.
    fn quarter_turns(&mut self, f: Function, x: Expr) -> Option<Expr> {
        let pi = |dag: &Dag, e: Expr| dag.node(e) == &Node::Constant(Constant::Pi);
        let (turns, rest) = match self.node(x) {
            Node::Constant(Constant::Pi) => (Rational::ONE, None),
            Node::Product(c, factors) => match **factors {
                [(base, e)] if e.is_one() && pi(self, base) => (*c, None),
                _ => return None,
            },
            Node::Sum(c, terms) => {
                let at = terms.iter().position(|t| pi(self, t.1))?;
                let mut rest = terms.to_vec();
                let turn = rest.remove(at).0;
                (turn, Some((*c, rest)))
            }
            _ => return None,
        };
        let quarters = turns.multiply(Rational::integer(2))?;
        if !quarters.is_integer() {
            // sin(π/6) = sin(5π/6) = ½; cos(π/3) = ½, cos(2π/3) = −½
            let sixths = turns.multiply(Rational::integer(6))?.to_integer()?.rem_euclid(12);
            let sign = match (f, sixths, rest) {
                (Function::Sin, 1 | 5, None) | (Function::Cos, 2 | 10, None) => 1,
                (Function::Sin, 7 | 11, None) | (Function::Cos, 4 | 8, None) => -1,
                _ => return None,
            };
            return Some(self.rational(sign, 2));
        }
        let n = i64::try_from(quarters.numerator().rem_euclid(4)).ok()?;
        if f == Function::Tan && n % 2 == 1 {
            return None;
        }
        let rest = match rest {
            Some((c, terms)) => self.linear(c, &terms),
            None => self.zero(),
        };
        use Function::{Cos, Sin};
        let (g, negative) = match (f, n) {
            (Sin, 1) => (Cos, false),
            (Sin, 2) => (Sin, true),
            (Sin, 3) => (Cos, true),
            (Cos, 1) => (Sin, true),
            (Cos, 2) => (Cos, true),
            (Cos, 3) => (Sin, false),
            _ => (f, false),
        };
        let value = self.function(g, &[rest]);
        Some(if negative { self.neg(value) } else { value })
    }
}
