//! How far a result can be trusted: what is visible before anything is fitted, errors by phase, loss profiles,
//! comparisons, and which experiment tells most; against closed forms.

use approx::assert_relative_eq;
use nalgebra::{DMatrix, DVector, Matrix2};
use stiction::identify::{
    Candidate, Dataset, Design, Experiment, Fit, FreeParameter, Information, InitialState,
    Measurement, Noise, Observability, Others, PairedDifference, Phase, Prior, Resolution,
    Transform, Visibility, Walk, errors_by_phase, fit, initial_state, loss_profile, residuals,
};
use stiction::model::{Parameters, Scene};
use stiction::simulation::Rollout;
use stiction::trajectory::{Recorded, Trajectory};

use crate::scenes::FLOOR;

const NOISE: Noise =
    Noise { position: 0.001, rotation: 0.01, velocity: None, angular_velocity: None };

/// A flat box on, or above, a floor.
fn flat_box(body: &str, mu: f64, restitution: f64) -> Scene {
    let text = format!(
        "simulation.time_step = 0.005\n{FLOOR}[[body]]\nname = \"box\"\nmass = 0.4\nshape = {{ box = [0.1, 0.1, 0.02] }}\n{body}\n\
         [[contact]]\nmu = {mu}\nrestitution = {restitution}\n"
    );
    Scene::parse(&text, "scene.toml").unwrap()
}

const SLIDE: &str = "position = [0, 0, 0.02]\nvelocity = [1.5, 0, 0]";
const REST: &str = "position = [0, 0, 0.02]";
const DROP: &str = "position = [0, 0, 0.12]";

/// A cart on a rail that a damper slows down.
fn cart() -> Scene {
    let text = "simulation.time_step = 0.005\n[[body]]\nname = \"cart\"\nmass = 2\n\
                inertia = [0.01, 0.01, 0.01]\n\
                joint = { type = 'prismatic', axis = [1, 0, 0], v = 1, damping = 3 }\n";
    Scene::parse(text, "scene.toml").unwrap()
}

fn free(scene: &Scene, name: &str, start: f64, bounds: [f64; 2]) -> FreeParameter {
    FreeParameter::new(name, scene.model.parameter(name).unwrap(), start, bounds)
}

/// The motion of a scene for a second, with what is asked for at its own values.
fn planned(scene: Scene, parameters: Vec<FreeParameter>) -> (Experiment, Dataset) {
    let own = scene.parameters.clone();
    let experiment = Experiment::new("planned", scene, parameters, NOISE);
    let dataset = Dataset::planned(&experiment, &own, 1.0).unwrap();
    (experiment, dataset)
}

fn starts(experiment: &Experiment) -> Vec<f64> {
    experiment.parameters.iter().map(|p| p.start).collect()
}

fn observed(experiment: &Experiment, dataset: &Dataset) -> Observability {
    Observability::at(experiment, dataset, &starts(experiment), 2)
}

fn information(scene: Scene, parameters: Vec<FreeParameter>) -> Information {
    let (experiment, dataset) = planned(scene, parameters);
    Information::at(&experiment, &dataset, &starts(&experiment), 2)
}

fn mu(scene: &Scene) -> FreeParameter {
    free(scene, "floor-box/mu", 0.3, [0.01, 1.0])
}

fn restitution(scene: &Scene) -> FreeParameter {
    free(scene, "floor-box/restitution", 0.5, [0.0, 1.0])
}

#[test]
fn of_mass_and_damping_only_the_ratio_shows() {
    let scene = cart();
    let parameters = vec![
        free(&scene, "cart/mass", 2.0, [0.1, 10.0]),
        free(&scene, "cart/damping", 3.0, [0.1, 9.0]),
    ];
    let (experiment, dataset) = planned(scene, parameters);
    let seen = observed(&experiment, &dataset);
    assert!(!seen.is_complete());
    assert!(seen.parameters.iter().all(|p| p.visibility == Visibility::Combined));
    assert!(seen.parameters.iter().all(|p| p.standard_error.is_none() && p.alone < 0.1));
    let [combination] = seen.combinations.as_slice() else { panic!("{:?}", seen.combinations) };
    assert!(combination.in_shares);
    assert_eq!(combination.visible.as_deref(), Some("cart/mass / cart/damping"));
    assert_relative_eq!(combination.changes[1].1, 1.0, max_relative = 1e-4);
    assert!(combination.sentence.contains("only by their ratio"), "{}", combination.sentence);
    assert!(seen.singular_values[1] < 1e-4 * seen.singular_values[0]);

    // Known beforehand to 10 %, the mass is told by that, and the damping by both.
    let mut experiment = experiment;
    experiment.parameters[0].prior = Some(Prior { mean: 2.0, sd: 0.2 });
    let seen = observed(&experiment, &dataset);
    assert!(seen.is_complete(), "{:?}", seen.remarks);
    let error = |k: usize| seen.parameters[k].standard_error.unwrap();
    assert_relative_eq!(error(0), 0.2, max_relative = 1e-3);
    // 10 % of the damping, and next to nothing of the ratio.
    assert_relative_eq!(error(1), 0.3, max_relative = 0.02);
    assert_eq!(seen.combinations.len(), 1);
}

#[test]
fn of_friction_and_gravity_only_the_product_shows() {
    let scene = flat_box(SLIDE, 0.3, 0.0);
    let parameters = vec![mu(&scene), free(&scene, "gravity/z", -9.81, [-12.0, -5.0])];
    let (experiment, dataset) = planned(scene, parameters);
    let seen = observed(&experiment, &dataset);
    let [combination] = seen.combinations.as_slice() else { panic!("{:?}", seen.remarks) };
    assert_eq!(combination.visible.as_deref(), Some("floor-box/mu * gravity/z"));
    assert!(combination.sentence.contains("only by their product"), "{}", combination.sentence);
}

#[test]
fn a_pushed_box_shows_its_acceleration_only() {
    // a = F / m - mu g
    let scene = flat_box(&format!("{SLIDE}\nforce = [2, 0, 0]"), 0.3, 0.0);
    let parameters = vec![mu(&scene), free(&scene, "box/mass", 0.4, [0.1, 1.0])];
    let (experiment, dataset) = planned(scene, parameters);
    let seen = observed(&experiment, &dataset);
    let [combination] = seen.combinations.as_slice() else { panic!("{:?}", seen.remarks) };
    // d a = 0: mu g dln mu = -F / m dln m
    let share = -0.3 * 9.81 / (2.0 / 0.4);
    assert_eq!(combination.changes[0], ("floor-box/mu".to_string(), 1.0));
    assert_eq!(combination.changes[1].0, "box/mass");
    assert_relative_eq!(combination.changes[1].1, share, max_relative = 1e-3);
    assert_eq!(combination.visible.as_deref(), Some("floor-box/mu * box/mass^1.7"));
}

#[test]
fn without_a_push_the_mass_alone_leaves_no_trace() {
    let scene = flat_box(SLIDE, 0.3, 0.0);
    let parameters = vec![mu(&scene), free(&scene, "box/mass", 0.4, [0.1, 1.0])];
    let (experiment, dataset) = planned(scene, parameters);
    let seen = observed(&experiment, &dataset);
    assert_eq!(seen.parameters[0].visibility, Visibility::Visible);
    assert_eq!(seen.parameters[1].visibility, Visibility::Invisible);
    assert!(seen.combinations.is_empty() && !seen.is_complete());
    assert!(seen.remarks[0].contains("box/mass leaves no trace"), "{:?}", seen.remarks);
    // Seen so badly that its error is wider than its bounds.
    let mut blurred = experiment.clone();
    blurred.noise.position = 100.0;
    blurred.noise.rotation = 100.0;
    let seen = observed(&blurred, &dataset);
    assert_eq!(seen.parameters[0].visibility, Visibility::Weak);
    assert!(seen.parameters[0].standard_error.unwrap() > 0.99);
}

#[test]
fn three_that_scale_together_are_said_to_show_by_their_ratios() {
    let scene = Scene::parse(
        "simulation.time_step = 0.005\n[[body]]\nname = \"cart\"\nmass = 2\n\
         inertia = [0.01, 0.01, 0.01]\n\
         joint = { type = 'prismatic', axis = [1, 0, 0], v = 1, damping = 3, stiffness = 40 }\n",
        "scene.toml",
    )
    .unwrap();
    let parameters = ["mass", "damping", "stiffness"].map(|field| {
        let name = format!("cart/{field}");
        let slots = scene.model.parameter(&name).unwrap();
        let start = scene.parameters.values[slots.slots[0]];
        free(&scene, &name, start, [0.1, 100.0])
    });
    let (experiment, dataset) = planned(scene, parameters.into());
    let seen = observed(&experiment, &dataset);
    let [combination] = seen.combinations.as_slice() else { panic!("{:?}", seen.remarks) };
    assert!(combination.sentence.contains("only the ratios of"), "{}", combination.sentence);
    combination.changes.iter().for_each(|(_, x)| assert_relative_eq!(*x, 1.0, max_relative = 1e-3));
}

/// A body in flight over 0.3 s under gravity that is asked for in two directions.
fn flight() -> (Experiment, Dataset) {
    let scene = Scene::parse(
        "simulation.time_step = 0.01\n[[body]]\nname = \"ball\"\nmass = 1\n\
         shape = { sphere = 0.1 }\nvelocity = [1, 0, 2]\n",
        "scene.toml",
    )
    .unwrap();
    let parameters = vec![
        free(&scene, "gravity/x", 0.0, [-5.0, 5.0]),
        free(&scene, "gravity/z", -9.81, [-15.0, -5.0]),
    ];
    let own = scene.parameters.clone();
    let experiment = Experiment::new("flight", scene, parameters, NOISE);
    let dataset = Dataset::planned(&experiment, &own, 0.3).unwrap();
    (experiment, dataset)
}

#[test]
fn information_on_gravity_is_that_of_the_parabola() {
    let (experiment, dataset) = flight();
    let found = Information::at(&experiment, &dataset, &[0.0, -9.81], 1);
    // x_k = .. + g dt² k (k + 1) / 2, each to 1 mm
    let moves = |k: usize| 1e-4 * (k * (k + 1)) as f64 / 2.0;
    let expected: f64 = (1..=30).map(|k| (moves(k) / 0.001).powi(2)).sum();
    let expected = DMatrix::from_diagonal_element(2, 2, expected);
    assert_relative_eq!(found.recordings, expected, max_relative = 1e-9, epsilon = 1e-6);
    let resolution = Resolution::of(&found.unknowns, &found.recordings).unwrap();
    let error = expected[(0, 0)].sqrt().recip();
    assert_relative_eq!(resolution.errors[0].unwrap(), error, max_relative = 1e-9);
    let scale = experiment.parameters[0].scale;
    assert_relative_eq!(found.singular_values()[0], scale / error, max_relative = 1e-9);

    // With the start unknown, what a straight line can follow is lost.
    let mut experiment = experiment;
    experiment.initial_state = InitialState::Fitted;
    let found = Information::at(&experiment, &dataset, &[0.0, -9.81], 1);
    let column = DVector::from_fn(31, |k, _| moves(k) / 0.001);
    let line = DMatrix::from_fn(31, 2, |k, power| (k as f64).powi(power as i32));
    let q = line.qr().q();
    let left = &column - &q * q.tr_mul(&column);
    let expected = DMatrix::from_diagonal_element(2, 2, left.norm_squared());
    assert_relative_eq!(found.recordings, expected, max_relative = 1e-6, epsilon = 1e-3);
}

#[test]
fn information_and_errors_are_those_of_differences() {
    // Two pushes tell mass and friction apart.
    let scene = flat_box(&format!("{SLIDE}\nforce = [2, 0, 0]"), 0.3, 0.0);
    let parameters = vec![mu(&scene), free(&scene, "box/mass", 0.4, [0.1, 1.0])];
    let own = scene.parameters.clone();
    let mut experiment = Experiment::new("pushes", scene, parameters, NOISE);
    let mut recordings = Dataset::planned(&experiment, &own, 0.3).unwrap().trajectories;
    // Turning against the push, friction goes about.
    experiment.scene.state.v[1] = 1.0;
    recordings.extend(Dataset::planned(&experiment, &own, 0.3).unwrap().trajectories);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    assert_eq!(experiment.parameters[1].transform, Transform::Log);
    let found = Information::at(&experiment, &dataset, &[0.3, 0.4], 2);

    let measurement = Measurement::new(&experiment, &dataset);
    let all = |values: [f64; 2]| {
        let mut parameters = own.clone();
        experiment.parameters.iter().zip(values).for_each(|(p, x)| p.set(x, &mut parameters));
        let mut r = Vec::new();
        for window in &dataset.windows {
            let start = initial_state(&experiment, &dataset, window);
            residuals(&measurement, window, &parameters, &start, &mut r);
        }
        DVector::from_vec(r)
    };
    let h = 1e-5;
    let columns = [
        (all([0.3 + h, 0.4]) - all([0.3 - h, 0.4])) / (2.0 * h),
        (all([0.3, 0.4 + h]) - all([0.3, 0.4 - h])) / (2.0 * h),
    ];
    let expected = Matrix2::from_fn(|i, j| columns[i].dot(&columns[j]));
    for (found, expected) in found.recordings.iter().zip(expected.iter()) {
        assert_relative_eq!(found, expected, max_relative = 1e-5);
    }
    let covariance = expected.try_inverse().unwrap();
    let resolution = Resolution::of(&found.unknowns, &found.recordings).unwrap();
    for k in 0..2 {
        let error = covariance[(k, k)].sqrt();
        assert_relative_eq!(resolution.errors[k].unwrap(), error, max_relative = 1e-3);
    }
    assert_relative_eq!(resolution.covariance[(0, 1)], covariance[(0, 1)], max_relative = 1e-3);
}

#[test]
fn standard_errors_of_a_fit_count_the_unknown_start() {
    let (mut experiment, dataset) = flight();
    experiment.initial_state = InitialState::Fitted;
    let mut recordings = dataset.trajectories;
    for (frame, state) in recordings[0].states.iter_mut().enumerate() {
        state.q[0] += 0.001 * (1.7 * frame as f64).sin();
        state.q[2] += 0.001 * (2.3 * frame as f64).cos();
    }
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let fit = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    let count = (31 * 6) as f64;
    let variance = fit.loss * count / (count - 2.0);
    let found = Information::at(&experiment, &dataset, &[0.0, -9.81], 1);
    for (k, fitted) in fit.parameters.iter().enumerate() {
        let expected = (variance / found.recordings[(k, k)]).sqrt();
        assert_relative_eq!(fitted.standard_error.unwrap(), expected, max_relative = 1e-3);
    }
}

/// A fit that stays where it starts: at the truth.
fn fit_at_start(experiment: &Experiment, dataset: &Dataset) -> Fit {
    let mut experiment = experiment.clone();
    (experiment.starts, experiment.continuation) = (1, false);
    fit(&experiment, dataset, 2, &mut |_| true).unwrap()
}

#[test]
fn a_drop_goes_through_flight_impact_slide_and_rest() {
    let (mu_true, height, speed) = (0.2, 0.2_f64, 1.0_f64);
    let body = format!("position = [0, 0, {}]\nvelocity = [{speed}, 0, 0]", 0.02 + height);
    let scene = flat_box(&body, mu_true, 0.0);
    let parameters = vec![free(&scene, "floor-box/mu", mu_true, [0.01, 1.0])];
    let (experiment, dataset) = planned(scene, parameters);
    let mut fit = fit_at_start(&experiment, &dataset);
    assert!(fit.loss < 1e-12, "{}", fit.loss);
    let found = errors_by_phase(&experiment, &dataset, &fit, 2);
    let names: Vec<Phase> = found.iter().map(|errors| errors.phase).collect();
    assert_eq!(names, [Phase::Flight, Phase::Impact, Phase::Slide, Phase::Rest]);
    assert_eq!(found.iter().map(|errors| errors.frames).sum::<usize>(), 200);
    let frames = |phase: Phase| {
        found.iter().find(|errors| errors.phase == phase).map_or(0, |errors| errors.frames) as f64
    };
    let falls = (2.0 * height / 9.81).sqrt();
    assert!((frames(Phase::Flight) - falls / 0.005).abs() <= 2.0);
    assert!(frames(Phase::Impact) <= 2.0);
    // The impact takes mu times the velocity it stops.
    let slides = (speed - mu_true * 9.81 * falls) / (mu_true * 9.81);
    assert!((frames(Phase::Slide) - slides / 0.005).abs() <= 4.0, "{found:?}");

    // With wrong friction, flight is as exact as before: what is off comes after it.
    let name = "floor-box/mu";
    let slot = experiment.scene.model.parameter(name).unwrap().slots[0];
    fit.identified.values[slot] = 0.25;
    let found = errors_by_phase(&experiment, &dataset, &fit, 1);
    assert!(found[0].square_sum < 1e-12 && found[0].phase == Phase::Flight);
    let [slide, rest] = [Phase::Slide, Phase::Rest]
        .map(|phase| found.iter().find(|errors| errors.phase == phase).unwrap());
    assert!(slide.mean_square() > 1.0 && rest.mean_square() > slide.mean_square());
    assert_relative_eq!(found.iter().map(|errors| errors.share).sum::<f64>(), 1.0, epsilon = 1e-12);
    // At rest, it is short by the difference of the ways: the mean distance of those frames.
    let way = |mu: f64| (speed - mu * 9.81 * falls).powi(2) / (2.0 * mu * 9.81);
    assert_relative_eq!(rest.position.unwrap(), way(0.2) - way(0.25), max_relative = 0.1);
}

#[test]
fn rebounds_and_rolling_have_phases_of_their_own() {
    let ball = |body: &str| {
        let text = format!(
            "simulation.time_step = 0.005\n{FLOOR}[[body]]\nname = \"box\"\nmass = 0.2\nshape = {{ sphere = 0.05 }}\n{body}\n\
             [[contact]]\nmu = 0.5\nrestitution = 0.8\n"
        );
        Scene::parse(&text, "scene.toml").unwrap()
    };
    let phases = |scene: Scene| {
        let parameters = vec![free(&scene, "floor-box/mu", 0.5, [0.01, 1.0])];
        let (experiment, dataset) = planned(scene, parameters);
        let fit = fit_at_start(&experiment, &dataset);
        errors_by_phase(&experiment, &dataset, &fit, 2)
    };
    let found = phases(ball("position = [0, 0, 0.25]\nvelocity = [0.5, 0, 0]"));
    let names: Vec<Phase> = found.iter().map(|errors| errors.phase).collect();
    assert_eq!(names[..3], [Phase::Flight, Phase::Impact, Phase::FlightAfterContact]);
    // v = w x r: it rolls from the start.
    let rolls = "position = [0, 0, 0.05]\nvelocity = [0.5, 0, 0]\nangular_velocity = [0, 10, 0]";
    let found = phases(ball(rolls));
    assert_eq!(found.iter().map(|e| (e.phase, e.frames)).collect::<Vec<_>>(), [(Phase::Roll, 200)]);
}

/// Slides in both directions on a floor that may be tilted, as they are but for a ripple in the record.
pub(super) fn rippled() -> (Experiment, Dataset) {
    sliding(0.001)
}

/// The same without noise.
pub(super) fn exact() -> (Experiment, Dataset) {
    sliding(0.0)
}

/// Three slides with ripples of this height, m.
fn sliding(ripple: f64) -> (Experiment, Dataset) {
    let scene = flat_box(SLIDE, 0.3, 0.0);
    let parameters = vec![mu(&scene), free(&scene, "gravity/x", 0.0, [-2.0, 2.0])];
    let mut experiment = Experiment::new("slides", scene, parameters, NOISE);
    (experiment.starts, experiment.continuation) = (1, false);
    let mut recordings = Vec::new();
    for (k, speed) in [1.5, -1.2, 1.0].into_iter().enumerate() {
        experiment.scene.state.v[0] = speed;
        let mut recording = record(&experiment.scene, 40);
        for (frame, state) in recording.states.iter_mut().enumerate().skip(1) {
            state.q[0] += ripple * (1.7 * frame as f64 + k as f64).sin();
        }
        recordings.push(recording);
    }
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    (experiment, dataset)
}

fn record(scene: &Scene, steps: usize) -> Trajectory {
    let Scene { model, state, settings, inputs, .. } = scene;
    let mut rollout = Rollout::new(scene.system(), state.clone());
    let mut states = vec![state.clone()];
    for _ in 0..steps {
        rollout.step(inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..=steps).map(|k| k as f64 * settings.time_step).collect();
    Trajectory { name: "slide".into(), times, states, recorded: Recorded::all(model) }
}

#[test]
fn profiles_have_their_minimum_at_the_result() {
    let (experiment, dataset) = rippled();
    let fit = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    let count = (3 * 40 * 6) as f64;
    for parameter in 0..2 {
        let fitted = &fit.parameters[parameter];
        let error = fitted.standard_error.unwrap();
        let profile = |others| {
            let walk = Walk { others, ..Walk::along(&experiment, &fit, parameter).unwrap() };
            loss_profile(&experiment, &dataset, &fit, walk, 2).unwrap()
        };
        let (held, anew) = (profile(Others::Held), profile(Others::Fitted));
        for profile in [&held, &anew] {
            assert!(profile.values.is_sorted() && profile.values.len() == 21);
            let least = (0..21).min_by(|a, b| profile.loss[*a].total_cmp(&profile.loss[*b]));
            let middle = profile.values.iter().position(|x| *x == fitted.value).unwrap();
            assert_eq!(least, Some(middle));
            assert_eq!(profile.loss[middle], fit.loss);
            assert_relative_eq!(profile.values[20], fitted.value + 4.0 * error, epsilon = 1e-12);
        }
        // Fitted anew, the sum of squares rises by z² variances at z standard errors.
        let rise = (anew.loss[20] - fit.loss) * count;
        let variance = fit.loss * count / (count - 2.0);
        assert_relative_eq!(rise, 16.0 * variance, max_relative = 0.05);
        // Held, by at least as much.
        assert!(held.loss.iter().zip(&anew.loss).all(|(h, a)| *h >= a * (1.0 - 1e-9)));
    }
}

#[test]
fn profiles_end_at_bounds_and_fixed_parameters_have_none() {
    let (mut experiment, dataset) = rippled();
    experiment.parameters[0].upper = 0.3 + 1e-4;
    experiment.parameters[1].fixed = true;
    let fit = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    let along = |parameter| {
        let walk = Walk { parameter, ..Walk::along(&experiment, &fit, 0).unwrap() };
        loss_profile(&experiment, &dataset, &fit, walk, 1)
    };
    let profile = along(0).unwrap();
    assert!(*profile.values.last().unwrap() <= 0.3 + 1e-4);
    assert_eq!(along(1), None);
    assert_eq!(along(2), None);
}

#[test]
fn paired_differences_are_those_by_hand() {
    let pairs = PairedDifference::new(&[1.0, 2.0, 3.0, 4.0], &[0.5, 2.0, 2.0, 5.0]).unwrap();
    assert_eq!((pairs.before, pairs.now, pairs.difference), (2.5, 2.375, -0.125));
    assert_eq!((pairs.better, pairs.worse, pairs.count), (2, 1, 4));
    // Squares about the mean: (0.375² + 0.125² + 0.875² + 1.125²) / 3 / 4
    let error = (2.1875_f64 / 12.0).sqrt();
    assert_relative_eq!(pairs.standard_error.unwrap(), error, max_relative = 1e-14);
    assert!(!pairs.is_significant());
    let sentence = pairs.sentence("position", "%");
    assert_eq!(
        sentence,
        "position error 2.375 % instead of 2.500 %: 0.125 +- 0.427 % less, which may be chance (less in 2 of 4 \
         recordings, more in 1)"
    );
    // What all recordings share drops out, however hard they are.
    let hard = [10.0, 200.0, 3000.0];
    let pairs = PairedDifference::new(&hard, &hard.map(|x| x + 1.0 + 1e-3 * (x % 7.0))).unwrap();
    assert!(pairs.is_significant() && pairs.worse == 3);
    assert!(pairs.sentence("rotation", "degrees").contains("worse by 1.00"));
    let same = PairedDifference::new(&hard, &hard).unwrap();
    assert!(!same.is_significant() && same.sentence("position", "%").contains("the same in all 3"));
    assert_eq!(PairedDifference::new(&[1.0], &[2.0]).unwrap().standard_error, None);
    assert_eq!(PairedDifference::new(&[1.0], &[2.0, 3.0]), None);
    assert_eq!(PairedDifference::new(&[], &[]), None);
    assert_eq!(PairedDifference::new(&[f64::NAN], &[1.0]), None);
}

/// Candidates for friction and restitution: a box at rest, one that slides, one that drops.
fn candidates() -> Vec<Candidate> {
    [("rest", REST), ("slide", SLIDE), ("drop", DROP)]
        .map(|(name, body)| {
            let scene = flat_box(body, 0.3, 0.5);
            let parameters = vec![mu(&scene), restitution(&scene)];
            Candidate { name: name.to_string(), information: information(scene, parameters) }
        })
        .into()
}

#[test]
fn a_slide_tells_friction_and_a_drop_restitution() {
    let candidates = candidates();
    let order = |chosen: &[&str]| -> Vec<usize> {
        Design::ranking(&candidates, chosen).iter().map(|d| d.candidates[0]).collect()
    };
    assert_eq!(order(&["floor-box/mu"])[0], 1);
    assert_eq!(order(&["floor-box/restitution"])[0], 2);
    let rest = Design::of(&candidates, &[0], &["floor-box/mu"]);
    assert_eq!((rest.open, rest.log_determinant, rest.standard_errors), (1, None, vec![None]));
    assert_eq!(rest.reasons, ["floor-box/mu leaves no trace"]);

    // Neither tells both; together they do, each its own.
    let both = ["floor-box/mu", "floor-box/restitution"];
    assert!(Design::ranking(&candidates, &both).iter().all(|design| design.open > 0));
    let pair = Design::best_pair(&candidates, &both).unwrap();
    assert_eq!((pair.candidates.as_slice(), pair.open), ([1, 2].as_slice(), 0));
    let sum = &candidates[1].information.recordings + &candidates[2].information.recordings;
    let scale = |k: usize| candidates[0].information.unknowns[k].scale;
    let determinant = sum.determinant() * (scale(0) * scale(1)).powi(2);
    assert_relative_eq!(pair.log_determinant.unwrap(), determinant.ln(), max_relative = 1e-9);
    let covariance = sum.try_inverse().unwrap();
    for k in 0..2 {
        let error = covariance[(k, k)].sqrt();
        assert_relative_eq!(pair.standard_errors[k].unwrap(), error, max_relative = 1e-9);
    }
}

#[test]
fn a_nuisance_is_eliminated_and_named_as_the_reason() {
    let cart = |parameters: &[(&str, f64)]| {
        let scene = cart();
        let parameters = parameters
            .iter()
            .map(|(name, start)| free(&scene, name, *start, [0.1, 10.0]))
            .collect();
        Candidate { name: "cart".into(), information: information(scene, parameters) }
    };
    let known = cart(&[("cart/damping", 3.0)]);
    let unknown = cart(&[("cart/damping", 3.0), ("cart/mass", 2.0)]);
    let chosen = ["cart/damping"];
    let ranking = Design::ranking(&[unknown, known], &chosen);
    assert_eq!(ranking[0].candidates, [1]);
    assert_eq!((ranking[1].open, ranking[1].log_determinant), (1, None));
    assert!(ranking[1].reasons[0].contains("only by their ratio"), "{:?}", ranking[1].reasons);
}

#[test]
fn a_planned_motion_has_the_frames_it_should() {
    let scene = flat_box(SLIDE, 0.3, 0.0);
    let parameters = vec![mu(&scene)];
    let own: Parameters<f64> = scene.parameters.clone();
    let mut experiment = Experiment::new("plan", scene, parameters, NOISE);
    experiment.substeps = Some(2);
    let dataset = Dataset::planned(&experiment, &own, 0.5).unwrap();
    assert_eq!((dataset.trajectories[0].states.len(), dataset.substeps), (51, 2));
    let motion = record(&experiment.scene, 100);
    assert_eq!(dataset.trajectories[0].states[50], motion.states[100]);
    for duration in [0.0, -1.0, f64::NAN, 1e9] {
        let message = Dataset::planned(&experiment, &own, duration).unwrap_err().to_string();
        assert!(message.contains("frames") || message.contains("1 to"), "{message}");
    }
}
