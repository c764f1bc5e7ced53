//! A document: headings, paragraphs, equations, tables. Built once, rendered to every format, so that formats
//! cannot disagree. A formula carries its LaTeX and its Unicode form from birth.

use crate::provenance::Stamp;
use carom_expr::Term;

/// A piece of mathematics in both of its forms.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Typeset {
    /// For a terminal.
    pub unicode: String,
    /// For LaTeX, and for pages.
    pub latex: String,
    /// Roughly how many characters wide the LaTeX is when typeset.
    pub width: usize,
}

impl Typeset {
    /// A formula known in both forms.
    pub fn new(unicode: impl Into<String>, latex: impl Into<String>) -> Typeset {
        let (unicode, latex) = (unicode.into(), latex.into());
        let width = display_width(&unicode);
        Typeset { unicode, latex, width }
    }

    /// `self` followed by `next`.
    pub fn then(&self, next: &Typeset) -> Typeset {
        Typeset {
            unicode: format!("{}{}", self.unicode, next.unicode),
            latex: format!("{}{}", self.latex, next.latex),
            width: self.width + next.width,
        }
    }

    /// Reads `unicode|latex`; without a bar both forms are the same.
    pub fn pair(text: &str) -> Typeset {
        match text.split_once('|') {
            Some((unicode, latex)) => Typeset::new(unicode.trim(), latex.trim()),
            None => Typeset::new(text, text),
        }
    }
}

/// A piece of running text.
#[derive(Clone, PartialEq, Debug)]
pub enum Inline {
    /// Words.
    Text(String),
    /// Mathematics.
    Math(Typeset),
    /// A name as it stands in the model file.
    Code(String),
}

/// The right side of an equation.
#[derive(Clone, PartialEq, Debug)]
pub enum Right {
    /// In one piece.
    Whole(Typeset),
    /// A sum that may be broken between its terms.
    Terms {
        /// For a terminal.
        unicode: Vec<Term>,
        /// For LaTeX, and for pages.
        latex: Vec<Term>,
    },
    /// A matrix, row by row.
    Matrix(Vec<Vec<Typeset>>),
}

/// `left relation right`.
#[derive(Clone, PartialEq, Debug)]
pub struct Equation {
    /// Before the relation; may be empty.
    pub left: Typeset,
    /// `=`, `≥`, `∈`; empty when there is only a right side.
    pub relation: Typeset,
    /// After the relation.
    pub right: Right,
    /// The right side (with an empty relation: what is zero) as SymPy code, where it is an expression.
    pub sympy: Option<String>,
}

/// A part of a document.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// A heading of level 1 to 3.
    Heading(u8, Vec<Inline>),
    /// Running text.
    Paragraph(Vec<Inline>),
    /// Displayed equations, aligned at their relations, with the number they are referred to by.
    Equations(Vec<Equation>, Option<u32>),
    /// A table with a heading row.
    Table(Vec<Vec<Inline>>, Vec<Vec<Vec<Inline>>>),
    /// Points of a list.
    List(Vec<Vec<Inline>>),
}

/// A document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Its parts in order.
    pub blocks: Vec<Block>,
    /// Where it comes from.
    pub stamp: Option<Stamp>,
}

/// Reads running text: mathematics between `‹ ›` as `unicode|latex`, code between backquotes.
pub fn inlines(text: &str) -> Vec<Inline> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['‹', '`']) {
        if at > 0 {
            out.push(Inline::Text(rest[..at].to_string()));
        }
        let (open, close) = if rest[at..].starts_with('‹') { ('‹', '›') } else { ('`', '`') };
        let inner = &rest[at + open.len_utf8()..];
        let end = inner.find(close).unwrap_or(inner.len());
        out.push(if open == '`' {
            Inline::Code(inner[..end].to_string())
        } else {
            Inline::Math(Typeset::pair(&inner[..end]))
        });
        rest = inner.get(end + close.len_utf8()..).unwrap_or("");
    }
    if !rest.is_empty() {
        out.push(Inline::Text(rest.to_string()));
    }
    out
}

/// Columns of a terminal that `text` takes: combining marks take none.
pub fn display_width(text: &str) -> usize {
    text.chars().filter(|&c| !('\u{300}'..='\u{36f}').contains(&c)).count()
}

/// Joins terms into lines of at most `width`, signs included; the first line may be shortened by `first`.
pub fn lines_of(terms: &[Term], width: usize, first: usize, plus: &str, minus: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = first;
    for (i, term) in terms.iter().enumerate() {
        if i > 0 && used + term.width + 3 > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 4;
        }
        match (i, term.negative, line.is_empty()) {
            (0, false, _) => {}
            (0, true, _) => line.push_str(minus),
            (_, negative, start) => {
                if !start {
                    line.push(' ');
                }
                line.push_str(if negative { minus } else { plus });
                line.push(' ');
            }
        }
        line.push_str(&term.text);
        used += term.width + 3;
    }
    lines.push(line);
    lines
}
