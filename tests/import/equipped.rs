//! Robots that stand up: a ground, motors, and the height of the base, added to files that do not have them.

use approx::assert_relative_eq;
use stiction::assemble::{BaseHeight, Description, Driven, Equipment, Motors};
use stiction::formats::LoadOptions;
use stiction::model::{ActuatorKind, Integrator, Scene};
use stiction::simulation::Rollout;

#[cfg(feature = "cli")]
use crate::folder::Folder;
#[cfg(feature = "cli")]
use crate::program::{refuses, succeeds};

/// A trunk on four legs of two links each, whose knees cannot be straight.
fn quadruped() -> String {
    let mut text = String::from(
        "<robot name='dog'><link name='trunk'><inertial><mass value='6'/>\
         <inertia ixx='0.02' iyy='0.06' izz='0.07' ixy='0' ixz='0' iyz='0'/></inertial>\
         <collision><geometry><box size='0.4 0.2 0.1'/></geometry></collision></link>\n",
    );
    for (name, x, y) in
        [("fl", 0.2, 0.15), ("fr", 0.2, -0.15), ("hl", -0.2, 0.15), ("hr", -0.2, -0.15)]
    {
        text += &format!(
            "<link name='{name}_thigh'><inertial><origin xyz='0 0 -0.1'/><mass value='0.6'/>\
             <inertia ixx='2e-3' iyy='2e-3' izz='2e-4' ixy='0' ixz='0' iyz='0'/></inertial></link>\n\
             <link name='{name}_calf'><inertial><origin xyz='0 0 -0.1'/><mass value='0.2'/>\
             <inertia ixx='7e-4' iyy='7e-4' izz='5e-5' ixy='0' ixz='0' iyz='0'/></inertial>\
             <collision><origin xyz='0 0 -0.2'/><geometry><sphere radius='0.02'/></geometry></collision></link>\n\
             <joint name='{name}_hip_joint' type='revolute'><parent link='trunk'/><child link='{name}_thigh'/>\
             <origin xyz='{x} {y} 0'/><axis xyz='0 1 0'/><limit lower='-1.5' upper='1.5' effort='40' velocity='20'/></joint>\n\
             <joint name='{name}_knee_joint' type='revolute'><parent link='{name}_thigh'/><child link='{name}_calf'/>\
             <origin xyz='0 0 -0.2'/><axis xyz='0 1 0'/><limit lower='-2.7' upper='-0.3' effort='40' velocity='20'/></joint>\n"
        );
    }
    text + "</robot>\n"
}

fn equipped(joints: &[(String, f64)], equipment: Equipment) -> Description {
    let options = LoadOptions { floating_base: true, equipment, ..LoadOptions::default() };
    let mut description = Description::parse_xml(&quadruped(), "dog.urdf", options).unwrap();
    description.set_joints(joints).unwrap();
    description.equip(&equipment).unwrap();
    description
}

const ALL: Equipment = Equipment {
    ground: Some(0.8),
    motors: Some(Motors::Each(ActuatorKind::Position)),
    base_height: Some(BaseHeight::OnGround),
};

#[test]
fn a_quadruped_stands_and_keeps_standing() {
    let crouch = [("*_hip_joint".to_string(), 0.7), ("*_knee_joint".to_string(), -1.4)];
    let description = equipped(&crouch, ALL);
    // Of effort nothing is left to be warned of, nor of shapes that touch nothing.
    let warnings: Vec<String> = description.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.contains("touch the ground alone")), "{warnings:?}");
    assert!(
        !warnings.iter().any(|w| w.contains("effort") || w.contains("touch nothing")),
        "{warnings:?}"
    );
    assert_eq!(description.actuators.len(), 8);
    let hip = &description.actuators[0];
    assert_eq!(
        (hip.name.as_str(), hip.control, hip.force_range),
        ("fl_hip_joint", 0.7, Some([-40.0, 40.0]))
    );
    assert_eq!(hip.control_range, Some([-1.5, 1.5]));
    let Scene { model, parameters, settings, state, inputs, .. } = description.scene().unwrap();
    assert_eq!(settings.integrator, Integrator::Implicit);
    // Two links of 0.2 m, each at 0.7 rad from upright, and the ball of the foot.
    let height = 0.4 * 0.7_f64.cos() + 0.02;
    assert_relative_eq!(state.q[2], height, epsilon = 1e-12);
    let system =
        stiction::model::System { model: &model, parameters: &parameters, settings: &settings };
    let mut rollout = Rollout::new(system, state);
    rollout.advance(1500, &inputs);
    assert!(rollout.state.v.iter().all(|v| v.abs() < 1e-6), "{:?}", rollout.state.v);
    assert!(
        (rollout.state.q[2] - height).abs() < 0.02 && rollout.state.q[3] > 0.999,
        "{:?}",
        rollout.state.q
    );
    assert_eq!(rollout.report.unsolved, 0);
}

#[test]
fn what_starts_beyond_its_limits_starts_at_them() {
    let description =
        equipped(&[], Equipment { base_height: Some(BaseHeight::At(0.7)), ..Equipment::default() });
    let state = description.scene().unwrap().state;
    assert_eq!(state.q[2], 0.7);
    assert_eq!(state.q[7..], [0.0, -0.3, 0.0, -0.3, 0.0, -0.3, 0.0, -0.3]);
    // As it is, where nothing is asked for.
    let plain = equipped(&[], Equipment::default());
    assert!(
        plain.scene().unwrap().state.q[7..].iter().all(|&q| q == 0.0) && plain.actuators.is_empty()
    );
}

/// Joints that follow others start with them, and what floats or slides in a plane has no drives.
#[test]
fn followers_start_where_their_leaders_have_them() {
    let robot = "<robot name='grip'><link name='palm'/>\
        <link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\
        <link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\
        <link name='c'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\
        <joint name='ja' type='continuous'><parent link='palm'/><child link='a'/></joint>\
        <joint name='jb' type='continuous'><parent link='palm'/><child link='b'/><mimic joint='ja' multiplier='2' offset='0.5'/></joint>\
        <joint name='jc' type='planar'><parent link='palm'/><child link='c'/></joint></robot>";
    let mut description =
        Description::parse_xml(robot, "grip.urdf", LoadOptions::default()).unwrap();
    description.set_joints(&[("ja".to_string(), 0.7)]).unwrap();
    let follows = description.bodies.iter().find(|body| body.name == "b").unwrap();
    assert_relative_eq!(follows.joint.q[0], 1.9, epsilon = 1e-12);
    description
        .equip(&Equipment {
            motors: Some(Motors::Each(ActuatorKind::Position)),
            ..Equipment::default()
        })
        .unwrap();
    let start = |name: &str| {
        description.bodies.iter().find(|body| body.name == name).unwrap().joint.q.clone()
    };
    assert_relative_eq!(start("b")[0], 1.9, epsilon = 1e-12);
    let driven: Vec<Driven> =
        description.actuators.iter().map(|actuator| actuator.drives.clone()).collect();
    assert_eq!(driven, [Driven::Joint("ja".to_string())]);
}

/// A servo on a fixed arm, alone, has the stiffness at which what hangs on it swings at 4 Hz.
#[test]
fn gains_are_those_of_what_hangs_on_a_joint() {
    let arm = "<mujoco><worldbody><body name='arm' pos='0 0 1'><joint name='j' type='hinge' axis='0 1 0'/>\
               <inertial pos='0.3 0 0' mass='2' diaginertia='0.01 0.02 0.03'/></body></worldbody></mujoco>";
    let mut description = Description::parse_xml(arm, "arm.xml", LoadOptions::default()).unwrap();
    description
        .equip(&Equipment {
            motors: Some(Motors::Each(ActuatorKind::Position)),
            ..Equipment::default()
        })
        .unwrap();
    let servo = &description.actuators[0];
    let (inertia, rate) = (0.02 + 2.0 * 0.09, std::f64::consts::TAU * 4.0);
    assert_relative_eq!(servo.kp, inertia * rate * rate, max_relative = 5e-3);
    assert_relative_eq!(servo.kd, 1.4 * inertia * rate, max_relative = 5e-3);
    let again = description.equip(&Equipment {
        motors: Some(Motors::Each(ActuatorKind::Motor)),
        ..Equipment::default()
    });
    assert!(again.unwrap_err().to_string().contains("or all have one"));
}

#[cfg(feature = "cli")]
#[test]
fn the_program_equips_and_refuses_in_words() {
    let folder = Folder::new("equipped");
    folder.write("dog.urdf", &quadruped());
    let import =
        |more: &[&str]| folder.run(&[&["import", "dog.urdf", "-o", "dog.toml"], more].concat());
    let all = [
        "--floating-base",
        "--ground",
        "--mu",
        "0.6",
        "--actuators",
        "position",
        "--base-height",
        "auto",
        "--joint",
        "*hip*=0.7",
        "--joint",
        "*knee*=-1.4",
    ];
    // With warnings.
    assert!(import(&all).status.success());
    let text = folder.read("dog.toml");
    assert!(text.contains("mu = 0.6") && text.matches("[[actuator]]").count() == 8, "{text}");
    succeeds(&folder.run(&["simulate", "dog.toml", "--steps", "50", "-o", "dog.csv"]));
    let scene = Scene::load(folder.path("dog.toml")).unwrap();
    assert_relative_eq!(scene.state.q[2], 0.4 * 0.7_f64.cos() + 0.02, epsilon = 1e-9);
    std::fs::remove_file(folder.path("dog.toml")).unwrap();
    for (more, says) in [
        (&["--mu", "0.5"][..], "--ground"),
        (&["--ground", "--mu", "-1"], "must be finite and not negative"),
        (&["--base-height", "auto"], "has no floating base"),
        (&["--floating-base", "--base-height", "high"], "auto or a number"),
        (&["--joint", "knee"], "a name, =, and a number"),
        (&["--joint", "wrist=1"], "there are fl_hip_joint, fl_knee_joint"),
        (&["--actuators", "speed"], "position, torque"),
    ] {
        refuses(&import(more), &[says]);
        assert!(!folder.path("dog.toml").exists(), "{more:?}");
    }
    // A file that has a ground already, and a scene.
    folder.write("box.xml", "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body><freejoint/><geom size='1'/></body></worldbody></mujoco>");
    refuses(&folder.run(&["import", "box.xml", "--ground"]), &["the file has \"floor\" already"]);
}

/// A scene and an experiment for a robot, of which the commands that are proposed run.
#[cfg(feature = "cli")]
#[test]
fn init_writes_a_robot_that_stands() {
    let folder = Folder::new("init-robot");
    folder.write("dog.urdf", &quadruped());
    let begun =
        |more: &[&str]| folder.run(&[&["init", "walk", "--robot", "dog.urdf"], more].concat());
    let output = begun(&["--floating-base"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(folder.files(), ["dog.urdf", "walk"]);
    let scene = Scene::load(folder.path("walk/scene.toml")).unwrap();
    assert_eq!((scene.model.nu(), scene.model.half_spaces.len()), (8, 1));
    // As high as it stands on straight hips and knees at their limits.
    let height = 0.2 + 0.2 * 0.3_f64.cos() + 0.02;
    assert_relative_eq!(scene.state.q[2], height, epsilon = 1e-12);
    let proposed: Vec<&str> =
        said.lines().filter_map(|line| line.trim().strip_prefix("stiction ")).collect();
    assert_eq!(proposed.len(), 5, "{said}");
    for (command, code) in proposed[..3].iter().zip([0, 0, 1]) {
        let words = command.split('#').next().unwrap().split_whitespace();
        // Not as long, and for a recording of the pose alone.
        let words: Vec<&str> = words.map(|word| if word == "500" { "20" } else { word }).collect();
        let output = folder.run(&words);
        // What stands says nothing of friction, and the check says so.
        assert_eq!(output.status.code(), Some(code), "{command}: {output:?}");
    }
    assert!(folder.path("walk/recording.csv").exists() && folder.path("walk/motion.html").exists());
    // What the file has is left as it is: a ground, a height above it, and a motor.
    let text = "<mujoco><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 2'><freejoint/><geom size='.1' mass='1'/>\
        <body pos='0 0 .3'><joint name='neck' damping='1'/><geom size='.1' mass='1'/></body></body></worldbody>\
        <actuator><motor joint='neck'/></actuator></mujoco>";
    folder.write("doll.xml", text);
    assert!(folder.run(&["init", "doll", "--robot", "doll.xml"]).status.success());
    let scene = Scene::load(folder.path("doll/scene.toml")).unwrap();
    assert_eq!((scene.state.q[2], scene.model.nu(), scene.model.half_spaces.len()), (2.0, 1, 1));
    assert_eq!(scene.model.actuators[0].kind, ActuatorKind::Motor);
    // Things beside a robot stay where they are.
    let text = "<mujoco><worldbody><geom type='box' size='.5 .5 .1' pos='0 0 .6'/><body name='cup' pos='0 0 .8'><freejoint/>\
        <geom type='box' size='.05 .05 .05' mass='1'/></body><body name='arm' pos='1 0 1'><joint name='elbow'/><geom size='.1' mass='1'/></body></worldbody></mujoco>";
    folder.write("table.xml", text);
    assert!(folder.run(&["init", "table", "--robot", "table.xml"]).status.success());
    let scene = Scene::load(folder.path("table/scene.toml")).unwrap();
    assert_eq!((scene.state.q[2], scene.model.half_spaces.len()), (0.8, 0));
    // What is fixed where a ground would be has none, and is told why; what has no shapes stays as high as it is.
    let output = folder.run(&["init", "fixed", "--robot", "dog.urdf"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("give --floating-base"), "{output:?}");
    assert_eq!(Scene::load(folder.path("fixed/scene.toml")).unwrap().model.half_spaces.len(), 0);
    let dog = quadruped();
    let bare =
        dog.lines().map(|line| match (line.find("<collision>"), line.find("</collision>")) {
            (Some(from), Some(to)) => format!("{}{}\n", &line[..from], &line[to + 12..]),
            _ => format!("{line}\n"),
        });
    folder.write("bare.urdf", &bare.collect::<String>());
    let output = folder.run(&["init", "bare", "--robot", "bare.urdf", "--floating-base"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("has no shapes that could stand"),
        "{output:?}"
    );
    refuses(&begun(&[]), &["is there already"]);
    refuses(&folder.run(&["init", "no", "--robot", "none.urdf"]), &["none.urdf"]);
    refuses(
        &folder.run(&["init", "no", "--robot", "walk/scene.toml"]),
        &["a scene says them itself"],
    );
    assert!(!folder.path("no").exists());
}

/// An arm whose joints are told what ros_control and ros2_control say, and one that nobody drives.
const STATED: &str = "<robot name='arm'><link name='base'/>
<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
<link name='c'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
<link name='d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
<joint name='ja' type='revolute'><parent link='base'/><child link='a'/><axis xyz='0 1 0'/><limit lower='-2' upper='0.5' effort='40' velocity='3'/></joint>
<joint name='jb' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/><limit effort='4' velocity='2.5'/></joint>
<joint name='jc' type='prismatic'><parent link='b'/><child link='c'/><axis xyz='0 1 0'/><limit lower='0' upper='1' effort='7' velocity='0'/></joint>
<joint name='jd' type='prismatic'><parent link='c'/><child link='d'/><axis xyz='0 1 0'/><limit lower='0' upper='1' effort='7' velocity='1'/></joint>
<transmission name='t'><type>transmission_interface/SimpleTransmission</type>
  <joint name='jc'><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint><actuator name='m'/></transmission>
<transmission name='u'><type>transmission_interface/SimpleTransmission</type>
  <joint name='ja'><hardwareInterface>EffortJointInterface</hardwareInterface></joint></transmission>
<transmission name='w'><type>transmission_interface/DifferentialTransmission</type><joint name='jd'/></transmission>
<ros2_control name='r' type='system'>
  <joint name='ja'><command_interface name='position'><param name='min'>-1</param><param name='max'>1</param></command_interface>
    <command_interface name='velocity'/><state_interface name='position'/></joint>
  <joint name='jb'><command_interface name='velocity'/></joint>
</ros2_control></robot>";

fn stated(text: &str) -> Result<Description, stiction::Error> {
    let equipment = Equipment { motors: Some(Motors::Stated), ..Equipment::default() };
    let options = LoadOptions { equipment, ..LoadOptions::default() };
    let mut description = Description::parse_xml(text, "arm.urdf", options)?;
    description.equip(&equipment)?;
    Ok(description)
}

#[test]
fn drives_are_those_that_the_file_states() {
    let description = stated(STATED).unwrap();
    let found: Vec<_> = description
        .actuators
        .iter()
        .map(|a| (a.name.as_str(), a.kind, a.control_range, a.force_range))
        .collect();
    assert_eq!(
        found,
        [
            // Of its own range and that of the joint, the smaller; what ros2_control says goes before.
            ("ja", ActuatorKind::Position, Some([-1.0, 0.5]), Some([-40.0, 40.0])),
            ("jb", ActuatorKind::Velocity, Some([-2.5, 2.5]), Some([-4.0, 4.0])),
            ("jc", ActuatorKind::Motor, None, Some([-7.0, 7.0])),
        ]
    );
    assert!(description.actuators[1].kd > 0.0 && description.actuators[1].kp == 0.0);
    let warnings: Vec<String> = description.warnings.iter().map(ToString::to_string).collect();
    let [several, differential] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(several.contains("\"ja\" is the first of several"), "{several}");
    assert!(differential.contains("transmission.type: is not followed"), "{differential}");
    // Speeds are limits of motions, not of the joints themselves.
    let speeds: Vec<_> = description.bodies.iter().map(|body| body.joint.max_speed).collect();
    assert_eq!(speeds, [None, Some(3.0), Some(2.5), None, Some(1.0)]);
    let scene = description.scene().unwrap();
    let again = Scene::parse(&description.to_toml("."), "arm.toml").unwrap();
    let of =
        |scene: &Scene| scene.model.bodies.iter().map(|b| b.joint.max_speed).collect::<Vec<_>>();
    assert_eq!(of(&scene), of(&again));

    let mut transition =
        stiction::transition::Transition::new("arm", std::sync::Arc::new(scene)).unwrap();
    let names = ["jc/u", "ja/u", "b/f"].map(String::from);
    transition.select_inputs(&names).unwrap();
    let inf = f64::INFINITY;
    assert_eq!(transition.input_limits(), [vec![-7.0, -1.0, -inf], vec![7.0, 0.5, inf]]);
    assert_eq!(
        transition.state_limits(),
        [
            vec![-2.0, -inf, 0.0, 0.0, -3.0, -2.5, -inf, -1.0],
            vec![0.5, inf, 1.0, 1.0, 3.0, 2.5, inf, 1.0]
        ]
    );
}

#[test]
fn drives_that_make_no_sense_are_refused() {
    let plain = "<robot name='arm'><link name='base'/><link name='a'><inertial><mass value='1'/>
        <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
        <joint name='ja' type='continuous'><parent link='base'/><child link='a'/></joint>END</robot>";
    for (end, expected) in [
        ("", "the file states no drives (in <transmission> or ros2_control)"),
        (
            "<ros2_control><joint name='ja'><command_interface name='position'><param name='min'>low</param></command_interface></joint></ros2_control>",
            "must be a finite number, found \"low\"",
        ),
        (
            "<ros2_control><joint name='ja'><command_interface name='position'><param name='min'>2</param><param name='max'>1</param></command_interface></joint></ros2_control>",
            "has a min that is more than its max",
        ),
        (
            "<ros2_control><joint><command_interface name='position'/></joint></ros2_control>",
            "name: is missing",
        ),
        (
            "<ros2_control><joint name='other'><command_interface name='position'/></joint></ros2_control>",
            "the file states no drives",
        ),
    ] {
        let error = stated(&plain.replace("END", end)).expect_err(end).to_string();
        assert!(error.starts_with("arm.urdf:") && error.contains(expected), "{error}");
    }
}

/// What cannot be driven is told, one end of a range counts where the joint has the other, and of ranges that do not meet that
/// of the joint does; a limit of velocity is of joints with one coordinate.
#[test]
fn what_is_not_driven_is_told() {
    let link = |name: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        )
    };
    let joint = |name: &str, kind: &str, child: &str, more: &str| {
        format!(
            "<joint name='{name}' type='{kind}'><parent link='base'/><child link='{child}'/><axis xyz='0 1 0'/>{more}</joint>"
        )
    };
    let command = |joint: &str, range: &str| {
        format!(
            "<joint name='{joint}'><command_interface name='position'>{range}</command_interface></joint>"
        )
    };
    let limit = "<limit lower='1' upper='2' effort='1' velocity='-1'/>";
    let text = format!(
        "<robot name='r'><link name='base'/>{}{}<ros2_control>{}</ros2_control></robot>",
        ["a", "b", "c", "d", "e"].map(link).concat(),
        [
            joint("ja", "revolute", "a", limit),
            joint("jb", "revolute", "b", limit),
            joint("jc", "fixed", "c", "<limit effort='1' velocity='3'/>"),
            joint("jd", "revolute", "d", &format!("{limit}<mimic joint='ja'/>")),
            joint("je", "continuous", "e", ""),
        ]
        .concat(),
        [
            command("ja", "<param name='max'>1.5</param>"),
            command("jb", "<param name='min'>-0.5</param><param name='max'>0.5</param>"),
            command("jc", ""),
            command("jd", ""),
            command("je", "<param name='min'>-0.5</param>"),
            command("jx", ""),
        ]
        .concat()
    );
    let description = stated(&text).unwrap();
    let ranges: Vec<_> =
        description.actuators.iter().map(|a| (a.name.as_str(), a.control_range)).collect();
    assert_eq!(ranges, [("ja", Some([1.0, 1.5])), ("jb", Some([1.0, 2.0])), ("je", None)]);
    let warnings: Vec<String> = description.warnings.iter().map(ToString::to_string).collect();
    for expected in [
        "\"jc\" is not driven: the joint has not one coordinate",
        "\"jd\" is not driven: the joint follows another one",
        "\"jx\" is not driven: there is no such joint",
        "the range of \"je\" has one end",
    ] {
        assert!(warnings.iter().any(|w| w.contains(expected)), "{warnings:?}");
    }
    assert!(description.bodies.iter().all(|body| body.joint.max_speed.is_none()));
    description.scene().unwrap();
}

/// Links of which Gazebo says that they collide touch each other, unless a joint joins them, through what is fixed to them too.
#[test]
fn links_that_collide_in_gazebo_touch() {
    let link = |name: &str, mu: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>
             <collision><geometry><box size='0.1 0.1 0.1'/></geometry></collision></link>
             <gazebo reference='{name}'><selfCollide>true</selfCollide>{mu}</gazebo>"
        )
    };
    let joint = |parent: &str, child: &str, kind: &str| {
        format!(
            "<joint name='{parent}{child}' type='{kind}'><parent link='{parent}'/><child link='{child}'/><origin xyz='0.5 0 0'/></joint>"
        )
    };
    let text = format!(
        "<robot name='r'>{}{}{}{}{}{}{}<gazebo reference='d'><selfCollide>false</selfCollide></gazebo>{}</robot>",
        link("a", "<mu1>0.7</mu1><mu2>0.5</mu2>"),
        link("b", ""),
        link("c", "<mu1>0.6</mu1>"),
        link("d", ""),
        joint("a", "b", "continuous"),
        joint("b", "c", "continuous"),
        joint("c", "d", "continuous"),
        format_args!("{}{}", link("e", ""), joint("b", "e", "fixed")),
    );
    let description = Description::parse_xml(&text, "r.urdf", LoadOptions::default()).unwrap();
    let found: Vec<_> = description
        .contacts
        .iter()
        .map(|contact| (contact.pair.as_str(), contact.material.unwrap().mu))
        .collect();
    // a-b, b-c and c-d are joined; e is b's, so a-e and c-e are joined too; d does not collide.
    assert_eq!(found, [("a-c", 0.5)]);
    let scene = description.scene().unwrap();
    assert_eq!(scene.model.pairs.len(), 1);
    let told = |description: &Description| {
        let touches = |w: &&stiction::Error| w.to_string().contains("link.collision");
        let of = description.warnings.iter().filter(touches).map(ToString::to_string);
        of.collect::<Vec<_>>()
    };
    let [warning] = &told(&description)[..] else { panic!("{:?}", description.warnings) };
    assert!(warning.contains("touch nothing but each other"), "{warning}");
    // All of them by one word for the model.
    let all = text
        .replace("<selfCollide>true</selfCollide>", "")
        .replace("</robot>", "<gazebo><self_collide>True</self_collide></gazebo></robot>");
    let description = Description::parse_xml(&all, "r.urdf", LoadOptions::default()).unwrap();
    assert_eq!(description.contacts.len(), 1);
    // A world that has shapes, and a link that has several.
    let box_at = |x: f64| {
        format!(
            "<collision><origin xyz='{x} 0 0'/><geometry><box size='0.1 0.1 0.1'/></geometry></collision>"
        )
    };
    let text = format!(
        "<robot name='r'><link name='world'>{0}</link><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>
         <link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>{0}{1}</link>{2}{3}
         <gazebo><self_collide>true</self_collide></gazebo></robot>",
        box_at(0.0),
        box_at(0.3),
        joint("world", "a", "continuous"),
        joint("a", "b", "continuous"),
    );
    for (floating_base, pairs) in
        [(false, ["world/0-b/0", "world/0-b/1"]), (true, ["world_link-b/0", "world_link-b/1"])]
    {
        let equipment = Equipment { ground: Some(0.5), ..Equipment::default() };
        let options = LoadOptions { floating_base, equipment, ..LoadOptions::default() };
        let mut description = Description::parse_xml(&text, "r.urdf", options).unwrap();
        let found: Vec<_> = description.contacts.iter().map(|c| c.pair.clone()).collect();
        assert_eq!(found, pairs);
        description.equip(&equipment).unwrap();
        description.scene().unwrap();
        let [warning] = &told(&description)[..] else { panic!("{:?}", description.warnings) };
        assert!(warning.contains("touch the ground, and each other where"), "{warning}");
    }
}

/// A joint that is faster than it is made for is told of, once, with when.
#[cfg(feature = "cli")]
#[test]
fn speeds_beyond_those_of_a_joint_are_told() {
    let folder = Folder::new("beyond-speed");
    folder.write(
        "rod.toml",
        "[simulation]\ntime_step = 0.01\n[[body]]\nname = 'rod'\nmass = 1\ncenter_of_mass = [0, 0, -0.5]\n\
         inertia = [0.1, 0.1, 0.1]\njoint = { type = 'revolute', axis = [0, 1, 0], q = [1.5], max_speed = 2.5 }\n",
    );
    let run = |arguments: &[&str]| {
        let output = folder.run(arguments);
        assert!(output.status.success(), "{output:?}");
        output
    };
    let output = run(&["simulate", "rod.toml", "--steps", "200", "-o", "rod.csv"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("rod: up to 5.") && said.contains("rad/s, beyond max_speed = 2.5 in "),
        "{said}"
    );
    let output = run(&["simulate", "rod.toml", "--steps", "200", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let [beyond] = &json["beyond_speed"].as_array().unwrap()[..] else { panic!("{json}") };
    // The speed in rad/s is the first in the motion.
    let rows = folder.read("rod.csv");
    let speeds = rows.lines().skip(1).map(|row| {
        let row: Vec<f64> = row.split(',').map(|x| x.parse().unwrap()).collect();
        (row[0], row[2].abs())
    });
    let fast: Vec<(f64, f64)> = speeds.filter(|(_, speed)| *speed > 2.5).collect();
    assert_eq!(beyond["states"], fast.len());
    assert_eq!(beyond["from"], fast[0].0);
    assert_eq!(beyond["largest"], fast.iter().fold(0.0, |most: f64, row| most.max(row.1)));
    let output = run(&["simulate", "rod.toml", "--steps", "10"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("max_speed"));
    for (speed, expected) in
        [("0", "must be positive"), ("-1", "must be positive"), ("nan", "finite")]
    {
        let text =
            folder.read("rod.toml").replace("max_speed = 2.5", &format!("max_speed = {speed}"));
        let error = Scene::parse(&text, "rod.toml").expect_err(speed).to_string();
        assert!(error.contains("max_speed") && error.contains(expected), "{error}");
    }
}
