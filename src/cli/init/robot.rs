//! A scene for a robot that is there already.

use std::path::Path;

use super::super::output;
use super::super::scene_options::warn_of_lost_looks;
use crate::Error;
use crate::assemble::{BaseHeight, Description, Equipment, Motors};
use crate::formats::LoadOptions;
use crate::model::{ActuatorKind, JointKind, Scene};

/// What reaches no further below a ground touches it, m.
const REACH: f64 = 1e-6;

/// A robot that stands.
pub(super) struct Robot {
    /// The file of its scene, as text.
    pub text: String,
    pub scene: Scene,
    description: Description,
    /// What it still lacks, in sentences.
    told: Vec<String>,
}

impl Robot {
    /// Reads a URDF or MJCF for a scene in a directory. What it lacks to stand is added: a ground with this coefficient of friction, servos
    /// that hold the start, and the height of a base that floats. Where the file has a world, the robot stays where it is in it.
    pub fn load(
        path: &Path,
        floating_base: bool,
        mu: f64,
        directory: &Path,
    ) -> Result<Robot, Error> {
        let servos = Some(Motors::Each(ActuatorKind::Position));
        let asked =
            Equipment { ground: Some(mu), motors: servos, base_height: Some(BaseHeight::OnGround) };
        let options = LoadOptions { floating_base, equipment: asked, ..LoadOptions::default() };
        let read = Description::load(path, options)?;
        let mut told = Vec::new();
        let joints = || read.bodies.iter().map(|body| &body.joint);
        let has_world = !(read.half_spaces.is_empty() && read.colliders.is_empty());
        let moves = joints().any(|joint| joint.kind.has_axis() && !joint.passive);
        // A free body on which nothing hangs is a thing, no robot.
        let floats = read.bodies.iter().any(|body| {
            let carries = read.bodies.iter().any(|other| other.parent.as_ref() == Some(&body.name));
            body.joint.kind == JointKind::Free && (carries || read.bodies.len() == 1)
        });
        let touches = read.bodies.iter().any(|body| !body.colliders.is_empty());
        if floats && !has_world && !touches {
            told.push(
                "has no shapes that could stand on anything: the base starts where the file has it"
                    .into(),
            );
        }
        let mut lacks = Equipment {
            ground: asked.ground.filter(|_| !has_world),
            motors: asked.motors.filter(|_| moves && read.actuators.is_empty()),
            base_height: asked.base_height.filter(|_| floats && !has_world && touches),
        };
        // A base that is fixed at the origin may reach below it.
        if lacks.ground.is_some() && !floats && read.lowest_point(None)? < -REACH {
            lacks.ground = None;
            told.push(
                "has no ground, which it would start in: if its first link is not fixed, give --floating-base".into(),
            );
        }
        let mut description = read;
        description.equip(&lacks)?;
        let scene = description.scene()?;
        Ok(Robot { text: description.to_toml(directory), scene, description, told })
    }

    /// Says what it lacks, and which looks the scene has to do without.
    pub fn warn(&self, directory: &Path) {
        output::warn_of_file(&self.scene.warnings);
        self.told
            .iter()
            .for_each(|line| output::warn(&format!("{}: {line}", self.description.name)));
        warn_of_lost_looks(&self.description, directory);
    }
}
