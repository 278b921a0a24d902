//! Checkpointed gradients of rollouts with contact: what a step remembers is part of the state.

use approx::assert_relative_eq;
use stiction::ad::{Accumulation, Checkpointing, Error, Real, StepsGradient, gradient};
use stiction::model::{Parameters, Scene, System};
use stiction::simulation::{Rollout, RolloutLoss, RolloutSteps};
use stiction::state::State;

/// A toss that hits the floor, tumbles and slides.
fn scene(solver: &str) -> Scene {
    let text = format!(
        "[simulation]
         time_step = 0.005
         solver = '{solver}'
         [[half_space]]
         name = 'floor'
         normal = [0, 0.1, 1]
         [[body]]
         name = 'cube'
         mass = 0.4
         shape = {{ box = [0.05, 0.04, 0.06] }}
         position = [0, 0, 0.09]
         velocity = [0.8, 0.2, -0.5]
         angular_velocity = [0.5, 1, 2]
         [[contact]]
         mu = 0.25
         restitution = 0.2"
    );
    Scene::parse(&text, "toss.toml").unwrap()
}

/// The way off a line and the speed, at all steps.
struct Way;

impl RolloutLoss for Way {
    fn of<T: Real>(&self, k: usize, _: &Parameters<T>, state: &State<T>) -> T {
        let (p, v) = (state.position(0), state.velocity(0));
        let off = p.x - T::constant(0.004 * k as f64);
        off * off + p.y * p.y + v.dot(&v) * 1e-3
    }
}

fn steps(scene: &Scene) -> RolloutSteps<'_, Way> {
    RolloutSteps {
        model: &scene.model,
        settings: &scene.settings,
        initial: &scene.state,
        inputs: &scene.inputs,
        loss: Way,
    }
}

fn bits(x: &StepsGradient) -> Vec<u64> {
    x.gradient.iter().chain([&x.value]).map(|x| x.to_bits()).collect()
}

const STEPS: usize = 120;

#[test]
fn checkpoints_do_not_change_a_bit() {
    for solver in ["coupled", "staggered"] {
        let scene = scene(solver);
        let (program, x) = (steps(&scene), &scene.parameters.values);
        for accumulation in [Accumulation::Tape, Accumulation::Lanes] {
            let with = |budget| Checkpointing { budget, accumulation }.gradient(&program, STEPS, x);
            let all = with(None).unwrap();
            assert!(all.gradient.iter().all(|x| x.is_finite()));
            let Err(Error::Budget { needed }) = with(Some(0)) else { panic!("0 bytes are enough") };
            for more in [0, 400, 2000] {
                let few = with(Some(needed + more)).unwrap();
                assert!(few.report.checkpoints < 10, "{:?}", few.report);
                assert_eq!(bits(&few), bits(&all), "{solver}, {accumulation:?}");
            }
        }
    }
}

#[test]
fn they_are_the_gradients_of_the_rollout() {
    // Friction that corners share is of least norm in the staggered derivative, not in its value: forward
    // and in reverse differ by that.
    for (solver, tolerance) in [("coupled", 1e-9), ("staggered", 1e-5)] {
        let scene = scene(solver);
        let (program, x) = (steps(&scene), &scene.parameters.values);
        let (value, slopes) = gradient(
            |x| {
                let parameters = Parameters { values: x.to_vec() };
                let (model, settings) = (&scene.model, &scene.settings);
                let system = System { model, parameters: &parameters, settings };
                let mut rollout = Rollout::new(system, scene.state.cast());
                let inputs: Vec<_> = scene.inputs.iter().map(|&w| Real::constant(w)).collect();
                let mut sum = Way.of(0, &parameters, &rollout.state);
                for k in 1..=STEPS {
                    rollout.step(&inputs);
                    sum += Way.of(k, &parameters, &rollout.state);
                }
                sum
            },
            x,
        )
        .unwrap();
        assert!(slopes.iter().filter(|x| x.abs() > 1e-3).count() > 8, "{slopes:?}");
        for accumulation in [Accumulation::Tape, Accumulation::Lanes] {
            let found = Checkpointing { budget: None, accumulation }.gradient(&program, STEPS, x);
            let found = found.unwrap();
            // Rounding differs between scalars, and impacts amplify it.
            assert_relative_eq!(found.value, value, max_relative = 1e-11);
            let scale = slopes.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
            for (a, b) in found.gradient.iter().zip(&slopes) {
                assert!(
                    (a - b).abs() <= tolerance * scale,
                    "{solver} {accumulation:?}: {a} for {b}"
                );
            }
        }
    }
}
