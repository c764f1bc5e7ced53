//! `carom merge`: the parts of a sweep as one table, in input order: the chunks of a folder, or the files of all shards.
//!
//! Promise: the bytes of the table that one sweep would have written; memory does not grow with the number of rows.

use crate::args::MergeArgs;
use crate::failure::Failure;
use crate::output_format::OutputFormat;
use crate::sweep::store::Store;
use crate::terminal;
use crate::write::{self, Pending};
use carom_show::provenance::Stamp;
use carom_show::table::{self, Table};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rows per group, as `carom sweep` writes them.
const GROUP: usize = 1 << 16;

/// Runs the command.
///
/// # Errors
/// If a part is missing or is none, or the table cannot be written.
pub fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    let format = OutputFormat::among(&[OutputFormat::Csv, OutputFormat::Parquet], &args.output)?;
    let parts = parts(&args.parts)?;
    let mut rest = Table::default();
    let mut out: Option<Out> = None;
    let mut stamp: Option<String> = None;
    let mut rows = 0;
    for path in &parts {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Failure::read(&name, &error))?;
        let mut table = table::read_own_parquet(&bytes)
            .map_err(|misread| Failure::File(format!("cannot read {name}: {misread}")))?;
        let own = table.stamp.take().map(|stamp| without_shard(stamp.json()).0).unwrap_or_default();
        if stamp.get_or_insert_with(|| own.clone()) != &own {
            return Err(Failure::wrong(format!(
                "{name} comes from another sweep than {}\n  hint: model, options and version must be the same in all parts",
                parts[0].display()
            )));
        }
        rows += table.rows();
        rest.append(table).map_err(|message| Failure::wrong(format!("{name}: {message}")))?;
        rest.stamp = Some(Stamp::read(&own));
        let out = match &mut out {
            Some(out) => out,
            None => out.insert(Out::new(&args.output, format, &rest)?),
        };
        while rest.rows() >= GROUP {
            let later = rest.split_off(GROUP);
            out.group(&rest, &args.output)?;
            rest = later;
        }
    }
    if let Some(mut out) = out {
        if rest.rows() > 0 {
            out.group(&rest, &args.output)?;
        }
        out.finish(&args.output, &rest)?;
    }
    if !args.quiet {
        terminal::say(&format!("{rows} trajectories from {} parts in {}", parts.len(), args.output));
    }
    Ok(0)
}

/// A table under way.
enum Out {
    Csv(Pending),
    Parquet(Box<table::ParquetWriter<Pending>>),
}

impl Out {
    fn new(output: &str, format: OutputFormat, like: &Table) -> Result<Out, Failure> {
        let mut file = Pending::alone(output)?;
        let fail = |error| Failure::write(output, &error);
        match format {
            OutputFormat::Csv => {
                file.write_all(&table::csv_header(like)).map_err(fail)?;
                Ok(Out::Csv(file))
            }
            OutputFormat::Parquet => {
                table::ParquetWriter::new(file, like).map(|out| Out::Parquet(Box::new(out))).map_err(fail)
            }
            other => Err(other.unsupported(output)),
        }
    }

    fn group(&mut self, table: &Table, output: &str) -> Result<(), Failure> {
        let done = match self {
            Out::Csv(file) => file.write_all(&table::csv_rows(table)),
            Out::Parquet(writer) => writer.group(table, 0, table.rows()),
        };
        done.map_err(|error| Failure::write(output, &error))
    }

    fn finish(self, output: &str, like: &Table) -> Result<(), Failure> {
        match self {
            Out::Csv(file) => {
                file.finish()?;
                write::beside_csv(output, like).map(drop)
            }
            Out::Parquet(writer) => writer.finish().map_err(|error| Failure::write(output, &error))?.finish(),
        }
    }
}

/// The files in their order, complete.
fn parts(given: &[String]) -> Result<Vec<PathBuf>, Failure> {
    if let [folder] = given
        && Path::new(folder).is_dir()
    {
        let Some(store) = Store::read(Path::new(folder))? else {
            return Err(Failure::wrong(format!(
                "{folder} has no manifest.json: it is not a sweep\n  hint: carom sweep MODEL … -o {folder}/"
            )));
        };
        let missing = store.missing();
        if let Some(first) = missing.first() {
            return Err(Failure::wrong(format!(
                "{} of {} chunks are missing in {folder}, the first is {}\n  hint: the same sweep to the same folder goes on",
                missing.len(),
                store.chunks(),
                store.path(*first).file_name().unwrap_or_default().to_string_lossy()
            )));
        }
        return Ok((0..store.chunks()).map(|index| store.path(index)).collect());
    }
    let mut found = Vec::new();
    for name in given {
        let bytes = std::fs::read(name).map_err(|error| Failure::read(name, &error))?;
        let stamp = table::stamp_of_parquet(&bytes)
            .map_err(|misread| Failure::File(format!("cannot read {name}: {misread}")))?;
        match stamp.and_then(|stamp| without_shard(&stamp).1) {
            Some(shard) => found.push((shard, name)),
            None => {
                return Err(Failure::wrong(format!(
                    "{name} is no shard of a sweep\n  hint: carom sweep MODEL … --shard 1/4 -o part-1.parquet"
                )));
            }
        }
    }
    found.sort();
    let of = found.first().map_or(0, |((_, of), _)| *of);
    for number in 1..=of {
        let here: Vec<&String> = found.iter().filter(|((i, _), _)| *i == number).map(|(_, f)| *f).collect();
        match here[..] {
            [_] => {}
            [] => {
                return Err(Failure::wrong(format!(
                    "shard {number}/{of} is missing\n  hint: carom sweep MODEL … --shard {number}/{of} -o part-{number}.parquet"
                )));
            }
            _ => {
                return Err(Failure::wrong(format!(
                    "shard {number}/{of} comes twice: {} and {}",
                    here[0], here[1]
                )));
            }
        }
    }
    if let Some(((i, n), name)) = found.iter().find(|((_, n), _)| *n != of) {
        return Err(Failure::wrong(format!("{name} is shard {i}/{n}, others are of {of}")));
    }
    Ok(found.into_iter().map(|(_, name)| PathBuf::from(name)).collect())
}

/// A stamp without the option that says which shard it is, and that shard.
fn without_shard(stamp: &str) -> (String, Option<(u64, u64)>) {
    const OPTION: &str = "\"--shard ";
    let Some(at) = stamp.rfind(OPTION) else { return (stamp.to_owned(), None) };
    let rest = &stamp[at + OPTION.len()..];
    let Some(end) = rest.find('"') else { return (stamp.to_owned(), None) };
    let shard = rest[..end].split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    let before = stamp[..at].strip_suffix(", ").unwrap_or(&stamp[..at]);
    (format!("{before}{}", &rest[end + 1..]), shard)
}
