//! `carom follow`: a branch of periodic orbits in a parameter.

use crate::args::FollowArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::orbit::{object, refused, request};
use crate::output_format::OutputFormat;
use crate::simulate::{self, Ready};
use crate::terminal;
use crate::write;
use carom_insight::{Branch, Refusal, SpecialKind, Subject};
use carom_run::fields::{Field, FieldKind};
use carom_show::plot::branch;
use carom_show::provenance::Stamp;
use serde_json::{Map, Value, json};

const KINDS: [&str; SpecialKind::ALL.len()] = {
    let mut names = [""; SpecialKind::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = SpecialKind::ALL[i].name();
        i += 1;
    }
    names
};

/// The fields of a branch (`carom follow --json`). The value of the parameter stands under the parameter's own name.
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("parameter", FieldKind::Text, "name of the varied parameter"),
    Field::new("points", FieldKind::Records, "orbits in the order of the branch"),
    Field::new("points[].PARAMETER", FieldKind::Number, "value of the parameter, under its own name"),
    Field::new("points[].period", FieldKind::Number, "as for an orbit"),
    Field::new("points[].multipliers", FieldKind::NumberRows, "as for an orbit"),
    Field::new("points[].stable", FieldKind::Flag, "as for an orbit"),
    Field::new("points[].state", FieldKind::NumberByName("state variable"), "as for an orbit"),
    Field::new("special", FieldKind::Records, "special points in the order of the branch"),
    Field::new("special[].kind", FieldKind::Word(&KINDS), "what it is: fold, period_doubling, torus, grazing, corner, contact_break or end"),
    Field::new("special[].PARAMETER", FieldKind::Number, "value of the parameter, under its own name, to 1e-9"),
    Field::new("special[].state", FieldKind::NumberByName("state variable"), "a state of the orbit there"),
    Field::new("special[].detail", FieldKind::Text, "which wall, why the branch ends"),
];

/// Runs the command.
///
/// # Errors
/// If the model or the request is wrong, no orbit is found, or a file cannot be read or written.
pub fn follow(args: &FollowArgs) -> Result<u8, Failure> {
    let format = args.output.as_deref().map(|output| OutputFormat::among(&FORMATS, output)).transpose()?;
    if let Some(output) = &args.output {
        write::probe(output)?;
    }
    let Ready { prepared, options, file, level } = simulate::ready(&args.model, &args.simulate)?;
    interrupt::listen();
    let mut go_on = || !interrupt::interrupted();
    let found = range(&args.vary).and_then(|(name, range)| {
        let mut subject = Subject::new(&prepared.program, &prepared.mechanics, &options, &mut go_on)?;
        let request = request(&prepared, &args.returns)?;
        carom_insight::follow(&mut subject, &request, &name, range, args.doubled)
    });
    let branch = match found {
        Ok(branch) => branch,
        Err(refusal) => return Err(refused(&refusal, &file)),
    };
    if let (Some(output), Some(format)) = (&args.output, format) {
        let stamp = Stamp::of_many(
            &prepared.mechanics.model.provenance,
            &[format!("--vary {}", args.vary)],
            level.arithmetic(),
        );
        let drawn = || branch::picture(&curve(&branch));
        let bytes = match format {
            OutputFormat::Csv => csv(&branch).into_bytes(),
            OutputFormat::Json => json_of(&branch).to_string().into_bytes(),
            OutputFormat::Svg => stamp.svg(&carom_show::draw::svg(&drawn())).into_bytes(),
            OutputFormat::Png => stamp.png(&carom_show::draw::png(&drawn(), 2.0).unwrap_or_default()),
            OutputFormat::Html => {
                stamp.html(&branch::page(&prepared.mechanics.model.name, &curve(&branch))).into_bytes()
            }
            other => return Err(other.unsupported(output)),
        };
        write::file(output, &bytes)?;
        if !args.model.quiet {
            terminal::say(&format!("wrote {output}"));
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&json_of(&branch)).unwrap_or_default();
        write::json(&text)?;
    } else if !args.model.quiet {
        write::stdout(&summary(&branch))?;
    }
    Ok(0)
}

/// What a branch can be written as.
const FORMATS: [OutputFormat; 5] =
    [OutputFormat::Csv, OutputFormat::Svg, OutputFormat::Png, OutputFormat::Html, OutputFormat::Json];

/// NAME=A..B
fn range(vary: &str) -> Result<(String, [f64; 2]), Refusal> {
    let wrong = || {
        Refusal::wrong(
            format!("`--vary {vary}` is not NAME=A..B"),
            "write for example --vary F=0.2..1.0: a branch is followed from point to point, so there is no number of points",
        )
    };
    let (name, values) = vary.split_once('=').ok_or_else(wrong)?;
    let (from, to) = values.split_once("..").ok_or_else(wrong)?;
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) => Ok((name.trim().to_owned(), [from, to])),
        _ => Err(wrong()),
    }
}

fn json_of(branch: &Branch) -> Value {
    let named = |value: f64, rest: Value| {
        let mut entries = Map::new();
        entries.insert(branch.parameter.clone(), json!(value));
        if let Value::Object(rest) = rest {
            entries.extend(rest);
        }
        Value::Object(entries)
    };
    let points: Vec<Value> = branch
        .points
        .iter()
        .map(|point| {
            let orbit = &point.orbit;
            let rest = json!({
                "period": orbit.period,
                "multipliers": orbit.multipliers,
                "stable": orbit.stable,
                "state": object(&orbit.state),
            });
            named(point.value, rest)
        })
        .collect();
    let special: Vec<Value> = branch
        .special
        .iter()
        .map(|special| {
            let mut entries = Map::new();
            entries.insert("kind".to_owned(), json!(special.kind.name()));
            entries.insert(branch.parameter.clone(), json!(special.value));
            entries.insert("state".to_owned(), object(&special.state));
            entries.insert("detail".to_owned(), json!(special.detail));
            Value::Object(entries)
        })
        .collect();
    json!({ "parameter": branch.parameter, "points": points, "special": special })
}

fn csv(branch: &Branch) -> String {
    let names =
        branch.points.first().map_or(Vec::new(), |p| p.orbit.state.iter().map(|s| s.0.clone()).collect());
    let count = branch.points.first().map_or(0, |p| p.orbit.multipliers.len());
    let mut head = vec![branch.parameter.clone(), "period".to_owned(), "stable".to_owned()];
    head.extend(names);
    (1..=count).for_each(|k| head.extend([format!("multiplier{k}.re"), format!("multiplier{k}.im")]));
    let mut out = head.join(",") + "\n";
    for point in &branch.points {
        let orbit = &point.orbit;
        let mut row =
            vec![point.value.to_string(), orbit.period.to_string(), u8::from(orbit.stable).to_string()];
        row.extend(orbit.state.iter().map(|s| s.1.to_string()));
        orbit.multipliers.iter().for_each(|z| row.extend(z.iter().map(f64::to_string)));
        out += &(row.join(",") + "\n");
    }
    out
}

/// The branch for a picture: the last variable of the state over the parameter; on a wall it tells more than a position that is bound.
fn curve(branch: &Branch) -> branch::BranchCurve {
    let ordinate =
        branch.points.first().and_then(|p| p.orbit.state.last()).map_or(String::new(), |s| s.0.clone());
    let last = |state: &[(String, f64)]| state.last().map_or(f64::NAN, |s| s.1);
    branch::BranchCurve {
        parameter: branch.parameter.clone(),
        ordinate,
        points: branch
            .points
            .iter()
            .map(|p| branch::BranchCurvePoint {
                x: p.value,
                y: last(&p.orbit.state),
                stable: p.orbit.stable,
                text: format!(
                    "{} = {}\nperiod {}\n{}\nmultipliers\n  {}\n{}",
                    branch.parameter,
                    p.value,
                    p.orbit.period,
                    p.orbit.state.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join("\n"),
                    p.orbit
                        .multipliers
                        .iter()
                        .map(|&z| crate::orbit::multiplier(z))
                        .collect::<Vec<_>>()
                        .join("\n  "),
                    if p.orbit.stable { "stable" } else { "unstable" },
                ),
            })
            .collect(),
        marks: branch
            .special
            .iter()
            .map(|s| branch::Mark {
                x: s.value,
                y: last(&s.state),
                kind: s.kind.name().to_owned(),
                text: format!("{} at {} = {}\n{}", s.kind.name(), branch.parameter, s.value, s.detail),
            })
            .collect(),
    }
}

fn summary(branch: &Branch) -> String {
    let low = branch.points.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
    let high = branch.points.iter().map(|p| p.value).fold(f64::NEG_INFINITY, f64::max);
    let stable = branch.points.iter().filter(|p| p.orbit.stable).count();
    let mut out = format!(
        "branch       {} orbits, {} of them stable, {} from {low} to {high}\n",
        branch.points.len(),
        stable,
        branch.parameter
    );
    for special in &branch.special {
        out += &format!(
            "{:<16} {} = {:.12}   {}\n",
            special.kind.name(),
            branch.parameter,
            special.value,
            special.detail
        );
    }
    out
}
