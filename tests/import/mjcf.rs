//! Numbers read from MJCF against numbers derived by hand.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::{assert_near, body, read, refused, warnings};
use stiction::assemble::Description;
use stiction::model::{ActuatorKind, EqualityKind, Integrator, JointKind, Scene, Shape};
use stiction::simulation::Rollout;

/// A model of one body.
fn one(head: &str, inside: &str) -> String {
    format!("<mujoco>{head}<worldbody><body name='b'>{inside}</body></worldbody></mujoco>")
}

#[test]
fn options_are_read() {
    let text = one("<option timestep='0.01' gravity='1 2 3' integrator='RK4'/>", "<freejoint/>");
    let description = read(&text);
    assert_eq!(description.settings.time_step, 0.01);
    assert_eq!(description.settings.integrator, Integrator::RungeKutta);
    assert_eq!(description.gravity, [1.0, 2.0, 3.0]);
    let text = one("<option><flag gravity='disable'/></option>", "<freejoint/>");
    assert_eq!(read(&text).gravity, [0.0; 3]);
}

#[test]
fn masses_of_geoms_are_those_of_solids() {
    // A ball of radius 1, and one of radius 0.5 with its mass given, 2 m apart.
    let text = one("", "<geom size='1' density='3'/><geom size='0.5' mass='5' pos='2 0 0'/>");
    let found = read(&text);
    let (m, n) = (4.0 * PI, 5.0);
    let center = 2.0 * n / (m + n);
    let spin = 0.4 * (m + n * 0.25);
    let across = spin + m * center * center + n * (2.0 - center) * (2.0 - center);
    assert_near(&[found.bodies[0].mass], &[m + n], 1e-14);
    assert_near(&found.bodies[0].center_of_mass, &[center, 0.0, 0.0], 1e-14);
    assert_near(&found.bodies[0].inertia, &[spin, across, across, 0.0, 0.0, 0.0], 1e-13);
}

#[test]
fn a_capsule_from_end_to_end() {
    // Along x, of length 2 between the centres of its ends.
    let text = one("", "<geom type='capsule' fromto='1 0 0 3 0 0' size='0.5' density='1'/>");
    let description = read(&text);
    let b = &description.bodies[0];
    let (rod, caps) = (PI * 0.25 * 2.0, 4.0 / 3.0 * PI * 0.125);
    assert_near(&[b.mass], &[rod + caps], 1e-14);
    assert_near(&b.center_of_mass, &[2.0, 0.0, 0.0], 1e-14);
    let along = rod * 0.125 + caps * 0.1;
    let across = rod * (0.75 + 4.0) / 12.0 + caps * (0.1 + 1.0 + 3.0 / 8.0 * 2.0 * 0.5);
    assert_near(&b.inertia[..3], &[along, across, across], 1e-13);
    assert_eq!(b.colliders[0].shape, Shape::Capsule);
    assert_near(&b.colliders[0].size, &[0.5, 1.0, 0.0], 0.0);
    assert_near(&b.colliders[0].position, &[2.0, 0.0, 0.0], 0.0);
}

#[test]
fn masses_are_bounded_balanced_and_scaled() {
    let inertial = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 4'/>";
    let found = read(&one("<compiler balanceinertia='true'/>", inertial));
    assert_near(&found.bodies[0].inertia[..3], &[2.0; 3], 1e-15);
    let found = read(&one("<compiler boundmass='3' boundinertia='2'/>", inertial));
    assert_near(&[found.bodies[0].mass], &[3.0], 0.0);
    assert_near(&found.bodies[0].inertia[..3], &[2.0, 2.0, 4.0], 1e-15);
    let found = read(&one("<compiler settotalmass='10'/>", inertial));
    assert_near(&[found.bodies[0].mass, found.bodies[0].inertia[2]], &[10.0, 40.0], 1e-14);
    let geom = format!("{inertial}<geom size='1' density='1'/>");
    let found = read(&one("<compiler inertiafromgeom='true'/>", &geom));
    assert_near(&[found.bodies[0].mass], &[4.0 / 3.0 * PI], 1e-14);
}

#[test]
fn orientations_in_five_ways_are_the_same() {
    // A quarter about z.
    let quarter = [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2];
    let ways =
        ["quat='1 0 0 1'", "axisangle='0 0 2 90'", "euler='0 0 90'", "xyaxes='0 1 0 -1 1 0'"];
    for way in ways {
        let text = format!("<mujoco><worldbody><body name='b' {way}/></worldbody></mujoco>");
        assert_near(&read(&text).bodies[0].joint.orientation, &quarter, 1e-15);
    }
    let text = "<mujoco><worldbody><body name='b' zaxis='1 0 0'/></worldbody></mujoco>";
    let about_y = [FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2, 0.0];
    assert_near(&read(text).bodies[0].joint.orientation, &about_y, 1e-15);
    let text = "<mujoco><worldbody><body quat='1 0 0 0' euler='0 0 1'/></worldbody></mujoco>";
    assert!(refused(text).contains("two orientations"));
}

#[test]
fn euler_angles_follow_their_sequence() {
    // About axes that turn along, x then y is Rx Ry; about axes that stay, Ry Rx.
    let orientation = |sequence: &str| {
        let head = format!("<compiler angle='degree' eulerseq='{sequence}'/>");
        let body = "<worldbody><body name='b' euler='90 90 0'/></worldbody>";
        read(&format!("<mujoco>{head}{body}</mujoco>")).bodies[0].joint.orientation
    };
    assert_near(&orientation("xyz"), &[0.5, 0.5, 0.5, 0.5], 1e-15);
    assert_near(&orientation("XYZ"), &[0.5, 0.5, 0.5, -0.5], 1e-15);
    assert_near(&orientation("yxz"), &[0.5, 0.5, 0.5, -0.5], 1e-15);
}

#[test]
fn a_reference_turns_the_pose_at_zero() {
    // At q = 90 degrees the body stands as drawn; at 0 it is turned back about the anchor.
    let text = one("", "<joint axis='0 0 1' ref='90' pos='1 0 0' range='-90 90' springref='45'/>");
    let joint = &read(&text).bodies[0].joint;
    assert_eq!(joint.kind, JointKind::Revolute);
    assert_near(&joint.orientation, &[FRAC_1_SQRT_2, 0.0, 0.0, -FRAC_1_SQRT_2], 1e-15);
    assert_near(&joint.position, &[1.0, 1.0, 0.0], 1e-15);
    assert_near(&joint.q, &[PI / 2.0], 1e-15);
    assert_near(&joint.limits.unwrap(), &[-PI / 2.0, PI / 2.0], 1e-15);
    assert_near(&[joint.rest], &[PI / 4.0], 1e-15);
    let joint = &read(&one("", "<joint type='slide' axis='0 3 0' ref='2'/>")).bodies[0].joint;
    assert_near(&joint.position, &[0.0, -2.0, 0.0], 1e-15);
    assert_near(&joint.axis, &[0.0, 1.0, 0.0], 1e-15);
}

#[test]
fn several_joints_are_bodies_without_mass() {
    let text = "<mujoco><worldbody><body name='a' pos='0 0 1'><geom size='1'/><joint/>\
        <body name='b' pos='1 2 3'><joint name='x' type='slide' axis='1 0 0'/><joint name='y' pos='0 1 0'/>\
        <geom size='1'/></body></body></worldbody></mujoco>";
    let description = read(text);
    let names: Vec<&str> = description.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["a", "b/x", "b"]);
    let (first, last) = (body(&description, "b/x"), body(&description, "b"));
    assert_eq!((first.parent.as_deref(), first.mass), (Some("a"), 0.0));
    assert_near(&first.joint.position, &[1.0, 2.0, 3.0], 0.0);
    assert_eq!((last.parent.as_deref(), last.joint.name.as_str()), (Some("b/x"), "y"));
    assert_near(&last.joint.position, &[0.0; 3], 0.0);
    assert_near(&last.joint.anchor, &[0.0, 1.0, 0.0], 0.0);
    // The body it hangs on is two joints away.
    assert_eq!(description.excluded, [["a".to_string(), "b".to_string()]]);
}

#[test]
fn classes_give_what_is_left_out() {
    let text = "<mujoco><default><joint damping='1' armature='2'/>\
        <default class='a'><joint damping='3'/><default class='b'><joint stiffness='4'/></default></default>\
        </default><worldbody>\
        <body name='p'><joint/></body>\
        <body name='q' childclass='b'><joint armature='5'/><body name='r'><joint class='a'/></body>\
        <body name='s'><joint/></body></body></worldbody></mujoco>";
    let description = read(text);
    let numbers = |name: &str| {
        let joint = &body(&description, name).joint;
        [joint.damping, joint.armature, joint.stiffness]
    };
    assert_eq!(numbers("p"), [1.0, 2.0, 0.0]);
    assert_eq!(numbers("q"), [3.0, 5.0, 4.0]);
    assert_eq!(numbers("r"), [3.0, 2.0, 0.0]);
    assert_eq!(numbers("s"), [3.0, 2.0, 4.0]);
    let text = "<mujoco>\n<worldbody>\n<geom class='no' size='1'/></worldbody></mujoco>";
    assert_eq!(refused(text), "model.xml:3: geom.class: there is no class \"no\"");
}

#[test]
fn general_actuators_are_motors_and_servos() {
    let text = "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator>\
        <motor joint='j' gear='3' ctrlrange='-1 1'/>\
        <general joint='j' gainprm='2' gear='5' forcerange='-4 6'/>\
        <general joint='j' gainprm='7' biastype='affine' biasprm='0 -7 -2'/>\
        <velocity joint='j' kv='4'/>\
        <general joint='j' gainprm='7' biastype='affine' biasprm='1 -7 0'/>\
        <muscle joint='j'/></actuator></mujoco>";
    let description = read(text);
    let [motor, general, position, velocity, affine] = &description.actuators[..] else { panic!() };
    assert_eq!((motor.kind, motor.gear), (ActuatorKind::Motor, 3.0));
    assert_eq!(motor.control_range, Some([-1.0, 1.0]));
    // gear clamp(2 u, -4, 6) is 2 gear clamp(u, -2, 3)
    assert_eq!((general.kind, general.gear), (ActuatorKind::Motor, 10.0));
    assert_eq!(general.force_range, Some([-2.0, 3.0]));
    assert_eq!((position.kind, position.kp, position.kd), (ActuatorKind::Position, 7.0, 2.0));
    assert_eq!((velocity.kind, velocity.kd), (ActuatorKind::Velocity, 4.0));
    assert_eq!((affine.kind, affine.kp, affine.kd), (ActuatorKind::Affine, 7.0, 0.0));
    assert_eq!((affine.gain, affine.bias), (7.0, 1.0));
    assert_eq!(warnings(text).len(), 1);
}

/// MuJoCo holds things apart by their margins, joints and tendons as far from their limits: a geom in an inclined frame, a plane,
/// a hinge with its range in degrees and its margin in rad, and one that leaves nothing of its range.
#[test]
fn margins_are_followed() {
    let text = "<mujoco><worldbody><geom type='plane' size='1 1 1' euler='90 0 0' pos='0 5 0' margin='0.25'/>
        <body name='b'><joint name='j' axis='0 1 0' limited='true' range='-90 90' margin='0.5'/><geom size='1' margin='0.125'/>
        <body name='c'><joint name='k' axis='0 1 0' limited='true' range='0 1' margin='0.5'/><joint name='s' type='slide'/>
        <geom size='1'/></body></body></worldbody>
        <tendon><fixed name='t' limited='true' range='-2 3' margin='0.5'><joint joint='s' coef='1'/></fixed></tendon></mujoco>";
    let description = read(text);
    let [warning] = &warnings(text)[..] else { panic!() };
    assert!(warning.contains("3: joint.margin: leaves nothing of the range"), "{warning}");
    // Its normal is z turned by 90 degrees about x.
    let plane = &description.half_spaces[0];
    assert_near(&plane.normal, &[0.0, -1.0, 0.0], 1e-15);
    assert_near(&[plane.offset], &[-5.0 + 0.25], 1e-15);
    let b = body(&description, "b");
    assert_eq!(b.colliders[0].margin, 0.125);
    assert_near(&b.joint.limits.unwrap(), &[0.5 - PI / 2.0, PI / 2.0 - 0.5], 1e-15);
    let [lower, upper] = description
        .bodies
        .iter()
        .find(|body| body.joint.name == "k")
        .unwrap()
        .joint
        .limits
        .unwrap();
    let middle = 0.5 * PI / 180.0;
    assert!(lower < upper && (lower - middle).abs() < 1e-8 && (upper - middle).abs() < 1e-8);
    assert_eq!(description.tendons[0].range, Some([-1.5, 2.5]));
}

/// Dampers and gains that length and velocity change, of joints and of a tendon: 200 steps of MuJoCo 4.0.0 by Euler. By `implicitfast`
/// the damping of a control would be implicit there.
#[test]
fn gains_that_vary_are_those_of_mujoco() {
    let text = "<mujoco><option timestep='0.002' integrator='Euler'/><worldbody><body pos='0 0 1'><joint name='a' type='hinge' axis='0 1 0'/>
        <inertial pos='0 0 -0.4' mass='2' diaginertia='0.03 0.03 0.01'/>
        <body pos='0 0 -0.8'><joint name='b' type='hinge' axis='0 1 0'/><inertial pos='0 0 -0.3' mass='1' diaginertia='0.02 0.02 0.01'/></body>
        </body></worldbody><tendon><fixed name='t'><joint joint='a' coef='0.5'/><joint joint='b' coef='-1'/></fixed></tendon>
        <actuator><damper name='d' joint='a' kv='3' ctrlrange='0 2'/>
        <general name='g' joint='b' gear='1.5' gaintype='affine' gainprm='2 -0.7 0.3' biastype='affine' biasprm='0.2 -4 -0.5' forcerange='-6 6'/>
        <general name='s' tendon='t' gear='2' gaintype='affine' gainprm='1 0.4 -0.2'/></actuator></mujoco>";
    assert_eq!(warnings(text), Vec::<String>::new());
    let mut scene = read(text).scene().unwrap();
    (scene.state.q, scene.state.v) = (vec![0.6, -0.9], vec![1.5, -2.0]);
    scene.inputs[2..].copy_from_slice(&[1.2, 0.8, -0.6]);
    let again = Scene::parse(
        &Description::of(&scene, &scene.parameters, "again").to_toml("."),
        "again.toml",
    )
    .unwrap();
    for scene in [&scene, &again] {
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        rollout.advance(200, &scene.inputs);
        assert_near(&rollout.state.q, &[0.22661675259221248, 1.6761620351806632], 1e-11);
        assert_near(&rollout.state.v, &[0.5054305643164179, -12.891163440551058], 1e-11);
    }
    let implicit = text.replace("Euler", "implicitfast");
    let told = warnings(&implicit);
    assert!(told.len() == 2 && told.iter().all(|w| w.contains("damps by its control")), "{told:?}");
}

#[test]
fn loops_close_where_the_model_is_drawn() {
    let text = "<mujoco><worldbody><body name='a' pos='1 0 0' euler='0 0 90'/>\
        <body name='b' pos='0 1 0'><joint name='i' ref='0.5'/></body>\
        <body name='c'><joint name='j' ref='0.25'/></body></worldbody>\
        <compiler angle='degree'/><equality><connect body1='a' body2='b' anchor='1 0 0'/>\
        <connect body1='a' anchor='1 0 0'/><weld body1='a' body2='b'/>\
        <joint joint1='i' joint2='j' polycoef='1 2 0 0 0'/></equality></mujoco>";
    let description = read(text);
    let [connect, ground, weld, joint] = &description.equalities[..] else { panic!() };
    assert_eq!(connect.kind, EqualityKind::Connect);
    // (1, 0, 0) of a is (1, 1, 0) in the world, (1, 0, 0) of b.
    assert_near(&connect.anchors[1], &[1.0, 0.0, 0.0], 1e-15);
    assert_near(&ground.anchors[1], &[1.0, 1.0, 0.0], 1e-15);
    assert_eq!(ground.bodies, [Some("a".to_string()), None]);
    // b in a: a quarter back.
    assert_near(&weld.orientation, &[FRAC_1_SQRT_2, 0.0, 0.0, -FRAC_1_SQRT_2], 1e-15);
    let degree = PI / 180.0;
    assert_near(&[joint.ratio, joint.offset], &[2.0, 0.5 * degree + 1.0 - 0.5 * degree], 1e-15);
}

#[test]
fn planes_are_half_spaces() {
    let text = "<mujoco><worldbody><geom name='slope' type='plane' size='1 1 1' pos='0 0 2' euler='90 0 0' \
        friction='0.3'/><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>";
    let description = read(text);
    let slope = &description.half_spaces[0];
    assert_near(&slope.normal, &[0.0, -1.0, 0.0], 1e-15);
    assert_near(&[slope.offset, slope.material.unwrap().mu], &[0.0, 0.3], 1e-15);
}

#[test]
fn what_is_not_followed_is_named_with_its_line() {
    let text = "<mujoco>\n<option density='1'/>\n<worldbody>\n<body>\n<joint springyield='1'/>\n<geom size='1' \n\
        solref='0.1 1' colour='red'/>\n<replicate/>\n<camera/>\n</body>\n<body><joint springyield='2'/></body>\n\
        </worldbody>\n<tendon><spatial stiffness='1'/><fixed/></tendon>\n<sensor/></mujoco>";
    let found = warnings(text);
    let expected = [
        "model.xml:2: option.density: is not followed: nothing moves in a fluid here",
        "model.xml:13: spatial: is left out: it has no length",
        "model.xml:5: joint.springyield: is not followed: springs are elastic (also in lines 11)",
        "model.xml:7: geom.solref: is not followed: contacts are rigid",
        "model.xml:7: geom.colour: is not known here, and ignored",
        "model.xml:8: replicate: is not followed, and left out",
    ];
    for message in expected {
        assert!(found.iter().any(|warning| warning == message), "{message}\nnot in {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, message) in [
        (
            "<mujoco>\n<worldbody><geom size='x'/></worldbody></mujoco>",
            "2: geom.size: must be finite",
        ),
        ("<mujoco>\n\n<worldbody><geom size='1e999'/></worldbody></mujoco>", "3: geom.size"),
        (
            "<mujoco><worldbody>\n<body>\n<geom type='box' size='1 2'/></body></worldbody></mujoco>",
            "3: geom.size",
        ),
        ("<mujoco>\n<option timestep='0'/></mujoco>", "2: option.timestep: must be positive"),
        ("<mujoco>\n<worldbody></mujoco>", "2: is not XML"),
        ("<mojoco/>", "1: must be <mujoco> or <robot>"),
        (
            "<mujoco><worldbody>\n<body name='a'/>\n<body name='a'/></worldbody></mujoco>",
            "3: body.a.name",
        ),
        (
            "<mujoco><worldbody><body>\n<joint range='1 -1'/></body></worldbody></mujoco>",
            "2: joint.range",
        ),
        ("<mujoco>\n<compiler coordinate='global'/></mujoco>", "2: compiler.coordinate"),
        ("<mujoco>\n<worldbody><freejoint/></worldbody></mujoco>", "2: freejoint"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(&format!("model.xml:{message}")), "{found}");
    }
}

#[test]
fn each_integrator_has_its_own() {
    let text = |integrator: &str| {
        format!(
            "<mujoco><option integrator='{integrator}'/><worldbody><body><joint/><geom size='.1' mass='1'/></body></worldbody></mujoco>"
        )
    };
    for (name, expected) in [
        ("Euler", Integrator::SemiImplicit),
        ("RK4", Integrator::RungeKutta),
        ("implicit", Integrator::Implicit),
        ("implicitfast", Integrator::ImplicitFast),
    ] {
        let told = warnings(&text(name));
        assert!(told.iter().all(|warning| !warning.contains("integrator")), "{told:?}");
        assert_eq!(read(&text(name)).settings.integrator, expected);
    }
}

#[test]
fn mocap_bodies_are_led() {
    let text = "<mujoco><worldbody><body name='hand' mocap='true' pos='1 2 3'><geom size='.1'/></body>
        <body name='ball' pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody>
        <equality><weld body1='hand' body2='ball' relpose='-1 -2 -2 1 0 0 0'/></equality>
        <keyframe><key name='there' qpos='0 0 4 1 0 0 0' mpos='1 2 6' mquat='2 0 0 0'/><key name='qpos' qpos='5 5 5 1 0 0 0'/>
        <key name='mocap' mpos='7 7 7'/></keyframe></mujoco>";
    let description = read(text);
    let told = warnings(text);
    assert!(told.iter().all(|warning| !warning.contains("mocap")), "{told:?}");
    let hand = body(&description, "hand");
    assert!(hand.joint.prescribed && hand.joint.kind == JointKind::Free);
    let scene = description.scene().unwrap();
    assert_eq!(scene.state.q[..7], [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(scene.inputs[..6], [0.0; 6]);
    let keys: Vec<&[f64]> =
        scene.keyframes.iter().map(|key| &key.q.as_ref().unwrap()[..]).collect();
    let pose = |at: [f64; 3]| [&at[..], &[1.0, 0.0, 0.0, 0.0]].concat();
    let both = |hand: [f64; 3], ball: [f64; 3]| [pose(hand), pose(ball)].concat();
    assert_eq!(keys[0], both([1.0, 2.0, 6.0], [0.0, 0.0, 4.0]));
    assert_eq!(keys[1], both([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]));
    assert_eq!(keys[2], both([7.0, 7.0, 7.0], [0.0, 0.0, 1.0]));
    // Others hang on it: it stays, which is said.
    let carrying = text.replace(
        "<geom size='.1'/></body>\n",
        "<geom size='.1'/><body name='on'><geom size='.1'/></body></body>",
    );
    assert!(warnings(&carrying).iter().any(|warning| warning.contains("as others hang on it")));
    let joint = refused(&text.replace("pos='1 2 3'>", "pos='1 2 3'><joint/>"));
    assert!(joint.contains("is for a body of the world that has no joint"), "{joint}");
}
