//! Writing a polynomial down with common factors pulled out.
//!
//! Three steps, each taken only where it shortens and while there is work left: what divides every term leaves the sum; terms that differ in one
//! factor share the rest, `m₁ l² + m₂ l² = (m₁ + m₂) l²`; terms that share such a bracket share it once.

use crate::dag::{Dag, Expr, Node};
use crate::measure::{coefficient, of_power};
use crate::number::Rational;
use crate::polynomial::{Local, Monomial, Polynomial, UNIT, Work, exponent, factor_count, multiply};

/// Rounds of grouping; each makes brackets of the brackets of the one before.
const MOST_ROUNDS: usize = 3;
/// Length of a pair of brackets.
const BRACKETS: u64 = 2;

/// A polynomial split as `coefficient·Π atom^exponent·sum`.
pub(crate) struct Split {
    /// Numeric content.
    pub(crate) coefficient: Rational,
    /// What divides every term.
    pub(crate) content: Vec<(Expr, Rational)>,
    /// What is left: 1 for a single term.
    pub(crate) sum: Expr,
}

/// Writes `p`, common factors pulled out where that is shorter.
pub(crate) fn write(dag: &mut Dag, work: &mut Work, p: &Polynomial) -> Expr {
    let mut writer = FactorWriter::new(dag, work, p);
    let terms = std::mem::take(&mut writer.terms);
    let (common, inner) = divide_common(&terms);
    let grouped = writer.group(inner);
    // Common factor times the brackets, against the common factor inside each of them.
    let (content, outside) = divide_content(&grouped, true);
    let spread = grouped.iter().map(|(m, c)| Some((multiply(m, &common)?, *c))).collect::<Option<_>>();
    let spread: Polynomial = spread.unwrap_or(terms);
    if grouped.len() > 1 {
        let numbers = coefficient(content) + u64::from(content.is_negative());
        let joint = writer.monomial_length(&common).saturating_add(numbers + BRACKETS);
        let joint = joint.saturating_add(u64::from(!common.is_empty()));
        let (joint, spread_length) = (joint.saturating_add(writer.length(&outside)), writer.length(&spread));
        // One fraction reads better than several of the same length.
        let fraction = common.iter().any(|f| f.1 < 0);
        if joint < spread_length || (fraction && joint == spread_length) {
            let sum = writer.build(&outside);
            let mut powers = writer.powers(&common);
            powers.push((sum, Rational::ONE));
            return writer.dag.monomials(content, &powers);
        }
    }
    writer.build(&spread)
}

/// Length of `p` written term by term.
pub(crate) fn flat_length(dag: &Dag, p: &Polynomial) -> u64 {
    let factors = |m: &Monomial| {
        m.iter().fold(0, |sum: u64, &(a, n)| sum.saturating_add(of_power(dag, Expr(a), n)).saturating_add(1))
    };
    p.iter().fold(0, |sum: u64, (m, c)| sum.saturating_add(factors(m)).saturating_add(coefficient(*c)))
}

/// Splits `p` for use as a factor: everything common leaves the sum, whether or not that is shorter. The sign leaves
/// when every term is negative or, with `oriented`, when the first is.
pub(crate) fn split(dag: &mut Dag, work: &mut Work, p: &Polynomial, oriented: bool) -> Split {
    let mut writer = FactorWriter::new(dag, work, p);
    let terms = std::mem::take(&mut writer.terms);
    let (common, inner) = divide_common(&terms);
    let (coefficient, inner) = divide_content(&inner, !oriented);
    let content = writer.powers(&common);
    let grouped = writer.group(inner);
    let sum = writer.build(&grouped);
    Split { coefficient, content, sum }
}

struct FactorWriter<'a> {
    dag: &'a mut Dag,
    work: &'a mut Work,
    local: Local,
    terms: Polynomial,
}

/// A set of terms that differ in one factor: the hash of the common rest, the term, the factor's place in it
/// (`WHOLE`: the term is the rest itself).
type CommonRest = (u64, u32, u32);
const WHOLE: u32 = u32::MAX;

impl FactorWriter<'_> {
    fn new<'a>(dag: &'a mut Dag, work: &'a mut Work, p: &Polynomial) -> FactorWriter<'a> {
        let (local, terms) = Local::of(dag, p);
        FactorWriter { dag, work, local, terms }
    }

    fn monomial_length(&self, m: &[(u32, i32)]) -> u64 {
        let mut length = 0_u64;
        for &(a, n) in m {
            let base = self.local.atoms[a as usize];
            let power = of_power(self.dag, base, n);
            length = length.saturating_add(power).saturating_add(1);
        }
        length.saturating_sub(1)
    }

    fn length(&self, p: &Polynomial) -> u64 {
        let mut length = 0_u64;
        for (m, c) in p {
            let monomial = self.monomial_length(m);
            length = length.saturating_add(monomial).saturating_add(coefficient(*c) + 1);
        }
        length
    }

    fn powers(&self, m: &[(u32, i32)]) -> Vec<(Expr, Rational)> {
        m.iter().map(|&(a, n)| (self.local.atoms[a as usize], exponent(n))).collect()
    }

    fn build(&mut self, p: &Polynomial) -> Expr {
        let mut constant = Rational::ZERO;
        let mut summands = Vec::with_capacity(p.len());
        for (m, c) in p {
            // A bracket that cancelled against a denominator can leave the same monomial twice.
            if let (true, Some(sum)) = (m.is_empty(), constant.add(*c)) {
                constant = sum;
            } else {
                let powers = self.powers(m);
                summands.push((*c, self.dag.monomials(Rational::ONE, &powers)));
            }
        }
        self.dag.linear(constant, &summands)
    }

    /// Pulls shared factors out of parts of the sum. New brackets become new atoms.
    fn group(&mut self, terms: Polynomial) -> Polynomial {
        let mut terms = terms;
        for _ in 0..MOST_ROUNDS {
            match self.group_once(&terms) {
                Some(grouped) => terms = grouped,
                None => break,
            }
        }
        self.share_brackets(terms)
    }

    fn group_once(&mut self, terms: &Polynomial) -> Option<Polynomial> {
        // Each factor of each term stands for a rest, which is compared as a whole.
        let compared =
            terms.iter().fold(0_usize, |sum, (m, _)| sum.saturating_add(m.len().saturating_mul(m.len())));
        if terms.len() < 2 || !self.work.spend_factors(compared) {
            return None;
        }
        // Lengths of all factors, term after term, each with its `*`.
        let mut starts = Vec::with_capacity(terms.len() + 1);
        let mut parts: Vec<u64> = Vec::new();
        for (m, _) in terms {
            starts.push(parts.len());
            parts.extend(
                m.iter().map(|&(a, n)| of_power(self.dag, self.local.atoms[a as usize], n).saturating_add(1)),
            );
        }
        starts.push(parts.len());
        let rest_length =
            |i: u32, at: u32| rest_length(&parts[starts[i as usize]..starts[i as usize + 1]], at);
        let mut entries: Vec<CommonRest> = Vec::new();
        for (i, (m, _)) in terms.iter().enumerate() {
            let whole = m.iter().fold(0_u64, |sum, &f| sum.wrapping_add(factor_hash(f)));
            if !m.is_empty() {
                entries.push((whole, i as u32, WHOLE));
            }
            if m.len() > 1 {
                for (at, &f) in m.iter().enumerate() {
                    entries.push((whole.wrapping_sub(factor_hash(f)), i as u32, at as u32));
                }
            }
        }
        entries.sort_unstable();
        // Candidates: runs of equal rests, the greatest saving first, then the first term.
        let mut candidates: Vec<(std::cmp::Reverse<u64>, u32, u32, usize, usize)> = Vec::new();
        let mut start = 0;
        while start < entries.len() {
            let (hash, i, at) = entries[start];
            let count = entries[start..].iter().take_while(|e| e.0 == hash).count();
            let saving = ((count - 1) as u64).saturating_mul(rest_length(i, at));
            if saving > BRACKETS {
                candidates.push((std::cmp::Reverse(saving), i, at, start, count));
            }
            start += count;
        }
        candidates.sort_unstable();
        let mut taken = vec![false; terms.len()];
        let mut grouped: Polynomial = Vec::new();
        for (_, _, _, start, count) in candidates {
            let run = &entries[start..start + count];
            let Some(&(_, first, at)) = run.iter().find(|e| !taken[e.1 as usize]) else { continue };
            let common = rest(&terms[first as usize].0, at);
            let members: Vec<(u32, u32)> = run
                .iter()
                .filter(|e| !taken[e.1 as usize] && rest(&terms[e.1 as usize].0, e.2) == common)
                .map(|e| (e.1, e.2))
                .collect();
            let saving = (members.len() as u64 - 1).saturating_mul(rest_length(first, at));
            if saving <= BRACKETS {
                continue;
            }
            let bracket: Polynomial = members
                .iter()
                .map(|&(i, at)| {
                    let (m, c) = &terms[i as usize];
                    let factor: Monomial = if at == WHOLE { [].into() } else { [m[at as usize]].into() };
                    (factor, *c)
                })
                .collect();
            for &(i, _) in &members {
                taken[i as usize] = true;
            }
            grouped.push(self.bracket(&common, bracket)?);
        }
        if grouped.is_empty() {
            return None;
        }
        let left = terms.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(t, _)| t.clone());
        grouped.extend(left);
        grouped.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Some(grouped)
    }

    /// `common·(bracket)` as one term; `None` when exponents overflow.
    fn bracket(&mut self, common: &[(u32, i32)], bracket: Polynomial) -> Option<(Monomial, Rational)> {
        let (content, bracket) = divide_content(&bracket, false);
        let sum = self.build(&bracket);
        let (k, factor) = match self.dag.node(sum) {
            Node::Number(r) => (*r, None),
            _ => (Rational::ONE, Some(sum)),
        };
        let mut m: Monomial = common.into();
        if let Some(e) = factor {
            m = multiply(&m, &[(self.local.atom(e), UNIT)])?;
        }
        Some((m, content.multiply(k)?))
    }

    /// `S x + S y = S (x + y)` for brackets S.
    fn share_brackets(&mut self, terms: Polynomial) -> Polynomial {
        let mut terms = terms;
        let mut uses = vec![0_u32; self.local.atoms.len()];
        for &(atom, n) in terms.iter().flat_map(|(m, _)| m.iter()) {
            uses[atom as usize] += u32::from(n == UNIT);
        }
        for atom in 0..self.local.atoms.len() as u32 {
            let e = self.local.atoms[atom as usize];
            if uses.get(atom as usize).is_none_or(|&n| n < 2) || !matches!(self.dag.node(e), Node::Sum(..)) {
                continue;
            }
            if !self.work.spend_factors(factor_count(&terms)) {
                return terms;
            }
            let has = |m: &Monomial| m.contains(&(atom, UNIT));
            if terms.iter().filter(|(m, _)| has(m)).count() < 2 {
                continue;
            }
            let (with, without): (Vec<_>, Vec<_>) = terms.iter().cloned().partition(|(m, _)| has(m));
            let inner = with.iter().map(|(m, c)| Some((multiply(m, &[(atom, -UNIT)])?, *c)));
            let Some(inner) = inner.collect::<Option<Polynomial>>() else { continue };
            if let Some(term) = self.bracket(&[(atom, UNIT)], inner) {
                terms = without;
                terms.push(term);
            }
        }
        terms
    }
}

/// A term without the factor at `at`.
fn rest(m: &Monomial, at: u32) -> Vec<(u32, i32)> {
    let mut rest = m.to_vec();
    if at != WHOLE {
        rest.remove(at as usize);
    }
    rest
}

fn rest_length(parts: &[u64], at: u32) -> u64 {
    let all = parts.iter().fold(0, |sum: u64, &part| sum.saturating_add(part));
    if at == WHOLE { all } else { all.saturating_sub(parts[at as usize]) }
}

/// Hashes add up over a monomial, so that the hash of a rest is one subtraction.
fn factor_hash((atom, n): (u32, i32)) -> u64 {
    crate::splitmix64(u64::from(atom) << 32 | u64::from(n as u32))
}

/// What divides every term, and the terms divided by it.
fn divide_common(terms: &Polynomial) -> (Monomial, Polynomial) {
    let Some(((first, _), others)) = terms.split_first() else { return ([].into(), Vec::new()) };
    let mut common: Vec<(u32, i32)> = first.to_vec();
    for (m, _) in others {
        common.retain_mut(|(atom, n)| match m.binary_search_by_key(atom, |f| f.0) {
            Ok(at) if (m[at].1 > 0) == (*n > 0) => {
                *n = if *n > 0 { m[at].1.min(*n) } else { m[at].1.max(*n) };
                true
            }
            _ => false,
        });
        if common.is_empty() {
            return ([].into(), terms.clone());
        }
    }
    let inverse: Vec<(u32, i32)> = common.iter().map(|&(a, n)| (a, -n)).collect();
    let inner: Option<Polynomial> = terms.iter().map(|(m, c)| Some((multiply(m, &inverse)?, *c))).collect();
    match inner {
        Some(inner) => (common.into(), inner),
        None => ([].into(), terms.clone()),
    }
}

/// Divides by the greatest number that leaves whole coprime coefficients (1 when that does not fit). Its sign is that of the first term or, with
/// `all_negative`, minus only when every term is negative.
fn divide_content(terms: &Polynomial, all_negative: bool) -> (Rational, Polynomial) {
    let mut content: Option<Rational> = None;
    for (_, c) in terms {
        content = match content {
            None => Some(c.abs()),
            Some(g) => match g.common_divisor(*c) {
                Some(g) => Some(g),
                None => return (Rational::ONE, terms.clone()),
            },
        };
    }
    let content = content.unwrap_or(Rational::ONE);
    let negative = match all_negative {
        true => terms.iter().all(|(_, c)| c.is_negative()),
        false => terms.first().is_some_and(|(_, c)| c.is_negative()),
    };
    let content = if negative { content.negate().unwrap_or(content) } else { content };
    let divide = |c: &Rational| c.multiply(content.reciprocal()?);
    let divided: Option<Polynomial> = terms.iter().map(|(m, c)| Some((m.clone(), divide(c)?))).collect();
    match divided {
        Some(divided) => (content, divided),
        None => (Rational::ONE, terms.clone()),
    }
}
