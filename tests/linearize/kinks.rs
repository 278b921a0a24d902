//! Jacobians at kinks: those of one side, and a margin that says so.

use stiction::contact::Target;
use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use super::adjoint::compare_rollouts;

/// A weight of 9.81 N on a slider with dry friction that rests at its lower limit 0, or at its upper one.
fn slider(friction: f64, upper: bool, height: f64, keep: bool) -> Scene {
    let (axis, limits, q) = match upper {
        false => ("[0, 0, 1]", "[0, 1]", height),
        true => ("[0, 0, -1]", "[-1, 0]", -height),
    };
    let text = format!(
        "simulation = {{ time_step = 0.01, tolerance = 1e-12, keep_impulses = {keep} }}
         [[body]]
         name = 'weight'
         mass = 1
         inertia = 1
         joint = {{ type = 'prismatic', axis = {axis}, limits = {limits}, friction = {friction}, q = {q} }}"
    );
    Scene::parse(&text, "slider.toml").unwrap()
}

/// At a limit with dry friction the sum of both impulses is all that is determined. Where friction holds the weight by
/// itself, the derivative is that of moving off: it stays wherever it is. Where it does not, the weight sinks back
/// to the limit within the step.
#[test]
fn at_a_limit_with_dry_friction_the_derivative_is_that_of_one_side() {
    let cases = [(20.0, 0.0), (5.0, 0.0), (5.0, 1e-3)];
    for (k, (friction, height)) in cases.into_iter().enumerate() {
        for (upper, keep) in [(false, false), (true, false), (false, true), (true, true)] {
            let case = format!("case {k}, upper {upper}, keep {keep}");
            let scene = slider(friction, upper, height, keep);
            let Scene { model, settings, .. } = &scene;
            let system = scene.system();
            let mut rollout = Rollout::new(system, scene.state.clone());
            rollout.advance(60, &scene.inputs);
            let gap = if upper { -rollout.state.q[0] } else { rollout.state.q[0] };
            assert!(gap.abs() < 1e-12, "{case}: {gap}");
            // Rounding says which side a weight that has come to rest is on; it makes no difference.
            let rate = 1.0 / settings.time_step;
            let limit = if upper { "upper" } else { "lower" };
            let names = ["weight/friction".to_string(), format!("weight/{limit}")];
            let p: Vec<_> = names.iter().map(|name| model.parameter(name).unwrap()).collect();
            let selection = Selection { inputs: &[0], parameters: &p };
            for linearize in [step_jacobian, step_jacobian_by_lanes] {
                let (mut workspace, mut found) = Default::default();
                let (state, memory) = (&rollout.state, &mut rollout.memory.clone());
                let (workspace, found): (&mut JacobianWorkspace, &mut StepJacobian) =
                    (&mut workspace, &mut found);
                linearize(&system, state, &scene.inputs, selection, memory, workspace, found);
                assert_eq!(found.report.unsolved, 0, "{case}");
                assert!(found.report.worst.margin < 1e-9, "{case}: {:?}", found.report);
                // dq+, dv+ in q, v, the force, the friction, the limit
                let [holds, moves] = [[0.0; 2], [rate * settings.time_step, rate]];
                let expected = match friction > 9.81 {
                    true => [[1.0, 0.0], holds, holds, holds, holds],
                    false => [[1.0 - moves[0], -moves[1]], holds, holds, holds, moves],
                };
                let columns = [
                    found.a.column(0),
                    found.a.column(1),
                    found.b.column(0),
                    found.c.column(0),
                    found.c.column(1),
                ];
                let columns = columns.map(|column| [column[0], column[1]]);
                let pairs = columns.as_flattened().iter().zip(expected.as_flattened());
                for (found, expected) in pairs {
                    assert!(
                        (found - expected).abs() < 1e-9,
                        "{case}: {columns:?}, not {expected:?}"
                    );
                }
            }
        }
    }
}

const STEP: f64 = 0.005;

/// A cube of 0.1 m above or in a floor, at rest or falling, sliding or not.
fn cube(gap: f64, [along, down]: [f64; 2], contact: &str, simulation: &str) -> Scene {
    let text = format!(
        "[simulation]
         time_step = {STEP}
         tolerance = 1e-12
         {simulation}
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         [[contact]]
         {contact}
         [[body]]
         name = 'cube'
         mass = 2
         shape = {{ box = [0.05, 0.05, 0.05] }}
         position = [0, 0, {}]
         velocity = [{along:?}, 0, {:?}]",
        0.05 + gap,
        -down
    );
    Scene::parse(&text, "cube.toml").unwrap()
}

/// The Jacobian of the first step, in state and forces.
fn jacobian(scene: &Scene) -> StepJacobian {
    let inputs: Vec<usize> = (0..6).collect();
    let selection = Selection { inputs: &inputs, parameters: &[] };
    let (mut workspace, mut found) = (JacobianWorkspace::default(), StepJacobian::default());
    let (state, memory) = (&scene.state, &mut Default::default());
    let system = scene.system();
    step_jacobian(&system, state, &scene.inputs, selection, memory, &mut workspace, &mut found);
    assert_eq!(found.report.unsolved, 0);
    found
}

/// What rests is at a gap of 0 up to rounding and compliance: (A, B) must not depend on its sign, nor on its size.
#[test]
fn at_rest_the_jacobian_does_not_depend_on_the_sign_of_the_gap() {
    for simulation in ["", "compliance = 0", "compliance = 1e-3"] {
        let at = |gap| jacobian(&cube(gap, [0.0; 2], "mu = 0.5", simulation));
        let rest = at(0.0);
        let expected = -1.0 / STEP;
        // d v+ in z; z comes third
        assert!((rest.a[(8, 2)] - expected).abs() < 1e-2 * -expected, "{}", rest.a[(8, 2)]);
        for gap in [1e-12, 1e-10, 1e-9, 1e-8, 1e-6] {
            for found in [at(gap), at(-gap)] {
                let apart = (&found.a - &rest.a).amax() / rest.a.amax();
                let forces = (&found.b - &rest.b).amax() / rest.b.amax();
                assert!(apart.max(forces) < 1e-5, "{simulation} {gap}: {apart} {forces}");
                assert!(found.report.worst.margin > 1e-4, "{simulation} {gap}: {:?}", found.report);
            }
        }
    }
}

/// Where a target, a rebound or a coefficient of friction is about to be decided otherwise, the margin is as small as what is
/// missing; where nothing is, it is not.
#[test]
fn the_margin_counts_what_is_decided_before_a_contact_is_solved() {
    let small = 1e-7;
    let rest = 1e-3 * STEP;
    let (rebound, two) = ("mu = 0.5\nrestitution = 0.5", "mu = 0.5\nmu_static = 0.8");
    let slip = cube(0.0, [0.0; 2], two, "").settings.static_speed;
    let impact = 4.0 * 9.81 * STEP;
    let threshold = format!("restitution_threshold = {impact}");
    // The gap, the speeds, where the kink is in the gap and the speeds
    let cases = [
        ("mu = 0.5", "", -rest, [0.0; 2], [1.0, 0.0, 0.0]),
        ("mu = 0.5", "", -5.0 * rest, [0.0; 2], [1.0, 0.0, 0.0]),
        ("mu = 0.5", "baumgarte = 0", 0.0, [0.0; 2], [1.0, 0.0, 0.0]),
        (rebound, threshold.as_str(), -1e-4, [0.0, impact], [0.0, 0.0, 1.0]),
        (two, "", -1e-4, [slip, 0.0], [0.0, 1.0, 0.0]),
    ];
    for (contact, simulation, gap, [along, down], [dgap, dalong, ddown]) in cases {
        for (distance, sides) in [(small, [1.0, -1.0]), (1e-3, [1.0, -1.0])] {
            for side in sides {
                let by = side * distance;
                let moved = [along + by * dalong, down + by * ddown];
                let scene = cube(gap + by * dgap * STEP, moved, contact, simulation);
                let margin = jacobian(&scene).report.worst.margin;
                let case = format!("{contact:?} {simulation:?} {by:e}: {margin:e}");
                let scale = 9.81 * STEP;
                if distance == small {
                    assert!(margin < 3.0 * small / scale && margin > 0.0, "{case}");
                } else {
                    assert!(margin > 100.0 * small / scale, "{case}");
                }
            }
        }
    }
}

/// Two links that hang next to straight down, the lower one with a ball that is 1 mm deep in the floor, and swing
/// through: hardly anything moves the ball up, so nothing is asked to. Where they are bent it is.
#[test]
fn what_hardly_moves_along_the_normal_has_the_derivatives_of_what_is_not_pushed() {
    let chain = |bent: f64| {
        let height = 0.2 * (1.0 + bent.cos()) + 0.019;
        let link = |name: &str, rest: &str| {
            format!(
                "[[body]]\nname = '{name}'\nmass = 0.5\ninertia = 2e-3\ncenter_of_mass = [0, 0, -0.1]\n{rest}\n"
            )
        };
        let upper = format!(
            "joint = {{ type = 'revolute', axis = [0, 1, 0], q = 0.0, v = -0.2 }}\nposition = [0, 0, {height}]"
        );
        let lower = format!(
            "parent = 'upper'\njoint = {{ type = 'revolute', axis = [0, 1, 0], q = {bent}, v = -1.0 }}\n\
             position = [0, 0, -0.2]\n[[body.shape]]\nname = 'ball'\nsphere = 0.02\nposition = [0, 0, -0.2]"
        );
        let text = format!(
            "simulation = {{ time_step = 0.005, tolerance = 1e-12 }}\n[[half_space]]\nname = 'floor'\n\
             normal = [0, 0, 1]\n[[contact]]\nmu = 0.3\n{}{}",
            link("upper", &upper),
            link("lower", &lower)
        );
        Scene::parse(&text, "chain.toml").unwrap()
    };
    for (bent, target) in [(0.02, Target::Singular), (0.8, Target::Penetration)] {
        let scene = chain(bent);
        let memory = Default::default();
        let program = StepProgram::new(scene.system(), &scene.state, &scene.inputs, &memory, 1);
        let modes = &program.contact_modes().modes;
        assert!(modes.len() == 1 && modes[0].4.0 == target, "{bent}: {modes:?}");
        let check = Gradcheck::of(&program).unwrap();
        assert!(check.passed() && check.skipped_at_kinks() == 0, "{bent}: {check:?}");
        assert_eq!(compare_rollouts("chain", &scene, 1, 1e-8), 0);
    }
}
