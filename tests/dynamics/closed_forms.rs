//! Motions that are known in closed form, and conserved quantities.

use nalgebra::{Matrix3, Vector3};
use num_traits::Zero;
use proptest::prelude::*;
use stiction::ad::{Dual, LANES};
use stiction::assemble::JointDescription;
use stiction::dynamics::{Kinematics, Rnea, RungeKutta, bias, runge_kutta};
use stiction::model::{JointKind, Parameters, Scene};
use stiction::state::State;

use super::models::{body, give_mass, scene_of, tree};
use super::{accelerations_of, assert_close, cases};
use crate::random::Random;

const GRAVITY: [f64; 3] = [0.7, -0.4, -9.0];

#[test]
fn a_physical_pendulum() {
    // About y, centre of mass below the axis by l at q = 0: (I + m l^2) a = -m g l sin q.
    let mut joint = JointDescription::new(JointKind::Revolute);
    joint.axis = [0.0, 1.0, 0.0];
    joint.anchor = [0.0, 0.0, 0.4];
    joint.armature = 0.05;
    let mut bob = body("bob", None, joint);
    (bob.mass, bob.inertia) = (2.0, [0.03, 0.04, 0.02, 0.0, 0.0, 0.0]);
    bob.center_of_mass = [0.0, 0.0, -0.1];
    let Scene { model, mut parameters, .. } = scene_of(vec![bob]);
    parameters.values[..3].copy_from_slice(&[0.0, 0.0, -9.81]);
    let (l, inertia) = (0.5, 0.04 + 2.0 * 0.25 + 0.05);
    for q in [-2.0, 0.0, 0.3, 3.0] {
        let state = State { q: vec![q], v: vec![1.7] };
        // Positive angles about y swing a body below the axis to -x: the moment is -m g l sin q.
        let expected = (0.3 - 2.0 * 9.81 * l * f64::sin(q)) / inertia;
        let found = accelerations_of(&model, &parameters, &state, &[0.3]);
        assert_close(&found, &[expected], 1e-14, "acceleration");
    }
}

#[test]
fn a_slider_falls_along_its_axis() {
    let mut joint = JointDescription::new(JointKind::Prismatic);
    joint.axis = [1.0, 2.0, -2.0];
    let mut slider = body("slider", None, joint);
    (slider.mass, slider.inertia) = (3.0, [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]);
    let Scene { model, parameters, state, .. } = scene_of(vec![slider]);
    let expected = (GRAVITY[0] + 2.0 * GRAVITY[1] - 2.0 * GRAVITY[2]) / 3.0;
    assert_close(&accelerations_of(&model, &parameters, &state, &[0.0]), &[expected], 1e-14, "");
}

#[test]
fn a_body_in_the_air_falls_and_obeys_euler() {
    for kind in [JointKind::Free, JointKind::Ball] {
        let mut random = Random(8);
        let mut flyer = body("flyer", None, JointDescription::new(kind));
        give_mass(&mut flyer, &mut random);
        if kind == JointKind::Ball {
            // It turns about its centre of mass.
            flyer.joint.anchor = flyer.center_of_mass;
        }
        let scene = scene_of(vec![flyer.clone()]);
        let state = super::models::random_state(&scene, &mut random);
        let Scene { model, parameters, .. } = &scene;
        let n = model.nv();
        let found = accelerations_of(model, parameters, &state, &vec![0.0; n]);
        let w = Vector3::from_column_slice(&state.v[n - 3..]);
        let [xx, yy, zz, xy, xz, yz] = flyer.inertia;
        let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        // I w' = -w x I w
        let turning = inertia.try_inverse().unwrap() * -w.cross(&(inertia * w));
        assert_close(&found[n - 3..], turning.as_slice(), 1e-12, "angular acceleration");
        if kind == JointKind::Free {
            // The centre of mass falls: p'' = g - R (w' x c + w x (w x c)).
            let kinematics = Kinematics::new(model, parameters, &state);
            let c = Vector3::from(flyer.center_of_mass);
            let arm = turning.cross(&c) + w.cross(&w.cross(&c));
            let expected = Vector3::from(GRAVITY) - kinematics.bodies[0].rotation * arm;
            assert_close(&found[..3], expected.as_slice(), 1e-12, "acceleration");
        }
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn power_goes_into_energy_and_forces_into_momentum(seed: u64, bodies in 1usize..12) {
        let Scene { model, parameters, state, .. } = tree(seed, bodies);
        let n = model.nv();
        let mut random = Random(seed);
        let forces: Vec<f64> = (0..n).map(|_| random.uniform(-4.0, 4.0)).collect();
        let acceleration = accelerations_of(&model, &parameters, &state, &forces);
        let tangent: Vec<Dual<f64, LANES>> =
            state.v.iter().chain(&acceleration).map(|&x| Dual::variable(0.0, 0) * x).collect();
        let moved = state.cast::<Dual<f64, LANES>>().moved(model.coordinates(), &tangent);
        let cast: Parameters<Dual<f64, LANES>> = parameters.cast();
        let kinematics = Kinematics::new(&model, &cast, &moved);
        let energy = kinematics.kinetic_energy() + kinematics.potential_energy(&cast);
        let mut power: f64 = forces.iter().zip(&state.v).map(|(f, v)| f * v).sum();
        for (index, body) in model.bodies.iter().enumerate() {
            let range = body.joint.v..body.joint.v + body.joint.kind.nv();
            for (a, v) in acceleration[range.clone()].iter().zip(&state.v[range]) {
                power -= parameters.armature(&model, index) * a * v;
            }
        }
        assert_close(&[energy.tangent[0]], &[power], 1e-11, "power");

        // On a free root nothing but gravity and the forces on it acts from outside.
        if model.trees.len() == 1
            && model.bodies[0].joint.kind == JointKind::Free
            && parameters.armature(&model, 0) == 0.0
        {
            let momentum = kinematics.momentum();
            let still = Kinematics::new(&model, &parameters, &state);
            let weight = parameters.gravity() * still.mass();
            let force = Vector3::from_column_slice(&forces[..3]);
            let torque = still.bodies[0].rotation * Vector3::from_column_slice(&forces[3..6]);
            let moment = still.bodies[0].position.cross(&force)
                + torque
                + still.center_of_mass().cross(&weight);
            let rate = |x: Vector3<Dual<f64, LANES>>| x.map(|x| x.tangent[0]);
            // Armatures take angular momentum out of sight.
            let armature: f64 = (0..bodies).map(|b| parameters.armature(&model, b)).sum();
            if armature == 0.0 {
                let (f, m) = (force + weight, moment);
                assert_close(rate(momentum.linear).as_slice(), f.as_slice(), 1e-11, "force");
                assert_close(rate(momentum.angular).as_slice(), m.as_slice(), 1e-11, "moment");
            }
        }
    }
}

#[test]
fn trees_do_not_act_on_each_other() {
    let both = |other: f64| {
        let mut random = Random(2);
        let mut bodies = Vec::new();
        for name in ["a", "b"] {
            let mut joint = JointDescription::new(JointKind::Ball);
            joint.anchor = [0.1, 0.2, 0.3];
            let mut root = body(name, None, joint);
            give_mass(&mut root, &mut random);
            let tip_name = format!("{name}-tip");
            let mut tip = body(&tip_name, Some(name), JointDescription::new(JointKind::Revolute));
            give_mass(&mut tip, &mut random);
            bodies.extend([root, tip]);
        }
        let Scene { model, parameters, mut state, .. } = scene_of(bodies);
        state.v = vec![0.3, -1.0, 2.0, 0.5, other, other, -other, other];
        accelerations_of(&model, &parameters, &state, &[0.1; 8])
    };
    assert_eq!(both(1.0)[..4], both(-3.0)[..4]);
}

#[test]
fn at_rest_the_bias_is_gravity_alone() {
    for seed in 0..10 {
        let Scene { model, parameters, mut state, .. } = tree(seed, 8);
        let n = model.nv();
        state.v.fill(0.0);
        let kinematics = Kinematics::new(&model, &parameters, &state);
        let mut forces = vec![f64::NAN; n];
        bias(&parameters, &kinematics, &mut Rnea::default(), &mut forces);
        // The gradient of the potential.
        let expected: Vec<f64> = (0..n)
            .map(|k| {
                let mut tangent = vec![Dual::<f64, LANES>::zero(); 2 * n];
                tangent[k] = Dual::variable(0.0, 0);
                let moved = state.cast::<Dual<f64, LANES>>().moved(model.coordinates(), &tangent);
                let cast: Parameters<Dual<f64, LANES>> = parameters.cast();
                Kinematics::new(&model, &cast, &moved).potential_energy(&cast).tangent[0]
            })
            .collect();
        assert_close(&forces, &expected, 1e-12, "gravity");
    }
}

#[test]
fn runge_kutta_keeps_the_energy_to_fourth_order() {
    let Scene { model, parameters, state, .. } = tree(41, 7);
    let energy = |state: &State<f64>| {
        let kinematics = Kinematics::new(&model, &parameters, state);
        let armature: f64 = model
            .bodies
            .iter()
            .enumerate()
            .map(|(index, body)| {
                let v = &state.v[body.joint.v..body.joint.v + body.joint.kind.nv()];
                let square: f64 = v.iter().map(|v| v * v).sum();
                0.5 * parameters.armature(&model, index) * square
            })
            .sum();
        kinematics.kinetic_energy() + kinematics.potential_energy(&parameters) + armature
    };
    let drift = |steps: usize| {
        let mut scratch = RungeKutta::default();
        let (mut at, mut next) = (state.clone(), State::default());
        for _ in 0..steps {
            let dt = 0.2 / steps as f64;
            runge_kutta(&model, &parameters, &at, dt, |_, _| {}, &mut scratch, &mut next).unwrap();
            std::mem::swap(&mut at, &mut next);
        }
        (energy(&at) - energy(&state)).abs()
    };
    let (coarse, fine) = (drift(100), drift(200));
    assert!(coarse < 1e-6 && fine < coarse / 12.0, "{coarse:e} {fine:e}");
}
