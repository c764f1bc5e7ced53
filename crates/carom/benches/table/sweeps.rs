//! Many trajectories through the command line: per second of processor time, on one and two threads.

use crate::Request;
use crate::page::short;
use std::path::PathBuf;
use std::process::Command;

/// A sweep to run; its table is removed afterwards.
pub struct Sweep {
    pub command: Command,
    output: PathBuf,
}

impl Drop for Sweep {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.output);
    }
}

/// Random starts of the double pendulum on the free side of its wall, to t = 10.
pub fn command(request: &Request, count: usize, tolerance: f64, threads: usize) -> Option<Sweep> {
    let output = std::env::temp_dir().join(format!("carom-bench-{}-{count}.csv", std::process::id()));
    let mut command = Command::new(request.carom.as_ref()?);
    command.args(["sweep", "double_pendulum_wall", "--until", "10", "--json", "--quiet", "--seed", "1"]);
    command.args(["--random", "theta1=-0.2..3", "--random", "theta2=-0.2..3"]);
    command.args(["--count", &count.to_string(), "--tolerance", &tolerance.to_string()]);
    command.args(["--threads", &threads.to_string(), "--output"]).arg(&output);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    Some(Sweep { command, output })
}

/// A number of the summary that the sweep prints as JSON.
fn number(summary: &str, key: &str) -> Option<f64> {
    let (_, rest) = summary.split_once(&format!("\"{key}\":"))?;
    rest.split([',', '}', '\n']).next()?.trim().parse().ok()
}

/// The table.
pub fn table_rows(request: &Request) -> Option<Vec<Vec<String>>> {
    let count = if request.quick { 2_000 } else { 10_000 };
    let repeats = if request.quick { 1 } else { 3 };
    let mut rows = Vec::new();
    for tolerance in [1e-15, 1e-9] {
        // Threads take turns, so that a slow phase of the machine meets both.
        let (mut clock, mut busy) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        for _ in 0..repeats {
            for threads in [1, 2] {
                let done = command(request, count, tolerance, threads)?.command.output().ok()?;
                let summary = String::from_utf8_lossy(&done.stdout).into_owned();
                clock[threads - 1] = clock[threads - 1].min(number(&summary, "seconds")?);
                busy[threads - 1] = busy[threads - 1].min(number(&summary, "cpu_seconds")?);
            }
        }
        for i in 0..2 {
            rows.push(vec![
                format!("{tolerance:.0e}"),
                (i + 1).to_string(),
                short(count as f64 / busy[i]),
                short(count as f64 / clock[i]),
                short(clock[0] / clock[i]),
            ]);
        }
    }
    Some(rows)
}

/// Prints it.
pub fn table(request: &Request) {
    let Some(rows) = table_rows(request) else {
        println!("\n(no sweeps: set CAROM to the command-line program)");
        return;
    };
    let head = ["tolerance", "threads", "trajectories per CPU second", "per second", "times one thread"];
    crate::page::table("Sweep: random starts of the double pendulum against a wall, t = 10", &head, &rows);
}
