//! The finished text of a subexpression and what its surroundings must know.

/// How tightly a piece holds together; a lower level needs parentheses inside a higher one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Precedence {
    /// `a + b`
    Sum,
    /// `-a`
    Negative,
    /// `a*b`, `a/b`
    Product,
    /// `a^b`
    Power,
    /// `a`, `f(a)`, `2`
    Atom,
}

/// A printed subexpression.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub text: String,
    pub level: Precedence,
    /// Characters it takes when typeset, roughly.
    pub width: usize,
    /// Higher than a line of text (LaTeX): parentheses around it must grow.
    pub tall: bool,
    /// A symbol: a function's argument without parentheses in LaTeX.
    pub symbol: bool,
    /// Starts with a digit, so a number before it needs a sign of multiplication.
    pub digit: bool,
    /// Where an exponent goes inside the text: after `\sin` in `\sin\theta`.
    pub exponent_at: Option<usize>,
}

impl Piece {
    pub fn new(text: String, level: Precedence, width: usize) -> Piece {
        let digit = text.starts_with(|c: char| c.is_ascii_digit());
        Piece { text, level, width, tall: false, symbol: false, digit, exponent_at: None }
    }

    pub fn atom(text: String, width: usize) -> Piece {
        Piece::new(text, Precedence::Atom, width)
    }

    pub fn symbol(text: String, width: usize) -> Piece {
        Piece { symbol: true, ..Piece::atom(text, width) }
    }

    pub fn tall(self, tall: bool) -> Piece {
        Piece { tall: self.tall || tall, ..self }
    }
}

/// Characters of a text when typeset, commands of LaTeX counted as one each.
pub(super) fn latex_width(text: &str) -> usize {
    let mut width = 0;
    let mut command = false;
    for c in text.chars() {
        match c {
            '\\' => {
                command = true;
                width += 1;
            }
            '{' | '}' | '^' | '_' | ' ' => command = false,
            _ if command && c.is_ascii_alphabetic() => {}
            _ => {
                command = false;
                width += 1;
            }
        }
    }
    width
}
