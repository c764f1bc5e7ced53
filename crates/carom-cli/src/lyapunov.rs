//! `carom lyapunov`: how fast nearby motions separate.

use crate::args::LyapunovArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{self, load};
use crate::orbit::{fixed, refused};
use crate::simulate::{Prepared, prepare};
use crate::sweep::plan::{Plan, values_with_units};
use crate::sweep::vary::VariedNames;
use crate::write;
use carom_insight::{FEW_INTERVALS, Growth, Lyapunov, Refusal, Subject, exponents, growth};
use carom_mech::Diagnostic;
use carom_run::Options;
use carom_run::fields::{Field, FieldKind};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The fields of a spectrum (`carom lyapunov --json`).
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("exponents", FieldKind::Numbers, "λ, largest first, per unit of time"),
    Field::new("error", FieldKind::Numbers, "what each may be off by: half of a 95 % interval"),
    Field::new("time", FieldKind::Number, "the time they are averages over, of all motions together"),
    Field::new("motions", FieldKind::Count, "how many motions they are means of").absent("without --random"),
    Field::new("left_out", FieldKind::Count, "starts at which no motion begins (behind a wall), and motions that end early").absent("without --random"),
    Field::new("sum_check", FieldKind::Object, "their sum beside the law for it"),
    Field::new("sum_check.sum", FieldKind::Number, "Σ λ"),
    Field::new("sum_check.expected", FieldKind::Number, "mean divergence of the motion plus 2 ln e for every impact").null("where that law does not hold: constraints, contact, resets"),
    Field::new("sum_check.impact_rate", FieldKind::Number, "impacts per unit of time"),
    Field::new("sum_check.pairing", FieldKind::Number, "largest sum of an exponent and its partner").null("where something is lost: damping, restitution below 1, contact, resets, nonholonomic rows"),
    Field::new("sum_check.zeros", FieldKind::Object, "exponents that are zero").null("where the motion comes to rest"),
    Field::new("sum_check.zeros.expected", FieldKind::Count, "one for the flow if nothing depends on time, two for every commuting invariant (the energy's with the flow's among them)"),
    Field::new("sum_check.zeros.found", FieldKind::Count, "how many are zero within their errors"),
];

/// Motions drawn unless told otherwise.
const COUNT: u64 = 64;

/// Runs the command.
///
/// # Errors
/// If the model or the request is wrong, or the motion has no derivatives.
pub fn lyapunov(args: &LyapunovArgs) -> Result<u8, Failure> {
    let plan = if args.random.is_empty() {
        None
    } else {
        Some(Plan::random(&args.random, args.count.unwrap_or(COUNT), args.seed)?)
    };
    if plan.as_ref().is_some_and(|p| p.count < 2) {
        return Err(Failure::wrong(
            "the scatter of one motion is not known\n  hint: --count 64, or leave --random out and the error comes from parts of one motion",
        ));
    }
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    values_with_units(&args.random).iter().for_each(|(name, value)| loaded.try_value(name, value));
    let (file, level, draft) = (loaded.file.clone(), loaded.level, loaded.draft.clone());
    let model = loaded.check(args.model.quiet)?;
    let base = Options::of(&model);
    let variation = plan.as_ref().map(|plan| VariedNames::new(&model, draft, plan)).transpose()?;
    let prepared = prepare(model, &file, level)?;
    interrupt::listen();
    let (found, left_out) = match (&plan, &variation) {
        (Some(plan), Some(variation)) => {
            let (found, reasons) =
                many(&prepared, plan, variation, &base, args.threads).map_err(|r| refused(&r, &file))?;
            if let Some(first) = reasons.first().filter(|_| !args.model.quiet) {
                let text = format!("{} of {} starts are left out: {first}", reasons.len(), plan.count);
                load::report(&[Diagnostic::warning(text)], &file, false);
            }
            (found, Some(reasons.len()))
        }
        _ => {
            let mut go_on = || !interrupt::interrupted();
            let found = Subject::new(&prepared.program, &prepared.mechanics, &base, &mut go_on)
                .and_then(|mut subject| carom_insight::lyapunov(&mut subject, base.until));
            (found.map_err(|r| refused(&r, &file))?, None)
        }
    };
    if args.json {
        let check = &found.sum_check;
        let mut value = json!({
            "exponents": found.exponents,
            "error": found.error,
            "time": found.time,
            "sum_check": {
                "sum": check.sum,
                "expected": check.expected,
                "impact_rate": check.impact_rate,
                "pairing": check.pairing,
                "zeros": check.zeros.map(|z| json!({ "expected": z.expected, "found": z.found })),
            },
        });
        if let Some(left_out) = left_out {
            value["motions"] = json!(found.motions);
            value["left_out"] = json!(left_out);
        }
        write::json(&serde_json::to_string_pretty(&value).unwrap_or_default())?;
    } else if !args.model.quiet {
        write::stdout(&summary(&found))?;
    }
    Ok(0)
}

/// Many motions, and why others are left out. The order of the plan decides, not that of the threads.
fn many(
    prepared: &Prepared,
    plan: &Plan,
    variation: &VariedNames,
    base: &Options,
    threads: Option<u32>,
) -> Result<(Lyapunov, Vec<String>), Refusal> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(cores, |n| n as usize).clamp(1, 16 * cores);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<Growth, Refusal>)>> = Mutex::default();
    let request = interrupt::StopRequest::here();
    let one = |index: usize| -> Result<Growth, Refusal> {
        let mut row = Vec::new();
        plan.row(index as u64, &mut row);
        let options = variation.options(base, &row).map_err(|why| Refusal::unanswered(why, ""))?;
        let mut go_on = || !request.is_made();
        let mut subject = Subject::new(&prepared.program, &prepared.mechanics, &options, &mut go_on)?;
        growth(&mut subject, options.until, FEW_INTERVALS)
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index as u64 >= plan.count || request.is_made() {
                        break;
                    }
                    let found = one(index);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((index, found));
                }
            });
        }
    });
    let mut all = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(index, _)| *index);
    if interrupt::interrupted() {
        return Err(Refusal::unanswered("interrupted", "ask again, with fewer motions or a shorter --until"));
    }
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (_, found) in all {
        match found {
            Ok(growth) => kept.push(growth),
            Err(refusal) if refusal.is_wrong_request() => return Err(refusal),
            Err(refusal) => left_out.push(refusal.message),
        }
    }
    if kept.len() < 2 {
        let first = left_out.first().map_or("", String::as_str);
        return Err(Refusal::unanswered(
            format!("{} of {} motions can be averaged: {first}", kept.len(), plan.count),
            "draw starts inside the walls, or more of them: --count",
        ));
    }
    Ok((exponents(&kept), left_out))
}

fn summary(found: &Lyapunov) -> String {
    let mut out = String::new();
    for (k, (exponent, error)) in found.exponents.iter().zip(&found.error).enumerate() {
        out += &format!(
            "{:<12} {:>12} ± {error:.6}\n",
            if k == 0 { "exponents" } else { "" },
            fixed(*exponent, 6)
        );
    }
    let check = &found.sum_check;
    out += &format!("time         {}\n", found.time);
    if found.motions > 1 {
        out += &format!("motions      {}\n", found.motions);
    }
    out += &match check.expected {
        Some(expected) => format!("sum          {}, expected {}\n", fixed(check.sum, 6), fixed(expected, 6)),
        None => format!("sum          {}\n", fixed(check.sum, 6)),
    };
    if let Some(pairing) = check.pairing {
        out += &format!("pairing      {pairing:.1e}\n");
    }
    if let Some(zeros) = check.zeros {
        out += &format!("zeros        {}, expected {}\n", zeros.found, zeros.expected);
    }
    out + &format!("impacts      {:.6} per unit of time\n", check.impact_rate)
}
