//! A document as LaTeX: a file that compiles as it is, with amsmath and nothing unusual.

use super::builder::escape_text;
use super::document::{Block, Document, Equation, Inline, Right, Typeset, lines_of};

/// Characters of mathematics that fit a line.
const LINE: usize = 96;

/// Renders as a standalone LaTeX document.
pub fn render(document: &Document) -> String {
    let mut out = String::from(
        "\\documentclass[11pt,a4paper]{article}\n\
         \\usepackage[T1]{fontenc}\n\
         \\usepackage[utf8]{inputenc}\n\
         \\usepackage{lmodern}\n\
         \\usepackage{amsmath,amssymb}\n\
         \\usepackage[margin=25mm]{geometry}\n\
         \\usepackage{longtable}\n\
         \\usepackage[hidelinks]{hyperref}\n\
         \\allowdisplaybreaks\n\
         \\setlength{\\parindent}{0pt}\n\
         \\setlength{\\parskip}{6pt}\n\
         \\sloppy\n",
    );
    out.push_str(&format!("\\title{{{}}}\n\\date{{}}\n", text(&document.title)));
    out.push_str("\\begin{document}\n\\maketitle\n");
    blocks(&mut out, document);
    out.push_str("\n\\end{document}\n");
    out
}

/// Renders what stands between the preamble and the end, to paste into another document.
pub fn fragment(document: &Document) -> String {
    let mut out =
        format!("% {}: paste after \\usepackage{{amsmath,amssymb", document.title.replace(['\n', '\r'], " "));
    if document.blocks.iter().any(|b| matches!(b, Block::Table(..))) {
        out.push_str(",longtable");
    }
    out.push_str(",hyperref}\n");
    blocks(&mut out, document);
    out
}

fn blocks(out: &mut String, document: &Document) {
    for block in &document.blocks {
        out.push('\n');
        match block {
            Block::Heading(level, words) => {
                let command = match level {
                    0 | 1 => "section",
                    2 => "subsection",
                    _ => "subsubsection",
                };
                out.push_str(&format!("\\{command}*{{{}}}\n", heading(words)));
            }
            Block::Paragraph(words) => out.push_str(&format!("{}\n", inline(words))),
            Block::List(points) => {
                out.push_str("\\begin{itemize}\n");
                for point in points {
                    out.push_str(&format!("\\item {}\n", inline(point)));
                }
                out.push_str("\\end{itemize}\n");
            }
            Block::Equations(equations, number) => {
                out.push_str(&format!("\\[\n{}\n\\]\n", display(equations, *number)));
            }
            Block::Table(head, rows) => table(out, head, rows),
        }
    }
}

/// Displayed equations, for `\[ \]` and for readers of LaTeX in pages alike.
pub fn display(equations: &[Equation], number: Option<u32>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for equation in equations {
        let head = if equation.relation.latex.is_empty() {
            format!("{}&", equation.left.latex)
        } else {
            format!("{} &{} ", equation.left.latex, equation.relation.latex)
        };
        match &equation.right {
            Right::Whole(formula) => lines.push(format!("{head}{}", formula.latex)),
            Right::Matrix(rows) => lines.push(format!("{head}{}", matrix(rows))),
            Right::Terms { latex, .. } => {
                let broken = lines_of(latex, LINE, equation.left.width + 3, "+", "-");
                for (i, line) in broken.into_iter().enumerate() {
                    lines.push(if i == 0 { format!("{head}{line}") } else { format!("&\\quad {{}}{line}") });
                }
            }
        }
    }
    let tag = number.map(|n| format!("\\tag{{{n}}}")).unwrap_or_default();
    match &lines[..] {
        [only] => format!("{}{tag}", only.replacen('&', "", 1)),
        _ => format!("\\begin{{aligned}}\n{}\n\\end{{aligned}}{tag}", lines.join(" \\\\[3pt]\n")),
    }
}

fn matrix(rows: &[Vec<Typeset>]) -> String {
    let rows: Vec<String> =
        rows.iter().map(|row| row.iter().map(|f| f.latex.as_str()).collect::<Vec<_>>().join(" & ")).collect();
    format!("\\begin{{pmatrix}} {} \\end{{pmatrix}}", rows.join(r" \\ "))
}

fn inline(words: &[Inline]) -> String {
    words
        .iter()
        .map(|piece| match piece {
            Inline::Text(words) => text(words),
            Inline::Math(formula) => format!("${}$", formula.latex),
            Inline::Code(code) => format!("\\texttt{{{}}}", text(code)),
        })
        .collect()
}

/// In a heading, mathematics must also work as a bookmark.
fn heading(words: &[Inline]) -> String {
    words
        .iter()
        .map(|piece| match piece {
            Inline::Math(formula) => format!("\\texorpdfstring{{${}$}}{{}}", formula.latex),
            other => inline(std::slice::from_ref(other)),
        })
        .collect()
}

/// Running text: only characters that a T1 font has; Greek and signs as mathematics.
fn text(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        match c {
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '’' => out.push('\''),
            '“' => out.push_str("``"),
            '”' => out.push_str("''"),
            '…' => out.push_str("\\ldots{}"),
            '°' => out.push_str("$^\\circ$"),
            'Δ' => out.push_str("$\\Delta$"),
            '∂' => out.push_str("$\\partial$"),
            '½' => out.push_str("$\\tfrac12$"),
            _ if (c as u32) < 0x180 => out.push_str(&escape_text(c.encode_utf8(&mut [0; 4]))),
            // A letter of the user's own: named by LaTeX where it is Greek, else replaced.
            _ => match carom_expr_greek(c) {
                Some(latex) => out.push_str(&format!("${latex}$")),
                None => out.push('?'),
            },
        }
    }
    out
}

/// The LaTeX of a Greek letter, by way of the printer that knows them.
fn carom_expr_greek(c: char) -> Option<String> {
    let dag = carom_expr::Dag::new();
    let printer = carom_expr::Printer::new(&dag, carom_expr::Style::Latex);
    let latex = printer.symbol(c.encode_utf8(&mut [0; 4]));
    latex.starts_with('\\').then_some(latex)
}

fn table(out: &mut String, head: &[Vec<Inline>], rows: &[Vec<Vec<Inline>>]) {
    let row = |cells: &[Vec<Inline>]| -> String {
        format!("{} \\\\\n", cells.iter().map(|c| inline(c)).collect::<Vec<_>>().join(" & "))
    };
    // The last column takes what is left and breaks its lines.
    let columns = format!("{}p{{0.5\\textwidth}}", "l".repeat(head.len().saturating_sub(1)));
    out.push_str(&format!("\\begin{{longtable}}{{{columns}}}\n\\hline\n{}\\hline\n", row(head)));
    rows.iter().for_each(|r| out.push_str(&row(r)));
    out.push_str("\\hline\n\\end{longtable}\n");
}
