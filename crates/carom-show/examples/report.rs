//! Prints the derivation report of a model file: `report MODEL.toml [text|markdown|latex|html|json|sympy|rust|c]`.

use carom_mech::{Draft, derive};
use carom_show::report;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a model file");
    let format = arguments.next().unwrap_or_else(|| "text".to_string());
    let text = std::fs::read_to_string(&path).expect("a readable file");
    let (draft, problems) = Draft::parse(&text, &path);
    problems.iter().for_each(|p| eprintln!("{}", p.render(&path)));
    let (model, warnings) = match draft.check() {
        Ok(checked) => checked,
        Err(problems) => {
            problems.iter().for_each(|p| eprintln!("{}", p.render(&path)));
            std::process::exit(1);
        }
    };
    warnings.iter().for_each(|p| eprintln!("{}", p.render(&path)));
    let mechanics = derive(model).expect("a model that can be derived");
    match format.as_str() {
        "markdown" => print!("{}", report::markdown(&mechanics)),
        "latex" => print!("{}", report::latex(&mechanics)),
        "html" => print!("{}", report::html(&mechanics)),
        "json" => print!("{}", report::json(&mechanics, 0.0)),
        "sympy" => print!("{}", report::sympy(&mechanics)),
        "rust" => print!("{}", report::rust(&mechanics)),
        "c" => print!("{}", report::c(&mechanics)),
        _ => print!("{}", report::text(&mechanics, 100)),
    }
}
