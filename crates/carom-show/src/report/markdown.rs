//! A document as Markdown with LaTeX mathematics between dollar signs.

use super::document::{Block, Document, Inline};
use super::latex::display;

/// Renders as Markdown.
pub fn render(document: &Document) -> String {
    let mut out = format!("# {}\n", escape(&document.title));
    for block in &document.blocks {
        out.push('\n');
        match block {
            Block::Heading(level, text) => {
                let marks = "#".repeat(usize::from(*level) + 1);
                out.push_str(&format!("{marks} {}\n", inline(text)));
            }
            Block::Paragraph(text) => out.push_str(&format!("{}\n", inline(text))),
            Block::List(points) => {
                for point in points {
                    out.push_str(&format!("- {}\n", inline(point)));
                }
            }
            Block::Equations(equations, number) => {
                out.push_str(&format!("$$\n{}\n$$\n", display(equations, *number)));
            }
            Block::Table(head, rows) => {
                let row = |cells: &[Vec<Inline>]| -> String {
                    let cells: Vec<String> = cells.iter().map(|c| inline(c).replace('|', r"\|")).collect();
                    format!("| {} |\n", cells.join(" | "))
                };
                out.push_str(&row(head));
                out.push_str(&format!("|{}\n", " --- |".repeat(head.len())));
                rows.iter().for_each(|r| out.push_str(&row(r)));
            }
        }
    }
    out
}

fn inline(text: &[Inline]) -> String {
    text.iter()
        .map(|piece| match piece {
            Inline::Text(text) => escape(text),
            Inline::Math(formula) => format!("${}$", formula.latex),
            Inline::Code(code) => format!("`{code}`"),
        })
        .collect()
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '$' | '<' | '`' | '\\' | '#' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
