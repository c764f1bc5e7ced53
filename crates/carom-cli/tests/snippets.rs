//! Every command and every model file in the README and the book is executed here, in the order of the page.
//!
//! A block "toml file=NAME" is written to a folder of its own (without a body, the page's neighbour NAME is copied); every
//! line `$ …` of a "console" block must succeed there. Lines below a command must appear in its output, in order; `…` alone
//! stands for lines left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The fenced blocks of a page: info string and body.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim().to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, body)), None) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// What a test would repeat for ever, or a network would have to answer.
const NOT_HERE: [&str; 3] = ["bash .ci/test", "git clone ", "cargo install "];

/// Runs one page; returns how many commands it had.
fn run_page(page: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_carom"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let name = page.file_name().unwrap().to_string_lossy().into_owned();
    let mut commands = 0;
    for (info, body) in blocks(&fs::read_to_string(page).unwrap()) {
        if let Some((_, file)) = info.split_once(" file=") {
            let copied = || fs::read_to_string(page.with_file_name(file)).unwrap();
            let body = if body.trim().is_empty() { copied() } else { body.clone() };
            fs::write(folder.path().join(file), body).unwrap();
        } else if info.starts_with("toml") && info != "toml fragment" {
            panic!(
                "{name}: a model without a file name is not tested; write `toml file=NAME` or `toml fragment`"
            );
        }
        if info != "console" {
            continue;
        }
        let mut lines = body.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let mut expected = Vec::new();
            while let Some(line) = lines.next_if(|l| !l.starts_with("$ ")) {
                expected.push(line);
            }
            if NOT_HERE.iter().any(|start| command.starts_with(start)) {
                continue;
            }
            // The same command through the workspace is the binary that is being tested.
            let command = command.replace("cargo run --release --", "carom");
            assert!(
                command.starts_with("carom ") || command.starts_with("python3 "),
                "{name}: cannot test `{command}`"
            );
            let output = Command::new("sh")
                .args(["-c", &command])
                .current_dir(folder.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{name}: `{command}` failed:\n{stdout}{stderr}");
            let mut printed = stdout.lines();
            for line in expected.iter().filter(|l| !l.trim().is_empty() && l.trim() != "…") {
                let found = printed.any(|p| p.trim_end() == line.trim_end());
                assert!(
                    found,
                    "{name}: `{command}` does not print, in this place,\n{line}\n--- but\n{stdout}"
                );
            }
            commands += 1;
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_works() {
    assert!(run_page(&root().join("README.md")) >= 4);
}

#[test]
fn every_command_of_the_book_works() {
    let mut pages: Vec<PathBuf> =
        fs::read_dir(root().join("docs/book/src")).unwrap().map(|f| f.unwrap().path()).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.sort();
    let commands: usize = pages.iter().map(|p| run_page(p)).sum();
    assert!(commands >= 15, "{commands}");
}

#[test]
fn continuous_integration_runs_exactly_the_test_command_of_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().any(|line| line == "$ bash .ci/test"));
    let run = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert_eq!(run.lines().last(), Some("exec bash .ci/test"));
}
