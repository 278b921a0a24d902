//! Jacobians of the step on the shared scenes: against differences of converged solves, and the structured way
//! against duals through the whole step.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::{Integrator, JointKind, ParameterRef, Scene, System};
use stiction::simulation::{JointFeedback, Rollout, StepMemory, Workspace, step};
use stiction::state::State;

use crate::cases;
use crate::differences::central;
use crate::random::Random;
use crate::shared::shared;

/// Where a step starts, under what inputs, and what the step before left.
pub struct Sample {
    pub state: State<f64>,
    pub inputs: Vec<f64>,
    pub memory: StepMemory<f64>,
}

/// A shared scene with tight tolerances; nothing without the folder.
pub fn load(name: &str) -> Option<Scene> {
    let path = shared(&format!("reference/scenes/{name}.xml"))?;
    let mut scene = Description::load(&path, LoadOptions::default()).unwrap().scene().unwrap();
    if let Some(keyframe) = scene.keyframes.first().cloned() {
        scene.start_at(&keyframe.name, "").unwrap();
    }
    scene.settings.tolerance = 1e-12;
    Some(scene)
}

/// States on the ways of `count` runs that start near the scene's own state and are pushed about: in flight, at
/// impacts, sliding, sticking.
pub fn samples(scene: &Scene, count: usize, random: &mut Random) -> Vec<Sample> {
    let model = &scene.model;
    let system = scene.system();
    let (nv, nu) = (model.nv(), model.nu());
    let free = model.bodies[0].joint.kind == JointKind::Free;
    let feedback = JointFeedback { kp: 100.0, kd: 2.0, target: scene.state.q.clone() };
    let samples = (0..count).map(|k| {
        let speed = [0.0, 0.05, 0.3, 1.0][k % 4];
        let tangent: Vec<f64> = (0..2 * nv)
            .map(|i| {
                let shift = if free { 1e-4 } else { 0.5 };
                if i < nv { random.uniform(-shift, shift) } else { random.uniform(-speed, speed) }
            })
            .collect();
        let mut state = scene.state.moved(model.coordinates(), &tangent);
        // Half of the single bodies are dropped.
        if model.bodies.len() == 1 && k % 2 == 1 {
            state.q[2] += random.uniform(0.0, 0.02);
        }
        let mut rollout = Rollout::new(system, state);
        let mut inputs = vec![0.0; nv + nu];
        for _ in 0..1 + (random.bits() % 40) as usize {
            let size = if free { 5.0 } else { 0.3 };
            inputs[nv..].iter_mut().for_each(|u| *u = random.uniform(-size, size));
            if free {
                // Motors hold the joints, more or less.
                feedback.add(model, &rollout.state, &mut inputs);
            }
            rollout.step(&inputs);
        }
        inputs[..nv].iter_mut().for_each(|force| *force = random.uniform(-0.1, 0.1));
        Sample { state: rollout.state, inputs, memory: rollout.memory }
    });
    samples.collect()
}

/// What was compared, with the columns of dq, dv and u by themselves.
#[derive(Debug, Default)]
struct Tally {
    compared: [usize; 3],
    skipped: usize,
    unsolved: usize,
    worst: f64,
    modes: BTreeMap<&'static str, usize>,
}

/// Central differences of fourth order against A and B, at most `most` columns of each state.
fn check(name: &str, count: usize, most: usize, seed: u64) -> Option<Tally> {
    /// Of velocities and inputs: balances noise of solves (1e-12 / STEP) and curvature. Of coordinates as much as
    /// changes the velocities by that much, which gaps over a time step do.
    const STEP: f64 = 1e-5;
    let scene = load(name)?;
    let Scene { model, settings, .. } = &scene;
    let system = scene.system();
    let (nv, nu) = (model.nv(), model.nu());
    let inputs: Vec<usize> = (0..nv + nu).collect();
    let selection = Selection { inputs: &inputs, parameters: &[] };
    let mut random = Random(seed);
    let (mut tally, mut jacobian) = (Tally::default(), StepJacobian::default());
    let mut workspace = JacobianWorkspace::default();
    let (mut scratch, mut next) = (Workspace::default(), State::default());
    for sample in samples(&scene, count, &mut random) {
        let mut memory = sample.memory.clone();
        let (state, u) = (&sample.state, &sample.inputs);
        let result = &mut jacobian;
        step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, result);
        if jacobian.report.unsolved > 0 {
            tally.unsolved += 1;
            continue;
        }
        for contact in &jacobian.modes {
            *tally.modes.entry(contact.mode.name()).or_default() += 1;
        }
        if jacobian.modes.is_empty() {
            *tally.modes.entry("nothing touches").or_default() += 1;
        }
        step(&system, state, u, &mut sample.memory.clone(), &mut scratch, &mut next);
        let nominal: Vec<_> = scratch.modes().collect();
        let columns = 3 * nv + nu;
        // Of stacks the velocities and inputs: a shift of 1e-8 m takes contacts from one mode to the other.
        let chosen: Vec<usize> = match columns <= most {
            true => (0..columns).collect(),
            false => {
                let others = (columns - nv) as u64;
                (0..most).map(|_| nv + (random.bits() % others) as usize).collect()
            }
        };
        for column in chosen {
            let presses = column < nv && model.has_contacts();
            let step_size = if presses { STEP * settings.time_step } else { STEP };
            let mut kept = true;
            let difference = central(step_size, |shift| {
                let (mut dx, mut u) = (vec![0.0; 2 * nv], u.clone());
                match column.checked_sub(2 * nv) {
                    None => dx[column] = shift,
                    Some(input) => u[input] += shift,
                }
                let moved = state.moved(model.coordinates(), &dx);
                let mut memory = sample.memory.clone();
                let report = step(&system, &moved, &u, &mut memory, &mut scratch, &mut next);
                kept &= report.unsolved == 0 && scratch.modes().eq(nominal.iter().copied());
                next.difference(model.coordinates(), &jacobian.next)
            });
            if !kept {
                tally.skipped += 1;
                continue;
            }
            tally.compared[(column / nv).min(2)] += 1;
            for (i, difference) in difference.iter().enumerate() {
                let (found, scale) = match column.checked_sub(2 * nv) {
                    None => (jacobian.a[(i, column)], jacobian.a.row(i).amax()),
                    Some(input) => (jacobian.b[(i, input)], jacobian.b.row(i).amax()),
                };
                let error = (found - difference).abs() / scale.max(1.0);
                tally.worst = tally.worst.max(error);
                assert!(error < 1e-6, "{name} ({i}, {column}): {found}, difference {difference}");
            }
        }
    }
    println!("{name}: {tally:?}");
    assert!(10 * tally.unsolved <= count, "{name}: {tally:?}");
    Some(tally)
}

#[test]
fn jacobians_of_the_shared_scenes_agree_with_differences() {
    // Half of what is compared now: of dq, dv and u, and of all. Stacks take long: a tenth of the states by default.
    let stacks = cases::count(50, 0.1);
    for (name, states, most, least, least_of_all) in [
        ("arm7", 50, usize::MAX, [175, 175, 350], 700),
        ("cube", 50, usize::MAX, [110, 150, 150], 410),
        ("quad12", 50, usize::MAX, [449, 450, 750], 1649),
        ("tower10", stacks, 12, [0; 3], 6 * stacks),
        ("pyramid10", stacks, 6, [0; 3], 11 * stacks / 4),
    ] {
        let Some(tally) = check(name, states, most, 5) else { return };
        let compared: usize = tally.compared.iter().sum();
        assert!(compared >= least_of_all && compared >= tally.skipped, "{name}: {tally:?}");
        let enough = tally.compared.iter().zip(least).all(|(compared, least)| *compared >= least);
        assert!(enough, "{name}: {tally:?}");
        if name == "cube" || name == "quad12" {
            for mode in ["stick", "slide", "nothing touches"] {
                assert!(
                    tally.modes.contains_key(mode),
                    "{name}: no state in which {mode}: {tally:?}"
                );
            }
        }
    }
}

#[test]
fn the_structured_way_agrees_with_duals_through_the_whole_step() {
    for (name, count) in [
        ("arm7", 20),
        ("cube", 20),
        ("quad12", 20),
        ("tower10", cases::count(10, 0.3)),
        ("pyramid10", cases::count(3, 0.4)),
    ] {
        let Some(scene) = load(name) else { return };
        let model = &scene.model;
        let system = scene.system();
        let inputs: Vec<usize> = (0..model.nv() + model.nu()).collect();
        let parameters: Vec<_> = parameters_of(&scene, if model.nv() > 30 { 23 } else { 1 });
        let selection = Selection { inputs: &inputs, parameters: &parameters };
        let mut workspace = JacobianWorkspace::default();
        let (mut fast, mut slow) = (StepJacobian::default(), StepJacobian::default());
        let (mut compared, mut clear) = (0, 0);
        for sample in samples(&scene, count, &mut Random(3)) {
            let (state, u) = (&sample.state, &sample.inputs);
            for (way, result) in [
                (step_jacobian as Linearize, &mut fast),
                (step_jacobian_by_lanes as Linearize, &mut slow),
            ] {
                let mut memory = sample.memory.clone();
                way(&system, state, u, selection, &mut memory, &mut workspace, result);
            }
            let modes = |result: &StepJacobian| -> Vec<_> {
                result.modes.iter().map(|c| (c.pair, c.feature, c.mode)).collect()
            };
            // At a border rounding decides: elsewhere both ways find the same.
            let unsolved = [fast.report.unsolved, slow.report.unsolved];
            if fast.report.worst.margin > 1e-6 {
                clear += 1;
                assert_eq!(unsolved[0], unsolved[1], "{name}");
                assert_eq!(modes(&fast), modes(&slow), "{name}");
            }
            if unsolved != [0; 2] || modes(&fast) != modes(&slow) {
                continue;
            }
            compared += 1;
            // In stacks some contact is always nearly at a border, and conditions there ill-conditioned.
            let most = if model.nv() > 30 { 1e-6 } else { 1e-8 };
            assert_eq!(fast.dual_steps, 0, "{name}");
            for (found, expected) in [(&fast.a, &slow.a), (&fast.b, &slow.b)] {
                let error = (found - expected).amax() / expected.amax();
                assert!(error < most, "{name}: {error:e}");
            }
            compare_columns(&fast.c, &slow.c, &parameters, most);
        }
        println!("{name}: {compared} of {count} compared, {clear} away from borders");
        assert!(2 * compared >= count, "{name}: {compared} of {count}");
    }
}

/// A crate on a slope and an arm above it that hits it: a ball joint, a hinge with limits, dry friction, a spring and a
/// servo, a slider; restitution.
pub const MIXED: &str = r"[simulation]
time_step = 0.005
tolerance = 1e-12
[[half_space]]
name = 'floor'
normal = [0, 0.1, 1]
[[body]]
name = 'crate'
mass = 0.8
shape = { box = [0.1, 0.08, 0.05] }
center_of_mass = [0.01, 0.02, -0.01]
inertia = [2e-3, 3e-3, 4e-3, 1e-4, -2e-4, 3e-4]
position = [0.02, 0, 0.06]
[[body]]
name = 'upper'
joint = { type = 'ball', damping = 0.02, v = [0.6, 0.8, 3] }
mass = 1
center_of_mass = [0, 0, -0.1]
inertia = [4e-3, 4e-3, 1e-3]
position = [0, 0, 0.536]
[[body]]
name = 'lower'
parent = 'upper'
joint = { type = 'revolute', axis = [0, 1, 0], limits = [-0.3, 0.4], damping = 0.01, friction = 0.05, armature = 0.002, stiffness = 1.0, rest = 0.1, q = [0.2] }
mass = 0.6
center_of_mass = [0, 0.01, -0.1]
inertia = [2e-3, 2e-3, 5e-4]
position = [0, 0, -0.2]
[[body.shape]]
name = 'tip'
sphere = 0.03
position = [0, 0, -0.2]
[[body]]
name = 'slider'
parent = 'upper'
joint = { type = 'prismatic', axis = [1, 0, 0], limits = [-0.05, 0.1], damping = 0.3 }
mass = 0.3
inertia = 3e-4
position = [0.08, 0, -0.35]
[[body.shape]]
name = 'pad'
sphere = 0.04
[[contact]]
mu = 0.4
restitution = 0.3
[[actuator]]
name = 'servo'
joint = 'lower'
type = 'position'
kp = 20
kd = 0.5
gear = 2
force_range = [-3, 3]
[[actuator]]
name = 'push'
joint = 'slider'
";

/// Steps of a scene on which both ways were compared, and which contacts there were, by what decided their target.
pub fn compare(scene: &Scene, steps: usize) -> (usize, BTreeMap<(String, &'static str), usize>) {
    let Scene { model, settings, .. } = scene;
    let system = scene.system();
    let inputs: Vec<usize> = (0..model.nv() + model.nu()).collect();
    let parameters = parameters_of(scene, 1);
    let selection = Selection { inputs: &inputs, parameters: &parameters };
    let mut workspace = JacobianWorkspace::default();
    let (mut fast, mut slow) = (StepJacobian::default(), StepJacobian::default());
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut random = Random(2);
    let (mut compared, mut undetermined, mut seen) = (0, 0, BTreeMap::new());
    for _ in 0..steps {
        let u: Vec<f64> = inputs.iter().map(|_| random.uniform(-0.2, 0.2)).collect();
        for (way, result) in [
            (step_jacobian as Linearize, &mut fast),
            (step_jacobian_by_lanes as Linearize, &mut slow),
        ] {
            let mut memory = rollout.memory.clone();
            let (state, workspace) = (&rollout.state, &mut workspace);
            way(&system, state, &u, selection, &mut memory, workspace, result);
        }
        let margin = fast.report.worst.margin;
        if fast.report.unsolved + slow.report.unsolved == 0 && margin > 1e-6 {
            compared += 1;
            for contact in &fast.modes {
                let pair = model.pair_name(contact.pair);
                *seen.entry((pair, contact.target.name())).or_insert(0) += 1;
            }
            assert_eq!(fast.dual_steps, 0);
            assert_eq!(fast.is_determined(), slow.is_determined(), "{:?}", fast.modes);
            undetermined += usize::from(!fast.is_determined());
            if fast.is_determined() {
                for (found, expected) in [(&fast.a, &slow.a), (&fast.b, &slow.b)] {
                    let error = (found - expected).amax() / expected.amax();
                    assert!(error < 1e-8, "{error:e}, margin {margin:e}, {:?}", fast.modes);
                }
                compare_columns(&fast.c, &slow.c, &parameters, 1e-8);
            }
        }
        rollout.step(&u);
    }
    // Redundant contacts without compliance that slide have no response.
    let few = if settings.compliance == 0.0 { compared / 2 } else { 0 };
    assert!(undetermined <= few, "{undetermined} of {compared} steps have no derivative");
    (compared, seen)
}

/// Each `every`-th parameter of a scene.
fn parameters_of(scene: &Scene, every: usize) -> Vec<ParameterRef> {
    let names = scene.model.parameter_names();
    names.iter().step_by(every).filter_map(|name| scene.model.parameter(name)).collect()
}

/// The columns of C, each relative to its own size; those that are nothing beside the others absolutely.
fn compare_columns(
    found: &DMatrix<f64>,
    expected: &DMatrix<f64>,
    parameters: &[ParameterRef],
    most: f64,
) {
    for (k, parameter) in parameters.iter().enumerate() {
        let error = (found.column(k) - expected.column(k)).amax();
        let scale = expected.column(k).amax().max(1e-6 * expected.amax());
        assert!(error <= most * scale, "{parameter:?}: {error:e} of {scale:e}");
    }
}

#[test]
fn the_structured_way_agrees_on_everything_a_step_can_have() {
    // Dropped, and a millimetre in the floor.
    let (mut compared, mut seen) = (0, BTreeMap::new());
    for height in ["0.06", "0.0555"] {
        let text = MIXED.replace("[0.02, 0, 0.06]", &format!("[0.02, 0, {height}]"));
        let (steps, found) = compare(&Scene::parse(&text, "mixed.toml").unwrap(), 150);
        compared += steps;
        seen.extend(found);
    }
    println!("{compared} steps, {seen:?}");
    assert!(compared > 200, "{compared}");
    for (pair, target) in [
        ("floor-crate", "penetration"),
        ("floor-crate", "gap"),
        ("floor-crate", "restitution"),
        ("crate-lower/tip", "shallow"),
    ] {
        assert!(seen.contains_key(&(pair.to_string(), target)), "no {pair} {target}: {seen:?}");
    }
}

#[test]
fn the_structured_way_agrees_for_each_law_and_compliance() {
    let mut shallow = 0;
    for line in [
        "solver = 'pyramid'",
        "solver = 'convex_relaxation'",
        "solver = 'convex_pyramid'",
        "compliance = 1e-2",
        "compliance = 0",
        "static_speed = 0.05",
        "integrator = 'implicit'",
    ] {
        let text = MIXED.replace("tolerance = 1e-12", &format!("tolerance = 1e-12\n{line}"));
        let text = text.replace("mu = 0.4", "mu = 0.4\nmu_static = 0.5");
        let scene = Scene::parse(&text, "mixed.toml").unwrap();
        let (compared, seen) = compare(&scene, 100);
        println!("{line}: {compared} steps, {seen:?}");
        assert!(compared > 50 && !seen.is_empty(), "{line}: {compared}, {seen:?}");
        shallow += seen.get(&("floor-crate".to_string(), "shallow")).copied().unwrap_or(0);
    }
    assert!(shallow > 10, "{shallow}");
}

/// One of the ways to linearise a step.
pub type Linearize = fn(
    &System<f64>,
    &State<f64>,
    &[f64],
    Selection,
    &mut StepMemory<f64>,
    &mut JacobianWorkspace,
    &mut StepJacobian,
);

#[test]
fn jacobians_allocate_nothing_after_the_first_call() {
    for (name, integrator) in [
        ("arm7", Integrator::SemiImplicit),
        ("cube", Integrator::SemiImplicit),
        ("quad12", Integrator::SemiImplicit),
        ("quad12", Integrator::Implicit),
        ("quad12", Integrator::RungeKutta),
        ("tower10", Integrator::SemiImplicit),
    ] {
        let Some(mut scene) = load(name) else { return };
        scene.settings.integrator = integrator;
        let model = &scene.model;
        let system = scene.system();
        let inputs: Vec<usize> = (0..model.nv() + model.nu()).collect();
        let names = model.parameter_names();
        let few: Vec<_> = names.iter().take(9).filter_map(|name| model.parameter(name)).collect();
        let mut workspace = JacobianWorkspace::default();
        let mut result = StepJacobian::default();
        let sample = samples(&scene, 1, &mut Random(7)).remove(0);
        for parameters in [&[][..], &few] {
            let selection = Selection { inputs: &inputs, parameters };
            let mut memory = sample.memory.clone();
            let mut linearize = || {
                let (state, u) = (&sample.state, &sample.inputs);
                let (workspace, result) = (&mut workspace, &mut result);
                step_jacobian(&system, state, u, selection, &mut memory, workspace, result);
            };
            (0..2).for_each(|_| linearize());
            let info = allocation_counter::measure(&mut linearize);
            let case = format!("{name}, {integrator:?}, {} parameters", parameters.len());
            assert_eq!(info.count_total, 0, "{case}");
        }
    }
}
