//! Every output says where it comes from: version, hash of the model text, options, arithmetic; and nothing of the day.

mod support;

use serde_json::Value;
use std::fs;
use std::path::Path;
use support::{carom, carom_in};

const MODEL: &str = "name = \"Ball\"\ncoordinates = [\"x\", \"y\"]\ngravity = [0, \"-g\"]\n[parameters]\ng = 9.81\n[body.b]\nmass = 1\n\
at = [\"x\", \"y\"]\n[wall.floor]\ngap = \"y\"\n[start]\nposition = { y = 1 }\nvelocity = { x = 0.5 }\n[run]\nuntil = 2\n";

/// The JSON objects with a hash in a file, wherever they are and however the format escapes them.
fn stamps(bytes: &[u8]) -> Vec<Value> {
    if let Ok(Value::Object(whole)) = serde_json::from_slice(bytes)
        && let Some(found) = whole.get("provenance")
    {
        return vec![found.clone()];
    }
    let text: String = bytes.iter().map(|&b| b as char).collect();
    // GIF cuts its comments into blocks, csv's description quotes the stamp.
    let text = text.replace("\\\"", "\"").replace("-\\u002d", "--");
    let mut found = Vec::new();
    for (at, _) in text.match_indices("{\"carom\": ").chain(text.match_indices("{ \"carom\": ")) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        found.extend(values.next().and_then(Result::ok));
    }
    found
}

fn check(file: &str, bytes: &[u8], option: &str, arithmetic: bool) {
    let found = stamps(bytes);
    assert_eq!(found.len(), 1, "{file}: {found:?}");
    let stamp = &found[0];
    assert_eq!(stamp["carom"], env!("CARGO_PKG_VERSION"), "{file}");
    assert_eq!(stamp["model_sha256"], carom_mech::sha256(MODEL), "{file}");
    assert!(stamp["options"].as_array().unwrap().iter().any(|o| o == option), "{file}: {stamp}");
    match arithmetic {
        true => assert!(["fused", "plain"].contains(&stamp["arithmetic"].as_str().unwrap()), "{file}"),
        false => assert!(stamp.get("arithmetic").is_none(), "{file}"),
    }
}

fn read(folder: &Path, file: &str) -> Vec<u8> {
    fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_output_says_where_it_comes_from_and_the_same_command_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("ball.toml"), MODEL).unwrap();
    let command = |command: &str, file: &str| {
        let arguments = [command, "ball.toml", "--set", "g=1.62", "-q", "-o", file];
        carom_in(folder, &arguments).expect(0);
        let once = read(folder, file);
        // Times of day and clocks are no part of a file, except for the seconds of the audit.
        if !file.ends_with(".json") {
            carom_in(folder, &arguments).expect(0);
            assert!(once == read(folder, file), "{file} differs from run to run");
        }
        once
    };
    // (GIF is tested where its comment can be put together again.)
    for file in ["m.json", "m.npz", "m.parquet", "m.impacts.parquet"] {
        let bytes = if file.contains("impacts") { read(folder, file) } else { command("run", file) };
        check(file, &bytes, "--set g=1.62", true);
    }
    command("run", "m.csv");
    for file in ["m.csv-metadata.json", "m.impacts.csv-metadata.json"] {
        check(file, &read(folder, file), "--set g=1.62", true);
    }
    for file in ["m.svg", "m.png", "m.html"] {
        check(file, &command("show", file), "--set g=1.62", true);
    }
    for file in ["m.tex", "m.md", "e.html", "e.json", "m.py", "m.rs", "m.c"] {
        check(file, &command("derive", file), "--set g=1.62", false);
    }
    let text = String::from_utf8(command("derive", "m.txt")).unwrap();
    let last = format!(
        "carom {} · model {} · --set g=1.62",
        env!("CARGO_PKG_VERSION"),
        &carom_mech::sha256(MODEL)[..16]
    );
    assert_eq!(text.lines().last(), Some(last.as_str()));
}

#[test]
fn a_gif_carries_its_provenance_in_a_comment() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("ball.toml"), MODEL).unwrap();
    carom_in(folder, &["show", "ball.toml", "--until", "0.2", "-q", "-o", "m.gif"]).expect(0);
    let bytes = read(folder, "m.gif");
    let at = bytes.windows(4).rposition(|w| w[..2] == [0x21, 0xFE] && w[3] == b'{').unwrap() + 2;
    let (mut rest, mut comment) = (&bytes[at..], Vec::new());
    while rest[0] > 0 {
        let (block, after) = rest[1..].split_at(usize::from(rest[0]));
        comment.extend(block);
        rest = after;
    }
    assert_eq!(rest, [0, 0x3B], "nothing but the trailer follows");
    check("m.gif", &comment, "--until 0.2", true);
}

#[test]
fn a_sweep_says_which_trajectories_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("ball.toml"), MODEL).unwrap();
    for file in ["s.npz", "s.parquet", "s.csv"] {
        let arguments = ["sweep", "ball.toml", "--vary", "y=1..2:3", "--set", "g=2", "-q", "-o", file];
        carom_in(folder, &arguments).expect(0);
        let named = if file == "s.csv" { "s.csv-metadata.json" } else { file };
        check(named, &read(folder, named), "--vary y=1..2:3", true);
        check(named, &read(folder, named), "--set g=2", true);
    }
    fs::write(folder.join("t.csv"), "y\n1\n2\n").unwrap();
    carom_in(folder, &["sweep", "ball.toml", "--table", "t.csv", "-q", "-o", "t.parquet"]).expect(0);
    let option = format!("--table t.csv (sha256 {})", carom_mech::sha256("y\n1\n2\n"));
    check("t.parquet", &read(folder, "t.parquet"), &option, true);
}

#[test]
fn the_program_says_what_it_is() {
    let said = carom(&["--version", "--verbose"]).expect(0).stdout;
    for line in [
        "target:",
        "compiler:   rustc ",
        "features:   tables",
        "arithmetic:",
        "licence:    MIT OR Apache-2.0",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(said.starts_with(&format!("carom {}\n", env!("CARGO_PKG_VERSION"))));
    assert!(carom(&["--version"]).expect(0).stdout.lines().count() == 1);
}

#[test]
fn completions_and_manual_know_every_command() {
    for (shell, sign) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef carom"),
        ("fish", "complete -c carom"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let text = carom(&["completions", shell]).expect(0).stdout;
        assert!(text.contains(sign), "{shell}");
        ["derive", "sweep", "tolerance"]
            .iter()
            .for_each(|word| assert!(text.contains(word), "{shell} {word}"));
    }
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &["manual", "man"]).expect(0);
    let page = fs::read_to_string(folder.path().join("man/carom-run.1")).unwrap();
    assert!(page.contains("\\-\\-tolerance"), "{page}");
    assert!(folder.path().join("man/carom.1").exists() && !folder.path().join("man/carom-manual.1").exists());
    carom(&["completions", "tcsh"]).expect(1);
}
