//! Families of models that grow, written as model files.

use std::fmt::Write;

/// The names of the families.
pub const FAMILIES: [&str; 4] = ["chain", "places", "loops", "balls"];

/// A family by its name on the command line.
pub fn text(family: &str, n: usize) -> String {
    match family {
        "chain" => chain(n),
        "places" => absolute_chain(n),
        "loops" => loops(n),
        "balls" => balls(n),
        other => panic!("no family `{other}`: {}", FAMILIES.join(", ")),
    }
}

/// `["a1", "b1", "a2", …]`
fn list(names: &[&str], numbers: std::ops::RangeInclusive<usize>) -> String {
    let all: Vec<String> = numbers.flat_map(|i| names.iter().map(move |n| format!("\"{n}{i}\""))).collect();
    format!("[{}]", all.join(", "))
}

const PARAMETERS: &str = "gravity = [0.0, \"-g\"]\n\n[parameters]\nm = 1.0\nl = 1.0\ng = 9.81\n";

/// n unit masses on unit rods, by the angles of the rods.
pub fn chain(n: usize) -> String {
    let mut text = format!("coordinates = {}\n{PARAMETERS}\n[define]\n", list(&["theta"], 1..=n));
    for i in 1..=n {
        let (x, y) = if i == 1 {
            (String::new(), String::new())
        } else {
            (format!("x{} + ", i - 1), format!("y{} ", i - 1))
        };
        let _ = writeln!(text, "x{i} = \"{x}l*sin(theta{i})\"\ny{i} = \"{y}- l*cos(theta{i})\"");
    }
    for i in 1..=n {
        let _ = writeln!(text, "\n[body.b{i}]\nmass = \"m\"\nat = [\"x{i}\", \"y{i}\"]");
    }
    let starts: Vec<String> = (1..=n).map(|i| format!("theta{i} = {}", angle(i))).collect();
    let _ = writeln!(text, "\n[start]\nposition = {{ {} }}", starts.join(", "));
    text
}

fn angle(i: usize) -> f64 {
    1.3 + 0.1 * (i as f64 - 1.0)
}

/// The same chain by the places of its masses, the rods as constraints.
pub fn absolute_chain(n: usize) -> String {
    let mut text = format!("coordinates = {}\n{PARAMETERS}", list(&["x", "y"], 1..=n));
    for i in 1..=n {
        let _ = writeln!(text, "\n[body.b{i}]\nmass = \"m\"\nat = [\"x{i}\", \"y{i}\"]");
    }
    let _ = writeln!(text, "\n[holonomic]");
    for i in 1..=n {
        let (x, y) = if i == 1 {
            ("x1".to_string(), "y1".to_string())
        } else {
            (format!("(x{i} - x{})", i - 1), format!("(y{i} - y{})", i - 1))
        };
        let _ = writeln!(text, "rod{i} = \"{x}^2 + {y}^2 - l^2\"");
    }
    let (mut x, mut y) = (0.0, 0.0);
    let starts: Vec<String> = (1..=n)
        .map(|i| {
            x += angle(i).sin();
            y -= angle(i).cos();
            format!("x{i} = {x}, y{i} = {y}")
        })
        .collect();
    let _ = writeln!(text, "\n[start]\nposition = {{ {} }}", starts.join(", "));
    text
}

/// n four-bar loops side by side: n + 1 cranks of length l hang from the ground a distance l apart, rods of length l join
/// their ends; unit masses at the joints. 2n + 2 coordinates, 2n + 1 rows, one degree of freedom. The cranks swing
/// without reaching the horizontal, where the loops would be flat and the rows dependent.
pub fn loops(n: usize) -> String {
    let mut text = format!("coordinates = {}\n{PARAMETERS}", list(&["x", "y"], 0..=n));
    for i in 0..=n {
        let _ = writeln!(text, "\n[body.b{i}]\nmass = \"m\"\nat = [\"x{i}\", \"y{i}\"]");
    }
    let _ = writeln!(text, "\n[holonomic]");
    for i in 0..=n {
        let _ = writeln!(text, "crank{i} = \"(x{i} - {i}*l)^2 + y{i}^2 - l^2\"");
    }
    for i in 1..=n {
        let h = i - 1;
        let _ = writeln!(text, "rod{i} = \"(x{i} - x{h})^2 + (y{i} - y{h})^2 - l^2\"");
    }
    let (sin, cos) = 0.8_f64.sin_cos();
    let starts: Vec<String> =
        (0..=n).map(|i| format!("x{i} = {}, y{i} = {}", i as f64 + sin, -cos)).collect();
    let _ = writeln!(text, "\n[start]\nposition = {{ {} }}", starts.join(", "));
    text
}

/// n balls in a row on a line, each pair a wall, the first one thrown at the others.
pub fn balls(n: usize) -> String {
    let mut text = format!("coordinates = {}\n", list(&["x"], 1..=n));
    for i in 1..=n {
        let _ = writeln!(text, "\n[body.b{i}]\nmass = 1.0\nat = [\"x{i}\", \"0\"]");
    }
    for i in 2..=n {
        let _ = writeln!(text, "\n[wall.w{i}]\ngap = \"x{i} - x{} - 0.1\"", i - 1);
    }
    let starts: Vec<String> = (1..=n).map(|i| format!("x{i} = {}", 0.3 * i as f64)).collect();
    let _ = writeln!(text, "\n[start]\nposition = {{ {} }}\nvelocity = {{ x1 = 1.0 }}", starts.join(", "));
    text
}
