//! Recordings with other names for their columns, or without some of them.

use std::f64::consts::PI;

use approx::assert_relative_eq;
use stiction::identify::{Dataset, Experiment, FitStatus, Problem, evaluate, fit};
use stiction::model::{Model, Scene, System};
use stiction::simulation::Rollout;
use stiction::trajectory::{ColumnMap, ColumnSelection, Recorded, Trajectory};

use crate::folder::Folder;
use crate::scene::assert_message;

/// Two links with a hinge, thrown.
pub const LINKS: &str = r#"simulation.time_step = 0.005
[[body]]
name = "link1"
mass = 0.37
inertia = 6e-4
shape = { box = [0.05, 0.025, 0.025] }
position = [0, 0, 2]
velocity = [1, 0, 1]
angular_velocity = [0.5, 1, 2]
[[body]]
name = "link2"
parent = "link1"
joint = { type = "revolute", axis = [0, 1, 0], damping = 2e-3, q = 0.3, v = 8 }
position = [-0.035, 0.06, 0]
mass = 0.37
inertia = 6e-4
center_of_mass = [0.035, 0, 0]
"#;

const COLUMNS: &str = r#"
[columns]
"t" = "time"
"link1/*" = "*"
"link2/q" = "joint"
"link2/v" = "joint_rate"
"#;

fn model() -> Model {
    Scene::parse(LINKS, "scene.toml").unwrap().model
}

fn map(model: &Model, entries: &[(&str, Option<&str>)]) -> ColumnMap {
    let mut map = ColumnMap::new(model);
    for (ours, theirs) in entries {
        map.set(model, ours, *theirs).unwrap();
    }
    map
}

/// The motion of the scene, `frames` of them, every second step.
fn motion(frames: usize) -> Trajectory {
    let Scene { model, parameters, state, settings, inputs, .. } =
        Scene::parse(LINKS, "scene.toml").unwrap();
    let system = System { model: &model, parameters: &parameters, settings: &settings };
    let mut rollout = Rollout::new(system, state.clone());
    let mut states = vec![state];
    for _ in 1..frames {
        rollout.advance(2, &inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..frames).map(|k| k as f64 * 0.01).collect();
    let recorded = Recorded::all(&model);
    Trajectory { name: "motion.csv".to_string(), times, states, recorded }
}

/// Some columns of a trajectory, under other names.
fn written(trajectory: &Trajectory, columns: &str, header: &str) -> String {
    let model = model();
    let columns = ColumnSelection::parse(columns, &model).unwrap();
    let mut text = Vec::new();
    trajectory.write_columns(&model, &columns, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let (first, rows) = text.split_once('\n').unwrap();
    assert_eq!(first.split(',').count(), header.split(',').count(), "{first}");
    format!("{header}\n{rows}")
}

#[test]
fn columns_go_by_the_names_of_the_recording() {
    let model = model();
    let trajectory = motion(20);
    let text = written(
        &trajectory,
        "link2/v,link1/*,link2/q",
        "time,joint_rate,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,joint",
    );
    let entries = [
        ("t", Some("time")),
        ("link1/*", Some("*")),
        ("link2/q", Some("joint")),
        ("link2/v", Some("joint_rate")),
    ];
    let columns = map(&model, &entries);
    let read = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap();
    assert_eq!(read, trajectory);

    // What all of a body have in common, and single exceptions.
    let text = text.replace(",p", ",a_p_raw").replace(",q", ",a_q_raw");
    let header = "time,joint_rate,px_a,py_a,pz_a,height_qw_a";
    assert!(!text.starts_with(header));
    let names = "t,joint_rate,rpx,rpy,height,rqw,rqx,rqy,rqz,rvx,rvy,rvz,rwx,rwy,rwz,joint";
    let text = format!("{names}\n{}", text.split_once('\n').unwrap().1);
    let mut entries = entries;
    entries[0] = ("link1/*", Some("r*"));
    entries[1] = ("link1/pz", Some("height"));
    let columns = map(&model, &entries);
    let read = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap();
    assert_eq!(read, trajectory);
}

#[test]
fn velocities_of_some_joints_may_be_missing() {
    let model = model();
    let trajectory = motion(20);
    let all = "t,link1/px,link1/py,link1/pz,link1/qw,link1/qx,link1/qy,link1/qz,link1/vx,link1/vy,link1/vz,link2/q";
    let text = written(&trajectory, &all[2..], all);
    let read = Trajectory::parse(&text, "motion.csv", &model).unwrap();
    let recorded: Vec<bool> = [[true; 3], [false; 3]].concat();
    assert_eq!(read.recorded.v, [&recorded[..], &[false]].concat());
    for (k, (read, exact)) in read.states.iter().zip(&trajectory.states).enumerate().skip(1) {
        assert_eq!(read.v[..3], exact.v[..3]);
        let before = &trajectory.states[k - 1];
        assert_relative_eq!(read.v[6], (exact.q[7] - before.q[7]) / 0.01, epsilon = 1e-9);
        // Differences over two steps, of a body that is turned by its neighbour.
        assert_relative_eq!(read.v[3..6], exact.v[3..6], epsilon = 0.2);
    }
    // Said to be missing though it is there.
    let columns = map(&model, &[("link1/vx", None)]);
    let read = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap();
    assert_eq!(read.recorded.v[..3], [false, true, true]);
    let difference = (trajectory.states[5].q[0] - trajectory.states[4].q[0]) / 0.01;
    assert_relative_eq!(read.states[5].v[0], difference, epsilon = 1e-9);
}

#[test]
fn what_is_not_recorded_stays_as_it_is_filled() {
    let model = model();
    let trajectory = motion(20);
    let text = written(&trajectory, "link1/px,link1/py,link1/pz", "t,px,py,pz");
    let entries =
        [("link1/*", Some("*")), ("link1/qw", None), ("link1/qx", None), ("link1/qy", None)];
    let mut columns = map(&model, &entries);
    columns.set(&model, "link2/*", None).unwrap();
    let error = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap_err();
    assert_message(&error.to_string(), "motion.csv:1: qz", "link1/qz");
    columns.set(&model, "link1/qz", None).unwrap();
    assert!(columns.is_partial());
    columns.fill = motion(2).states.remove(0);
    let read = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap();
    assert_eq!(read.recorded.q, [[true; 3].as_slice(), &[false; 5]].concat());
    assert_eq!(read.recorded.v, [false; 7]);
    for (k, state) in read.states.iter().enumerate() {
        assert_eq!(state.q[..3], trajectory.states[k].q[..3]);
        assert_eq!(state.q[3..], columns.fill.q[3..]);
        assert_eq!(state.v[3..], columns.fill.v[3..]);
    }
    // Written again, only what is recorded is there.
    let mut again = Vec::new();
    read.write(&model, &mut again).unwrap();
    let again = String::from_utf8(again).unwrap();
    assert!(again.starts_with("t,link1/px,link1/py,link1/pz\n"), "{again}");

    columns.set(&model, "link1/qw", Some("px")).unwrap();
    let error = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap_err();
    assert_message(&error.to_string(), "motion.csv:1", "all 4, or none");
}

#[test]
fn wrapped_angles_are_unwrapped() {
    let model = model();
    let mut trajectory = motion(60);
    for (k, state) in trajectory.states.iter_mut().enumerate() {
        state.q[7] = 0.3 + 0.25 * k as f64 - 0.003 * (k * k) as f64;
    }
    let angle = |trajectory: &Trajectory| -> Vec<f64> {
        trajectory.states.iter().map(|state| state.q[7]).collect()
    };
    let straight = angle(&trajectory);
    assert!(straight.iter().any(|&q| q > 1.5 * PI));
    for least in [-PI, 0.0] {
        let mut wrapped = trajectory.clone();
        for state in &mut wrapped.states {
            state.q[7] = (state.q[7] - least).rem_euclid(2.0 * PI) + least;
        }
        let mut text = Vec::new();
        wrapped.write(&model, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let read = Trajectory::parse(&text, "motion.csv", &model).unwrap();
        for (&read, &straight) in angle(&read).iter().zip(&straight) {
            assert_relative_eq!(read, straight, epsilon = 1e-12);
        }
        let columns = map(&model, &[("link2/v", None)]);
        let read = Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap();
        assert!(read.states.iter().all(|state| state.v[6].abs() < 26.0));
    }
    // A joint that does turn that fast, and is not wrapped, is left alone.
    for (k, state) in trajectory.states.iter_mut().enumerate() {
        state.q[7] = 4.0 * k as f64;
    }
    let mut text = Vec::new();
    trajectory.write(&model, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(Trajectory::parse(&text, "motion.csv", &model).unwrap(), trajectory);
}

#[test]
fn bad_maps_and_selections_are_refused_in_words() {
    let model = model();
    let mut columns = ColumnMap::new(&model);
    for (ours, theirs, says) in [
        ("link3/q", Some("a"), "the bodies that move are link1, link2"),
        ("link2/px", Some("a"), "\"link2\" has q, v"),
        ("q", Some("a"), "no number"),
        ("link3/*", Some("*"), "no number"),
        ("link1/*", Some("px"), "must contain one *"),
        ("link1/*", Some("**"), "must contain one *"),
        ("link1/px", Some(" "), "must be the name of a column"),
        ("t", None, "cannot be left out"),
    ] {
        let message = columns.set(&model, ours, theirs).unwrap_err();
        assert!(message.contains(says), "{message}");
    }
    assert_eq!(columns, ColumnMap::new(&model));

    let text = written(&motion(3), "link2/q,link2/v", "time,angle,rate");
    let complain = |entries: &[(&str, Option<&str>)]| {
        let columns = map(&model, &[&[("link1/*", None)], entries].concat());
        Trajectory::parse_with(&text, "motion.csv", &model, &columns).unwrap_err().to_string()
    };
    assert_message(&complain(&[]), "motion.csv:1: t", "begins with time,angle,rate");
    let time = ("t", Some("time"));
    assert_message(&complain(&[time]), "motion.csv:1: link2/q", "[columns]");
    let angle = ("link2/q", Some("angle"));
    let rate = ("link2/v", Some("speed"));
    assert_message(&complain(&[time, angle, rate]), "motion.csv:1: speed", "missing (link2/v)");
    let twice = ("link2/v", Some("angle"));
    let says = "stands for both link2/q and link2/v";
    assert_message(&complain(&[time, angle, twice]), "motion.csv:1: angle", says);

    for (list, says) in [
        ("link1/px,,", "no number"),
        ("link1/px,link1/*", "\"link1/px\" is given twice"),
        ("link9/*", "the bodies that move are"),
    ] {
        let message = ColumnSelection::parse(list, &model).unwrap_err();
        assert!(message.contains(says), "{message}");
    }
    let one = Scene::parse(
        "simulation.time_step = 0.1\n[[body]]\nname = \"b\"\nmass = 1\nshape = { sphere = 1 }\n",
        "one.toml",
    );
    let other = Trajectory::parse_with("", "motion.csv", &one.unwrap().model, &columns);
    assert_message(&other.unwrap_err().to_string(), "motion.csv", "another scene");
}

/// An experiment in a folder of its own, with one recording of the scene.
fn experiment(name: &str, more: &str, columns: &str, header: &str) -> Result<Fitted, String> {
    let folder = Folder::new(name);
    folder.write("scene.toml", LINKS);
    folder.write("motion.csv", &written(&motion(40), columns, header));
    let text = format!(
        "scene = \"scene.toml\"\ndata = [\"motion.csv\"]\n{more}\n[[parameter]]\n\
         name = \"link2/damping\"\nstart = 1e-3\nlower = 0\nupper = 1e-2\n"
    );
    // Tables come after the fields.
    let (fields, tables) = text.split_once("[columns]").unwrap_or((&text, ""));
    let (tables, parameter) = tables.split_once("[[parameter]]").unwrap_or(("", tables));
    let text = match tables.is_empty() {
        true => fields.to_string(),
        false => format!("{fields}[[parameter]]{parameter}\n[columns]\n{tables}"),
    };
    let experiment = folder.experiment(&text)?;
    let dataset = Dataset::load(&experiment).map_err(|error| error.to_string())?;
    Ok(Fitted { experiment, dataset })
}

struct Fitted {
    experiment: Experiment,
    dataset: Dataset,
}

impl Fitted {
    fn residuals(&self) -> usize {
        Problem::new(&self.experiment, &self.dataset, 1).residual_count()
    }

    fn damping(&self) -> f64 {
        let result = fit(&self.experiment, &self.dataset, 1, &mut |_| true).unwrap();
        assert_eq!(result.status, FitStatus::Converged);
        result.parameters[0].value
    }
}

#[test]
fn experiments_map_columns() {
    let columns = "link1/*,link2/*";
    let header = "time,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,joint,joint_rate";
    let case = experiment("columns", COLUMNS, columns, header).unwrap();
    assert_eq!(case.residuals(), 39 * 7);
    assert_relative_eq!(case.damping(), 2e-3, max_relative = 1e-6);
    let parameters = &case.experiment.scene.parameters;
    let errors = evaluate(&case.experiment, &case.dataset, parameters, 1);
    assert!(
        errors.position_error_percent.unwrap() < 1e-9 && errors.rotation_error_deg.unwrap() < 1e-6
    );

    for (more, says) in [
        ("[columns]\n\"link2/q\" = 1", "columns.link2/q: must be the name of a column"),
        (
            "[columns]\n\"link2/q\" = true",
            "columns.link2/q: must be the name of a column, or false",
        ),
        ("[columns]\n\"link5/q\" = \"a\"", "columns.link5/q: no number of the scene"),
        ("[columns]\n\"t\" = false", "columns.t: cannot be left out"),
        ("window = 5\n[columns]\n\"link2/*\" = false", "window: [columns] says"),
    ] {
        let message = experiment("columns-bad", more, columns, header).map(|_| ()).unwrap_err();
        assert!(message.contains(says) && message.contains("experiment.toml:"), "{message}");
    }
}

#[test]
fn a_part_of_the_configuration_identifies() {
    // The joint alone, from the scene's start.
    let joint = "[columns]\n\"link1/*\" = false";
    let case = experiment("joint", joint, "link2/*", "t,link2/q,link2/v").unwrap();
    assert_eq!(case.residuals(), 39);
    assert_relative_eq!(case.damping(), 2e-3, max_relative = 1e-6);
    let mut parameters = case.experiment.scene.parameters.clone();
    let slot = case.experiment.parameters[0].slots.slots[0];
    parameters.values[slot] = 4e-3;
    let errors = evaluate(&case.experiment, &case.dataset, &parameters, 1);
    assert_eq!(errors.position_error_percent, None);
    assert!(errors.rotation_error_deg.unwrap() > 0.1);

    // The motion of the first link alone, in windows whose start is fitted.
    let link = "initial_state = \"fitted\"\nwindow = 20\n[columns]\n\"link2/*\" = false";
    let fields = ["px", "py", "pz", "qw", "qx", "qy", "qz"].map(|f| format!("link1/{f}")).join(",");
    let case = experiment("link", link, &fields, &format!("t,{fields}")).unwrap();
    assert_eq!(case.residuals(), (21 + 20) * 6);
    assert_relative_eq!(case.damping(), 2e-3, max_relative = 1e-3);
}
