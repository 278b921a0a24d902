//! A playback as a page.

use std::io::Write;

use base64::Engine;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use super::live::{Live, LiveControls};
use super::page::{May, Page};
use super::playback::{Clip, Playback, Role, TrackRecorder};
use crate::Error;
use crate::model::{Scene, Tree};

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

/// The script of the player, with what it makes animated pictures by: the page of the player and the report share it.
pub(super) const PLAYER: &str = concat!(include_str!("web/apng.js"), include_str!("web/player.js"));

impl Playback {
    /// One HTML file that plays it, by WebGL 2: self-contained, it loads nothing.
    ///
    /// # Errors
    /// If it has no JSON.
    pub fn html(&self, title: &str) -> Result<String, Error> {
        let scripts = [PLAYER, include_str!("web/view.js")];
        let page = Page { title, class: "view", may: May::Nothing, scripts: &scripts };
        page.html(&Data { title, program: program(), playback: self })
    }
}

/// What the page of a simulation that runs gets.
#[derive(Serialize)]
struct LiveData<'a> {
    title: &'a str,
    program: String,
    playback: Playback,
    controls: LiveControls,
    keyframes: Vec<&'a str>,
    time_step: f64,
    /// The weight of the heaviest of what moves together, N: what arrows of forces are measured by.
    weight: f64,
    /// Where it asks for what it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<&'a str>,
    /// The module that it asks instead, packed by zlib, in base64, and the scene for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scene: Option<&'a str>,
}

impl Live {
    /// One HTML file in which it runs: it loads nothing, and asks what it shows of the address `ask`, relative to its own, by
    /// [`answer_json`](Live::answer_json).
    ///
    /// # Errors
    /// If it has no JSON.
    pub fn html(&self, title: &str, ask: &str) -> Result<String, Error> {
        let scripts = [PLAYER, include_str!("web/live.js")];
        let page = Page { title, class: "view live", may: May::Ask, scripts: &scripts };
        self.written(&page, |data| data.ask = Some(ask))
    }

    /// One HTML file that holds the simulation itself: it loads nothing and asks nobody. `module` is the WebAssembly module of
    /// this crate (feature `live_module`), and `scene` the text of a scene file that names no other files, of the same scene.
    ///
    /// # Errors
    /// If it has no JSON.
    pub fn html_alone(&self, title: &str, module: &[u8], scene: &str) -> Result<String, Error> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        let packed = packed.write_all(module).and_then(|()| packed.finish());
        let packed = packed.map_err(|error| Error::io(title, error))?;
        let module = base64::engine::general_purpose::STANDARD.encode(packed);
        let scripts = [PLAYER, include_str!("web/module.js"), include_str!("web/live.js")];
        let page = Page { title, class: "view live", may: May::RunModule, scripts: &scripts };
        self.written(&page, |data| (data.module, data.scene) = (Some(module), Some(scene)))
    }

    fn written<'a>(
        &'a self,
        page: &Page<'a>,
        add: impl FnOnce(&mut LiveData<'a>),
    ) -> Result<String, Error> {
        let Scene { model, parameters, state, keyframes, settings, .. } = self.scene();
        let drawing = self.drawing().clone();
        let start = ("simulation", Role::Simulation);
        let mut recorder = TrackRecorder::new(model, parameters, &drawing, start, [0.0, 0.0]);
        recorder.frame(0.0, state);
        let clip = Clip { name: page.title.to_string(), tracks: vec![recorder.finish()] };
        let mass =
            |tree: &Tree| tree.bodies.iter().map(|&k| parameters.mass(model, k)).sum::<f64>();
        let trees = model.trees.iter().enumerate();
        let weighing = trees.filter(|&(tree, _)| !model.is_prescribed_tree(tree));
        let heaviest = weighing.map(|(_, tree)| mass(tree)).fold(0.0, f64::max);
        let weight = heaviest * parameters.gravity().norm();
        let playback = Playback { drawing, clips: vec![clip] };
        let mut data = LiveData {
            title: page.title,
            program: program(),
            playback,
            controls: self.controls(),
            keyframes: keyframes.iter().map(|keyframe| keyframe.name.as_str()).collect(),
            time_step: settings.time_step,
            weight,
            ask: None,
            module: None,
            scene: None,
        };
        add(&mut data);
        page.html(&data)
    }
}
