//! Steps and rollouts backwards: against the transposed Jacobians, the tape and closed forms.

use stiction::ad::{self, Dual, Real, Var};
use stiction::linearize::{
    Adjoints, JacobianWorkspace, RolloutAdjoint, Selection, StepAdjoint, StepJacobian, TakenStep,
    Way, step_jacobian,
};
use stiction::model::{Model, ParameterRef, Parameters, Scene, System};
use stiction::simulation::{Rollout, SolvedStep, Workspace, step};
use stiction::state::State;

use super::scenes::{MIXED, Sample, load, samples};
use crate::random::Random;
use crate::scenes::{on_floor, scene, slabs};

/// Every number of a scene by itself.
fn slots(model: &Model) -> Vec<ParameterRef> {
    (0..model.parameter_count()).map(|k| ParameterRef { slots: vec![k] }).collect()
}

/// What was compared.
#[derive(Debug, Default)]
pub struct Tally {
    pub structured: usize,
    pub recorded: usize,
    skipped: usize,
    pub touching: usize,
    worst: f64,
}

/// Compares the adjoints of a step with the products of its Jacobians.
struct Comparison {
    jacobian: StepJacobian,
    lanes: JacobianWorkspace,
    workspace: Workspace<f64>,
    solved: SolvedStep,
    adjoint: StepAdjoint,
    tally: Tally,
}

impl Comparison {
    fn new() -> Self {
        Comparison {
            jacobian: StepJacobian::default(),
            lanes: JacobianWorkspace::default(),
            workspace: Workspace::default(),
            solved: SolvedStep::default(),
            adjoint: StepAdjoint::default(),
            tally: Tally::default(),
        }
    }

    fn add(&mut self, name: &str, scene: &Scene, sample: &Sample, random: &mut Random) {
        let Scene { model, parameters, settings, .. } = scene;
        let system = System { model, parameters, settings };
        let (state, inputs) = (&sample.state, &sample.inputs[..]);
        let all: Vec<usize> = (0..inputs.len()).collect();
        let slots = slots(model);
        let selection = Selection { inputs: &all, parameters: &slots };
        let mut memory = sample.memory.clone();
        let (lanes, jacobian) = (&mut self.lanes, &mut self.jacobian);
        step_jacobian(&system, state, inputs, selection, &mut memory, lanes, jacobian);
        let tally = &mut self.tally;
        // Both follow the same solution, so that they agree on modes at a border too.
        if self.jacobian.report.unsolved > 0 || !self.jacobian.is_determined() {
            tally.skipped += 1;
            return;
        }
        tally.touching += usize::from(!self.jacobian.modes.is_empty());
        let (mut memory, mut next) = (sample.memory.clone(), State::default());
        step(&system, state, inputs, &mut memory, &mut self.workspace, &mut next);
        self.solved.keep(&self.workspace);
        let end: Vec<f64> =
            state.v.iter().chain(&state.v).map(|_| random.uniform(-1.0, 1.0)).collect();
        let mut adjoints = Adjoints::default();
        adjoints.fit(model);
        let (memory, solved) = (&sample.memory, &self.solved);
        let taken = TakenStep { system: &system, state, inputs, memory, solved, next: &next };
        match self.adjoint.pull_back(&taken, &end, &mut adjoints).unwrap() {
            Way::Structured => tally.structured += 1,
            Way::Tape => tally.recorded += 1,
        }
        let names = model.parameter_names();
        for (what, matrix, found) in [
            ("state", &self.jacobian.a, &adjoints.state),
            ("inputs", &self.jacobian.b, &adjoints.inputs),
            ("parameters", &self.jacobian.c, &adjoints.parameters),
        ] {
            // The row's scale: corners that slide together lose digits of what is small beside the rest.
            let rows = matrix.row_iter().zip(&end).map(|(row, w)| row.amax() * w.abs());
            let scale = rows.fold(1e-3, f64::max);
            for (k, (column, &found)) in matrix.column_iter().zip(found).enumerate() {
                let expected: f64 = column.iter().zip(&end).map(|(x, w)| x * w).sum();
                let error = (found - expected).abs() / scale;
                tally.worst = tally.worst.max(error);
                let number = || {
                    let own = |name: &&String| {
                        model.parameter(name).is_some_and(|p| p.slots.contains(&k))
                    };
                    let names = if what == "parameters" { &names[..] } else { &[] };
                    names.iter().find(own).cloned().unwrap_or_default()
                };
                assert!(
                    error < 1e-9,
                    "{name}, {what} {k} {}: {found}, not {expected} ({error:e})",
                    number()
                );
            }
        }
    }
}

/// All steps of a rollout of a scene, under random inputs now and then.
pub fn compare(name: &str, scene: &Scene, steps: usize, push: f64) -> Tally {
    let Scene { model, parameters, settings, .. } = scene;
    let system = System { model, parameters, settings };
    let mut random = Random(7);
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut comparison = Comparison::new();
    let mut inputs = scene.inputs.clone();
    for k in 0..steps {
        if k % 5 == 0 {
            inputs.iter_mut().for_each(|u| *u = random.uniform(-push, push));
        }
        let sample = Sample {
            state: rollout.state.clone(),
            inputs: inputs.clone(),
            memory: rollout.memory.clone(),
        };
        comparison.add(name, scene, &sample, &mut random);
        rollout.step(&inputs);
    }
    println!("{name}: {:?}", comparison.tally);
    comparison.tally
}

/// A box that bounces, tumbles, slides and comes to rest on tilted ground.
const TOSS: &str = "[simulation]
    time_step = 0.01
    tolerance = 1e-12
    [[half_space]]
    name = 'floor'
    normal = [0.05, 0.1, 1]
    [[body]]
    name = 'box'
    mass = 0.7
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    center_of_mass = [0.01, -0.02, 0.01]
    shape = { box = [0.1, 0.08, 0.05] }
    position = [0, 0, 0.2]
    orientation = [0.5, -0.5, 0.5, 0.5]
    velocity = [1, 0.3, 0]
    angular_velocity = [3, -2, 1]
    [[contact]]
    mu = 0.3
    restitution = 0.4";

#[test]
fn adjoints_of_a_tossed_box_are_products_with_its_jacobians() {
    let tally = compare("toss", &scene(TOSS), 150, 0.3);
    assert!(tally.recorded == 0 && tally.structured > 100 && tally.touching > 50, "{tally:?}");
}

#[test]
fn adjoints_of_trees_and_crates_are_products_with_their_jacobians() {
    // Gains of motors are damping by the linearly implicit step alone.
    for (line, more) in [
        ("", ""),
        ("solver = 'pyramid'", ""),
        ("solver = 'convex_relaxation'", ""),
        ("solver = 'convex_pyramid'", ""),
        ("compliance = 1e-2", ""),
        ("compliance = 0", ""),
        ("compliance = 1e-2\nintegrator = 'implicit'", ""),
        ("compliance = 1e-2\nintegrator = 'runge_kutta'", ""),
        ("static_speed = 0.05", "\nmu_static = 0.5"),
    ] {
        let text = MIXED.replace("tolerance = 1e-12", &format!("tolerance = 1e-12\n{line}"));
        let text = text.replace("mu = 0.4", &format!("mu = 0.4{more}"));
        let tally = compare(line, &scene(&text), 50, 0.2);
        assert!(tally.recorded == 0 && tally.structured > 45 && tally.touching > 40, "{tally:?}");
    }
}

/// A tower of two crates and a ball on a table that stands on a fixed pedestal, beside an arm that hangs from one.
const PLACED: &str = "[simulation]
    time_step = 0.004
    tolerance = 1e-12
    [[body]]
    name = 'pedestal'
    joint = { type = 'fixed' }
    mass = 1
    inertia = 1
    position = [0.1, 0.2, 0.3]
    orientation = [0.8, 0, 0, 0.6]
    [[body]]
    name = 'table'
    parent = 'pedestal'
    joint = { type = 'fixed' }
    mass = 1
    inertia = 1
    position = [0, 0.1, 0.1]
    orientation = [0.96, 0.02, -0.01, 0.28]
    [[body.shape]]
    name = 'top'
    box = [0.5, 0.5, 0.02]
    position = [0.1, 0, 0.05]
    [[shape]]
    name = 'post'
    sphere = 0.1
    position = [-0.2, 0.3, 0.5]
    [[body]]
    name = 'low'
    mass = 0.5
    inertia = [2e-3, 3e-3, 4e-3]
    position = [0.1, 0.2, 0.56]
    velocity = [0.4, 0.1, 0]
    [[body.shape]]
    name = 'crate'
    box = [0.05, 0.06, 0.04]
    position = [0.01, 0.02, 0.01]
    [[body]]
    name = 'high'
    mass = 0.3
    shape = { box = [0.04, 0.03, 0.03] }
    position = [0.1, 0.21, 0.66]
    velocity = [0.1, 0.4, 0]
    [[body]]
    name = 'ball'
    mass = 0.2
    shape = { sphere = 0.05 }
    position = [-0.2, 0.25, 0.66]
    [[body]]
    name = 'swing'
    parent = 'pedestal'
    joint = { type = 'revolute', axis = [0, 1, 0], anchor = [0.01, 0, 0.02], damping = 0.01, v = [1.0] }
    mass = 0.4
    center_of_mass = [0.05, 0, 0.1]
    inertia = [2e-3, 3e-3, 4e-3]
    position = [0, -0.1, 0.1]
    [[body]]
    name = 'hand'
    parent = 'swing'
    joint = { type = 'fixed' }
    mass = 0.1
    inertia = 1e-4
    position = [0.0, 0.1, 0.24]
    [[body.shape]]
    name = 'tip'
    sphere = 0.03
    position = [0, 0.02, 0]
    [[contact]]
    mu = 0.4
    restitution = 0.1";

#[test]
fn adjoints_of_crates_on_what_is_fixed_are_products_with_their_jacobians() {
    let tally = compare("placed", &scene(PLACED), 200, 0.5);
    assert!(tally.recorded == 0 && tally.structured > 100 && tally.touching > 50, "{tally:?}");
}

#[test]
fn adjoints_of_the_shared_scenes_are_products_with_their_jacobians() {
    for (name, count) in [("arm7", 20), ("cube", 20), ("quad12", 20), ("tower10", 3)] {
        let Some(scene) = load(name) else { return };
        let (mut comparison, mut random) = (Comparison::new(), Random(11));
        for sample in samples(&scene, count, &mut Random(3)) {
            comparison.add(name, &scene, &sample, &mut random);
        }
        println!("{name}: {:?}", comparison.tally);
        let Tally { structured, skipped, .. } = comparison.tally;
        assert!(structured + skipped == count && structured > 0, "{:?}", comparison.tally);
    }
}

/// Of a rollout under inputs that stay: the gradients of a weighted sum of all states, by adjoints and by the tape.
pub fn compare_rollouts(name: &str, scene: &Scene, steps: usize, tolerance: f64) -> usize {
    let Scene { model, parameters, settings, state, inputs, .. } = scene;
    let system = System { model, parameters, settings };
    let (nq, nv) = (model.nq(), model.nv());
    let mut random = Random(5);
    let weights: Vec<f64> =
        (0..(steps + 1) * (nq + nv)).map(|_| random.uniform(-1.0, 1.0)).collect();
    let sum = |x: &[Var]| {
        let (dx, values) = x.split_at(2 * nv);
        let parameters = Parameters { values: values.to_vec() };
        let system = System { model, parameters: &parameters, settings };
        let start = state.cast().moved(model.coordinates(), dx);
        let constants: Vec<Var> = inputs.iter().map(|&u| Var::constant(u)).collect();
        let mut rollout = Rollout::new(system, start);
        let mut sum = Var::constant(0.0);
        for (k, weights) in weights.chunks_exact(nq + nv).enumerate() {
            if k > 0 {
                rollout.step(&constants);
            }
            let State { q, v } = &rollout.state;
            for (&x, &weight) in q.iter().chain(v).zip(weights) {
                sum += x * weight;
            }
        }
        sum
    };
    let mut x = vec![0.0; 2 * nv];
    x.extend(&parameters.values);
    let (_, expected) = ad::gradient(sum, &x).unwrap();

    let mut rollout = RolloutAdjoint::default();
    let mut numbers = vec![0.0; nq];
    // Twice in the same memory: what it held before does not show.
    for _ in 0..2 {
        rollout.start(state);
        (0..steps).for_each(|_| _ = rollout.step(&system, inputs));
        rollout
            .reverse_from(&system, |k, state, adjoint| {
                let weights = &weights[k * (nq + nv)..(k + 1) * (nq + nv)];
                for (i, adjoint) in adjoint.iter_mut().enumerate() {
                    // d x / d dx_i
                    let Some(i) = i.checked_sub(nv) else {
                        let mut unit = vec![Dual::<f64, 1>::constant(0.0); 2 * nv];
                        unit[i] = Dual::variable(0.0, 0);
                        let moved = state.cast().moved(model.coordinates(), &unit);
                        numbers.clear();
                        numbers.extend(moved.q.iter().map(|x| x.tangent[0]));
                        *adjoint += numbers.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
                        continue;
                    };
                    *adjoint += weights[nq + i];
                }
            })
            .unwrap();
    }
    let Adjoints { state: by_state, parameters: by_parameters, .. } = rollout.adjoints();
    let found = by_state.iter().chain(by_parameters);
    let scales = [&expected[..nv], &expected[nv..2 * nv], &expected[2 * nv..]]
        .map(|part| part.iter().fold(1e-9, |most: f64, x| most.max(x.abs())));
    for (k, (found, expected)) in found.zip(&expected).enumerate() {
        let error = (found - expected).abs() / scales[(k / nv).min(2)];
        assert!(error < tolerance, "{name} {k}: {found}, tape {expected} ({error:e})");
    }
    rollout.recorded_steps()
}

#[test]
fn gradients_of_rollouts_are_those_of_the_tape() {
    for (name, text, steps) in [("toss", TOSS, 60), ("mixed", MIXED, 40), ("placed", PLACED, 60)] {
        assert_eq!(compare_rollouts(name, &scene(text), steps, 1e-6), 0, "{name}");
    }
}

/// What has no structured Jacobian goes by the tape, and agrees all the same.
#[test]
fn steps_go_by_the_tape_only_where_they_are_not_structured() {
    let geared = "[simulation]
        time_step = 0.005
        [[body]]
        name = 'a'
        joint = { type = 'revolute', axis = [0, 1, 0], v = [1.0] }
        mass = 1
        inertia = 0.01
        center_of_mass = [0, 0, -0.1]
        [[body]]
        name = 'b'
        joint = { type = 'revolute', axis = [0, 1, 0], v = [0.5] }
        mass = 0.5
        inertia = 0.01
        position = [0.2, 0, 0]
        center_of_mass = [0, 0, -0.1]
        [[equality]]
        name = 'geared'
        type = 'joint'
        joints = ['a', 'b']
        ratio = 2.0";
    let with = |line: &str, text: &str| {
        text.replace("tolerance = 1e-12", &format!("tolerance = 1e-12\n{line}"))
    };
    let staggered = |derivative: &str| {
        with(&format!("solver = 'staggered'\nderivative = '{derivative}'"), TOSS)
    };
    for (name, text, steps, structured) in [
        ("geared", geared.to_string(), 10, true),
        ("smoothed", with("smoothing = 1e-4", TOSS), 30, true),
        ("smoothed trees", with("smoothing = 1e-4", MIXED), 20, true),
        ("staggered", staggered("implicit"), 25, true),
        ("split", with("split_impacts = true", TOSS), 40, true),
        ("passes", staggered("unrolled"), 25, false),
        ("geared, implicit", geared.replace("005", "005\nintegrator = 'implicit'"), 10, true),
        ("geared, fast", geared.replace("005", "005\nintegrator = 'implicit_fast'"), 10, true),
        ("geared, RK", geared.replace("005", "005\nintegrator = 'runge_kutta'"), 10, true),
        ("implicit", with("integrator = 'implicit'", MIXED), 20, true),
        ("implicit_fast", with("integrator = 'implicit_fast'", MIXED), 20, true),
        ("runge_kutta", with("integrator = 'runge_kutta'", MIXED), 20, true),
    ] {
        let tolerance = if name.starts_with("geared") { 1e-8 } else { 1e-6 };
        let recorded = compare_rollouts(name, &scene(&text), steps, tolerance);
        println!("{name}: {recorded} of {steps} steps by the tape");
        assert_eq!(recorded == 0, structured, "{name}");
    }
}

/// A cube that slides without turning: v+ = v - mu g dt (from the first step on), x+ = x + dt v+.
#[test]
fn a_slide_has_its_closed_form() {
    let text = on_floor(
        "[simulation]
        time_step = 0.002
        tolerance = 1e-13
        [[body]]
        name = 'cube'
        mass = 1.5
        shape = { box = [0.05, 0.05, 0.05] }
        position = [0, 0, 0.05]
        velocity = [2, 0, 0]
        [[contact]]
        mu = 0.4",
    );
    let scene = scene(&text);
    let Scene { model, parameters, settings, state, inputs, .. } = &scene;
    let system = System { model, parameters, settings };
    let mut rollout = RolloutAdjoint::default();
    rollout.start(state);
    let steps = 100_usize;
    (0..steps).for_each(|_| _ = rollout.step(&system, inputs));
    let seed = |k: usize, adjoint: &mut [f64]| adjoint[0] += f64::from(u8::from(k == steps));
    rollout.reverse(&system, seed).unwrap();
    assert_eq!(rollout.recorded_steps(), 0);
    let (dt, n) = (settings.time_step, steps as f64);
    let ways = dt * dt * n * (n + 1.0) / 2.0;
    let slot = |name: &str| model.parameter(name).unwrap().slots[0];
    let gravity = -parameters.values[slot("gravity/z")];
    let adjoints = rollout.adjoints();
    for (name, expected) in [
        ("floor-cube/mu", -gravity * ways),
        ("gravity/z", 0.4 * ways),
        ("gravity/x", ways),
        ("cube/mass", 0.0),
    ] {
        let found = adjoints.parameters[slot(name)];
        assert!((found - expected).abs() < 1e-9 * gravity * ways, "{name}: {found} {expected}");
    }
    for (k, expected) in [(0, 1.0), (6, n * dt)] {
        assert!((adjoints.state[k] - expected).abs() < 1e-9, "{}", adjoints.state[k]);
    }
    // A force on the cube in the first step.
    let (force, expected) = (rollout.input_adjoints(0)[0], n * dt * dt / 1.5);
    assert!((force - expected).abs() < 1e-9 * expected, "{force} {expected}");
}

#[test]
fn rollouts_and_their_adjoints_allocate_nothing_after_the_first() {
    // Of many bodies by sparse blocks.
    let settings = "[simulation]\ntime_step = 0.005\n[[contact]]\nmu = 0.3\n";
    let pile = on_floor(&(settings.to_string() + &slabs(34, 0.02, |_| [0.0; 3])));
    let by = |name: &str| MIXED.replace("tolerance", &format!("integrator = '{name}'\ntolerance"));
    let (implicit, staged) = (by("implicit"), by("runge_kutta"));
    for text in [TOSS, MIXED, &pile, &implicit, &staged] {
        let scene = scene(text);
        let Scene { model, parameters, settings, state, inputs, .. } = &scene;
        let system = System { model, parameters, settings };
        let mut rollout = RolloutAdjoint::default();
        let mut run = || {
            rollout.start(state);
            (0..50).for_each(|_| _ = rollout.step(&system, inputs));
            rollout.reverse(&system, |_, adjoint| adjoint[1] += 1.0).unwrap();
        };
        (0..2).for_each(|_| run());
        assert_eq!(allocation_counter::measure(run).count_total, 0);
        assert_eq!(rollout.recorded_steps(), 0);
    }
}
