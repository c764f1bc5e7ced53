//! The canonical form where it is easy to get wrong: numbers that do not fit, roots, deep nesting, folding.

use carom_expr::{Constant, Dag, Expr, Function, Node, Rational};

fn value(dag: &Dag, e: Expr) -> f64 {
    dag.evaluate(e, |_| 0.7)
}

/// Two ways of computing the same double agree to `roundings` half units.
fn assert_close(a: f64, b: f64, roundings: f64) {
    assert!((a - b).abs() <= roundings * f64::EPSILON * b.abs(), "{a} against {b}");
}

#[test]
fn products_of_numbers_too_large_to_be_exact_keep_their_value() {
    let mut dag = Dag::new();
    let x = dag.symbol("x");
    let big = dag.number(Rational::new(10_i128.pow(30) + 1, 1).unwrap());
    let mut e = x;
    let mut expected = 0.7;
    for _ in 0..9 {
        e = dag.mul(e, big);
        expected *= 1e30;
        assert_close(value(&dag, e), expected, 40.0);
    }
    // 1e30^9 fits a double; once more does not stay finite as one number, but as a product it is still there.
    for _ in 0..3 {
        e = dag.mul(e, big);
    }
    for _ in 0..12 {
        e = dag.div(e, big);
    }
    assert_close(value(&dag, e), 0.7, 80.0);
}

#[test]
fn sums_of_fractions_too_fine_to_be_exact_keep_their_value() {
    let mut dag = Dag::new();
    let x = dag.symbol("x");
    let primes: [i128; 6] =
        [1_000_000_007, 1_000_000_009, 998_244_353, 1_000_000_021, 1_000_000_033, 999_999_937];
    let mut e = dag.zero();
    let mut expected = 0.0;
    for p in primes {
        let term = dag.scale(Rational::new(1, p).unwrap(), x);
        e = dag.add(e, term);
        expected += 0.7 / p as f64;
        assert_close(value(&dag, e), expected, 20.0);
    }
    let number = dag.number(Rational::new(1, 3).unwrap());
    let mut constants = vec![number];
    constants.extend(primes.map(|p| Rational::new(1, p).unwrap()).map(|r| dag.number(r)));
    let total = dag.sum(&constants);
    let expected: f64 = 1.0 / 3.0 + primes.iter().map(|&p| 1.0 / p as f64).sum::<f64>();
    assert_close(value(&dag, total), expected, 10.0);
}

#[test]
fn powers_too_large_to_write_out_stay_powers() {
    let mut dag = Dag::new();
    let three = dag.integer(3);
    let power = dag.powi(three, 100);
    assert_close(value(&dag, power), 3.0_f64.powi(100), 8.0);
    let back = dag.powi(three, -99);
    assert_eq!(dag.mul(power, back), three);
    let float = dag.float(1e300);
    let square = dag.mul(float, float);
    let quotient = dag.div(square, float);
    assert_close(value(&dag, quotient), 1e300, 4.0);
}

#[test]
fn derivatives_of_powers_with_extreme_exponents_are_right() {
    let mut dag = Dag::new();
    let x = dag.symbol("x");
    let huge = Rational::new(i128::MAX, 1).unwrap();
    let e = dag.rational_power(x, huge);
    let d = dag.derivative(e, x);
    // At 1 the slope of x^n is n.
    assert_close(dag.evaluate(d, |_| 1.0), i128::MAX as f64, 8.0);
    let fine = Rational::new(1, i128::MAX).unwrap();
    let e = dag.rational_power(x, fine);
    let e = dag.scale(fine, e);
    let d = dag.derivative(e, x);
    assert_close(dag.evaluate(d, |_| 1.0), 1.0 / (i128::MAX as f64).powi(2), 8.0);
}

#[test]
fn the_derivative_of_a_power_has_a_value_where_the_base_is_zero() {
    let mut dag = Dag::new();
    let (x, n) = (dag.symbol("x"), dag.symbol("n"));
    let e = dag.power(x, n);
    let d = dag.derivative(e, x);
    let at = |s: carom_expr::Symbol| if s.index() == 0 { 0.0 } else { 2.0 };
    assert_eq!(dag.evaluate(d, at), 0.0);
}

#[test]
fn roots_are_split_only_where_that_is_true() {
    let mut dag = Dag::new();
    let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    let square = dag.powi(x, 2);
    let root = dag.sqrt(square);
    assert_eq!(dag.evaluate(root, |_| -3.0), 3.0);
    // √(x y) has a value for x = y = −3, √x √y has none.
    let product = dag.mul(x, y);
    let root = dag.sqrt(product);
    assert_eq!(dag.evaluate(root, |_| -3.0), 3.0);
    assert_eq!(dag.powi(root, 2), product);
    let four = dag.integer(4);
    let scaled = dag.mul(four, product);
    let two = dag.integer(2);
    assert_eq!(dag.sqrt(scaled), dag.mul(two, root));
    let quarter = dag.sqrt(root);
    assert_eq!(dag.powi(quarter, 4), product);
    let half = dag.sqrt(two);
    assert_eq!(dag.mul(half, half), two);
}

#[test]
fn even_powers_drop_the_absolute_value() {
    let mut dag = Dag::new();
    let x = dag.symbol("x");
    let abs = dag.function(Function::Abs, &[x]);
    assert_eq!(dag.mul(abs, abs), dag.powi(x, 2));
    assert_ne!(dag.powi(abs, 3), dag.powi(x, 3));
}

#[test]
fn quarter_turns_are_folded() {
    let mut dag = Dag::new();
    let x = dag.symbol("x");
    let pi = dag.constant(Constant::Pi);
    for quarters in -5..6_i64 {
        for f in [Function::Sin, Function::Cos, Function::Tan] {
            let turn = dag.scale(Rational::new(i128::from(quarters), 2).unwrap(), pi);
            let argument = dag.add(x, turn);
            let folded = dag.function(f, &[argument]);
            let unfolded =
                carom_expr::evaluate_function(f, 0.7 + quarters as f64 * std::f64::consts::FRAC_PI_2, 0.0);
            // The argument is rounded to a unit of 8, which the slope of tan passes on.
            assert!((value(&dag, folded) - unfolded).abs() < 64.0 * f64::EPSILON);
            assert!(quarters % 2 != 0 || !dag.reachable(&[folded]).contains(&pi));
        }
    }
    let sixth = dag.scale(Rational::new(5, 6).unwrap(), pi);
    assert_eq!(dag.function(Function::Sin, &[sixth]), dag.rational(1, 2));
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let mut dag = Dag::new();
    let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    let (mut abs, mut sines, mut shallow) = (x, x, x);
    for i in 0..20_000 {
        let product = dag.mul(abs, if i % 2 == 0 { x } else { y });
        abs = dag.function(Function::Abs, &[product]);
        let sum = dag.add(sines, y);
        sines = dag.function(Function::Sin, &[sum]);
        // The derivative of a chain of n functions is a product of n factors at each of its n levels.
        if i == 300 {
            shallow = sines;
        }
    }
    let square = dag.powi(abs, 2);
    assert!(matches!(dag.node(square), Node::Product(..)));
    let d = dag.derivative(shallow, x);
    assert_eq!(dag.simplify_all(&[square, sines, d]).len(), 3);
}
