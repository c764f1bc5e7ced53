//! How WebAssembly is called: four functions, bytes in, bytes out; the only `unsafe`.
//!
//! ```text
//! carom_take(length) → place for a question          carom_ask(what, its length, ask, its length) → answer
//! answer: words  [ failed, JSON at, its length, buffers, (at, length) … ]          carom_done(): the answer is given back
//! ```
//!
//! The host writes the name of the question and its JSON into two places it took (`carom_ask` gives them back), copies what the
//! answer points to, and calls `carom_done`. One question at a time. A panic is told to the host and traps.

#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code)]

use crate::{Answer, Engine, Host};
use std::cell::RefCell;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn carom_now() -> f64;
    fn carom_progress(from: f64, time: f64, until: f64, steps: f64, impacts: f64, part: f64) -> i32;
    fn carom_say(at: *const u8, length: usize);
}

struct Outside;

impl Host for Outside {
    fn now(&self) -> f64 {
        // Safety: the host's function takes and keeps nothing.
        unsafe { carom_now() }
    }

    fn progress(&self, p: &carom::Progress, part: f64) -> bool {
        // Safety: as above.
        unsafe { carom_progress(p.from, p.time, p.until, p.steps as f64, p.impacts as f64, part) != 0 }
    }
}

#[derive(Default)]
struct DoorState {
    engine: Engine,
    answer: Answer,
    words: Vec<usize>,
}

thread_local! {
    static STATE: RefCell<DoorState> = RefCell::new(DoorState::default());
}

/// A place for bytes of the host.
#[unsafe(no_mangle)]
pub extern "C" fn carom_take(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Answers a question.
///
/// # Safety
/// Both places come from [`carom_take`] with these lengths; they are given back here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_ask(
    what: *mut u8,
    what_length: usize,
    ask: *mut u8,
    ask_length: usize,
) -> *const usize {
    // Safety: the host promises that these are boxes made by `carom_take`, used by nobody else.
    let (what, ask) = unsafe {
        let boxed =
            |at: *mut u8, length: usize| Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, length));
        (boxed(what, what_length), boxed(ask, ask_length))
    };
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // Safety: the host reads the text before it returns.
        unsafe { carom_say(text.as_ptr(), text.len()) }
    }));
    STATE.with_borrow_mut(|state| {
        let text = |bytes: Box<[u8]>| {
            String::from_utf8(bytes.into_vec()).map_err(|_| "the question is no text".to_owned())
        };
        let answered = text(what)
            .and_then(|what| Ok((what, text(ask)?)))
            .and_then(|(what, ask)| state.engine.answer(&what, &ask, &Outside));
        let failed = answered.is_err();
        state.answer = answered.unwrap_or_else(|json| Answer { json, buffers: Vec::new() });
        let answer = &state.answer;
        state.words =
            vec![usize::from(failed), answer.json.as_ptr() as usize, answer.json.len(), answer.buffers.len()];
        state.words.extend(answer.buffers.iter().flat_map(|b| [b.as_ptr() as usize, b.len()]));
        state.words.as_ptr()
    })
}

/// The host has copied the answer.
#[unsafe(no_mangle)]
pub extern "C" fn carom_done() {
    STATE.with_borrow_mut(|state| {
        state.answer = Answer::default();
        state.words = Vec::new();
    });
}
