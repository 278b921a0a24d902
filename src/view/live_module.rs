//! A simulation inside a page: what the WebAssembly module of this crate exports, made by
//!
//! ```sh
//! cargo rustc --release --lib --crate-type cdylib --target wasm32-unknown-unknown --no-default-features --features live_module
//! ```
//!
//! A page writes a text into the module's memory where [`live_room`] says, and calls a function; what is answered is the text
//! that then begins where [`live_text`] says, of the length returned.

use std::cell::RefCell;

use super::Live;
use crate::model::Scene;

/// What the page has written or is to read, and what runs.
#[derive(Default)]
struct Session {
    text: Vec<u8>,
    live: Option<Live>,
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Room for a text of so many bytes, and where it begins.
#[unsafe(no_mangle)]
pub extern "C" fn live_room(length: usize) -> *mut u8 {
    SESSION.with_borrow_mut(|session| {
        session.text.clear();
        session.text.resize(length, 0);
        session.text.as_mut_ptr()
    })
}

/// Where the text of the last answer begins.
#[unsafe(no_mangle)]
pub extern "C" fn live_text() -> *const u8 {
    SESSION.with_borrow(|session| session.text.as_ptr())
}

/// Starts the scene whose text was written; the length of what is wrong with it, 0 if nothing is.
#[unsafe(no_mangle)]
pub extern "C" fn live_open() -> usize {
    SESSION.with_borrow_mut(|session| {
        let scene = Scene::parse(&String::from_utf8_lossy(&session.text), "scene");
        let wrong = match scene {
            Ok(scene) => {
                session.live = Some(Live::new(scene));
                String::new()
            }
            Err(error) => error.to_string(),
        };
        session.text = wrong.into_bytes();
        session.text.len()
    })
}

/// Does what the request asks that was written, see [`Live::answer_json`]; the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn live_answer() -> usize {
    SESSION.with_borrow_mut(|session| {
        let Session { text, live } = session;
        let answer = match live {
            Some(live) => live.answer_json(&String::from_utf8_lossy(text)),
            None => "{\"error\":\"there is no scene\"}".to_string(),
        };
        *text = answer.into_bytes();
        text.len()
    })
}
