//! One page of measurements. `benches/run` builds what it needs and prints it.
//!
//! Times are processor time of one thread, the shortest of several repeats: other load on the machine counts little.

#[path = "table/growth.rs"]
mod growth;
#[path = "table/memory.rs"]
mod memory;
#[path = "table/models.rs"]
mod models;
#[path = "table/page.rs"]
mod page;
#[path = "table/stages.rs"]
mod stages;
#[path = "table/sweeps.rs"]
mod sweeps;
#[path = "table/work.rs"]
mod work;

/// What the page is asked for.
pub struct Request {
    /// Smaller systems, fewer repeats.
    pub quick: bool,
    /// The command-line program, for what is measured through it.
    pub carom: Option<std::path::PathBuf>,
}

/// Prints one part of the page.
type Part = fn(&Request);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag, family, size] = &arguments[..] {
        let size = size.parse().expect("a number");
        match &flag[..] {
            "--peak" => return memory::report(family, size),
            "--print" => return print!("{}", models::text(family, size)),
            _ => {}
        }
    }
    let request = Request {
        quick: arguments.iter().any(|a| a == "--quick"),
        carom: std::env::var_os("CAROM").map(Into::into),
    };
    let parts: [(&str, Part); 5] = [
        ("single", work::single),
        ("work", work::curve),
        ("sweep", sweeps::table),
        ("growth", growth::tables),
        ("memory", memory::table),
    ];
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|w| *w == name) {
            part(&request);
        }
    }
}
