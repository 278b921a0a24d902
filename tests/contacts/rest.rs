//! What rests keeps its solution from step to step, and with it the least-norm rule.

use stiction::model::Scene;
use stiction::simulation::{StepMemory, StepReport, Workspace, step};
use stiction::state::State;
use stiction::verify::{Derivatives, Gradcheck, StepProgram};

use super::{G, on_floor, rollout};
use crate::scenes::slabs;

/// Slabs at rest under gravity that leans by `lean` along x.
fn pile(count: usize, lean: f64) -> Scene {
    let bodies = slabs(count, 0.02, |_| [0.0; 3]);
    let mut scene = on_floor("time_step = 0.005", &format!("[[contact]]\nmu = 0.5\n{bodies}"));
    scene.parameters.values[..3].copy_from_slice(&[lean, 0.0, -G]);
    scene
}

struct Taken {
    report: StepReport,
    next: State<f64>,
    impulses: Vec<[f64; 3]>,
}

fn take(scene: &Scene, state: &State<f64>, memory: &mut StepMemory<f64>) -> Taken {
    let (mut workspace, mut next) = (Workspace::default(), state.clone());
    let system = scene.system();
    let report = step(&system, state, &scene.inputs, memory, &mut workspace, &mut next);
    let impulses = workspace.contacts().map(|contact| contact.impulse).collect();
    Taken { report, next, impulses }
}

/// With dense matrices and with blocks: impulses of steps that go on from the last one are those of steps from nothing,
/// which share by the rule, and cost an iteration at most.
#[test]
fn what_rests_goes_on_by_the_rule() {
    for count in [3, 20] {
        let scene = pile(count, 0.3);
        let mut rollout = rollout(&scene);
        rollout.advance(100, &scene.inputs);
        for _ in 0..10 {
            let mut memory = rollout.memory.clone();
            let warm = take(&scene, &rollout.state, &mut memory);
            let cold = take(&scene, &rollout.state, &mut StepMemory::default());
            assert!(warm.report.worst.iterations <= 1, "{count}: {:?}", warm.report.worst);
            assert!(cold.report.worst.iterations > 1, "{count}: {:?}", cold.report.worst);
            let most = cold.impulses.iter().map(|x| x[0]).fold(0.0, f64::max);
            assert_eq!(warm.impulses.len(), 4 * count);
            for (warm, cold) in warm.impulses.iter().zip(&cold.impulses) {
                for k in 0..3 {
                    assert!((warm[k] - cold[k]).abs() < 1e-7 * most, "{warm:?} {cold:?}");
                }
                assert!(cold[1].hypot(cold[2]) > 1e-2 * cold[0], "{cold:?}");
            }
            for (warm, cold) in warm.next.v.iter().zip(&cold.next.v) {
                assert!((warm - cold).abs() < 1e-10 * G * 0.005, "{warm} {cold}");
            }
            rollout.advance(1, &scene.inputs);
        }
    }
}

/// The same near the angle of friction: the corners uphill carry little, and have all the friction they can. A search from
/// nothing does not always come to the rule there, but never to friction of a smaller norm.
#[test]
fn what_rests_at_its_limits_goes_on_by_the_rule() {
    let bodies = "[[contact]]
        mu = 0.5
        [[body]]
        name = 'box'
        mass = 2
        shape = { box = [0.1, 0.1, 0.05] }
        position = [0, 0, 0.05]
        [[body]]
        name = 'upper'
        mass = 1
        shape = { box = [0.08, 0.08, 0.05] }
        position = [0.01, 0, 0.15]";
    for lean in [4.2, 4.7] {
        let mut scene = on_floor("time_step = 0.005", bodies);
        scene.parameters.values[..3].copy_from_slice(&[lean, 0.0, -G]);
        let mut rollout = rollout(&scene);
        rollout.advance(200, &scene.inputs);
        let (steps, mut by_the_rule) = (40, 0);
        for _ in 0..steps {
            let mut memory = rollout.memory.clone();
            let warm = take(&scene, &rollout.state, &mut memory);
            let cold = take(&scene, &rollout.state, &mut StepMemory::default());
            assert!(warm.report.worst.iterations <= 1, "{lean}: {:?}", warm.report.worst);
            assert!(cold.report.worst.iterations > 5, "{lean}: {:?}", cold.report.worst);
            let most = cold.impulses.iter().map(|x| x[0]).fold(0.0, f64::max);
            let used = |x: &&[f64; 3]| x[1].hypot(x[2]) > (1.0 - 1e-9) * 0.5 * x[0];
            assert_eq!(warm.impulses.len(), 8);
            assert_eq!(warm.impulses.iter().filter(used).count(), 4, "{:?}", warm.impulses);
            let pairs = || warm.impulses.iter().flatten().zip(cold.impulses.iter().flatten());
            let norm = |taken: &Taken| {
                let squares = taken.impulses.iter().map(|x| x[1] * x[1] + x[2] * x[2]);
                squares.sum::<f64>()
            };
            assert!(norm(&warm) < (1.0 + 1e-9) * norm(&cold), "{lean}");
            by_the_rule += usize::from(pairs().all(|(x, y)| (x - y).abs() < 1e-9 * most));
            for (warm, cold) in warm.next.v.iter().zip(&cold.next.v) {
                assert!((warm - cold).abs() < 1e-10 * G, "{warm} {cold}");
            }
            rollout.advance(1, &scene.inputs);
        }
        assert!(2 * by_the_rule > steps, "{lean}: {by_the_rule}");
    }
}

/// A pile that is pushed until it slides, or loses its uppermost slab, is solved anew.
#[test]
fn what_rests_no_more_is_solved_anew() {
    let scene = pile(3, 0.3);
    let mut rollout = rollout(&scene);
    rollout.advance(100, &scene.inputs);
    for (lean, up) in [(0.7 * G, 0.0), (0.3, 20.0 * G)] {
        let mut scene = pile(3, lean);
        // On the uppermost.
        scene.inputs[14] = up;
        let mut memory = rollout.memory.clone();
        let warm = take(&scene, &rollout.state, &mut memory);
        let cold = take(&scene, &rollout.state, &mut StepMemory::default());
        assert_eq!(warm.report.unsolved, 0);
        for (warm, cold) in warm.next.v.iter().zip(&cold.next.v) {
            assert!((warm - cold).abs() < 1e-10 * G, "{warm} {cold}");
        }
        assert!(cold.next.v.iter().any(|v| v.abs() > 1e-3), "{:?}", cold.next.v);
    }
}

/// Whatever the tolerance, what is carried on follows state and parameters as exactly as a search does: differences agree
/// with derivatives. Impulses of a ball that rolls are unique, those of boxes are shared.
#[test]
fn what_is_carried_on_is_exact_at_any_tolerance() {
    for tolerance in ["1e-10", "1e-6", "1e-4"] {
        for (shape, height, speed) in
            [("sphere = 0.1", 0.1, 0.3), ("box = [0.2, 0.1, 0.1]", 0.1, 0.0)]
        {
            let text = format!(
                "gravity = [0.5, 0.2, -9.81]
                simulation = {{ time_step = 0.005, tolerance = {tolerance} }}
                [[half_space]]
                name = 'floor'
                normal = [0, 0, 1]
                [[body]]
                name = 'body'
                position = [0, 0, {height}]
                mass = 1
                velocity = [{speed}, 0, 0]
                shape = {{ {shape} }}
                [[contact]]
                mu = 0.5"
            );
            let scene = Scene::parse(&text, "scene.toml").unwrap();
            let mut rollout = rollout(&scene);
            rollout.advance(60, &scene.inputs);
            let (memory, system) = (&rollout.memory, scene.system());
            let (state, inputs) = (&rollout.state, &scene.inputs);
            let program = StepProgram::new(system, state, inputs, memory, 1);
            let run = |x: &[f64]| program.run(x);
            let check = Derivatives::of(&program, run, program.variables()).unwrap();
            let check = Gradcheck::compare(program.names(), &check);
            assert!(check.passed(), "{tolerance} {shape}: {check:?}");
        }
    }
}

/// Workspaces are scratch: what one has solved before is not remembered in the place of what it solves now.
#[test]
fn another_problem_in_the_same_workspace_leaves_nothing() {
    let (small, mut smoothed) = (pile(2, 0.3), pile(3, 0.3));
    smoothed.settings.smoothing = 1e-4;
    let (mut workspace, mut next) = (Workspace::default(), small.state.clone());
    let mut memory = StepMemory::default();
    for _ in 0..50 {
        let state = next.clone();
        let system = small.system();
        step(&system, &state, &small.inputs, &mut memory, &mut workspace, &mut next);
    }
    let numbers = [&mut workspace, &mut Workspace::default()].map(|workspace| {
        let (mut memory, mut next) = (StepMemory::default(), smoothed.state.clone());
        let (system, inputs) = (smoothed.system(), &smoothed.inputs);
        step(&system, &smoothed.state, inputs, &mut memory, workspace, &mut next);
        let mut numbers = vec![0.0; StepMemory::<f64>::numbers(&smoothed.model)];
        memory.write(&smoothed.model, &mut numbers);
        numbers
    });
    assert_eq!(numbers[0], numbers[1]);
}

/// Memories that are written and read give the same bits.
#[test]
fn a_memory_says_how_friction_is_shared() {
    let scene = pile(3, 0.3);
    let mut rollout = rollout(&scene);
    rollout.advance(100, &scene.inputs);
    let mut numbers = vec![0.0; StepMemory::<f64>::numbers(&scene.model)];
    rollout.memory.write(&scene.model, &mut numbers);
    let mut memory = StepMemory::default();
    memory.read(&scene.model, &numbers);
    let read = take(&scene, &rollout.state, &mut memory);
    let kept = take(&scene, &rollout.state, &mut rollout.memory.clone());
    assert_eq!(read.next, kept.next);
    assert_eq!(read.impulses, kept.impulses);
    assert!(kept.report.worst.iterations <= 1, "{:?}", kept.report.worst);
}
