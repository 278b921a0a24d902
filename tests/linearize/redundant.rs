//! Jacobians where contacts are many more than velocities, and of scenes that have next to nothing.

use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::Scene;
use stiction::simulation::StepMemory;

use super::scenes::{Linearize, MIXED, compare};
use crate::scenes::FLOOR;

/// A plate on six boxes, and a box on it: 28 contacts of two bodies.
pub fn plate(settings: &str, mu: f64, velocity: f64) -> Scene {
    let mut text = format!(
        "[simulation]
         time_step = 0.005
         tolerance = 1e-12
         {settings}
         {FLOOR}
         [[contact]]
         mu = {mu}
         [[body]]
         name = 'top'
         mass = 0.3
         shape = {{ box = [0.03, 0.02, 0.02] }}
         position = [0.01, 0.005, 0.06]
         velocity = [{velocity}, 0, 0]
         [[body]]
         name = 'plate'
         mass = 2
         inertia = [0.02, 0.02, 0.04]
         position = [0, 0, 0.02]
         velocity = [{velocity}, {velocity}, 0]\n"
    );
    for (k, (x, y)) in (0..3).flat_map(|x| (0..2).map(move |y| (x, y))).enumerate() {
        let (x, y) = (0.06 * f64::from(x) - 0.06, 0.04 * f64::from(y) - 0.02);
        text += &format!(
            "[[body.shape]]\nname = 'foot{k}'\nbox = [0.02, 0.02, 0.02]\nposition = [{x}, {y}, 0]\n"
        );
    }
    Scene::parse(&text, "plate.toml").unwrap()
}

#[test]
fn redundant_contacts_put_together_agree_with_duals() {
    for (settings, mu, velocity) in
        [("", 0.2, 0.5), ("keep_impulses = true", 0.2, 0.5), ("solver = 'pyramid'", 0.2, 0.5)]
    {
        let (compared, seen) = compare(&plate(settings, mu, velocity), 12);
        println!("{settings} {mu} {velocity}: {compared}, {seen:?}");
        assert!(compared >= 6, "{settings} {mu} {velocity}: {compared} of 12, {seen:?}");
    }
}

fn run(way: Linearize, scene: &Scene, workspace: &mut JacobianWorkspace) -> StepJacobian {
    let Scene { state, inputs, .. } = scene;
    let system = scene.system();
    let (memory, mut result) = (&mut StepMemory::default(), StepJacobian::default());
    way(&system, state, inputs, Selection::default(), memory, workspace, &mut result);
    result
}

/// What a workspace held before does not show, not even where there is nothing to differentiate.
#[test]
fn nothing_is_left_of_the_scene_before() {
    let fixed = "[simulation]
        time_step = 0.01
        solver = 'staggered'
        [[body]]
        name = 'wall'
        joint = { type = 'fixed' }
        shape = { box = [0.1, 0.1, 0.1] }
        mass = 1";
    let fixed = Scene::parse(fixed, "fixed.toml").unwrap();
    let mut workspace = JacobianWorkspace::default();
    for way in [step_jacobian as Linearize, step_jacobian_by_lanes] {
        let before = run(step_jacobian_by_lanes, &plate("", 0.2, 0.5), &mut workspace);
        assert!(!before.modes.is_empty());
        let found = run(way, &fixed, &mut workspace);
        assert_eq!((found.modes.len(), found.dual_steps, found.report.steps), (0, 0, 1));
    }
}

#[test]
fn jacobians_of_arms_that_hit_a_crate_allocate_nothing_after_the_first() {
    let scene = Scene::parse(MIXED, "mixed.toml").unwrap();
    let Scene { model, state, inputs, .. } = &scene;
    let system = scene.system();
    let names = model.parameter_names();
    let p: Vec<_> = names.iter().filter_map(|name| model.parameter(name)).collect();
    let selection = Selection { inputs: &[0, 1, 2], parameters: &p };
    let (mut workspace, mut result) = (JacobianWorkspace::default(), StepJacobian::default());
    let mut memory = StepMemory::default();
    let mut run = || {
        let (memory, workspace) = (&mut memory, &mut workspace);
        step_jacobian(&system, state, inputs, selection, memory, workspace, &mut result);
    };
    (0..2).for_each(|_| run());
    assert_eq!(allocation_counter::measure(run).count_total, 0);
    assert!(result.is_determined() && result.dual_steps == 0);
}
