//! A sweep that was stopped (killed, interrupted, out of room) and resumed ends with the bytes of one that was not.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::carom_in;

/// A ball with an event, some of whose starts are behind the wall.
const BALL: &str = "
coordinates = [\"y\"]
[energy]
kinetic = \"y'^2/2\"
potential = \"9.81*y\"
[wall.floor]
gap = \"y\"
restitution = 0.8
[event.apex]
when = \"y'\"
direction = \"falling\"
[output]
height = \"y^2\"
[start]
position = { y = 1 }
[run]
until = 2
";

fn arguments<'a>(output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let random = ["--random", "y=-0.1..1.5", "--random", "y'=-1..1", "--count", "60", "--seed", "3"];
    let kept = ["--impacts", "--events", "apex", "-q"];
    [&["sweep", "ball.toml", "-o", output][..], &random, &kept, more].concat()
}

/// The table of a sweep and its two companions.
fn results(folder: &Path, stem: &str, extension: &str) -> Vec<Vec<u8>> {
    ["", ".impacts", ".events"]
        .map(|kind| fs::read(folder.join(format!("{stem}{kind}.{extension}"))).unwrap())
        .to_vec()
}

fn folder_with_ball() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), BALL).unwrap();
    folder
}

/// Runs a sweep whose table finds its place taken: everything is simulated, and the journal stays.
fn leave_a_journal(folder: &Path, output: &str, more: &[&str]) -> Vec<u8> {
    let stem = output.split('.').next().unwrap();
    let extension = output.rsplit('.').next().unwrap();
    let obstacle = folder.join(format!(".{stem}.impacts.{extension}.part"));
    fs::create_dir(&obstacle).unwrap();
    let ended = carom_in(folder, &arguments(output, more)).expect(3);
    assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
    fs::remove_dir(&obstacle).unwrap();
    fs::read(folder.join(format!("{output}.part"))).unwrap()
}

#[test]
fn a_journal_cut_anywhere_leads_to_the_same_bytes_in_every_form_with_any_threads() {
    let folder = folder_with_ball();
    let folder = folder.path();
    for extension in ["csv", "npz", "parquet"] {
        carom_in(folder, &arguments(&format!("whole.{extension}"), &["--threads", "1"])).expect(0);
        let whole = results(folder, "whole", extension);
        let output = format!("cut.{extension}");
        let journal = leave_a_journal(folder, &output, &["--threads", "2"]);
        // Nothing, part of the head, the head, one row and a bit, half, all but one byte, all.
        let cuts = [0, 10, 22, 180, journal.len() / 2, journal.len() - 1, journal.len()];
        for (cut, threads) in cuts.into_iter().zip(["1", "2"].into_iter().cycle()) {
            fs::write(folder.join(format!("{output}.part")), &journal[..cut]).unwrap();
            carom_in(folder, &arguments(&output, &["--resume", "--threads", threads])).expect(0);
            assert!(results(folder, "cut", extension) == whole, "{extension} cut at {cut}");
            assert!(!folder.join(format!("{output}.part")).exists(), "the journal is gone");
        }
    }
}

#[test]
fn another_question_is_refused_and_leaves_the_journal_alone() {
    let folder = folder_with_ball();
    let folder = folder.path();
    let journal = leave_a_journal(folder, "out.csv", &[]);
    let refused = |more: &[&str]| {
        let ended = carom_in(folder, &arguments("out.csv", &[more, &["--resume"]].concat())).expect(1);
        assert!(ended.stderr.contains("another model or other options"), "{}", ended.stderr);
        assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
        assert_eq!(fs::read(folder.join("out.csv.part")).unwrap(), journal);
    };
    refused(&["--until", "3"]);
    refused(&["--tolerance", "1e-9"]);
    refused(&["--start", "y=1.25"]);
    refused(&["--option", "max_impacts=5"]);
    refused(&["--columns", "energy"]);
}

#[test]
fn a_changed_model_or_table_is_another_question() {
    let folder = folder_with_ball();
    let folder = folder.path();
    fs::write(folder.join("starts.csv"), "y\n1\n2\n").unwrap();
    let begin = ["sweep", "ball.toml", "--table", "starts.csv", "-q", "-o", "out.csv"];
    let resume = [&begin[..], &["--resume"]].concat();
    fs::create_dir(folder.join(".out.csv.part")).unwrap();
    carom_in(folder, &begin).expect(3);
    fs::remove_dir(folder.join(".out.csv.part")).unwrap();
    fs::write(folder.join("starts.csv"), "y\n1\n2.5\n").unwrap();
    carom_in(folder, &resume).expect(1);
    fs::write(folder.join("starts.csv"), "y\n1\n2\n").unwrap();
    fs::write(folder.join("ball.toml"), BALL.replace("9.81", "1.62")).unwrap();
    carom_in(folder, &resume).expect(1);
    fs::write(folder.join("ball.toml"), BALL).unwrap();
    carom_in(folder, &resume).expect(0);
    fs::write(folder.join("out.csv.part"), "y\n1\n").unwrap();
    let ended = carom_in(folder, &resume).expect(1);
    assert!(ended.stderr.contains("not the journal"), "{}", ended.stderr);
}

/// Starts a longer sweep, and waits until some of its rows are on disk (or it has ended, which is no harm).
fn begun(folder: &Path, output: &str) -> std::process::Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(pendulum(output))
        .current_dir(folder)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = folder.join(format!("{output}.part"));
    let patience = Instant::now() + Duration::from_secs(60);
    while Instant::now() < patience && child.try_wait().unwrap().is_none() {
        if fs::metadata(&journal).is_ok_and(|m| m.len() > 4000) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

fn pendulum(output: &str) -> Vec<&str> {
    let random = ["--random", "theta1=-3..3", "--random", "theta2=-1..3", "--count", "400", "--seed", "3"];
    [&["sweep", "double_pendulum", "-q", "--until", "30", "-o", output][..], &random].concat()
}

#[test]
fn a_killed_sweep_resumes_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &pendulum("whole.csv")).expect(0);
    let mut child = begun(folder.path(), "cut.csv");
    child.kill().unwrap();
    child.wait().unwrap();
    carom_in(folder.path(), &[&pendulum("cut.csv")[..], &["--resume"]].concat()).expect(0);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("whole.csv"), read("cut.csv"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_writes_what_it_has_and_resumes_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &pendulum("whole.csv")).expect(0);
    let mut child = begun(folder.path(), "cut.csv");
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    let ended = child.wait().unwrap();
    let whole = fs::read_to_string(folder.path().join("whole.csv")).unwrap();
    if kill.success() && ended.code() == Some(2) {
        let part = fs::read_to_string(folder.path().join("cut.csv")).unwrap();
        assert!(whole.starts_with(&part) && part.lines().count() > 1);
    }
    carom_in(folder.path(), &[&pendulum("cut.csv")[..], &["--resume"]].concat()).expect(0);
    assert_eq!(fs::read_to_string(folder.path().join("cut.csv")).unwrap(), whole);
}

#[cfg(unix)]
#[test]
fn a_request_to_stop_that_comes_twice_at_once_is_one() {
    // `timeout` sends its signal to the process and to its group.
    let folder = tempfile::tempdir().unwrap();
    let mut child = begun(folder.path(), "cut.csv");
    let twice = format!("kill -TERM {0}; kill -TERM {0}", child.id());
    Command::new("sh").args(["-c", &twice]).status().unwrap();
    // Interrupted, unless it was done before.
    let ended = child.wait().unwrap().code();
    assert!(ended == Some(2) || ended == Some(0), "{ended:?}");
    assert!(fs::read_to_string(folder.path().join("cut.csv")).unwrap().lines().count() > 1);
}

#[cfg(unix)]
#[test]
fn a_sweep_that_ran_out_of_room_says_so_and_resumes_to_the_same_bytes() {
    let folder = folder_with_ball();
    let folder = folder.path();
    for extension in ["csv", "npz", "parquet"] {
        let (whole, cut) = (format!("whole.{extension}"), format!("cut.{extension}"));
        carom_in(folder, &arguments(&whole, &[])).expect(0);
        // A file may have 4 blocks of 512 bytes: the journal needs more.
        let limited = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
        let ended = Command::new("sh")
            .args(["-c", limited, env!("CARGO_BIN_EXE_carom")])
            .args(arguments(&cut, &[]))
            .current_dir(folder)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{stderr}");
        assert!(stderr.contains("cannot write") && stderr.contains("--resume"), "{stderr}");
        carom_in(folder, &arguments(&cut, &["--resume"])).expect(0);
        assert!(results(folder, "cut", extension) == results(folder, "whole", extension), "{extension}");
    }
}
