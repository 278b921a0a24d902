//! Staggered projections: against the coupled solver where they converge, by hand where they do
//! not need to, and their derivatives, which are those of the truncated program.

use stiction::ad::{Dual, Function, LANES, Real, jacobian, jacobian_by_rows};
use stiction::argmin::Mode;
use stiction::model::{ContactSolver, Scene, StaggeredDerivative, System};
use stiction::simulation::{StepMemory, StepReport, Workspace, step};
use stiction::state::State;
use stiction::verify::{Gradcheck, StepProgram};

use crate::scenes::FLOOR;

const DT: f64 = 0.005;
const G: f64 = 9.81;

/// A cube of 0.37 kg, or what `body` makes of it.
fn scene(body: &str, mu: f64, solver: ContactSolver) -> Scene {
    let text = format!(
        "[simulation]\ntime_step = {DT}\n{FLOOR}[[body]]\nname = 'cube'\nmass = 0.37\n{body}\n[[contact]]\nmu = {mu}\n"
    );
    let mut scene = Scene::parse(&text, "scene.toml").unwrap();
    scene.settings.solver = solver;
    scene
}

fn passes(n_step: usize) -> ContactSolver {
    ContactSolver::Staggered { n_step, derivative: StaggeredDerivative::Unrolled }
}

const CUBE: &str = "shape = { box = [0.05, 0.05, 0.05] }\n";
const SLIDE: &str = "position = [0, 0, 0.0501]\nvelocity = [1.5, 0.4, -0.05]\n";
const SPIN: &str = "position = [0, 0, 0.0501]\nvelocity = [1.5, 0.4, -0.05]\n\
    angular_velocity = [0, 0, 3]\n";
const PUSHED: &str = "position = [0, 0, 0.0501]\nvelocity = [0.002, 0.001, -0.03]\n\
    force = [0.6, -0.4, 0]\n";
const CORNER: &str = "position = [0, 0, 0.087]\norientation = [0.88, 0.365, 0.3, 0.05]\n\
    velocity = [0.3, 0.5, -1]\nangular_velocity = [0.5, -1, 2]\n";
const EDGE: &str = "position = [0, 0, 0.0708]\norientation = [0.92387953, 0, 0.38268343, 0]\n\
    velocity = [0.3, 0.5, -1]\nangular_velocity = [0.1, 0.2, -0.3]\n\
    inertia = [8e-4, 7e-4, 9e-4, 3e-5, -2e-5, 4e-5]\n";
/// Comes down with one edge only, the others stay off the floor.
const TILTED: &str = "position = [0, 0, 0.0544]\norientation = [0.9987, 0.035, 0.037, 0]\n\
    velocity = [1.5, 0.4, -0.2]\nangular_velocity = [0, 0, 3]\n";

fn run(scene: &Scene, memory: &mut StepMemory<f64>) -> (State<f64>, StepReport, Vec<Mode>) {
    let Scene { state, inputs, .. } = scene;
    let (mut workspace, mut next) = (Workspace::default(), state.clone());
    let system = scene.system();
    let report = step(&system, state, inputs, memory, &mut workspace, &mut next);
    (next, report, workspace.modes().map(|(_, _, mode, _)| mode).collect())
}

fn program(scene: &Scene, steps: usize) -> StepProgram<'_> {
    let Scene { state, inputs, .. } = scene;
    let system = scene.system();
    StepProgram::new(system, state, inputs, &StepMemory::default(), steps)
}

#[test]
fn many_passes_end_where_the_coupled_solver_does() {
    for (name, start, mu, mode) in [
        ("slide", SLIDE, 0.4, Mode::Slide),
        ("stick", PUSHED, 0.8, Mode::Stick),
        ("corner", CORNER, 0.1, Mode::Slide),
        ("edge", EDGE, 0.1, Mode::Slide),
    ] {
        let body = format!("{CUBE}{start}");
        let (right, report, modes) =
            run(&scene(&body, mu, ContactSolver::Coupled), &mut StepMemory::default());
        assert!(report.worst.status.is_solved() && modes.iter().all(|&m| m == mode), "{name}");
        let (found, report, found_modes) =
            run(&scene(&body, mu, passes(200)), &mut StepMemory::default());
        let error = found.v.iter().zip(&right.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        eprintln!("{name}: {error:.1e}, {report:?}");
        assert!(error < 1e-8, "{name}: {error}");
        assert_eq!(found_modes, modes, "{name}");
        assert!(report.worst.status.is_solved() && report.worst.residual < 1e-8, "{name}");
    }
}

#[test]
fn few_passes_say_how_far_off_they_are() {
    let body = format!("{CUBE}{PUSHED}");
    let (_, one, _) = run(&scene(&body, 0.8, passes(1)), &mut StepMemory::default());
    let (_, ten, _) = run(&scene(&body, 0.8, passes(10)), &mut StepMemory::default());
    // Each node is solved, the contact law is not.
    assert!(one.worst.status.is_solved() && one.unsolved == 0);
    assert!(one.worst.residual > 1e-2, "{one:?}");
    assert!(ten.worst.residual < 0.2 * one.worst.residual, "{one:?} {ten:?}");
    assert!(ten.worst.iterations > one.worst.iterations);
}

#[test]
fn without_friction_one_pass_is_the_whole_problem() {
    let body = format!("{CUBE}{EDGE}");
    let (right, ..) = run(&scene(&body, 0.0, ContactSolver::Coupled), &mut StepMemory::default());
    let (found, report, _) = run(&scene(&body, 0.0, passes(1)), &mut StepMemory::default());
    for (a, b) in found.v.iter().zip(&right.v) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
    assert!(report.worst.residual < 1e-9, "{report:?}");
}

#[test]
fn a_ball_by_hand() {
    let ball = "shape = { sphere = 0.05 }\nposition = [0, 0, 0.0502]\nvelocity = [3, 0, -1]\n";
    let (mu, gap, compliance) = (0.3, 2e-4, 1e-6);
    let (next, _, modes) = run(&scene(ball, mu, passes(1)), &mut StepMemory::default());
    // Gn = 1/m: m (1 + c) lambda_n = m (1 + g dt - gap/dt); friction is on the disk.
    let normal = (1.0 + G * DT - gap / DT) / (1.0 + compliance);
    assert_eq!(modes, [Mode::Slide]);
    assert!((next.v[2] - (normal - 1.0 - G * DT)).abs() < 1e-12, "{:?}", next.v);
    assert!((next.v[0] - (3.0 - mu * normal)).abs() < 1e-12, "{:?}", next.v);
    // The friction acts at the lowest point and turns it; I = 2/5 m r^2.
    let turn = 0.05 * mu * normal / (0.4 * 0.05 * 0.05);
    assert!((next.v[4] - turn).abs() < 1e-9, "{:?}", next.v);
}

#[test]
fn the_slope_of_a_flat_slide_in_mu() {
    let body = format!("{CUBE}position = [0, 0, 0.05]\nvelocity = [1.5, 0, 0]\n");
    for n_step in [1, 5] {
        let scene = scene(&body, 0.3, passes(n_step));
        let program = program(&scene, 1);
        let (_, j) = jacobian_by_rows(|x| program.evaluate(x), program.variables()).unwrap();
        let column = |name: &str| program.names().iter().position(|n| n == name).unwrap();
        let mu = program.names().iter().position(|name| name.ends_with("mu")).unwrap();
        // The outputs are [dq; dv].
        assert!((j[(6, mu)] + G * DT).abs() < 5e-6 * G * DT, "{}", j[(6, mu)]);
        assert!((j[(6, column("cube/vx"))] - 1.0).abs() < 1e-6);
    }
}

/// Checks the program's derivatives by all ways, differences included, after `steps` steps.
fn check(name: &str, start: &str, mu: f64, n_step: usize, steps: usize) {
    let scene = scene(&format!("{CUBE}{start}"), mu, passes(n_step));
    let program = program(&scene, steps);
    let regime = program.contact_modes();
    assert!(!regime.modes.is_empty() && regime.report.unsolved == 0, "{name}: {regime:?}");
    let check = Gradcheck::of(&program).unwrap();
    let name = format!("{name}, {n_step} passes, {steps} steps");
    eprintln!("{name}: {:?}, {} skipped", check.max(), check.skipped_at_kinks());
    assert!(check.passed(), "{name}: {:?}", check.rows);
    assert!(4 * check.skipped_at_kinks() <= check.cases(), "{name}: {:?}", check.rows);
}

#[test]
fn every_way_gives_the_derivative_of_the_program() {
    for n_step in [1, 2, 5] {
        check("slide", TILTED, 0.4, n_step, 1);
        check("edge", EDGE, 0.3, n_step, 1);
        check("corner", CORNER, 0.3, n_step, 1);
        check("four corners", SPIN, 0.2, n_step, 1);
        check("stick", PUSHED, 0.8, n_step, 1);
    }
}

#[test]
fn the_memory_carries_its_derivative() {
    for n_step in [1, 3] {
        check("slide", TILTED, 0.4, n_step, 2);
        check("edge", EDGE, 0.1, n_step, 2);
        check("corner", CORNER, 0.1, n_step, 2);
    }
}

/// Two steps as a function of mu; the second starts with the friction of the first, with or
/// without its derivative.
struct TwoSteps {
    scene: Scene,
    remember: bool,
}

impl TwoSteps {
    fn evaluate<T: Real>(&self, mu: T) -> Vec<T> {
        let Scene { model, settings, state, inputs, .. } = &self.scene;
        let mut parameters = self.scene.parameters.cast();
        let name = model.parameter_names().into_iter().find(|name| name.ends_with("mu")).unwrap();
        parameters.values[model.parameter(&name).unwrap().slots[0]] = mu;
        let system = System { model, parameters: &parameters, settings };
        let inputs: Vec<T> = inputs.iter().map(|&x| T::constant(x)).collect();
        let (mut state, mut memory) = (state.cast(), StepMemory::default());
        let mut workspace = Workspace::default();
        for _ in 0..2 {
            let mut next = state.clone();
            step(&system, &state, &inputs, &mut memory, &mut workspace, &mut next);
            state = next;
            if !self.remember {
                memory = memory.value().cast();
            }
        }
        state.v
    }
}

#[test]
fn without_the_derivative_of_the_memory_a_rollout_is_wrong() {
    let slope = |remember| {
        let scene = scene(&format!("{CUBE}{CORNER}"), 0.1, passes(1));
        let program = TwoSteps { scene, remember };
        let (_, j) = jacobian::<LANES>(|x: &[Dual<f64, LANES>]| program.evaluate(x[0]), &[0.1]);
        let h = 1e-5;
        let (above, below) = (program.evaluate(0.1 + h), program.evaluate(0.1 - h));
        let central = above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * h));
        let scale = j.amax();
        let errors = central.zip(j.iter()).map(|(d, j)| (d - j).abs() / scale);
        errors.fold(0.0, f64::max)
    };
    let (with, without) = (slope(true), slope(false));
    eprintln!("with {with:.1e}, without {without:.1e}");
    assert!(with < 1e-6, "{with}");
    assert!(without > 1e-3, "{without}");
}
