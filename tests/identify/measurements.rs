//! Recordings as they are: values that are missing, uneven times, markers, sensors that are late or off.

use std::fmt::Write;

use approx::assert_relative_eq;
use nalgebra::Vector3;
use stiction::identify::{
    Dataset, Experiment, FitStatus, InitialState, LeastSquares, Problem, RobustLoss, evaluate, fit,
    initial_state, misfits, outliers,
};
use stiction::model::{Model, Scene, System};
use stiction::simulation::Rollout;
use stiction::spatial::{exp, rotation_matrix};
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};

use crate::columns::LINKS;
use crate::folder::Folder;
use crate::scene::assert_message;
use crate::scenes::scene;

/// A ball that goes straight on and spins evenly: a motion that is known at any time.
const EVEN: &str = r#"gravity = [0, 0, 0]
simulation.time_step = 0.01
[[body]]
name = "ball"
mass = 0.3
inertia = 2e-4
shape = { sphere = 0.05 }
position = [0.1, -0.2, 0.5]
velocity = [0.6, 0.3, -0.2]
angular_velocity = [1, -4, 2]
"#;

/// The pose of the ball at a time: position and quaternion.
fn pose(t: f64) -> ([f64; 3], [f64; 4]) {
    let at = |x: f64, v: f64| x + v * t;
    let turn = exp([1.0, -4.0, 2.0].map(|w| w * t).into());
    ([at(0.1, 0.6), at(-0.2, 0.3), at(0.5, -0.2)], turn)
}

/// A point of the ball in the world.
fn point(t: f64, local: [f64; 3]) -> [f64; 3] {
    let (position, turn) = pose(t);
    let arm = rotation_matrix(turn) * Vector3::from(local);
    [0, 1, 2].map(|k| position[k] + arm[k])
}

/// Rows of the ball's pose, without velocities; fields that `missing` names (row, column) are empty or nan.
fn poses(times: &[f64], missing: impl Fn(usize, usize) -> bool) -> String {
    let mut text = String::from("t,px,py,pz,qw,qx,qy,qz\n");
    for (row, &t) in times.iter().enumerate() {
        let (p, q) = pose(t);
        write!(text, "{t}").unwrap();
        for (column, x) in p.iter().chain(&q).enumerate() {
            match (missing(row, column), (row + column) % 2) {
                (false, _) => write!(text, ",{x}").unwrap(),
                (true, 0) => text.push(','),
                (true, _) => text.push_str(",NaN"),
            }
        }
        text.push('\n');
    }
    text
}

fn even(frames: usize, interval: f64) -> Vec<f64> {
    (0..frames).map(|k| k as f64 * interval).collect()
}

#[test]
fn what_is_missing_stands_between_what_is_there() {
    let model = scene(EVEN).model;
    let times = even(30, 0.02);
    // Positions missing at their own times, an orientation in part, which is missing as a whole then.
    let gone = |row: usize, column: usize| match column {
        0 => (5..9).contains(&row),
        1 => row % 3 == 1,
        4 => row == 12 || row == 13,
        _ => false,
    };
    let read = Trajectory::parse(&poses(&times, gone), "motion.csv", &model).unwrap();
    assert!(read.recorded.has_gaps());
    for (row, (state, &t)) in read.states.iter().zip(&times).enumerate() {
        // The motion is even, so what lies between is where the ball was.
        let (p, q) = pose(t);
        assert_relative_eq!(state.position(0).as_slice(), &p[..], epsilon = 1e-12);
        let dot: f64 = (0..4).map(|k| state.orientation(0)[k] * q[k]).sum();
        assert_relative_eq!(dot.abs(), 1.0, epsilon = 1e-12);
        assert_relative_eq!(state.velocity(0).as_slice(), &[0.6, 0.3, -0.2][..], epsilon = 1e-9);
        let known = read.recorded.at(row);
        let expected: Vec<bool> =
            (0..7).map(|k| !(gone(row, k) || k >= 3 && gone(row, 4))).collect();
        assert_eq!((0..7).map(|k| known.q(k)).collect::<Vec<_>>(), expected);
        let joint = &model.bodies[0].joint;
        // A difference needs both ends.
        let both = !gone(row, 0) && (row == 0 || !gone(row - 1, 0));
        assert_eq!(
            (known.configuration(joint, 0), known.velocity(joint, 0)),
            (!gone(row, 0), both)
        );
    }
    // Written and read again.
    let mut text = Vec::new();
    read.write(&model, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.lines().nth(6).unwrap().contains(",,"), "{text}");
    assert_eq!(Trajectory::parse(&text, "motion.csv", &model).unwrap(), read);
    // Nowhere measured is not recorded; the first and the last are as the nearest.
    let gone = |row: usize, column: usize| column == 2 || column == 0 && !(3..27).contains(&row);
    let read = Trajectory::parse(&poses(&times, gone), "motion.csv", &model).unwrap();
    assert_eq!(read.recorded.q, [true, true, false, true, true, true, true]);
    assert_eq!(read.first_complete(), 3);
    assert_eq!(read.states[0].q[0], read.states[3].q[0]);
    assert_eq!(read.states[29].q[0], read.states[26].q[0]);
    // What is infinite is still refused, and times are never missing.
    for (passage, replacement, place, says) in [
        ("\n0.02,", "\n,", "motion.csv:3: t", "number"),
        ("0.1,-0.2", "inf,-0.2", "motion.csv:2: px", "finite"),
    ] {
        let text = poses(&times, |_, _| false).replacen(passage, replacement, 1);
        let error = Trajectory::parse(&text, "motion.csv", &model).unwrap_err();
        assert_message(&error.to_string(), place, says);
    }
}

/// The motion of the links, `frames` of them, every second step.
fn links(frames: usize) -> (Scene, Trajectory) {
    let scene = scene(LINKS);
    let Scene { model, state, inputs, .. } = &scene;
    let mut rollout = Rollout::new(scene.system(), state.clone());
    let mut states = vec![state.clone()];
    for _ in 1..frames {
        rollout.advance(2, inputs);
        states.push(rollout.state.clone());
    }
    let times = even(frames, 0.01);
    let recorded = Recorded::all(model);
    let trajectory = Trajectory { name: "motion.csv".to_string(), times, states, recorded };
    (scene, trajectory)
}

const DAMPING: &str =
    "[[parameter]]\nname = \"link2/damping\"\nstart = 1e-3\nlower = 0\nupper = 1e-2\n";

/// An experiment with the links, as a file says it.
fn links_experiment(name: &str, fields: &str, tables: &str) -> Result<Experiment, String> {
    let folder = Folder::new(name);
    folder.write("scene.toml", LINKS);
    folder.write("motion.csv", "");
    let head = "scene = \"scene.toml\"\ndata = [\"motion.csv\"]\n";
    folder.experiment(&format!("{head}{fields}\n{DAMPING}{tables}\n"))
}

fn finds_damping(experiment: &Experiment, dataset: &Dataset) {
    let fit = fit(experiment, dataset, 1, &mut |_| true).unwrap();
    assert_eq!(fit.status, FitStatus::Converged);
    assert_relative_eq!(fit.parameters[0].value, 2e-3, max_relative = 1e-7);
}

#[test]
fn what_is_missing_has_no_residual() {
    for (mode, initial_state) in
        [("recorded", InitialState::Recorded), ("fitted", InitialState::Fitted)]
    {
        let fields = format!("initial_state = {mode:?}");
        let noise = "[noise]\nposition = 1e-3\nrotation_deg = 0.5\nvelocity = 0.1";
        let mut experiment = links_experiment(&format!("gaps-{mode}"), &fields, noise).unwrap();
        assert_eq!(experiment.initial_state, initial_state);
        experiment.continuation = false;
        let (_, mut trajectory) = links(40);
        let whole = Dataset::new(&experiment, vec![trajectory.clone()]).unwrap();
        let count = Problem::new(&experiment, &whole, 1).residual_count();
        let frames = if initial_state == InitialState::Fitted { 40 } else { 39 };
        assert_eq!(count, frames * (7 + 3));
        // Wrong numbers stand where it is said that there are none.
        for frame in [7, 8, 20] {
            trajectory.recorded.lose_configuration(frame, 7);
            trajectory.states[frame].q[7] = 50.0;
        }
        for k in 3..7 {
            trajectory.recorded.lose_configuration(30, k);
            trajectory.states[30].q[k] = 0.5;
        }
        trajectory.recorded.lose_velocity(11, 1);
        trajectory.states[11].v[1] = -30.0;
        let dataset = Dataset::new(&experiment, vec![trajectory.clone()]).unwrap();
        let mut problem = Problem::new(&experiment, &dataset, 1);
        assert_eq!(problem.residual_count(), count - 3 - 3 - 1);
        let x = problem.space.start();
        assert!(problem.cost(&x).is_finite());
        if initial_state == InitialState::Recorded {
            assert!(problem.cost(&[2e-3]) < 1e-18, "{:e}", problem.cost(&[2e-3]));
            let errors = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
            assert!(
                errors.position_error_percent.unwrap() < 1e-9
                    && errors.rotation_error_deg.unwrap() < 1e-9
            );
            assert_eq!(errors.trajectories[0].frames, 40);
        }
        finds_damping(&experiment, &dataset);
        // Without its first frames a recording starts where it is complete.
        for frame in 0..4 {
            trajectory.recorded.lose_configuration(frame, 7);
            trajectory.states[frame].q[7] = 50.0;
        }
        let dataset = Dataset::new(&experiment, vec![trajectory]).unwrap();
        assert_eq!((dataset.windows[0].first, dataset.windows[0].steps), (4, 35));
        finds_damping(&experiment, &dataset);
        let errors = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
        assert!(
            errors.position_error_percent.unwrap() < 1e-9
                && errors.rotation_error_deg.unwrap() < 1e-9
        );
    }
}

#[test]
fn frames_may_come_at_any_time() {
    // Frames that fell out: those that are left are ends of steps.
    let experiment = links_experiment("uneven", "", "").unwrap();
    let (_, mut trajectory) = links(60);
    let keep = |k: usize| k < 3 || !k.is_multiple_of(7) && k % 5 != 2;
    let kept: Vec<usize> = (0..60).filter(|&k| keep(k)).collect();
    trajectory.times = kept.iter().map(|&k| trajectory.times[k]).collect();
    trajectory.states = kept.iter().map(|&k| trajectory.states[k].clone()).collect();
    let dataset = Dataset::new(&experiment, vec![trajectory.clone()]).unwrap();
    assert!(!dataset.even && dataset.settings.time_step == 0.005);
    assert_eq!(dataset.simulated_steps(&dataset.windows[0]), 2 * 59);
    let mut problem = Problem::new(&experiment, &dataset, 1);
    assert!(problem.cost(&[2e-3]) < 1e-18, "{:e}", problem.cost(&[2e-3]));
    finds_damping(&experiment, &dataset);
    // In windows, too.
    let experiment = links_experiment("uneven-windows", "window = 4", "").unwrap();
    let dataset = Dataset::new(&experiment, vec![trajectory.clone()]).unwrap();
    finds_damping(&experiment, &dataset);
    // There is no number of steps between them.
    let experiment = links_experiment("uneven-substeps", "substeps = 2", "").unwrap();
    let error = Dataset::new(&experiment, vec![trajectory]).unwrap_err().to_string();
    assert!(error.contains("experiment.toml:3: substeps: has no meaning"), "{error}");
    assert!(error.contains("motion.csv:3 comes"), "{error}");
}

#[test]
fn states_within_a_step_lie_on_the_way() {
    // At no time the end of a step.
    let folder = Folder::new("within");
    folder.write("scene.toml", EVEN);
    let times: Vec<f64> =
        (0..25).map(|k| 0.0173 * k as f64 + 0.004 * (k as f64 * 1.7).sin()).collect();
    folder.write("motion.csv", &poses(&times, |_, _| false));
    let experiment = folder
        .experiment(
            "scene = \"scene.toml\"\ndata = [\"motion.csv\"]\n[[parameter]]\nname = \"ball/mass\"\nstart = 0.3\n",
        )
        .unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    assert!(!dataset.even);
    let mut dataset = dataset;
    dataset.trajectories[0].states[0].v = vec![0.6, 0.3, -0.2, 1.0, -4.0, 2.0];
    let errors = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
    assert!(errors.position_error_percent.unwrap() < 1e-10, "{errors:?}");
    assert!(errors.rotation_error_deg.unwrap() < 1e-10, "{errors:?}");
}

const TIP: [f64; 3] = [0.02, -0.03, 0.04];

/// What is true in the recording of `sensed`.
const TRUTH: [(&str, f64); 7] = [
    ("camera/delay", 0.0137),
    ("camera/bias/x", 0.005),
    ("camera/position/x", 0.02),
    ("camera/position/y", -0.03),
    ("camera/position/z", 0.04),
    ("height/delay", -0.0062),
    ("height/gain", 0.9),
];

/// An experiment with the ball, a marker on it that is seen late, and a height that is off and early.
fn sensed(name: &str, times: &[f64], initial_state: &str) -> (Experiment, Dataset) {
    let folder = Folder::new(name);
    folder.write("scene.toml", EVEN);
    let mut text = String::new();
    for (row, line) in poses(times, |_, _| false).lines().enumerate() {
        if row == 0 {
            writeln!(text, "{line},mx,my,mz,h").unwrap();
            continue;
        }
        let t = times[row - 1];
        let marker = point(t - 0.0137, TIP);
        write!(text, "{line}").unwrap();
        for (k, x) in marker.iter().enumerate() {
            // Seen now and then only.
            match (row * 5 + k) % 7 {
                0 => text.push(','),
                _ => write!(text, ",{}", x + if k == 0 { 0.005 } else { 0.0 }).unwrap(),
            }
        }
        writeln!(text, ",{}", 0.9 * pose(t + 0.0062).0[2] - 0.1).unwrap();
    }
    folder.write("motion.csv", &text);
    let mut file = format!(
        "scene = \"scene.toml\"\ndata = [\"motion.csv\"]\ninitial_state = {initial_state:?}\n\
         [[sensor]]\nname = \"camera\"\nmarker = \"ball\"\nposition = [0.01, 0.01, 0.01]\n\
         columns = [\"mx\", \"my\", \"mz\"]\nnoise = 1e-3\n\
         [[sensor]]\nname = \"height\"\nreads = [\"ball/pz\"]\ncolumns = [\"h\"]\nnoise = 2e-3\nbias = [-0.1]\n"
    );
    for (name, truth) in TRUTH {
        let start = truth + 0.004;
        write!(file, "[[parameter]]\nname = {name:?}\nstart = {start}\n").unwrap();
        if name.ends_with("delay") {
            file += "lower = -0.03\nupper = 0.03\n";
        }
    }
    file += "[truth]\n\"height/gain\" = 0.9\n";
    let experiment = folder.experiment(&file).unwrap();
    let mut dataset = Dataset::load(&experiment).unwrap();
    if initial_state == "recorded" {
        let v = vec![0.6, 0.3, -0.2, 1.0, -4.0, 2.0];
        dataset.trajectories[0].states[0].v.clone_from(&v);
    }
    (experiment, dataset)
}

#[test]
fn delays_gains_biases_and_places_of_markers_are_found() {
    let uneven: Vec<f64> = (0..40).map(|k| 0.02 * k as f64 + 0.006 * (k as f64).sin()).collect();
    for (name, times) in [("even", even(40, 0.02)), ("uneven", uneven)] {
        let (experiment, dataset) = sensed(&format!("sensed-{name}"), &times, "recorded");
        assert_eq!(dataset.even, name != "uneven");
        assert_eq!(experiment.truth["height/gain"], 0.9);
        let fit = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
        assert!(fit.loss < 1e-12, "{name}: {:e} {:?}", fit.loss, fit.warnings);
        for (found, (parameter, truth)) in fit.parameters.iter().zip(TRUTH) {
            assert_eq!(found.name, parameter);
            assert!((found.value - truth).abs() < 1e-7, "{name}: {found:?} {truth}");
        }
    }
}

#[test]
fn slopes_of_what_sensors_read() {
    let times: Vec<f64> = (0..25).map(|k| 0.02 * k as f64 + 0.006 * (k as f64).sin()).collect();
    for (initial_state, times) in [("fitted", even(25, 0.02)), ("recorded", times)] {
        let (experiment, dataset) =
            sensed(&format!("slopes-{initial_state}"), &times, initial_state);
        let mut problem = Problem::new(&experiment, &dataset, 1);
        // Within steps, whose ends are kinks.
        let x: Vec<f64> = TRUTH.iter().map(|(_, truth)| truth + 0.0021).collect();
        problem.hold_initial = true;
        let count = problem.residual_count();
        let cost = problem.linearize(&x);
        assert!(cost > 1.0 && count > 200, "{cost} {count}");
        let (_, g) = problem.normal_equations();
        let (_, reverse) = problem.gradient(&x).unwrap();
        for k in 0..x.len() {
            let at = |problem: &mut Problem, h: f64| {
                let mut x = x.clone();
                x[k] += h;
                problem.cost(&x)
            };
            let h = 1e-6;
            let difference = (at(&mut problem, h) - at(&mut problem, -h)) / (2.0 * h);
            assert_relative_eq!(g[k], difference, max_relative = 1e-6, epsilon = 1e-6 * g.amax());
            assert_relative_eq!(g[k], reverse[k], max_relative = 1e-9, epsilon = 1e-10 * g.amax());
        }
    }
}

#[test]
fn what_a_sensor_reads_has_no_residual_of_its_own() {
    let (experiment, mut dataset) = sensed("own", &even(30, 0.02), "recorded");
    // Each frame has six residuals of the pose, less the height.
    let readings = std::mem::take(&mut dataset.readings);
    let problem = Problem::new(&experiment, &dataset, 1);
    assert_eq!(problem.residual_count(), 29 * 5);
    // A delay of up to 0.03 s leaves out the frames before, whatever it is.
    dataset.readings = readings;
    let problem = Problem::new(&experiment, &dataset, 1);
    let seen: usize = dataset.readings[0][2..].iter().flatten().flatten().count();
    assert_eq!(problem.residual_count(), 29 * 5 + seen);
    let experiment = links_experiment(
        "reads",
        "",
        "[[sensor]]\nname = \"encoder\"\nreads = [\"link2/q\", \"link2/v\"]\nnoise = 0.01\n",
    );
    let experiment = experiment.unwrap();
    let names = experiment.parameter_names();
    let own: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("encoder/")).collect();
    assert_eq!(own, ["delay", "gain", "bias/q", "bias/v"]);
    assert!(experiment.parameter("encoder/bias/v").is_some());
    // As many readings as there are frames.
    let (_, trajectory) = links(10);
    let readings = vec![vec![vec![Some(0.0); 2]; 9]];
    let error = Dataset::with_readings(&experiment, vec![trajectory], readings).unwrap_err();
    assert!(error.to_string().contains("2 numbers for each frame"), "{error}");
}

#[test]
fn mistakes_in_sensors_and_parameters_are_told_with_their_place() {
    let sensor = |fields: &str| format!("[[sensor]]\n{fields}\n");
    let parameter = |fields: &str| format!("[[parameter]]\n{fields}\n");
    // The first table of these stands in line 9.
    for (tables, place, says) in [
        (sensor("name = \"a\"\nnoise = 1"), "experiment.toml:9: sensor[0].marker", "`reads`"),
        (
            sensor("name = \"a\"\nmarker = \"cup\"\nnoise = 1"),
            "experiment.toml:11: sensor[0].marker",
            "it has link1, link2",
        ),
        (
            sensor("name = \"a\"\nreads = [\"link2/w\"]\nnoise = 1"),
            "experiment.toml:11: sensor[0].reads",
            "link2/q",
        ),
        (
            sensor("name = \"a\"\nreads = [\"link1/qw\"]\nnoise = 1"),
            "experiment.toml:11: sensor[0].reads",
            "part of a quaternion",
        ),
        (
            sensor("name = \"a\"\nreads = [\"link2/q\"]"),
            "experiment.toml:9: sensor[0].noise",
            "missing",
        ),
        (
            sensor("name = \"a\"\nreads = [\"link2/q\"]\nnoise = 0"),
            "experiment.toml:12: sensor[0].noise",
            "positive",
        ),
        (
            sensor("name = \"a\"\nreads = [\"link2/q\"]\nnoise = 1\nbias = [1, 2]"),
            "experiment.toml:13: sensor[0].bias",
            "list of 1, found 2",
        ),
        (
            sensor("name = \"a\"\nreads = [\"link2/q\"]\nnoise = 1\nposition = [1, 2, 3]"),
            "experiment.toml:13: sensor[0].position",
            "accelerometers only",
        ),
        (
            sensor("name = \"a\"\nmarker = \"link1\"\nnoise = 1\ncolumns = [\"x\"]"),
            "experiment.toml:13: sensor[0].columns",
            "one for each of x, y, z, found 1",
        ),
        (
            sensor("name = \"link2\"\nmarker = \"link1\"\nnoise = 1"),
            "experiment.toml:10: sensor[0].name",
            "another name",
        ),
        (
            sensor("name = \"a\"\nmarker = \"link1\"\nnoise = 1").repeat(2),
            "experiment.toml:14: sensor[1].name",
            "another sensor",
        ),
        (
            sensor("name = \"a\"\nmarker = \"link1\"\nnoise = 1")
                + &parameter("name = \"a/delay\"\nstart = 0"),
            "parameter[1].lower",
            "needed for a delay",
        ),
        (
            parameter("name = \"a/delay\"\nstart = 0"),
            "experiment.toml:10: parameter[1].name",
            "no parameter",
        ),
        (
            parameter("name = \"link1/mass\"\nstart = 1\nprior = { mean = 1 }"),
            "experiment.toml:12: parameter[1].prior.sd",
            "missing",
        ),
        (
            parameter("name = \"link1/mass\"\nstart = 1\nprior = { mean = 1, sd = 0 }"),
            "experiment.toml:12: parameter[1].prior.sd",
            "positive",
        ),
        (
            parameter("name = \"link1/mass\"\nstart = 1\ntransform = \"exp\""),
            "experiment.toml:12: parameter[1].transform",
            "\"log\" or \"none\"",
        ),
        (
            parameter("name = \"link2/stiffness\"\nstart = 1\ntransform = \"log\""),
            "experiment.toml:12: parameter[1].transform",
            "positive `lower`",
        ),
        (
            parameter("name = \"link1/mass\"\nfull = true"),
            "experiment.toml:11: parameter[1].full",
            "inertias only",
        ),
        (
            parameter("name = \"link1/inertial\"\nlower = 1"),
            "experiment.toml:11: parameter[1].lower",
            "as a whole",
        ),
        (
            parameter("name = \"link1/inertial\"\nstart = [1, 2]"),
            "experiment.toml:11: parameter[1].start",
            "list of 10 (mass, center_of_mass/x",
        ),
        (
            parameter("name = \"link1/inertia\"\nfull = true\nstart = [1, 1, 3, 0, 0, 0]"),
            "experiment.toml:12: parameter[1].start",
            "less than the sum",
        ),
        (
            parameter("name = \"link1/inertia\"\nfull = true\nprior = { mean = [1], sd = [1] }"),
            "experiment.toml:12: parameter[1].prior.mean",
            "list of 6",
        ),
        (
            parameter("name = \"link1/inertia\"\nstart = 1e-3")
                + &parameter("name = \"link1/inertial\""),
            "parameter[2].name",
            "same number as link1/inertia",
        ),
        (parameter("name = \"link1/mass\""), "parameter[1].start", "missing"),
    ] {
        let error = links_experiment("mistakes", "", &tables).unwrap_err();
        assert!(error.contains(place) && error.contains(says), "{tables}: {error}");
        assert_eq!(error.lines().count(), 1);
    }
    let error = links_experiment("mistakes", "huber = 1\ncauchy = 1", "").unwrap_err();
    assert_message(&error, "experiment.toml:4: cauchy", "one of them");
    // All of an inertia, and one number by itself.
    let tables = parameter("name = \"link1/inertial\"\nfixed = true")
        + &parameter(
            "name = \"link2/inertia\"\nfull = true\nprior = { mean = [1e-3, 1e-3, 1e-3, 0, 0, 0], sd = [1e-4, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5] }",
        )
        + &parameter("name = \"link2/mass\"\nfixed = true");
    let experiment = links_experiment("inertias", "", &tables).unwrap();
    assert_eq!(experiment.parameters.len(), 1 + 10 + 6 + 1);
    assert!(experiment.parameters[1..11].iter().all(|p| p.fixed && p.prior.is_none()));
    assert!(experiment.parameters[11..17].iter().all(|p| !p.fixed && p.prior.is_some()));
    assert_eq!((experiment.parameters[17].start, experiment.parameters[5].start), (0.37, 6e-4));
    // A column that is not there.
    let (experiment, _) = sensed("missing", &even(10, 0.02), "recorded");
    let folder = Folder::new("missing-column");
    folder.write("motion.csv", &poses(&even(10, 0.02), |_, _| false));
    let data = vec![folder.path("motion.csv").into()];
    let error = Dataset::load(&Experiment { data, ..experiment }).unwrap_err().to_string();
    assert!(
        error.contains("motion.csv:1: mx: the column is missing, which a [[sensor]] reads"),
        "{error}"
    );
}

/// Recordings are read on several threads, in their order, and of several mistakes the first is told.
#[test]
fn recordings_are_read_alike_on_any_number_of_threads() {
    let (experiment, _) = sensed("several", &even(10, 0.02), "recorded");
    let folder = Folder::new("several-threads");
    let lines = poses(&even(10, 0.02), |_, _| false);
    let beside = |(k, line): (usize, &str)| match k {
        0 => format!("{line},mx,my,mz,h\n"),
        _ => format!("{line},0.1,0.2,,0.{k}\n"),
    };
    let good: String = lines.lines().enumerate().map(beside).collect();
    let names: Vec<String> = (0..9).map(|k| format!("{k}.csv")).collect();
    let data: Vec<_> = names.iter().map(|name| folder.path(name).into()).collect();
    let several = Experiment { data, ..experiment };
    for (k, name) in names.iter().enumerate() {
        // Each has as many rows as its number says.
        let rows: Vec<&str> = good.lines().take(4 + k).collect();
        folder.write(name, &(rows.join("\n") + "\n"));
    }
    let one = Dataset::load(&several).unwrap();
    for threads in [1, 2, 3, 16] {
        let dataset = Dataset::load_on(&several, threads).unwrap();
        assert_eq!(dataset.trajectories, one.trajectories);
        assert_eq!(dataset.readings, one.readings);
        assert_eq!(dataset.windows, one.windows);
        let lengths: Vec<usize> = dataset.trajectories.iter().map(|t| t.times.len()).collect();
        assert_eq!(lengths, (3..12).map(|rows: usize| rows.min(10)).collect::<Vec<_>>());
    }
    for k in [7, 3, 5] {
        folder.write(&names[k], &good.replacen("0.", "x", 1));
    }
    let first = Dataset::load(&several).unwrap_err().to_string();
    assert!(first.contains("3.csv"), "{first}");
    for threads in [2, 3, 16] {
        let error = Dataset::load_on(&several, threads).unwrap_err();
        assert_eq!(error.to_string(), first);
    }
}

#[test]
fn a_recording_may_have_markers_alone() {
    // Three markers, nothing else: poses and velocities at the start are fitted.
    let folder = Folder::new("markers");
    folder.write(
        "scene.toml",
        &EVEN.replace("inertia = 2e-4", "inertia = 2e-4\nforce = [0.1, 0, 0]"),
    );
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let model: &Model = &scene.model;
    let system = System { model, parameters: &scene.parameters, settings: &scene.settings };
    let mut rollout = Rollout::new(system, scene.state.clone());
    let places = [[0.05, 0.0, 0.0], [0.0, 0.05, 0.0], [0.0, 0.0, 0.05]];
    let mut text = String::from("t,a/x,a/y,a/z,b/x,b/y,b/z,c/x,c/y,c/z\n");
    for k in 0..40 {
        write!(text, "{}", k as f64 * 0.01).unwrap();
        let state: &State<f64> = &rollout.state;
        for (marker, place) in places.iter().enumerate() {
            let at =
                state.position(0) + rotation_matrix(state.orientation(0)) * Vector3::from(*place);
            for x in at.iter() {
                let hidden = (k + 3 * marker) % 11 == 4;
                if hidden { text.push(',') } else { write!(text, ",{x}").unwrap() }
            }
        }
        text.push('\n');
        rollout.step(&scene.inputs);
    }
    folder.write("motion.csv", &text);
    let mut file = String::from(
        "scene = \"scene.toml\"\ndata = [\"motion.csv\"]\ninitial_state = \"fitted\"\n[columns]\n\"ball/*\" = false\n",
    );
    for (name, place) in ["a", "b", "c"].iter().zip(places) {
        write!(
            file,
            "[[sensor]]\nname = {name:?}\nmarker = \"ball\"\nposition = {place:?}\nnoise = 1e-3\n"
        )
        .unwrap();
    }
    file += "[[parameter]]\nname = \"ball/mass\"\nstart = 0.5\n";
    let experiment = folder.experiment(&file).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    let fit = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert_relative_eq!(fit.parameters[0].value, 0.3, max_relative = 1e-6);
}

#[test]
fn recordings_that_went_wrong_are_named() {
    let mut experiment = links_experiment("outliers", "window = 5", "").unwrap();
    experiment.robust = Some(RobustLoss::Huber(1.0));
    let (_, recording) = links(20);
    let mut recordings = Vec::new();
    for k in 0..8 {
        let mut copy = recording.clone();
        copy.name = format!("toss_{k}.csv");
        for (frame, state) in copy.states.iter_mut().enumerate() {
            let size = if k == 3 { 0.05 } else { 1e-3 * (1.0 + 0.1 * k as f64) };
            state.q[0] += size * (frame as f64 * 1.9 + k as f64).sin();
        }
        recordings.push(copy);
    }
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let initial: Vec<State<f64>> =
        dataset.windows.iter().map(|w| initial_state(&experiment, &dataset, w)).collect();
    let parameters = &experiment.scene.parameters;
    let found = misfits(&experiment, &dataset, parameters, &initial, 2);
    assert_eq!(found, misfits(&experiment, &dataset, parameters, &initial, 1));
    // All windows together, without the robust loss.
    experiment.robust = None;
    let cost = Problem::new(&experiment, &dataset, 1).cost(&[2e-3]);
    let count = Problem::new(&experiment, &dataset, 1).residual_count() as f64;
    let mean = found.iter().map(|mean| mean.unwrap()).sum::<f64>() / 8.0;
    assert_relative_eq!(mean, 2.0 * cost / count, max_relative = 1e-9);
    let list = outliers(&dataset, &found);
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!((list[0].trajectory, list[0].name.as_str()), (3, "toss_3.csv"));
    assert_eq!(list[0].mean_square, found[3].unwrap());
    assert!(list[0].score > 3.5 && list[0].words.starts_with("toss_3.csv is explained far worse"));
    // Of few, none can be told from the others; what is not finite stands out.
    assert!(outliers(&dataset, &found[..4]).is_empty());
    let mut broken = found;
    broken[6] = Some(f64::INFINITY);
    broken[0] = None;
    let list = outliers(&dataset, &broken);
    assert_eq!(list.iter().map(|o| o.trajectory).collect::<Vec<_>>(), [6, 3]);
}
