//! Work that takes its time, while Python's signals are heard.

use crate::error::broken;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often a computation asks Python for signals.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// How the work and those who wait for it speak.
pub struct Attended {
    /// Set when it shall stop.
    pub stop: Arc<AtomicBool>,
    /// How many rows are done.
    pub rows: AtomicU64,
}

impl Attended {
    /// Shall it go on?
    pub fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Works on a thread of its own without Python's lock; the calling thread asks for signals meanwhile and tells `progress`. What they
/// raise asks the work to stop, and comes with its result.
///
/// # Errors
/// When the work panics: a mistake of ours that must not end the process.
pub fn attend<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Attended) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let attended = Attended { stop: Arc::default(), rows: AtomicU64::new(0) };
    let (done, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let attended = &attended;
            let worker = scope.spawn(move || {
                let done = work(attended);
                let _ = sender.send(());
                done
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(PATIENCE) {
                if raised.is_some() {
                    continue;
                }
                let heard = Python::attach(|py| {
                    py.check_signals()?;
                    let rows = attended.rows.load(Ordering::Relaxed);
                    progress.map_or(Ok(()), |progress| progress.call1(py, (rows,)).map(drop))
                });
                raised = heard.err();
                attended.stop.store(raised.is_some(), Ordering::Relaxed);
            }
            (worker.join(), raised)
        })
    });
    done.map(|done| (done, raised)).map_err(|_| broken())
}
