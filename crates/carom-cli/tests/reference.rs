//! The reference is where people look, and says the same everywhere: pages of the repository, chapters of the book,
//! `carom help`. Setting `CAROM_BLESS` writes the generated pages instead of comparing them.

mod support;

use carom_mech::{mistakes, reference, schema};
use carom_run::StopReason;
use std::fs;
use std::path::{Path, PathBuf};
use support::{carom, carom_in, gallery};

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src").canonicalize().unwrap()
}

/// Compares a generated file with what it should be, or writes it.
fn fresh(file: &str, text: &str) {
    let path = book().join(file);
    if std::env::var_os("CAROM_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        return;
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        old == text,
        "docs/book/src/{file} is not what the program says; CAROM_BLESS=1 cargo test -p carom-cli --test reference writes it"
    );
}

#[test]
fn the_pages_of_the_reference_are_what_the_program_says() {
    for page in ["model", "formulas", "json", "commands", "messages"] {
        fresh(&format!("reference/{page}.md"), &carom(&["help", "--markdown", page]).expect(0).stdout);
    }
    fresh("gallery.md", &carom(&["gallery", "--markdown"]).expect(0).stdout);
}

#[test]
fn the_published_schemas_are_what_the_program_prints() {
    fresh("model.schema.json", &carom(&["schema"]).expect(0).stdout);
    for of in ["run", "derive", "check", "sweep", "orbit", "follow", "scan", "lyapunov", "fit"] {
        let name = if of == "run" { "result.schema.json".to_owned() } else { format!("{of}.schema.json") };
        fresh(&name, &carom(&["schema", of]).expect(0).stdout);
    }
}

/// Asks for help on something; returns what is printed.
fn help(topic: &str) -> String {
    let ended = carom(&["help", topic]).expect(0);
    assert_eq!(ended.stderr, "", "{topic}");
    ended.stdout
}

#[test]
fn every_key_table_function_reason_and_message_can_be_asked_for() {
    for entry in schema::schema().iter().filter(|e| e.key != "*") {
        let text = help(entry.key);
        let commands = ["run", "check", "derive", "show", "sweep"];
        if !commands.contains(&entry.key) {
            let words = entry.meaning.split_whitespace().next().unwrap();
            assert!(text.contains(words), "{}: {text}", entry.key);
        }
    }
    for table in schema::tables() {
        assert!(help(&format!("[{table}]")).starts_with(&format!("[{table}")), "{table}");
    }
    for (name, arguments, meaning) in reference::functions() {
        assert!(
            help(name).contains(&format!("{name}({arguments})")) && help(name).contains(meaning),
            "{name}"
        );
    }
    for reason in StopReason::ALL {
        assert!(help(reason.name()).contains("a reason to stop"), "{}", reason.name());
    }
    for mistake in mistakes::mistakes() {
        assert!(help(mistake.name).contains(&format!("{}\n\n", mistake.name)), "{}", mistake.name);
    }
    for code in ["0", "1", "2", "3"] {
        assert!(help(code).starts_with(&format!("Exit code {code}")), "{code}");
    }
}

#[test]
fn commands_win_and_brackets_say_that_a_table_is_meant() {
    for command in ["run", "check", "derive", "show", "sweep", "new", "gallery", "schema", "cite"] {
        let text = help(command);
        assert_eq!(text, carom(&[command, "--help"]).expect(0).stdout, "{command}");
    }
    assert!(help("[run]").contains("tolerance"));
    assert!(help("[wall.left]").contains("restitution"));
    assert!(help("impacts[].impulse").contains("impulse") && help("audit.steps").contains("steps taken"));
    assert!(help("--until").contains("carom sweep"));
}

#[test]
fn what_was_printed_about_a_bad_model_can_be_asked_about() {
    let model = "coordinates = [\"x\"]\n[energy]\nkinetic = \"m*x'^2/2\"\n";
    let ended = support::carom_with(model, &["check", "-"]).expect(1);
    let sentence = ended.stderr.lines().next().unwrap().trim_start_matches("error: ").to_owned();
    let sentence = sentence.split("  ").next().unwrap();
    assert!(help(sentence).starts_with("unknown_name"), "{sentence}");
}

#[test]
fn unknown_topics_suggest() {
    for (typed, meant) in
        [("restituton", "restitution"), ("rnu", "run"), ("modell", "model"), ("sqeezed", "squeezed")]
    {
        let ended = carom(&["help", typed]).expect(1);
        assert!(ended.stderr.contains(&format!("carom help {meant}")), "{typed}: {}", ended.stderr);
    }
    let ended = carom(&["help", "xyzzy"]).expect(1);
    assert!(ended.stderr.contains("carom help topics"), "{}", ended.stderr);
    let ended = carom(&["help", "newtons_cradle"]).expect(1);
    assert!(ended.stderr.contains("carom gallery newtons_cradle"), "{}", ended.stderr);
}

#[test]
fn a_new_model_brings_the_schema_for_its_editor_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &["new", "first"]).expect(0);
    let text = fs::read_to_string(folder.path().join("first.toml")).unwrap();
    assert!(text.starts_with("#:schema ./carom.schema.json\n"), "{text}");
    let schema = folder.path().join("carom.schema.json");
    assert_eq!(fs::read_to_string(&schema).unwrap(), carom(&["schema"]).stdout);
    carom_in(folder.path(), &["check", "first.toml"]).expect(0);
    // An older one of ours is renewed; somebody else's is left alone, and not pointed to.
    fs::write(&schema, "{ \"title\": \"A model of carom\" }").unwrap();
    carom_in(folder.path(), &["new", "second"]).expect(0);
    assert_eq!(fs::read_to_string(&schema).unwrap(), carom(&["schema"]).stdout);
    fs::write(&schema, "mine").unwrap();
    carom_in(folder.path(), &["new", "third"]).expect(0);
    assert_eq!(fs::read_to_string(&schema).unwrap(), "mine");
    assert!(!fs::read_to_string(folder.path().join("third.toml")).unwrap().contains("#:schema"));
    carom_in(folder.path(), &["new", "fourth", "--no-schema"]).expect(0);
    assert!(!fs::read_to_string(folder.path().join("fourth.toml")).unwrap().contains("#:schema"));
}

#[test]
fn the_citation_is_the_one_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = fs::read_to_string(root.join("CITATION.cff")).unwrap();
    let cff = carom(&["cite", "--format", "cff"]).expect(0).stdout;
    for line in cff.lines() {
        assert!(file.lines().any(|l| l == line), "CITATION.cff lacks: {line}");
    }
    let bibtex = carom(&["cite", "--format", "bibtex"]).expect(0).stdout;
    assert!(bibtex.starts_with("@software{carom,") && bibtex.contains(env!("CARGO_PKG_VERSION")), "{bibtex}");
    if let Some(date) = file.lines().find_map(|l| l.strip_prefix("date-released: ")) {
        assert!(bibtex.contains(date.trim_matches('"').split('-').next().unwrap()), "{date}");
    }
}

#[test]
fn the_gallery_page_names_every_model() {
    let page = carom(&["gallery", "--markdown"]).expect(0).stdout;
    assert!(gallery().iter().all(|name| page.contains(&format!("`{name}`"))));
}
