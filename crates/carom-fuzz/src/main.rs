//! Tries numbered inputs: `carom-fuzz TARGET COUNT [SEED] [FROM]`, TARGET one of formulas, models, motions, tables.
//!
//! An input that panics is reported and the next one follows; one that takes more than 5 seconds of processor time or 2 GB of
//! memory is reported and ends the run, since it cannot be ended alone. Exit code 0 when there was nothing to report.

use carom_fuzz::{Choices, FuzzTarget};
use cpu_time::ProcessTime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

/// Longest time of an input.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most memory of the process, in bytes.
const MEMORY: u64 = 2_000_000_000;
/// Findings after which it is clear that there are some.
const ENOUGH: usize = 20;

/// The input under way: its number, what it is, and the processor time when it began.
static NOW: Mutex<(u64, String, Option<ProcessTime>)> = Mutex::new((0, String::new(), None));
/// Where and why the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let target = FuzzTarget::ALL.into_iter().find(|t| arguments.first().is_some_and(|a| a == t.name()));
    let number = |at: usize, otherwise: u64| match arguments.get(at).map(|a| a.parse()) {
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => None,
        None => Some(otherwise),
    };
    let (Some(target), Some(count), Some(seed), Some(from)) =
        (target, number(1, 1000), number(2, 1), number(3, 0))
    else {
        eprintln!("usage: carom-fuzz formulas|models|motions|tables COUNT [SEED] [FROM]");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut panic) = PANIC.lock() {
            *panic = info.to_string();
        }
    }));
    std::thread::spawn(move || watch(target, seed));
    let begin = ProcessTime::now();
    let (mut findings, mut slowest) = (0, (Duration::ZERO, 0));
    for index in from..from + count {
        let start = ProcessTime::now();
        set(index, String::new(), Some(start));
        let mut note = |text: &str| set(index, text.to_owned(), Some(start));
        let outcome =
            catch_unwind(AssertUnwindSafe(|| target.attempt(&mut Choices::numbered(seed, index), &mut note)));
        slowest = slowest.max((start.elapsed(), index));
        if outcome.is_err() {
            findings += 1;
            let why = PANIC.lock().map(|p| p.clone()).unwrap_or_default();
            report(target, seed, &why);
            if findings >= ENOUGH {
                break;
            }
        }
    }
    println!(
        "{} {count} from {from} of seed {seed}: {findings} findings, {:.1} s, slowest {:.3} s (number {}), {:.0} MB",
        target.name(),
        begin.elapsed().as_secs_f64(),
        slowest.0.as_secs_f64(),
        slowest.1,
        memory().unwrap_or(0) as f64 / 1e6
    );
    ExitCode::from(u8::from(findings > 0))
}

fn set(index: u64, text: String, start: Option<ProcessTime>) {
    if let Ok(mut now) = NOW.lock() {
        *now = (index, text, start);
    }
}

fn report(target: FuzzTarget, seed: u64, why: &str) {
    if let Ok(now) = NOW.lock() {
        println!("== {} {} of seed {seed}: {why}\n{}\n", target.name(), now.0, now.1);
    }
}

/// Ends the program when an input takes too much.
fn watch(target: FuzzTarget, seed: u64) {
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let long = NOW.lock().is_ok_and(|now| now.2.is_some_and(|start| start.elapsed() > PATIENCE));
        let large = memory().is_some_and(|bytes| bytes > MEMORY);
        if long || large {
            report(target, seed, if long { "takes too long" } else { "takes too much memory" });
            std::process::exit(1);
        }
    }
}

/// The most memory this process has had, where the system says so.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
