//! Jacobians and gradients of steps in which forces act that depend on the state: pushes, drag, tendons.

use stiction::linearize::{JacobianWorkspace, Selection, StepJacobian, step_jacobian};
use stiction::model::{Integrator, Scene};
use stiction::simulation::Rollout;

use super::adjoint;
use super::scenes::{MIXED, compare};

/// A crate and an arm that are pushed for a while, the second and the tip of the arm in air.
const PUSHED: &str = "
[[push]]
name = 'shove'
body = 'crate'
point = [0.03, 0.02, 0.01]
force = [3, -2, 1]
until = 0.1
[[push]]
name = 'pull'
body = 'slider'
point = [0.0, 0.02, 0.03]
force = [0.3, 0.5, -0.4]
from = 0.02
until = 0.2
";

fn pushed() -> String {
    MIXED
        .replace("name = 'crate'", "name = 'crate'\ndrag = { linear = 0.3, quadratic = 0.2 }")
        .replace("name = 'lower'\nparent", "name = 'lower'\ndrag = { linear = 0.1 }\nparent")
        + PUSHED
}

/// Both ways forward, and backward, of all integrators; by Runge and Kutta forces in the stages go by duals.
pub fn check(text: &str) {
    for integrator in Integrator::ALL {
        let by = format!("integrator = '{}'\ntolerance", integrator.name());
        let text = text.replacen("tolerance", &by, 1);
        let scene = Scene::parse(&text, "scene.toml").unwrap_or_else(|error| panic!("{error}"));
        let (compared, seen) = compare(&scene, 60);
        println!("{integrator:?}: {compared} steps, {seen:?}");
        assert!(compared > 25 && seen.len() > 1, "{integrator:?}: {compared}, {seen:?}");
        let tally = adjoint::compare("forces", &scene, 40, 0.2);
        let backward = integrator.is_backward();
        let way = if backward { tally.recorded } else { tally.structured };
        assert!(tally.recorded + tally.structured == way && way > 35, "{integrator:?}: {tally:?}");

        let inputs: Vec<usize> = (0..scene.inputs.len()).collect();
        let selection = Selection { inputs: &inputs, parameters: &[] };
        let (mut workspace, mut result) = (JacobianWorkspace::default(), StepJacobian::default());
        let rollout = Rollout::new(scene.system(), scene.state.clone());
        let mut memory = rollout.memory.clone();
        let (system, state) = (scene.system(), &rollout.state);
        let u = &scene.inputs;
        step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, &mut result);
        let columns = match integrator {
            Integrator::RungeKutta | Integrator::Bdf1 | Integrator::Bdf2 => {
                2 * scene.model.nv() + inputs.len()
            }
            _ => 0,
        };
        assert_eq!(result.dual_columns, columns, "{integrator:?}");
    }
}

#[test]
fn pushes_and_drag() {
    check(&pushed());
}
