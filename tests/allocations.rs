//! Steps and recordings allocate nothing once their memory has grown to size.

mod checkpoints;
mod learned;
mod many;
mod points;
mod recordings;
mod shapes;

use stiction::ad::{Dual, LANES, Real};
use stiction::model::{Parameters, Scene};
use stiction::simulation::{StepMemory, Workspace, step};
use stiction::state::State;

use crate::scenes::{FLOOR, on_floor, scene, slabs};

/// A box that bounces, tumbles and slides, and comes to rest.
pub fn tumble() -> String {
    on_floor(TUMBLE)
}

const TUMBLE: &str = "[simulation]
    time_step = 0.01
    [[body]]
    name = 'box'
    mass = 0.7
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    center_of_mass = [0.01, -0.02, 0.01]
    shape = { box = [0.1, 0.08, 0.05] }
    position = [0, 0, 0.3]
    orientation = [0.5, -0.5, 0.5, 0.5]
    velocity = [1, 0.3, 0]
    angular_velocity = [3, -2, 1]
    [[contact]]
    mu = 0.3
    restitution = 0.4";

const STEPS: usize = 150;

/// Rolls the scene out three times in the same memory, and returns the allocations of the third time,
/// with the least and the largest number of touching points in a step.
pub fn allocations<T: Real>(scene: &Scene, seed: impl Fn(f64, usize) -> T) -> (u64, usize, usize) {
    let mut parameters: Parameters<T> = scene.parameters.cast();
    for (k, x) in parameters.values.iter_mut().enumerate() {
        *x = seed(x.value(), k);
    }
    let system = scene.system_with(&parameters);
    let inputs: Vec<T> = scene.inputs.iter().map(|&x| T::constant(x)).collect();
    let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
    let (mut state, mut next) = (scene.state.cast(), State::default());
    let start = state.clone();
    let (mut fewest, mut most) = (usize::MAX, 0);
    let mut roll = |state: &mut State<T>, memory: &mut StepMemory<T>| {
        for _ in 0..STEPS {
            step(&system, state, &inputs, memory, &mut workspace, &mut next);
            let touching = workspace.modes().count();
            (fewest, most) = (fewest.min(touching), most.max(touching));
            std::mem::swap(state, &mut next);
        }
    };
    roll(&mut state, &mut memory);
    // The second and the third time are the same to the bit: solvers start from the same impulses.
    let impulses = memory.clone();
    state = start.clone();
    roll(&mut state, &mut memory);
    state = start;
    memory.clone_from(&impulses);
    let info = allocation_counter::measure(|| roll(&mut state, &mut memory));
    (info.count_total, fewest, most)
}

#[test]
fn a_step_on_f64_allocates_nothing() {
    let scene = scene(&tumble());
    assert_eq!(allocations::<f64>(&scene, |x, _| x), (0, 0, 4));
}

#[test]
fn a_step_on_duals_allocates_nothing() {
    let scene = scene(&tumble());
    let seed = |x, k: usize| Dual::<f64, LANES>::variable(x, k % 7);
    assert_eq!(allocations(&scene, seed), (0, 0, 4));
}

/// Newton's method too.
#[test]
fn an_implicit_step_allocates_nothing() {
    for integrator in ["bdf1", "bdf2"] {
        let by = format!("time_step = 0.01\n    integrator = '{integrator}'");
        let text = tumble().replace("time_step = 0.01", &by);
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        let (allocations, fewest, most) = allocations::<f64>(&scene, |x, _| x);
        assert_eq!((allocations, fewest), (0, 0), "{integrator}");
        assert!(most >= 3, "{integrator}: {most}");
        let seed = |x, k: usize| Dual::<f64, LANES>::variable(x, k % 7);
        assert_eq!(self::allocations(&scene, seed).0, 0, "{integrator} on duals");
    }
}

/// What rests and shares friction is carried on from step to step.
#[test]
fn bodies_that_rest_on_each_other_allocate_nothing() {
    let mut scene = scene(&on_floor(&(BASE.to_string() + &slabs(3, 0.02, |_| [0.0; 3]))));
    scene.parameters.values[0] = 0.3;
    assert_eq!(allocations::<f64>(&scene, |x, _| x), (0, 12, 12));
}

const BASE: &str = "[simulation]
    time_step = 0.005
    [[contact]]
    mu = 0.5
    ";

#[test]
fn a_staggered_step_allocates_nothing() {
    let text = tumble().replace("time_step = 0.01", "time_step = 0.01\n    solver = 'staggered'");
    let scene = Scene::parse(&text, "scene.toml").unwrap();
    let (allocations, fewest, most) = allocations::<f64>(&scene, |x, _| x);
    assert_eq!((allocations, fewest), (0, 0));
    assert!(most >= 3);
}

// Bodies that slide on each other, fly at each other and are shaken, with every solver and with split steps.
#[test]
fn bodies_that_touch_each_other_allocate_nothing() {
    const BODIES: &str = "        [[contact]]
        mu = 0.4
        mu_static = 0.5
        restitution = 0.4
        [[body]]
        name = 'low'
        mass = 0.5
        shape = { box = [0.06, 0.05, 0.03] }
        position = [0, 0, 0.0301]
        velocity = [0.2, 0.1, 0]
        [[body]]
        name = 'high'
        mass = 0.3
        shape = { box = [0.03, 0.04, 0.02] }
        position = [0.01, 0.005, 0.0803]
        velocity = [1, -0.3, 0]
        angular_velocity = [0, 0, 2]
        [[body]]
        name = 'ball'
        mass = 0.2
        shape = { sphere = 0.05 }
        position = [0, 0, 0.4]
        angular_velocity = [0, 5, 2]";
    let terms = BODIES.replace(
        "restitution = 0.4",
        "restitution = 0.4\nrestitution_falloff = 0.3\nstribeck_speed = 0.2\ntorsion_radius = 0.01\nrolling_resistance = 0.001",
    );
    let yields = terms.replace("torsion", "softness = 1e-6\ndamping_time = 0.01\ntorsion");
    for (simulation, bodies) in [
        ("", BODIES),
        ("split_impacts = true", BODIES),
        ("compliance = 0", BODIES),
        ("solver = 'pyramid'", BODIES),
        ("solver = 'convex_relaxation'", BODIES),
        ("solver = 'convex_pyramid'", BODIES),
        ("solver = 'staggered'\nderivative = 'implicit'", BODIES),
        ("", &terms),
        ("split_impacts = true", &terms),
        ("", &yields),
        ("restitution_law = 'poisson'", &terms),
        ("restitution_law = 'poisson'\nsplit_impacts = true", BODIES),
        ("solver = 'pyramid'", &terms),
    ] {
        let text = format!("[simulation]\ntime_step = 0.01\n{simulation}\n{FLOOR}{bodies}");
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        let (count, _, most) = allocations::<f64>(&scene, |x, _| x);
        assert_eq!(count, 0, "{simulation}");
        assert!(most >= 5, "{simulation}: {most}");
        let seed = |x, k: usize| Dual::<f64, LANES>::variable(x, k % 7);
        assert_eq!(allocations(&scene, seed).0, 0, "{simulation}, on duals");
    }
}

// The counter counts.
#[test]
fn allocations_are_counted() {
    let info = allocation_counter::measure(|| drop(std::hint::black_box(vec![1.0; 100])));
    assert_eq!((info.count_total, info.bytes_total), (1, 800));
}

/// An arm with a limit, dry friction and a motor, whose tip slides on a floor; a ball on a rope at it.
const ARM: &str = "[simulation]
    time_step = 0.01
    [[body]]
    name = 'upper'
    joint = { type = 'revolute', axis = [0.1, 1, 0], q = 1.0, v = 0.5, armature = 0.01, damping = 0.2,
              limits = [-0.2, 1.2] }
    position = [0, 0, 1.2]
    mass = 1
    center_of_mass = [0, 0, -0.5]
    inertia = [0.1, 0.09, 0.03]
    [[body]]
    name = 'lower'
    parent = 'upper'
    joint = { type = 'ball', q = [0.8, 0.6, 0, 0], v = [1, -2, 0.5], friction = 0.01 }
    position = [0, 0, -1]
    mass = 0.7
    center_of_mass = [0, 0, -0.3]
    inertia = [0.05, 0.04, 0.02]
    shape = { capsule = [0.05, 0.2], position = [0, 0, -0.4], mu = 0.4 }
    [[body]]
    name = 'ball'
    mass = 0.5
    shape = { sphere = 0.1, mu = 0.1 }
    position = [0.3, 0.8, 0.2]
    [[actuator]]
    name = 'servo'
    joint = 'upper'
    type = 'position'
    kp = 5
    kd = 0.1
    control = 0.4
    [[equality]]
    name = 'rope'
    type = 'distance'
    bodies = ['lower', 'ball']
    anchors = [[0, 0, -0.6], [0, 0.1, 0]]
    distance = 1.0
    [[contact]]
    mu = 0.3";

#[test]
fn a_step_of_joints_allocates_nothing() {
    for integrator in ["semi_implicit", "implicit", "implicit_fast", "runge_kutta"] {
        let line = format!("time_step = 0.01\n    integrator = '{integrator}'");
        let text = on_floor(ARM).replace("time_step = 0.01", &line);
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        let (count, _, most) = allocations::<f64>(&scene, |x, _| x);
        assert!(count == 0 && most >= 4, "{integrator}: {count} allocations, {most} conditions");
        let seed = |x, k: usize| Dual::<f64, LANES>::variable(x, k % 7);
        let (count, ..) = allocations(&scene, seed);
        assert_eq!(count, 0, "{integrator}, duals");
    }
}
