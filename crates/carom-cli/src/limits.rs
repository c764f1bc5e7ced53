//! What the system refuses ends with a sentence and exit code 3, never with a signal: memory, the size of a file, a reader
//! that went away. The only file of this crate with `unsafe`: an allocator that says so when there is no more memory.
#![allow(unsafe_code)]

use crate::failure::Failure;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The system's allocator. Without memory nothing can be repaired or even formatted, so the program ends here, with a sentence
/// made of what is on the stack.
struct Spoken;

#[global_allocator]
static ALLOCATOR: Spoken = Spoken;

// SAFETY: every call is handed on to the system's allocator as it came; what it answers is returned unchanged unless it is
// null, and then nothing is returned at all.
unsafe impl GlobalAlloc for Spoken {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

#[inline]
fn checked(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        exhausted(size)
    }
    memory
}

#[cold]
fn exhausted(size: usize) -> ! {
    // Formatting a number takes no memory, and standard error has no buffer.
    let mut out = std::io::stderr();
    let _ = writeln!(
        out,
        "error: out of memory: the system refused another {size} bytes\n  hint: ask for less (--samples, --at, a smaller table), or raise the limit (ulimit -v)"
    );
    std::process::exit(3)
}

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
