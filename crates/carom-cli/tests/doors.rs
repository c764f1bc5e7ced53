//! What comes in from outside and what the system refuses: closed and full streams, limits of files and memory, links that
//! someone planted, control characters in names, questions that would take for ever.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{Ended, carom, carom_in, carom_with};

/// Runs a command line of the shell with `carom` as `$C`.
fn shell(folder: &Path, line: &str) -> Ended {
    let output = Command::new("bash")
        .args(["-c", line])
        .env("C", env!("CARGO_BIN_EXE_carom"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

const SLIDER: &str = "
coordinates = [\"x\"]
[body.slider]
mass = 1
at = [\"x\", 0]
[start]
velocity = { x = 1.0 }
";

#[test]
fn a_closed_or_full_stderr_changes_no_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [
        ("run nosuch", 3),
        ("run double_pendulum --until -1", 1),
        ("check double_pendulum --set nosuch=1", 1),
        ("run double_pendulum -o a.csv", 0),
        ("run double_pendulum --option max_steps=3", 2),
        ("show double_pendulum -o a.svg", 0),
        ("sweep double_pendulum --vary m1=1..2:3 -o s.csv", 0),
        ("sweep double_pendulum --vary m1=1..2:3 -o s.csv --resume", 0),
        ("new pendulum", 0),
        ("gallery double_pendulum", 0),
        ("nosuch", 1),
    ] {
        for stderr in ["2>&-", "2>/dev/full"] {
            for made in ["pendulum.toml", "double_pendulum.toml"] {
                let _ = fs::remove_file(folder.path().join(made));
            }
            let ended = shell(folder.path(), &format!("$C {arguments} {stderr} >/dev/null"));
            assert_eq!(ended.code, code, "{arguments} {stderr}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_full_stdout_is_a_sentence_and_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        "--help",
        "--version",
        "gallery",
        "check double_pendulum",
        "derive double_pendulum",
        "run double_pendulum --json",
        "sweep double_pendulum --vary m1=1..2:3",
        "sweep double_pendulum --vary m1=1..2:3 --json",
    ] {
        let ended = shell(folder.path(), &format!("$C {arguments} >/dev/full")).expect(3);
        assert!(ended.stderr.contains("cannot write standard output: no space left"), "{}", ended.stderr);
        // Both full: still no panic, and the same code.
        shell(folder.path(), &format!("$C {arguments} >/dev/full 2>/dev/full")).expect(3);
    }
}

#[test]
fn a_reader_that_goes_away_ends_a_sweep_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(["sweep", "double_pendulum", "--vary", "m1=1..2:100000000", "--until", "0.01"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    // 10⁸ trajectories would take hours.
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let ended = shell(
        folder.path(),
        "set -o pipefail; $C sweep double_pendulum --vary m1=1..2:20000 --until 0.01 | head -1",
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 1);
}

#[test]
fn a_file_beyond_its_limit_is_a_sentence_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.toml"), SLIDER).unwrap();
    for arguments in [
        "run m.toml --samples 5000 -o a.csv",
        "run m.toml --samples 5000 -o a.npz",
        "run m.toml --samples 5000 -o a.parquet",
        "show m.toml --samples 5000 -o a.html",
        "sweep m.toml --vary x=0..1:2000 -o a.csv",
    ] {
        let ended = shell(folder.path(), &format!("ulimit -f 4; $C {arguments}")).expect(3);
        assert!(
            ended.stderr.contains("cannot write a.") && ended.stderr.contains("large"),
            "{}",
            ended.stderr
        );
        let left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name != "m.toml" && name != "a.csv.part")
            .collect();
        assert!(left.is_empty(), "{arguments}: {left:?}");
    }
    // What the journal had room for is not lost.
    let ended = shell(folder.path(), "$C sweep m.toml --vary x=0..1:2000 -o a.csv --resume").expect(0);
    assert!(ended.stderr.contains("going on after"), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("a.csv")).unwrap().lines().count(), 2001);
}

#[test]
fn memory_that_is_not_there_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.toml"), SLIDER).unwrap();
    // Refused before anything is simulated …
    let ended = shell(folder.path(), "ulimit -v 1000000; $C run m.toml --samples 50000000").expect(1);
    assert!(ended.stderr.contains("50000000 samples") && ended.stderr.contains("hint:"), "{}", ended.stderr);
    // … or where it runs out.
    fs::write(folder.path().join("big.csv"), "t,u\n".to_owned() + &"1,2\n".repeat(5_000_000)).unwrap();
    let ended = shell(folder.path(), "ulimit -v 120000; $C sweep m.toml --table big.csv").expect(3);
    assert!(ended.stderr.contains("out of memory") && ended.stderr.contains("hint:"), "{}", ended.stderr);
    for samples in ["1000000000", "1e12", "1000000000000", "18446744073709551616", "1e300"] {
        let ended = carom_in(folder.path(), &["run", "m.toml", "--samples", samples]).expect(1);
        assert!(ended.stderr.contains("`samples` is a whole number"), "{}", ended.stderr);
    }
    let ended =
        carom_in(folder.path(), &["sweep", "m.toml", "--vary", "x=0..1:18446744073709551616"]).expect(1);
    assert!(ended.stderr.contains("not a number of values"), "{}", ended.stderr);
    let grid = ["sweep", "m.toml", "--vary", "x=0..1:10000000000", "--vary", "x'=0..1:10000000000"];
    let ended = carom_in(folder.path(), &grid).expect(1);
    assert!(ended.stderr.contains("more points than can be counted"), "{}", ended.stderr);
}

#[test]
fn a_planted_link_is_never_written_through() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("victim"), "untouched").unwrap();
    for name in [".a.csv.part", "a.csv.part", "pendulum.toml"] {
        symlink(at("victim"), at(name)).unwrap();
    }
    let ended =
        carom_in(folder.path(), &["sweep", "double_pendulum", "--vary", "m1=1,2", "-o", "a.csv"]).expect(3);
    assert!(ended.stderr.contains("it is a link"), "{}", ended.stderr);
    carom_in(folder.path(), &["new", "pendulum"]).expect(3);
    fs::remove_file(at("a.csv.part")).unwrap();
    carom_in(folder.path(), &["sweep", "double_pendulum", "--vary", "m1=1,2", "-o", "a.csv"]).expect(0);
    assert!(at("a.csv").symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_to_string(at("victim")).unwrap(), "untouched");
}

/// Text with everything that a terminal might obey.
const HOSTILE: &str = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\rb\u{8}\u{202e}c";

fn assert_harmless(ended: &Ended, what: &str) {
    for text in [&ended.stdout, &ended.stderr] {
        let bad: Vec<char> =
            text.chars().filter(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}').collect();
        assert!(bad.is_empty(), "{what}: {bad:?} in {text:?}");
    }
}

#[test]
fn control_characters_of_other_peoples_text_never_reach_a_terminal() {
    let escaped: String = HOSTILE.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    let model = format!("name = \"{escaped}\\nerror: not ours\"\n{SLIDER}");
    // A unit that does not exist is told, as harmlessly.
    let ended = carom_with(&format!("{model}[units]\nx = \"{escaped}\"\n"), &["check", "-"]).expect(1);
    assert_harmless(&ended, "units");
    for arguments in [
        &["check", "-"] as &[&str],
        &["derive", "-"],
        &["run", "-"],
        &["run", "-", "--json"],
        &["sweep", "-", "--vary", "x=0,1"],
        &["derive", "-", "--format", "latex"],
        &["derive", "-", "--format", "c"],
        &["derive", "-", "--format", "sympy"],
    ] {
        let ended = carom_with(&model, arguments).expect(0);
        assert_harmless(&ended, &arguments.join(" "));
        assert!(!ended.stdout.lines().any(|line| line.starts_with("error: not ours")), "{}", ended.stdout);
    }
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["run", HOSTILE] as &[&str],
        &["check", "double_pendulum", "--set", HOSTILE],
        &["run", "double_pendulum", "--start", HOSTILE],
        &["run", "double_pendulum", "--until", HOSTILE],
        &["run", "double_pendulum", "--at", HOSTILE],
        &["run", "double_pendulum", "-o", &format!("{HOSTILE}.nosuch")],
        &["run", "double_pendulum", "-o", &format!("{HOSTILE}.csv")],
        &["show", "double_pendulum", "-o", "a.svg", "--plot", HOSTILE],
        &["sweep", "double_pendulum", "--vary", HOSTILE],
        &["sweep", "double_pendulum", "--table", HOSTILE],
        &["gallery", HOSTILE],
        &["new", HOSTILE],
        &[HOSTILE],
        &["run", "double_pendulum", &format!("--{HOSTILE}")],
    ] {
        let ended = carom_in(folder.path(), arguments);
        assert!(
            ended.code == 1 || ended.code == 3 || ended.stderr.contains("wrote"),
            "{arguments:?} {ended:?}"
        );
        assert_harmless(&ended, &arguments.join(" "));
    }
    // Mistakes quote what they are about: keys, labels, source lines, columns of tables.
    fs::write(folder.path().join("t.csv"), format!("t,{HOSTILE}\n0,1\n1,2\n")).unwrap();
    for (text, quoted) in [
        (format!("coordinates = [\"x\"]\n[wall.\"{escaped}\"]\ngap = \"x\"\n"), "label"),
        (format!("coordinates = [\"{escaped}\"]\n"), "name"),
        (format!("coordinates = [\"x\"]\n# {HOSTILE}\n\"{escaped}\" = 1\n"), "key"),
        (format!("coordinates = [\"x\"] {HOSTILE}\n"), "line"),
        (format!("{SLIDER}[input]\nu = {{ file = \"t.csv\", column = \"u\" }}\n"), "column"),
        (format!("{SLIDER}[input]\nu = {{ file = \"{escaped}\", column = \"u\" }}\n"), "file"),
        (format!("{SLIDER}[run]\nmethod = \"{escaped}\"\n"), "choice"),
    ] {
        fs::write(folder.path().join("m.toml"), text).unwrap();
        let ended = carom_in(folder.path(), &["check", "m.toml"]);
        assert!(ended.code == 1 || ended.code == 3, "{quoted} {ended:?}");
        assert_harmless(&ended, quoted);
    }
}

#[test]
fn markup_is_escaped_and_control_characters_do_not_reach_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<script>alert(1)</script> & \\\" ' \\u0001 ]]> --> {{data}}";
    let model = format!("name = \"{name}\"\n{SLIDER}");
    fs::write(folder.path().join("m.toml"), model).unwrap();
    for file in ["a.svg", "a.html", "d.html"] {
        let arguments: &[&str] = if file == "d.html" {
            &["derive", "m.toml", "-o", file]
        } else {
            &["show", "m.toml", "-o", file, "--plot", "x"]
        };
        carom_in(folder.path(), arguments).expect(0);
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(!text.contains("<script>alert") && !text.contains("</script><b>"), "{file}");
        let bad: Vec<char> = text.chars().filter(|c| c.is_control() && !"\n\r\t".contains(*c)).collect();
        assert!(bad.is_empty(), "{file}: {bad:?}");
    }
}

#[test]
fn a_picture_of_a_motion_without_end_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for until in ["1e19", "1e300"] {
        for output in ["a.svg", "a.html", "a.gif"] {
            let arguments = ["show", "double_pendulum", "--until", until, "-o", output];
            let ended = carom_in(folder.path(), &arguments).expect(1);
            assert!(ended.stderr.contains("too many steps for a picture"), "{}", ended.stderr);
            assert!(ended.stderr.contains("hint: --until"), "{}", ended.stderr);
            assert!(!folder.path().join(output).exists());
        }
    }
    let ended =
        carom(&["run", "double_pendulum", "--until", "1e19", "--option", "max_steps=30000"]).expect(2);
    assert!(ended.stderr.contains("at this pace the limit of 30000 steps"), "{}", ended.stderr);
    let ended = carom(&["run", "double_pendulum", "--until", "500"]).expect(0);
    assert!(!ended.stderr.contains("at this pace"), "{}", ended.stderr);
}
