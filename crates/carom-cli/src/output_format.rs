//! What the ending of a file name asks for.

use crate::failure::Failure;
use std::path::Path;

/// What a command writes into a file, by the ending of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputFormat {
    Csv,
    Json,
    Npz,
    Parquet,
    Svg,
    Png,
    Html,
    Gif,
    Mp4,
}

use OutputFormat::{Csv, Gif, Html, Json, Mp4, Npz, Parquet, Png, Svg};

/// Tables, which `carom run` writes.
const TABLES: [OutputFormat; 4] = [Csv, Json, Npz, Parquet];
/// Pictures, which `carom show` draws.
const PICTURES: [OutputFormat; 5] = [Svg, Png, Html, Gif, Mp4];

impl OutputFormat {
    /// The format that `output` asks for, among those of a command.
    ///
    /// # Errors
    /// If its ending is none of them; the message says which are, or which command it belongs to.
    pub fn among(formats: &[OutputFormat], output: &str) -> Result<OutputFormat, Failure> {
        let ending =
            Path::new(output).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        let asked = TABLES.into_iter().chain(PICTURES).find(|format| format.ending() == ending);
        let draws = formats.iter().any(|format| PICTURES.contains(format));
        Err(Failure::wrong(match asked {
            Some(format) if formats.contains(&format) => return Ok(format),
            Some(format) if draws && TABLES.contains(&format) => {
                format!("{output} is a table: use `carom run MODEL -o {output}`")
            }
            Some(format) if !draws && PICTURES.contains(&format) => {
                format!("{output} is a picture: use `carom show MODEL -o {output}`")
            }
            _ => {
                let known: Vec<String> =
                    formats.iter().map(|format| format!(".{}", format.ending())).collect();
                let (last, others) =
                    known.split_last().map_or(("", String::new()), |(l, o)| (l.as_str(), o.join(", ")));
                format!("cannot tell the format of {output}: use {others} or {last}")
            }
        }))
    }

    fn ending(self) -> &'static str {
        match self {
            Csv => "csv",
            Json => "json",
            Npz => "npz",
            Parquet => "parquet",
            Svg => "svg",
            Png => "png",
            Html => "html",
            Gif => "gif",
            Mp4 => "mp4",
        }
    }

    /// What a command says that has no way to write this.
    pub fn unsupported(self, output: &str) -> Failure {
        Failure::wrong(format!("{output}: this command does not write .{}", self.ending()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_chooses_its_format_or_says_what_would() {
        let (tables, pictures) = ([Csv, Npz, Parquet], [Svg, Html]);
        assert_eq!(OutputFormat::among(&tables, "a/b.c/out.npz").unwrap(), Npz);
        assert_eq!(OutputFormat::among(&pictures, "OUT.HTML").unwrap(), Html);
        let message = |formats: &[OutputFormat], output: &str| {
            OutputFormat::among(formats, output).unwrap_err().to_string()
        };
        assert_eq!(message(&pictures, "m.csv"), "m.csv is a table: use `carom run MODEL -o m.csv`");
        assert_eq!(message(&tables, "m.gif"), "m.gif is a picture: use `carom show MODEL -o m.gif`");
        for output in ["m.json", "m.xls", "m", ".csv", ""] {
            let says = format!("cannot tell the format of {output}: use .csv, .npz or .parquet");
            assert_eq!(message(&tables, output), says);
        }
    }

    #[test]
    fn every_format_has_an_ending_of_its_own() {
        let all: Vec<OutputFormat> = TABLES.into_iter().chain(PICTURES).collect();
        for format in &all {
            let name = format!("out.{}", format.ending());
            assert_eq!(OutputFormat::among(&all, &name).unwrap(), *format);
        }
    }
}
