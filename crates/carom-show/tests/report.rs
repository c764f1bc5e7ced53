//! Derivation reports of every gallery model: complete, the same every time, and accepted by those who read them.

use carom_mech::{Draft, Mechanics, derive};
use carom_show::report;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

#[path = "../../../tests/gallery.rs"]
mod gallery;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mechanics(text: &str, name: &str) -> Mechanics {
    let (draft, problems) = Draft::parse(text, name);
    assert!(problems.is_empty(), "{name}: {problems:?}");
    let (model, _) = draft.check().unwrap_or_else(|p| panic!("{name}: {p:?}"));
    derive(model).unwrap_or_else(|p| panic!("{name}: {p:?}"))
}

/// Every gallery model, derived once.
fn derived() -> &'static [(String, Mechanics)] {
    static ALL: OnceLock<Vec<(String, Mechanics)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let derived = |(name, text): (String, String)| (name.clone(), mechanics(&text, &name));
        gallery::all().into_iter().map(derived).collect()
    })
}

fn model(name: &str) -> Mechanics {
    mechanics(&gallery::text(name), name)
}

/// Runs a program on `input` and gives back its output; fails the test when the program fails or is missing.
fn run(program: &str, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("this test needs `{program}` to be installed: {e}"));
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_string();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().ok();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
#[ignore = "needs Node: run bash .ci/test"]
fn the_json_of_every_gallery_model_is_json_and_keeps_its_contract() {
    let mut all = String::new();
    for (_, mechanics) in derived() {
        all.push_str(&report::json(mechanics, 0.25));
        all.push('\u{1}');
    }
    let script = r#"
        const pair = (e) => typeof e.text === "string" && typeof e.latex === "string";
        const check = (ok, what) => { if (!ok) { console.log(what); process.exit(1); } };
        const texts = require("fs").readFileSync(0, "utf8").split("\u0001").filter((t) => t);
        for (const text of texts) {
            const d = JSON.parse(text), n = d.free.length;
            check(d.coordinates.length >= n && d.derive_seconds === 0.25, d.name);
            check(pair(d.hamiltonian) && Object.values(d.momenta).every(pair), d.name + " momenta");
            check(d.generalized_force.length === n, d.name + " Q");
            if (d.mass_matrix) check(d.mass_matrix.length === n && d.mass_matrix.every((r) => r.length === n && r.every(pair)) && d.bias.length === n && pair(d.lagrangian), d.name + " W");
            else check(d.velocity.length === n && d.force.length === n, d.name + " H");
            for (const r of d.constraints) check(r.A.length === n && pair(r.b) && pair(r.gamma), d.name + " rows");
            for (const w of d.walls) check(pair(w.gap) && w.normal.length === n && pair(w.gap_t) && pair(w.impact_law), d.name + " walls");
        }
        console.log(texts.length);
    "#;
    let count = run("node", &["-e", script], &all);
    assert_eq!(count.trim().parse::<usize>().unwrap(), derived().len());
}

#[test]
fn a_report_is_the_same_every_time() {
    for name in ["double_pendulum_wall", "rolling_disk", "jack_in_box"] {
        let (a, b) = (model(name), model(name));
        assert_eq!(report::html(&a), report::html(&b));
        assert_eq!(report::json(&a, 1.0), report::json(&b, 1.0));
        assert_eq!(report::rust(&a), report::rust(&b));
    }
}

#[test]
fn every_latex_file_is_a_complete_document_with_everything_closed() {
    for (name, mechanics) in derived() {
        let text = report::latex(mechanics);
        assert!(text.starts_with("\\documentclass") && text.ends_with("\\end{document}\n"), "{name}");
        let strange: Vec<char> = text.chars().filter(|&c| c as u32 >= 0x180 && c != '–').collect();
        assert!(strange.is_empty(), "{name}: characters a T1 font lacks: {strange:?}");
        let mut open: Vec<&str> = Vec::new();
        let mut depth = 0_i64;
        for (at, _) in text.match_indices('\\') {
            let rest = &text[at + 1..];
            if let Some(rest) = rest.strip_prefix("begin{") {
                open.push(rest.split('}').next().unwrap());
            } else if let Some(rest) = rest.strip_prefix("end{") {
                assert_eq!(open.pop(), rest.split('}').next(), "{name}");
            } else if rest.starts_with("left")
                && !rest.starts_with("leftarrow")
                && !rest.starts_with("leftright")
            {
                depth += 1;
            } else if rest.starts_with("right") && !rest.starts_with("rightarrow") {
                depth -= 1;
            }
        }
        assert!(open.is_empty() && depth == 0, "{name}: {open:?} {depth}");
        let plain = text.replace("\\\\", "").replace("\\{", "").replace("\\}", "").replace("\\$", "");
        assert_eq!(plain.matches('{').count(), plain.matches('}').count(), "{name}");
        assert_eq!(plain.matches('$').count() % 2, 0, "{name}");
    }
}

#[test]
fn an_html_report_loads_nothing_from_elsewhere_and_is_small() {
    for (name, mechanics) in derived() {
        let html = report::html(mechanics);
        for forbidden in ["src=\"", "<link", "@import", "url(http", "url(f", "fetch(", "http://", "https://"]
        {
            assert!(!html.contains(forbidden), "{name}: {forbidden}");
        }
        assert!(html.len() < 150_000, "{name}: {}", html.len());
        assert!(html.contains("@font-face{font-family:carom-math;src:url(data:font/woff;base64,"), "{name}");
    }
}

/// What MathML Core allows: elements, how many children they have, attributes.
const ELEMENTS: [(&str, Option<usize>, &[&str]); 18] = [
    ("math", None, &[]),
    ("mi", Some(0), &["mathvariant"]),
    ("mn", Some(0), &[]),
    ("mo", Some(0), &["form", "lspace", "rspace", "stretchy", "minsize", "maxsize"]),
    ("mtext", Some(0), &[]),
    ("mspace", Some(0), &["width"]),
    ("mrow", None, &[]),
    ("mfrac", Some(2), &["displaystyle"]),
    ("msqrt", None, &[]),
    ("msub", Some(2), &[]),
    ("msup", Some(2), &[]),
    ("msubsup", Some(3), &[]),
    ("munder", Some(2), &[]),
    ("mover", Some(2), &["accent"]),
    ("mpadded", None, &["height"]),
    ("mtable", None, &[]),
    ("mtr", None, &[]),
    ("mtd", None, &[]),
];

/// Reads one `math` element as XML, with nothing but what MathML Core has; gives its text.
fn read_mathml(math: &str) -> String {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let (mut text, mut rest) = (String::new(), math);
    while let Some(at) = rest.find('<') {
        let (words, tag) = rest.split_at(at);
        let token = open.last().is_some_and(|o| ["mi", "mn", "mo", "mtext"].contains(&o.0));
        assert!(token || words.is_empty(), "text outside of a token: {words} in {math}");
        let plain = words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        assert!(!plain.replace("&amp;", "").contains('&'), "{math}");
        text.push_str(&plain.replace("&amp;", "&"));
        let (tag, after) = tag[1..].split_once('>').expect("tags end");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let (opened, children) = open.pop().expect("opened before");
            assert_eq!(opened, name, "{math}");
            let count = ELEMENTS.iter().find(|e| e.0 == name).and_then(|e| e.1);
            assert!(count.is_none_or(|c| c == children), "{name} has {children} children in {math}");
            continue;
        }
        let tag_body = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = tag_body.split_once(' ').unwrap_or((tag_body, ""));
        let known = ELEMENTS.iter().find(|e| e.0 == name);
        let (_, _, allowed) = known.unwrap_or_else(|| panic!("{name} is not of MathML Core: {math}"));
        for attribute in attributes.split_terminator("\" ").filter(|a| !a.is_empty()) {
            let (key, value) = attribute.split_once("=\"").expect("attributes have values");
            assert!(allowed.contains(&key), "{key} on {name}");
            assert!(!value.is_empty() && !value.contains('<'), "{math}");
        }
        if let Some(parent) = open.last_mut() {
            parent.1 += 1;
        }
        if !tag.ends_with('/') {
            open.push((name, 0));
        }
    }
    assert!(open.is_empty() && rest.is_empty(), "{math}");
    text
}

fn formulas_of(html: &str) -> Vec<&str> {
    let ends = html.split("<math>").skip(1);
    ends.map(|rest| &rest[..rest.find("</math>").expect("formulas end")]).collect()
}

#[test]
fn every_formula_of_every_gallery_report_is_mathml_core() {
    for (name, mechanics) in derived() {
        let html = report::html(mechanics);
        let formulas = formulas_of(&html);
        assert!(formulas.len() > 20, "{name}");
        for formula in formulas {
            let text = read_mathml(&format!("<math>{formula}</math>"));
            assert!(!text.contains('\\') && !text.contains('^'), "{name}: {text}");
        }
    }
}

#[test]
fn every_function_and_every_kind_of_name_is_drawn() {
    let model = mechanics(
        "coordinates = [\"x\", \"theta12\", \"ψ\", \"long_name\"]\n[parameters]\nk_in_2 = 2.0\nx_1 = 1.0\nx1 = 1.0\nwidth = 3.0\n\
         Alpha = 1.0\nOmega = 1.0\n[energy]\nkinetic = \"(x'^2 + theta12'^2 + ψ'^2 + long_name'^2)/2\"\n\
         potential = \"exp(x) + exp(x^2/(1 + x^2)) + log(2 + x^2) + log(2 + x^2)^2 + sqrt(1 + x^2) + sin(x)^3 + cos(x) + tan(x) + asin(x/9) + acos(x/9) + atan(x) \
         + atan2(x, 2 + x^2) + sinh(x) + cosh(x)^2 + tanh(x) + asinh(x) + acosh(2 + x^2) + atanh(x/9) + abs(x) + abs(x/(1 + x^2)) + sign(x) \
         + min(x, ψ) + max(x, ψ) + pi*x + 1e30*x + 1.5e-9*x^2 + x1*x_1 + k_in_2*width*long_name + (x^2 + 1)^0.3 + 2^x + Alpha*Omega*theta12\"\n\
         [wall.\"50% & <#1>\"]\ngap = \"x + 40\"\n",
        "functions.toml",
    );
    let html = report::html(&model);
    let all: String = formulas_of(&html).iter().map(|f| read_mathml(&format!("<math>{f}</math>"))).collect();
    for part in ["atan2", "arsinh", "sgn", "min", "cosh", "arctan", "Ω", "⋅", "θ", "long"] {
        assert!(all.contains(part), "{part}");
    }
}

#[test]
fn generated_rust_and_c_of_every_gallery_model_compile() {
    let directory = std::env::temp_dir().join(format!("carom-report-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut all = String::from("#![allow(dead_code)]\n");
    for (name, mechanics) in derived() {
        all.push_str(&format!("pub mod {name} {{\n{}}}\n", report::rust(mechanics)));
        let c = report::c(mechanics);
        run("cc", &["-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"], &c);
    }
    let file = directory.join("all.rs");
    std::fs::write(&file, all).unwrap();
    let out = directory.to_string_lossy().into_owned();
    run(
        "rustc",
        &[
            "--edition=2021",
            "--crate-type=lib",
            "--emit=metadata",
            "--out-dir",
            &out,
            &file.to_string_lossy(),
        ],
        "",
    );
    std::fs::remove_dir_all(&directory).ok();
}

#[test]
fn the_double_pendulum_reads_as_in_a_textbook() {
    let text = report::text(&model("double_pendulum_wall"), 100);
    for line in [
        "T = ½·(m₁ + m₂)·l₁²·θ̇₁² + ½·m₂·l₂²·θ̇₂² + m₂·l₁·l₂·θ̇₁·θ̇₂·cos(θ₁ − θ₂)",
        "W = ⎡ (m₁ + m₂)·l₁²          m₂·l₁·l₂·cos(θ₁ − θ₂) ⎤",
        "h_θ₁ = m₂·l₁·l₂·θ̇₂²·sin(θ₁ − θ₂) + (m₁ + m₂)·l₁·g·sin(θ₁)",
        "/(l₁·(m₁ + m₂·sin²(θ₁ − θ₂)))",
        "p_θ₁⁺ − p_θ₁⁻ = λ·l₁·cos(θ₁)",
        "E⁺ − E⁻ = 0",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("sin(θ₁)·sin(θ₂)"), "{text}");
}

#[test]
fn the_rolling_disk_reproduces_its_published_form() {
    let text = report::text(&model("rolling_disk"), 100);
    for line in [
        "z₁ = R·cos(φ)·∂_x + R·sin(φ)·∂_y + ∂_θ",
        "z₂ = ∂_φ",
        "Δ° = span { dx − R·cos(φ)·dθ, dy − R·sin(φ)·dθ }",
        "(T∂Q)° = span { −dy − R·cos(φ)·dφ }",
        "p_x⁺ − p_x⁻ = μ_no_slip_x",
        "p_φ⁺ − p_φ⁻ = −λ·R·cos(φ)",
        "Φ = 10 − y − R·sin(φ)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn the_elastic_pendulum_has_a_diagonal_mass_matrix_and_a_coriolis_term() {
    let text = report::text(&model("elastic_pendulum"), 100);
    for line in ["W = ⎡ m·L²  0 ⎤", "⎣ 0     m ⎦", "h_θ = 2·m·L·θ̇·L̇ + m·g·L·cos(θ)", "ℒ = T − V ="]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn names_that_other_languages_reserve_do_no_harm() {
    let model = mechanics(
        "coordinates = [\"lambda\", \"L\", \"in\"]\n[parameters]\nI = 2.0\nE = 1.0\nsigma = 3.0\nA = 0.5\n[energy]\n\
         kinetic = \"I/2*lambda'^2 + E/2*L'^2 + sigma/2*in'^2\"\npotential = \"A*lambda*L + in^2\"\n[wall.a_b]\ngap = \"L + 1\"\n[wall.\"50% & #1\"]\ngap = \"in + 4\"\n",
        "names.toml",
    );
    let text = report::text(&model, 80);
    assert!(text.contains("The impulse is written Λ"), "{text}");
    for formula in formulas_of(&report::html(&model)) {
        read_mathml(&format!("<math>{formula}</math>"));
    }
    let c = report::c(&model);
    run("cc", &["-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"], &c);
    assert!(report::latex(&model).contains(r"50\% \& \#1"));
}

/// A chain of `n` links in the plane, held together by rows, which hits a wall: everything a report may have to leave out.
fn chain(n: usize) -> Mechanics {
    let each = |f: &dyn Fn(usize) -> String, between: &str| (1..=n).map(f).collect::<Vec<_>>().join(between);
    let names = each(&|i| format!("\"x{i}\", \"y{i}\""), ", ");
    let before = |c: char, i: usize| if i == 1 { "0".to_string() } else { format!("{c}{}", i - 1) };
    let kinetic = each(&|i| format!("x{i}'^2 + y{i}'^2"), " + ");
    let potential = each(&|i| format!("y{i}"), " + ");
    let row =
        |i: usize| format!("rod{i} = \"(x{i} - {})^2 + (y{i} - {})^2 - 1\"", before('x', i), before('y', i));
    let rows = each(&row, "\n");
    let start = each(&|i| format!("y{i} = -{i}"), ", ");
    let text = format!(
        "coordinates = [{names}]\n[energy]\nkinetic = \"({kinetic})/2\"\npotential = \"9.81*({potential})\"\n\
         [holonomic]\n{rows}\n[wall.side]\ngap = \"x{n} + 0.5\"\n[start]\nposition = {{ {start} }}\n"
    );
    mechanics(&text, "chain")
}

#[test]
fn what_a_report_leaves_out_it_names_with_the_reason() {
    use carom_mech::{ClosedForm, Dynamics};
    let mut left_out = 0;
    let chains = [("chain 4".to_owned(), chain(4)), ("chain 9".to_owned(), chain(9))];
    for (name, mechanics) in derived().iter().chain(&chains) {
        let forms = &mechanics.forms;
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        let degenerate = matches!(mechanics.dynamics, Dynamics::Degenerate(_));
        let mut missing: Vec<(bool, ClosedForm)> = vec![
            (forms.accelerations.is_none() && !hamiltonian, ClosedForm::Accelerations),
            (forms.hyperregular.is_none(), ClosedForm::Determinant),
            (forms.distribution.is_none(), ClosedForm::Distribution),
        ];
        for (w, form) in forms.impacts.iter().enumerate() {
            missing.push((form.is_none() && mechanics.quadratic && !degenerate, ClosedForm::Impact(w)));
        }
        let text = report::text(mechanics, 10_000);
        let json = report::json(mechanics, 0.0);
        for (absent, form) in missing {
            let reason = forms.why(form);
            assert_eq!(absent, reason.is_some(), "{name}: {form:?}");
            let Some(reason) = reason else { continue };
            left_out += 1;
            assert!(text.contains(&format!("not written out: {reason}")), "{name}: {form:?}\n{text}");
            assert!(json.contains(&format!("\"reason\": \"{reason}\"")), "{name}: {form:?}");
            if form == ClosedForm::Accelerations {
                for code in [report::sympy(mechanics), report::rust(mechanics), report::c(mechanics)] {
                    assert!(code.contains(&format!("accelerations are left out: {reason}")), "{name}");
                }
            }
        }
        assert_eq!(forms.other_side.is_none(), forms.obstacle.is_some(), "{name}");
        let linearised = text.contains("Linearised at the start");
        assert_ne!(linearised, text.contains("linearisation at the start is not written out"), "{name}");
    }
    assert!(left_out > 8, "{left_out}");
}
