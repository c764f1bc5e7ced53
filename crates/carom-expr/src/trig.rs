//! Identities of circular and hyperbolic functions on the terms of a polynomial.
//!
//! ```text
//! sin²a + cos²a = 1                                cosh²a − sinh²a = 1
//! cos a cos b ± sin a sin b = cos(a ∓ b)           cosh a cosh b ± sinh a sinh b = cosh(a ± b)
//! sin a cos b ± cos a sin b = sin(a ± b)           sinh a cosh b ± cosh a sinh b = sinh(a ± b)
//! ```
//!
//! each times any common factor. Promise: every step is an identity and lowers the number of terms and squares, so the
//! rules end after at most as many steps as there are of them; every look at a term pays for its factors.

use crate::FastMap;
use crate::dag::{Dag, Expr, Function, Node};
use crate::number::Rational;
use crate::polynomial::{Collector, Local, Monomial, Polynomial, UNIT, Work, multiply};
use std::collections::VecDeque;

/// A sine or cosine among the atoms.
#[derive(Clone, Copy)]
struct Wave {
    hyperbolic: bool,
    sine: bool,
    argument: Expr,
    /// Number of the atom with the other function of the same argument.
    partner: u32,
}

/// The terms, and what is still to be looked at.
struct Rules<'a> {
    dag: &'a mut Dag,
    work: &'a mut Work,
    local: Local,
    waves: FastMap<u32, Wave>,
    sum: Collector,
    squares: VecDeque<usize>,
    pairs: VecDeque<usize>,
    /// Has a rule applied since the last sweep over the squares?
    changed: bool,
}

/// Most terms of a polynomial that is also tried with its squares eliminated.
const MOST_REDUCED: usize = 300;

/// Applies the identities to `p`; `None` when a coefficient overflows or the work is used up.
pub(crate) fn shorten(dag: &mut Dag, work: &mut Work, p: &Polynomial) -> Option<Polynomial> {
    let mut best = shorten_directly(dag, work, p)?;
    for sine in [true, false] {
        // sin⁴ + 2 sin² cos² + cos⁴: no two terms make one, but they cancel when one function is eliminated.
        if best.len() > 2 && best.len() <= MOST_REDUCED {
            let Some(reduced) = eliminate(dag, work, &best, sine) else { continue };
            let reduced = shorten_directly(dag, work, &reduced)?;
            if reduced.len() < best.len() {
                best = reduced;
            }
        }
    }
    Some(best)
}

/// Replaces every square of a sine (or else cosine) through the other function,
///
/// ```text
/// f^(2k+r) = f^r (1 − g²)^k = f^r Σ_j C(k, j) (−1)^j g^2j
/// ```
///
/// `None` when there is none, or when the result is too long.
fn eliminate(dag: &mut Dag, work: &mut Work, p: &Polynomial, sine: bool) -> Option<Polynomial> {
    let (f, g) = if sine { (Function::Sin, Function::Cos) } else { (Function::Cos, Function::Sin) };
    let squared =
        |&(a, n): &(u32, i32)| n >= 2 * UNIT && matches!(dag.node(Expr(a)), Node::Function(h, _) if *h == f);
    if !p.iter().any(|(m, _)| m.iter().any(squared)) {
        return None;
    }
    let mut sum = Collector::default();
    for (m, c) in p {
        let mut parts: Polynomial = vec![(m.clone(), *c)];
        for &(atom, n) in m.iter() {
            let argument = match dag.node(Expr(atom)) {
                Node::Function(h, args) if *h == f && n >= 2 * UNIT => args[0],
                _ => continue,
            };
            let other = dag.function(g, &[argument]);
            let squares = n / (2 * UNIT);
            let length = parts.len().checked_mul(squares as usize + 1)?;
            if length > 4 * MOST_REDUCED || !work.spend(length) || !work.spend_factors(length * (m.len() + 1))
            {
                return None;
            }
            let mut opened = Vec::with_capacity(length);
            for (m, c) in &parts {
                let rest = multiply(m, &[(atom, -2 * UNIT * squares)])?;
                let mut binomial = *c;
                for j in 0..=squares {
                    let power =
                        if j == 0 { rest.clone() } else { multiply(&rest, &[(other.0, 2 * UNIT * j)])? };
                    opened.push((power, binomial));
                    // C(k, j+1) = C(k, j) (k − j)/(j + 1), with the sign of the next power of −g².
                    let next = Rational::new(i128::from(j - squares), i128::from(j + 1))?;
                    binomial = binomial.multiply(next)?;
                }
            }
            parts = opened;
        }
        for (m, c) in parts {
            sum.add(m, c)?;
        }
        if sum.terms.len() > 4 * MOST_REDUCED {
            return None;
        }
    }
    Some(sum.finish())
}

fn is_wave(dag: &Dag, e: u32) -> bool {
    use Function::{Cos, Cosh, Sin, Sinh};
    matches!(dag.node(Expr(e)), Node::Function(Sin | Cos | Sinh | Cosh, _))
}

/// Has some term a square of a sine or cosine, or have two terms products of two of them?
fn may_apply(dag: &Dag, p: &Polynomial) -> bool {
    let mut products = 0;
    for (m, _) in p {
        let mut waves = 0;
        for &(a, n) in m.iter().filter(|f| f.1 >= UNIT) {
            if is_wave(dag, a) {
                if n >= 2 * UNIT {
                    return p.len() > 1;
                }
                waves += 1;
            }
        }
        products += u32::from(waves >= 2);
    }
    products >= 2
}

fn shorten_directly(dag: &mut Dag, work: &mut Work, p: &Polynomial) -> Option<Polynomial> {
    if !may_apply(dag, p) {
        return Some(p.clone());
    }
    let (local, terms) = Local::of(dag, p);
    let mut rules = Rules {
        dag,
        work,
        local,
        waves: FastMap::default(),
        sum: Collector::default(),
        squares: VecDeque::new(),
        pairs: VecDeque::new(),
        changed: false,
    };
    for (m, c) in terms {
        let i = rules.sum.add(m, c)?;
        rules.squares.push_back(i);
        rules.pairs.push_back(i);
    }
    let count = rules.local.atoms.len() as u32;
    for atom in 0..count {
        rules.recognise(atom);
    }
    rules.run()?;
    let shortened = rules.sum.finish();
    Some(rules.local.globalise(&shortened))
}

impl Rules<'_> {
    /// Notes the atom if it is a sine or cosine.
    fn recognise(&mut self, atom: u32) {
        if self.waves.contains_key(&atom) {
            return;
        }
        let Node::Function(f, args) = self.dag.node(self.local.atoms[atom as usize]) else { return };
        let (hyperbolic, sine, other) = match f {
            Function::Sin => (false, true, Function::Cos),
            Function::Cos => (false, false, Function::Sin),
            Function::Sinh => (true, true, Function::Cosh),
            Function::Cosh => (true, false, Function::Sinh),
            _ => return,
        };
        let argument = args[0];
        let e = self.dag.function(other, &[argument]);
        if !matches!(self.dag.node(e), Node::Function(f, args) if *f == other && args[0] == argument) {
            return;
        }
        let partner = self.local.atom(e);
        self.waves.insert(atom, Wave { hyperbolic, sine, argument, partner });
        self.waves.insert(partner, Wave { hyperbolic, sine: !sine, argument, partner: atom });
    }

    fn run(&mut self) -> Option<()> {
        loop {
            if let Some(i) = self.squares.pop_front() {
                self.square_rule(i)?;
            } else if let Some(i) = self.pairs.pop_front() {
                self.pair_rule(i)?;
            } else if self.changed {
                // A new term without squares may complete an old one with squares: M against M sin².
                self.changed = false;
                if !self.work.spend_factors(self.sum.terms.len()) {
                    return None;
                }
                for i in 0..self.sum.terms.len() {
                    let (m, c) = &self.sum.terms[i];
                    if !c.is_zero() && m.iter().any(|&(a, n)| n >= 2 * UNIT && self.waves.contains_key(&a)) {
                        self.squares.push_back(i);
                    }
                }
            } else {
                return Some(());
            }
        }
    }

    fn coefficient(&self, m: &[(u32, i32)]) -> Rational {
        self.sum.find(m).map_or(Rational::ZERO, |i| self.sum.terms[i].1)
    }

    /// Looking at a term with so many sines and cosines in pairs; `None` when the work is used up.
    fn pay(&mut self, factors: usize, looks: usize) -> Option<()> {
        self.work.spend_factors(factors.saturating_mul(looks)).then_some(())
    }

    /// Adds a term and has it looked at again.
    fn add(&mut self, m: Monomial, c: Rational) -> Option<()> {
        if !c.is_zero() {
            let i = self.sum.add(m, c)?;
            self.squares.push_back(i);
            self.pairs.push_back(i);
            self.changed = true;
        }
        Some(())
    }

    /// Around term i, for each square of a sine or cosine in it and for each one that could be made there:
    /// k₀ M + k₁ M sin² + k₂ M cos² with as few terms as possible.
    fn square_rule(&mut self, i: usize) -> Option<()> {
        let (m, c) = self.sum.terms[i].clone();
        if c.is_zero() {
            return Some(());
        }
        for &(atom, n) in m.iter() {
            let Some(&wave) = self.waves.get(&atom) else { continue };
            if n < 2 * UNIT {
                continue;
            }
            self.pay(m.len(), 3)?;
            let (sine, cosine) = if wave.sine { (atom, wave.partner) } else { (wave.partner, atom) };
            let rest = multiply(&m, &[(atom, -2 * UNIT)])?;
            let with_sine = multiply(&rest, &[(sine, 2 * UNIT)])?;
            let with_cosine = multiply(&rest, &[(cosine, 2 * UNIT)])?;
            let k = [&rest, &with_sine, &with_cosine].map(|m| self.coefficient(m));
            // 1 = s·sin² + cos², s = −1 for the hyperbolic pair: adding λ to k₀ takes s·λ from k₁ and λ from k₂.
            let s = if wave.hyperbolic { Rational::MINUS_ONE } else { Rational::ONE };
            // cos² − sin² = cos 2a, cosh² + sinh² = cosh 2a
            if k[0].is_zero() && !k[1].is_zero() && k[1] == k[2].multiply(s)?.negate()? {
                let twice = self.dag.linear(Rational::ZERO, &[(Rational::integer(2), wave.argument)]);
                let f = if wave.hyperbolic { Function::Cosh } else { Function::Cos };
                self.add(with_sine, k[1].negate()?)?;
                self.add(with_cosine, k[2].negate()?)?;
                return self.add_wave(f, twice, &rest, k[2]);
            }
            // Fewest terms, then fewest squares: sin² + 2 cos² = 1 + cos².
            let cost = |k: &[Rational; 3]| {
                let [one, sine, cosine] = k.map(|k| usize::from(!k.is_zero()));
                4 * (one + sine + cosine) + 2 * (sine + cosine) + k.iter().filter(|k| k.is_negative()).count()
            };
            let mut best = k;
            for lambda in [k[0].negate()?, s.multiply(k[1])?, k[2]] {
                let shifted =
                    [k[0].add(lambda)?, k[1].subtract(s.multiply(lambda)?)?, k[2].subtract(lambda)?];
                if cost(&shifted) < cost(&best) {
                    best = shifted;
                }
            }
            if best != k {
                for ((m, old), new) in [rest, with_sine, with_cosine].into_iter().zip(k).zip(best) {
                    self.add(m, new.subtract(old)?)?;
                }
                return Some(());
            }
        }
        Some(())
    }

    /// Adds `c·rest·f(argument)`.
    fn add_wave(&mut self, f: Function, argument: Expr, rest: &[(u32, i32)], c: Rational) -> Option<()> {
        let value = self.dag.function(f, &[argument]);
        let (k, factors) = match self.dag.node(value) {
            Node::Number(r) => (*r, Vec::new()),
            Node::Product(k, factors) => (*k, factors.to_vec()),
            _ => (Rational::ONE, vec![(value, Rational::ONE)]),
        };
        let mut m: Monomial = rest.into();
        for (base, exponent) in factors {
            let units = exponent.multiply(Rational::integer(i64::from(UNIT)))?.to_integer()?;
            let atom = self.local.atom(base);
            self.recognise(atom);
            m = multiply(&m, &[(atom, i32::try_from(units).ok()?)])?;
        }
        self.add(m, c.multiply(k)?)
    }

    /// Looks for the term that completes term i to the sine or cosine of a sum or difference.
    fn pair_rule(&mut self, i: usize) -> Option<()> {
        let (m, c) = self.sum.terms[i].clone();
        if c.is_zero() {
            return Some(());
        }
        for (at, &(first, n)) in m.iter().enumerate() {
            let Some(&f) = self.waves.get(&first) else { continue };
            if n < UNIT {
                continue;
            }
            for &(second, n) in &m[at + 1..] {
                let Some(&g) = self.waves.get(&second) else { continue };
                if n < UNIT || g.hyperbolic != f.hyperbolic || g.argument == f.argument {
                    continue;
                }
                self.pay(m.len(), 2)?;
                let rest = multiply(&m, &[(first, -UNIT), (second, -UNIT)])?;
                let mut swapped = [(f.partner, UNIT), (g.partner, UNIT)];
                swapped.sort_unstable();
                let other = multiply(&rest, &swapped)?;
                let Some(j) = self.sum.find(&other) else { continue };
                let d = self.sum.terms[j].1;
                if d.abs() != c.abs() {
                    continue;
                }
                return self.join(i, j, f, g, &rest);
            }
        }
        Some(())
    }

    /// c·f(a)g(b) + d·f̃(a)g̃(b) with |c| = |d| becomes one function of a ± b.
    fn join(&mut self, i: usize, j: usize, f: Wave, g: Wave, rest: &[(u32, i32)]) -> Option<()> {
        let (c, d) = (self.sum.terms[i].1, self.sum.terms[j].1);
        let equal = c == d;
        self.sum.terms[i].1 = Rational::ZERO;
        self.sum.terms[j].1 = Rational::ZERO;
        let (a, b) = (f.argument, g.argument);
        let (result, plus, c) = match (f.sine, g.sine) {
            // cos cos + sin sin = cos(a − b); for cosh the signs agree
            (false, false) => (false, equal == f.hyperbolic, c),
            (true, true) => (false, equal == f.hyperbolic, d),
            // sin cos + cos sin = sin(a + b)
            (true, false) => (true, equal, c),
            (false, true) => (true, equal, d),
        };
        let function = match (f.hyperbolic, result) {
            (false, false) => Function::Cos,
            (false, true) => Function::Sin,
            (true, false) => Function::Cosh,
            (true, true) => Function::Sinh,
        };
        let sign = if plus { Rational::ONE } else { Rational::MINUS_ONE };
        let argument = self.dag.linear(Rational::ZERO, &[(Rational::ONE, a), (sign, b)]);
        self.add_wave(function, argument, rest, c)
    }
}
