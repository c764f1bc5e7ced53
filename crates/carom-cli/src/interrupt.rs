//! Ctrl-C (and a polite kill): the first one asks the work to stop and deliver what it has, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is noted instead of ending the program.
pub fn listen() {
    // Without a handler Ctrl-C simply ends the program, so a failure to install one is no reason to stop.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
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
