//! What the system refuses ends with a sentence and exit code 3, never with a signal: memory, the size of a file, a reader
//! that went away. (Memory that runs out all the same is `memory.rs`, a part of the program.)

use crate::failure::Failure;

/// From now on a file that grows beyond its limit is a failed write, not the end of the program. Threads and programs started
/// later inherit this.
#[cfg(unix)]
pub fn keep_writing() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    let _ = signals.thread_block();
}

/// Elsewhere no such signal exists.
#[cfg(not(unix))]
pub fn keep_writing() {}

/// Has the reader of standard output gone? A file, a terminal or a patient reader never has.
#[cfg(unix)]
pub fn reader_gone() -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let stdout = std::io::stdout();
    let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let asked = poll(&mut fds, PollTimeout::ZERO);
    asked.is_ok() && fds[0].revents().is_some_and(|e| e.intersects(PollFlags::POLLERR))
}

/// Elsewhere it shows when something is written.
#[cfg(not(unix))]
pub fn reader_gone() -> bool {
    false
}

/// Bytes of memory that a table may take: what the system says is free, and what the limits of this process allow; `None`
/// where it says nothing.
fn room() -> Option<u64> {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    #[cfg(unix)]
    let limit = {
        use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
        getrlimit(Resource::RLIMIT_AS).ok().map(|l| l.0).filter(|&soft| soft != RLIM_INFINITY)
    };
    #[cfg(not(unix))]
    let limit: Option<u64> = None;
    match (available, limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Refuses a table of samples that memory has no room for, before anything is simulated.
///
/// # Errors
/// If it does not fit.
pub fn samples(count: usize, columns: usize) -> Result<(), Failure> {
    // A row while the motion is under way, then a column, each with what a list costs.
    const ROW: u64 = 64;
    const CELL: u64 = 16;
    let needed = (count as u64).saturating_mul(ROW + CELL * columns as u64);
    match room() {
        Some(room) if needed > room => Err(Failure::wrong(format!(
            "{count} samples of {columns} columns take about {:.1} GB of memory, and there are {:.1}\n  hint: fewer --samples, or times that matter with --at",
            needed as f64 / 1e9,
            room as f64 / 1e9
        ))),
        _ => Ok(()),
    }
}

/// Opens what exists already, but never through a link that someone put there.
pub fn not_following(options: &mut std::fs::OpenOptions) -> &mut std::fs::OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits());
    }
    options
}
