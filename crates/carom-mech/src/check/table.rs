//! Table inputs: a column of a CSV file over its column of times.

use super::Checker;
use crate::diagnostic::{Diagnostic, Source};
use crate::draft::{Draft, SignalSource, Word};
use crate::model::{Interpolation, TableInput};
use crate::provenance::{self, Provenance};
use carom_expr::nearest;
use std::path::Path;

/// Most bytes of a table.
const MOST_BYTES: u64 = 1 << 30;

impl Draft {
    /// Reads the tables that the model names and that were not given as text: from here on nothing depends on what is on the disk. A
    /// table that cannot be read is left to the check, which reports it.
    pub fn gather_tables(&mut self) {
        let files: Vec<String> = provenance::tables(self).iter().map(|file| file.text.clone()).collect();
        for file in files {
            if self.tables.iter().any(|(name, _)| *name == file) {
                continue;
            }
            if let Ok(text) = table_file(&self.folder.join(&file)) {
                self.tables.push((file, text));
            }
        }
    }
}

/// The text of a table on the disk.
fn table_file(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > MOST_BYTES {
        return Err(std::io::Error::other("it is larger than 1 GiB"));
    }
    let text = std::fs::read_to_string(path)?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

impl Checker<'_> {
    /// The tables of all inputs that have one; reports what is wrong with them.
    pub fn table_inputs(&mut self) -> Option<Vec<TableInput>> {
        let draft = self.draft;
        let mut inputs = Vec::new();
        let mut fine = true;
        for (i, input) in draft.inputs.iter().enumerate() {
            let SignalSource::Table { file, column, time, interpolate } = &input.signal else { continue };
            let interpolate = self.stated_interpolation(interpolate.as_ref());
            let name = input.name.text.clone();
            let column = column.as_ref().map_or((name.as_str(), None), |w| (w.text.as_str(), Some(w)));
            let read =
                self.table_text(file).and_then(|text| self.columns(file, &text, column, time.as_ref()));
            let (Some((times, values)), Some(symbols), Some(interpolate)) =
                (read, self.scope.inputs[i].clone(), interpolate)
            else {
                fine = false;
                continue;
            };
            inputs.push(TableInput {
                name,
                value: symbols[0],
                rate: symbols[1],
                second: symbols[2],
                times,
                values,
                interpolate: interpolate.unwrap_or(Interpolation::Smooth),
            });
        }
        fine.then_some(inputs)
    }

    /// Of the draft and of the tables it reads.
    pub fn provenance(&mut self) -> Provenance {
        let mut provenance = Provenance::of(self.draft);
        for file in provenance::tables(self.draft) {
            if let Some(text) = self.table_text(file) {
                provenance.tables.push((file.text.clone(), provenance::sha256(&text)));
            }
        }
        provenance
    }

    fn table_text(&mut self, file: &Word) -> Option<String> {
        if let Some((_, text)) = self.draft.tables.iter().find(|(name, _)| *name == file.text) {
            return Some(text.clone());
        }
        match table_file(&self.draft.folder.join(&file.text)) {
            Ok(text) => Some(text),
            Err(error) => {
                let message = match error.kind() {
                    std::io::ErrorKind::NotFound => format!("there is no table `{}`", file.text),
                    _ => format!("the table `{}` cannot be read: {error}", file.text),
                };
                self.error(file.at, message, "its place is relative to the model file");
                None
            }
        }
    }

    fn columns(
        &mut self,
        file: &Word,
        text: &str,
        (column, column_word): (&str, Option<&Word>),
        time: Option<&Word>,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let source = Source::new(Some(file.text.clone()), text.to_owned());
        let mut lines = text.lines().enumerate().filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let Some((_, heading)) = lines.next() else {
            self.error(
                file.at,
                format!("the table `{}` is empty", file.text),
                "its first line names the columns",
            );
            return None;
        };
        let separator = [',', ';', '\t'].into_iter().find(|&s| heading.contains(s)).unwrap_or(',');
        let clean = |cell: &str| cell.trim().trim_matches('"').to_owned();
        let headings: Vec<String> = heading.split(separator).map(clean).collect();
        let mut find = |name: &str, word: &Word| -> Option<usize> {
            let found = headings.iter().position(|h| h == name);
            if found.is_none() {
                let hint = match nearest(name, headings.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("its columns are {}", headings.join(", ")),
                };
                self.error(word.at, format!("the table `{}` has no column `{name}`", file.text), hint);
            }
            found
        };
        let value_index = find(column, column_word.unwrap_or(file));
        let time_index = match time {
            Some(word) => find(&word.text, word),
            None => Some(0),
        };
        let (value_index, time_index) = (value_index?, time_index?);
        let (mut times, mut values): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (number, line) in lines {
            let cells: Vec<&str> = line.split(separator).collect();
            let cell = |i: usize| cells.get(i).map(|c| clean(c)).unwrap_or_default();
            let read = |i: usize| cell(i).parse::<f64>().ok().filter(|x| x.is_finite());
            let (Some(t), Some(value)) = (read(time_index), read(value_index)) else {
                let bad = if read(time_index).is_none() { cell(time_index) } else { cell(value_index) };
                self.table_error(
                    &source,
                    number,
                    format!("`{bad}` is not a number"),
                    "every row needs numbers",
                );
                return None;
            };
            if times.last().is_some_and(|&last| t <= last) {
                let message = format!("the time {t} is not after the one before it");
                self.table_error(&source, number, message, "sort the rows by time, each time once");
                return None;
            }
            times.push(t);
            values.push(value);
        }
        if times.len() < 2 {
            let message = format!("the table `{}` has fewer than two rows", file.text);
            self.error(file.at, message, "a signal needs at least two times");
            return None;
        }
        Some((times, values))
    }

    fn table_error(&mut self, source: &Source, line: usize, message: String, hint: &str) {
        let start: usize = source.text.split_inclusive('\n').take(line).map(str::len).sum();
        let length = source.text[start..].lines().next().map_or(0, str::len);
        let place = source.place(start..start + length);
        self.problems.push(Diagnostic::error(message).at(place).with_hint(hint));
    }
}
