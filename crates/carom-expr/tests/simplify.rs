//! What simplification must give, formula by formula, and that it never changes a value.

use carom_expr::{Dag, Expr, Function, Node, Rational, Style, parse};

fn read(dag: &mut Dag, text: &str) -> Expr {
    let resolve = &mut |dag: &mut Dag, name: carom_expr::Name<'_>| {
        let primes = "'".repeat(name.primes as usize);
        Ok(dag.symbol(&format!("{}{primes}", name.text)))
    };
    parse(dag, text, resolve).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn show(dag: &Dag, e: Expr) -> String {
    dag.print(e, Style::Text)
}

fn assert_simplifies(from: &str, to: &str) {
    let mut dag = Dag::new();
    let e = read(&mut dag, from);
    let expected = read(&mut dag, to);
    let got = dag.simplify(e);
    assert!(got == expected, "{from}\n gave     {}\n expected {}", show(&dag, got), show(&dag, expected));
}

#[test]
fn like_terms_are_collected_across_brackets() {
    assert_simplifies("(x + y)*x - x^2 - x*y", "0");
    assert_simplifies("(x + 1)^2 - (x - 1)^2", "4*x");
    assert_simplifies("a*(b + c) - a*b", "a*c");
    assert_simplifies("(x + y)^2", "(x + y)^2");
    assert_simplifies("x*y/x^2", "y/x");
}

#[test]
fn squares_of_sine_and_cosine_add_up_to_one() {
    assert_simplifies("sin(x)^2 + cos(x)^2", "1");
    assert_simplifies("m*l^2*sin(x)^2 + m*l^2*cos(x)^2", "m*l^2");
    assert_simplifies("1 - cos(x)^2", "sin(x)^2");
    assert_simplifies("a*b - a*b*sin(x)^2", "a*b*cos(x)^2");
    assert_simplifies("sin(a)^2*sin(b)^2 + sin(a)^2*cos(b)^2 + cos(a)^2", "1");
    assert_simplifies("cosh(x)^2 - sinh(x)^2", "1");
    assert_simplifies("(r*cos(t))^2 + (r*sin(t))^2", "r^2");
    assert_simplifies("sin(x)^4 + 2*sin(x)^2*cos(x)^2 + cos(x)^4", "1");
}

#[test]
fn sines_and_cosines_of_sums_and_differences_are_recognised() {
    assert_simplifies("cos(a)*cos(b) + sin(a)*sin(b)", "cos(a - b)");
    assert_simplifies("cos(a)*cos(b) - sin(a)*sin(b)", "cos(a + b)");
    assert_simplifies("sin(a)*cos(b) - cos(a)*sin(b)", "sin(a - b)");
    assert_simplifies("sin(b)*cos(a) - cos(b)*sin(a)", "-sin(a - b)");
    assert_simplifies("3*m*l*x*sin(a)*cos(b) + 3*l*m*x*cos(a)*sin(b)", "3*m*l*x*sin(a + b)");
    assert_simplifies("cosh(a)*cosh(b) - sinh(a)*sinh(b)", "cosh(a - b)");
    assert_simplifies("sinh(a)*cosh(b) + cosh(a)*sinh(b)", "sinh(a + b)");
    assert_simplifies("cos(x)^2 - sin(x)^2", "cos(2*x)");
    assert_simplifies(
        "cos(c)*(cos(a)*cos(b) + sin(a)*sin(b)) + sin(c)*(sin(a)*cos(b) - cos(a)*sin(b))",
        "cos(a - b - c)",
    );
    assert_simplifies("sin(2*a)*cos(a) - cos(2*a)*sin(a)", "sin(a)");
}

#[test]
fn common_factors_are_pulled_out_where_that_is_shorter() {
    assert_simplifies("m1*l^2*v^2 + m2*l^2*v^2", "(m1 + m2)*l^2*v^2");
    assert_simplifies("2*x + 2*y + 2*z", "2*(x + y + z)");
    assert_simplifies("g*x + g*y", "g*x + g*y");
    assert_simplifies("v*(-x*sin(a) - y*cos(a))", "-v*(x*sin(a) + y*cos(a))");
    assert_simplifies("K*(L - L0)^2/2", "K*(L - L0)^2/2");
    assert_simplifies("K*(L0 - L)^2/2", "K*(L0 - L)^2/2");
    assert_simplifies("m*v^2/2 + k*x^2/2", "m*v^2/2 + k*x^2/2");
}

#[test]
fn fractions_meet_over_a_common_denominator_where_that_is_shorter() {
    assert_simplifies("1 - x^2/(x^2 + y^2)", "y^2/(x^2 + y^2)");
    assert_simplifies("x/(a + b) + y/(a + b)", "(x + y)/(a + b)");
    assert_simplifies("a/(a + b) + b/(a + b)", "1");
    assert_simplifies("a/(2*a + 2*b) + b/(a + b)/2", "1/2");
    assert_simplifies("(m*l^2*a + m*l*b)/(m*l)", "l*a + b");
    assert_simplifies("1/(a - b) + 1/(b - a)", "0");
    assert_simplifies(
        "(m*b*(x + y + z)*(u + v + w)*cos(a) - m*b*(p + q + r)*(s + t + u))/(m*b^2*(x + cos(a)))",
        "((x + y + z)*(u + v + w)*cos(a) - (p + q + r)*(s + t + u))/(b*(x + cos(a)))",
    );
    assert_simplifies("g/l + k/m", "g/l + k/m");
    assert_simplifies(
        "m*g*x + m*v^2/sqrt(1 - v^2/c^2) + m*c^2*sqrt(1 - v^2/c^2)",
        "m*g*x + m*c^2/sqrt(1 - v^2/c^2)",
    );
    assert_simplifies("m/sqrt(1 - v^2/c^2) + m*v^2/c^2*(1 - v^2/c^2)^(-3/2)", "m*(1 - v^2/c^2)^(-3/2)");
    assert_simplifies("x^2/sqrt(x^2 + y^2) + y^2/sqrt(x^2 + y^2)", "sqrt(x^2 + y^2)");
}

#[test]
fn exponentials_join() {
    assert_simplifies("exp(x)*exp(-x)", "1");
    assert_simplifies("exp(a + b)*exp(a - b)", "exp(2*a)");
}

/// The n-link planar pendulum through its Cartesian positions: coordinates, velocities, T and V.
struct Pendulum {
    dag: Dag,
    q: Vec<Expr>,
    v: Vec<Expr>,
    kinetic: Expr,
    potential: Expr,
}

fn pendulum(n: usize) -> Pendulum {
    let mut dag = Dag::new();
    let mut named = |name: &str| -> Vec<Expr> {
        (1..=n).map(|i| dag.symbol(&name.replace('#', &i.to_string()))).collect()
    };
    let (q, v, m, l) = (named("theta#"), named("theta#'"), named("m#"), named("l#"));
    let g = dag.symbol("g");
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    let (mut kinetic, mut potential) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (sin, cos) = (dag.function(Function::Sin, &[q[i]]), dag.function(Function::Cos, &[q[i]]));
        let down = dag.neg(cos);
        xs.push(dag.mul(l[i], sin));
        ys.push(dag.mul(l[i], down));
        let (x, y) = (dag.sum(&xs), dag.sum(&ys));
        let mut squares = Vec::new();
        for position in [x, y] {
            let mut rate = Vec::new();
            for j in 0..n {
                let d = dag.derivative(position, q[j]);
                rate.push(dag.mul(d, v[j]));
            }
            let rate = dag.sum(&rate);
            squares.push(dag.powi(rate, 2));
        }
        let square = dag.sum(&squares);
        let energy = dag.mul(m[i], square);
        kinetic.push(dag.scale(Rational::HALF, energy));
        potential.push(dag.product(&[m[i], g, y]));
    }
    let (kinetic, potential) = (dag.sum(&kinetic), dag.sum(&potential));
    Pendulum { dag, q, v, kinetic, potential }
}

#[test]
fn the_kinetic_energy_of_the_double_pendulum_is_the_textbook_one() {
    let Pendulum { mut dag, kinetic, .. } = pendulum(2);
    let t = dag.simplify(kinetic);
    let expected = read(
        &mut dag,
        "(m1 + m2)*l1^2*theta1'^2/2 + m2*l2^2*theta2'^2/2 + m2*l1*l2*theta1'*theta2'*cos(theta1 - theta2)",
    );
    assert_eq!(t, expected, "{}", show(&dag, t));
}

#[test]
fn the_mass_matrix_of_a_planar_chain_holds_cosines_of_differences() {
    let n = 7;
    let Pendulum { mut dag, v, kinetic, .. } = pendulum(n);
    let t = dag.simplify(kinetic);
    for e in dag.reachable(&[t]) {
        let difference = match dag.node(e) {
            Node::Function(Function::Cos, args) => matches!(dag.node(args[0]), Node::Sum(..)),
            Node::Function(..) => false,
            _ => true,
        };
        assert!(difference, "{}", show(&dag, t));
    }
    for j in 0..n {
        let p = dag.derivative(t, v[j]);
        for (k, &velocity) in v.iter().enumerate() {
            let w = dag.derivative(p, velocity);
            let w = dag.simplify(w);
            // W_jk = (m_max(j,k) + … + m_n) l_j l_k cos(θ_j − θ_k)
            let masses: Vec<String> = (j.max(k)..n).map(|i| format!("m{}", i + 1)).collect();
            let expected = format!(
                "({})*l{}*l{}*cos(theta{} - theta{})",
                masses.join(" + "),
                j + 1,
                k + 1,
                j + 1,
                k + 1
            );
            let expected = read(&mut dag, &expected);
            assert_eq!(w, expected, "{}", show(&dag, w));
        }
    }
}

#[test]
fn the_double_pendulum_accelerates_as_the_textbook_says() {
    let Pendulum { mut dag, q, v, kinetic, potential } = pendulum(2);
    let t = dag.simplify(kinetic);
    let mut matrix = Vec::new();
    let mut right_side = Vec::new();
    for i in 0..2 {
        let p = dag.derivative(t, v[i]);
        matrix.push((0..2).map(|j| dag.derivative(p, v[j])).collect::<Vec<_>>());
        // W a = ∂(T − V)/∂q − (∂p/∂q) v
        let lagrangian = dag.sub(t, potential);
        let mut terms = vec![(Rational::ONE, dag.derivative(lagrangian, q[i]))];
        for j in 0..2 {
            let d = dag.derivative(p, q[j]);
            terms.push((Rational::MINUS_ONE, dag.mul(d, v[j])));
        }
        right_side.push(dag.linear(Rational::ZERO, &terms));
    }
    let accelerations = dag.solve_small(&matrix, &right_side).expect("short enough");
    let printed: Vec<String> = accelerations.iter().map(|&a| show(&dag, a)).collect();
    let denominator = read(&mut dag, "m1 + m2*sin(theta1 - theta2)^2");
    for (a, length) in accelerations.iter().zip(["l1", "l2"]) {
        let length = dag.symbol(length);
        let Node::Product(_, factors) = dag.node(*a) else { panic!("{printed:?}") };
        let below: Vec<Expr> = factors.iter().filter(|f| f.1.is_negative()).map(|f| f.0).collect();
        assert_eq!(below, vec![length, denominator], "{printed:?}");
    }
    let textbook = [
        "(-g*(m1 + m2)*sin(theta1) + m2*g*sin(theta2)*cos(theta1 - theta2) \
          - m2*sin(theta1 - theta2)*(l2*theta2'^2 + l1*theta1'^2*cos(theta1 - theta2))) \
          /(l1*(m1 + m2*sin(theta1 - theta2)^2))",
        "((m1 + m2)*(g*sin(theta1)*cos(theta1 - theta2) - g*sin(theta2) + l1*theta1'^2*sin(theta1 - theta2)) \
          + m2*l2*theta2'^2*sin(theta1 - theta2)*cos(theta1 - theta2)) \
          /(l2*(m1 + m2*sin(theta1 - theta2)^2))",
    ];
    for (a, text) in accelerations.iter().zip(textbook) {
        let expected = read(&mut dag, text);
        let difference = dag.sub(*a, expected);
        assert_eq!(dag.simplify(difference), dag.zero(), "{printed:?}");
    }
}

#[test]
fn blocks_of_a_large_system_are_solved_one_by_one() {
    let mut dag = Dag::new();
    let zero = dag.zero();
    let entries: Vec<Expr> = (0..6).map(|i| dag.symbol(&format!("a{i}"))).collect();
    let rhs: Vec<Expr> = (0..6).map(|i| dag.symbol(&format!("r{i}"))).collect();
    let mut matrix = vec![vec![zero; 6]; 6];
    for i in 0..6 {
        matrix[i][i] = entries[i];
    }
    (matrix[0][3], matrix[3][0]) = (entries[4], entries[4]);
    let x = dag.solve_small(&matrix, &rhs).expect("blocks of one and two");
    let value_of = |s: carom_expr::Symbol| 1.0 + (s.index() as f64 * 0.7).sin() / 3.0;
    for i in 0..6 {
        let products: Vec<Expr> = (0..6).map(|j| dag.mul(matrix[i][j], x[j])).collect();
        let left = dag.sum(&products);
        let difference = dag.evaluate(left, value_of) - dag.evaluate(rhs[i], value_of);
        assert!(difference.abs() < 1e-14);
    }
    for i in 0..5 {
        matrix[i][i + 1] = entries[0];
    }
    assert_eq!(dag.solve_small(&matrix, &rhs), None);
}

#[test]
fn a_determinant_that_vanishes_identically_gives_no_solution() {
    let mut dag = Dag::new();
    // (x + y)(x − y) − (x² − y²) = 0
    let m = ["x + y", "x^2 - y^2", "1", "x - y"].map(|text| read(&mut dag, text));
    let one = dag.one();
    assert_eq!(dag.solve_small(&[vec![m[0], m[1]], vec![m[2], m[3]]], &[one, one]), None);
}
