//! Derivatives of steps with contact between bodies, by every way there is, and against differences of
//! converged solves.

use stiction::ad::{Dual, LANES, Real};
use stiction::argmin::Mode;
use stiction::model::{ContactSolver, Scene, StaggeredDerivative};
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use super::scenes::cube;
use super::{G, on_floor, rollout, scene, stack};

/// A small box that slides and spins on a larger one, which slides on the floor.
fn two_boxes() -> Scene {
    on_floor(
        "time_step = 0.005",
        "[[contact]]
         mu = 0.4
         restitution = 0.3
         [[body]]
         name = 'low'
         mass = 0.5
         shape = { box = [0.06, 0.05, 0.03] }
         position = [0, 0, 0.0301]
         velocity = [0.2, 0.1, -0.05]
         [[body]]
         name = 'high'
         mass = 0.3
         center_of_mass = [0.002, -0.001, 0.003]
         inertia = [2e-4, 3e-4, 2.5e-4, 1e-5, -2e-5, 3e-5]
         shape = { box = [0.03, 0.04, 0.02] }
         position = [0.01, 0.005, 0.0803]
         velocity = [1.0, -0.3, -0.05]
         angular_velocity = [0, 0, 2]",
    )
}

/// Two boxes that meet edge on edge in free space.
fn edges() -> Scene {
    scene(
        "[simulation]
         time_step = 0.005
         [[contact]]
         mu = 0.3
         restitution = 0.5
         [[body]]
         name = 'a'
         mass = 0.5
         shape = { box = [0.06, 0.05, 0.03] }
         orientation = [0.92387953, 0, 0.38268343, 0]
         [[body]]
         name = 'b'
         mass = 0.3
         shape = { box = [0.05, 0.04, 0.05] }
         position = [0, 0.005, 0.1355]
         orientation = [0.92387953, 0.38268343, 0, 0]
         velocity = [0.2, -0.3, -2]
         angular_velocity = [0.1, 0, 2]",
    )
}

/// Two balls and a box on one of them.
fn balls() -> Scene {
    on_floor(
        "time_step = 0.005",
        "[[contact]]
         mu = 0.3
         restitution = 0.5
         [[body]]
         name = 'a'
         mass = 0.5
         shape = { sphere = 0.05 }
         position = [0, 0, 0.0501]
         velocity = [1, 0.1, 0]
         angular_velocity = [0, 3, 2]
         [[body]]
         name = 'b'
         mass = 0.3
         shape = { sphere = 0.04 }
         position = [0.0945, 0.005, 0.0401]
         velocity = [-0.2, 0.3, 0]
         [[body]]
         name = 'c'
         mass = 0.3
         shape = { box = [0.04, 0.03, 0.02] }
         position = [0, 0.005, 0.1204]
         velocity = [0.3, 0.2, 0]",
    )
}

#[test]
fn every_solver_is_differentiated_alike_in_every_way() {
    let unrolled =
        ContactSolver::Staggered { n_step: 5, derivative: StaggeredDerivative::Unrolled };
    for (name, scene) in [("two boxes", two_boxes()), ("edges", edges()), ("balls", balls())] {
        for solver in [
            ContactSolver::Coupled,
            ContactSolver::ConvexRelaxation,
            ContactSolver::Pyramid,
            ContactSolver::ConvexPyramid,
            unrolled,
        ] {
            let mut scene = scene.clone();
            scene.settings.solver = solver;
            let total = checked(&scene, 3, 1);
            // Friction that staggered projections share is only unique in its derivative.
            let same = if solver == unrolled { 1e-6 } else { 1e-8 };
            let max = total.max();
            let worst = max.dual_vs_tape.max(max.residual_vs_tape);
            assert!(worst < same, "{name}, {solver:?}: {max:?}");
            assert!(max.vs_differences < 1e-6, "{name}, {solver:?}: {max:?}");
            let (skipped, cases) = (total.skipped_at_kinks(), total.cases());
            assert!(4 * skipped < cases, "{name}, {solver:?}: {skipped} of {cases} skipped");
        }
    }
}

/// Checks `count` states of the simulation of a scene, `stride` steps apart.
fn checked(scene: &Scene, count: usize, stride: usize) -> Gradcheck {
    let inputs = &scene.inputs;
    let system = scene.system();
    let mut rollout = rollout(scene);
    let mut total = Gradcheck::default();
    for _ in 0..count {
        let program = StepProgram::new(system, &rollout.state, inputs, &rollout.memory, 1);
        total.merge(&Gradcheck::of(&program).unwrap());
        rollout.advance(stride, inputs);
    }
    assert_eq!(total.report.unsolved, 0);
    total
}

// In every parameter (friction, mass, inertia, restitution, sizes), the state and the forces.
#[test]
fn the_cube_is_differentiated_as_differences_say() {
    let down = [0.0, 0.0, -G];
    let (sin, cos) = 0.35_f64.sin_cos();
    let slope = [G * sin, 0.0, -G * cos];
    // A little above the ground: on it is the kink between a gap and a penetration.
    let flat = "position = [0, 0, 0.0501]\nvelocity = [0.001, 0.002, -0.03]";
    let spin = "position = [0, 0, 0.0501]
        velocity = [1, 0.3, -0.03]
        angular_velocity = [0, 0, 5]";
    let corner = "position = [0, 0, 0.087]
        orientation = [0.88, 0.365, 0.3, 0.05]
        velocity = [1, -0.5, -2]
        angular_velocity = [0.5, -1, 2]";
    for (name, scene) in [
        ("slide with spin", cube(down, 0.3, 0.0, spin)),
        ("sticks on a slope", cube(slope, 0.5, 0.0, flat)),
        ("slips on a slope", cube(slope, 0.2, 0.0, flat)),
        ("oblique impact", cube(down, 0.3, 0.6, corner)),
    ] {
        let check = checked(&scene, 4, 1);
        let max = check.max();
        assert!(max.dual_vs_tape.max(max.residual_vs_tape) < 1e-8, "{name}: {max:?}");
        let asked = ["/mu", "/mass", "/restitution", "/vx", "/vy", "/vz", "/wx", "/wy", "/wz"];
        let rows = check.rows.iter().filter(|row| asked.iter().any(|end| row.name.ends_with(end)));
        let found: Vec<_> = rows.map(|row| (&row.name, row.worst.vs_differences)).collect();
        assert_eq!(found.len(), asked.len());
        assert!(found.iter().all(|(_, error)| *error < 1e-6), "{name}: {found:?}");
        // Sizes move a cube that rests towards the kink where its gap closes: short differences.
        assert!(check.passed(), "{name}: {max:?}");
        let (skipped, cases) = (check.skipped_at_kinks(), check.cases());
        assert!(3 * skipped < cases, "{name}: {skipped} of {cases} skipped");
    }
}

/// Pair, feature and mode of what touches.
type Modes = Vec<(usize, usize, Mode)>;

/// Velocities after three steps with derivatives in four numbers, added to the mass of the seventh cube, the
/// friction below the sixth, and two velocities; and what the contacts did.
fn end(scene: &Scene, x: [Dual<f64, LANES>; 4]) -> (Vec<Dual<f64, LANES>>, Modes) {
    let slot = |name: &str| scene.model.parameter(name).unwrap().slots[0];
    let mut parameters = scene.parameters.cast();
    let mut start = scene.state.cast();
    parameters.values[slot("cube6/mass")] += x[0];
    parameters.values[slot("cube4-cube5/mu")] += x[1];
    start.v[6 * 5] += x[2];
    start.v[6 * 9 + 1] += x[3];
    let system = scene.system_with(&parameters);
    let mut rollout = Rollout::new(system, start);
    let inputs: Vec<_> = scene.inputs.iter().map(|&x| Dual::constant(x)).collect();
    let mut modes = Vec::new();
    for _ in 0..3 {
        let report = rollout.step(&inputs);
        assert!(report.worst.status.is_solved(), "{report:?}");
        modes.extend(
            rollout.workspace.modes().map(|(pair, feature, mode, _)| (pair, feature, mode)),
        );
    }
    (rollout.state.v, modes)
}

// Ten cubes, of which some slide: where contacts are redundant only velocities are unique, and they are what
// is compared, over differences that keep the modes. (Impulses are shared by a compliance of a
// millionth: short differences see its rounding.)
#[test]
fn a_stack_of_ten_is_differentiated_as_differences_say() {
    // With more friction what slides would tip what it slides on.
    let mut scene = stack(&[1.0; 10], 0.15, 0.01);
    // The upper half slides on the lower, and the top on it; none is at a border of its modes.
    for body in 5..10 {
        scene.state.v[6 * body] = 0.4 + 0.3 * f64::from(u8::from(body == 9));
        scene.state.v[6 * body + 1] = 0.1;
    }
    scene.inputs[6 * 7] = 2.0;
    let (at, modes) = end(&scene, std::array::from_fn(|k| Dual::variable(0.0, k)));
    for k in 0..4 {
        let side = |h: f64| {
            let mut x = [Dual::constant(0.0); 4];
            x[k] = Dual::constant(h);
            end(&scene, x)
        };
        let sides = [1e-3, 3e-4, 1e-4, 3e-5, 1e-5].map(|h| (h, side(h), side(-h)));
        let kept = sides.iter().filter(|(_, up, down)| up.1 == modes && down.1 == modes);
        // Long differences see the curvature, short ones the tolerance of the solver.
        let errors = kept.map(|(h, up, down)| {
            let (mut largest, mut worst) = (0.0_f64, 0.0_f64);
            for ((at, up), down) in at.iter().zip(&up.0).zip(&down.0) {
                let difference = (up.value - down.value) / (2.0 * h);
                worst = worst.max((at.tangent[k] - difference).abs());
                largest = largest.max(difference.abs());
            }
            assert!(largest > 1e-3, "input {k} moves nothing: {largest:e}");
            worst / largest.max(1.0)
        });
        let least = errors.min_by(f64::total_cmp);
        assert!(least.is_some_and(|error| error < 1e-6), "input {k}: {least:?}");
    }
}
