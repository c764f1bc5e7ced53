//! A document for the terminal: Unicode mathematics, aligned, at most as wide as asked for.

use super::document::{Block, Document, Equation, Formula, Inline, Right, display_width, lines_of};

/// Renders for a terminal `width` columns wide.
pub fn render(document: &Document, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    line(&mut out, &document.title);
    line(&mut out, &"═".repeat(display_width(&document.title)));
    for block in &document.blocks {
        out.push('\n');
        match block {
            Block::Heading(level, text) => {
                let text = flat(text);
                let rule = if *level <= 1 { "─" } else { "╌" };
                line(&mut out, &text);
                if *level <= 2 {
                    line(&mut out, &rule.repeat(display_width(&text)));
                }
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
        let keep = matches!(piece, Inline::Math(_)) && display_width(shown) <= 40;
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
    const INDENT: usize = 4;
    let left = equations.iter().map(|e| display_width(&e.left.unicode)).max().unwrap_or(0);
    let relation = equations.iter().map(|e| display_width(&e.relation.unicode)).max().unwrap_or(0);
    let column = INDENT + left + if relation > 0 { relation + 2 } else { 0 };
    for (i, equation) in equations.iter().enumerate() {
        let head = if relation > 0 {
            let gap = " ".repeat(left - display_width(&equation.left.unicode));
            let pad = " ".repeat(relation - display_width(&equation.relation.unicode));
            format!("{gap}{} {}{pad} ", equation.left.unicode, equation.relation.unicode)
        } else {
            String::new()
        };
        let mut lines = right_lines(&equation.right, width.saturating_sub(column).max(30));
        let middle = if matches!(equation.right, Right::Matrix(_)) { (lines.len() - 1) / 2 } else { 0 };
        for (k, text) in lines.iter_mut().enumerate() {
            let before = if k == middle { head.clone() } else { " ".repeat(column - INDENT) };
            *text = format!("{}{before}{text}", " ".repeat(INDENT));
        }
        if let (Some(n), Some(last)) = (number.filter(|_| i + 1 == equations.len()), lines.last_mut()) {
            let tag = format!("({n})");
            let used = display_width(last) + display_width(&tag);
            last.push_str(&" ".repeat(width.saturating_sub(used).max(2)));
            last.push_str(&tag);
        }
        lines.iter().for_each(|text| line(out, text));
    }
}

fn right_lines(right: &Right, width: usize) -> Vec<String> {
    match right {
        Right::Whole(formula) => vec![formula.unicode.clone()],
        Right::Terms { unicode, .. } => lines_of(unicode, width, 0, "+", "−")
            .into_iter()
            .enumerate()
            .map(|(i, l)| if i == 0 { l } else { format!("  {l}") })
            .collect(),
        Right::Matrix(rows) => matrix(rows),
    }
}

fn matrix(rows: &[Vec<Formula>]) -> Vec<String> {
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
    let show = |cells: &[String]| -> String {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(c, &w)| pad(c, w)).collect();
        format!("  {}", padded.join("   "))
    };
    line(out, &show(&head));
    let rules: Vec<String> = widths.iter().map(|&w| "─".repeat(w)).collect();
    line(out, &show(&rules).chars().take(width).collect::<String>());
    rows.iter().for_each(|row| line(out, &show(row)));
}
