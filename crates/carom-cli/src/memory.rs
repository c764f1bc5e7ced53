//! Without memory the program ends with a sentence and exit code 3, never with a signal. The only file of this crate with
//! `unsafe`. It belongs to the program and not to the library: a host such as Python has its own way to say so.
#![allow(unsafe_code)]

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
