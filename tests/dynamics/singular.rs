//! Where a joint has no inertia to accelerate, it is said so.

use stiction::assemble::JointDescription;
use stiction::dynamics::{
    Aba, Crba, ForwardDynamicsDerivatives, Kinematics, MassFactor, MassMatrix, RungeKutta,
    forward_dynamics, forward_dynamics_derivatives, mass_matrix, runge_kutta,
};
use stiction::linalg::FactorError;
use stiction::model::{JointKind, Scene};
use stiction::state::State;

use super::models::{body, give_mass, scene_of};
use super::{accelerations_of, assert_close};
use crate::random::Random;

/// Asserts that nothing accelerates, because of velocity `k`.
fn assert_singular(scene: &Scene, k: usize) {
    let Scene { model, parameters, state, .. } = scene;
    let n = model.nv();
    let kinematics = Kinematics::new(model, parameters, state);
    let mut acceleration = vec![0.0; n];
    let mut aba = Aba::default();
    let forces = vec![1.0; n];
    let found = forward_dynamics(
        model,
        parameters,
        &kinematics,
        &forces,
        None,
        &mut aba,
        &mut acceleration,
    );
    assert_eq!(found, Err(FactorError::Pivot(k)));
    let mut matrix = MassMatrix::default();
    mass_matrix(model, parameters, &kinematics, &mut Crba::default(), &mut matrix);
    assert_eq!(MassFactor::default().factor(&matrix, None), Err(FactorError::Pivot(k)));
    let mut derivatives = ForwardDynamicsDerivatives::default();
    let found = forward_dynamics_derivatives(
        model,
        parameters,
        &kinematics,
        &acceleration,
        None,
        &mut derivatives,
    );
    assert_eq!(found, Err(FactorError::Pivot(k)));
    let (mut scratch, mut next) = (RungeKutta::default(), State::default());
    let found = runge_kutta(model, parameters, state, 0.01, |_, _| {}, &mut scratch, &mut next);
    assert_eq!(found, Err(FactorError::Pivot(k)));
    // With something to move it is fine.
    let some = vec![0.1; n];
    forward_dynamics(
        model,
        parameters,
        &kinematics,
        &forces,
        Some(&some),
        &mut aba,
        &mut acceleration,
    )
    .unwrap();
    MassFactor::default().factor(&matrix, Some(&some)).unwrap();
    assert!(acceleration.iter().all(|a| a.is_finite()));
}

/// A base with mass, far from the origin, and a tip of some kind on it.
fn with_tip(kind: JointKind) -> Scene {
    let mut random = Random(4);
    let mut joint = JointDescription::new(JointKind::Revolute);
    joint.position = [3.0, 2.0, -5.0];
    joint.axis = [0.3, 0.2, 1.0];
    let mut base = body("base", None, joint);
    give_mass(&mut base, &mut random);
    let mut joint = JointDescription::new(kind);
    joint.axis = [1.0, 2.0, 0.5];
    joint.position = [0.7, 0.4, 1.3];
    let mut tip = body("tip", Some("base"), joint);
    give_mass(&mut tip, &mut random);
    let mut scene = scene_of(vec![base, tip]);
    scene.state = super::models::random_state(&scene, &mut random);
    scene
}

#[test]
fn a_tip_without_mass() {
    for (kind, k) in [(JointKind::Revolute, 1), (JointKind::Prismatic, 1), (JointKind::Ball, 3)] {
        let mut scene = with_tip(kind);
        let slot = scene.model.body_slot(1);
        scene.parameters.values[slot..slot + 10].fill(0.0);
        assert_singular(&scene, k);
    }
}

#[test]
fn a_mass_point_on_the_axis() {
    for (kind, k) in [(JointKind::Revolute, 1), (JointKind::Ball, 3)] {
        let mut scene = with_tip(kind);
        let slot = scene.model.body_slot(1);
        scene.parameters.values[slot + 1..slot + 10].fill(0.0);
        assert_singular(&scene, k);
    }
}

#[test]
fn two_sliders_in_a_row_along_one_axis() {
    let mut random = Random(5);
    let mut joint = JointDescription::new(JointKind::Prismatic);
    joint.axis = [1.0, 2.0, 0.5];
    let middle = body("middle", None, joint.clone());
    let mut slider = body("slider", Some("middle"), joint);
    give_mass(&mut slider, &mut random);
    assert_singular(&scene_of(vec![middle, slider]), 0);
}

#[test]
fn numbers_that_are_none() {
    let mut scene = with_tip(JointKind::Revolute);
    scene.parameters.values[scene.model.body_slot(1)] = f64::NAN;
    let Scene { model, parameters, state, .. } = &scene;
    let kinematics = Kinematics::new(model, parameters, state);
    let (mut aba, mut a) = (Aba::default(), vec![0.0; 2]);
    let found = forward_dynamics(model, parameters, &kinematics, &[0.0; 2], None, &mut aba, &mut a);
    assert!(matches!(found, Err(FactorError::Pivot(_))));
}

#[test]
fn bodies_without_mass_between_others() {
    // A ball joint as three revolute ones with nothing between them.
    let mut random = Random(6);
    let names = ["x", "y", "z"];
    let mut bodies = Vec::new();
    for k in 0..3 {
        let mut joint = JointDescription::new(JointKind::Revolute);
        joint.axis = std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
        bodies.push(body(names[k], k.checked_sub(1).map(|p| names[p]), joint));
    }
    give_mass(&mut bodies[2], &mut random);
    let mut ball = body("ball", None, JointDescription::new(JointKind::Ball));
    let heavy = &bodies[2];
    (ball.mass, ball.center_of_mass, ball.inertia) =
        (heavy.mass, heavy.center_of_mass, heavy.inertia);
    let (three, one) = (scene_of(bodies), scene_of(vec![ball]));
    let state = State { q: vec![0.0; 3], v: vec![0.8, -0.5, 1.1] };
    let mut same = one.state.clone();
    same.v.clone_from(&state.v);
    let torque = [0.4, -0.3, 0.9];
    let found = accelerations_of(&three.model, &three.parameters, &state, &torque);
    let expected = accelerations_of(&one.model, &one.parameters, &same, &torque);
    // In the last frame w = Rz'(Ry' x q1' + y q2') + z q3', whose rate at q = 0 has three products.
    let v = &state.v;
    let w = [found[0] + v[1] * v[2], found[1] - v[0] * v[2], found[2] + v[0] * v[1]];
    assert_close(&w, &expected, 1e-12, "angular acceleration");
}
