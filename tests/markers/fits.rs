//! Fits of motions whose parameters are known.

use stiction::markers::MarkerExperiment;
use stiction::soft::SoftStart;

use super::{
    TRUTH, experiment, fit, is_exact, is_the_same_on_one_thread, load, record, tells, throw,
};
use crate::cases::count;
use crate::folder::Folder;
use crate::random::Random;
use crate::shared::shared;

#[test]
fn what_is_seen_without_noise_is_found_again() {
    let folder = Folder::new("markers-exact");
    record(&folder, 2, 0.0);
    let found =
        fit(&load(&folder, &experiment("iterations = 60\nstages = [0.08, 0.15, 0.2, 0.3]")), 2);
    is_exact(&found);
}

#[test]
fn truth_is_in_the_intervals_and_residuals_are_the_noise_on_any_number_of_threads() {
    let folder = Folder::new("markers-noise");
    let noise = 1e-3;
    record(&folder, 2, noise);
    let experiment = load(&folder, &experiment("stages = [0.08, 0.15, 0.2, 0.3]"));
    let found = fit(&experiment, 2);
    tells(&found, &TRUTH);
    assert!((found.loss[1] - 1.0).abs() < 0.15, "{:?}", found.loss);
    for distance in &found.distances {
        assert!((distance / (3.0_f64.sqrt() * noise) - 1.0).abs() < 0.2, "{distance}");
    }
    is_the_same_on_one_thread(&experiment, &found);
}

#[test]
fn what_no_recording_tells_has_no_interval() {
    let folder = Folder::new("markers-flight");
    record(&folder, 1, 1e-4);
    // In flight nothing is told of friction.
    let text = experiment("iterations = 8")
        .replace(super::PARAMETERS, "[[parameter]]\nname = 'floor-block/mu'\n");
    let file = folder.read("throw_0.csv");
    let flight: Vec<&str> = file.lines().take(8).collect();
    folder.write("throw_0.csv", &flight.join("\n"));
    let found = fit(&load(&folder, &text), 1);
    let number = &found.parameters[0];
    assert_eq!((number.value, number.interval), (0.35, None), "{number:?}");
}

/// In twelve frames it turns by more than half a turn.
#[test]
fn fast_spin_is_not_taken_for_slow_spin_the_other_way() {
    let folder = Folder::new("markers-spin");
    let start = SoftStart {
        position: [0.0, 0.0, 2.0],
        angular_velocity: [0.0, -60.0, 0.0],
        ..SoftStart::default()
    };
    throw(&folder, 0, start, 0.0, &mut Random(1));
    let text = experiment("iterations = 30")
        .replace(super::PARAMETERS, "[[parameter]]\nname = 'floor-block/mu'\n");
    let found = fit(&load(&folder, &text), 1);
    let spin = found.starts[0].angular_velocity;
    assert!((spin[1] + 60.0).abs() < 1e-6 && found.distances[0] < 1e-8, "{spin:?}");
}

/// Three throws by another program: what predicts one of them was found from the two others.
#[test]
fn two_throws_predict_a_third() {
    let Some(mesh) = shared("reference/add/meshes/sphere_r25mm_coarse.msh") else { return };
    let Some(throws) = shared("reference/add/throws") else { return };
    if count(2, 0.0) == 1 {
        return;
    }
    let folder = Folder::new("throws");
    folder.write("ball.msh", &std::fs::read_to_string(mesh).unwrap());
    for throw in ["a", "b", "c"] {
        let text = std::fs::read_to_string(throws.join(format!("throw_{throw}.csv"))).unwrap();
        folder.write(&format!("throw_{throw}.csv"), &text);
    }
    folder.write("scene.toml", THROWS);
    let columns: String =
        (1..=6).map(|k| format!("m{k} = ['m{k}x', 'm{k}y', 'm{k}z']\n")).collect();
    let parameters: String = [
        ("ball/lame_lambda", 2e4),
        ("ball/lame_mu", 1e4),
        ("ball/viscosity", 5.0),
        ("floor-ball/mu", 0.3),
        ("wall-ball/mu", 0.3),
    ]
    .map(|(name, start)| format!("[[parameter]]\nname = '{name}'\nstart = {start}\n"))
    .concat();
    let text = format!(
        "scene = 'scene.toml'\ndata = ['throw_a.csv', 'throw_b.csv']\nstages = [0.2, 0.45]\n\
         [noise]\nposition = 5.8e-4\n[columns]\n{columns}{parameters}"
    );
    let found = fit(&load(&folder, &text), 2);
    println!("{:#?} {:?} {:?}", found.parameters, found.loss, found.distances);
    // The third: its start alone, from its first 0.2 s, then as it goes on.
    let mut scene = found.scene.clone();
    let third = load(&folder, &text.replace("'throw_a.csv', 'throw_b.csv'", "'throw_c.csv'"));
    let held = MarkerExperiment { parameters: Vec::new(), scene: scene.clone(), ..third };
    let seen = fit(&held, 2);
    println!("{:?}", seen.distances);
    scene.bodies[0].start_at(seen.starts[0]);
    // Of uniform noise of 1 mm the root mean square is 1 mm in three axes.
    assert!(seen.distances[0] < 1.4e-3, "{:?}", seen.distances);
}

const THROWS: &str = "gravity = [0, 0, -9.81]
[simulation]
time_step = 0.0016666666666666668
integrator = 'bdf2'
solver = 'penalty_linear'
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[half_space]]
name = 'wall'
normal = [1, 0, 0]
[[soft]]
name = 'ball'
mesh = 'ball.msh'
density = 600.0
lame_lambda = 2e4
lame_mu = 1e4
viscosity = 5
markers = { m1 = [0.025, 0, 0], m2 = [-0.025, 0, 0], m3 = [0, 0.025, 0], m4 = [0, -0.025, 0], m5 = [0, 0, 0.025], m6 = [0, 0, -0.025] }
[[contact]]
mu = 0.3
stiffness = 1000
";

/// How a cable is pulled may have any sign, its stiffness not.
#[test]
fn numbers_that_lead_have_no_bounds() {
    let folder = Folder::new("identify-led");
    record(&folder, 1, 0.0);
    let cable = "[[cable]]\nname = 'line'\npoints = [{ marker = 'a' }, { world = [0, 0, 1] }]\nstiffness = 2\n\
                 times = [0, 1]\npull = [0.1, -0.1]\n";
    folder.write("scene.toml", &format!("{}\n{cable}", super::scene()));
    let more = "[[parameter]]\nname = 'line/pull_0'\n[[parameter]]\nname = 'line/pull_1'\nupper = 0.2\n\
                [[parameter]]\nname = 'line/stiffness'\n";
    let found = load(&folder, &format!("{}{more}", experiment("")));
    let [first, second, stiffness] = [4, 5, 6].map(|k| &found.parameters[k]);
    assert_eq!((first.start, first.lower, first.log), (0.1, f64::NEG_INFINITY, false));
    assert_eq!((second.start, second.lower, second.upper), (-0.1, f64::NEG_INFINITY, 0.2));
    assert_eq!((stiffness.start, stiffness.lower, stiffness.log), (2.0, 0.0, true));
}
