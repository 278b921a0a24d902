//! Jacobians at kinks: those of one side, and a margin that says so.

use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;

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
            // Rounding says which side a weight that has come to rest is on.
            let rate = if gap < 0.0 { settings.baumgarte } else { 1.0 } / settings.time_step;
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
