//! What simplification must give, formula by formula, and that it never changes a value.

use carom_expr::{Dag, Expr, Node, parse};

fn read(dag: &mut Dag, text: &str) -> Expr {
    let resolve = &mut |dag: &mut Dag, name: carom_expr::Name<'_>| {
        let primes = "'".repeat(name.primes as usize);
        Ok(dag.symbol(&format!("{}{primes}", name.text)))
    };
    parse(dag, text, resolve).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn show(dag: &Dag, e: Expr) -> String {
    let list = |parts: Vec<String>, with: &str| format!("({})", parts.join(with));
    match dag.node(e) {
        Node::Number(r) => r.to_string(),
        Node::Symbol(s) => dag.symbol_name(*s).to_string(),
        Node::Sum(c, t) => {
            let mut parts: Vec<String> = t.iter().map(|(k, t)| format!("{k}*{}", show(dag, *t))).collect();
            parts.insert(0, c.to_string());
            list(parts, " + ")
        }
        Node::Product(c, f) => {
            let mut parts: Vec<String> = f.iter().map(|(b, n)| format!("{}^{n}", show(dag, *b))).collect();
            parts.insert(0, c.to_string());
            list(parts, "*")
        }
        Node::Function(f, a) => {
            format!("{}{}", f.name(), list(a.iter().map(|a| show(dag, *a)).collect(), ","))
        }
        other => format!("{other:?}"),
    }
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
    assert_simplifies("g/l + k/m", "g/l + k/m");
    assert_simplifies("x^2/sqrt(x^2 + y^2) + y^2/sqrt(x^2 + y^2)", "sqrt(x^2 + y^2)");
}

#[test]
fn exponentials_join() {
    assert_simplifies("exp(x)*exp(-x)", "1");
    assert_simplifies("exp(a + b)*exp(a - b)", "exp(2*a)");
}

#[test]
fn the_kinetic_energy_of_the_double_pendulum_is_the_textbook_one() {
    let mut dag = Dag::new();
    let position = |dag: &mut Dag, text: &str| -> Expr {
        let e = read(dag, text);
        let mut parts = Vec::new();
        for (q, v) in [("theta1", "theta1'"), ("theta2", "theta2'")] {
            let (q, v) = (dag.symbol(q), dag.symbol(v));
            let d = dag.derivative(e, q);
            parts.push(dag.mul(d, v));
        }
        let rate = dag.sum(&parts);
        dag.powi(rate, 2)
    };
    for name in ["theta1", "theta2", "theta1'", "theta2'"] {
        dag.symbol(name);
    }
    let squares = [
        "l1*sin(theta1)",
        "-l1*cos(theta1)",
        "l1*sin(theta1) + l2*sin(theta2)",
        "-l1*cos(theta1) - l2*cos(theta2)",
    ]
    .map(|text| position(&mut dag, text));
    let (m1, m2) = (dag.symbol("m1"), dag.symbol("m2"));
    let (s1, s2) = (dag.add(squares[0], squares[1]), dag.add(squares[2], squares[3]));
    let (t1, t2) = (dag.mul(m1, s1), dag.mul(m2, s2));
    let twice = dag.add(t1, t2);
    let t = dag.scale(carom_expr::Rational::HALF, twice);
    let t = dag.simplify(t);
    let expected = read(
        &mut dag,
        "(m1 + m2)*l1^2*theta1'^2/2 + m2*l2^2*theta2'^2/2 + m2*l1*l2*theta1'*theta2'*cos(theta1 - theta2)",
    );
    assert_eq!(t, expected, "{}", show(&dag, t));
}
