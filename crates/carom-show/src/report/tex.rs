//! Formulas as trees of boxes: what the LaTeX of this program means.
//!
//! The language is closed: it is what [`carom_expr`] prints and what the laws of the theory are written in. Atoms have
//! TeX's classes, because they decide the space between neighbours (the table in *The TeXbook*, chapter 18): operators
//! and relations bring theirs with them, `sin` stands a thin space away from what it is applied to, and so does a pair
//! of growing brackets. A minus sign is an operator only between two operands.
//!
//! Promise: every formula is read, none is lost. What is not in the language becomes [`MathBox::Unknown`] and shows.

/// How an atom behaves towards its neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomClass {
    /// A letter, a number, a fraction.
    Ordinary,
    /// `sin`, ∫
    Operator,
    /// `+` between operands.
    Binary,
    /// `=`
    Relation,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Punctuation,
    /// A pair of growing brackets.
    Inner,
}

/// A box.
#[derive(Clone, PartialEq, Debug)]
pub enum MathBox {
    /// A letter or word; `upright` where a single letter would lean.
    Name {
        /// What it says.
        text: String,
        /// A single letter that does not lean.
        upright: bool,
        /// Does it name a function?
        class: AtomClass,
    },
    /// A number.
    Number(String),
    /// A sign; `size` in font sizes for `\big`, 0 for signs that do not grow.
    Sign {
        /// The character.
        sign: char,
        /// Between which neighbours it stands.
        class: AtomClass,
        /// A fixed height, in units of the font size.
        size: Option<f64>,
    },
    /// Words.
    Text(String),
    /// Space, in units of the font size.
    Space(f64),
    /// Side by side.
    Row(Vec<MathBox>),
    /// Above, below; small also in a display.
    Fraction(Box<MathBox>, Box<MathBox>, bool),
    /// √
    Root(Box<MathBox>),
    /// Base, subscript, superscript.
    Scripts(Box<MathBox>, Option<Box<MathBox>>, Option<Box<MathBox>>),
    /// A mark over a letter.
    Accent(Box<MathBox>, char),
    /// Brackets as high as what is between them.
    Fenced(char, Vec<MathBox>, char),
    /// A matrix in growing brackets, row by row.
    Matrix(Vec<Vec<MathBox>>),
    /// Not of this language.
    Unknown(String),
}

impl MathBox {
    /// The class that decides the space around it.
    pub fn class(&self) -> Option<AtomClass> {
        match self {
            MathBox::Name { class, .. } | MathBox::Sign { class, .. } => Some(*class),
            MathBox::Scripts(base, ..) => base.class(),
            MathBox::Fenced(..) | MathBox::Matrix(_) => Some(AtomClass::Inner),
            MathBox::Space(_) => None,
            _ => Some(AtomClass::Ordinary),
        }
    }
}

/// A thin space, in units of the font size.
pub const THIN: f64 = 3.0 / 18.0;

/// The boxes of a formula, with the space that TeX puts between them.
pub fn read(latex: &str) -> Vec<MathBox> {
    let mut reader = TexReader { rest: latex };
    let mut nodes = Vec::new();
    loop {
        nodes.extend(reader.row());
        match reader.next() {
            // A bracket too many.
            Some(token) => nodes.push(MathBox::Unknown(token.to_string())),
            None => return spaced(nodes),
        }
    }
}

/// Signs without a meaning between operands become ordinary, and thin spaces are put where classes ask for them.
fn spaced(nodes: Vec<MathBox>) -> Vec<MathBox> {
    let mut out: Vec<MathBox> = Vec::with_capacity(nodes.len());
    let mut before: Option<AtomClass> = None;
    for mut node in nodes {
        if node.class() == Some(AtomClass::Binary)
            && matches!(
                before,
                None | Some(
                    AtomClass::Binary
                        | AtomClass::Operator
                        | AtomClass::Relation
                        | AtomClass::Open
                        | AtomClass::Punctuation
                )
            )
        {
            unary(&mut node);
        }
        if let (Some(left), Some(right)) = (before, node.class())
            && thin(left, right)
            && !matches!(out.last(), Some(MathBox::Space(_)))
        {
            out.push(MathBox::Space(THIN));
        }
        before = node.class().or(before);
        match (out.last_mut(), &node) {
            (Some(MathBox::Space(width)), MathBox::Space(more)) => *width += more,
            _ => out.push(node),
        }
    }
    out
}

fn unary(node: &mut MathBox) {
    match node {
        MathBox::Sign { class, .. } => *class = AtomClass::Ordinary,
        MathBox::Scripts(base, ..) => unary(base),
        _ => {}
    }
}

fn thin(left: AtomClass, right: AtomClass) -> bool {
    use AtomClass::*;
    matches!(
        (left, right),
        (Ordinary | Close | Inner, Operator | Inner)
            | (Operator, Ordinary | Operator | Inner)
            | (Inner, Ordinary | Open)
    )
}

struct TexReader<'a> {
    rest: &'a str,
}

impl<'a> TexReader<'a> {
    /// The next token: a command with its backslash, or a character.
    fn peek(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        let mut chars = self.rest.char_indices();
        let (_, first) = chars.next()?;
        let end = match (first, chars.next()) {
            ('\\', Some((at, c))) if !c.is_ascii_alphabetic() => at + c.len_utf8(),
            ('\\', Some(_)) => {
                self.rest[1..].find(|c: char| !c.is_ascii_alphabetic()).map_or(self.rest.len(), |n| n + 1)
            }
            (c, _) => c.len_utf8(),
        };
        Some(&self.rest[..end])
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek()?;
        self.rest = &self.rest[token.len()..];
        Some(token)
    }

    /// Boxes up to a closing brace, `\right`, the end of a cell of a matrix or the end.
    fn row(&mut self) -> Vec<MathBox> {
        let mut nodes = Vec::new();
        while let Some(token) = self.peek() {
            if matches!(token, "}" | "&" | r"\\" | r"\right" | r"\end") {
                break;
            }
            self.next();
            let base = self.nucleus(token);
            nodes.push(self.scripts(base));
        }
        spaced(nodes)
    }

    fn scripts(&mut self, base: MathBox) -> MathBox {
        let (mut sub, mut sup): (Option<Box<MathBox>>, Option<Box<MathBox>>) = (None, None);
        while let Some(token) = self.peek() {
            match token {
                "_" if sub.is_none() => {
                    self.next();
                    sub = Some(Box::new(self.argument()));
                }
                "^" if sup.is_none() => {
                    self.next();
                    sup = Some(Box::new(self.argument()));
                }
                "'" if sup.is_none() => {
                    let mut primes = 0;
                    while self.peek() == Some("'") {
                        self.next();
                        primes += 1;
                    }
                    let prime = MathBox::Sign { sign: '′', class: AtomClass::Ordinary, size: None };
                    sup = Some(Box::new(row(vec![prime; primes])));
                }
                _ => break,
            }
        }
        if sub.is_none() && sup.is_none() { base } else { MathBox::Scripts(Box::new(base), sub, sup) }
    }

    /// A group in braces, or one token.
    fn argument(&mut self) -> MathBox {
        match self.next() {
            Some("{") => row(self.group()),
            Some(digit) if digit.chars().all(|c| c.is_ascii_digit()) => MathBox::Number(digit.to_string()),
            Some(token) => self.nucleus(token),
            None => MathBox::Unknown(String::new()),
        }
    }

    /// What follows an opening brace, up to its closing one.
    fn group(&mut self) -> Vec<MathBox> {
        let nodes = self.row();
        if self.peek() == Some("}") {
            self.next();
        }
        nodes
    }

    fn nucleus(&mut self, token: &'a str) -> MathBox {
        let first = token.chars().next().unwrap_or(' ');
        match token {
            "{" => MathBox::Row(self.group()),
            r"\frac" | r"\tfrac" => {
                let (above, below) = (self.argument(), self.argument());
                MathBox::Fraction(Box::new(above), Box::new(below), token == r"\tfrac")
            }
            r"\sqrt" => MathBox::Root(Box::new(self.argument())),
            r"\dot" => MathBox::Accent(Box::new(self.argument()), '˙'),
            r"\ddot" => MathBox::Accent(Box::new(self.argument()), '¨'),
            r"\tilde" => MathBox::Accent(Box::new(self.argument()), '~'),
            r"\text" => MathBox::Text(self.words()),
            r"\mathrm" | r"\mathsf" => name(&self.words(), AtomClass::Ordinary),
            r"\operatorname" => name(&self.words(), AtomClass::Operator),
            r"\mathcal" => MathBox::Name {
                text: self.words().chars().map(script).collect(),
                upright: true,
                class: AtomClass::Ordinary,
            },
            r"\left" => {
                let open = self.delimiter();
                let inner = self.row();
                self.next();
                let close = self.delimiter();
                MathBox::Fenced(open, inner, close)
            }
            r"\begin" => self.matrix(),
            r"\bigl" | r"\bigr" | r"\Bigl" | r"\Bigr" => {
                let class = if token.ends_with('l') { AtomClass::Open } else { AtomClass::Close };
                let size = Some(if token.starts_with(r"\b") { 1.2 } else { 1.8 });
                MathBox::Sign { sign: self.delimiter(), class, size }
            }
            _ if first == '\\' => command(token),
            _ if first.is_ascii_digit() || (first == '.' && self.digit_follows()) => self.number(token),
            _ => character(first),
        }
    }

    /// What follows `\begin`: a matrix, the only environment there is.
    fn matrix(&mut self) -> MathBox {
        let kind = self.words();
        let mut rows = vec![vec![row(self.row())]];
        loop {
            match self.next() {
                Some("&") => {
                    let cell = row(self.row());
                    rows.last_mut().into_iter().for_each(|r| r.push(cell.clone()));
                }
                Some(r"\\") => rows.push(vec![row(self.row())]),
                _ => break,
            }
        }
        self.words();
        if kind == "pmatrix" { MathBox::Matrix(rows) } else { MathBox::Unknown(kind) }
    }

    fn digit_follows(&self) -> bool {
        self.rest.starts_with(|c: char| c.is_ascii_digit())
    }

    fn number(&mut self, start: &str) -> MathBox {
        let mut text = start.to_string();
        while let Some(c) = self.rest.chars().next() {
            let point = c == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit());
            if !c.is_ascii_digit() && !point {
                break;
            }
            text.push(c);
            self.rest = &self.rest[1..];
        }
        MathBox::Number(text)
    }

    fn delimiter(&mut self) -> char {
        match self.next() {
            Some(r"\lvert" | r"\rvert") => '|',
            Some(r"\{") => '{',
            Some(r"\}") => '}',
            Some(token) => token.chars().next().unwrap_or(' '),
            None => ' ',
        }
    }

    /// Words in braces, with what LaTeX escapes put back.
    fn words(&mut self) -> String {
        let mut out = String::new();
        if self.peek() != Some("{") {
            return self.next().unwrap_or("").to_string();
        }
        self.next();
        let mut chars = self.rest.chars();
        let mut depth = 0;
        while let Some(c) = chars.next() {
            match c {
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                '{' => depth += 1,
                '\\' => {
                    let after = chars.as_str();
                    let length = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
                    match &after[..length] {
                        "" => out.extend(chars.next()),
                        named => {
                            out.push(match named {
                                "textbackslash" => '\\',
                                "textasciitilde" => '~',
                                "textasciicircum" => '^',
                                _ => '?',
                            });
                            chars = after[length..].chars();
                        }
                    }
                }
                c => out.push(c),
            }
        }
        self.rest = chars.as_str();
        out
    }
}

/// One box instead of a row of one.
fn row(mut nodes: Vec<MathBox>) -> MathBox {
    match nodes.len() {
        1 => nodes.remove(0),
        _ => MathBox::Row(nodes),
    }
}

fn name(text: &str, class: AtomClass) -> MathBox {
    let upright = text.chars().count() == 1;
    MathBox::Name { text: text.to_string(), upright, class }
}

fn character(c: char) -> MathBox {
    use AtomClass::*;
    let (sign, class) = match c {
        '+' => ('+', Binary),
        '-' => ('−', Binary),
        '*' => ('∗', Binary),
        '=' | '<' | '>' | ':' => (c, Relation),
        '(' | '[' => (c, Open),
        ')' | ']' => (c, Close),
        ',' | ';' => (c, Punctuation),
        '/' | '|' | '!' | '.' => (c, Ordinary),
        c if c.is_alphabetic() => {
            return MathBox::Name { text: c.to_string(), upright: false, class: Ordinary };
        }
        c => return MathBox::Unknown(c.to_string()),
    };
    MathBox::Sign { sign, class, size: None }
}

/// Commands that stand for a letter or a sign.
fn command(token: &str) -> MathBox {
    use AtomClass::*;
    let sign = |sign, class| MathBox::Sign { sign, class, size: None };
    match token {
        r"\," => MathBox::Space(THIN),
        r"\;" => MathBox::Space(5.0 / 18.0),
        r"\!" => MathBox::Space(-THIN),
        r"\ " => MathBox::Space(0.25),
        r"\quad" => MathBox::Space(1.0),
        r"\qquad" => MathBox::Space(2.0),
        r"\cdot" => sign('⋅', Binary),
        r"\pm" => sign('±', Binary),
        r"\ast" => sign('∗', Ordinary),
        r"\circ" => sign('∘', Ordinary),
        r"\dots" => sign('…', Ordinary),
        r"\top" => sign('⊤', Ordinary),
        r"\perp" => sign('⊥', Ordinary),
        r"\ge" => sign('≥', Relation),
        r"\le" => sign('≤', Relation),
        r"\ne" | r"\neq" => sign('≠', Relation),
        r"\in" => sign('∈', Relation),
        r"\leftarrow" => sign('←', Relation),
        r"\to" | r"\rightarrow" => sign('→', Relation),
        r"\leftrightarrow" => sign('↔', Relation),
        r"\Longrightarrow" => sign('⟹', Relation),
        r"\mapsto" => sign('↦', Relation),
        r"\int" => sign('∫', Operator),
        r"\sum" => sign('∑', Operator),
        r"\{" => sign('{', Open),
        r"\}" => sign('}', Close),
        r"\langle" => sign('⟨', Open),
        r"\rangle" => sign('⟩', Close),
        r"\lvert" => sign('|', Open),
        r"\rvert" => sign('|', Close),
        r"\partial" => MathBox::Name { text: "∂".to_string(), upright: false, class: Ordinary },
        r"\sin" | r"\cos" | r"\tan" | r"\sinh" | r"\cosh" | r"\tanh" | r"\arcsin" | r"\arccos"
        | r"\arctan" | r"\ln" | r"\exp" | r"\det" | r"\ker" | r"\min" | r"\max" => {
            name(&token[1..], Operator)
        }
        _ => match greek(&token[1..]) {
            // Capitals stand upright, as in TeX.
            Some(letter) => {
                MathBox::Name { text: letter.to_string(), upright: letter.is_uppercase(), class: Ordinary }
            }
            None => MathBox::Unknown(token.to_string()),
        },
    }
}

/// Letters by their names in TeX.
fn greek(name: &str) -> Option<char> {
    const NAMES: &str = "alpha α beta β gamma γ delta δ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ \
        nu ν xi ξ pi π rho ρ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω vartheta ϑ \
        Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω";
    let mut words = NAMES.split_ascii_whitespace();
    while let (Some(word), Some(letter)) = (words.next(), words.next()) {
        if word == name {
            return letter.chars().next();
        }
    }
    None
}

/// A capital in script.
fn script(c: char) -> char {
    match c {
        'B' => 'ℬ',
        'E' => 'ℰ',
        'F' => 'ℱ',
        'H' => 'ℋ',
        'I' => 'ℐ',
        'L' => 'ℒ',
        'M' => 'ℳ',
        'R' => 'ℛ',
        'A'..='Z' => char::from_u32(0x1D49C + (c as u32 - 'A' as u32)).unwrap_or(c),
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(latex: &str) -> Vec<Option<AtomClass>> {
        read(latex).iter().map(MathBox::class).collect()
    }

    #[test]
    fn a_minus_sign_is_an_operator_only_between_operands() {
        use AtomClass::*;
        assert_eq!(classes("-a - b"), [Ordinary, Ordinary, Binary, Ordinary].map(Some));
        assert_eq!(classes("a = -b"), [Ordinary, Relation, Ordinary, Ordinary].map(Some));
        assert_eq!(classes("(-b)"), [Open, Ordinary, Ordinary, Close].map(Some));
    }

    #[test]
    fn functions_stand_a_thin_space_away_but_not_from_their_brackets() {
        let thin =
            |latex| read(latex).iter().filter(|n| matches!(n, MathBox::Space(w) if *w == THIN)).count();
        assert_eq!(thin(r"l \sin \theta"), 2);
        assert_eq!(thin(r"l \sin(\theta)"), 1);
        assert_eq!(thin(r"\sin^{2}\theta"), 1);
        assert_eq!(thin(r"m \left(a\right) n"), 2);
        assert_eq!(thin(r"a \, \sin(x)"), 1);
        assert_eq!(thin("m l"), 0);
    }

    #[test]
    fn scripts_and_arguments_are_groups_or_single_tokens() {
        assert_eq!(read(r"\tfrac12 t_0^{2}"), read(r"\tfrac{1}{2} t_{0}^2"));
        assert_eq!(read(r"\dot q"), read(r"\dot{q}"));
        assert_eq!(read("12.5"), [MathBox::Number("12.5".to_string())]);
    }

    #[test]
    fn what_is_not_of_the_language_shows() {
        assert_eq!(read(r"\foo"), [MathBox::Unknown(r"\foo".to_string())]);
        assert!(read("a }").contains(&MathBox::Unknown("}".to_string())));
        for unfinished in [r"\frac{1", r"\left(", "{", "x_", r"\text{a", r"\begin{pmatrix} a &", "\\"] {
            read(unfinished);
        }
    }
}
