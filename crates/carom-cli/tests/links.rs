//! Links never dangle: every relative link of a page in the repository leads to a file that is there and, if it names a
//! heading, to a heading of it; the chapters of the book link within the book.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Markdown file that is not ignored by git; without git, the ones that matter.
fn pages(root: &Path) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
        .current_dir(root)
        .output();
    let names = match listed {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        _ => {
            "README.md\nARCHITECTURE.md\nCONTRIBUTING.md\nSECURITY.md\ndocs/book/src/SUMMARY.md\n".to_owned()
        }
    };
    names.lines().map(|name| root.join(name)).filter(|path| path.exists()).collect()
}

/// The page without fenced blocks and spans of code.
fn prose(page: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for (k, part) in line.split('`').enumerate() {
            if k % 2 == 0 {
                out += part;
            }
        }
        out.push('\n');
    }
    out
}

/// Targets of `[text](target)` and `![text](target)`.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        if let Some(end) = rest.find(')') {
            found.push(rest[..end].split_whitespace().next().unwrap_or("").to_owned());
        }
    }
    found
}

/// The identifiers of a page's headings, as mdBook and the forges make them.
fn headings(page: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let mut id = String::new();
        for c in title.trim().to_lowercase().chars() {
            match c {
                ' ' => id.push('-'),
                '-' | '_' => id.push(c),
                c if c.is_alphanumeric() => id.push(c),
                _ => {}
            }
        }
        let count = seen.entry(id.clone()).or_insert(0);
        out.push(if *count == 0 { id.clone() } else { format!("{id}-{count}") });
        *count += 1;
    }
    out
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let root = root();
    let book = root.join("docs/book/src");
    let mut broken = Vec::new();
    let mut checked = 0;
    for page in pages(&root) {
        let text = fs::read_to_string(&page).unwrap();
        let name = page.strip_prefix(&root).unwrap().display().to_string();
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let Ok(target) = target.canonicalize() else {
                broken.push(format!("{name}: {link}: there is no such file"));
                continue;
            };
            if page.starts_with(&book) && !target.starts_with(&book) {
                broken.push(format!("{name}: {link} leads out of the book"));
            }
            if !anchor.is_empty()
                && !headings(&fs::read_to_string(&target).unwrap()).iter().any(|h| h == anchor)
            {
                broken.push(format!("{name}: {link}: there is no such heading"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(checked >= 30, "{checked}");
}

#[test]
fn the_summary_of_the_book_lists_every_chapter_once() {
    let book = root().join("docs/book/src");
    let mut listed = links(&fs::read_to_string(book.join("SUMMARY.md")).unwrap());
    listed.sort();
    let mut chapters = Vec::new();
    for folder in ["", "reference", "notebooks"] {
        for entry in fs::read_dir(book.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "md") && !path.ends_with("SUMMARY.md") {
                chapters.push(path.strip_prefix(&book).unwrap().display().to_string());
            }
        }
    }
    chapters.sort();
    assert_eq!(listed, chapters);
}

#[test]
fn a_heading_has_the_identifier_that_pages_give_it() {
    let page = "# The verdict\n\n```\n# no heading\n```\n## [wall.NAME]\n## A motion: `carom run --json`\n## The verdict\n";
    assert_eq!(headings(page), ["the-verdict", "wallname", "a-motion-carom-run---json", "the-verdict-1"]);
    assert_eq!(links("[a](b.md#c) `[x](y)` ![i](p.svg)"), ["b.md#c", "p.svg"]);
}
