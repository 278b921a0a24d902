//! Springs, cables and tendons: against MuJoCo, closed forms, and all ways to their derivatives.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;
use stiction::assemble::{Description, Driven};
use stiction::formats::LoadOptions;
use stiction::linearize::{JacobianWorkspace, Selection, StepJacobian, step_jacobian};
use stiction::model::{Integrator, Scene, Settings, System};
use stiction::simulation::{Rollout, StepMemory};
use stiction::state::State;
use stiction::view::{Appearance, Drawing};

use crate::linearize::adjoint;
use crate::linearize::scenes::{MIXED, compare};
use crate::linearize::state_forces::check;

fn scene(text: &str) -> Scene {
    Scene::parse(text, "scene.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// Fixed and spatial tendons with springs, dampers, dead bands and all kinds of motors, between an arm, a free body and the
/// world: accelerations are MuJoCo's, see `tests/reference/tendons`.
#[test]
fn accelerations_are_mujocos() {
    let answers: Value =
        serde_json::from_str(include_str!("reference/tendons/tendons.json")).unwrap();
    let text = include_str!("reference/tendons/tendons.xml");
    let description = Description::parse_xml(text, "tendons.xml", LoadOptions::default()).unwrap();
    assert_eq!(description.warnings.len(), 0, "{:?}", description.warnings);
    // What only measures is left out.
    assert_eq!(description.tendons.len(), 3);
    let scene = description.scene().unwrap();
    let again = self::scene(&description.to_toml("."));
    for scene in [&scene, &again] {
        for answer in answers["states"].as_array().unwrap() {
            let state = State { q: numbers(&answer["q"]), v: numbers(&answer["v"]) };
            let mut inputs = scene.inputs.clone();
            let nv = scene.model.nv();
            inputs[nv..].copy_from_slice(&numbers(&answer["controls"]));
            let expected = numbers(&answer["vdot"]);
            let size = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            // A lone body turns by its momentum, whose change is of first order in the time step.
            for (range, dt, tolerance) in [(0..nv - 6, 1e-3, 1e-9), (nv - 6..nv, 1e-6, 1e-4)] {
                let settings = &Settings { time_step: dt, ..scene.settings };
                let system = System { settings, ..scene.system() };
                let mut rollout = Rollout::new(system, state.clone());
                rollout.step(&inputs);
                for k in range {
                    let found = (rollout.state.v[k] - state.v[k]) / dt;
                    let error = (found - expected[k]).abs();
                    assert!(error < tolerance * size, "{k}: {found}, not {}", expected[k]);
                }
            }
        }
    }
}

/// Two balls in space, tied together.
fn dumbbell(tendon: &str, integrator: &str) -> Scene {
    scene(&format!(
        "gravity = [0, 0, 0]
        [simulation]
        time_step = 0.002
        integrator = '{integrator}'
        [[body]]
        name = 'a'
        mass = 2
        inertia = 0.01
        velocity = [0, 0.5, 0]
        [[body]]
        name = 'b'
        mass = 1
        inertia = 0.01
        position = [1, 0, 0]
        velocity = [0.2, -1, 0.3]
        [[tendon]]
        name = 'tie'
        bodies = ['a', 'b']
        points = [[0, 0, 0.05], [0.03, 0, 0]]
        {tendon}"
    ))
}

#[test]
fn a_spring_keeps_energy_and_momentum() {
    let scene = dumbbell("stiffness = 30\nrest = 0.9", "runge_kutta");
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let energy = |state: &State<f64>| {
        let Kinetic { energy, .. } = kinetic(state);
        energy + 15.0 * (length(state) - 0.9).powi(2)
    };
    let (energy_before, before) = (energy(&rollout.state), kinetic(&rollout.state));
    for _ in 0..1000 {
        rollout.step(&scene.inputs);
    }
    let after = kinetic(&rollout.state);
    assert_relative_eq!(energy(&rollout.state), energy_before, max_relative = 1e-9);
    for k in 0..3 {
        assert_abs_diff_eq!(after.momentum[k], before.momentum[k], epsilon = 1e-12);
        assert_abs_diff_eq!(after.angular[k], before.angular[k], epsilon = 1e-9);
    }
    // It swung.
    assert!((kinetic(&scene.state).energy - after.energy).abs() > 1e-2);
}

struct Kinetic {
    energy: f64,
    momentum: Vector3<f64>,
    angular: Vector3<f64>,
}

fn kinetic(state: &State<f64>) -> Kinetic {
    let mut sum = Kinetic { energy: 0.0, momentum: Vector3::zeros(), angular: Vector3::zeros() };
    for (body, mass) in [2.0, 1.0].into_iter().enumerate() {
        let at = state.position(body);
        let v = Vector3::from_column_slice(&state.v[6 * body..6 * body + 3]);
        let w = Vector3::from_column_slice(&state.v[6 * body + 3..6 * body + 6]);
        // Spheres have the same inertia about all axes.
        sum.energy += 0.5 * (mass * v.dot(&v) + 0.01 * w.dot(&w));
        sum.momentum += v * mass;
        sum.angular += at.cross(&v) * mass + rotation(state, body) * w * 0.01;
    }
    sum
}

fn rotation(state: &State<f64>, body: usize) -> UnitQuaternion<f64> {
    let q = &state.q[7 * body + 3..7 * body + 7];
    UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3]))
}

fn length(state: &State<f64>) -> f64 {
    let a = state.position(0) + rotation(state, 0) * Vector3::new(0.0, 0.0, 0.05);
    let b = state.position(1) + rotation(state, 1) * Vector3::new(0.03, 0.0, 0.0);
    (b - a).norm()
}

#[test]
fn a_cable_pulls_only_when_it_is_taut() {
    let tie = "stiffness = 200\ndamping = 5\nrest = 1.2\npulls_only = true";
    let scene = dumbbell(tie, "runge_kutta");
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let (mut slack, mut taut) = (0, 0);
    for _ in 0..1000 {
        let before = rollout.state.clone();
        rollout.step(&scene.inputs);
        let pulled = rollout.state.v[0] != before.v[0];
        if length(&before).max(length(&rollout.state)) < 1.2 - 1e-2 {
            slack += 1;
            assert!(!pulled, "{}", length(&before));
        } else if length(&before) > 1.2 + 1e-3 {
            taut += usize::from(pulled);
        }
    }
    assert!(slack > 100 && taut > 5, "{slack} {taut}");
}

/// A ball on a string falls, is caught by it and swings.
#[test]
fn a_string_does_not_stretch() {
    let mut scene = scene(
        "[simulation]
        time_step = 0.002
        [[body]]
        name = 'ball'
        mass = 0.5
        inertia = 1e-3
        position = [0.4, 0, 0]
        [[tendon]]
        name = 'string'
        bodies = ['world', 'ball']
        points = [[0, 0, 0], [0, 0, 0]]
        range = [0, 0.5]",
    );
    scene.settings.tolerance = 1e-12;
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let (mut longest, mut least) = (0.0_f64, f64::INFINITY);
    for _ in 0..2000 {
        let report = rollout.step(&scene.inputs);
        assert_eq!(report.unsolved, 0);
        let length = rollout.state.position(0).norm();
        longest = longest.max(length);
        least = least.min(length);
    }
    // A step goes on along the tangent, (v dt)² / 2 L with v² = 2 g L at most, and takes back a share of what is too long.
    let beyond = 9.81 * 0.002 * 0.002 / scene.settings.baumgarte;
    assert!(longest < 0.5 + beyond && longest > 0.5 - 1e-9, "{longest}");
    assert!(least < 0.45, "{least}");
}

const COUPLED: &str = "[simulation]
    time_step = 0.002
    [[body]]
    name = 'first'
    joint = { type = 'revolute', axis = [0, 1, 0], q = [0.3] }
    mass = 1
    center_of_mass = [0.1, 0, 0]
    inertia = 0.01
    [[body]]
    name = 'second'
    joint = { type = 'prismatic', axis = [0, 0, 1], v = [0.4] }
    mass = 0.5
    inertia = 0.01
    [[tendon]]
    name = 'belt'
    joints = ['first', 'second']
    coefficients = [0.2, -1]
";

/// m x'' = -T, I q'' = M(q) + r T: with q = x / r + c both are one equation, solved by steps of their own.
#[test]
fn a_belt_that_is_held_couples_two_joints() {
    let mut scene = scene(&(COUPLED.to_string() + "range = [0.06, 0.06]"));
    scene.settings.tolerance = 1e-12;
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let (r, dt) = (0.2, 0.002);
    // About the hinge: 0.01 + m c². They begin at the velocity that has their momentum, seen from x.
    let (inertia, mass) = (0.01 + 0.01, 0.5);
    let whole = mass + inertia / (r * r);
    let (mut x, mut v) = (0.0, mass * 0.4 / whole);
    for k in 0..500 {
        rollout.step(&scene.inputs);
        let (q, v_now): (f64, f64) = (0.3 + x / r, v);
        v = v_now + dt * (-mass * 9.81 + 9.81 * 0.1 * q.cos() / r) / whole;
        x += dt * v;
        assert_abs_diff_eq!(rollout.state.q[1], x, epsilon = 1e-10);
        assert_abs_diff_eq!(0.2 * rollout.state.q[0] - x, 0.06, epsilon = 1e-12);
        assert!(k > 0 || v != v_now);
    }
}

/// A tendon with friction brakes what it pulls by f over time, and holds it then.
#[test]
fn dry_friction_of_a_tendon_brakes() {
    let text = COUPLED.replace("[simulation]", "gravity = [0, 0, 0]\n[simulation]");
    let scene = scene(&(text + "friction = 0.3"));
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    // The rate of the length is -v at first; J M^-1 J' = 0.2² / I + 1 / m.
    let inverse = 0.04 / 0.02 + 1.0 / 0.5;
    let rate = |state: &State<f64>| 0.2 * state.v[0] - state.v[1];
    for k in 1..=400 {
        rollout.step(&scene.inputs);
        let expected = (-0.4 + 0.3 * inverse * 0.002 * f64::from(k)).min(0.0);
        assert_abs_diff_eq!(rate(&rollout.state), expected, epsilon = 1e-9);
    }
}

/// What the derivatives of steps are compared on: a tendon of joints with everything, and a cable.
const TIED: &str = "
[[tendon]]
name = 'flexor'
joints = ['lower', 'slider']
coefficients = [0.1, -1.3]
stiffness = 40
damping = 2
rest = 0.05
range = [-0.06, 0.03]
[[tendon]]
name = 'cable'
bodies = ['world', 'lower', 'slider', 'crate']
points = [[0.3, 0.1, 0.5], [0.01, 0.02, -0.1], [0.02, 0, 0.01], [0.05, 0.04, 0.04]]
stiffness = 3
damping = 0.3
slack = 0.01
pulls_only = true
[[actuator]]
name = 'winch'
tendon = 'cable'
type = 'position'
kp = 3
kd = 0.1
gear = 1.2
force_range = [-5, 5]
[[actuator]]
name = 'pull'
tendon = 'flexor'
";

#[test]
fn derivatives_agree() {
    check(&(MIXED.to_string() + TIED));
    // Two conditions on the same row determine less.
    check(&(MIXED.to_string() + &TIED.replace("range = [-0.06, 0.03]", "friction = 0.4")));
    check(
        &(MIXED.to_string() + &TIED.replace("range = [-0.06, 0.03]", "range = [-0.024, -0.024]")),
    );
}

/// Motors whose force is affine, of a joint and of a tendon, at the limit of a control now and then.
const AFFINE: &str = "
[[tendon]]
name = 'flexor'
joints = ['lower', 'slider']
coefficients = [0.1, -1.3]
[[actuator]]
name = 'affine'
joint = 'slider'
type = 'affine'
kp = 4
kd = 0.2
gain = 1.7
bias = 0.3
gear = -1.4
control_range = [-0.1, 0.1]
[[actuator]]
name = 'other'
tendon = 'flexor'
type = 'affine'
kp = 4
kd = 0.2
gain = 1.7
bias = 0.3
gear = -1.4
control_range = [-0.1, 0.1]
";

#[test]
fn derivatives_of_affine_motors_agree() {
    check(&(MIXED.to_string() + AFFINE));
    let varying =
        AFFINE.replace("gain = 1.7", "gain = 1.7\ngain_length = -2.3\ngain_velocity = 0.9");
    assert_eq!(varying.matches("gain_length").count(), 2);
    check(&(MIXED.to_string() + &varying));
    for kind in ["motor", "velocity"] {
        let text = MIXED.to_string()
            + &format!("[[actuator]]\nname = 'm'\njoint = 'slider'\ntype = '{kind}'\nkd = 1\ngain_length = 1\n")
                .replace("type = 'motor'\nkd = 1", "type = 'motor'");
        let error = stiction::model::Scene::parse(&text, "scene.toml").unwrap_err().to_string();
        assert!(error.contains(&format!("gain_length: has no meaning for a {kind}")), "{error}");
    }
}

/// Rows of limits of lines turn with the bodies: these go by duals and by the tape.
#[test]
fn derivatives_of_strings_agree() {
    let string = "\nrange = [0, 0.62]\nfriction = 0.2\n[[actuator]]";
    let text = MIXED.to_string() + &TIED.replacen("\n[[actuator]]", string, 1);
    for integrator in [Integrator::SemiImplicit, Integrator::Implicit] {
        let mut scene = scene(&text);
        scene.settings.integrator = integrator;
        let (compared, seen) = compare(&scene, 40);
        assert!(compared > 20, "{compared}, {seen:?}");
        let tally = adjoint::compare("string", &scene, 20, 0.2);
        assert!(tally.structured == 0 && tally.recorded > 15, "{tally:?}");
    }
}

/// One message, with its place.
#[test]
fn what_makes_no_sense_is_refused() {
    let body = "[simulation]
        time_step = 0.01
        [[body]]
        name = 'a'
        mass = 1
        inertia = 0.1
        [[body]]
        name = 'hinge'
        joint = { type = 'revolute', axis = [0, 0, 1] }
        mass = 1
        inertia = 0.1
        [[tendon]]
        name = 'tie'
        ";
    for (tendon, place, message) in [
        ("stiffness = 1", "joints", "must be given"),
        ("joints = ['a']", "joints", "one coordinate"),
        ("joints = ['knee']", "joints", "there is no joint"),
        ("joints = ['hinge', 'hinge']", "joints", "named twice"),
        ("joints = []", "joints", "names nothing"),
        ("joints = ['hinge']\ncoefficients = [1, 2]", "coefficients", "must be 1"),
        ("joints = ['hinge']\ncoefficients = [0]", "coefficients", "not 0"),
        ("joints = ['hinge']\npoints = [[0, 0, 0]]", "points", "bodies"),
        ("bodies = ['a', 'world']", "points", "is missing"),
        ("bodies = ['a', 'world']\npoints = [[0, 0], [0, 0]]", "points", "three numbers"),
        ("bodies = ['a']\npoints = [[0, 0, 0]]", "points", "two points"),
        ("bodies = ['a', 'b']\npoints = [[0, 0, 0], [0, 0, 1]]", "bodies", "no body \"b\""),
        ("bodies = ['world', 'world']\npoints = [[0, 0, 0], [0, 0, 1]]", "bodies", "moves"),
        ("bodies = ['a', 'a']\npoints = [[0, 0, 0], [0, 0, 1]]", "bodies", "never changes"),
        (
            "bodies = ['a', 'world']\npoints = [[0, 0, 0], [0, 0, 1]]\nrange = [-1, 0]",
            "range",
            "above 0",
        ),
        ("joints = ['hinge']\nbodies = ['a', 'world']", "bodies", "beside"),
        ("joints = ['hinge']\nstiffness = -1", "stiffness", "not negative"),
        ("joints = ['hinge']\ndamping = nan", "damping", "finite"),
        ("joints = ['hinge']\nrange = [1, 0]", "range", "least"),
        ("joints = ['hinge']\n[[actuator]]\nname = 'm'\ntendon = 'rope'", "tendon", "no tendon"),
        (
            "joints = ['hinge']\n[[actuator]]\nname = 'm'\ntendon = 'tie'\njoint = 'hinge'",
            "tendon",
            "beside",
        ),
    ] {
        let error = Scene::parse(&format!("{body}{tendon}"), "scene.toml").unwrap_err();
        let told = error.to_string();
        assert!(told.contains(place) && told.contains(message), "{tendon}: {told}");
        assert!(error.line().is_some(), "{told}");
    }
    let staggered = body.replacen("[[body]]", "solver = 'staggered'\n[[body]]", 1);
    let error = Scene::parse(&(staggered + "joints = ['hinge']\nrange = [0, 1]"), "scene.toml");
    assert!(error.unwrap_err().to_string().contains("tendons"));
    let stiff = scene(&format!("{body}joints = ['hinge']\nstiffness = 1e5"));
    assert!(stiff.warnings[0].to_string().contains("tendon.tie.stiffness"), "{:?}", stiff.warnings);
}

/// What a tendon is called as a body is, is called otherwise; a held one is a range of no width; what it would wrap is told.
#[test]
fn tendons_of_mjcf_keep_their_meaning() {
    let text = "<mujoco><worldbody>\n<body name='grasp'><joint name='j' ref='20'/><geom size='0.1'/>\n\
        <body name='b'><joint name='k' type='slide'/><geom size='0.1' pos='1 0 0'/><site name='s'/></body></body>\n\
        <site name='t' pos='0 0 1'/><geom name='pulley' size='0.1' contype='0' conaffinity='0'/></worldbody>\n\
        <tendon><fixed name='grasp' stiffness='2'><joint joint='j' coef='0.5'/><joint joint='k' coef='-1'/></fixed>\n\
        <fixed name='held'><joint joint='k' coef='2'/></fixed>\n\
        <fixed name='free' range='0.3 0.3' springlength='-0.3' stiffness='1'><joint joint='k'/></fixed>\n\
        <spatial name='fixed' stiffness='1'><site site='t'/><site site='t'/></spatial>\n\
        <spatial name='line' limited='true' range='0 1.5'><site site='s'/>\n<geom geom='pulley'/>\n<site site='t'/></spatial></tendon>\n\
        <equality><tendon tendon1='held' polycoef='0.1'/></equality>\n\
        <actuator><motor name='m' tendon='grasp'/><motor tendon='nothing'/></actuator></mujoco>";
    let description = Description::parse_xml(text, "model.xml", LoadOptions::default()).unwrap();
    let names: Vec<&str> = description.tendons.iter().map(|tendon| &tendon.name[..]).collect();
    assert_eq!(names, ["grasp_tendon", "held", "free", "line"]);
    // No range is no limit, and -0.3 no length in the reference configuration.
    assert_eq!((description.tendons[2].range, description.tendons[2].rest), (None, Some(-0.3)));
    assert_eq!(description.tendons[1].range, Some([0.1, 0.1]));
    assert_eq!(description.tendons[3].range, Some([0.0, 1.5]));
    assert_eq!(description.actuators.len(), 1);
    assert_eq!(description.actuators[0].drives, Driven::Tendon("grasp_tendon".to_string()));
    let told: Vec<String> =
        description.warnings.iter().map(|warning| warning.to_string()).collect();
    for part in [
        "geom: is not followed: the tendon goes straight on",
        "its tendon is not there",
        "all its sites are on one body",
    ] {
        assert!(told.iter().any(|warning| warning.contains(part)), "{part}: {told:#?}");
    }
    // As long at rest as where it begins.
    let scene = description.scene().unwrap();
    let rest = scene.model.parameter("grasp_tendon/rest").unwrap();
    let reference = 0.5 * 20_f64.to_radians();
    assert_abs_diff_eq!(scene.parameters.values[rest.slots[0]], reference, epsilon = 1e-12);
}

/// A spring that is as long as at rest has the derivative of any other spring.
#[test]
fn a_spring_at_rest_is_smooth() {
    let scene = scene(
        "[simulation]
        time_step = 0.01
        [[body]]
        name = 'slider'
        joint = { type = 'prismatic', axis = [1, 0, 0] }
        mass = 1
        inertia = 0.1
        [[tendon]]
        name = 'spring'
        joints = ['slider']
        stiffness = 100",
    );
    let selection = Selection { inputs: &[], parameters: &[] };
    let (mut workspace, mut result) = (JacobianWorkspace::default(), StepJacobian::default());
    let (system, mut memory) = (scene.system(), StepMemory::default());
    let (state, u) = (&scene.state, &scene.inputs);
    step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, &mut result);
    // v+ = v - dt k x / m, x+ = x + dt v+
    for ((row, column), expected) in [((0, 0), 0.99), ((0, 1), 0.01), ((1, 0), -1.0), ((1, 1), 1.0)]
    {
        assert_abs_diff_eq!(result.a[(row, column)], expected, epsilon = 1e-14);
    }
}

/// A belt that begins off its length is moved there by displacements, which leave no velocity.
#[test]
fn a_belt_that_begins_open_is_closed() {
    let text = COUPLED.replace("[simulation]", "gravity = [0, 0, 0]\n[simulation]");
    let scene = scene(&(text.replace("v = [0.4]", "v = [0]") + "range = [0.26, 0.26]"));
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.step(&scene.inputs);
    let State { q, v } = &rollout.state;
    assert_abs_diff_eq!(0.2 * q[0] - q[1], 0.26, epsilon = 1e-12);
    assert!(v.iter().all(|v| v.abs() < 1e-12), "{v:?}");
}

/// A held length is one number, also where it was found anew and written.
#[test]
fn a_held_length_is_one_number() {
    let mut scene = scene(&(COUPLED.to_string() + "range = [0.06, 0.06]"));
    assert!(scene.model.parameter("belt/upper").is_none());
    let slot = scene.model.parameter("belt/lower").unwrap().slots[0];
    scene.parameters.values[slot] = 0.05;
    let written = Description::of(&scene, &scene.parameters, "again").to_toml(".");
    let again = self::scene(&written);
    assert!(again.model.tendons[0].held);
    for scene in [&scene, &again] {
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        rollout.step(&scene.inputs);
        let q = &rollout.state.q;
        assert_abs_diff_eq!(0.2 * q[0] - q[1], 0.05, epsilon = 1e-12);
    }
}

#[test]
fn steps_with_tendons_allocate_nothing() {
    for range in ["range = [-0.06, 0.03]", "range = [0.026, 0.026]\nfriction = 0.1"] {
        let scene = scene(&(MIXED.to_string() + &TIED.replace("range = [-0.06, 0.03]", range)));
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let mut run = || {
            rollout.state.clone_from(&scene.state);
            (0..60).for_each(|_| _ = rollout.step(&scene.inputs));
        };
        (0..2).for_each(|_| run());
        assert_eq!(allocation_counter::measure(run).count_total, 0, "{range}");
    }
}

/// Lone bodies of a model that was made for another integrator have no stages of their own: tied to them, steps go by the tape.
#[test]
fn stages_beside_lone_bodies_go_by_the_tape() {
    let mut scene = scene(&(MIXED.to_string() + TIED));
    scene.settings.integrator = Integrator::RungeKutta;
    let tally = adjoint::compare("lone", &scene, 5, 0.2);
    assert!(tally.structured == 0 && tally.recorded > 3, "{tally:?}");
}

/// Pages draw lines by their points, in the bodies that move or in the world.
#[test]
fn lines_are_drawn() {
    let text = MIXED.to_string() + TIED;
    let post = "[[body]]\nname = 'post'\njoint = { type = 'fixed' }\nposition = [0, 0, 2]\nmass = 1\ninertia = 1\n";
    let scene = scene(&(text.replace("bodies = ['world',", "bodies = ['post',") + post));
    let drawing = Drawing::new(&scene.model, &scene.parameters, &Appearance::default());
    let [cable] = &drawing.tendons[..] else { panic!("{:?}", drawing.tendons) };
    assert_eq!(cable.name, "cable");
    assert_eq!(cable.points[0], (None, [0.3, 0.1, 2.5]));
    let named = |k: usize| cable.points[k].0.map(|body| &drawing.bodies[body][..]);
    assert_eq!([named(1), named(2), named(3)], [Some("lower"), Some("slider"), Some("crate")]);
}
