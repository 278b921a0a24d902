//! The laws of Newton for the mass points that a body may be thought to consist of: no spatial vector, no
//! recursion, positions alone.

use nalgebra::{Matrix3, Vector3};
use num_traits::Zero;
use stiction::ad::{Dual, LANES, Real};
use stiction::dynamics::{Crba, Kinematics, MassMatrix, mass_matrix};
use stiction::model::{Model, Parameters, Scene};
use stiction::state::State;

use super::models::{screws, tree};
use super::{assert_close, forces_of};
use crate::random::Random;

type Time = Dual<Dual<f64, 1>, 1>;

/// Mass points in the body that have its mass, centre of mass and inertia.
fn points(scene: &Scene, body: usize) -> Vec<(Vector3<f64>, f64)> {
    let Scene { model, parameters, .. } = scene;
    let mass = parameters.mass(model, body);
    if mass == 0.0 {
        return Vec::new();
    }
    let inertia = parameters.inertia(model, body);
    // The sum of m x x', of which inertia = trace 1 - that.
    let second = Matrix3::identity() * (0.5 * inertia.trace()) - inertia;
    let eigen = second.symmetric_eigen();
    let center = parameters.center_of_mass(model, body);
    let mut points = Vec::new();
    for k in 0..3 {
        let arm =
            eigen.eigenvectors.column(k) * (3.0 * eigen.eigenvalues[k].max(0.0) / mass).sqrt();
        points.extend([(center + arm, mass / 6.0), (center - arm, mass / 6.0)]);
    }
    points
}

/// Position of a point, the product of the poses along the path: p = p0 + R0 (a + d) - R a.
fn position<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    body: usize,
    point: Vector3<T>,
) -> Vector3<T> {
    use stiction::model::JointKind::{Ball, Fixed, Free, Helical, Prismatic, Revolute};
    use stiction::spatial::{exp, rotation_matrix};
    let joint = &model.bodies[body].joint;
    let q = &state.q[joint.q..];
    let axis = joint.axis.map(T::constant);
    let constant = rotation_matrix(joint.orientation.map(T::constant));
    let identity = Matrix3::identity();
    let (turn, shift) = match joint.kind {
        Free => {
            let turned = rotation_matrix([q[3], q[4], q[5], q[6]]) * point;
            return Vector3::new(q[0], q[1], q[2]) + turned;
        }
        Fixed => (identity, Vector3::zeros()),
        Ball => (rotation_matrix([q[0], q[1], q[2], q[3]]), Vector3::zeros()),
        Revolute => (rotation_matrix(exp(axis * q[0])), Vector3::zeros()),
        Prismatic => (identity, axis * q[0]),
        Helical { pitch } => (rotation_matrix(exp(axis * q[0])), axis * (q[0] * pitch)),
    };
    let anchor = parameters.anchor(model, body);
    let place = parameters.position(model, body);
    let in_parent = place + constant * (anchor + shift + turn * (point - anchor));
    match model.bodies[body].parent {
        Some(parent) => position(model, parameters, state, parent, in_parent),
        None => in_parent,
    }
}

/// d'Alembert: the forces are sums of m (x'' - g) . dx/dq, kinetic energy is half the sum of m x'^2.
fn check(scene: &Scene, seed: u64) {
    let Scene { model, parameters, state, .. } = scene;
    let n = model.nv();
    let mut random = Random(seed);
    let acceleration: Vec<f64> = (0..n).map(|_| random.uniform(-3.0, 3.0)).collect();
    // Along q (+) (t v + t^2 / 2 a), whose velocity at t = 0 is v and whose acceleration a.
    let t = Dual::variable(Dual::variable(0.0, 0), 0);
    let path: Vec<Time> = (0..n)
        .map(|k| t * state.v[k] + t * t * (0.5 * acceleration[k]))
        .chain((0..n).map(|_| Time::zero()))
        .collect();
    let moved = state.cast::<Time>().moved(model.coordinates(), &path);
    let cast: Parameters<Time> = parameters.cast();
    let lanes: Parameters<Dual<f64, LANES>> = parameters.cast();
    let sideways: Vec<State<Dual<f64, LANES>>> = (0..n)
        .map(|k| {
            let mut tangent = vec![Dual::zero(); 2 * n];
            tangent[k] = Dual::variable(0.0, 0);
            state.cast::<Dual<f64, LANES>>().moved(model.coordinates(), &tangent)
        })
        .collect();
    let (mut forces, mut energy) = (vec![0.0; n], 0.0);
    let mut gradients = vec![0.0; n * n];
    for body in 0..model.bodies.len() {
        if model.bodies[body].tree.is_none() {
            continue;
        }
        for (point, mass) in points(scene, body) {
            let x = position(model, &cast, &moved, body, point.map(Time::constant));
            let velocity = x.map(|x| x.tangent[0].value);
            let force = (x.map(|x| x.tangent[0].tangent[0]) - parameters.gravity()) * mass;
            energy += 0.5 * mass * velocity.norm_squared();
            let columns: Vec<Vector3<f64>> = sideways
                .iter()
                .map(|state| {
                    let local = point.map(Dual::constant);
                    position(model, &lanes, state, body, local).map(|x| x.tangent[0])
                })
                .collect();
            for k in 0..n {
                forces[k] += force.dot(&columns[k]);
                for j in 0..n {
                    gradients[k * n + j] += mass * columns[k].dot(&columns[j]);
                }
            }
        }
    }
    for (index, body) in model.bodies.iter().enumerate() {
        let armature = parameters.armature(model, index);
        for k in body.joint.v..body.joint.v + body.joint.kind.nv() {
            forces[k] += armature * acceleration[k];
            gradients[k * (n + 1)] += armature;
        }
    }
    let found = forces_of(model, parameters, state, &acceleration);
    assert_close(&found, &forces, 1e-11, "forces");
    let kinematics = Kinematics::new(model, parameters, state);
    assert_close(&[kinematics.kinetic_energy()], &[energy], 1e-12, "kinetic energy");
    let mut matrix = MassMatrix::default();
    mass_matrix(model, parameters, &kinematics, &mut Crba::default(), &mut matrix);
    let mut entries = vec![f64::NAN; n * n];
    matrix.dense(&mut entries);
    assert_close(&entries, &gradients, 1e-11, "mass matrix");
}

#[test]
fn newton_holds_for_the_mass_points_of_random_trees() {
    for seed in 0..40 {
        check(&tree(seed, 2 + seed as usize % 9), seed);
        check(&screws(seed, 2 + seed as usize % 9), seed);
    }
}

#[test]
fn points_move_as_their_velocities_jacobians_and_accelerations_say() {
    for seed in 0..20 {
        let scene = tree(seed, 7);
        let Scene { model, parameters, state, .. } = &scene;
        let n = model.nv();
        let kinematics = Kinematics::new(model, parameters, state);
        let t = Dual::variable(Dual::variable(0.0, 0), 0);
        let path: Vec<Time> =
            state.v.iter().map(|&v| t * v).chain((0..n).map(|_| Time::zero())).collect();
        let moved = state.cast::<Time>().moved(model.coordinates(), &path);
        let cast: Parameters<Time> = parameters.cast();
        for body in 0..model.bodies.len() {
            let local = Vector3::new(0.3, -0.2, 0.5);
            let x = position(model, &cast, &moved, body, local.map(Time::constant));
            let point = kinematics.point(body, &local);
            let close = |found: &[f64], expected: Vector3<f64>, what: &str| {
                assert_close(found, expected.as_slice(), 1e-12, what);
            };
            close(point.as_slice(), x.map(|x| x.value.value), "position");
            let velocity = x.map(|x| x.tangent[0].value);
            close(kinematics.point_velocity(body, &point).as_slice(), velocity, "velocity");
            let acceleration = kinematics.point_bias_acceleration(body, &point);
            close(acceleration.as_slice(), x.map(|x| x.tangent[0].tangent[0]), "acceleration");
            let mut jacobian = vec![f64::NAN; 6 * n];
            kinematics.jacobian(body, &point, &mut jacobian);
            let by_jacobian: Vec<f64> = jacobian[..3 * n]
                .chunks(n.max(1))
                .map(|row| row.iter().zip(&state.v).map(|(j, v)| j * v).sum())
                .collect();
            if n > 0 {
                close(&by_jacobian, velocity, "Jacobian");
            }
            // Forces do the same work there as in the joints.
            let (force, torque) = (Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.3, 0.1, -0.7));
            let mut forces = vec![0.0; n];
            kinematics.apply_force(body, &point, &force, &torque, &mut forces);
            let power: f64 = forces.iter().zip(&state.v).map(|(f, v)| f * v).sum();
            let angular = kinematics.bodies[body].velocity.angular;
            let expected = force.dot(&velocity) + torque.dot(&angular);
            assert_close(&[power], &[expected], 1e-12, "power");
        }
    }
}
