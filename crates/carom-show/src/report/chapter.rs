//! Formulas in chapters of a book: `$…$` and `$$…$$` in Markdown become MathML, so that pages need no script and no network.
//!
//! The language is the report's, and three things around a displayed formula: `\tag{N}`, its number; `\boxed{…}`; and
//! `\begin{gathered}…\end{gathered}`, lines under each other.
//!
//! Promise: code is left alone; a formula that is not of the language is an error, not a red spot on a page.

use super::html;
use super::mathml;

/// What is written around formulas, for a page's style sheet: the font with exactly the characters they use.
pub fn style(page: &str) -> String {
    html::font(&mathml::characters(page))
}

/// The chapter with its formulas as MathML.
///
/// ```
/// use carom_show::report::chapter::formulas;
/// let html = formulas("Then $p = m v$ and\n\n$$ E = m c^2. \\tag{3} $$\n\n`$HOME` stays.").unwrap();
/// assert!(html.contains("<math><mi>p</mi>") && html.contains("(3)") && html.contains("`$HOME` stays."));
/// assert_eq!(formulas(r"$\wrong$").unwrap_err(), [r"\wrong"]);
/// ```
///
/// # Errors
/// Formulas, or the parts of them, that cannot be written.
pub fn formulas(markdown: &str) -> Result<String, Vec<String>> {
    let mut out = String::with_capacity(markdown.len());
    let mut wrong = Vec::new();
    let mut rest = markdown;
    let mut fenced = false;
    while !rest.is_empty() {
        let line_start = out.is_empty() || out.ends_with('\n');
        if line_start && rest.starts_with("```") {
            fenced = !fenced;
        }
        if fenced || (line_start && rest.starts_with("```")) {
            let end = rest.find('\n').map_or(rest.len(), |n| n + 1);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let Some(at) = rest.find(['$', '`', '\n']) else {
            out.push_str(rest);
            break;
        };
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        if let Some(tail) = after.strip_prefix('\n') {
            out.push('\n');
            rest = tail;
        } else if let Some(code) = after.strip_prefix('`') {
            // A span of code, to its closing tick.
            let end = code.find('`').map_or(after.len(), |n| n + 2);
            out.push_str(&after[..end]);
            rest = &after[end..];
        } else if let Some((tex, tail)) = after.strip_prefix("$$").and_then(|t| t.split_once("$$")) {
            out.push_str(&display(tex, &mut wrong));
            rest = tail;
        } else if let Some((tex, tail)) = after[1..].split_once('$').filter(|(tex, _)| is_formula(tex)) {
            out.push_str(&inline(&mathml::breakable(tex), &mut wrong));
            rest = tail;
        } else {
            out.push('$');
            rest = &after[1..];
        }
    }
    if wrong.is_empty() { Ok(out) } else { Err(wrong) }
}

/// Is this between two dollar signs a formula, and not a sum of money?
fn is_formula(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace)
}

/// A formula on a line of its own, in one block of HTML: without empty lines, which would end it.
fn display(tex: &str, wrong: &mut Vec<String>) -> String {
    let (tex, number) = match tex.split_once(r"\tag{") {
        Some((formula, tag)) => (formula.trim(), tag.split('}').next().unwrap_or("")),
        None => (tex.trim(), ""),
    };
    let (tex, boxed) = match tex.strip_prefix(r"\boxed{").and_then(|t| t.strip_suffix('}')) {
        Some(inner) => (inner.trim(), true),
        None => (tex, false),
    };
    let inner = tex.strip_prefix(r"\begin{gathered}").and_then(|t| t.strip_suffix(r"\end{gathered}"));
    let lines: Vec<&str> = inner.map_or_else(|| vec![tex], gathered);
    let rows: String = lines
        .iter()
        .map(|line| format!("<div>{}</div>", inline(&mathml::breakable(line.trim()), wrong)))
        .collect();
    let class = if boxed { " boxed" } else { "" };
    let number =
        if number.is_empty() { String::new() } else { format!("<span class=\"number\">({number})</span>") };
    format!("<div class=\"equation\" tabindex=\"0\"><div class=\"rows{class}\">{rows}</div>{number}</div>")
}

/// The lines of a `gathered`: the breaks inside of matrices are theirs.
fn gathered(text: &str) -> Vec<&str> {
    let (mut lines, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        if text.is_char_boundary(at) && text[at..].starts_with(r"\begin{") {
            depth += 1;
        } else if text.is_char_boundary(at) && text[at..].starts_with(r"\end{") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && at >= start && bytes[at..].starts_with(br"\\") {
            lines.push(&text[start..at]);
            start = at + 2;
        }
    }
    lines.push(&text[start..]);
    lines
}

/// MathML inside Markdown: signs that Markdown would read are written as what they are.
fn inline(html: &str, wrong: &mut Vec<String>) -> String {
    let unknown = html.split("<merror><mtext>").skip(1);
    wrong.extend(unknown.filter_map(|part| part.split("</mtext>").next()).map(str::to_owned));
    html.replace('*', "&#42;")
        .replace('~', "&#126;")
        .replace('_', "&#95;")
        .replace('[', "&#91;")
        .replace(']', "&#93;")
        .replace('|', "&#124;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_money_are_left_alone() {
        for text in ["```sh\necho $HOME $x$\n```\n", "`$a$`", "5 $ and 6 $", "a\n\n```\n$x$\n```\nb\n"] {
            assert_eq!(formulas(text).unwrap(), text);
        }
    }

    #[test]
    fn a_gathered_formula_has_its_lines_and_a_matrix_keeps_its_own() {
        let text =
            r"$$ \begin{gathered}\begin{pmatrix} a\\ b\end{pmatrix} = c,\\ d = e\end{gathered} \tag{4} $$";
        let html = formulas(text).unwrap();
        assert_eq!(html.matches("<div>").count(), 2, "{html}");
        assert!(
            html.contains("<mtr>") && html.ends_with("<span class=\"number\">(4)</span></div>"),
            "{html}"
        );
    }

    #[test]
    fn what_markdown_would_read_is_hidden_from_it() {
        let html = formulas(r"$[x]_{a} + a^{*} + \tilde b$").unwrap();
        assert!(!html.contains(['*', '_', '[', ']', '~']), "{html}");
    }
}
