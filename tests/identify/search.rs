//! The search behind an identification: stages and starts, going on where it stopped, its methods, recordings held
//! out, and errors from halves.

use approx::assert_relative_eq;
use stiction::identify::{
    AdamSettings, Checkpoint, Dataset, Experiment, Fit, FitStatus, FreeParameter, InitialState,
    Method, Noise, WindowLength, fit, fit_from, half_sampling, hold_out, initial_state,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};

use crate::random::Random;
use crate::scenes::{on_floor, scene};

const NOISE: Noise =
    Noise { position: 1e-3, rotation: 5e-3, velocity: None, angular_velocity: None };

/// A ball that bounces, slides and rolls, at mu 0.3 and restitution 0.6.
pub const BALL: &str = "simulation.time_step = 0.01\n[[body]]\nname = \"ball\"\nmass = 0.2\n\
        shape = { sphere = 0.05 }\nposition = [0, 0, 0.2]\n[[contact]]\nmu = 0.3\nrestitution = 0.6\n";

fn ball() -> Scene {
    scene(&on_floor(BALL))
}

/// A box that is tossed onto the floor, at mu 0.2 and restitution 0.1.
fn cube() -> Scene {
    scene(&on_floor(
        "simulation.time_step = 0.01\n[[body]]\nname = \"cube\"\nmass = 0.4\n\
         shape = { box = [0.05, 0.05, 0.05] }\nposition = [0, 0, 0.15]\n[[contact]]\nmu = 0.2\n\
         restitution = 0.1\n",
    ))
}

/// Bodies that hang one from the other on hinges, with nothing to touch.
fn chain(links: usize) -> Scene {
    let mut text = "simulation.time_step = 0.01\n".to_string();
    for k in 0..links {
        let place = match k {
            0 => "position = [0, 0, 2]".to_string(),
            _ => format!("parent = \"link{}\"\nposition = [0, 0, -0.1]", k - 1),
        };
        let axis = ["[0, 1, 0]", "[1, 0, 0]"][k % 2];
        text += &format!(
            "[[body]]\nname = \"link{k}\"\n{place}\nmass = 0.1\ninertia = [2e-4, 2e-4, 1e-4]\n\
             center_of_mass = [0, 0, -0.05]\njoint = {{ type = \"revolute\", axis = {axis}, \
             damping = {} }}\n",
            2e-3 + 2e-4 * k as f64
        );
    }
    Scene::parse(&text, "chain.toml").unwrap()
}

/// The motion of a scene from `start`, with `noise` times the standard deviations of [`NOISE`].
pub fn motion(
    scene: &Scene,
    start: State<f64>,
    steps: usize,
    noise: f64,
    random: &mut Random,
) -> Trajectory {
    let Scene { model, settings, inputs, .. } = scene;
    let mut rollout = Rollout::new(scene.system(), start.clone());
    let mut states = vec![start];
    for _ in 0..steps {
        rollout.step(inputs);
        states.push(rollout.state.clone());
    }
    assert_eq!(rollout.report.unsolved, 0);
    let times = (0..=steps).map(|k| k as f64 * settings.time_step).collect();
    // The sum of twelve uniform numbers: nearly normal, of variance 1.
    let mut normal = || random.vector::<12>(0.5).iter().sum::<f64>();
    for state in states[1..].iter_mut().filter(|_| noise > 0.0) {
        let free = model.nv() == 6;
        let size = |i: usize| {
            if free && i < 3 { NOISE.position } else { NOISE.rotation }
        };
        let tangent: Vec<f64> = (0..2 * model.nv())
            .map(|i| if i < model.nv() { noise * size(i) * normal() } else { 0.0 })
            .collect();
        *state = state.moved(model.coordinates(), &tangent);
    }
    Trajectory { name: "motion".into(), times, states, recorded: Recorded::all(model) }
}

/// `count` throws of the one body of a scene.
pub fn throws(scene: &Scene, count: usize, steps: usize, noise: f64, seed: u64) -> Vec<Trajectory> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let mut start = scene.state.clone();
            start.q[2] += random.uniform(0.0, 0.15);
            start.v.copy_from_slice(&random.vector::<6>(1.5));
            start.v[2] = -start.v[2].abs();
            motion(scene, start, steps, noise, &mut random)
        })
        .collect()
}

/// `count` swings of a chain.
pub fn swings(scene: &Scene, count: usize, steps: usize, noise: f64, seed: u64) -> Vec<Trajectory> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let mut start = scene.state.clone();
            start.q.iter_mut().for_each(|q| *q = random.uniform(-0.8, 0.8));
            start.v.iter_mut().for_each(|v| *v = random.uniform(-2.0, 2.0));
            motion(scene, start, steps, noise, &mut random)
        })
        .collect()
}

fn free(scene: &Scene, name: &str, start: f64, bounds: [f64; 2]) -> FreeParameter {
    FreeParameter::new(name, scene.model.parameter(name).unwrap(), start, bounds)
}

/// Friction and restitution of the ball from eight throws.
fn bounces(starts: usize) -> (Experiment, Dataset) {
    let scene = ball();
    let parameters = vec![
        free(&scene, "floor-ball/mu", 0.6, [0.01, 1.0]),
        free(&scene, "floor-ball/restitution", 0.3, [0.0, 1.0]),
    ];
    let experiment = Experiment { starts, ..Experiment::new("bounces", scene, parameters, NOISE) };
    let recordings = throws(&experiment.scene, 8, 48, 1.0, 7);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    (experiment, dataset)
}

/// Damping of the joints of a chain from exact swings.
fn swinging(links: usize) -> (Experiment, Dataset) {
    let scene = chain(links);
    let parameters =
        (0..links).map(|k| free(&scene, &format!("link{k}/damping"), 1e-3, [1e-5, 1e-1])).collect();
    let experiment = Experiment::new("swings", scene, parameters, NOISE);
    let recordings = swings(&experiment.scene, 3, 60, 0.0, 3);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    (experiment, dataset)
}

fn run(experiment: &Experiment, dataset: &Dataset) -> Fit {
    fit(experiment, dataset, 2, &mut |_| true).unwrap()
}

/// All of a fit, as text: equal where all numbers have the same bits.
fn all(fit: &Fit) -> String {
    format!("{fit:?}")
}

/// Goes on from seven of the checkpoints of a search, through JSON: to the same result, by the same checkpoints.
#[track_caller]
fn goes_on_to_the_same_bits(experiment: &Experiment, dataset: &Dataset) -> Fit {
    let mut kept = Vec::new();
    let whole = fit(experiment, dataset, 2, &mut |progress| {
        kept.push(serde_json::to_string(&progress.checkpoint()).unwrap());
        true
    });
    let whole = whole.unwrap();
    assert_eq!(kept.len(), whole.iterations);
    assert!(kept.len() > 7, "{} iterations are few", kept.len());
    for part in 0..7 {
        let place = part * (kept.len() - 1) / 6;
        let checkpoint: Checkpoint = serde_json::from_str(&kept[place]).unwrap();
        assert!(checkpoint.is_of(experiment, dataset));
        assert_eq!(checkpoint.iterations(), place + 1);
        assert_eq!(serde_json::to_string(&checkpoint).unwrap(), kept[place]);
        let mut later = Vec::new();
        let threads = 1 + part % 3;
        let again = fit_from(experiment, dataset, threads, Some(checkpoint), &mut |progress| {
            later.push(serde_json::to_string(&progress.checkpoint()).unwrap());
            true
        });
        assert_eq!(all(&again.unwrap()), all(&whole), "from {place} of {}", kept.len());
        assert_eq!(later, kept[place + 1..], "from {place}");
    }
    whole
}

#[test]
fn a_search_of_stages_and_starts_goes_on_to_the_same_bits() {
    for initial_state in [InitialState::Recorded, InitialState::Flight] {
        let (mut experiment, _) = bounces(3);
        experiment.initial_state = initial_state;
        let recordings = throws(&experiment.scene, 8, 48, 1.0, 7);
        let dataset = Dataset::new(&experiment, recordings).unwrap();
        let fit = goes_on_to_the_same_bits(&experiment, &dataset);
        assert_eq!(fit.starts.len(), 3);
        let last = fit.history.last().unwrap();
        assert!(last.stage >= 2, "{last:?}");
    }
}

#[test]
fn a_search_with_fitted_initial_states_goes_on_to_the_same_bits() {
    let mut experiment = Experiment::builtin().unwrap();
    (experiment.starts, experiment.max_iterations) = (2, 6);
    let mut trajectories = Dataset::builtin(&experiment).unwrap().trajectories;
    trajectories.truncate(3);
    let dataset = Dataset::new(&experiment, trajectories).unwrap();
    let fit = goes_on_to_the_same_bits(&experiment, &dataset);
    assert_eq!((fit.starts.len(), fit.initial_states.len()), (2, 3));
    assert_ne!(fit.initial_states[0], initial_state(&experiment, &dataset, &dataset.windows[0]));
}

#[test]
fn searches_by_gradients_go_on_to_the_same_bits() {
    for method in [Method::Adam(AdamSettings::default()), Method::Lbfgsb] {
        let (mut experiment, dataset) = bounces(2);
        (experiment.method, experiment.max_iterations) = (method, 16);
        goes_on_to_the_same_bits(&experiment, &dataset);
        // And with initial states among the unknowns.
        experiment.initial_state = InitialState::Fitted;
        experiment.window = WindowLength::Steps(16);
        let recordings = dataset.trajectories[..2].to_vec();
        let dataset = Dataset::new(&experiment, recordings).unwrap();
        let fit = goes_on_to_the_same_bits(&experiment, &dataset);
        assert_ne!(
            fit.initial_states[0],
            initial_state(&experiment, &dataset, &dataset.windows[0])
        );
    }
}

#[test]
fn what_is_stopped_goes_on_to_the_same_bits() {
    let (experiment, dataset) = bounces(3);
    let whole = run(&experiment, &dataset);
    let mut kept: Option<Checkpoint> = None;
    // Stopped at each iteration.
    for number in 1..=whole.iterations {
        let mut told = 0;
        let part = fit_from(&experiment, &dataset, 2, kept.take(), &mut |progress| {
            told += 1;
            assert_eq!(progress.iteration, number);
            kept = Some(progress.checkpoint());
            false
        });
        let part = part.unwrap();
        assert_eq!((part.status, told, part.iterations), (FitStatus::Stopped, 1, number));
        assert!(part.loss.is_finite());
    }
    let end = fit_from(&experiment, &dataset, 2, kept, &mut |_| true).unwrap();
    assert_eq!(all(&end), all(&whole));
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let (experiment, dataset) = bounces(2);
    let mut kept = None;
    let stopped = fit(&experiment, &dataset, 2, &mut |progress| {
        kept = Some(progress.checkpoint());
        progress.iteration < 3
    });
    assert_eq!(stopped.unwrap().status, FitStatus::Stopped);
    let kept = kept.unwrap();
    assert!(kept.is_of(&experiment, &dataset));
    let change = |change: &dyn Fn(&mut Experiment)| {
        let mut other = experiment.clone();
        change(&mut other);
        other
    };
    let others = [
        change(&|e| e.seed += 1),
        change(&|e| e.starts += 1),
        change(&|e| e.max_iterations += 1),
        change(&|e| e.continuation = false),
        change(&|e| e.method = Method::Lbfgsb),
        change(&|e| e.parameters[0].start = 0.5),
        change(&|e| e.parameters[1].upper = 0.9),
        change(&|e| e.parameters[1].fixed = true),
        change(&|e| e.noise.position = 2e-3),
        change(&|e| e.scene.parameters.values[0] += 0.1),
        change(&|e| e.scene.inputs[0] += 0.1),
        change(&|e| e.scene.model.half_spaces[0].name += "boards"),
    ];
    for (number, other) in others.iter().enumerate() {
        assert!(!kept.is_of(other, &dataset), "{number}");
    }
    let mut other = dataset.clone();
    other.trajectories[3].states[5].q[0] += 1e-12;
    assert!(!kept.is_of(&experiment, &other));
    let (less, _) = hold_out(dataset.clone(), 0.2, 1);
    assert!(!kept.is_of(&experiment, &less));
    // It is begun anew: as if there were none.
    let anew = fit_from(&experiment, &less, 2, Some(kept), &mut |_| true).unwrap();
    assert_eq!(all(&anew), all(&run(&experiment, &less)));
}

#[test]
fn a_start_from_which_nothing_is_finite_can_be_kept_and_read() {
    // So light that its speed has no number.
    let text = "simulation.time_step = 0.01\n[[body]]\nname = \"ball\"\nmass = 1\n\
        shape = { sphere = 0.05 }\nforce = [1e300, 0, 0]\n";
    let scene = Scene::parse(text, "scene.toml").unwrap();
    let mut slow = scene.clone();
    slow.inputs.fill(0.0);
    let recording = motion(&slow, slow.state.clone(), 40, 0.0, &mut Random(1));
    let parameters = vec![free(&scene, "ball/mass", 1e-8, [1e-9, 10.0])];
    for method in [Method::LevenbergMarquardt, Method::Lbfgsb] {
        let mut experiment = Experiment::new("push", scene.clone(), parameters.clone(), NOISE);
        experiment.method = method;
        let dataset = Dataset::new(&experiment, vec![recording.clone()]).unwrap();
        let mut kept = Vec::new();
        let whole = fit(&experiment, &dataset, 1, &mut |progress| {
            kept.push(serde_json::to_string(&progress.checkpoint()).unwrap());
            true
        });
        let whole = whole.unwrap();
        assert_eq!(whole.status, FitStatus::Infeasible);
        for text in kept {
            let checkpoint: Checkpoint = serde_json::from_str(&text).unwrap();
            let again = fit_from(&experiment, &dataset, 1, Some(checkpoint), &mut |_| true);
            assert_eq!(all(&again.unwrap()), all(&whole));
        }
    }
}

/// The parameters that a method finds.
fn found(experiment: &Experiment, dataset: &Dataset, method: Method, most: usize) -> Fit {
    let experiment = Experiment { method, max_iterations: most, ..experiment.clone() };
    run(&experiment, dataset)
}

#[test]
fn all_methods_find_the_same_parameters() {
    let (mut experiment, dataset) = swinging(3);
    let least = found(&experiment, &dataset, Method::LevenbergMarquardt, 60);
    assert_eq!(least.status, FitStatus::Converged);
    for (k, p) in least.parameters.iter().enumerate() {
        assert_relative_eq!(p.value, 2e-3 + 2e-4 * k as f64, max_relative = 1e-6);
    }
    let adam = Method::Adam(AdamSettings { rate: 0.3, ..AdamSettings::default() });
    let same = |experiment: &Experiment, least: &Fit| {
        for (method, most, near) in [(Method::Lbfgsb, 100, 1e-4), (adam, 150, 2e-2)] {
            let fit = found(experiment, &dataset, method, most);
            assert_eq!(fit.status, FitStatus::Converged, "{method:?}");
            for (p, least) in fit.parameters.iter().zip(&least.parameters) {
                assert_relative_eq!(p.value, least.value, max_relative = near);
                assert_eq!(p.at_bound, least.at_bound, "{method:?} {p:?}");
            }
        }
    };
    same(&experiment, &least);
    // With the truth of the second beyond its bound.
    experiment.parameters[1].upper = 1.5e-3;
    let least = found(&experiment, &dataset, Method::LevenbergMarquardt, 60);
    assert_eq!(least.status, FitStatus::Converged);
    assert_eq!(least.parameters[1].value, 1.5e-3);
    same(&experiment, &least);
}

#[test]
fn many_parameters_are_found_by_quasi_newton_steps() {
    let (mut experiment, _) = swinging(12);
    for k in 1..12 {
        let name = format!("link{k}/mass");
        experiment.parameters.push(free(&experiment.scene, &name, 0.15, [0.02, 1.0]));
    }
    let recordings = swings(&experiment.scene, 4, 40, 0.0, 5);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let fit = found(&experiment, &dataset, Method::Lbfgsb, 300);
    assert_eq!(fit.parameters.len(), 23);
    assert!(fit.loss < 1e-6 * fit.loss_at_start, "{} {}", fit.loss, fit.loss_at_start);
    for p in &fit.parameters {
        let truth = experiment.parameter(&p.name).unwrap().slots[0];
        let truth = experiment.scene.parameters.values[truth];
        assert_relative_eq!(p.value, truth, max_relative = 0.05);
    }
}

#[test]
fn a_parameter_that_ends_at_its_bound_says_so() {
    let (mut experiment, dataset) = swinging(2);
    // One search: the iterations that are counted below are those of all starts.
    experiment.starts = 1;
    for (lower, upper, bound) in [(1e-5, 1.5e-3, 1.5e-3), (5e-3, 1e-1, 5e-3)] {
        let start = 0.5 * (lower + upper);
        experiment.parameters[0] = free(&experiment.scene, "link0/damping", start, [lower, upper]);
        let fit = run(&experiment, &dataset);
        assert_eq!(fit.status, FitStatus::Converged);
        let p = &fit.parameters[0];
        assert_eq!((p.value, p.at_bound, p.standard_error), (bound, true, None));
        assert!(fit.parameters[1].standard_error.is_some());
        let warning = format!("link0/damping ended at its bound {bound}");
        assert!(fit.warnings.contains(&warning), "{:?}", fit.warnings);
        // In few steps.
        assert!(fit.iterations < 30, "{}", fit.iterations);
    }
}

#[test]
fn further_starts_lead_out_of_a_trap() {
    let scene = cube();
    let parameters = vec![
        free(&scene, "floor-cube/mu", 0.9, [0.01, 1.0]),
        free(&scene, "floor-cube/restitution", 0.9, [0.0, 1.0]),
    ];
    let mut experiment = Experiment::new("tosses", scene, parameters, NOISE);
    let recordings = throws(&experiment.scene, 6, 50, 1.0, 11);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    (experiment.starts, experiment.continuation) = (1, false);
    let alone = run(&experiment, &dataset);
    experiment.starts = 4;
    let many = run(&experiment, &dataset);
    assert!(alone.loss > 2.0 * many.loss, "{} {}", alone.loss, many.loss);
    assert!((many.parameters[0].value - 0.2).abs() < 0.02, "{:?}", many.parameters[0]);
    assert_eq!(many.starts.len(), 4);
    assert_eq!(many.starts[0].start, [0.9, 0.9]);
}

#[test]
fn a_restitution_driven_to_nothing_comes_back() {
    // A contact rebounds where that is faster than gravity times the time step, 0.098 m/s, and these throws come down at
    // less than 3 m/s: below a restitution of 0.03 none rebounds, and the loss is the same for all. From there one search
    // ends where it began, and only other starts find it.
    let (mut experiment, dataset) = bounces(1);
    experiment.parameters[1].start = 0.02;
    let alone = run(&experiment, &dataset);
    assert_eq!(alone.status, FitStatus::Unobservable);
    assert_eq!((alone.parameters[1].value, alone.parameters[1].observable), (0.02, false));
    for (start, starts) in [(0.02, 4), (0.0, 4), (0.1, 1), (0.95, 1), (1.0, 1)] {
        (experiment.parameters[1].start, experiment.starts) = (start, starts);
        let fit = run(&experiment, &dataset);
        let found = fit.parameters[1].value;
        assert!((found - 0.6).abs() < 0.02, "{found} from {start}: {:?}", fit.status);
    }
}

#[test]
fn recordings_held_out_are_a_partition() {
    let (mut experiment, _) = bounces(1);
    experiment.window = WindowLength::Steps(20);
    let mut recordings = throws(&experiment.scene, 9, 48, 1.0, 7);
    for (k, recording) in recordings.iter_mut().enumerate() {
        recording.name = format!("{k}");
    }
    let readings: Vec<_> = (0..9).map(|k| vec![vec![Some(k as f64)]; 49]).collect();
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let mut dataset = dataset;
    dataset.readings = readings;
    let names = |part: &Dataset| -> Vec<String> {
        part.trajectories.iter().map(|trajectory| trajectory.name.clone()).collect()
    };
    let mut chosen = Vec::new();
    for seed in 0..20 {
        let (kept, out) = hold_out(dataset.clone(), 0.3, seed);
        assert_eq!(names(&hold_out(dataset.clone(), 0.3, seed).1), names(&out));
        assert_eq!((kept.trajectories.len(), out.trajectories.len()), (6, 3));
        let mut both = [names(&kept), names(&out)].concat();
        both.sort();
        assert_eq!(both, names(&dataset));
        for part in [&kept, &out] {
            assert!(names(part).is_sorted());
            assert_eq!(part.windows.len(), 3 * part.trajectories.len());
            assert_eq!(part.readings.len(), part.trajectories.len());
            for (k, window) in part.windows.iter().enumerate() {
                let number: usize = part.trajectories[window.trajectory].name.parse().unwrap();
                let own = &dataset.windows[3 * number + k % 3];
                assert_eq!((window.trajectory, own.trajectory), (k / 3, number));
                assert_eq!((window.first, window.steps), (own.first, own.steps));
                let start = |part, window| initial_state(&experiment, part, window);
                assert_eq!(start(part, window), start(&dataset, own));
                assert_eq!(part.readings[k / 3], dataset.readings[number]);
            }
        }
        chosen.push(names(&out));
    }
    chosen.sort();
    chosen.dedup();
    assert!(chosen.len() > 10, "seeds choose the same: {chosen:?}");
    // At least one stays and one is taken out, where that can be.
    for (share, out) in [(0.0, 1), (1e-9, 1), (0.5, 5), (1.0, 8), (7.0, 8), (f64::NAN, 1)] {
        assert_eq!(hold_out(dataset.clone(), share, 1).1.trajectories.len(), out, "{share}");
    }
    let one = hold_out(dataset, 1.0, 1).0;
    assert_eq!(hold_out(one, 0.5, 1).1.trajectories.len(), 0);
}

#[test]
fn errors_of_halves_are_those_of_the_linearisation_where_it_holds() {
    let (mut experiment, _) = swinging(2);
    experiment.starts = 1;
    let recordings = swings(&experiment.scene, 48, 40, 1.0, 9);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let mut fit = run(&experiment, &dataset);
    let told = |fit: &Fit| -> Vec<f64> {
        fit.parameters.iter().map(|p| p.standard_error.unwrap()).collect()
    };
    let linearised = told(&fit);
    let halves = |count: usize, threads: usize| {
        half_sampling(&experiment, &dataset, &fit, count, threads, &mut |_| true).unwrap()
    };
    let halves_of_two = halves(40, 2);
    assert_eq!(halves_of_two.values.len(), 40);
    // The first halves are the same, however many there are, on any number of threads.
    assert_eq!(halves(6, 1).values, halves_of_two.values[..6]);
    let correlation = fit.correlations[(0, 1)];
    fit.take_errors(&halves_of_two);
    for (one, other) in linearised.iter().zip(told(&fit)) {
        let ratio = other / one;
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{one} {other}");
    }
    // Of 20 pairs of halves, within 3 standard errors (Fisher's).
    let off = fit.correlations[(0, 1)].atanh() - correlation.atanh();
    assert!(off.abs() < 3.0 / 17.0_f64.sqrt(), "{} {correlation}", fit.correlations[(0, 1)]);
    // Too few for halves, or stopped at once: nothing.
    let few = Dataset::new(&experiment, dataset.trajectories[..3].to_vec()).unwrap();
    assert!(half_sampling(&experiment, &few, &fit, 4, 1, &mut |_| true).is_none());
    assert!(half_sampling(&experiment, &dataset, &fit, 4, 1, &mut |_| false).is_none());
}
