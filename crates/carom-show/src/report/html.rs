//! A document as one HTML file that opens offline: KaTeX, its style and its fonts are inside.
//!
//! Every formula stands in the page as LaTeX text and is replaced by KaTeX when the page opens; without scripts it
//! stays readable as LaTeX.

use super::document::{Block, Document, Inline};
use super::latex::display;

const KATEX: &str = include_str!("../../assets/katex/katex.min.js");
const KATEX_STYLE: &str = include_str!("../../assets/katex/katex.min.css");
const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Fonts the report uses: family, style, file.
const FONTS: [(&str, &str, &[u8]); 7] = [
    ("KaTeX_Main", "normal", include_bytes!("../../assets/katex/fonts/KaTeX_Main-Regular.woff2")),
    ("KaTeX_Math", "italic", include_bytes!("../../assets/katex/fonts/KaTeX_Math-Italic.woff2")),
    (
        "KaTeX_Caligraphic",
        "normal",
        include_bytes!("../../assets/katex/fonts/KaTeX_Caligraphic-Regular.woff2"),
    ),
    ("KaTeX_Size1", "normal", include_bytes!("../../assets/katex/fonts/KaTeX_Size1-Regular.woff2")),
    ("KaTeX_Size2", "normal", include_bytes!("../../assets/katex/fonts/KaTeX_Size2-Regular.woff2")),
    ("KaTeX_Size3", "normal", include_bytes!("../../assets/katex/fonts/KaTeX_Size3-Regular.woff2")),
    ("KaTeX_Size4", "normal", include_bytes!("../../assets/katex/fonts/KaTeX_Size4-Regular.woff2")),
];

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
            Block::Equations(equations, number) => {
                let tex = escape(&display(equations, *number));
                body.push_str(&format!("<div class=\"math display\" tabindex=\"0\">{tex}</div>\n"));
            }
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
         <style>{}{}</style>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <nav aria-label=\"Contents\"><ul>\n{contents}</ul></nav>\n<main>\n{body}</main>\n\
         <script>{KATEX}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&document.title),
        fonts(),
        style_without_fonts(),
    )
}

/// KaTeX' style without its own font rules, which point to files.
fn style_without_fonts() -> String {
    let mut out = String::with_capacity(KATEX_STYLE.len());
    let mut rest = KATEX_STYLE;
    while let Some(at) = rest.find("@font-face{") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find('}').map_or("", |end| &rest[at + end + 1..]);
    }
    out.push_str(rest);
    out
}

fn fonts() -> String {
    FONTS
        .iter()
        .map(|(family, style, bytes)| {
            format!(
                "@font-face{{font-family:{family};font-style:{style};font-weight:400;\
                 src:url(data:font/woff2;base64,{}) format(\"woff2\")}}",
                base64(bytes)
            )
        })
        .collect()
}

/// Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            if k <= chunk.len() {
                out.push(char::from(LETTERS[(word >> (18 - 6 * k)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

fn inline(text: &[Inline]) -> String {
    text.iter()
        .map(|piece| match piece {
            Inline::Text(text) => escape(text),
            Inline::Math(formula) => format!("<span class=\"math\">{}</span>", escape(&formula.latex)),
            Inline::Code(code) => format!("<code>{}</code>", escape(code)),
        })
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_examples_of_its_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn the_style_points_to_no_file() {
        assert!(!style_without_fonts().contains("url("));
        assert!(!KATEX.contains("</script"));
    }
}
