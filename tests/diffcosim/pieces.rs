//! Pieces of motion of every task with impacts in them, differentiated in all ways, in their start and all parameters.

use stiction::ad::{Function, Real};
use stiction::maximal::{Formulation, ImpactRule, PointParameters, PointScene, PointStep};
use stiction::verify::{self, Derivatives, Errors, Gradcheck};

use super::archive::task;

/// Steps of a piece.
const STEPS: usize = 4;

/// The end of a piece by its start, masses, moments, and friction and restitution of the surfaces that touch.
struct Piece<'a> {
    scene: &'a PointScene,
    surfaces: Vec<usize>,
}

impl Piece<'_> {
    fn inputs(&self, state: &[f64]) -> Vec<f64> {
        let PointParameters { masses, moments, friction, restitution } = &self.scene.parameters;
        let touching = |numbers: &[f64]| self.surfaces.iter().map(|&k| numbers[k]).collect();
        let (mu, e): (Vec<f64>, Vec<f64>) = (touching(friction), touching(restitution));
        [state, masses, moments, &mu, &e].concat()
    }
}

/// The contacts of each step, in which two sides of a kink differ.
#[derive(PartialEq)]
struct Active(Vec<Vec<usize>>);

impl verify::Piece for Active {}

impl Function for Piece<'_> {
    fn evaluate<T: Real>(&self, inputs: &[T]) -> Vec<T> {
        self.run(inputs).0
    }
}

impl Piece<'_> {
    fn run<T: Real>(&self, inputs: &[T]) -> (Vec<T>, Active) {
        let system = &self.scene.system;
        let size = system.coordinates();
        let (state, numbers) = inputs.split_at(2 * size);
        let (masses, numbers) = numbers.split_at(system.bodies().len());
        let (moments, numbers) = numbers.split_at(system.layout().moments());
        let constant = |numbers: &[f64]| numbers.iter().map(|&x| T::constant(x)).collect();
        let PointParameters { friction, restitution, .. } = &self.scene.parameters;
        let mut parameters = PointParameters {
            masses: masses.to_vec(),
            moments: moments.to_vec(),
            friction: constant(friction),
            restitution: constant(restitution),
        };
        let (mu, e) = numbers.split_at(self.surfaces.len());
        for ((&k, &mu), &e) in self.surfaces.iter().zip(mu).zip(e) {
            (parameters.friction[k], parameters.restitution[k]) = (mu, e);
        }
        let (mut x, mut v) = (state[..size].to_vec(), state[size..].to_vec());
        let (mut step, mut active) = (PointStep::default(), Vec::new());
        for _ in 0..STEPS {
            let (form, rule) =
                (Formulation::Lagrangian, ImpactRule { tolerance: 1e-12, regularization: 0.0 });
            step.step(system, &parameters, form, rule, &mut &system.potential, &mut x, &mut v);
            active.push(step.report.active.clone());
        }
        ([x, v].concat(), Active(active))
    }
}

/// A state from which one surface is touched in the next steps.
fn before_an_impact(scene: &PointScene, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut random = super::start::random(seed);
    let start = scene.start.as_ref().unwrap();
    for _ in 0..200 {
        let (x, v) = start.sample(&scene.system, &mut random).unwrap();
        let mut state = [x, v].concat();
        for _ in 0..40 {
            let mut surfaces = Vec::new();
            let mut next = state.clone();
            for step in 0..STEPS {
                let (after, active) = super::steps::step(scene, &next, Formulation::Lagrangian);
                surfaces.extend(active.iter().map(|&k| scene.system.contacts()[k].surface));
                next = after;
                if step == 0 && surfaces.is_empty() {
                    state.clone_from(&next);
                }
            }
            if surfaces.len() == 1 {
                return (state, surfaces);
            }
        }
    }
    panic!("nothing touches");
}

#[test]
fn pieces_of_every_task_pass_in_all_ways() {
    for name in ["BP5-e", "BP5", "CP3-e", "CP3", "BD5", "Rope", "Gyro-e", "Gyro"] {
        let scene = task(name);
        let (state, surfaces) = before_an_impact(&scene, 2);
        let piece = Piece { scene: &scene, surfaces };
        let inputs = piece.inputs(&state);
        let names: Vec<String> = (0..inputs.len()).map(|k| format!("x[{k}]")).collect();
        let derivatives = Derivatives::of(&piece, |x| piece.run(x), &inputs).unwrap();
        let compared = derivatives.differences.iter().flatten().count();
        assert!(compared > inputs.len() / 2, "{name}: {compared} of {}", inputs.len());
        let (max, bound) = (Gradcheck::compare(&names, &derivatives).max(), Errors::TOLERANCES);
        println!("{name}: {max:?}");
        assert!(max.dual_vs_tape <= bound.dual_vs_tape, "{name}: {max:?}");
        assert!(max.residual_vs_tape <= bound.residual_vs_tape, "{name}: {max:?}");
        assert!(max.unrolled_vs_tape <= bound.unrolled_vs_tape, "{name}: {max:?}");
        assert!(max.vs_differences <= bound.vs_differences, "{name}: {max:?}");
    }
}
