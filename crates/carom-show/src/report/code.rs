//! The derived expressions as source code: a SymPy script, Rust functions, C functions.
//!
//! Rust and C get one function per quantity. Arguments are the time, positions, velocities (momenta for a
//! Hamiltonian model) of the free coordinates in model order, table inputs as (value, rate, second rate), and a
//! record of parameters.

use carom_expr::{Code, Expr, Language, Printer, Style};
use carom_mech::{Dynamics, Mechanics};

/// A quantity: its name, what it is, and its entries; rows of a matrix follow each other.
struct CodeQuantity {
    name: &'static str,
    what: String,
    entries: Vec<Expr>,
    /// Entries per row, when it is a matrix.
    columns: Option<usize>,
    scalar: bool,
}

fn vector(name: &'static str, what: &str, entries: Vec<Expr>) -> CodeQuantity {
    CodeQuantity { name, what: what.to_string(), entries, columns: None, scalar: false }
}

fn matrix(name: &'static str, what: &str, rows: &[Vec<Expr>], columns: usize) -> CodeQuantity {
    let entries = rows.iter().flatten().copied().collect();
    CodeQuantity { name, what: what.to_string(), entries, columns: Some(columns), scalar: false }
}

fn scalar(name: &'static str, what: &str, e: Expr) -> CodeQuantity {
    CodeQuantity { name, what: what.to_string(), entries: vec![e], columns: None, scalar: true }
}

fn quantities(mechanics: &Mechanics) -> Vec<CodeQuantity> {
    let n = mechanics.free.len();
    let mut all = Vec::new();
    match &mechanics.dynamics {
        Dynamics::Hamiltonian(h) => {
            all.push(scalar("hamiltonian", "H(q, p, t)", h.hamiltonian));
            all.push(vector("velocity", "∂H/∂p", h.velocity.clone()));
            all.push(vector("force", "-∂H/∂q + Q", h.force.clone()));
            all.push(matrix("inverse_mass_matrix", "∂²H/∂p∂p", &h.inverse_mass, n));
            all.push(vector("generalized_force", "Q", h.generalized_force.clone()));
        }
        Dynamics::Lagrangian(l) => lagrangian(&mut all, mechanics, l),
        Dynamics::Degenerate(d) => {
            lagrangian(&mut all, mechanics, &d.lagrangian);
            let conditions = d.conditions.iter().map(|c| c.expr).collect();
            all.push(vector("conditions", "conditions that hold along every motion", conditions));
        }
    }
    if let Some(a) = &mechanics.forms.accelerations {
        all.push(vector("accelerations", "a(q, v, t), reactions included", a.clone()));
    }
    if !mechanics.rows.is_empty() {
        let rows: Vec<Vec<Expr>> = mechanics.rows.iter().map(|r| r.normal.clone()).collect();
        let names: Vec<&str> = mechanics.rows.iter().map(|r| r.name.as_str()).collect();
        let names = names.join(", ");
        all.push(matrix("constraint_matrix", &format!("A of A v + b = 0; rows: {names}"), &rows, n));
        all.push(vector("constraint_drift", "b", mechanics.rows.iter().map(|r| r.drift).collect()));
        all.push(vector(
            "constraint_bias",
            "gamma of A a + gamma = 0",
            mechanics.rows.iter().map(|r| r.bias).collect(),
        ));
        let holonomic: Vec<Expr> = mechanics.rows.iter().filter_map(|r| r.position).collect();
        if !holonomic.is_empty() {
            all.push(vector("constraint_position", "c(q, t) of the holonomic rows", holonomic));
        }
    }
    if !mechanics.walls.is_empty() {
        let names: Vec<&str> = mechanics.walls.iter().map(|w| w.name.as_str()).collect();
        let names = names.join(", ");
        all.push(vector(
            "gaps",
            &format!("gaps; walls: {names}"),
            mechanics.walls.iter().map(|w| w.gap).collect(),
        ));
        let normals: Vec<Vec<Expr>> = mechanics.walls.iter().map(|w| w.normal.clone()).collect();
        all.push(matrix("normals", "normals of the walls, row by row", &normals, n));
        all.push(vector(
            "gap_t",
            "explicit time derivatives of the gaps",
            mechanics.walls.iter().map(|w| w.gap_t).collect(),
        ));
        all.push(vector(
            "gap_rates",
            "rates of the gaps",
            mechanics.walls.iter().map(|w| w.gap_rate).collect(),
        ));
        all.push(vector(
            "restitution",
            "restitution per wall",
            mechanics.walls.iter().map(|w| w.restitution).collect(),
        ));
    }
    all
}

fn lagrangian(all: &mut Vec<CodeQuantity>, mechanics: &Mechanics, l: &carom_mech::LagrangianDynamics) {
    let n = mechanics.free.len();
    all.push(scalar("lagrangian", "L(q, v, t)", l.lagrangian));
    all.push(vector("momenta", "∂L/∂v", mechanics.free.iter().map(|&i| mechanics.momenta[i]).collect()));
    all.push(scalar("energy", "E = p·v - L", mechanics.hamiltonian));
    all.push(matrix("mass_matrix", "W of W a + h = Q + transpose(A) mu", &l.mass_matrix, n));
    all.push(vector("bias", "h", l.bias.clone()));
    all.push(vector("generalized_force", "Q", l.generalized_force.clone()));
}

/// What a reader of the code would look for in vain, and why.
fn left_out(mechanics: &Mechanics) -> Vec<String> {
    let forms = &mechanics.forms;
    let accelerations = forms.why(carom_mech::ClosedForm::Accelerations);
    accelerations.map(|r| one_line(&format!("accelerations are left out: {r}"))).into_iter().collect()
}

/// A comment must stay on its line.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    carom_mech::diagnostic::visible(&plain).replace("*/", "* /")
}

/// Where a symbol's value comes from.
fn source(mechanics: &Mechanics, name: &str, arrow: &str, spelling: &str) -> Option<String> {
    let model = &mechanics.model;
    let e = model.dag.find_symbol(name)?;
    if e == model.time {
        return Some("in_t".to_string());
    }
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let c = &model.coordinates[i];
        if e == c.position {
            return Some(format!("in_q[{slot}]"));
        } else if e == c.velocity || e == c.momentum {
            return Some(format!("in_v[{slot}]"));
        }
    }
    for (k, input) in model.inputs.iter().enumerate() {
        for (order, symbol) in [input.value, input.rate, input.second].into_iter().enumerate() {
            if e == symbol {
                return Some(format!("in_u[{k}][{order}]"));
            }
        }
    }
    Some(format!("in_c{arrow}{spelling}"))
}

/// The names of the free coordinates, as a comment.
fn order(mechanics: &Mechanics) -> String {
    let names: Vec<&str> =
        mechanics.free.iter().map(|&i| mechanics.model.coordinates[i].name.as_str()).collect();
    names.join(", ")
}

/// Rust functions, one per quantity; a file that compiles by itself.
pub fn rust(mechanics: &Mechanics) -> String {
    let model = &mechanics.model;
    let rate = if matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) { "momenta" } else { "velocities" };
    let printer = Printer::new(&model.dag, Style::Rust);
    let mut out = format!(
        "//! {}: derived equations.\n//!\n//! `in_t` is the time, `in_q` positions and `in_v` {rate} of: {}.\n\n\
         #![allow(non_snake_case, unused_variables, unused_parens, clippy::all)]\n\n",
        one_line(&model.name),
        order(mechanics)
    );
    left_out(mechanics).iter().for_each(|line| out.push_str(&format!("// {line}\n\n")));
    out.push_str("/// Parameters of the model.\n#[derive(Clone, Copy, Debug)]\npub struct Parameters {\n");
    for p in &model.parameters {
        out.push_str(&format!("    pub {}: f64,\n", printer.symbol(&p.name)));
    }
    out.push_str(
        "}\n\nimpl Default for Parameters {\n    fn default() -> Parameters {\n        Parameters {\n",
    );
    for p in &model.parameters {
        out.push_str(&format!("            {}: {},\n", printer.symbol(&p.name), literal(p.value)));
    }
    out.push_str("        }\n    }\n}\n");
    let n = mechanics.free.len();
    let inputs = match model.inputs.len() {
        0 => String::new(),
        m => format!(", in_u: &[[f64; 3]; {m}]"),
    };
    let mut needs_sign = false;
    for quantity in quantities(mechanics) {
        let code = model.dag.code(&quantity.entries, Language::Rust, "s");
        needs_sign |= code.needs_sign;
        let rows = quantity.columns.map(|c| quantity.entries.len().checked_div(c).unwrap_or(0));
        let kind = match (quantity.scalar, quantity.columns, rows) {
            (true, ..) => "f64".to_string(),
            (_, Some(columns), Some(rows)) => format!("[[f64; {columns}]; {rows}]"),
            _ => format!("[f64; {}]", quantity.entries.len()),
        };
        out.push_str(&format!(
            "\n/// {}\npub fn {}(in_t: f64, in_q: &[f64; {n}], in_v: &[f64; {n}]{inputs}, in_c: &Parameters) -> {kind} {{\n",
            one_line(&quantity.what),
            quantity.name
        ));
        declarations(&mut out, mechanics, &code, "    let ", ".");
        for (name, text) in &code.temporaries {
            out.push_str(&format!("    let {name}: f64 = {text};\n"));
        }
        match (quantity.scalar, quantity.columns) {
            (true, _) => out.push_str(&format!("    {}\n", code.results.join(""))),
            (_, Some(columns)) => {
                out.push_str("    [\n");
                for row in code.results.chunks(columns.max(1)) {
                    out.push_str(&format!("        [{}],\n", row.join(", ")));
                }
                out.push_str("    ]\n");
            }
            _ => {
                out.push_str("    [\n");
                code.results.iter().for_each(|r| out.push_str(&format!("        {r},\n")));
                out.push_str("    ]\n");
            }
        }
        out.push_str("}\n");
    }
    if needs_sign {
        out.push_str("\nfn sign(x: f64) -> f64 {\n    if x > 0.0 {\n        1.0\n    } else if x < 0.0 {\n        -1.0\n    } else {\n        0.0\n    }\n}\n");
    }
    out
}

fn literal(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "f64::NAN".to_string() }
}

fn declarations(out: &mut String, mechanics: &Mechanics, code: &Code, keyword: &str, arrow: &str) {
    for (name, spelling) in &code.symbols {
        if let Some(from) = source(mechanics, name, arrow, spelling) {
            out.push_str(&format!("{keyword}{spelling} = {from};\n"));
        }
    }
}

/// C99 functions, one per quantity, writing row by row into `out`.
pub fn c(mechanics: &Mechanics) -> String {
    let model = &mechanics.model;
    let rate = if matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) { "momenta" } else { "velocities" };
    let printer = Printer::new(&model.dag, Style::C);
    let mut out = format!(
        "/* {}: derived equations.\n   in_t is the time, in_q positions and in_v {rate} of: {}.\n   \
         Results are written to out, matrices row by row. */\n\n#include <math.h>\n\n",
        one_line(&model.name),
        one_line(&order(mechanics))
    );
    left_out(mechanics).iter().for_each(|line| out.push_str(&format!("/* {line} */\n\n")));
    out.push_str("typedef struct {\n");
    for p in &model.parameters {
        out.push_str(&format!("    double {}; /* {} */\n", printer.symbol(&p.name), p.value));
    }
    if model.parameters.is_empty() {
        out.push_str("    double unused;\n");
    }
    out.push_str("} carom_parameters;\n");
    let values: Vec<String> = model.parameters.iter().map(|p| c_literal(p.value)).collect();
    let values = if values.is_empty() { "0.0".to_string() } else { values.join(", ") };
    out.push_str(&format!(
        "\n/* The values in the model file. */\nconst carom_parameters carom_default = {{ {values} }};\n"
    ));
    let codes: Vec<(CodeQuantity, Code)> = quantities(mechanics)
        .into_iter()
        .map(|q| {
            let code = model.dag.code(&q.entries, Language::C, "s");
            (q, code)
        })
        .collect();
    if codes.iter().any(|(_, code)| code.needs_sign) {
        out.push_str("\nstatic double sign(double x) { return (double)((x > 0.0) - (x < 0.0)); }\n");
    }
    let inputs = if model.inputs.is_empty() { "" } else { ", const double in_u[][3]" };
    for (quantity, code) in &codes {
        out.push_str(&format!(
            "\n/* {} */\nvoid carom_{}(double in_t, const double *in_q, const double *in_v{inputs}, const carom_parameters *in_c, double *out) {{\n",
            one_line(&quantity.what),
            quantity.name
        ));
        out.push_str("    (void)in_t; (void)in_q; (void)in_v; (void)in_c;\n");
        declarations(&mut out, mechanics, code, "    const double ", "->");
        for (name, text) in &code.temporaries {
            out.push_str(&format!("    const double {name} = {text};\n"));
        }
        for (i, text) in code.results.iter().enumerate() {
            out.push_str(&format!("    out[{i}] = {text};\n"));
        }
        out.push_str("}\n");
    }
    out
}

fn c_literal(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "NAN".to_string() }
}

/// A Python script that makes every derived expression a SymPy object, in the dictionary `derived`.
pub fn sympy(mechanics: &Mechanics) -> String {
    let model = &mechanics.model;
    let all = quantities(mechanics);
    let mut entries: Vec<Expr> = all.iter().flat_map(|q| q.entries.iter().copied()).collect();
    let (mut own, mut names) = (Vec::new(), Vec::new());
    if let Some(h) = mechanics.forms.other_side {
        own.push(h);
        names.push("other_side");
    }
    entries.extend(&own);
    let printer = Printer::new(&model.dag, Style::Sympy);
    let mut out = format!("# {}: derived equations.\n", one_line(&model.name));
    left_out(mechanics).iter().for_each(|line| out.push_str(&format!("# {line}\n")));
    out.push_str(
        "from sympy import (E, Abs, Float, Matrix, Max, Min, Rational, Symbol, acos, acosh, asin, asinh, atan, atan2,\n                   \
         atanh, cos, cosh, exp, log, pi, sign, sin, sinh, sqrt, tan, tanh)\n\n",
    );
    for symbol in model.dag.symbols_in(&entries) {
        let name = model.dag.symbol_name(symbol);
        let spelling = printer.symbol(name);
        out.push_str(&format!("{spelling} = Symbol(\"{}\", real=True)\n", name.replace('"', "")));
    }
    let dictionary = free_name(&printer, "derived");
    let values = free_name(&printer, "values");
    out.push_str(&format!("\n{dictionary} = {{}}\n"));
    for quantity in &all {
        out.push_str(&format!("\n# {}\n", one_line(&quantity.what)));
        let texts: Vec<String> = quantity.entries.iter().map(|&e| printer.print(e)).collect();
        let text = match (quantity.scalar, quantity.columns) {
            (true, _) => texts.join(""),
            (_, Some(columns)) => {
                let rows: Vec<String> =
                    texts.chunks(columns.max(1)).map(|r| format!("    [{}],\n", r.join(", "))).collect();
                format!("Matrix([\n{}])", rows.join(""))
            }
            _ => {
                let rows: Vec<String> = texts.iter().map(|t| format!("    {t},\n")).collect();
                format!("Matrix([\n{}])", rows.join(""))
            }
        };
        out.push_str(&format!("{dictionary}[\"{}\"] = {text}\n", quantity.name));
    }
    for (name, &e) in names.iter().zip(&own) {
        out.push_str(&format!("\n# H(q, p, t) of a Lagrangian model, L(q, v, t) of a Hamiltonian one\n{dictionary}[\"{name}\"] = {}\n", printer.print(e)));
    }
    let used = model.dag.symbols_in(&entries);
    out.push_str(&format!("\n# parameters as in the model file\n{values} = {{\n"));
    for p in &model.parameters {
        if model.dag.as_symbol(p.symbol).is_some_and(|s| used.contains(&s)) {
            out.push_str(&format!("    {}: {},\n", printer.symbol(&p.name), sympy_number(p.value)));
        }
    }
    out.push_str("}\n");
    out
}

fn sympy_number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "float(\"nan\")".to_string() }
}

/// `name`, with underscores until no symbol is called so.
fn free_name(printer: &Printer<'_>, name: &str) -> String {
    let mut name = name.to_string();
    while printer.uses(&name) {
        name.push('_');
    }
    name
}
