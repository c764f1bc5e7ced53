//! `carom lyapunov`: how fast nearby motions separate.

use crate::args;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::load;
use crate::orbit::refused;
use crate::simulate::prepare;
use crate::write;
use carom_insight::{Lyapunov, Subject};
use carom_run::Options;
use carom_run::fields::{Field, Kind};
use serde_json::json;

/// The fields of a spectrum (`carom lyapunov --json`).
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("exponents", Kind::Numbers, "λ, largest first, per unit of time"),
    Field::new("error", Kind::Numbers, "what each may be off by"),
    Field::new("time", Kind::Number, "the time they are averages over"),
    Field::new("sum_check", Kind::Object, "their sum beside the law for it"),
    Field::new("sum_check.sum", Kind::Number, "Σ λ"),
    Field::new("sum_check.expected", Kind::Number, "mean divergence of the motion plus 2 ln e for every impact").null("where that law does not hold: constraints, contact, resets"),
    Field::new("sum_check.impact_rate", Kind::Number, "impacts per unit of time"),
    Field::new("sum_check.pairing", Kind::Number, "largest sum of an exponent and its partner").null("where energy is lost or fed in"),
];

/// Runs the command.
///
/// # Errors
/// If the model or the request is wrong, or the motion has no derivatives.
pub fn lyapunov(args: &args::Lyapunov) -> Result<u8, Failure> {
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    let (file, level) = (loaded.file.clone(), loaded.level);
    let model = loaded.check(args.model.quiet)?;
    let options = Options::of(&model);
    let prepared = prepare(model, &file, level)?;
    interrupt::listen();
    let mut go_on = || !interrupt::interrupted();
    let found = Subject::new(&prepared.program, &prepared.mechanics, &options, &mut go_on)
        .and_then(|mut subject| carom_insight::lyapunov(&mut subject, options.until));
    let found = match found {
        Ok(found) => found,
        Err(refusal) => return Err(refused(&refusal, &file)),
    };
    if args.json {
        let check = &found.sum_check;
        let value = json!({
            "exponents": found.exponents,
            "error": found.error,
            "time": found.time,
            "sum_check": {
                "sum": check.sum,
                "expected": check.expected,
                "impact_rate": check.impact_rate,
                "pairing": check.pairing,
            },
        });
        write::json(&serde_json::to_string_pretty(&value).unwrap_or_default())?;
    } else if !args.model.quiet {
        write::stdout(&summary(&found))?;
    }
    Ok(0)
}

fn summary(found: &Lyapunov) -> String {
    let mut out = String::new();
    for (k, (exponent, error)) in found.exponents.iter().zip(&found.error).enumerate() {
        out += &format!("{:<12} {exponent:>12.6} ± {error:.6}\n", if k == 0 { "exponents" } else { "" });
    }
    let check = &found.sum_check;
    out += &format!("time         {}\n", found.time);
    out += &match check.expected {
        Some(expected) => format!("sum          {:.6}, expected {expected:.6}\n", check.sum),
        None => format!("sum          {:.6}\n", check.sum),
    };
    if let Some(pairing) = check.pairing {
        out += &format!("pairing      {pairing:.1e}\n");
    }
    out + &format!("impacts      {:.6} per unit of time\n", check.impact_rate)
}
