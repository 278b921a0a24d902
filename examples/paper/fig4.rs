//! Friction (Fig. 4a) and mass (Fig. 4b) of a cube from slides.
//!
//! The motion of a body that only slides does not depend on its mass. In 4b a known force pushes the
//! cube, and friction is known.

use stiction::identify::{Dataset, Experiment};
use stiction::model::Scene;

use super::simulator::{self, BoxModel, COMPLIANCE, Frame, Slide, Vec3};
use super::study::{self, FRAME_TIME, Unknown};

/// Steps of the independent simulator in a frame.
const FINE: usize = 8;

pub const HALF: f64 = 0.03; // m
pub const MASS: f64 = 0.4; // kg
pub const MU: f64 = 0.2;
/// What pushes the cube in 4b (N).
pub const PUSH: Vec3 = [1.2, 0.5, 0.0];

/// Friction in 4a.
pub const FRICTION: Unknown = Unknown { name: "floor-cube/mu", truth: MU, bounds: [0.01, 1.0] };
/// Mass in 4b.
pub const WEIGHT: Unknown = Unknown { name: "cube/mass", truth: MASS, bounds: [0.05, 4.0] };

/// The cube of the truth.
pub fn cube() -> BoxModel {
    BoxModel::solid(MASS, [HALF; 3], MU, 9.81)
}

/// The scene that is identified in, with a time step of half a frame.
pub fn scene(push: Vec3, solver: &str) -> Result<Scene, String> {
    let text = format!(
        "[simulation]\ntime_step = {}\nsolver = \"{solver}\"\n\
         [[half_space]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
         [[body]]\nname = \"cube\"\nmass = {MASS}\nshape = {{ box = [{HALF}, {HALF}, {HALF}] }}\n\
         position = [0, 0, {HALF}]\nforce = {push:?}\n\
         [[contact]]\npair = \"floor-cube\"\nmu = {MU}\n",
        0.5 * FRAME_TIME
    );
    Scene::parse(&text, "scene.toml").map_err(|e| e.to_string())
}

/// A slide by the independent simulator, every frame.
pub fn record(model: &BoxModel, slide: &Slide) -> Result<Vec<Frame>, String> {
    let (dt, steps) = (FRAME_TIME / FINE as f64, FINE * (slide.frames - 1));
    let fine = simulator::simulate(model, slide, dt, steps, COMPLIANCE)?;
    Ok(fine.into_iter().step_by(FINE).collect())
}

/// A slide from speed (m/s), direction (degrees), spin (rad/s), heading (degrees) and frames.
pub fn slide(speed: f64, direction: f64, spin: f64, heading: f64, frames: usize) -> Slide {
    let (sin, cos) = direction.to_radians().sin_cos();
    let velocity = [speed * cos, speed * sin, 0.0];
    Slide { velocity, spin, heading: heading.to_radians(), frames }
}

/// Fig. 4a: slides to rest.
pub fn friction() -> Result<(Experiment, Dataset), String> {
    let slides = [
        slide(1.0, 0.0, 0.0, 0.0, 135),
        slide(0.8, 70.0, 3.0, 25.0, 110),
        slide(1.2, 140.0, -6.0, -40.0, 160),
        slide(1.4, 200.0, 0.0, 60.0, 184),
        slide(0.9, 255.0, 6.0, 90.0, 123),
        slide(1.3, 310.0, -4.0, 150.0, 172),
    ];
    recordings(scene([0.0; 3], "coupled")?, &cube(), &slides, FRICTION)
}

/// Fig. 4b: slides while the cube is pushed, along, across and against the push.
pub fn mass() -> Result<(Experiment, Dataset), String> {
    let slides = [
        slide(0.2, 20.0, 0.0, 0.0, 140),
        slide(0.8, 110.0, 0.0, 25.0, 140),
        slide(1.0, 170.0, 0.0, -40.0, 140),
        slide(0.8, 230.0, 0.0, 60.0, 140),
        slide(0.6, 300.0, 0.0, 15.0, 140),
        slide(0.5, 350.0, 0.0, 45.0, 140),
    ];
    recordings(scene(PUSH, "coupled")?, &BoxModel { force: PUSH, ..cube() }, &slides, WEIGHT)
}

/// Noisy recordings of slides, and the experiment to find one parameter in them.
pub fn recordings(
    scene: Scene,
    model: &BoxModel,
    slides: &[Slide],
    unknown: Unknown,
) -> Result<(Experiment, Dataset), String> {
    let record = |(seed, slide)| {
        Ok(study::noisy(format!("slide {seed}"), vec![record(model, slide)?], seed))
    };
    let trajectories = (1..).zip(slides).map(record).collect::<Result<_, String>>()?;
    let experiment = study::experiment(scene, &[unknown])?;
    let dataset = Dataset::new(&experiment, trajectories).map_err(|e| e.to_string())?;
    Ok((experiment, dataset))
}
