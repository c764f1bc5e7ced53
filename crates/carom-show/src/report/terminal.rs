//! A document for the terminal: Unicode mathematics, aligned, at most as wide as asked for.

use super::document::{Block, Document, Equation, Inline, Right, Typeset, display_width, lines_of};

/// A formula that a line of text keeps in one piece.
const SHORT: usize = 28;

/// Renders for a terminal `width` columns wide.
pub fn render(document: &Document, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    heading(&mut out, &document.title, Some("═"), width);
    for block in &document.blocks {
        out.push('\n');
        match block {
            Block::Heading(level, text) => {
                let rule = match level {
                    0 | 1 => Some("─"),
                    2 => Some("╌"),
                    _ => None,
                };
                heading(&mut out, &flat(text), rule, width);
            }
            Block::Paragraph(text) => wrapped(&mut out, &words(text), width, "", ""),
            Block::List(points) => {
                for point in points {
                    wrapped(&mut out, &words(point), width, "  • ", "    ");
                }
            }
            Block::Equations(equations, number) => self::equations(&mut out, equations, *number, width),
            Block::Table(head, rows) => table(&mut out, head, rows, width),
        }
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// A heading and the rule below it.
fn heading(out: &mut String, text: &str, rule: Option<&str>, width: usize) {
    let words: Vec<String> = text.split(' ').map(str::to_string).collect();
    wrapped(out, &words, width, "", "");
    if let Some(rule) = rule {
        line(out, &rule.repeat(display_width(text).min(width)));
    }
}

fn inline(piece: &Inline) -> &str {
    match piece {
        Inline::Text(text) | Inline::Code(text) => text,
        Inline::Math(formula) => &formula.unicode,
    }
}

pub(super) fn flat(text: &[Inline]) -> String {
    text.iter().map(inline).collect()
}

/// Words for wrapping: short formulas are not broken.
fn words(text: &[Inline]) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for piece in text {
        let shown = inline(piece);
        let keep = matches!(piece, Inline::Math(_)) && display_width(shown) <= SHORT;
        if keep {
            if let Some(last) = words.last_mut() {
                last.push_str(shown);
            }
            continue;
        }
        for (i, word) in shown.split(' ').enumerate() {
            match words.last_mut() {
                Some(last) if i == 0 => last.push_str(word),
                _ => words.push(word.to_string()),
            }
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

fn wrapped(out: &mut String, words: &[String], width: usize, first: &str, next: &str) {
    let mut current = first.to_string();
    let mut empty = true;
    for word in words {
        if !empty && display_width(&current) + 1 + display_width(word) > width {
            line(out, &current);
            current = next.to_string();
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        current.push_str(word);
        empty = false;
    }
    line(out, &current);
}

fn equations(out: &mut String, equations: &[Equation], number: Option<u32>, width: usize) {
    let left = equations.iter().map(|e| display_width(&e.left.unicode)).max().unwrap_or(0);
    let relation = equations.iter().map(|e| display_width(&e.relation.unicode)).max().unwrap_or(0);
    // On a narrow page formulas start further left, and a right side may begin on a line of its own.
    let indent = if width < 60 { 2 } else { 4 };
    let column = indent + left + if relation > 0 { relation + 2 } else { 0 };
    let below = column > width / 2;
    let room = if below { width - indent - 2 } else { width - column };
    for (i, equation) in equations.iter().enumerate() {
        let head = if relation > 0 {
            let gap = " ".repeat(if below { 0 } else { left - display_width(&equation.left.unicode) });
            let pad = " ".repeat(relation - display_width(&equation.relation.unicode));
            format!("{gap}{} {}{pad} ", equation.left.unicode, equation.relation.unicode)
        } else {
            String::new()
        };
        let mut lines = right_lines(&equation.right, room);
        let fits = lines.len() == 1 && indent + display_width(&head) + display_width(&lines[0]) <= width;
        if below && !fits && !head.is_empty() {
            lines.iter_mut().for_each(|text| *text = format!("{}{text}", " ".repeat(indent + 2)));
            let head = broken(head.trim_end(), width - indent);
            lines.splice(0..0, head.into_iter().map(|h| format!("{}{h}", " ".repeat(indent))));
        } else {
            let is_matrix = matches!(equation.right, Right::Matrix(_))
                && (lines[0].starts_with('⎡') || lines[0].starts_with("[ "));
            let middle = if is_matrix { (lines.len() - 1) / 2 } else { 0 };
            let blank = " ".repeat(if below { display_width(&head) } else { column - indent });
            for (k, text) in lines.iter_mut().enumerate() {
                *text = format!("{}{}{text}", " ".repeat(indent), if k == middle { &head } else { &blank });
            }
        }
        if let (Some(n), Some(last)) = (number.filter(|_| i + 1 == equations.len()), lines.last_mut()) {
            let tag = format!("({n})");
            let used = display_width(last) + display_width(&tag);
            if used + 2 > width {
                lines.push(format!("{}{tag}", " ".repeat(width - display_width(&tag))));
            } else {
                last.push_str(&" ".repeat(width - used));
                last.push_str(&tag);
            }
        }
        lines.iter().for_each(|text| line(out, text));
    }
}

fn right_lines(right: &Right, width: usize) -> Vec<String> {
    match right {
        Right::Whole(formula) => broken(&formula.unicode, width),
        Right::Terms { unicode, .. } => lines_of(unicode, width, 0, "+", "−")
            .into_iter()
            .enumerate()
            .flat_map(|(i, l)| broken(&if i == 0 { l } else { format!("  {l}") }, width))
            .collect(),
        Right::Matrix(rows) => {
            let lines = matrix(rows);
            if lines.iter().all(|l| display_width(l) <= width) { lines } else { entries(rows, width) }
        }
    }
}

/// A formula in lines of at most `width`, if it has places to break: between formulas, before a relation, a sign or a factor.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let indent = text.len() - text.trim_start().len();
    let mut rest = text.to_string();
    while display_width(&rest) > width {
        let own = rest.len() - rest.trim_start().len();
        let fits =
            |at: usize| display_width(&rest[..at]) <= width && display_width(rest[..at].trim()) >= width / 3;
        let depths = depths(&rest);
        let last = |mark: &str, keep: usize, depth: usize| {
            let places =
                rest.match_indices(mark).filter(|(at, _)| depths[*at] == depth).map(|(at, _)| at + keep);
            places.filter(|&at| at > own && fits(at)).last()
        };
        // Outside of brackets first.
        let at = (0..=depths.iter().copied().max().unwrap_or(0)).find_map(|depth| {
            last(",   ", 1, depth)
                .or_else(|| last(" = ", 0, depth))
                .or_else(|| [" + ", " − ", " ∈ ", " ≥ "].iter().filter_map(|m| last(m, 0, depth)).max())
                .or_else(|| last("·", "·".len(), depth))
                .or_else(|| last(" ", 0, depth))
        });
        let Some(at) = at else { break };
        lines.push(rest[..at].trim_end().to_string());
        rest = format!("{}{}", " ".repeat(indent + 2), rest[at..].trim_start());
        if display_width(&rest) >= display_width(text) && lines.len() > text.len() {
            break;
        }
    }
    lines.push(rest);
    lines
}

/// How many brackets are open at each byte.
fn depths(text: &str) -> Vec<usize> {
    let mut depth = 0usize;
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        depth = if c == ')' { depth.saturating_sub(1) } else { depth };
        out.extend(std::iter::repeat_n(depth, c.len_utf8()));
        depth += usize::from(c == '(');
    }
    out
}

/// A matrix too wide for the page, entry by entry; what is zero is left out.
fn entries(rows: &[Vec<Typeset>], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        for (j, formula) in row.iter().enumerate().filter(|(_, f)| f.unicode != "0") {
            let place = format!("[{},{}] ", i + 1, j + 1);
            let blank = " ".repeat(display_width(&place));
            let pieces = broken(&formula.unicode, width.saturating_sub(place.len()).max(8));
            lines.extend(
                pieces
                    .iter()
                    .enumerate()
                    .map(|(k, p)| format!("{}{p}", if k == 0 { &place } else { &blank })),
            );
        }
    }
    lines
}

fn matrix(rows: &[Vec<Typeset>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|j| rows.iter().filter_map(|r| r.get(j)).map(|f| display_width(&f.unicode)).max().unwrap_or(0))
        .collect();
    let count = rows.len();
    rows.iter()
        .enumerate()
        .map(|(i, row)| {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(f, &w)| pad(&f.unicode, w)).collect();
            let (open, close) = match (count, i) {
                (1, _) => ('[', ']'),
                (_, 0) => ('⎡', '⎤'),
                (n, i) if i + 1 == n => ('⎣', '⎦'),
                _ => ('⎢', '⎥'),
            };
            format!("{open} {} {close}", cells.join("  "))
        })
        .collect()
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

fn table(out: &mut String, head: &[Vec<Inline>], rows: &[Vec<Vec<Inline>>], width: usize) {
    let head: Vec<String> = head.iter().map(|c| flat(c)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|r| r.iter().map(|c| flat(c)).collect()).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|j| {
            let cells = rows.iter().filter_map(|r| r.get(j)).chain(head.get(j));
            cells.map(|c| display_width(c)).max().unwrap_or(0)
        })
        .collect();
    // Columns move together before anything is broken.
    let total = |gap: usize| 2 + widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1);
    let gap = (1..=3).rev().find(|&gap| total(gap) <= width).unwrap_or(1);
    let last = widths.len().saturating_sub(1);
    let before = total(gap) - widths.get(last).copied().unwrap_or(0);
    let room = width.saturating_sub(before);
    if total(gap) > width && room < 12 {
        return records(out, &head, &rows, width);
    }
    let show = |out: &mut String, cells: &[String]| {
        let padded = |j: usize, text: &str| if j == last { text.to_string() } else { pad(text, widths[j]) };
        let ending = broken(cells.get(last).map_or("", String::as_str), room);
        for (k, ending) in ending.iter().enumerate() {
            let cell = |j: usize| {
                if j == last {
                    ending.as_str()
                } else if k == 0 {
                    cells.get(j).map_or("", String::as_str)
                } else {
                    ""
                }
            };
            let cells: Vec<String> = (0..widths.len()).map(|j| padded(j, cell(j))).collect();
            line(out, &format!("  {}", cells.join(&" ".repeat(gap))));
        }
    };
    show(out, &head);
    show(
        out,
        &widths
            .iter()
            .enumerate()
            .map(|(j, &w)| "─".repeat(if j == last { w.min(room) } else { w }))
            .collect::<Vec<_>>(),
    );
    rows.iter().for_each(|row| show(out, row));
}

/// A table too wide for the page: every row as lines of `heading: cell`.
fn records(out: &mut String, head: &[String], rows: &[Vec<String>], width: usize) {
    for row in rows {
        let filled = row.iter().zip(head).filter(|(cell, _)| !cell.is_empty());
        for (i, (cell, name)) in filled.enumerate() {
            let lead = if i == 0 { "  " } else { "    " };
            let text = if name.is_empty() { cell.clone() } else { format!("{name}: {cell}") };
            broken(&format!("{lead}{text}"), width).iter().for_each(|l| line(out, l));
        }
    }
}
