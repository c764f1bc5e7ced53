//! The surface of the library, committed as `public-api.txt`: a change of it shows in review, and this test fails until the
//! listing says the same as the sources. `CAROM_UPDATE=1 cargo test -p carom --test public_api` writes it anew.
//!
//! It is read from the sources, not from a compiler's output, so every toolchain gives the same listing: items that begin
//! with `pub`, under the `impl` they belong to; what the small macros of the crate make, by name; and the records of other
//! crates that are shown here, with their fields.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A source without comments, attributes, macro definitions and tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap().to_owned();
    let mut out = String::new();
    let mut inside_macro = false;
    for line in text.lines() {
        inside_macro |= line.starts_with("macro_rules!");
        let trimmed = line.trim_start();
        if !inside_macro && !trimmed.starts_with("//") && !trimmed.starts_with("#[") {
            out.push_str(line.split("// ").next().unwrap().trim_end());
            out.push('\n');
        }
        inside_macro &= line != "}";
    }
    out
}

/// The text from here to where its block or statement begins or ends, on one line.
fn head(text: &str) -> String {
    let mut depth = 0;
    let mut end = text.len();
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth == 0 => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    let constant =
        text.trim_start().starts_with("pub const ") && !text.trim_start().starts_with("pub const fn");
    if constant {
        end = text.find(" = ").unwrap_or(end);
    }
    let words: Vec<&str> = text[..end].split_whitespace().collect();
    words.join(" ").replace("( ", "(").replace(", )", ")").replace(" )", ")")
}

/// A whole block, on one line.
fn block(text: &str) -> String {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return text[..=i].split_whitespace().collect::<Vec<_>>().join(" ").replace(", }", " }");
                }
            }
            _ => {}
        }
    }
    text.to_owned()
}

/// The public items of a source.
fn items(code: &str, out: &mut String) {
    let mut at = 0;
    let mut own = String::new();
    let mut fields = false;
    for line in code.split_inclusive('\n') {
        let (rest, trimmed) = (&code[at..], line.trim_start());
        at += line.len();
        if fields {
            fields = !line.starts_with('}');
        } else if line.starts_with("pub use") {
            _ = writeln!(
                out,
                "{}",
                rest.split(';').next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
            );
        } else if line.starts_with("impl") {
            let header = head(rest);
            if header.contains(" for ") {
                _ = writeln!(out, "{header}");
            }
            own = header;
        } else if line.starts_with('}') {
            own.clear();
        } else if (trimmed.starts_with("pub enum") || trimmed.starts_with("pub struct")) && own.is_empty() {
            let whole = block(rest);
            let open = trimmed.starts_with("pub enum")
                || whole.replace("pub(crate) ", "").matches("pub ").count() > 1;
            _ = writeln!(out, "{}", if open { whole } else { head(rest) });
            fields = !line.trim_end().ends_with('}');
        } else if trimmed.starts_with("pub ") {
            let inside = if own.is_empty() { "" } else { "    " };
            if !own.is_empty() && !own.contains(" for ") {
                _ = writeln!(out, "{inside}{} :: {}", own.trim_start_matches("impl").trim(), head(rest));
            } else {
                _ = writeln!(out, "{}", head(rest));
            }
        } else if trimmed.trim_end().ends_with("! {") && !trimmed.starts_with("static") {
            let body = block(rest);
            _ = writeln!(out, "{}", body.split("/// ").next().unwrap_or(&body));
        }
    }
}

/// The definition of a record and its public methods, wherever in a crate it stands.
fn record(room: &str, name: &str, out: &mut String) {
    let mut files: Vec<PathBuf> =
        fs::read_dir(crates().join(room).join("src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
        let code = code(file);
        for kind in ["struct", "enum"] {
            if let Some(at) = code.find(&format!("pub {kind} {name} {{")) {
                _ = writeln!(out, "{}", block(&code[at..]));
            }
        }
        if let Some(at) = code.find(&format!("\nimpl {name} {{")) {
            let mut methods = String::new();
            let end = code[at..].find("\n}").map_or(code.len(), |end| at + end);
            items(&code[at + 1..end], &mut methods);
            out.push_str(&methods);
        }
    }
}

fn listing() -> String {
    let source = crates().join("carom/src");
    let mut files: Vec<PathBuf> = fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut out = String::from("The public items of crate carom. Written by tests/public_api.rs.\n");
    for file in &files {
        _ = writeln!(out, "\n# {}", file.file_stem().unwrap().to_string_lossy());
        items(&code(file), &mut out);
    }
    let library = code(&source.join("lib.rs"));
    for (room, prefix) in [("carom-mech", "pub use carom_mech::{"), ("carom-run", "pub use carom_run::{")] {
        let names = library.split(prefix).nth(1).unwrap().split('}').next().unwrap().replace('\n', " ");
        _ = writeln!(out, "\n# from {room}");
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            record(room, name, &mut out);
        }
    }
    out
}

/// Public items of a source, by the line they stand on, whose documentation has no example.
fn without_example(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut missing = Vec::new();
    let (mut documented, mut example, mut inside_macro) = (false, false, false);
    for line in text.lines() {
        let trimmed = line.trim_start();
        inside_macro |= line.starts_with("macro_rules!");
        if trimmed.starts_with("///") || trimmed.starts_with("#[") {
            documented = true;
            example |= trimmed.contains("```");
            continue;
        }
        let item = ["pub fn ", "pub struct ", "pub enum "].iter().any(|kind| trimmed.starts_with(kind));
        if item && !inside_macro && !(documented && example) {
            missing.push(format!("{}: {}", file.file_name().unwrap().to_string_lossy(), trimmed.trim_end()));
        }
        (documented, example) = (false, false);
        inside_macro &= line != "}";
    }
    missing
}

#[test]
fn every_public_item_has_an_example() {
    let mut missing = Vec::new();
    for entry in fs::read_dir(crates().join("carom/src")).unwrap() {
        missing.extend(without_example(&entry.unwrap().path()));
    }
    missing.sort();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_listing_of_public_items_is_that_of_the_sources() {
    let file = crates().join("carom/public-api.txt");
    let now = listing();
    if std::env::var_os("CAROM_UPDATE").is_some() {
        fs::write(&file, &now).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    let gone: Vec<&str> = known.lines().filter(|line| !now.lines().any(|other| other == *line)).collect();
    let new: Vec<&str> = now.lines().filter(|line| !known.lines().any(|other| other == *line)).collect();
    assert!(
        known == now,
        "the public items changed.\ngone:\n{}\nnew:\n{}\nif that is meant: CAROM_UPDATE=1 cargo test -p carom --test public_api, \
         and a line in CHANGELOG.md",
        gone.join("\n"),
        new.join("\n")
    );
}
