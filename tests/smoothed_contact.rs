//! Contact smoothed for planning: closed forms, its limit, its derivatives.

use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::{Scene, System};
use stiction::simulation::{Rollout, StepMemory, Workspace, step};
use stiction::state::State;
use stiction::verify::{Gradcheck, StepProgram};

use crate::linearize::scenes::Linearize;
use crate::random::Random;
use crate::scenes::FLOOR;

fn ball(smoothing: f64, rest: &str) -> Scene {
    Scene::parse(
        &format!(
            "[simulation]
             time_step = 0.01
             compliance = 0
             smoothing = {smoothing:e}
             tolerance = 1e-11
             {FLOOR}
             [[body]]
             name = 'ball'
             mass = 2
             shape = {{ sphere = 0.1 }}
             {rest}
             [[contact]]
             mu = 0.4"
        ),
        "ball.toml",
    )
    .unwrap()
}

fn system(scene: &Scene) -> System<'_, f64> {
    scene.system()
}

/// One step from the scene's own state.
fn next(scene: &Scene, state: &State<f64>, inputs: &[f64]) -> State<f64> {
    let (mut workspace, mut next) = (Workspace::default(), State::default());
    let memory = &mut StepMemory::default();
    let report = step(&system(scene), state, inputs, memory, &mut workspace, &mut next);
    assert_eq!(report.unsolved, 0, "{report:?}");
    next
}

fn linearize(scene: &Scene, state: &State<f64>, inputs: &[f64]) -> StepJacobian {
    let all: Vec<usize> = (0..inputs.len()).collect();
    let selection = Selection { inputs: &all, parameters: &[] };
    let (memory, workspace) = (&mut StepMemory::default(), &mut JacobianWorkspace::default());
    let mut result = StepJacobian::default();
    step_jacobian(&system(scene), state, inputs, selection, memory, workspace, &mut result);
    result
}

#[test]
fn a_ball_floats_where_the_product_says() {
    for smoothing in [1e-2, 1e-3, 1e-4] {
        let scene = ball(smoothing, "position = [0, 0, 0.1]");
        let mut rollout = Rollout::new(system(&scene), scene.state.clone());
        rollout.advance(3000, &[0.0; 6]);
        assert_eq!(rollout.report.unsolved, 0);
        // lambda = m g dt at rest, lambda gap / dt = kappa
        let expected = smoothing / (2.0 * 9.81);
        let gap = rollout.state.q[2] - 0.1;
        assert!(
            (gap - expected).abs() < 1e-6 * expected.max(1e-3),
            "{smoothing}: {gap}, {expected}"
        );
    }
}

// A frictionless step by hand: lambda (v + lambda / m + gap / dt) = kappa.
#[test]
fn the_impulse_of_a_ball_is_a_root_of_its_product() {
    let (mass, dt) = (2.0, 0.01);
    for (gap, speed) in [(0.02, -1.0), (0.001, -0.5), (-0.002, 0.3), (0.012, 0.0)] {
        let kappa = 3e-3;
        let place = format!("position = [0, 0, {}]\nvelocity = [0, 0, {speed:?}]", 0.1 + gap);
        let scene = ball(kappa, &place);
        let free: f64 = speed - 9.81 * dt;
        // What penetrates aims at Baumgarte's share.
        let share = if gap >= 0.0 { 1.0 } else { scene.settings.baumgarte };
        let slack = free + share * gap / dt;
        let root = (mass * mass * slack * slack + 4.0 * mass * kappa).sqrt();
        let impulse = 0.5 * (root - mass * slack);
        let found = next(&scene, &scene.state, &[0.0; 6]).v[2];
        let expected = free + impulse / mass;
        assert!((found - expected).abs() < 1e-9, "{gap} {speed}: {found} instead of {expected}");
    }
}

#[test]
fn friction_opposes_the_slip_inside_its_cone() {
    let scene = ball(1e-3, "position = [0, 0, 0.1]\nvelocity = [1, -2, -0.3]");
    let end = next(&scene, &scene.state, &[0.0; 6]);
    let (mass, inertia) = (2.0, 0.4 * 2.0 * 0.01);
    let normal = mass * (end.v[2] + 0.3 + 9.81 * 0.01);
    let friction = [mass * (end.v[0] - 1.0), mass * (end.v[1] + 2.0)];
    // The contact's slip at the end: v + w x (-r z), w from the torque of friction.
    let spin = [0.1 * friction[1] / inertia, -0.1 * friction[0] / inertia];
    let slip = [end.v[0] - 0.1 * spin[1], end.v[1] + 0.1 * spin[0]];
    let (size, speed) = (friction[0].hypot(friction[1]), slip[0].hypot(slip[1]));
    let cosine = (friction[0] * slip[0] + friction[1] * slip[1]) / (size * speed);
    assert!((cosine + 1.0).abs() < 1e-9, "{cosine}");
    assert!(size < 0.4 * normal && size > 0.38 * normal, "{size} of {}", 0.4 * normal);
    // mu lambda_n psi - size speed = kappa and mu lambda_n speed = psi size
    let psi = 0.4 * normal * speed / size;
    assert!((0.4 * normal * psi - size * speed - 1e-3).abs() < 1e-9);
}

/// A box that slides on its lower face, one that stands on an edge that sticks, and a rod that comes to its limit against
/// dry friction. The compliance, by which the four corners share the weight, is large against kappa / lambda^2, which
/// shares it too.
fn boxes(smoothing: f64) -> Scene {
    let text = format!(
        "[simulation]
         time_step = 0.01
         compliance = 1e-3
         smoothing = {smoothing:e}
         tolerance = 1e-11
         {FLOOR}
         [[body]]
         name = 'slides'
         mass = 1
         shape = {{ box = [0.1, 0.08, 0.05] }}
         position = [0, 0, 0.0499]
         velocity = [1, 0.2, 0]
         [[body]]
         name = 'sticks'
         mass = 0.5
         shape = {{ box = [0.1, 0.08, 0.05] }}
         position = [1, 0, 0.0818]
         orientation = [0.9689124217106447, 0.24740395925452294, 0, 0]
         velocity = [0, 0, -0.2]
         [[body]]
         name = 'rod'
         joint = {{ type = 'prismatic', axis = [1, 0, 0], limits = [-1, 0.301], friction = 2, q = [0.3], v = [0.5] }}
         position = [0, 2, 1]
         mass = 0.4
         inertia = 1e-3
         [[contact]]
         mu = 0.5"
    );
    Scene::parse(&text, "boxes.toml").unwrap()
}

#[test]
fn it_tends_to_exact_contact() {
    let exact = boxes(0.0);
    let inputs = [0.0; 13];
    let jacobian = linearize(&exact, &exact.state, &inputs);
    assert!(jacobian.modes.len() >= 5, "{:?}", jacobian.modes);
    // The rod ends at its limit: 1 mm in a step.
    assert!((jacobian.next.v[12] - 0.1).abs() < 1e-9, "{}", jacobian.next.v[12]);
    let (mut velocities, mut jacobians) = (Vec::new(), Vec::new());
    for smoothing in [1e-3, 1e-5, 1e-7] {
        let scene = boxes(smoothing);
        let smooth = linearize(&scene, &scene.state, &inputs);
        assert_eq!(smooth.report.unsolved, 0, "{smoothing}: {:?}", smooth.report);
        let apart = smooth.next.v.iter().zip(&jacobian.next.v).map(|(a, b)| (a - b).abs());
        velocities.push(apart.fold(0.0, f64::max));
        jacobians.push((&smooth.a - &jacobian.a).amax() / jacobian.a.amax());
    }
    println!("velocities {velocities:?}, Jacobians {jacobians:?}");
    for errors in [&velocities, &jacobians] {
        assert!(errors.windows(2).all(|pair| pair[1] < 0.2 * pair[0]), "{errors:?}");
    }
    assert!(velocities[2] < 1e-4 && jacobians[2] < 1e-3, "{velocities:?} {jacobians:?}");
}

#[test]
fn its_jacobians_agree_with_differences() {
    let scene = boxes(1e-4);
    let mut random = Random(4);
    let inputs: Vec<f64> = (0..13).map(|_| random.uniform(-0.1, 0.1)).collect();
    let jacobian = linearize(&scene, &scene.state, &inputs);
    let mut worst: f64 = 0.0;
    for column in 0..39 {
        let h = 1e-5;
        let mut difference = vec![0.0; 26];
        for (steps, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            let (mut dx, mut u) = (vec![0.0; 26], inputs.clone());
            match column {
                k if k < 26 => dx[k] = steps * h,
                k => u[k - 26] += steps * h,
            }
            let state = scene.state.moved(scene.model.coordinates(), &dx);
            let end = next(&scene, &state, &u);
            let away = end.difference(scene.model.coordinates(), &jacobian.next);
            difference.iter_mut().zip(away).for_each(|(sum, x)| *sum += weight * x / (12.0 * h));
        }
        for (i, difference) in difference.into_iter().enumerate() {
            let (found, scale) = match column {
                k if k < 26 => (jacobian.a[(i, k)], jacobian.a.row(i).amax()),
                k => (jacobian.b[(i, k - 26)], jacobian.b.row(i).amax()),
            };
            worst = worst.max((found - difference).abs() / scale.max(1.0));
        }
    }
    assert!(worst < 1e-6, "{worst:e}");
}

#[test]
fn its_jacobians_come_from_one_solution_and_agree_with_duals_through_the_whole_step() {
    let scene = boxes(1e-4);
    let model = &scene.model;
    let p: Vec<_> =
        model.parameter_names().iter().filter_map(|name| model.parameter(name)).collect();
    let all: Vec<usize> = (0..model.nv()).collect();
    let selection = Selection { inputs: &all, parameters: &p };
    let inputs = vec![0.01; model.nv()];
    let mut workspace = JacobianWorkspace::default();
    let [mut found, mut expected] = [StepJacobian::default(), StepJacobian::default()];
    let mut run = |way: Linearize, result: &mut StepJacobian| {
        let memory = &mut StepMemory::default();
        way(&system(&scene), &scene.state, &inputs, selection, memory, &mut workspace, result);
    };
    run(step_jacobian, &mut found);
    run(step_jacobian_by_lanes, &mut expected);
    assert_eq!(found.dual_steps, 0);
    assert!(expected.dual_steps > 0);
    let pairs = [(&found.a, &expected.a), (&found.b, &expected.b), (&found.c, &expected.c)];
    for (found, expected) in pairs {
        for (k, expected) in expected.column_iter().enumerate() {
            let error = (found.column(k) - expected).amax();
            assert!(error <= 1e-8 * expected.amax().max(1e-3), "column {k}: {error:e}");
        }
    }
}

/// The unrolled solver, too, which shares nothing with the residual but the conditions.
#[test]
fn all_ways_of_differentiating_it_agree() {
    let scene = boxes(1e-4);
    let (inputs, memory) = ([0.01; 13], StepMemory::default());
    let program = StepProgram::new(system(&scene), &scene.state, &inputs, &memory, 1);
    let found = Gradcheck::of(&program).unwrap();
    assert!(found.passed(), "{found:?}");
}

#[test]
fn it_allocates_nothing_after_the_first_step() {
    let scene = boxes(1e-4);
    let inputs = [0.0; 13];
    let (mut workspace, mut end) = (Workspace::default(), State::default());
    let mut jacobians = JacobianWorkspace::default();
    let (mut memory, mut result) = (StepMemory::default(), StepJacobian::default());
    let selection = Selection { inputs: &[0, 1], parameters: &[] };
    let mut run = || {
        let (state, memory) = (&scene.state, &mut memory);
        step(&system(&scene), state, &inputs, memory, &mut workspace, &mut end);
        let (workspace, result) = (&mut jacobians, &mut result);
        step_jacobian(&system(&scene), state, &inputs, selection, memory, workspace, result);
    };
    (0..2).for_each(|_| run());
    assert_eq!(allocation_counter::measure(run).count_total, 0);
    assert!(result.is_determined());
}

// What makes planning possible: a pusher that does not touch yet feels the cube.
#[test]
fn what_does_not_touch_has_a_derivative() {
    let text = |smoothing: f64| {
        format!(
            "gravity = [0, 0, 0]
             [simulation]
             time_step = 0.01
             smoothing = {smoothing:e}
             [[body]]
             name = 'pusher'
             mass = 1
             shape = {{ sphere = 0.05 }}
             position = [-0.16, 0, 0]
             [[body]]
             name = 'cube'
             mass = 1
             shape = {{ box = [0.1, 0.1, 0.1] }}
             [[contact]]
             mu = 0.5"
        )
    };
    let slope = |smoothing: f64| {
        let scene = Scene::parse(&text(smoothing), "push.toml").unwrap();
        linearize(&scene, &scene.state, &[0.0; 12]).b[(12 + 6, 0)]
    };
    assert_eq!(slope(0.0), 0.0);
    let [near, nearer] = [1e-3, 1e-2].map(slope);
    assert!(0.0 < near && near < nearer, "{near} {nearer}");
}

/// Hinges about y leave the third row of the loop empty.
#[test]
fn planar_loops_are_solved_and_stay_closed() {
    let text = "[simulation]
        time_step = 0.005
        smoothing = 1e-4
        [[body]]
        name = 'first'
        joint = { type = 'revolute', axis = [0, 1, 0], damping = 0.1 }
        mass = 1
        inertia = 1e-2
        center_of_mass = [0.2, 0, 0]
        [[body]]
        name = 'second'
        parent = 'first'
        joint = { type = 'revolute', axis = [0, 1, 0], q = 1.0 }
        position = [0.4, 0, 0]
        mass = 0.5
        inertia = 5e-3
        center_of_mass = [0.2, 0, 0]
        [[body]]
        name = 'third'
        parent = 'second'
        joint = { type = 'revolute', axis = [0, 1, 0], v = 1.0 }
        position = [0.3, 0, 0]
        mass = 0.3
        inertia = 1e-3
        center_of_mass = [0.1, 0, 0]
        [[equality]]
        name = 'loop'
        type = 'connect'
        bodies = ['second', 'world']
        anchors = [[0.3, 0, 0], [0.56209069176044191, 0, -0.25244129544236893]]";
    let [smooth, exact] = [text.to_string(), text.replace("smoothing = 1e-4", "")].map(|text| {
        let scene = Scene::parse(&text, "loop.toml").unwrap();
        let mut rollout = Rollout::new(system(&scene), scene.state.clone());
        rollout.advance(20, &scene.inputs);
        assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
        rollout.state
    });
    for (smooth, exact) in smooth.q.iter().zip(&exact.q) {
        assert!((smooth - exact).abs() < 1e-7, "{smooth} {exact}");
    }
}

/// Squares of its velocity overflow: it ends, and says so.
#[test]
fn what_cannot_be_smoothed_is_announced() {
    let scene = ball(1e-3, "position = [0, 0, 0.1]\nvelocity = [0, 0, -1e160]");
    let (mut workspace, mut end) = (Workspace::default(), State::default());
    let memory = &mut StepMemory::default();
    let report = step(&system(&scene), &scene.state, &[0.0; 6], memory, &mut workspace, &mut end);
    assert_eq!(report.unsolved, 1, "{report:?}");
    assert!(end.q.iter().chain(&end.v).all(|x| x.is_finite()));
}

#[test]
fn a_smoothing_that_means_nothing_is_refused() {
    let text = |line: &str| format!("[simulation]\ntime_step = 0.01\n{line}");
    for (line, says) in [
        ("smoothing = -1", "smoothing: must not be negative"),
        ("smoothing = 1e-3\nsolver = 'pyramid'", "only has a meaning with solver = \"coupled\""),
    ] {
        let error = Scene::parse(&text(line), "scene.toml").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
