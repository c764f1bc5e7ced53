//! Bad models: each file in `bad_models/` ends with what must be said about it, and nothing else may be said.
//!
//! ```text
//! #! error 9:20 unknown name `thetta` // did you mean the coordinate `theta`?
//! ```
//!
//! Severity, line:column (`-` without a place), the whole message, and after `//` the hint. A message from the command
//! line or a table has its origin in parentheses before the place. `#@ set m=0` at the end of the file applies
//! an option first. Setting `CAROM_BLESS` writes the expectations instead of comparing.

use carom_mech::diagnostic::tidy;
use carom_mech::{Diagnostic, Draft, Severity};
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

fn line(d: &Diagnostic) -> String {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = match &d.place {
        Some(p) => match &p.origin {
            Some(origin) => format!("({origin}) {}:{}", p.line, p.column),
            None => format!("{}:{}", p.line, p.column),
        },
        None => "-".to_owned(),
    };
    let hint = d.hint.as_ref().map(|h| format!(" // {h}")).unwrap_or_default();
    format!("#! {severity} {place} {}{hint}", d.message)
}

fn diagnose(path: &Path) -> Vec<Diagnostic> {
    let (mut draft, mut problems) = Draft::read(path).unwrap();
    let bytes = std::fs::read(path).unwrap();
    for option in String::from_utf8_lossy(&bytes).lines().filter_map(|l| l.strip_prefix("#@ ")) {
        let (kind, value) = option.split_once(' ').unwrap();
        problems.extend(match kind {
            "set" => draft.set_parameter(value),
            "start" => draft.set_start(value),
            key => draft.set_run(key, value),
        });
    }
    problems.extend(draft.examine().1);
    tidy(&mut problems);
    problems
}

#[test]
fn every_bad_model_is_told_exactly_what_is_wrong() {
    let mut paths = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_models");
    files(&root, &mut paths);
    let bless = std::env::var_os("CAROM_BLESS").is_some();
    let mut report = String::new();
    for path in &paths {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let found = diagnose(path);
        let lines: Vec<String> = found.iter().map(line).collect();
        let bytes = std::fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        if bless {
            // Bytes before the expectations stay as they are, whatever their encoding.
            let keep =
                bytes.windows(4).position(|w| w == b"\n#! ").map_or(bytes.len(), |i| i + 1).min(bytes.len());
            let mut out = bytes[..keep].to_vec();
            if !out.ends_with(b"\n") {
                out.push(b'\n');
            }
            out.extend(lines.join("\n").bytes());
            out.push(b'\n');
            std::fs::write(path, out).unwrap();
            continue;
        }
        let mut expected: Vec<&str> = text.lines().filter(|l| l.starts_with("#! ")).collect();
        let mut surplus: Vec<&Diagnostic> = Vec::new();
        for (told, d) in lines.iter().zip(&found) {
            match expected.iter().position(|e| e == told) {
                Some(i) => drop(expected.remove(i)),
                None => surplus.push(d),
            }
        }
        if expected.is_empty() && surplus.is_empty() {
            continue;
        }
        report += &format!("\n──── {name}\n");
        for e in expected {
            report += &format!("  not said:  {}\n", e.trim_start_matches("#! "));
        }
        for d in surplus {
            report += &format!("  said also: {}\n", line(d).trim_start_matches("#! "));
            report += &format!("{}\n", d.render(&name));
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(paths.len() >= 60, "only {} bad models", paths.len());
}

#[test]
fn every_message_about_a_bad_model_is_explained_by_words_of_it() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_models"), &mut paths);
    let mut explained = std::collections::HashSet::new();
    for d in paths.iter().flat_map(|path| diagnose(path)) {
        let families = carom_mech::mistakes::explain(&d.message);
        assert!(!families.is_empty(), "no page behind: {}", d.message);
        explained.extend(families.iter().map(|m| m.name));
    }
    // And no page is behind nothing.
    for mistake in carom_mech::mistakes::mistakes() {
        assert!(explained.contains(mistake.name), "{} explains no message", mistake.name);
    }
}

#[test]
fn every_bad_model_has_something_wrong_and_a_way_out() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_models"), &mut paths);
    for path in &paths {
        let found = diagnose(path);
        assert!(!found.is_empty(), "{} has nothing wrong", path.display());
        for d in found {
            let hint = d.hint.as_deref().unwrap_or("");
            assert!(!hint.is_empty(), "{}: no way out of: {}", path.display(), d.message);
            assert!(!d.message.ends_with('.'), "{}: {}", path.display(), d.message);
            // The carets stand under the name the message quotes.
            let Some(name) = d.message.strip_prefix("unknown name `").map(|m| m.trim_end_matches('`')) else {
                continue;
            };
            let place = d.place.as_ref().unwrap();
            let under: String = place.source_line.chars().skip(place.column - 1).take(place.length).collect();
            assert_eq!(under.trim_end_matches('\''), name, "{}", path.display());
        }
    }
}
