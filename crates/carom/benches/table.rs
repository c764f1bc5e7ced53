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
    /// Parts and families asked for by name; none: all.
    pub words: Vec<String>,
    /// The command-line program, for what is measured through it.
    pub carom: Option<std::path::PathBuf>,
}

impl Request {
    /// Was one of these asked for, or nothing in particular?
    pub fn wants(&self, names: &[&str]) -> bool {
        self.words.is_empty() || self.words.iter().any(|w| names.contains(&&w[..]))
    }
}

/// Prints one part of the page.
type Part = fn(&Request);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag @ ("--peak" | "--print"), family, size] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        let size = size.parse().expect("a number");
        if flag == "--print" {
            print!("{}", models::text(family, size));
        } else {
            memory::report(family, size);
        }
        return;
    }
    let request = Request {
        quick: arguments.iter().any(|a| a == "--quick"),
        words: arguments.iter().filter(|a| !a.starts_with('-')).cloned().collect(),
        carom: std::env::var_os("CAROM").map(Into::into),
    };
    let parts: [(&str, Part); 5] = [
        ("single", work::single),
        ("work", work::curve),
        ("sweep", sweeps::table),
        ("growth", growth::tables),
        ("memory", memory::table),
    ];
    for (name, part) in parts {
        if request.wants(&[name]) || (name == "growth" && request.wants(&models::FAMILIES)) {
            part(&request);
        }
    }
}
