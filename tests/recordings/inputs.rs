//! Forces and controls that were recorded beside the motion.

use std::fmt::Write;

use approx::assert_relative_eq;
use stiction::identify::{
    Dataset, Experiment, InitialState, LeastSquares, Method, Problem, evaluate, fit, hold_out,
    traces,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::view::FitReport;

use crate::fixtures::folder::Folder;
use crate::fixtures::scenes::scene;
use crate::scene::assert_message;

/// An arm with a position servo, and a box on the floor beside it.
pub const DRIVEN: &str = r#"[simulation]
time_step = 0.01
[[half_space]]
name = "floor"
normal = [0, 0, 1]
mu = 0.3
[[body]]
name = "arm"
joint = { type = "revolute", axis = [0, 1, 0], damping = 0.05 }
position = [2, 0, 1]
mass = 0.8
center_of_mass = [0, 0, -0.2]
inertia = 0.01
[[body]]
name = "box"
mass = 0.5
shape = { box = [0.05, 0.05, 0.03] }
position = [0, 0, 0.03]
[[actuator]]
name = "servo"
joint = "arm"
type = "position"
kp = 6
kd = 0.3
[[push]]
name = "finger"
body = "box"
point = [0.01, 0, 0]
force = [0, 1, 0]
until = 100
"#;

/// What drives it: the servo, a force along x, the finger.
fn drives(t: f64) -> [f64; 3] {
    [0.8 * (3.0 * t).sin(), 2.5 * (4.0 * t).sin() + 0.5, 1.5 * (2.5 * t).cos()]
}

const HEADER: &str = "t,arm/q,box/px,box/py,box/pz,box/qw,box/qx,box/qy,box/qz,\
arm/v,box/vx,box/vy,box/vz,box/wx,box/wy,box/wz,target,fx,finger\n";

/// The motion under inputs that are `gain` times those that are written, `late` steps after them.
fn recording(gain: f64, late: usize) -> String {
    let Scene { model, parameters, settings, state, mut inputs, .. } = scene(DRIVEN);
    let places = model.inputs_named(&["servo/u", "box/fx", "finger/u"].map(String::from), "");
    let places = places.unwrap();
    let system =
        stiction::model::System { model: &model, parameters: &parameters, settings: &settings };
    let mut rollout = Rollout::new(system, state);
    let mut text = String::from(HEADER);
    for k in 0..=80_usize {
        let t = 0.01 * k as f64;
        let state = &rollout.state;
        write!(text, "{t}").unwrap();
        state
            .q
            .iter()
            .chain(&state.v)
            .chain(&drives(t))
            .for_each(|x| write!(text, ",{x}").unwrap());
        text.push('\n');
        let before = 0.01 * k.saturating_sub(late) as f64;
        for (&place, u) in places.iter().zip(drives(before)) {
            inputs[place] = gain * u;
        }
        rollout.step(&inputs);
    }
    text
}

const HEAD: &str = "scene = \"scene.toml\"\ndata = [\"motion.csv\"]\n[noise]\nposition = 1e-3\nrotation_deg = 0.1\n";
const INPUTS: &str = "[[input]]\nname = \"all\"\ndrives = [\"servo\", \"box/fx\", \"finger/u\"]\n\
                      columns = [\"target\", \"fx\", \"finger\"]\n";

fn driven(name: &str, recording: &str, more: &str) -> (Experiment, Dataset) {
    let folder = Folder::new(name);
    folder.write("scene.toml", DRIVEN);
    folder.write("motion.csv", recording);
    let experiment = folder.experiment(&format!("{HEAD}{more}")).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    (experiment, dataset)
}

fn parameter(name: &str, start: f64, lower: f64, upper: f64) -> String {
    format!("[[parameter]]\nname = \"{name}\"\nstart = {start}\nlower = {lower}\nupper = {upper}\n")
}

/// What acts late and weaker than it was recorded is found with the mass, exactly.
#[test]
fn delays_gains_and_what_they_act_on_are_found() {
    let parameters = [
        parameter("box/mass", 0.8, 0.1, 3.0),
        parameter("servo/kp", 4.0, 1.0, 20.0),
        // From where steps and rows begin together, which is a kink.
        parameter("all/delay", 0.0, 0.0, 0.05),
        // Without a mass that is known the gain and all masses are one.
        parameter("arm/mass", 0.8, 0.1, 3.0).replace("lower", "fixed = true\nlower"),
    ]
    .concat();
    let (experiment, dataset) =
        driven("late", &recording(1.0, 2), &format!("{INPUTS}{parameters}"));
    assert_eq!(dataset.inputs[0].len(), 3);
    let result = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    for (k, truth) in [0.5, 6.0, 0.02].into_iter().enumerate() {
        assert_relative_eq!(result.parameters[k].value, truth, max_relative = 1e-6);
    }
    assert!(result.loss < 1e-12, "{}", result.loss);
    let gain = parameter("all/gain", 0.7, 0.1, 3.0);
    let (experiment, dataset) =
        driven("gain", &recording(1.3, 0), &format!("{INPUTS}delay = 0\n{gain}"));
    let result = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert_relative_eq!(result.parameters[0].value, 1.3, max_relative = 1e-7);
}

/// Columns that have our names are inputs by themselves, of all commands alike, unless it is said that they are not to be used.
#[test]
fn columns_of_our_names_drive() {
    let own = recording(1.0, 0).replace("target,fx,finger", "servo/u,box/fx,finger/u");
    let mass = parameter("box/mass", 0.8, 0.1, 3.0);
    let (experiment, dataset) = driven("own", &own, &mass);
    let error = |experiment: &Experiment, dataset: &Dataset| {
        let parameters = &experiment.scene.parameters;
        evaluate(experiment, dataset, parameters, 1).position_error_percent.unwrap()
    };
    assert!(error(&experiment, &dataset) < 1e-9);
    let named = "[columns]\n\"servo\" = \"target\"\n\"box/fx\" = \"fx\"\n\"finger\" = \"finger\"\n";
    let (other, same) = driven("named", &recording(1.0, 0), &format!("{mass}{named}"));
    assert!(error(&other, &same) < 1e-9);
    let not = "[columns]\n\"servo/u\" = false\n\"box/fx\" = false\n";
    let (other, still) = driven("not", &own, &format!("{mass}{not}"));
    assert_eq!(still.inputs[0].len(), 1);
    assert!(error(&other, &still) > 1.0);
    // Recordings that are held out keep their own.
    let (mut experiment, mut both) = (experiment, dataset.clone());
    experiment.initial_state = InitialState::Recorded;
    both.trajectories.push(both.trajectories[0].clone());
    both.inputs.push(Vec::new());
    both.windows.push(stiction::identify::Window { trajectory: 1, ..both.windows[0] });
    let (kept, out) = hold_out(both, 0.5, 1);
    assert_eq!([&kept, &out].map(|part| part.inputs.len()), [1, 1]);
    let errors = [&kept, &out].map(|part| error(&experiment, part));
    let driven = usize::from(kept.inputs[0].is_empty());
    assert!(errors[driven] < 1e-9 && errors[1 - driven] > 1.0, "{errors:?}");
}

/// What reports show is driven too, and stands number by number beside what was recorded.
#[test]
fn reports_show_what_was_driven() {
    let parameters = parameter("box/mass", 0.5, 0.1, 3.0);
    let (experiment, dataset) =
        driven("shown", &recording(1.0, 2), &format!("{INPUTS}delay = 0.02\n{parameters}"));
    let result = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert!(result.loss < 1e-12, "{}", result.loss);
    let start = &dataset.trajectories[0].states[0];
    let (times, groups) = traces(&experiment, &dataset, &result.identified, 0, start);
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!((times.len(), names), (81, vec!["arm", "box", "inputs"]));
    for trace in groups[..2].iter().flat_map(|group| &group.traces) {
        for (recorded, simulated) in trace.recorded.iter().zip(&trace.simulated) {
            assert!((recorded.unwrap() - simulated).abs() < 1e-8, "{}", trace.name);
        }
        assert!(trace.apart.iter().flatten().flatten().all(|apart| apart.abs() < 1e-7));
    }
    // q; x, y, z, how far it turned; velocities of both.
    assert_eq!(groups.iter().map(|group| group.traces.len()).collect::<Vec<_>>(), [2, 10, 3]);
    // Recorded at once, and acting two steps later.
    let servo = &groups[2].traces[0];
    assert!(
        (servo.recorded[7].unwrap() - servo.simulated[9]).abs() < 1e-9 && servo.name == "servo/u"
    );
    let report = FitReport::new(&experiment, &dataset, &result, 1);
    let [simulated, recorded] = &report.playback.unwrap().clips[0].tracks[..] else { panic!() };
    let last = |track: &stiction::view::Track| track.poses.last().unwrap().clone();
    let apart =
        last(simulated).iter().zip(last(recorded)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-3 && last(recorded)[0].abs() > 1e-3, "{apart}");
}

/// What acted before a recording is cut is known where the file has it; dates are as good as any times; and who is driven, who is not.
#[test]
fn times_and_rows_before_the_cut_count() {
    let text = recording(1.0, 5);
    let late = format!("{INPUTS}delay = 0.05\n{}", parameter("box/mass", 0.5, 0.1, 3.0));
    let error = |(experiment, dataset): &(Experiment, Dataset)| {
        let parameters = &experiment.scene.parameters;
        evaluate(experiment, dataset, parameters, 1).position_error_percent.unwrap()
    };
    let cut = driven("cut", &text, &format!("[recordings]\nfrom = 0.195\n{late}"));
    assert_eq!(cut.1.trajectories[0].times.len(), 61);
    assert!(error(&cut) < 1e-9, "{}", error(&cut));
    // In nanoseconds since 1970.
    let mut dated = String::new();
    for (k, line) in text.lines().enumerate() {
        match line.split_once(',') {
            Some((t, rest)) if k > 0 => {
                let t = 1_700_000_000_000_000_000_i64
                    + (1e9 * t.parse::<f64>().unwrap()).round() as i64;
                writeln!(dated, "{t},{rest}").unwrap();
            }
            _ => writeln!(dated, "{line}").unwrap(),
        }
    }
    let dated =
        driven("dated", &dated, &format!("[columns]\nt = {{ column = 't', unit = 'ns' }}\n{late}"));
    assert_eq!(dated.1.trajectories[0].times[..2], [0.0, 0.01]);
    assert!(error(&dated) < 1e-9, "{}", error(&dated));
    // A calm recording has rows of its inputs alone, too.
    let mut calm =
        String::from("t,arm/q,box/px,box/py,box/pz,box/qw,box/qx,box/qy,box/qz,servo/u\n");
    for k in 0..40 {
        let pose = if k % 4 == 0 { "0,0,0,0.03,1,0,0,0" } else { ",,,,,,," };
        writeln!(calm, "{},{pose},0", 0.0025 * f64::from(k)).unwrap();
    }
    let calm = driven("calm", &calm, &parameter("box/mass", 0.5, 0.1, 3.0));
    assert_eq!(
        (calm.1.trajectories[0].times.len(), calm.1.inputs.len(), calm.1.even),
        (10, 0, true)
    );
}

/// Lanes of duals, the adjoint and differences agree on delay, gain and biases, held and linear, within steps.
#[test]
fn slopes_of_what_drives() {
    for between in ["held", "linear"] {
        for (initial_state, uneven) in [("fitted", false), ("recorded", true)] {
            let parameters = [
                parameter("all/delay", 0.0, 0.0, 0.05),
                parameter("all/gain", 1.0, 0.1, 3.0),
                parameter("all/bias/fx", 0.0, -2.0, 2.0),
                parameter("all/bias/servo", 0.0, -2.0, 2.0),
                parameter("all/bias/u", 0.0, -2.0, 2.0),
                parameter("box/mass", 0.5, 0.1, 3.0),
            ]
            .concat();
            let name = format!("slopes-{between}-{initial_state}");
            let mut text = recording(1.1, 1);
            if uneven {
                text = text
                    .lines()
                    .enumerate()
                    .filter(|(k, _)| k % 7 != 3)
                    .map(|(_, line)| format!("{line}\n"))
                    .collect();
            }
            let (mut experiment, dataset) =
                driven(&name, &text, &format!("{INPUTS}between = \"{between}\"\n{parameters}"));
            assert_eq!(dataset.even, !uneven);
            experiment.initial_state = if initial_state == "fitted" {
                InitialState::Fitted
            } else {
                InitialState::Recorded
            };
            let mut problem = Problem::new(&experiment, &dataset, 1);
            problem.hold_initial = true;
            let x = [0.0137, 1.04, 0.03, 0.02, -0.04, 0.52_f64.ln()];
            problem.linearize(&x);
            let (_, g) = problem.normal_equations();
            let (_, reverse) = problem.gradient(&x).unwrap();
            for k in 0..x.len() {
                let mut at = |h: f64| {
                    let mut x = x;
                    x[k] += h;
                    problem.cost(&x)
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(g[k].abs() > 1e-4 * g.amax(), "{k} is hardly seen: {g}");
                assert_relative_eq!(
                    g[k],
                    difference,
                    max_relative = 1e-6,
                    epsilon = 1e-6 * g.amax()
                );
                assert_relative_eq!(
                    g[k],
                    reverse[k],
                    max_relative = 1e-9,
                    epsilon = 1e-10 * g.amax()
                );
            }
        }
    }
}

/// Forces at many times the rate of the poses, in rows of their own.
#[test]
fn inputs_have_rows_of_their_own() {
    let text = recording(1.0, 0);
    let mut lines = text.lines();
    let mut fine = format!("{}\n", lines.next().unwrap());
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    for (k, row) in rows.iter().enumerate() {
        // Every fourth row has the pose, the others what drives alone; frames a little late by the clock of the inputs.
        let pose = if k % 4 == 0 { row[1..16].join(",") } else { ",".repeat(14) };
        writeln!(fine, "{},{pose},{}", row[0], row[16..].join(",")).unwrap();
    }
    let own = fine.replace("target,fx,finger", "servo/u,box/fx,finger/u");
    let (experiment, dataset) = driven("fine", &own, &parameter("box/mass", 0.5, 0.1, 3.0));
    assert_eq!(
        (dataset.trajectories[0].times.len(), dataset.substeps, dataset.even),
        (21, 4, true)
    );
    assert_eq!(dataset.inputs[0][0].signal.times().len(), 81);
    let errors = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
    assert!(errors.position_error_percent.unwrap() < 1e-9);
    // Every second of all frames, but all of what drives.
    let own = text.replace("target,fx,finger", "servo/u,box/fx,finger/u");
    let every = format!("[recordings]\nevery = 2\n{}", parameter("box/mass", 0.5, 0.1, 3.0));
    let (experiment, dataset) = driven("every", &own, &every);
    assert_eq!((dataset.trajectories[0].times.len(), dataset.substeps), (41, 2));
    let errors = evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
    assert!(errors.position_error_percent.unwrap() < 1e-9);
}

/// By gradients alone, too; and what is searched for by them is found.
#[test]
fn gradients_alone_find_a_gain() {
    let gain = format!("{INPUTS}{}", parameter("all/gain", 0.8, 0.1, 3.0));
    let (mut experiment, dataset) = driven("gradients", &recording(1.2, 0), &gain);
    experiment.method = Method::Lbfgsb;
    let result = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert_relative_eq!(result.parameters[0].value, 1.2, max_relative = 1e-4);
}

#[test]
fn bad_inputs_are_refused_in_words() {
    let mass = parameter("box/mass", 0.5, 0.1, 3.0);
    let folder = Folder::new("bad-inputs");
    folder.write("scene.toml", DRIVEN);
    folder.write("motion.csv", &recording(1.0, 0));
    let complain = |more: &str| {
        let found = folder.experiment(&format!("{HEAD}{more}{mass}"));
        let loaded = found.and_then(|e| Dataset::load(&e).map_err(|e| e.to_string()));
        loaded.map(|_| ()).unwrap_err()
    };
    for (more, place, says) in [
        ("[[input]]\nname = \"a\"\n", "input[0].drives", "is missing"),
        ("[[input]]\nname = \"a\"\ndrives = []\n", "input[0].drives", "names nothing"),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"box/fq\"]\n",
            "input[0].drives",
            "actuators: servo; pushes: finger; forces: arm/f, box/fx",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"servo\", \"servo/u\"]\n",
            "input[0].drives",
            "named twice",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"servo\"]\ncolumns = [\"a\", \"b\"]\n",
            "input[0].columns",
            "a list of 1",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"servo\"]\nbias = [1, 2]\n",
            "input[0].bias",
            "a list of 1",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"servo\"]\nbetween = \"cubic\"\n",
            "input[0].between",
            "\"held\" or \"linear\"",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"box/fx\"]\nunit = \"mm\"\n",
            "input[0].unit",
            "one of N, kN, mN, lbf",
        ),
        (
            "[[input]]\nname = \"servo\"\ndrives = [\"servo\"]\n[[input]]\nname = \"b\"\ndrives = [\"servo\"]\n",
            "input",
            "servo/u is given twice",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"servo\"]\n[[input]]\nname = \"a\"\ndrives = [\"box/fx\"]\n",
            "input",
            "\"a\" is the name of two",
        ),
        (
            "[[input]]\nname = \"a\"\ndrives = [\"servo\"]\ncolumns = [\"torque\"]\n",
            "torque",
            "the file begins with t,arm/q",
        ),
        ("[columns]\n\"servo\" = \"\"\n", "columns.servo", "name of a column"),
        (
            "[columns]\n\"servo\" = { column = \"fx\", offset = 1 }\n",
            "columns.servo.offset",
            "bias",
        ),
        ("[columns]\n\"servo\" = [\"fx\", \"target\"]\n", "columns.servo", "one column"),
        (
            "[columns]\n\"box/px\" = { column = \"fx\", between = \"linear\" }\n",
            "columns.box/px.between",
            "of inputs",
        ),
    ] {
        let message = complain(more);
        assert!(message.contains(place) && message.contains(says), "{more}: {message}");
    }
    let unbounded = "[[input]]\nname = \"a\"\ndrives = [\"servo\"]\n[[parameter]]\nname = \"a/delay\"\nstart = 0\n";
    assert_message(&complain(unbounded), "experiment.toml:9: parameter[0].lower", "upper");
    let empty = recording(1.0, 0)
        .lines()
        .map(|line| format!("{},{}\n", line, if line.starts_with('t') { "tau" } else { "" }))
        .collect::<String>();
    folder.write("motion.csv", &empty);
    let tau = "[columns]\n\"servo\" = \"tau\"\n";
    assert!(complain(tau).contains("tau: has no number in any row"));
    let text = recording(1.0, 0).replacen("\n0.02,", "\n0.02x,", 1);
    folder.write("motion.csv", &text);
    assert!(complain("").contains("motion.csv:4: t: must be a number"));
}
