//! Ctrl-C (and a polite kill): the first one asks the work to stop and deliver what it has, a later one ends at once.
//!
//! `timeout` and batch systems send theirs twice, to the process and to its group: what follows at once is the same request.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Who asks to stop in place of Ctrl-C, where a host does.
    static HOST: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Interrupts closer together than this are one: nobody presses a key twice so fast and means it.
const TOGETHER: Duration = Duration::from_millis(200);

/// From now on an interrupt is noted instead of ending the program.
pub fn listen() {
    if HOST.with_borrow(Option::is_some) {
        return;
    }
    let first = OnceLock::new();
    // Without a handler Ctrl-C simply ends the program, so a failure to install one is no reason to stop.
    let _ = ctrlc::set_handler(move || {
        INTERRUPTED.store(true, Ordering::Relaxed);
        if first.get_or_init(Instant::now).elapsed() > TOGETHER {
            std::process::exit(130);
        }
    });
}

/// Who may ask the work of this thread to stop, for the threads that it starts.
#[derive(Clone)]
pub struct StopRequest(Option<Arc<AtomicBool>>);

impl StopRequest {
    /// Of the calling thread.
    pub fn here() -> StopRequest {
        StopRequest(HOST.with_borrow(Clone::clone))
    }

    /// Has someone asked to stop?
    pub fn is_made(&self) -> bool {
        self.0.as_deref().unwrap_or(&INTERRUPTED).load(Ordering::Relaxed)
    }
}

/// Has someone asked the work of this thread to stop?
pub fn interrupted() -> bool {
    HOST.with_borrow(|host| host.as_deref().unwrap_or(&INTERRUPTED).load(Ordering::Relaxed))
}

/// Asks to stop, as Ctrl-C does.
pub fn stop() {
    HOST.with_borrow(|host| host.as_deref().unwrap_or(&INTERRUPTED).store(true, Ordering::Relaxed));
}

/// Works for a host, which asks to stop by `stop`.
pub fn hosted<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    HOST.set(Some(Arc::clone(stop)));
    let done = work();
    HOST.set(None);
    done
}
