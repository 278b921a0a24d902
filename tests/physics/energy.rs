//! Contact without restitution and without pushing out of penetrations adds no energy.
//!
//! With u the contact velocities before (u_p) and after (u+) the impulses, the kinetic energy
//! changes by lambda . (u+ + u_p) / 2 = lambda . u+ - lambda . G lambda / 2. Friction opposes the
//! slip, and lambda_n u_n+ = lambda_n (target - c lambda_n) <= 0 as the target is not positive: it
//! never grows. Summed with the free motion, kinetic plus potential energy changes by
//! lambda . u+ - dv . M dv / 2, dv the whole change of velocity: it never grows either.

use nalgebra::{UnitQuaternion, Vector3};
use stiction::model::{Scene, System};
use stiction::simulation::{StepMemory, Workspace, step};
use stiction::state::State;

use super::{G, Solid, scene};
use crate::cases;
use crate::random::Random;

/// A box that tumbles towards a plane, somewhat inclined in every other case.
fn tumbling_drop(random: &mut Random, inclined: bool) -> Scene {
    let [x, y] = if inclined { random.vector(0.5) } else { [0.0; 2] };
    let half: [f64; 3] = std::array::from_fn(|_| random.uniform(0.03, 0.1));
    let mass = random.uniform(0.2, 2.0);
    // Some that are drawn are those of no solid.
    let [xx, yy, zz] = loop {
        let moments: [f64; 3] = std::array::from_fn(|k| {
            let square = |j: usize| half[j] * half[j];
            mass * (square((k + 1) % 3) + square((k + 2) % 3)) * random.uniform(0.28, 0.33)
        });
        let [a, b, c] = moments;
        if a <= b + c && b <= a + c && c <= a + b {
            break moments;
        }
    };
    let center = half.map(|h| random.uniform(-0.4, 0.4) * h);
    let turn = UnitQuaternion::from_scaled_axis(Vector3::from(random.vector::<3>(2.0)));
    let position = Vector3::new(x, y, 1.0).normalize() * 0.25;
    scene(&format!(
        "[simulation]
         time_step = 0.01
         baumgarte = 0
         [[half_space]]
         name = 'floor'
         normal = [{x:?}, {y:?}, 1]
         [[body]]
         name = 'box'
         mass = {mass:?}
         inertia = [{xx:?}, {yy:?}, {zz:?}]
         center_of_mass = {center:?}
         shape = {{ box = {half:?} }}
         position = {:?}
         orientation = [{:?}, {:?}, {:?}, {:?}]
         velocity = {:?}
         angular_velocity = {:?}
         [[contact]]
         mu = {:?}",
        position.as_slice(),
        turn.w,
        turn.i,
        turn.j,
        turn.k,
        random.vector::<3>(1.0),
        random.vector::<3>(15.0),
        random.uniform(0.0, 1.2),
    ))
}

#[test]
fn contact_adds_no_energy() {
    let mut random = Random(5);
    let mut unsolved = 0;
    let (mut touched, mut worst_kinetic, mut worst_total) = (0, 0.0_f64, 0.0_f64);
    for case in 0..cases::count(10_000, 0.03) {
        let scene = tumbling_drop(&mut random, case % 2 == 1);
        let Scene { model, parameters, settings, inputs, .. } = &scene;
        let solid = Solid::of(&scene);
        let mut empty = model.clone();
        empty.pairs.clear();
        let potential = |state: &State<f64>| solid.mass * G * solid.center(state).z;
        let mut state = scene.state.clone();
        let (mut next, mut free) = (state.clone(), state.clone());
        let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
        for _ in 0..120 {
            let system = scene.system();
            let report = step(&system, &state, inputs, &mut memory, &mut workspace, &mut next);
            unsolved += report.unsolved;
            let system = System { model: &empty, parameters, settings };
            let (mut no_memory, mut other) = (StepMemory::default(), Workspace::default());
            step(&system, &state, inputs, &mut no_memory, &mut other, &mut free);

            let (before, after) = (solid.kinetic_energy(&state), solid.kinetic_energy(&next));
            let without = solid.kinetic_energy(&free);
            let scale = before + solid.mass * G;
            worst_kinetic = worst_kinetic.max((after - without) / scale);
            let gain = after + potential(&next) - before - potential(&state);
            worst_total = worst_total.max(gain / scale);
            touched += usize::from(workspace.modes().next().is_some());
            std::mem::swap(&mut state, &mut next);
        }
    }
    assert!(touched > 10_000, "{touched} steps with contact");
    assert!(unsolved * 10_000 <= touched, "{unsolved} steps unsolved of {touched}");
    assert!(worst_kinetic <= 1e-12, "contact adds {worst_kinetic:e} of the energy");
    assert!(worst_total <= 1e-12, "a step adds {worst_total:e} of the energy");
}
