//! Learned terms from recordings.

use stiction::Scene;
use stiction::dynamics::StateForces;
use stiction::identify::{Dataset, Experiment, fit, learned_functions};
use stiction::simulation::Rollout;
use stiction::trajectory::{Recorded, Trajectory};

use crate::folder::Folder;
use crate::random::Random;
use crate::scenes::FLOOR;

/// A recording of a simulation, with noise.
fn recording(scene: &Scene, name: &str, steps: usize, noise: f64, random: &mut Random) -> String {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut states = vec![scene.state.clone()];
    for _ in 0..steps {
        rollout.step(&scene.inputs);
        states.push(rollout.state.clone());
    }
    for state in &mut states {
        for x in state.q.iter_mut().take(2) {
            *x += noise * (random.uniform(-1.0, 1.0) + random.uniform(-1.0, 1.0)) * 1.22;
        }
    }
    let dt = scene.settings.time_step;
    let times = (0..states.len()).map(|k| k as f64 * dt).collect();
    let recorded = Recorded::all(&scene.model);
    let trajectory = Trajectory { name: name.to_string(), times, states, recorded };
    let mut text = Vec::new();
    trajectory.write(&scene.model, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

const BOX: &str = "[simulation]
    time_step = 0.01
    [[body]]
    name = 'box'
    mass = 1
    shape = { box = [0.05, 0.05, 0.02] }
    position = [0, 0, 0.02]
    [[contact]]
    pair = 'floor-box'
    mu = 0.3
    [[learned]]
    name = 'patch'
    kind = 'friction'
    of = 'floor/x'
    on = 'floor-box'
    ";

/// Twelve slides over a floor whose friction is 0.2 before x = 0.5 m, and 0.5 behind it.
#[test]
fn a_patch_of_other_friction_is_found_where_slides_pass() {
    let folder = Folder::new("learned_patch");
    // mu = 0.3 exp(y), y from ln(2/3) to ln(5/3) by a step of width 5 cm.
    let (low, high) = ((2.0_f64 / 3.0).ln(), (5.0_f64 / 3.0).ln());
    let weights = format!("[20, -10, {}, {}]", (high - low) / 2.0, (high + low) / 2.0);
    let mut random = Random(8);
    for k in 0..12 {
        let start = -0.4 + 0.08 * k as f64;
        let text = format!("{BOX}layers = [1]\nweights = {weights}\n{FLOOR}");
        let text = text.replace(
            "position = [0, 0, 0.02]",
            &format!("position = [{start}, 0, 0.02]\nvelocity = [{}, 0, 0]", 1.6 + 0.06 * k as f64),
        );
        let scene = crate::scenes::scene(&text);
        let name = format!("slide_{k:02}.csv");
        folder.write(&name, &recording(&scene, &name, 60, 2e-4, &mut random));
    }
    folder.write("scene.toml", &format!("{BOX}layers = [6]\n{FLOOR}"));
    let experiment = folder.experiment(
        "scene = 'scene.toml'
        data = ['slide_*.csv']
        window = 20
        initial_state = 'recorded'
        max_iterations = 60
        profiles = false
        [noise]
        position = 0.0003
        rotation_deg = 0.5
        velocity = 0.002
        [[parameter]]
        name = 'patch/weights'",
    );
    let mut experiment: Experiment = experiment.unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    experiment.take_ranges(dataset.states());
    let fit = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    println!("{} {} {}", fit.status, fit.loss, fit.iterations);
    // The same on one thread.
    let alone = stiction::identify::fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert_eq!(fit.parameters, alone.parameters);
    let [function] = &learned_functions(&experiment, &dataset, &fit)[..] else { panic!() };
    assert_eq!(function.outputs, ["floor-box/mu"]);
    let truth =
        |x: f64| 0.3 * ((high - low) / 2.0 * (20.0 * x - 10.0).tanh() + (high + low) / 2.0).exp();
    let mut checked = 0;
    for (&x, &mu) in function.axes[0].iter().zip(&function.values[0]) {
        // Where slides pass, but for the edge, which a box of 10 cm smooths.
        if (-0.3..0.9).contains(&x) && (x - 0.5).abs() > 0.1 {
            assert!((mu - truth(x)).abs() < 0.02, "mu({x}) = {mu}, not {}", truth(x));
            checked += 1;
        }
    }
    assert!(checked > 50);
}

/// Weights that NumPy wrote are those of the torque of `examples/learned_cam`, in closed form.
#[test]
fn an_archive_of_numpy_has_the_torque_it_was_fitted_to() {
    let path = format!("{}/examples/learned_cam/true.toml", env!("CARGO_MANIFEST_DIR"));
    let scene = Scene::load(path).unwrap();
    let (mut forces, mut state) = (StateForces::default(), scene.state.clone());
    for k in 0..=380 {
        let q = -2.4 + 0.01 * f64::from(k);
        let lobe = |energy: f64, place: f64, width: f64| {
            let x = (q - place) / width;
            2.0 * energy * x / width * (-x * x).exp()
        };
        state.q[0] = q;
        forces.update(&scene.model, &scene.parameters, &state, &scene.inputs, 0.0);
        let expected = lobe(0.08, 0.6, 0.3) + lobe(-0.05, -0.7, 0.4);
        let found = forces.forces[0];
        assert!((found - expected).abs() < 1e-8, "{found} at {q}, not {expected}");
        // A turn further it is the same, and within the range but for turns.
        state.q[0] = q + std::f64::consts::TAU;
        forces.update(&scene.model, &scene.parameters, &state, &scene.inputs, 0.0);
        assert!((forces.forces[0] - found).abs() < 1e-12);
    }
    let mut term = scene.model.learned[0].clone();
    term.range = vec![[-1.0, 2.0]];
    for (q, beyond) in [(0.0, false), (2.1, true), (-1.1, true), (7.0, false), (-6.0, false)] {
        state.q[0] = q;
        assert_eq!(term.is_beyond(&state), beyond, "{q}");
    }
}
