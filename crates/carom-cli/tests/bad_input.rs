//! Bad input gets a clear message and the right exit code; it never panics and never leaves half a file behind.

mod support;

use std::fs;
use support::{carom, carom_in, carom_with, gallery};

const BALL: &str = r#"
coordinates = ["y"]
gravity = [0.0, "-g"]
[parameters]
m = 1.0
g = 9.8
[body.ball]
mass = "m"
at = ["0", "y"]
[wall.floor]
gap = "y"
[start]
position = { y = 1.0 }
"#;

/// Runs `carom run` on the ball with these options: must exit 1, say all of `words`, print no result.
fn refused(options: &[&str], words: &[&str]) {
    let mut arguments = vec!["run", "-", "--json"];
    arguments.extend(options);
    let ended = carom_with(BALL, &arguments).expect(1);
    assert_eq!(ended.stdout, "", "{options:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "{options:?} does not say `{word}`:\n{}", ended.stderr);
    }
}

#[test]
fn a_start_that_is_not_a_number_is_refused() {
    refused(&["--start", "y=nan"], &["error", "nan"]);
    refused(&["--start", "y=1/0"], &["error"]);
}

#[test]
fn a_zero_mass_is_refused_before_anything_moves() {
    refused(&["--set", "m=0"], &["error"]);
}

#[test]
fn a_tolerance_that_is_zero_negative_or_huge_is_refused() {
    for tolerance in ["0", "-1e-9", "nan", "1", "inf"] {
        refused(&["--tolerance", tolerance], &["tolerance"]);
    }
}

#[test]
fn an_end_before_the_start_is_refused() {
    refused(&["--until", "-1"], &["until"]);
    refused(&["--until", "nan"], &["until"]);
}

#[test]
fn a_time_that_is_missing_or_none_is_refused() {
    for times in ["", ",", "0.5,,1"] {
        refused(&["--at", times], &["a time is missing in --at", "--at 0,0.5,2"]);
    }
    refused(&["--at", "0.5,nan"], &["`nan` in --at is not a time"]);
    carom_with(BALL, &["run", "-", "--json", "--at", "0.1, 0.2,"]).expect(0);
}

#[test]
fn an_unknown_name_in_set_gets_a_suggestion() {
    refused(&["--set", "M=3"], &["unknown parameter `M`", "did you mean `m`?"]);
    refused(&["--set", "y=3"], &["--start"]);
    refused(&["--set", "m"], &["name=value"]);
    refused(&["--start", "z=3"], &["unknown", "`z`"]);
}

#[test]
fn samples_outside_the_run_are_refused() {
    refused(&["--at", "0,99"], &["99"]);
    refused(&["--at", "0,x"], &["`x`"]);
    refused(&["--samples", "0"], &["samples"]);
    refused(&["--samples", "-3"], &["samples"]);
    refused(&["--at", "1", "--samples", "3"], &["cannot be used with"]);
}

#[test]
fn a_start_behind_a_wall_says_how_deep() {
    refused(&["--start", "y=-0.25"], &["floor", "0.25"]);
}

#[test]
fn usage_errors_exit_1_and_help_exits_0() {
    for arguments in [&["fly"][..], &["run"], &["run", "x", "--frobnicate"], &["run", "-", "--repeat", "0"]] {
        let ended = carom(arguments).expect(1);
        assert_eq!(ended.stdout, "");
        assert!(ended.stderr.contains("error"), "{}", ended.stderr);
    }
    for arguments in [&[][..], &["--help"], &["run", "--help"], &["--version"]] {
        let ended = carom(arguments).expect(0);
        assert!(ended.stdout.contains("carom"), "{}", ended.stdout);
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn a_model_that_cannot_be_read_exits_3_and_suggests_the_gallery() {
    let ended = carom(&["check", "no_such_model.toml"]).expect(3);
    assert!(ended.stderr.contains("no such file"), "{}", ended.stderr);
    let ended = carom(&["run", "double_pendulm"]).expect(3);
    assert!(ended.stderr.contains("did you mean `double_pendulum`?"), "{}", ended.stderr);
    carom(&["run", "/"]).expect(3);
}

#[test]
fn text_that_is_no_model_is_reported_with_its_place() {
    let ended =
        carom_with("coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2 +\"\n", &["check", "-"]).expect(1);
    assert!(ended.stderr.contains("standard input:3"), "{}", ended.stderr);
    carom_with("", &["check", "-"]).expect(1);
    carom_with("= = =", &["run", "-"]).expect(1);
    carom_with("\u{0}\u{1}", &["derive", "-"]).expect(1);
}

#[test]
fn an_unwritable_path_exits_3_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    for output in ["missing/out.csv", "/proc/out.csv", "."] {
        let output =
            if output == "." { format!("{}.csv", folder.path().display()) } else { output.to_owned() };
        fs::create_dir_all(format!("{}.csv", folder.path().display())).unwrap();
        let ended = carom_in(folder.path(), &["run", "bouncing_mass", "-o", &output]).expect(3);
        assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
    }
    fs::remove_dir(format!("{}.csv", folder.path().display())).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_full_disk_exits_3() {
    let ended = carom(&["run", "bouncing_mass", "-o", "/dev/full"]).expect(3);
    assert!(ended.stderr.contains("no space left"), "{}", ended.stderr);
}

#[test]
fn an_unknown_extension_is_refused_before_the_work_begins() {
    let folder = tempfile::tempdir().unwrap();
    let ended = carom_in(folder.path(), &["run", "bouncing_mass", "-o", "out.xyz"]).expect(1);
    assert!(ended.stderr.contains(".parquet"), "{}", ended.stderr);
    let ended = carom_in(folder.path(), &["run", "bouncing_mass", "-o", "out.svg"]).expect(1);
    assert!(ended.stderr.contains("carom show"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn new_and_gallery_never_overwrite() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &["new", "mine"]).expect(0);
    carom_in(folder.path(), &["check", "mine.toml"]).expect(0);
    let before = fs::read(folder.path().join("mine.toml")).unwrap();
    carom_in(folder.path(), &["new", "mine.toml"]).expect(3);
    assert_eq!(fs::read(folder.path().join("mine.toml")).unwrap(), before);
    carom_in(folder.path(), &["gallery", "newtons_cradle"]).expect(0);
    carom_in(folder.path(), &["gallery", "newtons_cradle"]).expect(3);
    let ended = carom(&["gallery", "newton_cradle"]).expect(1);
    assert!(ended.stderr.contains("newtons_cradle"), "{}", ended.stderr);
    assert!(gallery().iter().all(|name| carom(&["gallery"]).stdout.contains(name)));
}
