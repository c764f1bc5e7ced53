//! The invariants of ARCHITECTURE.md, checked by reading the sources: arrows between rooms go one way, rooms are pure,
//! `unsafe` lives in one file, and the map names every file and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All `.rs` files below a folder, as paths relative to the root, sorted.
fn sources(folder: &str) -> Vec<String> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let root = root();
    let mut files = Vec::new();
    walk(&root.join(folder), &mut files);
    let mut names: Vec<String> =
        files.iter().map(|f| f.strip_prefix(&root).unwrap().display().to_string()).collect();
    names.sort();
    names
}

/// The code of a file: comments and everything from its test module on are left out.
fn code(file: &str) -> String {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// Does `text` contain `word` with no letter, digit or underscore around it?
fn mentions(text: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(part_of_name)
            && !text[at + word.len()..].chars().next().is_some_and(part_of_name)
    })
}

/// The files of a crate's `src` that contain any of the words.
fn offenders(room: &str, words: &[&str]) -> Vec<String> {
    let files = sources(&format!("crates/{room}/src"));
    let hit = |file: &String| {
        let text = code(file);
        words.iter().find(|word| mentions(&text, word)).map(|word| format!("{file}: {word}"))
    };
    files.iter().filter_map(hit).collect()
}

const ROOMS: [&str; 6] =
    ["carom-expr", "carom-jet", "carom-mech", "carom-run", "carom-insight", "carom-show"];

#[test]
fn arrows_between_rooms_go_one_way() {
    for (i, room) in ROOMS.iter().enumerate() {
        let later: Vec<String> = ROOMS[i + 1..].iter().map(|r| r.replace('-', "_")).collect();
        let mut words: Vec<&str> = later.iter().map(String::as_str).collect();
        words.extend(["carom_cli", "carom_studio", "carom_py"]);
        assert_eq!(offenders(room, &words), [""; 0]);
        let manifest = fs::read_to_string(root().join(format!("crates/{room}/Cargo.toml"))).unwrap();
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap();
        for later in &ROOMS[i + 1..] {
            assert!(!dependencies.contains(&format!("{later}.")), "{room} depends on {later}");
        }
    }
}

/// The stages of the engine, in order: each knows only those before it. Detection and executable memory belong to evaluation; formulas,
/// dense algebra and roots know no stage, the oracle only what a system is.
#[test]
fn arrows_between_the_stages_of_the_engine_go_one_way() {
    let stages: [&[&str]; 5] = [&["ir"], &["emit"], &["eval", "simd"], &["step"], &["batch"]];
    let aside = [("values", ""), ("dense", ""), ("roots", ""), ("oracle", "crate::ir::system")];
    let folder = "crates/carom-jet/src";
    let mut seen = 0;
    for file in sources(folder).into_iter().filter(|file| !file.ends_with("tests.rs")) {
        let within = file.strip_prefix(&format!("{folder}/")).unwrap();
        let name = within.split(['/', '.']).next().unwrap();
        let text = code(&file);
        let uses = |stage: &str| mentions(&text, &format!("crate::{stage}"));
        if let Some(at) = stages.iter().position(|stage| stage.contains(&name)) {
            for later in stages[at + 1..].iter().flat_map(|stage| stage.iter()) {
                assert!(!uses(later), "{file} uses crate::{later}, a later stage");
            }
            seen += 1;
        } else if let Some((_, allowed)) = aside.iter().find(|(module, _)| *module == name) {
            let text = if allowed.is_empty() { text.clone() } else { text.replace(allowed, "") };
            for stage in stages.iter().flat_map(|stage| stage.iter()) {
                assert!(!mentions(&text, &format!("crate::{stage}")), "{file} uses crate::{stage}");
            }
        } else {
            assert_eq!(name, "lib", "{file} belongs to no stage");
        }
        // Other paths could leave the folder unseen: those that climb, and names of the crate's surface.
        let surface = text.split("crate::").skip(1).any(|path| path.starts_with(|c: char| !c.is_lowercase()));
        assert!(!text.contains("super::super") && (name == "lib" || !surface), "{file}");
    }
    assert!(seen > 40, "only {seen} files were found");
}

#[test]
fn no_room_prints_reads_a_clock_or_the_environment() {
    for room in ROOMS {
        let words = [
            "println!",
            "print!",
            "eprintln!",
            "eprint!",
            "dbg!",
            "stdout",
            "stderr",
            "stdin",
            "Instant",
            "SystemTime",
            "std::env",
            "env::var",
            "std::process",
            "std::net",
        ];
        assert_eq!(offenders(room, &words), [""; 0]);
    }
}

#[test]
fn only_the_reader_of_model_files_and_the_doors_touch_files() {
    for room in ROOMS {
        let found = offenders(room, &["std::fs", "fs", "File", "OpenOptions"]);
        // The reader of model files also reads the tables that models name.
        let readers = ["/src/draft/", "/src/check/table.rs"];
        let allowed =
            |offender: &&String| room == "carom-mech" && readers.iter().any(|r| offender.contains(r));
        let found: Vec<&String> = found.iter().filter(|o| !allowed(o)).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn the_repository_holds_no_fonts_scripts_or_styles_of_others() {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.file_name().and_then(|n| n.to_str()) {
                Some("node_modules" | "target" | "__pycache__") => {}
                _ if path.is_dir() => walk(&path, out),
                _ => out.push(path),
            }
        }
    }
    let mut files = Vec::new();
    ["crates", "docs", "tests", "models", "benches", ".ci"]
        .iter()
        .for_each(|f| walk(&root().join(f), &mut files));
    let foreign = |path: &&PathBuf| {
        let name = path.to_string_lossy();
        let fonts = [".ttf", ".otf", ".woff", ".woff2", ".eot", ".min.js", ".min.css"];
        let page = [".js", ".mjs", ".css"].iter().any(|e| name.ends_with(e));
        // What was made by a tool has lines that nobody writes.
        fonts.iter().any(|e| name.ends_with(e))
            || page && fs::read_to_string(path).unwrap().lines().any(|line| line.len() > 2000)
    };
    let found: Vec<&PathBuf> = files.iter().filter(foreign).collect();
    assert!(files.len() > 400 && found.is_empty(), "{found:?}");
}

#[test]
fn unsafe_code_lives_in_at_most_one_file_per_crate() {
    let crates: BTreeSet<String> =
        sources("crates").iter().map(|f| f.split('/').nth(1).unwrap().to_owned()).collect();
    for room in crates {
        let mut found = offenders(&room, &["unsafe"]);
        found.retain(|f| !f.ends_with("unsafe_code: unsafe"));
        assert!(found.len() <= 1, "{found:?}");
    }
}

#[test]
fn derivation_uses_only_the_order_0_evaluator_and_the_dense_algebra_of_the_engine() {
    for file in sources("crates/carom-mech/src") {
        for part in code(&file).split("carom_jet::").skip(1) {
            let allowed = ["dense", "values"];
            assert!(
                allowed.iter().any(|a| part.starts_with(a)),
                "{file} uses carom_jet::{}",
                &part[..20.min(part.len())]
            );
        }
    }
}

#[test]
fn integration_and_root_isolation_know_neither_walls_nor_energies() {
    let things = ["wall", "gap", "impact", "contact", "restitution", "mass", "momentum", "energy"];
    let plural = ["walls", "gaps", "impacts", "contacts", "masses", "momenta", "energies"];
    let kinds = ["lagrangian", "hamiltonian", "kinetic", "potential", "mechanics"];
    let words: Vec<&str> = [&things[..], &plural, &kinds].concat();
    let types: Vec<String> = words.iter().map(|w| w[..1].to_uppercase() + &w[1..]).collect();
    let all: Vec<&str> = words.iter().copied().chain(types.iter().map(String::as_str)).collect();
    assert_eq!(offenders("carom-jet", &all), [""; 0]);
    // What is looked for is found where it is.
    assert!(offenders("carom-run", &all).len() > 20);
}

#[test]
fn show_computes_no_mechanics() {
    assert_eq!(
        offenders("carom-show", &["derive(model", "carom_mech::derive", "simulate", "Program"]),
        [""; 0]
    );
}

#[test]
fn the_map_names_every_source_file_and_only_what_exists() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(map.lines().count() <= 150, "ARCHITECTURE.md has {} lines", map.lines().count());
    // A heading `## crates/NAME/src` (or any folder in backticks after `##`) is the folder of the files listed below it.
    let mut folder = String::new();
    let mut named = BTreeSet::new();
    for line in map.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            folder = heading.split('`').nth(1).map(|f| format!("{f}/")).unwrap_or_default();
        }
        let entry = line.trim_start().strip_prefix("* ").unwrap_or("");
        // `a.rs`, `b.rs`: what they do.
        let names = entry.split(": ").next().unwrap_or("");
        for name in names.split('`').skip(1).step_by(2) {
            named.insert(format!("{folder}{name}"));
        }
    }
    for path in &named {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
    let crates = fs::read_dir(root().join("crates")).unwrap();
    for room in crates {
        let room = room.unwrap().file_name().into_string().unwrap();
        for file in sources(&format!("crates/{room}/src")) {
            let known =
                named.iter().any(|n| *n == file || (n.ends_with('/') && file.starts_with(n.as_str())));
            assert!(known, "ARCHITECTURE.md does not name {file}");
        }
    }
}

/// Types that are the same thing at another stage: as written in a file, checked, and made by a builder; in the rooms, and
/// behind the names of the library; for all symmetries, and for the request of an orbit.
const STAGES: &str = "Body Circle Contact Event EventRecord Force Formula Graze Impact Invariant Model Motion Options Point \
                      Simulator Start View Wall";

#[test]
fn a_type_name_means_one_thing() {
    let mut defined: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources("crates").into_iter().filter(|file| file.contains("/src/")) {
        for line in code(&file).lines() {
            let line = ["pub(crate) ", "pub(super) ", "pub "]
                .iter()
                .find_map(|p| line.strip_prefix(p))
                .unwrap_or(line);
            let Some((kind, rest)) = line.split_once(' ') else { continue };
            if ["struct", "enum", "trait", "type", "union"].contains(&kind) {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
                defined.entry(name).or_default().insert(file.clone());
            }
        }
    }
    assert!(defined.len() > 300, "only {} types were found", defined.len());
    for (name, files) in defined.iter().filter(|(_, files)| files.len() > 1) {
        let same = STAGES.split_whitespace().any(|stage| stage == name);
        assert!(same, "`{name}` is a type in {files:?}: say of what each is, as in RowIndex and EventRow");
    }
}

#[test]
fn source_files_can_be_read_in_one_sitting() {
    for file in sources("crates") {
        if file.contains("/src/") {
            let lines = fs::read_to_string(root().join(&file)).unwrap().lines().count();
            assert!(lines <= 600, "{file} has {lines} lines");
        }
    }
}

#[test]
fn every_crate_that_is_published_says_what_it_is_and_carries_its_licences() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let package = manifest.split("\n[dependencies]").next().unwrap();
        if package.contains("\npublish = false") {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap();
        for key in [
            "version",
            "rust-version",
            "license",
            "description",
            "readme",
            "documentation",
            "keywords",
            "categories",
        ] {
            let stated =
                |line: &str| line.starts_with(&format!("{key} =")) || line.starts_with(&format!("{key}."));
            assert!(package.lines().any(stated), "{name} has no {key}");
        }
        assert!(
            manifest.contains("[package.metadata.docs.rs]"),
            "{name}: what the documentation host builds"
        );
        // Links into the repository are followed when the archive is made.
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(fs::read(folder.join(file)).is_ok_and(|text| text.len() > 50), "{name} has no {file}");
        }
    }
}

#[test]
fn the_way_of_a_gap_leads_through_stations_that_exist() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let way = map.split("\n## ").find(|section| section.starts_with("The way of")).expect("the way is drawn");
    let mut stations = 0;
    for line in way.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        // 7. `carom-jet/src/ir/lower.rs` · `lower`: …
        let mut names = line.split('`').skip(1).step_by(2);
        let (file, name) = (names.next().unwrap(), names.next().unwrap());
        let text =
            fs::read_to_string(root().join("crates").join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let defined = ["fn", "struct", "enum"].iter().any(|word| mentions(&text, &format!("{word} {name}")));
        assert!(defined, "{file} has no `{name}`");
        stations += 1;
        assert!(line.starts_with(&format!("{stations}. ")), "stations are numbered: {line}");
    }
    assert!((10..=20).contains(&stations), "{stations} stations");
}
