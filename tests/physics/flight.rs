//! Bodies that nothing touches: conservation laws, ballistic flight, loads, and the change of
//! coordinates between body origin and centre of mass.

use approx::assert_relative_eq;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction::model::Scene;
use stiction::simulation::{StepMemory, Workspace, step};
use stiction::state::State;

use super::{G, Solid, final_state, history, rotation, scene};

/// A body with a full inertia, its centre of mass off its origin, moving and spinning.
fn thrown(gravity: f64) -> Scene {
    scene(&format!(
        "gravity = [0, 0, {:?}]
         [simulation]
         time_step = 0.01
         [[body]]
         name = 'stone'
         mass = 0.7
         inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
         center_of_mass = [0.02, -0.01, 0.03]
         shape = {{ box = [0.1, 0.1, 0.1] }}
         position = [1, 2, 3]
         orientation = [0.5, -0.5, 0.5, 0.5]
         velocity = [0.3, -0.2, 4]
         angular_velocity = [3, -5, 8]",
        -gravity,
    ))
}

#[test]
fn momentum_is_conserved() {
    let scene = thrown(0.0);
    let solid = Solid::of(&scene);
    let states = history(&scene, 1000);
    let (v, l) = (solid.velocity(&states[0]), solid.angular_momentum(&states[0]));
    for state in &states {
        assert!((solid.velocity(state) - v).norm() <= 1e-12 * v.norm());
        assert!((solid.angular_momentum(state) - l).norm() <= 1e-12 * l.norm());
    }
    // The body does tumble: the law is not that nothing changes.
    let turned = (states[1000].angular_velocity(0) - states[500].angular_velocity(0)).norm();
    assert!(turned > 1.0, "{turned}");
}

// The explicit gyroscopic term gains 28 % in a second.
#[test]
fn a_spinning_box_keeps_its_energy() {
    let mut scene = scene(
        "gravity = [0, 0, 0]
         [simulation]
         time_step = 0.01
         [[body]]
         name = 'box'
         mass = 1
         shape = { box = [0.05, 0.1, 0.2] }
         position = [0, 0, 0]",
    );
    let solid = Solid::of(&scene);
    // About the middle axis, which is unstable, and about all three.
    for spin in [[0.01, 10.0, 0.01], [5.0, 8.0, 6.0]] {
        scene.state.v[3..].copy_from_slice(&spin);
        let states = history(&scene, 1000);
        let energy = solid.kinetic_energy(&states[0]);
        for (k, state) in states.iter().enumerate() {
            let ratio = solid.kinetic_energy(state) / energy;
            assert!((1.0 - 1e-10..=1.0 + 1e-12).contains(&ratio), "step {k}: {ratio}");
        }
        let flipped = states.iter().any(|s| s.angular_velocity(0).y < -1.0);
        assert!(flipped || spin[0] > 1.0, "the unstable spin should turn over");
    }
}

// v_k = v_0 - k g dt, z_n = z_0 + dt (v_1 + ... + v_n)
#[test]
fn the_centre_of_mass_flies_on_the_parabola_of_the_map() {
    let scene = thrown(G);
    let solid = Solid::of(&scene);
    let states = history(&scene, 300);
    let (p, v) = (solid.center(&states[0]), solid.velocity(&states[0]));
    let dt = 0.01;
    for (n, state) in states.iter().enumerate() {
        let n = n as f64;
        let fall = Vector3::new(0.0, 0.0, 0.5 * G * dt * dt * n * (n + 1.0));
        let center = p + v * (n * dt) - fall;
        assert_relative_eq!(solid.center(state), center, epsilon = 1e-11);
        let velocity = v - Vector3::new(0.0, 0.0, n * G * dt);
        assert_relative_eq!(solid.velocity(state), velocity, epsilon = 1e-12);
    }
}

// One step from rest under a force F at the origin and a torque: the centre of mass accelerates
// with F / m + g, the body turns with I alpha = torque - c x F.
#[test]
fn a_load_accelerates_as_newton_and_euler_say() {
    let mut scene = scene(
        "gravity = [0, 0, -10]
         [simulation]
         time_step = 0.01
         [[body]]
         name = 'body'
         mass = 2
         inertia = [0.5, 0.8, 0.4]
         center_of_mass = [0.1, 0, 0]
         shape = { box = [1, 1, 1] }
         position = [0, 0, 0]
         force = [0, 3, 4]
         torque = [0.25, 0, 0.7]",
    );
    let dt = 0.01;
    // c x F = (0, -0.4, 0.3): alpha = (0.25 / 0.5, 0.4 / 0.8, 0.4 / 0.4)
    let w = Vector3::new(0.5, 0.5, 1.0) * dt;
    let center_velocity = Vector3::new(0.0, 1.5, -8.0) * dt;
    let c = Vector3::new(0.1, 0.0, 0.0);
    let inertia = Vector3::new(0.5, 0.8, 0.4);
    let check = |scene: &Scene, start: UnitQuaternion<f64>| {
        let state = final_state(scene, &scene.parameters, 1);
        // The body turns from then on: its angular momentum stays in the world, and so does its energy.
        let (turned, end) = (rotation(&state, 0), state.angular_velocity(0));
        let momentum = start * inertia.component_mul(&w);
        assert_relative_eq!(turned * inertia.component_mul(&end), momentum, epsilon = 1e-15);
        let energy = |w: Vector3<f64>| w.dot(&inertia.component_mul(&w));
        assert_relative_eq!(energy(end), energy(w), max_relative = 1e-14);
        let by = start * UnitQuaternion::from_scaled_axis((w + end) * (0.5 * dt));
        assert!(turned.angle_to(&by) < 1e-15);
        let world = |v: Vector3<f64>| start * v;
        let gravity_and_force = world(Vector3::new(0.0, 1.5, 2.0)) - Vector3::z() * 10.0;
        let velocity = gravity_and_force * dt - turned * end.cross(&c);
        assert_relative_eq!(state.velocity(0), velocity, epsilon = 1e-15);
        let position = start * c + gravity_and_force * (dt * dt) - turned * c;
        assert_relative_eq!(state.position(0), position, epsilon = 1e-15);
        velocity + turned * end.cross(&c)
    };
    // Aligned with the world, F / m + g = (0, 1.5, 2 - 10).
    let found = check(&scene, UnitQuaternion::identity());
    assert_relative_eq!(found, center_velocity, epsilon = 1e-15);
    // Turned by a quarter about x, with the force turned as well: in the body all stays the same.
    let quarter = UnitQuaternion::from_scaled_axis(Vector3::x() * std::f64::consts::FRAC_PI_2);
    scene.state.q[3..].copy_from_slice(&[quarter.w, quarter.i, quarter.j, quarter.k]);
    scene.inputs[..3].copy_from_slice((quarter * Vector3::new(0.0, 3.0, 4.0)).as_slice());
    check(&scene, quarter);
}

// The same body with its origin at the centre of mass and elsewhere, under gravity, a force fixed
// in the world at a point of the body, and a torque.
#[test]
fn the_motion_does_not_depend_on_where_the_origin_is() {
    let offset = thrown(G);
    let solid = Solid::of(&offset);
    let c = solid.center_of_mass;
    let mut centered = offset.clone();
    let slot = offset.model.parameter("stone/center_of_mass/x").unwrap().slots[0];
    centered.parameters.values[slot..slot + 3].fill(0.0);
    let r = rotation(&offset.state, 0);
    let at_center = r * c;
    let w = offset.state.angular_velocity(0);
    for k in 0..3 {
        centered.state.q[k] += at_center[k];
        centered.state.v[k] += (r * w.cross(&c))[k];
    }
    let (force, torque) = (Vector3::new(0.3, 2.0, -1.0), Vector3::new(0.01, 0.02, -0.03));

    let advance = |scene: &Scene, state: &State<f64>, wrench: [f64; 6]| {
        let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
        let mut next = State::default();
        let system = scene.system();
        step(&system, state, &wrench, &mut memory, &mut workspace, &mut next);
        next
    };
    let wrench = |force: Vector3<f64>, torque: Vector3<f64>| {
        [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    };
    let (mut a, mut b) = (offset.state.clone(), centered.state.clone());
    for k in 0..200 {
        // The force acts on the origin of `offset`, which is at -c from that of `centered`.
        let moved = torque + (-c).cross(&(rotation(&b, 0).inverse() * force));
        a = advance(&offset, &a, wrench(force, torque));
        b = advance(&centered, &b, wrench(force, moved));
        assert_relative_eq!(solid.center(&a), b.position(0), epsilon = 1e-11);
        assert_relative_eq!(solid.velocity(&a), b.velocity(0), epsilon = 1e-11);
        assert_relative_eq!(a.angular_velocity(0), b.angular_velocity(0), epsilon = 1e-11);
        let (ra, rb): (Matrix3<f64>, Matrix3<f64>) =
            (rotation(&a, 0).into(), rotation(&b, 0).into());
        assert!((ra - rb).amax() < 1e-11, "step {k}");
    }
}
