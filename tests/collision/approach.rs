//! How much nearer two links of an arm come in a step, by points that are near and by what velocities do to gaps.

use stiction::collision::{ContactPoint, Detection};
use stiction::dynamics::FreeMotion;
use stiction::model::Scene;
use stiction::state::State;

use crate::random::Random;

/// How far a point of the arm is from any of its joints, m, at most: links between joints, and the last one's furthest point.
const LENGTH: f64 = 1.4;

/// Five links of several shapes on joints across each other, no more than [`LENGTH`] long together; what is joined passes through.
fn arm() -> Scene {
    let shapes = [
        "box = [0.05, 0.04, 0.15]",
        "capsule = [0.04, 0.12]",
        "cylinder = [0.05, 0.14]",
        "box = [0.04, 0.06, 0.1]",
        "convex = [[0.05, 0, 0], [-0.05, 0.02, 0], [0, -0.06, 0.2], [0, 0.06, 0.2], [0.02, 0, 0.3]]",
    ];
    let mut text = String::from(
        "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.002\n[[contact]]\nmu = 0.5\n",
    );
    for (k, shape) in shapes.into_iter().enumerate() {
        let axis = ["[1, 0, 0]", "[0, 1, 0]", "[0.3, 0.3, 1]"][k % 3];
        let parent = if k > 0 { format!("parent = 'l{}'\n", k - 1) } else { String::new() };
        text += &format!(
            "[[body]]\nname = 'l{k}'\nmass = 1\n{parent}shape = {{ {shape} }}\nposition = [0, 0, 0.25]\n\
             joint = {{ type = 'revolute', axis = {axis} }}\n"
        );
        if k > 0 {
            text += &format!("[[contact]]\nbodies = ['l{}', 'l{k}']\ncollide = false\n", k - 1);
        }
    }
    Scene::parse(&text, "arm").unwrap()
}

fn points(scene: &Scene, state: &State<f64>) -> (FreeMotion<f64>, Vec<ContactPoint<f64>>) {
    let (mut motion, mut points) = (FreeMotion::default(), Vec::new());
    let system = scene.system();
    motion.start(&system, state, &scene.inputs, scene.settings.time_step);
    Detection::default().points(&system, &motion, &mut points);
    (motion, points)
}

fn speeds(motion: &FreeMotion<f64>) -> Vec<f64> {
    motion.tree(0).free_velocity.to_vec()
}

#[test]
fn what_links_reach_by_themselves_is_near() {
    let scene = arm();
    let mut random = Random(910);
    let (mut far, mut near, mut reached, mut spared) = (0, 0, 0, 0);
    for _ in 0..12_000 {
        let mut state = scene.state.clone();
        state.q.iter_mut().for_each(|q| *q = random.uniform(-2.5, 2.5));
        state.v.iter_mut().for_each(|v| *v = random.uniform(-10.0, 10.0));
        let (motion, points) = points(&scene, &state);
        let velocities = speeds(&motion);
        for point in &points {
            let escapes = point.escapes(&scene.model, &motion, &velocities, &mut Vec::new());
            assert!(point.near || !escapes, "{point:?}");
            let way = |side: usize| way(&scene, &motion, point, side);
            far += usize::from(!point.near);
            near += usize::from(point.near);
            reached += usize::from(escapes && point.gap > 0.0);
            spared += usize::from(!point.near && point.gap <= 2.0 * (way(0) + way(1)));
        }
    }
    println!(
        "{near} near, {reached} reached, {far} not, {spared} of these by how links go together"
    );
    assert!(reached > 50 && spared > near / 4, "{near} {reached} {far} {spared}");
}

/// How far its body goes in the step without contact, m, at most.
fn way(scene: &Scene, motion: &FreeMotion<f64>, point: &ContactPoint<f64>, side: usize) -> f64 {
    let speed = motion.bodies[point.bodies[side].unwrap()].speed;
    scene.settings.time_step * (speed.linear + speed.angular * point.arms[side].norm())
}

/// An arm that swings as one comes no nearer to itself than by what its joints turn, although each link goes far.
#[test]
fn what_swings_as_one_is_apart() {
    let scene = arm();
    let mut random = Random(911);
    let mut apart = 0;
    for _ in 0..6000 {
        let mut state = scene.state.clone();
        state.q.iter_mut().for_each(|q| *q = random.uniform(-2.5, 2.5));
        state.v.fill(0.0);
        state.v[0] = 3.0;
        let (motion, swinging) = points(&scene, &state);
        // Without contact the others turn by what turning does to them.
        let turning: f64 = speeds(&motion)[1..].iter().map(|v| v.abs()).sum();
        let most = 2.0 * scene.settings.time_step * turning * LENGTH;
        for point in swinging.iter().filter(|point| point.gap > most.max(1e-12)) {
            assert!(!point.near, "{point:?} {turning}");
            let ways = way(&scene, &motion, point, 0) + way(&scene, &motion, point, 1);
            apart += usize::from(point.gap <= 2.0 * ways);
        }
    }
    assert!(apart > 100, "{apart}");
}
