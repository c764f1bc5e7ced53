//! `carom orbit`: a periodic orbit, its multipliers, its picture.

use crate::args::{OrbitArgs, ReturnArgs};
use crate::failure::Failure;
use crate::interrupt;
use crate::load;
use crate::output_format::OutputFormat;
use crate::simulate::{self, Prepared, Ready};
use crate::terminal;
use crate::write;
use carom_insight::eigen::{Complex, modulus};
use carom_insight::{Orbit, Refusal, Request, Return, Subject};
use carom_mech::Diagnostic;
use carom_run::fields::{Field, FieldKind};
use carom_show::{page, plot};
use serde_json::{Map, Value, json};

/// The fields of an orbit (`carom orbit --json`).
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("period", FieldKind::Number, "T: after which the motion repeats"),
    Field::new("state", FieldKind::NumberByName("state variable"), "coordinates and velocities (momenta): at the section just after its impact or reset, or at `at_time`"),
    Field::new("at_time", FieldKind::Number, "the time that belongs to the state"),
    Field::new("multipliers", FieldKind::NumberRows, "real and imaginary part of each nontrivial multiplier, largest first"),
    Field::new("stable", FieldKind::Flag, "are all multipliers inside the unit circle, or on it where something is conserved?"),
    Field::new("impacts", FieldKind::Texts, "walls in the order of their impacts, from the state on"),
    Field::new("residual", FieldKind::Number, "how far the motion misses its start, relative to the size of the state"),
    Field::new("invariants", FieldKind::Texts, "conserved quantities that were held fixed"),
];

/// Runs the command.
///
/// # Errors
/// If the model or the request is wrong, no orbit is found, or a file cannot be read or written.
pub fn orbit(args: &OrbitArgs) -> Result<u8, Failure> {
    let format = args.output.as_deref().map(|output| OutputFormat::among(&FORMATS, output)).transpose()?;
    if let Some(output) = &args.output {
        write::probe(output)?;
    }
    let Ready { prepared, options, file, .. } = simulate::ready(&args.model, &args.simulate)?;
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
    if let (Some(output), Some(format)) = (&args.output, format) {
        draw(output, format, &prepared, &orbit, args.model.quiet, &file)?;
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
const FORMATS: [OutputFormat; 4] =
    [OutputFormat::Html, OutputFormat::Svg, OutputFormat::Png, OutputFormat::Json];

fn draw(
    output: &str,
    format: OutputFormat,
    prepared: &Prepared,
    orbit: &Orbit,
    quiet: bool,
    file: &str,
) -> Result<(), Failure> {
    let wrong = |problems: Vec<Diagnostic>| {
        load::report(&problems, file, false);
        Failure::Reported(1)
    };
    if format == OutputFormat::Json {
        let text = serde_json::to_string_pretty(&json_of(orbit)).unwrap_or_default();
        write::file(output, text.as_bytes())?;
    } else {
        let motion = prepared.simulate(&orbit.options, 1, quiet, file)?;
        let mechanics = &prepared.mechanics;
        // Every coordinate against its velocity: closed curves, with the impacts in them.
        let free = mechanics.free.iter().map(|&i| &mechanics.model.coordinates[i].name);
        let planes: Vec<String> = free.map(|name| format!("{name}' vs {name}")).collect();
        let style = plot::PlotStyle::default();
        match format {
            OutputFormat::Svg => {
                write::file(
                    output,
                    plot::svg(mechanics, &motion, &planes, style).map_err(wrong)?.as_bytes(),
                )?;
            }
            OutputFormat::Png => {
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

/// So many decimals; a zero has no sign.
pub fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(bare) if bare.chars().all(|c| c == '0' || c == '.') => bare.to_owned(),
        _ => text,
    }
}

/// A multiplier in words.
pub fn multiplier(z: Complex) -> String {
    if z[1] == 0.0 {
        fixed(z[0], 9)
    } else {
        format!(
            "{} {} {:.9}i  (modulus {:.9})",
            fixed(z[0], 9),
            if z[1] < 0.0 { '-' } else { '+' },
            z[1].abs(),
            modulus(z)
        )
    }
}

fn summary(orbit: &Orbit) -> String {
    let mut out = format!("period       {:.12}\n", orbit.period);
    for (k, (name, value)) in orbit.state.iter().enumerate() {
        out += &format!("{:<12} {name} = {}\n", if k == 0 { "state" } else { "" }, fixed(*value, 12));
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
