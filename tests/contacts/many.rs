//! Islands of many bodies, whose matrices are factorised by blocks.

use approx::assert_relative_eq;
use nalgebra::DMatrix;
use stiction::ad::{self, Dual, LANES, Real};
use stiction::argmin::{Mode, Report, Status};
use stiction::linearize::RolloutAdjoint;
use stiction::model::Scene;
use stiction::simulation::StepReport;
use stiction::verify::StepProgram;

use super::{G, final_state, on_floor, rollout};
use crate::random::Random;
use crate::scenes::{SLAB, slabs};

const BODIES: usize = 40;

/// Slabs on each other, under gravity that leans by `lean` m/s² along x.
fn pile(lean: f64, mu: f64) -> Scene {
    let bodies = slabs(BODIES, 0.02, |_| [0.0; 3]);
    let mut scene = on_floor("time_step = 0.005", &format!("[[contact]]\nmu = {mu:?}\n{bodies}"));
    scene.parameters.values[..3].copy_from_slice(&[lean, 0.0, -G]);
    scene
}

/// Each contact of a pile at rest carries a quarter of the friction above it: that is the least norm.
#[test]
fn contacts_of_a_pile_share_friction_evenly() {
    let lean = 0.3;
    let scene = pile(lean, 0.5);
    let mut rollout = rollout(&scene);
    rollout.advance(100, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    let dt = scene.settings.time_step;
    let mut carried = [0.0; 2];
    let mut seen = 0;
    for contact in rollout.workspace.contacts() {
        assert_eq!(contact.mode, Mode::Stick);
        // The bodies above are as many as the second is from the top.
        let above = contact.bodies.iter().flatten().max().map_or(0, |&body| BODIES - body);
        let impulse = contact.world_impulse();
        let share = 0.25 * SLAB * above as f64 * dt;
        assert_relative_eq!(impulse.x, -share * lean, max_relative = 1e-7);
        assert!(impulse.y.abs() < 1e-9 * share * G, "{impulse}");
        carried[0] += impulse.z;
        carried[1] += share * G;
        seen += 1;
    }
    assert_eq!(seen, 4 * BODIES);
    assert_relative_eq!(carried[0], carried[1], max_relative = 1e-8);
}

/// A pile that slides on the floor as one: v = (lean - mu G) t, whatever its bodies share.
#[test]
fn a_pile_that_slides_as_one_is_differentiated_as_its_formula_says() {
    let (lean, mu, steps) = (0.5, 0.02, 20);
    let scene = pile(lean, 0.5);
    let slot = |name: &str| scene.model.parameter(name).unwrap().slots[0];
    let mut parameters = scene.parameters.cast::<Dual<f64, LANES>>();
    let floor = slot("floor-slab0/mu");
    parameters.values[floor] = Dual::variable(mu, 0);
    parameters.values[0] = Dual::variable(lean, 1);
    let mass = slot("slab20/mass");
    parameters.values[mass] += Dual::variable(0.0, 2);
    let end = final_state(&scene, &parameters, scene.state.cast(), steps);
    let time = steps as f64 * scene.settings.time_step;
    for body in 0..BODIES {
        let v = end.v[6 * body];
        assert_relative_eq!(v.value(), (lean - mu * G) * time, max_relative = 1e-9);
        assert_relative_eq!(v.tangent[0], -G * time, max_relative = 1e-7);
        assert_relative_eq!(v.tangent[1], time, max_relative = 1e-7);
        assert!(v.tangent[2].abs() < 1e-7 * time, "{}", v.tangent[2]);
    }
}

/// What a step of a settled pile does along some directions: of all that it depends on, or of what keeps all contacts.
fn along<T: Real>(program: &StepProgram, directions: &[Vec<f64>], t: &[T]) -> Vec<T> {
    let mut x: Vec<T> = program.variables().iter().map(|&x| T::constant(x)).collect();
    for (direction, &t) in directions.iter().zip(t) {
        x.iter_mut().zip(direction).for_each(|(x, &d)| *x += t * d);
    }
    program.run(&x).0
}

/// The tape, duals and differences of a pile that leans at rest, and of one whose upper half slides on the lower.
/// Rows of friction are nearly dependent there: slabs rest at tilts of 1e-9 to 1e-7.
#[test]
fn derivatives_of_a_pile_agree() {
    let mut random = Random(9);
    for slides in [false, true] {
        let mut scene = pile(0.1, 0.5);
        scene.settings.tolerance = 1e-12;
        if slides {
            // Less than in the pile above, which would be at its limit too otherwise.
            let middle = format!("slab{}-slab{}/mu", BODIES / 2 - 1, BODIES / 2);
            let slot = scene.model.parameter(&middle).unwrap().slots[0];
            scene.parameters.values[slot] = 0.1;
        }
        let mut settling = rollout(&scene);
        settling.advance(60, &scene.inputs);
        let (mut state, memory) = (settling.state.clone(), settling.memory.clone());
        let nv = scene.model.nv();
        if slides {
            (BODIES / 2..BODIES).for_each(|body| state.v[6 * body] += 0.2);
        }
        let program = StepProgram::new(scene.system(), &state, &scene.inputs, &memory, 1);
        let kept = &program.contact_modes().modes;
        assert_eq!(kept.iter().any(|(.., mode, _)| *mode == Mode::Slide), slides);
        assert!(
            kept.iter().filter(|(.., mode, _)| *mode == Mode::Stick).count() >= 4 * (BODIES - 1)
        );
        // Positions do not move where differences are to keep the contacts.
        let first = program.variables().len() - 3 * nv;
        for moves in [true, false] {
            let size = |j: usize, x: f64| match j {
                _ if j < first && x == 0.0 => 0.0,
                _ if j < first => x,
                _ if j < first + nv && !moves => 0.0,
                _ => 1.0,
            };
            let mut direction = || {
                let sizes = program.variables().iter().enumerate().map(|(j, &x)| size(j, x));
                sizes.map(|size| size * random.uniform(-1.0, 1.0)).collect::<Vec<f64>>()
            };
            let directions: Vec<Vec<f64>> = (0..4).map(|_| direction()).collect();
            let zero = [0.0; 4];
            let (_, tape) =
                ad::jacobian_by_rows(|t| along(&program, &directions, t), &zero).unwrap();
            let (_, dual) = ad::jacobian::<4>(|t| along(&program, &directions, t), &zero);
            let mut differences = DMatrix::zeros(tape.nrows(), 4);
            for j in 0..if moves { 0 } else { 4 } {
                let h = 1e-6;
                let at = |h: f64| {
                    let mut t = zero;
                    t[j] = h;
                    along(&program, &directions, &t)
                };
                let (above, below) = (at(h), at(-h));
                for i in 0..tape.nrows() {
                    differences[(i, j)] = (above[i] - below[i]) / (2.0 * h);
                }
            }
            for (i, row) in tape.row_iter().enumerate() {
                let scale = row.amax().max(1.0);
                for j in 0..4 {
                    let apart = (row[j] - dual[(i, j)]).abs() / scale;
                    assert!(
                        apart < 1e-9,
                        "slides {slides}, output {i}: {} {}",
                        row[j],
                        dual[(i, j)]
                    );
                    let apart = (row[j] - differences[(i, j)]).abs() / scale;
                    assert!(
                        moves || apart < 1e-6,
                        "slides {slides}, output {i}: {} by differences {}",
                        row[j],
                        differences[(i, j)]
                    );
                }
            }
        }
    }
}

/// Reverse mode takes the path of sparse blocks as well, and its cost is none that grows as the cube: no step goes by
/// the tape.
#[test]
fn gradients_of_a_pile_are_those_of_its_formula() {
    let (lean, steps) = (0.5, 20);
    let scene = pile(lean, 0.5);
    let slot = |name: &str| scene.model.parameter(name).unwrap().slots[0];
    let mut parameters = scene.parameters.clone();
    let floor = slot("floor-slab0/mu");
    parameters.values[floor] = 0.02;
    let system = scene.system_with(&parameters);
    let mut rollout = RolloutAdjoint::default();
    rollout.start(&scene.state);
    for _ in 0..steps {
        rollout.step(&system, &scene.inputs);
    }
    let top = 6 * BODIES + 6 * (BODIES - 1);
    let seed = |k: usize, adjoint: &mut [f64]| {
        if k == steps {
            adjoint[top] = 1.0;
        }
    };
    rollout.reverse(&system, seed).unwrap();
    assert_eq!(rollout.recorded_steps(), 0);
    let time = steps as f64 * scene.settings.time_step;
    let found = &rollout.adjoints().parameters;
    assert_relative_eq!(found[floor], -G * time, max_relative = 1e-7);
    assert_relative_eq!(found[0], time, max_relative = 1e-7);
    assert!(found[slot("slab20/mass")].abs() < 1e-7 * time, "{}", found[slot("slab20/mass")]);
}

/// Bricks of a wall touch their neighbours without pressing them: modes say little there, and Newton from a warm start
/// turns them over. The proximal point method goes on from it.
#[test]
fn walls_at_rest_are_solved_from_their_warm_start() {
    let brick = |row: usize, k: usize| {
        format!(
            "[[body]]
             name = 'brick{row}-{k}'
             mass = 4
             shape = {{ box = [0.1, 0.05, 0.05] }}
             position = [{:?}, 0, {:?}]\n",
            0.2 * k as f64 + 0.1 * (row % 2) as f64,
            0.05 + 0.1 * row as f64
        )
    };
    let bricks: String =
        (0..5).flat_map(|row| (0..5 - row % 2).map(move |k| brick(row, k))).collect();
    let scene = on_floor("time_step = 0.005", &format!("[[contact]]\nmu = 0.5\n{bricks}"));
    let mut rollout = rollout(&scene);
    rollout.advance(20, &scene.inputs);
    let (steps, mut iterations) = (10, 0);
    for _ in 0..steps {
        rollout.report = StepReport::default();
        rollout.advance(1, &scene.inputs);
        let Report { status, iterations: own, .. } = rollout.report.worst;
        assert_eq!(status, Status::Solved);
        iterations += own;
    }
    // 11 a step; from the interior point they were 190.
    assert!(iterations <= 20 * steps, "{iterations}");
    let speed = rollout.state.v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    // It sinks by what contacts give.
    assert!(speed < 1e-4, "{speed}");
}
