//! Runs the real program.
#![allow(dead_code)]

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// How a run of the program ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{}\n{}", self.stdout, self.stderr))
    }

    /// The same, after checking the exit code.
    pub fn expect(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

/// Runs `carom` with these arguments in a folder.
pub fn carom_in(folder: &Path, arguments: &[&str]) -> Ended {
    ended(Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).current_dir(folder).stdin(Stdio::null()))
}

/// Runs `carom` with these arguments in a folder without files of interest.
pub fn carom(arguments: &[&str]) -> Ended {
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty");
    std::fs::create_dir_all(&empty).expect("a folder for the tests");
    carom_in(&empty, arguments)
}

/// Runs `carom` with a text on its standard input.
pub fn carom_with(input: &str, arguments: &[&str]) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its options ends without reading: a broken pipe then is no failure.
    match child.stdin.take().unwrap().write_all(input.as_bytes()) {
        Err(problem) if problem.kind() != std::io::ErrorKind::BrokenPipe => panic!("{problem}"),
        _ => {}
    }
    let output = child.wait_with_output().unwrap();
    from(output)
}

fn ended(command: &mut Command) -> Ended {
    from(command.output().unwrap())
}

fn from(output: std::process::Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The names of the gallery.
pub fn gallery() -> Vec<&'static str> {
    carom::gallery::all().iter().map(|entry| entry.name).collect()
}

/// A list of numbers in JSON.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}
