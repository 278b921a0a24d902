//! Motions as pages that play.

use stiction::Error;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::state::State;
use stiction::view::{Appearance, Clip, Drawing, Playback, Role, TrackRecorder};

/// A page that plays `motions` of one scene, each a name and the inputs of all its steps (forces, then controls).
pub fn page(
    title: &str,
    scene: &Scene,
    motions: &[(&str, Vec<Vec<f64>>)],
) -> Result<String, Error> {
    let Scene { model, parameters, settings, .. } = scene;
    let drawing = Drawing::new(model, parameters, &Appearance::default());
    let clips = motions.iter().map(|(name, inputs)| {
        let dt = settings.time_step;
        let span = [0.0, dt * inputs.len() as f64];
        let role = ("simulation", Role::Simulation);
        let mut recorder = TrackRecorder::new(model, parameters, &drawing, role, span);
        let start = State { q: scene.state.q.clone(), v: scene.state.v.clone() };
        let mut rollout = Rollout::new(scene.system(), start);
        recorder.frame(0.0, &rollout.state);
        for (k, inputs) in inputs.iter().enumerate() {
            rollout.step(inputs);
            recorder.contacts(rollout.workspace.contacts());
            recorder.frame(dt * (k + 1) as f64, &rollout.state);
        }
        Clip { name: name.to_string(), tracks: vec![recorder.finish()] }
    });
    let clips = clips.collect();
    Playback { drawing, clips }.html(title)
}
