//! MCAP: recordings of ROS 2, read as the same numbers in CSV are.

use std::fmt::Write as _;

use stiction::identify::{Dataset, Experiment, fit};
use stiction::simulation::Rollout;

use super::ARM;
use super::mcap_writer::{Bag, Cdr, joint_state, pose_stamped, wrench_stamped};
use crate::fixtures::folder::Folder;
use crate::fixtures::scenes::scene;

const FRAMES: usize = 41;
/// ns since 1970; a number of double precision does not hold the last digits.
const BEGIN: i64 = 1_700_000_000_123_456_789;

/// The stamp of a frame, and angles and rates there.
fn motion() -> Vec<(i64, [f64; 2], [f64; 2])> {
    let scene = scene(ARM);
    let mut state = scene.state.clone();
    (state.q[0], state.q[1]) = (0.5, -0.3);
    let mut rollout = Rollout::new(scene.system(), state);
    let mut rows = Vec::new();
    for frame in 0..FRAMES {
        let state = &rollout.state;
        let stamp = BEGIN + 10_000_000 * frame as i64 + (frame % 3) as i64;
        rows.push((stamp, [state.q[0], state.q[1]], [state.v[0], state.v[1]]));
        rollout.step(&scene.inputs);
    }
    rows
}

fn experiment(folder: &Folder, data: &str, columns: &str) -> Experiment {
    let text = format!(
        "scene = 'scene.toml'\ndata = ['{data}']\n[noise]\nrotation_deg = 0.06\nangular_velocity = 0.1\n\
         [[parameter]]\nname = 'arm/damping'\nstart = 0.05\nlower = 1e-3\nupper = 0.5\n\
         [columns]\n{columns}"
    );
    folder.experiment(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn joint_states_are_those_of_csv() {
    let folder = Folder::new("mcap-joints");
    folder.write("scene.toml", ARM);
    let mut text = String::from("stamp,arm,hand,arm_rate,hand_rate\n");
    for (stamp, [arm, hand], [arm_rate, hand_rate]) in motion() {
        writeln!(text, "{stamp},{arm},{hand},{arm_rate},{hand_rate}").unwrap();
    }
    folder.write("run.csv", &text);
    let columns = "t = { column = 'stamp', unit = 'ns' }\n'arm/q' = 'arm'\n'hand/q' = 'hand'\n\
                   'arm/v' = 'arm_rate'\n'hand/v' = 'hand_rate'";
    let expected = Dataset::load(&experiment(&folder, "run.csv", columns)).unwrap();
    let columns = "t = '/joint_states.header.stamp'\n'arm/q' = '/joint_states.position.arm joint'\n\
                   'hand/q' = '/joint_states.position.hand'\n'arm/v' = '/joint_states.velocity.arm joint'\n\
                   'hand/v' = '/joint_states.velocity.hand'";
    for (big, chunk) in [(false, None), (true, Some(1000)), (false, Some(1 << 20))] {
        let mut bag = Bag::new(chunk);
        let topic = bag.topic("/joint_states", "sensor_msgs/msg/JointState", &joint_state());
        let camera = bag.channel("/camera", ("protobuf", "protobuf"), "foxglove.Image", "\x01");
        for (k, (stamp, [arm, hand], [arm_rate, hand_rate])) in motion().into_iter().enumerate() {
            let message = Cdr::new(big).header(stamp);
            // In an order that changes, with a joint of no interest, and without efforts.
            let message = match k % 2 {
                0 => message
                    .texts(&["hand", "gripper", "arm joint"])
                    .list(&[hand, 9.0, arm])
                    .list(&[hand_rate, 9.0, arm_rate])
                    .list(&[]),
                _ => message
                    .texts(&["arm joint", "hand"])
                    .list(&[arm, hand])
                    .list(&[arm_rate, hand_rate])
                    .list(&[]),
            };
            bag.message(topic, [stamp + 3_000_000, stamp], message.bytes());
            bag.message(camera, [stamp, stamp], vec![7; 500]);
        }
        std::fs::write(folder.path("run.mcap"), bag.finish()).unwrap();
        let mut dataset = Dataset::load(&experiment(&folder, "run.mcap", columns)).unwrap();
        dataset.trajectories[0].name.clone_from(&expected.trajectories[0].name);
        assert_eq!(dataset.trajectories, expected.trajectories, "{big} {chunk:?}");
        assert!(dataset.notes.is_empty());
    }
}

const BOX: &str = "gravity = [0, 0, 0]
simulation.time_step = 0.01
[[body]]
name = 'box'
mass = 2
shape = { box = [0.1, 0.2, 0.3] }
";

const BOX_COLUMNS: &str = "t = '/vicon/box.header.stamp'
'box/position' = ['/vicon/box.pose.position.x', '/vicon/box.pose.position.y', '/vicon/box.pose.position.z']
'box/orientation' = { as = 'xyzw', columns = ['/vicon/box.pose.orientation.x', '/vicon/box.pose.orientation.y', '/vicon/box.pose.orientation.z', '/vicon/box.pose.orientation.w'] }
'box/fx' = { column = '/ft.wrench.force.x', unit = 'N', between = 'linear' }
";

/// A force, at a time after the begin (s).
fn force(t: f64) -> f64 {
    3.0 + 40.0 * t
}

/// A box that a force pushes, seen at 100 Hz; of the force all, at 1 kHz.
fn pushed_box(frames: usize) -> Vec<u8> {
    let mut bag = Bag::new(Some(4096));
    let vicon = bag.topic("/vicon/box", "geometry_msgs/msg/PoseStamped", &pose_stamped());
    let ft = bag.topic("/ft", "geometry_msgs/msg/WrenchStamped", &wrench_stamped());
    let none = [0.0; 5];
    for k in 0..10 * frames {
        let (stamp, t) = (BEGIN + 1_000_000 * k as i64, 1e-3 * k as f64);
        if k % 10 == 0 {
            // Forces rise steadily: x = (3/2 t^2 + 40/6 t^3) / m.
            let x = (1.5 * t * t + 40.0 / 6.0 * t * t * t) / 2.0;
            let pose = [x, 0.0, 0.5, 0.0, 0.0, 0.0, -1.0];
            let message = Cdr::new(false).header(stamp).f64s(&pose);
            bag.message(vicon, [stamp + 7_000_000, stamp], message.bytes());
        }
        let message = Cdr::new(true).header(stamp).f64(force(t)).f64s(&none);
        bag.message(ft, [stamp + 9_000_000, stamp], message.bytes());
    }
    bag.finish()
}

#[test]
fn forces_keep_their_own_times() {
    let folder = Folder::new("mcap-forces");
    folder.write("scene.toml", BOX);
    std::fs::write(folder.path("run.mcap"), pushed_box(20)).unwrap();
    let text = format!(
        "scene = 'scene.toml'\ndata = ['*.mcap']\ninitial_state = 'fitted'\nprofiles = false\n[[parameter]]\nname = 'box/mass'\nstart = 1\nlower = 0.1\n[columns]\n{BOX_COLUMNS}"
    );
    let experiment = folder.experiment(&text).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    let times = &dataset.trajectories[0].times;
    assert_eq!(times.len(), 20);
    assert!(
        times.iter().enumerate().all(|(k, t)| (t - 0.01 * k as f64).abs() < 1e-12),
        "{times:?}"
    );
    let [signal] = &dataset.inputs[0][..] else { panic!("{}", dataset.inputs[0].len()) };
    let known = signal.signal.times().iter().zip(signal.signal.values());
    assert!(known.clone().all(|(t, f)| (f - force(*t)).abs() < 1e-9));
    assert_eq!(known.count(), 200);
    let fit = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    let mass = fit.parameters[0].value;
    assert!((mass - 2.0).abs() < 2e-3, "{mass}");
}

/// A box that is seen, and an arm beside it that tells its angle; at rates of their own.
const PAIR: &str = "gravity = [0, 0, 0]
simulation.time_step = 0.01
[[body]]
name = 'box'
mass = 2
shape = { box = [0.1, 0.2, 0.3] }
[[body]]
name = 'arm'
joint = { type = 'revolute', axis = [0, 1, 0], name = 'elbow', damping = 0.1 }
position = [9, 0, 0]
mass = 1
inertia = 0.1
";

fn box_and_arm() -> Vec<u8> {
    let mut bag = Bag::new(Some(4096));
    let vicon = bag.topic("/vicon/box", "geometry_msgs/msg/PoseStamped", &pose_stamped());
    let joints = bag.topic("/joint_states", "sensor_msgs/msg/JointState", &joint_state());
    let ft = bag.topic("/ft", "geometry_msgs/msg/WrenchStamped", &wrench_stamped());
    bag.channel("/camera", ("protobuf", "protobuf"), "foxglove.Image", "\x01");
    for k in 0..300 {
        let (stamp, t) = (BEGIN + 1_000_000 * k, 1e-3 * k as f64);
        if k % 7 == 0 {
            let (angle, rate) = (0.5 - 0.5 * (-t).exp(), 0.5 * (-t).exp());
            let message = Cdr::new(false).header(stamp).texts(&["wrist", "elbow"]);
            let message = message.list(&[9.0, angle]).list(&[9.0, rate]).list(&[]);
            bag.message(joints, [stamp, stamp], message.bytes());
        }
        if k % 10 == 0 {
            let pose = [0.75 * t * t, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0];
            bag.message(vicon, [stamp, stamp], Cdr::new(false).header(stamp).f64s(&pose).bytes());
        }
        let message = Cdr::new(false).header(stamp).f64s(&[3.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        bag.message(ft, [stamp, stamp], message.bytes());
    }
    bag.finish()
}

#[test]
fn a_file_that_is_cut_off_is_used_with_a_warning() {
    let folder = Folder::new("mcap-warning");
    folder.write("scene.toml", ARM);
    let mut bag = Bag::new(None);
    let topic = bag.topic("/joint_states", "sensor_msgs/msg/JointState", &joint_state());
    for (stamp, angles, _) in motion() {
        let message = Cdr::new(false).header(stamp).texts(&["arm", "hand"]);
        bag.message(topic, [stamp, stamp], message.list(&angles).list(&[]).list(&[]).bytes());
    }
    let bytes = bag.finish();
    std::fs::write(folder.path("run.mcap"), &bytes[..bytes.len() / 2]).unwrap();
    let columns =
        "'arm/q' = '/joint_states.position.arm'\n'hand/q' = '/joint_states.position.hand'\n";
    let dataset = Dataset::load(&experiment(&folder, "run.mcap", columns)).unwrap();
    let frames = dataset.trajectories[0].times.len();
    assert!((2..FRAMES).contains(&frames), "{frames}");
    let [note] = &dataset.notes[..] else { panic!("{:?}", dataset.notes) };
    let says = format!("the {frames} messages before are read; `mcap recover`");
    assert!(note.contains("run.mcap: is cut off: a record ") && note.contains(&says), "{note}");
}

/// As the documentation has it.
#[cfg(feature = "cli")]
#[test]
fn commands_read_them() {
    use crate::fixtures::program::{refuses, succeeds};
    let folder = Folder::new("mcap-command");
    folder.write("scene.toml", PAIR);
    std::fs::write(folder.path("run.mcap"), box_and_arm()).unwrap();
    let arm =
        "'arm/q' = '/joint_states.position.elbow'\n'arm/v' = '/joint_states.velocity.elbow'\n";
    let parameters = "[[parameter]]\nname = 'box/mass'\nstart = 1\nlower = 0.1\n[[parameter]]\nname = 'arm/damping'\nstart = 0.2\nlower = 0.01\n";
    let text = |more: &str| {
        format!(
            "scene = 'scene.toml'\ndata = ['*.mcap']\ninitial_state = 'fitted'\n{parameters}[columns]\n{BOX_COLUMNS}{arm}{more}"
        )
    };
    folder.write("e.toml", &text(""));
    let said = succeeds(&folder.run(&["identify", "e.toml", "--json"]));
    let result: serde_json::Value = serde_json::from_str(&said).unwrap();
    let value = |k: usize| result["parameters"][k]["value"].as_f64().unwrap();
    // The arm's angles between messages are on lines.
    assert!((value(0) - 2.0).abs() < 1e-3 && (value(1) - 0.1).abs() < 1e-3, "{said}");
    succeeds(&folder.run(&["evaluate", "e.toml", "--data", "run.mcap"]));
    folder.write("wrong.toml", &text("'box/fy' = '/camera.height'"));
    refuses(
        &folder.run(&["evaluate", "wrong.toml"]),
        &["run.mcap: /camera.height", "its messages are of the encoding \"protobuf\""],
    );
    let init = ["init", "fit", "--scene", "scene.toml", "--recordings", "run.mcap"];
    assert!(folder.run(&init).status.success());
    let made = folder.read("fit/experiment.toml");
    for line in [
        "\"t\" = \"/vicon/box.header.stamp\"",
        "\"box/qw\" = \"/vicon/box.pose.orientation.w\"",
        "\"arm/q\" = \"/joint_states.position.elbow\"",
        "\"arm/v\" = \"/joint_states.velocity.elbow\"",
        "# not used: /ft",
    ] {
        assert!(made.contains(line), "{line}: {made}");
    }
    assert!(folder.run(&["evaluate", "fit/experiment.toml"]).status.success());
}
