//! What is done with a mutated file: it is read, and what can be read is simulated, differentiated and identified.

use stiction::assemble::Description;
use stiction::formats::{LoadOptions, Mesh};
use stiction::identify::{
    Dataset, Experiment, FreeParameter, Information, Noise, Problem, evaluate, fit,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::{Controls, Recorded, Trajectory};
use stiction::verify::{Gradcheck, StepProgram};

use super::texts::{BALL, CONTROLS, EXPERIMENT, MESH, MODELS, SCENES};
use crate::folder::Folder;
use crate::random::Random;
use crate::scenes::scene;

/// What is mutated.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Scene,
    Model,
    Mesh,
    Experiment,
    Recording,
    Controls,
}

/// Each as often as it stands here.
pub const KINDS: [Kind; 12] = [
    Kind::Scene,
    Kind::Scene,
    Kind::Scene,
    Kind::Scene,
    Kind::Scene,
    Kind::Model,
    Kind::Model,
    Kind::Mesh,
    Kind::Experiment,
    Kind::Experiment,
    Kind::Recording,
    Kind::Controls,
];

impl Kind {
    pub fn texts(self) -> Vec<&'static str> {
        match self {
            Kind::Scene => SCENES.to_vec(),
            Kind::Model => MODELS.to_vec(),
            Kind::Mesh => vec![MESH],
            Kind::Experiment => vec![EXPERIMENT],
            Kind::Recording => vec![recorded()],
            Kind::Controls => vec![CONTROLS],
        }
    }
}

/// Steps that a scene takes, if it can be read.
const STEPS: usize = 3;
/// One case in so many is differentiated in all ways, and one has a search; the others a part of it.
const RARE: usize = 20;
/// How often such a check asks whether to go on: before each value and each way.
const MOST_ASKED: usize = 1_000;
/// One scene in so many is also simulated by the program.
const PROGRAM: usize = 200;
const NOISE: Noise =
    Noise { position: 0.01, rotation: 0.01, velocity: None, angular_velocity: None };

/// A recording of [`BALL`].
pub fn recording() -> String {
    let scene = scene(BALL);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut states = vec![rollout.state.clone()];
    for _ in 0..10 {
        rollout.step(&scene.inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..states.len()).map(|k| k as f64 * 0.01).collect();
    let recorded = Recorded::all(&scene.model);
    let mut text = Vec::new();
    Trajectory { name: "ball".into(), times, states, recorded }
        .write(&scene.model, &mut text)
        .unwrap();
    String::from_utf8(text).unwrap()
}

fn recorded() -> &'static str {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEXT.get_or_init(recording)
}

/// What the attempts work with.
pub struct Attempt {
    folder: Folder,
    experiment: Experiment,
    ball: Scene,
}

impl Attempt {
    /// In a folder of this name.
    pub fn new(name: &str) -> Attempt {
        let folder = Folder::new(name);
        folder.write("scene.toml", BALL);
        folder.write("recording.csv", recorded());
        folder.write("whole.csv", recorded());
        let mesh = "[[shape]]\nname = 'rock'\nmesh = 'rock.obj'\nposition = [0, 0, -0.5]\n";
        folder.write("mesh.toml", &format!("{BALL}{mesh}"));
        let experiment = folder.experiment(EXPERIMENT).unwrap();
        Attempt { folder, experiment, ball: scene(BALL) }
    }

    /// Panics where something is wrong.
    pub fn of(&self, kind: Kind, text: &str, random: &mut Random) {
        let Attempt { folder, experiment, ball } = self;
        match kind {
            Kind::Scene => {
                self.scene(Scene::parse(text, "scene.toml"), text, "mutated.toml", random)
            }
            Kind::Model => {
                let read = Description::parse_xml(text, "model.xml", LoadOptions::default());
                self.scene(read.and_then(|read| read.scene()), text, "mutated.xml", random);
            }
            Kind::Mesh => {
                folder.write("rock.obj", text);
                self.scene(Scene::load(folder.path("mesh.toml")), text, "rock.obj", random);
                if let Err(error) = Mesh::parse(text.as_bytes(), "obj", "rock.obj") {
                    is_a_message(&error);
                }
            }
            Kind::Experiment => {
                folder.write("recording.csv", recorded());
                folder.write("experiment.toml", text);
                match Experiment::load(folder.path("experiment.toml"), &[]) {
                    Ok(experiment) => identified(experiment, random),
                    Err(error) => is_a_message(&error),
                }
            }
            Kind::Recording => {
                folder.write("recording.csv", text);
                identified(experiment.clone(), random);
            }
            Kind::Controls => match Controls::parse(text, "controls.csv", &ball.model) {
                Ok(controls) => driven(ball, &controls),
                Err(error) => is_a_message(&error),
            },
        }
    }

    fn scene(
        &self,
        read: Result<Scene, stiction::Error>,
        text: &str,
        file: &str,
        random: &mut Random,
    ) {
        let through_program = random.below(PROGRAM) == 0;
        let implausible = match &read {
            Ok(scene) => used(scene, random),
            Err(error) => {
                is_a_message(error);
                None
            }
        };
        #[cfg(feature = "cli")]
        if through_program && file != "rock.obj" {
            self.folder.write(file, text);
            let output = self.folder.run(&["simulate", file, "--steps", "3", "--json"]);
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(matches!(code, Some(0..=3)) && !said.contains("panicked"), "{code:?}: {said}");
            // What no body does is no success, and a success is a result.
            assert!(code != Some(0) || implausible == Some(false), "{code:?}: {said}");
            assert!(code != Some(3) || implausible == Some(true), "{code:?}: {said}");
        }
        #[cfg(not(feature = "cli"))]
        let _ = (through_program, text, file, implausible);
    }
}

/// A scene simulated, differentiated and identified; whether its first steps are ones that no body makes.
fn used(scene: &Scene, random: &mut Random) -> Option<bool> {
    let system = scene.system();
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut finite = true;
    for _ in 0..STEPS {
        rollout.step(&scene.inputs);
        finite &= rollout.state.q.iter().chain(&rollout.state.v).all(|x| x.is_finite());
    }
    let implausible = !rollout.report.plausibility.is_whole();
    assert!(finite || implausible, "numbers that are not finite are plausible");
    if scene.settings.solver.demand_derivatives("scene").is_err() {
        return Some(implausible);
    }
    let program = StepProgram::new(system, &scene.state, &scene.inputs, &rollout.memory, 1);
    // Steps that are not solved, or hardly, are the longest there are, a tenth of a second some, and each difference takes
    // many.
    let easy = rollout.report.unsolved == 0 && rollout.report.worst.iterations < 100 * STEPS;
    let mut left = match (random.below(RARE) == 0, easy) {
        (true, true) => MOST_ASKED,
        (false, true) => 12,
        (_, false) => 4,
    };
    // What cannot be differentiated says so.
    let _ = Gradcheck::while_wanted(&program, &mut || {
        left = left.saturating_sub(1);
        left > 0
    });
    let names = scene.model.parameter_names();
    let name = &names[random.below(names.len())];
    let Some(slots) = scene.model.parameter(name) else { return Some(implausible) };
    let value = scene.parameters.values[slots.slots[0]];
    let bounds = [value - 0.1 * value.abs(), value + 0.1 * value.abs() + 1e-3];
    let free = FreeParameter::new(name, slots, value, bounds);
    let own = scene.parameters.clone();
    let experiment = Experiment::new("planned", scene.clone(), vec![free], NOISE);
    let duration = 2.0 * scene.settings.time_step;
    match Dataset::planned(&experiment, &own, duration) {
        Ok(dataset) if easy => fitted(&experiment, &dataset, random),
        Ok(dataset) => drop(evaluate(&experiment, &dataset, &own, 1)),
        Err(error) => is_a_message(&error),
    }
    Some(implausible)
}

/// An identification of what may be none.
fn identified(mut experiment: Experiment, random: &mut Random) {
    experiment.max_iterations = experiment.max_iterations.min(2);
    experiment.starts = experiment.starts.min(2);
    if experiment.scene.settings.solver.demand_derivatives("scene").is_err() {
        return;
    }
    match Dataset::load(&experiment) {
        Ok(dataset) => fitted(&experiment, &dataset, random),
        Err(error) => is_a_message(&error),
    }
}

fn fitted(experiment: &Experiment, dataset: &Dataset, random: &mut Random) {
    let start: Vec<f64> = experiment.parameters.iter().map(|p| p.start).collect();
    if random.below(RARE) == 0 {
        let mut left = 3;
        // What cannot be searched says so.
        let _ = fit(experiment, dataset, 1, &mut |_| {
            left -= 1;
            left > 0
        });
        evaluate(experiment, dataset, &experiment.scene.parameters, 1);
    } else if random.below(3) == 0 {
        Information::at(experiment, dataset, &start, 1);
    } else {
        let mut problem = Problem::new(experiment, dataset, 1);
        let x = problem.space.start();
        problem.cost(&x);
    }
}

fn driven(scene: &Scene, controls: &Controls) {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut inputs = scene.inputs.clone();
    for step in 0..STEPS {
        let duration = scene.settings.time_step;
        controls.apply(step as f64 * duration, duration, &mut inputs);
        rollout.step(&inputs);
    }
}

/// One line, and not too long for one.
#[track_caller]
fn is_a_message(error: &stiction::Error) {
    let text = error.to_string();
    assert!(!error.message().is_empty() && text.len() < 10_000, "{text}");
}
