//! `carom show`: a motion as a picture.

use crate::args::ShowArgs;
use crate::compare;
use crate::failure::Failure;
use crate::film::{mp4, need_ffmpeg};
use crate::load::{self, load};
use crate::output_format::OutputFormat;
use crate::run;
use crate::simulate::prepare;
use crate::terminal;
use crate::write;
use carom_mech::Diagnostic;
use carom_run::{Motion, Options, Sampling, StopReason};
use carom_show::draw::Theme;
use carom_show::{film, page, plot};
use std::path::Path;

/// Samples of the first run, which finds out how many a smooth picture needs.
const SCOUT: usize = 2;

/// Steps of a motion that is drawn without being asked how finely. A picture has no more than 10⁵ samples: with several steps
/// to a sample it would show something else than the motion.
const MOST_STEPS: u64 = 300_000;

/// Runs the command; the exit code says whether the motion ended as asked for.
///
/// # Errors
/// If the model or the options are wrong, or a file cannot be read or written.
pub fn show(args: &ShowArgs) -> Result<u8, Failure> {
    let output = args.output.clone().unwrap_or_else(|| page_of(&args.model.model));
    let output = output.as_str();
    let format = OutputFormat::among(&FORMATS, output)?;
    write::probe(output)?;
    if !args.compare.is_empty() && matches!(format, OutputFormat::Gif | OutputFormat::Mp4) {
        return Err(Failure::wrong(
            "--compare draws curves, and a film has none\n  hint: write .svg, .png or .html",
        ));
    }
    if format == OutputFormat::Mp4 {
        need_ffmpeg()?;
    }
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    let at = loaded.samples(&args.samples);
    let (file, level) = (loaded.file.clone(), loaded.level);
    let original = loaded.clone();
    let model = loaded.check(args.model.quiet)?;
    let mut options = Options::of(&model);
    let prepared = prepare(model, &file, level)?;
    match at {
        Some(times) => options.sampling = Sampling::At(times),
        None if args.samples.samples.is_some() => {}
        None => {
            let allowed = options.max_steps;
            options.sampling = Sampling::Even(SCOUT);
            options.max_steps = allowed.min(MOST_STEPS);
            let scout = prepared.simulate(&options, 1, args.model.quiet, &file)?;
            if allowed > MOST_STEPS && scout.stop.reason == StopReason::StepLimit {
                return Err(too_long(&scout, options.until));
            }
            options.max_steps = allowed;
            options.sampling = Sampling::Even(match format {
                OutputFormat::Svg | OutputFormat::Png => {
                    plot::samples_for(scout.audit.steps, scout.impacts.len())
                }
                _ => page::samples_for(scout.audit.steps),
            });
        }
    }
    let motion = prepared.simulate(&options, 1, args.model.quiet, &file)?;
    if !args.model.quiet {
        let warnings: Vec<Diagnostic> = motion.warnings.iter().map(Diagnostic::warning).collect();
        load::report(&warnings, &file, false);
    }
    let others = compare::runs(args, &original, &motion)?;
    let theme = if args.dark { Theme::Dark } else { Theme::Light };
    let style = plot::PlotStyle { theme, ..plot::PlotStyle::default() };
    let wrong = |problems: Vec<Diagnostic>| {
        load::report(&problems, &file, false);
        Failure::Reported(1)
    };
    let mechanics = &prepared.mechanics;
    let text = |text: String| write::file(output, text.as_bytes());
    let runs: Vec<plot::ComparedRun<'_>> = others.iter().map(compare::Other::run).collect();
    match format {
        OutputFormat::Svg if !runs.is_empty() => {
            text(plot::compared_svg(mechanics, &motion, &runs, &args.plot, style).map_err(wrong)?)?;
        }
        OutputFormat::Png if !runs.is_empty() => {
            let bytes = plot::compared_png(mechanics, &motion, &runs, &args.plot, style).map_err(wrong)?;
            write::file(output, &bytes)?;
        }
        OutputFormat::Svg => text(plot::svg(mechanics, &motion, &args.plot, style).map_err(wrong)?)?,
        OutputFormat::Png => {
            write::file(output, &plot::png(mechanics, &motion, &args.plot, style).map_err(wrong)?)?;
        }
        OutputFormat::Html => text(page::compared(mechanics, &motion, &runs, &args.plot).map_err(wrong)?)?,
        OutputFormat::Gif => {
            let style = film::FilmStyle { theme, ..film::FilmStyle::gif() };
            let film = film::Film::new(mechanics, &motion, style).map_err(wrong)?;
            write::file(output, &film.gif())?;
        }
        OutputFormat::Mp4 => {
            let style = film::FilmStyle { theme, ..film::FilmStyle::video() };
            mp4(&film::Film::new(mechanics, &motion, style).map_err(wrong)?, output)?;
        }
        other => return Err(other.unsupported(output)),
    }
    if !args.model.quiet {
        terminal::say(&format!("wrote {output}"));
        if format == OutputFormat::Html
            && let Err(problems) = carom_show::view::scene(&mut mechanics.clone())
        {
            let hint = problems.into_iter().find_map(|p| p.hint).unwrap_or_default();
            terminal::say(&format!("plots only: the model does not say where things are\n  hint: {hint}"));
        }
        if !motion.stop.reason.is_complete() {
            let detail = motion.stop.detail.as_deref().map(|d| format!(": {d}")).unwrap_or_default();
            let (time, reason) = (motion.stop.time, motion.stop.reason.name());
            terminal::say(&format!("the motion ended at t = {time}, {reason}{detail}"));
        }
    }
    Ok(run::code(&motion))
}

/// Why there is no picture of so long a motion.
fn too_long(scout: &Motion, until: f64) -> Failure {
    let reached = scout.stop.time;
    Failure::wrong(format!(
        "up to t = {until:e} this motion takes too many steps for a picture: after {MOST_STEPS} it is at t = {reached:.4e}\n  hint: --until {reached:.1e} shows this much, --samples 100000 simulates all of it and draws what so many samples see"
    ))
}

/// The page of a model, in the current folder.
fn page_of(model: &str) -> String {
    let stem = Path::new(model).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{}.html", if stem.is_empty() || stem == "-" { "motion" } else { &stem })
}

/// What a motion can be drawn as.
const FORMATS: [OutputFormat; 5] =
    [OutputFormat::Svg, OutputFormat::Png, OutputFormat::Html, OutputFormat::Gif, OutputFormat::Mp4];
