//! Steps with closed loops: their Jacobians and adjoints are structured, and agree with duals through the whole step, with
//! the tape and with differences.

use nalgebra::DMatrix;
use stiction::contact::Target;
use stiction::linearize::{
    JacobianWorkspace, RolloutAdjoint, Selection, StepJacobian, step_jacobian,
    step_jacobian_by_lanes,
};
use stiction::model::{Scene, System};
use stiction::simulation::{Rollout, StepMemory, Workspace, step};
use stiction::state::State;
use stiction::verify::{Gradcheck, StepProgram};

use super::adjoint;
use super::scenes::Linearize;
use crate::differences::central;
use crate::random::Random;
use crate::scenes::scene;

pub const SETTINGS: &str = "[simulation]
time_step = 0.005
tolerance = 1e-12
";

fn bar(name: &str, parent: &str, joint: &str, length: f64) -> String {
    format!(
        "[[body]]
        name = '{name}'
        {parent}
        joint = {{ type = 'revolute', axis = [0, 1, 0], {joint} }}
        mass = {length:?}
        center_of_mass = [{:?}, 0.01, 0.02]
        inertia = [1e-3, {1:?}, {1:?}]
        ",
        0.5 * length,
        length.powi(3) / 12.0
    )
}

/// A four-bar linkage closed by a spatial pin, whose condition out of the plane nothing can break: crank 0.5, coupler
/// 1.2, rocker 0.9, ground 1.
pub fn four_bar(more: &str) -> String {
    let (crank, coupler, rocker, ground): (f64, f64, f64, f64) = (0.5, 1.2, 0.9, 1.0);
    let d = ground - crank;
    let x = (coupler * coupler - rocker * rocker + d * d) / (2.0 * d);
    let z = (coupler * coupler - x * x).sqrt();
    let (first, last) = (-z.atan2(x), -z.atan2(crank + x - ground));
    format!(
        "{}{}position = [0.5, 0, 0]
        {}position = [1, 0, 0]
        {more}
        [[equality]]
        name = 'loop'
        type = 'connect'
        bodies = ['coupler', 'rocker']
        anchors = [[1.2, 0, 0], [0.9, 0, 0]]
        ",
        bar("crank", "", "v = 5.0, stiffness = 1.0, damping = 0.02", crank),
        bar("coupler", "parent = 'crank'", &format!("q = {first:?}"), coupler),
        bar("rocker", "", &format!("q = {last:?}, friction = 0.05"), rocker),
    )
}

/// Three cranks of equal lengths carry a beam: one of them is redundant.
fn parallelogram() -> String {
    let pin = |name: &str, x: f64| {
        format!(
            "[[equality]]
            name = 'pin of {name}'
            type = 'connect'
            bodies = ['beam', '{name}']
            anchors = [[{x:?}, 0, 0], [0.4, 0, 0]]
            "
        )
    };
    format!(
        "{}{}position = [0.4, 0, 0]\n{}position = [0.5, 0, 0]\n{}position = [1.0, 0, 0]\n{}{}",
        bar("first", "", "q = -0.7, v = 3.0", 0.4),
        bar("beam", "parent = 'first'", "q = 0.7, v = -3.0", 1.0),
        bar("second", "", "q = -0.7, v = 3.0", 0.4),
        bar("third", "", "q = -0.7, v = 3.0", 0.4),
        pin("second", 0.5),
        pin("third", 1.0),
    )
}

/// A crank drives a slider that pushes a crate; the crank has a limit.
const SLIDER_CRANK: &str = "[[half_space]]
name = 'floor'
normal = [0, 0, 1]
offset = -0.1
[[body]]
name = 'crank'
joint = { type = 'revolute', axis = [0, 1, 0], limits = [-6.0, 0.05], q = -1.2, v = 5.0 }
mass = 0.5
center_of_mass = [0.1, 0, 0]
inertia = [1e-3, 2e-3, 2e-3]
[[body]]
name = 'rod'
parent = 'crank'
joint = { type = 'revolute', axis = [0, 1, 0], q = 1.58202 }
mass = 0.4
position = [0.2, 0, 0]
center_of_mass = [0.25, 0, 0]
inertia = [1e-3, 8e-3, 8e-3]
[[body]]
name = 'slider'
joint = { type = 'prismatic', axis = [1, 0, 0], damping = 0.2, q = -0.1636 }
mass = 0.7
inertia = 1e-3
position = [0.7, 0, 0]
[[body.shape]]
name = 'pusher'
box = [0.05, 0.05, 0.05]
[[body]]
name = 'crate'
mass = 0.3
shape = { box = [0.06, 0.08, 0.1] }
position = [0.78, 0.01, 0]
[[contact]]
mu = 0.4
restitution = 0.2
[[equality]]
name = 'pin'
type = 'connect'
bodies = ['rod', 'slider']
anchors = [[0.5, 0, 0], [0, 0, 0]]
";

/// Free bodies that are welded, pinned, tied to the world and to something fixed; hinges with gears.
const TIED: &str = "[[body]]
name = 'post'
joint = { type = 'fixed' }
mass = 1
inertia = 1
position = [0.1, 0.2, 1.3]
orientation = [0.8, 0, 0, 0.6]
[[body]]
name = 'a'
mass = 1
inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
center_of_mass = [0.01, -0.02, 0.01]
angular_velocity = [1, 2, 3]
[[body]]
name = 'b'
mass = 2
inertia = [5e-3, 6e-3, 7e-3]
center_of_mass = [0, 0.03, 0.01]
position = [0.5, 0, 0]
[[body]]
name = 'c'
mass = 1
inertia = [2e-3, 3e-3, 4e-3]
center_of_mass = [0.02, 0, 0.01]
position = [0, 1, 0]
velocity = [1, 0, 0.5]
angular_velocity = [-1, 2, 1]
[[body]]
name = 'd'
mass = 0.5
inertia = [2e-3, 3e-3, 4e-3]
position = [0.1, 0.5, 1]
velocity = [0.5, 0.3, 0]
angular_velocity = [3, -1, 2]
[[body]]
name = 'e'
joint = { type = 'revolute', axis = [0, 1, 0], v = [1.0] }
mass = 1
inertia = 0.01
center_of_mass = [0, 0, -0.1]
position = [2, 0, 0]
[[body]]
name = 'f'
joint = { type = 'ball', v = [1.0, 0.5, -2.0], damping = 0.01 }
parent = 'e'
mass = 0.4
inertia = [2e-3, 3e-3, 4e-3]
position = [0, 0, -0.3]
center_of_mass = [0, 0.02, -0.1]
[[body]]
name = 'g'
joint = { type = 'prismatic', axis = [0, 0, 1], v = [0.2] }
mass = 0.5
inertia = 0.01
position = [2.2, 0, 0]
[[contact]]
collide = false
[[equality]]
name = 'weld'
type = 'weld'
bodies = ['a', 'b']
anchors = [[0.25, 0, 0], [-0.25, 0, 0]]
[[equality]]
name = 'rope'
type = 'distance'
bodies = ['c', 'world']
anchors = [[0.01, 0.02, 0], [0, 0, 0]]
distance = 1
[[equality]]
name = 'pin'
type = 'connect'
bodies = ['post', 'd']
anchors = [[0.1, 0.2, -0.2], [0.05, -0.1, 0.1]]
[[equality]]
name = 'strut'
type = 'distance'
bodies = ['d', 'c']
anchors = [[0.05, 0, 0.02], [0, 0.1, 0]]
distance = 1
[[equality]]
name = 'geared'
type = 'joint'
joints = ['g', 'e']
ratio = 0.2
[[equality]]
name = 'tie'
type = 'distance'
bodies = ['f', 'g']
anchors = [[0.02, 0, -0.2], [0, 0.1, -0.3]]
distance = 0.3
";

fn scenes() -> Vec<(&'static str, Scene)> {
    let elbow = "[[body.shape]]\nname = 'tip'\nsphere = 0.05\nposition = [0.9, 0, 0]\n";
    let ground = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = 0.69\n[[contact]]\nmu = 0.3\n";
    [
        ("four-bar", four_bar("")),
        ("four-bar on the ground", four_bar(elbow) + ground),
        ("parallelogram", parallelogram()),
        ("slider-crank", SLIDER_CRANK.to_string()),
        ("tied", TIED.to_string()),
    ]
    .into_iter()
    .map(|(name, text)| (name, scene(&(SETTINGS.to_string() + &text))))
    .collect()
}

/// The largest difference of two matrices, each row relative to its largest entry.
fn row_error(found: &DMatrix<f64>, expected: &DMatrix<f64>) -> f64 {
    let rows = found.row_iter().zip(expected.row_iter());
    rows.map(|(found, expected)| (found - expected).amax() / expected.amax().max(1e-3))
        .fold(0.0, f64::max)
}

/// Steps under random inputs, some from where `disturb` moves the state by at most so much: A, B and C against duals through the
/// whole step, each row relative to its largest entry. Returns how many were compared, and in how many something rebounds.
pub fn compare_rows(
    name: &str,
    scene: &Scene,
    steps: usize,
    push: f64,
    disturb: f64,
) -> [usize; 2] {
    let Scene { model, .. } = scene;
    let system = scene.system();
    let inputs: Vec<usize> = (0..model.nv() + model.nu()).collect();
    let names = model.parameter_names();
    let parameters: Vec<_> = names.iter().filter_map(|name| model.parameter(name)).collect();
    let selection = Selection { inputs: &inputs, parameters: &parameters };
    let mut workspace = JacobianWorkspace::default();
    let (mut fast, mut slow) = (StepJacobian::default(), StepJacobian::default());
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut random = Random(2);
    let (mut worst, mut compared, mut rebounds) = (0.0_f64, 0, 0);
    for k in 0..steps {
        let u: Vec<f64> = inputs.iter().map(|_| random.uniform(-push, push)).collect();
        let mut state = rollout.state.clone();
        if k % 4 == 3 && disturb > 0.0 {
            let d: Vec<f64> = state.v.iter().map(|_| random.uniform(-disturb, disturb)).collect();
            let d: Vec<f64> = d.iter().copied().chain(d.iter().map(|x| 100.0 * x)).collect();
            state = state.moved(model.coordinates(), &d);
        }
        for (way, result) in [
            (step_jacobian as Linearize, &mut fast),
            (step_jacobian_by_lanes as Linearize, &mut slow),
        ] {
            let mut memory = rollout.memory.clone();
            way(&system, &state, &u, selection, &mut memory, &mut workspace, result);
        }
        if fast.report.unsolved + slow.report.unsolved == 0 && fast.report.worst.margin > 1e-6 {
            compared += 1;
            rebounds += usize::from(fast.modes.iter().any(|c| c.target == Target::Restitution));
            assert_eq!(fast.dual_steps, 0, "{name}, step {k}");
            for (what, found, expected) in
                [("A", &fast.a, &slow.a), ("B", &fast.b, &slow.b), ("C", &fast.c, &slow.c)]
            {
                let error = row_error(found, expected);
                worst = worst.max(error);
                assert!(error < 1e-9, "{name}, step {k}, {what}: {error:e}");
            }
        }
        rollout.step(&u);
    }
    println!("{name}: {compared} compared, {rebounds} rebound, worst {worst:e}");
    [compared, rebounds]
}

#[test]
fn jacobians_with_loops_agree_with_duals_through_the_whole_step() {
    for (name, scene) in scenes() {
        // Loops that are open, and velocities that open them, too; but that redundant loops cannot be told from others then.
        let disturb = if name == "parallelogram" { 0.0 } else { 1e-3 };
        let [compared, _] = compare_rows(name, &scene, 60, 1.0, disturb);
        assert!(compared > 40, "{name}: {compared}");
    }
}

/// A and B of the step from a state of a rollout, from the `first` column on, against differences.
pub fn compare_differences(
    name: &str,
    scene: &Scene,
    rollout: &Rollout<f64>,
    (first, step_size): (usize, f64),
) {
    let Scene { model, .. } = scene;
    let system = scene.system();
    let nv = model.nv();
    let inputs: Vec<usize> = (0..nv + model.nu()).collect();
    let selection = Selection { inputs: &inputs, parameters: &[] };
    let mut jacobian = StepJacobian::default();
    let (mut workspace, mut scratch) = (JacobianWorkspace::default(), Workspace::default());
    let (state, u) = (&rollout.state, &scene.inputs);
    let mut memory = rollout.memory.clone();
    step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, &mut jacobian);
    let mut next = State::default();
    step(&system, state, u, &mut rollout.memory.clone(), &mut scratch, &mut next);
    let nominal: Vec<_> = scratch.modes().collect();
    let mut compared = 0;
    for column in first..2 * nv + inputs.len() {
        let mut kept = true;
        let difference = central(step_size, |shift| {
            let (mut dx, mut u) = (vec![0.0; 2 * nv], u.clone());
            match column.checked_sub(2 * nv) {
                None => dx[column] = shift,
                Some(input) => u[input] += shift,
            }
            let moved = state.moved(model.coordinates(), &dx);
            let mut memory = rollout.memory.clone();
            step(&system, &moved, &u, &mut memory, &mut scratch, &mut next);
            kept &= scratch.modes().eq(nominal.iter().copied());
            next.difference(model.coordinates(), &jacobian.next)
        });
        // What rests on something has a kink in its height.
        if !kept {
            continue;
        }
        compared += 1;
        for (i, difference) in difference.iter().enumerate() {
            let (found, scale) = match column.checked_sub(2 * nv) {
                None => (jacobian.a[(i, column)], jacobian.a.row(i).amax()),
                Some(input) => (jacobian.b[(i, input)], jacobian.b.row(i).amax()),
            };
            let error = (found - difference).abs() / scale.max(1.0);
            assert!(error < 1e-6, "{name} ({i}, {column}): {found}, difference {difference}");
        }
    }
    let columns = 2 * nv + inputs.len() - first;
    assert!(2 * compared > columns, "{name}: {compared} of {columns}");
}

#[test]
fn jacobians_with_loops_agree_with_differences() {
    for (name, scene) in scenes() {
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        (0..20).for_each(|_| _ = rollout.step(&scene.inputs));
        // Where redundant loops are open their conditions are independent: a kink in all coordinates.
        let first = if name == "parallelogram" { scene.model.nv() } else { 0 };
        compare_differences(name, &scene, &rollout, (first, 1e-5));
    }
}

/// A loop at rest, which no step opens: what would is closed, and that is a derivative.
#[test]
fn what_would_open_a_closed_loop_has_derivatives() {
    let text = format!(
        "gravity = [0, 0, 0]\n{SETTINGS}[[body]]\nname = 'crank'\nmass = 1\ninertia = 0.1\ncenter_of_mass = [0.2, 0, 0]\n\
             joint = {{ type = 'revolute', axis = [0, 1, 0] }}\n[[body]]\nname = 'rod'\nmass = 0.5\ninertia = 0.02\n\
             parent = 'crank'\nposition = [0.5, 0, 0]\njoint = {{ type = 'revolute', axis = [0, 1, 0], q = 0.7 }}\n\
             [[equality]]\nname = 'stay'\ntype = 'distance'\nbodies = ['world', 'rod']\nanchors = [[0.1, 0, 0.3], [0.3, 0, 0]]\n\
             distance = {:?}\n",
        (0.4 + 0.3 * 0.7_f64.cos()).hypot(0.3 + 0.3 * 0.7_f64.sin())
    );
    let scene = scene(&text);
    let Scene { model, parameters, state, inputs, .. } = &scene;
    let names = ["stay/distance", "stay/first/x", "stay/second/z", "rod/position/x"];
    let asked: Vec<_> = names.iter().map(|name| model.parameter(name).unwrap()).collect();
    let selection = Selection { inputs: &[], parameters: &asked };
    let (mut workspace, mut memory) = Default::default();
    let mut jacobian = StepJacobian::default();
    let system = scene.system();
    step_jacobian(&system, state, inputs, selection, &mut memory, &mut workspace, &mut jacobian);
    let end = |system: &System<f64>, from: &State<f64>| {
        let mut next = State::default();
        let (mut memory, mut scratch) = (StepMemory::default(), Workspace::default());
        step(system, from, inputs, &mut memory, &mut scratch, &mut next);
        next.difference(model.coordinates(), &jacobian.next)
    };
    for (column, parameter) in asked.iter().enumerate() {
        let difference = central(1e-5, |shift| {
            let mut parameters = parameters.clone();
            parameters.values[parameter.slots[0]] += shift;
            end(&System { parameters: &parameters, ..system }, state)
        });
        let found = jacobian.c.column(column);
        assert!(found.rows(0, 2).amax() > 0.1, "{}: {found}", names[column]);
        for (found, difference) in found.iter().zip(&difference) {
            assert!((found - difference).abs() < 1e-6, "{}: {found} {difference}", names[column]);
        }
    }
    for column in 0..2 {
        let difference = central(1e-5, |shift| {
            let mut dx = vec![0.0; 4];
            dx[column] = shift;
            end(&system, &state.moved(model.coordinates(), &dx))
        });
        for (row, difference) in difference.iter().enumerate() {
            let found = jacobian.a[(row, column)];
            assert!((found - difference).abs() < 1e-6, "({row}, {column}): {found} {difference}");
        }
    }
    // By the transpose, and by the tape through the whole step.
    let mut rollout = RolloutAdjoint::default();
    rollout.start(state);
    rollout.step(&system, inputs);
    for row in 0..4 {
        rollout.reverse(&system, |k, adjoint| adjoint[row] += f64::from(k == 1)).unwrap();
        for (column, parameter) in asked.iter().enumerate() {
            let found = rollout.adjoints().parameters[parameter.slots[0]];
            let expected = jacobian.c[(row, column)];
            assert!((found - expected).abs() < 1e-10, "{}: {found} {expected}", names[column]);
        }
        for column in 0..4 {
            let (found, expected) = (rollout.adjoints().state[column], jacobian.a[(row, column)]);
            assert!((found - expected).abs() < 1e-10, "({row}, {column}): {found} {expected}");
        }
    }
    assert_eq!((rollout.recorded_steps(), jacobian.dual_steps), (0, 0));
    let program = StepProgram::new(system, state, inputs, &StepMemory::default(), 1);
    let gradcheck = Gradcheck::of(&program).unwrap();
    assert!(gradcheck.passed(), "{:?}", gradcheck.max());
}

#[test]
fn adjoints_with_loops_are_products_with_their_jacobians() {
    for (name, scene) in scenes() {
        let tally = adjoint::compare(name, &scene, 40, 1.0);
        assert!(tally.recorded == 0 && tally.structured > 30, "{name}: {tally:?}");
    }
}

#[test]
fn gradients_of_rollouts_with_loops_are_those_of_the_tape() {
    for (name, scene) in scenes() {
        assert_eq!(adjoint::compare_rollouts(name, &scene, 20, 1e-7), 0, "{name}");
    }
}

/// Displacements that close loops are smoothed as steps are.
#[test]
fn gradients_of_rollouts_with_smoothed_loops_are_those_of_the_tape() {
    let settings = SETTINGS.to_string() + "smoothing = 1e-4\n";
    for (name, text) in [("four-bar", four_bar("")), ("slider-crank", SLIDER_CRANK.to_string())] {
        let scene = scene(&(settings.clone() + &text));
        assert_eq!(adjoint::compare_rollouts(name, &scene, 20, 1e-6), 0, "{name}");
    }
}

/// A pendulum that hangs on its hinge and on a rope that is taut does not move, nor do its derivatives.
#[test]
fn what_loops_hold_has_no_derivatives() {
    let text = SETTINGS.to_string()
        + "[[body]]
        name = 'held'
        joint = { type = 'revolute', axis = [0, 1, 0] }
        mass = 1
        inertia = 0.01
        center_of_mass = [0.1, 0, 0]
        [[equality]]
        name = 'rope'
        type = 'distance'
        bodies = ['held', 'world']
        anchors = [[0.2, 0, 0], [0.2, 0, 0.5]]
        distance = 0.5
        ";
    let scene = scene(&text);
    let system: System<f64> = scene.system();
    let selection = Selection { inputs: &[0], parameters: &[] };
    let mut jacobian = StepJacobian::default();
    let (mut workspace, mut memory) = Default::default();
    let (state, inputs) = (&scene.state, &scene.inputs);
    step_jacobian(&system, state, inputs, selection, &mut memory, &mut workspace, &mut jacobian);
    assert_eq!(jacobian.dual_steps, 0);
    assert!(jacobian.b.amax() < 1e-12, "{}", jacobian.b);
    assert!(jacobian.a.row(1).amax() < 1e-12, "{}", jacobian.a);
}

#[test]
fn loops_allocate_nothing_after_the_first_call() {
    for (name, scene) in scenes() {
        let Scene { model, state, inputs, .. } = &scene;
        let system = scene.system();
        let all: Vec<usize> = (0..model.nv() + model.nu()).collect();
        let selection = Selection { inputs: &all, parameters: &[] };
        let (mut workspace, mut result) = (JacobianWorkspace::default(), StepJacobian::default());
        let (mut rollout, mut memory) = (RolloutAdjoint::default(), StepMemory::default());
        let mut run = || {
            rollout.start(state);
            (0..30).for_each(|_| _ = rollout.step(&system, inputs));
            rollout.reverse(&system, |_, adjoint| adjoint[1] += 1.0).unwrap();
            let from = rollout.state(20);
            let (workspace, result) = (&mut workspace, &mut result);
            step_jacobian(&system, from, inputs, selection, &mut memory, workspace, result);
        };
        (0..2).for_each(|_| run());
        assert_eq!(allocation_counter::measure(run).count_total, 0, "{name}");
        assert_eq!((rollout.recorded_steps(), result.dual_steps), (0, 0), "{name}");
    }
}
