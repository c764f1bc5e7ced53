//! A motion on one screen: how it ended, what happened, where it is now, how well the laws were kept.

use crate::paint::Paint;
use crate::terminal::wrapped;
use carom_mech::Model;
use carom_mech::diagnostic::visible;
use carom_run::figures::figures;
use carom_run::{Motion, NotDifferentiable, Verdict};
use std::fmt::Write;

/// How a summary is written.
#[derive(Clone, Copy)]
struct SummaryPage {
    paint: Paint,
    width: usize,
}

/// Digits below which a number in a narrow table is not cut: then every row gets lines of its own.
const FEWEST_DIGITS: usize = 6;

/// Occurrences of one kind shown before the list is cut.
const SHOWN: usize = 12;

/// The summary that `carom run` prints, in lines of at most `width` columns.
pub fn summary(motion: &Motion, model: &Model, paint: Paint, width: usize) -> String {
    let page = SummaryPage { paint, width };
    let title = wrapped("", &visible(&motion.model), width);
    let mut out: String = title.lines().map(|line| paint.bold(line) + "\n").collect();
    out += &ending(motion, model, page);
    out += &impacts(motion, model, page);
    out += &contacts(motion, model, page);
    out += &grazes(motion, model, page);
    out += &events(motion, model, page);
    out += &state(motion, model, page);
    out += &sensitivity(motion, model, page);
    out += &gradient(motion, model, page);
    out += &audit(motion, model, page);
    out
}

fn ending(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    let mut counts = vec![count(motion.audit.steps, "step")];
    if !model.walls.is_empty() {
        counts.push(count(motion.impacts.len() as u64, "impact"));
    }
    let counts = counts.join(", ");
    let time = significant(motion.stop.time, 10);
    if motion.stop.reason == carom_run::StopReason::Reached {
        return wrapped("  ", &format!("reached t = {time}: {counts}"), page.width) + "\n";
    }
    let reason = motion.stop.reason.name().replace('_', " ");
    let detail = motion.stop.detail.as_deref().map(|d| format!(": {d}")).unwrap_or_default();
    let text = wrapped("  ", &format!("{reason} at t = {time}{detail}"), page.width);
    let paint = |line: &str| match motion.stop.reason.is_complete() {
        true => format!("{line}\n"),
        false => format!("{}\n", page.paint.yellow(line)),
    };
    text.lines().map(paint).collect::<String>() + &wrapped("  ", &counts, page.width) + "\n"
}

fn impacts(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    if motion.impacts.is_empty() {
        return String::new();
    }
    let head = ["impact", "time", "wall", "impulse", "gap rate before", "after"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    let latest = motion.impacts.last().map_or(0.0, |i| i.time);
    for (i, impact) in motion.impacts.iter().enumerate().filter(|(i, _)| shown(*i, motion.impacts.len())) {
        for (k, &wall) in impact.walls.iter().enumerate() {
            let number = |values: &[f64]| values.get(k).map_or(String::new(), |v| full(*v, 9));
            let (index, time) = if k == 0 {
                ((i + 1).to_string(), moment(impact.time, latest))
            } else {
                (String::new(), String::new())
            };
            rows.push(vec![
                index,
                time,
                wall_name(model, wall),
                number(&impact.impulse),
                number(&impact.gap_rate_before),
                number(&impact.gap_rate_after),
            ]);
        }
    }
    let mut out = format!("\n{}", aligned(&rows, page));
    out += &left_out(motion.impacts.len(), "impacts", page);
    out
}

fn contacts(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    if motion.contacts.is_empty() {
        return String::new();
    }
    let mut rows = vec![["contact", "from", "to", "force at start", ""].map(str::to_owned).to_vec()];
    for (_, contact) in motion.contacts.iter().enumerate().filter(|(i, _)| shown(*i, motion.contacts.len())) {
        rows.push(vec![
            wall_name(model, contact.wall),
            significant(contact.from, 13),
            contact.to.map_or_else(|| "still closed".to_owned(), |to| significant(to, 13)),
            significant(contact.force_at_start, 9),
            if contact.zeno { "after infinitely many impacts".to_owned() } else { String::new() },
        ]);
    }
    let mut out = format!("\n{}", aligned(&rows, page));
    out += &left_out(motion.contacts.len(), "contacts", page);
    out
}

fn grazes(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    let mut out = String::new();
    for (i, graze) in motion.grazes.iter().enumerate().filter(|(i, _)| shown(*i, motion.grazes.len())) {
        let line = if i == 0 { "\n" } else { "" };
        let wall = wall_name(model, graze.wall);
        let text = format!("grazes {wall} at t = {}", significant(graze.time, 13));
        let _ = writeln!(out, "{line}{}", wrapped("  ", &text, page.width));
    }
    out + &left_out(motion.grazes.len(), "grazes", page)
}

fn events(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    if motion.events.is_empty() {
        return String::new();
    }
    let mut rows = vec![["event", "time", "name"].map(str::to_owned).to_vec()];
    let latest = motion.events.last().map_or(0.0, |e| e.time);
    for (i, event) in motion.events.iter().enumerate().filter(|(i, _)| shown(*i, motion.events.len())) {
        let name = model.events.get(event.event).map_or_else(String::new, |e| e.name.clone());
        rows.push(vec![(i + 1).to_string(), moment(event.time, latest), name]);
    }
    let mut out = format!("\n{}", aligned(&rows, page));
    out += &left_out(motion.events.len(), "events", page);
    out
}

/// Where it stopped, which need not be a sample.
fn state(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    let end = &motion.end;
    let time = significant(motion.stop.time, 10);
    let mut rows = vec![vec![format!("t = {time}"), "position".to_owned(), "velocity".to_owned()]];
    for (coordinate, (q, v)) in model.coordinates.iter().zip(end.position.iter().zip(&end.velocity)) {
        let (name, [q, v]) = shown_as(model, &coordinate.name, [*q, *v]);
        rows.push(vec![name, significant(q, 12), significant(v, 12)]);
    }
    let mut out = format!("\n{}", aligned(&rows, page));
    if !end.output.is_empty() {
        let outputs = model.outputs.iter().zip(&end.output);
        let rows: Vec<Vec<String>> = outputs
            .map(|(o, x)| {
                let (name, [x]) = shown_as(model, &o.name, [*x]);
                vec![name, significant(x, 12)]
            })
            .collect();
        let mut table = vec![vec!["output".to_owned(), String::new()]];
        table.extend(rows);
        let _ = write!(out, "\n{}", aligned(&table, page));
    }
    out
}

/// ∂ state(end)/∂θ: a line per direction, or why there is none.
fn sensitivity(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    let Some(v) = &motion.variation else { return String::new() };
    if let Some(lost) = &v.not_differentiable {
        return not_differentiable(lost, model, page);
    }
    let mut rows = vec![vec!["by".to_owned()]];
    rows[0].extend(v.of.iter().map(|name| format!("d {name}")));
    for (j, name) in v.with_respect_to.iter().enumerate() {
        let mut row = vec![name.clone()];
        row.extend((0..v.of.len()).map(|i| significant(v.end[(i, j)], 9)));
        rows.push(row);
    }
    format!("\n{}", aligned(&rows, page)) + &one_sided(&v.one_sided, model, page)
}

/// dJ/dθ: a line per direction, or why there is none.
fn gradient(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    // What did not happen has no value, and a warning says so.
    let Some(g) = motion.gradient.as_ref().filter(|g| g.value.is_finite()) else { return String::new() };
    let mut rows = vec![vec![g.of.clone(), significant(g.value, 12)]];
    if let Some(lost) = &g.not_differentiable {
        return format!("\n{}", aligned(&rows, page)) + &not_differentiable(lost, model, page);
    }
    for (name, x) in g.with_respect_to.iter().zip(&g.gradient) {
        rows.push(vec![format!("d/d {name}"), significant(*x, 12)]);
    }
    format!("\n{}", aligned(&rows, page)) + &one_sided(&g.one_sided, model, page)
}

/// Why there is no derivative.
fn not_differentiable(lost: &NotDifferentiable, model: &Model, page: SummaryPage) -> String {
    let mut whose: Vec<String> = lost.walls.iter().map(|&w| wall_name(model, w)).collect();
    whose.extend(lost.event.and_then(|e| model.events.get(e)).map(|e| e.name.clone()));
    let text = format!(
        "not differentiable at t = {} ({}): {}",
        significant(lost.time, 10),
        [&[lost.what.name().replace('_', " ")], &whose[..]].concat().join(" "),
        lost.what.meaning()
    );
    let lines = wrapped("  ", &text, page.width);
    lines.lines().fold(String::from("\n"), |out, line| out + &page.paint.yellow(line) + "\n")
}

/// Where derivatives are one-sided, a line each.
fn one_sided(notes: &[NotDifferentiable], model: &Model, page: SummaryPage) -> String {
    let mut out = String::new();
    for note in notes {
        let walls: Vec<String> = note.walls.iter().map(|&w| wall_name(model, w)).collect();
        let text = format!(
            "one-sided at t = {} ({}): {}",
            significant(note.time, 10),
            walls.join(", "),
            note.what.meaning()
        );
        out += &(wrapped("  ", &text, page.width) + "\n");
    }
    out
}

/// A name and values in the unit they are shown in; a unit that is not the stored one is said.
fn shown_as<const N: usize>(model: &Model, name: &str, values: [f64; N]) -> (String, [f64; N]) {
    match model.shown_unit(name) {
        Some(shown) if shown.factor != 1.0 => {
            (format!("{name} in {}", visible(&shown.label)), values.map(|x| x / shown.factor))
        }
        _ => (name.to_owned(), values),
    }
}

fn audit(motion: &Motion, model: &Model, page: SummaryPage) -> String {
    let audit = &motion.audit;
    let mut parts = vec![format!("energy balance kept to {}", figures(audit.hamiltonian_drift, 2))];
    if !model.rows.is_empty() {
        parts.push(format!("constraints to {}", figures(audit.constraint_drift, 2)));
    }
    if !motion.impacts.is_empty() {
        parts.push(format!("impact law to {}", figures(audit.impact_law_residual, 2)));
    }
    if !model.walls.is_empty() {
        parts.push(format!("deepest penetration {}", figures(audit.deepest_penetration, 2)));
    }
    let mut line = parts.join(", ");
    if audit.verdict == Verdict::Drift {
        line += ": drift, see the warnings";
    }
    let lines = wrapped("  audit ", &line, page.width);
    let painted = |text: &str| match audit.verdict {
        Verdict::Ok => text.to_owned(),
        Verdict::Drift => page.paint.yellow(text),
    };
    let mut out = String::from("\n");
    for (i, line) in lines.lines().enumerate() {
        // The heading and what follows it have colours of their own.
        let (head, rest) = line.split_at(if i == 0 { "  audit".len() } else { 0 });
        let _ = writeln!(
            out,
            "{}{}",
            if head.is_empty() { String::new() } else { page.paint.bold(head) },
            painted(rest)
        );
    }
    let kept: Vec<String> = audit
        .invariants
        .iter()
        .filter(|i| !i.drift.is_nan() && (i.survives_impacts || motion.impacts.is_empty()))
        .map(|i| format!("{} to {}", i.name, figures(i.drift, 2)))
        .collect();
    if !kept.is_empty() {
        let text = format!("conserved: {}", kept.join(", "));
        out += &(wrapped("        ", &text, page.width) + "\n");
    }
    if let Some(amplification) = audit.amplification {
        let text = format!("errors at the start are amplified {}-fold", figures(amplification, 2));
        out += &(wrapped("        ", &text, page.width) + "\n");
    }
    let seconds = [
        ("derive", audit.derive_seconds),
        ("compile", audit.compile_seconds),
        ("simulate", audit.simulate_seconds),
    ];
    let seconds: Vec<String> = seconds.iter().map(|(what, s)| format!("{what} {}", duration(*s))).collect();
    for line in wrapped("  ", &seconds.join(", "), page.width).lines() {
        let _ = writeln!(out, "{}", page.paint.dim(line));
    }
    out
}

/// A time span as a person says it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// `3 steps`, `1 step`.
pub fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The first few, and the last.
fn shown(index: usize, total: usize) -> bool {
    total <= SHOWN || index + 1 < SHOWN || index + 1 == total
}

fn left_out(total: usize, what: &str, page: SummaryPage) -> String {
    if total <= SHOWN {
        return String::new();
    }
    let text = format!("({} more {what} before the last; -o FILE or --json gives all)", total - SHOWN);
    wrapped("  ", &text, page.width) + "\n"
}

fn wall_name(model: &Model, wall: usize) -> String {
    model.walls.get(wall).map_or_else(|| wall.to_string(), |w| w.name.clone())
}

/// A time in a list whose last one is `latest`: thirteen digits there, the same decimals everywhere.
fn moment(time: f64, latest: f64) -> String {
    let before = latest.abs().max(1.0).log10().floor() as usize;
    format!("{:.*}", 12usize.saturating_sub(before), time + 0.0)
}

/// A number with that many significant digits; powers of ten only when needed.
fn full(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{}", if x == 0.0 { 0.0 } else { x });
    }
    let exponent = format!("{x:.*e}", digits - 1);
    let power: i32 = exponent.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    if (-5..digits as i32).contains(&power) {
        let decimals = (digits as i32 - 1 - power).max(0) as usize;
        format!("{x:.decimals$}")
    } else {
        exponent
    }
}

/// The same without trailing zeros.
pub fn significant(x: f64, digits: usize) -> String {
    let text = full(x, digits);
    let (mantissa, power) = text.split_once('e').map_or((text.as_str(), None), |(m, p)| (m, Some(p)));
    let short =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    match power {
        Some(power) => format!("{short}e{power}"),
        None => short.to_owned(),
    }
}

/// Columns aligned: names left, numbers right at the widest; the first row is the heading. A table too wide for the page
/// has shorter numbers; if those would say too little, every row has lines of its own.
fn aligned(rows: &[Vec<String>], page: SummaryPage) -> String {
    let fewer = |digits: usize| -> Vec<Vec<String>> {
        let cut = |text: &String| match text.parse::<f64>() {
            Ok(x) if text.chars().filter(char::is_ascii_digit).count() > digits => significant(x, digits),
            _ => text.clone(),
        };
        rows.iter().map(|row| row.iter().map(cut).collect()).collect()
    };
    if total_width(rows) <= page.width {
        return columns(rows, page.paint);
    }
    match (FEWEST_DIGITS..=12).rev().map(fewer).find(|rows| total_width(rows) <= page.width) {
        Some(rows) => columns(&rows, page.paint),
        None => records(rows, page),
    }
}

fn column_width(rows: &[Vec<String>], c: usize) -> usize {
    rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0)
}

fn total_width(rows: &[Vec<String>]) -> usize {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns).map(|c| 2 + column_width(rows, c)).sum()
}

fn columns(rows: &[Vec<String>], paint: Paint) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let numeric = |c: usize| rows.iter().skip(1).filter_map(|r| r.get(c)).any(|t| t.parse::<f64>().is_ok());
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for c in 0..columns {
            let text = row.get(c).map_or("", String::as_str);
            let pad = " ".repeat(column_width(rows, c) - text.chars().count());
            line += "  ";
            line += &if numeric(c) { pad + text } else { text.to_owned() + &pad };
        }
        let line = line.trim_end();
        let _ = writeln!(out, "{}", if i == 0 { paint.dim(line) } else { line.to_owned() });
    }
    out
}

/// Every row as lines of heading and value.
fn records(rows: &[Vec<String>], page: SummaryPage) -> String {
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let names = head.iter().skip(1).map(|h| h.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        let first = row.first().map_or("", String::as_str);
        // A row without a first cell goes on with the one before.
        if !first.is_empty() {
            let title = head.first().map_or("", String::as_str);
            let text = if title.contains('=') { first.to_owned() } else { format!("{title} {first}") };
            let _ = writeln!(out, "  {}", page.paint.dim(&text));
        }
        for (name, cell) in head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
            out += &(wrapped(&format!("    {name:names$}  "), cell, page.width) + "\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_still_say_enough() {
        assert_eq!(significant(0.5, 9), "0.5");
        assert_eq!(significant(10.0, 10), "10");
        assert_eq!(significant(-0.0, 10), "0");
        assert_eq!(significant(0.845724416263871, 13), "0.8457244162639");
        assert_eq!(significant(1.5e-7, 3), "1.5e-7");
        assert_eq!(significant(123_456_789.0, 4), "1.235e8");
        assert_eq!(significant(1e100, 4), "1e100");
        assert_eq!(significant(f64::NAN, 4), "NaN");
    }

    #[test]
    fn a_list_is_cut_in_the_middle_and_keeps_its_last_entry() {
        let kept: Vec<usize> = (0..100).filter(|&i| shown(i, 100)).collect();
        assert_eq!(kept.len(), SHOWN);
        assert_eq!(kept.last(), Some(&99));
        assert_eq!((0..SHOWN).filter(|&i| shown(i, SHOWN)).count(), SHOWN);
    }
}
