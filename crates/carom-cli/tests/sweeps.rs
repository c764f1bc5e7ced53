//! `carom sweep`: rows in input order, whatever the threads and interruptions; a failing trajectory is a row that says why.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{carom, carom_in};

fn rows(folder: &Path, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_sweep_has_one_row_per_trajectory_in_input_order() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "sweep",
        "pendulum_wall",
        "--vary",
        "theta=0.5,1",
        "--vary",
        "g=9.8,1.6,3",
        "-o",
        "out.csv",
        "--json",
    ];
    let summary = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!(summary["trajectories"], 6);
    assert_eq!(summary["stops"]["reached"], 6);
    assert!(
        summary["seconds"].is_number()
            && summary["cpu_seconds"].is_number()
            && summary["threads"].is_number()
    );
    let rows = rows(folder.path(), "out.csv");
    let header = "theta,g,stop,time,impacts,final.theta,theta',hamiltonian_drift,error";
    assert_eq!(rows[0].join(","), header);
    let inputs: Vec<(&str, &str)> = rows[1..].iter().map(|r| (r[0].as_str(), r[1].as_str())).collect();
    let expected =
        [("0.5", "9.8"), ("0.5", "1.6"), ("0.5", "3.0"), ("1.0", "9.8"), ("1.0", "1.6"), ("1.0", "3.0")];
    assert_eq!(inputs, expected);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the journal is gone");
}

#[test]
fn a_row_of_a_sweep_is_the_run_with_the_same_options() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "sweep",
        "double_pendulum_wall",
        "--vary",
        "l1=0.8,1.1",
        "--vary",
        "theta2'=0.5",
        "-q",
        "-o",
        "out.csv",
    ];
    carom_in(folder.path(), &arguments).expect(0);
    let rows = rows(folder.path(), "out.csv");
    let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    for (row, l1) in rows[1..].iter().zip(["0.8", "1.1"]) {
        let set = format!("l1={l1}");
        let run = carom(&[
            "run",
            "double_pendulum_wall",
            "--set",
            &set,
            "--start",
            "theta2'=0.5",
            "--json",
            "--at",
            "10",
        ]);
        let motion = run.expect(0).json();
        let value: f64 = row[column("theta1")].parse().unwrap();
        assert_eq!(value, motion["position"]["theta1"][0].as_f64().unwrap());
        assert_eq!(row[column("impacts")], motion["impacts"].as_array().unwrap().len().to_string());
    }
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    for threads in ["1", "2", "5"] {
        let output = format!("t{threads}.parquet");
        let random =
            ["--random", "theta=-0.5..1.4", "--random", "theta'=-3..3", "--count", "300", "--seed", "7"];
        let rest = ["--until", "5", "-q", "--threads", threads, "-o", &output];
        carom_in(folder.path(), &[&["sweep", "pendulum_wall"][..], &random, &rest].concat()).expect(0);
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("t1.parquet"), read("t2.parquet"));
    assert_eq!(read("t1.parquet"), read("t5.parquet"));
}

#[test]
fn a_trajectory_that_cannot_start_is_a_row_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["sweep", "bouncing_mass", "--vary", "y=-1,1", "-o", "out.csv", "--json"];
    let summary = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!((&summary["stops"]["invalid"], &summary["stops"]["reached"]), (&1.into(), &1.into()));
    let text = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(text.lines().nth(1).unwrap().contains("floor"), "{text}");
}

#[test]
fn starts_may_come_from_a_table() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("starts.csv"), "theta,theta',m\n0.5,0,1\n1,0.25,2\n").unwrap();
    carom_in(folder.path(), &["sweep", "pendulum_wall", "--table", "starts.csv", "-q", "-o", "out.csv"])
        .expect(0);
    let rows = rows(folder.path(), "out.csv");
    assert_eq!(rows[2][..3], ["1.0", "0.25", "2.0"]);
    let ended = carom_in(folder.path(), &["sweep", "pendulum_wall", "--table", "none.csv"]).expect(3);
    assert!(ended.stderr.contains("none.csv"));
}

#[test]
fn a_killed_sweep_resumes_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = |output| {
        let random =
            ["--random", "theta1=-3..3", "--random", "theta2=-1..3", "--count", "400", "--seed", "3"];
        [&["sweep", "double_pendulum", "-q", "--until", "30", "-o", output][..], &random].concat()
    };
    carom_in(folder.path(), &arguments("whole.csv")).expect(0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(arguments("cut.csv"))
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Kill without warning once some rows are on disk; should it be faster than that, the test still holds.
    let journal = folder.path().join("cut.csv.part");
    let patience = Instant::now() + Duration::from_secs(60);
    while Instant::now() < patience && child.try_wait().unwrap().is_none() {
        if fs::metadata(&journal).is_ok_and(|m| m.len() > 4000) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = [&arguments("cut.csv")[..], &["--resume"]].concat();
    carom_in(folder.path(), &resume).expect(0);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("whole.csv"), read("cut.csv"));
}

#[test]
fn resuming_another_question_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out.csv.part"), b"carom sweep 1\n01234567").unwrap();
    let arguments = ["sweep", "pendulum_wall", "--vary", "theta=1", "-o", "out.csv", "--resume"];
    let ended = carom_in(folder.path(), &arguments).expect(1);
    assert!(ended.stderr.contains("another"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_varied_is_refused() {
    for (vary, word) in [("tehta=1", "theta"), ("theta=1..2", "A..B:N"), ("theta", "NAME=VALUES")] {
        let ended = carom(&["sweep", "pendulum_wall", "--vary", vary]).expect(1);
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
    }
    let ended = carom(&["sweep", "driven_double_pendulum", "--vary", "theta1=1"]).expect(1);
    assert!(ended.stderr.contains("driven"), "{}", ended.stderr);
    let ended = carom(&["sweep", "kepler_wall", "--vary", "x'=1"]).expect(1);
    assert!(ended.stderr.contains("px"), "{}", ended.stderr);
    carom(&["sweep", "pendulum_wall"]).expect(1);
    carom(&["sweep", "pendulum_wall", "--vary", "theta=1", "-o", "out.txt"]).expect(1);
}

#[test]
fn a_sweep_starts_no_more_threads_than_it_has_trajectories() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["sweep", "pendulum_wall", "--vary", "theta=0.5,1", "--threads", "9999", "-o", "out.csv", "--json"];
    let summary = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!(summary["threads"], 2);
}
