//! Printers: text reads back, code computes the same numbers, names never collide, output is bounded.

use carom_expr::{Dag, Expr, Function, Language, Name, Problem, Rational, Style, parse};
use proptest::prelude::*;

fn resolve(dag: &mut Dag, name: Name<'_>) -> Result<Expr, Problem> {
    Ok(dag.symbol(&format!("{}{}", name.text, "'".repeat(name.primes as usize))))
}

fn read(dag: &mut Dag, text: &str) -> Expr {
    parse(dag, text, &mut resolve).unwrap_or_else(|p| panic!("{text}: {p:?}"))
}

/// A model's symbols, in the order a model makes them.
fn model() -> Dag {
    let mut dag = Dag::new();
    let names = "t theta1 theta1' theta1'' theta2 theta2' x x' y y' L L' phi phi' m m1 m2 l l1 l2 g K L0 R b e2 x_wall";
    for name in names.split(' ') {
        dag.symbol(name);
    }
    dag
}

/// A small program that builds an expression on a stack.
#[derive(Clone, Debug)]
enum Op {
    Symbol(u8),
    Number(i8, u8),
    Pi,
    Add(u8),
    Multiply(u8),
    Divide,
    Negate,
    Power(i8, u8),
    GeneralPower,
    Call(u8),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..8_u8).prop_map(Op::Symbol),
        2 => (-9..9_i8, 1..12_u8).prop_map(|(n, d)| Op::Number(n, d)),
        1 => Just(Op::Pi),
        3 => (2..5_u8).prop_map(Op::Add),
        3 => (2..5_u8).prop_map(Op::Multiply),
        1 => Just(Op::Divide),
        1 => Just(Op::Negate),
        1 => (-3..4_i8, 1..4_u8).prop_map(|(n, d)| Op::Power(n, d)),
        1 => Just(Op::GeneralPower),
        2 => (0..Function::ALL.len() as u8).prop_map(Op::Call),
    ]
}

fn build(dag: &mut Dag, ops: &[Op]) -> Expr {
    let names = ["m", "l1", "theta1", "theta1'", "x", "x'", "x_wall", "theta1''"];
    let mut stack: Vec<Expr> = vec![dag.symbol("g")];
    for op in ops {
        let top = *stack.last().unwrap();
        let below = stack[stack.len().saturating_sub(2)];
        let tail = |n: u8| stack[stack.len().saturating_sub(n as usize)..].to_vec();
        let made = match op {
            Op::Symbol(i) => dag.symbol(names[*i as usize]),
            Op::Number(n, d) => dag.rational(i64::from(*n), i64::from(*d)),
            Op::Pi => dag.constant(carom_expr::Constant::Pi),
            Op::Add(n) => {
                let parts = tail(*n);
                dag.sum(&parts)
            }
            Op::Multiply(n) => {
                let parts = tail(*n);
                dag.product(&parts)
            }
            Op::Divide if !dag.is_zero(top) => dag.div(below, top),
            Op::Divide => top,
            Op::Negate => dag.neg(top),
            Op::Power(..) if dag.is_zero(top) => top,
            Op::Power(n, d) => {
                let r = Rational::new(i128::from(*n), i128::from(*d)).unwrap();
                if r.is_zero() { top } else { dag.rational_power(top, r) }
            }
            Op::GeneralPower if dag.is_zero(below) => top,
            Op::GeneralPower => dag.power(below, top),
            Op::Call(i) => {
                let f = Function::ALL[*i as usize];
                let args = if f.arity() == 1 { vec![top] } else { vec![below, top] };
                dag.function(f, &args)
            }
        };
        // Keeps the text short enough to read when a case fails.
        if dag.reachable(&[made]).len() < 40 && dag.print(made, Style::Text).len() < 400 {
            stack.push(made);
        }
    }
    *stack.last().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn text_reads_back_to_the_same_expression(ops in prop::collection::vec(op(), 1..40)) {
        let mut dag = model();
        let e = build(&mut dag, &ops);
        let text = dag.print(e, Style::Text);
        let back = parse(&mut dag, &text, &mut resolve);
        prop_assert_eq!(back, Ok(e), "{}", text);
    }

    #[test]
    fn braces_and_delimiters_of_latex_balance(ops in prop::collection::vec(op(), 1..40)) {
        let mut dag = model();
        let e = build(&mut dag, &ops);
        let text = dag.print(e, Style::Latex);
        prop_assert_eq!(text.matches('{').count(), text.matches('}').count(), "{}", text);
        prop_assert_eq!(text.matches(r"\left").count(), text.matches(r"\right").count(), "{}", text);
    }
}

#[test]
fn expressions_print_as_in_a_textbook() {
    let expected = [
        // text, Unicode, LaTeX
        ("m/2*x'^2 - m*g*y", "½·m·ẋ² − m·g·y", r"\frac{1}{2} m \dot{x}^{2} - m g y"),
        ("cos(theta1 - theta2)", "cos(θ₁ − θ₂)", r"\cos(\theta_{1} - \theta_{2})"),
        (
            "m1 + m2*sin(theta1 - theta2)^2",
            "m₁ + m₂·sin²(θ₁ − θ₂)",
            r"m_{1} + m_{2} \sin^{2}(\theta_{1} - \theta_{2})",
        ),
        (
            "(m1 + m2)/2*l1^2*theta1'^2",
            "½·(m₁ + m₂)·l₁²·θ̇₁²",
            r"\frac{1}{2} (m_{1} + m_{2}) l_{1}^{2} \dot{\theta}_{1}^{2}",
        ),
        ("m*g*L*sin(phi) + K/2*(L - L0)^2", "½·K·(L − L₀)² + m·g·L·sin(φ)", ""),
        ("x - x_wall", "x − x_wall", r"x - x_{\mathrm{wall}}"),
        ("10 - y - R*sin(phi)", "10 − y − R·sin(φ)", r"10 - y - R \sin \phi"),
        ("x^2 + y^2 - l^2", "x² + y² − l²", "x^{2} + y^{2} - l^{2}"),
        ("x - 4", "x − 4", "x - 4"),
        ("sqrt(1 - x'^2)", "√(1 − ẋ²)", r"\sqrt{1 - \dot{x}^{2}}"),
        ("m/sqrt(x)", "m/√x", r"\frac{m}{\sqrt{x}}"),
        ("x/2", "½·x", r"\frac{x}{2}"),
        ("3/2*m*x", "3/2·m·x", r"\frac{3}{2} m x"),
        ("m*x/(2*R)", "m·x/(2·R)", r"\frac{m x}{2 R}"),
        ("-(x + y)", "−(x + y)", "-(x + y)"),
        ("-x", "−x", "-x"),
        ("9.81*m", "9.81·m", "9.81 m"),
        ("exp(-x)", "exp(−x)", r"\mathrm{e}^{-x}"),
        ("log(x)^2", "ln(x)²", r"(\ln x)^{2}"),
        ("abs(x)", "|x|", r"\lvert x \rvert"),
        ("x^(1/3)", "x^(1/3)", "x^{1/3}"),
        ("2^x", "2^x", "2^{x}"),
        ("(x + y)^2", "(x + y)²", "(x + y)^{2}"),
        ("(x/R)^m", "(x/R)^m", r"\left(\frac{x}{R}\right)^{m}"),
        ("2*pi*x", "2·π·x", r"2 \pi x"),
        ("theta1''", "θ̈₁", r"\ddot{\theta}_{1}"),
    ];
    for (text, unicode, latex) in expected {
        let mut dag = model();
        let e = read(&mut dag, text);
        let printed = dag.print(e, Style::Text);
        assert_eq!(read(&mut dag, &printed), e, "{text}: {printed}");
        assert_eq!(dag.print(e, Style::Unicode), unicode, "{text}: {printed}");
        if !latex.is_empty() {
            assert_eq!(dag.print(e, Style::Latex), latex, "{text}");
            assert_eq!(printed, text);
        }
    }
}

#[test]
fn a_product_puts_parameters_first_then_velocities_then_functions() {
    let mut dag = model();
    let e = read(&mut dag, "cos(theta1 - theta2)*theta2'*l1*theta1'*l2*m2");
    assert_eq!(dag.print(e, Style::Text), "m2*l1*l2*theta1'*theta2'*cos(theta1 - theta2)");
}

#[test]
fn code_names_avoid_reserved_words_and_never_collide() {
    let mut dag = Dag::new();
    let names =
        ["lambda", "I", "in", "S", "N", "E", "x'", "x_dot", "x_dot_", "θ", "theta", "gamma", "type", "int"];
    let symbols: Vec<Expr> = names.iter().map(|n| dag.symbol(n)).collect();
    for style in [Style::Sympy, Style::Rust, Style::C, Style::Unicode, Style::Latex, Style::Text] {
        let mut spellings: Vec<String> = symbols.iter().map(|&s| dag.print(s, style)).collect();
        let count = spellings.len();
        spellings.sort();
        spellings.dedup();
        assert_eq!(spellings.len(), count, "{style:?} {spellings:?}");
    }
    assert_eq!(dag.print(symbols[0], Style::Sympy), "lambda_");
    assert_eq!(dag.print(symbols[1], Style::Sympy), "I_");
    assert_eq!(dag.print(symbols[2], Style::Rust), "in_");
    assert_eq!(dag.print(symbols[7], Style::C), "x_dot");
    assert_ne!(dag.print(symbols[6], Style::C), "x_dot");
    assert_eq!(dag.print(symbols[13], Style::C), "int_");
}

#[test]
fn exact_numbers_stay_exact_for_sympy() {
    let mut dag = model();
    for (text, expected) in [
        ("3/2*m*x", "Rational(3, 2)*m*x"),
        ("m/3", "m/3"),
        ("9.81*m", "Rational(981, 100)*m"),
        ("x^(1/3)", "x**Rational(1, 3)"),
        ("1/3", "Rational(1, 3)"),
        ("max(x, abs(y))", "Max(x, Abs(y))"),
    ] {
        let e = read(&mut dag, text);
        assert_eq!(dag.print(e, Style::Sympy), expected);
    }
}

#[test]
fn text_of_exponential_size_is_cut_with_a_marker_instead_of_printed() {
    let mut dag = Dag::new();
    let mut e = dag.symbol("x");
    for i in 0..400 {
        // sin(e) + cos(e): the DAG grows by three nodes, the text doubles.
        let (s, c) = (dag.function(Function::Sin, &[e]), dag.function(Function::Cos, &[e]));
        let k = dag.integer(i);
        e = dag.sum(&[s, c, k]);
    }
    for style in [Style::Text, Style::Unicode, Style::Latex, Style::Sympy, Style::Rust, Style::C] {
        let text = dag.print(e, style);
        assert!(text.len() <= 3_000_000 && text.contains("too long to print"), "{style:?} {}", text.len());
    }
    let code = dag.code(&[e], Language::C, "s");
    assert!(code.results[0].len() < 100);
    assert!(code.temporaries.iter().all(|(_, text)| text.len() < 500));
}

#[test]
fn ten_thousand_nested_functions_print() {
    let mut dag = Dag::new();
    let mut e = dag.symbol("x");
    for _ in 0..10_000 {
        e = dag.function(Function::Sin, &[e]);
    }
    assert_eq!(dag.print(e, Style::Text).len(), 50_001);
    let code = dag.code(&[e], Language::Rust, "s");
    assert!(code.temporaries.iter().all(|(_, text)| text.len() < 1000));
}

/// Compiles generated code and compares its numbers with the reference evaluator.
mod compiled {
    use super::*;
    use std::process::Command;

    fn expressions(dag: &mut Dag) -> Vec<Expr> {
        let texts = [
            "m/2*x'^2 - m*g*y",
            "(m1 + m2)*l1^2*cos(theta1 - theta2) + sin(theta1 - theta2)^2/(m1 + m2)",
            "sqrt(x^2 + y^2)*exp(-x/3) + log(2 + x) - 2^x",
            "-(x + y)^3/(x*y) + x^(2/3) + 1/sqrt(x)",
            "abs(x - y)*sign(y - x) + min(x, y) + max(x, 2*y)",
            "atan2(y, x) + asin(x/10) + acos(x/10) + atan(x) + tan(x)",
            "sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(x + 2) + atanh(x/10)",
            "pi*x^-2 + e^2 + 9.81 + (x + y)^4/7 + 3^(1/2)",
            "(-x)^2 - -y + (x - y)^-3 + sign(-x)",
        ];
        texts.iter().map(|t| read(dag, t)).collect()
    }

    fn run(source: &str, file: &str, compiler: &[&str]) -> Option<Vec<f64>> {
        let directory = std::env::temp_dir().join(format!("carom-print-{}-{file}", std::process::id()));
        std::fs::create_dir_all(&directory).ok()?;
        let (input, output) = (directory.join(file), directory.join("program"));
        std::fs::write(&input, source).ok()?;
        let mut command = Command::new(compiler[0]);
        let made = command.arg(&input).arg("-o").arg(&output).args(&compiler[1..]).output().ok()?;
        assert!(made.status.success(), "{}\n{source}", String::from_utf8_lossy(&made.stderr));
        let printed = Command::new(&output).output().ok()?;
        std::fs::remove_dir_all(&directory).ok();
        Some(String::from_utf8_lossy(&printed.stdout).lines().map(|l| l.parse().unwrap()).collect())
    }

    fn value(name: &str) -> f64 {
        0.3 + name.bytes().map(f64::from).sum::<f64>() % 7.0 / 5.0
    }

    fn compare(dag: &Dag, expressions: &[Expr], printed: &[f64]) {
        let exact = dag.evaluate_all(expressions, |s| value(dag.symbol_name(s)));
        assert_eq!(exact.len(), printed.len());
        for (a, b) in exact.iter().zip(printed) {
            // A handful of roundings and library functions good to an ulp or two, in numbers of order ten.
            assert!((a - b).abs() <= 1e-13 * a.abs().max(1.0), "{a} {b}");
        }
    }

    #[test]
    fn generated_rust_compiles_and_computes_the_same_numbers() {
        let mut dag = model();
        let expressions = expressions(&mut dag);
        let code = dag.code(&expressions, Language::Rust, "s");
        assert!(code.needs_sign);
        let mut source = "#![allow(warnings)]\nfn sign(x: f64) -> f64 { if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { 0.0 } }\nfn main() {\n".to_string();
        for (name, spelling) in &code.symbols {
            source += &format!("let {spelling}: f64 = {:?};\n", value(name));
        }
        for (name, text) in &code.temporaries {
            source += &format!("let {name}: f64 = {text};\n");
        }
        for text in &code.results {
            source += &format!("println!(\"{{:e}}\", {text});\n");
        }
        source += "}\n";
        let printed = run(&source, "main.rs", &["rustc", "-Cdebuginfo=0"]).expect("rustc runs");
        compare(&dag, &expressions, &printed);
    }

    #[test]
    fn generated_c_compiles_and_computes_the_same_numbers() {
        let mut dag = model();
        let expressions = expressions(&mut dag);
        let code = dag.code(&expressions, Language::C, "s");
        let mut source = "#include <math.h>\n#include <stdio.h>\nstatic double sign(double x) { return (x > 0.0) - (x < 0.0); }\nint main(void) {\n".to_string();
        for (name, spelling) in &code.symbols {
            source += &format!("double {spelling} = {:?};\n", value(name));
        }
        for (name, text) in &code.temporaries {
            source += &format!("double {name} = {text};\n");
        }
        for text in &code.results {
            source += &format!("printf(\"%.17e\\n\", {text});\n");
        }
        source += "return 0;\n}\n";
        let printed =
            run(&source, "main.c", &["cc", "-std=c99", "-Wall", "-Werror", "-lm"]).expect("cc runs");
        compare(&dag, &expressions, &printed);
    }
}

/// Exponents of one base that cannot be added exactly (1 + 1e-38 needs more digits than there are) stay side by side; in
/// whatever order they came, the text is the same product again, and its value is that of the sum.
#[test]
fn powers_whose_exponents_cannot_be_added_read_back() {
    let exponents = [
        "1",
        "-1",
        "1e-38",
        "-1e-38",
        "2e-38",
        "1e19",
        "-1e19",
        "1/3",
        "-7/3",
        "1e-19",
        "-3e-37",
        "1/99999999999999999999",
    ];
    let values = [1.0, -1.0, 1e-38, -1e-38, 2e-38, 1e19, -1e19, 1.0 / 3.0, -7.0 / 3.0, 1e-19, -3e-37, 1e-20];
    let count = exponents.len();
    for number in 0..count.pow(4) {
        let chosen =
            [number % count, number / count % count, number / count.pow(2) % count, number / count.pow(3)];
        let text = chosen.map(|k| format!("x^({})", exponents[k])).join("*");
        let mut dag = Dag::new();
        let e = read(&mut dag, &text);
        let printed = dag.print(e, Style::Text);
        assert_eq!(read(&mut dag, &printed), e, "{text} prints as {printed}");
        let short = dag.simplify(e);
        let printed = dag.print(short, Style::Text);
        assert_eq!(read(&mut dag, &printed), short, "{text} simplified prints as {printed}");
        let sum: f64 = chosen.iter().map(|&k| values[k]).sum();
        if chosen.iter().all(|&k| values[k].abs() < 1e3) {
            let value = dag.evaluate(e, |_| 0.7);
            // Every factor is rounded twice, and so is every product.
            assert!((value / 0.7_f64.powf(sum) - 1.0).abs() <= 32.0 * f64::EPSILON, "{text} is {value}");
        }
    }
}

/// The same for coefficients of one term, and for numbers.
#[test]
fn terms_whose_coefficients_cannot_be_added_read_back() {
    let coefficients =
        ["1", "-1", "1e-38", "-1e-38", "2e-38", "1e19", "-1e19", "1/3", "-7/3", "1e37", "-3e-37", "pi"];
    let count = coefficients.len();
    for number in 0..count.pow(4) {
        let chosen =
            [number % count, number / count % count, number / count.pow(2) % count, number / count.pow(3)];
        for base in ["*x", "", "*sin(x)^2"] {
            let text = chosen.map(|k| format!("({}){base}", coefficients[k])).join(" + ");
            let mut dag = Dag::new();
            let e = read(&mut dag, &text);
            let printed = dag.print(e, Style::Text);
            assert_eq!(read(&mut dag, &printed), e, "{text} prints as {printed}");
            let short = dag.simplify(e);
            let printed = dag.print(short, Style::Text);
            assert_eq!(read(&mut dag, &printed), short, "{text} simplified prints as {printed}");
        }
    }
}
