//! How parameters are searched for: priors, transforms, fixed ones, inertias of bodies there can be.

use approx::assert_relative_eq;
use stiction::ad::{self, Dual, LANES, Real};
use stiction::dynamics::InertialParameters;
use stiction::identify::{
    Dataset, Experiment, Fit, FitStatus, FreeParameter, InitialState, LeastSquares, Prior, Problem,
    RobustLoss, SearchSpace, Transform, WindowLength, conclude, fit,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::trajectory::{Recorded, Trajectory};

use crate::random::Random;

/// A box in flight, pushed by a force that it feels through its mass.
fn pushed() -> Scene {
    let text = "simulation.time_step = 0.005\n[[body]]\nname = \"box\"\nmass = 0.5\n\
        shape = { box = [0.06, 0.04, 0.02] }\ninertia = [3e-4, 6e-4, 7e-4, 4e-5, -3e-5, 6e-5]\n\
        center_of_mass = [0.01, -0.005, 0.003]\nangular_velocity = [3, -6, 4]\n\
        velocity = [1, 0, 2]\nforce = [0.3, 0.1, 0]\ntorque = [1e-3, 2e-3, -1e-3]\n";
    Scene::parse(text, "scene.toml").unwrap()
}

/// The same box spinning and thrown otherwise, over `steps` steps.
fn recording(scene: &Scene, spin: [f64; 3], steps: usize) -> Trajectory {
    let Scene { model, state, settings, inputs, .. } = scene;
    let mut state = state.clone();
    state.v[3..6].copy_from_slice(&spin);
    let mut rollout = Rollout::new(scene.system(), state.clone());
    let mut states = vec![state];
    for _ in 0..steps {
        rollout.step(inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..=steps).map(|k| k as f64 * settings.time_step).collect();
    Trajectory { name: "flight".into(), times, states, recorded: Recorded::all(model) }
}

fn experiment(scene: Scene, parameters: Vec<FreeParameter>) -> Experiment {
    Experiment {
        scene,
        parameters,
        initial_state: InitialState::Recorded,
        window: WindowLength::Whole,
        substeps: None,
        truth: Default::default(),
        ..Experiment::builtin().unwrap()
    }
}

fn free(scene: &Scene, name: &str, start: f64, bounds: [f64; 2]) -> FreeParameter {
    FreeParameter::new(name, scene.model.parameter(name).unwrap(), start, bounds)
}

fn run(experiment: &Experiment, dataset: &Dataset) -> Fit {
    fit(experiment, dataset, 2, &mut |_| true).unwrap()
}

const SPINS: [[f64; 3]; 3] = [[3.0, -6.0, 4.0], [8.0, 1.0, -2.0], [-1.0, 2.0, 9.0]];

fn dataset(experiment: &Experiment, steps: usize) -> Dataset {
    let recordings = SPINS.map(|spin| recording(&experiment.scene, spin, steps));
    Dataset::new(experiment, recordings.into()).unwrap()
}

/// The ten inertial numbers of the box, or some other body's.
fn ten(scene: &Scene) -> Vec<f64> {
    let slot = scene.model.parameter("box/mass").unwrap().slots[0];
    scene.parameters.values[slot..slot + 10].to_vec()
}

fn inertial(scene: &Scene, start: &[f64]) -> Vec<FreeParameter> {
    FreeParameter::inertial(&scene.model, "box", start, 0.5).unwrap()
}

#[test]
fn walks_along_an_inertia_end_where_no_body_has_it() {
    // A plate, nearly: the inertia about one axis is that about the two others together.
    for seed in 1..=6 {
        let mut scene = pushed();
        let slot = scene.model.parameter("box/mass").unwrap().slots[0];
        let plate = [5e-4, 5e-4, 9.99e-4, 0.0, 0.0, 0.0];
        scene.parameters.values[slot + 4..slot + 10].copy_from_slice(&plate);
        let start = ten(&scene)[4..].to_vec();
        let experiment = experiment(scene.clone(), inertial(&scene, &start));
        let mut random = Random(seed);
        let mut recordings = dataset(&experiment, 40).trajectories;
        for state in recordings.iter_mut().flat_map(|recording| &mut recording.states) {
            let off: [f64; 6] = random.vector(0.01);
            let tangent = [off.as_slice(), &[0.0; 6]].concat();
            *state = state.moved(scene.model.coordinates(), &tangent);
        }
        let noisy = Dataset::new(&experiment, recordings).unwrap();
        let found = conclude(&experiment, &noisy, 2, None, &mut |_| true).unwrap();
        let alone = run(&experiment, &noisy);
        assert_ne!(found.fit.status, FitStatus::Infeasible, "seed {seed}");
        assert!(found.fit.loss <= alone.loss, "seed {seed}: {} {}", found.fit.loss, alone.loss);
        assert!(found.fit.parameters.iter().all(|p| p.value.is_finite()));
        assert_eq!(found.profiles.len(), 6);
        assert!(found.profiles.iter().flat_map(|p| &p.loss).all(|loss| loss.is_finite()));
    }
}

#[test]
fn all_ten_inertial_numbers_of_a_body_are_found_from_far() {
    let scene = pushed();
    let truth = ten(&scene);
    for start in [
        [0.8, 0.0, 0.0, 0.0, 5e-4, 5e-4, 5e-4, 0.0, 0.0, 0.0],
        [0.3, 0.02, 0.0, -0.01, 4e-4, 7e-4, 6e-4, 1e-4, 0.0, -1e-4],
    ] {
        let experiment = experiment(scene.clone(), inertial(&scene, &start));
        let fit = run(&experiment, &dataset(&experiment, 40));
        assert_eq!(fit.status, FitStatus::Converged, "{:#?} {:?}", fit.parameters, fit.warnings);
        let names: Vec<&str> = fit.parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(
            names[..5],
            ["mass", "center_of_mass/x", "center_of_mass/y", "center_of_mass/z", "inertia/xx"]
                .map(|n| format!("box/{n}"))
        );
        let sizes = [0.5, 0.01, 0.01, 0.01, 5e-4, 5e-4, 5e-4, 5e-4, 5e-4, 5e-4];
        for ((found, truth), size) in fit.parameters.iter().zip(&truth).zip(sizes) {
            assert!((found.value - truth).abs() < 1e-6 * size, "{found:?} {truth}");
            assert!(found.observable && !found.at_bound);
            // Of exact data.
            assert!(found.standard_error.unwrap() < 1e-6 * size, "{found:?}");
        }
    }
}

/// A body far from the box.
const OTHER: [f64; 10] = [0.8, 0.0, 0.01, -0.01, 9e-4, 8e-4, 5e-4, 0.0, 1e-4, 0.0];

#[test]
fn an_inertia_is_found_at_known_mass() {
    let scene = pushed();
    let start = [5e-4, 5e-4, 5e-4, 0.0, 0.0, 0.0];
    let experiment = experiment(scene.clone(), inertial(&scene, &start));
    assert_eq!(experiment.parameters.len(), 6);
    let fit = run(&experiment, &dataset(&experiment, 60));
    assert_eq!(fit.status, FitStatus::Converged);
    for (found, truth) in fit.parameters.iter().zip(&ten(&scene)[4..]) {
        assert!((found.value - truth).abs() < 1e-10, "{found:?} {truth}");
    }
}

#[test]
fn whatever_the_search_tries_is_a_body() {
    let scene = pushed();
    let parameters = inertial(&scene, &OTHER);
    let space = SearchSpace::new(&parameters);
    assert_eq!((space.len(), space.is_shared(3)), (10, true));
    let start = space.start();
    assert_eq!(space.told(&start), OTHER);
    for k in 0..10 {
        for step in [-30.0, -3.0, 3.0, 30.0] {
            let mut z = start.clone();
            z[k] += step * space.scale()[k];
            let values: [f64; 10] = space.values(&z).try_into().unwrap();
            let body = InertialParameters::from_array(&values);
            assert!(body.mass > 0.0 && body.inertia.trace() > 0.0, "{values:?}");
            if step.abs() < 10.0 {
                assert!(body.consistent(), "{values:?}");
            }
            // And back.
            if step.abs() < 10.0 {
                for (back, z) in space.variables(&values).iter().zip(&z) {
                    assert!((back - z).abs() < 1e-9 * z.abs().max(1.0), "{back} {z}");
                }
            }
        }
    }
    // A part of them is searched for as it is.
    let space = SearchSpace::new(&parameters[..9]);
    assert_eq!(space.values(&OTHER[..9]), OTHER[..9]);
    assert!(!space.is_shared(3));
}

#[test]
fn no_such_body_is_refused() {
    let scene = pushed();
    let flat = [1e-3, 1e-3, 3e-3, 0.0, 0.0, 0.0];
    let error = FreeParameter::inertial(&scene.model, "box", &flat, 0.5).unwrap_err();
    assert!(error.contains("less than the sum of the two others"), "{error}");
    assert!(FreeParameter::inertial(&scene.model, "cup", &OTHER, 0.5).is_err());
    assert!(FreeParameter::inertial(&scene.model, "box", &OTHER[1..], 0.5).is_err());
}

#[test]
fn variables_have_the_derivatives_of_the_cost_by_both_modes() {
    let scene = pushed();
    let mut parameters = inertial(&scene, &OTHER[4..]);
    parameters.push(free(&scene, "box/mass", 0.7, [0.1, 2.0]));
    parameters.push(free(&scene, "gravity/z", -9.0, [-20.0, 0.0]));
    for p in &mut parameters {
        p.prior = Some(Prior { mean: 0.9 * p.start, sd: 0.1 * p.scale });
    }
    parameters[7].fixed = true;
    parameters[2].prior = None;
    assert_eq!(parameters[6].transform, Transform::Log);
    let mut experiment = experiment(scene, parameters);
    for robust in [None, Some(RobustLoss::Huber(3.0)), Some(RobustLoss::Cauchy(3.0))] {
        experiment.robust = robust;
        let dataset = dataset(&experiment, 20);
        let mut problem = Problem::new(&experiment, &dataset, 1);
        let x = problem.space.start();
        assert_eq!(x.len(), 7);
        // 6 residuals a pose and 3 + 3 more if there are velocities: the built-in noise has none.
        assert_eq!(problem.residual_count(), 3 * 20 * 6 + 6);
        let cost = problem.linearize(&x);
        assert_relative_eq!(cost, problem.cost(&x), max_relative = 1e-12);
        let (_, g) = problem.normal_equations();
        let (reverse, gradient) = problem.gradient(&x).unwrap();
        assert_relative_eq!(reverse, cost, max_relative = 1e-12);
        for k in 0..7 {
            let h = 1e-5 * problem.space.scale()[k];
            let at = |problem: &mut Problem, h: f64| {
                let mut x = x.clone();
                x[k] += h;
                problem.cost(&x)
            };
            let slope =
                |problem: &mut Problem, h: f64| (at(problem, h) - at(problem, -h)) / (2.0 * h);
            let (wide, narrow) = (slope(&mut problem, 2.0 * h), slope(&mut problem, h));
            let difference = (4.0 * narrow - wide) / 3.0;
            let size = g.amax();
            assert!(
                (g[k] - difference).abs() < 1e-7 * size,
                "{k} {robust:?}: {} {difference}",
                g[k]
            );
            assert!((g[k] - gradient[k]).abs() < 1e-9 * size, "{k}: {} {}", g[k], gradient[k]);
        }
    }
}

#[test]
fn a_prior_decides_what_recordings_do_not_tell() {
    // In free flight without force the mass leaves no trace.
    let mut scene = pushed();
    scene.inputs.iter_mut().for_each(|w| *w = 0.0);
    let mut mass = free(&scene, "box/mass", 0.8, [0.1, 2.0]);
    let gravity = free(&scene, "gravity/z", -9.0, [-20.0, 0.0]);
    mass.prior = Some(Prior { mean: 0.45, sd: 0.02 });
    let mut experiment = experiment(scene, vec![mass, gravity]);
    let dataset = dataset(&experiment, 30);
    let fit = run(&experiment, &dataset);
    assert_eq!(fit.status, FitStatus::Converged, "{:?}", fit.warnings);
    assert_relative_eq!(fit.parameters[0].value, 0.45, max_relative = 1e-6);
    assert_relative_eq!(fit.parameters[0].standard_error.unwrap(), 0.02, max_relative = 1e-6);
    assert_relative_eq!(fit.parameters[1].value, -9.81, max_relative = 1e-6);

    // Two statements about one number: their weighted mean, by how well each knows it.
    let other = &mut experiment.parameters[1];
    other.prior = Some(Prior { mean: -9.0, sd: 0.02 });
    let both = run(&experiment, &dataset).parameters[1].value;
    let mut problem = Problem::new(&experiment, &dataset, 1);
    let truth = problem.space.variables(&[0.45, -9.81]);
    problem.linearize(&truth);
    let total = problem.normal_equations().0[(1, 1)];
    let share = 0.02_f64.powi(-2) / total;
    assert!((0.01..0.99).contains(&share), "{share}");
    // Positions are linear in gravity.
    assert_relative_eq!(both, -9.81 + 0.81 * share, max_relative = 1e-6);
}

#[test]
fn fixed_parameters_are_listed_and_keep_their_start() {
    let scene = pushed();
    let mut mass = free(&scene, "box/mass", 0.5, [0.1, 2.0]);
    mass.fixed = true;
    let gravity = free(&scene, "gravity/z", -9.0, [-20.0, 0.0]);
    let experiment = experiment(scene, vec![mass, gravity]);
    let mut seen = Vec::new();
    let fit = fit(&experiment, &dataset(&experiment, 30), 1, &mut |progress| {
        seen.push(progress.values.to_vec());
        true
    });
    let fit = fit.unwrap();
    assert!(seen.iter().all(|values| values.len() == 2 && values[0] == 0.5));
    let [mass, gravity] = [&fit.parameters[0], &fit.parameters[1]];
    assert!(mass.fixed && !gravity.fixed && !mass.at_bound);
    assert_eq!((mass.value, mass.standard_error), (0.5, None));
    assert_relative_eq!(gravity.value, -9.81, max_relative = 1e-9);
}

#[test]
fn a_logarithm_changes_neither_result_nor_standard_error() {
    let scene = pushed();
    let found = [Transform::Log, Transform::None].map(|transform| {
        let mass = FreeParameter { transform, ..free(&scene, "box/mass", 1.4, [0.1, 2.0]) };
        let experiment = experiment(scene.clone(), vec![mass]);
        let mut dataset = dataset(&experiment, 30);
        // Errors that no mass explains.
        for (k, state) in dataset.trajectories[0].states.iter_mut().enumerate().skip(1) {
            state.q[2] += 1e-3 * (k as f64 * 2.4).sin();
        }
        run(&experiment, &dataset).parameters.remove(0)
    });
    let [log, plain] = &found;
    assert_relative_eq!(log.value, plain.value, max_relative = 1e-7);
    let errors = [log, plain].map(|p| p.standard_error.unwrap());
    assert!(errors[0] > 1e-6, "{errors:?}");
    assert_relative_eq!(errors[0], errors[1], max_relative = 1e-6);
}

#[test]
fn standard_errors_of_an_inertia_are_those_of_its_numbers() {
    // Searched for as they are, from nearby, the same numbers have the same errors.
    let scene = pushed();
    let truth = ten(&scene);
    let found = [true, false].map(|together| {
        let mut parameters = inertial(&scene, &truth);
        if !together {
            parameters.iter_mut().for_each(|p| p.transform = Transform::None);
        }
        let experiment = experiment(scene.clone(), parameters);
        let mut dataset = dataset(&experiment, 60);
        for trajectory in &mut dataset.trajectories {
            for (k, state) in trajectory.states.iter_mut().enumerate().skip(1) {
                for i in 0..3 {
                    state.q[i] += 1e-4 * (k as f64 * (2.4 + 0.3 * i as f64)).sin();
                }
            }
        }
        run(&experiment, &dataset).parameters
    });
    for (a, b) in found[0].iter().zip(&found[1]) {
        let error = a.standard_error.unwrap();
        assert!((a.value - b.value).abs() < 1e-4 * error, "{a:?} {b:?}");
        assert_relative_eq!(error, b.standard_error.unwrap(), max_relative = 1e-4);
    }
}

#[test]
fn at_its_bound_a_logarithm_is_exactly_there() {
    let scene = pushed();
    let mass = free(&scene, "box/mass", 0.8, [0.6, 2.0]);
    let experiment = experiment(scene, vec![mass]);
    let fit = run(&experiment, &dataset(&experiment, 30));
    assert_eq!((fit.parameters[0].value, fit.parameters[0].at_bound), (0.6, true));
}

#[test]
fn robust_losses_and_their_slopes() {
    let values = [-40.0, -3.1, -2.9, -0.2, -1e-5, 0.0, 1e-4, 0.01, 1.0, 3.0, 5.0, 1e6];
    for (robust, loss) in [
        (
            RobustLoss::Huber(3.0),
            (|r: f64| if r.abs() <= 3.0 { 0.5 * r * r } else { 3.0 * r.abs() - 4.5 })
                as fn(f64) -> f64,
        ),
        (RobustLoss::Cauchy(3.0), |r: f64| 4.5 * (r * r / 9.0).ln_1p()),
    ] {
        fn alone<T: Real>(robust: RobustLoss, r: T) -> T {
            let mut residuals = [r];
            robust.apply(&mut residuals);
            residuals[0]
        }
        for r in values {
            let turned = alone(robust, r);
            assert_relative_eq!(0.5 * turned * turned, loss(r), max_relative = 1e-14);
            assert!(turned.signum() == r.signum());
            // d/dr loss = r̃ r̃'
            let (_, j) =
                ad::jacobian::<LANES>(|x: &[Dual<f64, LANES>]| vec![alone(robust, x[0])], &[r]);
            let slope = match robust {
                RobustLoss::Huber(c) => r.clamp(-c, c),
                RobustLoss::Cauchy(c) => r / (1.0 + r * r / (c * c)),
            };
            assert_relative_eq!(turned * j[(0, 0)], slope, max_relative = 1e-12);
            assert!(r != 0.0 || j[(0, 0)] == 1.0);
        }
        assert!(alone(robust, f64::NAN).is_nan());
        // Of those that belong together the length counts, and the direction stays.
        for size in [0.3, 1.0, 20.0] {
            let mut three = [1.0, -2.0, 2.0].map(|x| x / 3.0 * size);
            robust.apply(&mut three);
            let half_square = 0.5 * three.iter().map(|x| x * x).sum::<f64>();
            assert_relative_eq!(half_square, loss(size), max_relative = 1e-14);
            assert_relative_eq!(three[1], -2.0 * three[0], max_relative = 1e-14);
            assert_relative_eq!(three[2], -three[1], max_relative = 1e-14);
        }
    }
}

#[test]
fn recordings_that_went_wrong_do_not_decide_a_cauchy_fit() {
    let scene = pushed();
    let mass = free(&scene, "box/mass", 0.8, [0.1, 2.0]);
    let mut experiment = experiment(scene, vec![mass]);
    let mut dataset = dataset(&experiment, 40);
    for state in dataset.trajectories[1].states.iter_mut().skip(20) {
        state.q[0] += 0.3;
    }
    let error = |fit: &Fit| (fit.parameters[0].value / 0.5 - 1.0).abs();
    let squared = error(&run(&experiment, &dataset));
    experiment.robust = Some(RobustLoss::Huber(1.0));
    let huber = error(&run(&experiment, &dataset));
    experiment.robust = Some(RobustLoss::Cauchy(1.0));
    let cauchy = error(&run(&experiment, &dataset));
    assert!(squared > 0.1 && cauchy < 0.1 * huber && huber < squared, "{squared} {huber} {cauchy}");
    assert!(cauchy < 1e-3, "{cauchy}");
}
