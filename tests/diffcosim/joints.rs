//! Systems of points against the same mechanisms in the coordinates of their joints, by algorithms that share nothing with them.

use nalgebra::{UnitQuaternion, Vector3};
use stiction::dynamics::{Aba, Kinematics, forward_dynamics};
use stiction::maximal::{
    ConservativeForce, ConstrainedMotion, Formulation, PointInertia, PointScene, Rates,
};
use stiction::model::Scene;
use stiction::state::State;

use super::archive::{largest, task};
use crate::random::Random;

/// The accelerations of a scene whose joints are at `q`, `v`.
fn joint_accelerations(scene: &Scene, q: &[f64], v: &[f64]) -> Vec<f64> {
    let state = State { q: q.to_vec(), v: v.to_vec() };
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &state);
    let forces = vec![0.0; v.len()];
    let (mut scratch, mut acceleration) = (Aba::default(), vec![0.0; v.len()]);
    let (model, parameters) = (&scene.model, &scene.parameters);
    forward_dynamics(
        model,
        parameters,
        &kinematics,
        &forces,
        None,
        &mut scratch,
        &mut acceleration,
    )
    .unwrap();
    acceleration
}

/// Those of its points.
fn point_accelerations(scene: &PointScene, x: &[f64], v: &[f64]) -> Vec<f64> {
    let (mut inertia, mut motion, mut rates) =
        (PointInertia::default(), ConstrainedMotion::default(), Rates::default());
    inertia.set(scene.system.layout(), &scene.parameters);
    let mut pull = Vec::new();
    (&scene.system.potential).gradient(&inertia, x, &mut pull);
    motion
        .rates(&scene.system, &inertia, Formulation::Hamiltonian, x, v, &pull, &mut rates)
        .unwrap();
    assert!(largest(&rates.position, v) <= 1e-13);
    rates.velocity
}

#[test]
fn a_chain_moves_as_one_of_hinges() {
    let points = task("CP3");
    let (lengths, masses) = ([0.35, 0.4, 0.35], &points.parameters.masses);
    // Angles from straight down about z; masses at the ends of links, with next to no inertia of their own.
    let mut text = "gravity = [0, -9.81, 0]\nsimulation.time_step = 0.01\n".to_string();
    for (k, (length, mass)) in lengths.iter().zip(masses).enumerate() {
        let parent = match k {
            0 => String::new(),
            _ => format!("parent = 'link{}'\n", k - 1),
        };
        let at = if k == 0 { 0.0 } else { -lengths[k - 1] };
        text += &format!(
            "[[body]]\nname = 'link{k}'\n{parent}mass = {mass}\ncenter_of_mass = [0, {}, 0]\ninertia = 1e-15\nposition = [0, {at}, 0]\njoint = {{ type = 'revolute', axis = [0, 0, 1] }}\n",
            -length
        );
    }
    let scene = Scene::parse(&text, "chain.toml").unwrap();
    let mut random = Random(3);
    for _ in 0..50 {
        let (q, w): ([f64; 3], [f64; 3]) = (random.vector(3.0), random.vector(5.0));
        let rates = joint_accelerations(&scene, &q, &w);
        let (mut x, mut v, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        let [mut place, mut speed, mut change] = [[0.0; 2]; 3];
        let [mut angle, mut turning, mut turns] = [0.0; 3];
        for (k, length) in lengths.into_iter().enumerate() {
            (angle, turning, turns) = (angle + q[k], turning + w[k], turns + rates[k]);
            let (sin, cos) = angle.sin_cos();
            let (along, down) = ([length * cos, length * sin], [-length * sin, length * cos]);
            place = [place[0] - down[0], place[1] - down[1]];
            for i in 0..2 {
                speed[i] += turning * along[i];
                change[i] += turns * along[i] + turning * turning * down[i];
            }
            x.extend(place);
            v.extend(speed);
            expected.extend(change);
        }
        let found = point_accelerations(&points, &x, &v);
        let size = expected.iter().fold(1.0_f64, |m, a| m.max(a.abs()));
        let error = largest(&found, &expected) / size;
        assert!(error <= 1e-11, "{error:e}");
    }
}

#[test]
fn a_top_moves_as_one_on_a_ball_joint() {
    let points = task("Gyro");
    let (m, s) = (points.parameters.masses[0], &points.parameters.moments);
    let moments = [s[1] + s[2], s[0] + s[2], s[0] + s[1]].map(|s| m * s);
    let text = format!(
        "gravity = [0, 0, -9.81]\nsimulation.time_step = 0.01\n[[body]]\nname = 'top'\nmass = {m}\ncenter_of_mass = [0, 0, 0.5]\ninertia = [{}, {}, {}, 0, 0, 0]\njoint = {{ type = 'ball' }}\n",
        moments[0], moments[1], moments[2]
    );
    let scene = Scene::parse(&text, "top.toml").unwrap();
    let mut random = Random(4);
    for _ in 0..50 {
        let rotation = UnitQuaternion::from_scaled_axis(Vector3::from(random.vector::<3>(2.0)));
        let w = Vector3::from(random.vector::<3>(8.0));
        let q = [rotation.w, rotation.i, rotation.j, rotation.k];
        let change = Vector3::from_vec(joint_accelerations(&scene, &q, w.as_slice()));
        let (mut x, mut v, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        let centre = Vector3::new(0.0, 0.0, 0.5);
        for point in [centre, centre + Vector3::x(), centre + Vector3::y(), centre + Vector3::z()] {
            // Rates of the body are along its axes.
            x.extend(&rotation.transform_vector(&point));
            v.extend(&rotation.transform_vector(&w.cross(&point)));
            let acceleration = change.cross(&point) + w.cross(&w.cross(&point));
            expected.extend(&rotation.transform_vector(&acceleration));
        }
        let found = point_accelerations(&points, &x, &v);
        let size = expected.iter().fold(1.0_f64, |m, a: &f64| m.max(a.abs()));
        let error = largest(&found, &expected) / size;
        assert!(error <= 1e-11, "{error:e}");
    }
}
