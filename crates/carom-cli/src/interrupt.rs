//! Ctrl-C (and a polite kill): the first one asks the work to stop and deliver what it has, a later one ends at once.
//!
//! `timeout` and batch systems send theirs twice, to the process and to its group: what follows at once is the same request.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Interrupts closer together than this are one: nobody presses a key twice so fast and means it.
const TOGETHER: Duration = Duration::from_millis(200);

/// From now on an interrupt is noted instead of ending the program.
pub fn listen() {
    let first = OnceLock::new();
    // Without a handler Ctrl-C simply ends the program, so a failure to install one is no reason to stop.
    let _ = ctrlc::set_handler(move || {
        INTERRUPTED.store(true, Ordering::Relaxed);
        if first.get_or_init(Instant::now).elapsed() > TOGETHER {
            std::process::exit(130);
        }
    });
}

/// Has someone asked to stop?
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Asks to stop, as Ctrl-C does.
pub fn stop() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}
