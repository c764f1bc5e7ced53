//! Our own Markdown on a terminal: headings, paragraphs, lists, tables and fenced blocks, fitted to its width. Not a reader of
//! Markdown in general: the pages are ours, and a test renders every one of them.

use crate::paint::Paint;
use carom_mech::diagnostic::width_of;

/// Narrower than this, words decide.
const NARROWEST: usize = 24;
/// Lines that are longer are hard to read.
const WIDEST: usize = 110;

/// How many columns there are.
pub fn width() -> usize {
    crate::terminal::columns().clamp(NARROWEST, WIDEST)
}

/// The text for a terminal of so many columns.
pub fn render(markdown: &str, width: usize, paint: Paint) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            // Code is shown as it is.
            for code in lines.by_ref().take_while(|l| !l.starts_with("```")) {
                out.push(paint.cyan(&format!("    {code}")));
            }
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|l| l.starts_with('|')) {
                rows.push(cells(row));
            }
            rows.retain(|r| !r.iter().all(|c| c.chars().all(|c| c == '-')));
            out.extend(table(&rows, width, paint));
        } else if let Some(title) =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
        {
            out.push(paint.bold(&plain(title)));
        } else if line.is_empty() {
            out.push(String::new());
        } else {
            let mut text = line.to_owned();
            while let Some(more) = lines.next_if(|l| !l.is_empty() && !l.starts_with(['|', '#', '`', '*'])) {
                text = format!("{text} {}", more.trim());
            }
            let (first, indent) = match text.strip_prefix("* ") {
                Some(_) => ("* ", "  "),
                None => ("", ""),
            };
            let text = plain(text.strip_prefix("* ").unwrap_or(&text));
            for (i, part) in wrapped(&text, width.saturating_sub(indent.len())).into_iter().enumerate() {
                out.push(format!("{}{part}", if i == 0 { first } else { indent }));
            }
        }
    }
    out.join("\n") + "\n"
}

/// Without marks: backticks, emphasis, the target of a link.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find("](") {
        let Some((name, close)) = rest[..open].rfind('[').zip(rest[open..].find(')')) else { break };
        out += &rest[..name];
        out += &rest[name + 1..open];
        rest = &rest[open + close + 1..];
    }
    (out + rest).replace("**", "").replace('`', "")
}

/// The cells of a row of a table.
fn cells(line: &str) -> Vec<String> {
    let bar = "\u{1}";
    let line = line.replace("\\|", bar);
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|c| plain(c.trim()).replace(bar, "|")).collect()
}

/// A table: narrow columns take what they need, the wide ones share what is left; where that is too little, each row is a
/// small paragraph.
fn table(rows: &[Vec<String>], width: usize, paint: Paint) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    // The header is not shown.
    let widest =
        |k: usize| rows.iter().skip(1).filter_map(|r| r.get(k)).map(|c| width_of(c)).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut by_width: Vec<usize> = (0..columns).collect();
    by_width.sort_by_key(|&k| widths[k]);
    let mut room = width.saturating_sub(2 * columns.saturating_sub(1));
    for (done, &k) in by_width.iter().enumerate() {
        widths[k] = widths[k].min(room / (columns - done));
        room -= widths[k];
    }
    let last = widths.last().copied().unwrap_or(0) + room;
    let mut out = Vec::new();
    if last < NARROWEST && columns > 1 {
        for row in rows.iter().skip(1) {
            out.extend(wrapped(row.first().map_or("", String::as_str), width).iter().map(|l| paint.cyan(l)));
            for cell in row.iter().skip(1).filter(|c| !c.is_empty()) {
                out.extend(wrapped(cell, width.saturating_sub(2)).iter().map(|l| format!("  {l}")));
            }
        }
        return out;
    }
    if let Some(w) = widths.last_mut() {
        *w = last;
    }
    // A header says nothing that the columns do not.
    for row in rows.iter().skip(1) {
        let parts: Vec<Vec<String>> = row.iter().zip(&widths).map(|(c, w)| wrapped(c, *w)).collect();
        let height = parts.iter().map(Vec::len).max().unwrap_or(0);
        for k in 0..height {
            let mut line = String::new();
            for (column, (part, w)) in parts.iter().zip(&widths).enumerate() {
                let text = part.get(k).map_or("", String::as_str);
                let pad = w.saturating_sub(width_of(text)) + 2;
                line += &if column == 0 { paint.cyan(text) } else { text.to_owned() };
                if column + 1 < parts.len() {
                    line += &" ".repeat(pad);
                }
            }
            out.push(line.trim_end().to_owned());
        }
    }
    out
}

/// Lines of at most so many columns, broken at spaces; a word that is longer stands alone, broken where it must be.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        loop {
            let Some(line) = lines.last_mut() else { return lines };
            let space = usize::from(!line.is_empty());
            if width_of(line) + space + width_of(&word) <= width {
                if space == 1 {
                    line.push(' ');
                }
                line.push_str(&word);
                break;
            }
            if !line.is_empty() {
                lines.push(String::new());
                continue;
            }
            // After a dot, a bracket or an underscore, if there is one in time.
            let fits: Vec<(usize, char)> = word.char_indices().take(width).collect();
            let cut = fits
                .iter()
                .rposition(|(_, c)| ['.', ']', '_', ','].contains(c))
                .map_or(fits.len(), |k| k + 1);
            let at = word.char_indices().nth(cut).map_or(word.len(), |(i, _)| i);
            line.push_str(&word[..at]);
            word.replace_range(..at, "");
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fit_their_width_and_lose_no_word() {
        let table = "| key | what | meaning |\n|---|---|---|\n| `restitution` | number or formula, 0 to 1 | e: the part of the approach speed that is given back |\n";
        for width in [24, 40, 60, 100] {
            let text = render(table, width, Paint::off());
            assert!(text.lines().all(|l| width_of(l) <= width), "{width}:\n{text}");
            let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).count();
            assert_eq!(letters(&text), letters(&table[table.find("| `").unwrap()..]), "{text}");
        }
    }

    #[test]
    fn links_and_marks_leave_their_words() {
        assert_eq!(plain("see [TOML](https://toml.io) and **this** `x'`"), "see TOML and this x'");
    }
}
