//! What to say when what was typed is no command of ours: what it is, what was probably meant, how to write it.
//!
//! Three sources, in this order: a word of another tool that means something here (`plot`, `--dt`, `--tmax`), an option that
//! another command has (`run --vary`), a slip of the fingers (`rnu`, `--unti`). Commands and options are those that the parser
//! knows, so a new one is found without being listed here.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::load::suggestion;
use carom::gallery;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use std::path::Path;

/// What other tools call a command of ours.
const COMMANDS: &[(&str, &[&str])] = &[
    ("run", &["simulate", "sim", "integrate", "solve", "execute", "exec", "go", "compute", "export", "ode"]),
    (
        "show",
        &[
            "plot",
            "plots",
            "animate",
            "animation",
            "draw",
            "view",
            "render",
            "film",
            "movie",
            "video",
            "gif",
            "picture",
            "graph",
            "visualize",
            "visualise",
            "display",
            "play",
            "open",
            "compare",
        ],
    ),
    (
        "derive",
        &[
            "equations",
            "equation",
            "eom",
            "lagrange",
            "lagrangian",
            "hamiltonian",
            "symbolic",
            "latex",
            "report",
            "explain",
        ],
    ),
    ("check", &["lint", "validate", "verify", "test", "diagnose"]),
    ("sweep", &["ensemble", "batch", "grid", "montecarlo", "monte-carlo", "parameter-sweep", "vary", "map"]),
    ("orbit", &["periodic", "cycle", "limit-cycle", "shoot", "shooting", "poincare", "floquet"]),
    ("follow", &["continue", "continuation", "bifurcation", "bifurcations", "branch"]),
    ("lyapunov", &["exponents", "exponent", "chaos"]),
    ("scan", &["bifurcation-diagram", "strobe", "stroboscopic", "basin", "basins", "diagram"]),
    ("fit", &["identify", "calibrate", "estimate", "regress", "optimize", "optimise"]),
    ("new", &["init", "create", "template", "start"]),
    ("gallery", &["examples", "example", "models", "list", "ls", "demo", "demos"]),
];

/// What other tools call an option, and how to say it here.
struct OtherWords {
    words: &'static [&'static str],
    say: &'static str,
}

const OPTIONS: &[OtherWords] = &[
    OtherWords {
        words: &[
            "time",
            "end",
            "tend",
            "t-end",
            "tmax",
            "t-max",
            "tf",
            "tfinal",
            "t-final",
            "final-time",
            "end-time",
            "stop",
            "stop-time",
            "stoptime",
            "duration",
            "to",
            "length",
            "horizon",
            "T",
            "t",
            "tspan",
            "t-span",
            "maxtime",
            "max-time",
        ],
        say: "--until T is the end time",
    },
    OtherWords {
        words: &[
            "dt",
            "h",
            "step",
            "stepsize",
            "step-size",
            "timestep",
            "time-step",
            "max-step",
            "hmax",
            "interval",
        ],
        say: "steps are chosen by themselves: --samples N says how many rows are written, --tolerance EPS how accurate they are; \
              --option method=rk4 --option step=0.01 takes fixed steps",
    },
    OtherWords {
        words: &["t0", "t-start", "tstart", "start-time", "from", "begin", "starttime"],
        say: "--option from=T is the start time",
    },
    OtherWords {
        words: &[
            "tol",
            "rtol",
            "atol",
            "reltol",
            "abstol",
            "eps",
            "epsilon",
            "precision",
            "accuracy",
            "error",
        ],
        say: "--tolerance EPS is the error per step",
    },
    OtherWords {
        words: &[
            "param",
            "params",
            "parameter",
            "parameters",
            "p",
            "D",
            "define",
            "constant",
            "override",
            "with",
        ],
        say: "--set NAME=VALUE changes a parameter",
    },
    OtherWords {
        words: &[
            "init",
            "initial",
            "ic",
            "x0",
            "y0",
            "q0",
            "state",
            "initial-conditions",
            "initial-state",
            "position",
            "velocity",
        ],
        say: "--start \"x=1,x'=2\" changes the start",
    },
    OtherWords {
        words: &["method", "solver", "integrator", "max-impacts", "max-steps", "impact-order"],
        say: "--option KEY=VALUE changes an entry of the [run] table, as in --option method=rk4",
    },
    OtherWords {
        words: &[
            "out",
            "output-file",
            "file",
            "save",
            "export",
            "write",
            "csv",
            "parquet",
            "npz",
            "png",
            "svg",
            "html",
            "gif",
            "mp4",
            "pdf",
            "to-file",
        ],
        say: "-o FILE writes a file; its ending says which kind",
    },
    OtherWords {
        words: &[
            "n",
            "N",
            "num",
            "points",
            "npoints",
            "n-points",
            "steps",
            "frames",
            "rows",
            "resolution",
            "fps",
        ],
        say: "--samples N says how many samples there are",
    },
    OtherWords {
        words: &["times", "t-eval", "teval", "saveat", "sample-at"],
        say: "--at T1,T2,… samples at these times",
    },
    OtherWords {
        words: &[
            "signal",
            "signals",
            "plots",
            "x",
            "y",
            "xy",
            "phase",
            "vars",
            "variables",
            "columns-to-plot",
            "panel",
            "panels",
        ],
        say: "--plot \"theta1,theta2\" or --plot \"theta' vs theta\" says what is plotted (carom show)",
    },
    OtherWords {
        words: &["with-run", "versus", "vs", "overlay", "against", "and"],
        say: "--compare \"g=1.62\" adds a run to compare with (carom show)",
    },
    OtherWords {
        words: &["theme", "light", "night", "style", "color", "colour"],
        say: "--dark gives dark colours (carom show); light is the default",
    },
    OtherWords {
        words: &["section", "sections", "chapter", "only", "parts"],
        say: "--part NAME prints one part (carom derive)",
    },
    OtherWords {
        words: &["jobs", "j", "workers", "cores", "cpus", "nproc", "parallel"],
        say: "--threads N is the number of threads (carom sweep)",
    },
    OtherWords {
        words: &["range", "grid", "linspace", "over", "scan", "sweep"],
        say: "--vary NAME=A..B:N varies a quantity (carom sweep)",
    },
    OtherWords {
        words: &["tex", "latex", "markdown", "md", "sympy", "python", "rust", "c", "text"],
        say: "--format NAME says which format (carom derive)",
    },
    OtherWords { words: &["silent", "s", "no-warnings"], say: "--quiet says only errors" },
    OtherWords {
        words: &["verbose", "v", "debug", "log"],
        say: "what there is to say is said; --json prints everything that was computed (carom run)",
    },
];

/// A usage error as a sentence with a way out.
pub fn explain(error: &clap::Error, typed: &[String]) -> Failure {
    let commands = Arguments::command();
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(all)) => all.first().cloned(),
        _ => None,
    };
    // An option that stands before the command belongs to none.
    let wrong = text(ContextKind::InvalidArg).unwrap_or_default();
    let before =
        typed.iter().skip(1).take_while(|word| !word.starts_with(wrong.as_str()) || wrong.is_empty());
    let command = before.into_iter().find_map(|word| commands.find_subcommand(word));
    let message = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand).map(|word| no_command(&word, typed)),
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).map(|word| match command {
            Some(command) if word.starts_with('-') => no_option(&word, command, &commands),
            Some(command) => left_over(&word, command),
            None if word.starts_with('-') => no_option_before(&word, typed, &commands),
            None => no_command(&word, typed),
        }),
        ErrorKind::MissingRequiredArgument => typed.get(1).and_then(|word| commands.find_subcommand(word)).and_then(|command| {
            let missing = text(ContextKind::InvalidArg)?;
            let name = command.get_name();
            (missing == "<MODEL>").then(|| format!("which model? `carom {name}` needs one\n  hint: carom {name} FILE.toml, or a name that `carom gallery` lists, as in carom {name} double_pendulum_wall"))
        }),
        _ => None,
    };
    Failure::wrong(message.unwrap_or_else(|| plain(error)))
}

/// What the parser says itself.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.trim_end();
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

/// `rnu`, `plot`, `pendulum.toml` in the place of a command.
fn no_command(word: &str, typed: &[String]) -> String {
    if is_model(word) {
        return with_model(word);
    }
    let commands = Arguments::command();
    let names: Vec<&str> = commands.get_subcommands().map(Command::get_name).collect();
    let rest: String =
        typed.iter().skip_while(|w| *w != word).skip(1).map(|w| format!(" {}", quoted(w))).collect();
    let meant =
        meant(word, COMMANDS).filter(|name| names.contains(name)).or_else(|| suggestion(word, &names));
    match meant {
        Some(name) => {
            let rest = if rest.is_empty() && name != "gallery" { " MODEL" } else { &rest };
            format!("there is no command `{word}`\n  hint: did you mean `carom {name}{rest}`?")
        }
        None => {
            let shown = || commands.get_subcommands().filter(|c| !c.is_hide_set());
            let width = shown().map(|c| c.get_name().len()).max().unwrap_or(0);
            let list: Vec<String> = shown()
                .map(|c| {
                    let about = c.get_about().map(ToString::to_string).unwrap_or_default();
                    format!("  {:width$}  {about}", c.get_name())
                })
                .collect();
            format!("there is no command `{word}`\n  hint: the commands are\n{}", list.join("\n"))
        }
    }
}

/// A word that another tool would understand, as the name we have for it.
fn meant(word: &str, table: &[(&'static str, &[&str])]) -> Option<&'static str> {
    let word = word.to_lowercase().replace('_', "-");
    table.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(name, _)| *name)
}

/// Would this be read as a model?
fn is_model(word: &str) -> bool {
    let path = Path::new(word);
    path.extension().is_some_and(|e| e == "toml") || path.is_file() || gallery::find(word).is_some()
}

/// A model without a command: what can be done with it.
fn with_model(model: &str) -> String {
    let stem =
        Path::new(model).file_stem().map_or_else(|| model.to_owned(), |s| s.to_string_lossy().into_owned());
    if !Path::new(model).exists() && gallery::find(model).is_none() {
        let (model, stem) = (quoted(model), quoted(&stem));
        return format!(
            "there is no file {model}\n  hint: `carom new {stem}` writes a first model of that name, `carom gallery` lists the ones that come along"
        );
    }
    let (model, stem) = (quoted(model), quoted(&stem));
    let lines = [
        (format!("carom check {model}"), "its mistakes"),
        (format!("carom derive {model}"), "its equations and impact law"),
        (format!("carom run {model}"), "its motion, impacts and audit"),
        (format!("carom run {model} -o {stem}.csv"), "the same as a table"),
        (format!("carom show {model} -o {stem}.html"), "an animation in the browser"),
        (format!("carom show {model} -o {stem}.svg"), "plots"),
        (format!("carom sweep {model} --vary NAME=A..B:N"), "many motions"),
    ];
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    let room = crate::terminal::columns() >= width + 34;
    let lines: Vec<String> = lines
        .iter()
        .map(
            |(line, what)| {
                if room { format!("  {line:width$}  {what}") } else { format!("  {line}\n      {what}") }
            },
        )
        .collect();
    format!("what should be done with {model}?\n{}", lines.join("\n"))
}

/// An option that the command does not have.
fn no_option(word: &str, command: &Command, commands: &Command) -> String {
    let name = command.get_name();
    let bare = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let way = elsewhere(bare, name, commands)
        .or_else(|| slip(bare, command))
        .or_else(|| foreign(bare, name, commands))
        .unwrap_or_else(|| format!("`carom {name} --help` lists its options"));
    format!("`carom {name}` has no option `{word}`\n  hint: {way}")
}

/// An option where a command should stand.
fn no_option_before(word: &str, typed: &[String], commands: &Command) -> String {
    let bare = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    if let Some(model) = typed.iter().skip(1).find(|w| is_model(w)) {
        return with_model(model);
    }
    let way = match bare {
        "v" => Some("--version prints the version".to_owned()),
        _ => elsewhere(bare, "", commands),
    };
    let way = way.unwrap_or_else(|| {
        "a command comes first, as in carom run MODEL; `carom --help` lists them".to_owned()
    });
    format!("there is no option `{word}` before a command\n  hint: {way}")
}

/// The command that has this option.
fn elsewhere(bare: &str, not: &str, commands: &Command) -> Option<String> {
    let others: Vec<&str> = commands
        .get_subcommands()
        .filter(|c| {
            c.get_name() != not && !c.is_hide_set() && c.get_arguments().any(|a| a.get_long() == Some(bare))
        })
        .map(Command::get_name)
        .collect();
    let (first, more) = others.split_first()?;
    let also: String = more.iter().map(|c| format!(", carom {c}")).collect();
    (bare != "help").then(|| format!("--{bare} belongs to carom {first}{also}"))
}

/// An option of this command that is spelt nearly so.
fn slip(bare: &str, command: &Command) -> Option<String> {
    let longs: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    // One or two letters say too little to be a slip of anything.
    if bare.chars().count() < 3 {
        return None;
    }
    suggestion(bare, &longs).map(|near| format!("did you mean --{near}?"))
}

/// What another tool means by this option.
fn foreign(bare: &str, name: &str, commands: &Command) -> Option<String> {
    let word = bare.replace('_', "-");
    let lower = word.to_lowercase();
    let found = OPTIONS.iter().find(|w| w.words.contains(&word.as_str()));
    let say = found.or_else(|| OPTIONS.iter().find(|w| w.words.contains(&lower.as_str())))?.say;
    // What it says names an option; if this command has it, the name of the command is not worth saying.
    let here = commands.find_subcommand(name)?;
    let option = say.split("--").nth(1).map(|s| s.split([' ', ',']).next().unwrap_or_default());
    let has = option.is_some_and(|o| here.get_arguments().any(|a| a.get_long() == Some(o)));
    Some(if has { say.replace(&format!(" (carom {name})"), "") } else { say.to_owned() })
}

/// One word more than the command takes.
fn left_over(word: &str, command: &Command) -> String {
    let name = command.get_name();
    let has = |long: &str| command.get_arguments().any(|a| a.get_long() == Some(long));
    let way =
        if word.contains('=') && word.split('=').next().is_some_and(|n| n.ends_with('\'')) && has("start") {
            format!("--start \"{word}\" changes the start")
        } else if word.contains("..") && has("vary") {
            format!("--vary \"{word}\" varies a quantity")
        } else if word.contains('=') && has("set") {
            format!("--set \"{word}\" changes a parameter, --start \"{word}\" the start")
        } else if word.parse::<f64>().is_ok() && has("until") {
            format!("--until {word} is the end time")
        } else if is_model(word) {
            "a command takes one model; for several runs of it in one picture there is carom show --compare"
                .to_owned()
        } else if Path::new(word).extension().is_some() && has("output") {
            format!("-o {word} writes to it")
        } else {
            format!("`carom {name} --help` says what it takes")
        };
    format!("`{word}` is one word too many for `carom {name}`\n  hint: {way}")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("\"{}\"", word.replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_another_tool_leads_to_a_command_or_option_that_exists() {
        let commands = Arguments::command();
        let mut seen: Vec<&str> = Vec::new();
        for (name, words) in COMMANDS {
            assert!(commands.find_subcommand(name).is_some(), "{name}");
            for word in *words {
                assert!(commands.find_subcommand(word).is_none(), "`{word}` is a command of ours");
                assert!(!seen.contains(word), "`{word}` stands for two commands");
                seen.push(word);
            }
        }
        let longs: Vec<String> = commands
            .get_subcommands()
            .flat_map(|c| {
                c.get_arguments().filter_map(clap::Arg::get_long).map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let mut seen: Vec<&str> = Vec::new();
        for OtherWords { words, say } in OPTIONS {
            for option in say.split("--").skip(1) {
                let option = option.split([' ', ',', ';']).next().unwrap_or_default();
                assert!(longs.iter().any(|l| l == option), "--{option} in `{say}` does not exist");
            }
            for word in *words {
                assert!(!seen.contains(word), "`{word}` is explained twice");
                seen.push(word);
            }
        }
    }
}
