//! A scene for a robot that is there already.

use std::path::Path;

use super::super::scene_options::warn_of_lost_looks;
use crate::Error;
use crate::assemble::{BaseHeight, Description, Equipment};
use crate::formats::LoadOptions;
use crate::model::{ActuatorKind, JointKind, Scene};

/// A robot that stands.
pub(super) struct Robot {
    /// The file of its scene, as text.
    pub text: String,
    pub scene: Scene,
    description: Description,
}

impl Robot {
    /// Reads a URDF or MJCF for a scene in a directory. What it lacks to stand is added: a ground with this coefficient of friction, servos
    /// that hold the start, and the height of a base that floats.
    pub fn load(
        path: &Path,
        floating_base: bool,
        mu: f64,
        directory: &Path,
    ) -> Result<Robot, Error> {
        let servos = Some(ActuatorKind::Position);
        let asked =
            Equipment { ground: Some(mu), motors: servos, base_height: Some(BaseHeight::OnGround) };
        let options = LoadOptions { floating_base, equipment: asked, ..LoadOptions::default() };
        let mut description = Description::load(path, options)?;
        let joints = || description.bodies.iter().map(|body| &body.joint);
        let stands = !description.half_spaces.is_empty();
        let floats = joints().any(|joint| joint.kind == JointKind::Free);
        let moves = joints().any(|joint| joint.kind.has_axis() && !joint.passive);
        let lacks = Equipment {
            ground: asked.ground.filter(|_| !stands),
            motors: asked.motors.filter(|_| moves && description.actuators.is_empty()),
            // Where the file has a ground it says how high the base is.
            base_height: asked.base_height.filter(|_| floats && !stands),
        };
        description.equip(&lacks)?;
        let scene = description.scene()?;
        Ok(Robot { text: description.to_toml(directory), scene, description })
    }

    /// Says which looks the scene has to do without.
    pub fn warn(&self, directory: &Path) {
        super::super::output::warn_of_file(&self.scene.warnings);
        warn_of_lost_looks(&self.description, directory);
    }
}
