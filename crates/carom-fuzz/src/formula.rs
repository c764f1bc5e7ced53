//! Formulas by the grammar, some of them damaged. What must hold: text reads back to the same expression, before and after
//! simplification and differentiation; no printer, no evaluation panics.

use crate::Choices;
use carom_expr::{Dag, Expr, Function, Name, Problem, Style, parse};

const NAMES: [&str; 12] =
    ["x", "y", "theta", "theta1", "m", "l_1", "x'", "theta''", "pi", "e", "t", "lambda"];
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "1/2",
    "10",
    "9.81",
    "1e-3",
    "1e9",
    "1e-9",
    "1e22",
    "1e-22",
    "1e300",
    "1e-300",
    "123456789",
    "0.1",
    "7",
    "12",
    "100",
    "99999999999999999999999999999999999999",
    "1e38",
    "1e-38",
    "3.14159265358979",
];
/// What damaged text contains.
const PIECES: [&str; 30] = [
    "(", ")", "+", "-", "*", "/", "^", "'", ",", "**", " ", ".", "e", "=", "′", "π", "θ", "²", "√", "\t",
    "\u{1b}", "_", "1", "\\", "sin", "sqrt(", "min(", "\"", "$", "𝒙",
];

/// A formula over these names, at most so deep.
pub fn formula(choices: &mut Choices<'_>, names: &[&str], depth: usize) -> String {
    let leaf = depth == 0 || choices.once_in(4);
    if leaf {
        return if choices.below(3) == 0 {
            choices.one(&NUMBERS).to_owned()
        } else {
            choices.one(names).to_owned()
        };
    }
    let inner = |choices: &mut Choices<'_>| formula(choices, names, depth - 1);
    match choices.below(16) {
        0..=2 => format!("{} + {}", inner(choices), inner(choices)),
        3 | 4 => format!("{} - {}", inner(choices), inner(choices)),
        5..=7 => format!("{}*{}", inner(choices), inner(choices)),
        8 => format!("{}/{}", inner(choices), inner(choices)),
        9 => format!(
            "({})^{}",
            inner(choices),
            choices.one(&["2", "3", "(1/2)", "-1", "(-2)", "(3/2)", "7", "20", "100", "(1/3)", "x"])
        ),
        10 => format!("({})^({})", inner(choices), inner(choices)),
        11 => format!("-({})", inner(choices)),
        12 => format!("({})", inner(choices)),
        13 => format!("sqrt({})", inner(choices)),
        _ => {
            let f = choices.one(&Function::ALL);
            let arguments: Vec<String> = (0..f.arity()).map(|_| inner(choices)).collect();
            format!("{}({})", f.name(), arguments.join(", "))
        }
    }
}

/// Changes a text in a few places.
pub fn damage(choices: &mut Choices<'_>, text: &str, pieces: &[&str]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=choices.below(4) {
        let at = choices.below(characters.len() + 1);
        match choices.below(4) {
            0 => {
                let new = choices.one(pieces).chars().collect::<Vec<_>>();
                characters.splice(at..at, new);
            }
            1 if at < characters.len() => {
                let end = (at + 1 + choices.below(6)).min(characters.len());
                characters.drain(at..end);
            }
            2 if at < characters.len() => {
                let end = (at + 1 + choices.below(12)).min(characters.len());
                let copy: Vec<char> = characters[at..end].to_vec();
                let to = choices.below(characters.len() + 1);
                characters.splice(to..to, copy);
            }
            _ if at < characters.len() => characters[at] = choices.one(pieces).chars().next().unwrap_or(' '),
            _ => {}
        }
    }
    characters.into_iter().collect()
}

fn symbol(dag: &mut Dag, name: Name<'_>) -> Result<Expr, Problem> {
    Ok(dag.symbol(&format!("{}{}", name.text, "'".repeat(name.primes as usize))))
}

/// Does the text of `e` read back as `e`?
fn reads_back(dag: &mut Dag, e: Expr, what: &str) {
    let text = dag.print(e, Style::Text);
    if text.contains("too long to print") {
        return;
    }
    match parse(dag, &text, &mut symbol) {
        Ok(again) => assert!(again == e, "{what} reads back as something else: {text}"),
        Err(problems) => panic!("{what} does not read back: {text}: {:?}", problems[0].message),
    }
}

pub(crate) fn attempt(choices: &mut Choices<'_>, note: &mut dyn FnMut(&str)) {
    let depth = 1 + choices.below(6);
    let mut text = formula(choices, &NAMES, depth);
    if choices.once_in(6) {
        text = damage(choices, &text, &PIECES);
    }
    note(&text);
    let mut dag = Dag::new();
    let e = match parse(&mut dag, &text, &mut symbol) {
        Ok(e) => e,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            for problem in problems {
                let fits = problem.span.start <= problem.span.end && problem.span.end <= text.len();
                assert!(fits && text.is_char_boundary(problem.span.start), "a place outside: {problem:?}");
            }
            return;
        }
    };
    reads_back(&mut dag, e, "the formula");
    for style in [Style::Unicode, Style::Latex, Style::Sympy, Style::Rust, Style::C] {
        assert!(!dag.print(e, style).is_empty());
    }
    let x = dag.symbol("x");
    let slope = dag.derivative(e, x);
    reads_back(&mut dag, slope, "its derivative");
    let short = dag.simplify(e);
    reads_back(&mut dag, short, "its simplification");
    let _ = dag.evaluate(short, |_| 0.7);
    if choices.once_in(4) {
        let slope = dag.simplify(slope);
        reads_back(&mut dag, slope, "its simplified derivative");
    }
}
