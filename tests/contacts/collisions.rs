//! Bodies that strike each other in free space keep momentum; and wherever a scene is turned or
//! shifted, it does the same.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction::model::{Scene, Shape};
use stiction::state::State;

use super::{rollout, scene, stack};
use crate::cases;
use crate::random::Random;

fn turn_of(state: &State<f64>, body: usize) -> UnitQuaternion<f64> {
    let [w, x, y, z] = state.orientation(body);
    UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))
}

/// Linear and angular momentum about the origin of the world of all bodies, and the kinetic energy.
fn momentum(scene: &Scene, state: &State<f64>) -> (Vector3<f64>, Vector3<f64>, f64) {
    let (mut linear, mut angular, mut energy) = (Vector3::zeros(), Vector3::zeros(), 0.0);
    let model = &scene.model;
    for body in 0..model.bodies.len() {
        let p = &scene.parameters;
        let (mass, inertia) = (p.mass(model, body), p.inertia(model, body));
        let (turn, w) = (turn_of(state, body), state.angular_velocity(body));
        let arm = turn * p.center_of_mass(model, body);
        let velocity = state.velocity(body) + (turn * w).cross(&arm);
        linear += velocity * mass;
        angular += (state.position(body) + arm).cross(&(velocity * mass)) + turn * (inertia * w);
        energy += 0.5 * (mass * velocity.norm_squared() + w.dot(&(inertia * w)));
    }
    (linear, angular, energy)
}

/// Three bodies, boxes and balls, that fly at each other without gravity.
fn melee(random: &mut Random, restitution: f64) -> Scene {
    let mut text = format!(
        "gravity = [0, 0, 0]
         [simulation]
         time_step = 0.005
         baumgarte = 0
         [[contact]]
         mu = {:?}
         restitution = {restitution:?}\n",
        random.uniform(0.0, 1.0)
    );
    for k in 0..3 {
        let shape = match random.bits() % 3 {
            0 => format!("{{ sphere = {:?} }}", random.uniform(0.05, 0.15)),
            _ => format!(
                "{{ box = {:?} }}",
                std::array::from_fn::<f64, 3, _>(|_| random.uniform(0.05, 0.15))
            ),
        };
        let angle = k as f64 * 2.1 + random.uniform(-0.3, 0.3);
        let out = Vector3::new(angle.cos(), angle.sin(), random.uniform(-0.1, 0.1));
        let position = out * random.uniform(0.35, 0.5);
        let velocity = -out * random.uniform(1.0, 3.0);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::from(random.vector::<3>(2.0)));
        text += &format!(
            "[[body]]
             name = 'b{k}'
             mass = {:?}
             shape = {shape}
             position = {:?}
             orientation = [{:?}, {:?}, {:?}, {:?}]
             velocity = {:?}
             angular_velocity = {:?}\n",
            random.uniform(0.2, 3.0),
            position.as_slice(),
            turn.w,
            turn.i,
            turn.j,
            turn.k,
            velocity.as_slice(),
            random.vector::<3>(8.0),
        );
    }
    scene(&text)
}

#[test]
fn collisions_keep_momentum_and_make_no_energy() {
    let mut random = Random(41);
    let (mut struck, mut worst) = (0, 0.0_f64);
    for case in 0..cases::count(2000, 0.05) {
        // Newton's restitution with several points down can gain energy; without it nothing does.
        let restitution = if case % 2 == 0 { 0.0 } else { 0.8 };
        let scene = melee(&mut random, restitution);
        let mut rollout = rollout(&scene);
        for _ in 0..80 {
            let (linear, angular, energy) = momentum(&scene, &rollout.state);
            let report = rollout.step(&scene.inputs);
            assert!(report.worst.status.is_solved(), "case {case}: {report:?}");
            let (l, a, e) = momentum(&scene, &rollout.state);
            struck += usize::from(rollout.workspace.modes().next().is_some());
            // kg m/s and kg m²/s, of about 3 and 1.
            worst = worst.max((l - linear).norm()).max((a - angular).norm());
            assert!(restitution > 0.0 || e <= energy * (1.0 + 1e-12), "case {case}: {energy} {e}");
        }
    }
    assert!(struck > 200, "{struck}");
    assert!(worst < 1e-12, "{worst:e}");
}

/// The scene turned by `turn` about the origin of the world, and then shifted.
fn moved(scene: &Scene, turn: UnitQuaternion<f64>, shift: Vector3<f64>) -> Scene {
    let mut scene = scene.clone();
    let mut places = Vec::new();
    for plane in &mut scene.model.half_spaces {
        plane.normal = turn * plane.normal;
        let place = format!("{}/offset", plane.name);
        places.push((place, plane.normal.dot(&shift)));
    }
    for (place, further) in places {
        let slot = scene.model.parameter(&place).unwrap().slots[0];
        scene.parameters.values[slot] += further;
    }
    let gravity = turn * scene.parameters.gravity();
    scene.parameters.values[..3].copy_from_slice(gravity.as_slice());
    for body in 0..scene.model.bodies.len() {
        let position = turn * scene.state.position(body) + shift;
        let Quaternion { coords } = (turn * turn_of(&scene.state, body)).into_inner();
        let velocity = turn * scene.state.velocity(body);
        let State { q, v } = &mut scene.state;
        q[7 * body..7 * body + 3].copy_from_slice(position.as_slice());
        q[7 * body + 3..7 * body + 7].copy_from_slice(&[coords.w, coords.x, coords.y, coords.z]);
        v[6 * body..6 * body + 3].copy_from_slice(velocity.as_slice());
    }
    scene
}

#[test]
fn a_turned_and_shifted_scene_does_the_same() {
    let mut random = Random(42);
    let mut slide = stack(&[1.0, 0.5, 2.0], 0.3, 0.01);
    // The upper two slide and spin on the ones below.
    slide.state.v[6] = 0.8;
    slide.state.v[6 + 5] = 1.0;
    slide.state.v[12] = -0.5;
    let melee = melee(&mut random, 0.5);
    assert!(melee.model.colliders.iter().any(|collider| collider.shape == Shape::Box));
    let mut split = melee.clone();
    split.settings.split_impacts = true;
    for (name, scene, steps) in
        [("slide", &slide, 40), ("melee", &melee, 60), ("split", &split, 60)]
    {
        for _ in 0..5 {
            let turn = UnitQuaternion::from_scaled_axis(Vector3::from(random.vector::<3>(3.0)));
            let shift = Vector3::from(random.vector::<3>(2.0));
            let other = moved(scene, turn, shift);
            let (mut a, mut b) = (rollout(scene), rollout(&other));
            for step in 0..steps {
                a.step(&scene.inputs);
                b.step(&other.inputs);
                for body in 0..scene.model.bodies.len() {
                    let errors = [
                        (turn * a.state.position(body) + shift - b.state.position(body)).norm(),
                        (turn * a.state.velocity(body) - b.state.velocity(body)).norm(),
                        (a.state.angular_velocity(body) - b.state.angular_velocity(body)).norm(),
                    ];
                    let worst = errors.into_iter().fold(0.0, f64::max);
                    assert!(worst < 1e-9, "{name}, step {step}, body {body}: {errors:?}");
                }
            }
        }
    }
}
