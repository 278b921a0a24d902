//! The place of the ground, and how soft contacts are, as parameters.

use approx::assert_relative_eq;
use stiction::ad::{Dual, LANES, Real};
use stiction::assemble::Description;
use stiction::identify::{
    Dataset, Experiment, FitStatus, FreeParameter, InitialState, Noise, Problem, fit,
};
use stiction::model::{HalfSpace, Parameters, Scene};
use stiction::simulation::Rollout;
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};

/// A ball that slides and then rolls on a plane with this normal, in which it is a little too deep.
fn scene(normal: [f64; 3]) -> Scene {
    let text = format!(
        "simulation = {{ time_step = 0.004, compliance = 1e-3 }}\n[[half_space]]\nname = \"floor\"\n\
         normal = {normal:?}\noffset = 0.1\n[[body]]\nname = \"ball\"\nmass = 0.2\n\
         shape = {{ sphere = 0.05 }}\nposition = [0, 0, 0.1499]\nvelocity = [0.5, 0.2, 0]\n\
         [[contact]]\nmu = 0.3\n"
    );
    Scene::parse(&text, "scene.toml").unwrap()
}

fn end<T: Real>(scene: &Scene, parameters: &Parameters<T>, steps: usize) -> State<T> {
    let system = scene.system_with(parameters);
    let inputs: Vec<T> = scene.inputs.iter().map(|&u| T::constant(u)).collect();
    let mut rollout = Rollout::new(system, scene.state.cast());
    rollout.advance(steps, &inputs);
    assert_eq!(rollout.report.unsolved, 0);
    rollout.state
}

fn slot(scene: &Scene, name: &str) -> usize {
    scene.model.parameter(name).unwrap().slots[0]
}

#[test]
fn the_ground_has_derivatives() {
    let scene = scene([0.0, 0.0, 1.0]);
    for name in ["floor/offset", "floor/tilt/x", "floor/tilt/y", "contact/relative_compliance"] {
        let slot = slot(&scene, name);
        // While the ball slides.
        for (at, steps) in [(0.0, 1), (1e-4, 12)] {
            let mut parameters = scene.parameters.clone();
            parameters.values[slot] += at;
            let mut dual = parameters.cast::<Dual<f64, LANES>>();
            dual.values[slot] = Dual::variable(parameters.values[slot], 0);
            let slopes = end(&scene, &dual, steps);
            let moved = |h: f64| {
                let mut parameters = parameters.clone();
                parameters.values[slot] += h;
                end(&scene, &parameters, steps)
            };
            let h = if name.starts_with("contact") { 1e-3 } else { 1e-6 };
            let (low, high) = (moved(-h), moved(h));
            let size = slopes.v.iter().map(|v| v.tangent[0].abs()).fold(0.0, f64::max);
            assert!(size > 1e-9, "{name}");
            for ((low, high), slope) in low.v.iter().zip(&high.v).zip(&slopes.v) {
                let difference = (high - low) / (2.0 * h);
                let error = (slope.tangent[0] - difference).abs();
                assert!(error < 1e-5 * size, "{name} {at}: {} {difference}", slope.tangent[0]);
            }
        }
    }
}

#[test]
fn tilting_is_turning_the_normal() {
    for normal in [[0.0, 0.0, 1.0], [0.1, -0.2, 1.0]] {
        let flat = scene(normal);
        let mut parameters = flat.parameters.clone();
        let [x, y] = ["floor/tilt/x", "floor/tilt/y"].map(|name| slot(&flat, name));
        let untilted = parameters.plane(&flat.model, 0);
        assert_eq!(untilted.normal, flat.model.half_spaces[0].normal);
        (parameters.values[x], parameters.values[y]) = (0.05, -0.03);
        parameters.values[slot(&flat, "contact/relative_compliance")] = 3.0;
        let tilted = parameters.plane(&flat.model, 0);
        assert_relative_eq!(tilted.normal.norm(), 1.0, epsilon = 1e-15);
        let angle = tilted.normal.dot(&untilted.normal).acos();
        assert_relative_eq!(angle, 0.05_f64.hypot(0.03), max_relative = 1e-9);
        // A level floor tilts about x and y.
        if normal == [0.0, 0.0, 1.0] {
            assert_eq!(
                flat.model.half_spaces[0].tilt_axes().map(<[f64; 3]>::from),
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
            );
            assert!(tilted.normal.y < 0.0 && tilted.normal.x < 0.0);
        }
        // The scene that has it from the start does the same.
        let described = Description::of(&flat, &parameters, "tilted.toml");
        assert_relative_eq!(described.settings.compliance, 3e-3, max_relative = 1e-12);
        let same = described.scene().unwrap();
        let (a, b) = (end(&flat, &parameters, 40), end(&same, &same.parameters, 40));
        assert_relative_eq!(a.q[..], b.q[..], epsilon = 1e-9);
    }
}

#[test]
fn axes_of_tilt_are_at_right_angles() {
    for normal in [[0.0, 0.0, 1.0], [0.6, -0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]] {
        let ground = HalfSpace { name: "floor".into(), normal: normal.into() };
        let [x, y] = ground.tilt_axes();
        assert_relative_eq!(x.cross(&y), ground.normal, epsilon = 1e-15);
        assert_relative_eq!(x.norm(), 1.0, epsilon = 1e-15);
    }
}

#[test]
fn a_tilt_is_found_in_a_recorded_slide() {
    let mut scene = scene([0.0, 0.0, 1.0]);
    let names = ["floor/tilt/x", "floor/tilt/y", "floor/offset"];
    let truth = [0.02, -0.04, 0.1003];
    for (name, truth) in names.iter().zip(truth) {
        let slot = slot(&scene, name);
        scene.parameters.values[slot] = truth;
    }
    let system = scene.system();
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut states = vec![scene.state.clone()];
    for _ in 0..60 {
        rollout.step(&scene.inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..=60).map(|k| k as f64 * 0.004).collect();
    let recorded = Recorded::all(&scene.model);
    let recording = Trajectory { name: "slide".into(), times, states, recorded };
    let parameters = names.map(|name| {
        let start = if name == "floor/offset" { 0.1 } else { 0.0 };
        FreeParameter::new(name, scene.model.parameter(name).unwrap(), start, [-0.2, 0.2])
    });
    let noise = Noise { position: 1e-3, rotation: 1e-2, velocity: None, angular_velocity: None };
    let mut experiment = Experiment::new("slide", scene, parameters.into(), noise);
    assert_eq!(experiment.initial_state, InitialState::Recorded);
    experiment.window = stiction::identify::WindowLength::Steps(6);
    let dataset = Dataset::new(&experiment, vec![recording]).unwrap();
    assert!(Problem::new(&experiment, &dataset, 1).cost(&truth) < 1e-12);
    let fit = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert_eq!(fit.status, FitStatus::Converged);
    for (found, truth) in fit.parameters.iter().zip(truth) {
        assert!((found.value - truth).abs() < 1e-6, "{found:?} {truth}");
    }
}

/// A belt and a shaker are bodies on joints that nothing they carry can hold up: what lies on one is dragged along, what lies on the other
/// moves with it or, where friction does not suffice, does not.
#[test]
fn grounds_that_move_are_heavy_bodies_on_joints() {
    let carried = |dt: f64, joint: &str, mu: f64, time: f64| {
        let text = format!(
            "[simulation]\ntime_step = {dt:?}
             [[body]]\nname = 'ground'\nmass = 1e8\ninertia = [1, 1, 1]\nshape = {{ box = [5, 1, 0.1] }}\nposition = [0, 0, -0.1]
             joint = {{ type = 'prismatic', axis = [1, 0, 0], {joint} }}
             [[body]]\nname = 'box'\nmass = 1\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]
             [[contact]]\nmu = {mu:?}"
        );
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        rollout.advance((time / dt).round() as usize, &scene.inputs);
        assert_eq!(rollout.report.unsolved, 0);
        [rollout.state.v[0], rollout.state.v[1]]
    };
    // v = mu g t, up to that of the belt.
    let [belt, box_] = carried(0.005, "v = [0.5]", 0.2, 0.1);
    assert!((belt - 0.5).abs() < 1e-8 && (box_ - 0.2 * 9.81 * 0.1).abs() < 1e-8, "{belt} {box_}");
    let [belt, box_] = carried(0.005, "v = [0.5]", 0.2, 0.5);
    assert!((belt - box_).abs() < 1e-8, "{belt} {box_}");
    // 3 cm at 2 Hz: 4.7 m/s^2 at most.
    let stiffness = 1e8 * (2.0 * std::f64::consts::PI * 2.0_f64).powi(2);
    let shaken = format!("q = [0.03], stiffness = {stiffness:?}");
    let [ground, box_] = carried(0.001, &shaken, 0.6, 0.4);
    assert!((ground - box_).abs() < 1e-8 && ground.abs() > 0.1, "{ground} {box_}");
    let [ground, box_] = carried(0.001, &shaken, 0.1, 0.4);
    assert!((ground - box_).abs() > 0.05, "{ground} {box_}");
}
