//! Bodies whose velocity is prescribed, led along where they were recorded.

use super::{Dataset, DrivenInput};
use crate::model::Model;

impl Dataset {
    /// Drives all bodies whose velocity is prescribed along their poses, as far as these were recorded. An input of the experiment, which
    /// may be corrected, counts more; what else was recorded of the inputs of such a body less.
    pub(super) fn lead(&mut self, model: &Model) {
        let prescribed = || (0..model.bodies.len()).filter(|&body| model.is_prescribed(body));
        if prescribed().next().is_none() {
            return;
        }
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.resize(self.trajectories.len(), Vec::new());
        for (k, (recording, inputs)) in self.trajectories.iter().zip(&mut inputs).enumerate() {
            for body in prescribed() {
                let joint = &model.bodies[body].joint;
                let clock = |frame: usize| self.clock(k, frame);
                for (place, signal) in recording.velocities_of_led(joint, clock) {
                    match inputs.iter_mut().find(|input| input.place == place) {
                        Some(own) if own.calibration.is_some() => {}
                        Some(own) => own.signal = signal,
                        None => inputs.push(DrivenInput { place, signal, calibration: None }),
                    }
                }
            }
        }
        self.inputs = inputs;
    }
}
