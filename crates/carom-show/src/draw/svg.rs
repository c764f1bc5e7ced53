//! A picture as SVG text: plain elements with presentation attributes, no style sheet, no script, so every program that
//! reads SVG shows the same. Coordinates are rounded to a hundredth of a pixel and written relative to the point before.

use super::{Anchor, Area, Color, Line, Picture, Shape};
use std::fmt::Write;

const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', Arimo, sans-serif";

/// The picture as an SVG document.
pub fn svg(picture: &Picture) -> String {
    let (w, h) = (short(picture.width), short(picture.height));
    let mut o = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FONTS}\" role=\"img\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n"
    );
    _ = writeln!(o, "<title>{}</title>", escape(&picture.title));
    let mut clips: Vec<Area> = Vec::new();
    for shape in &picture.shapes {
        if let Shape::Path { clip: Some(a), .. } = shape
            && !clips.contains(a)
        {
            clips.push(*a);
        }
    }
    for (i, a) in clips.iter().enumerate() {
        _ = writeln!(
            o,
            "<clipPath id=\"c{i}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
            short(a.left),
            short(a.top),
            short(a.width()),
            short(a.height())
        );
    }
    _ = writeln!(o, "<rect width=\"{w}\" height=\"{h}\"{}/>", paint("fill", picture.background));
    for shape in &picture.shapes {
        write_shape(&mut o, shape, &clips);
    }
    o.push_str("</svg>\n");
    o
}

fn write_shape(o: &mut String, shape: &Shape, clips: &[Area]) {
    match shape {
        Shape::Path { pieces, closed, fill, line, clip } => {
            o.push_str("<path d=\"");
            pieces.iter().for_each(|piece| write_piece(o, piece, *closed));
            o.push('"');
            write_paint(o, *fill, *line);
            if let Some(n) = clip.and_then(|a| clips.iter().position(|c| *c == a)) {
                _ = write!(o, " clip-path=\"url(#c{n})\"");
            }
            o.push_str("/>\n");
        }
        Shape::Disc { at, radius, fill, line } => {
            _ = write!(o, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", short(at.0), short(at.1), short(*radius));
            write_paint(o, *fill, *line);
            o.push_str("/>\n");
        }
        Shape::Text { at, label, size, anchor, color, upwards } => {
            let (x, y) = (short(at.0), short(at.1));
            _ = write!(
                o,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{}",
                short(*size),
                paint("fill", *color)
            );
            match anchor {
                Anchor::Start => {}
                Anchor::Middle => o.push_str(" text-anchor=\"middle\""),
                Anchor::End => o.push_str(" text-anchor=\"end\""),
            }
            if *upwards {
                _ = write!(o, " transform=\"rotate(-90 {x} {y})\"");
            }
            o.push('>');
            let mut lowered = 0.0; // how far the pen is below the baseline
            for run in &label.0 {
                let wanted = run.lowered() * size;
                let move_by = wanted - lowered;
                lowered = wanted;
                let text = escape(&run.text);
                if !run.italic && run.shift == 0 && move_by == 0.0 {
                    o.push_str(&text);
                    continue;
                }
                o.push_str("<tspan");
                if move_by != 0.0 {
                    _ = write!(o, " dy=\"{}\"", short(move_by));
                }
                if run.shift != 0 {
                    _ = write!(o, " font-size=\"{}\"", short(size * run.scale()));
                }
                if run.italic {
                    o.push_str(" font-style=\"italic\"");
                }
                _ = write!(o, ">{text}</tspan>");
            }
            o.push_str("</text>\n");
        }
    }
}

/// Absolute start, then relative moves in hundredths of a pixel, accumulated exactly so that rounding does not drift.
fn write_piece(o: &mut String, piece: &[(f64, f64)], closed: bool) {
    let hundredths = |v: f64| (v * 100.0).round() as i64;
    let Some(&(x, y)) = piece.first() else { return };
    let mut pen = (hundredths(x), hundredths(y));
    o.push('M');
    write_hundredths(o, pen.0);
    separate(o, pen.1);
    write_hundredths(o, pen.1);
    if piece.len() == 1 {
        o.push_str("h0"); // a dot
    }
    let mut first = true;
    for &(x, y) in &piece[1..] {
        let next = (hundredths(x), hundredths(y));
        let step = (next.0 - pen.0, next.1 - pen.1);
        pen = next;
        if std::mem::take(&mut first) {
            o.push('l');
        } else {
            separate(o, step.0);
        }
        write_hundredths(o, step.0);
        separate(o, step.1);
        write_hundredths(o, step.1);
    }
    if closed {
        o.push('z');
    }
}

/// A minus sign separates by itself.
fn separate(o: &mut String, next: i64) {
    if next >= 0 {
        o.push(' ');
    }
}

fn write_hundredths(o: &mut String, n: i64) {
    let (sign, n) = (if n < 0 { "-" } else { "" }, n.abs());
    let (whole, part) = (n / 100, n % 100);
    o.push_str(sign);
    if whole != 0 || part == 0 {
        _ = write!(o, "{whole}");
    }
    match part {
        0 => {}
        p if p % 10 == 0 => _ = write!(o, ".{}", p / 10),
        p => _ = write!(o, ".{p:02}"),
    }
}

fn short(v: f64) -> String {
    let mut o = String::new();
    write_hundredths(&mut o, (v * 100.0).round() as i64);
    o
}

fn paint(what: &str, color: Color) -> String {
    let mut o = format!(" {what}=\"{}\"", color.hex());
    if color.3 < 255 {
        _ = write!(o, " {what}-opacity=\"{}\"", short(f64::from(color.3) / 255.0));
    }
    o
}

fn write_paint(o: &mut String, fill: Option<Color>, line: Option<Line>) {
    match fill {
        Some(color) => o.push_str(&paint("fill", color)),
        None => o.push_str(" fill=\"none\""),
    }
    if let Some(line) = line {
        o.push_str(&paint("stroke", line.color));
        _ = write!(o, " stroke-width=\"{}\"", short(line.width));
        if let Some((dash, gap)) = line.dash {
            _ = write!(o, " stroke-dasharray=\"{} {}\"", short(dash), short(gap));
        }
    }
}

/// Text inside markup.
pub(crate) fn escape(text: &str) -> String {
    let mut o = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => o.push_str("&amp;"),
            '<' => o.push_str("&lt;"),
            '>' => o.push_str("&gt;"),
            '"' => o.push_str("&quot;"),
            // Control characters and the two that are none are not allowed in XML at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => o.push(' '),
            c => o.push(c),
        }
    }
    o
}
