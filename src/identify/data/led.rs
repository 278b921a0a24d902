//! Bodies whose velocity is prescribed, led along where they were recorded.

use super::{Dataset, DrivenInput};
use crate::model::Model;
use crate::state::NQ;
use crate::trajectory::velocities_between;

impl Dataset {
    /// Drives all bodies whose velocity is prescribed along their poses, in the recordings that have these; what was recorded of
    /// the inputs of such a body stays where there are none.
    pub(super) fn lead(&mut self, model: &Model) {
        let prescribed: Vec<usize> =
            (0..model.bodies.len()).filter(|&body| model.is_prescribed(body)).collect();
        if prescribed.is_empty() {
            return;
        }
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.resize(self.trajectories.len(), Vec::new());
        for (k, (recording, inputs)) in self.trajectories.iter().zip(&mut inputs).enumerate() {
            for &body in &prescribed {
                let joint = &model.bodies[body].joint;
                let places = joint.q..joint.q + NQ;
                if !recording.recorded.q[places.clone()].contains(&true) {
                    continue;
                }
                let whole = |frame: usize| {
                    let known = recording.recorded.at(frame);
                    !places.clone().any(|q| known.misses_configuration(q))
                };
                let pose = |frame: usize| {
                    let pose = recording.states[frame].q[places.clone()].try_into().ok()?;
                    Some((self.clock(k, frame), pose))
                };
                let frames = (0..recording.states.len()).filter(|&frame| whole(frame));
                let Some(velocities) = velocities_between(frames.filter_map(pose)) else {
                    continue;
                };
                inputs.retain(|input: &DrivenInput| {
                    !(joint.v..joint.v + velocities.len()).contains(&input.place)
                });
                let led = (joint.v..).zip(velocities);
                inputs.extend(led.map(|(place, signal)| DrivenInput {
                    place,
                    signal,
                    calibration: None,
                }));
            }
        }
        self.inputs = inputs;
    }
}
