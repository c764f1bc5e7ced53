//! Peak memory, each in a process of its own.

use crate::stages::{ready, run};
use crate::{Request, models, sweeps};
use carom_run::Options;
use std::process::Command;

/// The most memory this process has had, in MiB, where the system tells.
fn peak_of(process: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// Simulates one model and prints the peak of its own process.
pub fn report(family: &str, size: usize) {
    let ready = ready(&models::text(family, size), 1e-15, 1);
    run(&ready.program, &Options { until: 1e6, max_steps: 20, ..ready.options.clone() });
    println!("{}", peak_of("self").unwrap_or(f64::NAN));
}

/// Runs a command; the last peak seen before it ended. The peak never falls, so looking often is enough.
pub fn peak(command: &mut Command) -> Option<f64> {
    let mut child = command.spawn().ok()?;
    let id = child.id().to_string();
    let mut highest = None;
    loop {
        highest = peak_of(&id).or(highest);
        match child.try_wait() {
            Ok(None) => std::thread::sleep(std::time::Duration::from_millis(2)),
            _ => return highest,
        }
    }
}

/// The table.
pub fn table_rows(request: &Request) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let itself = std::env::current_exe().ok();
    let sizes: &[(&str, usize)] = if request.quick {
        &[("chain", 20), ("places", 50)]
    } else {
        &[("chain", 50), ("chain", 100), ("places", 100)]
    };
    for (family, size) in sizes {
        let output = itself
            .as_ref()
            .and_then(|path| Command::new(path).args(["--peak", family, &size.to_string()]).output().ok());
        let mib = output.and_then(|o| String::from_utf8_lossy(&o.stdout).trim().parse::<f64>().ok());
        let what = if *family == "chain" { "angles" } else { "places" };
        rows.push(vec![format!("{size}-link chain in {what}, 20 steps"), show(mib)]);
    }
    for count in if request.quick { vec![2_000] } else { vec![10_000, 100_000] } {
        let mib = sweeps::command(request, count, 1e-9, 2).and_then(|mut sweep| peak(&mut sweep.command));
        rows.push(vec![format!("sweep of {count} trajectories"), show(mib)]);
    }
    rows
}

fn show(mib: Option<f64>) -> String {
    mib.map_or("-".into(), |m| format!("{m:.1}"))
}

/// Prints it.
pub fn table(request: &Request) {
    crate::page::table("Peak memory", &["what", "MiB"], &table_rows(request));
}
