//! What the ending of a file name asks for.

use crate::failure::Failure;
use std::path::Path;

/// Endings of tables, which `carom run` writes.
const TABLES: [&str; 4] = ["csv", "json", "npz", "parquet"];
/// Endings of pictures, which `carom show` draws.
const PICTURES: [&str; 5] = ["svg", "png", "html", "gif", "mp4"];

/// The form that `output` asks for, among those of a command by their endings.
///
/// # Errors
/// If its ending is none of them; the message says which are, or which command it belongs to.
pub fn form<F: Copy>(output: &str, forms: &[(&str, F)]) -> Result<F, Failure> {
    let ending = Path::new(output).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let ending = ending.as_str();
    if let Some((_, form)) = forms.iter().find(|(known, _)| *known == ending) {
        return Ok(*form);
    }
    let draws = forms.iter().any(|(known, _)| PICTURES.contains(known));
    Err(Failure::wrong(if draws && TABLES.contains(&ending) {
        format!("{output} is a table: use `carom run MODEL -o {output}`")
    } else if !draws && PICTURES.contains(&ending) {
        format!("{output} is a picture: use `carom show MODEL -o {output}`")
    } else {
        let known: Vec<String> = forms.iter().map(|(known, _)| format!(".{known}")).collect();
        let (last, others) =
            known.split_last().map_or(("", String::new()), |(l, o)| (l.as_str(), o.join(", ")));
        format!("cannot tell the format of {output}: use {others} or {last}")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_chooses_its_form_or_says_what_would() {
        let (tables, pictures) = ([("csv", 1), ("npz", 2), ("parquet", 3)], [("svg", 1), ("html", 2)]);
        assert_eq!(form("a/b.c/out.npz", &tables).unwrap(), 2);
        assert_eq!(form("OUT.HTML", &pictures).unwrap(), 2);
        let message = |output: &str, forms: &[(&str, i32)]| form(output, forms).unwrap_err().to_string();
        assert_eq!(message("m.csv", &pictures), "m.csv is a table: use `carom run MODEL -o m.csv`");
        assert_eq!(message("m.gif", &tables), "m.gif is a picture: use `carom show MODEL -o m.gif`");
        for output in ["m.json", "m.xls", "m", ".csv", ""] {
            let says = format!("cannot tell the format of {output}: use .csv, .npz or .parquet");
            assert_eq!(message(output, &tables), says);
        }
    }
}
