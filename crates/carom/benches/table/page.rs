//! Tables that read well on a terminal and paste as Markdown.

/// Prints a heading and a table; the first column is left-aligned, the others right-aligned.
pub fn table(title: &str, head: &[&str], rows: &[Vec<String>]) {
    let width = |c: usize| {
        let cells = rows.iter().map(|r| r[c].chars().count());
        cells.chain([head[c].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(c, (cell, &w))| if c == 0 { format!("{cell:<w$}") } else { format!("{cell:>w$}") })
            .collect();
        println!("| {} |", padded.join(" | "));
    };
    println!("\n**{title}**\n");
    line(&head.iter().map(ToString::to_string).collect::<Vec<_>>());
    let rule: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(c, &w)| if c == 0 { "-".repeat(w) } else { format!("{}:", "-".repeat(w - 1)) })
        .collect();
    line(&rule);
    rows.iter().for_each(|row| line(row));
}

/// Three significant digits, never in powers of ten between 0.001 and 10⁷.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if size.is_nan() {
        "-".into()
    } else if size == 0.0 {
        "0".into()
    } else if !(1e-3..1e7).contains(&size) {
        format!("{x:.1e}")
    } else {
        let digits = (2 - size.log10().floor() as i32).max(0) as usize;
        format!("{x:.digits$}")
    }
}

/// Slope of the least-squares line through (ln x, ln y).
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let (up, down) = logs
        .iter()
        .fold((0.0, 0.0), |(up, down), (x, y)| (up + (x - mx) * (y - my), down + (x - mx) * (x - mx)));
    up / down
}
