//! Derivatives of steps of articulated scenes: every way, and against differences.

use stiction::model::{Integrator, Scene};
use stiction::verify::{Gradcheck, StepProgram};

use super::{parse, rollout, system};
use crate::scenes::FLOOR;

/// Checks a few states of the motion of a scene.
fn check(name: &str, scene: &Scene, steps: [usize; 3]) {
    let mut rollout = rollout(scene);
    for stride in steps {
        rollout.advance(stride, &scene.inputs);
        let program =
            StepProgram::new(system(scene), &rollout.state, &scene.inputs, &rollout.memory, 1);
        let found = Gradcheck::of(&program).unwrap();
        assert!(found.passed(), "{name}, {stride}: {found:?}");
        assert!(found.report.unsolved == 0, "{name}: {:?}", found.report);
    }
}

const ARM: &str = "
    [[body]]
    name = 'upper'
    joint = { type = 'revolute', axis = [0.1, 1, 0], q = 1.0, v = 0.5, armature = 0.01, damping = 0.2,
              stiffness = 0.3, rest = 0.1 }
    position = [0, 0, 1]
    mass = 1
    center_of_mass = [0.01, 0.02, -0.5]
    inertia = [0.1, 0.09, 0.03, 0.001, 0.002, -0.003]
    [[body]]
    name = 'lower'
    parent = 'upper'
    joint = { type = 'ball', q = [0.8, 0.6, 0, 0], v = [1, -2, 0.5], anchor = [0, 0, 0.05], friction = 0.01 }
    position = [0, 0, -1]
    mass = 0.7
    center_of_mass = [0, 0, -0.3]
    inertia = [0.05, 0.04, 0.02]
    shape = { sphere = 0.05, position = [0, 0, -0.6], mu = 0.4 }
    [[actuator]]
    name = 'servo'
    joint = 'upper'
    type = 'position'
    kp = 5
    kd = 0.1
    gear = 1.5
    control = 0.4
    ";

#[test]
fn arms_in_motion() {
    for integrator in Integrator::ALL {
        let mut scene = parse(&format!("[simulation]\ntime_step = 0.01\n{ARM}"));
        scene.settings.integrator = integrator;
        check(integrator.name(), &scene, [0, 1, 20]);
    }
}

#[test]
fn arms_that_touch_a_floor() {
    let arm = ARM.replace("position = [0, 0, 1]", "position = [0, 0, 0.9]");
    let scene =
        parse(&format!("[simulation]\ntime_step = 0.01\n{arm}{FLOOR}[[contact]]\nmu = 0.4"));
    check("floor", &scene, [5, 20, 60]);
}

#[test]
fn arms_at_their_limits() {
    let arm = ARM.replace("rest = 0.1", "rest = 0.1, limits = [-0.2, 0.9]");
    let arm = arm.replace("q = 1.0", "q = 0.85");
    let scene = parse(&format!("[simulation]\ntime_step = 0.01\n{arm}"));
    check("limits", &scene, [1, 5, 30]);
}

#[test]
fn loops() {
    let text = format!(
        "[simulation]
         time_step = 0.01
         {ARM}
         [[body]]
         name = 'ball'
         mass = 0.5
         shape = {{ sphere = 0.1, mu = 0.1 }}
         position = [0.3, 0.8, 0.2]
         angular_velocity = [1, 2, 3]
         [[equality]]
         name = 'rope'
         type = 'distance'
         bodies = ['lower', 'ball']
         anchors = [[0, 0, -0.6], [0, 0.1, 0]]
         distance = 1.0
         [[contact]]
         mu = 0.3"
    );
    check("rope", &parse(&text), [2, 5, 20]);
}
