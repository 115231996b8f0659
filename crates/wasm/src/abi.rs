//! The functions that the page's worker calls and provides.
//!
//! The worker asks for a buffer, writes a request of UTF-8 JSON into it and calls `handle`.
//! Meanwhile the program calls `emit` with each message. A panic ends the instance: the worker
//! reports it and starts a new one.
//!
//! `unsafe` is confined to the declarations: symbols without a namespace.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::time::Duration;

use crate::{Host, Worker};

// SAFETY: the worker provides these functions; none of them does more than its signature says, and
// `emit` and `read` stay within the given range.
#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Milliseconds since a fixed moment.
    safe fn now() -> f64;
    /// Whether to stop the search that is running: not 0.
    safe fn stops() -> i32;
    /// Receives a message: UTF-8 text at this address.
    safe fn emit(text: *const u8, length: usize);
    /// Copies the next bytes of the imported file to this address, at most `length`. Returns their
    /// number; 0 at the end.
    safe fn read(buffer: *mut u8, length: usize) -> usize;
}

struct Page;

impl Host for Page {
    fn emit(&self, message: &str) {
        emit(message.as_ptr(), message.len());
    }

    fn read(&self, buffer: &mut [u8]) -> usize {
        read(buffer.as_mut_ptr(), buffer.len()).min(buffer.len())
    }
}

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

/// Returns a buffer for a request of this length.
// SAFETY: no other function of the program has this name.
#[unsafe(no_mangle)]
extern "C" fn request_buffer(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request in the buffer.
// SAFETY: no other function of the program has this name.
#[unsafe(no_mangle)]
extern "C" fn handle() {
    let request = REQUEST.take();
    WORKER.with_borrow_mut(|worker| {
        let worker = worker.get_or_insert_with(|| {
            crownhead_search::set_clock(|| Duration::from_secs_f64(now().max(0.0) / 1000.0));
            crownhead_search::set_stop(|| stops() != 0);
            std::panic::set_hook(Box::new(|panic| {
                let message = panic.to_string();
                emit(message.as_ptr(), message.len());
            }));
            Worker::default()
        });
        worker.handle(&request, &Page);
    });
}
