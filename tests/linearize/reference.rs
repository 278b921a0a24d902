//! Jacobians of steps without contact against `MuJoCo`, Pinocchio and Drake, in each convention
//! (`reference/linearize`).

use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayView2, Axis};
use serde::Deserialize;
use stiction::linearize::{Convention, Linearization, Linearizer};
use stiction::model::{Integrator, Scene};
use stiction::state::State;

/// What a file holds, as far as it is read.
#[derive(Deserialize)]
struct Answers {
    model: PathBuf,
    time_step: f64,
    states: Vec<Conventions>,
}

/// The answers at a state. Without free and ball joints Drake's are Pinocchio's.
#[derive(Deserialize)]
struct Conventions {
    mujoco: Answer,
    pinocchio: Answer,
    drake: Option<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    x: Vec<f64>,
    f: Vec<f64>,
    u: Vec<f64>,
    #[serde(rename = "A")]
    a: Vec<Vec<f64>>,
    #[serde(rename = "B")]
    b: Vec<Vec<f64>>,
}

impl Answer {
    /// How far the only step of a linearization is from this: x, f, u, A, B.
    fn errors(&self, found: &Linearization) -> [f64; 5] {
        let vector = |found: &Array2<f64>, expected: &Vec<f64>| {
            error(found.view(), std::slice::from_ref(expected))
        };
        [
            vector(&found.x, &self.x),
            vector(&found.f, &self.f),
            vector(&found.u, &self.u),
            error(found.a.index_axis(Axis(0), 0), &self.a),
            error(found.b.index_axis(Axis(0), 0), &self.b),
        ]
    }
}

/// The largest difference, relative to the largest number of its row, or 1.
fn error(found: ArrayView2<f64>, expected: &[Vec<f64>]) -> f64 {
    assert_eq!(found.nrows(), expected.len());
    let mut worst: f64 = 0.0;
    for (found, expected) in found.rows().into_iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        for (found, expected) in found.iter().zip(expected) {
            let error = (found - expected).abs() / scale;
            // `max` would drop what is not a number.
            assert!(error.is_finite(), "{found} instead of {expected}");
            worst = worst.max(error);
        }
    }
    worst
}

fn read(name: &str) -> (Answers, Scene) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/linearize");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    let answers: Answers = serde_json::from_str(&text).unwrap();
    let mut scene = Scene::load(folder.join(&answers.model)).unwrap();
    scene.settings.integrator = Integrator::SemiImplicit;
    assert_eq!(scene.settings.time_step.to_bits(), answers.time_step.to_bits());
    (answers, scene)
}

/// The step from a state in our convention, with respect to all inputs.
fn linearize(name: &str, scene: &Scene, x: &[f64], u: &[f64]) -> Linearization {
    let model = &scene.model;
    let (q, v) = x.split_at(model.nq());
    let state = State { q: q.to_vec(), v: v.to_vec() };
    let system = scene.system();
    let mut linearizer = Linearizer::new(name, system, u, &["all".to_string()], &[]).unwrap();
    linearizer.rollout(&state, 1, |_| ()).unwrap()
}

#[test]
fn smooth_motion_agrees_with_mujoco_pinocchio_and_drake() {
    for name in ["arm7", "arm7_damped", "arm7_servo", "planar", "tree_free", "tree_fixed"] {
        let (answers, scene) = read(name);
        assert!(answers.states.len() > 1);
        for (k, Conventions { mujoco, pinocchio, drake }) in answers.states.iter().enumerate() {
            let result = linearize(name, &scene, &mujoco.x, &mujoco.u);
            let drake = drake.as_ref().unwrap_or(pinocchio);
            for (convention, answer, limit) in [
                (Convention::Stiction, mujoco, 1e-6),
                (Convention::Mujoco, mujoco, 1e-6),
                (Convention::Pinocchio, pinocchio, 1e-9),
                (Convention::Drake, drake, 1e-9),
            ] {
                let told = result.expressed(convention, &scene.model, name).unwrap();
                let errors = answer.errors(&told);
                println!("{name} {k} {}: {errors:?}", convention.name());
                for (what, error) in ["x", "f", "u", "A", "B"].into_iter().zip(errors) {
                    assert!(error < limit, "{name} {k} {}, {what}: {error:e}", convention.name());
                }
            }
        }
    }
}

// Or the comparison above would say little.
#[test]
fn the_answers_in_other_conventions_are_others() {
    for (name, differ) in
        [("planar", [false; 2]), ("tree_fixed", [false, true]), ("tree_free", [true; 2])]
    {
        let (answers, scene) = read(name);
        for Conventions { mujoco, pinocchio, drake } in &answers.states {
            let ours = linearize(name, &scene, &mujoco.x, &mujoco.u);
            let drake = drake.as_ref().unwrap_or(pinocchio);
            for (answer, differs) in [pinocchio, drake].into_iter().zip(differ) {
                let [.., a, _] = answer.errors(&ours);
                assert_eq!(a > 1e-3, differs, "{name}: {a:e}");
            }
        }
    }
}
