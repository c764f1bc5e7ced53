//! Systems with known equations, written down by hand: the engine's test and bench models.

use carom_expr::{Dag, Expr, Function, Rational};
use carom_jet::{LinearBlock, System};

/// n unit point masses on unit rods, angles from the downward vertical; gravity g is the parameter.
///
/// W_ij = m_ij cos(θ_i − θ_j), right side −Σ_j m_ij sin(θ_i − θ_j) θ̇_j² − g m_ii sin θ_i, m_ij = n − max(i, j).
/// Watched: the gap x_n + 1/2 of a wall.
pub fn chain(dag: &mut Dag, n: usize) -> System {
    let (t, g) = (dag.symbol("t"), dag.symbol("g"));
    let named = |dag: &mut Dag, suffix: &str| -> Vec<Expr> {
        (1..=n).map(|i| dag.symbol(&format!("theta{i}{suffix}"))).collect()
    };
    let (q, v, a) = (named(dag, ""), named(dag, "'"), named(dag, "''"));
    let mut matrix = vec![vec![dag.zero(); n]; n];
    let mut right_side = Vec::new();
    for i in 0..n {
        let mut terms = Vec::new();
        for j in 0..n {
            let weight = Rational::integer((n - i.max(j)) as i64);
            let difference = dag.sub(q[i], q[j]);
            let (sin, cos) =
                (dag.function(Function::Sin, &[difference]), dag.function(Function::Cos, &[difference]));
            matrix[i][j] = dag.scale(weight, cos);
            let square = dag.powi(v[j], 2);
            let term = dag.mul(square, sin);
            terms.push((weight.negate().expect("small"), term));
        }
        let sin = dag.function(Function::Sin, &[q[i]]);
        let pull = dag.mul(g, sin);
        terms.push((Rational::integer(-((n - i) as i64)), pull));
        right_side.push(dag.linear(Rational::ZERO, &terms));
    }
    let sines: Vec<(Rational, Expr)> =
        q.iter().map(|&q| (Rational::ONE, dag.function(Function::Sin, &[q]))).collect();
    let gap = dag.linear(Rational::HALF, &sines);
    System {
        time: t,
        parameters: vec![g],
        state: q.iter().chain(&v).copied().collect(),
        rate: v.iter().chain(&a).copied().collect(),
        blocks: vec![LinearBlock {
            unknowns: a,
            matrix,
            right_side,
            names: vec![],
            augmentation_rows: vec![],
            definitions: vec![],
        }],
        watched: vec![gap],
        monitored: vec![],
    }
}

/// The same chain in absolute coordinates x_i, y_i with rods as constraints:
/// a = (0, −g) + Aᵀμ, (r_i − r_{i−1})·(a_i − a_{i−1}) = −|v_i − v_{i−1}|².
pub fn absolute_chain(dag: &mut Dag, n: usize) -> System {
    let (t, g) = (dag.symbol("t"), dag.symbol("g"));
    let named = |dag: &mut Dag, suffix: &str| -> Vec<Expr> {
        (1..=n)
            .flat_map(|i| [format!("x{i}{suffix}"), format!("y{i}{suffix}")])
            .map(|s| dag.symbol(&s))
            .collect()
    };
    let (q, v, a) = (named(dag, ""), named(dag, "'"), named(dag, "''"));
    let mu: Vec<Expr> = (1..=n).map(|i| dag.symbol(&format!("mu{i}"))).collect();
    let size = 3 * n;
    let (zero, one) = (dag.zero(), dag.one());
    let mut matrix = vec![vec![zero; size]; size];
    let mut right_side = Vec::new();
    let weight = dag.neg(g);
    for (i, row) in matrix.iter_mut().enumerate().take(2 * n) {
        row[i] = one;
        right_side.push(if i % 2 == 0 { zero } else { weight });
    }
    for i in 0..n {
        let row = 2 * n + i;
        let mut speed = Vec::new();
        for d in 0..2 {
            let (difference, rate) = if i == 0 {
                (q[d], v[d])
            } else {
                (dag.sub(q[2 * i + d], q[2 * i - 2 + d]), dag.sub(v[2 * i + d], v[2 * i - 2 + d]))
            };
            let negative = dag.negated_argument(difference);
            matrix[row][2 * i + d] = difference;
            matrix[2 * i + d][row] = difference;
            if i > 0 {
                matrix[row][2 * i - 2 + d] = negative;
                matrix[2 * i - 2 + d][row] = negative;
            }
            let square = dag.powi(rate, 2);
            speed.push((Rational::MINUS_ONE, square));
        }
        right_side.push(dag.linear(Rational::ZERO, &speed));
    }
    let half = dag.rational(1, 2);
    let gap = dag.add(q[2 * n - 2], half);
    constrained([t, g], [q, v, a, mu], matrix, right_side, vec![], gap)
}

/// Positions q with rates v and accelerations a, the multipliers μ of rows among the unknowns, one watched gap.
fn constrained(
    [time, g]: [Expr; 2],
    [q, v, a, mu]: [Vec<Expr>; 4],
    matrix: Vec<Vec<Expr>>,
    right_side: Vec<Expr>,
    augmentation_rows: Vec<usize>,
    gap: Expr,
) -> System {
    let unknowns = a.iter().chain(&mu).copied().collect();
    System {
        time,
        parameters: vec![g],
        state: q.iter().chain(&v).copied().collect(),
        rate: v.iter().chain(&a).copied().collect(),
        blocks: vec![LinearBlock {
            unknowns,
            matrix,
            right_side,
            names: vec![],
            augmentation_rows,
            definitions: vec![],
        }],
        watched: vec![gap],
        monitored: vec![],
    }
}

/// n compass needles r_i that pull at their neighbours; changing a needle's length costs nothing, a row keeps it:
/// (|r|² − r rᵀ) a + r μ = r_next + g e_1,  r·a = −|v|². The rows augment a matrix that alone is singular.
pub fn needles(dag: &mut Dag, n: usize) -> System {
    let (t, g) = (dag.symbol("t"), dag.symbol("g"));
    let named = |dag: &mut Dag, suffix: &str| -> Vec<Expr> {
        (0..3 * n).map(|i| dag.symbol(&format!("r{i}{suffix}"))).collect()
    };
    let (q, v, a) = (named(dag, ""), named(dag, "'"), named(dag, "''"));
    let mu: Vec<Expr> = (0..n).map(|i| dag.symbol(&format!("mu{i}"))).collect();
    let mut matrix = vec![vec![dag.zero(); 4 * n]; 4 * n];
    let (mut right_side, mut lengths) = (Vec::new(), Vec::new());
    for i in 0..n {
        let squares: Vec<Expr> = (0..3).map(|d| dag.powi(q[3 * i + d], 2)).collect();
        let square = dag.sum(&squares);
        for d in 0..3 {
            let x = 3 * i + d;
            for e in 0..3 {
                let y = 3 * i + e;
                let product = dag.mul(q[x], q[y]);
                matrix[x][y] = if d == e { dag.sub(square, product) } else { dag.neg(product) };
            }
            matrix[x][3 * n + i] = q[x];
            matrix[3 * n + i][x] = q[x];
            let next = q[(x + 3) % (3 * n)];
            right_side.push(if d == 0 { dag.add(next, g) } else { next });
        }
        let squares: Vec<Expr> = (0..3).map(|d| dag.powi(v[3 * i + d], 2)).collect();
        let square = dag.sum(&squares);
        lengths.push(dag.neg(square));
    }
    right_side.extend(lengths);
    let half = dag.rational(1, 2);
    let gap = dag.add(q[0], half);
    constrained([t, g], [q, v, a, mu], matrix, right_side, (3 * n..4 * n).collect(), gap)
}

/// The same equations in another order: the matrix is no longer symmetric, and has no pivots where it stands.
pub fn exchanged(mut system: System) -> System {
    for block in &mut system.blocks {
        block.matrix.rotate_left(1);
        block.augmentation_rows.clear();
        block.right_side.rotate_left(1);
    }
    system
}
