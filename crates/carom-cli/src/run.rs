//! `carom run`: simulate, summarise, write.

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::gradient::Question;
use crate::load::{self, load};
use crate::output_format::OutputFormat;
use crate::paint::Paint;
use crate::simulate::prepare;
use crate::summary::summary;
use crate::terminal;
use crate::write;
use carom_mech::{Diagnostic, Model};
use carom_run::{Direction, Motion, Options, Sampling};
use carom_show::table;
use std::path::Path;

/// Runs the command; the exit code says whether the motion ended as asked for.
///
/// # Errors
/// If the model or the options are wrong, or a file cannot be read or written.
pub fn run(args: &RunArgs) -> Result<u8, Failure> {
    if let Some(output) = &args.output {
        format_of(output)?;
        write::probe(output)?;
    }
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    let at = loaded.samples(&args.samples);
    let question = Question::of(&args.gradient, &args.samples, &mut loaded)?;
    let (file, level) = (loaded.file.clone(), loaded.level);
    let model = loaded.check(args.model.quiet)?;
    let mut options = Options::of(&model);
    if let Some(times) = at {
        options.sampling = Sampling::At(times);
    }
    let prepared = prepare(model, &file, level)?;
    if let Some(list) = &args.sensitivity {
        options.directions = Direction::named(list, &prepared.mechanics).map_err(Failure::wrong)?;
        options.sensitivity = options.directions.is_empty();
    }
    if let Some(question) = question {
        question.ask(&prepared.mechanics, &mut options)?;
    }
    let motion = prepared.simulate(&options, args.repeat, args.model.quiet, &file)?;
    let model = &prepared.mechanics.model;

    if !args.model.quiet {
        let warnings: Vec<Diagnostic> = motion.warnings.iter().map(Diagnostic::warning).collect();
        load::report(&warnings, &file, false);
    }
    if let Some(output) = &args.output {
        let files = save(output, &motion, model)?;
        if !args.model.quiet {
            terminal::say(&format!("wrote {}", files.join(" and ")));
        }
    }
    if args.json {
        write::json(&table::json(&motion))?;
    } else if !args.model.quiet {
        write::stdout(&summary(&motion, model, Paint::stdout(), terminal::columns()))?;
    }
    let code = code(&motion);
    // The process ends here: giving every expression back one by one would be the last thing a user waits for.
    std::mem::forget((prepared, motion));
    Ok(code)
}

/// 0 if it ended as asked for, else 2.
pub fn code(motion: &Motion) -> u8 {
    if motion.stop.reason.is_complete() { 0 } else { 2 }
}

/// What a motion can be written as.
const FORMATS: &[OutputFormat] = &[
    OutputFormat::Csv,
    OutputFormat::Json,
    OutputFormat::Npz,
    #[cfg(feature = "tables")]
    OutputFormat::Parquet,
];

fn format_of(output: &str) -> Result<OutputFormat, Failure> {
    // A device has no ending.
    let device = output.starts_with("/dev/") && Path::new(output).extension().is_none();
    if device { Ok(OutputFormat::Csv) } else { OutputFormat::among(FORMATS, output) }
}

/// Writes a motion; impacts, contacts and events go into a second file where the first has no room for them. Returns
/// the names of the files.
fn save(output: &str, motion: &Motion, model: &Model) -> Result<Vec<String>, Failure> {
    let samples = table::samples(motion, model);
    let occurrences = table::occurrences(motion, model);
    let mut files = vec![output.to_owned()];
    match format_of(output)? {
        OutputFormat::Json => write::file(output, table::json(motion).as_bytes())?,
        OutputFormat::Npz => {
            let bytes = table::npz(&[("", &samples), ("impacts.", &occurrences)]).map_err(Failure::File)?;
            write::file(output, &bytes)?;
        }
        OutputFormat::Csv => {
            write::file(output, &table::csv(&samples))?;
            files.extend(write::beside_csv(output, &samples)?);
            let impacts = second(output, occurrences.rows() > 0, &table::csv(&occurrences))?;
            if let Some(impacts) = &impacts {
                files.push(impacts.clone());
                files.extend(write::beside_csv(impacts, &occurrences)?);
            }
        }
        #[cfg(feature = "tables")]
        OutputFormat::Parquet => {
            let bytes = |table| table::parquet(table).map_err(|error| Failure::write(output, &error));
            write::file(output, &bytes(&samples)?)?;
            files.extend(second(output, occurrences.rows() > 0, &bytes(&occurrences)?)?);
        }
        other => return Err(other.unsupported(output)),
    }
    Ok(files)
}

/// `NAME.impacts.csv` beside `NAME.csv`; nothing happened: no file, and an old one is not left standing.
fn second(output: &str, needed: bool, bytes: &[u8]) -> Result<Option<String>, Failure> {
    let path = Path::new(output);
    let (Some(stem), Some(extension)) = (path.file_stem(), path.extension()) else { return Ok(None) };
    let name = format!("{}.impacts.{}", stem.to_string_lossy(), extension.to_string_lossy());
    let path = path.with_file_name(name).to_string_lossy().into_owned();
    if needed {
        write::file(&path, bytes)?;
        return Ok(Some(path));
    }
    for old in [format!("{path}-metadata.json"), path] {
        match std::fs::remove_file(&old) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::write(&old, &error));
            }
            _ => {}
        }
    }
    Ok(None)
}
