//! A document as one HTML file that opens offline: mathematics is MathML, its font is inside, nothing is loaded and no
//! script is needed.
//!
//! Equations are aligned at their relations; a right side flows like text, so that lines end where the page does: on a
//! wide screen, on a telephone and on paper. A script of a few lines puts the LaTeX of the equations that were selected
//! into what is copied.

use super::document::{Block, Document, Equation, Inline, Right};
use super::latex::display;
use super::mathml::{self, escape};
use crate::font::{self, woff};
use std::collections::BTreeSet;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The part of New Computer Modern Math that reports can need; see `build/main.rs`.
static FONT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/math.otf"));

/// Renders as HTML.
pub fn render(document: &Document) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(&document.title));
    let mut contents = String::new();
    let mut sections = 0;
    for block in &document.blocks {
        match block {
            Block::Heading(level, text) => {
                let tag = (level + 1).clamp(2, 4);
                sections += 1;
                if *level == 1 {
                    contents.push_str(&format!("<li><a href=\"#s{sections}\">{}</a></li>\n", inline(text)));
                }
                body.push_str(&format!("<h{tag} id=\"s{sections}\">{}</h{tag}>\n", inline(text)));
            }
            Block::Paragraph(text) => body.push_str(&format!("<p>{}</p>\n", inline(text))),
            Block::List(points) => {
                let points: String = points.iter().map(|p| format!("<li>{}</li>\n", inline(p))).collect();
                body.push_str(&format!("<ul>\n{points}</ul>\n"));
            }
            Block::Equations(equations, number) => self::equations(&mut body, equations, *number),
            Block::Table(head, rows) => {
                let cells = |cells: &[Vec<Inline>], tag: &str| -> String {
                    cells.iter().map(|c| format!("<{tag}>{}</{tag}>", inline(c))).collect()
                };
                body.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n");
                body.push_str(&format!("<thead><tr>{}</tr></thead>\n<tbody>\n", cells(head, "th")));
                rows.iter().for_each(|r| body.push_str(&format!("<tr>{}</tr>\n", cells(r, "td"))));
                body.push_str("</tbody></table></div>\n");
            }
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>\n{}{STYLE}</style>\n</head>\n<body>\n\
         <nav aria-label=\"Contents\"><ul>\n{contents}</ul></nav>\n<main>\n{body}</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&document.title),
        font(&mathml::characters(&format!("{contents}{body}"))),
    )
}

/// The font that formulas are set in, whole: OpenType, with what reports can need.
pub fn math_font() -> &'static [u8] {
    FONT
}

/// A web font with these characters. Without it, the browser's own font for mathematics is used.
pub fn font(characters: &BTreeSet<char>) -> String {
    let Some(tables) = font::subset(FONT, characters) else { return String::new() };
    let data = woff::base64(&woff::file(&tables));
    format!("@font-face{{font-family:carom-math;src:url(data:font/woff;base64,{data}) format(\"woff\")}}\n")
}

/// Equations under each other, aligned at their relations, with their number beside them.
fn equations(body: &mut String, equations: &[Equation], number: Option<u32>) {
    let tex = escape(&display(equations, number));
    body.push_str(&format!("<div class=\"eq\" data-tex=\"{tex}\"><div class=\"rows\" tabindex=\"0\">\n"));
    for equation in equations {
        body.push_str("<div>");
        if !equation.relation.latex.is_empty() {
            let left = format!("{} {}", equation.left.latex, equation.relation.latex);
            body.push_str(&format!("<span>{}</span>", mathml::whole(&left)));
        }
        body.push_str(&format!("<span>{}</span></div>\n", right(&equation.right)));
    }
    body.push_str("</div>");
    if let Some(number) = number {
        body.push_str(&format!("<span class=\"number\">({number})</span>"));
    }
    body.push_str("</div>\n");
}

pub fn right(right: &Right) -> String {
    match right {
        Right::Whole(formula) => mathml::breakable(&formula.latex),
        Right::Matrix(rows) => {
            let rows: Vec<Vec<&str>> =
                rows.iter().map(|row| row.iter().map(|f| f.latex.as_str()).collect()).collect();
            mathml::matrix(&rows)
        }
        Right::Terms { latex, .. } => {
            let mut sum = String::new();
            for (i, term) in latex.iter().enumerate() {
                sum.push_str(match (i, term.negative) {
                    (0, false) => "",
                    (_, false) => " + ",
                    (_, true) => " - ",
                });
                sum.push_str(&term.text);
            }
            mathml::breakable(&sum)
        }
    }
}

pub fn inline(text: &[Inline]) -> String {
    text.iter()
        .map(|piece| match piece {
            Inline::Text(text) => escape(text),
            Inline::Math(formula) => mathml::breakable(&formula.latex),
            Inline::Code(code) => format!("<code>{}</code>", escape(code)),
        })
        .collect()
}
