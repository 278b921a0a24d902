//! A playback as a page.

use serde::Serialize;

use super::live::{Live, LiveControls};
use super::page::Page;
use super::playback::{Clip, Playback, Role, TrackRecorder};
use crate::Error;
use crate::dynamics::Kinematics;
use crate::model::Scene;

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
        let page = Page { title, class: "view", asks: false, scripts: &scripts };
        page.html(&Data { title, program: program(), playback: self })
    }
}

/// What the page of a simulation that runs gets.
#[derive(Serialize)]
struct LiveData<'a> {
    title: &'a str,
    program: String,
    playback: &'a Playback,
    controls: LiveControls,
    keyframes: Vec<&'a str>,
    time_step: f64,
    /// The size of the weight of all bodies that move, N: what arrows of forces are measured by.
    weight: f64,
    ask: &'a str,
}

impl Live {
    /// One HTML file in which it runs: it loads nothing, and asks what it shows of the address `ask`, relative to its own, by
    /// [`answer_json`](Live::answer_json).
    ///
    /// # Errors
    /// If it has no JSON.
    pub fn html(&self, title: &str, ask: &str) -> Result<String, Error> {
        let Scene { model, parameters, state, keyframes, settings, .. } = self.scene();
        let drawing = self.drawing().clone();
        let start = ("simulation", Role::Simulation);
        let mut recorder = TrackRecorder::new(model, parameters, &drawing, start, [0.0, 0.0]);
        recorder.frame(0.0, state);
        let clip = Clip { name: title.to_string(), tracks: vec![recorder.finish()] };
        let weight = Kinematics::new(model, parameters, state).mass() * parameters.gravity().norm();
        let data = LiveData {
            title,
            program: program(),
            playback: &Playback { drawing, clips: vec![clip] },
            controls: self.controls(),
            keyframes: keyframes.iter().map(|keyframe| keyframe.name.as_str()).collect(),
            time_step: settings.time_step,
            weight,
            ask,
        };
        let scripts = [PLAYER, include_str!("web/live.js")];
        let page = Page { title, class: "view live", asks: true, scripts: &scripts };
        page.html(&data)
    }
}
