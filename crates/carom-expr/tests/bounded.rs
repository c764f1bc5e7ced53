//! Families whose expanded form grows exponentially: simplification and printing answer after bounded work, and what they
//! answer has the same value.

use carom_expr::{Dag, Expr, Printer, Style, parse};

fn read(dag: &mut Dag, text: &str) -> Expr {
    let resolve = &mut |dag: &mut Dag, name: carom_expr::Name<'_>| Ok(dag.symbol(name.text));
    parse(dag, text, resolve).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

/// Simplifies and compares values at a point where nothing is large.
fn assert_same_value(dag: &mut Dag, e: Expr, what: &str) {
    let value = |s: carom_expr::Symbol| 0.3 + (s.index() as f64 * 0.7).sin() / 5.0;
    let short = dag.simplify(e);
    let (before, after) = (dag.evaluate(e, value), dag.evaluate(short, value));
    // Sums of a few thousand terms lose at most a few digits.
    let close = before == after || (before - after).abs() <= 1e-9 * before.abs().max(after.abs());
    assert!(close || before.is_nan() && after.is_nan(), "{what}: {before} became {after}");
}

#[test]
fn high_powers_of_sines_and_cosines_simplify_in_bounded_work() {
    for text in [
        "sin(x)^100*(x + x^2 + 1)",
        "cos(x)^101*(x + x^2 + 1)",
        "sin(x)^1000*cos(x)^999*(x + y + 1)",
        "sin(x)^60*sin(y)^60*sin(z)^60 + x + 1",
        "(sin(x)^40 + cos(x)^40 + sin(y)^40 + cos(y)^40)^3 + x",
        "sin(x)^1000000*(x + x^2 + 1)",
        "sinh(x)^100*(x + x^2 + 1) + cosh(x)^100",
        "sin(x)^(100/3)*(x + x^2 + 1)",
    ] {
        let mut dag = Dag::new();
        let e = read(&mut dag, text);
        assert_same_value(&mut dag, e, text);
    }
}

#[test]
fn squares_of_high_powers_still_cancel() {
    // (sin² + cos²)^k − 1 = 0, written out.
    let mut dag = Dag::new();
    let e = read(&mut dag, "sin(x)^6 + 3*sin(x)^4*cos(x)^2 + 3*sin(x)^2*cos(x)^4 + cos(x)^6");
    assert_eq!(dag.simplify(e), dag.one());
    let e = read(&mut dag, "a*sin(x)^8 - a*(1 - cos(x)^2)^4");
    assert_eq!(dag.simplify(e), dag.zero());
}

#[test]
fn products_and_powers_of_sums_simplify_in_bounded_work() {
    let sums = |n: usize, inner: &dyn Fn(usize) -> String| {
        (0..n).map(|i| format!("({})", inner(i))).collect::<Vec<_>>().join("*")
    };
    let long = |n: usize, m: usize| (0..m).map(|j| format!("x{n}_{j}*y{j}")).collect::<Vec<_>>().join(" + ");
    let texts = [
        sums(40, &|i| format!("a{i} + b{i}")),
        sums(40, &|i| format!("a{i} + b{i}")) + " + 1",
        format!("({})^12 + ({})^11", long(0, 12), long(1, 12)),
        sums(30, &|i| format!("sin(a{i}) + cos(a{i})")) + " + x",
        sums(12, &|i| format!("1/(a{i} + b{i}) + 1/(a{i} - b{i})")) + " + x",
        (0..60).map(|i| format!("1/(a{i} + {i})")).collect::<Vec<_>>().join(" + "),
        (0..300).map(|i| format!("sin(a{i})*cos(b{i})*a{}", i / 2)).collect::<Vec<_>>().join(" + "),
        // Terms of very many factors.
        format!(
            "({0})*(u + v)^6 + ({0})*w",
            (0..3000).map(|i| format!("a{i}")).collect::<Vec<_>>().join("*")
        ),
    ];
    for text in texts {
        let mut dag = Dag::new();
        let e = read(&mut dag, &text);
        assert_same_value(&mut dag, e, &text[..text.len().min(80)]);
    }
}

#[test]
fn deep_sharing_simplifies_and_prints_in_bounded_work() {
    let mut dag = Dag::new();
    let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    // Each level uses the one before twice: 2^150 leaves written out.
    let (mut sums, mut waves, mut fractions) = (x, x, x);
    for k in 0..150 {
        let (square, turned) = (dag.powi(sums, 2), dag.mul(sums, y));
        let half = dag.rational(1, 2 + k % 3);
        sums = dag.sum(&[square, turned, half]);
        sums = dag.mul(sums, half);
        let (sine, cosine) = (
            dag.function(carom_expr::Function::Sin, &[waves]),
            dag.function(carom_expr::Function::Cos, &[waves]),
        );
        waves = dag.mul(sine, cosine);
        waves = dag.add(waves, y);
        let (one, inverse) = (dag.one(), dag.powi(fractions, -1));
        fractions = dag.sum(&[fractions, inverse, one]);
    }
    for (e, what) in [(sums, "sums"), (waves, "waves"), (fractions, "fractions")] {
        assert_same_value(&mut dag, e, what);
        for style in [Style::Text, Style::Unicode, Style::Latex, Style::Sympy, Style::Rust, Style::C] {
            let text = dag.print(e, style);
            assert!(
                text.len() <= 3_000_000 && text.contains("too long to print"),
                "{what} {style:?} {}",
                text.len()
            );
        }
    }
}

#[test]
fn a_text_is_cut_when_its_parts_together_are_too_long() {
    // Every node of a long chain is below the limit by itself.
    let mut dag = Dag::new();
    let wide: Vec<Expr> = (0..60).map(|i| dag.symbol(&format!("a{i}"))).collect();
    let mut e = dag.sum(&wide);
    for _ in 0..20_000 {
        e = dag.function(carom_expr::Function::Sin, &[e]);
    }
    let text = Printer::new(&dag, Style::Text).limit(100_000).print(e);
    assert!(text.contains("too long to print") && text.len() <= 100_000, "{}", text.len());
    let mut again = Dag::new();
    let shallow = read(&mut again, "sin(sin(sin(x)))");
    assert_eq!(Printer::new(&again, Style::Text).limit(100_000).print(shallow), "sin(sin(sin(x)))");
}

#[test]
fn huge_rationals_simplify_in_bounded_work() {
    for text in [
        "(x/170141183460469231731687303715884105727 + y/170141183460469231731687303715884105726)^12 + z",
        "123456789012345678901234567890123456789*(x + 1)/98765432109876543210987654321098765433*(x - 1) + x^2",
        "3^100*(x + 3^99)^12 - 7^200",
        "(1e300*x + 1e-300*y)^12 + 1",
    ] {
        let mut dag = Dag::new();
        let e = read(&mut dag, text);
        assert_same_value(&mut dag, e, text);
    }
}
