//! The report in pieces, as JSON for pages: section by section, block by block, every equation as MathML beside what one may
//! want to copy: LaTeX, SymPy, text.

use super::document::{Block, Document, Equation, Inline, Right};
use super::{ReportSection, html, latex, mathml, sections, terminal};
use crate::table::string;
use carom_mech::Mechanics;

/// Wider than any formula anyone copies.
const WIDE: usize = 50_000;

/// The sections of a report as a JSON list of `{ part, title, blocks }`. Texts of blocks are HTML whose names are escaped.
pub fn sections_json(mechanics: &Mechanics) -> String {
    list(sections(mechanics).iter().map(section))
}

fn section(section: &ReportSection) -> String {
    let title = section.blocks.iter().find_map(|block| match block {
        Block::Heading(_, text) => Some(plain(text)),
        _ => None,
    });
    format!(
        "{{\"part\":{},\"title\":{},\"blocks\":{}}}",
        string(section.part.name()),
        string(&title.unwrap_or_else(|| section.part.name().to_owned())),
        list(section.blocks.iter().map(block))
    )
}

fn block(block: &Block) -> String {
    let inline = |text: &[Inline]| string(&html::inline(text));
    let cells = |row: &[Vec<Inline>]| list(row.iter().map(|cell| inline(cell)));
    match block {
        Block::Heading(level, text) => format!(
            "{{\"kind\":\"heading\",\"level\":{level},\"html\":{},\"text\":{}}}",
            inline(text),
            string(&plain(text))
        ),
        Block::Paragraph(text) => format!("{{\"kind\":\"paragraph\",\"html\":{}}}", inline(text)),
        Block::List(points) => {
            format!("{{\"kind\":\"list\",\"items\":{}}}", list(points.iter().map(|point| inline(point))))
        }
        Block::Table(head, rows) => format!(
            "{{\"kind\":\"table\",\"head\":{},\"rows\":{}}}",
            cells(head),
            list(rows.iter().map(|row| cells(row)))
        ),
        Block::Equations(equations, number) => format!(
            "{{\"kind\":\"equations\",\"number\":{},\"latex\":{},\"text\":{},\"rows\":{}}}",
            number.map_or_else(|| "null".to_owned(), |n| n.to_string()),
            string(&latex::display(equations, *number)),
            string(&text(equations)),
            list(equations.iter().map(row))
        ),
    }
}

fn row(equation: &Equation) -> String {
    let left = match equation.relation.latex.is_empty() {
        true => String::new(),
        false => mathml::whole(&format!("{} {}", equation.left.latex, equation.relation.latex)),
    };
    let right = html::right(&equation.right);
    let alone = std::slice::from_ref(equation);
    format!(
        "{{\"left\":{},\"right\":{},\"formula\":{{\"mathml\":{},\"latex\":{},\"text\":{},\"sympy\":{}}}}}",
        string(&left),
        string(&right),
        string(&format!("{left}{right}")),
        string(&one_line(equation)),
        string(&text(alone)),
        equation.sympy.as_ref().map_or_else(|| "null".to_owned(), |code| string(code))
    )
}

/// The LaTeX of an equation without a display around it.
fn one_line(equation: &Equation) -> String {
    let right = match &equation.right {
        Right::Whole(formula) => formula.latex.clone(),
        Right::Terms { latex, .. } => sum(latex),
        Right::Matrix(rows) => {
            let rows: Vec<String> = rows
                .iter()
                .map(|row| row.iter().map(|f| f.latex.as_str()).collect::<Vec<_>>().join(" & "))
                .collect();
            format!("\\begin{{pmatrix}} {} \\end{{pmatrix}}", rows.join(" \\\\ "))
        }
    };
    let pieces = [equation.left.latex.as_str(), equation.relation.latex.as_str(), right.as_str()];
    pieces.iter().filter(|piece| !piece.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

fn sum(terms: &[carom_expr::Term]) -> String {
    let mut out = String::new();
    for (i, term) in terms.iter().enumerate() {
        out.push_str(match (i, term.negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        });
        out.push_str(&term.text);
    }
    out
}

/// Equations as on a very wide terminal, without their number, which would stand at its far end.
fn text(equations: &[Equation]) -> String {
    let blocks = vec![Block::Equations(equations.to_vec(), None)];
    let text = terminal::render(&Document { title: String::new(), blocks, stamp: None }, WIDE);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.iter().map(|line| &line[indent..]).collect::<Vec<_>>().join("\n")
}

fn plain(text: &[Inline]) -> String {
    text.iter()
        .map(|piece| match piece {
            Inline::Text(text) | Inline::Code(text) => text.as_str(),
            Inline::Math(formula) => formula.unicode.as_str(),
        })
        .collect()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
