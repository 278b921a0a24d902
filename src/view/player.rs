//! A playback as a page.

use serde::Serialize;

use super::Playback;
use super::page::Page;
use crate::Error;

/// What the page gets.
#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    program: String,
    playback: &'a Playback,
}

/// The program that made a page.
pub(super) fn program() -> String {
    format!("stiction {}", env!("CARGO_PKG_VERSION"))
}

/// The script of the player: the page of the player and the report share it.
pub(super) const PLAYER: &str = include_str!("web/player.js");

impl Playback {
    /// One HTML file that plays it, by WebGL 2: self-contained, it loads nothing.
    ///
    /// # Errors
    /// If it has no JSON.
    pub fn html(&self, title: &str) -> Result<String, Error> {
        let scripts = [PLAYER, include_str!("web/view.js")];
        let page = Page { title, class: "view", scripts: &scripts };
        page.html(&Data { title, program: program(), playback: self })
    }
}
