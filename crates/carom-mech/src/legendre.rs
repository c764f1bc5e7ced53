//! The Legendre transform in closed form.  y = ∂F/∂x,  G(y) = x·y − F(x).
//!
//! It is its own inverse, so one routine takes L(q, v, t) to H(q, p, t) and back. Variables that the Hessian of F
//! does not couple are transformed by themselves. For each coupled block one of
//!
//! ```text
//! F = ½ xᵀM x + β·x + F₀            x = M⁻¹(y − β),                      G = ½ (y − β)·x − F₀
//! F = B √(C + ½ ξᵀU ξ) + β·x + F₀   ξ = sgn(B) √(C/(K − σ)) U⁻¹(y − β),
//!     with ξ = x − x₀               G = −2 sgn(B) √(C (K − σ)) + (y − β)·x₀ − F₀
//!                                   K = B²/4,  σ = ½ (y − β)ᵀU⁻¹(y − β)
//! ```
//!
//! The second is the relativistic particle, with magnetic terms β. B must be a formula of parameters: its sign is
//! taken from their values. Anything else has no closed form here, and the result says why.

use crate::lagrangian::tidy;
use crate::model::Model;
use crate::symbols::{dot, gradient, hessian, mentions};
use carom_expr::{Dag, Expr, Node, Rational};

/// G and x as functions of y.
pub(crate) struct Transform {
    /// G(y)
    pub value: Expr,
    /// x(y)
    pub inverse: Vec<Expr>,
}

/// What is solved for what, in messages.
pub(crate) struct LegendreWords {
    /// `p = ∂L/∂v`
    pub map: &'static str,
    /// `v`
    pub unknown: &'static str,
    /// `the mass matrix`
    pub matrix: &'static str,
}

/// From L to H.
pub(crate) const TO_HAMILTONIAN: LegendreWords =
    LegendreWords { map: "p = ∂L/∂v", unknown: "v", matrix: "the mass matrix" };
/// From H to L.
pub(crate) const TO_LAGRANGIAN: LegendreWords =
    LegendreWords { map: "v = ∂H/∂p", unknown: "p", matrix: "the matrix ∂²H/∂p∂p" };

/// The transform of `f` from the symbols `x` to the symbols `y`, or why there is none.
pub(crate) fn legendre(
    model: &mut Model,
    f: Expr,
    x: &[Expr],
    y: &[Expr],
    words: &LegendreWords,
) -> Result<Transform, String> {
    let dag = &mut model.dag;
    let first = gradient(dag, f, x);
    let mut second = hessian(dag, &first, x);
    for e in second.iter_mut().flatten() {
        *e = tidy(dag, *e);
    }
    let zero = dag.zero();
    let mut inverse = vec![zero; x.len()];
    let at_rest: Vec<(Expr, Expr)> = x.iter().map(|&x| (x, zero)).collect();
    let rest = dag.substitute(f, &at_rest);
    let mut terms: Vec<(Rational, Expr)> = vec![(Rational::MINUS_ONE, rest)];
    for block in blocks(dag, &second) {
        let entries: Vec<Expr> = block
            .iter()
            .flat_map(|&i| block.iter().map(move |&j| (i, j)))
            .map(|(i, j)| second[i][j])
            .collect();
        let xs: Vec<Expr> = block.iter().map(|&i| x[i]).collect();
        let ys: Vec<Expr> = block.iter().map(|&i| y[i]).collect();
        let solved = if mentions(&model.dag, &entries, x) {
            root_block(model, f, x, &xs, &ys, words)?
        } else {
            let matrix: Vec<Vec<Expr>> =
                block.iter().map(|&i| block.iter().map(|&j| second[i][j]).collect()).collect();
            let slopes: Vec<Expr> = block.iter().map(|&i| first[i]).collect();
            quadratic_block(&mut model.dag, &matrix, &slopes, &at_rest, &ys, words)?
        };
        terms.push((Rational::ONE, solved.value));
        for (&i, e) in block.iter().zip(solved.inverse) {
            inverse[i] = e;
        }
    }
    let dag = &mut model.dag;
    let value = dag.linear(Rational::ZERO, &terms);
    Ok(Transform { value: tidy(dag, value), inverse })
}

/// Variables coupled by nonzero entries, each block ascending, blocks by their first member.
pub(crate) fn blocks(dag: &Dag, matrix: &[Vec<Expr>]) -> Vec<Vec<usize>> {
    let n = matrix.len();
    let mut seen = vec![false; n];
    let mut blocks = Vec::new();
    for start in 0..n {
        if seen[start] {
            continue;
        }
        let mut block = Vec::new();
        let mut stack = vec![start];
        seen[start] = true;
        while let Some(i) = stack.pop() {
            block.push(i);
            for j in 0..n {
                let coupled = !dag.is_zero(matrix[i][j]) || !dag.is_zero(matrix[j][i]);
                if coupled && !seen[j] {
                    seen[j] = true;
                    stack.push(j);
                }
            }
        }
        block.sort_unstable();
        blocks.push(block);
    }
    blocks
}

fn quadratic_block(
    dag: &mut Dag,
    matrix: &[Vec<Expr>],
    slopes: &[Expr],
    at_rest: &[(Expr, Expr)],
    y: &[Expr],
    words: &LegendreWords,
) -> Result<Transform, String> {
    let beta = dag.substitute_all(slopes, at_rest);
    let shifted: Vec<Expr> = y.iter().zip(&beta).map(|(&y, &b)| dag.sub(y, b)).collect();
    if matrix.len() == 1 && dag.is_zero(matrix[0][0]) {
        return Err(format!(
            "{} does not determine {}: {} is singular",
            words.map, words.unknown, words.matrix
        ));
    }
    let Some(inverse) = dag.solve_small(matrix, &shifted) else {
        return Err(format!(
            "{} couples {} coordinates and is singular or its inverse is too long to write down; {} is solved numerically",
            words.matrix,
            matrix.len(),
            words.map
        ));
    };
    let twice = dot(dag, &shifted, &inverse);
    let value = dag.scale(Rational::HALF, twice);
    Ok(Transform { value: tidy(dag, value), inverse })
}

/// F = B √u + β·x + F₀ with u = C + ½ xᵀU x.
fn root_block(
    model: &mut Model,
    f: Expr,
    all: &[Expr],
    x: &[Expr],
    y: &[Expr],
    words: &LegendreWords,
) -> Result<Transform, String> {
    let no_form = || {
        format!(
            "{} cannot be solved for {} in closed form; it is solved numerically",
            words.map, words.unknown
        )
    };
    let dag = &mut model.dag;
    let zero = dag.zero();
    let others: Vec<(Expr, Expr)> = all.iter().filter(|e| !x.contains(e)).map(|&e| (e, zero)).collect();
    let own = dag.substitute(f, &others);
    // The one radicand that contains x.
    let mut radicands: Vec<Expr> = Vec::new();
    for e in dag.reachable(&[own]) {
        if let Node::Product(_, factors) = dag.node(e) {
            for &(base, exponent) in factors.iter() {
                if exponent == Rational::HALF && !radicands.contains(&base) && mentions(dag, &[base], x) {
                    radicands.push(base);
                }
            }
        }
    }
    let [radicand] = radicands[..] else { return Err(no_form()) };
    let z = dag.symbol("·radicand");
    let replaced = dag.substitute(own, &[(radicand, z)]);
    // B = 2 √z ∂F/∂z and β = ∂F/∂x at fixed z, both free of x and z
    let slope = dag.derivative(replaced, z);
    let root = dag.sqrt(z);
    let two = dag.integer(2);
    let b = dag.product(&[two, root, slope]);
    let b = tidy(dag, b);
    let beta: Vec<Expr> = gradient(dag, replaced, x).into_iter().map(|e| tidy(dag, e)).collect();
    let mut must_be_constant = beta.clone();
    must_be_constant.push(b);
    let mut moving = x.to_vec();
    moving.push(z);
    if mentions(dag, &must_be_constant, &moving) {
        return Err(no_form());
    }
    let slopes = gradient(dag, radicand, x);
    let u = hessian(dag, &slopes, x);
    let at_rest: Vec<(Expr, Expr)> = x.iter().map(|&x| (x, zero)).collect();
    let slopes_at_rest = dag.substitute_all(&slopes, &at_rest);
    let entries: Vec<Expr> = u.iter().flatten().copied().collect();
    if mentions(dag, &entries, x) {
        return Err(no_form());
    }
    // Complete the square: u = C + ½ (x − x₀)ᵀU(x − x₀), U x₀ = −∂u/∂x at 0.
    let opposite: Vec<Expr> = slopes_at_rest.iter().map(|&e| dag.neg(e)).collect();
    let centre = dag.solve_small(&u, &opposite).ok_or_else(no_form)?;
    let sign = sign_of_parameters(model, b).ok_or_else(no_form)?;
    let dag = &mut model.dag;
    let c_at_rest = dag.substitute(radicand, &at_rest);
    let half_slope = dot(dag, &slopes_at_rest, &centre);
    // C = u(x₀) = u(0) + ½ ∂u/∂x(0)·x₀
    let c = dag.linear(Rational::ZERO, &[(Rational::ONE, c_at_rest), (Rational::HALF, half_slope)]);
    let c = tidy(dag, c);
    let shifted: Vec<Expr> = y.iter().zip(&beta).map(|(&y, &b)| dag.sub(y, b)).collect();
    let solved = dag.solve_small(&u, &shifted).ok_or_else(no_form)?;
    let twice = dot(dag, &shifted, &solved);
    let sigma = dag.scale(Rational::HALF, twice);
    let square = dag.powi(b, 2);
    let quarter = dag.scale(Rational::new(1, 4).unwrap_or(Rational::ONE), square);
    let difference = dag.sub(quarter, sigma);
    let product = dag.mul(c, difference);
    // −2 √(C (K − σ)) = −√(4 C (K − σ)): the factor belongs under the root, where it cancels the quarters
    let four = dag.linear(Rational::ZERO, &[(Rational::integer(4), product)]);
    let inside = tidy(dag, four);
    let root = dag.sqrt(inside);
    // The caller subtracts F at rest, which contains B √u(0).
    let outer = dag.scale(sign.negate().unwrap_or(sign), root);
    let root_at_rest = dag.sqrt(c_at_rest);
    let at_zero = dag.mul(b, root_at_rest);
    let carried = dot(dag, &shifted, &centre);
    let value = dag.sum(&[outer, at_zero, carried]);
    let inverse = solved
        .into_iter()
        .zip(centre)
        .map(|(e, centre)| {
            // sgn(B) √(C/(K − σ)) = 2 sgn(B) C / √(4 C (K − σ))
            let e = dag.product(&[two, c, e]);
            let e = dag.div(e, root);
            let e = dag.scale(sign, e);
            let e = dag.add(e, centre);
            tidy(dag, e)
        })
        .collect();
    Ok(Transform { value, inverse })
}

/// ±1, the sign of a formula of parameters at their values.
fn sign_of_parameters(model: &Model, e: Expr) -> Option<Rational> {
    let known = |s: carom_expr::Symbol| {
        let symbol = model.dag.symbol_expr(s);
        model.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.value)
    };
    if model.dag.symbols_in(&[e]).into_iter().any(|s| known(s).is_none()) {
        return None;
    }
    let value = model.dag.evaluate(e, |s| known(s).unwrap_or(f64::NAN));
    match value.partial_cmp(&0.0)? {
        std::cmp::Ordering::Greater => Some(Rational::ONE),
        std::cmp::Ordering::Less => Some(Rational::MINUS_ONE),
        std::cmp::Ordering::Equal => None,
    }
}
