//! Formulas as MathML Core, the mathematics that browsers typeset by themselves.
//!
//! A formula is written as one `math` element for each piece that must stay together: between pieces, before a relation
//! or an operator on its outermost level, a line may end, as it may in TeX. What TeX says about space and size is said
//! with the few attributes of MathML Core; everything else is left to its operator dictionary.

use super::tex::{AtomClass, MathBox, THIN, read};
use std::collections::BTreeSet;

/// Formulas with at most so many letters and signs stay in one piece: they fit a line of any screen.
const SHORT: usize = 24;

/// A formula, which may be broken if it is long.
pub fn breakable(latex: &str) -> String {
    let nodes = read(latex);
    if nodes.iter().map(letters).sum::<usize>() <= SHORT { math(&nodes) } else { pieces(nodes) }
}

/// A formula in one piece.
pub fn whole(latex: &str) -> String {
    math(&read(latex))
}

/// A matrix in brackets.
pub fn matrix(rows: &[Vec<&str>]) -> String {
    let rows = rows.iter().map(|row| row.iter().map(|cell| MathBox::Row(read(cell))).collect()).collect();
    math(&[MathBox::Matrix(rows)])
}

/// How many letters, numbers and signs it has.
fn letters(node: &MathBox) -> usize {
    match node {
        MathBox::Name { text, .. } | MathBox::Number(text) | MathBox::Text(text) => {
            text.chars().count().min(4)
        }
        MathBox::Sign { .. } | MathBox::Unknown(_) => 1,
        MathBox::Space(_) => 0,
        MathBox::Row(nodes) => nodes.iter().map(letters).sum(),
        MathBox::Fraction(above, below, _) => letters(above).max(letters(below)),
        MathBox::Root(inner) => 1 + letters(inner),
        MathBox::Accent(base, _) => letters(base),
        MathBox::Scripts(base, sub, sup) => {
            letters(base) + sub.iter().chain(sup).map(|n| letters(n)).max().unwrap_or(0)
        }
        MathBox::Fenced(_, nodes, _) => 2 + nodes.iter().map(letters).sum::<usize>(),
        MathBox::Matrix(rows) => 2 + rows.iter().map(|r| r.iter().map(letters).sum()).max().unwrap_or(0),
    }
}

fn math(nodes: &[MathBox]) -> String {
    format!("<math>{}</math>", row_of(nodes))
}

/// `math` elements between which a line may end: outside of brackets, before relations and operators and after wide
/// spaces.
fn pieces(nodes: Vec<MathBox>) -> String {
    let mut pieces: Vec<Vec<MathBox>> = vec![Vec::new()];
    let mut depth = 0_usize;
    let mut after_space = false;
    for node in nodes {
        let class = node.class();
        let times = matches!(node, MathBox::Sign { sign: '⋅', .. });
        let operator = matches!(class, Some(AtomClass::Relation | AtomClass::Binary)) && !times;
        if depth == 0 && (operator || after_space) {
            pieces.push(Vec::new());
        }
        // Braces hold lists, which are long.
        let brace = matches!(node, MathBox::Sign { sign: '{' | '}', .. });
        match class {
            Some(AtomClass::Open) if !brace => depth += 1,
            Some(AtomClass::Close) if !brace => depth = depth.saturating_sub(1),
            _ => {}
        }
        after_space = matches!(node, MathBox::Space(width) if width >= 1.0);
        pieces.last_mut().into_iter().for_each(|piece| piece.push(node.clone()));
    }
    let pieces: Vec<String> = pieces.iter().filter(|p| !p.is_empty()).map(|p| math(p)).collect();
    pieces.join("<wbr>")
}

/// Boxes side by side, without an element around them.
fn row_of(nodes: &[MathBox]) -> String {
    let mut out = String::new();
    for (i, node) in nodes.iter().enumerate() {
        write(
            &mut out,
            node,
            if i == 0 {
                RowPosition::First
            } else if i + 1 == nodes.len() {
                RowPosition::Last
            } else {
                RowPosition::Inside
            },
        );
    }
    out
}

/// Where in its row a sign stands: the first and the last are taken for signs before and after an operand.
#[derive(Clone, Copy, PartialEq)]
enum RowPosition {
    First,
    Inside,
    Last,
}

/// One element: a row of several gets one around it.
fn element(node: &MathBox) -> String {
    match node {
        MathBox::Row(nodes) if nodes.len() != 1 => format!("<mrow>{}</mrow>", row_of(nodes)),
        _ => row_of(std::slice::from_ref(node)),
    }
}

fn write(out: &mut String, node: &MathBox, place: RowPosition) {
    match node {
        MathBox::Name { text, upright, .. } => {
            let variant = if *upright && !is_script(text) { " mathvariant=\"normal\"" } else { "" };
            out.push_str(&format!("<mi{variant}>{}</mi>", escape(text)));
        }
        MathBox::Number(text) => out.push_str(&format!("<mn>{text}</mn>")),
        MathBox::Sign { sign, class, size } => out.push_str(&operator(*sign, *class, *size, place)),
        MathBox::Text(text) => {
            out.push_str(&format!("<mtext>{}</mtext>", escape(&text.replace(' ', "\u{a0}"))))
        }
        // A thin space is what the style sheet makes of a space without a width: there are many.
        MathBox::Space(width) if *width == THIN => out.push_str("<mspace/>"),
        MathBox::Space(width) => out.push_str(&format!("<mspace width=\"{}em\"/>", short(*width))),
        MathBox::Row(nodes) => match &nodes[..] {
            [only] => write(out, only, place),
            _ => out.push_str(&format!("<mrow>{}</mrow>", row_of(nodes))),
        },
        MathBox::Fraction(above, below, small) => {
            let style = if *small { " displaystyle=\"false\"" } else { "" };
            out.push_str(&format!("<mfrac{style}>{}{}</mfrac>", element(above), element(below)));
        }
        MathBox::Root(inner) => out.push_str(&match &**inner {
            MathBox::Row(nodes) => format!("<msqrt>{}</msqrt>", row_of(nodes)),
            one => format!("<msqrt>{}</msqrt>", element(one)),
        }),
        MathBox::Scripts(base, sub, sup) => scripts(out, base, sub.as_deref(), sup.as_deref()),
        MathBox::Accent(base, mark) => {
            out.push_str(&format!("<mover accent=\"true\">{}<mo>{mark}</mo></mover>", element(base)));
        }
        MathBox::Fenced(open, nodes, close) => {
            out.push_str(&format!(
                "<mrow><mo{}>{}</mo>{}<mo{}>{}</mo></mrow>",
                if *open == '|' { " form=\"prefix\"" } else { "" },
                escape(open.encode_utf8(&mut [0; 4])),
                row_of(nodes),
                if *close == '|' { " form=\"postfix\"" } else { "" },
                escape(close.encode_utf8(&mut [0; 4])),
            ));
        }
        MathBox::Matrix(rows) => {
            let cell = |node: &MathBox| match node {
                MathBox::Row(nodes) => format!("<mtd>{}</mtd>", row_of(nodes)),
                one => format!("<mtd>{}</mtd>", element(one)),
            };
            out.push_str("<mrow><mo>(</mo><mtable>");
            for row in rows {
                out.push_str(&format!("<mtr>{}</mtr>", row.iter().map(cell).collect::<String>()));
            }
            out.push_str("</mtable><mo>)</mo></mrow>");
        }
        MathBox::Unknown(text) => {
            out.push_str(&format!("<merror><mtext>{}</mtext></merror>", escape(text)));
        }
    }
}

fn scripts(out: &mut String, base: &MathBox, sub: Option<&MathBox>, sup: Option<&MathBox>) {
    // Below a word such as `min` in a display, beside everything else.
    let below = matches!(base, MathBox::Name { class: AtomClass::Operator, .. }) && sup.is_none();
    let (tag, parts) = match (sub, sup) {
        (Some(sub), Some(sup)) => ("msubsup", vec![sub, sup]),
        (Some(sub), None) if below => ("munder", vec![sub]),
        (Some(sub), None) => ("msub", vec![sub]),
        (None, Some(sup)) => ("msup", vec![sup]),
        (None, None) => return out.push_str(&element(base)),
    };
    out.push_str(&format!("<{tag}>{}", script_base(base, sup.is_some())));
    parts.into_iter().for_each(|part| out.push_str(&element(part)));
    out.push_str(&format!("</{tag}>"));
}

/// The base of scripts. A mark over a letter does not lift its exponent, so it must not count for its height.
fn script_base(base: &MathBox, raised: bool) -> String {
    match base {
        MathBox::Accent(..) if raised => format!("<mpadded height=\".7em\">{}</mpadded>", element(base)),
        _ => element(base),
    }
}

/// A sign. The dictionary knows its space; what it cannot know is whether a minus sign at the start of a piece stands
/// between operands, and that a bracket shall not grow.
fn operator(sign: char, class: AtomClass, size: Option<f64>, place: RowPosition) -> String {
    let mut attributes = String::new();
    match class {
        AtomClass::Binary | AtomClass::Relation if place != RowPosition::Inside => {
            attributes.push_str(" form=\"infix\"")
        }
        AtomClass::Ordinary if matches!(sign, '+' | '−' | '±' | '⋅') && place != RowPosition::First => {
            attributes.push_str(" form=\"prefix\"")
        }
        AtomClass::Open if sign == '|' => attributes.push_str(" form=\"prefix\""),
        AtomClass::Close if sign == '|' => attributes.push_str(" form=\"postfix\""),
        // In TeX a slash is a letter, and ∫ has no space of its own.
        AtomClass::Ordinary if sign == '/' => attributes.push_str(" lspace=\"0\" rspace=\"0\""),
        AtomClass::Operator => attributes.push_str(" lspace=\"0\" rspace=\"0\""),
        _ => {}
    }
    match (size, class) {
        (Some(size), _) => attributes.push_str(&format!(" minsize=\"{size}em\" maxsize=\"{size}em\"")),
        (None, AtomClass::Open | AtomClass::Close) => attributes.push_str(" stretchy=\"false\""),
        _ => {}
    }
    format!("<mo{attributes}>{}</mo>", escape(sign.encode_utf8(&mut [0; 4])))
}

/// Script letters are characters of their own: nothing makes them lean.
fn is_script(text: &str) -> bool {
    text.chars().all(|c| ('\u{1D49C}'..='\u{1D4B5}').contains(&c) || ('\u{2100}'..='\u{214F}').contains(&c))
}

/// A length with as few characters as it takes.
fn short(width: f64) -> String {
    let text = format!("{width:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.strip_prefix("0.") {
        Some(decimals) => format!(".{decimals}"),
        None => text.to_string(),
    }
}

/// Characters that a page would take for its own.
pub fn escape(text: &str) -> String {
    // Formulas keep their line breaks.
    text.split('\n').map(crate::draw::escape).collect::<Vec<_>>().join("\n")
}

/// The characters that the mathematics of a page is drawn with. A single letter in `mi` is drawn as its italic form,
/// and a root has a sign that is not written.
pub fn characters(page: &str) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    for piece in page.split("<m").skip(1) {
        let Some((tag, rest)) = piece.split_once('>') else { continue };
        let text = rest.split('<').next().unwrap_or("");
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let mut chars = text.chars();
        match (tag, chars.next(), chars.next()) {
            ("i", Some(only), None) => found.extend([italic(only)]),
            _ => found.extend(text.chars()),
        }
        if tag == "sqrt" {
            found.insert('√');
        }
    }
    found
}

/// A letter as browsers draw it when it stands alone.
fn italic(c: char) -> char {
    let from = |start: u32, first: char| char::from_u32(start + c as u32 - first as u32).unwrap_or(c);
    match c {
        'h' => 'ℎ',
        'A'..='Z' => from(0x1D434, 'A'),
        'a'..='z' => from(0x1D44E, 'a'),
        'α'..='ω' => from(0x1D6FC, 'α'),
        '∂' => '𝜕',
        'ϑ' => '𝜗',
        'ϕ' => '𝜙',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_written_as_mathml_core() {
        for (latex, mathml) in [
            (r"\frac{1}{2} m", "<mfrac><mn>1</mn><mn>2</mn></mfrac><mi>m</mi>"),
            (
                r"\dot{\theta}_{1}",
                "<msub><mover accent=\"true\"><mi>θ</mi><mo>˙</mo></mover><mn>1</mn></msub>",
            ),
            // Not even low brackets may grow: browsers would take the next size of the font, and its width.
            (r"\sin(x)", "<mi>sin</mi><mo stretchy=\"false\">(</mo><mi>x</mi><mo stretchy=\"false\">)</mo>"),
            (
                r"(x^{2})",
                "<mo stretchy=\"false\">(</mo><msup><mi>x</mi><mn>2</mn></msup><mo stretchy=\"false\">)</mo>",
            ),
            (r"a = -b", "<mi>a</mi><mo>=</mo><mo form=\"prefix\">−</mo><mi>b</mi>"),
            (r"x =", "<mi>x</mi><mo form=\"infix\">=</mo>"),
            (r"\mathrm{A}^{\top}", "<msup><mi mathvariant=\"normal\">A</mi><mo>⊤</mo></msup>"),
            (r"\text{a_b < c}", "<mtext>a_b\u{a0}&lt;\u{a0}c</mtext>"),
            (r"\sqrt{x + 1}", "<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>"),
        ] {
            assert_eq!(whole(latex), format!("<math>{mathml}</math>"), "{latex}");
        }
    }

    #[test]
    fn a_long_formula_may_be_broken_outside_of_brackets_only() {
        let long = r"x = (a + b + c)(d + e + f) + (g - h)(i + j + k + l) - 2 \cdot 10^{9} m";
        let pieces: Vec<String> = breakable(long).split("<wbr>").map(str::to_string).collect();
        assert_eq!(pieces.len(), 4, "{pieces:?}");
        for piece in &pieces {
            assert_eq!(piece.matches('(').count(), piece.matches(')').count(), "{piece}");
        }
        assert!(pieces[2].starts_with("<math><mo form=\"infix\">+</mo>"), "{}", pieces[2]);
        assert!(!breakable("x = a + b").contains("<wbr>"));
        let list = r"\operatorname{span}\,\{a\,dx + b\,dy - (c + d)\,dz + (e + f)\,dw, g\,dx + h\,dy\}";
        assert_eq!(breakable(list).matches("<wbr>").count(), 4);
    }

    #[test]
    fn the_font_of_a_page_gets_the_letters_as_they_are_drawn() {
        let found = characters(&whole(r"x \sqrt{\theta} \mathrm{ab} < 2"));
        assert_eq!(found, "𝑥𝜃√ab<2".chars().collect());
    }
}
