//! A cube of unknown friction and mass slides into a known one (Fig. 6): friction, mass and the
//! coefficient of restitution between them at once. Without the collision only friction is told.

use stiction::identify::{Dataset, Experiment};
use stiction::model::Scene;

use super::collision::Duel;
use super::fig4;
use super::simulator::{self, BoxModel, Slide};
use super::study::{self, FRAME_TIME, Unknown};

/// Steps of the independent simulator in a frame.
const FINE: usize = 8;
/// Steps of the identification in a frame.
pub const SUBSTEPS: usize = 4;

const HALF: f64 = 0.03; // m
const MASS: f64 = 0.6; // kg
const MU: f64 = 0.2;
/// Of the known cube.
const KNOWN_MASS: f64 = 0.4; // kg
const KNOWN_MU: f64 = 0.3;
/// Between the cubes.
const MU_BETWEEN: f64 = 0.25;
const RESTITUTION: f64 = 0.6;

pub const UNKNOWNS: [Unknown; 3] = [
    Unknown { name: "floor-cube/mu", truth: MU, bounds: [0.01, 0.8] },
    Unknown { name: "cube/mass", truth: MASS, bounds: [0.05, 4.0] },
    Unknown { name: "cube-known/restitution", truth: RESTITUTION, bounds: [0.05, 0.95] },
];

fn duel() -> Duel {
    let cube = |mass, mu| BoxModel::solid(mass, [HALF; 3], mu, 9.81);
    let boxes = [cube(MASS, MU), cube(KNOWN_MASS, KNOWN_MU)];
    Duel { boxes, mu: MU_BETWEEN, restitution: RESTITUTION }
}

fn scene() -> Result<Scene, String> {
    let body = |name: &str, mass: f64, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = {mass}\n\
             shape = {{ box = [{HALF}, {HALF}, {HALF}] }}\nposition = [{x}, 0, {HALF}]\n"
        )
    };
    let text = format!(
        "[simulation]\ntime_step = {}\n[[half_space]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
         {}{}\
         [[contact]]\npair = \"floor-cube\"\nmu = {MU}\n\
         [[contact]]\npair = \"floor-known\"\nmu = {KNOWN_MU}\n\
         [[contact]]\npair = \"cube-known\"\nmu = {MU_BETWEEN}\nrestitution = {RESTITUTION}\n",
        FRAME_TIME / SUBSTEPS as f64,
        body("cube", MASS, 0.0),
        body("known", KNOWN_MASS, 1.0),
    );
    Scene::parse(&text, "scene.toml").map_err(|e| e.to_string())
}

/// One recording: the cube at `speed` (m/s) in a direction (degrees), the known one at rest
/// `distance` (m) before it and `aside` (m) of its way, both squarely.
struct Approach {
    speed: f64,
    direction: f64,
    distance: f64,
    aside: f64,
    frames: usize,
}

const COLLISIONS: [Approach; 6] = [
    Approach { speed: 1.8, direction: 0.0, distance: 0.40, aside: 0.0, frames: 140 },
    Approach { speed: 1.6, direction: 65.0, distance: 0.32, aside: 0.0, frames: 130 },
    Approach { speed: 2.0, direction: 125.0, distance: 0.47, aside: 0.0, frames: 150 },
    Approach { speed: 1.7, direction: 190.0, distance: 0.35, aside: 0.0, frames: 135 },
    Approach { speed: 1.9, direction: 250.0, distance: 0.44, aside: 0.0, frames: 145 },
    Approach { speed: 1.5, direction: 305.0, distance: 0.29, aside: 0.0, frames: 125 },
];

/// Past the known cube.
const MISSES: [Approach; 2] = [
    Approach { speed: 1.2, direction: 30.0, distance: 0.2, aside: 0.15, frames: 160 },
    Approach { speed: 1.0, direction: 200.0, distance: 0.2, aside: -0.12, frames: 135 },
];

/// Squarely into the known cube.
pub fn collisions() -> Result<(Experiment, Dataset), String> {
    recordings(&COLLISIONS)
}

/// Past it: nothing tells the mass and the restitution.
pub fn misses() -> Result<(Experiment, Dataset), String> {
    recordings(&MISSES)
}

fn recordings(approaches: &[Approach]) -> Result<(Experiment, Dataset), String> {
    let duel = duel();
    let record = |(seed, approach): (u64, &Approach)| {
        let &Approach { speed, direction, distance, aside, frames } = approach;
        let (sin, cos) = direction.to_radians().sin_cos();
        let moving = fig4::slide(speed, direction, 0.0, direction, frames);
        let resting = Slide { velocity: [0.0; 3], ..moving };
        let mut first = [moving, resting].map(|s| simulator::first_frame(&duel.boxes[0], &s));
        first[1].p[0] = distance * cos - aside * sin;
        first[1].p[1] = distance * sin + aside * cos;
        let motion = duel.simulate(first, FRAME_TIME / FINE as f64, FINE, frames)?;
        Ok(study::noisy(format!("collision {seed}"), motion.into(), seed))
    };
    let trajectories = (1..).zip(approaches).map(record).collect::<Result<_, String>>()?;
    let experiment = study::experiment(scene()?, &UNKNOWNS)?;
    let dataset = Dataset::new(&experiment, trajectories).map_err(|e| e.to_string())?;
    Ok((experiment, dataset))
}
