//! Steps by backward differentiation formulas: orders, balance of momentum with contacts, stiff motors, derivatives.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction::model::{Integrator, Scene};
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use super::{parse, rollout, run, system};
use crate::agreement::step_derivatives_agree;
use crate::scenes::FLOOR;

const ORDERS: [(Integrator, f64); 2] = [(Integrator::Bdf1, 1.0), (Integrator::Bdf2, 2.0)];

/// The state after `time` seconds.
fn after(text: &str, integrator: Integrator, time_step: f64, time: f64) -> Vec<f64> {
    let settings = format!("integrator = \"{}\"\ntime_step = {time_step:?}", integrator.name());
    let scene = parse(&format!("[simulation]\n{settings}\n{text}"));
    let rollout = run(&scene, (time / time_step).round() as usize);
    [rollout.state.q, rollout.state.v].concat()
}

/// How the error of a state falls with the step: beside Runge and Kutta's method, of which it is 1e-4 of that.
fn order(text: &str, integrator: Integrator, time_step: f64, time: f64) -> f64 {
    let exact = after(text, Integrator::RungeKutta, time_step / 16.0, time);
    let error = |time_step: f64| {
        let found = after(text, integrator, time_step, time);
        let all = found.iter().zip(&exact).map(|(a, b)| (a - b) * (a - b));
        all.sum::<f64>().sqrt()
    };
    (error(time_step) / error(0.5 * time_step)).log2()
}

const PENDULUM: &str = "[[body]]
name = 'pendulum'
mass = 2
center_of_mass = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.1]
joint = { type = 'revolute', axis = [1, 0, 0], q = 1.2, v = 0.5, damping = 0.05 }";

const VIBRATION: &str = "[[body]]
name = 'mass'
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { type = 'prismatic', axis = [1, 0, 0], q = 0.1, stiffness = 40, damping = 0.2 }";

const TUMBLING: &str = "[[body]]
name = 'body'
mass = 0.4
center_of_mass = [0.02, -0.01, 0.03]
inertia = [0.001, 0.002, 0.0025]
velocity = [0.5, 0, 1]
angular_velocity = [1, 4, -2]";

const DOUBLE: &str = "[[body]]
name = 'upper'
joint = { type = 'ball', v = [1, -0.5, 2] }
mass = 1
center_of_mass = [0.01, 0.02, -0.3]
inertia = [0.05, 0.04, 0.03]
[[body]]
name = 'lower'
parent = 'upper'
position = [0, 0, -0.6]
joint = { type = 'revolute', axis = [0.2, 1, 0], q = 0.7, v = -1, stiffness = 3 }
mass = 0.7
center_of_mass = [0, 0.02, -0.2]
inertia = [0.02, 0.03, 0.01]";

#[test]
fn errors_fall_with_the_order() {
    for (name, text, time_step) in [
        ("pendulum", PENDULUM, 1.0 / 256.0),
        ("vibration", VIBRATION, 1.0 / 512.0),
        ("tumbling", TUMBLING, 1.0 / 512.0),
        ("double", DOUBLE, 1.0 / 512.0),
    ] {
        for (integrator, expected) in ORDERS {
            let found = order(text, integrator, time_step, 0.5);
            assert!((found - expected).abs() < 0.1, "{name}, {integrator:?}: {found}");
        }
    }
}

/// A scene by both formulas.
fn both(text: &str) -> impl Iterator<Item = Scene> {
    ORDERS.into_iter().map(move |(integrator, _)| {
        let name = integrator.name();
        parse(&format!("simulation = {{ time_step = 0.01, integrator = \"{name}\" }}\n{text}"))
    })
}

const SPINNING: &str = "[[body]]
name = 'box'
mass = 0.4
center_of_mass = [0.01, -0.005, 0.008]
inertia = [0.001, 0.002, 0.0025, 1e-4, -2e-4, 1e-4]
position = [0, 0, 0.09]
orientation = [0.8, 0.4, 0.2, 0.4]
velocity = [0.5, 0.2, -0.3]
angular_velocity = [6, 9, -14]
shape = { box = [0.05, 0.06, 0.07] }
";

#[test]
fn impulses_are_what_the_momenta_change_by() {
    // Friction acts at the height of the lowest point, and not where each is at the start of the step.
    for (mu, lever) in [("0", 1e-12), ("0.4", 0.01)] {
        balance(&format!("{SPINNING}{FLOOR}[[contact]]\nmu = {mu}\n"), lever);
    }
}

fn balance(text: &str, lever: f64) {
    for scene in both(text) {
        let mut rollout = rollout(&scene);
        let (mut touched, mut before) = (0, scene.state.clone());
        // The first step, and those two after which something has struck, say nothing of the step before.
        let (mut smooth, mut known) = (1, Vec::new());
        let values = &scene.parameters;
        let (mass, c) = (values.mass(&scene.model, 0), values.center_of_mass(&scene.model, 0));
        let inertia = values.inertia(&scene.model, 0);
        for step in 0..150 {
            let now = rollout.state.clone();
            rollout.step(&scene.inputs);
            let first = smooth < 2 || step == 0 || scene.settings.integrator == Integrator::Bdf1;
            let mut features = Vec::new();
            // q̄, v̄ and a by hand.
            let quaternion = |state: &stiction::state::State<f64>| {
                let [w, x, y, z] = state.orientation(0);
                UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z))
            };
            let turned = (quaternion(&before).inverse() * quaternion(&now)).scaled_axis();
            let third = if first { 0.0 } else { 1.0 / 3.0 };
            let start = quaternion(&now) * UnitQuaternion::from_scaled_axis(turned * third);
            let ahead = |of: &dyn Fn(&stiction::state::State<f64>) -> Vector3<f64>| {
                of(&now) + (of(&now) - of(&before)) * third
            };
            let v = ahead(&|state| state.velocity(0));
            let w = ahead(&|state| state.angular_velocity(0));
            let a = if first { 0.01 } else { 0.02 / 3.0 };
            let end = &rollout.state;
            let (v1, w1) = (end.velocity(0), end.angular_velocity(0));
            let r1: Matrix3<f64> = quaternion(end).to_rotation_matrix().into_inner();
            // Newton and Euler about the centre of mass, at the end.
            let spin = (w1 - w) / a;
            let pull = (v1 - v) / a + r1 * (spin.cross(&c) + w1.cross(&w1.cross(&c)));
            let force = (pull - Vector3::new(0.0, 0.0, -9.81)) * mass;
            let torque =
                inertia * spin + w1.cross(&(inertia * w1)) + c.cross(&(r1.transpose() * force));
            let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
            let at_start = start.to_rotation_matrix().into_inner();
            for contact in rollout.workspace.contacts() {
                let [n, t1, t2] = contact.impulse;
                let [x, y] = stiction::contact::contact_frame(contact.normal);
                // As forces over a step.
                let impulse = (contact.normal * n + x * t1 + y * t2) * (a / 0.01);
                linear += impulse;
                if n > 0.0 {
                    features.push(contact.feature);
                }
                angular += (c + contact.arms[1]).cross(&(at_start.transpose() * impulse));
            }
            touched += usize::from(linear.norm() > 0.0);
            let scale = scene.settings.tolerance * (mass + linear.norm());
            assert!((force * a - linear).norm() < scale, "{step}");
            let left = (torque * a - angular).norm();
            assert!(left < 0.05 * scale + lever * linear.norm(), "{step}: {left:e} of {linear}");
            before = now;
            let struck = features.iter().any(|feature| !known.contains(feature));
            smooth = if struck { 0 } else { smooth + 1 };
            known = features;
        }
        assert!(touched > 30, "{touched}");
        assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    }
}

fn check(name: &str, rollout: &Rollout<f64>, scene: &Scene) {
    // Three steps, the later of which start from those before: with derivatives.
    for steps in [1, 3] {
        let (state, memory) = (&rollout.state, &rollout.memory);
        let program = StepProgram::new(system(scene), state, &scene.inputs, memory, steps);
        let found = Gradcheck::of(&program).unwrap();
        assert!(found.passed(), "{name}, {steps}: {found:?}");
        assert!(found.report.unsolved == 0, "{name}: {:?}", found.report);
    }
}

/// Of free flight the velocity at the end is that at the start.
#[test]
fn the_state_before_has_derivatives() {
    for scene in
        both("gravity = [0, 0, 0]\n[[body]]\nname = 'ball'\nmass = 1\nshape = { sphere = 0.1 }")
    {
        let end = |v: &[stiction::ad::Var]| {
            let parameters = scene.parameters.cast();
            let mut state: stiction::state::State<stiction::ad::Var> = scene.state.cast();
            state.v[0] = v[0];
            let mut rollout = Rollout::new(scene.system_with(&parameters), state);
            let inputs: Vec<_> = scene.inputs.iter().map(|&u| v[0] * 0.0 + u).collect();
            rollout.advance(4, &inputs);
            rollout.state.v[0] + rollout.state.q[0] * 10.0
        };
        let (_, slope) = stiction::ad::gradient(end, &[1.0]).unwrap();
        assert!((slope[0] - 1.4).abs() < 1e-14, "{:?}: {slope:?}", scene.settings.integrator);

        let mut rollout = stiction::linearize::RolloutAdjoint::default();
        rollout.start(&scene.state);
        (0..4).for_each(|_| _ = rollout.step(&scene.system(), &scene.inputs));
        let seed = |k: usize, adjoint: &mut [f64]| {
            if k == 4 {
                (adjoint[0], adjoint[6]) = (10.0, 1.0);
            }
        };
        rollout.reverse(&scene.system(), seed).unwrap();
        let found = rollout.adjoints().state[6];
        assert!((found - 1.4).abs() < 1e-14, "{:?}: {found}", scene.settings.integrator);
    }
}

/// What strikes comes back as fast as it is to, whatever it did before.
#[test]
fn what_strikes_rebounds_as_it_is_to() {
    for restitution in [0.0, 0.5, 1.0] {
        let ball = "gravity = [0, 0, 0]\n[[body]]\nname = 'ball'\nmass = 1\nposition = [0, 0, 0.155]\n\
                    velocity = [0, 0, -1]\nshape = { sphere = 0.1 }";
        let text = format!("{ball}\n{FLOOR}[[contact]]\nmu = 0\nrestitution = {restitution}");
        for scene in both(&text) {
            let rollout = run(&scene, 40);
            let v = rollout.state.v[2];
            // Contacts give a millionth.
            assert!((v - restitution).abs() < 2e-6, "{:?}: {v}", scene.settings.integrator);
        }
    }
}

/// The impulses of contacts on each other as derivatives forward and in reverse, which a solver's node has apart.
#[test]
fn impulses_have_one_derivative_too() {
    use stiction::ad::{LANES, Real, Var, gradient, jacobian};
    use stiction::state::State;

    fn pressed<T: Real>(scene: &Scene, d: &[T]) -> T {
        let parameters = scene.parameters.cast();
        let mut state: State<T> = scene.state.cast();
        state.v.iter_mut().zip(d).for_each(|(v, &d)| *v += d);
        let mut rollout = Rollout::new(scene.system_with(&parameters), state);
        let inputs: Vec<T> = scene.inputs.iter().map(|&u| T::constant(u)).collect();
        rollout.advance(12, &inputs);
        let system = scene.system_with(&parameters);
        let impulses = rollout.workspace.contact_impulses(&system);
        impulses.fold(T::zero(), |sum, (_, p)| sum + p.z + p.x * 2.0 + p.y * 3.0)
    }

    let contact = "[[contact]]\nmu = 0.4\n";
    for scene in both(&format!("{SPINNING}{FLOOR}{contact}")) {
        let still = [0.0; 6];
        let (value, reverse) = gradient(|d: &[Var]| pressed(&scene, d), &still).unwrap();
        let (_, forward) = jacobian::<LANES>(|d| vec![pressed(&scene, d)], &still);
        assert!(value.abs() > 1e-4, "it touches: {value}");
        let size = forward.amax();
        for (k, slope) in reverse.iter().enumerate() {
            assert!((slope - forward[(0, k)]).abs() < 1e-9 * size, "{reverse:?} {forward}");
            let mut moved = still;
            let mut at = |h: f64| {
                moved[k] = h;
                pressed(&scene, &moved)
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - forward[(0, k)]).abs() < 1e-5 * size, "{k}: {slope} {forward}");
        }
    }
}

/// What is led is where it was told to go, however its velocity changes.
#[test]
fn what_is_led_goes_as_it_is_told() {
    let text = "[[body]]\nname = 'hand'\nprescribed = true\nshape = { sphere = 0.1 }";
    for scene in both(text) {
        let mut rollout = rollout(&scene);
        let mut expected = 0.0;
        for step in 0..20 {
            let mut inputs = scene.inputs.clone();
            inputs[0] = if step % 7 < 3 { 1.0 } else { -0.4 };
            expected += 0.01 * inputs[0];
            rollout.step(&inputs);
            assert!((rollout.state.q[0] - expected).abs() < 1e-15, "{step}: {:?}", rollout.state);
        }
    }
}

/// A seesaw in balance at zero is at rest to rounding, and that is solved.
#[test]
fn what_balances_is_solved() {
    let text = "[[body]]\nname = 'beam'\nmass = 1\ninertia = 0.1\njoint = { type = 'revolute', axis = [0, 1, 0] }\n\
                [[body]]\nname = 'left'\nparent = 'beam'\nposition = [-0.3, 0, 0.1]\nmass = 0.7\ninertia = 0.01\n\
                joint = { type = 'fixed' }\n\
                [[body]]\nname = 'right'\nparent = 'beam'\nposition = [0.1, 0, 0.1]\nmass = 2.1\ninertia = 0.01\n\
                joint = { type = 'fixed' }\n\
                [[body]]\nname = 'slide'\nmass = 0.3\njoint = { type = 'prismatic', axis = [0, 0, 1] }\n\
                [[actuator]]\nname = 'lift'\njoint = 'slide'\ntype = 'motor'\ncontrol = 2.943";
    for scene in both(text) {
        let rollout = run(&scene, 50);
        assert!(rollout.state.v.iter().all(|v| v.abs() < 1e-12), "{:?}", rollout.state);
        assert!(rollout.report.worst.iterations < 500, "{:?}", rollout.report);
    }
}

/// What rests weighs what it weighs.
#[test]
fn forces_are_told_as_over_a_step() {
    let ball =
        "[[body]]\nname = 'ball'\nmass = 2\nposition = [0, 0, 0.1]\nshape = { sphere = 0.1 }";
    for scene in both(&format!("{ball}\n{FLOOR}[[contact]]\nmu = 0.3")) {
        let rollout = run(&scene, 40);
        let pressed: f64 = rollout.workspace.contacts().map(|own| own.impulse[0]).sum();
        let felt: f64 = rollout.workspace.contact_impulses(&scene.system()).map(|(_, p)| p.z).sum();
        for impulse in [pressed, felt] {
            assert!((impulse / 0.01 - 2.0 * 9.81).abs() < 1e-6, "{impulse}");
        }
    }
}

#[test]
fn derivatives_of_bodies_that_spin_on_a_floor() {
    let contact = "[[contact]]\nmu = 0.4\nrestitution = 0.3\n";
    for scene in both(&format!("{SPINNING}{FLOOR}{contact}")) {
        let mut rollout = rollout(&scene);
        for stride in [3, 5, 8, 30] {
            rollout.advance(stride, &scene.inputs);
            check(scene.settings.integrator.name(), &rollout, &scene);
        }
        if scene.settings.integrator == Integrator::Bdf1 {
            for steps in [3, 8, 40] {
                let found = step_derivatives_agree("spinning", &scene, steps);
                assert_eq!(found.dual_columns, scene.model.parameter_count(), "{steps}");
            }
        }
    }
}

/// Two bodies on springs, to each other and to a wall, one of which lands on the floor.
const SPRUNG: &str = "[[body]]
name = 'first'
mass = 0.3
inertia = [0.001, 0.002, 0.0025]
position = [0, 0, 0.11]
velocity = [0.4, 0, -0.5]
angular_velocity = [3, -2, 5]
shape = { sphere = 0.1 }
[[body]]
name = 'second'
mass = 0.2
inertia = [0.001, 0.002, 0.0015]
position = [0.5, 0.1, 0.3]
angular_velocity = [-2, 1, 4]
[[tendon]]
name = 'between'
bodies = ['first', 'second']
points = [[0.02, 0, 0.05], [-0.03, 0.02, 0]]
stiffness = 400
damping = 2
rest = 0.5
[[tendon]]
name = 'wall'
bodies = ['world', 'second']
points = [[1, 0, 0.5], [0.03, 0.01, 0]]
stiffness = 900
rest = 0.5
";

#[test]
fn derivatives_of_bodies_on_springs() {
    let contact = "[[contact]]\nmu = 0.4\n";
    for scene in both(&format!("{SPRUNG}{FLOOR}{contact}")) {
        assert_eq!(scene.model.trees.len(), 1, "what springs couple is one tree");
        let mut rollout = rollout(&scene);
        for stride in [1, 4, 20] {
            rollout.advance(stride, &scene.inputs);
            check(scene.settings.integrator.name(), &rollout, &scene);
        }
        assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    }
}

/// A ball on a spring with a damper at a hand that is led: it feels how that goes at the end of the step.
#[test]
fn derivatives_of_what_is_led_reach_what_hangs_on_it() {
    let text = "[[body]]
        name = 'hand'
        prescribed = true
        shape = { sphere = 0.05 }
        velocity = [0.1, 0.02, 0.05]
        angular_velocity = [0.1, 0.2, 0.3]
        [[body]]
        name = 'ball'
        mass = 0.1
        inertia = 1e-4
        position = [0, 0, 0.2]
        [[tendon]]
        name = 'spring'
        bodies = ['hand', 'ball']
        points = [[0.05, 0.01, 0.01], [0.005, 0.01, 0]]
        stiffness = 20
        damping = 0.5
        rest = 0.05";
    for scene in both(text) {
        let mut rollout = rollout(&scene);
        rollout.advance(3, &scene.inputs);
        check(scene.settings.integrator.name(), &rollout, &scene);
    }
}

#[test]
fn stiff_springs_and_servos_are_stable_and_settle() {
    // 1 / (dt^2 k / m) = 1e-6: what is not implicit explodes.
    let text = "[[body]]
        name = 'arm'
        mass = 1
        center_of_mass = [0, 0, -0.5]
        inertia = [0.1, 0.1, 0.1]
        joint = { type = 'revolute', axis = [1, 0, 0], q = 1.0 }
        [[actuator]]
        name = 'servo'
        joint = 'arm'
        type = 'position'
        kp = 1e8
        kd = 1e3
        control = 0.3";
    for scene in both(text) {
        let rollout = run(&scene, 200);
        // m g l sin q = kp (control - q)
        let sag = 9.81 * 0.5 * f64::sin(0.3) / 1e8;
        assert!((rollout.state.q[0] - 0.3 + sag).abs() < 1e-12, "{:?}", rollout.state);
    }
}

#[test]
fn what_backward_formulas_go_without_is_refused() {
    for (more, says) in [
        ("split_impacts = true", "simulation.split_impacts: is not for integrator"),
        ("solver = 'staggered'", "simulation.solver: is not for integrator"),
    ] {
        let text =
            format!("[simulation]\ntime_step = 0.01\nintegrator = 'bdf1'\n{more}\n{SPINNING}");
        let error = Scene::parse(&text, "scene.toml").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let text = format!("[simulation]\ntime_step = 0.01\nintegrator = 'bdf2'\n{SPINNING}");
    let scene = Scene::parse(&text, "scene.toml").unwrap();
    let error = stiction::transition::Transition::new("scene.toml", scene.into()).err().unwrap();
    assert!(error.to_string().contains("bdf2 steps from the last two states"), "{error}");
}

/// What would topple within a step has no mass that an impulse could act on, but heavier it has: a pendulum on its head that leans on
/// its limit, and carries another that hangs.
#[test]
fn what_does_not_stand_by_itself_has_derivatives() {
    let text = "simulation = { time_step = 0.4, integrator = 'bdf1' }\n[[body]]\nname = 'pendulum'\nmass = 2\n\
                center_of_mass = [0, 0, 0.5]\ninertia = [0.1, 0.1, 0.1]\n\
                joint = { type = 'revolute', axis = [1, 0, 0], q = -0.1, limits = [-0.1, 0.5] }\n\
                [[body]]\nname = 'bob'\nparent = 'pendulum'\nmass = 0.3\ncenter_of_mass = [0, 0.02, -0.2]\n\
                inertia = [0.01, 0.02, 0.03]\njoint = { type = 'ball', q = [0.8, 0.6, 0, 0], v = [0.3, 1, -0.5] }";
    let scene = parse(text);
    for steps in [1, 3] {
        let found = step_derivatives_agree("leaning", &scene, steps);
        // It leans on its limit.
        assert!((found.next.q[0] + 0.1).abs() < 1e-12, "{steps}: {:?}", found.next);
    }
}

/// A servo far from where it is to be throws an arm of two links at a hundred radians a second: Newton's method goes there in parts.
#[test]
fn stiff_servos_far_from_their_targets_are_solved() {
    for kp in [1e2, 1e4, 1e6, 1e8] {
        let text = format!(
            "[[body]]\nname = 'a'\njoint = {{ type = 'revolute', axis = [0, 1, 0] }}\nmass = 1\n\
             center_of_mass = [0, 0, 0.1]\ninertia = 0.01\n\
             [[body]]\nname = 'b'\nparent = 'a'\njoint = {{ type = 'revolute', axis = [0, 1, 0] }}\n\
             position = [0, 0, 0.2]\nmass = 1\ncenter_of_mass = [0.2, 0, 0]\ninertia = 0.01\n\
             [[actuator]]\nname = 'm'\njoint = 'a'\ntype = 'position'\nkp = {kp:?}\nkd = 0\ncontrol = 0.7"
        );
        let settings = "time_step = 0.005\nintegrator = 'bdf1'";
        let scene = parse(&format!("[simulation]\n{settings}\n{text}"));
        let rollout = run(&scene, 200);
        let most = kp * 0.7 * 0.7;
        let v = &rollout.state.v;
        assert!(0.05 * v.iter().map(|v| v * v).sum::<f64>() < most, "{kp}: {v:?}");
    }
}
