//! Equalities of hinges, and equalities that yield: stiff springs in the place of joints ([Geilinger20] 5.3).

use approx::{assert_abs_diff_eq, assert_relative_eq};
use stiction::assemble::Description;
use stiction::dynamics::Kinematics;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::compare;
use crate::scenes::{after, scene};

const G: f64 = 9.81;
/// The axis of the hinge is along the third of these in both bodies: y in the world, x in the bar.
const TURNED: &str = "orientation = [0.7071067811865476, 0, 0, -0.7071067811865476]";

/// A bar that hangs on the world by an equality, 0.3 m below its end, and swings.
fn bar(settings: &str, equality: &str) -> Scene {
    scene(&format!(
        "[simulation]
         {settings}
         [[body]]
         name = 'bar'
         mass = 0.8
         inertia = [0.02, 0.001, 0.021]
         position = [0, 0, 0]
         orientation = [0.7071067811865476, 0, 0, -0.7071067811865476]
         velocity = [0.45, 0, 0]
         angular_velocity = [1.5, 0, 0]
         [[equality]]
         name = 'hold'
         bodies = ['world', 'bar']
         anchors = [[0, 0, 0.3], [0, 0, 0.3]]
         {equality}"
    ))
}

/// How far the anchors are apart, and how far axes that should be one are: of the bar.
fn open(scene: &Scene, rollout: &Rollout<f64>) -> [f64; 2] {
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &rollout.state);
    let body = &kinematics.bodies[0];
    let anchor = body.position + body.rotation * nalgebra::Vector3::new(0.0, 0.0, 0.3);
    let axis = body.rotation * nalgebra::Vector3::x();
    [
        (anchor - nalgebra::Vector3::new(0.0, 0.0, 0.3)).norm(),
        (axis + nalgebra::Vector3::y()).norm(),
    ]
}

/// A body on a hinge of equalities moves as one on a revolute joint, to the order of the step; and its hinge stays closed.
#[test]
fn a_hinge_of_equalities_is_a_revolute_joint() {
    let joint = scene(
        "[simulation]
         time_step = 1e-5
         integrator = 'runge_kutta'
         [[body]]
         name = 'bar'
         mass = 0.8
         inertia = [0.02, 0.001, 0.021]
         joint = { type = 'revolute', axis = [1, 0, 0], anchor = [0, 0, 0.3], v = [1.5] }",
    );
    let angle = after(&joint, 50_000).q[0];
    let mut last = f64::INFINITY;
    for (k, steps) in [250, 500, 1000].into_iter().enumerate() {
        let settings = format!("time_step = {}", 0.5 / f64::from(steps));
        let hinge = bar(&settings, &format!("type = 'hinge'\naxis = [0, -1, 0]\n{TURNED}"));
        // It swings about y of the world.
        let mut rollout = Rollout::new(hinge.system(), hinge.state.clone());
        rollout.advance(steps as usize, &hinge.inputs);
        assert_eq!(rollout.report.unsolved, 0);
        let [apart, turned] = open(&hinge, &rollout);
        assert!(apart < 1e-12 && turned < 1e-12, "{apart:e} {turned:e}");
        let sideways = rollout.state.q[0].abs();
        let expected = 0.3 * angle.sin().abs();
        let off = (sideways - expected).abs();
        println!("{steps}: {off:e} after {last:e}");
        assert!(k == 0 || off < 0.6 * last, "{steps}: {off:e} {last:e}");
        last = off;
    }
    assert!(last < 1e-3, "{last:e}");
}

#[test]
fn what_hangs_on_a_spring_sags_by_its_weight_over_the_stiffness() {
    for integrator in ["semi_implicit", "bdf1", "bdf2"] {
        for kind in [
            "type = 'connect'".to_string(),
            "type = 'weld'".into(),
            format!("type = 'hinge'\naxis = [0, -1, 0]\n{TURNED}"),
        ] {
            let settings =
                format!("time_step = 0.01\nintegrator = '{integrator}'\ntolerance = 1e-13");
            let turned = if kind.contains("weld") { TURNED } else { "" };
            let equality = format!("{kind}\n{turned}\nstiffness = 5e3\ndamping = 40");
            let scene = bar(&settings, &equality);
            let mut still = scene.clone();
            still.state.v.fill(0.0);
            let state = after(&still, 3000);
            assert_abs_diff_eq!(state.q[2], -0.8 * G / 5e3, epsilon = 1e-9);
        }
    }
}

/// A torque across the axis of a hinge turns it by as much over the stiffness.
#[test]
fn a_hinge_that_yields_turns_under_a_torque_across_its_axis() {
    let kind = format!("type = 'hinge'\naxis = [0, -1, 0]\n{TURNED}\nstiffness = 50\ndamping = 1");
    let mut scene = bar("time_step = 0.01\ntolerance = 1e-13", &kind);
    scene.state.v.fill(0.0);
    scene.parameters.values[..3].fill(0.0);
    // About z in the world.
    scene.inputs[5] = 0.02;
    let state = after(&scene, 4000);
    let mut rollout = Rollout::new(scene.system(), state);
    rollout.advance(1, &scene.inputs);
    let [_, apart] = open(&scene, &rollout);
    // k sin(angle) = torque, and the axes are 2 sin(angle / 2) apart.
    let angle = f64::asin(0.02 / 50.0);
    assert_relative_eq!(apart, 2.0 * (angle / 2.0).sin(), max_relative = 1e-6);
}

#[test]
fn stiffer_springs_tend_to_what_is_exact() {
    for kind in
        ["type = 'connect'".to_string(), format!("type = 'hinge'\naxis = [0, -1, 0]\n{TURNED}")]
    {
        let at = |more: &str| after(&bar("time_step = 0.005", &format!("{kind}{more}")), 60).q;
        let apart = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
        };
        let rigid = at("\nstiffness = 1e12");
        // Loops are closed by displacements after a step, springs pull in it: to its order the same.
        assert!(apart(&rigid, &at("")) < 5e-3, "{kind}: {:e}", apart(&rigid, &at("")));
        let mut last = f64::INFINITY;
        for stiffness in ["1e6", "1e7", "1e8"] {
            let off = apart(&rigid, &at(&format!("\nstiffness = {stiffness}")));
            assert!(off < 0.2 * last, "{kind} {stiffness}: {off:e} {last:e}");
            last = off;
        }
        assert!(last < 1e-5, "{last:e}");
    }
}

/// All kinds, exact and not, on bodies that swing.
fn several(settings: &str) -> Scene {
    let body = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 0.5\ninertia = [0.002, 0.003, 0.004]\ncenter_of_mass = [0.01, 0, 0.02]
             position = [{x}, 0, 0]\nvelocity = [0, 0.1, 0]\nangular_velocity = [0.3, -0.2, 0.5]\n"
        )
    };
    let arm = |name: &str, y: f64| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 0.4\ninertia = [0.002, 0.001, 0.002]\nposition = [0, {y}, 0]
             joint = {{ type = 'revolute', axis = [1, 0, 0], anchor = [0, 0, 0.2], q = [0.2], v = [{y}] }}\n"
        )
    };
    scene(&format!(
        "[simulation]\ntime_step = 0.01\ntolerance = 1e-12\n{settings}
         {}{}{}{}{}
         [[equality]]\nname = 'hinge'\ntype = 'hinge'\nbodies = ['world', 'a']\nanchors = [[0, 0, 0.1], [0, 0, 0.1]]\naxis = [0, 1, 0]
         [[equality]]\nname = 'knee'\ntype = 'hinge'\nbodies = ['a', 'b']\nanchors = [[0.15, 0, 0], [-0.15, 0, 0]]\naxis = [0.2, 1, 0]\nstiffness = 3e2\ndamping = 2
         [[equality]]\nname = 'glue'\ntype = 'weld'\nbodies = ['b', 'c']\nanchors = [[0.15, 0, 0], [-0.15, 0, 0.01]]\nstiffness = 2e2\ndamping = 1
         [[equality]]\nname = 'rope'\ntype = 'distance'\nbodies = ['c', 'world']\nanchors = [[0.1, 0, 0], [0.9, 0, 0.3]]\ndistance = 0.3\nstiffness = 4e2
         [[equality]]\nname = 'gears'\ntype = 'joint'\njoints = ['left', 'right']\noffset = 0.1\nratio = 0.7\nstiffness = 3\ndamping = 0.1",
        body("a", 0.0),
        body("b", 0.3),
        body("c", 0.6),
        arm("left", 1.0),
        arm("right", 2.0),
    ))
}

#[test]
fn derivatives_agree_in_all_ways() {
    for settings in ["", "integrator = 'implicit'"] {
        let scene = several(settings);
        let names = [
            "knee/stiffness",
            "knee/damping",
            "glue/stiffness",
            "rope/stiffness",
            "gears/stiffness",
            "gears/damping",
        ];
        let mut moved = [0.0_f64; 6];
        for steps in [0, 1, 5] {
            let found = step_derivatives_agree(settings, &scene, steps);
            for (most, name) in moved.iter_mut().zip(names) {
                let slot = scene.model.parameter(name).unwrap().slots[0];
                *most = most.max(found.c.column(slot).norm());
            }
        }
        assert!(moved.iter().all(|&most| most > 1e-9), "{settings}: {moved:?}");
    }
    let tally = compare("holds", &several(""), 10, 0.3);
    assert!(tally.recorded > 5, "{tally:?}");
    for integrator in ["bdf1", "bdf2"] {
        let scene = several(&format!("integrator = '{integrator}'"));
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        for _ in 0..2 {
            rollout.advance(4, &scene.inputs);
            assert_eq!(rollout.report.unsolved, 0, "{integrator}");
            let at = (&rollout.state, &scene.inputs[..], &rollout.memory);
            let program = StepProgram::new(scene.system(), at.0, at.1, at.2, 1);
            let check = Gradcheck::of(&program).unwrap();
            assert!(check.passed() && check.cases() > 0, "{integrator}: {check:?}");
        }
    }
}

#[test]
fn holds_are_written_back_and_nonsense_is_refused() {
    let first = several("");
    let second = scene(&Description::of(&first, &first.parameters, "again").to_toml("."));
    assert_eq!(second.model.parameter_names(), first.model.parameter_names());
    for (one, other) in second.model.equalities.iter().zip(&first.model.equalities) {
        assert_eq!((one.kind, one.bodies, one.yields), (other.kind, other.bodies, other.yields));
        assert!((0..3).all(|k| (one.axis[k] - other.axis[k]).abs() < 1e-15));
    }
    assert_eq!(second.parameters.values, first.parameters.values);
    for (equality, expected) in [
        ("type = 'hinge'", "axis"),
        ("type = 'hinge'\naxis = [0, 0, 0]", "must have a direction"),
        ("type = 'connect'\nstiffness = 0", "must be positive"),
        ("type = 'connect'\ndamping = 1", "without stiffness"),
        ("type = 'connect'\nstiffness = 1\ndamping = -1", "must not be negative"),
        ("type = 'connect'\naxis = [0, 0, 1]", "axis"),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n[[body]]\nname = 'box'\nmass = 1\ninertia = [1, 1, 1]
             [[equality]]\nname = 'hold'\nbodies = ['world', 'box']\nanchors = [[0, 0, 0], [0, 0, 0]]\n{equality}"
        );
        let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
        assert!(error.starts_with("scene.toml:") && error.contains(expected), "{error}");
    }
}

/// Shapes that start in each other are pushed apart; a spring that is stretched is left alone by that.
#[test]
fn pushing_apart_closes_no_spring() {
    let text = "[simulation]\ntime_step = 0.01\noverlap = 'push'
         [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]
         [[body]]\nname = 'box'\nmass = 1\nshape = { box = [0.1, 0.1, 0.1] }\nposition = [0, 0, 0.05]
         [[body]]\nname = 'bob'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [1, 0, 1]
         [[contact]]\nmu = 0.3
         [[equality]]\nname = 'spring'\ntype = 'connect'\nbodies = ['world', 'bob']\nanchors = [[1, 0, 2], [0, 0, 0]]\nstiffness = 100";
    let text = text.replace("\noverlap = 'push'", "");
    let text = format!("overlap = 'push'\n{text}");
    let scene = scene(&text);
    assert_abs_diff_eq!(scene.state.q[2], 0.1, epsilon = 1e-6);
    let bob = scene.model.bodies[1].joint.q;
    assert_abs_diff_eq!(scene.state.q[bob + 2], 1.0, epsilon = 1e-9);
}
