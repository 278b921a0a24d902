//! What the names of columns probably mean.

use stiction::trajectory::{RecordingFile, understand};

use crate::fixtures::scenes::scene;

const KITE: &str = "simulation.time_step = 0.01\n[[body]]\nname = 'kite'\nmass = 1\ninertia = 1\n";
const PAIR: &str = "simulation.time_step = 0.01\n[[body]]\nname = 'left_box'\nmass = 1\ninertia = 1\n[[body]]\nname = 'arm'\n\
                    joint = { type = 'revolute', name = 'elbow', axis = [0, 1, 0] }\nmass = 1\ninertia = 1\nposition = [9, 0, 0]\n";

/// Entries as TOML, and what is not understood.
fn read(text: &str, header: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let file = RecordingFile::parse(&format!("{header}\n"), "motion.csv").unwrap();
    let found = understand(&file, &scene(text).model);
    let entries = found.entries.iter().map(|(ours, theirs)| format!("{ours} = {theirs}"));
    (entries.collect(), found.unknown, found.missing)
}

#[test]
fn names_of_columns_are_understood() {
    // Ours need no entry, but what is missing is said.
    let ours = "t,kite/px,kite/py,kite/pz,kite/qw,kite/qx,kite/qy,kite/qz,kite/vx,kite/vy,kite/vz,kite/wx,kite/wy,kite/wz";
    assert_eq!(read(KITE, ours), (vec![], vec![], vec![]));
    let (entries, unknown, missing) = read(
        KITE,
        "Time (ms);RigidBody.Position.X (mm);RigidBody.Position.Y (mm);RigidBody.Position.Z (mm);yaw_deg;pitch_deg;roll_deg;kite/fx;temperature",
    );
    assert_eq!(
        entries,
        [
            "t = { column = \"Time (ms)\", unit = \"ms\" }",
            "kite/px = { column = \"RigidBody.Position.X (mm)\", unit = \"mm\" }",
            "kite/py = { column = \"RigidBody.Position.Y (mm)\", unit = \"mm\" }",
            "kite/pz = { column = \"RigidBody.Position.Z (mm)\", unit = \"mm\" }",
            "kite/orientation = { columns = [\"yaw_deg\", \"pitch_deg\", \"roll_deg\"], as = \"euler\", sequence = \"zyx\", axes = \"moving\", unit = \"deg\" }",
            "kite/velocity = false",
            "kite/angular_velocity = false",
        ]
    );
    // A force that has our name drives by itself.
    assert_eq!((unknown, missing), (vec!["temperature".to_string()], vec![]));
    // Names that are ours are what they are, whatever else they look like: forces and torques are no places.
    let forces = format!("t,kite/fx,kite/tx,kite/ty,kite/tz,{}", &ours[2..]);
    assert_eq!(read(KITE, &forces), (vec![], vec![], vec![]));
    // Angles of which one alone is in degrees are no orientation.
    let (entries, ..) = read(KITE, "t,x,y,z,yaw,pitch_deg,roll_deg");
    assert!(entries.contains(&"kite/orientation = false".to_string()), "{entries:?}");
    // Of several bodies each column names its own; a position without its height is none.
    let (entries, unknown, _) =
        read(PAIR, "timestamp_ns,left_box_x,left_box_y,elbow_pos_deg,elbow_vel_rpm,x,y,z");
    assert_eq!(
        entries,
        [
            "t = { column = \"timestamp_ns\", unit = \"ns\" }",
            "left_box/* = false",
            "arm/q = { column = \"elbow_pos_deg\", unit = \"deg\" }",
            "arm/v = { column = \"elbow_vel_rpm\", unit = \"rpm\" }",
        ]
    );
    assert_eq!(unknown, ["left_box_x", "left_box_y", "x", "y", "z"]);
    let (entries, _, missing) =
        read(PAIR, "t,arm/q,left box position x,left box position y,left box position z");
    assert_eq!(entries[0], "left_box/px = \"left box position x\"");
    assert_eq!((entries.len(), missing), (7, vec![]));
}

/// What `init` writes from a header is an experiment that reads the file.
#[cfg(feature = "cli")]
#[test]
fn experiments_are_begun_from_recordings() {
    use crate::folder::Folder;
    use crate::program::{refuses, succeeds};
    use stiction::identify::{Dataset, Experiment};

    let folder = Folder::new("init-recordings");
    folder.write("scene.toml", PAIR);
    folder.write("run.csv", "time_ms;left_box_x_mm;left_box_y_mm;left_box_z_mm;elbow\n0;1;2;3;0,1\n10;2;2;3;0,2\n20;3;2;3;0,3\n");
    let said =
        succeeds(&folder.run(&["init", "fit", "--scene", "scene.toml", "--recordings", "run.csv"]));
    assert!(said.contains("fit/experiment.toml written"), "{said}");
    assert_eq!(folder.files(), ["fit", "run.csv", "scene.toml"]);
    let experiment = Experiment::load(folder.path("fit/experiment.toml"), &[]).unwrap();
    let recording = &Dataset::load(&experiment).unwrap().trajectories[0];
    assert_eq!(
        (recording.times[2], recording.states[1].q[0], recording.states[1].q[7]),
        (0.02, 0.002, 0.2)
    );
    assert_eq!(recording.recorded.q, [true, true, true, false, false, false, false, true]);
    refuses(&folder.run(&["init", "fit", "--scene", "scene.toml"]), &["is there already"]);
    refuses(&folder.run(&["init", "other", "--scene", "none.toml"]), &["none.toml"]);
    refuses(&folder.run(&["init", "other", "--recordings", "none.csv"]), &["none.csv"]);
    assert_eq!(folder.files(), ["fit", "run.csv", "scene.toml"]);
}

/// Messages name their bodies by the topic or by the field; what else a topic is called says nothing.
#[test]
fn fields_of_messages_are_understood() {
    let pose = |topic: &str| {
        let fields = ["position.x", "position.y", "position.z", "orientation.x", "orientation.y"];
        let fields = fields.iter().chain(&["orientation.z", "orientation.w"]);
        let fields: Vec<String> = fields.map(|field| format!("{topic}.pose.{field}")).collect();
        format!("{topic}.log_time,{topic}.header.stamp,{}", fields.join(","))
    };
    let header = format!(
        "t,/camera.log_time,/camera.height,{},/joint_states.log_time,/joint_states.position.elbow,/joint_states.velocity.elbow,\
         /joint_states.effort.elbow",
        pose("/vicon/left_box")
    );
    let (entries, unknown, missing) = read(PAIR, &header);
    assert_eq!(
        entries,
        [
            "t = \"/vicon/left_box.header.stamp\"",
            "left_box/px = \"/vicon/left_box.pose.position.x\"",
            "left_box/py = \"/vicon/left_box.pose.position.y\"",
            "left_box/pz = \"/vicon/left_box.pose.position.z\"",
            "left_box/qw = \"/vicon/left_box.pose.orientation.w\"",
            "left_box/qx = \"/vicon/left_box.pose.orientation.x\"",
            "left_box/qy = \"/vicon/left_box.pose.orientation.y\"",
            "left_box/qz = \"/vicon/left_box.pose.orientation.z\"",
            "left_box/velocity = false",
            "left_box/angular_velocity = false",
            "arm/q = \"/joint_states.position.elbow\"",
            "arm/v = \"/joint_states.velocity.elbow\"",
        ]
    );
    assert_eq!((unknown, missing), (vec!["/camera".to_string()], vec![]));
    // Of a topic alone, recorded without stamps.
    let (entries, ..) = read(KITE, &format!("t,{}", pose("/a").replace("/a.header.stamp,", "")));
    assert_eq!(entries[..2], ["t = \"/a.log_time\"", "kite/px = \"/a.pose.position.x\""]);
}
