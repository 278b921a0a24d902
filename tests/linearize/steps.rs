//! Jacobians of the step against central differences on the manifold and closed forms.

use approx::assert_relative_eq;
use nalgebra::{DMatrix, Matrix3, Rotation3, UnitQuaternion, Vector3};
use stiction::argmin::Mode;
use stiction::contact::{Regime, Target};
use stiction::linearize::{JacobianWorkspace, Linearizer, Selection, StepJacobian, step_jacobian};
use stiction::model::{ParameterRef, Scene, System};
use stiction::simulation::{Rollout, StepMemory, Workspace, step};
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};

use crate::differences::central;
use crate::random::Random;
use crate::scenes::FLOOR;

const BOX: &str = "[[body]]\nname = 'box'\nmass = 0.5\nposition = [0, 0, 9]\n\
    shape = { box = [0.06, 0.04, 0.02] }\n";
const HEAVY: &str = "[[body]]\nname = 'heavy'\nmass = 0.4\nposition = [0, 0, 9]\n\
    shape = { box = [0.05, 0.06, 0.07] }\ncenter_of_mass = [0.01, -0.02, 0.015]\n\
    inertia = [1e-3, 1.2e-3, 0.8e-3, 1e-4, -1e-4, 2e-4]\n";
const BALL: &str = "[[body]]\nname = 'ball'\nmass = 0.3\nposition = [1, 0, 9]\n\
    shape = { sphere = 0.05 }\n";

/// Step of the central differences in x; it balances 1e-12 of noise and the curvature of friction.
const STEP: f64 = 4e-6;

/// A system with loads, ready to be differentiated in all its parameters.
struct Case {
    scene: Scene,
    parameters: Vec<ParameterRef>,
    steps: Vec<f64>,
}

impl Case {
    fn new(bodies: &[&str], contact: &str) -> Case {
        let text = format!(
            "simulation.time_step = 0.01\n{FLOOR}{}[[contact]]\n{contact}\n",
            bodies.concat()
        );
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        let names = scene.model.parameter_names();
        let parameters = names.iter().map(|name| scene.model.parameter(name).unwrap()).collect();
        let step = |name: &String| if name.contains("inertia") { 1e-6 } else { STEP };
        Case { steps: names.iter().map(step).collect(), scene, parameters }
    }

    fn system(&self) -> System<'_, f64> {
        self.scene.system()
    }

    fn linearize(&self, state: &State<f64>, u: &[f64]) -> StepJacobian {
        let (memory, workspace) = (&mut StepMemory::default(), &mut JacobianWorkspace::default());
        let inputs: Vec<usize> = (0..u.len()).collect();
        let selection = Selection { inputs: &inputs, parameters: &self.parameters };
        let mut result = StepJacobian::default();
        step_jacobian(&self.system(), state, u, selection, memory, workspace, &mut result);
        result
    }

    /// The end of the step and its modes with `[x; u; p]` displaced along one direction.
    fn displaced(&self, state: &State<f64>, u: &[f64], k: usize, h: f64) -> (State<f64>, Modes) {
        let nv = state.v.len();
        let (mut dx, mut u) = (vec![0.0; 2 * nv], u.to_vec());
        let mut parameters = self.scene.parameters.clone();
        match k {
            k if k < 2 * nv => dx[k] = h,
            k if k < 3 * nv => u[k - 2 * nv] += h,
            k => {
                for &slot in &self.parameters[k - 3 * nv].slots {
                    parameters.values[slot] += h;
                }
            }
        }
        let system = System { parameters: &parameters, ..self.system() };
        let (mut workspace, mut next) = (Workspace::default(), state.clone());
        let memory = &mut StepMemory::default();
        let start = state.moved(system.model.coordinates(), &dx);
        step(&system, &start, &u, memory, &mut workspace, &mut next);
        (next, workspace.modes().collect())
    }

    /// Compares with central differences.
    fn check(&self, state: &State<f64>, u: &[f64], tally: &mut Tally) {
        let jacobian = self.linearize(state, u);
        tally.states += 1;
        if jacobian.report.unsolved > 0 {
            // Not a solution: nothing to differentiate.
            tally.unsolved += 1;
            return;
        }
        let modes: Modes = jacobian
            .modes
            .iter()
            .map(|c| (c.pair, c.feature, c.mode, (c.target, c.regime)))
            .collect();
        for &(_, _, mode, target) in &modes {
            tally.seen.push((mode, target.0));
        }
        let nv = state.v.len();
        for (index, matrix) in [&jacobian.a, &jacobian.b, &jacobian.c].into_iter().enumerate() {
            let first = [0, 2 * nv, 3 * nv][index];
            let scale: Vec<f64> = matrix.row_iter().map(|row| row.amax().max(1.0)).collect();
            for column in 0..matrix.ncols() {
                let h = [STEP, 10.0 * STEP, *self.steps.get(column).unwrap_or(&STEP)][index];
                tally.columns += 1;
                let mut kink = false;
                let differences = central(h, |shift| {
                    let (end, met) = self.displaced(state, u, first + column, shift);
                    kink |= met != modes;
                    end.difference(self.scene.model.coordinates(), &jacobian.next)
                });
                if kink {
                    tally.skipped += 1;
                    continue;
                }
                for (i, difference) in differences.iter().enumerate() {
                    let error = (matrix[(i, column)] - difference).abs() / scale[i];
                    tally.worst[index] = tally.worst[index].max(error);
                    let found = matrix[(i, column)];
                    assert!(
                        error < 1e-6,
                        "{} ({i}, {column}): {found}, difference {difference}, modes {modes:?}",
                        ["A", "B", "C"][index]
                    );
                }
            }
        }
    }
}

type Modes = Vec<(usize, usize, Mode, (Target, Regime))>;

#[derive(Default)]
struct Tally {
    states: usize,
    unsolved: usize,
    columns: usize,
    skipped: usize,
    worst: [f64; 3],
    seen: Vec<(Mode, Target)>,
}

fn put(state: &mut State<f64>, body: usize, position: [f64; 3], turn: [f64; 3], v: [f64; 6]) {
    let q = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
    let numbers = [position[0], position[1], position[2], q.w, q.i, q.j, q.k];
    state.q[7 * body..7 * (body + 1)].copy_from_slice(&numbers);
    state.v[6 * body..6 * (body + 1)].copy_from_slice(&v);
}

/// How high the centre of a turned box is above its lowest corner.
fn reach(half: [f64; 3], turn: [f64; 3]) -> f64 {
    let rotation = Rotation3::from_scaled_axis(Vector3::from(turn));
    (0..3).map(|k| rotation[(2, k)].abs() * half[k]).sum()
}

fn loads(random: &mut Random, nv: usize) -> Vec<f64> {
    (0..nv).map(|k| random.uniform(-1.0, 1.0) * if k % 6 < 3 { 0.3 } else { 0.003 }).collect()
}

#[test]
fn jacobians_agree_with_central_differences() {
    let mut random = Random(11);
    let mut tally = Tally::default();
    let flat = [0.06, 0.04, 0.02];
    let case = Case::new(&[BOX], "mu = 0.3");
    for _ in 0..9 {
        // Sliding, the corners sunk in by different depths.
        let mut state = State::at_origin(1);
        let turn = random.vector(1e-3);
        let sunk = random.uniform(1e-4, 3e-4);
        let [vx, vy, vz, wx, wy, wz] = random.vector(1.0);
        let v = [vx, vy, -0.1 * vz.abs(), 0.1 * wx, 0.1 * wy, wz];
        put(&mut state, 0, [0.1, -0.2, reach(flat, turn) - sunk], turn, v);
        case.check(&state, &loads(&mut random, 6), &mut tally);
    }
    let case = Case::new(&[BOX], "mu = 0.9");
    for k in 0..12 {
        // Sticking: on a corner, or flat.
        let mut state = State::at_origin(1);
        let turn = if k < 9 { random.vector(3.0) } else { [0.0; 3] };
        let sunk = random.uniform(1e-4, 3e-4);
        let [vx, vy, vz, wx, wy, wz] = random.vector(0.02);
        let v = if k < 9 { [vx, vy, vz, wx, wy, wz] } else { [vx, vy, -vz.abs(), 0.0, 0.0, wz] };
        put(&mut state, 0, [0.1, -0.2, reach(flat, turn) - sunk], turn, v);
        case.check(&state, &loads(&mut random, 6), &mut tally);
    }
    for restitution in [0.0, 0.3] {
        // Landing on a corner.
        let case = Case::new(&[BOX], &format!("mu = 0.4\nrestitution = {restitution}"));
        for _ in 0..6 {
            let mut state = State::at_origin(1);
            let turn = random.vector(3.0);
            let z = reach(flat, turn) + random.uniform(1e-4, 5e-3);
            let [vx, vy, vz, wx, wy, wz] = random.vector(2.0);
            put(&mut state, 0, [0.0, 0.3, z], turn, [vx, vy, -1.0 - vz.abs(), wx, wy, wz]);
            case.check(&state, &loads(&mut random, 6), &mut tally);
        }
    }
    let case = Case::new(&[BOX], "mu = 0.4");
    for _ in 0..6 {
        // Free flight with a fast spin.
        let mut state = State::at_origin(1);
        let [vx, vy, vz, wx, wy, wz] = random.vector(10.0);
        put(&mut state, 0, [0.0, 0.0, 5.0], random.vector(3.0), [vx, vy, vz, wx, wy, wz]);
        case.check(&state, &loads(&mut random, 6), &mut tally);
    }
    // Two bodies: one with its centre of mass off the origin, and a ball that bounces.
    let case = Case::new(&[HEAVY, BALL], "mu = 0.25\nrestitution = 0.5");
    for _ in 0..12 {
        let mut state = State::at_origin(2);
        let turn = random.vector(3.0);
        let z = reach([0.05, 0.06, 0.07], turn) + random.uniform(-2e-3, 2e-3);
        let [vx, vy, vz, wx, wy, wz] = random.vector(1.0);
        let v = [vx, vy, -0.5 - vz.abs(), 3.0 * wx, 3.0 * wy, 3.0 * wz];
        put(&mut state, 0, [0.0, 0.0, z], turn, v);
        let [vx, vy, vz, wx, wy, wz] = random.vector(3.0);
        let v = [vx, vy, -1.0 - vz.abs(), 9.0 * wx, 9.0 * wy, 9.0 * wz];
        put(&mut state, 1, [1.0, 0.0, random.uniform(0.051, 0.055)], random.vector(3.0), v);
        case.check(&state, &loads(&mut random, 12), &mut tally);
    }
    let Tally { states, unsolved, columns, skipped, worst, seen } = &tally;
    let of = |mode: Mode| seen.iter().filter(|(m, _)| *m == mode).count();
    let to = |target: Target| seen.iter().filter(|(_, t)| *t == target).count();
    println!(
        "{states} states, {unsolved} of them not solved; {skipped} of {columns} columns skipped at kinks; worst errors A, B, C: \
         {worst:?}; contacts: {} stick, {} slide, {} clamp; {} gap, {} penetration, \
         {} restitution",
        of(Mode::Stick),
        of(Mode::Slide),
        of(Mode::Clamp),
        to(Target::Gap),
        to(Target::Penetration),
        to(Target::Restitution)
    );
    assert!(20 * unsolved <= *states, "{unsolved} states were not solved");
    assert!(*states >= 40 && 20 * skipped <= *columns, "{skipped} of {columns}");
    for (mode, target) in [
        (Mode::Stick, Target::Penetration),
        (Mode::Slide, Target::Penetration),
        (Mode::Stick, Target::Gap),
        (Mode::Slide, Target::Gap),
        (Mode::Slide, Target::Restitution),
    ] {
        assert!(seen.contains(&(mode, target)), "no contact was {mode:?} {target:?}");
    }
}

#[test]
fn tied_parameters_move_together() {
    let mut case = Case::new(&[BOX], "mu = 0.4");
    let mut state = State::at_origin(1);
    let turn = [0.3, 0.5, 0.1];
    let z = reach([0.06, 0.04, 0.02], turn) + 1e-3;
    put(&mut state, 0, [0.0, 0.0, z], turn, [0.5, 0.1, -1.0, 1.0, 2.0, 3.0]);
    let names =
        ["box/half_extents", "box/half_extents/x", "box/half_extents/y", "box/half_extents/z"];
    case.parameters = names.iter().map(|name| case.scene.model.parameter(name).unwrap()).collect();
    let c = case.linearize(&state, &[0.0; 6]).c;
    let sum = c.column(1) + c.column(2) + c.column(3);
    assert!(sum.amax() > 0.1 && (c.column(0) - &sum).amax() < 1e-12 * sum.amax());
}

#[test]
fn inputs_of_free_flight_act_as_the_closed_form_says() {
    let case = Case::new(&[HEAVY], "mu = 0.2");
    let dt = case.scene.settings.time_step;
    let parameters = &case.scene.parameters;
    let model = &case.scene.model;
    let (mass, c) = (parameters.mass(model, 0), parameters.center_of_mass(model, 0));
    let inverse = parameters.inertia(model, 0).try_inverse().unwrap();
    let turn = [0.4, -0.8, 1.2];
    let mut state = State::at_origin(1);
    put(&mut state, 0, [1.0, 2.0, 3.0], turn, [0.3, 0.2, 0.1, 0.0, 0.0, 0.0]);
    let b = case.linearize(&state, &[0.0; 6]).b;

    // dw = dt I^-1 (torque - c x R'f), dv = dt f / m - R (dw x c), dq = dt dv
    let rotation = *Rotation3::from_scaled_axis(Vector3::from(turn)).matrix();
    let hat = |a: Vector3<f64>| Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0);
    let angular = [inverse * hat(c) * rotation.transpose() * -dt, inverse * dt];
    let linear = [
        Matrix3::identity() * (dt / mass) + rotation * hat(c) * angular[0],
        rotation * hat(c) * angular[1],
    ];
    let mut expected = DMatrix::zeros(12, 6);
    for k in 0..2 {
        for (row, block) in
            [(0, linear[k] * dt), (3, angular[k] * dt), (6, linear[k]), (9, angular[k])]
        {
            expected.view_mut((row, 3 * k), (3, 3)).copy_from(&block);
        }
    }
    let error = (&b - &expected).amax();
    assert!(error < 1e-13 * expected.amax(), "{error:e}: {b} instead of {expected}");
}

#[test]
fn rollouts_and_recorded_states_are_linearised_step_by_step() {
    let case = Case::new(&[HEAVY, BALL], "mu = 0.25\nrestitution = 0.5");
    let mut state = State::at_origin(2);
    put(&mut state, 0, [0.0, 0.0, 0.2], [0.5, 0.4, 0.3], [1.0, 0.0, 0.0, 2.0, 3.0, 4.0]);
    put(&mut state, 1, [1.0, 0.0, 0.1], [0.0; 3], [0.0, 1.0, -1.0, 0.0, 0.0, 5.0]);
    let names = ["floor-ball/mu".to_string(), "heavy/mass".to_string()];
    let u = vec![0.01; 12];
    let mut linearizer =
        Linearizer::new("scene.toml", case.system(), &u, &["all".to_string()], &names).unwrap();
    let mut told = 0;
    let result = linearizer.rollout(&state, 40, |done| told = done).unwrap();
    assert_eq!((told, result.a.dim(), result.c.dim()), (40, (40, 24, 24), (40, 24, 2)));
    assert_eq!(result.report().steps, 40);
    let mut rollout = Rollout::new(case.system(), state);
    let mut states = Vec::new();
    for k in 0..40 {
        states.push(rollout.state.clone());
        let numbers = |state: &State<f64>| [state.q.clone(), state.v.clone()].concat();
        assert_eq!(result.x.row(k).to_vec(), numbers(&rollout.state));
        rollout.step(&u);
        assert_eq!(result.f.row(k).to_vec(), numbers(&rollout.state));
        assert_eq!(result.modes[k].len(), rollout.workspace.modes().count());
    }
    assert!(result.modes.iter().any(|modes| modes.len() > 1));

    let times = result.times.clone();
    let name = "motion.csv".to_string();
    let everything = Recorded::all(&case.scene.model);
    let trajectory = Trajectory { name, times, states, recorded: everything };
    let recorded = linearizer.states(&trajectory, |_| ()).unwrap();
    for k in [0, 11, 39] {
        let alone = case.linearize(&trajectory.states[k], &u);
        for ((i, j), &entry) in recorded.a.index_axis(ndarray::Axis(0), k).indexed_iter() {
            assert_eq!(entry, alone.a[(i, j)]);
        }
    }
    // The solvers start differently, the solutions are the same.
    let error = (&recorded.a - &result.a).iter().fold(0.0_f64, |worst, x| worst.max(x.abs()));
    assert!(error < 1e-7, "{error:e}");
}

#[test]
fn what_cannot_be_linearised_is_refused() {
    let case = Case::new(&[BALL], "mu = 0.25");
    let u = [0.0; 6];
    let error = Linearizer::new(
        "scene.toml",
        case.system(),
        &u,
        &["all".to_string()],
        &["ball/muu".to_string()],
    );
    let error = error.err().unwrap().to_string();
    assert!(error.starts_with("scene.toml: ball/muu: is no parameter; there are grav"), "{error}");
    let mut linearizer =
        Linearizer::new("scene.toml", case.system(), &u, &["all".to_string()], &[]).unwrap();
    let mut state = State::at_origin(1);
    put(&mut state, 0, [0.0, 0.0, 1.0], [0.0; 3], [1.7e308, 0.0, 0.0, 0.0, 0.0, 0.0]);
    state.q[0] = 1.79e308;
    let error = linearizer.rollout(&state, 9, |_| ()).err().unwrap().to_string();
    assert!(
        error.contains("scene.toml: the step from state 0") && error.contains("finite"),
        "{error}"
    );
}

// The columns of a motor are those of the force at its joint, times the gear.
#[test]
fn controls_have_columns_of_their_own() {
    let scene = Scene::parse(
        "[simulation]
         time_step = 0.01
         [[body]]
         name = 'upper'
         joint = { type = 'revolute', axis = [0, 1, 0], q = 0.4, v = 1 }
         mass = 1
         center_of_mass = [0, 0, -0.5]
         inertia = 0.1
         [[body]]
         name = 'lower'
         parent = 'upper'
         joint = { type = 'revolute', axis = [0, 1, 0], q = -0.3 }
         position = [0, 0, -1]
         mass = 1
         center_of_mass = [0, 0, -0.5]
         inertia = 0.1
         [[actuator]]
         name = 'motor'
         joint = 'lower'
         gear = 3
         control = 0.2",
        "scene.toml",
    )
    .unwrap();
    let Scene { model, state, inputs, .. } = &scene;
    let system = scene.system();
    let names = model.parameter_names();
    let mut linearizer =
        Linearizer::new("scene.toml", system, inputs, &["all".to_string()], &names).unwrap();
    let result = linearizer.rollout(state, 3, |_| {}).unwrap();
    assert_eq!(result.b.shape(), [3, 4, 3]);
    assert_eq!((result.u.shape(), result.c.shape()), (&[3, 3][..], &[3, 4, names.len()][..]));
    let gear = names.iter().position(|name| name == "motor/gear").unwrap();
    for k in 0..3 {
        for row in 0..4 {
            let force = result.b[[k, row, 1]];
            assert_relative_eq!(result.b[[k, row, 2]], 3.0 * force, max_relative = 1e-12);
            assert_relative_eq!(result.c[[k, row, gear]], 0.2 * force, max_relative = 1e-12);
        }
    }
}
