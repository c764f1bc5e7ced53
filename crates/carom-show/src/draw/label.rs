//! Names as people write them, and as reports write them: `theta1` → θ₁, `x'` → ẋ, `p_theta2` → p with the subscript θ₂. Variables are set in italics,
//! digits and units upright.

use super::font;

/// A line of text made of runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Label(pub Vec<TextRun>);

/// A piece of text set in one way.
#[derive(Clone, PartialEq, Debug)]
pub struct TextRun {
    /// What it says.
    pub text: String,
    /// Set in italics?
    pub italic: bool,
    /// Set small and below the line (−1), on it (0), or above (1)?
    pub shift: i8,
}

/// Size of a subscript relative to its line.
pub(super) const SMALL: f64 = 0.72;

/// Names of Greek letters and the letters.
const GREEK: [(&str, &str); 36] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("omicron", "ο"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("upsilon", "υ"),
    ("phi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("varphi", "φ"),
    ("vartheta", "θ"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Xi", "Ξ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
];

/// The Greek letter a name spells, if it does.
fn greek(name: &str) -> Option<&'static str> {
    GREEK.iter().find(|(n, _)| *n == name).map(|(_, letter)| *letter)
}

/// Is this the name of an angle, by its letter?
pub fn is_greek(name: &str) -> bool {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    greek(letters).is_some() || letters.chars().next().is_some_and(|c| ('α'..='ω').contains(&c))
}

impl Label {
    /// Upright text as it is.
    pub fn plain(text: &str) -> Label {
        Label(vec![TextRun { text: text.to_string(), italic: false, shift: 0 }])
    }

    /// A name from a model.
    pub fn name(name: &str) -> Label {
        let stem = name.trim_end_matches('\'');
        let primes = "′".repeat(name.len() - stem.len());
        // mu.rod, gap.left, f.floor: the letter with the label as subscript
        let (base, subscript) = if let Some((kind, of)) = stem.split_once('.') {
            (kind.to_string(), of.to_string())
        } else if let Some((base, rest)) = stem.split_once('_').filter(|(b, _)| !b.is_empty()) {
            let base_digits = base.trim_end_matches(|c: char| c.is_ascii_digit());
            match base_digits.len() {
                0 => (stem.to_string(), String::new()),
                n if n < base.len() => (base_digits.to_string(), format!("{},{rest}", &base[n..])),
                _ => (base.to_string(), rest.to_string()),
            }
        } else {
            let letters = stem.trim_end_matches(|c: char| c.is_ascii_digit());
            (letters.to_string(), stem[letters.len()..].to_string())
        };
        let mut runs = vec![symbol(&base, 0)];
        // A rate has a dot over its letter, a word a prime behind it.
        let dots = name.len() - stem.len();
        let dotted = (1..=2).contains(&dots) && runs[0].text.chars().count() == 1;
        if dotted {
            let dag = carom_expr::Dag::new();
            let printer = carom_expr::Printer::new(&dag, carom_expr::Style::Unicode);
            runs[0].text = printer.symbol(&format!("{}{}", runs[0].text, &name[stem.len()..]));
        }
        if !subscript.is_empty() {
            let letters = subscript.trim_end_matches(|c: char| c.is_ascii_digit());
            if !letters.is_empty() {
                runs.push(symbol(letters, -1));
            }
            if letters.len() < subscript.len() {
                runs.push(TextRun { text: subscript[letters.len()..].to_string(), italic: false, shift: -1 });
            }
        }
        if !primes.is_empty() && !dotted {
            runs.push(TextRun { text: primes, italic: false, shift: 0 });
        }
        Label(runs)
    }

    /// The label followed by upright text.
    pub fn then(mut self, text: &str) -> Label {
        self.0.push(TextRun { text: text.to_string(), italic: false, shift: 0 });
        self
    }

    /// The label followed by another.
    pub fn join(mut self, other: Label) -> Label {
        self.0.extend(other.0);
        self
    }

    /// The label with its unit in brackets, if it has one.
    pub fn with_unit(self, unit: Option<&str>) -> Label {
        match unit {
            Some(u) if !u.is_empty() => self.then(" (").join(Label::unit(u)).then(")"),
            _ => self,
        }
    }

    /// A unit: `m/s^2` with its exponent raised.
    pub fn unit(unit: &str) -> Label {
        let mut label = Label::default();
        for (i, part) in unit.split('^').enumerate() {
            let end = part.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(part.len());
            let (raised, rest) = if i == 0 { ("", part) } else { part.split_at(end) };
            if !raised.is_empty() {
                label = label.raised(raised);
            }
            if !rest.is_empty() {
                label = label.then(&rest.replace('*', "·"));
            }
        }
        label
    }

    /// The label with a number raised, as an exponent.
    pub fn raised(mut self, exponent: &str) -> Label {
        self.0.push(TextRun { text: exponent.replace('-', "−"), italic: false, shift: 1 });
        self
    }

    /// Width when set in `size`.
    pub fn width(&self, size: f64) -> f64 {
        self.0.iter().map(|r| font::width(&r.text, r.italic) * size * r.scale()).sum()
    }

    /// The text without its setting.
    pub fn text(&self) -> String {
        self.0.iter().map(|r| r.text.as_str()).collect()
    }
}

impl TextRun {
    /// How far its baseline is below the line's, in units of the line's size.
    pub(super) fn lowered(&self) -> f64 {
        match self.shift {
            0 => 0.0,
            s if s < 0 => 0.22,
            _ => -0.36,
        }
    }

    /// Its size relative to the line.
    pub(super) fn scale(&self) -> f64 {
        if self.shift == 0 { 1.0 } else { SMALL }
    }
}

/// A letter or Greek name is a symbol and italic; a longer word is a word.
fn symbol(name: &str, shift: i8) -> TextRun {
    match greek(name) {
        Some(letter) => {
            TextRun { text: letter.to_string(), italic: letter.chars().all(|c| c >= 'α'), shift }
        }
        None => TextRun { text: name.replace('_', " "), italic: name.chars().count() == 1, shift },
    }
}

/// `m/s^2` → m/s²
pub fn unit_text(unit: &str) -> String {
    let mut out = String::new();
    let mut raised = false;
    for c in unit.chars() {
        match c {
            '^' => raised = true,
            '*' => out.push('·'),
            '0'..='9' if raised => {
                out.push(['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - 48])
            }
            '-' if raised => out.push('⁻'),
            c => {
                raised = false;
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(name: &str) -> Vec<(String, bool, i8)> {
        Label::name(name).0.into_iter().map(|r| (r.text, r.italic, r.shift)).collect()
    }

    #[test]
    fn names_are_set_as_people_write_them() {
        let run = |t: &str, italic, shift| (t.to_string(), italic, shift);
        assert_eq!(runs("theta1'"), [run("θ\u{307}", true, 0), run("1", false, -1)]);
        assert_eq!(runs("x'"), [run("ẋ", true, 0)]);
        assert_eq!(runs("y''"), [run("ÿ", true, 0)]);
        assert_eq!(runs("speed'"), [run("speed", false, 0), run("′", false, 0)]);
        assert_eq!(runs("p_theta2"), [run("p", true, 0), run("θ", true, -1), run("2", false, -1)]);
        assert_eq!(runs("x"), [run("x", true, 0)]);
        assert_eq!(runs("mu.rod"), [run("μ", true, 0), run("rod", false, -1)]);
        assert_eq!(runs("tip_speed"), [run("tip", false, 0), run("speed", false, -1)]);
        assert_eq!(unit_text("kg*m/s^2"), "kg·m/s²");
    }
}
