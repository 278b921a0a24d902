//! What joints do: limits, dry friction, motors.

use approx::assert_relative_eq;
use stiction::argmin::Mode;
use stiction::model::Integrator;

use super::{parse, rollout, run};

fn slider(joint: &str, more: &str) -> String {
    format!(
        "gravity = [0, 0, 0]
         [simulation]
         time_step = 0.01
         [[body]]
         name = 'slider'
         joint = {{ type = 'prismatic', axis = [1, 0, 0], {joint} }}
         mass = 2
         {more}"
    )
}

#[test]
fn limits_stop_a_joint_where_they_are() {
    for (speed, stop) in [(1.0, 0.5), (-1.0, -0.25), (30.0, 0.5), (-1e3, -0.25)] {
        let scene = parse(&slider(&format!("v = {speed:?}, limits = [-0.25, 0.5]"), ""));
        let mut rollout = rollout(&scene);
        for step in 0..200 {
            rollout.step(&scene.inputs);
            let q = rollout.state.q[0];
            assert!((-0.25 - 1e-12..=0.5 + 1e-12).contains(&q), "{speed}, step {step}: {q}");
        }
        assert_relative_eq!(rollout.state.q[0], stop, epsilon = 1e-9);
        assert_relative_eq!(rollout.state.v[0], 0.0, epsilon = 1e-9);
    }
    // A joint that starts beyond a limit is brought back by a fraction of it in each step.
    let scene = parse(&slider("q = 0.6, limits = [-0.25, 0.5]", ""));
    let mut rollout = rollout(&scene);
    rollout.step(&scene.inputs);
    assert_relative_eq!(rollout.state.q[0] - 0.5, 0.1 * 0.8, epsilon = 1e-9);
    // It keeps the speed of that.
    rollout.advance(9, &scene.inputs);
    assert_relative_eq!(rollout.state.q[0], 0.6 - 10.0 * 0.02, epsilon = 1e-9);
}

// x = v² / (2 f / m), and there it stays.
#[test]
fn dry_friction_stops_a_joint_and_holds_it() {
    let scene = parse(&slider("v = 1, friction = 4", ""));
    let end = run(&scene, 200);
    assert_eq!(end.state.v[0], 0.0);
    assert_relative_eq!(end.state.q[0], 1.0 / (2.0 * 4.0 / 2.0), epsilon = 0.01);
    let records = end.workspace.joints();
    assert!(matches!(records, [record] if record.impulse == 0.0), "{records:?}");
    // A motor with less than the friction does not move it; with more, the difference does.
    for (force, speed) in [(3.9, 0.0), (-3.9, 0.0), (5.0, 0.5), (-6.0, -1.0)] {
        let motor = format!("[[actuator]]\nname = 'm'\njoint = 'slider'\ncontrol = {force:?}");
        let scene = parse(&slider("friction = 4", &motor));
        let mut end = run(&scene, 100);
        assert_relative_eq!(end.state.v[0], speed, epsilon = 1e-9);
        // Where nothing changes any more, friction that holds is taken as it was, too.
        assert_eq!(end.step(&scene.inputs).worst.iterations, 0, "{force}");
        let [record] = end.workspace.joints() else { panic!("one friction") };
        assert_eq!(record.mode == Mode::Stick, speed == 0.0, "{record:?}");
        assert!(record.impulse.abs() <= 4.0 * 0.01 * (1.0 + 1e-12), "{record:?}");
    }
}

#[test]
fn motors_hold_positions_and_velocities_within_their_limits() {
    let servo = |more: &str, numbers: &str| {
        let actuator = format!(
            "[[actuator]]\nname = 'm'\njoint = 'slider'\ntype = {more}\ngear = 2\n{numbers}"
        );
        let scene = parse(&slider("armature = 1", &actuator));
        let mut rollout = rollout(&scene);
        rollout.step(&scene.inputs);
        // Force over (mass + armature).
        (rollout.state.v[0] / 0.01 * 3.0, scene)
    };
    // gear kp (u - gear q) at q = v = 0.
    assert_relative_eq!(servo("'position'", "kp = 5\ncontrol = 0.3").0, 3.0, epsilon = 1e-9);
    assert_relative_eq!(servo("'velocity'", "kd = 5\ncontrol = 0.3").0, 3.0, epsilon = 1e-9);
    assert_relative_eq!(servo("'motor'", "control = 0.3").0, 0.6, epsilon = 1e-9);
    let ranged = "kp = 5\ncontrol = 0.3\ncontrol_range = [-0.1, 0.1]";
    assert_relative_eq!(servo("'position'", ranged).0, 1.0, epsilon = 1e-9);
    let weak = "kp = 5\ncontrol = 0.3\nforce_range = [-1, 0.2]";
    assert_relative_eq!(servo("'position'", weak).0, 0.4, epsilon = 1e-9);
    // u = gear q where it comes to rest.
    let (_, mut scene) = servo("'position'", "kp = 50\nkd = 20\ncontrol = 0.3");
    let end = run(&scene, 2000);
    assert_relative_eq!(2.0 * end.state.q[0], 0.3, epsilon = 1e-6);
    // Implicit in the gains, it holds however stiff they are in v.
    let (_, stiff) = servo("'velocity'", "kd = 1e6\ncontrol = 0.3");
    scene = stiff;
    scene.settings.integrator = Integrator::Implicit;
    let end = run(&scene, 100);
    assert_relative_eq!(2.0 * end.state.v[0], 0.3, epsilon = 1e-6);
}

#[test]
fn fixed_bodies_and_massless_ones_are_part_of_what_they_hang_on() {
    // One body in two parts, with a body without mass between, and the same in one.
    let parts = parse(
        "[simulation]
         time_step = 0.001
         [[body]]
         name = 'base'
         joint = { type = 'prismatic', axis = [1, 0, 0] }
         mass = 0
         [[body]]
         name = 'arm'
         parent = 'base'
         joint = { type = 'revolute', axis = [0, 1, 0], q = 1 }
         mass = 1
         center_of_mass = [0, 0, 0.5]
         inertia = [0.1, 0.1, 0.1]
         [[body]]
         name = 'weight'
         parent = 'arm'
         joint = { type = 'fixed' }
         position = [0, 0, 1]
         orientation = [0.6, 0.8, 0, 0]
         mass = 1
         inertia = [0.2, 0.1, 0.1]",
    );
    let whole = parse(
        "[simulation]
         time_step = 0.001
         [[body]]
         name = 'base'
         joint = { type = 'prismatic', axis = [1, 0, 0] }
         mass = 0
         [[body]]
         name = 'arm'
         parent = 'base'
         joint = { type = 'revolute', axis = [0, 1, 0], q = 1 }
         mass = 2
         center_of_mass = [0, 0, 0.75]
         inertia = [0.425, 0.325, 0.2]",
    );
    let (a, b) = (run(&parts, 500), run(&whole, 500));
    for k in 0..2 {
        assert_relative_eq!(a.state.q[k], b.state.q[k], max_relative = 1e-9);
    }
}

#[test]
fn a_tree_that_cannot_be_moved_is_told() {
    // A body without mass at the end of a tree takes part in no motion.
    let text = slider("", "inertia = 0").replace("mass = 2", "mass = 0");
    assert!(stiction::model::Scene::parse(&text, "scene.toml").is_err());
    // One whose inertia a fit has taken away.
    let mut scene = parse(&slider("", ""));
    let slot = scene.model.parameter("slider/mass").unwrap().slots[0];
    scene.parameters.values[slot] = -1.0;
    let mut rollout = rollout(&scene);
    let report = rollout.step(&scene.inputs);
    assert_eq!(report.worst.status, stiction::argmin::Status::InvalidInput);
    assert!(rollout.state.q.iter().all(|q| q.is_finite()));
}

/// Friction that slips has the impulse of the step before, which is taken as it is, without an iteration; the motion is that
/// of steps that remember nothing.
#[test]
fn dry_friction_at_its_limit_costs_no_search() {
    let hinge = |name: &str, rest: &str| {
        format!(
            "[[body]]
             name = '{name}'
             {rest}
             joint = {{ type = 'revolute', axis = [0, 1, 0], friction = 0.05, q = 0.6 }}
             mass = 1
             center_of_mass = [0, 0, -0.2]
             inertia = 0.01\n"
        )
    };
    let text = "[simulation]\ntime_step = 0.002\n".to_string()
        + &hinge("upper", "")
        + &hinge("lower", "parent = 'upper'\nposition = [0, 0, -0.4]");
    let scene = parse(&text);
    let (mut known, mut cold) = (rollout(&scene), rollout(&scene));
    let mut searched = 0;
    for step in 0..300 {
        let report = known.step(&scene.inputs);
        searched += usize::from(report.worst.iterations > 0);
        cold.memory.clear();
        assert!(cold.step(&scene.inputs).worst.iterations > 0, "step {step}");
        for (one, other) in known.state.q.iter().zip(&cold.state.q) {
            assert_relative_eq!(one, other, epsilon = 1e-12);
        }
    }
    // The first step, and those in which a hinge turns back.
    assert!((1..10).contains(&searched), "{searched}");
}
