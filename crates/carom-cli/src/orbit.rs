//! `carom orbit`: a periodic orbit, its multipliers, its picture.

use crate::args::{self, ReturnArgs};
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{self, load};
use crate::output_format;
use crate::simulate::{Prepared, prepare};
use crate::terminal;
use crate::write;
use carom_insight::eigen::{Complex, modulus};
use carom_insight::{Orbit, Refusal, Request, Return, Subject};
use carom_mech::Diagnostic;
use carom_run::Options;
use carom_run::fields::{Field, Kind};
use carom_show::{page, plot};
use serde_json::{Map, Value, json};

/// The fields of an orbit (`carom orbit --json`).
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("period", Kind::Number, "T: after which the motion repeats"),
    Field::new("state", Kind::NumberByName("state variable"), "coordinates and velocities (momenta): at the section just after its impact or reset, or at `at_time`"),
    Field::new("at_time", Kind::Number, "the time that belongs to the state"),
    Field::new("multipliers", Kind::NumberRows, "real and imaginary part of each nontrivial multiplier, largest first"),
    Field::new("stable", Kind::Flag, "are all multipliers inside the unit circle, or on it where something is conserved?"),
    Field::new("impacts", Kind::Texts, "walls in the order of their impacts, from the state on"),
    Field::new("residual", Kind::Number, "how far the motion misses its start, relative to the size of the state"),
    Field::new("invariants", Kind::Texts, "conserved quantities that were held fixed"),
];

/// Runs the command.
///
/// # Errors
/// If the model or the request is wrong, no orbit is found, or a file cannot be read or written.
pub fn orbit(args: &args::Orbit) -> Result<u8, Failure> {
    let form = args.output.as_deref().map(|output| output_format::form(output, &FORMS)).transpose()?;
    if let Some(output) = &args.output {
        write::probe(output)?;
    }
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    let (file, level) = (loaded.file.clone(), loaded.level);
    let model = loaded.check(args.model.quiet)?;
    let options = Options::of(&model);
    let prepared = prepare(model, &file, level)?;
    interrupt::listen();
    let mut go_on = || !interrupt::interrupted();
    let found =
        Subject::new(&prepared.program, &prepared.mechanics, &options, &mut go_on).and_then(|mut subject| {
            let request = request(&prepared, &args.returns)?;
            carom_insight::orbit(&mut subject, &request)
        });
    let orbit = match found {
        Ok(orbit) => orbit,
        Err(refusal) => return Err(refused(&refusal, &file)),
    };
    let warnings: Vec<Diagnostic> = orbit.warnings.iter().map(Diagnostic::warning).collect();
    if !args.model.quiet {
        load::report(&warnings, &file, false);
    }
    if let (Some(output), Some(form)) = (&args.output, form) {
        draw(output, form, &prepared, &orbit, args.model.quiet, &file)?;
    }
    if args.json {
        let text = serde_json::to_string_pretty(&json_of(&orbit)).unwrap_or_default();
        write::json(&text)?;
    } else if !args.model.quiet {
        write::stdout(&summary(&orbit))?;
    }
    Ok(0)
}

/// What an orbit can be written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Html,
    Svg,
    Png,
    Json,
}

const FORMS: [(&str, Form); 4] =
    [("html", Form::Html), ("svg", Form::Svg), ("png", Form::Png), ("json", Form::Json)];

fn draw(
    output: &str,
    form: Form,
    prepared: &Prepared,
    orbit: &Orbit,
    quiet: bool,
    file: &str,
) -> Result<(), Failure> {
    let wrong = |problems: Vec<Diagnostic>| {
        load::report(&problems, file, false);
        Failure::Reported(1)
    };
    if form == Form::Json {
        let text = serde_json::to_string_pretty(&json_of(orbit)).unwrap_or_default();
        write::file(output, text.as_bytes())?;
    } else {
        let motion = prepared.simulate(&orbit.options, 1, quiet, file)?;
        let mechanics = &prepared.mechanics;
        // Every coordinate against its velocity: closed curves, with the impacts in them.
        let free = mechanics.free.iter().map(|&i| &mechanics.model.coordinates[i].name);
        let planes: Vec<String> = free.map(|name| format!("{name}' vs {name}")).collect();
        let style = plot::Style::default();
        match form {
            Form::Svg => {
                write::file(
                    output,
                    plot::svg(mechanics, &motion, &planes, style).map_err(wrong)?.as_bytes(),
                )?;
            }
            Form::Png => {
                write::file(output, &plot::png(mechanics, &motion, &planes, style).map_err(wrong)?)?;
            }
            _ => write::file(output, page::html(mechanics, &motion, &planes).map_err(wrong)?.as_bytes())?,
        }
    }
    if !quiet {
        terminal::say(&format!("wrote {output}"));
    }
    Ok(())
}

/// What was asked for.
///
/// # Errors
/// If it is not a request for this model.
pub fn request(prepared: &Prepared, args: &ReturnArgs) -> Result<Request, Refusal> {
    let returns = match (&args.period, &args.section) {
        (Some(period), None) => Return::period(&prepared.mechanics, period)?,
        (None, Some(section)) => Return::section(&prepared.mechanics, section)?,
        (Some(_), Some(_)) => {
            return Err(Refusal::wrong(
                "--period and --section are two answers to one question: when does the motion return?",
                "give --period for a forced model, --section for one that nothing drives",
            ));
        }
        (None, None) => {
            return Err(Refusal::wrong(
                "when is the motion to return? Neither --period nor --section is given",
                "give --period \"2*pi/omega\" for a forced model, --section EVENT_OR_WALL for one that nothing drives",
            ));
        }
    };
    let mut request = Request::new(returns);
    request.count = args.crossings.unwrap_or(1);
    request.settle = args.guess_from_run;
    for hold in &args.hold {
        let parts =
            hold.split_once('=').and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
        let Some((name, value)) = parts.filter(|(_, value): &(&str, f64)| value.is_finite()) else {
            return Err(Refusal::wrong(
                format!("`--hold {hold}` is not NAME=VALUE"),
                "write for example --hold energy=1.5",
            ));
        };
        request.hold.push((name.to_owned(), value));
    }
    Ok(request)
}

/// Reports a refusal; the exit code says whether the request was wrong or had no answer.
pub fn refused(refusal: &Refusal, file: &str) -> Failure {
    let mut problem = Diagnostic::error(&refusal.message);
    if !refusal.hint.is_empty() {
        problem = problem.with_hint(&refusal.hint);
    }
    load::report(&[problem], file, false);
    Failure::Reported(if refusal.is_wrong_request() { 1 } else { 2 })
}

/// Names and values as an object.
pub fn object(values: &[(String, f64)]) -> Value {
    let entries: Map<String, Value> =
        values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    Value::Object(entries)
}

/// The orbit as JSON.
pub fn json_of(orbit: &Orbit) -> Value {
    json!({
        "period": orbit.period,
        "state": object(&orbit.state),
        "at_time": orbit.at_time,
        "multipliers": orbit.multipliers,
        "stable": orbit.stable,
        "impacts": orbit.impacts,
        "residual": orbit.residual,
        "invariants": orbit.invariants,
    })
}

/// A multiplier in words.
pub fn multiplier(z: Complex) -> String {
    if z[1] == 0.0 {
        format!("{:.9}", z[0])
    } else {
        format!(
            "{:.9} {} {:.9}i  (modulus {:.9})",
            z[0],
            if z[1] < 0.0 { '-' } else { '+' },
            z[1].abs(),
            modulus(z)
        )
    }
}

fn summary(orbit: &Orbit) -> String {
    let mut out = format!("period       {:.12}\n", orbit.period);
    for (k, (name, value)) in orbit.state.iter().enumerate() {
        out += &format!("{:<12} {name} = {value:.12}\n", if k == 0 { "state" } else { "" });
    }
    for (k, &z) in orbit.multipliers.iter().enumerate() {
        out += &format!("{:<12} {}\n", if k == 0 { "multipliers" } else { "" }, multiplier(z));
    }
    out += &format!("stable       {}\n", if orbit.stable { "yes" } else { "no" });
    if !orbit.impacts.is_empty() {
        out += &format!("impacts      {}\n", orbit.impacts.join(", "));
    }
    if !orbit.invariants.is_empty() {
        out += &format!("held         {}\n", orbit.invariants.join(", "));
    }
    out + &format!("residual     {:.1e}\n", orbit.residual)
}
